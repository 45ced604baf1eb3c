"""What may leave a campaign besides its tables: a report, plots, photos by category, lists for other programs.

Everything is made in a hidden folder inside the chosen one and takes its place when all of it is whole. A file of the
same name is replaced then; a folder of photos that is there already is never touched: the export is refused. Photos
that are not where they were are left out, and named in `summary.json`.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.domain.errors import UserError
from crowdclust_app.io.atomic import make_folder, write_json, write_text
from crowdclust_app.io.figures import write_figure
from crowdclust_app.io.report_html import report_html
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.clusters.categories import read_categories
from crowdclust_app.services.clusters.overview import CampaignOverview, load_overview
from crowdclust_app.services.clusters.run_view import RunView
from crowdclust_app.services.exchange.exporting import export_campaign, hidden_folder, named_as_if_in
from crowdclust_app.services.exchange.reporting import campaign_report, write_html_report
from crowdclust_app.services.exchange.reporting.contents import every_plot
from crowdclust_app.services.exchange.reproduction import write_reproduction
from crowdclust_app.services.exchange.result_folders import read_summary, write_summary
from crowdclust_app.services.exchange.sorted_images import (
    SortedPhoto,
    fiftyone_files,
    label_studio_config,
    label_studio_tasks,
    refuse_used,
    write_folders,
)
from crowdclust_app.services.fits.run_store import load_run, run_list
from crowdclust_app.services.progress_report import Progress
from crowdclust_app.services.stages.leaf_clusters import exported_run, leaves_below

TABLES, REPORT, PDF, PLOTS = "tables", "report", "pdf", "plots"
PHOTOS, LINKS, LABEL_STUDIO, FIFTYONE, REPRODUCTION = "photos", "links", "label-studio", "fiftyone", "reproduction"

# How many missing photos a sentence names; summary.json names them all.
_NAMED = 20


class PartInfo(NamedTuple):
    """A part of an export in words.

    Parameters
    ----------
    places
        Files or folders that it makes in the chosen folder.
    needs_run, needs_photos
        What the campaign has to have.
    """

    title: str
    about: str
    places: tuple[str, ...]
    needs_run: bool = True
    needs_photos: bool = False


PARTS: Mapping[str, PartInfo] = {
    TABLES: PartInfo("Tables", "every table as CSV", (), needs_run=False),
    REPORT: PartInfo(
        "Report, HTML", "figures, galleries, workers and method in one file for a browser", ("report.html",)
    ),
    PDF: PartInfo("Report, PDF", "the same on pages", ("report.pdf",)),
    PLOTS: PartInfo("Plots", "every plot as PNG and SVG with its numbers as CSV", ("plots",)),
    PHOTOS: PartInfo("Photos, copied", "into one folder a category", ("photos",), needs_photos=True),
    LINKS: PartInfo("Photos, linked", "into one folder a category, without copying", ("photos",), needs_photos=True),
    LABEL_STUDIO: PartInfo(
        "Label Studio", "tasks with the category as a prediction", ("label-studio",), needs_photos=True
    ),
    FIFTYONE: PartInfo("FiftyOne", "an image classification data set", ("fiftyone",), needs_photos=True),
    REPRODUCTION: PartInfo("Reproduction", "responses, settings, versions and the command", ("reproduction",)),
}

PdfWriter = Callable[[str, Path], None]


def export_parts(
    campaign: Campaign,
    out: Path,
    parts: Sequence[str],
    anonymous: bool = False,
    run: int | None = None,
    progress: Progress | None = None,
    cancel: CancelToken | None = None,
    write_pdf: PdfWriter | None = None,
    *,
    without_photos: bool = False,
) -> tuple[Path, ...]:
    """Write parts of an export into a folder.

    Parameters
    ----------
    campaign
        What to write.
    out
        Folder, made if it is not there.
    parts
        Keys of `PARTS`.
    anonymous
        Write workers as numbers.
    run
        Number of the run; the one that `export_campaign` takes when None.
    progress, cancel
        Told and looked at often.
    write_pdf
        Turns a report, written as HTML for print, into a PDF file.
    without_photos
        Export also when not even the folder of the photos can be found.

    Returns
    -------
    tuple of Path
        What was written: files, and folders where a part is one.

    Raises
    ------
    UserError
        When a part is unknown, needs what the campaign does not have, or would go where something is; or when the
        folder cannot be written. Nothing is left then.
    Cancelled
        When asked to stop; nothing is left then.
    """
    chosen = _checked(campaign, out, parts, write_pdf, without_photos)
    number = run if run is not None else exported_run(campaign)
    written: list[Path] = []
    missing: dict[str, None] = {}
    others = [part for part in chosen if part != TABLES]
    if others:
        written += _write_others(campaign, out, others, anonymous, number, progress, cancel, write_pdf, missing)
    if TABLES in chosen:
        also = [path.name for path in written]
        written = [*export_campaign(campaign, out, anonymous, run, progress, cancel), *written]
        summary = read_summary(out)
        if missing:
            summary["warnings"].append(missing_photos_sentence(list(missing)))
        write_summary(out, {**summary, "also": also, "missing_photos": list(missing)})
    return tuple(written)


def missing_photos_sentence(missing: Sequence[str]) -> str:
    """Say how many photos an export left out because they were not found, and which."""
    names = ", ".join(missing[:_NAMED]) + (f" and {len(missing) - _NAMED:,} more" if len(missing) > _NAMED else "")
    many = "1 photo was" if len(missing) == 1 else f"{len(missing):,} photos were"
    return f"{many} not found and left out: {names}."


def parts_in_the_way(out: Path, parts: Sequence[str]) -> tuple[str, ...]:
    """Which files and folders of these parts are in a folder already."""
    places = [place for part in parts for place in PARTS[part].places]
    return tuple(place for place in dict.fromkeys(places) if (out / place).exists())


def _checked(
    campaign: Campaign, out: Path, parts: Sequence[str], write_pdf: PdfWriter | None, without_photos: bool
) -> list[str]:
    unknown = [part for part in parts if part not in PARTS]
    if unknown:
        raise UserError(f"there is no part {unknown[0]} of an export", todo=f"choose from {', '.join(PARTS)}")
    chosen = list(dict.fromkeys(parts))
    if not chosen:
        raise UserError("nothing is chosen to be exported", todo="choose what to write")
    if PHOTOS in chosen and LINKS in chosen:
        raise UserError("photos can be copied or linked, not both at once", todo="choose one of the two")
    if PDF in chosen and write_pdf is None:
        raise UserError(
            "a PDF file is only written from the window", todo="choose the report as HTML, or open the window"
        )
    if any(PARTS[part].needs_run for part in chosen) and not run_list(campaign):
        raise UserError("the campaign has no run yet", todo="run the inference first, or export the tables alone")
    there = campaign.has_images and (campaign.images_found or without_photos)
    if any(PARTS[part].needs_photos for part in chosen) and not there:
        raise UserError("the photos of this campaign cannot be found", todo="say where they are, then export again")
    if PHOTOS in chosen or LINKS in chosen:
        refuse_used(out / "photos")
    return chosen


def _write_others(
    campaign: Campaign,
    out: Path,
    parts: Sequence[str],
    anonymous: bool,
    run: int | None,
    progress: Progress | None,
    cancel: CancelToken | None,
    write_pdf: PdfWriter | None,
    missing: dict[str, None],
) -> list[Path]:
    if run is not None:
        load_run(campaign, run)  # says so when there is none
    make_folder(out)
    with hidden_folder(out) as hidden, named_as_if_in(out):
        overview = load_overview(campaign, run, cancel)
        assert overview.view is not None
        work = _Work(campaign, overview, overview.view, anonymous, progress, cancel, write_pdf, missing)
        for part in parts:
            if cancel is not None:
                cancel.check()
            _WRITERS[part](work, hidden)
        if cancel is not None:
            cancel.check()
        return [_take_place(hidden / place.name, out / place.name) for place in sorted(hidden.iterdir())]


class _Work(NamedTuple):
    campaign: Campaign
    overview: CampaignOverview
    view: RunView
    anonymous: bool
    progress: Progress | None
    cancel: CancelToken | None
    write_pdf: PdfWriter | None
    missing: dict[str, None]


def _photos_of(work: _Work) -> tuple[SortedPhoto, ...]:
    photos = sorted_photos(work.campaign, work.overview, work.view)
    work.missing.update(dict.fromkeys(photo.item for photo in photos if photo.file is None))
    return photos


def _report(work: _Work, hidden: Path) -> None:
    number = work.view.run.number
    write_html_report(work.campaign, hidden / "report.html", number, work.anonymous, work.progress, work.cancel)


def _pdf(work: _Work, hidden: Path) -> None:
    report = campaign_report(work.campaign, work.view.run.number, work.anonymous, work.progress, work.cancel)
    assert work.write_pdf is not None
    work.write_pdf(report_html(report, for_print=True), hidden / "report.pdf")


def _plots(work: _Work, hidden: Path) -> None:
    folder = hidden / "plots"
    folder.mkdir()
    for plot in every_plot(work.campaign, work.view, work.anonymous):
        if work.cancel is not None:
            work.cancel.check()
        write_figure(folder, plot)


def _photos(work: _Work, hidden: Path) -> None:
    write_folders(_photos_of(work), hidden / "photos", "copy", work.progress, work.cancel)


def _links(work: _Work, hidden: Path) -> None:
    write_folders(_photos_of(work), hidden / "photos", "link", work.progress, work.cancel)


def _label_studio(work: _Work, hidden: Path) -> None:
    folder = hidden / "label-studio"
    folder.mkdir()
    photos = [photo for photo in _photos_of(work) if photo.file is not None]
    tasks = label_studio_tasks(photos, work.campaign.image_root, f"Crowdclust run {work.view.run.number}")
    write_text(folder / "tasks.json", json.dumps(tasks, indent=1, ensure_ascii=False, allow_nan=False) + "\n")
    write_text(folder / "interface.xml", label_studio_config(photos))


def _fiftyone(work: _Work, hidden: Path) -> None:
    folder = hidden / "fiftyone"
    folder.mkdir()
    for name, content in fiftyone_files(_photos_of(work)).items():
        write_json(folder / name, content)


def _reproduction(work: _Work, hidden: Path) -> None:
    folder = hidden / "reproduction"
    folder.mkdir()
    write_reproduction(work.campaign, work.view, folder, work.anonymous)


_WRITERS: Mapping[str, Callable[[_Work, Path], None]] = {
    REPORT: _report,
    PDF: _pdf,
    PLOTS: _plots,
    PHOTOS: _photos,
    LINKS: _links,
    LABEL_STUDIO: _label_studio,
    FIFTYONE: _fiftyone,
    REPRODUCTION: _reproduction,
}


def sorted_photos(campaign: Campaign, overview: CampaignOverview, view: RunView) -> tuple[SortedPhoto, ...]:
    """Every item with its photo and category: the lead's name, else `cluster N`; moved photos where they were moved.

    Where a cluster was subdivided the category is the leaf below it, `cluster 1/2` without names.
    """
    categories = read_categories(campaign, view.run.number, len(view.run.result.means))
    places = categories.places(view.labels, view.item_names)
    leaves = leaves_below(campaign, view.run)
    photos = []
    for number, name in enumerate(view.item_names):
        leaf = leaves.get(name)
        file = overview.files[name][0] if name in overview.files else None
        # unlike Path.is_file, False for a folder that may not be entered
        file = file if file is not None and os.path.isfile(file) else None  # noqa: PTH113
        if leaf is not None:
            below = leaf.category or f"cluster {leaf.path.removeprefix(f'{view.run.stage}/')}"
            photos.append(SortedPhoto(name, file, below, leaf.probability))
            continue
        place = int(places[number])
        category = (categories.name(place) or f"cluster {place}") if place else ""
        sure = float(view.probability[number]) if place and place == view.labels[number] else None
        photos.append(SortedPhoto(name, file, category, sure))
    return tuple(photos)


def _take_place(made: Path, place: Path) -> Path:
    """Move a finished file or folder to its place; an earlier one goes first, also one that a killed export left."""
    earlier = place.with_name(f".{place.name}.earlier")
    shutil.rmtree(earlier, ignore_errors=True)
    if made.is_dir() and place.is_dir():
        place.replace(earlier)
    made.replace(place)
    shutil.rmtree(earlier, ignore_errors=True)
    return place
