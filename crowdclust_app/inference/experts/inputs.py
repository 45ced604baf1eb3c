"""Labels and gold of a Gaussian process: encoded by item, an empty campaign and a matrix of -1, 0, +1 included."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from crowdclust_app.domain.errors import InvalidInputError
from crowdclust_app.inference.aggregators.label_table import Codes, LabelTable, Repeats, label_key
from crowdclust_app.inference.experts.features import (
    gold_codes,
    is_label_matrix,
    item_labels,
    label_columns,
    two_classes,
)


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
        As in `item_labels`.
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
    if not isinstance(table, LabelTable) and not is_label_matrix(table) and items is not None:
        columns = label_columns(table, worker, label, items, count)
        if not any(len(column) for column in columns):
            # check the names as usual
            none = np.empty(0, dtype=np.int64)
            empty = LabelTable((), (), two_classes(classes), none, none, none)
            return item_labels(count, empty, items=items)
    encoded = item_labels(count, table, worker, label, items=items, classes=classes, repeats=repeats)
    if encoded.n_classes == 1:
        encoded = _with_the_other_class(encoded)
    if encoded.n_classes != 2:
        what = f"the Gaussian process is for two classes and the labels have {encoded.n_classes}"
        raise InvalidInputError(what, todo="ask about one class at a time, or take experts")
    return encoded


def _with_the_other_class(table: LabelTable) -> LabelTable:
    key = label_key(table.classes[0])
    if key not in ("0", "1"):
        what = f"two classes are needed and every label is {table.classes[0]}"
        raise InvalidInputError(what, todo="declare the other class too")
    return replace(table, classes=(0, 1), label=np.full_like(table.label, int(key)))


def encode_gold(gold: Mapping[Any, Any] | None, table: LabelTable) -> tuple[Codes, Codes]:
    """Rows and class codes of gold items; those that the table does not have are left out."""
    codes = gold_codes(gold, table)
    rows = np.flatnonzero(codes >= 0)
    return rows, codes[rows]
