"""A Beta prior from the data: the one under which the labels are most probable, by the mean-field bound (liu2012)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from crowdclust_app.inference.aggregators.confusion_matrices import TwoCoinMeanField
from crowdclust_app.inference.aggregators.iterations import Iterations
from crowdclust_app.inference.aggregators.label_posterior import Prevalence
from crowdclust_app.inference.aggregators.label_table import Floats, LabelTable, weighted_sums
from crowdclust_app.inference.aggregators.one_coin import MeanField

# Between these the prior's numbers are looked for: a thousand right answers say that all workers are alike.
_LEAST, _MOST = 0.1, 1000.0
# Rounds of fitting and of choosing, and the gain of the bound that ends them.
_ROUNDS, _GAIN = 30, 1e-3
_TOLERANCE = 1e-5


@dataclass(frozen=True, slots=True)
class ChosenPrior:
    """A prior that was chosen by evidence.

    Parameters
    ----------
    prior
        Beta prior of a worker's coins.
    bound
        Lower bound of the log evidence of the labels under it.
    usual, usual_bound
        The usual prior, and the bound under that.
    """

    prior: tuple[float, float]
    bound: float
    usual: tuple[float, float]
    usual_bound: float


class _Matrices(TwoCoinMeanField):
    """Mean field of confusion matrices with any number of classes; only its bound is looked at."""

    name = "confusion matrices"
    most_classes = None


def choose_prior(
    table: LabelTable, *, coins: int = 1, prevalence: Prevalence = None, run: Iterations | None = None
) -> ChosenPrior:
    """Choose the Beta prior with the highest mean-field bound, climbing from the usual one.

    Mean field under a prior and the best prior given its classes take turns; neither lets the bound fall.

    Parameters
    ----------
    table
        The labels.
    coins
        1 for one accuracy a worker (`MeanField`), 2 for a confusion matrix (`TwoCoinMeanField`): the prior's numbers
        are then counts of a right answer and of each wrong one.
    prevalence
        As in `Aggregator`.
    run
        Looked at between fits, and told of each.

    Examples
    --------
    >>> import crowdclust_app as cc
    >>> from crowdclust_app.inference.aggregators import encode_labels
    >>> labels = cc.simulate_labels(300, seed=1).labels
    >>> chosen = choose_prior(encode_labels(labels["task"], labels["worker"], labels["label"]))
    >>> chosen.bound >= chosen.usual_bound
    True
    """
    kind = MeanField if coins == 1 else _Matrices
    run = Iterations(_ROUNDS, 0.0, None, None) if run is None else run
    run.max_iterations = _ROUNDS
    prior = kind.usual_prior
    best = prior
    bounds: list[float] = []
    for _ in range(_ROUNDS):
        fitted = kind(prior=prior, prevalence=prevalence, tolerance=_TOLERANCE)
        fitted.fit_run(table, Iterations(fitted.usual_iterations, _TOLERANCE, None, run.token))
        bounds.append(fitted.lower_bounds_[-1])
        if bounds[-1] >= max(bounds):
            best = prior
        run.step(0.0)
        if len(bounds) > 1 and bounds[-1] - bounds[-2] < _GAIN:
            break
        right, wrong = _answers(table, fitted.probabilities_, coins)
        prior = _most_probable(right, wrong, prior)
    return ChosenPrior(best, max(bounds), kind.usual_prior, bounds[0])


def _answers(table: LabelTable, probabilities: Floats, coins: int) -> tuple[Floats, Floats]:
    """Expected right answers of each coin, shape (N,), and wrong ones, shape (N, W)."""
    rows, size = table.canonical, table.n_classes
    if coins == 1:
        right = weighted_sums(rows.worker, probabilities[rows.task, rows.label], table.n_workers)
        return right, np.maximum(table.worker_counts - right, 0.0)[:, None]
    cells = rows.worker * size + rows.label
    counts = np.stack(
        [weighted_sums(cells, probabilities[rows.task, true], table.n_workers * size) for true in range(size)]
    ).reshape(size, table.n_workers, size)
    right = np.stack([counts[true, :, true] for true in range(size)]).ravel()
    wrong = np.stack([np.delete(counts[true], true, axis=1) for true in range(size)]).reshape(len(right), size - 1)
    return right, wrong


def _most_probable(right: Floats, wrong: Floats, start: tuple[float, float]) -> tuple[float, float]:
    """The prior under which answers with these counts are most probable, the coins integrated out."""
    # most methods need no SciPy
    from scipy.optimize import minimize
    from scipy.special import digamma, gammaln

    counts, ways = right + wrong.sum(axis=1), wrong.shape[1]

    def loss(logs: Floats) -> tuple[float, Floats]:
        a, b = np.exp(logs)
        both = a + ways * b
        value = (gammaln(a + right) - gammaln(a) - gammaln(both + counts) + gammaln(both)).sum()
        value += (gammaln(b + wrong) - gammaln(b)).sum()
        together = (digamma(both) - digamma(both + counts)).sum()
        slope_a = (digamma(a + right) - digamma(a)).sum() + together
        slope_b = (digamma(b + wrong) - digamma(b)).sum() + ways * together
        return -float(value), -np.array([a * slope_a, b * slope_b])

    limits = [(math.log(_LEAST), math.log(_MOST))] * 2
    found = minimize(loss, np.log(start), jac=True, method="L-BFGS-B", bounds=limits)
    alpha, beta = np.exp(found.x).tolist()
    return alpha, beta
