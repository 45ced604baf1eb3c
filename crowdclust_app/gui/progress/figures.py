"""What the Progress screen says of a campaign's pace: figures in words, and the points of its charts."""

from __future__ import annotations

import numpy as np

from crowdclust_app.domain.campaign import ASSUMED_SECONDS_AN_ITEM
from crowdclust_app.gui.charts.series import ChartLine, ChartSeries
from crowdclust_app.gui.wording import ABSENT, count_of, people_time
from crowdclust_app.services.campaign.progress_statistics import LAST_DAYS, CampaignProgress

FIGURES = (
    ("done", "Sets done"),
    ("people", "People"),
    ("time", "Time a set"),
    ("left", "Work left"),
    ("ready", "Ready on"),
    ("new", "Since the last run"),
)


def in_words(pace: CampaignProgress) -> dict[str, str]:
    """The figures by their keys in `FIGURES`."""
    figures = pace.figures
    done, planned = figures.assignments_submitted, figures.assignments_planned
    ready = f"{pace.ready_on.day} {pace.ready_on:%b %Y}" if pace.ready_on is not None else ABSENT
    return {
        "done": f"{done:,} of {planned:,}" if planned else f"{figures.responses:,}, none planned",
        "people": f"{sum(row.hits > 0 for row in pace.workers):,} of {figures.workers:,} have sorted",
        "time": people_time(pace.seconds_per_hit) + (" (median)" if pace.seconds_per_hit is not None else ""),
        "left": f"{people_time(3600.0 * pace.hours_left)} of all together" if pace.left else "none",
        "ready": "done" if planned and not pace.left else ready,
        "new": count_of(pace.new_responses, "response"),
    }


def about(key: str) -> str:
    """What a figure means, for its tool tip."""
    return {
        "done": "Turns at sets that are submitted, of those that the plan asks for",
        "people": "Workers with at least one response",
        "time": "The middle one of the measured active times",
        "left": f"Sets left at that time, or at {ASSUMED_SECONDS_AN_ITEM:g} s a photo until somebody was measured",
        "ready": f"At the pace of the last {LAST_DAYS} days",
        "new": "Responses to the whole collection that its newest run has not seen",
    }[key]


def rank_series(pace: CampaignProgress) -> ChartSeries | None:
    """Sets by worker's rank, as the paper's Figure 4 on the left; None before the first response."""
    rows = [row for row in pace.workers if row.hits]
    if not rows:
        return None
    ranks = np.arange(1.0, len(rows) + 1)
    return ChartSeries(
        title="Sets by worker",
        x_label="worker's rank",
        y_label="sets",
        x=ranks,
        y=np.array([row.hits for row in rows], dtype=np.float64),
        words=tuple(f"{row.worker.name}: {count_of(row.hits, 'set')}" for row in rows),
        low=0.0,
    )


def share_series(pace: CampaignProgress) -> ChartSeries | None:
    """Share of the sets that the most active share of the workers did; None before the first response."""
    hits = np.array([row.hits for row in pace.workers if row.hits], dtype=np.float64)
    if not len(hits):
        return None
    done = 100.0 * np.concatenate([[0.0], np.cumsum(hits) / hits.sum()])
    share = np.linspace(0.0, 100.0, len(done))
    words = tuple(f"The most active {x:.0f} % did {y:.0f} %" for x, y in zip(share, done, strict=True))
    even = np.array([0.0, 100.0])
    lines = (ChartLine(share, done), ChartLine(even, even, "dashed"))
    empty = np.zeros(0)
    return ChartSeries(
        title="Share of the sets", x_label="most active workers, %", y_label="%", words=words, low=0.0, high=100.0,
        lines=lines, left=0.0, x=share if len(share) <= 60 else empty, y=done if len(share) <= 60 else empty,
    )  # fmt: skip


def day_series(pace: CampaignProgress) -> ChartSeries | None:
    """Responses by day; None before the first."""
    if not pace.days:
        return None
    counts = np.array([count for _, count in pace.days], dtype=np.float64)
    days = np.arange(1.0, len(counts) + 1)
    words = tuple(f"{day.day} {day:%b %Y}: {count_of(count, 'response')}" for day, count in pace.days)
    return ChartSeries(
        "Responses by day", "day", "responses", days, counts, words, lines=(ChartLine(days, counts),), low=0.0
    )
