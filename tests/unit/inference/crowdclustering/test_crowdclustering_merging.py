"""Which clusters are merged: those that the labels tell apart least."""

from __future__ import annotations

import label_by_label as slow
import numpy as np
import pytest

from crowdclust_app.inference.crowdclustering.data import labels_of
from crowdclust_app.inference.crowdclustering.merging import fit_of, merging_cost, nearest_pair, pooled_costs
from crowdclust_app.inference.crowdclustering.refinement_kernels import count_pairs


def counted(clusters: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Labels of one worker between random clusters; both (1, K, K)."""
    random = np.random.default_rng(seed)
    labels = labels_of(slow.random_table(random, n_workers=1, sizes=(5, 9, 3, 7, 11) * 3), False)
    partition = random.integers(0, clusters, size=labels.n_items)
    same, pairs = (np.zeros((1, clusters, clusters)) for _ in range(2))
    count_pairs(labels.response_ptr, labels.items, labels.groups, labels.workers, partition, same, pairs)
    return same, pairs


@pytest.mark.parametrize("clusters", [2, 3, 5])
def test_costs_of_all_pairs_at_once_are_those_of_each(clusters: int) -> None:
    same, pairs = counted(clusters, clusters)
    first, second = np.triu_indices(clusters, 1)
    one_by_one = [merging_cost(same, pairs, k, other) for k, other in zip(first, second, strict=True)]
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
    assert nearest_pair(labels, partition, 4) == (0, 3)
