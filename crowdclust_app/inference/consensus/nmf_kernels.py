"""The one sum of masked factorisation that must not become a matrix of all pairs."""

from __future__ import annotations

from crowdclust_app.inference.consensus.coassociation import Floats, Ints
from crowdclust_app.inference.crowdclustering.kernels.jit import kernel


@kernel
def predicted_times(
    indptr: Ints, indices: Ints, counts: Floats, QS: Floats, Q: Floats, X: Floats, out: Floats
) -> float:
    """Set `out = (c o Q S Q') X`, with `c` nonzero on seen pairs only.

    Parameters
    ----------
    indptr, indices, counts
        The sparse matrix `c` in compressed rows.
    QS, Q, X, out : ndarray of shape (n, K)
        C-contiguous.

    Returns
    -------
    float
        `sum c (Q S Q')^2`.
    """
    n, K = Q.shape
    squares = 0.0
    for a in range(n):
        for k in range(K):
            out[a, k] = 0.0
        for at in range(indptr[a], indptr[a + 1]):
            b = indices[at]
            value = 0.0
            for k in range(K):
                value += QS[a, k] * Q[b, k]
            weighted = counts[at] * value
            squares += weighted * value
            for k in range(K):
                out[a, k] += weighted * X[b, k]
    return squares
