"""Responses as inference works on them: only what gives labels, sorted by worker, padded to whole vectors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crowdclust_app.domain.errors import UserError
from crowdclust_app.domain.responses import ResponseTable
from crowdclust_app.inference.crowdclustering.arrays import Floats, Ints, Tiles
from crowdclust_app.inference.crowdclustering.kernels import LANES

PADDING_GROUP = -1.0


@dataclass(frozen=True, slots=True)
class Labels:
    """The responses that give pair labels, over the items that have any.

    Parameters
    ----------
    n_items, n_workers, n_pairs
        Items with labels `n`, workers `J` (with or without responses), pair labels `T`.
    shown : ndarray of shape (N,)
        Which items of the table these are.
    response_ptr : ndarray of shape (R + 1,)
        Unpadded compressed rows of `items` and `groups`.
    items, groups : ndarray of shape (sum M_r,)
        Item (counted among those with labels) and group number.
    workers : ndarray of shape (R,)
        Who gave each response, ascending.
    """

    n_items: int
    n_workers: int
    n_pairs: int
    shown: Ints
    response_ptr: Ints
    items: Ints
    groups: Ints
    workers: Ints

    @property
    def sizes(self) -> Ints:
        """Items in each response; shape (R,)."""
        return np.diff(self.response_ptr)

    @property
    def n_responses(self) -> int:
        """Number of responses `R` that give labels."""
        return len(self.workers)

    @property
    def answered(self) -> Ints:
        """Numbers of the workers who gave a label."""
        return np.unique(self.workers)


def labels_of(table: ResponseTable, consensus: bool) -> Labels:
    """Take the responses of two items or more, sorted by worker.

    Parameters
    ----------
    table
        All responses.
    consensus
        Whether they all count as one worker's.

    Raises
    ------
    UserError
        When there is no pair label at all.
    """
    if table.n_pair_labels == 0:
        raise UserError(
            "there is nothing to fit: no response has two items or more",
            todo="collect or import responses first",
        )
    workers = np.zeros_like(table.worker_of_response) if consensus else table.worker_of_response
    useful = np.flatnonzero(table.sizes >= 2)
    kept = table.take(useful[np.argsort(workers[useful], kind="stable")])
    shown, items = np.unique(kept.items, return_inverse=True)
    return Labels(
        n_items=len(shown),
        n_workers=1 if consensus else table.n_workers,
        n_pairs=kept.n_pair_labels,
        shown=shown,
        response_ptr=kept.response_ptr,
        items=items.astype(np.int64),
        groups=kept.groups,
        workers=np.sort(workers[useful]),
    )


def tiles_of(labels: Labels, dimensions: int) -> Tiles:
    """Lay out the tiles of the kernels, without the items' moments yet."""
    rows = dimensions * (dimensions + 1) // 2 + dimensions + 1
    sizes = labels.sizes
    padded = -(-sizes // LANES) * LANES
    ptr = np.concatenate([[0], np.cumsum(padded)]).astype(np.int64)
    response = np.repeat(np.arange(labels.n_responses), sizes)
    column = np.arange(len(labels.items)) - labels.response_ptr[response]
    items = np.full(ptr[-1], -1, dtype=np.int64)
    items[ptr[response] + column] = labels.items
    features: Floats = np.zeros(rows * ptr[-1])
    # the last row of each tile holds the group numbers
    last_row = rows * ptr[:-1] + (rows - 1) * padded
    for r in range(labels.n_responses):
        features[last_row[r] : last_row[r] + padded[r]] = PADDING_GROUP
    features[last_row[response] + column] = labels.groups
    order = np.argsort(labels.items, kind="stable")
    item_ptr = np.concatenate([[0], np.cumsum(np.bincount(labels.items, minlength=labels.n_items))]).astype(np.int64)
    return Tiles(
        features=features,
        ptr=ptr,
        sizes=sizes,
        workers=labels.workers,
        items=items,
        item_ptr=item_ptr,
        item_response=response[order],
        item_column=column[order],
    )
