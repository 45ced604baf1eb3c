"""Pairs that several workers judged, through the aggregators."""

from __future__ import annotations

import csv
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from crowdclust_app.domain.errors import UserError
from crowdclust_app.domain.response_table import Response, ResponseTable
from crowdclust_app.inference.aggregators import DawidSkene
from crowdclust_app.io.tables import read_pairs
from crowdclust_app.services.verify.aggregating import AggregateSettings
from crowdclust_app.services.workers.pair_reliability import (
    aggregate_pair_file,
    holds_pairs,
    judge_pairs,
    pairs_of_records,
)

ITEMS = [f"p{number}" for number in range(12)]
# four kinds of items; Coarse sees two of them, Guess none
HABITS = {
    "Ann": lambda n, _rng: n % 4,
    "Ben": lambda n, _rng: n % 4,
    "Coarse": lambda n, _rng: n % 2,
    "Guess": lambda _n, rng: int(rng.integers(4)),
}


def responses() -> list[Response]:
    rng = np.random.default_rng(0)
    found = []
    for hit in range(6):
        shown = rng.permutation(12)[:8]
        for name, habit in HABITS.items():
            groups = tuple(str(habit(int(n), rng)) for n in shown)
            found.append(Response(f"h{hit}", name, tuple(ITEMS[n] for n in shown), groups))
    # two items that only one worker ever saw together
    found.append(Response("own", "Ann", ("p0", "alone"), ("1", "1")))
    return found


def write_pairs(path: Path, given: list[Response], turned: bool = False) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["worker", "item_a", "item_b", "label", "hit"])
        for response in given:
            for a, b in combinations(range(len(response.items)), 2):
                pair = (response.items[b], response.items[a]) if turned else (response.items[a], response.items[b])
                same = response.groups[a] == response.groups[b]
                rows.writerow([response.worker, *pair, 1 if same else -1, response.hit])
    return path


def probabilities(path: Path) -> dict[frozenset[str], float]:
    with path.open(encoding="utf-8", newline="") as file:
        return {frozenset((row["item_a"], row["item_b"])): float(row["probability"]) for row in csv.DictReader(file)}


def test_pairs_and_their_judges(tmp_path: Path) -> None:
    file = write_pairs(tmp_path / "pairs.csv", responses())
    truth = tmp_path / "truth.csv"
    truth.write_text("item,category\n" + "".join(f"p{n},k{n % 4}\n" for n in range(12)))
    assert holds_pairs(file)
    report = aggregate_pair_file(file, AggregateSettings("em2"), truth=truth, out=tmp_path / "out")
    assert report.summary["pairs_of_one_worker"] == 1
    assert report.summary["methods"][0]["error"] == 0.0
    found = probabilities(tmp_path / "out" / "pairs_inferred.csv")
    for pair, probability in found.items():
        a, b = (int(name[1:]) for name in pair)
        assert (probability > 0.5) == (a % 4 == b % 4)
    with (tmp_path / "out" / "reliability.csv").open(encoding="utf-8", newline="") as table:
        judges = {row["worker"]: row for row in csv.DictReader(table)}
    assert float(judges["Coarse"]["sensitivity"]) > 0.9
    assert float(judges["Coarse"]["specificity"]) < float(judges["Ann"]["specificity"]) - 0.2
    assert float(judges["Guess"]["sensitivity"]) < 0.5
    assert [path.name for path in report.written] == ["pairs_inferred.csv", "reliability.csv", "summary.json"]


def test_the_order_of_a_pairs_items_means_nothing(tmp_path: Path) -> None:
    half = len(responses()) // 2
    mixed = write_pairs(tmp_path / "a.csv", responses()[:half])
    turned = write_pairs(tmp_path / "b.csv", responses()[half:], turned=True)
    mixed.write_text(mixed.read_text() + turned.read_text().split("\n", 1)[1])
    plain = write_pairs(tmp_path / "plain.csv", responses())
    results = []
    for number, file in enumerate((mixed, plain)):
        aggregate_pair_file(file, AggregateSettings("mf2"), out=tmp_path / str(number))
        results.append(probabilities(tmp_path / str(number) / "pairs_inferred.csv"))
    assert results[0].keys() == results[1].keys()
    for pair, probability in results[0].items():
        assert probability == pytest.approx(results[1][pair], abs=1e-9)


def test_numbered_pairs_are_judged_as_named_ones(tmp_path: Path) -> None:
    pairs = pairs_of_records(read_pairs(write_pairs(tmp_path / "pairs.csv", responses())))
    assert len(pairs.same) == ResponseTable.from_responses(responses()).n_pair_labels
    assert (pairs.first < pairs.second).all()
    report = judge_pairs(pairs, AggregateSettings("dawid-skene"))
    shared = pairs.judged_by_several()
    names = [" ".join(pairs.names(int(code))) for code in shared.codes]
    plain = DawidSkene(classes=("-1", "1")).fit(names, shared.worker, np.where(shared.same, "1", "-1"))
    by_name = dict(zip(plain.tasks_, plain.probabilities_[:, 1], strict=True))
    (ours,) = report.fitted
    for code, probability in zip(ours.tasks_, ours.probabilities_[:, 1], strict=True):
        assert probability == pytest.approx(by_name[" ".join(pairs.names(int(str(code))))], abs=1e-9)


def test_what_cannot_be_judged_is_said(tmp_path: Path) -> None:
    file = write_pairs(tmp_path / "pairs.csv", [response for response in responses() if response.worker == "Ann"])
    with pytest.raises(UserError, match="no pair was judged by more than one worker"):
        aggregate_pair_file(file, AggregateSettings("em"), out=tmp_path / "out")
    assert not (tmp_path / "out").exists() or not list((tmp_path / "out").iterdir())
    everybody = write_pairs(tmp_path / "all.csv", responses())
    truth = tmp_path / "truth.csv"
    truth.write_text("item,category\nelsewhere,x\n")
    with pytest.raises(UserError, match="known categories"):
        aggregate_pair_file(everybody, AggregateSettings("em"), truth=truth)
    labels = tmp_path / "labels.csv"
    labels.write_text("task,worker,label\n1,2,3\n")
    assert not holds_pairs(labels)
    assert not holds_pairs(tmp_path / "missing.csv")
