"""Plots about the clusters of a run, as numbers and words (`domain.plots`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np

from crowdclust_app.domain.plots import Curve, Curves, Matrix, Points

if TYPE_CHECKING:
    from crowdclust_app.services.looking import RunView

ColourBy = Literal["cluster", "doubt", "times shown"]


def embedding_plot(view: RunView, colour: ColourBy = "cluster") -> Points:
    """The items on the two Fisher axes, as the paper's Figure 2; those never shown have no place.

    Parameters
    ----------
    colour
        By cluster, by the entropy of the assignment in bits, or by how often the item was shown.
    """
    at = np.where((view.labels > 0)[:, None], view.fisher, np.nan).astype(np.float64)
    values, words = None, ""
    if colour == "doubt":
        values, words = view.entropy_bits, "doubt (bits)"
    elif colour == "times shown":
        values, words = view.times_shown.astype(np.float64), "times shown"
    name = "embedding" if colour == "cluster" else f"embedding-{colour.replace(' ', '-')}"
    title = f"{len(view.clusters)} clusters" if colour == "cluster" else f"Photos by {colour}"
    return Points(name, title, "Fisher axis 1", "Fisher axis 2", view.item_names, at, view.labels, values, words)


def known_categories_plot(
    view: RunView, truth: Mapping[str, str], names: Mapping[int, str], order: Sequence[str] = ()
) -> Matrix | None:
    """How many photos of each known category are in each cluster, as the paper's Figure 5; None without any.

    Parameters
    ----------
    truth
        Known category by item's name.
    names
        What the lead calls a cluster, by its number.
    order
        Categories in the order to show them; those not in it follow by name.
    """
    known = [
        (truth[name], int(label)) for name, label in zip(view.item_names, view.labels, strict=True) if name in truth
    ]
    known = [(category, label) for category, label in known if label]
    if not known:
        return None
    found = {category for category, _ in known}
    categories = [category for category in order if category in found]
    categories += sorted(found - set(categories))
    rows = {category: row for row, category in enumerate(categories)}
    clusters = [row.number for row in view.clusters]
    columns = {number: column for column, number in enumerate(clusters)}
    counts = np.zeros((len(categories), len(clusters)))
    np.add.at(counts, ([rows[category] for category, _ in known], [columns[label] for _, label in known]), 1.0)
    words = tuple(f"{number} {names.get(number, '')}".strip() for number in clusters)
    return Matrix(
        "known-categories", "Clusters and known categories", "cluster", "known category", tuple(categories), words,
        counts, "photos", lowest=0.0,
    )  # fmt: skip


def trace_plot(view: RunView) -> Curves | None:
    """The bound by iteration, one line a phase; None for a method without a bound."""
    trace = view.run.result.lower_bounds
    if not trace:
        return None
    curves = []
    for phase in dict.fromkeys(phase for phase, _ in trace):
        at = [number for number, (of, _) in enumerate(trace, start=1) if of == phase]
        bounds = np.array([bound for of, bound in trace if of == phase])
        curves.append(Curve(phase, np.array(at, dtype=np.float64), bounds))
    return Curves("bound", "Lower bound on the log evidence", "iteration", "bound (nats)", tuple(curves))
