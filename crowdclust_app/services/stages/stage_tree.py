"""The tree of clusters as the Stages screen shows it: stages, their categories, and what each has become."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from crowdclust_app.domain.campaign import WHOLE_COLLECTION, PlanSettings
from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.domain.stages import StageInfo, category_path
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.campaign.counts import submitted_times
from crowdclust_app.services.campaign.responses import read_tables
from crowdclust_app.services.clusters.categories import Categories, read_categories
from crowdclust_app.services.clusters.item_facts import DOUBTFUL_BELOW
from crowdclust_app.services.clusters.run_view import RunView, view_run
from crowdclust_app.services.fits.results import RunInfo
from crowdclust_app.services.fits.run_store import load_run, run_list
from crowdclust_app.services.stages.leaf_clusters import run_below
from crowdclust_app.services.stages.stages import FEWEST_ITEMS, default_plan, stage_list
from crowdclust_app.storage import catalogue


@dataclass(frozen=True, slots=True)
class CategoryNode:
    """A category of a stage's run: one cluster, several that the lead made one, or photos that were split off.

    Parameters
    ----------
    place
        The number that it is subdivided by; of several clusters the first.
    clusters
        All its places.
    name
        What the lead called it; "" for nothing.
    path
        `all/1`.
    items : ndarray
        Rows of the run's items, the most confident first; moved photos come last.
    mean_probability
        Mean probability of its items to be in their cluster; None where none of them was shown.
    doubtful
        How many items are doubtful.
    stage
        What it was subdivided into.
    """

    place: int
    clusters: tuple[int, ...]
    name: str
    path: str
    items: NDArray[np.int64]
    mean_probability: float | None
    doubtful: int
    stage: StageNode | None = None

    @property
    def title(self) -> str:
        """Its name, or which cluster it is."""
        return self.name or f"Cluster {self.place}"

    @property
    def divisible(self) -> bool:
        """Whether there are photos enough to subdivide it."""
        return len(self.items) >= FEWEST_ITEMS


@dataclass(frozen=True, slots=True)
class StageNode:
    """A stage with the categories of one of its runs.

    Parameters
    ----------
    info
        The stage and how far its HITs have come.
    view
        The run that is shown; None without one.
    categories
        That run's, the largest first.
    newest
        Number of the newest run of the stage, None without one.
    elsewhere
        Standing stages below that came from other runs of this stage, or with a table.
    removed
        Stages below that were removed.
    """

    info: StageInfo
    view: RunView | None
    categories: tuple[CategoryNode, ...] = ()
    newest: int | None = None
    elsewhere: tuple[StageNode, ...] = ()
    removed: tuple[StageInfo, ...] = ()

    @property
    def cannot_be_divided(self) -> bool:
        """Whether its run found one cluster: people see no kinds here (as in the paper's mountains)."""
        return self.view is not None and self.view.run.result.responsibilities.shape[1] == 1

    @property
    def hidden_run(self) -> int | None:
        """A newer run of the stage than the one shown, if there is one."""
        shown = None if self.view is None else self.view.run.number
        return self.newest if self.newest != shown else None


@dataclass(frozen=True, slots=True)
class StageTree:
    """All stages of a campaign.

    Parameters
    ----------
    root
        The whole collection.
    runs
        Its runs, newest last.
    files
        Photo and content hash of every item whose photo can be found, by the item's name.
    seconds_a_photo
        Median active seconds a photo of a HIT, None while nothing was measured.
    """

    root: StageNode
    runs: tuple[RunInfo, ...]
    files: Mapping[str, tuple[Path, str | None]] = field(default_factory=dict)
    seconds_a_photo: float | None = None


def look_at_stages(campaign: Campaign, run: int | None = None, cancel: CancelToken | None = None) -> StageTree:
    """Read the tree of clusters.

    Parameters
    ----------
    run
        The run of its stage to show; where None, or for the other stages, the one that stages below it came from, else
        the newest (`leaves.run_below`).
    """
    stages = stage_list(campaign)
    runs = run_list(campaign)
    chosen = {stage.name: run_below(campaign, stage.name, stages) for stage in stages}
    chosen |= {info.stage: info.number for info in runs if info.number == run}
    tables = read_tables(campaign, [name for name, number in chosen.items() if number is not None])
    views = {}
    for name, number in chosen.items():
        if cancel:
            cancel.check()
        if number is not None:
            views[name] = view_run(load_run(campaign, number), tables[name])
    known = {name: _categories_of(campaign, view) for name, view in views.items()}
    newest = {info.stage: info.number for info in runs}
    looking = _Looking(stages, views, known, newest)
    files = {}
    if campaign.has_images and campaign.images_found:
        files = {item.path: (campaign.item_path(item), item.content_hash) for item in campaign.items()}
    return StageTree(
        root=looking.stage(next(stage for stage in stages if stage.parent is None)),
        runs=tuple(info for info in runs if info.stage == WHOLE_COLLECTION),
        files=files,
        seconds_a_photo=seconds_a_photo(campaign),
    )


def plan_for(stage: StageNode, category: CategoryNode) -> PlanSettings:
    """The plan that subdividing a category begins with."""
    return default_plan(stage.info.settings, len(category.items))


def seconds_a_photo(campaign: Campaign) -> float | None:
    """Median active seconds that a photo of a submitted HIT took; None while nothing was measured."""
    with campaign.database.read() as connection:
        sizes = catalogue.hit_sizes(connection)
    measured = [time.active_seconds / sizes[time.hit] for time in submitted_times(campaign) if sizes.get(time.hit)]
    measured = [seconds for seconds in measured if seconds > 0]
    return float(np.median(measured)) if measured else None


def _categories_of(campaign: Campaign, view: RunView) -> tuple[CategoryNode, ...]:
    """The categories of a run without what is below them, the largest first, those without a name in their order."""
    known = read_categories(campaign, view.run.number, view.run.result.responsibilities.shape[1])
    places = known.places(view.labels, view.item_names)
    found: list[CategoryNode] = []
    done: set[int] = set()
    for place in range(1, known.n_places + 1):
        together = tuple(sorted(known.together_with(place)))
        if place in done:
            continue
        done.update(together)
        items = np.flatnonzero(np.isin(places, together))
        if len(items):
            found.append(_category(view, known, together, items))
    return tuple(sorted(found, key=lambda node: (-len(node.items), node.place)))


def _category(view: RunView, known: Categories, together: tuple[int, ...], items: NDArray[np.int64]) -> CategoryNode:
    here = np.isin(view.labels[items], together)
    sure = np.where(here, np.nan_to_num(view.probability[items]), -1.0)
    inside, certain = (values[items[here]] for values in (view.probability, view.certainty))
    return CategoryNode(
        place=together[0],
        clusters=together,
        name=known.name(together[0]),
        path=category_path(view.run.stage, together[0]),
        items=items[np.lexsort((items, -np.round(sure, 6)))],
        mean_probability=float(inside.mean()) if len(inside) else None,
        doubtful=int((certain < DOUBTFUL_BELOW).sum()),
    )


@dataclass(frozen=True, slots=True)
class _Looking:
    """What was read of the campaign while the tree is put together."""

    stages: Sequence[StageInfo]
    views: Mapping[str, RunView]
    known: Mapping[str, tuple[CategoryNode, ...]]
    newest: Mapping[str, int]

    def stage(self, info: StageInfo) -> StageNode:
        """A stage with everything below it."""
        view = self.views.get(info.name)
        below = [stage for stage in self.stages if stage.parent == info.name]
        number = view.run.number if view is not None else None
        standing = [stage for stage in below if not stage.removed]
        mine = {s.cluster: s for s in standing if s.run is not None and s.run == number and s.cluster is not None}
        hung: set[str] = set()
        categories = []
        for node in self.known.get(info.name, ()):
            found = next((mine[cluster] for cluster in node.clusters if cluster in mine), None)
            if found is not None:
                hung.add(found.name)
                node = replace(node, stage=self.stage(found))
            categories.append(node)
        return StageNode(
            info=info,
            view=view,
            categories=tuple(categories),
            newest=self.newest.get(info.name),
            elsewhere=tuple(self.stage(stage) for stage in standing if stage.name not in hung),
            removed=tuple(stage for stage in below if stage.removed),
        )
