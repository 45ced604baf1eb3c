"""Tables come back as they were written, foreign ones are understood, and mistakes are named with file and line."""

from __future__ import annotations

import csv
import errno
import os
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crowdclust_app.domain.errors import UserError
from crowdclust_app.domain.names import class_key, name_key, path_key, spelled
from crowdclust_app.io.tables import read_pairs, read_responses, read_truth, write_table

HEADER = ["hit", "worker", "item", "group"]
GOOD = "hit,worker,item,group\nh1,ann,a.jpg,1\nh1,ann,b.jpg,2\n"


def put(folder: Path, content: str | bytes, name: str = "responses.csv") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def message(path: Path, read=read_responses) -> str:
    with pytest.raises(UserError) as caught:
        read(path)
    text = str(caught.value)
    assert text.startswith(str(path)), text
    assert "\n" not in text.replace(str(path), "")
    assert text.endswith(".")
    return text.removeprefix(str(path))


names = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=6).filter(
    lambda text: spelled(text) == text
)


def differently_named(rows: list[tuple[str, str, str, str]]) -> bool:
    """No two spellings of one name, and no item twice in a response."""
    columns = zip(*rows, strict=True)
    keys = (name_key, name_key, path_key, class_key)
    alike = [len(set(column)) == len({key(cell) for cell in column}) for column, key in zip(columns, keys, strict=True)]
    return all(alike) and len({row[:3] for row in rows}) == len(rows)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.lists(st.tuples(names, names, names, names), min_size=1, max_size=6).filter(differently_named))
def test_responses_come_back_as_they_were_written(tmp_path: Path, rows: list[tuple[str, str, str, str]]) -> None:
    path = tmp_path / "responses.csv"
    write_table(path, HEADER, rows)
    back = [
        (record.response.hit, record.response.worker, item, group)
        for record in read_responses(path)
        for item, group in zip(record.response.items, record.response.groups, strict=True)
    ]
    assert sorted(back) == sorted(rows)


@pytest.mark.parametrize(
    "name",
    [
        "=1+1",
        "+x",
        "-x",
        "@sum",
        "\tx",
        "\rx",
        "＝1",
        "'=1",
        "''-x",
        "'",
        "'plain",
        "-1",
        "=a;b",
        "a;=b",
        "NA",
        "'none",
        "-",
    ],
)
def test_no_cell_begins_a_formula_and_none_is_changed(tmp_path: Path, name: str) -> None:
    path = tmp_path / "responses.csv"
    write_table(path, HEADER, [("h", "w", name, "g")])
    with path.open(newline="", encoding="utf-8") as file:
        seen = list(csv.reader(file))[1][2]
    assert seen == "-1" or seen[0] not in "=+-@\t\r＝"
    assert read_responses(path)[0].response.items == (name,)


def test_the_bytes_are_rfc_4180(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    rows = [
        ("é,", 'say "hi"', "two\nlines", 1),
        (None, float("nan"), np.float64(0.25), np.int64(-3)),
        (True, -1, "", 0),
    ]
    write_table(path, ["a", "b", "c", "d"], rows)
    assert path.read_bytes().decode() == ('a,b,c,d\r\n"é,","say ""hi""","two\nlines",1\r\n,,0.25,-3\r\ntrue,-1,,0\r\n')


def test_dates_are_iso(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    write_table(path, ["at"], [(datetime(2024, 5, 31, 14, 3, tzinfo=UTC),)])
    assert path.read_text() == "at\n2024-05-31T14:03:00+00:00\n"


@pytest.mark.parametrize(
    "content",
    [
        b"\xef\xbb\xbf" + GOOD.encode(),
        GOOD.replace(",", ";"),
        GOOD.replace(",", "\t"),
        GOOD.replace("\n", "\r\n"),
        GOOD.replace("\n", "\r"),
        GOOD.rstrip("\n"),
        GOOD + "\n\n,,,\n",
        "Group, ITEM ,worker,hit\n1,a.jpg,ann,h1\n2,b.jpg,ann,h1\n",
        'hit,worker,item,group\n"h1","ann","a.jpg","1"\nh1,ann,b.jpg,2\n',
    ],
    ids=["bom", "semicolon", "tab", "crlf", "cr", "no-last-newline", "blank-rows", "order", "quotes"],
)
def test_foreign_spellings_are_understood(tmp_path: Path, content: str | bytes) -> None:
    (record,) = read_responses(put(tmp_path, content))
    assert record.response.hit == "h1"
    assert record.response.worker == "ann"
    assert record.response.items == ("a.jpg", "b.jpg")
    assert record.response.groups == ("1", "2")


def test_rows_of_a_response_need_not_stand_together_and_hits_may_be_shared(tmp_path: Path) -> None:
    rows = "h1,ann,a,1\nh1,bob,a,1\nh1,ann,b,1\nh2,ann,a,x\nh1,bob,b,2\n"
    records = read_responses(put(tmp_path, "hit,worker,item,group\n" + rows))
    assert [(r.response.hit, r.response.worker, r.response.items, r.line) for r in records] == [
        ("h1", "ann", ("a", "b"), 2),
        ("h1", "bob", ("a", "b"), 3),
        ("h2", "ann", ("a",), 5),
    ]


def test_unknown_columns_are_named(tmp_path: Path) -> None:
    records = read_responses(put(tmp_path, "hit,ms,worker,item,group,\nh,5,w,i,g,x\n"))
    assert records.unknown_columns == ("ms", "column 6")
    truth = read_truth(put(tmp_path, "item,category,notes\na,x,y\n", "truth.csv"))
    assert truth.unknown_columns == ("notes",)


def test_optional_columns(tmp_path: Path) -> None:
    text = (
        "hit,worker,item,group,started_at,submitted_at,active_seconds,stage,group_name,comment\n"
        "h,w,a,1,2024-05-31T14:00:00Z,2024-05-31T14:03:00+00:00,41.5,all/1,birds,hard\n"
        "h,w,b,2,2024-05-31T14:00:00Z,2024-05-31T14:03:00+00:00,41.5,all/1,,hard\n"
        "h2,w,b,2,,,,,,\n"
    )
    first, second = read_responses(put(tmp_path, text))
    assert first.started_at == datetime(2024, 5, 31, 14, 0, tzinfo=UTC)
    assert first.submitted_at == datetime(2024, 5, 31, 14, 3, tzinfo=UTC)
    assert first.active_seconds == 41.5
    assert (first.stage, first.comment, first.group_names) == ("all/1", "hard", ("birds", None))
    assert (second.started_at, second.active_seconds, second.stage, second.comment) == (None, None, None, None)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", ", line 1: the file is empty; check that it was saved completely."),
        (b"\xef\xbb\xbf\r\n", ", line 1: the file is empty"),
        ("hit,worker,item,group\n", ", line 1: has a header and no rows"),
        ("hit,worker,item,group\n\n,,,\n", ", line 1: has a header and no rows"),
        ("hit,worker,item\nh,w,i\n", ", line 1: has no column group; name the columns hit,worker,item,group"),
        ("a,b\n1,2\n", ", line 1: has no column hit and no column worker and no column item and no column group;"),
        ("hit,worker,item,group,hit\nh,w,i,g,h\n", ", line 1: has the column hit twice"),
        (GOOD + "h1,ann,a.jpg,2\n", ", line 4: the item a.jpg is a second time in the response of ann to the HIT h1;"),
        (GOOD + "h1,ann,c.jpg\n", ", line 4: has 3 cells where the header has 4;"),
        (GOOD + "h1,ann,c.jpg,1,2\n", ", line 4: has 5 cells where the header has 4;"),
        (GOOD + "h1,ann,,1\n", ", line 4: the item is empty; fill it in or take the row out."),
        (GOOD + "h1,NA,c.jpg,1\n", ", line 4: the worker is NA, which stands for a missing value; fill it in or take"),
        ("hit,worker,item,group\nh1,ann,a.jpg,NA\n", ": has no group in any row; say into which group"),
        (GOOD + "h1, ,c.jpg,1\n", ", line 4: the worker is empty;"),
        ('hit,worker,item,group\nh1,ann,"a\nb",1\nh1,ann,,1\n', ", line 4: the item is empty;"),
        (GOOD + 'h1,ann,"c.jpg,1\nh1,ann,d,1\n', ", line 4: is not a well-formed table here ("),
        (GOOD.encode("utf-16")[:-1], ": is not whole UTF-16 text; save it as 'CSV UTF-8'."),
        (GOOD.encode() + "h1,ann,кот,1\n".encode("cp1251"), ", line 4: is not UTF-8 text (an older encoding"),
        (
            GOOD.encode() + "h1,ann,schön,1\n".encode("mac_roman"),
            ", line 4: is not UTF-8 text and could be Windows-1252 (schšn) or Mac Roman (schön); save it as",
        ),
        (GOOD.encode() + b"h1,ann,\0,1\n", ", line 4: has NUL bytes"),
        (b"PK\x03\x04" + bytes(100), ": is a spreadsheet workbook"),
        (
            "hit,worker,item,group,stage\nh,w,a,1,all\nh,w,b,1,all/1\n",
            ", line 3: the response of w to the HIT h has another stage on line 2;",
        ),
        ("hit,worker,item,group,active_seconds\nh,w,a,1,soon\n", ", line 2: the active_seconds soon is not a number"),
        ("hit,worker,item,group,active_seconds\nh,w,a,1,inf\n", ", line 2: the active_seconds inf is not a number"),
        ("hit,worker,item,group,active_seconds\nh,w,a,1,-1\n", ", line 2: the active_seconds -1 is not a number"),
        ("hit,worker,item,group,started_at\nh,w,a,1,noon\n", ", line 2: the started_at noon is not a date"),
    ],
)
def test_mistakes_are_named_with_file_and_line(tmp_path: Path, content: str | bytes, words: str) -> None:
    assert message(put(tmp_path, content)).startswith(words)


def test_no_such_file_and_a_folder(tmp_path: Path) -> None:
    assert message(tmp_path / "none.csv") == ": there is no such file; check the name."
    assert message(tmp_path) == ": cannot be read (it is a folder); name a CSV file you may read."


def test_pairs(tmp_path: Path) -> None:
    path = put(tmp_path, "worker,item_a,item_b,label,hit\nw,a,b,1,h\nw,a,c,-1,h\nw,b,c,+1,\n", "pairs.csv")
    records = read_pairs(path)
    assert [(r.worker, r.item_a, r.item_b, r.label, r.hit, r.line) for r in records] == [
        ("w", "a", "b", 1, "h", 2),
        ("w", "a", "c", -1, "h", 3),
        ("w", "b", "c", 1, None, 4),
    ]
    without = put(tmp_path, "worker;item_a;item_b;label\nw;a;b;1\n", "pairs.csv")
    assert read_pairs(without)[0].hit is None


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("w,a,b,0", ", line 2: the label 0 is neither 1 nor -1;"),
        ("w,a,b,same", ", line 2: the label same is neither 1 nor -1;"),
        ("w,a,a,1", ", line 2: the item a is paired with itself;"),
        ("w,a,,1", ", line 2: the item_b is empty;"),
    ],
)
def test_mistakes_in_pairs(tmp_path: Path, row: str, words: str) -> None:
    path = put(tmp_path, f"worker,item_a,item_b,label\n{row}\n", "pairs.csv")
    assert message(path, read_pairs).startswith(words)


@pytest.mark.parametrize("header", ["item,category", "category,item,x", "task,label"])
def test_truth_of_both_kinds(tmp_path: Path, header: str) -> None:
    cells = {"item": "a", "category": "cat", "task": "a", "label": "cat", "x": "y"}
    row = ",".join(cells[name] for name in header.split(","))
    assert read_truth(put(tmp_path, f"{header}\n{row}\n{row}\n")) == {"a": "cat"}


def test_mistakes_in_truth(tmp_path: Path) -> None:
    path = put(tmp_path, "item,category\na,x\nb,y\na,z\n", "truth.csv")
    assert message(path, read_truth).startswith(", line 4: the item a has the category z here and x before;")
    path = put(tmp_path, "item,label\na,x\n", "truth.csv")
    assert message(path, read_truth).startswith(
        ", line 1: has no column category; name the columns item,category or task,label"
    )
    path = put(tmp_path, "task,label\na,\n", "truth.csv")
    assert message(path, read_truth).startswith(": has no label in any row;")


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    write_table(path, ["a"], [("old",)])

    def rows():
        yield ("new",)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_table(path, ["a"], rows())
    with pytest.raises(ValueError, match="does not have 1 cells"):
        write_table(path, ["a"], [("x", "y")])
    with pytest.raises(UserError, match="cannot be written as UTF-8; rename that file"):
        write_table(path, ["a"], [("bad \udcff name",)])
    assert path.read_text() == "a\nold\n"
    assert list(tmp_path.iterdir()) == [path]


def test_a_full_disk_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_handle: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    path = tmp_path / "t.csv"
    with pytest.raises(UserError, match=r"t\.csv: cannot be written \(No space left on device\); choose"):
        write_table(path, ["a"], [("x",)])
    assert list(tmp_path.iterdir()) == []


def test_a_missing_folder_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot be written"):
        write_table(tmp_path / "none" / "t.csv", ["a"], [("x",)])
    assert list(tmp_path.iterdir()) == []
