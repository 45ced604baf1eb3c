"""A campaign whose categories have kinds: people see the categories among everything, the kinds only among their own.

As in the paper's section 4.1: in a HIT of all sorts of photos the workers sort by category; in a HIT of one category
they sort by kind, where there are kinds to see.
"""

from __future__ import annotations

import csv
from pathlib import Path

from campaign_making import MakeCampaign, fake_scan

from crowdclust_app.domain.campaign import PlanSettings
from crowdclust_app.domain.fit_settings import FitSettings
from crowdclust_app.domain.sorting import Action, ActionKind
from crowdclust_app.services.annotate import annotation
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.campaign.creating import create_from_scan

QUICK = FitSettings(dimensions=2, n_starts=2, n_clusters="bound", label_weight=0.2, folds=0, worker_prior="independent")
WORKERS = ("Ada", "Ben", "Cyd")


def category(item: int) -> int:
    """The category of an item: 0, 1 or 2; the last has no kinds."""
    return item % 3


def kind(item: int) -> int:
    """Which of the two kinds of its category an item is."""
    return 0 if category(item) == 2 else item // 3 % 2


def maker(folder: Path) -> MakeCampaign:
    """The fixture `make_campaign` for a folder that several tests share; who calls it closes the campaign."""

    def make(n_items: int, items_per_hit: int, redundancy: int, workers_per_hit: int, name: str = "birds") -> Campaign:
        scan = fake_scan(folder / "images", n_items)
        settings = PlanSettings(items_per_hit, redundancy, workers_per_hit, seed=3)
        create_from_scan(folder / f"{name}.crowdclust", folder / "images", scan, settings)
        return Campaign.open(folder / f"{name}.crowdclust")

    return make


def nested(make_campaign: MakeCampaign, n_items: int = 36, name: str = "birds") -> Campaign:
    """A campaign of items that nobody has sorted yet."""
    return make_campaign(n_items=n_items, items_per_hit=12, redundancy=4, workers_per_hit=3, name=name)


def sort_everything(campaign: Campaign, workers: tuple[str, ...] = WORKERS, most: int = 10_000) -> int:
    """Have the workers sort what is handed out; how many HITs that were."""
    known = {worker.name: worker for worker in campaign.workers()}
    done = 0
    for name in workers:
        worker = known.get(name) or campaign.add_worker(name)
        while done < most and (turn := annotation.next_assignment(campaign, worker)) is not None:
            seen = {category(item) for item in turn.items}
            groups = [kind(item) if len(seen) == 1 else category(item) for item in turn.items]
            placed = tuple((place, group + 1) for place, group in enumerate(groups))
            annotation.record(campaign, turn, Action(ActionKind.PLACE, placed), 10.0)
            annotation.submit(campaign, turn, 30.0)
            done += 1
    return done


def rows_of(folder: Path, name: str) -> list[dict[str, str]]:
    """The rows of an exported table."""
    with (folder / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))
