"""Campaigns to test on, made through the same services that people use."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from crowdclust_app.domain.campaign import Assignment, Item, PlanSettings, Worker
from crowdclust_app.domain.sorting import Sorting
from crowdclust_app.services import annotation
from crowdclust_app.services.campaigns import Campaign, ScanReport, create_from_scan

MakeCampaign = Callable[..., Campaign]


def fake_scan(folder: Path, n_items: int) -> ScanReport:
    """A folder of files that no picture decoder has to understand, and what a scan would say of it."""
    folder.mkdir(parents=True, exist_ok=True)
    items = []
    for number in range(n_items):
        path = f"part {number % 3}/photo #{number}.png"
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_bytes(b"x" * (100 + number))
        items.append(Item(number, path, f"{number:064x}", 100 + number, 10, 10))
    return ScanReport(tuple(items))


@pytest.fixture
def make_campaign(tmp_path: Path) -> Iterator[MakeCampaign]:
    """A function that makes a campaign of `n_items` in `tmp_path` and opens it; closed after the test."""
    opened: list[Campaign] = []

    def make(
        n_items: int = 12, items_per_hit: int = 4, redundancy: int = 2, workers_per_hit: int = 2, name: str = "birds"
    ) -> Campaign:
        scan = fake_scan(tmp_path / "images", n_items)
        settings = PlanSettings(items_per_hit, redundancy, workers_per_hit, seed=3)
        create_from_scan(tmp_path / f"{name}.crowdclust", tmp_path / "images", scan, settings, "Sort by colour")
        campaign = Campaign.open(tmp_path / f"{name}.crowdclust")
        opened.append(campaign)
        return campaign

    yield make
    for campaign in opened:
        campaign.close()


def sort_all(campaign: Campaign, assignment: Assignment, n_groups: int = 2) -> Sorting:
    """Put every photo into a group, one click a photo."""
    sorting = Sorting(len(assignment.items), annotation.log(campaign, assignment))
    for position in range(len(assignment.items)):
        action = sorting.place([position], position % n_groups + 1)
        if action:
            sorting.apply(action)
            annotation.record(campaign, assignment, action, float(position))
    return sorting


def do_next(campaign: Campaign, worker: Worker, n_groups: int = 2) -> Assignment | None:
    """Sort and submit the next HIT of a worker."""
    assignment = annotation.next_assignment(campaign, worker)
    if assignment is not None:
        sort_all(campaign, assignment, n_groups)
        annotation.submit(campaign, assignment, 20.0)
    return assignment
