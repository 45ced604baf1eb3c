"""How well probabilities between clusters predict responses; labels never expanded."""

from __future__ import annotations

from crowdclust_app.inference.crowdclustering.kernels.arrays import Floats, Ints
from crowdclust_app.inference.crowdclustering.kernels.jit import kernel


@kernel
def score_responses(
    ptr: Ints,
    items: Ints,
    groups: Ints,
    workers: Ints,
    cluster: Ints,
    log_same: Floats,
    log_apart: Floats,
    loglik: Floats,
    pairs: Floats,
    right: Floats,
) -> None:
    """Score each response.

    Parameters
    ----------
    ptr : ndarray of shape (R + 1,)
        Compressed rows of `items` and `groups`.
    items, groups : ndarray of shape (sum M_r,)
    workers : ndarray of shape (R,)
        Whose probabilities count for each response.
    cluster : ndarray of shape (N,)
        Cluster of each item; pairs with an item of a negative one are left out.
    log_same, log_apart : ndarray of shape (J, K, K)
        Logarithm of the probability of "same" and of "different".
    loglik, pairs, right : ndarray of shape (R,)
        Receive the log-likelihood, the number of labels, and how many the likelier answer meets.
    """
    for r in range(len(workers)):
        j = workers[r]
        total, count, met = 0.0, 0.0, 0.0
        for p in range(ptr[r], ptr[r + 1]):
            a = cluster[items[p]]
            if a < 0:
                continue
            for q in range(p + 1, ptr[r + 1]):
                b = cluster[items[q]]
                if b < 0:
                    continue
                same, apart = log_same[j, a, b], log_apart[j, a, b]
                together = groups[p] == groups[q]
                total += same if together else apart
                count += 1.0
                if together == (same >= apart):
                    met += 1.0
        loglik[r] = total
        pairs[r] = count
        right[r] = met
