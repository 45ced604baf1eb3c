"""Sums over decisions: where one item was put, given where the others of its response are (docs/methods.md)."""

from __future__ import annotations

import numpy as np

from crowdclust_app.inference.crowdclustering.kernels.arrays import Floats, Ints
from crowdclust_app.inference.crowdclustering.kernels.jit import kernel, part

# Scores are kept within so many log-odds.
LIMIT = 30.0
# The bits of the double nearest the root of 1/2.
BITS_OF_ROOT_HALF = np.int64(0x3FE6A09E667F3BCD)
# Options whose scores are computed in one go, at least.
BUFFER = 1024


@part
def exp_of_score(x: float) -> float:
    """The exponential of a score within its limits, to 1e-12 of itself.

    Compilers turn this into vector instructions and calls of `exp` not: `exp(x / 64)` by its series, squared six times.
    """
    r = min(LIMIT, max(-LIMIT, x)) * 0.015625
    e = 1.0 / 479001600.0
    e = e * r + 1.0 / 39916800.0
    e = e * r + 1.0 / 3628800.0
    e = e * r + 1.0 / 362880.0
    e = e * r + 1.0 / 40320.0
    e = e * r + 1.0 / 5040.0
    e = e * r + 1.0 / 720.0
    e = e * r + 1.0 / 120.0
    e = e * r + 1.0 / 24.0
    e = e * r + 1.0 / 6.0
    e = e * r + 0.5
    e = e * r + 1.0
    e = e * r + 1.0
    e *= e
    e *= e
    e *= e
    e *= e
    e *= e
    return e * e


@part
def log_of_probability(x: float) -> float:
    """The natural logarithm of a normal positive number, to 1e-15; written for vector instructions too.

    `x = 2^k m` with `m` between the roots of 1/2 and 2, and `log m = 2 artanh((m - 1) / (m + 1))` by its series.
    """
    bits = np.float64(x).view(np.int64)
    k = (bits - BITS_OF_ROOT_HALF) >> 52
    m = np.int64(bits - (k << 52)).view(np.float64)
    s = (m - 1.0) / (m + 1.0)
    z = s * s
    series = 1.0 / 19.0
    series = series * z + 1.0 / 17.0
    series = series * z + 1.0 / 15.0
    series = series * z + 1.0 / 13.0
    series = series * z + 1.0 / 11.0
    series = series * z + 1.0 / 9.0
    series = series * z + 1.0 / 7.0
    series = series * z + 1.0 / 5.0
    series = series * z + 1.0 / 3.0
    return 2.0 * s * (series * z + 1.0) + k * 0.6931471805599453


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
        alone = exp_of_score(bias[r])
        total[:] = alone
        for g in range(n_groups):
            if members[g] == 0.0:
                continue
            options += 1
            pull[g] = 0.0
            for own in range(K):
                if counts[g, own] > 0.0:
                    for k in range(K):
                        pull[g, k] += counts[g, own] * affinity[own, k]
                    row_of[g, own] = n_rows
                    n_rows += 1
            by, base = slope[r] / members[g], size * logs[int(members[g])]
            for k in range(K):
                exps[g, k] = exp_of_score(by * pull[g, k] + base)
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
                if left > 0.0:
                    by, base = slope[r] / left, size * logs[int(left)]
                    for k in range(K):
                        mine = exp_of_score(by * (pull[g, k] - affinity[own, k]) + base)
                        # the group as it was without the item, in place of the group with it
                        others = max(total[k] - exps[g, k] + mine, mine)
                        rows[row, k] = weight[r] * log_of_probability((1.0 - stray) * mine / others + chance)
                else:
                    for k in range(K):
                        others = max(total[k] - exps[g, k], alone)
                        rows[row, k] = weight[r] * log_of_probability((1.0 - stray) * alone / others + chance)
        for p in range(ptr[r], ptr[r + 1]):
            own = partition[items[p]]
            if own >= 0:
                row = row_of[groups[p], own]
                for k in range(K):
                    found[items[p], k] += rows[row, k]
    return found


@part
def sum_decisions(
    n_rows: int,
    ends: Ints,
    taken: Ints,
    many: Floats,
    affinities: Floats,
    sizes: Floats,
    scores: Floats,
    exps: Floats,
    stray: float,
    derive: bool,
    gradient: Floats,
    information: Floats,
) -> tuple[float, float]:
    """Log-probability of some decisions of one response, and how many are the likeliest; adds to their derivatives.

    Parameters
    ----------
    n_rows, ends
        How many different decisions there are, and where the options of each end.
    taken, many
        Of each the option taken, and how often.
    affinities, sizes, scores
        Of each option: mean affinity to the group, logarithm of its size, score. The last option of a decision is a
        group of its own.
    exps
        Is written to.
    """
    loglik = right = 0.0
    for o in range(ends[n_rows - 1]):
        exps[o] = exp_of_score(scores[o])
    first = 0
    for row in range(n_rows):
        last, own = ends[row] - 1, taken[row]
        total, top = 0.0, scores[first]
        for o in range(first, last + 1):
            total += exps[o]
            top = max(top, scores[o])
        chosen = (1.0 - stray) * exps[own] / total
        probability = chosen + stray / (last + 1 - first)
        loglik += many[row] * log_of_probability(probability)
        if scores[own] >= top:
            right += many[row]
        if derive:
            # slope's, bias's and size's share of the scores: their means and products over the options
            by_slope = by_size = slope_slope = slope_size = size_size = 0.0
            for o in range(first, last):
                by_slope += exps[o] * affinities[o]
                by_size += exps[o] * sizes[o]
                slope_slope += exps[o] * affinities[o] * affinities[o]
                slope_size += exps[o] * affinities[o] * sizes[o]
                size_size += exps[o] * sizes[o] * sizes[o]
            x, y, z = by_slope / total, exps[last] / total, by_size / total
            meant = many[row] * chosen / probability
            gradient[0] += meant * (affinities[own] - x)
            gradient[1] += meant * ((1.0 if own == last else 0.0) - y)
            gradient[2] += meant * (sizes[own] - z)
            information[0, 0] += meant * (slope_slope / total - x * x)
            information[0, 1] -= meant * x * y
            information[0, 2] += meant * (slope_size / total - x * z)
            information[1, 1] += meant * (y - y * y)
            information[1, 2] -= meant * y * z
            information[2, 2] += meant * (size_size / total - z * z)
        first = last + 1
    return loglik, right


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
    room = BUFFER + most + 1
    affinities, sizes, scores, exps = np.zeros(room), np.zeros(room), np.zeros(room), np.zeros(room)
    ends, taken, many = np.zeros(room, dtype=np.int64), np.zeros(room, dtype=np.int64), np.zeros(room)
    logs = logs_of_sizes(ptr)
    for r in range(R):
        n_groups = count_members(ptr[r], ptr[r + 1], items, groups, partition, counts, members)
        for g in range(n_groups):
            pull[g] = 0.0
            for own in range(K):
                if counts[g, own] > 0.0:
                    for k in range(K):
                        pull[g, k] += counts[g, own] * affinity[own, k]
        o = row = 0
        for cell in range(n_groups * K + 1):
            own, k = cell // K, cell % K
            # the cell after the last one, or no room for another decision
            if row > 0 and (own == n_groups or o >= BUFFER):
                sums = sum_decisions(
                    row, ends, taken, many, affinities, sizes, scores, exps, stray, derive, gradient[r], information[r]
                )
                loglik[r] += sums[0]
                right[r] += sums[1]
                o = row = 0
            if own == n_groups or counts[own, k] == 0.0:
                continue
            taken[row] = -1
            for g in range(n_groups):
                left = members[g] - (1.0 if g == own else 0.0)
                if left > 0.0:
                    affinities[o] = (pull[g, k] - (affinity[k, k] if g == own else 0.0)) / left
                    sizes[o] = logs[int(left)]
                    scores[o] = min(LIMIT, max(-LIMIT, slope[r] * affinities[o] + size * sizes[o]))
                    if g == own:
                        taken[row] = o
                    o += 1
            affinities[o] = sizes[o] = 0.0
            scores[o] = min(LIMIT, max(-LIMIT, bias[r]))
            if taken[row] < 0:
                taken[row] = o
            many[row] = counts[own, k]
            o += 1
            ends[row] = o
            row += 1
        for x in range(3):
            for y in range(x):
                information[r, x, y] = information[r, y, x]
    return loglik, right, gradient, information
