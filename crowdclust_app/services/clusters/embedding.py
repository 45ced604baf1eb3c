"""The items of a run on any two axes, in any of the colours that say something: what the embedding plot draws."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crowdclust_app.domain.campaign import WHOLE_COLLECTION
from crowdclust_app.domain.plots import Points
from crowdclust_app.inference.crowdclustering.model.summary import fisher_axes
from crowdclust_app.services.clusters.categories import Categories
from crowdclust_app.services.clusters.run_view import RunView

CLUSTER, CATEGORY, TRUTH, DOUBT, SHOWN = "cluster", "category", "truth", "doubt", "shown"
COLOUR_TITLES = {
    CLUSTER: "Cluster",
    CATEGORY: "Category",
    TRUTH: "Known category",
    DOUBT: "Doubt",
    SHOWN: "Times shown",
}
UNKNOWN = "not known"


@dataclass(frozen=True, slots=True)
class Axis:
    """One direction of the embedding.

    Parameters
    ----------
    key
        `fisher1`, `principal1` or `x1`, and so on.
    title
        Its name in words.
    values : ndarray of shape (N,)
        NaN for items that were not shown.
    """

    key: str
    title: str
    values: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Colouring:
    """What the colours of the points say.

    Parameters
    ----------
    key, title
        Of `COLOUR_TITLES`.
    groups : ndarray of shape (N,)
        Number of each item's colour, from 1; 0 for none.
    names, counts
        Of each group, by its number; empty for a scale.
    values : ndarray of shape (N,), or None
        A figure an item where the colours are a scale; NaN where there is none.
    """

    key: str
    title: str
    groups: NDArray[np.int64]
    names: Mapping[int, str]
    counts: Mapping[int, int]
    values: NDArray[np.float64] | None = None


def axes_of(view: RunView) -> dict[str, Axis]:
    """Every axis on which the items can be shown: Fisher's, the principal ones, and the positions' own.

    Parameters
    ----------
    view
        The run; a run without positions of its own has the two that it has.
    """
    result = view.run.result
    shown = view.labels > 0
    positions = result.positions
    dimensions = positions.shape[1]
    count = max(2, dimensions)
    fisher = np.full((len(shown), count), np.nan)
    principal = np.full((len(shown), dimensions), np.nan)
    if shown.any() and dimensions:
        fisher[shown] = positions[shown] @ fisher_axes(positions[shown], view.labels[shown], count)
        fisher[shown, :2] = result.fisher[shown]
        centred = positions[shown] - positions[shown].mean(axis=0)
        directions = np.linalg.eigh(centred.T @ centred)[1][:, ::-1]
        strongest = directions[np.argmax(np.abs(directions), axis=0), np.arange(dimensions)]
        principal[shown] = centred @ (directions * np.where(strongest < 0, -1.0, 1.0))
    own = np.where(shown[:, None], positions, np.nan)
    found = {}
    for key, title, columns in (
        ("fisher", "Fisher axis", fisher),
        ("principal", "Principal axis", principal),
        ("x", "Position", own),
    ):
        for number in range(columns.shape[1]):
            axis = Axis(f"{key}{number + 1}", f"{title} {number + 1}", columns[:, number])
            found[axis.key] = axis
    return found


def colouring(
    view: RunView,
    key: str,
    categories: Categories | None,
    truth: Mapping[str, str],
    order: Sequence[str] = (),
    places: NDArray[np.int64] | None = None,
) -> Colouring:
    """What the points' colours say.

    Parameters
    ----------
    key
        Of `COLOUR_TITLES`.
    categories
        What the lead made of the run's clusters.
    truth, order
        Known category by item's name, and the categories in the lead's order.
    places : ndarray of shape (N,), optional
        Where each item belongs by the lead's decisions, where that is known already.
    """
    none = np.zeros(len(view.labels), dtype=np.int64)
    title = COLOUR_TITLES[key]
    if key == DOUBT:
        return Colouring(key, "Doubt (entropy in bits)", none, {}, {}, view.entropy_bits)
    if key == SHOWN:
        shown = np.where(view.labels > 0, view.times_shown.astype(np.float64), np.nan)
        return Colouring(key, title, none, {}, {}, shown)
    names: dict[int, str] = {}
    if key == CLUSTER:
        groups = view.labels
        names = {row.number: categories.title(row.number) if categories else "" for row in view.clusters}
    elif key == CATEGORY:
        if places is None:
            places = categories.places(view.labels, view.item_names) if categories else view.labels
        first = {p: categories.together_with(p)[0] for p in np.unique(places).tolist() if p} if categories else {}
        groups = np.array([first.get(place, place) for place in range(int(places.max(initial=0)) + 1)])[places]
        names = {place: categories.title(place) for place in first.values()} if categories else {}
    else:
        numbers = {name: number for number, name in enumerate(order or sorted(set(truth.values())), start=1)}
        groups = np.array([numbers.get(truth.get(name, ""), 0) for name in view.item_names], dtype=np.int64)
        names = {number: name for name, number in numbers.items()}
    drawn = np.bincount(groups[view.labels > 0], minlength=1)
    counts = {number: int(drawn[number]) for number in names if number < len(drawn) and drawn[number]}
    if key == TRUTH and drawn[0]:
        names[0], counts[0] = UNKNOWN, int(drawn[0])
    return Colouring(key, title, groups, {n: names[n] or f"Cluster {n}" for n in counts}, counts)


def embedding_plot(
    view: RunView, x: Axis | None = None, y: Axis | None = None, colours: Colouring | None = None
) -> Points:
    """The items of a run on two axes, as a plot for a file.

    Parameters
    ----------
    x, y
        Of `axes_of`; the first two Fisher axes when None.
    colours
        What they show; the clusters when None, as in the paper's Figure 2 (left).
    """
    axes = axes_of(view) if x is None or y is None else {}
    x, y = x or axes["fisher1"], y or axes["fisher2"]
    colours = colours or colouring(view, CLUSTER, None, {})
    entropy = view.run.result.entropy_bits
    stage = view.run.stage
    run = f"Run {view.run.number}" + (f" of {stage}" if stage != WHOLE_COLLECTION else "")
    found = f"{len(view.clusters)} cluster{'' if len(view.clusters) == 1 else 's'}"
    return Points(
        name="embedding",
        title=f"{run}: {found}, average assignment entropy {entropy:.4f} bits",
        x_label=x.title,
        y_label=y.title,
        names=view.item_names,
        at=np.column_stack([x.values, y.values]),
        groups=colours.groups if colours.values is None else view.labels,
        values=colours.values,
        value_label=colours.title if colours.values is not None else "",
        group_names=colours.names if any(name != f"Cluster {n}" for n, name in colours.names.items()) else {},
    )
