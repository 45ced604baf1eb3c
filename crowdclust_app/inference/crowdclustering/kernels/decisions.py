"""Sums over decisions: where one item was put, given where the others of its response are (docs/methods.md)."""

from __future__ import annotations

import numpy as np

from crowdclust_app.inference.crowdclustering.kernels.arrays import Floats, Ints
from crowdclust_app.inference.crowdclustering.kernels.jit import kernel, part

# Scores are kept within so many log-odds.
LIMIT = 30.0


@part
def clipped(x: float) -> float:
    """A score within its limits."""
    return min(LIMIT, max(-LIMIT, x))


@part
def count_members(
    first: int, last: int, items: Ints, groups: Ints, partition: Ints, counts: Floats, members: Floats
) -> int:
    """Count the items of each cluster in each group of one response; items in no cluster are left out.

    Parameters
    ----------
    first, last
        Where the response begins and ends in `items` and `groups`.
    counts : ndarray of shape (G, K)
        Receives the counts.
    members : ndarray of shape (G,)
        Receives the items of each group.

    Returns
    -------
    int
        How many groups there are.
    """
    n_groups = 0
    for p in range(first, last):
        n_groups = max(n_groups, groups[p] + 1)
    counts[:n_groups] = 0.0
    members[:n_groups] = 0.0
    for p in range(first, last):
        k = partition[items[p]]
        if k >= 0:
            counts[groups[p], k] += 1.0
            members[groups[p]] += 1.0
    return n_groups


@part
def logs_of_sizes(ptr: Ints) -> Floats:
    """Logarithms of the whole numbers up to the size of the largest response; that of 0 is 0."""
    most = 1
    for r in range(len(ptr) - 1):
        most = max(most, ptr[r + 1] - ptr[r])
    logs = np.zeros(most + 1)
    for m in range(1, most + 1):
        logs[m] = np.log(m)
    return logs


@kernel
def count_item_pairs(ptr: Ints, items: Ints, groups: Ints, n_items: int) -> tuple[Floats, Floats]:
    """How often each two items were shown together, and put together: two (n, n), zero on the diagonal."""
    shown, joined = np.zeros((n_items, n_items)), np.zeros((n_items, n_items))
    for r in range(len(ptr) - 1):
        for p in range(ptr[r], ptr[r + 1]):
            i = items[p]
            for q in range(ptr[r], p):
                j = items[q]
                shown[i, j] += 1.0
                shown[j, i] += 1.0
                if groups[p] == groups[q]:
                    joined[i, j] += 1.0
                    joined[j, i] += 1.0
    return shown, joined


@kernel
def count_cluster_pairs(
    ptr: Ints, items: Ints, groups: Ints, partition: Ints, K: int, most: int, weight: Floats
) -> tuple[Floats, Floats]:
    """How often items of each two clusters were shown together, and put together.

    Parameters
    ----------
    ptr : ndarray of shape (R + 1,)
        Compressed rows of `items` and `groups`.
    items, groups : ndarray of shape (sum M_r,)
        Groups are numbered from 0 in each response.
    partition : ndarray of shape (n,)
        Cluster of each item, -1 for none.
    K, most
        Clusters; the most groups of a response.
    weight : ndarray of shape (R,)
        What each response counts.

    Returns
    -------
    tuple of two ndarray of shape (K, K)
        Symmetric; pairs of one cluster are counted twice.
    """
    shown, joined = np.zeros((K, K)), np.zeros((K, K))
    counts, members = np.zeros((most, K)), np.zeros(most)
    present, total = np.zeros(K, dtype=np.int64), np.zeros(K)
    for r in range(len(ptr) - 1):
        n_groups = count_members(ptr[r], ptr[r + 1], items, groups, partition, counts, members)
        n_present = 0
        for k in range(K):
            total[k] = 0.0
            for g in range(n_groups):
                total[k] += counts[g, k]
            if total[k] > 0.0:
                present[n_present] = k
                n_present += 1
        for x in range(n_present):
            k = present[x]
            # an item is no partner of itself
            shown[k, k] -= weight[r] * total[k]
            joined[k, k] -= weight[r] * total[k]
            for y in range(n_present):
                other = present[y]
                same = 0.0
                for g in range(n_groups):
                    same += counts[g, k] * counts[g, other]
                shown[k, other] += weight[r] * total[k] * total[other]
                joined[k, other] += weight[r] * same
    return shown, joined


@kernel
def decision_evidence(
    ptr: Ints,
    items: Ints,
    groups: Ints,
    partition: Ints,
    affinity: Floats,
    slope: Floats,
    bias: Floats,
    size: float,
    stray: float,
    weight: Floats,
    most: int,
) -> Floats:
    """Log-probability of all decisions about each item, were it in each of the clusters; (n, K).

    Parameters
    ----------
    ptr, items, groups, partition, most, weight
        As in `count_cluster_pairs`; responses of weight 0 are left out.
    affinity : ndarray of shape (K, K)
        Of the clusters of two items, in log-odds.
    slope, bias : ndarray of shape (R,)
        How much affinity counts in each response, and the score of a group of its own.
    size, stray
        How much the logarithm of a group's size counts; share of decisions that follow nothing.
    """
    K = affinity.shape[0]
    found = np.zeros((len(partition), K))
    counts, pull, exps = np.zeros((most, K)), np.zeros((most, K)), np.zeros((most, K))
    members, total = np.zeros(most), np.zeros(K)
    # items of one group and one cluster share their row
    row_of, rows = np.zeros((most, K), dtype=np.int64), np.zeros((1, K))
    logs = logs_of_sizes(ptr)
    for r in range(len(ptr) - 1):
        if weight[r] == 0.0:
            continue
        n_groups = count_members(ptr[r], ptr[r + 1], items, groups, partition, counts, members)
        options = n_rows = 0
        alone = np.exp(clipped(bias[r]))
        total[:] = alone
        for g in range(n_groups):
            if members[g] == 0.0:
                continue
            options += 1
            pull[g] = 0.0
            for k in range(K):
                if counts[g, k] > 0.0:
                    pull[g] += counts[g, k] * affinity[k]
                    row_of[g, k] = n_rows
                    n_rows += 1
            by, base = slope[r] / members[g], size * logs[int(members[g])]
            for k in range(K):
                exps[g, k] = np.exp(clipped(by * pull[g, k] + base))
                total[k] += exps[g, k]
        if n_rows > rows.shape[0]:
            rows = np.zeros((2 * n_rows, K))
        for g in range(n_groups):
            left = members[g] - 1.0
            chance = stray / (options + (1.0 if left > 0.0 else 0.0))
            for own in range(K):
                if counts[g, own] == 0.0:
                    continue
                row = row_of[g, own]
                by = slope[r] / max(left, 1.0)
                base = size * logs[int(left)]
                for k in range(K):
                    mine = np.exp(clipped(by * (pull[g, k] - affinity[own, k]) + base)) if left > 0.0 else alone
                    # the group as it was without the item, in place of the group with it
                    others = total[k] - exps[g, k] + (mine if left > 0.0 else 0.0)
                    rows[row, k] = weight[r] * np.log((1.0 - stray) * mine / max(others, mine) + chance)
        for p in range(ptr[r], ptr[r + 1]):
            own = partition[items[p]]
            if own >= 0:
                found[items[p]] += rows[row_of[groups[p], own]]
    return found


@kernel
def score_decisions(
    ptr: Ints,
    items: Ints,
    groups: Ints,
    partition: Ints,
    affinity: Floats,
    slope: Floats,
    bias: Floats,
    size: float,
    stray: float,
    most: int,
    derive: bool,
) -> tuple[Floats, Floats, Floats, Floats]:
    """Log-probability of each response's decisions, and its derivatives.

    Parameters
    ----------
    ptr, items, groups, partition, affinity, slope, bias, size, stray, most
        As in `decision_evidence`.
    derive
        Whether derivatives are wanted; they are 0 otherwise.

    Returns
    -------
    loglik, right : ndarray of shape (R,)
        In nats; how many decisions are the likeliest ones.
    gradient, information : ndarray of shape (R, 3) and (R, 3, 3)
        By slope, bias and the weight of a group's size; the information is positive.
    """
    K, R = affinity.shape[0], len(ptr) - 1
    loglik, right = np.zeros(R), np.zeros(R)
    gradient, information = np.zeros((R, 3)), np.zeros((R, 3, 3))
    counts, pull, members = np.zeros((most, K)), np.zeros((most, K)), np.zeros(most)
    # slope's, bias's and size's share of each option's score
    shares, chance, mean = np.zeros((most + 1, 3)), np.zeros(most + 1), np.zeros(3)
    logs = logs_of_sizes(ptr)
    for r in range(R):
        n_groups = count_members(ptr[r], ptr[r + 1], items, groups, partition, counts, members)
        for g in range(n_groups):
            pull[g] = 0.0
            for k in range(K):
                if counts[g, k] > 0.0:
                    pull[g] += counts[g, k] * affinity[k]
        for own in range(n_groups):
            for k in range(K):
                if counts[own, k] == 0.0:
                    continue
                options, taken, top = 0, -1, -1e300
                for g in range(n_groups + 1):
                    left = members[g] - (1.0 if g == own else 0.0) if g < n_groups else 0.0
                    if g < n_groups and left <= 0.0:
                        continue
                    if g < n_groups:
                        shares[options, 0] = (pull[g, k] - (affinity[k, k] if g == own else 0.0)) / left
                        shares[options, 1] = 0.0
                        shares[options, 2] = logs[int(left)]
                    else:
                        shares[options, 0] = 0.0
                        shares[options, 1] = 1.0
                        shares[options, 2] = 0.0
                    if g == own or (g == n_groups and taken < 0):
                        taken = options
                    score = slope[r] * shares[options, 0] + bias[r] * shares[options, 1] + size * shares[options, 2]
                    chance[options] = clipped(score)
                    top = max(top, chance[options])
                    options += 1
                likeliest = chance[taken] >= top
                total = 0.0
                for o in range(options):
                    chance[o] = np.exp(chance[o] - top)
                    total += chance[o]
                probability = (1.0 - stray) * chance[taken] / total + stray / options
                many = counts[own, k]
                loglik[r] += many * np.log(probability)
                if likeliest:
                    right[r] += many
                if not derive:
                    continue
                meant = many * (1.0 - stray) * chance[taken] / total / probability
                mean[:] = 0.0
                for o in range(options):
                    chance[o] /= total
                    for x in range(3):
                        mean[x] += chance[o] * shares[o, x]
                for x in range(3):
                    gradient[r, x] += meant * (shares[taken, x] - mean[x])
                    for y in range(3):
                        product = 0.0
                        for o in range(options):
                            product += chance[o] * shares[o, x] * shares[o, y]
                        information[r, x, y] += meant * (product - mean[x] * mean[y])
    return loglik, right, gradient, information
