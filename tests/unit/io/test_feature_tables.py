"""Reading a table of features, and what is said of one that is wrong."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from crowdclust_app.domain.errors import UserError
from crowdclust_app.io.feature_tables import read_features


def written(folder: Path, text: str) -> Path:
    path = folder / "features.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_the_first_column_names_the_items_and_the_others_are_numbers(tmp_path: Path) -> None:
    rows = read_features(written(tmp_path, "photo;Area;edge\n a b.jpg ;1.5;-2\nc.jpg;;1e3\nd.jpg;NA;nan\n"))
    assert rows.names == ("a b.jpg", "c.jpg", "d.jpg")
    assert rows.columns == ("area", "edge")
    assert np.isnan(rows.values).tolist() == [[False, False], [True, False], [True, True]]
    assert rows.values[0].tolist() == [1.5, -2.0]


def test_columns_without_any_value_are_left_out_and_names_may_be_whole_numbers(tmp_path: Path) -> None:
    rows = read_features(written(tmp_path, "item,0,1,2\nx,1,,3\ny,2,,4\n"))
    assert rows.columns == ("0", "2")
    assert rows.values.tolist() == [[1.0, 3.0], [2.0, 4.0]]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("task,x\na,1\nb,red\n", "line 3: the x red is not a finite number; correct it or leave it empty."),
        ("task,x\na,1\nb,inf\n", "line 3: the x inf is not a finite number; correct it or leave it empty."),
        ('task,x,y\na,"1,5",2.5\n', "line 2: the x 1,5 is not a finite number; write a decimal point."),
        ("task,x\na,1\nb,2\na,3\n", "line 4: the task a has features on line 2 already; keep one of the rows."),
        ("task,x\n,1\n", "line 2: the task is empty"),
        ("task\na\n", "line 1: has one column and no features"),
        ("task,x,x\na,1,2\n", "line 1: has the column x twice"),
        ("a,0.5,1.25\nb,0.7,2.5\n", "line 1: has numbers where names of the columns belong"),
        ("task,x\na,\nb,\n", "has no value in any feature"),
        ("task,x\na,1,2\n", "line 2: has 3 cells where the header has 2"),
        ("task,x\n", "has a header and no rows"),
        ("", "the file is empty"),
    ],
)
def test_what_is_wrong_is_one_sentence_with_file_and_line(tmp_path: Path, text: str, said: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(UserError) as caught:
        read_features(path)
    assert str(path) in str(caught.value)
    assert said in str(caught.value)


def test_a_file_that_is_not_there_or_no_table_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no such file"):
        read_features(tmp_path / "none.csv")
    workbook = tmp_path / "features.csv"
    workbook.write_bytes(b"PK\x03\x04rest")
    with pytest.raises(UserError, match="spreadsheet workbook"):
        read_features(workbook)
