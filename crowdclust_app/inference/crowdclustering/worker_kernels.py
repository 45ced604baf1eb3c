"""Moments of the workers' matrices: what costs most where there are more workers than labels of one worker."""

from __future__ import annotations

from crowdclust_app.inference.crowdclustering.arrays import Floats, Ints
from crowdclust_app.inference.crowdclustering.jit import kernel


@kernel
def fill_second_moments(mean: Floats, variance: Floats, rows: Ints, columns: Ints, out: Floats) -> None:
    """Write `blocks.second_moments` into the leading corner of each matrix.

    Parameters
    ----------
    mean, variance : ndarray of shape (J, D, D)
        Of the symmetric weights `W`.
    rows, columns : ndarray of shape (P,)
        Upper triangle, row by row.
    out : ndarray of shape (J, >= P, >= P)
        Is written to.
    """
    P = len(rows)
    for j in range(len(mean)):
        m, v = mean[j], variance[j]
        for a in range(P):
            p, r = rows[a], columns[a]
            for b in range(a, P):
                q, s = rows[b], columns[b]
                # E[W_pq W_rs] over the orders of (p, r) and of (q, s); the variance counts where both entries are one
                straight, crossed = m[p, q] * m[r, s], m[r, q] * m[p, s]
                if (p == r and q == s) or (p == s and q == r):
                    straight += v[p, q]
                if (r == p and q == s) or (r == s and q == p):
                    crossed += v[r, q]
                orders = (1.0 if p == r else 2.0) * (1.0 if q == s else 2.0)
                out[j, a, b] = out[j, b, a] = 0.5 * orders * (straight + crossed)


@kernel
def fill_pair_feature_moments(gamma: Floats, index: Ints, rows: Ints, columns: Ints, out: Floats) -> None:
    """Write `blocks.pair_feature_moments`.

    Parameters
    ----------
    gamma : ndarray of shape (J, P, P)
    index : ndarray of shape (D, D)
        `blocks.vech_table`.
    rows, columns : ndarray of shape (P,)
        Upper triangle, row by row.
    out : ndarray of shape (J, P, P)
        Is written to.
    """
    P = len(rows)
    for j in range(len(gamma)):
        for a in range(P):
            p, q = rows[a], columns[a]
            for b in range(P):
                r, s = rows[b], columns[b]
                both = gamma[j, index[p, r], index[q, s]] + gamma[j, index[p, s], index[q, r]]
                share = (0.5 if p == q else 1.0) * (0.5 if r == s else 1.0)
                out[j, a, b] = share * both
