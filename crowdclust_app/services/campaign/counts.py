"""How far a campaign and its workers have come, in numbers."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

import numpy as np

from crowdclust_app.domain.campaign import AssignmentStatus, Worker
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.storage import catalogue, records
from crowdclust_app.storage.times import from_text


@dataclass(frozen=True, slots=True)
class CampaignFigures:
    """How many there are of everything in a campaign.

    Parameters
    ----------
    items
        Images.
    hits
        HITs, planned and imported.
    hits_planned
        HITs of the plan, of all stages but the removed ones.
    assignments_planned
        Turns that the plan asks for: the sum of `R` over its HITs.
    assignments_submitted
        Turns at the plan's HITs that are done.
    hits_complete
        HITs of the plan with all their `R` workers.
    workers
        Who annotates.
    responses
        Submitted responses, imported ones included, a revised one once.
    flags
        Photos flagged as broken, each worker's own.
    runs
        Stored runs.
    """

    items: int
    hits: int
    hits_planned: int
    assignments_planned: int
    assignments_submitted: int
    hits_complete: int
    workers: int
    responses: int
    flags: int
    runs: int


@dataclass(frozen=True, slots=True)
class WorkerFigures:
    """How much one worker has done.

    Parameters
    ----------
    worker
        Who.
    hits
        Submitted responses.
    items
        Items in them, an item of two HITs counted twice.
    pair_labels
        Pair labels that they stand for.
    seconds_per_hit
        Median time of a HIT: active seconds, wall time where those were not measured; None when neither was.
    last_submitted_at
        When the newest response came; None before the first.
    """

    worker: Worker
    hits: int
    items: int
    pair_labels: int
    seconds_per_hit: float | None
    last_submitted_at: datetime | None


class SubmittedTime(NamedTuple):
    """How long one submitted response took, where that was measured."""

    worker: str
    active_seconds: float
    wall_seconds: float | None
    hit: str
    submitted_at: datetime


@dataclass(frozen=True, slots=True)
class AssignmentRecord:
    """One assignment by names, as tables show it."""

    hit: str
    worker: str
    status: AssignmentStatus
    started_at: datetime
    submitted_at: datetime | None
    active_seconds: float


@dataclass(frozen=True, slots=True)
class FlagRecord:
    """One flagged photo by names, as tables show it."""

    item: str
    worker: str
    reason: str
    hit: str
    at: datetime


def campaign_figures(campaign: Campaign) -> CampaignFigures:
    """How many there are of everything."""
    with campaign.database.read() as connection:
        return CampaignFigures(**catalogue.counts(connection))


def worker_figures(campaign: Campaign) -> tuple[WorkerFigures, ...]:
    """How much each worker has done, by worker's number."""
    with campaign.database.read() as connection:
        workers = catalogue.workers(connection)
        totals = {row[0]: row for row in records.worker_totals(connection)}
        seconds: dict[int, list[float]] = {}
        for number, duration in records.worker_seconds(connection):
            seconds.setdefault(number, []).append(duration)
    figures = []
    nothing = (-1, 0, 0, 0, None)
    for worker in workers:
        _, hits, items, pairs, last = totals.get(worker.number, nothing)
        measured = seconds.get(worker.number)
        figures.append(
            WorkerFigures(
                worker=worker,
                hits=hits,
                items=items,
                pair_labels=pairs,
                seconds_per_hit=float(np.median(measured)) if measured else None,
                last_submitted_at=None if last is None else from_text(last),
            )
        )
    return tuple(figures)


def assignment_records(campaign: Campaign) -> tuple[AssignmentRecord, ...]:
    """Every assignment by names, in the order in which they began."""
    with campaign.database.read() as connection:
        return tuple(
            AssignmentRecord(row[0], row[1], AssignmentStatus(row[2]), row[3], row[4], row[5])
            for row in records.assignments(connection)
        )


def flag_records(campaign: Campaign) -> tuple[FlagRecord, ...]:
    """Every flagged photo by names, oldest first."""
    with campaign.database.read() as connection:
        return tuple(FlagRecord(*row) for row in records.flags(connection))


def submitted_times(campaign: Campaign) -> tuple[SubmittedTime, ...]:
    """How long each submitted response took, where that was measured, in submission order."""
    with campaign.database.read() as connection:
        return tuple(SubmittedTime(*row) for row in records.submitted_times(connection))
