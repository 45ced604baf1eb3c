"""What is expected of a worker before any answer: fixed, or learnt from all workers (docs/model.md, section 9)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crowdclust_app.inference.crowdclustering.kernels.arrays import Floats, Ints

# The variances of a learnt prior do not fall below this: one worker's would otherwise go to zero.
LEAST_VARIANCE = 1e-2


@dataclass(frozen=True, slots=True)
class WorkerPrior:
    """Independent Normals for the entries of a worker's weights and for the bias.

    Parameters
    ----------
    weight_means, weight_variances : ndarray of shape (P,)
        Upper triangle of `W`, row by row.
    bias_mean, bias_variance
        Of `tau`.
    """

    weight_means: Floats
    weight_variances: Floats
    bias_mean: float
    bias_variance: float


def independent_prior(dimensions: int, weight_variance: float, bias_variance: float) -> WorkerPrior:
    """The paper's: `N(0, s_w)` for every weight and `N(0, s_tau)` for the bias."""
    entries = dimensions * (dimensions + 1) // 2
    return WorkerPrior(np.zeros(entries), np.full(entries, weight_variance), 0.0, bias_variance)


def shared_prior(
    weights: Floats, weight_variances: Floats, biases: Floats, bias_variances: Floats, answered: Ints
) -> WorkerPrior:
    """The prior under which the bound is highest, given the posterior of the workers who answered.

    For every entry its mean is the average of the posterior means, its variance the average of squared deviation and
    posterior variance. Where that variance is below `LEAST_VARIANCE` it is raised to it; the bound has a single
    maximum in it, so it does not fall if the variance was not below before.

    Parameters
    ----------
    weights, weight_variances : ndarray of shape (J, P)
        Posterior of the upper triangles of `W`.
    biases, bias_variances : ndarray of shape (J,)
        And of `tau`.
    answered : ndarray of shape (n,)
        The workers who gave a label.
    """
    mean, variance = _moments(weights[answered], weight_variances[answered])
    bias_mean, bias_variance = _moments(biases[answered], bias_variances[answered])
    return WorkerPrior(mean, variance, float(bias_mean), float(bias_variance))


def _moments(means: Floats, variances: Floats) -> tuple[Floats, Floats]:
    """Mean and floored variance over the first axis."""
    centre = np.asarray(means.mean(axis=0))
    spread = ((means - centre) ** 2 + variances).mean(axis=0)
    return centre, np.asarray(np.maximum(spread, LEAST_VARIANCE))
