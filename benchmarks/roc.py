"""Receiver operating characteristics: curves, the area below them, and ellipses around a reader's point."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
_POINTS = 100


def auc(score: Floats, truth: NDArray[np.int64]) -> float:
    """Probability that a positive has a higher score than a negative, ties by half; .5 without one of both.

    Parameters
    ----------
    score : ndarray of shape (N,)
    truth : ndarray of shape (N,)
        1 or 0.
    """
    positives, negatives = score[truth == 1], np.sort(score[truth == 0])
    if not len(positives) or not len(negatives):
        return 0.5
    below = np.searchsorted(negatives, positives, "left") + np.searchsorted(negatives, positives, "right")
    return float(below.sum() / (2.0 * len(positives) * len(negatives)))


def roc(score: Floats, truth: NDArray[np.int64]) -> tuple[Floats, Floats]:
    """False and true positive rates for falling thresholds, from (0, 0) to (1, 1), at most about 100 points."""
    thresholds, place = np.unique(-score, return_inverse=True)
    positive = np.bincount(place, weights=truth == 1, minlength=len(thresholds)).cumsum()
    negative = np.bincount(place, weights=truth == 0, minlength=len(thresholds)).cumsum()
    true = np.concatenate([[0.0], positive / max(positive[-1], 1.0)])
    false = np.concatenate([[0.0], negative / max(negative[-1], 1.0)])
    chosen = np.unique(np.linspace(0, len(true) - 1, min(len(true), _POINTS)).round().astype(np.int64))
    return false[chosen], true[chosen]


def ellipse(centre: tuple[float, float], half_axes: tuple[float, float]) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Points of an ellipse along the axes, closed."""
    angle = np.linspace(0.0, 2.0 * np.pi, 41)
    x, y = centre[0] + half_axes[0] * np.cos(angle), centre[1] + half_axes[1] * np.sin(angle)
    return tuple(x.tolist()), tuple(y.tolist())
