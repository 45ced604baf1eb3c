"""The table of features: one row an item, its name in the first column, a number in every other (docs/files.md)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from crowdclust_app.domain.errors import UserError
from crowdclust_app.io.csvtext import CsvTable, open_any_sheet

# What statistics programs write for a cell without a value.
_MISSING = frozenset({"", "na", "nan", "n/a", "null", "none", "."})
_MANY = 10_000


@dataclass(frozen=True)
class FeatureRows:
    """Features as a table holds them.

    Parameters
    ----------
    names
        Item of each row.
    columns
        Names of the features.
    values : ndarray of shape (N, D)
        NaN where a cell is missing.
    """

    names: tuple[str, ...]
    columns: tuple[str, ...]
    values: NDArray[np.float64]


def read_features(path: Path) -> FeatureRows:
    """Read a `features.csv`.

    Parameters
    ----------
    path
        The first column has the item (or task), whatever it is called; every other column is a feature. An empty cell
        is a missing value.

    Raises
    ------
    UserError
        With file and line, when a cell is no number, an item is there twice, or there is no feature.
    """
    path = Path(path)
    sheet = open_any_sheet(path)
    header = sheet.unknown_columns
    _check_header(path, header)
    lines: dict[str, int] = {}
    rows: list[list[float]] = []
    for line, cells in sheet.rows():
        name = cells[0]
        if not name.strip():
            raise sheet.error(line, f"the {header[0]} is empty", "fill it in or take the row out")
        if name in lines:
            what = f"the {header[0]} {name} has features on line {lines[name]} already"
            raise sheet.error(line, what, "keep one of the rows")
        lines[name] = line
        rows.append([_number(sheet, line, header[at], cells[at]) for at in range(1, len(header))])
    values = np.array(rows, dtype=np.float64)
    empty = np.isnan(values).all(axis=0)
    if empty.all():
        raise UserError("has no value in any feature", where=str(path), todo="check that it was saved completely")
    kept = np.flatnonzero(~empty)
    return FeatureRows(tuple(lines), tuple(header[at + 1] for at in kept), values[:, kept])


def _check_header(path: Path, header: tuple[str, ...]) -> None:
    where = f"{path}, line 1"
    if len(header) < 2:
        what = "has one column and no features"
        raise UserError(what, where=where, todo="name the items in the first column and a feature in each other")
    if len(header) > _MANY:
        raise UserError(f"has {len(header):,} columns", where=where, todo=f"give at most {_MANY:,} features")
    seen: set[str] = set()
    for name in header:
        if name in seen:
            raise UserError(f"has the column {name} twice", where=where, todo="name every feature differently")
        seen.add(name)
    # whole numbers can be names, 0.731 cannot
    numbers = [value for name in header[1:] if (value := _float(name)) is not None]
    if len(numbers) == len(header) - 1 and any(value % 1 for value in numbers):
        raise UserError(
            "has numbers where names of the columns belong", where=where, todo="add a line with names on top"
        )


def _float(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _number(sheet: CsvTable, line: int, column: str, cell: str) -> float:
    number = _float(cell)
    if number is not None and math.isfinite(number):
        return number
    text = cell.strip()
    if text.lower() in _MISSING:
        return math.nan
    what = f"the {column} {text} is not a finite number"
    with_point = "," in text and _float(text.replace(",", ".")) is not None
    todo = "write a decimal point" if with_point else "correct it or leave it empty"
    raise sheet.error(line, what, todo)
