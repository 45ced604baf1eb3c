"""How well each item's pair labels fit each cluster: counts of clusters by group, labels never expanded."""

from __future__ import annotations

import numpy as np

from crowdclust_app.inference.crowdclustering.arrays import Floats, Ints
from crowdclust_app.inference.crowdclustering.jit import kernel


@kernel
def cluster_evidence(
    ptr: Ints,
    items: Ints,
    groups: Ints,
    judges: Ints,
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
    judges : ndarray of shape (R,)
        Whose probabilities count for each response.
    cluster : ndarray of shape (N,)
        Cluster of each item; partners of a negative one are left out.
    log_same, log_apart : ndarray of shape (J, K, K)
        Logarithm of the probability of "same" and of "different".
    evidence : ndarray of shape (N, K)
        Is added to.
    """
    K = log_same.shape[1]
    for r in range(len(judges)):
        j = judges[r]
        n_groups = 0
        for p in range(ptr[r], ptr[r + 1]):
            n_groups = max(n_groups, groups[p] + 1)
        counts = np.zeros((n_groups, K))
        everything = np.zeros(K)
        for p in range(ptr[r], ptr[r + 1]):
            c = cluster[items[p]]
            if c >= 0:
                counts[groups[p], c] += 1.0
                everything[c] += 1.0
        fits = np.zeros((n_groups, K))
        for g in range(n_groups):
            for k in range(K):
                total = 0.0
                for other in range(K):
                    same = counts[g, other]
                    total += same * log_same[j, k, other] + (everything[other] - same) * log_apart[j, k, other]
                fits[g, k] = total
        for p in range(ptr[r], ptr[r + 1]):
            i, g = items[p], groups[p]
            own = cluster[i]
            for k in range(K):
                # an item is no partner of itself
                itself = log_same[j, k, own] if own >= 0 else 0.0
                evidence[i, k] += fits[g, k] - itself


@kernel
def count_pairs(ptr: Ints, items: Ints, groups: Ints, judges: Ints, cluster: Ints, same: Floats, pairs: Floats) -> None:
    """Add up each worker's pair labels by the clusters of the two items.

    Parameters
    ----------
    ptr, items, groups, judges, cluster
        As in `cluster_evidence`.
    same, pairs : ndarray of shape (J, K, K)
        Labels "same", and all; are added to, symmetric, each pair once on either side of the diagonal.
    """
    K = same.shape[1]
    for r in range(len(judges)):
        j = judges[r]
        n_groups = 0
        for p in range(ptr[r], ptr[r + 1]):
            n_groups = max(n_groups, groups[p] + 1)
        counts = np.zeros((n_groups, K))
        everything = np.zeros(K)
        for p in range(ptr[r], ptr[r + 1]):
            c = cluster[items[p]]
            if c >= 0:
                counts[groups[p], c] += 1.0
                everything[c] += 1.0
        for k in range(K):
            for other in range(K):
                if k == other:
                    pairs[j, k, k] += everything[k] * (everything[k] - 1.0) / 2.0
                else:
                    pairs[j, k, other] += everything[k] * everything[other]
        for g in range(n_groups):
            for k in range(K):
                if counts[g, k] == 0.0:
                    continue
                for other in range(K):
                    if k == other:
                        same[j, k, k] += counts[g, k] * (counts[g, k] - 1.0) / 2.0
                    else:
                        same[j, k, other] += counts[g, k] * counts[g, other]
