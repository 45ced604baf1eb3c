"""Gibbs sweeps over tasks and workers, compiled, without the interpreter's lock."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from crowdclust_app.inference.aggregators.label_table import Codes, Floats


@njit(nogil=True, cache=True)
def _draw_weights(
    rng: np.random.Generator, alpha: float, beta: float, right: Floats, counts: Floats, weight: Floats
) -> None:
    """Draw each worker's accuracy and write its log-odds."""
    for j in range(len(weight)):
        p = rng.beta(alpha + right[j], beta + counts[j] - right[j])
        p = min(max(p, 1e-12), 1.0 - 1e-12)
        weight[j] = math.log(p) - math.log1p(-p)


@njit(nogil=True, cache=True)
def _draw_classes(rng: np.random.Generator, log_odds: Floats, kept: bool, classes: Codes, total: Floats) -> None:
    """Draw each task's class; where the sweep counts its probability is added to the total."""
    for i in range(len(classes)):
        probability = 1.0 / (1.0 + math.exp(-min(max(log_odds[i], -700.0), 700.0)))
        classes[i] = 1 if rng.random() < probability else 0
        if kept:
            total[i] += probability


@njit(nogil=True, cache=True)
def gibbs_sweeps(
    rng: np.random.Generator,
    sweeps: int,
    kept: bool,
    estimated: bool,
    task: Codes,
    worker: Codes,
    label: Codes,
    alpha: float,
    beta: float,
    share: float,
    classes: Codes,
    total: Floats,
) -> float:
    """Draw the workers' accuracies and the tasks' classes in turn.

    Parameters
    ----------
    rng
        Source of randomness.
    sweeps
        How many.
    kept
        Whether the sweeps count.
    estimated
        Whether the prevalence is drawn too.
    task, worker, label : ndarray of shape (T,)
        The labels.
    alpha, beta
        The workers' prior.
    share
        Prevalence of the second class.
    classes : ndarray of shape (M,)
        Current class of each task; changed in place.
    total : ndarray of shape (M,)
        Gets the sum over kept sweeps of each task's conditional probability of the second class.

    Returns
    -------
    float
        The prevalence after the last sweep.
    """
    tasks, workers = len(classes), 0
    for j in worker:
        workers = max(workers, j + 1)
    right, counts, weight = np.empty(workers), np.zeros(workers), np.empty(workers)
    log_odds = np.empty(tasks)
    for j in worker:
        counts[j] += 1.0
    for _ in range(sweeps):
        right[:] = 0.0
        for t in range(len(task)):
            if classes[task[t]] == label[t]:
                right[worker[t]] += 1.0
        _draw_weights(rng, alpha, beta, right, counts, weight)
        if estimated:
            second = classes.sum()
            share = rng.beta(1.0 + second, 1.0 + tasks - second)
            share = min(max(share, 1e-12), 1.0 - 1e-12)
        log_odds[:] = math.log(share) - math.log1p(-share)
        for t in range(len(task)):
            if label[t] == 1:
                log_odds[task[t]] += weight[worker[t]]
            else:
                log_odds[task[t]] -= weight[worker[t]]
        _draw_classes(rng, log_odds, kept, classes, total)
    return share
