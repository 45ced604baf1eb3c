"""In which order items and responses are gone through, and what of it can be done at once.

A sweep is a list of steps, one after the other. Where a campaign is large, items that never share a response make one
step: none of them looks at another, so they may be updated at once and in any order, and the sweep is still the exact
one, item after item. In smaller campaigns, and where everything is shown with everything, a step is a stretch of items
in their own order.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crowdclust_app.inference.crowdclustering.kernels.arrays import Ints, Tiles
from crowdclust_app.inference.crowdclustering.kernels.jit import kernel

# Labels that a step of independent items must have on average to be worth sharing out.
WORTH_SHARING = 40_000
# Labels after which a stretch of items ends, so that a sweep can be cancelled within.
STRETCH = 4_000_000
# Labels of a worker after which another sum is begun.
CHUNK_LABELS = 100_000


@dataclass(frozen=True, slots=True)
class Order:
    """How a campaign is gone through; a function of the responses alone.

    Parameters
    ----------
    items : ndarray of shape (n,)
        The items in the order of a sweep.
    steps : ndarray of shape (S + 1,)
        Where its steps start.
    independent
        Whether the items of a step may be updated at once.
    item_loads : ndarray of shape (n,)
        Labels of each of `items`, seen from that item.
    chunks : ndarray of shape (C + 1,)
        Where chunks of responses start, each of one worker.
    chunk_loads : ndarray of shape (C,)
        Labels of each chunk.
    chunk_workers : ndarray of shape (C,)
        Whose it is.
    """

    items: Ints
    steps: Ints
    independent: bool
    item_loads: Ints
    chunks: Ints
    chunk_loads: Ints
    chunk_workers: Ints


def order_of(tiles: Tiles) -> Order:
    """Choose the order for these responses."""
    sizes = tiles.sizes[tiles.tile_of]
    pairs = sizes * (sizes - 1) // 2
    before = np.cumsum(pairs) - pairs
    first = np.searchsorted(tiles.workers, tiles.workers)
    # a chunk ends with its worker, or when that worker's labels pass the next multiple of the limit
    number = (before - before[first]) // CHUNK_LABELS
    new = np.concatenate([[True], (np.diff(tiles.workers) != 0) | (np.diff(number) != 0)])
    chunks = np.append(np.flatnonzero(new), len(sizes)).astype(np.int64)

    answers = np.diff(tiles.answer_ptr)
    n = len(tiles.item_ptr) - 1
    of_item = np.repeat(np.arange(n), np.diff(tiles.item_ptr))
    loads = np.bincount(of_item, (answers * tiles.sizes)[tiles.item_tile], minlength=n).astype(np.int64)
    items, steps, independent = np.arange(n), np.unique(loads.cumsum() // STRETCH, return_index=True)[1], False
    if loads.sum() >= WORTH_SHARING * int(tiles.sizes.max()):
        colours = np.full(n, -1, dtype=np.int64)
        colour(tiles.ptr, tiles.sizes, tiles.items, tiles.item_ptr, tiles.item_tile, colours)
        if loads.sum() >= WORTH_SHARING * (int(colours.max()) + 1):
            items, independent = np.argsort(colours, kind="stable"), True
            steps = np.searchsorted(colours[items], np.arange(int(colours.max()) + 1))
    return Order(
        items=items,
        steps=np.append(steps, n).astype(np.int64),
        independent=independent,
        item_loads=loads[items],
        chunks=chunks,
        chunk_loads=np.add.reduceat(pairs, chunks[:-1]),
        chunk_workers=tiles.workers[chunks[:-1]],
    )


@kernel
def colour(ptr: Ints, sizes: Ints, items: Ints, item_ptr: Ints, item_tile: Ints, colours: Ints) -> None:
    """Give each item the first colour that no item has with which it shares a tile.

    Parameters
    ----------
    ptr, sizes, items, item_ptr, item_tile
        As in `Tiles`.
    colours : ndarray of shape (n,)
        All -1; receives the colours, counted from 0.
    """
    seen_by = np.full(len(colours) + 1, -1, dtype=np.int64)
    for i in range(len(colours)):
        for k in range(item_ptr[i], item_ptr[i + 1]):
            h = item_tile[k]
            for b in range(ptr[h], ptr[h] + sizes[h]):
                if colours[items[b]] >= 0:
                    seen_by[colours[items[b]]] = i
        c = 0
        while seen_by[c] == i:
            c += 1
        colours[i] = c
