"""Workers who are alike taken for one, where there are very many.

Clusters are held against the labels by a table for each worker. With thousands of workers these tables cost more than
the labels do, and each says little: such workers gave few labels. So workers who sort alike share one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from crowdclust_app.inference.crowdclustering.kernels.arrays import Floats, Ints
from crowdclust_app.inference.crowdclustering.model.blocks import vech
from crowdclust_app.inference.crowdclustering.model.data import PairLabelData
from crowdclust_app.inference.crowdclustering.selection.prediction import Placement, same_probabilities

# Up to so many workers each has a table of their own: at 50 clusters it takes 8 MB a table.
MOST_POOLS = 400


@dataclass(frozen=True, slots=True)
class PooledWorkers:
    """Labels and positions as clusters are held against them: by `P` pools of one worker or several.

    Parameters
    ----------
    labels
        The responses; `workers` are pools, and no longer ascending where several workers are one.
    placement
        Positions, and pools in place of workers.
    pool_of : ndarray of shape (J,)
        Pool of each worker.
    """

    labels: PairLabelData
    placement: Placement
    pool_of: Ints

    def expect(self, partition: Ints) -> Floats:
        """Probability that each pool puts items of two clusters together, by the model; (P, K, K)."""
        return same_probabilities(self.placement, partition)


def pool_workers(labels: PairLabelData, placement: Placement, most: int = MOST_POOLS) -> PooledWorkers:
    """Take workers who are alike for one, where there are more than `most`."""
    if labels.n_workers <= most:
        return PooledWorkers(labels, placement, np.arange(labels.n_workers))
    pool_of = alike(np.column_stack([vech(placement.weights), placement.biases]), most)
    count = int(pool_of.max()) + 1
    weights, weight_variances = pooled(placement.weights, placement.weight_variances, pool_of, count)
    biases, bias_variances = pooled(placement.biases, placement.bias_variances, pool_of, count)
    half_labels = np.asarray(np.bincount(pool_of, labels.half_labels, minlength=count), dtype=np.float64)
    return PooledWorkers(
        replace(labels, n_workers=count, workers=pool_of[labels.workers], half_labels=half_labels),
        replace(
            placement, weights=weights, weight_variances=weight_variances, biases=biases, bias_variances=bias_variances
        ),
        pool_of,
    )


def alike(points: Floats, most: int) -> Ints:
    """Halve a set of points, and the halves, across the widest direction as long as there are at most `most` parts.

    Parameters
    ----------
    points : ndarray of shape (J, F)
        At least `most` of them.

    Returns
    -------
    ndarray of shape (J,)
        Part of each point, from 0.
    """
    parts = [np.arange(len(points))]
    while 2 * len(parts) <= most:
        halves: list[Ints] = []
        for own in parts:
            widest = int(np.argmax(points[own].var(axis=0)))
            ordered = own[np.argsort(points[own, widest], kind="stable")]
            halves += [ordered[: len(own) // 2], ordered[len(own) // 2 :]]
        parts = halves
    part_of = np.empty(len(points), dtype=np.int64)
    for number, own in enumerate(parts):
        part_of[own] = number
    return part_of


def pooled(mean: Floats, variance: Floats, part_of: Ints, parts: int) -> tuple[Floats, Floats]:
    """Mean and variance of a mixture of distributions in equal shares, part by part: (J, ...) to (parts, ...)."""
    sums = np.zeros((3, parts, *mean.shape[1:]))
    for into, values in zip(sums, (mean, mean * mean, variance), strict=True):
        np.add.at(into, part_of, values)
    sums /= np.bincount(part_of, minlength=parts).reshape(-1, *[1] * (mean.ndim - 1))
    centre, square, inner = sums
    return centre, inner + np.maximum(square - centre * centre, 0.0)
