"""How far each worker can be trusted, given inferred labels: posterior means and spreads, the same for every method."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from crowdclust_app.inference.aggregators.label_table import Floats, LabelTable, weighted_sums


@dataclass(frozen=True, slots=True)
class Reliability:
    """Posterior of each worker's coins, given the class probabilities of the tasks.

    Parameters
    ----------
    accuracy, accuracy_sd : ndarray of shape (J,)
        Mean and standard deviation of the probability of being right.
    sensitivity, sensitivity_sd, specificity, specificity_sd : ndarray of shape (J,)
        Of answering the second class where it is true, and the first where that is; NaN unless there are two.
    """

    accuracy: Floats
    accuracy_sd: Floats
    sensitivity: Floats
    sensitivity_sd: Floats
    specificity: Floats
    specificity_sd: Floats


def estimate_reliability(
    table: LabelTable, probabilities: Floats, prior: tuple[float, float] | Mapping[float, float]
) -> Reliability:
    """Estimate every worker's coins from the class probabilities of the tasks.

    Parameters
    ----------
    table
        The labels.
    probabilities : ndarray of shape (M, K)
        Posterior of the tasks' classes.
    prior
        Beta or discrete prior of each coin.
    """
    workers = table.n_workers
    if table.n_classes != 2:
        right = weighted_sums(table.worker, probabilities[table.task, table.label], workers)
        unknown = np.full(workers, np.nan)
        accuracy = _moments(right, np.maximum(table.worker_counts - right, 0.0), prior)
        return Reliability(*accuracy, unknown, unknown, unknown, unknown)
    cells = table.label * workers + table.worker
    given = np.bincount(cells, minlength=2 * workers).reshape(2, workers)
    # how many of the second class each worker gave the one answer and the other; the rest follows
    misses, hits = weighted_sums(cells, probabilities[:, 1].take(table.task), 2 * workers).reshape(2, workers)
    rejections, false_alarms = np.maximum(given[0] - misses, 0.0), np.maximum(given[1] - hits, 0.0)
    return Reliability(
        *_moments(hits + rejections, misses + false_alarms, prior),
        *_moments(hits, misses, prior),
        *_moments(rejections, false_alarms, prior),
    )


def _moments(right: Floats, wrong: Floats, prior: tuple[float, float] | Mapping[float, float]) -> tuple[Floats, Floats]:
    """Mean and standard deviation of a coin's posterior after (fractional) counts."""
    if isinstance(prior, Mapping):
        return _discrete_moments(right, wrong, prior)
    a, b = prior[0] + right, prior[1] + wrong
    total = a + b
    return a / total, np.sqrt(a * b / (total * total * (total + 1.0)))


def _discrete_moments(right: Floats, wrong: Floats, prior: Mapping[float, float]) -> tuple[Floats, Floats]:
    points = np.array(list(prior), dtype=np.float64)
    shares = np.array(list(prior.values()), dtype=np.float64)
    tiny = 1e-300  # an accuracy of 0 or 1 is excluded by a label against it, without infinities times zero
    logs = (
        np.log(np.maximum(shares, tiny))
        + right[:, None] * np.log(np.maximum(points, tiny))
        + wrong[:, None] * np.log(np.maximum(1.0 - points, tiny))
    )
    weights = np.exp(logs - logs.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    mean = weights @ points
    variance = weights @ (points * points) - mean * mean
    return mean, np.sqrt(np.maximum(variance, 0.0))
