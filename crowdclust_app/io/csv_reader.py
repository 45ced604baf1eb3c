"""A patient reader of tables of text, in the dialects that statistics programs and spreadsheets write.

Between the cells a comma, `;`, tab, `|` or space; quotes anywhere; columns in any order; lines ended by LF, CR LF or
CR; UTF-8, UTF-16 or an older encoding that is certain (`text_encoding`); row names as R and pandas write them; a line
`sep=;` or a title above the header; separators behind the last cell. Cells lose their outer white space, and those that
stand for a missing value (`domain.names.is_missing`) come out empty.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from crowdclust_app.domain.errors import UserError
from crowdclust_app.domain.names import says_missing, spelled
from crowdclust_app.io.csvtext import written_text
from crowdclust_app.io.text_encoding import decode_table

_DELIMITERS = (",", ";", "\t", "|", " ")
_LARGEST_CELL = 1_000_000
_KEPT_CELLS = 200_000
# Titles and the like that may stand above a header.
_LINES_ABOVE = 10
# Names that programs give to a column of row names.
ROW_NAMES = frozenset({"", "unnamed: 0", "x", "...1", "rownames", "row.names", "index", "level_0"})

Row = tuple[int, list[str]]


class ColumnsMissingError(UserError):
    """A table does not have the columns that are needed."""


class _Cleaned(dict[str, str]):
    """Cells as they are meant, by how they stand in the file."""

    def __missing__(self, cell: str) -> str:
        text = spelled(cell)
        text = "" if says_missing(text) else written_text(text) if text[0] == "'" else text
        if len(self) < _KEPT_CELLS:
            self[cell] = text
        return text


@dataclass(slots=True)
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
    notes
        Sentences about how it was read.
    header
        Names of all columns as they stand there.
    raw
        The cells of the row that was read last as they stand there.
    """

    path: Path
    columns: dict[str, int]
    unknown_columns: tuple[str, ...]
    notes: list[str]
    header: tuple[str, ...]
    _records: Callable[[], Iterator[Row]]
    header_line: int = 1
    _cleaned: _Cleaned = field(default_factory=_Cleaned)
    raw: list[str] = field(default_factory=list)
    _missing: dict[str, Counter[str]] = field(default_factory=dict)

    def position(self, name: str) -> int:
        """Position of a column, -1 when the table does not have it."""
        return self.columns.get(name, -1)

    def error(self, line: int, what: str, todo: str) -> UserError:
        """Say what is wrong on a line."""
        return UserError(what, where=f"{self.path}, line {line}", todo=todo)

    def empty_cell(self, line: int, columns: Mapping[str, int]) -> UserError:
        """Say which of these columns, by name and position, has no value in the row that was read last."""
        name = next(name for name, at in columns.items() if not self._cleaned[self.raw[at]])
        cell = spelled(self.raw[columns[name]])
        what = f"the {name} is {cell}, which stands for a missing value" if cell else f"the {name} is empty"
        return self.error(line, what, "fill it in or take the row out")

    def count_missing(self, name: str) -> None:
        """Count that the row that was read last has no value in a column."""
        self._missing.setdefault(name, Counter())[spelled(self.raw[self.columns[name]])] += 1

    def say_missing(self, name: str, rows: int, meaning: str, *, words_only: bool = False) -> None:
        """Note how many rows had no value in a column, how they said so, and what that is taken to mean.

        Parameters
        ----------
        words_only
            Do not when all of them were empty.
        """
        found = self._missing.get(name)
        if found and not (words_only and set(found) == {""}):
            words = ", ".join(word or "empty" for word, _ in found.most_common(5))
            self.notes.append(f"{found.total():,} of {rows:,} rows have no {name} ({words}): {meaning}.")

    def made_of(
        self, records: Callable[[], Iterator[Row]], columns: Sequence[str], note: str | None, unknown: Sequence[str]
    ) -> CsvTable:
        """Another table out of the rows of this one, with these columns."""
        positions = {name: at for at, name in enumerate(columns)}
        notes = [*self.notes, *filter(None, [note])]
        return CsvTable(self.path, positions, tuple(unknown), notes, tuple(columns), records, self.header_line)

    def cell(self, written: str) -> str:
        """What a cell means that stands so in the file; empty where it is missing."""
        return self._cleaned[written]

    def rows(self, *, cleaned: bool = True) -> Iterator[Row]:
        """Give every record that is not blank with the number of its first line, as many cells as the header.

        Parameters
        ----------
        cleaned
            The cells as they are meant, or as they stand there.

        Raises
        ------
        UserError
            When a record is longer or shorter than the header, a quote is not closed, or there is no record at all.
        """
        empty, width, clean = True, len(self.header), self._cleaned.__getitem__
        for line, row in self._records():
            if len(row) != width:
                if not any(row):
                    continue  # a blank line, or the empty rows that spreadsheets append
                if len(row) < width or any(map(spelled, row[width:])):
                    what = f"has {len(row)} cells where the header has {width}"
                    raise self.error(line, what, "put cells that hold a separator or a quote between quotes")
                del row[width:]
            self.raw = row
            cells = list(map(clean, row)) if cleaned else row
            if not any(cells) and not any(map(spelled, row)):
                continue
            empty = False
            yield line, cells
        if empty:
            where = f"{self.path}, line {self.header_line}"
            raise UserError("has a header and no rows", where=where, todo="check that it was saved completely")


def open_sheet(
    path: Path,
    required: Sequence[Sequence[str]],
    optional: Sequence[str] = (),
    renamed: Mapping[str, str] | None = None,
    aliases: Mapping[str, Sequence[str]] | None = None,
) -> CsvTable:
    """Open a table and understand its header.

    Parameters
    ----------
    path
        The file.
    required
        Sets of columns of which one has to be there, the preferred one first.
    optional
        Other columns that mean something.
    renamed
        What the table calls a column, where it is known to call it otherwise.
    aliases
        What tables of other programs call a column, compared without anything but letters and digits; they are taken
        where the column itself is not there, and said.

    Returns
    -------
    CsvTable
        With the columns of the first set that is complete.

    Raises
    ------
    UserError
        When the file cannot be read as a table, or columns are missing.
    """
    text = TableText(path)
    found = [
        (_named(header, (*names, *optional), renamed or {}, aliases or {}), names, delimiter, at, header)
        for delimiter, at, header in text.headers()
        for names in required
    ]

    def rank(candidate: tuple[dict[str, int], Sequence[str], str, int, list[str]]) -> tuple[bool, int, int, int]:
        columns, names, _, at, _ = candidate
        missing = len(set(names) - columns.keys())
        return not missing, len(columns), -missing if columns else 0, -at

    columns, names, delimiter, at, header = max(found, key=rank)
    if not set(names) <= columns.keys():
        raise _columns_missing(text, required, renamed or {}, [name for name in names if name not in columns], header)
    used = (*names, *optional)
    line = text.line_of(delimiter, at)
    for name in used:
        called = header[columns[name]] if name in columns else name
        if header.count(called) > 1:
            raise UserError(f"has the column {called} twice", where=f"{path}, line {line}", todo="take one of them out")
    columns = {name: columns[name] for name in (*names, *optional) if name in columns}
    read = [f"{header[position]} as {name}" for name, position in columns.items() if header[position] != name]
    table = text.table(delimiter, at, columns)
    if read:
        table.notes.append(f"It calls its columns otherwise; read: {', '.join(read)}.")
    return table


def _named(
    header: list[str], known: Sequence[str], renamed: Mapping[str, str], aliases: Mapping[str, Sequence[str]]
) -> dict[str, int]:
    """Position of each known column, by its name here, its own name, or what other programs call it."""
    columns: dict[str, int] = {}
    for name in filter(renamed.__contains__, known):
        called = spelled(renamed[name]).lower()
        if called in header:
            columns[name] = header.index(called)
    for name in known:
        if name not in renamed and name in header and header.index(name) not in columns.values():
            columns[name] = header.index(name)
    plain = list(map(plain_name, header))
    for name, others in aliases.items():
        if name in known and name not in columns and name not in renamed:
            free = (plain.index(other) for other in others if other in plain)
            position = next((at for at in free if at not in columns.values()), None)
            if position is not None:
                columns[name] = position
    return columns


def plain_name(name: str) -> str:
    """Letters and digits of a column's name, in lower case."""
    return "".join(filter(str.isalnum, name)).lower()


def _columns_missing(
    text: TableText,
    required: Sequence[Sequence[str]],
    renamed: Mapping[str, str],
    missing: Sequence[str],
    header: list[str],
) -> UserError:
    what = f"has no column {' and no column '.join(renamed.get(name, name) for name in missing)}"
    wanted = " or ".join(",".join(names) for names in required)
    todo = f"name the columns {wanted} in the first line"
    if len(header) == 1:
        todo += ", with a comma, a semicolon or a tab between them"
    return ColumnsMissingError(what, where=f"{text.path}, line 1", todo=todo)


def open_any_sheet(path: Path) -> CsvTable:
    """Open a table whose columns may have any names, all of which are in `unknown_columns`.

    Raises
    ------
    UserError
        When the file cannot be read as a table.
    """
    return any_sheet(TableText(path))


def any_sheet(text: TableText) -> CsvTable:
    """As `open_any_sheet`, of a text that was read already."""

    def rank(candidate: tuple[str, int, list[str]]) -> tuple[bool, bool, int, int]:
        delimiter, at, header = candidate
        following = text.below(delimiter, at)
        alike = len(header) > 1 and 0 <= len(following) - len(header) <= 1
        return alike, delimiter != " ", -at, len(header)

    delimiter, at, _ = max(text.headers(), key=rank)
    return text.table(delimiter, at, {})


class TableText:
    """The text of a table before its dialect is known.

    Parameters
    ----------
    path
        The file.

    Raises
    ------
    UserError
        When it cannot be read as text.
    """

    def __init__(self, path: Path) -> None:
        self.path = Path(path)
        self._data, self.notes = decode_table(_read(self.path), self.path)
        # Excel's own way of saying what stands between the cells
        told = re.match(rb'(?:\xef\xbb\xbf)?"?sep=([^\r\n"])"?\r?[\r\n]', self._data, re.IGNORECASE)
        self._delimiters: Sequence[str] = (told[1].decode("ascii", "replace"),) if told else _DELIMITERS
        self._above = 1 if told else 0
        self._first: dict[str, list[Row]] = {}

    def headers(self) -> list[tuple[str, int, list[str]]]:
        """What may be the header: delimiter, number of the record, names of the columns.

        Raises
        ------
        UserError
            When not even the first line is well formed.
        """
        found = []
        for delimiter in self._delimiters:
            rows: list[Row] = []
            try:
                rows.extend(islice(self.records(delimiter), _LINES_ABOVE))  # keeps what came before an error
            except UserError as error:
                malformed = error
            self._first[delimiter] = rows
            found += [
                (delimiter, at, [spelled(name).lower() for name in row])
                for at, (_, row) in enumerate(rows)
                if row and at >= self._above
            ]
        if not found:
            raise malformed
        return found

    def below(self, delimiter: str, at: int) -> list[str]:
        """The record that follows one of the first ones."""
        return next((row for _, row in self._first[delimiter][at + 1 :] if row), [])

    def line_of(self, delimiter: str, at: int) -> int:
        """The line on which one of the first records begins."""
        return self._first[delimiter][at][0]

    def records(self, delimiter: str) -> Iterator[Row]:
        """Number the records by their first line; blank lines are records without cells."""
        csv.field_size_limit(_LARGEST_CELL)
        # decoded piece by piece: a whole copy as text would take four bytes a character
        text = io.TextIOWrapper(io.BytesIO(self._data), encoding="utf-8-sig", newline="")
        reader = csv.reader(text, delimiter=delimiter, skipinitialspace=delimiter != " ", strict=True)
        line = 1
        try:
            for row in reader:
                yield line, row
                line = reader.line_num + 1
        except csv.Error as error:
            raise UserError(
                f"is not a well-formed table here ({error})",
                where=f"{self.path}, line {line}",
                todo="look for a quote that is not closed",
            ) from error

    def table(self, delimiter: str, at: int, columns: Mapping[str, int]) -> CsvTable:
        """The table below a header.

        Parameters
        ----------
        at
            Number of the header's record.
        columns
            Position of each known column in it.
        """
        line, header = self._first[delimiter][at]
        names = [spelled(name) for name in header]

        def records() -> Iterator[Row]:
            return islice(self.records(delimiter), at + 1, None)

        if self._has_row_names(records, len(names), numbered=bool(columns)):
            columns = {name: position + 1 for name, position in columns.items()}
            names = ["", *names]
        used = set(columns.values())
        last = len(names)
        while (
            last and not names[last - 1] and not any(row[last - 1 : last] > [""] for _, row in self._first[delimiter])
        ):
            last -= 1  # separators behind the last cell
        unknown = tuple(
            name or f"column {position + 1}"
            for position, name in enumerate(map(str.lower, names))
            if not used or not (position in used or (position == 0 and name in ROW_NAMES) or position >= last)
        )
        return CsvTable(self.path, dict(columns), unknown, list(self.notes), tuple(names), records, line)

    def _has_row_names(self, records: Callable[[], Iterator[Row]], width: int, *, numbered: bool) -> bool:
        """Whether each record begins with a name of the row that the header does not count, as R writes them."""
        first = next((row for _, row in records() if any(row)), [])
        if len(first) != width + 1 or not spelled(first[-1]):
            return False
        rows = [row for _, row in records() if any(row)]
        names = {row[0] for row in rows}
        alike = len(rows) > 1 and len(names) == len(rows) and all(len(row) == width + 1 for row in rows)
        return alike and (not numbered or all(map(str.isdecimal, names)))


def _read(path: Path) -> bytes:
    """Read a file that should be text; say what else it is when it is not."""
    try:
        if path.exists() and not (path.is_file() or path.is_dir()):
            raise UserError("this is a pipe or a device, not a file", where=str(path), todo="name a CSV file")
        data = path.read_bytes()
    except OSError as error:
        if isinstance(error, FileNotFoundError):
            raise UserError("there is no such file", where=str(path), todo="check the name") from error
        reason = "it is a folder" if path.is_dir() else error.strerror
        raise UserError(f"cannot be read ({reason})", where=str(path), todo="name a CSV file you may read") from error
    if not data.strip(b" \r\n\t\xef\xbb\xbf\xff\xfe\0"):
        raise UserError("the file is empty", where=f"{path}, line 1", todo="check that it was saved completely")
    if data.startswith(b"PK\x03\x04"):
        what = "is a spreadsheet workbook, not a table of text"
        raise UserError(what, where=str(path), todo="save it as 'CSV UTF-8'")
    return data
