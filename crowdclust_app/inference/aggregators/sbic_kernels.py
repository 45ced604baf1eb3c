"""Streaming updates in push form (manino2019 algorithms 1 and 2), compiled, without the interpreter's lock.

For each worker `right[j] = sum_h s(x_hj z_h)` over the labels so far is kept up to date: a new label on a task changes
the task's log-odds, and the change goes to all workers who labelled it before. So a label costs the labels on its task,
not the history of its worker; and nothing once the task is settled, so that a task may have any number of labels.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from crowdclust_app.inference.aggregators.label_posterior import SETTLED
from crowdclust_app.inference.aggregators.label_table import Codes, Floats


@njit(nogil=True, cache=True)
def sigmoid(z: float) -> float:
    """Logistic function without overflow."""
    if z >= 0:
        return 1.0 / (1.0 + math.exp(-z))
    power = math.exp(z)
    return power / (1.0 + power)


@njit(nogil=True, cache=True, error_model="numpy")
def push_labels(
    task: Codes,
    said: Codes,
    alpha: float,
    beta: float,
    log_odds: Floats,
    right: Floats,
    counts: Codes,
    begin: Codes,
    filled: Codes,
    seen: Codes,
) -> None:
    """Take in labels one after another.

    Parameters
    ----------
    task, said : ndarray of shape (n,)
        Task of each label; twice its worker, plus one for the second class.
    alpha, beta
        The workers' prior.
    log_odds, filled : ndarray of shape (M,)
        Of each task: log-odds of the second class, and number of labels so far.
    right, counts : ndarray of shape (J,)
        Of each worker: expected number of right labels, and number of labels.
    begin : ndarray of shape (M,)
        Where each task's part of `seen` begins.
    seen : ndarray of shape (T,)
        `said` of the labels so far, those of a task side by side.
    """
    for t in range(len(task)):
        i, code = task[t], said[t]
        j = code >> 1
        weight = math.log((right[j] + alpha) / (max(counts[j] - right[j], 0.0) + beta))
        before = sigmoid(log_odds[i])
        log_odds[i] += weight if code & 1 else -weight
        after = sigmoid(log_odds[i])
        change = after - before
        first = begin[i]
        last = first + filled[i]
        if abs(change) > SETTLED:
            for at in range(first, last):
                other = seen[at]
                right[other >> 1] += change if other & 1 else -change
        seen[last] = code
        filled[i] += 1
        counts[j] += 1
        right[j] += after if code & 1 else 1.0 - after


@njit(nogil=True, cache=True)
def split_labels(task: Codes, said: Codes, middle: int) -> tuple[Codes, Codes, Codes, Codes]:
    """Split labels into those on tasks below `middle` and the others, each in the old order."""
    low = 0
    for i in task:
        if i < middle:
            low += 1
    low_task, low_said = np.empty(low, dtype=np.int64), np.empty(low, dtype=np.int64)
    high_task, high_said = np.empty(len(task) - low, dtype=np.int64), np.empty(len(task) - low, dtype=np.int64)
    a, b = 0, 0
    for t in range(len(task)):
        if task[t] < middle:
            low_task[a], low_said[a] = task[t], said[t]
            a += 1
        else:
            high_task[b], high_said[b] = task[t], said[t]
            b += 1
    return low_task, low_said, high_task, high_said


@njit(nogil=True, cache=True)
def forget_tasks(first: int, last: int, start: float, log_odds: Floats, filled: Codes) -> None:
    """Put the tasks `first:last` back to where nothing is known of them."""
    for i in range(first, last):
        log_odds[i] = start
        filled[i] = 0


@njit(nogil=True, cache=True)
def sorted_views(
    first: int,
    last: int,
    task: Codes,
    said: Codes,
    alpha: float,
    beta: float,
    start: float,
    log_odds: Floats,
    right: Floats,
    counts: Codes,
    begin: Codes,
    filled: Codes,
    seen: Codes,
    result: Floats,
) -> None:
    """Finish the tasks `first:last` when every label outside is taken in; leaves the state as it was.

    `task` and `said` are of the labels on these tasks in their order; the other arrays are those of `push_labels`;
    `result`, shape (M,), gets the log-odds of each task with its own labels taken in last.
    """
    kept_right, kept_counts = right.copy(), counts.copy()
    if last - first == 1:
        push_labels(task, said, alpha, beta, log_odds, right, counts, begin, filled, seen)
        result[first] = log_odds[first]
        forget_tasks(first, last, start, log_odds, filled)
    else:
        middle = (first + last) // 2
        low_task, low_said, high_task, high_said = split_labels(task, said, middle)
        push_labels(high_task, high_said, alpha, beta, log_odds, right, counts, begin, filled, seen)
        sorted_views(
            first, middle, low_task, low_said, alpha, beta, start, log_odds, right, counts, begin, filled, seen, result
        )
        forget_tasks(middle, last, start, log_odds, filled)
        right[:] = kept_right
        counts[:] = kept_counts
        push_labels(low_task, low_said, alpha, beta, log_odds, right, counts, begin, filled, seen)
        sorted_views(
            middle, last, high_task, high_said, alpha, beta, start, log_odds, right, counts, begin, filled, seen, result
        )
        forget_tasks(first, middle, start, log_odds, filled)
    right[:] = kept_right
    counts[:] = kept_counts
