"""The gallery's rows: a cluster or a category of its own, with the photos that belong there by now."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdclust_app.services.clusters.categories import Categories
from crowdclust_app.services.clusters.item_facts import DOUBTFUL_BELOW
from crowdclust_app.services.clusters.run_view import RunView


@dataclass(frozen=True, slots=True)
class CategoryRow:
    """One row of the gallery.

    Parameters
    ----------
    place
        A cluster's number, or that of a category without one (`Categories`).
    name
        What the lead calls it, "" for nothing.
    carried_from
        The run from which that name was carried over, where it was.
    others
        Places that are one category with it.
    items : ndarray of shape (size,)
        Item numbers, the most confident first; photos that were moved here last.
    moved
        How many of them were moved here.
    gone
        How many photos of the cluster were moved elsewhere.
    mean_probability
        Of its own photos to be in the cluster; None without any.
    doubtful
        How many of its own photos are doubtful.
    stability
        How well the cluster comes back when responses are drawn anew, 0 to 1; None where that was not computed.
    """

    place: int
    name: str
    carried_from: int | None
    others: tuple[int, ...]
    items: NDArray[np.int64]
    moved: int
    gone: int
    mean_probability: float | None
    doubtful: int
    stability: float | None = None

    @property
    def size(self) -> int:
        """Number of photos."""
        return len(self.items)


@dataclass(frozen=True, slots=True)
class Arrangement:
    """What the lead made of a run, ready to be shown.

    Parameters
    ----------
    categories
        Names, merges and moves.
    places : ndarray of shape (N,)
        Where each item belongs, 0 for nowhere.
    rows
        Of the gallery.
    """

    categories: Categories
    places: NDArray[np.int64]
    rows: tuple[CategoryRow, ...]


def arrange(view: RunView, categories: Categories) -> Arrangement:
    """Make ready what is shown of the lead's decisions."""
    places = categories.places(view.labels, view.item_names)
    return Arrangement(categories, places, category_rows(view, categories, places))


def category_rows(
    view: RunView, categories: Categories, places: NDArray[np.int64] | None = None
) -> tuple[CategoryRow, ...]:
    """Rows of a run: clusters by size, those of one category beside each other, categories without a cluster last.

    Parameters
    ----------
    places : ndarray of shape (N,), optional
        Where each item belongs, where that is known already.
    """
    if places is None:
        places = categories.places(view.labels, view.item_names)
    came_to = np.flatnonzero(places != view.labels)
    stability = stabilities(view.run.result.summary)
    own = {row.number: row.items for row in view.clusters}
    rows = []
    none = np.zeros(0, dtype=np.int64)
    for place in range(1, categories.n_places + 1):
        members = own.get(place, none)
        stay = members[places[members] == place]
        came = came_to[places[came_to] == place]
        if not len(members) and not len(came):
            continue
        probability = view.probability[stay]
        rows.append(
            CategoryRow(
                place=place,
                name=categories.name(place),
                carried_from=categories.carried.get(place),
                others=tuple(other for other in categories.together_with(place) if other != place),
                items=np.concatenate([stay, came]),
                moved=len(came),
                gone=len(members) - len(stay),
                mean_probability=float(probability.mean()) if len(stay) else None,
                doubtful=int((view.certainty[stay] < DOUBTFUL_BELOW).sum()),
                stability=stability.get(place),
            )
        )
    rows.sort(key=lambda row: (min((row.place, *row.others)), row.place))
    return tuple(rows)


def stabilities(summary: Mapping[str, Any]) -> dict[int, float]:
    """How stable each cluster is, by number, of those of which a run's summary says it."""
    found: Any = summary.get("stability")
    if isinstance(found, Mapping) and "clusters" in found:
        found = found["clusters"]
    if isinstance(found, Mapping):
        entries = list(found.items())
    elif isinstance(found, Sequence) and not isinstance(found, str):
        entries = list(enumerate(found, start=1))
    else:
        return {}
    stable: dict[int, float] = {}
    for number, entry in entries:
        if isinstance(entry, Mapping):
            number = entry.get("cluster", number)
            entry = next((entry[key] for key in ("stability", "jaccard", "mean", "value") if key in entry), None)
        if isinstance(entry, int | float) and str(number).isdigit():
            stable[int(number)] = float(entry)
    return stable
