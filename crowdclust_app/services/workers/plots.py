"""Plots about workers, as numbers and words (`domain.plots`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from crowdclust_app.domain.plots import Curve, Curves, MatrixPlots
from crowdclust_app.services.clusters.run_view import RunView

MOST_MATRICES = 40


def confusion_grid(
    view: RunView, label: Callable[[str], str] = str, names: Mapping[int, str] | None = None, most: int = MOST_MATRICES
) -> MatrixPlots | None:
    """Confusion matrices of the most active workers, as the paper's Figure 3; None without any.

    Clusters are in block order.

    Parameters
    ----------
    label
        How a worker is written.
    names
        What the lead calls a cluster, by its number.
    most
        How many workers at the most.
    """
    rows = sorted((row for row in view.workers if row.matrix is not None), key=lambda row: (-row.hits, row.name))[:most]
    if not rows:
        return None
    order = view.order
    chosen = np.array([row.matrix for row in rows], dtype=np.int64)
    matrices = view.run.result.confusion[chosen][:, order][:, :, order]
    words = tuple(f"{k + 1} {(names or {}).get(int(k) + 1, '')}".strip() for k in order.tolist())
    return MatrixPlots(
        "workers-confusion", "Most active workers", tuple(f"{row.hits:,}" for row in rows),
        tuple(label(row.name) for row in rows), words, matrices, "probability of one group",
    )  # fmt: skip


def rank_plot(view: RunView) -> Curves:
    """HITs by worker's rank, as the paper's Figure 4 on the left."""
    hits = np.sort(np.array([row.hits for row in view.workers if row.hits], dtype=np.float64))[::-1]
    ranks = np.arange(1.0, len(hits) + 1)
    return Curves(
        "workers-rank", "HITs by worker", "worker's rank", "HITs", (Curve("HITs", ranks, hits),), from_zero=True
    )


def pareto_plot(view: RunView) -> Curves:
    """Share of all HITs that the most active share of the workers did, as the paper's Figure 4 on the left."""
    hits = np.sort(np.array([row.hits for row in view.workers if row.hits], dtype=np.float64))[::-1]
    if not len(hits):
        return Curves("workers-pareto", "Share of the work", "share of workers", "share of HITs", (), from_zero=True)
    done = np.concatenate([[0.0], np.cumsum(hits) / hits.sum()])
    share = np.linspace(0.0, 1.0, len(done))
    curves = (Curve("workers", share, done), Curve("equal shares", np.array([0.0, 1.0]), np.array([0.0, 1.0])))
    return Curves("workers-pareto", "Share of the work", "share of workers", "share of HITs", curves, from_zero=True)
