"""The tidy table `task, worker, label` as arrays: encoded once, missing is missing, repeats by policy."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from crowdclust_app.domain.errors import InvalidInputError
from crowdclust_app.inference.aggregators.columns import encode_classes, encode_names, plain_column
from crowdclust_app.inference.aggregators.columns import label_key as label_key  # it is found here too

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]
Repeats = Literal["first", "last", "all", "refuse"]
REPEATS: tuple[Repeats, ...] = get_args(Repeats)


@dataclass(frozen=True)
class LabelTable:
    """`T` labels of `M` tasks by `J` workers in `K` classes, as codes.

    Parameters
    ----------
    tasks, workers
        Names by code, sorted; tasks without a label are in `tasks` all the same.
    classes
        Class values by code: as declared, or sorted (numbers by value).
    task, worker, label : ndarray of shape (T,)
        One entry a label that counts, in order of arrival.
    dropped
        Rows without a label (or without a task or worker), which are missing and never a class.
    repeated
        Rows beyond the first of the same worker on the same task, before the policy.
    conflicting
        How many (task, worker) pairs repeat with different labels.
    repeats
        The policy that resolved them.
    """

    tasks: tuple[Hashable, ...]
    workers: tuple[Hashable, ...]
    classes: tuple[Hashable, ...]
    task: Codes
    worker: Codes
    label: Codes
    dropped: int = 0
    repeated: int = 0
    conflicting: int = 0
    repeats: Repeats = "all"

    @property
    def n_tasks(self) -> int:
        """Number of tasks `M`, labelled or not."""
        return len(self.tasks)

    @property
    def n_workers(self) -> int:
        """Number of workers `J`."""
        return len(self.workers)

    @property
    def n_classes(self) -> int:
        """Number of classes `K`, used or only declared."""
        return len(self.classes)

    @property
    def n_labels(self) -> int:
        """Number of labels `T` that count."""
        return len(self.label)

    @cached_property
    def task_counts(self) -> Codes:
        """Labels on each task; shape (M,)."""
        return np.bincount(self.task, minlength=self.n_tasks)

    @cached_property
    def worker_counts(self) -> Codes:
        """Labels of each worker; shape (J,)."""
        return np.bincount(self.worker, minlength=self.n_workers)

    @cached_property
    def votes(self) -> Codes:
        """How often each task was given each class; shape (M, K)."""
        cells = self.task * self.n_classes + self.label
        return np.bincount(cells, minlength=self.n_tasks * self.n_classes).reshape(self.n_tasks, self.n_classes)

    @cached_property
    def shares(self) -> Floats:
        """Vote shares; shape (M, K), rows sum to 1; even where a task has no label."""
        counts = self.task_counts[:, None]
        return np.where(counts > 0, self.votes / np.maximum(counts, 1), 1.0 / self.n_classes)

    @cached_property
    def canonical(self) -> LabelTable:
        """The same labels sorted by worker, task and label: what makes sums independent of the rows' order."""
        key = (self.worker * self.n_tasks + self.task) * self.n_classes + self.label
        order = np.argsort(key, kind="stable")
        return replace(self, task=self.task[order], worker=self.worker[order], label=self.label[order])

    @cached_property
    def edges(self) -> Edges:
        """One edge for each (worker, task) pair of a two-class table, sorted by worker, then by what was said."""
        pairs = self.worker * self.n_tasks + self.task
        unique, position = np.unique(pairs, return_inverse=True)
        ones = np.bincount(position[self.label == 1], minlength=len(unique))
        total = np.bincount(position, minlength=len(unique))
        worker = unique // self.n_tasks
        order = np.lexsort((total, ones, worker))
        worker = worker[order]
        return Edges(
            task=unique[order] - worker * self.n_tasks,
            worker=worker,
            ones=ones[order],
            zeros=(total - ones)[order],
            pointers=np.searchsorted(worker, np.arange(self.n_workers + 1)),
        )


@dataclass(frozen=True)
class Edges:
    """The bipartite graph of a two-class table in compressed rows by worker.

    Parameters
    ----------
    task, worker : ndarray of shape (E,)
        Ends of each edge; the edges of worker `j` are `pointers[j]:pointers[j + 1]`.
    ones, zeros : ndarray of shape (E,)
        How often this worker gave this task the second and the first class (more than once only by repeats).
    pointers : ndarray of shape (J + 1,)
        Where each worker's edges begin.
    """

    task: Codes
    worker: Codes
    ones: Codes
    zeros: Codes
    pointers: Codes


def weighted_sums(codes: Codes, weights: Floats, length: int) -> Floats:
    """Sum weights by code; shape (length,)."""
    return np.asarray(np.bincount(codes, weights=weights, minlength=length), dtype=np.float64)


def encode_labels(
    task: Any, worker: Any, label: Any, *, classes: Sequence[Hashable] | None = None, repeats: Repeats = "all"
) -> LabelTable:
    """Encode three columns of equal length.

    Parameters
    ----------
    task, worker, label
        Lists, arrays or data-frame columns. None, NaN and empty text are missing.
    classes
        Every class in its order, used or not; those that occur, sorted, when None.
    repeats
        What counts when a worker labelled a task more than once: the `first` or `last` label, `all` of them, or
        `refuse` (labels that agree count once, labels that differ are an error).

    Raises
    ------
    InvalidInputError
        When nothing is left, a label is not among `classes`, or repeats conflict under `refuse`.
    """
    if repeats not in REPEATS:
        raise InvalidInputError(
            f"the policy for repeats {repeats!r} is unknown", todo=f"take one of {', '.join(REPEATS)}"
        )
    columns = [plain_column(column) for column in (task, worker, label)]
    if len({len(column) for column in columns}) > 1:
        raise InvalidInputError(
            "the columns task, worker and label differ in length", todo="give one entry a label in each"
        )
    tasks, task_codes = encode_names(columns[0])
    workers, worker_codes = encode_names(columns[1])
    values, label_codes = encode_classes(columns[2], classes)
    present = (task_codes >= 0) & (worker_codes >= 0) & (label_codes >= 0)
    if not present.any():
        raise InvalidInputError("there are no labels", todo="give at least one row with task, worker and label")
    dropped = len(present) - int(present.sum())
    if dropped:
        task_codes, worker_codes, label_codes = (codes[present] for codes in (task_codes, worker_codes, label_codes))
    table = LabelTable(tasks, workers, values, task_codes, worker_codes, label_codes, dropped, repeats=repeats)
    return _resolve_repeats(table)


def columns_of(table: Any) -> tuple[Any, Any, Any]:
    """Take the columns task, worker and label out of a data frame, a dict or a record array.

    Raises
    ------
    InvalidInputError
        When a column is missing.
    """
    found = []
    for name in ("task", "worker", "label"):
        try:
            found.append(table[name])
        except (KeyError, ValueError, IndexError, TypeError):
            todo = "name the columns task, worker and label, or give three arrays"
            raise InvalidInputError(f"the table has no column {name}", todo=todo) from None
    return found[0], found[1], found[2]


def _distinct(ascending: Codes) -> Codes:
    """The different numbers; `np.unique` hashes them, which takes eighty times as long for a million."""
    return ascending[np.diff(ascending, prepend=-1) > 0]


def _resolve_repeats(table: LabelTable) -> LabelTable:
    pairs = table.task * table.n_workers + table.worker
    ordered = np.sort(pairs)
    repeated = int((ordered[1:] == ordered[:-1]).sum())
    if not repeated:
        return table
    cells = _distinct(np.sort(pairs * table.n_classes + table.label))
    conflicts = cells // table.n_classes
    again = conflicts[1:][conflicts[1:] == conflicts[:-1]]
    conflicting = len(_distinct(again))
    table = replace(table, repeated=repeated, conflicting=conflicting)
    if table.repeats == "all":
        return table
    if table.repeats == "refuse" and conflicting:
        task, worker = divmod(int(again[0]), table.n_workers)
        what = f"{table.workers[worker]} labelled the task {table.tasks[task]} more than once and differently"
        raise InvalidInputError(
            f"{what} ({conflicting} such {'pair' if conflicting == 1 else 'pairs'})",
            todo="choose which repeats count: the first, the last or all",
        )
    if table.repeats == "last":
        _, kept = np.unique(pairs[::-1], return_index=True)
        kept = len(pairs) - 1 - kept
    else:
        _, kept = np.unique(pairs, return_index=True)
    kept.sort()
    return replace(table, task=table.task[kept], worker=table.worker[kept], label=table.label[kept])
