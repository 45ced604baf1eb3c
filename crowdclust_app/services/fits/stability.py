"""How well clusters stand when the responses are drawn anew: the bootstrap, cluster by cluster."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.domain.response_table import ResponseTable
from crowdclust_app.inference.crowdclustering import Crowdclustering
from crowdclust_app.inference.crowdclustering.model.parallel import no_check
from crowdclust_app.inference.crowdclustering.partitions.refitting import found_anew
from crowdclust_app.services.progress_report import Progress, ProgressReport

UNSTABLE_BELOW = 0.6
"""A cluster that keeps less than this share of its items (mean best Jaccard) is called unstable (Hennig 2007)."""


def cluster_stability(
    table: ResponseTable,
    model: Crowdclustering,
    draws: int,
    seed: int,
    progress: Progress | None = None,
    cancel: CancelToken | None = None,
) -> tuple[float, ...]:
    """Find as many clusters in responses drawn with replacement, and see which of the fit are found again.

    Parameters
    ----------
    table, model
        The responses, and the fit to them.
    draws
        How many tables are drawn.
    seed
        Of the draws.
    progress, cancel
        Told of every draw, and looked at often.

    Returns
    -------
    tuple of float
        For each cluster of the fit the mean, over the draws, of its Jaccard index (items in common over items in
        either) with the cluster of the draw that is most like it; between 0 and 1. Items that a draw does not show are
        left out of that draw.
    """
    check = cancel.check if cancel else no_check
    random = np.random.default_rng([seed, 2])
    useful = np.flatnonzero(table.sizes >= 2)
    sums, counted = np.zeros(len(model.means_)), np.zeros(len(model.means_))
    for draw in range(draws):
        check()
        if progress:
            progress(ProgressReport(draw, draws, f"drawing responses anew, {draw + 1} of {draws}"))
        drawn = table.take(np.sort(random.choice(useful, size=len(useful))))
        found = found_anew(drawn, len(model.means_), not model.fitted_settings_.consensus, check)
        likeness = best_jaccard(model.labels_, found, len(model.means_))
        seen = ~np.isnan(likeness)
        sums[seen] += likeness[seen]
        counted += seen
    # a cluster that no draw shows has not been found again
    return tuple(float(value) for value in sums / np.maximum(counted, 1.0))


def best_jaccard(labels: NDArray[np.int64], found: NDArray[np.int64], clusters: int) -> NDArray[np.float64]:
    """Jaccard index of each cluster with the one most like it in another clustering.

    Parameters
    ----------
    labels, found : ndarray of shape (N,)
        Clusters from 1; items that are 0 in either are left out.
    clusters
        How many clusters `labels` has.

    Returns
    -------
    ndarray of shape (clusters,)
        NaN for a cluster that has no item left.
    """
    both = (labels > 0) & (found > 0)
    counts = np.zeros((clusters, int(found.max(initial=0)) + 1))
    np.add.at(counts, (labels[both] - 1, found[both]), 1.0)
    own, other = counts.sum(axis=1, keepdims=True), counts.sum(axis=0, keepdims=True)
    best = (counts / np.maximum(own + other - counts, 1.0)).max(axis=1)
    return np.asarray(np.where(own[:, 0] > 0, best, np.nan))
