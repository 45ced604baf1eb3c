"""Known labels that are spelled otherwise than the labels."""

from __future__ import annotations

from pathlib import Path

import pytest

from crowdclust_app.domain.errors import UserError
from crowdclust_app.services.verify.aggregating import AggregateSettings, aggregate_file


def aggregated(folder: Path, said: list[str], known: list[str], **settings):
    """Every task has two labels, both right."""
    labels, truth = folder / "labels.csv", folder / "truth.csv"
    rows = [f"t{at},{who},{label}" for at, label in enumerate(said) for who in "ab"]
    labels.write_text("\n".join(["task,worker,label", *rows]), encoding="utf-8")
    rows = [f"t{at},{label}" for at, label in enumerate(known)]
    truth.write_text("\n".join(["task,label", *rows]), encoding="utf-8")
    report = aggregate_file(labels, AggregateSettings("majority", **settings), truth=truth)
    return report.summary["methods"][0]["error"], [sentence.partition(": ")[2] for sentence in report.warnings]


@pytest.mark.parametrize(
    ("said", "known", "sentences"),
    [
        (["yes", "no"], ["Yes", "No"], ["It spells labels otherwise; read: Yes as yes, No as no."]),
        (["1", "0"], ["1.0", "0.0"], []),
        (["1.0", "0.0"], ["1", "0"], []),
        (["1", "0"], ['"1,0"', "0"], []),
        (["1", "0"], ["TRUE", "FALSE"], []),
        (["1", "0"], ["yes", "no"], ["It spells labels otherwise; read: yes as 1, no as 0."]),
        (["yes", "no"], ["1.0", "0.0"], ["It spells labels otherwise; read: 1.0 as yes, 0.0 as no."]),
        (["TRUE", "FALSE"], ["Ja", "Nein"], ["It spells labels otherwise; read: Ja as TRUE, Nein as FALSE."]),
        (["1", "-1"], ["yes", "no"], ["It spells labels otherwise; read: yes as 1, no as -1."]),
        (["cat", "dog"], ["Cat", "Dog"], ["It spells labels otherwise; read: Cat as cat, Dog as dog."]),
    ],
)  # fmt: skip
def test_what_is_certain_is_matched(tmp_path: Path, said: list[str], known: list[str], sentences: list[str]) -> None:
    assert aggregated(tmp_path, said, known) == (0.0, sentences)


@pytest.mark.parametrize(
    ("said", "known", "lists"),
    [
        (["yes", "no"], ["positive", "negative"], "the truth has positive, negative; the labels have yes, no"),
        (["yes", "no"], ["yes", "negative"], "the truth has yes, negative; the labels have yes, no"),
        (["1", "2"], ["0", "1"], "the truth has 0, 1; the labels have 1, 2"),
        (["cat", "dog", "cow"], ["Katze", "Hund"], "the truth has Katze, Hund; the labels have cat, dog, cow"),
        (["cat", "Cat"], ["CAT", "CAT"], "the truth has CAT; the labels have cat, Cat"),
    ],
)  # fmt: skip
def test_what_is_not_certain_is_refused_with_both_lists(
    tmp_path: Path, said: list[str], known: list[str], lists: str
) -> None:
    with pytest.raises(UserError, match=rf"truth\.csv: {lists}; spell them alike\."):
        aggregated(tmp_path, said, known)


def test_a_class_that_no_label_names_is_said_and_counts_as_wrong(tmp_path: Path) -> None:
    error, sentences = aggregated(tmp_path, ["cat", "dog", "cow", "cat"], ["cat", "dog", "cow", "emu"])
    assert error == 0.25
    assert sentences == ["No label says emu, so these tasks count as labelled wrongly."]


def test_measurements_are_not_matched(tmp_path: Path) -> None:
    error, sentences = aggregated(tmp_path, ["1.5", "2.25"], ["1.4", "2"])
    assert sentences == []
    assert error == 1.0


def test_declared_classes_count_as_said(tmp_path: Path) -> None:
    error, sentences = aggregated(tmp_path, ["yes", "yes"], ["Yes", "No"], classes=("no", "yes"))
    assert error == 0.5
    assert sentences == ["It spells labels otherwise; read: Yes as yes, No as no."]


def test_tasks_that_differ_only_in_letter_case_are_named(tmp_path: Path) -> None:
    labels, other = tmp_path / "labels.csv", tmp_path / "other.csv"
    labels.write_text("task,worker,label\nBar,a,1\nbaz,a,0\nBar,b,1\nbaz,b,1\n")
    other.write_text("task,label\nbar,1\n")
    with pytest.raises(UserError, match="has labels, but bar differs only in letter case from Bar; check that both"):
        aggregate_file(labels, AggregateSettings("majority"), truth=other)
    other.write_text("task,label\nbar,1\nbaz,1\n")
    report = aggregate_file(labels, AggregateSettings("majority"), truth=other)
    assert report.warnings == (f"{other}: The items Bar and bar differ only in letter case and count as different.",)
    other.write_text("item,x\nbar,1\nBAZ,2\n")
    with pytest.raises(UserError, match=r"name them alike: .* \(the tasks bar and Bar differ only in letter case"):
        aggregate_file(labels, AggregateSettings("experts"), features=other)
    other.write_text("item,x\nbar,1\nbaz,2\n")
    report = aggregate_file(labels, AggregateSettings("experts"), features=other)
    assert report.warnings[0] == "The tasks bar and Bar differ only in letter case and count as different."
