"""What a plan comes to, put into words for the New campaign screen."""

from __future__ import annotations

from dataclasses import dataclass

from crowdclust_app.domain.campaign import ASSUMED_SECONDS_AN_ITEM, PlanSettings
from crowdclust_app.gui.wording import ABSENT
from crowdclust_app.services.campaign.expected_quality import NOISE, REPEATS, ExpectedQuality
from crowdclust_app.services.campaign.planning import plan_items, planned_repeats

QUALITY, WORKING = "quality", "being simulated"
FIGURES = (
    ("hits", "HITs"),
    ("assignments", "Assignments"),
    ("hours", f"At {ASSUMED_SECONDS_AN_ITEM:g} s a photo"),
    ("shown", "HITs a photo is in"),
    ("pair_labels", "Pair labels"),
    ("components", "Connected parts"),
    (QUALITY, "Expected agreement"),
)


@dataclass(frozen=True)
class Outlook:
    """What a plan comes to, for the screen.

    Parameters
    ----------
    texts
        The figures as they are shown, by their keys in `FIGURES`.
    warnings
        Sentences about what is wrong with the plan.
    first
        Positions of the photos of the first HIT.
    """

    texts: dict[str, str]
    warnings: tuple[str, ...]
    first: tuple[int, ...]


def people_time(seconds: float) -> str:
    """A time in words."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    if minutes < 120:
        return f"{minutes} min"
    return f"{seconds / 3600:.0f} h" if seconds >= 36_000 else f"{seconds / 3600:.1f} h"


def outlook(n_items: int, settings: PlanSettings, repeat_share: float = 0.0) -> Outlook:
    """Work a plan out, with that share of its HITs repeated; runs off the main thread."""
    plan, figures = plan_items(n_items, settings)
    repeats, turns = planned_repeats(figures.hits, repeat_share, settings.workers_per_hit)
    seconds = ASSUMED_SECONDS_AN_ITEM * min(settings.items_per_hit, n_items) * (figures.assignments + turns)
    low, mean, high = figures.shown_min, figures.shown_mean, figures.shown_max
    texts = {
        "hits": f"{figures.hits:,}" + (f" + {repeats:,} again" if repeats else ""),
        "assignments": f"{figures.assignments + turns:,}",
        "hours": people_time(seconds),
        "shown": f"{low}–{high}, mean {mean:.1f}" if low != high else f"{low}",
        "pair_labels": f"{figures.pair_labels:,}",
        "components": f"{figures.components:,}",
        QUALITY: ABSENT,
    }
    return Outlook(texts, tuple(figures.warnings), tuple(plan.hits[0].tolist()))


def quality_in_words(found: ExpectedQuality | None) -> str:
    """What a simulation says of a plan: the middle one and the range."""
    if found is None:
        return ABSENT
    return f"ARI {found.middle:.2f} ({found.low:.2f}–{found.high:.2f})"


def about_quality(found: ExpectedQuality | None) -> str:
    """How that was found, for a tool tip."""
    if found is None:
        return "Too few photos to simulate"
    return (
        f"Adjusted Rand index of the clusters with the truth in {REPEATS} simulated campaigns of {found.items} photos "
        "of "
        f"{found.kinds} kinds with this plan: 1 is the same, 0 is chance. People who merge kinds that are alike are "
        "among "
        f"them, and {NOISE:.0%} of the photos are misplaced."
    )
