"""Streaming updates in push form (manino2019 algorithms 1 and 2), compiled, without the interpreter's lock.

For each worker `right[j] = sum_h s(x_hj z_h)` over the labels so far is kept up to date: a new label on a task changes
the task's log-odds, and the change goes to everybody who labelled it before. So a label costs the labels on its task,
not the history of its worker.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from crowdclust_app.inference.binary.table import Codes, Floats


@njit(nogil=True, cache=True)
def sigmoid(z: float) -> float:
    """Logistic function without overflow."""
    if z >= 0:
        return 1.0 / (1.0 + math.exp(-z))
    power = math.exp(z)
    return power / (1.0 + power)


@njit(nogil=True, cache=True)
def push_labels(
    chosen: Codes,
    task: Codes,
    worker: Codes,
    label: Codes,
    alpha: float,
    beta: float,
    log_odds: Floats,
    right: Floats,
    counts: Codes,
    newest: Codes,
    earlier: Codes,
) -> None:
    """Take in labels one after another.

    Parameters
    ----------
    chosen : ndarray of shape (n,)
        Which labels, in which order.
    task, worker, label : ndarray of shape (T,)
        All labels; `label` is 1 for the second class and 0 for the first.
    alpha, beta
        The workers' prior.
    log_odds, newest : ndarray of shape (M,)
        Of each task: log-odds of the second class, and its newest label so far (-1 for none).
    right, counts : ndarray of shape (J,)
        Of each worker: expected number of right labels, and number of labels.
    earlier : ndarray of shape (T,)
        The label before each on the same task (-1 for none).
    """
    for position in range(len(chosen)):
        t = chosen[position]
        i, j = task[t], worker[t]
        weight = math.log(right[j] + alpha) - math.log(max(counts[j] - right[j], 0.0) + beta)
        before = sigmoid(log_odds[i])
        log_odds[i] += weight if label[t] == 1 else -weight
        after = sigmoid(log_odds[i])
        change = after - before
        other = newest[i]
        while other >= 0:
            if label[other] == 1:
                right[worker[other]] += change
            else:
                right[worker[other]] -= change
            other = earlier[other]
        earlier[t] = newest[i]
        newest[i] = t
        counts[j] += 1
        right[j] += after if label[t] == 1 else 1.0 - after


@njit(nogil=True, cache=True)
def split_labels(labels: Codes, task: Codes, middle: int) -> tuple[Codes, Codes]:
    """Split label numbers into those on tasks below `middle` and the others, each in the old order."""
    low = 0
    for t in labels:
        if task[t] < middle:
            low += 1
    left, right = np.empty(low, dtype=np.int64), np.empty(len(labels) - low, dtype=np.int64)
    a, b = 0, 0
    for t in labels:
        if task[t] < middle:
            left[a] = t
            a += 1
        else:
            right[b] = t
            b += 1
    return left, right


@njit(nogil=True, cache=True)
def forget_tasks(begin: int, end: int, start: float, log_odds: Floats, newest: Codes) -> None:
    """Put the tasks `begin:end` back to where nothing is known of them."""
    for i in range(begin, end):
        log_odds[i] = start
        newest[i] = -1


@njit(nogil=True, cache=True)
def sorted_views(
    begin: int,
    end: int,
    labels: Codes,
    task: Codes,
    worker: Codes,
    label: Codes,
    alpha: float,
    beta: float,
    start: float,
    log_odds: Floats,
    right: Floats,
    counts: Codes,
    newest: Codes,
    earlier: Codes,
    result: Floats,
) -> None:
    """Finish the tasks `begin:end` when every label outside is taken in; leaves the state as it was.

    `labels` are those on the tasks in their order; the other arrays are those of `push_labels`; `result`, shape (M,),
    gets the log-odds of each task with its own labels taken in last.
    """
    kept_right, kept_counts = right.copy(), counts.copy()
    if end - begin == 1:
        push_labels(labels, task, worker, label, alpha, beta, log_odds, right, counts, newest, earlier)
        result[begin] = log_odds[begin]
        forget_tasks(begin, end, start, log_odds, newest)
    else:
        middle = (begin + end) // 2
        low, high = split_labels(labels, task, middle)
        push_labels(high, task, worker, label, alpha, beta, log_odds, right, counts, newest, earlier)
        sorted_views(
            begin,
            middle,
            low,
            task,
            worker,
            label,
            alpha,
            beta,
            start,
            log_odds,
            right,
            counts,
            newest,
            earlier,
            result,
        )
        forget_tasks(middle, end, start, log_odds, newest)
        right[:] = kept_right
        counts[:] = kept_counts
        push_labels(low, task, worker, label, alpha, beta, log_odds, right, counts, newest, earlier)
        sorted_views(
            middle, end, high, task, worker, label, alpha, beta, start, log_odds, right, counts, newest, earlier, result
        )
        forget_tasks(begin, middle, start, log_odds, newest)
    right[:] = kept_right
    counts[:] = kept_counts
