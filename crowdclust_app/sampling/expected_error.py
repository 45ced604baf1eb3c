"""How many verdicts will be wrong: the bounds of manino2019's Theorems 1 and 2.

Both hold up to a constant factor `exp(o(1))` that the paper leaves open, for one-coin workers whose accuracies come
from the Beta prior; they say how fast the error falls with the labels rather than what it is.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln, gammaln

# Up to here the average over the labels of a worker (eq. 12 and 15) is exact; beyond, terms are interpolated.
_EXACT = 256
_MOST = 4096


def uniform_bound(labels_per_task: float, labels_per_worker: float, alpha: float, beta: float) -> float:
    """Theorem 1 for Fast SBIC: probability of a wrong verdict under uniform sampling, at most about this.

    Parameters
    ----------
    labels_per_task, labels_per_worker
        `R` and `L`.
    alpha, beta
        Beta distribution of the workers' accuracies.
    """
    return math.exp(labels_per_task * math.log(_average(sorted_factor, labels_per_worker, alpha, beta)))


def uncertainty_bound(labels_per_task: float, labels_per_worker: float, alpha: float, beta: float) -> float:
    """Theorem 2 for Fast SBIC: the same under uncertainty sampling of very many tasks."""
    return math.exp(-labels_per_task * _average(sorted_gain, labels_per_worker, alpha, beta))


def sorted_factor(labels: int, alpha: float, beta: float) -> float:
    """`F_sorted` of eq. 10: what one more label multiplies the bound with."""
    right, wrong, share = _shares(labels, alpha, beta)
    return float((share * 2.0 * np.sqrt(right * wrong)).sum())


def sorted_gain(labels: int, alpha: float, beta: float) -> float:
    """`G_sorted` of eq. 14: what one more label adds to the exponent."""
    right, wrong, share = _shares(labels, alpha, beta)
    return float((share * (np.log(right) - np.log(wrong)) * (right - wrong)).sum())


def _shares(
    labels: int, alpha: float, beta: float
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Estimated accuracy, its complement, and eq. 11's probability, for 0 to `labels - 1` right labels."""
    n = labels - 1
    k = np.arange(n + 1, dtype=np.float64)
    choose = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
    share: NDArray[np.float64] = np.exp(choose + betaln(k + alpha, n - k + beta) - betaln(alpha, beta))
    total = n + alpha + beta
    return (k + alpha) / total, (n - k + beta) / total, share


def _average(term: Callable[[int, float, float], float], labels_per_worker: float, alpha: float, beta: float) -> float:
    """Mean of a term over 1 to `L` labels of a worker (eq. 12 and 15)."""
    if not (labels_per_worker > 0 and alpha > 0 and beta > 0):
        raise ValueError("labels per worker and prior have to be above 0")
    most = min(max(1, round(labels_per_worker)), _MOST)
    points = np.arange(1, min(most, _EXACT) + 1)
    if most > _EXACT:
        points = np.concatenate([points, np.unique(np.geomspace(_EXACT + 1, most, 40).astype(np.int64))])
    values = [term(int(h), alpha, beta) for h in points.tolist()]
    return float(np.interp(np.arange(1, most + 1), points, values).mean())
