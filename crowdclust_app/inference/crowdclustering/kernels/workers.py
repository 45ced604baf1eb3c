"""The workers' matrices: what costs most where there are more workers than labels of one worker."""

from __future__ import annotations

import numpy as np

from crowdclust_app.inference.crowdclustering.kernels.arrays import Floats, Ints, Sums
from crowdclust_app.inference.crowdclustering.kernels.jit import kernel, part


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


@part
def gather_chunks(sums: Sums, begin: int, end: int, gamma: Floats, cross: Floats, labels: Floats) -> None:
    """Add up the chunks of one worker; `gamma` and `cross` with their transposes."""
    D, P = len(cross), len(gamma)
    gamma[:], cross[:], labels[:] = 0.0, 0.0, 0.0
    for c in range(begin, end):
        for p in range(P):
            for q in range(P):
                gamma[p, q] += sums.gamma[c, p, q] + sums.gamma[c, q, p]
        for d in range(D):
            for e in range(D):
                cross[d, e] += sums.cross[c, d, e] + sums.cross[c, e, d]
                labels[d, e] += sums.labels[c, d, e]


@part
def solve_symmetric(matrix: Floats, right: Floats) -> None:
    """Put `matrix^-1 right` into `right`; Cholesky in place, lower triangle."""
    P = len(right)
    for d in range(P):
        for e in range(d + 1):
            s = matrix[d, e]
            for f in range(e):
                s -= matrix[d, f] * matrix[e, f]
            matrix[d, e] = np.sqrt(s) if d == e else s / matrix[e, e]
        s = right[d]
        for f in range(d):
            s -= matrix[d, f] * right[f]
        right[d] = s / matrix[d, d]
    for back in range(P):
        d = P - 1 - back
        right[d] /= matrix[d, d]
        for f in range(d):
            right[f] -= matrix[d, f] * right[d]


@kernel
def solve_workers(
    sums: Sums,
    chunk_ptr: Ints,
    half_labels: Floats,
    biases: Floats,
    old: Floats,
    prior_means: Floats,
    prior_variances: Floats,
    weight: float,
    index: Ints,
    rows: Ints,
    columns: Ints,
    first: int,
    last: int,
    weights: Floats,
    variances: Floats,
    found: Floats,
) -> None:
    """Update the weights of the workers from `first` to before `last` (section 5).

    Parameters
    ----------
    sums, weight
        Over the labels; the label weight `kappa`.
    chunk_ptr : ndarray of shape (J + 1,)
        Where each worker's chunks start.
    half_labels, biases : ndarray of shape (J,)
    old : ndarray of shape (J, D, D)
        The weights before.
    prior_means, prior_variances : ndarray of shape (P,)
    index : ndarray of shape (D, D)
        `blocks.vech_table`.
    rows, columns : ndarray of shape (P,)
        Upper triangle, row by row.
    weights, variances : ndarray of shape (J, D, D)
        Receive the posterior.
    found : ndarray of shape (J, 3)
        Receives what `Beliefs.update_weights` returns.
    """
    D, P = old.shape[1], len(rows)
    gamma, precision, right = np.empty((P, P)), np.empty((P, P)), np.empty(P)
    cross, labels = np.empty((D, D)), np.empty((D, D))
    for j in range(first, last):
        gather_chunks(sums, chunk_ptr[j], chunk_ptr[j + 1], gamma, cross, labels)
        for a in range(P):
            p, q = rows[a], columns[a]
            half = 0.5 if p == q else 1.0
            for b in range(a + 1):
                r, s = rows[b], columns[b]
                # `G = sum lambda E[phi phi']` from `Gamma = sum Z' Lambda Z`
                both = gamma[index[p, r], index[q, s]] + gamma[index[p, s], index[q, r]]
                precision[a, b] = -2.0 * weight * half * (0.5 if r == s else 1.0) * both
            precision[a, a] += 1.0 / prior_variances[a]
            variances[j, p, q] = variances[j, q, p] = 1.0 / precision[a, a]
            pull = weight * (2.0 * biases[j] * cross[p, q] + labels[p, q])
            right[a] = half * pull + prior_means[a] / prior_variances[a]
        solve_symmetric(precision, right)
        curved, bound, before, after = 0.0, half_labels[j] * biases[j], 0.0, 0.0
        for c in range(chunk_ptr[j], chunk_ptr[j + 1]):
            curved += sums.curved[c]
            bound += sums.bound[c]
        for p in range(D):
            for q in range(D):
                weights[j, p, q] = right[index[p, q]]
                before += old[j, p, q] * labels[p, q]
                after += weights[j, p, q] * cross[p, q]
        found[j, 0] = weight * curved
        found[j, 1] = weight * (half_labels[j] + after)
        found[j, 2] = weight * (bound + 0.5 * before)
