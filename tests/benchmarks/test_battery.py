"""The battery of invented campaigns, and what a fit reaches on a few of its kinds."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from benchmarks.battery_kinds import KINDS, NO_TRUTH, REPORTED_SEEDS, SETTING, invent


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_comes_again_by_its_seed_and_shows_every_item(kind: str) -> None:
    case, again, other = invent(kind, 1), invent(kind, 1), invent(kind, 3)
    assert case.table.fingerprint() == again.table.fingerprint() != other.table.fingerprint()
    assert len(case.truth) == case.table.n_items
    assert (case.table.times_shown > 0).all()
    assert case.clusters >= (1 if kind in ("noise", "continuum", "plane") else 2)
    assert case.truth.min() >= NO_TRUTH


def test_constants_and_figures_have_their_own_seeds() -> None:
    assert set(SETTING) < set(KINDS)
    assert all(seed % 2 for seed in REPORTED_SEEDS)


def test_the_quick_battery_writes_tables_and_finds_what_there_is(run, tmp_path: Path) -> None:
    done = run("battery", "--quick", "--methods", "crowdclustering,average-linkage", "--out", "out")
    assert done.code == 0, done.err
    with (tmp_path / "out/battery.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [(row["kind"], row["method"]) for row in rows] == [
        (kind, method)
        for kind in ("fewsort", "tenhits", "fiveresponses")
        for method in ("crowdclustering", "average-linkage")
    ]
    found = {row["kind"]: float(row["vi_nats"]) for row in rows if row["method"] == "crowdclustering"}
    assert (found["fewsort"], found["tenhits"]) == (0.0, 0.0)
    assert found["fiveresponses"] < 0.25
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "battery.csv", "battery_trials.csv", "battery.png", "summary.json",
    }  # fmt: skip
    refused = run("battery", "--methods", "kmeans")
    assert (refused.code, "there is no method kmeans" in refused.err) == (2, True)
