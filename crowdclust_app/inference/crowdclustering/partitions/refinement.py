"""Clusters held against the pair labels themselves, item by item.

Positions answer for the many labels of one misplaced image at once and can be drawn away from where most of its
responses put it. So a partition of the positions is refined: every item goes where its pair labels are likeliest, given
how often each worker puts items of two clusters together. That rate is what the model expects of the worker, corrected
by what all workers did between the two clusters, then by what the worker did.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from crowdclust_app.inference.crowdclustering.kernels.arrays import Floats, Ints
from crowdclust_app.inference.crowdclustering.kernels.refinement import cluster_evidence, count_pairs
from crowdclust_app.inference.crowdclustering.model.data import PairLabelData
from crowdclust_app.inference.crowdclustering.partitions.position_clusters import partition_positions

# Pair labels that the model's expectation counts for between two clusters: against those of all workers, and against a
# worker's own.
# Held-out responses of real and of simulated campaigns are predicted about as well with half and with twice as many.
COMMON_PAIRS = 20.0
OWN_PAIRS = 50.0
# No rate is nearer to 0 or 1.
LEAST_RATE = 1e-4
ROUNDS = 12
# A partition has settled when no more than this share of the items moves.
LEAST_MOVED = 1e-3


@dataclass(frozen=True, slots=True)
class Refined:
    """Clusters that suit the labels.

    Parameters
    ----------
    partition : ndarray of shape (n,)
        Cluster of each item, without gaps; clusters that have lost all items are gone.
    rates : ndarray of shape (J, K, K)
        `worker_rates` of these clusters.
    kept : ndarray of shape (K,)
        Which of the clusters begun from they are.
    reached
        Log-likelihood of all labels, in nats.
    """

    partition: Ints
    rates: Floats
    kept: Ints
    reached: float


def counts_of(labels: PairLabelData, partition: Ints, clusters: int) -> tuple[Floats, Floats]:
    """Each worker's labels "same", and all, between two clusters; both (J, K, K), as `count_pairs` counts them."""
    same, pairs = (np.zeros((labels.n_workers, clusters, clusters)) for _ in range(2))
    count_pairs(labels.response_ptr, labels.items, labels.groups, labels.workers, partition, same, pairs)
    return same, pairs


def worker_rates(labels: PairLabelData, cluster: Ints, expected: Floats) -> Floats:
    """How often each worker puts items of two clusters together.

    Parameters
    ----------
    labels
        The responses.
    cluster : ndarray of shape (n,)
        Cluster of each item, from 0.
    expected : ndarray of shape (J, K, K)
        What the model expects.

    Returns
    -------
    ndarray of shape (J, K, K)
        Symmetric. The expected odds are first scaled, for each two clusters, to meet the labels of all workers.
    """
    same, pairs = counts_of(labels, cluster, expected.shape[1])
    expected = np.clip(expected, LEAST_RATE, 1.0 - LEAST_RATE)
    total = pairs.sum(axis=0)
    mean = np.where(total > 0.0, (pairs * expected).sum(axis=0) / np.maximum(total, 1.0), expected.mean(axis=0))
    seen = (same.sum(axis=0) + COMMON_PAIRS * mean) / (total + COMMON_PAIRS)
    scale = seen / (1.0 - seen) * (1.0 - mean) / mean
    odds = scale * expected / (1.0 - expected)
    corrected = odds / (1.0 + odds)
    rates = (same + OWN_PAIRS * corrected) / (pairs + OWN_PAIRS)
    return np.asarray(np.clip(rates, LEAST_RATE, 1.0 - LEAST_RATE))


def evidence_of(labels: PairLabelData, cluster: Ints, rates: Floats) -> Floats:
    """Log-likelihood of each item's pair labels, were the item in each of the clusters; (n, K), in nats."""
    evidence = np.zeros((labels.n_items, rates.shape[1]))
    cluster_evidence(
        labels.response_ptr,
        labels.items,
        labels.groups,
        labels.workers,
        cluster,
        np.log(rates),
        np.log1p(-rates),
        evidence,
    )
    return evidence


def log_shares(cluster: Ints, clusters: int) -> Floats:
    """Logarithm of each cluster's share of the items, one item more in each; (K,)."""
    counts = np.bincount(cluster, minlength=clusters) + 1.0
    return np.asarray(np.log(counts / counts.sum()))


def refine_partition(
    labels: PairLabelData,
    partition: Ints,
    expect: Callable[[Ints], Floats],
    check: Callable[[], None],
    rounds: int = ROUNDS,
) -> Refined:
    """Move items to the clusters that their pair labels speak for, until hardly any moves.

    Parameters
    ----------
    labels
        The responses.
    partition : ndarray of shape (n,)
        Clusters to begin from, from 0 and without gaps.
    expect
        What the model expects of each worker, given clusters without gaps: (J, K, K). It is asked once: a few items
        more or less hardly change what is expected of a cluster, and the labels have the greater say.
    check
        Is called every round; may raise to stop.
    rounds
        The most rounds.
    """
    best: Refined | None = None
    kept = np.arange(int(partition.max()) + 1)
    expected = expect(partition)
    for _ in range(rounds):
        check()
        rates = worker_rates(labels, partition, expected)
        evidence = evidence_of(labels, partition, rates)
        # each label is in the evidence of both of its items
        reached = float(evidence[np.arange(len(partition)), partition].sum()) / 2.0
        if best is None or reached > best.reached:
            best = Refined(partition, rates, kept, reached)
        moved = np.argmax(evidence + log_shares(partition, rates.shape[1]), axis=1)
        if np.count_nonzero(moved != partition) <= LEAST_MOVED * len(partition):
            break
        left, partition = np.unique(moved, return_inverse=True)
        kept, expected = kept[left], expected[:, left[:, None], left]
    assert best is not None
    return best


def best_partition(
    labels: PairLabelData,
    places: Sequence[Floats],
    clusters: int,
    seed: int,
    expect: Callable[[Ints], Floats],
    check: Callable[[], None],
) -> Refined:
    """Put items into so many clusters by each of several sets of positions, and keep what suits the labels best.

    Where much is misplaced, positions that have been fitted to single labels are further from the clusters than those
    that a fit starts from, which only average.

    Parameters
    ----------
    labels, expect, check
        As in `refine_partition`.
    places : sequence of ndarray of shape (n, D)
        Positions.
    clusters, seed
        As in `partition_positions`.
    """
    found = [
        refine_partition(labels, partition_positions(positions, clusters, seed), expect, check) for positions in places
    ]
    return max(found, key=lambda refined: refined.reached)


def tempered(evidence: Floats, shares: Floats, temperature: float) -> Floats:
    """Probabilities of the clusters when the labels count `temperature` of what they would if they were independent.

    Parameters
    ----------
    evidence : ndarray of shape (n, K)
        In nats.
    shares : ndarray of shape (K,)
        Logarithms of the clusters' shares.
    temperature
        Above 0; 1 takes every label for a decision of its own.
    """
    # shares too: at no temperature does another cluster become the likeliest
    logs = temperature * (evidence + shares)
    weights = np.exp(logs - logs.max(axis=1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))
