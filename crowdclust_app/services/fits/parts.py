"""Parts of a design that share no item, and sets of items that would join them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from crowdclust_app.domain.response_table import ResponseTable
from crowdclust_app.sampling.coverage import component_labels


def parts_of(table: ResponseTable) -> NDArray[np.int64]:
    """Part of each item from 0, the largest first; -1 for an item that was never shown; shape (N,)."""
    labels = component_labels(table.n_items, table.response_ptr, table.items)
    shown = table.times_shown > 0
    parts = np.full(table.n_items, -1, dtype=np.int64)
    _, first, which, sizes = np.unique(labels[shown], return_index=True, return_inverse=True, return_counts=True)
    rank = np.empty(len(sizes), dtype=np.int64)
    rank[np.lexsort((first, -sizes))] = np.arange(len(sizes))
    parts[shown] = rank[which]
    return parts


def joining_sets(
    table: ResponseTable, parts: NDArray[np.int64], labels: NDArray[np.int64], responsibilities: NDArray[np.float64]
) -> list[list[int]]:
    """Sets that would join the parts: each holds items of the largest part, and of as many others as it has room for.

    Parameters
    ----------
    table
        The responses; sets are of their mean size.
    parts, labels : ndarray of shape (N,)
        `parts_of` the table; cluster of each item from 1, 0 for none.
    responsibilities : ndarray of shape (N, K)
        Clusters are represented by their surest items.

    Returns
    -------
    list of list of int
        Item numbers; empty where there is one part.
    """
    n_parts = int(parts.max(initial=-1)) + 1
    if n_parts < 2:
        return []
    size = max(2, round(float(table.sizes[table.sizes >= 2].mean())) if (table.sizes >= 2).any() else 2)
    hub = _representatives(np.flatnonzero(parts == 0), labels, responsibilities, size // 2)
    sets: list[list[int]] = []
    for part in range(1, n_parts):
        items = _representatives(np.flatnonzero(parts == part), labels, responsibilities, size - len(hub))
        if not sets or len(sets[-1]) + len(items) > size:
            sets.append(list(hub))
        sets[-1] += items
    return sets


def _representatives(
    items: NDArray[np.int64], labels: NDArray[np.int64], responsibilities: NDArray[np.float64], most: int
) -> list[int]:
    """The surest item of each cluster among these, then the second of each, up to so many."""
    sure = responsibilities[items, np.maximum(labels[items], 1) - 1]
    items = items[np.argsort(-sure, kind="stable")]
    seen: dict[int, int] = {}
    turn = []
    for label in labels[items].tolist():
        seen[label] = seen.get(label, -1) + 1
        turn.append(seen[label])
    return [int(item) for item in items[np.argsort(turn, kind="stable")][:most]]
