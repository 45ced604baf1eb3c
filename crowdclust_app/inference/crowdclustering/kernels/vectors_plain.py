"""The innermost loops of the kernels as plain loops: what `vectors_llvm` computes, to rounding, by public Numba alone.

Sizes are `LANES`, `EVEN` and `FEATURES` of `arrays`, of which lengths and numbers of rows are multiples.
"""

from __future__ import annotations

import numpy as np

from crowdclust_app.inference.crowdclustering.kernels.arrays import (
    FEATURES,
    IGNORED,
    LANES,
    SMALLEST_SQUARE,
    Floats,
    Ints,
)
from crowdclust_app.inference.crowdclustering.kernels.jit import bare_part

__all__ = [
    "add_vector_matrix",
    "add_weighted_rows",
    "copy_column",
    "prefetch",
    "row_dot_products",
    "set_vector_matrix",
    "set_weighted_rows",
    "squares_to_bound_terms",
    "squares_to_curvatures",
]


@bare_part
def set_weighted_rows(
    factors: Floats, f: int, features: Floats, offset: int, stride: int, out: Floats, o: int, length: int, begin: float
) -> None:
    """`out[o + b] = begin + sum_q factors[f + q] features[offset + q stride + b]` over `FEATURES` rows `q`.

    Parameters
    ----------
    factors, features
        Are read.
    f, offset, stride
        Where the factors and the rows begin, and how far apart the rows are.
    out
        Is written to, `length` numbers from `o` on.
    begin
        Added to every number.
    """
    for b in range(length):
        out[np.uintp(o + b)] = begin
    add_weighted_rows(factors, f, features, offset, stride, out, o, length, 0.0)


@bare_part
def add_weighted_rows(
    factors: Floats, f: int, features: Floats, offset: int, stride: int, out: Floats, o: int, length: int, begin: float
) -> None:
    """Like `set_weighted_rows`, but add to `out`; `begin` is not used."""
    for q in range(FEATURES):
        factor, row = factors[np.uintp(f + q)], offset + q * stride
        for b in range(length):
            out[np.uintp(o + b)] += factor * features[np.uintp(row + b)]


@bare_part
def copy_column(features: Floats, offset: int, stride: int, out: Floats, o: int) -> None:
    """`out[o + q] = features[offset + q stride]` for `FEATURES` rows `q`."""
    for q in range(FEATURES):
        out[np.uintp(o + q)] = features[np.uintp(offset + q * stride)]


@bare_part
def prefetch(array: Floats | Ints, begin: int, length: int) -> None:
    """Nothing: plain loops have no such instruction."""


@bare_part
def row_dot_products(
    cells: Floats, c: int, features: Floats, offset: int, stride: int, length: int, out: Floats, o: int
) -> None:
    """`out[o + q] = sum_b cells[c + b] features[offset + q stride + b]` for `FEATURES` rows `q`, 0 up to a vector."""
    for q in range(FEATURES):
        total, row = 0.0, offset + q * stride
        for b in range(length):
            total += cells[np.uintp(c + b)] * features[np.uintp(row + b)]
        out[np.uintp(o + q)] = total
    for q in range(FEATURES, -(-FEATURES // LANES) * LANES):
        out[np.uintp(o + q)] = 0.0


@bare_part
def set_vector_matrix(
    factors: Floats,
    f: int,
    skip: int,
    matrix: Floats,
    m: int,
    stride: int,
    rows: int,
    out: Floats,
    o: int,
    length: int,
    scale: float,
) -> None:
    """`out[o + b] = scale sum_p factors[f + p skip] matrix[m + p stride + b]` over an even number of rows `p`.

    Parameters
    ----------
    factors, f, skip
        The vector: every `skip`-th number from `f` on.
    matrix, m, stride, rows
        The matrix: `rows` rows that are `stride` apart, from `m` on.
    out, o, length
        The product, `length` numbers from `o` on.
    scale
        A factor of all.
    """
    for b in range(length):
        out[np.uintp(o + b)] = 0.0
    add_vector_matrix(factors, f, skip, matrix, m, stride, rows, out, o, length, scale)


@bare_part
def add_vector_matrix(
    factors: Floats,
    f: int,
    skip: int,
    matrix: Floats,
    m: int,
    stride: int,
    rows: int,
    out: Floats,
    o: int,
    length: int,
    scale: float,
) -> None:
    """Like `set_vector_matrix`, but add to `out`."""
    for p in range(rows):
        factor, row = scale * factors[np.uintp(f + p * skip)], m + p * stride
        for b in range(length):
            out[np.uintp(o + b)] += factor * matrix[np.uintp(row + b)]


@bare_part
def curvature(delta: float) -> tuple[float, float]:
    """`lambda` at `Delta`, and `1 + exp(-Delta)`; exact where `Delta` is small."""
    e = np.expm1(-delta)
    return e / (4.0 * delta * (e + 2.0)), e + 2.0


@bare_part
def squares_to_curvatures(cells: Floats, length: int, weight: float) -> None:
    """Turn the first squares `Delta^2` into `weight * lambda`."""
    for b in range(length):
        found, _ = curvature(np.sqrt(max(cells[np.uintp(b)], SMALLEST_SQUARE)))
        cells[np.uintp(b)] = weight * found


@bare_part
def squares_to_bound_terms(cells: Floats, begin: int, length: int, out: Floats) -> None:
    """Turn squares `Delta^2` into `lambda`, `IGNORED` ones into 0.

    Parameters
    ----------
    cells
        The squares, `length` of them from `begin` on; are replaced.
    out : ndarray of shape (3 * LANES,)
        Receives, `LANES` numbers each: sums of `lambda`, sums of `Delta`, products of `1 + exp(-Delta)`. These factors
        are at most 2, which bounds the length.
    """
    for lane in range(LANES):
        curved, deltas, product = 0.0, 0.0, 1.0
        for b in range(begin + lane, begin + length, LANES):
            square = cells[np.uintp(b)]
            cells[np.uintp(b)] = 0.0
            if square > 0.5 * IGNORED:
                delta = np.sqrt(max(square, SMALLEST_SQUARE))
                found, above = curvature(delta)
                cells[np.uintp(b)] = found
                curved += found
                deltas += delta
                product *= above
        out[lane], out[LANES + lane], out[2 * LANES + lane] = curved, deltas, product
