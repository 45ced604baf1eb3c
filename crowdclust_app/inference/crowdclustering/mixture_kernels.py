"""The mixture's sums over items and components (crowdclustering.md, section 6)."""

from __future__ import annotations

import numpy as np

from crowdclust_app.inference.crowdclustering.arrays import Floats
from crowdclust_app.inference.crowdclustering.jit import kernel


@kernel
def log_densities(
    base: Floats, means: Floats, inverses: Floats, freedoms: Floats, mean: Floats, variance: Floats, out: Floats
) -> None:
    """`base_k - eta_k / 2 ((m_i - m_k)' J_k^-1 (m_i - m_k) + sum_d [J_k^-1]_dd v_id)`, expected over positions.

    Parameters
    ----------
    base, freedoms : ndarray of shape (K,)
    means, inverses : ndarray of shape (K, D) and (K, D, D)
    mean, variance : ndarray of shape (n, D)
    out : ndarray of shape (n, K)
        Receives the result.
    """
    K, D = means.shape
    for i in range(len(mean)):
        for k in range(K):
            distance = 0.0
            for d in range(D):
                apart = mean[i, d] - means[k, d]
                inner = 0.0
                for e in range(d):
                    inner += inverses[k, d, e] * (mean[i, e] - means[k, e])
                distance += apart * (2.0 * inner + inverses[k, d, d] * apart) + inverses[k, d, d] * variance[i, d]
            out[i, k] = base[k] - 0.5 * freedoms[k] * distance


@kernel
def normalise(rho: Floats) -> float:
    """Turn each row of log weights into probabilities, in place; return the sum of the rows' log sums."""
    n, K = rho.shape
    evidence = 0.0
    for i in range(n):
        top = rho[i, 0]
        for k in range(1, K):
            top = max(top, rho[i, k])
        total = 0.0
        for k in range(K):
            rho[i, k] = np.exp(rho[i, k] - top)
            total += rho[i, k]
        for k in range(K):
            rho[i, k] /= total
        evidence += top + np.log(total)
    return evidence


@kernel
def scatter(q: Floats, mean: Floats, means: Floats, out: Floats) -> None:
    """`sum_i q_ik (m_i - m_k)(m_i - m_k)'` of each component.

    Parameters
    ----------
    q : ndarray of shape (n, K)
    mean, means : ndarray of shape (n, D) and (K, D)
    out : ndarray of shape (K, D, D)
        Receives the result, symmetric.
    """
    K, D = means.shape
    out[:] = 0.0
    for i in range(len(mean)):
        for k in range(K):
            if q[i, k] > 0.0:
                for d in range(D):
                    apart = q[i, k] * (mean[i, d] - means[k, d])
                    for e in range(d + 1):
                        out[k, d, e] += apart * (mean[i, e] - means[k, e])
    for k in range(K):
        for d in range(D):
            for e in range(d):
                out[k, e, d] = out[k, d, e]
