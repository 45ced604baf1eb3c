"""Campaigns to test on, made through the same services that people use."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from crowdclust_app.domain.campaign import Assignment, Item, PlanSettings, Worker
from crowdclust_app.domain.sorting import Sorting
from crowdclust_app.services.annotate import annotation
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.campaign.creating import create_from_scan
from crowdclust_app.services.campaign.scanning import ScanReport

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


class SmallDisk:
    """A file system of its own in memory.

    Parameters
    ----------
    folder
        Where it is mounted.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._filler = folder / "filler"

    def campaign(self, name: str = "small", n_items: int = 12) -> Path:
        """Make a campaign on it; its images are elsewhere."""
        path = self.folder / f"{name}.crowdclust"
        images = self.folder.parent / "images"
        create_from_scan(path, images, fake_scan(images, n_items), PlanSettings(4, 2, 2))
        return path

    def fill(self, leave: int = 0) -> None:
        """Fill it but for so many bytes (whole pages)."""
        with self._filler.open("ab", buffering=0) as file, contextlib.suppress(OSError):
            while True:
                file.write(b"x" * 4096)
        if leave:
            os.truncate(self._filler, max(0, self._filler.stat().st_size - leave))

    def empty(self) -> None:
        """Free what `fill` took."""
        self._filler.unlink(missing_ok=True)

    def make_read_only(self) -> None:
        """Let nobody write to it, the administrator included."""
        subprocess.run(["mount", "-o", "remount,ro", str(self.folder)], check=True)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[SmallDisk]:
    """Two megabytes of disk; only the administrator of a Linux machine can make one."""
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(folder)]
    try:
        subprocess.run(command, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("a small disk can only be mounted by the administrator of a Linux machine")
    yield SmallDisk(folder)
    subprocess.run(["umount", "-l", str(folder)], check=True)


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
