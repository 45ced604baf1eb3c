"""Scores of workers who belong to a community, for CommunityBCC; compiled, without the interpreter's lock."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from crowdclust_app.inference.aggregators.label_table import Floats

# Newton steps for one row at most, and the gain that ends them.
_STEPS, _GAIN = 50, 1e-12
# A step that gains nothing is halved so often.
_HALVINGS = 40


@njit(nogil=True, cache=True, error_model="numpy")
def _value(counts: Floats, total: float, centre: Floats, precision: float, mean: Floats, variance: Floats) -> float:
    """The part of the bound that one row of scores decides."""
    largest = -np.inf
    for c in range(len(mean)):
        largest = max(largest, mean[c] + 0.5 * variance[c])
    power, value = 0.0, 0.0
    for c in range(len(mean)):
        power += math.exp(mean[c] + 0.5 * variance[c] - largest)
        away = mean[c] - centre[c]
        value += counts[c] * mean[c] - 0.5 * precision * (away * away + variance[c]) + 0.5 * math.log(variance[c])
    return value - total * (largest + math.log(power))


@njit(nogil=True, cache=True, error_model="numpy")
def settle_scores(
    counts: Floats, centres: Floats, precision: float, means: Floats, variances: Floats, normaliser: Floats
) -> None:
    """Climb to the best Gaussian of each row of scores, for every worker in every community.

    The bound is concave in the means and variances of a row together: a Newton step for the means and the stationary
    variances go uphill, and are halved until they do.

    Parameters
    ----------
    counts : ndarray of shape (J, K, K)
        Expected answers (last axis) of each worker to each class.
    centres : ndarray of shape (C, K, K)
        Mean scores of each community.
    precision
        Of a worker's scores around those of the community.
    means, variances : ndarray of shape (J, C, K, K)
        Where to begin; changed in place.
    normaliser : ndarray of shape (J, C, K)
        Gets the log of the expected sum of the exponentials of each row.
    """
    size = counts.shape[2]
    p, direction, mean, variance = np.empty(size), np.empty(size), np.empty(size), np.empty(size)
    for j in range(counts.shape[0]):
        for m in range(centres.shape[0]):
            for k in range(size):
                row, centre = counts[j, k], centres[m, k]
                at, spread = means[j, m, k], variances[j, m, k]
                total = row.sum()
                value = _value(row, total, centre, precision, at, spread)
                for _ in range(_STEPS):
                    largest = (at + 0.5 * spread).max()
                    power = 0.0
                    for c in range(size):
                        p[c] = math.exp(at[c] + 0.5 * spread[c] - largest)
                        power += p[c]
                    along, inside = 0.0, 0.0
                    for c in range(size):
                        p[c] /= power
                        curve = total * p[c] + precision
                        direction[c] = (row[c] - total * p[c] - precision * (at[c] - centre[c])) / curve
                        along += p[c] * direction[c]
                        inside += p[c] * p[c] / curve
                    share = total * along / (1.0 - total * inside)
                    part = 1.0
                    found = value
                    for _ in range(_HALVINGS):
                        for c in range(size):
                            curve = total * p[c] + precision
                            mean[c] = at[c] + part * (direction[c] + share * p[c] / curve)
                            variance[c] = spread[c] + part * (1.0 / curve - spread[c])
                        found = _value(row, total, centre, precision, mean, variance)
                        if found >= value:
                            break
                        part *= 0.5
                    if found <= value:
                        break
                    at[:] = mean
                    spread[:] = variance
                    gain = found - value
                    value = found
                    if gain < _GAIN * (1.0 + abs(value)):
                        break
                largest = (at + 0.5 * spread).max()
                normaliser[j, m, k] = largest + math.log(np.exp(at + 0.5 * spread - largest).sum())
