"""The experiments with labels as a command runs them, on real aggregators and sets in files."""

from __future__ import annotations

import csv
import sys
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks import label_benchmarks
from benchmarks.crowd_kit_comparison import PAIRS
from benchmarks.label_benchmarks import EXPERIMENTS, LabelBenchSettings, run_label_bench
from benchmarks.label_sets import read_label_sets
from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.domain.errors import Cancelled, UserError
from crowdclust_app.evaluation.label_simulation import SimulatedLabels, simulate_regular
from crowdclust_app.services.progress_report import ProgressReport

TIMES = ("fit_ms", "run_ms", "seconds")


@pytest.fixture(autouse=True)
def _without_data(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CROWDCLUST_DATA", raising=False)
    monkeypatch.setitem(sys.modules, "crowdkit.aggregation", None)


def write_set(folder: Path, labels: list[tuple[Any, Any, Any]], truth: dict[Any, Any]) -> None:
    folder.mkdir(parents=True)
    lines = ["task,worker,label", *(",".join(map(str, row)) for row in labels)]
    (folder / "labels.csv").write_text("\n".join(lines) + "\n")
    (folder / "truth.csv").write_text("\n".join(["task,label", *(f"{k},{v}" for k, v in truth.items())]) + "\n")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """One set of two classes, one of three, one whose truth nobody knows."""
    made = simulate_regular(30, 5, 5, {0.8: 1.0}, 3)
    rows = [
        (t, f"w{w}", "ny"[x]) for t, w, x in zip(made.labels.task, made.labels.worker, made.labels.label, strict=True)
    ]
    truth = {task: "ny"[value] for task, value in enumerate(made.truth.tolist()) if task}
    write_set(tmp_path / "data" / "labels" / "rte", rows, truth)
    write_set(
        tmp_path / "data" / "labels" / "three", [(t, w, "abc"[t % 3]) for t in range(6) for w in (1, 2)], {0: "a"}
    )
    write_set(tmp_path / "data" / "labels" / "unknown", rows, {})
    return tmp_path / "data"


def without_times(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{key: value for key, value in row.items() if key not in TIMES} for row in rows]


@pytest.mark.parametrize("name", list(EXPERIMENTS))
def test_an_experiment_writes_the_same_tables_for_the_same_seed(name: str, tmp_path: Path, data: Path) -> None:
    reports: list[ProgressReport] = []
    methods = ("majority", "sbic-fast", "sbic-sorted")
    settings = LabelBenchSettings(name, methods, seed=3, seeds=2, quick=True, data=data)
    again = run_label_bench(settings, None, reports.append)
    report = run_label_bench(settings, tmp_path / "out", reports.append)
    assert without_times(report.summary["figures"]) == without_times(again.summary["figures"])
    files = {f"{name}.csv", f"{name}_trials.csv", f"{name}.png"} | ({"sbic_table2.csv"} if name == "sbic" else set())
    assert {path.name for path in report.written} == {path.name for path in (tmp_path / "out").iterdir()} == files
    with (tmp_path / "out" / f"{name}.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [float(row["error"]) for row in rows] == [row["error"] for row in report.summary["figures"]]
    assert len(rows) == len(report.rows) == len(report.summary["figures"])
    assert {row["seeds"] for row in rows} == {"2"}
    assert report.summary["seeds"] == [3, 4]
    assert report.summary["methods"] == list(methods)
    assert report.warnings == ("unknown is left out: its truth.csv knows none of its tasks",)
    assert all(row.fraction is not None for row in reports)


def test_all_methods_take_part_when_none_is_named() -> None:
    for name, few in (("sbic", {"te", "mf", "kos", "gibbs"}), ("aggregators", {"bp2", "amf2", "dawid-skene", "kos"})):
        report = run_label_bench(LabelBenchSettings(name, seeds=1, quick=True))
        assert few | {"majority", "em", "amf", "bp"} <= set(report.summary["methods"])
        assert all(0 <= row["error"] <= 1 for row in report.summary["figures"])


def test_sbic_stays_below_its_bounds() -> None:
    report = run_label_bench(LabelBenchSettings("sbic", ("sbic-fast", "sbic-sorted"), seeds=4, quick=True))
    uniform = [row for row in report.summary["figures"] if row["policy"] == "uniform"]
    assert len(uniform) == 4
    assert all(row["error"] < row["bound"] < 1 for row in uniform)


def test_real_sets_are_in_table_2_and_in_the_summary(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CROWDCLUST_DATA", str(data))
    report = run_label_bench(LabelBenchSettings("sbic", ("majority", "kos"), seeds=2, quick=True))
    # three classes are nothing for these methods
    assert [(row["data"], row["method"]) for row in report.summary["table2"]] == [("rte", "majority"), ("rte", "kos")]
    assert report.summary["table2"][0]["tasks"] == 29
    assert report.summary["table2"][0]["error"] < 0.25
    assert [name for name, _, _ in report.more] == ["table2"]


def test_sets_are_found_one_by_one_and_in_folders(data: Path) -> None:
    sets, warnings = read_label_sets(data)
    assert [one.name for one in sets] == ["rte", "three"]
    assert len(warnings) == 1
    assert [one.name for one in read_label_sets(data / "labels")[0]] == ["rte", "three"]
    assert [one.name for one in read_label_sets(data / "labels" / "rte")[0]] == ["rte"]
    known = sets[0].as_yes_or_no()
    assert known is not None
    assert known.tasks.truth[known.tasks.truth >= 0].size == 29
    assert sets[1].as_yes_or_no() is None
    with pytest.raises(UserError, match=r"there is no folder with a labels\.csv and a truth\.csv"):
        read_label_sets(data / "labels" / "rte" / "none")


def test_a_judge_takes_streams_as_they_came_and_is_undecided_where_votes_tie() -> None:
    judge = label_benchmarks._FitLabels(("sbic-fast",), None)
    made = simulate_regular(60, 6, 6, (4.0, 3.0), 0)
    labels = SimulatedLabels(60, 60, made.labels.task, made.labels.worker, made.labels.label, arrived=True)
    streams = [judge(labels, "sbic-fast", (4.0, 3.0), seed).scores for seed in (0, 1)]
    assert np.array_equal(*streams)  # type: ignore[arg-type]
    mixed = [judge(made.labels, "sbic-fast", (4.0, 3.0), seed).scores for seed in (0, 1)]
    assert not np.allclose(*mixed)  # type: ignore[arg-type]
    votes = np.bincount(labels.task, weights=2.0 * labels.label - 1)
    found = judge(labels, "majority", (2.0, 1.0), 0)
    assert np.array_equal(np.sign(found.scores), np.sign(votes))
    assert found.seconds > 0
    rough, fine = (judge(labels, "em", (2.0, 1.0), 0, rough=rough).scores for rough in (True, False))
    assert np.corrcoef(np.tanh(rough), np.tanh(fine))[0, 1] > 0.95


def test_crowd_kit_is_compared_with_where_it_is_installed(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Always:
        """Says `y` of everything."""

        def __init__(self, **told: Any) -> None:
            self.told = told

        def fit_predict(self, frame: dict[str, list[Any]]) -> dict[Any, Any]:
            assert list(frame) == ["task", "worker", "label"]
            if self.told:
                raise KeyError(0.0)
            return dict.fromkeys(frame["task"], "y")

    crowdkit = types.SimpleNamespace(**{name: Always for name, _ in PAIRS.values()})
    monkeypatch.setitem(sys.modules, "crowdkit.aggregation", crowdkit)
    monkeypatch.setitem(sys.modules, "pandas", types.SimpleNamespace(DataFrame=dict))
    monkeypatch.setitem(sys.modules, "crowdkit", types.SimpleNamespace(aggregation=crowdkit))
    report = run_label_bench(LabelBenchSettings("aggregators", ("majority",), seeds=1, quick=True, data=data))
    rows = {(row["data"], row["method"]): row for row in report.summary["crowd_kit"]}
    assert set(rows) == {("rte", method) for method in PAIRS} | {("three", m) for m in PAIRS if m != "kos"}
    truth = read_label_sets(data / "labels" / "rte")[0][0].truth
    share = sum(value != "y" for value in truth.values()) / len(truth)
    assert rows["rte", "majority"]["their_error"] == pytest.approx(share)
    assert rows["three", "majority"]["error"] == 0
    # theirs that fail are said to
    assert (rows["rte", "kos"]["their_error"], rows["rte", "kos"]["failure"]) == (None, "KeyError: 0.0")
    assert rows["rte", "em"]["times_faster"] == pytest.approx(
        rows["rte", "em"]["their_seconds"] / rows["rte", "em"]["seconds"]
    )


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"name": "speed"}, "there is no experiment speed"),
        ({"name": "sbic", "methods": ("nmf",)}, "there is no method nmf"),
        ({"name": "sbic", "methods": ("ordinal",)}, "there is no method ordinal"),
        ({"name": "sbic", "seeds": 0}, "the number of seeds must be at least 1"),
        ({"name": "sbic", "seed": -1}, "the seed must not be negative"),
    ],
)
def test_settings_that_cannot_be_are_refused(wrong: dict, words: str) -> None:
    with pytest.raises(UserError, match=words):
        LabelBenchSettings(**wrong)


@pytest.mark.parametrize("name", list(EXPERIMENTS))
def test_an_experiment_stops_when_it_is_asked_to(name: str, tmp_path: Path) -> None:
    token = CancelToken()
    settings = LabelBenchSettings(name, ("majority",), quick=True)
    with pytest.raises(Cancelled):
        run_label_bench(settings, tmp_path / "out", lambda _: token.cancel(), token)
    assert list(tmp_path.iterdir()) == []


def test_without_matplotlib_nothing_is_computed_for_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    monkeypatch.setattr(label_benchmarks, "_sbic", lambda *_: pytest.fail("it began"))
    with pytest.raises(UserError, match="matplotlib"):
        run_label_bench(LabelBenchSettings("sbic", ("majority",), quick=True), tmp_path / "out")
    assert list(tmp_path.iterdir()) == []
