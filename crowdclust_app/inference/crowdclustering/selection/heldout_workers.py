"""How well each worker's held-out responses are predicted, beside two workers who do not look at the pictures.

The random worker takes all items for one cluster, at the worker's own rates; the one-group worker puts
everything together, but for a slip in a hundred. Who is predicted no better by the clusters than by the one
or the other says nothing about the clusters.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

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
    scored
        Held-out decisions (pair labels, with the bound) that were scored; 0 where none was.
    loglik, loglik_se
        Predictive log-likelihood of one of them in nats, and its standard error over the worker's responses.
    over_random, over_random_se
        By how much that is above the random worker's, and the standard error of the difference.
    over_one_group, over_one_group_se
        The same for the one-group worker.
    accuracy, accuracy_se
        Share of those that are the likeliest.
    """

    scored: Floats
    loglik: Floats
    loglik_se: Floats
    over_random: Floats
    over_random_se: Floats
    over_one_group: Floats
    over_one_group_se: Floats
    accuracy: Floats
    accuracy_se: Floats


def score_workers(
    workers: Ints, n_workers: int, scores: HeldOutScores, random: HeldOutScores, one_group: HeldOutScores
) -> WorkerScores:
    """Sum up held-out responses by worker.

    Parameters
    ----------
    workers : ndarray of shape (R,)
        Who gave each of the held-out responses.
    n_workers
        How many workers there are.
    scores, random, one_group
        Of the clusters and of the two workers who do not look.
    """
    scored = np.bincount(workers, scores.counts, minlength=n_workers).astype(np.float64)
    figures = [
        mean_and_error_by_worker(values, scores.counts, workers, n_workers)
        for values in (scores.loglik, scores.loglik - random.loglik, scores.loglik - one_group.loglik, scores.right)
    ]
    return WorkerScores(scored, *figures[0], *figures[1], *figures[2], *figures[3])


def mean_and_error_by_worker(values: Floats, counts: Floats, who: Ints, n_workers: int) -> tuple[Floats, Floats]:
    """Mean of each worker, and its standard error with responses as the independent units.

    A worker's own spread is drawn towards that of all workers, which counts as much as `PRIOR_RESPONSES` responses.

    Parameters
    ----------
    values, counts, who : ndarray of shape (R,)
        Sum over what was scored of a response, its number, and the worker.

    Returns
    -------
    tuple of two ndarray of shape (J,)
        NaN where nothing of a worker was scored.
    """
    known = counts > 0
    values, counts, who = values[known], counts[known], who[known]

    def total(parts: Floats) -> Floats:
        return np.bincount(who, parts, minlength=n_workers).astype(np.float64)

    sums, responses = total(counts), total(np.ones(len(who)))
    scored = sums > 0
    means = np.full(n_workers, np.nan)
    means[scored] = total(values)[scored] / sums[scored]
    squares = total((values / counts - means[who]) ** 2)
    freedom = np.maximum(responses - 1.0, 0.0)
    if freedom.sum() > 0:
        common = squares.sum() / freedom.sum()
    else:  # no worker has two responses: the differences between workers are all there is
        common = float(np.var(values / counts)) if len(values) else 0.0
    variance = (PRIOR_RESPONSES * common + squares) / (PRIOR_RESPONSES + freedom)
    # a response counts by what was scored of it
    weight = np.divide(total(counts**2), sums**2, out=np.zeros(n_workers), where=scored)
    return means, np.where(scored, np.sqrt(variance * weight), np.nan)
