"""How far each worker can be trusted, given inferred labels: posterior means and spreads, the same for every method."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from crowdclust_app.inference.binary.table import Floats, LabelTable, weighted_sums


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
        What is believed of the tasks.
    prior
        Beta or discrete prior of each coin.
    """
    agreed = probabilities[table.task, table.label]
    right = weighted_sums(table.worker, agreed, table.n_workers)
    accuracy, accuracy_sd = _moments(right, table.worker_counts - right, prior)
    if table.n_classes != 2:
        unknown = np.full(table.n_workers, np.nan)
        return Reliability(accuracy, accuracy_sd, unknown, unknown, unknown, unknown)
    second = probabilities[table.task, 1]
    yes = table.label == 1
    hits = weighted_sums(table.worker, np.where(yes, second, 0.0), table.n_workers)
    positives = weighted_sums(table.worker, second, table.n_workers)
    rejections = weighted_sums(table.worker, np.where(yes, 0.0, 1.0 - second), table.n_workers)
    negatives = weighted_sums(table.worker, 1.0 - second, table.n_workers)
    sensitivity, sensitivity_sd = _moments(hits, positives - hits, prior)
    specificity, specificity_sd = _moments(rejections, negatives - rejections, prior)
    return Reliability(accuracy, accuracy_sd, sensitivity, sensitivity_sd, specificity, specificity_sd)


def _moments(right: Floats, wrong: Floats, prior: tuple[float, float] | Mapping[float, float]) -> tuple[Floats, Floats]:
    """Mean and standard deviation of a coin's posterior after (fractional) counts."""
    wrong = np.maximum(wrong, 0.0)
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
