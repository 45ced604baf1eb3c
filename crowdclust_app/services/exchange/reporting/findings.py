"""What a report says of the clusters of a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from crowdclust_app.domain.errors import UserError
from crowdclust_app.domain.report import Block, DataTable, Facts, Paragraph, PhotoRow, ReportPhoto, Section, Sentences
from crowdclust_app.io.thumbnails import thumbnail_jpeg
from crowdclust_app.services.campaign.counts import CampaignFigures
from crowdclust_app.services.clusters.item_facts import DOUBTFUL_BELOW
from crowdclust_app.services.clusters.run_view import ClusterRow, RunView
from crowdclust_app.services.fits.results import heldout_unit
from crowdclust_app.services.fits.verdicts import without_names

if TYPE_CHECKING:
    from pathlib import Path


PHOTOS_A_CLUSTER = 12
MOST_GALLERIES = 60
"""Clusters beyond so many are in the table alone: a report of three hundred galleries is read by nobody."""


def glance_section(view: RunView, figures: CampaignFigures, anonymous: bool = False) -> Section:
    """What a reader wants within a minute: how much there was, what came out, how far to trust it.

    With `anonymous`, no worker is named.
    """
    summary = view.run.result.summary
    shown, workers = view.labels > 0, int(summary["workers"])
    rows = [
        ("Photos", f"{len(shown):,}, of which {int(shown.sum()):,} were sorted with others"),
        ("Responses", f"{int(summary['responses']):,} by {workers:,} {'worker' if workers == 1 else 'workers'}"),
        ("Pair labels", f"{int(summary['pair_labels']):,}"),
        ("Clusters", f"{len(view.clusters):,}"),
        ("Doubtful photos", f"{len(view.doubtful):,}"),
        ("Photos flagged as broken", f"{figures.flags:,}"),
        ("Run", f"{view.run.number}, {view.run.created_at:%Y-%m-%d %H:%M} UTC, {view.run.seconds:.1f} s"),
    ]
    if summary.get("heldout_loglik") is not None:
        rows.insert(
            4,
            (
                "Held-out prediction",
                f"{float(summary['heldout_loglik']):z.3f} nats a {heldout_unit(summary)} (standard error "
                f"{float(summary['heldout_se'] or 0.0):.3f})",
            ),
        )
    if view.new_responses:
        rows.append(("Responses since the run", f"{view.new_responses:,}, not in these figures"))

    told = without_names(summary) if anonymous else summary
    return Section("At a glance", (Facts(tuple(rows)), Sentences(tuple(told.get("verdicts") or ()))))


def clusters_section(
    view: RunView,
    name_of: Mapping[int, str],
    pictures: Callable[[Sequence[int]], tuple[ReportPhoto, ...]],
    figures: Sequence[Block] = (),
) -> Section:
    """The table of clusters, and the surest photos of each.

    Parameters
    ----------
    name_of
        Category of a cluster by its number, where it has one.
    pictures
        Makes photos of item numbers.
    figures
        Plots with captions, to stand below the table.
    """
    blocks: list[Block] = [_cluster_table(view, name_of), *figures]
    listed = view.clusters[:MOST_GALLERIES]
    blocks += [_gallery(view, row, name_of.get(row.number, ""), pictures) for row in listed]
    if len(view.clusters) > MOST_GALLERIES:
        blocks.append(
            Paragraph(f"The other {len(view.clusters) - MOST_GALLERIES} clusters are in the table above alone.")
        )
    if len(view.doubtful):
        photos = pictures(view.doubtful[: 2 * PHOTOS_A_CLUSTER].tolist())
        blocks.append(
            PhotoRow("Doubtful photos", "The least sure first; the cluster and its probability below.", photos)
        )
    return Section("Clusters", tuple(blocks))


def _cluster_table(view: RunView, name_of: Mapping[int, str]) -> DataTable:
    shown = max(1, int((view.labels > 0).sum()))
    rows = tuple(
        (
            str(row.number),
            name_of.get(row.number, ""),
            f"{row.size:,}",
            f"{row.size / shown:.1%}",
            f"{row.mean_probability:.2f}",
            f"{row.doubtful:,}",
        )
        for row in view.clusters
    )
    return DataTable(
        ("Cluster", "Category", "Photos", "Share", "Mean probability", "Doubtful"),
        rows,
        (True, False, True, True, True, True),
        "Cluster 1 is the largest. A photo is doubtful when its cluster has less than "
        f"{DOUBTFUL_BELOW:g} of the probability of all clusters.",
    )


def _gallery(
    view: RunView, row: ClusterRow, name: str, pictures: Callable[[Sequence[int]], tuple[ReportPhoto, ...]]
) -> PhotoRow:
    title = f"Cluster {row.number}" + (f": {name}" if name else "")
    caption = f"{row.size:,} {'photo' if row.size == 1 else 'photos'}, the surest first"
    return PhotoRow(title, caption, pictures(row.items[:PHOTOS_A_CLUSTER].tolist()))


def photo_maker(
    view: RunView, files: Mapping[str, tuple[Path, str | None]]
) -> Callable[[Sequence[int]], tuple[ReportPhoto, ...]]:
    """Make small photos of items; one that cannot be read is named without a picture.

    Parameters
    ----------
    files
        Photo of every item that has one, by the item's name.
    """

    def make(items: Sequence[int]) -> tuple[ReportPhoto, ...]:
        photos = []
        for item in items:
            name = view.item_names[item]
            jpeg: bytes | None = None
            if name in files:
                try:
                    jpeg = thumbnail_jpeg(files[name][0])
                except UserError:
                    jpeg = None
            photos.append(ReportPhoto(name, jpeg, _note(view, item) if jpeg else name))
        return tuple(photos)

    return make


def _note(view: RunView, item: int) -> str:
    return f"{int(view.labels[item])} · {float(view.probability[item]):.2f}" if view.labels[item] else "not sorted"
