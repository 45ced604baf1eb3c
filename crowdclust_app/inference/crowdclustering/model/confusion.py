"""How each worker sorts the clusters (gomes2011, section 3.3; docs/model.md, section 10)."""

from __future__ import annotations

import numpy as np
from scipy.special import expit, log_expit

from crowdclust_app.inference.crowdclustering.kernels.arrays import Floats
from crowdclust_app.inference.crowdclustering.model.blocks import second_moments, vech


def activity_moments(
    weights: Floats,
    weight_variances: Floats,
    biases: Floats,
    bias_variances: Floats,
    means: Floats,
    covariances: Floats,
) -> tuple[Floats, Floats]:
    """Mean and second moment of `A` for two items drawn from two clusters.

    Parameters
    ----------
    weights, weight_variances : ndarray of shape (J, D, D)
        Posterior of the workers' weights.
    biases, bias_variances : ndarray of shape (J,)
        And of their biases.
    means, covariances : ndarray of shape (K, D) and (K, D, D)
        The clusters as Gaussians.

    Returns
    -------
    tuple of two ndarray of shape (J, K, K)
        `E[A]` and `E[A^2]`.
    """
    inner = means @ weights @ means.T
    points = vech(means[:, :, None] * means[:, None, :] + covariances)
    squares = points @ second_moments(weights, weight_variances) @ points.T
    t = biases[:, None, None]
    squares = squares + 2.0 * t * inner + t * t + bias_variances[:, None, None]
    return inner + t, squares


def calibrated_confusion(mean: Floats, square: Floats) -> Floats:
    """Probability of "same" from the moments of `A`, by the usual probit approximation."""
    variance = np.maximum(square - mean * mean, 0.0)
    return np.asarray(expit(mean / np.sqrt(1.0 + np.pi * variance / 8.0)))


def bound_confusion(mean: Floats, square: Floats) -> Floats:
    """The paper's eq. 10: a lower bound of the probability of "same", which can be loose."""
    delta = np.sqrt(np.maximum(square, mean * mean))
    return np.asarray(np.exp(log_expit(delta) + 0.5 * (mean - delta)))
