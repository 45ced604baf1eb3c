"""From responses to clusters: number, probabilities, and when little can be said."""

from __future__ import annotations

import csv
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Self

import label_by_label as slow
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.domain.errors import Cancelled
from crowdclust_app.domain.response_table import Response, ResponseTable
from crowdclust_app.evaluation.metrics import adjusted_rand_index, variation_of_information
from crowdclust_app.evaluation.simulation import SimulationSettings, simulate_campaign
from crowdclust_app.inference.crowdclustering.model.canonical_order import ordered
from crowdclust_app.inference.crowdclustering.model.parallel import Parallel
from crowdclust_app.inference.crowdclustering.partitions.answers import Answers
from crowdclust_app.inference.crowdclustering.partitions.candidates import all_candidates
from crowdclust_app.inference.crowdclustering.selection.curve import (
    HeldOutCurve,
    Work,
    adjusted_rand,
    deal_folds,
    held_out_curve,
)
from crowdclust_app.inference.crowdclustering.selection.partitioning import partition_items
from crowdclust_app.inference.crowdclustering.selection.probabilities import PlausiblePartition, chance_with_clusters

# fits are cut short to be quick
pytestmark = pytest.mark.filterwarnings("ignore::crowdclust_app.domain.errors.NotConvergedWarning")

DATA = Path(os.environ.get("CROWDCLUST_DATA", Path(__file__).parents[6] / "shared" / "data")) / "groupings"


def answers_of(table: ResponseTable) -> Answers:
    return Answers.of(ordered(table).table)


def sorted_by(kinds: np.ndarray, seed: int, n_responses: int, size: int, sort, workers: int = 8) -> ResponseTable:
    """Random sets of items, each sorted by a function of items, worker and generator."""
    random = np.random.default_rng(seed)
    responses = []
    for number in range(n_responses):
        items = random.permutation(len(kinds))[:size]
        worker = number % workers
        responses.append((worker, dict(zip(items.tolist(), sort(items, worker, random).tolist(), strict=True))))
    return slow.table_of(responses, len(kinds), workers)


def strays(groups: np.ndarray, share: float, random: np.random.Generator) -> np.ndarray:
    return np.where(random.random(len(groups)) < share, random.choice(groups, len(groups)), groups)


def small_clusters(seed: int) -> tuple[ResponseTable, np.ndarray]:
    kinds = np.repeat(np.arange(6), [30, 30, 5, 5, 5, 5])
    return sorted_by(kinds, seed, 90, 16, lambda items, _, random: strays(kinds[items], 0.03, random)), kinds


def lumpers_and_splitters(seed: int) -> tuple[ResponseTable, np.ndarray]:
    kinds = np.arange(64) % 8

    def sort(items: np.ndarray, worker: int, random: np.random.Generator) -> np.ndarray:
        return strays(kinds[items] // 2 ** (worker % 3), 0.03, random)

    return sorted_by(kinds, seed, 120, 16, sort), kinds


def several_criteria(seed: int) -> tuple[ResponseTable, np.ndarray]:
    kinds = np.arange(64) % 8

    def sort(items: np.ndarray, worker: int, random: np.random.Generator) -> np.ndarray:
        return strays(kinds[items] >> (worker % 3) & 1, 0.03, random)

    return sorted_by(kinds, seed, 150, 16, sort, 9), kinds


def one_kind_against_the_rest(seed: int) -> tuple[ResponseTable, np.ndarray]:
    kinds = np.arange(60) % 5

    def sort(items: np.ndarray, worker: int, random: np.random.Generator) -> np.ndarray:
        return strays(kinds[items] == worker % 5, 0.03, random) * 1

    return sorted_by(kinds, seed, 150, 20, sort, 10), kinds


def complete_sort(seed: int) -> tuple[ResponseTable, np.ndarray]:
    kinds = np.arange(15) % 3
    return sorted_by(kinds, seed, 14, 15, lambda items, _, random: strays(kinds[items], 0.05, random), 14), kinds


def triples(seed: int) -> tuple[ResponseTable, np.ndarray]:
    kinds = np.arange(40) % 4
    return sorted_by(kinds, seed, 900, 3, lambda items, _, random: strays(kinds[items], 0.04, random), 12), kinds


class Partitioner:
    """`partition_items` with names, order and attributes of an estimator."""

    def __init__(self, n_clusters: Any = "heldout", n_starts: int = 1, folds: int = 5, seed: int = 0) -> None:
        self.arguments = (None if n_clusters == "heldout" else n_clusters, folds, n_starts, seed)

    def fit(self, table: ResponseTable, **work: Any) -> Self:
        order = ordered(table)
        found = partition_items(Answers.of(order.table), *self.arguments, Work(**work))
        self.labels_ = found.partition[order.item_at] + 1
        self.responsibilities_ = found.chances[order.item_at]
        self.too_little_, self.continuous_, self.parts_ = found.too_little, found.continuous, found.parts
        return self


KINDS = (
    small_clusters, lumpers_and_splitters, several_criteria, one_kind_against_the_rest, complete_sort, triples,
)  # fmt: skip


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("kind", KINDS)
def test_planted_clusters_are_found_whatever_the_workers_do(kind, seed: int) -> None:
    table, kinds = kind(seed)
    model = Partitioner(seed=seed).fit(table)
    assert variation_of_information(model.labels_, kinds) < 0.1
    assert abs(model.responsibilities_.shape[1] - len(np.unique(kinds))) <= 1
    assert not model.too_little_
    told = Partitioner(n_clusters=len(np.unique(kinds)), folds=2, seed=seed).fit(table)
    assert told.responsibilities_.shape[1] == len(np.unique(kinds))
    assert variation_of_information(told.labels_, kinds) < 0.1


def test_noise_is_one_cluster_and_predicts_nothing() -> None:
    kinds = np.zeros(60, dtype=np.int64)
    table = sorted_by(kinds, 0, 120, 12, lambda items, _, random: random.integers(0, 3, len(items)), 20)
    model = Partitioner().fit(table)
    assert model.responsibilities_.shape[1] == 1
    assert model.parts_[0].curve.chosen() == 1
    assert model.responsibilities_.max() < 0.6


@pytest.mark.parametrize("folds", [0, 5])
def test_a_line_without_gaps_is_said_to_be_one(folds: int) -> None:
    place = np.random.default_rng(1).random(80)

    def cut_anywhere(items: np.ndarray, _worker: int, random: np.random.Generator) -> np.ndarray:
        return np.searchsorted(np.sort(random.random(random.integers(2, 6))), place[items])

    model = Partitioner(n_clusters="heldout" if folds else 6, folds=folds)
    model.fit(sorted_by(np.zeros(80, dtype=np.int64), 1, 160, 16, cut_anywhere, 30))
    assert model.continuous_ == bool(folds)
    kinds = lumpers_and_splitters(0)[0]
    assert not Partitioner().fit(kinds).continuous_


EDGES = {
    "everybody one group": [(w, dict.fromkeys(range(8), 0)) for w in range(4)],
    "all alone": [(w, {i: i for i in range(8)}) for w in range(4)],
    "two items together": [(w, {0: 0, 1: 0}) for w in range(3)],
    "two items apart": [(w, {0: 0, 1: 1}) for w in range(3)],
    "one response": [(0, {i: i % 3 for i in range(9)})],
    "one response of two items": [(0, {0: 0, 1: 1})],
    "one worker again and again": [(0, {i: i % 2 for i in range(6)})] * 4,
    "two people who contradict each other": [(0, {i: i % 2 for i in range(8)}), (1, {i: i // 4 for i in range(8)})],
    "pairs that share no item": [(n % 2, {2 * n: 0, 2 * n + 1: n % 2}) for n in range(6)],
}


@pytest.mark.parametrize("wanted", ["heldout", 1, 2, 3])
@pytest.mark.parametrize("case", EDGES)
def test_edge_cases_have_clusters_and_probabilities(case: str, wanted: Any) -> None:
    table = slow.table_of(EDGES[case], 0, 0)
    model = Partitioner(n_clusters=wanted).fit(table)
    K = model.responsibilities_.shape[1]
    if isinstance(wanted, int):
        assert min(wanted, table.n_items) == K
    assert sorted(set(model.labels_.tolist())) == list(range(1, K + 1))
    q = model.responsibilities_
    assert np.isfinite(q).all()
    assert (q >= 0).all()
    assert (q.sum(axis=1) <= 1 + 1e-9).all()
    np.testing.assert_array_equal(model.labels_, 1 + q.argmax(axis=1))
    assert q.max() < 0.98
    if case in ("one response", "one response of two items"):
        assert q.max() <= 0.9
        assert model.too_little_
    if wanted == "heldout" and case == "everybody one group":
        assert K == 1
    if wanted == "heldout" and case in ("one response", "pairs that share no item"):
        assert model.too_little_


@pytest.mark.parametrize("people", [2, 4, 6, 10])
def test_people_who_disagree_about_one_card_leave_it_at_a_half(people: int) -> None:
    rows = []
    for worker in range(people):
        groups = {card: card // 4 for card in range(12)}
        groups[0] = worker % 2
        rows.append((worker, groups))
    model = Partitioner().fit(slow.table_of(rows, 12, people))
    own = model.responsibilities_[np.arange(12), model.labels_ - 1]
    assert own[0] == min(own)
    assert 0.4 <= own[0] < 0.6
    assert own[1:].min() > 0.6


@pytest.mark.parametrize("wanted", ["heldout", 6, 4, 2])
def test_no_cluster_spans_parts_that_share_no_item(wanted: Any) -> None:
    kinds = np.concatenate([np.arange(15) % 3, 3 + np.arange(15) % 3])
    rows = []
    for number in range(40):
        items = np.random.default_rng(number).permutation(15)[:9] + 15 * (number % 2)
        rows.append((number % 8, dict(zip(items.tolist(), kinds[items].tolist(), strict=True))))
    table = slow.table_of(rows, 30, 8)
    model = Partitioner(n_clusters=wanted).fit(table)
    part = np.arange(30) // 15
    assert all(len(set(part[model.labels_ == k].tolist())) == 1 for k in np.unique(model.labels_))
    if wanted in ("heldout", 6):
        assert variation_of_information(model.labels_, kinds) == pytest.approx(0.0, abs=1e-12)
        across = model.responsibilities_[:15][:, np.unique(model.labels_[15:]) - 1]
        assert (across == 0).all()
    assert model.responsibilities_.shape[1] == (6 if wanted == "heldout" else wanted)
    with_one = Partitioner(n_clusters=1).fit(table)
    assert with_one.responsibilities_.shape[1] == 1


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 1000))
def test_names_and_order_change_nothing(seed: int) -> None:
    random = np.random.default_rng(seed)
    table = slow.random_table(random, 9, 3, tuple(random.integers(2, 8, 8)))
    responses = [
        Response(
            f"h{r}",
            table.worker_names[table.worker_of_response[r]],
            tuple(table.item_names[i] for i in table.items[table.response_ptr[r] : table.response_ptr[r + 1]]),
            tuple(str(g) for g in table.groups[table.response_ptr[r] : table.response_ptr[r + 1]]),
        )
        for r in range(table.n_responses)
    ]
    moved = []
    for n in random.permutation(len(responses)):
        one, order = responses[n], random.permutation(len(responses[n].items))
        renamed = {group: str(number) for number, group in enumerate(random.permutation(sorted(set(one.groups))))}
        moved.append(
            Response(
                one.hit, one.worker, tuple(one.items[i] for i in order), tuple(renamed[one.groups[i]] for i in order)
            )
        )
    first, other = ResponseTable.from_responses(responses), ResponseTable.from_responses(moved)
    found = [partition_items(answers_of(one), None, 3, 2, 1, Work()) for one in (first, other)]
    np.testing.assert_array_equal(found[0].partition, found[1].partition)
    np.testing.assert_array_equal(found[0].chances, found[1].chances)
    assert sorted(first.item_names) == sorted(other.item_names)


def test_threads_change_nothing_and_a_cancel_stops() -> None:
    table, _ = small_clusters(0)
    answers = answers_of(table)
    alone = partition_items(answers, None, 5, 2, 0, Work())
    with ThreadPoolExecutor(2) as executor:
        shared = partition_items(answers, None, 5, 2, 0, Work(parallel=Parallel(3, executor)))
    np.testing.assert_array_equal(shared.partition, alone.partition)
    np.testing.assert_array_equal(shared.chances, alone.chances)
    np.testing.assert_array_equal(shared.parts[0].curve.loglik, alone.parts[0].curve.loglik)
    token, told = CancelToken(), []

    def tell(phase: str, done: int, steps: int, _clusters: int) -> None:
        told.append((phase, done, steps))
        if len(told) == 2:
            token.cancel()

    with pytest.raises(Cancelled):
        partition_items(answers, None, 5, 1, 0, Work(token.check, tell))
    assert told == [("folds", 1, 5), ("folds", 2, 5)]


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 6))
def test_every_response_is_held_out_once_and_repeats_with_it(seed: int, folds: int) -> None:
    random = np.random.default_rng(seed)
    table = slow.random_table(random, 12, 4, tuple(random.integers(2, 8, 20)))
    again = table.take(np.repeat(np.arange(20), 2))
    answers = Answers.of(again)
    fold = deal_folds(answers, folds, seed)
    assert sorted(set(fold.tolist())) == list(range(folds))
    unit = answers.sets * 100 + answers.workers
    assert all(len(set(fold[unit == one])) == 1 for one in np.unique(unit))
    np.testing.assert_array_equal(fold, deal_folds(answers, folds, seed))
    # sets of items are held out whole where there are many
    if len(np.unique(answers.sets)) >= 3 * folds:
        assert all(len(set(fold[answers.sets == one])) == 1 for one in np.unique(answers.sets))


def test_what_is_held_out_has_no_part_in_what_predicts_it() -> None:
    table, _ = complete_sort(0)
    answers = answers_of(table)
    curve = held_out_curve(answers, lambda: all_candidates(answers), 3, 0, Work(), lambda _done: None)
    assert curve is not None
    fold = deal_folds(answers, 3, 0)
    held = np.repeat(fold == 0, answers.sizes)
    groups = np.where(held, 0, answers.groups)
    other = Answers(
        **{name: getattr(answers, name) for name in answers.__dataclass_fields__ if name != "groups"}, groups=groups
    )
    again = held_out_curve(other, lambda: all_candidates(other), 3, 0, Work(), lambda _done: None)
    assert again is not None
    for K, partition in curve.trained[0].items():
        np.testing.assert_array_equal(partition, again.trained[0][K])
    assert not np.array_equal(curve.loglik, again.loglik)
    assert curve.numbers[0] == 1
    assert curve.decisions.tolist() == [15.0] * 14


def curve_of(*rows: list[float]) -> HeldOutCurve:
    loglik = np.array(rows)
    return HeldOutCurve(tuple(range(1, len(rows) + 1)), loglik, np.zeros_like(loglik), np.ones(loglik.shape[1]), ())


def test_the_fewest_clusters_within_two_paired_errors_of_the_best_are_chosen() -> None:
    noise = np.random.default_rng(0).normal(0, 0.1, 100)
    common = np.random.default_rng(1).normal(0, 50, 100)
    one, two, three = common - 1.0 + noise, common - 0.01 + noise, common + 0.0 * noise
    curve = curve_of(one.tolist(), two.tolist(), three.tolist())
    assert curve.chosen() == 2
    assert curve.chosen(0.0) == 3
    assert curve_of(two.tolist()).chosen() == 1
    # all alike: nothing speaks for more
    assert curve_of([0.0] * 5, [0.0] * 5).chosen() == 1
    # weights choose by the responses that count
    halves = curve_of([0.0] * 10 + [-9.0] * 10, [-9.0] * 10 + [0.0] * 10)
    first = np.repeat([2.0, 0.0], 10)
    assert (halves.chosen(0.0, first), halves.chosen(0.0, 2.0 - first)) == (1, 2)


def test_likeness_of_partitions_is_the_adjusted_rand_index() -> None:
    random = np.random.default_rng(0)
    first, second = random.integers(0, 3, 30), random.integers(0, 4, 30)
    assert adjusted_rand(first, second) == pytest.approx(adjusted_rand_index(first, second))
    assert adjusted_rand(first, first) == 1.0
    assert adjusted_rand(np.zeros(5, dtype=np.int64), np.zeros(5, dtype=np.int64)) == 1.0
    hidden = np.where(np.arange(30) < 5, -1, first)
    assert adjusted_rand(hidden, second) == pytest.approx(adjusted_rand_index(first[5:], second[5:]))


def test_chances_are_means_over_pairs() -> None:
    random = np.random.default_rng(2)
    draws = [
        PlausiblePartition(random.dirichlet(np.ones(k), 9), random.uniform(0.5, 0.9, k), random.uniform(0.1, 0.5))
        for k in (2, 3, 4)
    ]
    partition, sorters = np.array([0, 0, 0, 0, 1, 1, 1, 1, 2]), random.integers(1, 6, 9).astype(float)
    found = chance_with_clusters(draws, partition, sorters)
    for item in range(8):
        mates = np.flatnonzero((partition == partition[item]) & (np.arange(9) != item))
        n = sorters[item]
        one_puts = [
            np.maximum(d.rates, 1 - ((1 - d.rates) / (1 - d.of_any)) ** n) * min(1, 0.25 / d.of_any) ** (1 / n)
            for d in draws
        ]
        together = [
            np.mean([(d.memberships[item] * d.memberships[j] * p).sum() for d, p in zip(draws, one_puts, strict=True)])
            for j in mates
        ]
        assert found[item, partition[item]] == pytest.approx(np.mean(together) * n**2 / (n**2 + 0.3))
    np.testing.assert_array_equal(found.argmax(axis=1), partition)
    assert (found.sum(axis=1) <= 1 + 1e-12).all()
    # alone in its cluster, and known of few
    assert found[8, 2] <= sorters[8] ** 2 / (sorters[8] ** 2 + 0.3)


def read(name: str) -> tuple[ResponseTable, dict[str, str]]:
    folder = DATA / name
    if not folder.exists():
        pytest.skip("needs the real sets")
    with (folder / "responses.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    with (folder / "truth.csv").open(encoding="utf-8") as file:
        truth = {row["item"]: row["category"] for row in csv.DictReader(file)}
    return ResponseTable.from_columns(
        {name: [row[name] for row in rows] for name in ("hit", "worker", "item", "group")}
    ), truth


@pytest.mark.parametrize(
    ("name", "vi"),
    [("sim_smallones", 0.05), ("sim_zipf", 0.05), ("sim_twoparts", 0.05), ("cocoa_wheel_incomplete", 1.4)],
)
def test_sets_of_real_and_invented_people(name: str, vi: float) -> None:
    table, truth = read(name)
    found = partition_items(answers_of(table), None, 5, 1, 0, Work())
    known = [n for n, item in enumerate(sorted(table.item_names)) if item in truth and found.partition[n] >= 0]
    right = [truth[sorted(table.item_names)[n]] for n in known]
    assert variation_of_information(found.partition[known], right) < vi


def test_probabilities_are_about_as_often_right_as_they_say() -> None:
    """Over pairs of items of small campaigns of several kinds, in ten bins."""
    chance, together = [], []
    for seed in range(12):
        simulation = SimulationSettings(
            items=40, clusters=3 + seed % 3, items_per_hit=10, redundancy=1 + seed % 4, workers_per_hit=2, workers=8,
            noise=0.1, coarse=0.1, seed=seed,
        )  # fmt: skip
        campaign = simulate_campaign(simulation)
        order = ordered(campaign.table)
        truth = np.empty(40, dtype=np.int64)
        truth[order.item_at] = np.unique(campaign.truth, return_inverse=True)[1]
        found = partition_items(Answers.of(order.table), None, 5, 1, seed, Work())
        shown = np.flatnonzero(found.partition >= 0)
        first, second = (shown[place] for place in np.triu_indices(len(shown), 1))
        chance += found.chances[first, found.partition[second]].tolist()
        together += (truth[first] == truth[second]).tolist()
    said, right = np.array(chance), np.array(together)
    bins = np.minimum((said * 10).astype(int), 9)
    error = sum(abs((said[bins == b] - right[bins == b]).sum()) for b in range(10)) / len(said)
    assert error < 0.07
