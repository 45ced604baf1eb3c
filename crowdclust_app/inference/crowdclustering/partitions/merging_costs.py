"""What it costs the pair labels' likelihood when two clusters become one."""

from __future__ import annotations

import numpy as np

from crowdclust_app.inference.crowdclustering.kernels.arrays import Floats, Ints
from crowdclust_app.inference.crowdclustering.model.data import PairLabelData
from crowdclust_app.inference.crowdclustering.partitions.refinement import LEAST_RATE, OWN_PAIRS, counts_of

# Pairs of clusters whose cost is computed worker by worker: those that all workers together tell apart least.
LIKELY_PAIRS = 8
# Pairs that one half counts for in the rate of all workers.
PRIOR_PAIRS = 10.0


def nearest_pairs(labels: PairLabelData, partition: Ints, clusters: int, wanted: int) -> list[tuple[int, int]]:
    """The clusters, two and two, whose merging costs the labels' likelihood least, the cheapest first."""
    same, pairs = counts_of(labels, partition, clusters)
    first, second = np.triu_indices(clusters, 1)
    likely = np.argsort(pooled_costs(same.sum(axis=0), pairs.sum(axis=0)), kind="stable")[:LIKELY_PAIRS]
    candidates = list(zip(first[likely].tolist(), second[likely].tolist(), strict=True))
    return sorted(candidates, key=lambda pair: merging_cost(same, pairs, *pair))[:wanted]


def pooled_costs(same: Floats, pairs: Floats) -> Floats:
    """`merging_cost` of every two clusters, all workers taken for one.

    Parameters
    ----------
    same, pairs : ndarray of shape (K, K)
        Labels of all workers.

    Returns
    -------
    ndarray of shape (K (K - 1) / 2,)
        In the order of `triu_indices(K, 1)`.
    """
    first, second = np.triu_indices(len(same), 1)
    own = cell_fits(same[None], pairs[None])[0]
    before = own.sum(axis=1)[first] + own.sum(axis=1)[second] - own[first, second]
    merged = cell_fits((same[first] + same[second])[None], (pairs[first] + pairs[second])[None])[0]
    number = np.arange(len(first))
    after = merged.sum(axis=1) - merged[number, first] - merged[number, second]
    within = (counts[first, first] + counts[first, second] + counts[second, second] for counts in (same, pairs))
    return np.asarray(before - after - cell_fits(*(counts[None] for counts in within))[0])


def merging_cost(same: Floats, pairs: Floats, k: int, other: int) -> float:
    """By how much the log-likelihood of the labels falls when two clusters become one, in nats.

    Parameters
    ----------
    same, pairs : ndarray of shape (J, K, K)
        Labels of each worker between two clusters, as `count_pairs` counts them.
    k, other
        The two.
    """
    rest = np.ones(same.shape[1], dtype=bool)
    rest[[k, other]] = False
    own = ([k, other, k], [k, other, other])
    before = fit_of(same[:, k, rest], pairs[:, k, rest]) + fit_of(same[:, other, rest], pairs[:, other, rest])
    before += fit_of(same[:, own[0], own[1]], pairs[:, own[0], own[1]])
    after = fit_of(same[:, k, rest] + same[:, other, rest], pairs[:, k, rest] + pairs[:, other, rest])
    within = (counts[:, own[0], own[1]].sum(axis=1, keepdims=True) for counts in (same, pairs))
    return before - after - fit_of(*within)


def fit_of(same: Floats, pairs: Floats) -> float:
    """Log-likelihood of labels by each worker's rates, drawn towards that of all workers; both (J, cells)."""
    return float(cell_fits(same, pairs).sum())


def cell_fits(same: Floats, pairs: Floats) -> Floats:
    """What each worker's labels of each cell add to `fit_of`; all (J, ...)."""
    common = (same.sum(axis=0) + 0.5 * PRIOR_PAIRS) / (pairs.sum(axis=0) + PRIOR_PAIRS)
    rates = np.clip((same + OWN_PAIRS * common) / (pairs + OWN_PAIRS), LEAST_RATE, 1.0 - LEAST_RATE)
    return np.asarray(same * np.log(rates) + (pairs - same) * np.log1p(-rates))
