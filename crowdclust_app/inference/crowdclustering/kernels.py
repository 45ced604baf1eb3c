"""The sums over pair labels, one dense block a response; labels are never expanded (crowdclustering.md, 1 and 3-5).

Everything about a pair of items `a, b` and a worker follows from two products. With `m` an item's mean, `v` its
variances, `Z = vech(m m' + diag v)` (length `P = D (D + 1) / 2`), a worker's weights `W` with means `M`, and the matrix
`R` of second moments of `W` (`blocks.second_moments`):

    E[A]   = (M m_a)' m_b + t
    E[A^2] = (R Z_a)' Z_b + 2 t (M m_a)' m_b + t^2 + w

So a response is a *tile*: `P + D + 1` rows (`Z`, `m`, group number) of `M_r` columns, padded with zeros to a multiple
of 8. One row of labels (item `a` against its partners) is a matrix-vector product with the tile, the logistic
function's curvature `lambda` element by element, and a product back. All inner loops run over the partners.

The dimension `D` is the length of the tuple `dims`, so it is known when a kernel is compiled and short loops unroll.
"""

from __future__ import annotations

import numpy as np

from crowdclust_app.inference.crowdclustering.arrays import Dims, Floats, Judges, Scratch, Tiles
from crowdclust_app.inference.crowdclustering.jit import (
    exact_part,
    float_from_bits,
    kernel,
    part,
    tuple_setitem,
)

LANES = 8
# Beyond this, exp(-Delta) is lost in 1 + exp(-Delta) many times over.
LARGEST_EXPONENT = 60.0
SMALLEST_SQUARE = 1e-60
# Up to this dimension the short loops over `Z` unroll within the loop over partners, which then vectorises. Above it
# they no longer do (measured at D = 6: 20 times slower), so there each row of the tile is a loop of its own.
UNROLLED = 4
# The product of this many factors of at most 2 is still a double.
FACTORS = 512


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


@part
def curvature_of(square: float, weight: float) -> float:
    """`kappa lambda(Delta) = -kappa tanh(Delta / 2) / (4 Delta)` from `Delta^2`."""
    delta = root(square)
    e = exponential(delta)
    return weight * e / (4.0 * delta * (2.0 + e))  # 0 <= -e < 1


@part
def at(base: int, row: int, width: int, column: int) -> int:
    """Position of one entry of a tile; unsigned, or every access would first look for a negative index."""
    return np.uintp(base) + np.uintp(row) * np.uintp(width) + np.uintp(column)  # type: ignore[return-value]


@part
def face(dims: Dims, tiles: Tiles, judges: Judges, r: int, a: int, work: Scratch) -> None:
    """For the item in column `a` of response `r`: its `R Z_a` and `M m_a`."""
    D = len(dims)
    P = D * (D + 1) // 2
    width = tiles.ptr[r + 1] - tiles.ptr[r]
    base = (P + D + 1) * tiles.ptr[r]
    j = tiles.workers[r]
    for q in range(P):
        work.coefficients[q] = 0.0
    for p in range(P):
        z = tiles.features[at(base, p, width, a)]
        for q in range(P):
            work.coefficients[q] += judges.moments[j, p, q] * z
    for d in range(D):
        u = 0.0
        for e in range(D):
            u += judges.weights[j, d, e] * tiles.features[at(base, P + e, width, a)]
        work.direction[d] = u


@part
def weigh(dims: Dims, tiles: Tiles, judges: Judges, weight: float, r: int, a: int, start: int, work: Scratch) -> None:
    """Curvature and pull of the item in column `a` with the partners from column `start` on; needs `face`."""
    D = len(dims)
    P = D * (D + 1) // 2
    width = tiles.ptr[r + 1] - tiles.ptr[r]
    base = (P + D + 1) * tiles.ptr[r]
    bias = judges.bias[tiles.workers[r]]
    constant = bias * bias + judges.bias_variance[tiles.workers[r]]
    group = tiles.features[at(base, P + D, width, a)]
    half = 0.5 * weight
    if D <= UNROLLED:
        for b in range(start, width):
            inner = 0.0
            for d in range(D):
                inner += work.direction[d] * tiles.features[at(base, P + d, width, b)]
            square = constant + 2.0 * bias * inner
            for q in range(P):
                square += work.coefficients[q] * tiles.features[at(base, q, width, b)]
            work.curvature[b] = curvature_of(square, weight)
    else:
        work.curvature[start:width] = constant
        for d in range(D):
            scale = 2.0 * bias * work.direction[d]
            for b in range(start, width):
                work.curvature[b] += scale * tiles.features[at(base, P + d, width, b)]
        for q in range(P):
            scale = work.coefficients[q]
            for b in range(start, width):
                work.curvature[b] += scale * tiles.features[at(base, q, width, b)]
        for b in range(start, width):
            work.curvature[b] = curvature_of(work.curvature[b], weight)
    for b in range(start, width):
        label = half if tiles.features[at(base, P + D, width, b)] == group else -half
        work.pull[b] = label + 2.0 * bias * work.curvature[b]


@part
def gather(dims: Dims, tiles: Tiles, r: int, start: int, work: Scratch) -> None:
    """Sum the partners from column `start` on: `curvature_b Z_b` and `pull_b m_b`. Padding is zero and adds nothing."""
    D = len(dims)
    P = D * (D + 1) // 2
    width = tiles.ptr[r + 1] - tiles.ptr[r]
    base = (P + D + 1) * tiles.ptr[r]
    if D <= UNROLLED:
        # Sums are kept in tuples: as entries of an array they would be written back after every partner.
        partners = work.vech_zeros
        for b in range(start, width):
            curvature = work.curvature[b]
            for q in range(P):
                z = tiles.features[at(base, q, width, b)]
                partners = tuple_setitem(partners, q, partners[q] + curvature * z)
        for q in range(P):
            work.partners[q] = partners[q]
    else:
        for q in range(P):
            summed = 0.0
            for b in range(start, width):
                summed += work.curvature[b] * tiles.features[at(base, q, width, b)]
            work.partners[q] = summed
    pulled = work.position_zeros
    for b in range(start, width):
        pull = work.pull[b]
        for d in range(D):
            m = tiles.features[at(base, P + d, width, b)]
            pulled = tuple_setitem(pulled, d, pulled[d] + pull * m)
    for d in range(D):
        work.pulled[d] = pulled[d]


@part
def place(dims: Dims, tiles: Tiles, r: int, column: int, mean: Floats, variance: Floats, item: int) -> None:
    """Write an item's `Z` and `m` into its column of a tile."""
    D = len(dims)
    P = D * (D + 1) // 2
    width = tiles.ptr[r + 1] - tiles.ptr[r]
    base = (P + D + 1) * tiles.ptr[r]
    q = 0
    for d in range(D):
        for e in range(d, D):
            z = mean[item, d] * mean[item, e]
            if d == e:
                z += variance[item, d]
            tiles.features[at(base, q, width, column)] = z
            q += 1
        tiles.features[at(base, P + d, width, column)] = mean[item, d]


@part
def solve(dims: Dims, matrix: Floats, right: Floats, mean: Floats, variance: Floats, item: int) -> None:
    """Mean `matrix^-1 right` and variances `1 / diag(matrix)` of one item; Cholesky in place, lower triangle."""
    D = len(dims)
    for d in range(D):
        variance[item, d] = 1.0 / matrix[d, d]
    for d in range(D):
        for e in range(d):
            s = matrix[d, e]
            for f in range(e):
                s -= matrix[d, f] * matrix[e, f]
            matrix[d, e] = s / matrix[e, e]
        s = matrix[d, d]
        t = right[d]
        for f in range(d):
            s -= matrix[d, f] * matrix[d, f]
            t -= matrix[d, f] * right[f]
        matrix[d, d] = np.sqrt(s)
        right[d] = t / matrix[d, d]
    for back in range(D):
        d = D - 1 - back
        s = right[d]
        for f in range(d + 1, D):
            s -= matrix[f, d] * mean[item, f]
        mean[item, d] = s / matrix[d, d]


@kernel
def fill_tiles(dims: Dims, tiles: Tiles, mean: Floats, variance: Floats) -> None:
    """Write all items' moments into all tiles."""
    for r in range(len(tiles.sizes)):
        for column in range(tiles.sizes[r]):
            place(dims, tiles, r, column, mean, variance, tiles.items[tiles.ptr[r] + column])


@kernel
def sweep_items(
    dims: Dims,
    tiles: Tiles,
    judges: Judges,
    weight: float,
    prior_precision: Floats,
    prior_shift: Floats,
    mean: Floats,
    variance: Floats,
    work: Scratch,
) -> None:
    """Update every item in turn, each from the newest positions of its partners (section 4).

    Parameters
    ----------
    dims
        A tuple of length `D`.
    tiles, judges
        Responses and workers; the tiles follow the items as they move.
    weight
        Label weight `kappa`.
    prior_precision : ndarray of shape (n, D, D)
        Each item's expected prior precision.
    prior_shift : ndarray of shape (n, D)
        Expected prior precision times prior mean.
    mean, variance : ndarray of shape (n, D)
        The items' posterior, updated in place.
    work
        Working memory.
    """
    D = len(dims)
    P = D * (D + 1) // 2
    for i in range(len(mean)):
        for q in range(P):
            work.total[q] = 0.0
        for d in range(D):
            work.shift[d] = prior_shift[i, d]
        for k in range(tiles.item_ptr[i], tiles.item_ptr[i + 1]):
            r = tiles.item_response[k]
            a = tiles.item_column[k]
            j = tiles.workers[r]
            face(dims, tiles, judges, r, a, work)
            weigh(dims, tiles, judges, weight, r, a, 0, work)
            work.curvature[a] = 0.0
            work.pull[a] = 0.0
            gather(dims, tiles, r, 0, work)
            for p in range(P):
                z = work.partners[p]
                for q in range(P):
                    work.total[q] += judges.moments[j, p, q] * z
            for d in range(D):
                for e in range(D):
                    work.shift[d] += judges.weights[j, d, e] * work.pulled[e]
        q = 0
        for d in range(D):
            # entries off the diagonal of `R Z` stand for two entries of the matrix
            work.precision[d, d] = prior_precision[i, d, d] - 2.0 * work.total[q]
            q += 1
            for e in range(d + 1, D):
                work.precision[e, d] = prior_precision[i, e, d] - work.total[q]
                q += 1
        solve(dims, work.precision, work.shift, mean, variance, i)
        for k in range(tiles.item_ptr[i], tiles.item_ptr[i + 1]):
            place(dims, tiles, tiles.item_response[k], tiles.item_column[k], mean, variance, i)


@kernel
def gather_workers(
    dims: Dims, tiles: Tiles, judges: Judges, weight: float, gamma: Floats, lin: Floats, work: Scratch
) -> None:
    """Sums for the workers' weights (section 5), pairs `a < b` once.

    Parameters
    ----------
    dims, tiles, judges, weight, work
        As for `sweep_items`.
    gamma : ndarray of shape (J, P, P)
        Receives `sum lambda Z_a Z_b'`; the design's `Gamma` is this plus its transpose.
    lin : ndarray of shape (J, D, D)
        Receives `sum (l / 2 + 2 lambda t) m_a m_b'`.
    """
    D = len(dims)
    P = D * (D + 1) // 2
    gamma[:] = 0.0
    lin[:] = 0.0
    for r in range(len(tiles.sizes)):
        j = tiles.workers[r]
        width = tiles.ptr[r + 1] - tiles.ptr[r]
        base = (P + D + 1) * tiles.ptr[r]
        for a in range(tiles.sizes[r] - 1):
            start = (a + 1) // LANES * LANES
            face(dims, tiles, judges, r, a, work)
            weigh(dims, tiles, judges, weight, r, a, start, work)
            for b in range(start, a + 1):
                work.curvature[b] = 0.0
                work.pull[b] = 0.0
            gather(dims, tiles, r, start, work)
            for p in range(P):
                z = tiles.features[at(base, p, width, a)]
                for q in range(P):
                    gamma[j, p, q] += z * work.partners[q]
            for d in range(D):
                m = tiles.features[at(base, P + d, width, a)]
                for e in range(D):
                    lin[j, d, e] += m * work.pulled[e]


@part
def add_row(
    dims: Dims, tiles: Tiles, judges: Judges, r: int, a: int, start: int, stop: int, work: Scratch, sums: Floats
) -> None:
    """Add the labels of column `a` with the partners in columns `start` to `stop` that come after it; needs `face`."""
    D = len(dims)
    P = D * (D + 1) // 2
    width = tiles.ptr[r + 1] - tiles.ptr[r]
    base = (P + D + 1) * tiles.ptr[r]
    size = tiles.sizes[r]
    j = tiles.workers[r]
    bias = judges.bias[j]
    constant = bias * bias + judges.bias_variance[j]
    group = tiles.features[at(base, P + D, width, a)]
    curved, pulled, linear, product = 0.0, 0.0, 0.0, 1.0
    for b in range(start, stop):
        inner = 0.0
        for d in range(D):
            inner += work.direction[d] * tiles.features[at(base, P + d, width, b)]
        square = constant + 2.0 * bias * inner
        for q in range(P):
            square += work.coefficients[q] * tiles.features[at(base, q, width, b)]
        delta = root(square)
        e = exponential(delta)
        counts = 1.0 if (b > a) & (b < size) else 0.0
        curvature = counts * e / (4.0 * delta * (2.0 + e))
        label = 0.5 * counts if tiles.features[at(base, P + D, width, b)] == group else -0.5 * counts
        curved += curvature
        pulled += label + 2.0 * curvature * inner
        linear += label * (inner + bias) - 0.5 * counts * delta
        # log g(delta) = -log(1 + exp(-delta)): one logarithm for many labels
        product *= 1.0 + counts * (1.0 + e)
    sums[j, 0] += curved
    sums[j, 1] += pulled
    sums[j, 2] += linear - np.log(product)


@kernel
def sum_labels(dims: Dims, tiles: Tiles, judges: Judges, weight: float, sums: Floats, work: Scratch) -> None:
    """Sums for the biases (section 5) and the likelihood's bound (section 2), pairs `a < b` once.

    Parameters
    ----------
    dims, tiles, judges, weight, work
        As for `sweep_items`.
    sums : ndarray of shape (J, 3)
        Receives `sum lambda`, `sum (l / 2 + 2 lambda E[phi].M)` and
        `sum log g(Delta) + (l E[A] - Delta) / 2`, all times the label weight.
    """
    sums[:] = 0.0
    for r in range(len(tiles.sizes)):
        width = tiles.ptr[r + 1] - tiles.ptr[r]
        for a in range(tiles.sizes[r] - 1):
            face(dims, tiles, judges, r, a, work)
            for start in range((a + 1) // LANES * LANES, width, FACTORS):
                add_row(dims, tiles, judges, r, a, start, min(start + FACTORS, width), work, sums)
    sums *= weight
