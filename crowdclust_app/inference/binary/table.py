"""The tidy table `task, worker, label` as arrays: encoded once, missing is missing, repeats by policy."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from crowdclust_app.domain.errors import UserError

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]
Repeats = Literal["first", "last", "all", "refuse"]
REPEATS: tuple[Repeats, ...] = get_args(Repeats)
_TRUTH_WORDS = {"true": "1", "false": "0"}


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


def label_key(value: Any) -> str:
    """Write a label so that 1, 1.0, True, "1" and "true" are the same, whatever type they came in."""
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    text = str(value).strip()
    return _TRUTH_WORDS.get(text.lower(), text)


def encode_labels(
    task: Any,
    worker: Any,
    label: Any,
    *,
    classes: Sequence[Hashable] | None = None,
    repeats: Repeats = "all",
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
    UserError
        When nothing is left, a label is not among `classes`, or repeats conflict under `refuse`.
    """
    if repeats not in REPEATS:
        raise UserError(f"the policy for repeats {repeats!r} is unknown", todo=f"take one of {', '.join(REPEATS)}")
    columns = [_plain(column) for column in (task, worker, label)]
    if len({len(column) for column in columns}) > 1:
        raise UserError("the columns task, worker and label differ in length", todo="give one entry a label in each")
    tasks, task_codes = _encode_names(columns[0])
    workers, worker_codes = _encode_names(columns[1])
    values, label_codes = _encode_classes(columns[2], classes)
    present = (task_codes >= 0) & (worker_codes >= 0) & (label_codes >= 0)
    if not present.any():
        raise UserError("there are no labels", todo="give at least one row with task, worker and label")
    dropped = len(present) - int(present.sum())
    if dropped:
        task_codes, worker_codes, label_codes = (codes[present] for codes in (task_codes, worker_codes, label_codes))
    table = LabelTable(tasks, workers, values, task_codes, worker_codes, label_codes, dropped, repeats=repeats)
    return _resolve_repeats(table)


def columns_of(table: Any) -> tuple[Any, Any, Any]:
    """Take the columns task, worker and label out of a data frame, a dict or a record array.

    Raises
    ------
    UserError
        When a column is missing.
    """
    found = []
    for name in ("task", "worker", "label"):
        try:
            found.append(table[name])
        except (KeyError, ValueError, IndexError, TypeError):
            todo = "name the columns task, worker and label, or give three arrays"
            raise UserError(f"the table has no column {name}", todo=todo) from None
    return found[0], found[1], found[2]


def _plain(column: Any) -> NDArray[Any] | list[Any]:
    """Keep integer and truth-value arrays as they are; make everything else a list of Python values."""
    if hasattr(column, "to_numpy"):
        column = column.to_numpy()
    if isinstance(column, np.ma.MaskedArray):
        return [None if hidden else value for value, hidden in zip(column.data.tolist(), _mask(column), strict=True)]
    if isinstance(column, np.ndarray):
        if column.ndim != 1:
            raise UserError("a column of labels is not one-dimensional", todo="give one entry a label")
        return column if column.dtype.kind in "iub" else list(column.tolist())
    if isinstance(column, str) or not isinstance(column, Iterable):
        raise UserError("a column of labels is not a list", todo="give one entry a label")
    return list(column)


def _mask(column: np.ma.MaskedArray[Any, Any]) -> list[bool]:
    return list(np.ma.getmaskarray(column).tolist())


def _is_missing(value: Any) -> bool:
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(value, str):
        return not value or value.isspace()
    return bool(value != value)


def _is_integral(value: Any) -> bool:
    return isinstance(value, float) and math.isfinite(value) and value.is_integer()


def number_of(value: Hashable) -> float | None:
    """Give a class value as a finite number; None when it is none."""
    try:
        number = float(label_key(value))
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _text_order(names: list[str]) -> list[int]:
    """Give the positions of the names in sorted order: digits by number, other text as text."""
    together = "".join(names)
    if together.isascii() and together.isdigit() and max(map(len, names)) < 4000:
        return [at for _, _, at in sorted(zip(map(int, names), names, range(len(names)), strict=True))]
    return sorted(range(len(names)), key=names.__getitem__)


def _sorted_names(names: list[Any]) -> list[Any]:
    """Sort by value where all are of one kind, by type and text otherwise."""
    if names and set(map(type, names)) == {str}:
        return [names[at] for at in _text_order(names)]
    try:
        return sorted(names)
    except TypeError:
        return sorted(names, key=lambda name: (type(name).__name__, str(name)))


def _number(column: NDArray[Any] | list[Any]) -> tuple[list[Any], Codes]:
    """Number the different values of a column; values of a list in order of appearance, of an array in their order."""
    if isinstance(column, np.ndarray):
        return _number_array(column)
    number: defaultdict[Any, int] = defaultdict()
    number.default_factory = number.__len__
    codes = np.fromiter(map(number.__getitem__, column), dtype=np.int64, count=len(column))
    return list(number), codes


def _number_array(column: NDArray[Any]) -> tuple[list[Any], Codes]:
    if column.dtype.kind != "b" and len(column):
        low, high = int(column.min()), int(column.max())
        if high - low < 4 * len(column) + 1000:
            # a table of what occurs is quicker than sorting
            offsets = column.astype(np.int64) - low
            occurs = np.zeros(high - low + 1, dtype=bool)
            occurs[offsets] = True
            code = np.cumsum(occurs) - 1
            return (np.flatnonzero(occurs) + low).tolist(), code[offsets]
    unique, codes = np.unique(column, return_inverse=True)
    return unique.tolist(), codes.astype(np.int64, copy=False)


def _encode_names(column: NDArray[Any] | list[Any]) -> tuple[tuple[Hashable, ...], Codes]:
    try:
        found, codes = _number(column)
    except TypeError:
        raise UserError("a task or worker is not a name", todo="use text or numbers for tasks and workers") from None
    if isinstance(column, np.ndarray):
        return tuple(found), codes
    if set(map(type, found)) == {str} and "" not in found and not any(map(str.isspace, found)):
        order = _text_order(found)
        position = np.empty(len(found), dtype=np.int64)
        position[order] = np.arange(len(found))
        return tuple([found[at] for at in order]), position[codes]
    # whole numbers that a missing cell turned into floats are whole numbers again
    shown = [None if _is_missing(value) else int(value) if _is_integral(value) else value for value in found]
    names = _sorted_names(list(dict.fromkeys(name for name in shown if name is not None)))
    code = {name: position for position, name in enumerate(names)}
    code[None] = -1
    return tuple(names), np.array([code[name] for name in shown], dtype=np.int64)[codes]


def _encode_classes(
    column: NDArray[Any] | list[Any], declared: Sequence[Hashable] | None
) -> tuple[tuple[Hashable, ...], Codes]:
    try:
        unique, position = _number(column)
    except TypeError:
        raise UserError("a label is not a value", todo="use text, numbers or truth values for labels") from None
    keys = ["" if _is_missing(value) else label_key(value) for value in unique]
    classes = _declared(declared) if declared is not None else _found(unique, keys)
    code = {key: index for index, key in enumerate(classes)}
    code[""] = -1
    for key in keys:
        if key not in code:
            named = ", ".join(map(str, classes.values()))
            raise UserError(f"the label {key} is not among the classes {named}", todo="declare it too or correct it")
    codes = np.array([code[key] for key in keys], dtype=np.int64)
    return tuple(classes.values()), codes[position]


def _declared(classes: Sequence[Hashable]) -> dict[str, Hashable]:
    found: dict[str, Hashable] = {}
    for value in classes:
        key = "" if _is_missing(value) else label_key(value)
        if not key or key in found:
            reason = "is there twice" if key else "is empty"
            raise UserError(f"the declared class {key} {reason}", todo="name each class once")
        found[key] = value
    if not found:
        raise UserError("no class is declared", todo="name the classes or leave them out")
    return found


def _found(unique: list[Any], keys: list[str]) -> dict[str, Hashable]:
    """Order the classes that occur: by value when all are numbers, by text otherwise; one spelling each."""
    spelling: dict[str, Any] = {}
    for value, key in sorted(zip(unique, keys, strict=True), key=lambda pair: (type(pair[0]).__name__, str(pair[0]))):
        if key:
            spelling.setdefault(key, int(value) if _is_integral(value) else value)
    numbers = {key: number_of(key) for key in spelling}
    if all(number is not None for number in numbers.values()):
        order = sorted(spelling, key=lambda key: (numbers[key] or 0.0, key))
    else:
        order = sorted(spelling)
    return {key: spelling[key] for key in order}


def _resolve_repeats(table: LabelTable) -> LabelTable:
    pairs = table.task * table.n_workers + table.worker
    ordered = np.sort(pairs)
    repeated = int((ordered[1:] == ordered[:-1]).sum())
    if not repeated:
        return table
    cells = np.unique(pairs * table.n_classes + table.label)
    conflicts = cells // table.n_classes
    again = conflicts[1:][conflicts[1:] == conflicts[:-1]]
    conflicting = len(np.unique(again))
    table = replace(table, repeated=repeated, conflicting=conflicting)
    if table.repeats == "all":
        return table
    if table.repeats == "refuse" and conflicting:
        task, worker = divmod(int(again[0]), table.n_workers)
        what = f"{table.workers[worker]} labelled the task {table.tasks[task]} more than once and differently"
        raise UserError(
            f"{what} ({conflicting} such pairs)", todo="choose which repeats count: the first, the last or all"
        )
    if table.repeats == "last":
        _, kept = np.unique(pairs[::-1], return_index=True)
        kept = len(pairs) - 1 - kept
    else:
        _, kept = np.unique(pairs, return_index=True)
    kept.sort()
    return replace(table, task=table.task[kept], worker=table.worker[kept], label=table.label[kept])
