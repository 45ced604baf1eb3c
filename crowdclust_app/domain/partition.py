"""Partial clusterings and the pair labels they stand for.

A partial clustering gives each of a few items a group number. Only equality of numbers means something, so every
clustering has one canonical numbering: groups counted from 0 in order of first appearance.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from crowdclust_app.domain.errors import InvalidInputError

SAME = 1
DIFFERENT = -1


def canonical_groups(groups: Sequence[Hashable]) -> NDArray[np.int64]:
    """Number groups from 0 in order of first appearance.

    Parameters
    ----------
    groups
        One label an item, of any hashable kind.

    Returns
    -------
    ndarray of shape (len(groups),)
        The canonical numbers; equal exactly where the labels were equal.
    """
    seen: dict[Hashable, int] = {}
    return np.array([seen.setdefault(label, len(seen)) for label in groups], dtype=np.int64)


def pair_labels(groups: Sequence[Hashable]) -> NDArray[np.int64]:
    """Expand a partial clustering into its pair labels (gomes2011, section 2).

    Parameters
    ----------
    groups
        One label an item; `M` of them.

    Returns
    -------
    ndarray of shape (M (M - 1) / 2, 3)
        Rows `(a, b, label)` with positions `a < b`, in lexicographic order; label is `SAME` or `DIFFERENT`.
    """
    numbers = canonical_groups(groups)
    first, second = np.triu_indices(len(numbers), k=1)
    labels = np.where(numbers[first] == numbers[second], SAME, DIFFERENT)
    return np.column_stack([first, second, labels]).astype(np.int64)


def groups_from_pair_labels(n_items: int, pairs: Iterable[tuple[int, int, int]]) -> NDArray[np.int64]:
    """Find the partial clustering that a complete set of pair labels stands for.

    Parameters
    ----------
    n_items
        How many items the clustering has.
    pairs
        `(a, b, label)` with positions in `0..n_items-1`; every pair must be given at least once.

    Returns
    -------
    ndarray of shape (n_items,)
        Canonical group numbers.

    Raises
    ------
    InvalidInputError
        When a pair is missing, contradicts itself, or the labels are not transitive.
    """
    relation = np.zeros((n_items, n_items), dtype=np.int8)
    np.fill_diagonal(relation, SAME)
    for a, b, label in pairs:
        if label not in (SAME, DIFFERENT):
            raise InvalidInputError(f"pair label {label} is neither 1 nor -1")
        if relation[a, b] not in (0, label):
            raise InvalidInputError(f"the pair ({a}, {b}) is labelled both same and different")
        relation[a, b] = relation[b, a] = label
    missing = np.argwhere(relation == 0)
    if missing.size:
        a, b = missing[0]
        raise InvalidInputError(f"the pair ({a}, {b}) has no label, so the groups are not determined")
    numbers = np.argmax(relation == SAME, axis=1)
    if not np.array_equal(relation == SAME, numbers[:, None] == numbers[None, :]):
        raise InvalidInputError("the pair labels are not transitive, so they are nobody's grouping")
    return canonical_groups(numbers.tolist())
