"""Answers out of the campaign file: as responses by names, and as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from crowdclust_app.domain.campaign import WHOLE_COLLECTION
from crowdclust_app.domain.response_table import Response, ResponseTable
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.campaign.left_out import exclusions_in
from crowdclust_app.storage import catalogue, stages
from crowdclust_app.storage import responses as stored_responses
from crowdclust_app.storage.connection import Connection

_Stored = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]


def read_table(campaign: Campaign, stage: str = WHOLE_COLLECTION, everything: bool = False) -> ResponseTable:
    """All current responses of a stage as arrays, in submission order; the items are those of the stage.

    With `everything`, those too that are left out of runs.
    """
    with campaign.database.read() as connection:
        kept = campaign.tables.at(connection)
        if (stage, everything) not in kept:
            kept[stage, everything] = _stage_table(connection, stage, everything)
        return kept[stage, everything]


def read_tables(campaign: Campaign, stages: Sequence[str]) -> dict[str, ResponseTable]:
    """The tables of several stages, of one moment, as `read_table` has them."""
    with campaign.database.read() as connection:
        kept = campaign.tables.at(connection)
        missing = [stage for stage in stages if (stage, False) not in kept]
        stored = _positions(connection) if missing else None
        for stage in missing:
            kept[stage, False] = _stage_table(connection, stage, stored=stored)
        return {stage: kept[stage, False] for stage in stages}


def _stage_table(
    connection: Connection, stage: str, everything: bool = False, stored: _Stored | None = None
) -> ResponseTable:
    table = table_in(connection, stage, everything, stored)
    inside = stages.item_numbers(connection, stage)
    if inside is None:
        return table
    within = np.array(inside, dtype=np.int64)
    # the same table with these items alone; its responses hold no others
    place = np.full(table.n_items, -1, dtype=np.int64)
    place[within] = np.arange(len(within))
    names = tuple(table.item_names[number] for number in inside)
    return replace(table, item_names=names, items=place[table.items])


def count_responses(campaign: Campaign, stage: str) -> int:
    """How many responses `read_table` has, without reading what is in them."""
    with campaign.database.read() as connection:
        rows = stored_responses.current_responses(connection, stage)
        left_out = exclusions_in(connection)
        if not left_out.responses and not left_out.retired:
            return len(rows)
        workers = [worker.name for worker in catalogue.workers(connection)]
        hits = {number: name for name, number in catalogue.hit_numbers(connection).items()}
    return sum(left_out.of(hits[row.hit], workers[row.worker]) is None for row in rows)


def table_in(
    connection: Connection, stage: str, everything: bool = False, stored: _Stored | None = None
) -> ResponseTable:
    """The same within a transaction; item numbers are the campaign's, and every item of the campaign is in it.

    With `stored`, the positions of all responses have been read already.
    """
    item_names = catalogue.item_paths(connection)
    worker_names = tuple(worker.name for worker in catalogue.workers(connection))
    hit_names = {number: name for name, number in catalogue.hit_numbers(connection).items()}
    rows = stored_responses.current_responses(connection, stage)
    if not everything:
        left_out = exclusions_in(connection)
        rows = [row for row in rows if left_out.of(hit_names[row.hit], worker_names[row.worker]) is None]
    response, position, items, groups = stored or _positions(connection)
    place = np.full(int(max((row.response for row in rows), default=0)) + 1, -1, dtype=np.int64)
    place[[row.response for row in rows]] = np.arange(len(rows))
    known = response < len(place)
    at = np.where(known, place[np.where(known, response, 0)], -1)
    keep = np.flatnonzero(at >= 0)
    keep = keep[np.lexsort((position[keep], at[keep]))]
    at, items, groups = at[keep], items[keep], groups[keep]
    ptr = np.concatenate([[0], np.cumsum(np.bincount(at, minlength=len(rows)))]).astype(np.int64)
    seen: dict[int, int] = {}
    hit_of_response = [seen.setdefault(row.hit, len(seen)) for row in rows]
    return ResponseTable(
        item_names=item_names,
        worker_names=worker_names,
        hit_names=tuple(hit_names[number] for number in seen),
        response_ptr=ptr,
        items=items,
        groups=_canonical(at, groups, ptr),
        worker_of_response=np.array([row.worker for row in rows], dtype=np.int64),
        hit_of_response=np.array(hit_of_response, dtype=np.int64),
    )


def read_responses(campaign: Campaign, stage: str | None = WHOLE_COLLECTION) -> list[Response]:
    """All current responses of a stage (of every stage when None) by names, in submission order.

    Groups are called as the worker or the table called them.
    """
    with campaign.database.read() as connection:
        item_names = catalogue.item_paths(connection)
        worker_names = {worker.number: worker.name for worker in catalogue.workers(connection)}
        hit_names = {number: name for name, number in catalogue.hit_numbers(connection).items()}
        rows = stored_responses.current_responses(connection, stage)
        labels = stored_responses.group_labels(connection)
        content: dict[int, list[tuple[int, int, int]]] = {row.response: [] for row in rows}
        for piece in stored_responses.all_response_items(connection):
            for response, position, item, group in piece:
                if response in content:
                    content[response].append((position, item, group))
    found = []
    for row in rows:
        inside = sorted(content[row.response])
        found.append(
            Response(
                hit=hit_names[row.hit],
                worker=worker_names[row.worker],
                items=tuple(item_names[item] for _, item, _ in inside),
                groups=tuple(labels.get((row.response, group), str(group)) for _, _, group in inside),
            )
        )
    return found


def _positions(connection: Connection) -> _Stored:
    """Response, position, item and group of everything that was ever submitted, as columns."""
    pieces = [np.array(piece, dtype=np.int64) for piece in stored_responses.all_response_items(connection)]
    rows = np.concatenate([np.zeros((0, 4), dtype=np.int64), *pieces])
    return rows[:, 0], rows[:, 1], rows[:, 2], rows[:, 3]


def _canonical(response: NDArray[np.int64], groups: NDArray[np.int64], ptr: NDArray[np.int64]) -> NDArray[np.int64]:
    """Number groups from 0 in order of first appearance within each response (`canonical_groups` for all at once).

    Parameters
    ----------
    response, groups : ndarray of shape (n,)
        Sorted by response; group numbers as stored.
    ptr : ndarray of shape (R + 1,)
        Where each response begins.
    """
    if not len(groups):
        return np.zeros(0, dtype=np.int64)
    key = response * (int(groups.max()) + 1) + groups
    _, first, which = np.unique(key, return_index=True, return_inverse=True)
    # Groups ordered by where they first appear are ordered by response too, so counting within a response is
    # subtracting what the responses before it have.
    order = np.empty(len(first), dtype=np.int64)
    order[np.argsort(first)] = np.arange(len(first))
    number = order[which]
    return number - number[ptr[:-1]][response]
