"""The EM of learning from experts: posterior of the classes, workers' coins and classifier in turn (raykar2009)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crowdclust_app.inference.aggregators.iterations import Iterations
from crowdclust_app.inference.aggregators.label_posterior import normalise
from crowdclust_app.inference.aggregators.label_table import Codes, Floats, LabelTable
from crowdclust_app.inference.experts import classifiers, coins

# What a gold item is worth: a worker who is right so often.
_GOLD = 0.999
# A foreign classifier has no objective to watch: the EM ends when no probability changes by more.
_STILL = 1e-3


@dataclass
class EMResult:
    """One problem after its EM: the posterior of the classes, and the parameters.

    Parameters
    ----------
    log_posterior : ndarray of shape (M, K)
        Log-probability of each class given features and labels.
    log_classifier : ndarray of shape (M, K)
        The same given the features alone.
    counts, matrices : ndarray of shape (J, K, K)
        Expected answers, and the workers' matrices at their mode.
    honesty
        Sum of the log-odds of all coins; the sign is well settled when it is far above 0. NaN unless two classes.
    mirrored
        Whether label switching was undone.
    """

    log_posterior: Floats
    log_classifier: Floats
    counts: Floats
    matrices: Floats
    classifier: classifiers.Classifier
    honesty: float
    mirrored: bool


@dataclass(frozen=True)
class Problem:
    """What one EM starts from; `X` is None without features, `gold` has a class code or -1 an item."""

    X: Floats | None
    gold: Codes
    rows: LabelTable
    coins: coins.Coins
    start: Floats
    make: Callable[[Floats | None], classifiers.Classifier]

    @property
    def known(self) -> NDArray[np.bool_]:
        """Items that something is known about; shape (M,)."""
        return np.asarray((self.rows.task_counts > 0) | (self.gold >= 0))


def learn(problem: Problem, run: Iterations) -> EMResult:
    """Run the EM; once more with the classes exchanged, when it ends in the mirrored solution (two classes)."""
    rows, known = problem.rows, problem.known
    X = np.zeros((rows.n_tasks, 0)) if problem.X is None else problem.X
    classifier = problem.make(None if problem.X is None else X[known])
    of_gold = _log_gold(problem.gold, rows.n_classes)
    anchored = bool((problem.gold >= 0).any())
    active = rows.worker_counts > 0
    posterior, mirrored, bound = problem.start, False, -np.inf
    while True:
        counts = coins.count_answers(rows, posterior)
        matrices = problem.coins.mode(counts, active)
        classifier.update(posterior[known])
        by_features = classifier.log_probabilities(X)
        logs, total = normalise(by_features + coins.log_likelihoods(rows, matrices) + of_gold)
        before, posterior = posterior, np.exp(logs)
        previous = bound
        bound = float(total[known].sum()) + problem.coins.log_prior(matrices, active) + classifier.log_prior
        if classifier.has_bound:
            going = run.step((bound - previous) / (1.0 + abs(bound)), bound)
        else:
            moved = float(np.abs(posterior - before)[known].max(initial=0.0))
            going = run.step(0.0 if moved <= _STILL else moved)
        if going:
            continue
        honesty = _honesty(matrices[active])
        if honesty < 0 and not anchored and not mirrored and run.iterations < run.max_iterations:
            posterior, mirrored, bound = posterior[:, ::-1], True, -np.inf
            classifier.swap()
            run.bounds.clear()
            continue
        counts = coins.count_answers(rows, posterior)
        return EMResult(logs, by_features, counts, matrices, classifier, honesty, mirrored)


def _honesty(matrices: Floats) -> float:
    if matrices.shape[1] != 2:
        return float("nan")
    right = matrices[:, [0, 1], [0, 1]]
    return float((np.log(right) - np.log1p(-right)).sum())


def _log_gold(gold: Codes, n_classes: int) -> Floats:
    """What is known for certain, as log-likelihoods; shape (M, K)."""
    found = np.zeros((len(gold), n_classes))
    marked = np.flatnonzero(gold >= 0)
    found[marked] = np.log((1.0 - _GOLD) / max(n_classes - 1, 1))
    found[marked, gold[marked]] = np.log(_GOLD)
    return found
