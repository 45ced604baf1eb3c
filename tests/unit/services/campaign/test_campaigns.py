from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from campaign_making import MakeCampaign, do_next, fake_scan
from hypothesis import given
from hypothesis import strategies as st

from crowdclust_app.domain.campaign import Item, PlanSettings, Worker
from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.domain.errors import Cancelled, UserError
from crowdclust_app.domain.partition import canonical_groups
from crowdclust_app.domain.response_table import ResponseTable
from crowdclust_app.sampling.plan import make_plan
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.campaign.counts import campaign_figures, worker_figures
from crowdclust_app.services.campaign.creating import create_campaign, create_from_scan, create_without_images
from crowdclust_app.services.campaign.responses import _canonical, read_responses, read_table
from crowdclust_app.services.campaign.scanning import ScanReport
from crowdclust_app.services.progress_report import ProgressReport

# Creating


def test_a_campaign_holds_what_it_was_made_of(make_campaign: MakeCampaign, tmp_path: Path) -> None:
    campaign = make_campaign(n_items=12)
    plan = make_plan(12, campaign.settings)
    assert campaign.settings == PlanSettings(4, 2, 2, seed=3)
    assert campaign.instructions == "Sort by colour"
    assert campaign.items() == fake_scan(tmp_path / "images", 12).items
    assert [hit.items for hit in campaign.hits()] == [tuple(hit.tolist()) for hit in plan.hits]
    assert [hit.name for hit in campaign.hits()] == [f"h{number:04d}" for number in range(1, 7)]
    assert {(hit.workers_wanted, hit.stage) for hit in campaign.hits()} == {(2, "all")}
    figures = campaign_figures(campaign)
    assert (figures.items, figures.hits, figures.assignments_planned, figures.workers) == (12, 6, 12, 0)
    assert campaign.item_path(campaign.items()[4]).read_bytes() == b"x" * 104


def test_a_campaign_is_made_of_real_pictures(tmp_path: Path) -> None:
    from PIL import Image

    folder = tmp_path / "photos"
    folder.mkdir()
    for number in range(3):
        Image.new("RGB", (4 + number, 3), (number * 80, 0, 0)).save(folder / f"{number}.png")
    shutil.copy(folder / "1.png", folder / "copy.png")
    (folder / "broken.jpg").write_bytes(b"\xff\xd8\xff nothing more")
    (folder / "notes.txt").write_text("no picture")
    seen: list[ProgressReport] = []
    report = create_campaign(tmp_path / "p", folder, PlanSettings(2, 2, 1), "Look", progress=seen.append)
    assert report.campaign == str(tmp_path / "p.crowdclust")
    assert report.added == 3
    assert report.duplicates == (("copy.png", "1.png"),)
    assert [path for path, _ in report.unreadable] == ["broken.jpg"]
    assert report.warnings
    assert seen[-1].done == seen[-1].total
    with Campaign.open(Path(report.campaign)) as campaign:
        assert [(item.path, item.width) for item in campaign.items()] == [("0.png", 4), ("1.png", 5), ("2.png", 6)]
        assert [(path, status) for path, status, _ in campaign.left_out()] == [
            ("broken.jpg", "unreadable"),
            ("copy.png", "duplicate"),
        ]


def test_an_existing_path_is_refused_before_the_scan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.crowdclust"
    path.write_text("mine")
    scans: list[Path] = []
    monkeypatch.setattr(
        "crowdclust_app.services.campaign.creating.scan_images", lambda folder, *_: scans.append(folder)
    )
    with pytest.raises(UserError, match="already something of this name"):
        create_campaign(path, tmp_path, PlanSettings())
    with pytest.raises(UserError, match="no such folder"):
        create_campaign(tmp_path / "none" / "x.crowdclust", tmp_path, PlanSettings())
    assert scans == []
    assert path.read_text() == "mine"


def test_a_file_that_appears_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "x.crowdclust"

    def progress(report: ProgressReport) -> None:
        if report.done == 3:
            path.write_text("mine")

    scan = fake_scan(tmp_path / "images", 6)
    with pytest.raises(UserError, match="already something of this name"):
        create_from_scan(path, tmp_path / "images", scan, PlanSettings(), progress=progress)
    assert path.read_text() == "mine"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["images", "x.crowdclust"]


@pytest.mark.parametrize("stop", [1, 2])
def test_a_cancelled_creation_leaves_nothing(tmp_path: Path, stop: int) -> None:
    token = CancelToken()

    def progress(report: ProgressReport) -> None:
        if report.done == stop:
            token.cancel()

    scan = fake_scan(tmp_path / "images", 6)
    with pytest.raises(Cancelled):
        create_from_scan(tmp_path / "x", tmp_path / "images", scan, PlanSettings(), progress=progress, cancel=token)
    assert [path.name for path in tmp_path.iterdir()] == ["images"]


def test_too_few_images_leave_nothing(tmp_path: Path) -> None:
    for scan in (ScanReport(()), fake_scan(tmp_path / "images", 1)):
        with pytest.raises(UserError, match="at least 2"):
            create_from_scan(tmp_path / "x.crowdclust", tmp_path / "images", scan, PlanSettings())
    assert [path.name for path in tmp_path.iterdir()] == ["images"]


@pytest.mark.skipif(sys.platform != "linux", reason="only some systems have names that are no text")
def test_a_folder_whose_name_is_no_text_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / os.fsdecode(b"caf\xe9")
    scan = fake_scan(folder, 6)
    with pytest.raises(UserError, match="not text"):
        create_from_scan(tmp_path / "x.crowdclust", folder, scan, PlanSettings())
    assert not (tmp_path / "x.crowdclust").exists()


# Images that move


def check_its_images(path: Path, root: Path) -> None:
    with Campaign.open(path) as campaign:
        assert campaign.images_found
        assert campaign.image_root == root.resolve()
        assert all(campaign.item_path(item).is_file() for item in campaign.items())


@pytest.fixture
def placed(make_campaign: MakeCampaign, tmp_path: Path) -> Path:
    """A folder `study` with a campaign and its images."""
    campaign = make_campaign()
    campaign.close()
    study = tmp_path / "study"
    study.mkdir()
    campaign.path.rename(study / "birds.crowdclust")
    (tmp_path / "images").rename(study / "images")
    check_its_images(study / "birds.crowdclust", study / "images")
    return study


def test_file_and_folder_move_together(placed: Path) -> None:
    new = placed.with_name("new #1")
    placed.rename(new)
    check_its_images(new / "birds.crowdclust", new / "images")


def test_a_copy_uses_its_own_images(placed: Path) -> None:
    new = placed.with_name("copy")
    shutil.copytree(placed, new)
    check_its_images(new / "birds.crowdclust", new / "images")
    check_its_images(placed / "birds.crowdclust", placed / "images")


def test_only_the_file_moves(placed: Path, tmp_path: Path) -> None:
    far = tmp_path / "far" / "away"
    far.mkdir(parents=True)
    (placed / "birds.crowdclust").rename(far / "birds.crowdclust")
    (far / "images").mkdir()  # one of the same name that has none of them
    check_its_images(far / "birds.crowdclust", placed / "images")
    both = tmp_path / "both"
    both.mkdir()
    (tmp_path / "far").rename(both / "far")
    placed.rename(both / "study")
    check_its_images(both / "far" / "away" / "birds.crowdclust", both / "study" / "images")


def test_a_renamed_folder_is_found_after_relocating(placed: Path) -> None:
    path = placed / "birds.crowdclust"
    (placed / "images").rename(placed / "pictures")
    with Campaign.open(path) as campaign:
        assert not campaign.images_found
        assert campaign.image_root == (placed / "images").resolve()
        with pytest.raises(UserError, match="not where they were"):
            campaign.item_path(campaign.items()[0])
        with pytest.raises(UserError, match=r"none of this campaign's images.*photo #0"):
            campaign.relocate(placed)
        before = campaign.revision
        campaign.relocate(placed / "pictures")
        assert campaign.images_found
        assert campaign.revision > before
        assert campaign.item_path(campaign.items()[0]).is_file()
    check_its_images(path, placed / "pictures")


# Workers


def test_workers_are_numbered_and_named(make_campaign: MakeCampaign) -> None:
    campaign = make_campaign()
    assert campaign.add_worker("  Ann   Lee ") == Worker(0, "Ann Lee")
    assert campaign.add_worker("Zoë") == Worker(1, "Zoë")
    assert campaign.workers() == (Worker(0, "Ann Lee"), Worker(1, "Zoë"))
    for name, why in (
        ("ann LEE", "already"),
        ("Zoë", "already"),
        ("  ", "needs a name"),
        ("a\x07b", "a sign that cannot be seen"),
        ("x" * 81, "longer"),
    ):
        with pytest.raises(UserError, match=why):
            campaign.add_worker(name)
    assert len(campaign.workers()) == 2


def test_figures_of_workers(make_campaign: MakeCampaign) -> None:
    campaign = make_campaign()
    ann, _ = campaign.add_worker("Ann"), campaign.add_worker("Ben")
    do_next(campaign, ann)
    do_next(campaign, ann)
    first, second = worker_figures(campaign)
    assert (first.worker, first.hits, first.items, first.pair_labels, first.seconds_per_hit) == (ann, 2, 8, 12, 20.0)
    assert first.last_submitted_at is not None
    assert (second.hits, second.pair_labels, second.seconds_per_hit, second.last_submitted_at) == (0, 0, None, None)


# Answers as arrays


def test_the_table_is_the_responses_as_arrays(make_campaign: MakeCampaign) -> None:
    campaign = make_campaign()
    empty = read_table(campaign)
    assert (empty.n_items, empty.n_workers, empty.n_responses) == (12, 0, 0)
    ann, ben = campaign.add_worker("Ann"), campaign.add_worker("Ben")
    campaign.add_worker("Cem")
    for worker, groups in ((ann, 2), (ben, 3), (ben, 1), (ann, 4)):
        do_next(campaign, worker, groups)
    table = read_table(campaign)
    names = [item.path for item in campaign.items()]
    workers = [worker.name for worker in campaign.workers()]
    assert table.fingerprint() == ResponseTable.from_responses(read_responses(campaign), names, workers).fingerprint()
    assert (table.n_items, table.n_workers, table.n_responses, table.n_pair_labels) == (12, 3, 4, 24)


@given(st.lists(st.lists(st.integers(1, 5), min_size=1, max_size=6), min_size=0, max_size=8))
def test_canonical_numbers_of_many_responses_at_once(groups: list[list[int]]) -> None:
    ptr = np.concatenate([[0], np.cumsum([len(inside) for inside in groups])]).astype(np.int64)
    response = np.repeat(np.arange(len(groups)), [len(inside) for inside in groups]).astype(np.int64)
    flat = np.array([group for inside in groups for group in inside], dtype=np.int64)
    expected = [number for inside in groups for number in canonical_groups(inside).tolist()]
    assert _canonical(response, flat, ptr).tolist() == expected


# Without images


def test_a_campaign_without_images(tmp_path: Path) -> None:
    create_without_images(tmp_path / "t.crowdclust", PlanSettings(), ["a", "b", "a"])
    with Campaign.open(tmp_path / "t.crowdclust") as campaign:
        assert campaign.items() == (Item(0, "a"), Item(1, "b"))
        assert campaign.hits() == ()
        assert not campaign.has_images
        with pytest.raises(UserError, match="has no images"):
            campaign.item_path(campaign.items()[0])


@pytest.mark.parametrize(
    ("names", "loaded"),
    [
        ("campaign.recent folders progress_report", []),
        ("annotate.annotation campaign.campaigns campaign.checking exchange.importing", ["sqlalchemy"]),
    ],
)
def test_importing_the_services_loads_only_the_libraries_that_they_need(names: str, loaded: list[str]) -> None:
    script = (
        "import sys\n"
        f"for name in {names.split()!r}: __import__('crowdclust_app.services.' + name)\n"
        "print(sorted({'sqlalchemy', 'PIL', 'numba', 'scipy'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(loaded)
