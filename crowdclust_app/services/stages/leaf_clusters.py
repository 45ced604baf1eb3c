"""The leaves of the tree of clusters: where items end whose cluster was subdivided (gomes2011, section 4.1).

An item goes down into the stage of its category as far as that stage has a run that gives it a cluster; the run is the
newest one there, or the one from which the stages further down came. What the lead named, merged and moved counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from crowdclust_app.domain.campaign import WHOLE_COLLECTION
from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.domain.stages import StageInfo, category_path
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.campaign.responses import read_table
from crowdclust_app.services.clusters.categories import Categories, read_categories
from crowdclust_app.services.fits.results import Run, chances_of, entropy_bits
from crowdclust_app.services.fits.run_store import load_run, run_list
from crowdclust_app.services.stages.stages import stage_list
from crowdclust_app.services.verify.verdicts import verified_items

BETWEEN_NAMES = " / "


@dataclass(frozen=True, slots=True)
class LeafCluster:
    """Where an item ends, as a row of `clusters.csv` has it.

    Parameters
    ----------
    path
        `all/1/2`: the stage and the number of the category there, which for a moved item is where it was moved to.
    stage, cluster
        The stage whose run decided, and its cluster of the item.
    category
        Names from the root down, a number for one that has none; None where nothing on the way has a name.
    probability, entropy_bits
        Of that cluster within its stage; of all clusters of the stage.
    times_shown
        Responses of the stage that hold the item.
    verified
        What verification says of the item in that cluster.
    override
        Where the lead moved it, in that stage.
    """

    path: str
    stage: str
    cluster: int
    category: str | None
    probability: float
    entropy_bits: float
    times_shown: int
    verified: str | None
    override: str | None


def run_below(campaign: Campaign, stage: str, stages: Sequence[StageInfo]) -> int | None:
    """The run of a stage that the tree shows: the newest one that has a standing stage below it, else the newest.

    Parameters
    ----------
    stages
        `stage_list(campaign)`.

    Returns
    -------
    int or None
        None when the stage has no run.
    """
    numbers = [run.number for run in run_list(campaign) if run.stage == stage]
    divided = {below.run for below in stages if below.parent == stage and not below.removed and below.run is not None}
    return max((n for n in numbers if n in divided), default=None) or max(numbers, default=None)


def exported_run(campaign: Campaign) -> int | None:
    """The run whose tree is exported when none is chosen; None when there is none."""
    stages = stage_list(campaign)
    root = run_below(campaign, WHOLE_COLLECTION, stages)
    return root if root is not None else max((run.number for run in run_list(campaign)), default=None)


def older_than_newest(campaign: Campaign, number: int) -> tuple[str, ...]:
    """Sentences about newer runs of the same stage that a run with stages below it hides."""
    runs = {run.number: run for run in run_list(campaign)}
    stage = runs[number].stage
    newest = max(run.number for run in runs.values() if run.stage == stage)
    if newest == number:
        return ()
    return (f"Run {newest} of {stage} is newer than run {number}, whose clusters are written.",)


def leaves_below(campaign: Campaign, run: Run, cancel: CancelToken | None = None) -> dict[str, LeafCluster]:
    """Where items end that go further down than the clusters of a run.

    Parameters
    ----------
    cancel
        Stops it: answers to yes/no questions about the stages below are aggregated.

    Returns
    -------
    dict
        By item's name; items that stay in a cluster of the run itself are not in it.
    """
    return _below(campaign, run, stage_list(campaign), cancel)


def _below(
    campaign: Campaign, run: Run, stages: Sequence[StageInfo], cancel: CancelToken | None
) -> dict[str, LeafCluster]:
    mine = [stage for stage in stages if stage.run == run.number and not stage.removed]
    if not mine:
        return {}
    known = read_categories(campaign, run.number, run.result.responsibilities.shape[1])
    place_of = dict(zip(run.item_names, _places(run, known), strict=True))
    found: dict[str, LeafCluster] = {}
    for stage in mine:
        number = run_below(campaign, stage.name, stages)
        if number is None or stage.cluster is None:
            continue
        lower = load_run(campaign, number)
        own = _own_leaves(campaign, lower, cancel)
        own |= _below(campaign, lower, stages, cancel)
        category = known.together_with(stage.cluster)
        for name, leaf in own.items():
            if place_of.get(name) in category:
                found[name] = replace(leaf, category=_joined(known, stage.cluster, leaf))
    return found


def _own_leaves(campaign: Campaign, run: Run, cancel: CancelToken | None) -> dict[str, LeafCluster]:
    """The items of a stage's run in that run's clusters."""
    result = run.result
    known = read_categories(campaign, run.number, result.responsibilities.shape[1])
    places = _places(run, known)
    labels = np.where(result.shown, result.labels, 0)
    probabilities = chances_of(result)
    entropy = entropy_bits(np.clip(result.responsibilities, 0.0, 1.0))
    table = read_table(campaign, run.stage)
    times = dict(zip(table.item_names, table.times_shown.tolist(), strict=True))
    verified = verified_items(campaign, run, cancel)
    leaves = {}
    for number in np.flatnonzero(labels > 0).tolist():
        name, cluster, place = run.item_names[number], int(labels[number]), int(places[number])
        leaves[name] = LeafCluster(
            path=category_path(run.stage, place),
            stage=run.stage,
            cluster=cluster,
            category=known.name(place) or None,
            probability=float(probabilities[number, cluster - 1]),
            entropy_bits=float(entropy[number]),
            times_shown=times.get(name, 0),
            verified=verified.get(name),
            override=known.title(place).replace("Cluster ", "cluster ") if place != cluster else None,
        )
    return leaves


def _places(run: Run, known: Categories) -> list[int]:
    """Category of each item of a run, 0 for none."""
    labels = np.where(run.result.shown, run.result.labels, 0).astype(np.int64)
    return [int(place) for place in known.places(labels, run.item_names)]


def _joined(known: Categories, cluster: int, leaf: LeafCluster) -> str | None:
    """A leaf's names with that of the category above it in front."""
    above = known.name(cluster)
    if not above and leaf.category is None:
        return None
    last = leaf.category or leaf.path.rpartition("/")[2]
    return f"{above or cluster}{BETWEEN_NAMES}{last}"


def category_paths(campaign: Campaign, run: Run) -> Mapping[str, str]:
    """Path of the category of each item of a run that has one, by name, whatever is below it."""
    known = read_categories(campaign, run.number, run.result.responsibilities.shape[1])
    places = zip(run.item_names, _places(run, known), strict=True)
    return {name: category_path(run.stage, place) for name, place in places if place}
