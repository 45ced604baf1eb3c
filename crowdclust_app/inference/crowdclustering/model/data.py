"""Responses as inference works on them: only what gives labels, sorted by worker, padded to whole vectors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crowdclust_app.domain.errors import InvalidInputError
from crowdclust_app.domain.response_table import ResponseTable
from crowdclust_app.inference.crowdclustering.kernels.arrays import (
    FEATURES,
    LANES,
    Floats,
    Ints,
    Tiles,
    aligned,
    padded,
)


@dataclass(frozen=True, slots=True)
class PairLabelData:
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
    half_labels : ndarray of shape (J,)
        Half the sum of each worker's labels.
    """

    n_items: int
    n_workers: int
    n_pairs: int
    shown: Ints
    response_ptr: Ints
    items: Ints
    groups: Ints
    workers: Ints
    half_labels: Floats

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


def labels_of(table: ResponseTable, consensus: bool) -> PairLabelData:
    """Take the responses of two items or more, sorted by worker.

    Parameters
    ----------
    table
        All responses.
    consensus
        Whether they all count as one worker's.

    Raises
    ------
    InvalidInputError
        When there is no pair label at all.
    """
    if table.n_pair_labels == 0:
        raise InvalidInputError(
            "there is nothing to fit: no response has two items or more", todo="collect or import responses first"
        )
    workers = np.zeros_like(table.worker_of_response) if consensus else table.worker_of_response
    useful = np.flatnonzero(table.sizes >= 2)
    kept = table.take(useful[np.argsort(workers[useful], kind="stable")])
    shown, items = np.unique(kept.items, return_inverse=True)
    by_worker = np.sort(workers[useful])
    n_workers = 1 if consensus else table.n_workers
    return PairLabelData(
        n_items=len(shown),
        n_workers=n_workers,
        n_pairs=kept.n_pair_labels,
        shown=shown,
        response_ptr=kept.response_ptr,
        items=items.astype(np.int64),
        groups=kept.groups,
        workers=by_worker,
        half_labels=half_labels(kept.sizes, kept.groups, by_worker, n_workers),
    )


def half_labels(sizes: Ints, groups: Ints, workers: Ints, n_workers: int) -> Floats:
    """Pairs in one group less half of all pairs, by worker.

    Parameters
    ----------
    sizes, workers : ndarray of shape (R,)
        Items of each response, and who gave it.
    groups : ndarray of shape (sum M_r,)
        Group of each of these items.
    n_workers
        Number of workers `J`.
    """
    response = np.repeat(np.arange(len(sizes)), sizes)
    named = response * (int(groups.max()) + 1) + groups
    _, first, counts = np.unique(named, return_index=True, return_counts=True)
    same = np.bincount(workers[response[first]], counts * (counts - 1) / 2, minlength=n_workers)
    pairs = np.bincount(workers, sizes * (sizes - 1) / 2, minlength=n_workers)
    return np.asarray(same - 0.5 * pairs)


def tiles_of(labels: PairLabelData, dimensions: int) -> Tiles:
    """Lay out the tiles of the kernels, without the items' moments yet."""
    sizes, n_responses = labels.sizes, labels.n_responses
    response = np.repeat(np.arange(n_responses), sizes)
    ascending = np.lexsort((labels.items, response))
    items = labels.items[ascending]
    numbers: dict[bytes, int] = {}
    tile_of = np.empty(n_responses, dtype=np.int64)
    for r in range(n_responses):
        content = items[labels.response_ptr[r] : labels.response_ptr[r + 1]].tobytes()
        tile_of[r] = numbers.setdefault(content, len(numbers))
    first = np.unique(tile_of, return_index=True)[1]
    tile_sizes = sizes[first]
    ptr = _starts(-(-tile_sizes // LANES) * LANES)
    tile = np.repeat(np.arange(len(first)), tile_sizes)
    column = np.arange(len(tile)) - _starts(tile_sizes)[tile]
    shown = items[labels.response_ptr[first][tile] + column]
    padded_items = np.full(ptr[-1], -1, dtype=np.int64)
    padded_items[ptr[tile] + column] = shown
    by_item = np.argsort(shown, kind="stable")
    answer_ptr, answers = _starts(np.bincount(tile_of)), np.argsort(tile_of, kind="stable")
    answer_of = np.empty_like(answers)
    answer_of[answers] = np.arange(n_responses)
    most = int(labels.groups.max()) + 1
    group, groups = np.unique(answer_of[response] * most + labels.groups[ascending], return_inverse=True)
    # item after item of a tile, the answers side by side
    group_ptr, beside = _starts(np.diff(answer_ptr) * tile_sizes), np.diff(answer_ptr)[tile_of[response]]
    column_of = np.arange(len(response)) - labels.response_ptr[response]
    place = (group_ptr - answer_ptr)[tile_of[response]] + column_of * beside + answer_of[response]
    groups_by_item = np.empty_like(groups)
    groups_by_item[place] = groups
    rows = padded(dimensions * (dimensions + 1) // 2 + dimensions, FEATURES)
    group_sums = np.empty((len(group), dimensions))
    return Tiles(
        rows=rows,
        features=aligned(rows * int(ptr[-1])),
        ptr=ptr,
        sizes=tile_sizes,
        items=padded_items,
        item_ptr=_starts(np.bincount(shown, minlength=labels.n_items)),
        item_tile=tile[by_item],
        item_column=column[by_item],
        tile_of=tile_of,
        answer_of=answer_of,
        workers=labels.workers,
        answer_ptr=answer_ptr,
        answer_workers=labels.workers[answers],
        group_ptr=group_ptr,
        groups=groups_by_item.astype(np.int64),
        first_group=_starts(np.bincount(group // most, minlength=n_responses)),
        tile_sums=np.empty((len(first), dimensions)),
        group_sums=group_sums,
        flat_group_sums=group_sums.reshape(-1),
    )


def _starts(lengths: Ints) -> Ints:
    """Where pieces of these lengths start, and the end."""
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
