"""Names and moved photos of an earlier run for a new one, where its clusters hold mostly the same photos."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.campaign.decisions import decide_all, standing
from crowdclust_app.services.clusters.categories import KINDS, MOVE, NAME, Categories, read_categories
from crowdclust_app.services.fits.results import Run
from crowdclust_app.services.fits.run_store import load_run, run_list

SHARE = 0.5
"""A cluster takes a name when more than this share of its photos had it before."""


def carry_over(campaign: Campaign, run: Run) -> Categories:
    """Give a new run the names of the newest earlier run of its stage in which something was decided.

    A cluster takes the name that most of its photos had, where these are more than half of those that the earlier run
    knew; so clusters that came of one category are one category again. A photo that had been moved is moved again,
    where its category still is and it would not be in it. All of it is marked as carried over.

    Parameters
    ----------
    run
        As it is stored; nothing has been decided about it yet.

    Returns
    -------
    Categories
        The decisions in force for it now.
    """
    n_clusters = run.result.responsibilities.shape[1]
    decided = {decision.run for decision in standing(campaign, *KINDS)}
    earlier = [info.number for info in run_list(campaign) if info.stage == run.stage and info.number < run.number]
    source = max((number for number in earlier if number in decided), default=None)
    if source is not None:
        old = load_run(campaign, source)
        before = read_categories(campaign, source, old.result.responsibilities.shape[1])
        details = _names(before, old, run)
        details += _moves(before, old, run, {cluster: d["name"] for _, d in details for cluster in d["clusters"]})
        if details:
            decide_all(campaign, [(kind, detail | {"carried_from": source}) for kind, detail in details], run.number)
    return read_categories(campaign, run.number, n_clusters)


def _labels(run: Run) -> NDArray[np.int64]:
    return np.where(run.result.shown, run.result.labels, 0).astype(np.int64)


def _names(before: Categories, old: Run, new: Run) -> list[tuple[str, dict[str, Any]]]:
    """A name for each cluster that has most of a category."""
    places = before.places(_labels(old), old.item_names)
    called = {
        item: before.name(place) for item, place in zip(old.item_names, places.tolist(), strict=True) if place > 0
    }
    found: dict[str, list[int]] = {}
    counts: dict[int, Counter[str]] = {}
    for item, label in zip(new.item_names, _labels(new).tolist(), strict=True):
        if label and item in called:
            counts.setdefault(label, Counter())[called[item]] += 1
    for cluster, names in sorted(counts.items()):
        name, most = max(names.items(), key=lambda entry: (entry[1], entry[0]))
        if name and most > SHARE * names.total():
            found.setdefault(name, []).append(cluster)
    return [(NAME, {"clusters": clusters, "name": name}) for name, clusters in found.items()]


def _moves(before: Categories, old: Run, new: Run, names: dict[int, str]) -> list[tuple[str, dict[str, Any]]]:
    """Photos that the lead had put into a category and that the new run does not have there."""
    labels = dict(zip(new.item_names, _labels(new).tolist(), strict=True))
    was = dict(zip(old.item_names, _labels(old).tolist(), strict=True))
    clusters: dict[str, int] = {}
    for cluster, name in sorted(names.items()):
        clusters.setdefault(name.casefold(), cluster)
    found: dict[tuple[int, str], list[str]] = {}
    for item in before.moves:
        name = before.name(before.place(item, was.get(item, 0)))
        if not name or item not in labels or names.get(labels[item], "").casefold() == name.casefold():
            continue
        cluster = clusters.get(name.casefold(), 0)
        found.setdefault((cluster, "" if cluster else name), []).append(item)
    return [
        (MOVE, {"items": items} | ({"cluster": cluster} if cluster else {"name": name}))
        for (cluster, name), items in found.items()
    ]
