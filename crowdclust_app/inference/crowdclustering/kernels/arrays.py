"""The arrays that the kernels work on."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

LANES = 4
"""Columns of tiles are padded to a multiple of this."""

EVEN = 2
"""Matrices of workers have a multiple of this many rows, and a multiple of `LANES` columns."""

FEATURES = 7
"""Rows of tiles are padded to a multiple of this: 14 in four dimensions, 28 in six."""

CELLS = 1024
"""Pairs whose curvatures are computed in one pass, unless one row alone has more."""

IGNORED = -1e300
"""In place of the square of a pair that does not count."""

SMALLEST_SQUARE = 1e-60
"""Squares are no less: rounding may have left them at zero or just below."""

# Bytes of a line of the cache.
_LINE = 64


class Tiles(NamedTuple):
    """The items of HITs as tiles, and the responses to them.

    Responses to the same items share a tile, whose columns are these items in ascending order. Responses are known by
    two numbers: in the order of the workers, and as *answers*, tile after tile.

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
    tile_of, answer_of, workers : ndarray of shape (R,)
        Tile of each response, its number as an answer, and who gave it, ascending.
    answer_ptr, answer_workers : ndarray of shape (H + 1,) and (R,)
        Who gave the answers to tile `h`: `answer_workers[answer_ptr[h]:answer_ptr[h + 1]]`.
    group_ptr, groups : ndarray of shape (H + 1,) and (sum of sizes,)
        Group, counted over all answers, that the item in column `c` of tile `h` is in by its answers
        `x = 0, ..., X - 1`: `groups[group_ptr[h] + c X + x]`.
    first_group : ndarray of shape (R + 1,)
        Where the groups of each answer start.
    tile_sums : ndarray of shape (H, D)
        Sum of the positions in each tile.
    group_sums : ndarray of shape (groups, D)
        Sum of the positions in each group.
    flat_group_sums
        The same memory in one row.
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
    answer_of: Ints
    workers: Ints
    answer_ptr: Ints
    answer_workers: Ints
    group_ptr: Ints
    groups: Ints
    first_group: Ints
    tile_sums: Floats
    group_sums: Floats
    flat_group_sums: Floats

    def apart(self) -> Tiles:
        """The same tiles, to be filled apart from these."""
        group_sums = np.empty_like(self.group_sums)
        return self._replace(
            features=aligned(len(self.features)),
            tile_sums=np.empty_like(self.tile_sums),
            group_sums=group_sums,
            flat_group_sums=group_sums.reshape(-1),
        )


class WorkerArrays(NamedTuple):
    """What the sums need of the workers.

    Parameters
    ----------
    flat_moments : ndarray
        Second moments `R` of `W`, each padded with zeros to `padded(P, EVEN)` rows and `padded(P)` columns.
    flat_weights : ndarray
        Means of the symmetric `W`, padded likewise.
    bias, bias_variance : ndarray of shape (J,)
        Means `t` and variances `w` of the biases.
    dimensions
        `D`.
    """

    flat_moments: Floats
    flat_weights: Floats
    bias: Floats
    bias_variance: Floats
    dimensions: int

    @property
    def moments(self) -> Floats:
        """Second moments `R` of `W`; shape (J, P, P)."""
        P = self.dimensions * (self.dimensions + 1) // 2
        return self.flat_moments.reshape(-1, padded(P, EVEN), padded(P))[:, :P, :P]


class Sums(NamedTuple):
    """Sums over the pair labels of each chunk of responses, a label weight of 1 in all of them.

    Parameters
    ----------
    gamma : ndarray of shape (C, P, P')
        `sum lambda Z_a Z_b'` over pairs `a < b`; the design's `Gamma` is this plus its transpose. Padding says nothing.
    cross : ndarray of shape (C, D, D')
        `sum lambda m_a m_b'` over pairs `a < b`, padded likewise.
    flat_gamma, flat_cross
        The same memory in one row.
    labels : ndarray of shape (C, D, D)
        `sum l / 2 m_a m_b'` over ordered pairs.
    curved : ndarray of shape (C,)
        `sum lambda`.
    bound : ndarray of shape (C,)
        `sum log g(Delta) - Delta / 2`.
    """

    gamma: Floats
    cross: Floats
    flat_gamma: Floats
    flat_cross: Floats
    labels: Floats
    curved: Floats
    bound: Floats

    @classmethod
    def empty(cls, chunks: int, dimensions: int) -> Sums:
        """Room for so many chunks."""
        D, P = dimensions, dimensions * (dimensions + 1) // 2
        gamma, cross = np.empty((chunks, P, padded(P))), np.empty((chunks, D, padded(D)))
        return cls(
            gamma,
            cross,
            gamma.reshape(-1),
            cross.reshape(-1),
            np.empty((chunks, D, D)),
            np.empty(chunks),
            np.empty(chunks),
        )


class Scratch(NamedTuple):
    """Working memory of the kernels, for one thread.

    Parameters
    ----------
    curvature : ndarray of shape (at least CELLS and the largest padded size,)
        `lambda` of some pairs.
    points, partners : ndarray of shape (CELLS / LANES * row,)
        `Z` and `m` of some items, one row each, and those of their partners summed with weights `lambda`.
    row
        Length of such a row: room for `P + D`, and for a whole vector from any of these on.
    coefficients : ndarray of shape (row,)
        `R Z_a` and `2 t M m_a` of one item.
    total, pull, shift : ndarray of shape (row,)
        Sums over an item's responses, of `R` times the partners' sum, and of `M` times `pull`.
    lanes : ndarray of shape (3 * LANES,)
        Sums by lane.
    precision : ndarray of shape (D, D)
        An item's posterior.
    """

    curvature: Floats
    points: Floats
    partners: Floats
    row: int
    coefficients: Floats
    total: Floats
    pull: Floats
    shift: Floats
    lanes: Floats
    precision: Floats

    @classmethod
    def of(cls, width: int, dimensions: int) -> Scratch:
        """For tiles that are so wide."""
        D, P = dimensions, dimensions * (dimensions + 1) // 2
        row = padded(max(padded(P + D, FEATURES) - FEATURES + padded(FEATURES), P + padded(D), padded(P)) + EVEN)
        rows = CELLS // LANES
        return cls(
            curvature=aligned(max(CELLS, width)),
            points=aligned(rows * row),
            partners=aligned(rows * row),
            row=row,
            coefficients=aligned(row),
            total=aligned(row),
            pull=aligned(row),
            shift=aligned(row),
            lanes=aligned(3 * LANES),
            precision=np.zeros((D, D)),
        )


def padded(length: int, to: int = LANES) -> int:
    """The least multiple of `to` that is no less."""
    return -(-length // to) * to


def aligned(length: int) -> Floats:
    """So many zeros, from the beginning of a cache line on: vectors that straddle two take twice as long to read."""
    room = np.zeros(length + _LINE // 8)
    skip = (-room.ctypes.data % _LINE) // 8
    return room[skip : skip + length]
