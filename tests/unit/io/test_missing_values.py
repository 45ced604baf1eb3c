"""What stands for a missing value is missing in every reader, counted and said; in a key column it is refused."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from crowdclust_app.domain.errors import UserError
from crowdclust_app.io.feature_tables import read_features
from crowdclust_app.io.label_tables import read_labels
from crowdclust_app.io.tables import read_pairs, read_responses, read_truth

WORDS = ["NA", "NaN", "None", "NULL", "N/A", "#N/A", "-", ".", "", " ", "na", "<NA>"]


def put(folder: Path, text: str) -> Path:
    path = folder / "t.csv"
    path.write_text(text, encoding="utf-8")
    return path


def said(word: str, name: str, meaning: str) -> tuple[str, ...]:
    return (f"1 of 3 rows have no {name} ({word.strip() or 'empty'}): {meaning}.",)


@pytest.mark.parametrize("word", WORDS)
def test_missing_in_every_reader(tmp_path: Path, word: str) -> None:
    responses = read_responses(put(tmp_path, f"hit,worker,item,group\nh,w,a,1\nh,w,b,{word}\nh,w,c,1\n"))
    assert responses[0].response.items == ("a", "c")
    assert responses[0].lines == (2, 4)
    assert responses.notes == said(word, "group", "these items count as not sorted")
    truth = read_truth(put(tmp_path, f"item,category\na,x\nb,{word}\nc,x\n"))
    assert truth == {"a": "x", "c": "x"}
    assert truth.notes == said(word, "category", "they are left out")
    labels = read_labels(put(tmp_path, f"task,worker,label\na,u,1\nb,u,{word}\nc,u,0\n"))
    assert labels.label == ["1", None, "0"]
    assert labels.notes == (said(word, "label", "they are left out") if word.strip() else ())
    pairs = read_pairs(put(tmp_path, f"worker,item_a,item_b,label\nw,a,b,1\nw,a,c,{word}\nw,b,c,1\n"))
    assert [(one.item_a, one.item_b, one.line) for one in pairs] == [("a", "b", 2), ("b", "c", 4)]
    assert pairs.notes == said(word, "label", "they are left out")
    features = read_features(put(tmp_path, f"item,x\na,1\nb,{word}\n"))
    assert features.values[0, 0] == 1.0
    assert math.isnan(features.values[1, 0])


@pytest.mark.parametrize("word", [word for word in WORDS if word.strip()])
@pytest.mark.parametrize(
    ("read", "header", "row", "name"),
    [
        (read_responses, "hit,worker,item,group", "h,w,{},1", "item"),
        (read_responses, "hit,worker,item,group", "h,{},a,1", "worker"),
        (read_responses, "hit,worker,item,group", "{},w,a,1", "hit"),
        (read_truth, "item,category", "{},x", "item"),
        (read_labels, "task,worker,label", "{},w,1", "task"),
        (read_labels, "task,worker,label", "a,{},1", "worker"),
        (read_pairs, "worker,item_a,item_b,label", "w,a,{},1", "item_b"),
        (read_features, "item,x", "{},1", "item"),
    ],
)
def test_a_name_that_is_missing_is_refused_with_its_line(
    tmp_path: Path, word: str, read, header: str, row: str, name: str
) -> None:
    path = put(tmp_path, f"{header}\n{row.format('q')}\n{row.format(word)}\n")
    with pytest.raises(UserError, match=f"line 3: the {name} is {word}, which stands for a missing value; fill it in"):
        read(path)


def test_one_spelling_of_a_number_is_one_class(tmp_path: Path) -> None:
    rows = "".join(f't{at},u,"{label}"\n' for at, label in enumerate(["1", "1.0", "1,0", "0.0", "0", "NaN", "None"]))
    assert read_labels(put(tmp_path, "task,worker,label\n" + rows)).label == ["1"] * 3 + ["0.0"] * 2 + [None] * 2
    groups = read_responses(put(tmp_path, 'worker,item,group\nw,a,1\nw,b,1.0\nw,c,"1,0"\nw,d,2\n'))[0].response.groups
    assert groups == ("1", "1", "1", "2")
