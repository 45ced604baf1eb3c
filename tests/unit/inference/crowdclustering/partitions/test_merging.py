"""Which clusters are merged, cut and exchanged: as the labels tell them apart."""

from __future__ import annotations

import label_by_label as slow
import numpy as np
import pytest

from crowdclust_app.inference.crowdclustering.model.data import PairLabelData, labels_of
from crowdclust_app.inference.crowdclustering.model.initialisation import DENSE_BELOW, start_positions
from crowdclust_app.inference.crowdclustering.partitions.dividing import adapted, cut_of, divided, labels_among
from crowdclust_app.inference.crowdclustering.partitions.exchanging import exchanged
from crowdclust_app.inference.crowdclustering.partitions.merging import chain_of_partitions
from crowdclust_app.inference.crowdclustering.partitions.merging_costs import (
    fit_of,
    merging_cost,
    nearest_pairs,
    pooled_costs,
)
from crowdclust_app.inference.crowdclustering.partitions.refinement import counts_of, refine_partition


def counted(clusters: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Labels of one worker between random clusters; both (1, K, K)."""
    random = np.random.default_rng(seed)
    labels = labels_of(slow.random_table(random, n_workers=1, sizes=(5, 9, 3, 7, 11) * 3), False)
    partition = random.integers(0, clusters, size=labels.n_items)
    return counts_of(labels, partition, clusters)


def sorted_by_all(
    categories: np.ndarray, n_hits: int, size: int, n_workers: int = 3, stray: float = 0.0
) -> PairLabelData:
    """HITs of random items that everybody sorts by category, a share of the items straying."""
    random = np.random.default_rng(0)
    responses = []
    for hit in range(n_hits):
        shown = random.choice(len(categories), size=size, replace=False)
        responses += [
            (
                worker,
                {int(i): int(categories[i]) if random.random() >= stray else int(random.integers(9)) for i in shown},
            )
            for worker in ([hit % n_workers])
        ]
    return labels_of(slow.table_of(responses, len(categories), n_workers), False)


def no_expectation(partition: np.ndarray, n_workers: int = 3) -> np.ndarray:
    """A model that expects nothing: one half everywhere."""
    clusters = int(partition.max()) + 1
    return np.full((n_workers, clusters, clusters), 0.5)


def nobody_asks() -> None:
    """Carry on."""


@pytest.mark.parametrize("clusters", [2, 3, 5])
def test_costs_of_all_pairs_at_once_are_those_of_each(clusters: int) -> None:
    same, pairs = counted(clusters, clusters)
    first, second = np.triu_indices(clusters, 1)
    one_by_one = [merging_cost(same, pairs, k, other) for k, other in zip(first, second, strict=True)]  # type: ignore[arg-type]
    assert np.allclose(pooled_costs(same[0], pairs[0]), one_by_one, rtol=1e-12, atol=1e-9)


def test_a_merger_costs_what_the_likelihood_falls() -> None:
    same, pairs = counted(3, 7)
    upper = np.triu_indices(3)
    before = fit_of(same[:, upper[0], upper[1]], pairs[:, upper[0], upper[1]])
    onto = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])

    def merged(counts: np.ndarray) -> np.ndarray:
        found = onto.T @ counts[0] @ onto
        # a pair of the two clusters would count on both sides of the diagonal
        found[0, 0] -= counts[0, 0, 1]
        return found[None][:, [0, 0, 1], [0, 1, 1]]

    assert merging_cost(same, pairs, 0, 1) == pytest.approx(before - fit_of(merged(same), merged(pairs)))


def test_halves_of_one_cluster_are_nearest() -> None:
    responses = [(hit % 2, {i: i // 4 for i in range(12)}) for hit in range(4)]
    labels = labels_of(slow.table_of(responses, 12, 2), False)
    partition = np.array([0, 0, 3, 3, 1, 1, 1, 1, 2, 2, 2, 2])
    pairs = nearest_pairs(labels, partition, 4, 3)
    assert pairs[0] == (0, 3)
    assert len(pairs) == len(set(pairs)) == 3


def test_labels_among_some_items_are_those_of_both_among_them() -> None:
    random = np.random.default_rng(5)
    labels = labels_of(slow.random_table(random, n_workers=3, sizes=(5, 9, 3, 7, 11) * 3), False)
    members = random.random(labels.n_items) < 0.5
    among = labels_among(labels, members)
    assert among is not None

    def pairs(of: PairLabelData, number: np.ndarray) -> list[tuple[int, int, int, bool]]:
        found = []
        for r in range(of.n_responses):
            here = slice(of.response_ptr[r], of.response_ptr[r + 1])
            held = sorted(zip(number[of.items[here]].tolist(), of.groups[here].tolist(), strict=True))
            found += [(int(of.workers[r]), a, b, g == h) for n, (a, g) in enumerate(held) for b, h in held[n + 1 :]]
        return sorted(found)

    everything = pairs(labels, np.arange(labels.n_items))
    wanted = [pair for pair in everything if members[pair[1]] and members[pair[2]]]
    assert pairs(among, among.shown) == wanted
    assert among.n_pairs == len(wanted)
    halves = np.zeros(labels.n_workers)
    for worker, _, _, same in wanted:
        halves[worker] += 0.5 if same else -0.5
    assert np.allclose(among.half_labels, halves)
    assert labels_among(labels, np.zeros(labels.n_items, dtype=bool)) is None


def test_a_cluster_is_cut_between_what_is_in_it() -> None:
    categories = np.repeat([0, 1, 2], [12, 15, 9])
    labels = sorted_by_all(categories, 40, 9)
    cut = cut_of(labels, np.where(categories == 2, 1, 0), 0, 0)
    assert cut is not None
    assert cut.gain > 0.0
    sides = {tuple(np.flatnonzero(side)) for side in (cut.beyond, cut.members & ~cut.beyond)}
    assert sides == {tuple(np.flatnonzero(categories == 0)), tuple(np.flatnonzero(categories == 1))}
    # a few items more or less keep the cut, many do not
    fewer = cut.members.copy()
    fewer[0] = False
    kept = adapted(cut, fewer)
    assert kept is not None
    assert not kept.beyond[0]
    assert adapted(cut, cut.beyond) is None


def test_items_that_nobody_compared_are_not_cut() -> None:
    responses = [(0, {0: 0, 1: 0, 2: 1}), (0, {3: 0, 4: 0, 5: 1})]
    labels = labels_of(slow.table_of(responses, 6, 1), False)
    assert cut_of(labels, np.array([0, 1, 2, 0, 1, 2]), 0, 0) is None
    found = divided(labels, 0, lambda p: no_expectation(p, 1), nobody_asks, 6)
    assert set(found) >= {1}
    chain = chain_of_partitions(labels, (np.arange(6.0)[:, None],), 0, lambda p: no_expectation(p, 1), nobody_asks, 1)
    assert all(len(np.unique(partition)) == clusters for clusters, partition in chain.items())


def test_every_number_down_to_the_least_is_reached_and_the_true_one_is_the_truth() -> None:
    categories = np.repeat([0, 1, 2, 3], [20, 15, 10, 5])
    labels = sorted_by_all(categories, 80, 10, stray=0.1)
    chain = chain_of_partitions(labels, (np.zeros((50, 2)),), 0, no_expectation, nobody_asks, 2)
    assert min(chain) == 2
    assert all(set(np.unique(partition)) == set(range(clusters)) for clusters, partition in chain.items())
    assert len(set(zip(categories.tolist(), chain[4].tolist(), strict=True))) == 4


def test_exchanges_mend_what_single_moves_cannot() -> None:
    """Two categories taken for one and another cut in two: every item is where most of its partners are."""
    categories = np.repeat([0, 1, 2, 3], 12)
    labels = sorted_by_all(categories, 60, 12)
    wrong = np.array([0, 0, 1, 2])[categories]
    wrong[42:] = 3
    stuck = refine_partition(labels, wrong, no_expectation, nobody_asks)
    found = exchanged(labels, wrong, 0, no_expectation, nobody_asks)
    better = refine_partition(labels, found, no_expectation, nobody_asks, 1)
    assert len(set(zip(categories.tolist(), found.tolist(), strict=True))) == 4
    assert better.reached >= stuck.reached


@pytest.mark.parametrize("seed", range(3))
def test_exchanges_never_make_the_labels_less_likely(seed: int) -> None:
    random = np.random.default_rng(seed)
    labels = labels_of(slow.random_table(random, n_workers=3, sizes=(5, 9, 3, 7, 11) * 4), False)
    before = refine_partition(
        labels, np.unique(random.integers(0, 4, labels.n_items), return_inverse=True)[1], no_expectation, nobody_asks
    )
    found = exchanged(labels, before.partition, seed, no_expectation, nobody_asks)
    after = refine_partition(labels, found, no_expectation, nobody_asks)
    assert after.reached >= before.reached - 1e-9
    assert set(np.unique(found)) == set(range(int(found.max()) + 1))


@pytest.mark.parametrize("n_categories", [1, 2])
def test_where_nothing_is_beyond_chance_there_is_no_direction_and_no_cut(n_categories: int) -> None:
    """With so many items the directions are sought without a matrix, and that refuses an operator that is 0."""
    categories = np.arange(DENSE_BELOW * 2 + 2) % n_categories
    labels = sorted_by_all(categories, 200, 10)
    all_one = np.zeros(labels.n_items, dtype=np.int64)
    found = divided(labels, 0, no_expectation, nobody_asks, 5)
    assert max(found) == n_categories
    if n_categories == 1:
        alone = labels_among(labels, all_one == 0)
        assert alone is not None
        assert np.abs(start_positions(alone, 3, 0, 0)).max() < 1.0
        cut = cut_of(labels, all_one, 0, 0)
        assert cut is None or cut.gain <= 0.0
