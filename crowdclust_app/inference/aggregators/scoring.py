"""How good inferred labels are, where the truth is known."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass

import numpy as np

from crowdclust_app.inference.aggregators.base import Aggregator
from crowdclust_app.inference.aggregators.columns import label_key

# A probability is not taken for smaller than this: a wrong certainty costs 34.5 and not everything.
_LEAST = 1e-15


@dataclass(frozen=True, slots=True)
class LabelScores:
    """Figures over the labelled tasks whose truth is known.

    Parameters
    ----------
    tasks
        How many those are.
    error
        Share of them labelled wrongly; a tie counts what choosing among the tied at random would (one half for two
        classes), whatever the policy for ties made of it. None without tasks or classes.
    log_loss
        Mean negative log-probability of the truth. None without tasks or classes.
    brier
        Mean of half the squared distance of the probabilities from the truth, which for two classes is the squared
        error of the probability. None without tasks or classes.
    rmse
        Root mean squared error of values, for labels that are measurements; None otherwise.
    """

    tasks: int
    error: float | None = None
    log_loss: float | None = None
    brier: float | None = None
    rmse: float | None = None


def score(fitted: Aggregator, truth: Mapping[Hashable, Hashable]) -> LabelScores:
    """Compare a fitted aggregator with known labels.

    Parameters
    ----------
    fitted
        After `fit`.
    truth
        Label by task; tasks that the fit does not have, or has no labels of, do not count.
    """
    rows = [row for row, task in enumerate(fitted.tasks_) if task in truth and fitted.label_counts_[row] > 0]
    if not rows:
        return LabelScores(0)
    known = [label_key(truth[fitted.tasks_[row]]) for row in rows]
    if not len(fitted.classes_):
        return LabelScores(len(rows), rmse=_rmse(fitted, rows, known))
    code = {label_key(value): number for number, value in enumerate(fitted.classes_)}
    true = np.array([code.get(key, -1) for key in known])
    found = true >= 0
    best = fitted.tied_classes_[rows]
    right = np.where(found, best[np.arange(len(rows)), true], False) / best.sum(axis=1)
    probabilities = fitted.probabilities_[rows]
    of_truth = np.where(found, probabilities[np.arange(len(rows)), true], 0.0)
    # sum_k (p_k - y_k)^2 = sum_k p_k^2 - 2 p_true + 1, also where the truth is a class without labels
    squares = (probabilities**2).sum(axis=1) - 2.0 * of_truth + 1.0
    return LabelScores(
        len(rows),
        error=float(1.0 - right.mean()),
        log_loss=float(-np.log(np.maximum(of_truth, _LEAST)).mean()),
        brier=float(np.maximum(squares, 0.0).mean() / 2.0),
    )


def _rmse(fitted: Aggregator, rows: list[int], known: list[str]) -> float | None:
    try:
        true = np.array([float(key) for key in known])
    except ValueError:
        return None
    values = np.array([float(fitted.labels_[row]) for row in rows])
    return float(np.sqrt(np.mean((values - true) ** 2)))
