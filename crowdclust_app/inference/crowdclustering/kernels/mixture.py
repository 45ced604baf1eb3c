"""The moments of positions: with them the mixture's sums are matrix products (docs/model.md, section 6)."""

from __future__ import annotations

import numpy as np

from crowdclust_app.inference.crowdclustering.kernels.arrays import Floats
from crowdclust_app.inference.crowdclustering.kernels.jit import kernel


def moments(mean: Floats, variance: Floats) -> Floats:
    """Upper triangle of `m m' + diag v` row by row, `m`, and 1, for each item; shape (n, P + D + 1)."""
    n, D = mean.shape
    out = np.empty((n, D * (D + 1) // 2 + D + 1))
    fill_moments(np.ascontiguousarray(mean), np.ascontiguousarray(variance), out)
    return out


@kernel
def fill_moments(mean: Floats, variance: Floats, out: Floats) -> None:
    """Write what `moments` returns."""
    n, D = mean.shape
    for i in range(n):
        q = 0
        for d in range(D):
            for e in range(d, D):
                out[i, q] = mean[i, d] * mean[i, e]
                if d == e:
                    out[i, q] += variance[i, d]
                q += 1
        for d in range(D):
            out[i, q + d] = mean[i, d]
        out[i, q + D] = 1.0
