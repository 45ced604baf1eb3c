"""The clusters of a run beside something else: known categories, or the clusters of another run."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from crowdclust_app.domain.errors import UserError
from crowdclust_app.evaluation import metrics
from crowdclust_app.io.image_files import natural_order
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.clusters.run_view import RunView
from crowdclust_app.services.fits.results import Run
from crowdclust_app.storage import catalogue, preferences

TRUTH_ORDER = "order of the known categories"
"""Under which name the lead's order is kept in the campaign."""


@dataclass(frozen=True, slots=True)
class Contingency:
    """How many items are in each pair of groups.

    Parameters
    ----------
    row_title, column_title
        What rows and columns are.
    row_names, column_names
        Their words.
    counts : ndarray of shape (R, C)
    rows, columns : ndarray of shape (N,)
        Row and column of each item of the run; -1 for an item that is not compared.
    vi_nats, ari, nmi
        Variation of information, adjusted Rand index, normalised mutual information; None without common items.
    matched : tuple of (row, column)
        Pairs that belong to each other: all together they hold the most items that such pairs can.
    """

    row_title: str
    column_title: str
    row_names: tuple[str, ...]
    column_names: tuple[str, ...]
    counts: NDArray[np.int64]
    rows: NDArray[np.int64]
    columns: NDArray[np.int64]
    vi_nats: float | None
    ari: float | None
    nmi: float | None
    matched: tuple[tuple[int, int], ...]

    @property
    def vi_bits(self) -> float | None:
        """Variation of information in bits."""
        return None if self.vi_nats is None else self.vi_nats / math.log(2)

    @property
    def compared(self) -> int:
        """Items that are in both."""
        return int(self.counts.sum())

    def items(self, row: int | None = None, column: int | None = None) -> NDArray[np.int64]:
        """Items of a cell, or of a whole row or column."""
        inside = (self.rows >= 0) & (self.columns >= 0)
        if row is not None:
            inside &= self.rows == row
        if column is not None:
            inside &= self.columns == column
        return np.flatnonzero(inside)

    def moved(self) -> NDArray[np.int64]:
        """Items outside all pairs that belong to each other."""
        partner = np.full(len(self.row_names) + 1, -2, dtype=np.int64)
        for row, column in self.matched:
            partner[row] = column
        inside = (self.rows >= 0) & (self.columns >= 0)
        return np.flatnonzero(inside & (partner[self.rows] != self.columns))


def compare_with_known(
    view: RunView, truth: Mapping[str, str], order: Sequence[str] = (), names: Mapping[int, str] | None = None
) -> Contingency:
    """Known categories in the lead's order against the run's clusters: the paper's Figure 2 (right) and Figure 5.

    Parameters
    ----------
    truth
        Known category by item's name.
    order
        The categories in the lead's order; others follow by name.
    names
        What the lead calls a cluster, by its number.
    """
    known = known_categories(truth, order)
    number = {name: row for row, name in enumerate(known)}
    rows = np.array([number.get(truth.get(name, ""), -1) for name in view.item_names], dtype=np.int64)
    clusters = [row.number for row in view.clusters]
    columns = _columns(view.labels, clusters)
    return _contingency("known category", "cluster", known, _called(clusters, names), rows, columns)


def compare_runs(
    view: RunView, other: Run, here: Mapping[int, str] | None = None, there: Mapping[int, str] | None = None
) -> Contingency:
    """Clusters of the run on screen against those of another run; the other's are ordered like their partners here.

    Parameters
    ----------
    other
        Its items are found by name.
    here, there
        What the lead calls the clusters of either, by number.
    """
    labels = dict(zip(other.item_names, np.where(other.result.shown, other.result.labels, 0).tolist(), strict=True))
    theirs = np.array([labels.get(name, 0) for name in view.item_names], dtype=np.int64)
    clusters = [row.number for row in view.clusters]
    rows = _columns(view.labels, clusters)
    others = sorted({label for label in labels.values() if label})
    columns = _columns(theirs, others)
    found = _contingency("", "", tuple(map(str, clusters)), tuple(map(str, others)), rows, columns)
    partner = {column: row for row, column in found.matched}
    order = sorted(range(len(others)), key=lambda column: (partner.get(column, len(clusters)), column))
    return _contingency(
        f"run {view.run.number}",
        f"run {other.number}",
        _called(clusters, here),
        _called([others[column] for column in order], there),
        rows,
        _columns(theirs, [others[column] for column in order]),
    )


def known_categories(truth: Mapping[str, str], order: Sequence[str]) -> tuple[str, ...]:
    """Known categories: those of the lead's order first, the others by name with numbers in their order."""
    there = set(truth.values())
    first = [name for name in dict.fromkeys(order) if name in there]
    return (*first, *natural_order(there - set(first)))


def truth_order(campaign: Campaign) -> tuple[str, ...]:
    """The known categories in the lead's order."""
    with campaign.database.read() as connection:
        kept = preferences.preference(connection, TRUTH_ORDER)
    return tuple(name for name in kept if isinstance(name, str)) if isinstance(kept, list) else ()


def set_truth_order(campaign: Campaign, order: Sequence[str]) -> None:
    """Keep the lead's order of the known categories.

    Raises
    ------
    UserError
        When a category is named twice.
    """
    if len(set(order)) != len(order):
        raise UserError("a category can only stand in one place", todo="name each of them once")
    with campaign.database.write() as connection:
        preferences.set_preference(connection, TRUTH_ORDER, list(order))
        catalogue.bump_revision(connection)


def _called(clusters: Sequence[int], names: Mapping[int, str] | None) -> tuple[str, ...]:
    """Clusters by number and, where they have one, name."""
    return tuple(f"{cluster} {(names or {}).get(cluster, '')}".strip() for cluster in clusters)


def _columns(labels: NDArray[np.int64], clusters: Sequence[int]) -> NDArray[np.int64]:
    """Place of each label in a list of clusters, -1 for one that is not there."""
    place = np.full(max([int(labels.max(initial=0)), *clusters, 0]) + 1, -1, dtype=np.int64)
    place[list(clusters)] = np.arange(len(clusters))
    found: NDArray[np.int64] = place[labels]
    return found


def _contingency(
    row_title: str,
    column_title: str,
    row_names: tuple[str, ...],
    column_names: tuple[str, ...],
    rows: NDArray[np.int64],
    columns: NDArray[np.int64],
) -> Contingency:
    both = (rows >= 0) & (columns >= 0)
    counts = np.zeros((len(row_names), len(column_names)), dtype=np.int64)
    np.add.at(counts, (rows[both], columns[both]), 1)
    figures: tuple[float | None, float | None, float | None] = (None, None, None)
    if both.any():
        a, b = rows[both], columns[both]
        figures = (
            metrics.variation_of_information(a, b),
            metrics.adjusted_rand_index(a, b),
            metrics.normalised_mutual_information(a, b),
        )
    return Contingency(
        row_title, column_title, row_names, column_names, counts, rows, columns, *figures, _matched(counts)
    )


def _matched(counts: NDArray[np.int64]) -> tuple[tuple[int, int], ...]:
    if not counts.size:
        return ()
    pairs = zip(*(found.tolist() for found in linear_sum_assignment(-counts)), strict=True)
    return tuple((row, column) for row, column in pairs if counts[row, column])
