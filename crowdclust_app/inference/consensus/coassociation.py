"""Partial clusterings as the hypergraph and pair counts that cluster ensembles work on.

Every group of every response is a hyperedge over the items (strehl2002, section 3.1). In their
object-distributed case an item that a clustering does not hold is in none of its hyperedges; a partial clustering is
exactly that.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.domain.errors import InvalidInputError
from crowdclust_app.domain.response_table import ResponseTable

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Step:
    """How far a method has come.

    Parameters
    ----------
    done, total
        Steps finished, and in all.
    text
        What is being done, for people.
    """

    done: int
    total: int
    text: str


@dataclass(frozen=True, slots=True)
class ProgressListener:
    """Progress callback and cancel token of a fit, either of which may be missing."""

    progress: Callable[[Step], None] | None = None
    cancel: CancelToken | None = None

    def at(self, done: int, total: int, text: str) -> None:
        """Report a step; raises `Cancelled` when the fit was cancelled."""
        if self.cancel:
            self.cancel.check()
        if self.progress:
            self.progress(Step(done, total, text))


@dataclass(frozen=True, slots=True)
class CoAssociation:
    """The responses that give pair labels, over the `n` items that have any.

    Parameters
    ----------
    shown : ndarray of shape (n,)
        Which items of the table these are, ascending.
    in_group : sparse array of shape (n, G)
        1 where an item is in a hyperedge; hyperedges in the order of responses, then of their smallest item.
    in_response : sparse array of shape (n, R)
        1 where a response holds an item.
    """

    shown: Ints
    in_group: csr_array[Any]
    in_response: csr_array[Any]

    @property
    def n_items(self) -> int:
        """Number of items `n` with a pair label."""
        return len(self.shown)

    @property
    def group_sizes(self) -> Ints:
        """Items in each hyperedge; shape (G,)."""
        return np.bincount(self.in_group.indices, minlength=self.in_group.shape[1]).astype(np.int64)

    def together(self) -> csr_array[Any]:
        """In how many responses a pair is in one group, without the diagonal; symmetric, shape (n, n)."""
        return _without_diagonal(self.in_group @ self.in_group.T)

    def seen(self) -> csr_array[Any]:
        """How many responses hold both items of a pair, without the diagonal; symmetric, shape (n, n)."""
        return _without_diagonal(self.in_response @ self.in_response.T)

    def rates(self) -> csr_array[Any]:
        """Share of the responses with both items that put them together; 0 for unseen pairs and on the diagonal."""
        together, seen = self.together(), self.seen()
        # pairs that are together are seen, so dividing leaves no other entries
        return csr_array(together.multiply(_reciprocal(seen)))


def evidence_of(table: ResponseTable) -> CoAssociation:
    """Take the responses of two items or more.

    Parameters
    ----------
    table
        All responses.

    Raises
    ------
    InvalidInputError
        When there is no pair label at all.
    """
    if table.n_pair_labels == 0:
        raise InvalidInputError(
            "there is nothing to fit: no response has two items or more", todo="collect or import responses first"
        )
    kept = table.take(np.flatnonzero(table.sizes >= 2))
    shown, items = np.unique(kept.items, return_inverse=True)
    response = np.repeat(np.arange(kept.n_responses), kept.sizes)
    group = _number_groups(response, kept.groups, items)
    n_groups = int(group.max()) + 1
    return CoAssociation(
        shown=shown.astype(np.int64),
        in_group=_incidence(items, group, (len(shown), n_groups)),
        in_response=_incidence(items, response, (len(shown), kept.n_responses)),
    )


def _number_groups(response: Ints, groups: Ints, items: Ints) -> Ints:
    """Number the hyperedges from 0 by response and smallest item: what a group is called changes nothing."""
    _, named = np.unique(response * (int(groups.max()) + 1) + groups, return_inverse=True)
    smallest = np.full(int(named.max()) + 1, np.iinfo(np.int64).max)
    np.minimum.at(smallest, named, items)
    where = np.zeros(len(smallest), dtype=np.int64)
    where[named] = response
    rank = np.empty(len(smallest), dtype=np.int64)
    rank[np.lexsort((smallest, where))] = np.arange(len(smallest))
    return rank[named]


def _incidence(rows: Ints, columns: Ints, shape: tuple[int, int]) -> csr_array[Any]:
    found = csr_array((np.ones(len(rows)), (rows, columns)), shape=shape)
    found.sort_indices()
    return found


def _without_diagonal(counts: csr_array[Any]) -> csr_array[Any]:
    coo = counts.tocoo()
    rows, columns = coo.coords
    off = rows != columns
    found = csr_array((coo.data[off], (rows[off], columns[off])), shape=counts.shape)
    found.sort_indices()
    return found


def _reciprocal(counts: csr_array[Any]) -> csr_array[Any]:
    return csr_array((1.0 / counts.data, counts.indices, counts.indptr), shape=counts.shape)
