"""How a campaign fills: sets done of planned, by worker and by day, time a set, hours left, who has what open."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from crowdclust_app.domain.campaign import ASSUMED_SECONDS_AN_ITEM, WHOLE_COLLECTION
from crowdclust_app.domain.errors import UserError
from crowdclust_app.domain.stages import StageInfo
from crowdclust_app.services.annotate.annotation import LEASE
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.campaign.counts import (
    CampaignFigures,
    WorkerFigures,
    campaign_figures,
    submitted_times,
    worker_figures,
)
from crowdclust_app.services.campaign.pausing import paused
from crowdclust_app.services.campaign.responses import count_responses
from crowdclust_app.services.fits.run_store import run_list
from crowdclust_app.services.stages.stages import stage_list
from crowdclust_app.storage import catalogue, preferences, progress_statistics

RERUN = "rerun-every"
LAST_DAYS = 7
"""The pace of so many days says when it will be done."""


@dataclass(frozen=True, slots=True)
class OpenAssignment:
    """A set that somebody has begun and not ended.

    Parameters
    ----------
    items
        Photos in it.
    actions
        What was done to it so far, undone or not.
    idle
        Nobody moved for so long that it is handed to somebody else if need be.
    """

    worker: str
    hit: str
    stage: str
    items: int
    started_at: datetime
    last_event_at: datetime
    actions: int
    idle: bool


@dataclass(frozen=True, slots=True)
class CampaignProgress:
    """A campaign on its way.

    Parameters
    ----------
    figures
        How many there are of everything.
    workers
        The most active first.
    stages
        In the order in which they were made, without those that were removed.
    open
        The one that moved last first.
    days
        Responses by local day, from the first to the last with any; days without are 0.
    seconds_per_hit
        Median of what was measured; None before.
    hours_left
        Of all people together, at that time or at `ASSUMED_SECONDS_AN_ITEM` for every photo.
    ready_on
        The day when it is done at the pace of the last `LAST_DAYS` days; None where nothing came in them.
    paused
        No sets are handed out for now.
    rerun_every
        Responses after which the inference runs again by itself; 0 for never.
    new_responses
        Responses since the newest run of the whole collection; all without one.
    """

    figures: CampaignFigures
    workers: tuple[WorkerFigures, ...]
    stages: tuple[StageInfo, ...]
    open: tuple[OpenAssignment, ...]
    days: tuple[tuple[date, int], ...]
    seconds_per_hit: float | None
    hours_left: float
    ready_on: date | None
    paused: bool
    rerun_every: int
    new_responses: int

    @property
    def left(self) -> int:
        """Turns that are planned and not done."""
        return max(0, self.figures.assignments_planned - self.figures.assignments_submitted)


def look_at_pace(campaign: Campaign, now: datetime | None = None) -> CampaignProgress:
    """Read how a campaign fills.

    Parameters
    ----------
    now
        A moment with its zone; the present when None.
    """
    moment = (now or datetime.now().astimezone()).astimezone()
    with campaign.database.read() as connection:
        rows = progress_statistics.open_rows(connection)
        came = [when.astimezone(moment.tzinfo) for when in progress_statistics.submitted_at(connection)]
    figures = campaign_figures(campaign)
    seconds = [time.active_seconds for time in submitted_times(campaign) if time.active_seconds > 0]
    median = statistics.median(seconds) if seconds else None
    left = max(0, figures.assignments_planned - figures.assignments_submitted)
    each = median if median is not None else ASSUMED_SECONDS_AN_ITEM * campaign.settings.items_per_hit
    open_turns = tuple(OpenAssignment(*row, idle=row.last_event_at < moment - LEASE) for row in rows)
    return CampaignProgress(
        figures=figures,
        workers=tuple(sorted(worker_figures(campaign), key=lambda row: (-row.hits, row.worker.name))),
        stages=tuple(row for row in stage_list(campaign) if not row.removed),
        open=open_turns,
        days=responses_by_day(came),
        seconds_per_hit=median,
        hours_left=left * each / 3600.0,
        ready_on=_ready_on(came, left, moment),
        paused=paused(campaign),
        rerun_every=rerun_every(campaign),
        new_responses=responses_since_run(campaign),
    )


def responses_by_day(came: Sequence[datetime]) -> tuple[tuple[date, int], ...]:
    """How many came on each day from the first to the last."""
    counts = Counter(when.date() for when in came)
    if not counts:
        return ()
    first, last = min(counts), max(counts)
    return tuple((day, counts[day]) for day in (first + timedelta(days=n) for n in range((last - first).days + 1)))


def _ready_on(came: Sequence[datetime], left: int, now: datetime) -> date | None:
    if not left:
        return None
    since = now - timedelta(days=LAST_DAYS)
    lately = sum(when >= since for when in came)
    if not lately:
        return None
    # a campaign that began yesterday has a day's pace, not a seventh of it
    days = min(float(LAST_DAYS), max(1.0, (now - came[0]).total_seconds() / 86400.0))
    ahead = left / (lately / days)
    return None if ahead > 36500 else (now + timedelta(days=ahead)).date()


def responses_since_run(campaign: Campaign) -> int:
    """Responses of the whole collection that its newest run has not seen."""
    runs = [run for run in run_list(campaign) if run.stage == WHOLE_COLLECTION]
    seen = int(str(runs[-1].summary.get("responses", 0))) if runs else 0
    return max(0, count_responses(campaign, WHOLE_COLLECTION) - seen)


def rerun_every(campaign: Campaign) -> int:
    """After how many responses the inference runs again by itself; 0 for never."""
    with campaign.database.read() as connection:
        return int(preferences.preference(connection, RERUN, 0))


def set_rerun_every(campaign: Campaign, responses: int) -> None:
    """Have the inference run again by itself after so many responses; 0 for never.

    Raises
    ------
    UserError
        When the number is negative.
    """
    if responses < 0:
        raise UserError("the number of responses must not be negative", todo="choose 0 for never, or more")
    with campaign.database.write() as connection:
        preferences.set_preference(connection, RERUN, responses)
        catalogue.bump_revision(connection)
