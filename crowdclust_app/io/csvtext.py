"""Comma-separated text as it is written; `csv_reader` reads it.

UTF-8 without a byte order mark, comma, a header, RFC 4180 to the letter (records end with CR LF, which every
spreadsheet and CSV library takes). A cell that a spreadsheet would run as a formula gets an apostrophe in front, as
does one that already is an apostrophe before such a formula; numbers stay numbers. A cell that would read as a missing
value (`NA`, `-`) gets one too. Reading takes exactly that apostrophe away again, so what was written comes back
unchanged.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import date
from itertools import islice
from pathlib import Path
from typing import Any

from crowdclust_app.domain.errors import UserError
from crowdclust_app.domain.names import is_missing
from crowdclust_app.io.atomic import atomic_file

# What Excel, LibreOffice and Google Sheets take for the beginning of a formula (the wide forms in some locales).
_FORMULA = re.compile("'*[=+\\-@\t\r\n＝＋－＠]")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
# A semicolon or a tab is quoted too: programs that split at them must not cut a cell in two.
_TO_QUOTE = re.compile('[",;\t\r\n]|^ | $')
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
        if (_FORMULA.match(value) and not _NUMBER.fullmatch(value)) or _reads_as_missing(value):
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


def _reads_as_missing(text: str) -> bool:
    return 0 < len(text) < 10 and not text.isspace() and is_missing(text.lstrip("'"))


def written_text(cell: str) -> str:
    """Take away the apostrophe that `format_cell` put in front of a cell."""
    return cell[1:] if cell[:1] == "'" and (_FORMULA.match(cell) or _reads_as_missing(cell)) else cell
