"""Labels and gold of a Gaussian process: encoded by item, an empty campaign and a matrix of -1, 0, +1 included."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from crowdclust_app.domain.errors import InvalidInputError
from crowdclust_app.inference.aggregators.label_table import Codes, LabelTable, Repeats, columns_of, label_key
from crowdclust_app.inference.experts.features import gold_codes, item_labels


def name_rows(count: int, items: Sequence[Hashable] | None) -> tuple[Hashable, ...]:
    """Names of the rows of the features; their numbers from 0 when None."""
    if items is None:
        return tuple(range(count))
    return tuple(items.tolist() if hasattr(items, "tolist") else items)


def encode(
    table: Any, worker: Any, label: Any, items: tuple[Hashable, ...] | None, count: int | None,
    classes: Sequence[Hashable] | None, repeats: Repeats,
) -> LabelTable:  # fmt: skip
    """Encode labels of two classes; tasks are numbered as `items` when these are given.

    Parameters
    ----------
    table, worker, label
        As in `Aggregator.fit`, or an array (N, R) of -1, 0 and +1.
    items
        Names of the rows; None takes those that are labelled.
    count
        Rows of the features; None without.
    classes, repeats
        As in `encode_labels`.

    Raises
    ------
    InvalidInputError
        When there are not two classes, or a task is not among the items.
    """
    if isinstance(table, np.ndarray) and table.ndim == 2 and table.dtype.names is None:
        return _of_matrix(table, items, classes)
    if not isinstance(table, LabelTable) and items is not None:
        columns = columns_of(table) if worker is None and label is None else (table, worker, label)
        if not any(len(column) for column in columns):
            # check the names as usual
            none = np.empty(0, dtype=np.int64)
            empty = LabelTable((), (), _two(classes), none, none, none)
            return item_labels(count, empty, items=items)
    encoded = item_labels(count, table, worker, label, items=items, classes=classes, repeats=repeats)
    if encoded.n_classes == 1:
        encoded = _with_the_other_class(encoded)
    if encoded.n_classes != 2:
        what = f"the Gaussian process is for two classes and the labels have {encoded.n_classes}"
        raise InvalidInputError(what, todo="ask about one class at a time, or take experts")
    return encoded


def _two(classes: Sequence[Hashable] | None) -> tuple[Hashable, ...]:
    found = (0, 1) if classes is None else tuple(classes)
    if len(found) != 2:
        raise InvalidInputError(f"{len(found)} classes are declared", todo="declare two")
    return found


def _with_the_other_class(table: LabelTable) -> LabelTable:
    key = label_key(table.classes[0])
    if key not in ("0", "1"):
        what = f"two classes are needed and every label is {table.classes[0]}"
        raise InvalidInputError(what, todo="declare the other class too")
    return replace(table, classes=(0, 1), label=np.full_like(table.label, int(key)))


def _of_matrix(matrix: Any, items: tuple[Hashable, ...] | None, classes: Sequence[Hashable] | None) -> LabelTable:
    names = items if items is not None else tuple(range(len(matrix)))
    if len(matrix) != len(names):
        what = f"there are labels for {len(matrix)} items and features for {len(names)}"
        raise InvalidInputError(what, todo="give one row an item in both")
    if matrix.dtype.kind not in "biuf" or not np.isin(matrix, (-1, 0, 1)).all():
        raise InvalidInputError("a label is none of -1, 0 and 1", todo="write 1 for yes, -1 for no and 0 for not asked")
    task, worker = np.nonzero(matrix)
    label = (matrix[task, worker] > 0).astype(np.int64)
    workers = tuple(range(matrix.shape[1]))
    return LabelTable(names, workers, _two(classes), task.astype(np.int64), worker.astype(np.int64), label)


def encode_gold(gold: Mapping[Any, Any] | None, table: LabelTable) -> tuple[Codes, Codes]:
    """Rows and class codes of gold items; those that the table does not have are left out."""
    codes = gold_codes(gold, table)
    rows = np.flatnonzero(codes >= 0)
    return rows, codes[rows]
