"""Lloyd's k-means with k-means++ starts: small, deterministic by seed, and never with an empty cluster."""

from __future__ import annotations

import numpy as np

from crowdclust_app.inference.consensus.coassociation import Floats, Ints, ProgressListener

_ROUNDS = 200


def kmeans(points: Floats, clusters: int, n_starts: int, seed: int, watcher: ProgressListener | None = None) -> Ints:
    """Cluster points by the nearest of `clusters` centres.

    Parameters
    ----------
    points : ndarray of shape (n, D)
    clusters
        At most `n`.
    n_starts
        The start with the smallest sum of squared distances wins.

    Returns
    -------
    ndarray of shape (n,)
        Cluster from 0.
    """
    watcher = watcher or ProgressListener()
    best, least = np.zeros(len(points), dtype=np.int64), np.inf
    for start in range(n_starts):
        watcher.at(start, n_starts, f"k-means {start + 1} of {n_starts}")
        random = np.random.default_rng([seed, start])
        labels, loss = _lloyd(points, _spread_centres(points, clusters, random))
        if loss < least:
            best, least = labels, loss
    return best


def _spread_centres(points: Floats, clusters: int, random: np.random.Generator) -> Floats:
    """Centres drawn in proportion to their squared distance from those drawn before (Arthur and Vassilvitskii 2007)."""
    chosen = [int(random.integers(len(points)))]
    nearest = ((points - points[chosen[0]]) ** 2).sum(axis=1)
    while len(chosen) < clusters:
        total = nearest.sum()
        if total > 0:
            drawn = int(random.choice(len(points), p=nearest / total))
        else:
            # every point is at a centre already
            drawn = int(random.choice(np.setdiff1d(np.arange(len(points)), chosen)))
        chosen.append(drawn)
        nearest = np.minimum(nearest, ((points - points[drawn]) ** 2).sum(axis=1))
    return points[chosen].copy()


def _lloyd(points: Floats, centres: Floats) -> tuple[Ints, float]:
    clusters = len(centres)
    labels = np.full(len(points), -1, dtype=np.int64)
    norms = (points**2).sum(axis=1)
    for _ in range(_ROUNDS):
        squares = np.maximum(norms[:, None] - 2.0 * points @ centres.T + (centres**2).sum(axis=1), 0.0)
        found = _fill_empty(np.argmin(squares, axis=1), squares, clusters)
        if np.array_equal(found, labels):
            break
        labels = found
        sums = np.stack([np.bincount(labels, column, minlength=clusters) for column in points.T], axis=1)
        centres = sums / np.bincount(labels, minlength=clusters)[:, None]
    return labels, float(((points - centres[labels]) ** 2).sum())


def _fill_empty(labels: Ints, squares: Floats, clusters: int) -> Ints:
    """Give every empty cluster the farthest point of those that share theirs with others."""
    sizes = np.bincount(labels, minlength=clusters)
    if sizes.all():
        return labels
    labels = labels.copy()
    distance = squares[np.arange(len(labels)), labels]
    for empty in np.flatnonzero(sizes == 0):
        point = int(np.argmax(np.where(sizes[labels] > 1, distance, -1.0)))
        sizes[labels[point]] -= 1
        labels[point], distance[point] = empty, 0.0
        sizes[empty] = 1
    return labels
