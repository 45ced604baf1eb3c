"""A canonical order of responses, items, workers and HITs: a fit must not depend on the order of rows in a file.

Which responses are held out together and the order in which items are updated follow the numbers of items and workers,
and sums in another order differ in their last digits. So everything is numbered by name while a fit lasts, and what
was fitted is put back into the order of the table that was given.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from crowdclust_app.domain.response_table import ResponseTable
from crowdclust_app.inference.crowdclustering.kernels.arrays import Ints


@dataclass(frozen=True, slots=True)
class Ordered:
    """A table in canonical order, and the way back.

    Parameters
    ----------
    table
        Items, workers and HITs by name; responses by HIT, items, groups and worker; items of a response by number.
    item_at : ndarray of shape (N,)
        Number in it of each item of the table that it was made from.
    worker_at : ndarray of shape (J,)
        The same of each worker.
    """

    table: ResponseTable
    item_at: Ints
    worker_at: Ints


def ordered(table: ResponseTable) -> Ordered:
    """Put a table in canonical order.

    Parameters
    ----------
    table
        Its responses in any order, its items and workers numbered in any way.
    """
    item_at, worker_at, hit_at = (_places(names) for names in (table.item_names, table.worker_names, table.hit_names))
    response = np.repeat(np.arange(table.n_responses), table.sizes)
    within = np.lexsort((item_at[table.items], response))
    items = item_at[table.items][within]
    # a group has no name that means anything: what it is called may not matter either
    groups = _by_first_appearance(response, table.groups[within])
    worker, hit = worker_at[table.worker_of_response], hit_at[table.hit_of_response]
    ptr = table.response_ptr
    # HITs, workers and items alone do not order a worker's two responses to one HIT; their groups do
    contents = [(items[a:b].tobytes(), groups[a:b].tobytes()) for a, b in pairwise(ptr.tolist())]
    # workers last: where all count as one, who gave a response does not matter
    keys = list(zip(hit.tolist(), contents, worker.tolist(), strict=True))
    order = np.array(sorted(range(table.n_responses), key=keys.__getitem__), dtype=np.int64)
    renumbered = ResponseTable(
        item_names=_sorted(table.item_names),
        worker_names=_sorted(table.worker_names),
        hit_names=_sorted(table.hit_names),
        response_ptr=ptr,
        items=items,
        groups=groups,
        worker_of_response=worker,
        hit_of_response=hit,
    )
    return Ordered(renumbered.take(order), item_at, worker_at)


def _sorted(names: Sequence[str]) -> tuple[str, ...]:
    return tuple(sorted(names))


def _places(names: Sequence[str]) -> Ints:
    """Place of each name in alphabetical order."""
    places = np.empty(len(names), dtype=np.int64)
    places[sorted(range(len(names)), key=names.__getitem__)] = np.arange(len(names))
    return places


def _by_first_appearance(response: Ints, groups: Ints) -> Ints:
    """Number the groups of each response from 0 in order of first appearance."""
    if not len(groups):
        return groups
    named = response * (int(groups.max()) + 1) + groups
    _, first, which = np.unique(named, return_index=True, return_inverse=True)
    # positions ascend by response, and so do groups by where they first appear
    number = np.empty(len(first), dtype=np.int64)
    number[np.argsort(first)] = np.arange(len(first))
    before = np.searchsorted(response[np.sort(first)], response)
    return np.asarray(number[which] - before, dtype=np.int64)
