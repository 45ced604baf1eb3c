"""Columns of tasks, workers and labels, in whatever types they come, as names and codes."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdclust_app.domain.errors import InvalidInputError
from crowdclust_app.domain.names import class_key

Codes = NDArray[np.int64]
_TRUTH_WORDS = {"true": "1", "false": "0"}


@dataclass(frozen=True, slots=True)
class _Numbered:
    """A column whose own library has numbered its values: different values as they first occur, -1 for missing."""

    values: list[Any]
    codes: Codes

    def __len__(self) -> int:
        return len(self.codes)


_Column = NDArray[Any] | list[Any] | _Numbered


def label_key(value: Any) -> str:
    """Write a label so that 1, 1.0, True, "1", "1,0" and "true" are the same, whatever type they came in."""
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    text = class_key(str(value))
    return _TRUTH_WORDS.get(text.lower(), text)


def plain_column(column: Any) -> _Column:
    """Keep integer and truth-value arrays as they are; make everything else a list of Python values."""
    if hasattr(column, "factorize") and getattr(column.dtype, "kind", "O") not in "iub":
        # text as data frames keep it is numbered there without a Python value for every cell
        try:
            codes, values = column.factorize()
        except TypeError:
            return list(column)
        return _Numbered(list(values.tolist()), np.asarray(codes, dtype=np.int64))
    if hasattr(column, "to_numpy"):
        column = column.to_numpy()
    if isinstance(column, np.ma.MaskedArray):
        return [None if hidden else value for value, hidden in zip(column.data.tolist(), _mask(column), strict=True)]
    if isinstance(column, np.ndarray):
        if column.ndim != 1:
            raise InvalidInputError("a column of labels is not one-dimensional", todo="give one entry a label")
        return column if column.dtype.kind in "iub" else list(column.tolist())
    if isinstance(column, str) or not isinstance(column, Iterable):
        raise InvalidInputError("a column of labels is not a list", todo="give one entry a label")
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
    if together.isascii() and together.isdigit() and (longest := max(map(len, names))) < 4000:
        if longest < 18:
            numbers = np.array(list(map(int, names)), dtype=np.int64)
            order = np.argsort(numbers, kind="stable")
            if (np.diff(numbers[order]) > 0).all():
                return list(order.tolist())
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


def _number(column: _Column) -> tuple[list[Any], Codes]:
    """Number the different values of a column; values of a list in order of appearance, of an array in their order."""
    if isinstance(column, _Numbered):
        if (column.codes >= 0).all():
            return column.values, column.codes
        missing = np.where(column.codes < 0, len(column.values), column.codes)
        return [*column.values, None], missing
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


def encode_names(column: _Column) -> tuple[tuple[Hashable, ...], Codes]:
    """Give the different names of tasks or workers, sorted, and each entry's code; -1 where it is missing."""
    try:
        found, codes = _number(column)
    except TypeError:
        raise InvalidInputError(
            "a task or worker is not a name", todo="use text or numbers for tasks and workers"
        ) from None
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


def encode_classes(column: _Column, declared: Sequence[Hashable] | None) -> tuple[tuple[Hashable, ...], Codes]:
    """Give the classes, as declared or as they occur, and each entry's code; -1 where it is missing."""
    try:
        unique, position = _number(column)
    except TypeError:
        raise InvalidInputError("a label is not a value", todo="use text, numbers or truth values for labels") from None
    keys = ["" if _is_missing(value) else label_key(value) for value in unique]
    classes = _declared(declared) if declared is not None else _found(unique, keys)
    code = {key: index for index, key in enumerate(classes)}
    code[""] = -1
    for key in keys:
        if key not in code:
            named = ", ".join(map(str, classes.values()))
            raise InvalidInputError(
                f"the label {key} is not among the classes {named}", todo="declare it too or correct it"
            )
    codes = np.array([code[key] for key in keys], dtype=np.int64)
    return tuple(classes.values()), codes[position]


def _declared(classes: Sequence[Hashable]) -> dict[str, Hashable]:
    found: dict[str, Hashable] = {}
    for value in classes:
        key = "" if _is_missing(value) else label_key(value)
        if not key or key in found:
            reason = "is there twice" if key else "is empty"
            raise InvalidInputError(f"the declared class {key} {reason}", todo="name each class once")
        found[key] = value
    if not found:
        raise InvalidInputError("no class is declared", todo="name the classes or leave them out")
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
