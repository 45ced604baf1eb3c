"""Aggregating a table of labels: figures, tables, and what is said when something is wrong."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.domain.errors import Cancelled, UserError
from crowdclust_app.domain.methods import names_of
from crowdclust_app.io.tables import read_truth
from crowdclust_app.services.progress_report import ProgressReport
from crowdclust_app.services.verify import aggregating
from crowdclust_app.services.verify.aggregating import AggregateSettings, aggregate_file

FIGURES = {"method", "error", "log_loss", "brier", "truth_tasks", "ties", "seconds", "iterations", "converged"}


@pytest.fixture
def labels(tmp_path: Path) -> Path:
    """Six tasks, the last without a label; one repeated and conflicting label; a tie on task four."""
    said = {"one": "1110", "two": "0001", "three": "1111", "four": "1100", "five": "0000"}
    lines = ["task,worker,label"]
    lines += [f"{task},w{number},{label}" for task, word in said.items() for number, label in enumerate(word)]
    lines += ["five,w0,1", "six,w1,"]
    path = tmp_path / "labels.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def truth(tmp_path: Path) -> Path:
    path = tmp_path / "truth.csv"
    path.write_text("task,label\none,1\ntwo,0\nfour,1\nsix,1\nseven,0\n", encoding="utf-8")
    return path


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_all_methods_side_by_side_with_their_tables(labels: Path, truth: Path, tmp_path: Path) -> None:
    out = tmp_path / "made" / "here"
    report = aggregate_file(labels, AggregateSettings(method="all"), truth=truth, out=out)
    summary = report.summary
    assert (summary["tasks"], summary["workers"], summary["labels"]) == (6, 4, 21)
    assert (summary["dropped"], summary["repeated"], summary["conflicting"]) == (1, 1, 1)
    assert summary["tasks_without_labels"] == ["six"]
    assert [method["method"] for method in summary["methods"]] == [
        name for name in names_of("aggregator") if name != "continuous"
    ]
    assert summary["skipped"] == []
    for method in summary["methods"]:
        assert set(method) >= FIGURES
        assert method["truth_tasks"] == 3
    majority = summary["methods"][0]
    assert majority["error"] == pytest.approx(1 / 6)
    assert (majority["ties"], majority["undecided"]) == (1, 2)
    assert [path.name for path in report.written] == ["labels_inferred.csv", "reliability.csv", "summary.json"]
    assert json.loads((out / "summary.json").read_text()) == summary

    inferred = rows(out / "labels_inferred.csv")
    assert list(inferred[0]) == ["task", "label", "probability", "labels", "method"]
    assert len(inferred) == 6 * len(summary["methods"])
    by_majority = {row["task"]: row for row in inferred if row["method"] == "majority"}
    assert by_majority["one"] == {
        "task": "one",
        "label": "1",
        "probability": "0.75",
        "labels": "4",
        "method": "majority",
    }
    assert by_majority["four"]["label"] == ""
    assert by_majority["four"]["probability"] == "0.5"
    assert by_majority["six"]["label"] == ""
    assert by_majority["six"]["labels"] == "0"
    reliability = rows(out / "reliability.csv")
    assert list(reliability[0]) == list(aggregating.RELIABILITY_HEADER)
    assert len(reliability) == 4 * len(summary["methods"])
    for row in reliability:
        assert 0 < float(row["accuracy"]) < 1
        assert 0 < float(row["specificity_sd"]) < 0.5
    # what is written can be read as the truth of another run
    decided = tmp_path / "decided.csv"
    decided.write_text(
        "task,label\n" + "".join(f"{r['task']},{r['label']}\n" for r in by_majority.values() if r["label"])
    )
    assert read_truth(decided)["one"] == "1"


def test_without_truth_the_scores_are_null(labels: Path) -> None:
    report = aggregate_file(labels, AggregateSettings(method="em"))
    (method,) = report.summary["methods"]
    assert [method[name] for name in ("error", "log_loss", "brier", "rmse", "truth_tasks")] == [None] * 5
    assert report.written == ()
    json.dumps(report.summary, allow_nan=False)


def test_settings_reach_the_methods(labels: Path) -> None:
    settings = AggregateSettings("majority", ties="prior", prevalence=0.3, repeats="first", classes=("0", "1"), seed=4)
    (fitted,) = aggregate_file(labels, settings).fitted
    assert (fitted.ties, fitted.prevalence, fitted.seed, fitted.classes) == ("prior", 0.3, 4, ("0", "1"))
    assert fitted.repeats_ == "first"
    assert dict(zip(fitted.tasks_, fitted.labels_, strict=True))["four"] == "0"
    with pytest.raises(UserError, match=r"labels.csv: w0 labelled the task five more than once and differently"):
        aggregate_file(labels, AggregateSettings(repeats="refuse"))
    with pytest.raises(UserError, match=r"labels.csv: the label 1 is not among the classes 0, 2"):
        aggregate_file(labels, AggregateSettings(classes=("0", "2")))


def test_an_order_in_the_table_is_the_order_of_arrival(tmp_path: Path) -> None:
    def fit(order: list[int], seed: int) -> list[float]:
        lines = [f"t{n % 3},w{n % 4},{n % 2},{at}" for n, at in enumerate(order)]
        path = tmp_path / "labels.csv"
        path.write_text("\n".join(["task,worker,label,order", *lines]) + "\n")
        (fitted,) = aggregate_file(path, AggregateSettings("sbic-fast", seed=seed)).fitted
        return fitted.probabilities_[:, 1].tolist()

    there, back = list(range(12)), list(range(12, 0, -1))
    assert fit(there, 0) == fit(there, 1)
    assert fit(there, 0) != fit(back, 0)


def test_what_the_labels_do_not_allow_is_skipped_with_its_reason(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text("task,worker,label\na,u,cat\na,v,dog\nb,u,cow\nb,v,cow\nc,u,cat\nc,v,cat\n")
    report = aggregate_file(path, AggregateSettings(method="all", prior=(2.0, 2.0)))
    done = [method["method"] for method in report.summary["methods"]]
    streamed = ["sbic-fast", "sbic-sorted", "sbic-sorted-shared"]
    matrices = ["dawid-skene", "dawid-skene-map", "ebcc", "community-bcc"]
    assert done == ["majority", "soft-vote", "em", "amf", "mf", *streamed, "glad", *matrices]
    reasons = {skipped["method"]: skipped["reason"] for skipped in report.summary["skipped"]}
    assert reasons["bp"].startswith("bp is for 2 classes and the labels have 3")
    assert reasons["ordinal"].startswith("ordinal needs ordered classes")
    assert set(done) | set(reasons) == set(names_of("aggregator")) - {"continuous"}
    with pytest.raises(UserError, match=r"labels.csv: bp is for 2 classes"):
        aggregate_file(path, AggregateSettings(method="bp"))
    with pytest.raises(UserError, match="there is no method wavg"):
        aggregate_file(path, AggregateSettings(method="wavg"))
    with pytest.raises(UserError, match="the prevalence -3 is of two classes"):
        aggregate_file(path, AggregateSettings(method="all", prevalence=-3.0))


def test_one_class_leaves_the_votes(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text("task,worker,label\na,u,1\nb,u,1\n")
    report = aggregate_file(path, AggregateSettings(method="all"))
    assert [method["method"] for method in report.summary["methods"]] == ["majority", "soft-vote"]
    with pytest.raises(UserError, match=r"labels.csv: dawid-skene needs two classes and every label is 1; declare the"):
        aggregate_file(path, AggregateSettings())
    declared = aggregate_file(path, AggregateSettings(method="all", classes=("0", "1")))
    assert len(declared.summary["methods"]) == len(names_of("aggregator")) - 1


def test_measurements_have_values_and_precisions(tmp_path: Path) -> None:
    path, truth = tmp_path / "labels.csv", tmp_path / "truth.csv"
    path.write_text("task,worker,label\na,u,1.5\na,v,1.7\nb,u,3.25\nb,v,2.75\nc,u,\n")
    truth.write_text("task,label\na,1.6\nb,3.0\n")
    report = aggregate_file(path, AggregateSettings("continuous"), truth=truth, out=tmp_path)
    (method,) = report.summary["methods"]
    assert method["error"] is None
    assert method["rmse"] < 0.2
    inferred = rows(tmp_path / "labels_inferred.csv")
    assert 1.5 < float(inferred[0]["label"]) < 1.7
    assert inferred[0]["probability"] == ""
    assert inferred[2]["label"] == ""
    reliability = rows(tmp_path / "reliability.csv")
    assert float(reliability[0]["precision"]) > 0
    assert reliability[0]["accuracy"] == ""
    report = aggregate_file(path, AggregateSettings("all"), out=tmp_path)
    assert report.summary["methods"][-1]["method"] == "continuous"
    assert rows(tmp_path / "reliability.csv")[0]["precision"] == ""


def test_scripts_commas_quotes_and_formulas_come_back(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text('task,worker,label\n"海,1",=w,да\n"海,1",u,да\n"say ""a""",=w,"нет, нет"\n', encoding="utf-8")
    aggregate_file(path, AggregateSettings("majority"), out=tmp_path / "out")
    again = tmp_path / "out" / "labels_inferred.csv"
    assert dict(read_truth(again)) == {"海,1": "да", 'say "a"': "нет, нет"}
    assert {row["worker"] for row in rows(tmp_path / "out" / "reliability.csv")} == {"'=w", "u"}


def test_progress_counts_up_and_cancelling_leaves_nothing(labels: Path, tmp_path: Path) -> None:
    seen: list[ProgressReport] = []
    aggregate_file(labels, AggregateSettings(method="all"), progress=seen.append)
    done = [report.done for report in seen]
    assert done == sorted(done)
    assert seen[0].total is None
    assert all(report.total and report.done <= report.total for report in seen[1:])
    assert {"bp2", "preparing bp2"} <= {report.text for report in seen}
    token = CancelToken()

    def stop(report: ProgressReport) -> None:
        if report.text == "em":
            token.cancel()

    with pytest.raises(Cancelled):
        aggregate_file(labels, AggregateSettings("all"), out=tmp_path / "out", progress=stop, cancel=token)
    assert not (tmp_path / "out").exists()


def test_truth_of_other_tasks_is_refused_before_the_work(labels: Path, tmp_path: Path) -> None:
    truth = tmp_path / "truth.csv"
    truth.write_text("task,label,note\nelsewhere,1,x\n")
    with pytest.raises(UserError, match=r"truth.csv: not one of its tasks has labels; check that both tables name"):
        aggregate_file(labels, AggregateSettings(), truth=truth, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()
    truth.write_text("task,label,note\none,1,x\n")
    report = aggregate_file(labels, AggregateSettings(), truth=truth)
    assert report.warnings == (f"{truth}: the column note is unknown and ignored.",)
    assert report.summary["warnings"] == list(report.warnings)
