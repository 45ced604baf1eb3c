"""The table of features: one row an item, its name in the first column, a number in every other (docs/files.md)."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from crowdclust_app.domain.errors import UserError
from crowdclust_app.domain.names import Names, path_key, with_point
from crowdclust_app.io.csv_reader import ROW_NAMES, CsvTable, open_any_sheet

_THOUSANDS = re.compile(r"[+-]?\d{1,3}(,\d{3})+")
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
    notes
        Sentences about how the table was read.
    """

    names: tuple[str, ...]
    columns: tuple[str, ...]
    values: NDArray[np.float64]
    notes: tuple[str, ...] = ()


def read_features(path: Path) -> FeatureRows:
    """Read a `features.csv`.

    Parameters
    ----------
    path
        The first column has the item (or task), whatever it is called; every other column is a feature. Row names
        before it, as R and pandas write them, are passed over. An empty cell or `NA` is a missing value. Decimals have
        a point, or all a comma.

    Raises
    ------
    UserError
        With file and line, when a cell is no number, an item is there twice, or there is no feature.
    """
    path = Path(path)
    sheet = open_any_sheet(path)
    first, comma = _conventions(sheet)
    header = sheet.unknown_columns[first:]
    _check_header(path, header, sheet.header_line)
    names = Names(key=path_key)
    lines: dict[str, int] = {}
    rows: list[list[float]] = []
    for line, cells in sheet.rows(cleaned=False):
        written = sheet.cell(cells[first])
        if not written:
            raise sheet.empty_cell(line, {header[0]: first})
        name = names(written)
        if name in lines:
            what = f"the {header[0]} {name} has features on line {lines[name]} already"
            raise sheet.error(line, what, "keep one of the rows")
        lines[name] = line
        rows.append(_numbers(sheet, line, header, cells[first + 1 :], comma))
    values = np.array(rows, dtype=np.float64)
    empty = np.isnan(values).all(axis=0)
    if empty.all():
        raise UserError("has no value in any feature", where=str(path), todo="check that it was saved completely")
    kept = np.flatnonzero(~empty)
    return FeatureRows(tuple(lines), tuple(header[at + 1] for at in kept), values[:, kept], tuple(sheet.notes))


def _conventions(sheet: CsvTable) -> tuple[int, bool]:
    """Which column has the items, and whether decimals have a comma.

    The items are in the second column where the first one numbers the rows, and no number itself. A comma is certain to
    stand before decimals when no number has a point and not all that have a comma could be thousands.
    """
    header = sheet.unknown_columns
    numbered = len(header) > 2 and (header[0] in ROW_NAMES or header[0] == "column 1")
    start: str | None = None
    commas = False
    for at, (_, cells) in enumerate(sheet.rows(cleaned=False)):
        start = sheet.cell(cells[0]) if start is None else start
        numbered = (
            numbered
            and start in ("0", "1")
            and sheet.cell(cells[0]) == str(at + int(start))
            and _float(cells[1].strip() or "0") is None
        )
        commas = commas or "," in "".join(cells[1:])
    return int(numbered), commas and _has_decimal_commas(sheet, int(numbered) + 1)


def _has_decimal_commas(sheet: CsvTable, first: int) -> bool:
    seen, thousands = False, True
    for _, cells in sheet.rows():
        for cell in cells[first:]:
            if "," in cell:
                if _float(with_point(cell)) is None:
                    return False
                seen = True
                thousands = thousands and _THOUSANDS.fullmatch(cell) is not None
            elif "." in cell and _float(cell) is not None:
                return False
    return seen and not thousands


def _numbers(sheet: CsvTable, line: int, header: tuple[str, ...], cells: list[str], comma: bool) -> list[float]:
    try:
        numbers = list(map(float, cells))
        if math.isfinite(sum(numbers)):
            return numbers
    except ValueError:
        pass
    cells = list(map(sheet.cell, cells))
    return [_number(sheet, line, column, cell, comma) for column, cell in zip(header[1:], cells, strict=True)]


def _check_header(path: Path, header: tuple[str, ...], line: int) -> None:
    where = f"{path}, line {line}"
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


def _number(sheet: CsvTable, line: int, column: str, cell: str, comma: bool) -> float:
    number = _float(with_point(cell) if comma else cell)
    if number is not None and math.isfinite(number):
        return number
    if not cell or (number is not None and math.isnan(number)):
        return math.nan
    what = f"the {column} {cell} is not a finite number"
    with_comma = "," in cell and _float(cell.replace(",", ".")) is not None
    todo = "write a decimal point" if with_comma else "correct it or leave it empty"
    raise sheet.error(line, what, todo)
