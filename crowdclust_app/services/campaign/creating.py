"""Make a campaign file from a folder of images; it is there whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from crowdclust_app.domain.campaign import FILE_SUFFIX, WHOLE_COLLECTION, Item, ItemStatus, PlanSettings
from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.domain.errors import UserError
from crowdclust_app.sampling.plan import make_plan, plan_figures
from crowdclust_app.services.annotate.repeats import add_repeats
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.campaign.image_root import relative_root
from crowdclust_app.services.campaign.planning import planned_hits
from crowdclust_app.services.campaign.scanning import ScanReport, scan_images
from crowdclust_app.services.progress_report import Progress, ProgressReport
from crowdclust_app.storage.catalogue import insert_campaign, insert_hits, insert_items, insert_left_out, insert_stage
from crowdclust_app.storage.connection import Connection, building, refuse_existing
from crowdclust_app.storage.times import now
from crowdclust_app.version import __version__


@dataclass(frozen=True, slots=True)
class CreationReport:
    """What became of a folder.

    Parameters
    ----------
    campaign
        Path of the new file.
    added
        Images in it.
    duplicates
        `(path, path of the item with the same content)`, left out.
    unreadable
        `(path, reason)`, left out.
    warnings
        Sentences for the lead, also about what was left out.
    plan_warnings
        Those of them that are about the plan.
    file_warnings
        Those of them that are about what lay beside the file's name.
    """

    campaign: str
    added: int
    duplicates: tuple[tuple[str, str], ...] = ()
    unreadable: tuple[tuple[str, str], ...] = ()
    warnings: tuple[str, ...] = ()
    plan_warnings: tuple[str, ...] = ()
    file_warnings: tuple[str, ...] = ()


def create_campaign(
    path: Path,
    images: Path,
    settings: PlanSettings,
    instructions: str = "",
    progress: Progress | None = None,
    cancel: CancelToken | None = None,
) -> CreationReport:
    """Scan a folder of images and make a campaign of it.

    Parameters
    ----------
    path
        The new file; `.crowdclust` is added to a name without it.
    images
        The image root, searched with all its folders.
    settings
        What is asked of the plan.
    instructions
        Shown to annotators.

    Raises
    ------
    UserError
        When the file exists, cannot be written, or the folder has fewer than 2 readable images.
    Cancelled
        When asked to stop; nothing is left behind.
    """
    refuse_existing(campaign_path(path))  # before an hour of scanning, and again at the end
    scan = scan_images(images, progress, cancel)
    return create_from_scan(path, images, scan, settings, instructions, progress, cancel)


def create_from_scan(
    path: Path,
    folder: Path,
    scan: ScanReport,
    settings: PlanSettings,
    instructions: str = "",
    progress: Progress | None = None,
    cancel: CancelToken | None = None,
    repeat_share: float = 0.0,
) -> CreationReport:
    """Make a campaign of a folder that was scanned already.

    Parameters
    ----------
    repeat_share
        Share of the HITs that are handed out a second time to some who did them (`services.repeats`).
    """
    path = campaign_path(path)
    _say(progress, 0, "Planning the HITs")
    plan = make_plan(len(scan.items), settings)
    figures = plan_figures(plan)
    hits = planned_hits(plan.hits, settings)
    root = folder.resolve()
    _refuse_unnamable(root)
    said: list[str] = []
    with _new_file(path, instructions, settings, root, said) as connection:
        _say(progress, 1, "Writing the images")
        insert_items(connection, (replace(item, number=at) for at, item in enumerate(scan.items)))
        insert_left_out(connection, ItemStatus.DUPLICATE, scan.duplicates)
        insert_left_out(connection, ItemStatus.UNREADABLE, scan.unreadable)
        if cancel:
            cancel.check()
        _say(progress, 2, "Writing the HITs")
        insert_hits(connection, hits)
        if cancel:
            cancel.check()
        _say(progress, 3, "Saving the campaign")
    if repeat_share > 0:
        _plan_repeats(path, repeat_share)
    _say(progress, 4, "Saved")
    return CreationReport(
        campaign=str(path),
        added=len(scan.items),
        duplicates=scan.duplicates,
        unreadable=scan.unreadable,
        warnings=(*said, *scan.warnings(), *figures.warnings),
        plan_warnings=tuple(figures.warnings),
        file_warnings=tuple(said),
    )


def _plan_repeats(path: Path, share: float) -> None:
    with Campaign.open(path) as campaign:
        add_repeats(campaign, share)


def create_without_images(path: Path, settings: PlanSettings, items: Iterable[str] = ()) -> CreationReport:
    """Make a campaign for answers that come from tables; its items are names and it plans no HITs.

    Importing responses into it adds the items that they name.
    """
    path = campaign_path(path)
    names = list(dict.fromkeys(items))
    with _new_file(path, "", settings, None) as connection:
        insert_items(connection, (Item(number, name) for number, name in enumerate(names)))
    return CreationReport(campaign=str(path), added=len(names))


def _refuse_unnamable(root: Path) -> None:
    """Some systems allow names that are no text; the campaign file could not hold where its images are."""
    try:
        str(root).encode("utf-8")
    except UnicodeEncodeError as error:
        shown = os.fsencode(root).decode("utf-8", "replace")
        raise UserError("the name of this folder is not text", where=shown, todo="rename it") from error


def campaign_path(path: Path) -> Path:
    """Where a campaign of this name goes: an absolute path that ends in `.crowdclust`."""
    if not path.name:
        raise UserError("the campaign needs a file name", where=str(path), todo="write one such as birds.crowdclust")
    named = path if path.suffix.lower() == FILE_SUFFIX else path.with_name(path.name + FILE_SUFFIX)
    return named.absolute().parent.resolve() / named.name


@contextmanager
def _new_file(
    path: Path, instructions: str, settings: PlanSettings, root: Path | None, said: list[str] | None = None
) -> Iterator[Connection]:
    """A new campaign file that has its settings and waits for its items."""
    with building(path, said) as connection:
        insert_campaign(
            connection,
            instructions=instructions,
            root_relative=None if root is None else relative_root(path, root),
            root_absolute=None if root is None else str(root),
            created_with=__version__,
            now=now(),
        )
        insert_stage(connection, WHOLE_COLLECTION, settings, now())
        yield connection


def _say(progress: Progress | None, done: int, what: str) -> None:
    if progress:
        progress(ProgressReport(done, 4, what))
