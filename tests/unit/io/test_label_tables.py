"""Reading labels.csv: what is understood, and what is said about what is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from crowdclust_app.domain.errors import UserError
from crowdclust_app.io.label_tables import read_labels


def write(path: Path, text: str, encoding: str = "utf-8") -> Path:
    path.write_bytes(text.encode(encoding))
    return path


def test_three_columns_in_any_order_with_any_usual_separator(tmp_path: Path) -> None:
    for text in ("label,note,task,worker\n1,x,a,u\n0,y,b,v\n", "\ufefftask;worker;label;note\r\na;u;1;x\r\nb;v;0;y\r\n",
                 "TASK\tworker\tlabel \tnote\na\tu\t 1\tx\nb\tv\t0\ty\n"):  # fmt: skip
        rows = read_labels(write(tmp_path / "labels.csv", text))
        assert (rows.task, rows.worker, rows.label) == (["a", "b"], ["u", "v"], ["1", "0"])
        assert rows.unknown_columns == ("note",)
        assert not rows.ordered


def test_an_empty_label_is_missing_and_its_task_stays(tmp_path: Path) -> None:
    rows = read_labels(write(tmp_path / "labels.csv", "task,worker,label\na,u,\nb,v,  \nb,w,yes\n"))
    assert rows.task == ["a", "b", "b"]
    assert rows.label == [None, None, "yes"]


def test_rows_are_put_in_the_order_in_which_they_arrived(tmp_path: Path) -> None:
    rows = read_labels(
        write(tmp_path / "labels.csv", "task,worker,label,order\nc,u,1,10\na,u,1,2\nb,v,0,2\nd,v,0,1.5\n")
    )
    assert rows.task == ["d", "a", "b", "c"]
    assert rows.ordered
    with pytest.raises(UserError, match=r"labels.csv, line 3: the order 'late' is not a number; number the labels as"):
        read_labels(write(tmp_path / "labels.csv", "task,worker,label,order\nc,u,1,10\na,u,1,late\n"))


def test_scripts_commas_and_quotes_are_read_as_they_are(tmp_path: Path) -> None:
    text = 'task,worker,label\n"海,1","O""Brien",да\n'
    rows = read_labels(write(tmp_path / "labels.csv", text))
    assert (rows.task, rows.worker, rows.label) == (["海,1"], ['O"Brien'], ["да"])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "line 1: the file is empty; check that it was saved completely."),
        ("task,worker,label\n", "line 1: has a header and no rows; check that it was saved completely."),
        ("task,worker\na,u\n", "line 1: has no column label; name the columns task,worker,label in the first line."),
        ("task:worker:label\na:u:1\n", "line 1: has no column task and no column worker and no column label; name the "
                                       "columns task,worker,label in the first line, with a comma, a semicolon or a "
                                       "tab between them."),
        ("task,worker,label\na,u,1\n,u,1\n", "line 3: the task is empty; fill it in or take the row out."),
        ("task,worker,label\na, ,1\n", "line 2: the worker is empty; fill it in or take the row out."),
        ("task,worker,label\na,u\n", "line 2: has 2 cells where the header has 3; put cells that hold a separator or a "
                                     "quote between quotes."),
    ],
)  # fmt: skip
def test_one_line_says_what_is_wrong_and_where(tmp_path: Path, text: str, said: str) -> None:
    path = write(tmp_path / "labels.csv", text)
    with pytest.raises(UserError) as caught:
        read_labels(path)
    assert str(caught.value) == f"{path}, {said}"


def test_a_file_that_is_not_there_has_no_lines(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"none.csv: there is no such file"):
        read_labels(tmp_path / "none.csv")
