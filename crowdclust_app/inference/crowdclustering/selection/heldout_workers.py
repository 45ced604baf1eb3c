"""How well each worker's held-out responses are predicted, beside two workers who do not look at the pictures.

The random worker puts any two items together at the worker's own rate, whatever they are; the one-group worker puts
everything together, but for a slip in a hundred labels. Who is predicted no better by the clusters than by the one
or the other says nothing about the clusters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from crowdclust_app.domain.response_table import ResponseTable
from crowdclust_app.inference.crowdclustering.kernels.arrays import Floats, Ints
from crowdclust_app.inference.crowdclustering.selection.prediction import HeldOutScores

# Share of "same" of the one-group worker.
ONE_GROUP_RATE = 0.99
# Responses that the spread of all workers' responses counts for in a worker's own, so that a worker with one response
# has an error too.
PRIOR_RESPONSES = 2.0


@dataclass(frozen=True, slots=True)
class WorkerScores:
    """Held-out prediction worker by worker; every array has shape (J,), NaN where nothing of a worker was scored.

    Parameters
    ----------
    labels
        Held-out pair labels that were scored; 0 where none was.
    loglik, loglik_se
        Predictive log-likelihood a label in nats, and its standard error over the worker's responses.
    over_random, over_random_se
        By how much that is above the random worker's, and the standard error of the difference.
    over_one_group, over_one_group_se
        The same for the one-group worker.
    accuracy, accuracy_se
        Share of the labels that the likelier answer meets.
    """

    labels: Floats
    loglik: Floats
    loglik_se: Floats
    over_random: Floats
    over_random_se: Floats
    over_one_group: Floats
    over_one_group_se: Floats
    accuracy: Floats
    accuracy_se: Floats


def score_workers(
    tests: Sequence[ResponseTable], scores: HeldOutScores, random: HeldOutScores, one_group: HeldOutScores
) -> WorkerScores:
    """Sum up held-out responses by worker.

    Parameters
    ----------
    tests
        The held-out responses; one after the other they are the entries of the scores.
    scores, random, one_group
        Of the clusters and of the two workers who do not look.
    """
    who = np.concatenate([test.worker_of_response for test in tests])
    n_workers = tests[0].n_workers
    labels = np.bincount(who, scores.pairs, minlength=n_workers).astype(np.float64)
    figures = [
        mean_and_error_by_worker(values, scores.pairs, who, n_workers)
        for values in (scores.loglik, scores.loglik - random.loglik, scores.loglik - one_group.loglik, scores.right)
    ]
    return WorkerScores(labels, *figures[0], *figures[1], *figures[2], *figures[3])


def mean_and_error_by_worker(values: Floats, pairs: Floats, who: Ints, n_workers: int) -> tuple[Floats, Floats]:
    """Mean a label of each worker, and its standard error with responses as the independent units.

    A worker's own spread is drawn towards that of all workers, which counts as much as `PRIOR_RESPONSES` responses.

    Parameters
    ----------
    values, pairs, who : ndarray of shape (R,)
        Sum over the labels of a response, their number, and the worker.

    Returns
    -------
    tuple of two ndarray of shape (J,)
        NaN where a worker has no label.
    """
    counted = pairs > 0
    values, pairs, who = values[counted], pairs[counted], who[counted]

    def total(parts: Floats) -> Floats:
        return np.bincount(who, parts, minlength=n_workers).astype(np.float64)

    labels, responses = total(pairs), total(np.ones(len(who)))
    scored = labels > 0
    means = np.full(n_workers, np.nan)
    means[scored] = total(values)[scored] / labels[scored]
    squares = total((values / pairs - means[who]) ** 2)
    freedom = np.maximum(responses - 1.0, 0.0)
    if freedom.sum() > 0:
        common = squares.sum() / freedom.sum()
    else:  # no worker has two responses: the differences between workers are all there is
        common = float(np.var(values / pairs)) if len(values) else 0.0
    variance = (PRIOR_RESPONSES * common + squares) / (PRIOR_RESPONSES + freedom)
    # a response counts by its labels
    weight = np.divide(total(pairs**2), labels**2, out=np.zeros(n_workers), where=scored)
    return means, np.where(scored, np.sqrt(variance * weight), np.nan)
