"""The evidence lower bound `F`, in nats, and its terms (docs/model.md, section 2).

`F` is the expected log-likelihood of the pair labels, with the logistic function bounded as by Jaakkola and Jordan
(jaakkola2000), less the Kullback-Leibler divergence of the workers from their prior, plus what the mixture says of the
positions, plus the positions' entropy. While there is no mixture yet, the divergence of the positions from their prior
takes the place of the last two.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crowdclust_app.inference.crowdclustering.kernels.arrays import Floats
from crowdclust_app.inference.crowdclustering.model.blocks import VariationalPosterior, vech


@dataclass(frozen=True, slots=True)
class PriorTerms:
    """The terms of the lower bound that do not depend on the pair labels, in nats.

    Parameters
    ----------
    workers
        Divergence of the workers' weights and biases from their prior.
    positions
        Entropy of the positions; without a mixture, minus their divergence from `N(0, s_x)`.
    mixture
        The mixture's terms (`mixture.update_mixture`); 0 without one.
    """

    workers: float
    positions: float
    mixture: float


def prior_terms(posterior: VariationalPosterior, mixture_bound: float | None = None) -> PriorTerms:
    """The terms besides the labels', with the workers as they are now.

    Parameters
    ----------
    posterior
        Positions and workers.
    mixture_bound
        The mixture's terms; None while there is no mixture.
    """
    workers = worker_divergence(posterior)
    if mixture_bound is None:
        return PriorTerms(workers, -layer_divergence(posterior), 0.0)
    return PriorTerms(workers, position_entropy(posterior), mixture_bound)


def lower_bound(label_sums: Floats, prior: PriorTerms) -> float:
    """The evidence lower bound `F`, in nats.

    Parameters
    ----------
    label_sums : ndarray of shape (J, 3)
        Of `VariationalPosterior.sum_labels` or `update_weights`; the third column is the expected log-likelihood of
        each worker's pair labels under the logistic bound.
    prior
        The other terms, for the workers to whom the sums belong: those before they were updated.
    """
    return float(label_sums[:, 2].sum()) - prior.workers + prior.positions + prior.mixture


def normal_divergence(
    mean: Floats, variance: Floats, prior_variance: float | Floats, prior_mean: float | Floats = 0.0
) -> float:
    """KL divergence of independent Normals from `N(prior_mean, prior_variance)`, summed, in nats."""
    ratio = variance / prior_variance
    apart = mean - prior_mean
    return float(0.5 * np.sum(apart * apart / prior_variance + ratio - 1.0 - np.log(ratio)))


def worker_divergence(posterior: VariationalPosterior) -> float:
    """KL divergence of all workers' weights and biases from their priors, in nats."""
    prior = posterior.prior
    weights = normal_divergence(
        vech(posterior.weights), vech(posterior.weight_variances), prior.weight_variances, prior.weight_means
    )
    return weights + normal_divergence(posterior.biases, posterior.bias_variances, prior.bias_variance, prior.bias_mean)


def layer_divergence(posterior: VariationalPosterior) -> float:
    """KL divergence of the positions from `N(0, s_x)`, while there is no mixture yet, in nats."""
    return normal_divergence(posterior.mean, posterior.variance, posterior.settings.position_variance)


def position_entropy(posterior: VariationalPosterior) -> float:
    """Entropy of the positions, in nats."""
    return float(0.5 * np.sum(np.log(2.0 * np.pi * np.e * posterior.variance)))
