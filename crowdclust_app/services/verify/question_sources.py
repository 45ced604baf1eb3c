"""What a lead can ask questions about, and what an annotator sees beside a photo."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from crowdclust_app.domain.questions import QuestionSet
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.campaign.responses import read_table
from crowdclust_app.services.clusters.run_view import RunView, view_run
from crowdclust_app.services.fits.run_store import load_run, run_list

NEIGHBOURS = 12


@dataclass(frozen=True, slots=True)
class ItemSource:
    """Some items that a question can be asked about.

    Parameters
    ----------
    title
        "Cluster 3 of run 2".
    sentence
        A sentence to begin from; "" where there is no obvious one.
    items
        Item numbers, the surest first where that is known.
    run, cluster
        The cluster, if it is one.
    """

    title: str
    sentence: str
    items: tuple[int, ...]
    run: int | None = None
    cluster: int | None = None


def item_sources(campaign: Campaign, run: int | None = None) -> tuple[ItemSource, ...]:
    """The clusters of a run (the newest when None), its doubtful items, all items.

    Parameters
    ----------
    run
        Number of a stored run; the newest when there is none of this number.
    """
    items = campaign.items()
    numbers = {item.path: item.number for item in items}
    sources: list[ItemSource] = []
    view = _view(campaign, run)
    if view is not None:

        def known(rows: Sequence[int]) -> tuple[int, ...]:
            return tuple(numbers[view.item_names[row]] for row in rows if view.item_names[row] in numbers)

        sources += [
            ItemSource(
                title=f"Cluster {cluster.number} of run {view.run.number}",
                sentence="Does this belong with the photos on the right?",
                items=known(cluster.items.tolist()),
                run=view.run.number,
                cluster=cluster.number,
            )
            for cluster in view.clusters
        ]
        doubtful = known(view.doubtful.tolist())
        if doubtful:
            sources.append(ItemSource(f"Doubtful photos of run {view.run.number}", "", doubtful))
    sources.append(ItemSource("All photos", "", tuple(item.number for item in items)))
    return tuple(sources)


def neighbours(campaign: Campaign, asked: QuestionSet) -> tuple[int, ...]:
    """The surest items of the cluster that a set is about, to be shown beside each of its photos; else none."""
    if asked.run is None:
        return ()
    view = _view(campaign, asked.run)
    if view is None or view.run.number != asked.run:
        return ()
    numbers = {item.path: item.number for item in campaign.items()}
    found = next((cluster for cluster in view.clusters if cluster.number == asked.cluster), None)
    rows = [] if found is None else found.items[: NEIGHBOURS + 1].tolist()
    return tuple(numbers[view.item_names[row]] for row in rows if view.item_names[row] in numbers)


def _view(campaign: Campaign, number: int | None) -> RunView | None:
    runs = run_list(campaign)
    if not runs:
        return None
    known = {run.number for run in runs}
    run = load_run(campaign, number if number in known else runs[-1].number)
    view = view_run(run, read_table(campaign, run.stage))
    return view if len(view.clusters) and np.any(view.labels > 0) else None
