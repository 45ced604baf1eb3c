"""Positions into a given number of clusters: k-means, then a mixture of Gaussians of one common shape.

k-means alone takes clusters for round and of one size. On simulated campaigns of uneven clusters the common shape and
the weights that the mixture learns bring the partition nearer to the truth; a shape of its own for every cluster does
not.
"""

from __future__ import annotations

import numpy as np

from crowdclust_app.inference.consensus.kmeans import kmeans
from crowdclust_app.inference.crowdclustering.kernels.arrays import Floats, Ints

# k-means starts; a large campaign has enough items in each cluster for the first to be as good as any.
STARTS = 4
ITEMS_FOR_STARTS = 20_000
ROUNDS = 50
# Added to the common covariance, as a share of the positions' own variance: no cluster is a point.
RIDGE = 0.05
# Positions that vary less lie in one place.
NO_WIDTH = 1e-200


def partition_positions(positions: Floats, clusters: int, seed: int) -> Ints:
    """Put positions into so many clusters.

    Parameters
    ----------
    positions : ndarray of shape (n, D)
    clusters
        How many; fewer come out where there are not so many positions, or a cluster loses its last item.

    Returns
    -------
    ndarray of shape (n,)
        Cluster from 0, without gaps.
    """
    n_starts = max(1, min(STARTS, ITEMS_FOR_STARTS // len(positions)))
    found = kmeans(positions, min(clusters, len(positions)), n_starts, seed)
    if clusters > 1:
        found = refine(positions, found)
    return np.asarray(np.unique(found, return_inverse=True)[1], dtype=np.int64)


def refine(positions: Floats, labels: Ints) -> Ints:
    """Expectation maximisation of a Gaussian mixture with one covariance, until no position changes its cluster."""
    n, D = positions.shape
    width = float(positions.var(axis=0).mean())
    if not width > NO_WIDTH:
        return labels
    positions = (positions - positions.mean(axis=0)) / np.sqrt(width)
    ridge = RIDGE * np.eye(D)
    memberships = np.eye(int(labels.max()) + 1)[labels]
    second = positions.T @ positions
    for _ in range(ROUNDS):
        sums = memberships.sum(axis=0)
        centres = (memberships.T @ positions) / np.maximum(sums, 1e-9)[:, None]
        within = (second - (centres * sums[:, None]).T @ centres) / n + ridge
        # whitened, so that squared distances are plain ones
        whiten = np.linalg.inv(np.linalg.cholesky(0.5 * (within + within.T)))
        points, means = positions @ whiten.T, centres @ whiten.T
        logs = np.log(np.maximum(sums, 1e-9) / n) + points @ means.T - 0.5 * (means * means).sum(axis=1)
        memberships = np.exp(logs - logs.max(axis=1, keepdims=True))
        memberships /= memberships.sum(axis=1, keepdims=True)
        before, labels = labels, np.argmax(memberships, axis=1)
        if np.array_equal(before, labels):
            break
    return labels
