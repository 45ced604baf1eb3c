"""What learning from experts shares: features as a matrix, labels by item, and the sentences a user should read.

Missing cells are NaN until `fill_missing`; everything after it takes finite numbers alone. Columns are brought to mean
0 and standard deviation 1, and a column that is the same for every item says nothing: it becomes 0.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdclust_app.domain.errors import InvalidInputError
from crowdclust_app.inference.aggregators.label_table import (
    Codes,
    Floats,
    LabelTable,
    Repeats,
    columns_of,
    encode_labels,
    label_key,
)

# Spread of a column, relative to its largest value, that is rounding and no difference between items.
_CONSTANT = 1e-12
# Labels under which every figure is a first guess.
FEW_LABELS = 50
# Whose labels they are where each item has one and no worker is named.
ONE_WORKER = "labels"
# Sum of log-odds of the workers' coins under which a result and its opposite explain the labels nearly as well.
SURE_OF_SIGN = 2.0

NO_FEATURES = (
    "no features were given: this is the two-coin model with a prevalence alone, Dawid and Skene's, "
    "and nothing can be said of items without labels"
)
FEW = "there are only {count} labels: take the figures as a first guess"
ONE_CLASS = "every label is {label}: nothing can be learnt about the other class"
ONE_LABEL_AN_ITEM = (
    "hardly any item has two labels: how good the workers are rests on the features and the prior alone; "
    "have some items labelled twice"
)
SIGN = (
    "the labels fit nearly as well with right and wrong swapped: "
    "mark some items whose answer is known as gold, which settles it"
)
MIRRORED = "most answers had to be read as their opposite to trust the workers on the whole: mark some items as gold"


@contextmanager
def all_or_nothing(estimator: object) -> Iterator[None]:
    """Leave an estimator as it was when a fit is refused or cancelled; what it keeps must not be changed in place."""
    before = dict(estimator.__dict__)
    try:
        yield
    except BaseException:
        estimator.__dict__.clear()
        estimator.__dict__.update(before)
        raise


@dataclass(frozen=True)
class Scaling:
    """How columns are brought to mean 0 and standard deviation 1.

    Parameters
    ----------
    mean : ndarray of shape (D,)
        Of each column.
    factor : ndarray of shape (D,)
        One over the standard deviation; 0 for a column that is constant.
    """

    mean: Floats
    factor: Floats

    @property
    def constant(self) -> NDArray[np.bool_]:
        """Columns that are the same for every item; shape (D,)."""
        return np.asarray(self.factor == 0)

    def apply(self, X: Floats) -> Floats:
        """Scale rows of shape (N, D).

        Raises
        ------
        InvalidInputError
            When these rows have another number of columns, or a cell that is not a finite number.
        """
        X = check_matrix(X)
        if X.shape[1] != len(self.mean):
            what = f"the features have {X.shape[1]} columns where the fit had {len(self.mean)}"
            raise InvalidInputError(what, todo="give the same columns in the same order")
        return np.asarray((X - self.mean) * self.factor)


def check_matrix(X: Any) -> Floats:
    """Give features as an (N, D) array of finite floats.

    Raises
    ------
    InvalidInputError
        When they are none.
    """
    try:
        matrix: Floats = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidInputError(
            "the features are not all numbers", todo="give a matrix of numbers, one row an item"
        ) from None
    if matrix.ndim != 2:
        raise InvalidInputError("the features are not a matrix", todo="give one row an item and one column a feature")
    if not np.isfinite(matrix).all():
        raise InvalidInputError("a feature is not a finite number", todo="correct it or take the item out")
    return matrix


def fit_scaling(X: Floats) -> Scaling:
    """Find mean and spread of each column of finite features of shape (N, D)."""
    count, width = X.shape
    if not count:
        return Scaling(np.zeros(width), np.zeros(width))
    # by the largest value first: numbers whose squares overflow are numbers all the same
    largest = np.abs(X).max(axis=0)
    unit = np.where(largest > 0, largest, 1.0)
    scaled = X / unit
    mean, spread = scaled.mean(axis=0), scaled.std(axis=0)
    varies = spread > _CONSTANT
    factor = np.where(varies, 1.0 / np.where(varies, spread, 1.0) / unit, 0.0)
    return Scaling(np.asarray(mean * unit), np.asarray(factor))


def fill_missing(X: Floats) -> tuple[Floats, int]:
    """Put a column's mean where a cell is missing (NaN), and 0 in a column without any value.

    Returns
    -------
    filled : ndarray of shape (N, D)
        Finite, if `X` was but for its missing cells.
    count : int
        How many cells were missing.
    """
    missing = np.isnan(X)
    count = int(missing.sum())
    if not count:
        return X, 0
    present = (~missing).sum(axis=0)
    unit = np.where(missing, 0.0, np.abs(X)).max(axis=0, initial=1.0)
    total = (np.where(missing, 0.0, X) / unit).sum(axis=0)
    mean = np.where(present > 0, total / np.maximum(present, 1), 0.0) * unit
    return np.where(missing, mean, X), count


def is_label_matrix(table: Any) -> bool:
    """Whether these labels are an array of items by workers."""
    return isinstance(table, np.ndarray) and table.ndim == 2 and table.dtype.names is None


def label_columns(
    table: Any, worker: Any, label: Any, items: Sequence[Hashable] | None, n_items: int | None
) -> tuple[Any, Any, Any]:
    """Take the columns task, worker and label out of what `fit` was given as labels.

    Parameters
    ----------
    table, worker, label
        Three arrays, or anything with the columns `task`, `worker` and `label`; or a list, array or series of one
        label an item, as classifiers of scikit-learn take it, all of one worker.
    items, n_items
        Names of the rows, their numbers when None; and how many rows there are.
    """
    if worker is not None or label is not None:
        return table, worker, label
    dimensions = getattr(table, "ndim", 1 if isinstance(table, list | tuple) else 0)
    if dimensions == 1 and getattr(getattr(table, "dtype", None), "names", None) is None:
        rows = range(len(table) if n_items is None else n_items)
        return list(rows if items is None else items), [ONE_WORKER] * len(table), table
    return columns_of(table)


def two_classes(classes: Sequence[Hashable] | None) -> tuple[Hashable, ...]:
    """The declared classes, which have to be two; 0 and 1 where none are.

    Raises
    ------
    InvalidInputError
        When they are not two.
    """
    found = (0, 1) if classes is None else tuple(classes)
    if len(found) != 2:
        raise InvalidInputError(f"{len(found)} classes are declared", todo="declare two")
    return found


def _of_matrix(matrix: Any, items: Sequence[Hashable] | None, classes: Sequence[Hashable] | None) -> LabelTable:
    names = tuple(range(len(matrix)) if items is None else items)
    if len(matrix) != len(names):
        what = f"there are labels for {len(matrix)} items and features for {len(names)}"
        raise InvalidInputError(what, todo="give one row an item in both")
    if matrix.dtype.kind not in "biuf" or not np.isin(matrix, (-1, 0, 1)).all():
        raise InvalidInputError("a label is none of -1, 0 and 1", todo="write 1 for yes, -1 for no and 0 for not asked")
    task, worker = np.nonzero(matrix)
    label = (matrix[task, worker] > 0).astype(np.int64)
    workers = tuple(range(matrix.shape[1]))
    return LabelTable(names, workers, two_classes(classes), task.astype(np.int64), worker.astype(np.int64), label)


def item_labels(
    n_items: int | None,
    table: Any,
    worker: Any = None,
    label: Any = None,
    *,
    items: Sequence[Hashable] | None = None,
    classes: Sequence[Hashable] | None = None,
    repeats: Repeats = "all",
) -> LabelTable:
    """Encode labels with the items, in the order of their features, for tasks.

    Parameters
    ----------
    n_items
        Rows of the features; None without features, when the tasks that have labels (or `items`) are the items.
    table, worker, label
        A `LabelTable`, or what `label_columns` takes.
    items
        Names of the rows; their numbers when None.
    classes, repeats
        As in `encode_labels`.

    Raises
    ------
    InvalidInputError
        When the names do not fit the rows, or a labelled task is not among them; or as in `encode_labels`.
    """
    if isinstance(table, LabelTable):
        encoded = table
    elif is_label_matrix(table):
        encoded = _of_matrix(table, items, classes)
    else:
        encoded = encode_labels(*label_columns(table, worker, label, items, n_items), classes=classes, repeats=repeats)
    if items is None:
        if n_items is None:
            return encoded
        items = range(n_items)
    names = tuple(items)
    number = {name: row for row, name in enumerate(names)}
    if len(number) < len(names):
        twice = next(name for row, name in enumerate(names) if number[name] != row)
        raise InvalidInputError(f"the item {twice} has two rows of features", todo="keep one of them")
    if n_items is not None and len(names) != n_items:
        what = f"there are {len(names)} names of items for {n_items} rows of features"
        raise InvalidInputError(what, todo="give one name a row")
    labelled = [encoded.tasks[task] for task in np.flatnonzero(encoded.task_counts).tolist()]
    unknown = [task for task in labelled if task not in number]
    if unknown:
        what = f"the task {unknown[0]} has labels and no features"
        raise InvalidInputError(what, todo="give its features too, or take its labels out")
    code = np.array([number.get(task, -1) for task in encoded.tasks], dtype=np.int64)
    return replace(encoded, tasks=names, task=code[encoded.task])


def gold_codes(gold: Any, table: LabelTable) -> Codes:
    """Class of each gold item by code, -1 for the others; shape (M,).

    Parameters
    ----------
    gold
        Class value by item; None for no gold items. Items that the table does not have are left out.

    Raises
    ------
    InvalidInputError
        When they are no mapping, or a gold item is of a class that the labels do not have.
    """
    codes = np.full(table.n_tasks, -1, dtype=np.int64)
    if gold is None:
        return codes
    if not isinstance(gold, Mapping):
        raise InvalidInputError("the gold items are no classes by item", todo="give a dict of item and class")
    number = {task: row for row, task in enumerate(table.tasks)}
    code = {label_key(value): at for at, value in enumerate(table.classes)}
    for item, value in gold.items():
        if label_key(value) not in code:
            what = f"the gold item {item} is of the class {value}, which the labels do not have"
            raise InvalidInputError(what, todo="correct it or declare the class")
        if item in number:
            codes[number[item]] = code[label_key(value)]
    return codes


def remarks_on(table: LabelTable, has_features: bool) -> list[str]:
    """Sentences about labels from which little can be learnt."""
    found = [] if has_features else [NO_FEATURES]
    if table.n_labels < FEW_LABELS:
        found.append(FEW.format(count=table.n_labels))
    used = np.flatnonzero(np.bincount(table.label))
    if len(used) == 1 and table.n_classes == 2:
        found.append(ONE_CLASS.format(label=table.classes[used[0]]))
    labelled = table.task_counts[table.task_counts > 0]
    if len(labelled) and (labelled > 1).mean() < 0.05:
        found.append(ONE_LABEL_AN_ITEM)
    return found
