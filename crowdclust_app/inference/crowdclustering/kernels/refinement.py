"""How well each item's pair labels fit each cluster: counts of clusters by group, labels never expanded."""

from __future__ import annotations

import numpy as np

from crowdclust_app.inference.crowdclustering.kernels.arrays import Floats, Ints
from crowdclust_app.inference.crowdclustering.kernels.jit import kernel, part


@part
def count_clusters(
    first: int, last: int, items: Ints, groups: Ints, cluster: Ints, counts: Floats, everything: Floats, present: Ints
) -> tuple[int, int]:
    """Count one response's clusters by group.

    Parameters
    ----------
    first, last
        Where the response begins and ends in `items` and `groups`.
    items, groups, cluster
        As in `cluster_evidence`.
    counts : ndarray of shape (G, K)
        Items of each cluster in each group; has to be 0.
    everything : ndarray of shape (K,)
        The same in all groups; has to be 0.
    present : ndarray of shape (K,)
        Is given the clusters that are there: few of them in a small response.

    Returns
    -------
    int
        How many groups there are.
    int
        How many clusters are present.
    """
    n_groups = n_present = 0
    for p in range(first, last):
        n_groups = max(n_groups, groups[p] + 1)
        c = cluster[items[p]]
        if c >= 0:
            if everything[c] == 0.0:
                present[n_present] = c
                n_present += 1
            counts[groups[p], c] += 1.0
            everything[c] += 1.0
    return n_groups, n_present


@part
def clear(n_groups: int, n_present: int, counts: Floats, everything: Floats, present: Ints) -> None:
    """Set what `count_clusters` has counted to 0 again."""
    for q in range(n_present):
        everything[present[q]] = 0.0
        for g in range(n_groups):
            counts[g, present[q]] = 0.0


@kernel
def cluster_evidence(
    ptr: Ints,
    items: Ints,
    groups: Ints,
    workers: Ints,
    cluster: Ints,
    log_same: Floats,
    log_apart: Floats,
    evidence: Floats,
) -> None:
    """Add up the log-likelihood of each item's pair labels, were the item in each of the clusters.

    Parameters
    ----------
    ptr : ndarray of shape (R + 1,)
        Compressed rows of `items` and `groups`.
    items, groups : ndarray of shape (sum M_r,)
        Groups are numbered from 0 in each response, without gaps.
    workers : ndarray of shape (R,)
        Whose probabilities count for each response.
    cluster : ndarray of shape (N,)
        Cluster of each item; partners of a negative one are left out.
    log_same, log_apart : ndarray of shape (J, K, K)
        Logarithm of the probability of "same" and of "different"; symmetric.
    evidence : ndarray of shape (N, K)
        Is added to.
    """
    K = log_same.shape[1]
    most = np.max(groups) + 1 if len(groups) else 0
    counts, everything, present = np.zeros((most, K)), np.zeros(K), np.empty(K, dtype=np.int64)
    fits, apart = np.empty((most, K)), np.empty(K)
    for r in range(len(workers)):
        j = workers[r]
        n_groups, n_present = count_clusters(ptr[r], ptr[r + 1], items, groups, cluster, counts, everything, present)
        # as if all partners were in other groups, then those of each group
        apart[:] = 0.0
        for q in range(n_present):
            other = present[q]
            for k in range(K):
                apart[k] += everything[other] * log_apart[j, other, k]
        for g in range(n_groups):
            for k in range(K):
                fits[g, k] = apart[k]
            for q in range(n_present):
                other = present[q]
                same = counts[g, other]
                if same > 0.0:
                    for k in range(K):
                        fits[g, k] += same * (log_same[j, other, k] - log_apart[j, other, k])
        for p in range(ptr[r], ptr[r + 1]):
            i, g = items[p], groups[p]
            own = cluster[i]
            for k in range(K):
                evidence[i, k] += fits[g, k]
            if own >= 0:
                # an item is no partner of itself
                for k in range(K):
                    evidence[i, k] -= log_same[j, own, k]
        clear(n_groups, n_present, counts, everything, present)


@kernel
def count_pairs(
    ptr: Ints, items: Ints, groups: Ints, workers: Ints, cluster: Ints, same: Floats, pairs: Floats
) -> None:
    """Add up each worker's pair labels by the clusters of the two items.

    Parameters
    ----------
    ptr, items, groups, workers, cluster
        As in `cluster_evidence`.
    same, pairs : ndarray of shape (J, K, K)
        Labels "same", and all; are added to, symmetric, each pair once on either side of the diagonal.
    """
    K = same.shape[1]
    most = np.max(groups) + 1 if len(groups) else 0
    counts, everything, present = np.zeros((most, K)), np.zeros(K), np.empty(K, dtype=np.int64)
    for r in range(len(workers)):
        j = workers[r]
        n_groups, n_present = count_clusters(ptr[r], ptr[r + 1], items, groups, cluster, counts, everything, present)
        for q in range(n_present):
            k = present[q]
            for other in range(K):
                pairs[j, k, other] += everything[k] * everything[other]
            # not with itself, and each pair of one cluster once
            pairs[j, k, k] -= 0.5 * everything[k] * (everything[k] + 1.0)
            for g in range(n_groups):
                held = counts[g, k]
                if held > 0.0:
                    for other in range(K):
                        same[j, k, other] += held * counts[g, other]
                    same[j, k, k] -= 0.5 * held * (held + 1.0)
        clear(n_groups, n_present, counts, everything, present)
