"""What a fit without clusters predicts of responses it has not seen, once its items are put into clusters.

Every item is taken for one drawn from its cluster (docs/model.md, sections 9 and 10): clusters are Gaussians with
the mean of their items and the covariance of these, the items' own variances included. So an answer about an item says
nothing about the same item's other answers except through its cluster.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crowdclust_app.domain.response_table import ResponseTable
from crowdclust_app.inference.crowdclustering.kernels.arrays import Floats, Ints
from crowdclust_app.inference.crowdclustering.kernels.prediction import score_responses
from crowdclust_app.inference.crowdclustering.model.blocks import VariationalPosterior
from crowdclust_app.inference.crowdclustering.model.confusion import activity_moments, calibrated_confusion

# No probability is nearer to 0 or 1: one label must not outweigh everything.
LEAST_PROBABILITY = 1e-9
# Pair labels that the share of "same" of all workers counts for in a worker's own.
PRIOR_PAIRS = 10.0


@dataclass(frozen=True, slots=True)
class Placement:
    """Positions and workers of one fit, without its working memory.

    Parameters
    ----------
    n_items
        Items of the table `N`; the others count those with labels, `n`.
    shown : ndarray of shape (n,)
        Which items of the table these are.
    mean, variance : ndarray of shape (n, D)
        Their positions.
    weights, weight_variances : ndarray of shape (J, D, D)
    biases, bias_variances : ndarray of shape (J,)
        The workers.
    """

    n_items: int
    shown: Ints
    mean: Floats
    variance: Floats
    weights: Floats
    weight_variances: Floats
    biases: Floats
    bias_variances: Floats

    def spread_out(self, partition: Ints) -> Ints:
        """A partition of the `n` items as clusters of all `N`, -1 for those without labels."""
        cluster = np.full(self.n_items, -1, dtype=np.int64)
        cluster[self.shown] = partition
        return cluster


@dataclass(frozen=True, slots=True)
class HeldOutScores:
    """How responses were predicted, one entry a response.

    Parameters
    ----------
    loglik : ndarray of shape (R,)
        Log-likelihood of its pair labels, or of its decisions, in nats.
    counts : ndarray of shape (R,)
        How many they are; those about an item that the fit has not seen do not count.
    right : ndarray of shape (R,)
        How many of them are the likeliest.
    """

    loglik: Floats
    counts: Floats
    right: Floats

    @property
    def mean(self) -> float:
        """Log-likelihood of one of them, in nats; that of a coin where there is none."""
        total = self.counts.sum()
        return float(self.loglik.sum() / total) if total > 0 else -float(np.log(2.0))


def placement_of(posterior: VariationalPosterior, n_items: int) -> Placement:
    """Keep what predictions need."""
    return Placement(
        n_items,
        posterior.labels.shown,
        posterior.mean,
        posterior.variance,
        posterior.weights,
        posterior.weight_variances,
        posterior.biases,
        posterior.bias_variances,
    )


def concatenated(scores: list[HeldOutScores]) -> HeldOutScores:
    """The scores of several sets of responses, one after the other."""
    return HeldOutScores(
        *(np.concatenate([getattr(part, name) for part in scores]) for name in ("loglik", "counts", "right"))
    )


def cluster_shapes(mean: Floats, variance: Floats, partition: Ints) -> tuple[Floats, Floats]:
    """Mean and covariance of the clusters' items, their variances included: (K, D) and (K, D, D)."""
    K, D = int(partition.max()) + 1, mean.shape[1]
    centres, covariances = np.zeros((K, D)), np.zeros((K, D, D))
    for k in range(K):
        own = partition == k
        if own.any():
            centres[k] = mean[own].mean(axis=0)
            apart = mean[own] - centres[k]
            covariances[k] = apart.T @ apart / own.sum() + np.diag(variance[own].mean(axis=0))
    return centres, covariances


def same_probabilities(placement: Placement, partition: Ints) -> Floats:
    """Probability that each worker puts items of two clusters together; (J, K, K).

    It is `g(E[A] / sqrt(1 + pi Var[A] / 8))` (section 10).
    """
    centres, covariances = cluster_shapes(placement.mean, placement.variance, partition)
    return calibrated_confusion(
        *activity_moments(
            placement.weights,
            placement.weight_variances,
            placement.biases,
            placement.bias_variances,
            centres,
            covariances,
        )
    )


def score_table(table: ResponseTable, cluster: Ints, probabilities: Floats) -> HeldOutScores:
    """Score every response of a table.

    Parameters
    ----------
    table
        Responses that had no part in what predicts them.
    cluster : ndarray of shape (N,)
        Cluster of each item, -1 for none.
    probabilities : ndarray of shape (J, K, K)
        Of "same"; where there are those of one worker only, they are everybody's.
    """
    chance = np.clip(probabilities, LEAST_PROBABILITY, 1.0 - LEAST_PROBABILITY)
    workers = table.worker_of_response if len(chance) > 1 else np.zeros_like(table.worker_of_response)
    scores = HeldOutScores(*(np.empty(table.n_responses) for _ in range(3)))
    score_responses(
        table.response_ptr,
        table.items,
        table.groups,
        workers,
        cluster,
        np.log(chance),
        np.log1p(-chance),
        scores.loglik,
        scores.counts,
        scores.right,
    )
    return scores


def base_rates(table: ResponseTable) -> Floats:
    """Each worker's share of "same", shrunk towards that of all workers: a prediction without clusters; (J,)."""
    same, pairs = np.zeros(table.n_workers), np.zeros(table.n_workers)
    response = np.repeat(np.arange(table.n_responses), table.sizes)
    cell = response * (int(table.groups.max(initial=0)) + 1) + table.groups
    _, first, counts = np.unique(cell, return_index=True, return_counts=True)
    np.add.at(same, table.worker_of_response[response[first]], counts * (counts - 1) / 2)
    np.add.at(pairs, table.worker_of_response, table.sizes * (table.sizes - 1) / 2)
    overall = same.sum() / max(pairs.sum(), 1.0)
    return np.asarray((same + PRIOR_PAIRS * overall) / (pairs + PRIOR_PAIRS))


def mean_and_error(values: Floats, counts: Floats) -> tuple[float, float]:
    """A sum over what was scored as a mean, and its standard error with responses as the independent units.

    Parameters
    ----------
    values, counts : ndarray of shape (R,)
        Sum over what was scored of a response, and its number; responses of which nothing was do not count.
    """
    known = counts > 0
    values, counts = values[known], counts[known]
    n = len(values)
    if n == 0:
        return 0.0, float("inf")
    mean = values.sum() / counts.sum()
    if n == 1:
        return float(mean), float("inf")
    spread = np.sqrt(((values - mean * counts) ** 2).sum() * n / (n - 1))
    return float(mean), float(spread / counts.sum())
