"""Responses as decisions are counted in them: flat arrays, each response with a weight."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from crowdclust_app.domain.response_table import ResponseTable
from crowdclust_app.inference.crowdclustering.kernels.arrays import Floats, Ints


@dataclass(frozen=True, slots=True)
class Answers:
    """The responses of two items or more.

    Parameters
    ----------
    ptr : ndarray of shape (R + 1,)
        Compressed rows of `items` and `groups`.
    items, groups : ndarray of shape (sum M_r,)
        Groups are numbered from 0 in each response, without gaps.
    workers, sets : ndarray of shape (R,)
        Who gave each response; a number that responses about the same items share.
    weight : ndarray of shape (R,)
        What each response counts: 1, or how much a bootstrap drew of it.
    n_items, n_workers, most
        Items, of which some may not occur; workers; the most groups of a response.
    individual
        Whether workers differ; not so in a consensus, which takes all for one.
    """

    ptr: Ints
    items: Ints
    groups: Ints
    workers: Ints
    sets: Ints
    weight: Floats
    n_items: int
    n_workers: int
    most: int
    individual: bool = True

    @classmethod
    def of(cls, table: ResponseTable, individual: bool = True) -> Answers:
        """Take a table in canonical order; responses of one item say nothing and are left out."""
        most = int(table.groups.max(initial=0)) + 1
        everything = cls(
            table.response_ptr,
            table.items,
            table.groups,
            table.worker_of_response,
            item_sets(table),
            np.ones(table.n_responses),
            table.n_items,
            table.n_workers,
            most,
            individual,
        )
        return everything.take(table.sizes >= 2)

    @property
    def size(self) -> int:
        """Number of responses `R`."""
        return len(self.ptr) - 1

    @property
    def sizes(self) -> Ints:
        """Items in each response; shape (R,)."""
        return np.diff(self.ptr)

    @property
    def shown(self) -> NDArray[np.bool_]:
        """Which items occur; shape (n,)."""
        return np.bincount(self.items, minlength=self.n_items) > 0

    @property
    def arrays(self) -> tuple[Ints, Ints, Ints]:
        """What every sum over decisions needs first."""
        return self.ptr, self.items, self.groups

    @property
    def response_of(self) -> Ints:
        """Response of each position; shape (sum M_r,)."""
        return np.repeat(np.arange(self.size), self.sizes)

    def take(self, chosen: NDArray[np.bool_]) -> Answers:
        """Only the responses of a mask."""
        which = np.flatnonzero(chosen)
        sizes = self.sizes[which]
        ptr = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        source = np.repeat(self.ptr[which] - ptr[:-1], sizes) + np.arange(ptr[-1])
        return replace(
            self,
            ptr=ptr,
            items=self.items[source],
            groups=self.groups[source],
            workers=self.workers[which],
            sets=self.sets[which],
            weight=self.weight[which],
        )

    def sorters(self) -> Floats:
        """By how many workers each item was sorted; shape (n,)."""
        pairs = np.sort(self.items * self.n_workers + self.workers[self.response_of])
        distinct = pairs[np.diff(pairs, prepend=-1) != 0]
        return np.bincount(distinct // self.n_workers, minlength=self.n_items).astype(np.float64)

    def parts(self) -> list[tuple[Answers, Ints]]:
        """The parts of the design that share no item: the answers of each, with items renumbered, and its items."""
        graph = csr_array(
            (np.ones(len(self.items)), (self.items, self.n_items + self.response_of)),
            shape=(self.n_items + self.size,) * 2,
        )
        label = connected_components(graph, directed=False)[1]
        found = []
        for part in dict.fromkeys(label[: self.n_items][self.shown].tolist()):
            items = np.flatnonzero(self.shown & (label[: self.n_items] == part))
            here = self.take(label[self.n_items :] == part)
            number = np.full(self.n_items, -1)
            number[items] = np.arange(len(items))
            found.append((replace(here, items=number[here.items], n_items=len(items)), items))
        return found


def item_sets(table: ResponseTable) -> Ints:
    """A number for each response that is the same exactly for responses about the same items; shape (R,)."""
    if not table.n_responses:
        return np.zeros(0, dtype=np.int64)
    # sums of random numbers of the items: equal sets, equal sums, and others differ but for one chance in 10^18
    tokens = np.random.default_rng(0).integers(1, 2**62, size=table.n_items, dtype=np.int64).astype(np.uint64)
    sums = np.zeros(table.n_responses, dtype=np.uint64)
    np.add.at(sums, np.repeat(np.arange(table.n_responses), table.sizes), tokens[table.items])
    return np.unique(sums, return_inverse=True)[1].astype(np.int64)


def without_gaps(partition: Ints) -> Ints:
    """The clusters of a partition numbered from 0 without gaps; -1 stays."""
    number = np.cumsum(np.bincount(partition[partition >= 0]) > 0) - 1
    return np.where(partition >= 0, number[partition], -1)


def largest_first(partition: Ints) -> Ints:
    """The clusters of a partition numbered from 0, the largest first, among equals that of the first item; -1 stays."""
    _, first, which, size = np.unique(
        partition[partition >= 0], return_index=True, return_inverse=True, return_counts=True
    )
    rank = np.empty(len(size), dtype=np.int64)
    rank[np.lexsort((first, -size))] = np.arange(len(size))
    found = np.full(len(partition), -1, dtype=np.int64)
    found[partition >= 0] = rank[which]
    return found
