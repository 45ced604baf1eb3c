"""The experiments as a command runs them: every file, every figure, and what is missing said first."""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import numpy as np
import pytest

from benchmarks import campaign_benchmarks
from benchmarks.campaign_benchmarks import EXPERIMENTS, BenchSettings, run_bench
from benchmarks.experiments import context, redundancy, table1, workers
from benchmarks.experiments.results import MethodResult
from benchmarks.scale_benchmark import forget_peak_memory
from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.domain.errors import Cancelled, UserError
from crowdclust_app.services.fits.summary import peak_memory_mb
from crowdclust_app.services.progress_report import ProgressReport

FILES = {
    "table1": {"table1.csv", "table1_trials.csv", "table1.png"},
    "hard": {"hard.csv", "hard_trials.csv", "hard.png"},
    "redundancy": {"redundancy.csv", "redundancy_trials.csv", "redundancy.png"},
    "workers": {"workers.csv", "workers_trials.csv", "workers_ranks.csv", "workers.png"},
    "context": {"context.csv", "context_trials.csv", "context.png"},
    "calibration": {"calibration.csv", "calibration_trials.csv", "calibration_bins.csv", "calibration.png"},
    "scale": {"scale.csv", "scale_trials.csv", "scale.png"},
}


def test_every_experiment_is_described_and_can_be_run() -> None:
    assert set(EXPERIMENTS) == set(FILES) == set(campaign_benchmarks._EXPERIMENTS)


@pytest.mark.parametrize("name", [name for name in FILES if name not in ("scale", "calibration")])
def test_an_experiment_writes_its_tables_and_its_plot(name: str, tmp_path: Path) -> None:
    reports: list[ProgressReport] = []
    methods = ("spectral", "nmf") if name in ("table1", "hard", "redundancy") else ("spectral",)
    settings = BenchSettings(name, methods, seed=3, seeds=2, restarts=2, quick=True)
    report = run_bench(settings, tmp_path / "out", reports.append)
    assert {path.name for path in report.written} == {path.name for path in (tmp_path / "out").iterdir()} == FILES[name]
    with (tmp_path / "out" / f"{name}.csv").open(newline="", encoding="utf-8") as file:
        table = list(csv.DictReader(file))
    assert len(table) == len(report.rows) == len(report.summary["figures"])
    assert float(table[0]["vi_nats"]) == pytest.approx(report.summary["figures"][0]["vi_nats"])
    assert report.summary["seeds"] == [3, 4]
    assert {row["seeds"] for row in table} == {"2"}
    assert all(row.fraction is not None for row in reports)
    assert any(": k-means" in row.text for row in reports)


def test_calibration_writes_its_tables_and_its_plot(tmp_path: Path) -> None:
    report = run_bench(BenchSettings("calibration", seeds=1, quick=True), tmp_path / "out")
    assert {path.name for path in report.written} == {path.name for path in (tmp_path / "out").iterdir()}
    assert {path.name for path in report.written} == FILES["calibration"]
    assert all(0.0 <= row["probability"] <= 1.0 for row in report.summary["figures"])


def test_scale_measures_a_real_fit() -> None:
    (first, second) = run_bench(BenchSettings("scale", seeds=1, quick=True)).summary["figures"]
    assert (first["items"], second["items"]) == (60, 120)
    assert second["pair_labels"] == 2 * first["pair_labels"]
    for row in (first, second):
        assert row["joint_iterations"] >= 9
        assert row["ns_per_label_iteration"] > 0
        assert row["ratio_to_tanh"] == pytest.approx(row["ns_per_label_iteration"] / row["tanh_ns"])
        labels = row["pair_labels"]
        assert row["fit_seconds"] > 1e-9 * row["ns_per_label_iteration"] * row["joint_iterations"] * labels
        assert row["cpu_ns"] > 0


def test_scale_takes_sizes_dimensions_and_threads() -> None:
    settings = BenchSettings("scale", seeds=1, quick=True, items=(40, 80), dimensions=(2, 3), threads=1)
    rows = run_bench(settings).summary["figures"]
    assert [(row["items"], row["dimensions"]) for row in rows] == [(40, 2), (40, 3), (80, 2), (80, 3)]
    assert {row["threads"] for row in rows} == {1}


def test_crowdclustering_is_told_nothing_and_baselines_the_number(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[str, int]] = []

    def solve(self: object, table: object, method: str, clusters: int, seed: int) -> MethodResult:
        told.append((method, clusters))
        return MethodResult(np.ones(table.n_items, dtype=np.int64), 0.0)  # type: ignore[attr-defined]

    monkeypatch.setattr(campaign_benchmarks._Bench, "solve", solve)
    for settings in (BenchSettings("table1", seeds=1), BenchSettings("redundancy", seeds=1, methods=("nmf",))):
        run_bench(settings)
    assert {clusters for _, clusters in told} == {9, 10, 13}


def known_campaign(folder: Path) -> None:
    folder.mkdir()
    lines = [f"h{h},w{h % 2},i{n},{n % 2}" for h in range(6) for n in range(h, h + 6)]
    (folder / "responses.csv").write_text("\n".join(["hit,worker,item,group", *lines]) + "\n")
    (folder / "truth.csv").write_text("\n".join(["item,category", *(f"i{n},{n % 2}" for n in range(10))]) + "\n")


def test_known_campaigns_are_found_one_by_one_or_in_a_folder(tmp_path: Path) -> None:
    known_campaign(tmp_path / "one")
    known_campaign(tmp_path / "two")
    (tmp_path / "other").mkdir()
    settings = BenchSettings("table1", ("nmf",), seeds=1, quick=True, data=tmp_path)
    assert [row[0] for row in run_bench(settings).rows] == ["small", "one", "two"]
    alone = BenchSettings("table1", ("nmf",), seeds=1, quick=True, data=tmp_path / "one")
    report = run_bench(alone)
    assert [row[0] for row in report.rows] == ["small", "one"]
    # the eleventh item has no category and is left out
    assert report.summary["figures"][1]["vi_nats"] == 0
    with pytest.raises(UserError, match=r"there is no folder with a responses\.csv and a truth\.csv"):
        run_bench(BenchSettings("table1", ("nmf",), data=tmp_path / "other"))


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"name": "speed"}, "there is no experiment speed"),
        ({"name": "table1", "methods": ("kmeans",)}, "there is no method kmeans"),
        ({"name": "table1", "seeds": 0}, "the number of seeds must be at least 1"),
        ({"name": "table1", "starts": 0}, "the number of starts must be at least 1"),
        ({"name": "table1", "seed": -1}, "the seed must not be negative"),
        ({"name": "scale", "data": Path()}, "known campaigns are for table1 only"),
        ({"name": "table1", "items": (100,)}, "numbers of items are for scale only"),
        ({"name": "scale", "items": (12,)}, "a campaign has at least 36 items"),
        ({"name": "scale", "dimensions": (0,)}, "a campaign has at least 36 items, and a fit one dimension"),
    ],
)
def test_settings_that_cannot_be_are_refused(wrong: dict, words: str) -> None:
    with pytest.raises(UserError, match=words):
        BenchSettings(**wrong)


def test_without_metis_its_methods_are_left_out_unless_they_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pymetis", None)
    methods, warnings = campaign_benchmarks._methods(BenchSettings("table1"))
    assert methods == ("crowdclustering", "consensus", "nmf", "nmf-masked", "spectral")
    assert warnings[0].startswith("Left out: cspa, mcla, hbgf; cspa, mcla and hbgf partition graphs with METIS")
    with pytest.raises(UserError, match="pymetis is not installed"):
        run_bench(BenchSettings("table1", ("cspa",), quick=True))


def test_without_matplotlib_nothing_is_computed_for_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    monkeypatch.setattr(campaign_benchmarks, "_warm_up", lambda _: pytest.fail("it began"))
    with pytest.raises(UserError, match="matplotlib"):
        run_bench(BenchSettings("hard", ("nmf",), quick=True), tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_an_experiment_stops_when_it_is_asked_to(tmp_path: Path) -> None:
    token = CancelToken()
    with pytest.raises(Cancelled):
        run_bench(BenchSettings("hard", ("nmf",), quick=True), tmp_path / "out", lambda _: token.cancel(), token)
    assert list(tmp_path.iterdir()) == []


def test_full_sizes_are_those_of_the_paper() -> None:
    assert [(name, s.items, s.clusters) for name, s in table1.Table1((), ()).simulated] == [
        ("birds size", 1354, 10),
        ("stoneflies size", 3845, 9),
    ]
    assert redundancy.Redundancy((), ()).values == tuple(range(3, 11))
    assert workers.Workers("", ()).simulation.pareto
    assert context.Context("", ()).items_per_hit == 36


def test_the_most_memory_is_counted_anew() -> None:
    block = np.ones(30_000_000)
    held = peak_memory_mb()
    del block
    if not forget_peak_memory() or held is None:
        pytest.skip("only Linux can be asked to count anew")
    now = peak_memory_mb()
    assert now is not None
    assert now < held - 150
