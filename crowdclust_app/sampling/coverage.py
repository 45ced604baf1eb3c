"""What a set of HITs or responses ties together: the co-occurrence graph of the items.

Two items are joined when they were shown together. The graph is never an N x N matrix: its components come from the
bipartite graph of items and showings, its edges are counted a slice of items at a time.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# Entries of one slice of the co-occurrence matrix, about 12 bytes each.
_SLICE_ENTRIES = 4_000_000


def component_labels(n_items: int, ptr: NDArray[np.int64], items: NDArray[np.int64]) -> NDArray[np.int64]:
    """Find which items hang together through the sets they were shown in.

    Parameters
    ----------
    n_items
        Number of items `N`.
    ptr : ndarray of shape (n_sets + 1,)
        Set `h` holds the positions `ptr[h]:ptr[h + 1]` of `items`.
    items : ndarray of shape (sum of sizes,)
        Item numbers.

    Returns
    -------
    ndarray of shape (n_items,)
        Component of each item, counted from 0; an item in no set is a component of its own.
    """
    # the window counts sets before SciPy is loaded
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    n_sets = len(ptr) - 1
    sets = np.repeat(np.arange(n_sets), np.diff(ptr)) + n_items
    ones = np.ones(len(items), dtype=np.int8)
    graph = coo_matrix((ones, (items, sets)), shape=(n_items + n_sets, n_items + n_sets))
    _, labels = connected_components(graph, directed=False)
    _, numbers = np.unique(labels[:n_items], return_inverse=True)
    return numbers.astype(np.int64)


def count_distinct_pairs(n_items: int, ptr: NDArray[np.int64], items: NDArray[np.int64]) -> int:
    """Count the pairs of different items that are together in at least one set.

    Parameters
    ----------
    n_items
        Number of items `N`.
    ptr : ndarray of shape (n_sets + 1,)
        Set `h` holds the positions `ptr[h]:ptr[h + 1]` of `items`, each item once.
    items : ndarray of shape (sum of sizes,)
        Item numbers.

    Returns
    -------
    int
        Number of distinct pairs.
    """
    # the window counts sets before SciPy is loaded
    from scipy.sparse import csr_matrix

    sizes = np.diff(ptr)
    if len(sizes) == 1:
        return int(sizes[0] * (sizes[0] - 1) // 2)
    by_set = csr_matrix((np.ones(len(items), dtype=np.int32), items, ptr), shape=(len(sizes), n_items))
    by_item = by_set.T.tocsr()
    # an upper bound on the partners of each item decides how many items one slice may hold
    partners = np.bincount(items, weights=np.repeat(sizes, sizes), minlength=n_items)
    slice_of_item = (np.cumsum(partners) // _SLICE_ENTRIES).astype(np.int64)
    starts = np.flatnonzero(np.diff(slice_of_item, prepend=-1))
    entries = 0
    for start, stop in zip(starts, [*starts[1:], n_items], strict=True):
        entries += (by_item[start:stop] @ by_set).nnz
    # both (a, b) and (b, a) were counted, and each shown item with itself
    return int(entries - np.count_nonzero(partners)) // 2
