"""How far apart two clusterings of the same items are, from their contingency table (never N x N)."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

from crowdclust_app.domain.errors import InvalidInputError

Labels = Sequence[Hashable] | NDArray[np.generic]


def contingency(a: Labels, b: Labels) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Count the items in each pair of groups.

    Parameters
    ----------
    a, b
        One label an item, in the same order of items; numbers or text.

    Returns
    -------
    cells : ndarray of shape (n_cells,)
        Items in each pair of groups that has any.
    rows, columns : ndarray of shape (n_cells,)
        Items in the cell's group of `a` and of `b`.

    Raises
    ------
    InvalidInputError
        When the two do not have the same length, or have none.
    """
    first, second = _numbers(a), _numbers(b)
    if len(first) != len(second) or not len(first):
        raise InvalidInputError(f"two clusterings of the same items are needed, not of {len(first)} and {len(second)}")
    width = int(second.max()) + 1
    pairs, cells = np.unique(first * width + second, return_counts=True)
    rows, columns = np.bincount(first)[pairs // width], np.bincount(second)[pairs % width]
    return cells.astype(np.int64), rows.astype(np.int64), columns.astype(np.int64)


def variation_of_information(a: Labels, b: Labels) -> float:
    """Variation of information `H(a|b) + H(b|a)` in nats (gomes2011, section 4; meila2003).

    Parameters
    ----------
    a, b
        One label an item, in the same order of items.

    Returns
    -------
    float
        0 exactly when the two group the items alike; a metric on clusterings.

    Examples
    --------
    >>> variation_of_information([1, 1, 2, 2], ["a", "a", "b", "b"])
    0.0
    >>> round(variation_of_information([1, 1, 2, 2], [1, 1, 1, 1]), 4)
    0.6931
    """
    cells, rows, columns = contingency(a, b)
    ratios = np.log(rows / cells) + np.log(columns / cells)
    return float(cells @ ratios / cells.sum())


def adjusted_rand_index(a: Labels, b: Labels) -> float:
    """Rand index corrected for chance (hubert1985).

    Parameters
    ----------
    a, b
        One label an item, in the same order of items.

    Returns
    -------
    float
        1 for equal clusterings, 0 on average for random ones of the same group sizes. Where every clustering of
        these sizes is the same one (one group, or all single), it is 1.

    Examples
    --------
    >>> adjusted_rand_index([1, 1, 2, 2], ["a", "a", "b", "b"]), adjusted_rand_index([1, 1, 2, 2], [1, 2, 1, 2])
    (1.0, -0.5)
    """
    cells, _, _ = contingency(a, b)
    n = int(cells.sum())
    together = _pairs(cells)
    in_a, in_b = _pairs(np.bincount(_numbers(a))), _pairs(np.bincount(_numbers(b)))
    total = n * (n - 1) // 2
    # whole numbers as long as possible: the index is exact at 0 and 1
    numerator = together * total - in_a * in_b
    denominator = (in_a + in_b) * total - 2 * in_a * in_b
    return 1.0 if denominator == 0 else 2 * numerator / denominator


def normalised_mutual_information(a: Labels, b: Labels) -> float:
    """Mutual information over the arithmetic mean of the two entropies.

    Parameters
    ----------
    a, b
        One label an item, in the same order of items.

    Returns
    -------
    float
        Between 0 and 1; 1 when both put everything into one group.

    Examples
    --------
    >>> round(normalised_mutual_information([1, 1, 2, 2], [1, 1, 2, 3]), 3)
    0.8
    """
    cells, rows, columns = contingency(a, b)
    n = cells.sum()
    information = float(cells @ np.log(cells * (n / (rows * columns))) / n)
    # every cell knows its own group's size, so the entropies are sums over cells too
    entropies = -float(cells @ np.log(rows / n) + cells @ np.log(columns / n)) / float(n)
    if entropies == 0:
        return 1.0
    return min(1.0, max(0.0, 2 * information / entropies))


def _numbers(labels: Labels) -> NDArray[np.int64]:
    if isinstance(labels, np.ndarray):
        return np.unique(labels, return_inverse=True)[1].astype(np.int64)
    seen: dict[Hashable, int] = {}
    return np.array([seen.setdefault(label, len(seen)) for label in labels], dtype=np.int64)


def _pairs(sizes: NDArray[np.int64]) -> int:
    """Pairs inside groups of these sizes, as a Python integer that cannot overflow."""
    return int((sizes * (sizes - 1) // 2).sum())
