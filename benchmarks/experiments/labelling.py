"""What the experiments with yes/no labels share: methods as functions, known sets, and the error they are judged by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from crowdclust_app.evaluation.label_simulation import AccuracyPrior, Codes, Floats, LabelledTasks, SimulatedLabels


@dataclass(frozen=True, slots=True)
class Verdicts:
    """What a method makes of labels.

    Parameters
    ----------
    scores : ndarray of shape (M,)
        Log-odds of each task, or what goes for them: above 0 is yes, below is no, 0 is undecided.
    seconds
        How long it took.
    """

    scores: Floats
    seconds: float


class LabelMethod(Protocol):
    """A method's verdicts on labels."""

    def __call__(
        self, labels: SimulatedLabels, method: str, prior: AccuracyPrior, seed: int, *, rough: bool = False
    ) -> Verdicts:
        """Infer the labels.

        Parameters
        ----------
        labels
            At least one.
        method
            Its name.
        prior
            Of the workers' accuracies, as the method believes it.
        seed
            Of what it draws.
        rough
            Whether the order of the tasks is all that is wanted, and fewer iterations will do.
        """
        ...


@dataclass(frozen=True, slots=True)
class KnownSet:
    """A published set of yes/no labels by its name."""

    name: str
    tasks: LabelledTasks


def error_rate(scores: Floats, truth: Codes, labels: SimulatedLabels | None = None) -> float:
    """Give the share of wrong verdicts, where a tie is half wrong.

    Parameters
    ----------
    scores : ndarray of shape (M,)
        As in `Verdicts`.
    truth : ndarray of shape (M,)
        1 or 0; other tasks do not count.
    labels
        When given, tasks without any of them do not count either.
    """
    counted = truth >= 0
    if labels is not None:
        counted &= np.bincount(labels.task, minlength=labels.n_tasks) > 0
    said = np.sign(scores[counted])
    wrong = np.where(said == 0, 0.5, said != 2 * truth[counted] - 1)
    return float(wrong.mean()) if len(wrong) else float("nan")


def oracle_scores(labels: SimulatedLabels, accuracies: Floats) -> Floats:
    """Log-odds of somebody who knows how often each worker is right: the lower bound of all errors; shape (M,)."""
    sure = np.clip(accuracies, 1e-12, 1.0 - 1e-12)
    weight = np.log(sure / (1.0 - sure))[labels.worker]
    signed = np.where(labels.label == 1, weight, -weight)
    # a weight that is only rounding is no weight
    return np.round(np.bincount(labels.task, weights=signed, minlength=labels.n_tasks), 9)
