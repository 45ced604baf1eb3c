"""How far a campaign and its workers have come, in numbers."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from crowdclust_app.domain.campaign import AssignmentStatus, Worker


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


@dataclass(frozen=True, slots=True)
class RunInfo:
    """What a list of runs shows.

    Parameters
    ----------
    number
        Its number in the campaign, from 1.
    created_at
        When it was stored.
    seconds
        How long the fit took.
    summary
        The figures of the summary of `fit` (docs/files.md).
    """

    number: int
    stage: str
    method: str
    created_at: datetime
    seed: int
    seconds: float
    fingerprint: str
    settings: dict[str, object]
    summary: dict[str, object]
