"""Every kind of table in every dialect that statistics programs and spreadsheets write by default."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from crowdclust_app.domain.errors import UserError
from crowdclust_app.io.feature_tables import read_features
from crowdclust_app.io.label_tables import read_labels
from crowdclust_app.io.tables import read_pairs, read_responses, read_truth


@dataclass(frozen=True)
class Dialect:
    """How a program writes a table."""

    delimiter: str = ","
    encoding: str = "utf-8"
    end: str = "\r\n"
    quoting: Any = csv.QUOTE_MINIMAL
    above: str = ""
    # "column" names it "" as R's write.csv and pandas do, "short" leaves it out of the header as R's write.table does
    row_names: str | None = None
    decimal: str = "."
    behind: bool = False
    padded: int = 0
    first_row: int = 1
    spaced: bool = False


TEXT = csv.QUOTE_NONNUMERIC
DIALECTS = {
    "R write.csv": Dialect(end="\n", quoting=TEXT, row_names="column"),
    "R write.csv without row names": Dialect(end="\n", quoting=TEXT),
    "R write.csv2": Dialect(";", end="\n", quoting=TEXT, row_names="column", decimal=","),
    "R write.table": Dialect(" ", end="\n", quoting=TEXT, row_names="short"),
    "R write.table with tabs": Dialect("\t", end="\n", quoting=TEXT, row_names="short"),
    "R on Windows": Dialect(encoding="cp1252", quoting=TEXT, row_names="column"),
    "pandas": Dialect(end="\n", row_names="column", first_row=0),
    "pandas without index": Dialect(end="\n"),
    "pandas decimal comma": Dialect(";", end="\n", decimal=",", row_names="column", first_row=0),
    "Excel": Dialect(encoding="cp1252"),
    "Excel UTF-8": Dialect(encoding="utf-8-sig"),
    "Excel German": Dialect(";", encoding="cp1252", decimal=","),
    "Excel French UTF-8": Dialect(";", encoding="utf-8-sig", decimal=","),
    "Excel sep=": Dialect(";", encoding="cp1252", above="sep=;\r\n"),
    "Excel Unicode text": Dialect("\t", encoding="utf-16"),
    "Excel Macintosh": Dialect(";", encoding="mac_roman", end="\r", decimal=","),
    "Excel with empty columns behind": Dialect(behind=True),
    "LibreOffice": Dialect(end="\n", quoting=csv.QUOTE_ALL),
    "LibreOffice UTF-16": Dialect(encoding="utf-16-le", end="\n"),
    "Numbers with its title": Dialect(above="Table 1\r\n"),
    "Google Sheets": Dialect(),
    "Google Sheets French": Dialect(decimal=","),
    "SPSS": Dialect(encoding="utf-8-sig", padded=12),
    "SPSS tab, decimal comma": Dialect("\t", encoding="utf-8-sig", padded=12, decimal=","),
    "bars": Dialect("|"),
    "spaces behind commas": Dialect(quoting=csv.QUOTE_ALL, spaced=True),
}


def written(dialect: Dialect, header: list[str], rows: list[list[Any]]) -> bytes:
    buffer = io.StringIO()
    writer = csv.writer(buffer, delimiter=dialect.delimiter, quoting=dialect.quoting, lineterminator=dialect.end)
    numbered = dialect.row_names is not None
    writer.writerow([*([""] if dialect.row_names == "column" else []), *header, *([""] if dialect.behind else [])])
    for number, row in enumerate(rows, dialect.first_row):
        cells = [
            str(cell).replace(".", dialect.decimal) if isinstance(cell, float) and dialect.decimal != "." else cell
            for cell in row
        ]
        cells = [cell.ljust(dialect.padded) if isinstance(cell, str) else cell for cell in cells]
        writer.writerow([*([str(number)] if numbered else []), *cells, *([""] if dialect.behind else [])])
    text = buffer.getvalue().replace('","', '", "') if dialect.spaced else buffer.getvalue()
    return (dialect.above + text).encode(dialect.encoding)


def responses(path: Path) -> Any:
    read = read_responses(path)
    assert read.unknown_columns == ()
    return [(one.response, one.lines, one.active_seconds) for one in read]


def labels(path: Path) -> Any:
    read = read_labels(path)
    assert read.unknown_columns == ()
    return read.task, read.worker, read.label, read.lines


def pairs(path: Path) -> Any:
    read = read_pairs(path)
    assert read.unknown_columns == ()
    return list(read)


def truth(path: Path) -> Any:
    read = read_truth(path)
    assert read.unknown_columns == ()
    return dict(read)


def features(path: Path) -> Any:
    read = read_features(path)
    return read.names, read.columns, read.values.tolist()


KINDS: dict[str, tuple[Callable[[Path], Any], list[str], list[list[Any]]]] = {
    "responses": (
        responses,
        ["hit", "worker", "item", "group", "active_seconds"],
        [
            ["h 1", "Zoë", "Müller/1.png", 1, 2.5],
            ["h 1", "Zoë", "café, 2.png", 2, 2.5],
            ["h 1", "b", "Müller/1.png", 1, 1.5],
        ],
    ),
    "labels": (labels, ["task", "worker", "label"], [["Bär", "Zoë", 0.5], ["Bär", "b", 1.5], ["t; 2", "b", 1.5]]),
    "pairs": (
        pairs,
        ["worker", "item_a", "item_b", "label"],
        [["Zoë", "Bär", "b", 1], ["Zoë", "Bär", "c c", -1], ["d", "Bär", "b", 1]],
    ),
    "truth of items": (truth, ["item", "category"], [["Bär", "Tür"], ["b", "y"]]),
    "truth of tasks": (truth, ["task", "label"], [["Bär", 0.5], ["b", 1.5], ["c", 0.5]]),
    "features": (features, ["item", "x1", "x2"], [["Bär", 0.5, -1.25], ["b b", 2.5, 1000.5], ["c", 0.25, 3.5]]),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", DIALECTS)
def test_every_kind_of_table_is_read_in_every_dialect(tmp_path: Path, kind: str, name: str) -> None:
    read, header, rows = KINDS[kind]
    plain, other = tmp_path / "plain.csv", tmp_path / "other.csv"
    # the same lines, so that numbers of lines are compared too
    above = "sep=,\n" if DIALECTS[name].above else ""
    plain.write_bytes(written(Dialect(above=above), header, rows))
    other.write_bytes(written(DIALECTS[name], header, rows))
    assert read(other) == read(plain)


@pytest.mark.parametrize("kind", ["responses", "labels", "pairs", "truth of items"])
@pytest.mark.parametrize("name", ["R write.csv", "Excel German", "Excel Macintosh", "Numbers with its title"])
def test_a_message_names_the_line_of_the_row_itself(tmp_path: Path, kind: str, name: str) -> None:
    read, header, rows = KINDS[kind]
    dialect = DIALECTS[name]
    broken = [[*rows[0][:-1], rows[0][-1]], [f"two{dialect.end}lines", *rows[1][1:]], ["", *rows[-1][1:]]]
    path = tmp_path / "table.csv"
    path.write_bytes(written(dialect, header, broken))
    line = 5 + (1 if dialect.above else 0)
    with pytest.raises(UserError, match=rf"table\.csv, line {line}: the {header[0]} is empty; fill it in"):
        read(path)


def test_an_inferred_encoding_is_said_with_a_word_to_judge_it_by(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes("item,category\nMüller,x\n".encode("mac_roman"))
    assert read_truth(path).notes == ("It is not UTF-8 and was read as Mac Roman, such as Müller.",)
    path.write_bytes("item,category\nMüller,x\n".encode("cp1252"))
    assert read_truth(path).notes == ("It is not UTF-8 and was read as Windows-1252, such as Müller.",)


@pytest.mark.parametrize("cells", [["1,234", "2,500"], ["1,5", "2.5"], ["1.234,5", "2,5"]])
def test_a_decimal_comma_that_is_not_certain_is_refused(tmp_path: Path, cells: list[str]) -> None:
    path = tmp_path / "f.csv"
    path.write_text("item,x\n" + "".join(f'i{at},"{cell}"\n' for at, cell in enumerate(cells)))
    with pytest.raises(UserError, match="is not a finite number"):
        read_features(path)
