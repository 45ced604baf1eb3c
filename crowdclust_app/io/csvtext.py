"""Comma-separated text: one way of writing it, and a patient way of reading it.

Written: UTF-8 without a byte order mark, comma, a header, RFC 4180 to the letter (records end with CR LF, which every
spreadsheet and CSV library takes). A cell that a spreadsheet would run as a formula gets an apostrophe in front, as
does one that already is an apostrophe before such a formula; numbers stay numbers. Reading takes exactly that
apostrophe away again, so what was written comes back unchanged.

Read: also a byte order mark, `;` or tab between cells, any order of columns, LF, CR LF or CR.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import islice
from pathlib import Path
from typing import Any

from crowdclust_app.domain.errors import UserError
from crowdclust_app.io.atomic import atomic_file

# What Excel, LibreOffice and Google Sheets take for the beginning of a formula (the wide forms in some locales).
_FORMULA = re.compile("'*[=+\\-@\t\r\n＝＋－＠]")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_WRITTEN_FORMULA = re.compile("'+[=+\\-@\t\r\n＝＋－＠]")
_WRITTEN_ANYWHERE = re.compile(b"'[=+\\-@\t\r\n']|'\xef\xbc")
# A semicolon or a tab is quoted too: programs that split at them must not cut a cell in two.
_TO_QUOTE = re.compile('[",;\t\r\n]|^ | $')
_DELIMITERS = (",", ";", "\t")
_LARGEST_CELL = 1_000_000
_SAVE_AS = "save it as 'CSV UTF-8'"
_ROWS_AT_ONCE = 4096


def format_cell(value: Any) -> str:
    """Write one cell, quoted where it must be.

    Parameters
    ----------
    value
        Text, a number, a date, a truth value; None and NaN leave the cell empty.

    Returns
    -------
    str
        The cell as it stands in the file.
    """
    if isinstance(value, str):
        if _FORMULA.match(value) and not _NUMBER.fullmatch(value):
            value = "'" + value
        quoted = value.replace('"', '""')
        return f'"{quoted}"' if _TO_QUOTE.search(value) else value
    if value is None or bool(value != value):
        return ""
    if hasattr(value, "item"):  # a numpy scalar: its repr would name the type
        return format_cell(value.item())
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    return format_cell(value.isoformat() if isinstance(value, date) else str(value))


def write_table(path: Path, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write a table, whole or not at all (see `atomic_file`).

    Parameters
    ----------
    path
        The file.
    header
        Names of the columns.
    rows
        One sequence of cells each, as long as the header (see `format_cell`).

    Raises
    ------
    UserError
        When the file cannot be written, or a text cannot be written as UTF-8 (a file name in another encoding).
    ValueError
        When a row is not as long as the header.
    """
    with atomic_file(path) as file:
        file.write(_line(header).encode("utf-8"))
        remaining = iter(rows)
        while chunk := list(islice(remaining, _ROWS_AT_ONCE)):
            if any(len(row) != len(header) for row in chunk):
                raise ValueError(f"a row of {path} does not have {len(header)} cells")
            text = "".join([_line(row) for row in chunk])
            try:
                file.write(text.encode("utf-8"))
            except UnicodeEncodeError as error:
                name = text[max(0, error.start - 20) : error.end + 20].encode("utf-8", "replace").decode()
                raise UserError(
                    f"the name near {name!r} cannot be written as UTF-8", where=str(path), todo="rename that file"
                ) from error


def _line(cells: Sequence[Any]) -> str:
    # an empty line would read as no record at all
    return (",".join(map(format_cell, cells)) or '""') + "\r\n"


@dataclass(frozen=True, slots=True)
class CsvTable:
    """A table whose header was understood.

    Parameters
    ----------
    path
        Where it came from.
    columns
        Position of each known column that is there.
    unknown_columns
        Names of the columns that are ignored.
    """

    path: Path
    columns: dict[str, int]
    unknown_columns: tuple[str, ...]
    _data: bytes
    _delimiter: str

    def position(self, name: str) -> int:
        """Position of a column, -1 when the table does not have it."""
        return self.columns.get(name, -1)

    def error(self, line: int, what: str, todo: str) -> UserError:
        """Say what is wrong on a line."""
        return UserError(what, where=f"{self.path}, line {line}", todo=todo)

    def rows(self) -> Iterator[tuple[int, list[str]]]:
        """Give every record that is not blank with the number of its first line, as many cells as the header.

        Raises
        ------
        UserError
            When a record is longer or shorter than the header, a quote is not closed, or there is no record at all.
        """
        reader = _reader(self._data, self._delimiter)
        width = len(next(_records(self.path, reader))[1])
        undo = _WRITTEN_ANYWHERE.search(self._data) is not None
        empty = True
        for line, row in _records(self.path, reader):
            if len(row) != width:
                if not any(row):
                    continue  # a blank line, or the empty rows that spreadsheets append
                what = f"has {len(row)} cells where the header has {width}"
                raise self.error(line, what, "put cells that hold a separator or a quote between quotes")
            if undo:
                row = [cell[1:] if _WRITTEN_FORMULA.match(cell) else cell for cell in row]
            elif not any(row):
                continue
            empty = False
            yield line, row
        if empty:
            raise UserError(
                "has a header and no rows", where=f"{self.path}, line 1", todo="check that it was saved completely"
            )


def open_sheet(path: Path, required: Sequence[Sequence[str]], optional: Sequence[str] = ()) -> CsvTable:
    """Open a table and understand its header.

    Parameters
    ----------
    path
        The file.
    required
        Sets of columns of which one has to be there, the preferred one first.
    optional
        Other columns that mean something.

    Returns
    -------
    Sheet
        With the columns of the first set that is complete.

    Raises
    ------
    UserError
        When the file cannot be read as a table, or columns are missing.
    """
    path = Path(path)
    data = _read_text_bytes(path)
    headers = {delimiter: _header(path, data, delimiter) for delimiter in _DELIMITERS}
    known = {name for names in required for name in names} | set(optional)
    delimiter = max(_DELIMITERS, key=lambda d: len(known & set(headers[d])))
    header = headers[delimiter]
    names = next((names for names in required if set(names) <= set(header)), None)
    if names is None:
        closest = max(required, key=lambda names: len(set(names) & set(header)))
        missing = [name for name in closest if name not in header]
        what = f"has no column {' and no column '.join(missing)}"
        wanted = " or ".join(",".join(names) for names in required)
        todo = f"name the columns {wanted} in the first line"
        if len(header) == 1:
            todo += ", with a comma, a semicolon or a tab between them"
        raise UserError(what, where=f"{path}, line 1", todo=todo)
    used = set(names) | set(optional)
    for name in used:
        if header.count(name) > 1:
            raise UserError(f"has the column {name} twice", where=f"{path}, line 1", todo="take one of them out")
    columns = {name: position for position, name in enumerate(header) if name in used}
    unknown = tuple(name or f"column {position + 1}" for position, name in enumerate(header) if name not in used)
    return CsvTable(path, columns, unknown, data, delimiter)


def open_any_sheet(path: Path) -> CsvTable:
    """Open a table whose columns may have any names, all of which are in `unknown_columns`.

    Raises
    ------
    UserError
        When the file cannot be read as a table.
    """
    path = Path(path)
    data = _read_text_bytes(path)
    headers = {delimiter: _header(path, data, delimiter) for delimiter in _DELIMITERS}
    delimiter = max(_DELIMITERS, key=lambda d: len(headers[d]))
    names = tuple(name or f"column {position + 1}" for position, name in enumerate(headers[delimiter]))
    return CsvTable(path, {}, names, data, delimiter)


def _reader(data: bytes, delimiter: str) -> Any:
    # decoded piece by piece: a whole copy as text would take four bytes a character
    text = io.TextIOWrapper(io.BytesIO(data), encoding="utf-8-sig", newline="")
    csv.field_size_limit(_LARGEST_CELL)
    return csv.reader(text, delimiter=delimiter, strict=True)


def _records(path: Path, reader: Any) -> Iterator[tuple[int, list[str]]]:
    """Number the records by their first line; blank lines are records without cells."""
    line = reader.line_num + 1
    try:
        for row in reader:
            yield line, row
            line = reader.line_num + 1
    except csv.Error as error:
        raise UserError(
            f"is not a well-formed table here ({error})",
            where=f"{path}, line {line}",
            todo="look for a quote that is not closed",
        ) from error


def _header(path: Path, data: bytes, delimiter: str) -> list[str]:
    records = _records(path, _reader(data, delimiter))
    _, first = next(records, (1, []))
    return [name.strip().lower() for name in first]


def _read_text_bytes(path: Path) -> bytes:
    """Read a file that should be UTF-8 text; say what else it is when it is not."""
    try:
        data = path.read_bytes()
    except OSError as error:
        if isinstance(error, FileNotFoundError):
            raise UserError("there is no such file", where=str(path), todo="check the name") from error
        reason = "it is a folder" if path.is_dir() else error.strerror
        raise UserError(f"cannot be read ({reason})", where=str(path), todo="name a CSV file you may read") from error
    if not data.strip(b" \r\n\t\xef\xbb\xbf"):
        raise UserError("the file is empty", where=f"{path}, line 1", todo="check that it was saved completely")
    if data.startswith(b"PK\x03\x04"):
        raise UserError("is a spreadsheet workbook, not a table of text", where=str(path), todo=_SAVE_AS)
    if data.startswith((b"\xff\xfe", b"\xfe\xff")) or _looks_like_utf16(data):
        raise UserError("is UTF-16 text, not UTF-8", where=str(path), todo=_SAVE_AS)
    if b"\0" in data:
        line = data.count(b"\n", 0, data.index(b"\0")) + 1
        raise UserError("has NUL bytes and is not text", where=f"{path}, line {line}", todo="save it again as CSV")
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        what = "is not UTF-8 text (an older encoding such as Latin-1, perhaps)"
        raise UserError(what, where=f"{path}, line {line}", todo=_SAVE_AS) from error
    return data


def _looks_like_utf16(data: bytes) -> bool:
    start = data[:200]
    return len(start) > 3 and max(start[::2].count(0), start[1::2].count(0)) > len(start) * 0.4
