"""The model of decisions: a worker puts one item where its cluster goes with those that are there (docs/methods.md).

An item joins a group with a probability that grows with the mean affinity of its cluster to those of the group's items,
and with the group's size, or opens a group of its own. A response of `M` items is thereby `M` decisions and not
`M (M - 1) / 2` labels, and one stray item is one event.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from crowdclust_app.inference.crowdclustering.kernels.arrays import Floats, Ints
from crowdclust_app.inference.crowdclustering.kernels.decisions import (
    count_cluster_pairs,
    decision_evidence,
    score_decisions,
)
from crowdclust_app.inference.crowdclustering.partitions.answers import Answers, without_gaps

# Share of decisions that follow nothing.
STRAY = 0.03
# Pairs of an average response that the mean rate within, or between, clusters counts for in each of them.
PRIOR_PAIRS = 10.0
# Prior means of the crowd's slope, bias and weight of a group's size, and their precisions.
COMMON = np.array([1.0, 0.0, 0.5])
COMMON_PRECISION = np.array([4.0, 1.0, 4.0])
# Prior precisions of a worker's log slope and bias, as differences from the crowd's: standard deviations 0.5 and 1.
WORKER_PRECISION = np.array([4.0, 1.0])
# A Newton step goes no further, and slopes stay within these limits.
COMMON_STEP, WORKER_STEP = 0.7, 1.0
SLOPES, LOG_SLOPES = (0.05, 6.0), (-3.0, 1.0)
FIRST_STEPS = 3
# Gauss-Hermite quadrature of a standard Normal: places and weights.
NODES = ((-(3.0**0.5), 1.0 / 6.0), (0.0, 2.0 / 3.0), (3.0**0.5, 1.0 / 6.0))


@dataclass(frozen=True, slots=True)
class DecisionFit:
    """A partition, and what the crowd and each worker make of it.

    Parameters
    ----------
    partition : ndarray of shape (n,)
        Cluster of each item, without gaps; -1 where it never occurred.
    affinity : ndarray of shape (K, K)
        Log-odds with which the crowd puts items of two clusters together.
    common : ndarray of shape (3,)
        The crowd's slope, bias and weight of a group's size.
    workers : ndarray of shape (J, 2)
        Log slope and bias of each worker, as differences from the crowd's.
    loglik
        Log-probability of all decisions in nats, less what the workers' prior costs.
    """

    partition: Ints
    affinity: Floats
    common: Floats
    workers: Floats
    loglik: float = -np.inf

    @classmethod
    def before(cls, answers: Answers, partition: Ints) -> DecisionFit:
        """A partition of which nothing has been learnt yet."""
        partition = without_gaps(partition)
        workers = np.zeros((answers.n_workers, 2))
        return cls(partition, affinities(answers, partition, workers), COMMON.copy(), workers)

    @property
    def n_clusters(self) -> int:
        """Number of clusters `K`."""
        return len(self.affinity)

    @property
    def sizes(self) -> Ints:
        """Items of each cluster; shape (K,)."""
        return np.bincount(self.partition[self.partition >= 0], minlength=self.n_clusters)

    @property
    def log_sizes(self) -> Floats:
        """What counts for each cluster beside the evidence; shape (K,)."""
        return np.asarray(np.log(self.sizes + 1.0))

    @property
    def rates_within(self) -> Floats:
        """How often the crowd puts two items of each cluster together; shape (K,)."""
        return np.asarray(1.0 / (1.0 + np.exp(-np.diag(self.affinity))))

    def slopes_and_biases(self, answers: Answers) -> tuple[Floats, Floats]:
        """Of each response; two arrays of shape (R,)."""
        own = self.workers[answers.workers]
        return self.common[0] * np.exp(own[:, 0]), self.common[1] + own[:, 1]

    def scores(self, answers: Answers) -> tuple[Floats, Floats]:
        """Log-probability of each response's decisions, and how many of them are the likeliest; both (R,)."""
        return self._scores(answers, False)[:2]

    def predictions(self, answers: Answers, known: NDArray[np.bool_]) -> tuple[Floats, Floats]:
        """Scores of responses that had no part in the fit.

        Of a worker of whom nothing was learnt, the probability is the mean over the prior (three nodes each of
        Gauss-Hermite quadrature): a worker who lumps everything and answers once must not count as impossible.

        Parameters
        ----------
        known : ndarray of shape (J,)
            Whether anything was learnt of each worker.
        """
        loglik, right = self.scores(answers)
        new = ~known[answers.workers]
        if not answers.individual or not new.any():
            return loglik, right
        here = answers.take(new)
        logs = []
        for slope, of_slope in NODES:
            for bias, of_bias in NODES:
                there = np.array([slope, bias]) / np.sqrt(WORKER_PRECISION)
                moved = replace(self, workers=np.where(known[:, None], self.workers, there))
                logs.append(moved.scores(here)[0] + np.log(of_slope * of_bias))
        loglik[new] = np.logaddexp.reduce(logs, axis=0)
        return loglik, right

    def _scores(self, answers: Answers, derive: bool) -> tuple[Floats, Floats, Floats, Floats]:
        rates = self.slopes_and_biases(answers)
        return score_decisions(
            *answers.arrays, self.partition, self.affinity, *rates, self.common[2], STRAY, answers.most, derive
        )

    def evidence(self, answers: Answers) -> Floats:
        """Log-probability of what was done with each item, were it in each cluster; (n, K)."""
        rates = self.slopes_and_biases(answers)
        size, weight = self.common[2], answers.weight
        return decision_evidence(
            *answers.arrays, self.partition, self.affinity, *rates, size, STRAY, weight, answers.most
        )

    def posterior(self, answers: Answers) -> Floats:
        """Log-probability of each cluster for each item, its size counted, but for a constant of the item; (n, K)."""
        return np.asarray(self.evidence(answers) + self.log_sizes)

    def with_partition(self, answers: Answers, partition: Ints) -> DecisionFit:
        """The same people with another partition."""
        partition = without_gaps(partition)
        return replace(self, partition=partition, affinity=affinities(answers, partition, self.workers))

    def stepped(self, answers: Answers) -> DecisionFit:
        """One Newton step of the crowd's three figures, and of the two of each worker."""
        _, _, gradient, information = self._scores(answers, True)
        gradient = gradient * answers.weight[:, None]
        information = information * answers.weight[:, None, None]
        pull = gradient.sum(axis=0) - COMMON_PRECISION * (self.common - COMMON)
        step = np.linalg.solve(information.sum(axis=0) + np.diag(COMMON_PRECISION), pull)
        common = self.common + np.clip(step, -COMMON_STEP, COMMON_STEP)
        common[0] = np.clip(common[0], *SLOPES)
        if not answers.individual:
            return replace(self, common=common)
        slope, _ = self.slopes_and_biases(answers)

        def by_worker(values: Floats) -> Floats:
            return np.bincount(answers.workers, values, minlength=answers.n_workers).astype(np.float64)

        pulls = np.stack([by_worker(gradient[:, 0] * slope), by_worker(gradient[:, 1])], axis=1)
        pulls -= WORKER_PRECISION * self.workers
        curved = np.zeros((answers.n_workers, 2, 2))
        curved[:, 0, 0] = by_worker(information[:, 0, 0] * slope**2) + WORKER_PRECISION[0]
        curved[:, 1, 1] = by_worker(information[:, 1, 1]) + WORKER_PRECISION[1]
        curved[:, 0, 1] = curved[:, 1, 0] = by_worker(information[:, 0, 1] * slope)
        step = np.linalg.solve(curved, pulls[:, :, None])[:, :, 0]
        workers = self.workers + np.clip(step, -WORKER_STEP, WORKER_STEP)
        workers[:, 0] = np.clip(workers[:, 0], *LOG_SLOPES)
        return replace(self, common=common, workers=workers)

    def settled(self, answers: Answers, steps: int = FIRST_STEPS) -> DecisionFit:
        """The same partition, what there is to learn of it learnt, and its log-probability."""
        fit = self.with_partition(answers, self.partition)
        for _ in range(steps):
            fit = fit.stepped(answers)
        return fit.scored(answers)

    def scored(self, answers: Answers) -> DecisionFit:
        """The same, with its log-probability."""
        price = 0.5 * float((self.workers**2 @ WORKER_PRECISION).sum())
        return replace(self, loglik=float(self.scores(answers)[0] @ answers.weight) - price)


def weighted_pairs(answers: Answers, partition: Ints, workers: Floats) -> tuple[Floats, Floats, float]:
    """Pairs shown, and put, together by cluster, a response counted as its decisions and as its worker heeds clusters.

    Returns
    -------
    shown, joined : ndarray of shape (K, K)
        Pairs of one cluster are counted twice.
    mean
        Mean weight of a pair over the responses.
    """
    weight = answers.weight * np.exp(workers[answers.workers, 0]) / (answers.sizes - 1)
    K = int(partition.max()) + 1
    return *count_cluster_pairs(*answers.arrays, partition, K, answers.most, weight), float(weight.mean())


def affinities(answers: Answers, partition: Ints, workers: Floats) -> Floats:
    """Log-odds that the crowd puts items of two clusters together, drawn to the mean within or between; (K, K)."""
    shown, joined, mean_weight = weighted_pairs(answers, partition, workers)
    own = np.arange(len(shown))
    shown[own, own] /= 2.0
    joined[own, own] /= 2.0
    within = (joined.trace() + 0.5) / (shown.trace() + 1.0)
    between = (joined.sum() - joined.trace() + 1.0) / (shown.sum() - shown.trace() + 2.0)
    mean = np.full(shown.shape, between)
    mean[own, own] = within
    prior = PRIOR_PAIRS * mean_weight
    rate = (joined + prior * mean) / (shown + prior)
    return np.asarray(np.log(rate / (1.0 - rate)))
