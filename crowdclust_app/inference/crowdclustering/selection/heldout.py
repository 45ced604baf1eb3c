"""What held-out responses say of a fit: how well they are predicted, by whom, and what was chosen by them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from crowdclust_app.domain.response_table import ResponseTable
from crowdclust_app.inference.crowdclustering.model.settings import ResolvedSettings
from crowdclust_app.inference.crowdclustering.partitions.answers import Answers
from crowdclust_app.inference.crowdclustering.selection.curve import HeldOutCurve
from crowdclust_app.inference.crowdclustering.selection.heldout_workers import (
    ONE_GROUP_RATE,
    WorkerScores,
    score_workers,
)
from crowdclust_app.inference.crowdclustering.selection.partitioning import Partitioned
from crowdclust_app.inference.crowdclustering.selection.prediction import HeldOutScores, concatenated, mean_and_error

DECISION, PAIR_LABEL = "decision", "pair label"


@dataclass(frozen=True, slots=True)
class HeldOut:
    """How well held-out responses are predicted, and what was chosen by them.

    What is predicted are decisions, where one item was put given the others of its response; where the bound says how
    many clusters there are, they are pair labels.

    Parameters
    ----------
    unit
        "decision" or "pair label".
    folds, responses, scored
        Folds, responses held out one fold at a time, and their decisions (pair labels) about items that the rest has
        seen.
    loglik, loglik_se
        Predictive log-likelihood of one of them in nats, and its standard error over responses.
    accuracy, accuracy_se
        Share of those that are the likeliest.
    base_loglik
        The same log-likelihood without clusters: with all items in one. With the bound it is that or each worker's
        share of "same", whichever predicts better.
    gain, gain_se
        `loglik - base_loglik`, and the standard error of that difference, response by response.
    workers
        The same by worker, beside two workers who do not look at the pictures.
    dimensions, label_weight, clusters
        What was chosen or given; `clusters` is 0 where the bound is to say.
    tried
        `(what, value, log-likelihood)` of all that was compared, in order; `what` is "label weight", "dimensions" or
        "clusters".
    by_clusters
        `(clusters, log-likelihood, its standard error, standard error of the difference to the best)` of each number of
        clusters that was tried; none where one was given, or the design falls into parts.
    """

    unit: str
    folds: int
    responses: int
    scored: int
    loglik: float
    loglik_se: float
    accuracy: float
    accuracy_se: float
    base_loglik: float
    gain: float
    gain_se: float
    workers: WorkerScores
    dimensions: int
    label_weight: float
    clusters: int
    tried: tuple[tuple[str, float, float], ...]
    by_clusters: tuple[tuple[int, float, float, float], ...] = ()


def heldout_figures(scores: HeldOutScores, base: HeldOutScores) -> dict[str, Any]:
    """The fields of `HeldOut` that follow from scores of responses and from those that they are held against."""
    loglik, loglik_se = mean_and_error(scores.loglik, scores.counts)
    accuracy, accuracy_se = mean_and_error(scores.right, scores.counts)
    gain, gain_se = mean_and_error(scores.loglik - base.loglik, scores.counts)
    return {
        "responses": int((scores.counts > 0).sum()),
        "scored": int(scores.counts.sum()),
        "loglik": loglik,
        "loglik_se": loglik_se,
        "accuracy": accuracy,
        "accuracy_se": accuracy_se,
        "base_loglik": base.mean,
        "gain": gain,
        "gain_se": gain_se,
    }


def can_hold_out(table: ResponseTable) -> bool:
    """Whether there are two units to hold out: repeats of one worker about the same items are one."""
    answers = Answers.of(table)
    return len(np.unique(answers.sets * answers.n_workers + answers.workers)) > 1


def heldout_of(found: Partitioned, settings: ResolvedSettings, n_workers: int) -> HeldOut | None:
    """Put what was held out for a partition into figures; None where nothing was.

    Parameters
    ----------
    found
        The clusters with the scores that they were chosen by.
    settings
        Of the fit.
    n_workers
        Workers of the table.
    """
    curves = [(part.answers, part.curve, part.fit.n_clusters) for part in found.parts if part.curve is not None]
    if not curves:
        return None
    scores = concatenated([_scores(curve, curve.place(K)) for _, curve, K in curves])
    random = concatenated([_scores(curve, 0) for _, curve, _ in curves])
    one_group = concatenated([_one_group_scores(answers, curve) for answers, curve, _ in curves])
    workers = np.concatenate([answers.workers for answers, _, _ in curves])
    several = settings.n_clusters == "heldout" and len(found.parts) == 1
    by_clusters = _by_clusters(curves[0][1]) if several else ()
    return HeldOut(
        unit=DECISION,
        folds=max(len(curve.trained) for _, curve, _ in curves),
        workers=score_workers(workers, n_workers, scores, random, one_group),
        dimensions=settings.dimensions,
        label_weight=settings.label_weight,
        clusters=found.n_clusters,
        tried=tuple(("clusters", float(number), score) for number, score, _, _ in by_clusters),
        by_clusters=by_clusters,
        **heldout_figures(scores, random),
    )


def _scores(curve: HeldOutCurve, place: int) -> HeldOutScores:
    return HeldOutScores(curve.loglik[place], curve.decisions, curve.right[place])


def _by_clusters(curve: HeldOutCurve) -> tuple[tuple[int, float, float, float], ...]:
    """Each number of clusters with its score, that score's standard error, and the error beside the best number's."""
    best, found = curve.best(), []
    for place, number in enumerate(curve.numbers):
        score, error = mean_and_error(curve.loglik[place], curve.decisions)
        beside = mean_and_error(curve.loglik[best] - curve.loglik[place], curve.decisions)[1]
        found.append((number, score, error, beside))
    return tuple(found)


def _one_group_scores(answers: Answers, curve: HeldOutCurve) -> HeldOutScores:
    """How a worker who puts everything together, but for a slip in a hundred decisions, predicts the same responses."""
    largest = np.zeros(answers.size)
    cells = np.bincount(answers.response_of * answers.most + answers.groups, minlength=answers.size * answers.most)
    largest = cells.reshape(answers.size, answers.most).max(axis=1)
    # of items that the rest has not seen nothing is scored
    known = np.where(largest > 1, largest / answers.sizes, 0.0) * curve.decisions
    loglik = known * np.log(ONE_GROUP_RATE) + (curve.decisions - known) * np.log(1.0 - ONE_GROUP_RATE)
    return HeldOutScores(loglik, curve.decisions, known)
