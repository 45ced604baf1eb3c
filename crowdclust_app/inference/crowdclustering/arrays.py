"""The arrays that the kernels work on."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

LANES = 8
"""Columns of tiles are padded to a multiple of this."""

CHUNK = 4
"""Second moments are padded to a multiple of this."""

FEATURES = 7
"""Rows of tiles are padded to a multiple of this: 14 in four dimensions, 28 in six."""

CELLS = 1024
"""Pairs whose curvatures are worked out in one go, if these are not more than one row."""

_LINE = 64


class Tiles(NamedTuple):
    """The items of HITs as tiles, and the responses to them, sorted by worker.

    Responses to the same items share a tile, whose columns are these items in ascending order.

    Parameters
    ----------
    rows
        Rows of a tile: `P + D`, padded with zeros.
    features : ndarray of shape (rows * ptr[-1],)
        The tiles one after another, each `(rows, padded size)` in C order.
    ptr : ndarray of shape (H + 1,)
        Where tiles start, in padded positions.
    sizes : ndarray of shape (H,)
        Items in each tile.
    items : ndarray of shape (ptr[-1],)
        Item at each padded position, -1 for padding.
    item_ptr, item_tile, item_column : ndarray
        Tile and column of every appearance of item `i`: entries `item_ptr[i]:item_ptr[i + 1]`.
    tile_of, workers : ndarray of shape (R,)
        Tile of each response, and who gave it, ascending.
    answer_ptr, answers : ndarray of shape (H + 1,) and (R,)
        Responses to tile `h`: `answers[answer_ptr[h]:answer_ptr[h + 1]]`.
    group_ptr, groups : ndarray of shape (R + 1,) and (sum of sizes,)
        Group that response `r` puts column `c` into, counted over all responses: `groups[group_ptr[r] + c]`.
    first_group : ndarray of shape (R + 1,)
        Where the groups of each response start.
    tile_sums : ndarray of shape (H, D)
        Sum of the positions in each tile.
    group_sums : ndarray of shape (groups, D)
        Sum of the positions in each group.
    """

    rows: int
    features: Floats
    ptr: Ints
    sizes: Ints
    items: Ints
    item_ptr: Ints
    item_tile: Ints
    item_column: Ints
    tile_of: Ints
    workers: Ints
    answer_ptr: Ints
    answers: Ints
    group_ptr: Ints
    groups: Ints
    first_group: Ints
    tile_sums: Floats
    group_sums: Floats

    def apart(self) -> Tiles:
        """The same tiles, to be filled apart from these."""
        return self._replace(
            features=aligned(len(self.features)),
            tile_sums=np.empty_like(self.tile_sums),
            group_sums=np.empty_like(self.group_sums),
        )


class Judges(NamedTuple):
    """What the sums need of the workers.

    Parameters
    ----------
    weights : ndarray of shape (J, D, D)
        Means of the symmetric `W`.
    padded : ndarray of shape (J, P', P')
        Second moments `R` of `W`, padded with zeros to `P'`, a multiple of `CHUNK`.
    bias, bias_variance : ndarray of shape (J,)
        Means `t` and variances `w` of the biases.
    """

    weights: Floats
    padded: Floats
    bias: Floats
    bias_variance: Floats

    @property
    def moments(self) -> Floats:
        """Second moments `R` of `W`; shape (J, P, P)."""
        D = self.weights.shape[1]
        P = D * (D + 1) // 2
        return self.padded[:, :P, :P]


class Sums(NamedTuple):
    """Sums over the pair labels of each chunk of responses, a label weight of 1 in all of them.

    Parameters
    ----------
    gamma : ndarray of shape (C, P, P')
        `sum lambda Z_a Z_b'` over pairs `a < b`; the design's `Gamma` is this plus its transpose. Padding says nothing.
    cross : ndarray of shape (C, D, D)
        `sum lambda m_a m_b'` over pairs `a < b`.
    labels : ndarray of shape (C, D, D)
        `sum l / 2 m_a m_b'` over ordered pairs.
    curved : ndarray of shape (C,)
        `sum lambda`.
    bound : ndarray of shape (C,)
        `sum log g(Delta) - Delta / 2`.
    """

    gamma: Floats
    cross: Floats
    labels: Floats
    curved: Floats
    bound: Floats

    @classmethod
    def empty(cls, chunks: int, dimensions: int) -> Sums:
        """Room for so many chunks."""
        D, P = dimensions, dimensions * (dimensions + 1) // 2
        squares = (chunks, D, D)
        return cls(
            np.empty((chunks, P, padded(P))), np.empty(squares), np.empty(squares), np.empty(chunks), np.empty(chunks)
        )


class Scratch(NamedTuple):
    """Working memory of the kernels, for one thread.

    Parameters
    ----------
    curvature, deltas, factors, counts : ndarray of shape (at least CELLS and the largest padded size,)
        `lambda`, `Delta` and `2 + e` of some pairs, and which of them count.
    points, partners : ndarray of shape (CELLS / LANES, at least P + D)
        `Z` and `m` of some items, and those of their partners summed with weights `lambda`.
    coefficients : ndarray of shape (at least P + D,)
        `R Z_a` and `2 t M m_a` of one item.
    product, total : ndarray of shape (at least P,)
        `R` times the partners' sum, for one response and for all of an item's.
    shift, precision : ndarray of shape (D,) and (D, D)
        An item's posterior.
    """

    curvature: Floats
    deltas: Floats
    factors: Floats
    counts: Floats
    points: Floats
    partners: Floats
    coefficients: Floats
    product: Floats
    total: Floats
    shift: Floats
    precision: Floats

    @classmethod
    def of(cls, width: int, dimensions: int) -> Scratch:
        """For tiles that are so wide."""
        D, P = dimensions, dimensions * (dimensions + 1) // 2
        long = padded(max(padded(P + D, FEATURES), padded(P)), LANES)
        cells, rows, short = max(CELLS, width), (CELLS // LANES, long), padded(P)
        return cls(
            curvature=aligned(cells),
            deltas=aligned(cells),
            factors=aligned(cells),
            counts=aligned(cells),
            points=aligned(rows[0] * long).reshape(rows),
            partners=aligned(rows[0] * long).reshape(rows),
            coefficients=aligned(long),
            product=aligned(short),
            total=aligned(short),
            shift=np.zeros(D),
            precision=np.zeros((D, D)),
        )


def padded(length: int, to: int = CHUNK) -> int:
    """The least multiple of `to` that is no less."""
    return -(-length // to) * to


def aligned(length: int) -> Floats:
    """So many zeros, from the beginning of a cache line on: vectors that straddle two take twice as long to read."""
    room = np.zeros(length + _LINE // 8)
    skip = (-room.ctypes.data % _LINE) // 8
    return room[skip : skip + length]
