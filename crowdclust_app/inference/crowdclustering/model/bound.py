"""The terms of the bound besides the labels' and the mixture's (docs/model.md, section 2)."""

from __future__ import annotations

import numpy as np

from crowdclust_app.inference.crowdclustering.kernels.arrays import Floats
from crowdclust_app.inference.crowdclustering.model.blocks import VariationalPosterior, vech


def normal_divergence(
    mean: Floats, variance: Floats, prior_variance: float | Floats, prior_mean: float | Floats = 0.0
) -> float:
    """KL divergence of independent Normals from `N(prior_mean, prior_variance)`, summed, in nats."""
    ratio = variance / prior_variance
    apart = mean - prior_mean
    return float(0.5 * np.sum(apart * apart / prior_variance + ratio - 1.0 - np.log(ratio)))


def worker_divergence(beliefs: VariationalPosterior) -> float:
    """KL divergence of all workers' weights and biases from their priors, in nats."""
    prior = beliefs.prior
    weights = normal_divergence(
        vech(beliefs.weights), vech(beliefs.weight_variances), prior.weight_variances, prior.weight_means
    )
    return weights + normal_divergence(beliefs.biases, beliefs.bias_variances, prior.bias_variance, prior.bias_mean)


def layer_divergence(beliefs: VariationalPosterior) -> float:
    """KL divergence of the positions from `N(0, s_x)`, while there is no mixture yet, in nats."""
    return normal_divergence(beliefs.mean, beliefs.variance, beliefs.settings.position_variance)


def position_entropy(beliefs: VariationalPosterior) -> float:
    """Entropy of the positions, in nats."""
    return float(0.5 * np.sum(np.log(2.0 * np.pi * np.e * beliefs.variance)))
