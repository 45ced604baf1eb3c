"""The terms of the bound besides the labels' and the mixture's (crowdclustering.md, section 2)."""

from __future__ import annotations

import numpy as np

from crowdclust_app.inference.crowdclustering.arrays import Floats
from crowdclust_app.inference.crowdclustering.blocks import Beliefs, vech


def normal_divergence(mean: Floats, variance: Floats, prior_variance: float) -> float:
    """KL divergence of independent Normals from `N(0, prior_variance)`, summed, in nats."""
    ratio = variance / prior_variance
    return float(0.5 * np.sum(mean * mean / prior_variance + ratio - 1.0 - np.log(ratio)))


def worker_divergence(beliefs: Beliefs) -> float:
    """KL divergence of all workers' weights and biases from their priors, in nats."""
    settings = beliefs.settings
    weights = normal_divergence(vech(beliefs.weights), vech(beliefs.weight_variances), settings.weight_variance)
    return weights + normal_divergence(beliefs.biases, beliefs.bias_variances, settings.bias_variance)


def layer_divergence(beliefs: Beliefs) -> float:
    """KL divergence of the positions from `N(0, s_x)`, while there is no mixture yet, in nats."""
    return normal_divergence(beliefs.mean, beliefs.variance, beliefs.settings.position_variance)


def position_entropy(beliefs: Beliefs) -> float:
    """Entropy of the positions, in nats."""
    return float(0.5 * np.sum(np.log(2.0 * np.pi * np.e * beliefs.variance)))
