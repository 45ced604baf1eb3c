"""What the Clusters and Workers screens show of a campaign: one run, its workers, what the lead made of it.

Everything here is arrays and frozen values, made once off the main thread; a screen only reads them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from crowdclust_app.domain.campaign import WHOLE_COLLECTION
from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.campaign.counts import submitted_times
from crowdclust_app.services.campaign.exclusions import exclusions
from crowdclust_app.services.campaign.left_out import Exclusions
from crowdclust_app.services.campaign.responses import read_table
from crowdclust_app.services.clusters.categories import Categories, read_categories
from crowdclust_app.services.clusters.category_rows import Arrangement, arrange
from crowdclust_app.services.clusters.comparing import known_categories, truth_order
from crowdclust_app.services.clusters.embedding import Axis, axes_of
from crowdclust_app.services.clusters.run_view import RunView, view_run
from crowdclust_app.services.fits.results import RunInfo
from crowdclust_app.services.fits.run_store import load_run, run_list
from crowdclust_app.services.workers.worker_rows import WorkerRow, worker_rows


@dataclass(frozen=True, slots=True)
class CampaignOverview:
    """A campaign as the Clusters and Workers screens show it.

    Parameters
    ----------
    responses
        Submitted so far.
    runs
        Newest last.
    view
        The shown run; None when there is none.
    workers
        With the figures of that run, or without.
    files
        Photo and content hash of every item whose photo can be found, by the item's name.
    categories
        What the lead made of that run's clusters; None without a run.
    truth, truth_order
        Known category by item's name, and all of them in the lead's order, what is not in it last.
    left_out
        What runs leave out by now.
    axes
        Every axis on which the run's items can be shown, by key.
    arrangement
        The categories, made ready to be shown; None without a run.
    """

    responses: int
    runs: tuple[RunInfo, ...]
    view: RunView | None
    workers: tuple[WorkerRow, ...]
    files: Mapping[str, tuple[Path, str | None]]
    categories: Categories | None = None
    truth: Mapping[str, str] = field(default_factory=dict)
    truth_order: tuple[str, ...] = ()
    left_out: Exclusions = field(default_factory=Exclusions)
    axes: Mapping[str, Axis] = field(default_factory=dict)
    arrangement: Arrangement | None = None

    @property
    def exclusions_changed(self) -> bool:
        """Whether the run shown left out something else than runs would by now."""
        if self.view is None:
            return False
        followed = self.view.run.result.summary.get("exclusions") or ()
        return tuple(followed) != self.left_out.decisions


def load_overview(campaign: Campaign, number: int | None = None, cancel: CancelToken | None = None) -> CampaignOverview:
    """Read what the Clusters and Workers screens show.

    Parameters
    ----------
    number
        The run to look at. When None, or when there is none of this number, the newest of the whole collection, else
        the newest of all.
    """
    runs = run_list(campaign)
    stages = {run.number: run.stage for run in runs}
    offered = [run.number for run in runs if run.stage == WHOLE_COLLECTION] or list(stages)
    shown = number if number in stages else max(offered, default=None)
    stage = WHOLE_COLLECTION if shown is None else stages[shown]
    left_out = exclusions(campaign)
    table = read_table(campaign, stage)
    whole = read_table(campaign, stage, everything=True) if left_out.decisions else table
    seconds = active_seconds(campaign)
    view = None
    if shown is not None:
        run = load_run(campaign, shown)
        if cancel:
            cancel.check()
        view = view_run(run, table, seconds, whole, left_out)
    nowhere = np.zeros(whole.n_items, dtype=np.int64)
    workers = view.workers if view else worker_rows(whole, nowhere, seconds, left_out=left_out)
    truth, order = campaign.truth(), truth_order(campaign)
    called = None
    if view is not None:
        called = read_categories(campaign, view.run.number, view.run.result.responsibilities.shape[1])
    return CampaignOverview(
        responses=table.n_responses,
        runs=runs,
        view=view,
        workers=workers,
        files=_photo_files(campaign),
        categories=called,
        truth=truth,
        truth_order=known_categories(truth, order) or order,
        left_out=left_out,
        axes=axes_of(view) if view is not None else {},
        arrangement=arrange(view, called) if view is not None and called is not None else None,
    )


def active_seconds(campaign: Campaign) -> dict[str, list[float]]:
    """Active seconds of the submitted HITs of every worker, where they were measured."""
    seconds: dict[str, list[float]] = {}
    for time in submitted_times(campaign):
        seconds.setdefault(time.worker, []).append(time.active_seconds)
    return seconds


def _photo_files(campaign: Campaign) -> dict[str, tuple[Path, str | None]]:
    if not campaign.has_images or not campaign.images_found:
        return {}
    return {item.path: (campaign.item_path(item), item.content_hash) for item in campaign.items()}
