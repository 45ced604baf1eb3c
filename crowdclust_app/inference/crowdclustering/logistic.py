"""The logistic function's pieces, in a form that vectorises.

Kernels take these in when they are compiled, and compiled kernels are kept until their own file changes: whoever
changes something here touches `kernels.py` too.
"""

from __future__ import annotations

import numpy as np

from crowdclust_app.inference.crowdclustering.jit import exact_part, float_from_bits

# Beyond this, exp(-Delta) is lost in 1 + exp(-Delta) many times over.
LARGEST_EXPONENT = 60.0
SMALLEST_SQUARE = 1e-60


@exact_part
def exponential(delta: float) -> float:
    """`exp(-delta) - 1` for `delta >= 0`, to the last few bits also where it is small; no branches."""
    x = -min(delta, LARGEST_EXPONENT)
    k: float = np.floor(x * 1.4426950408889634 + 0.5)
    r = x - k * 0.6931471805599453
    s = 1.0 / 6227020800.0
    s = s * r + 1.0 / 479001600.0
    s = s * r + 1.0 / 39916800.0
    s = s * r + 1.0 / 3628800.0
    s = s * r + 1.0 / 362880.0
    s = s * r + 1.0 / 40320.0
    s = s * r + 1.0 / 5040.0
    s = s * r + 1.0 / 720.0
    s = s * r + 1.0 / 120.0
    s = s * r + 1.0 / 24.0
    s = s * r + 1.0 / 6.0
    s = s * r + 0.5
    small = r + r * r * s
    power = float_from_bits((np.int64(np.int32(k)) + 1023) << 52)
    return power * small + (power - 1.0)


@exact_part
def root(square: float) -> float:
    """`Delta` from its square; rounding may have left that at zero or just below."""
    return np.sqrt(max(square, SMALLEST_SQUARE))  # type: ignore[no-any-return]
