"""Streaming updates in push form (manino2019, algorithms 1 and 2), compiled, without the interpreter's lock.

For each worker `right[j]`, the summed probability of what was said over the labels so far, is kept up to date: a new
label on a task changes its probabilities, and the change goes to all workers who labelled it before. So a label costs
the labels on its task, not the history of its worker; and nothing once the task is settled, so that a task may have any
number of labels.

A worker and a class are one number: the worker, shifted by as many bits as the number of classes needs, and the class.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from crowdclust_app.inference.aggregators.label_posterior import SETTLED
from crowdclust_app.inference.aggregators.label_table import Codes, Floats


@njit(nogil=True, cache=True)
def _bits(classes: int) -> int:
    """How many bits a class needs."""
    bits = 0
    while 1 << bits < classes:
        bits += 1
    return bits


@njit(nogil=True, cache=True)
def _believe(i: int, logs: Floats, beliefs: Floats, change: Floats) -> float:
    """Write the probabilities of a task's classes, and how they change; returns the largest change."""
    size = len(change)
    total = 0.0
    if size == 2:
        # the usual case, at a third of the time
        odds = logs[i, 1] - logs[i, 0]
        power = math.exp(-abs(odds))
        total = 1.0 + power
        change[0], change[1] = (power, 1.0) if odds > 0 else (1.0, power)
    else:
        largest = logs[i, 0]
        for c in range(1, size):
            largest = max(largest, logs[i, c])
        for c in range(size):
            change[c] = math.exp(logs[i, c] - largest)
            total += change[c]
    most = 0.0
    for c in range(size):
        after = change[c] / total
        change[c] = after - beliefs[i, c]
        beliefs[i, c] = after
        most = max(most, abs(change[c]))
    return most


@njit(nogil=True, cache=True, error_model="numpy")
def push_labels(
    task: Codes,
    said: Codes,
    left_out: int,
    alpha: float,
    beta: float,
    logs: Floats,
    beliefs: Floats,
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
        Task of each label; its worker and class.
    left_out
        A task whose labels are not taken in; -1 for none.
    alpha, beta
        The workers' prior.
    logs, beliefs : ndarray of shape (M, K)
        Of each task: log-probabilities of the classes up to a constant, and probabilities.
    right, counts : ndarray of shape (J,)
        Of each worker: expected number of right labels, and number of labels.
    begin, filled : ndarray of shape (M,)
        Where each task's part of `seen` begins, and its number of labels so far.
    seen : ndarray of shape (T,)
        `said` of the labels so far, those of a task side by side.
    """
    size = logs.shape[1]
    shift = _bits(size)
    wrong_ways = size - 1.0
    change = np.empty(size)
    for t in range(len(task)):
        i, code = task[t], said[t]
        if i == left_out:
            continue
        j = code >> shift
        c = code - (j << shift)
        logs[i, c] += math.log(wrong_ways * (right[j] + alpha) / (max(counts[j] - right[j], 0.0) + beta))
        most = _believe(i, logs, beliefs, change)
        first = begin[i]
        last = first + filled[i]
        if most > SETTLED:
            for at in range(first, last):
                worker = seen[at] >> shift
                right[worker] += change[seen[at] - (worker << shift)]
        seen[last] = code
        filled[i] += 1
        counts[j] += 1
        right[j] += beliefs[i, c]


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
def forget_tasks(
    first: int, last: int, start: Floats, shares: Floats, logs: Floats, beliefs: Floats, filled: Codes
) -> None:
    """Put the tasks `first:last` back to where nothing is known of them: log prevalence `start` and `shares`."""
    for i in range(first, last):
        logs[i] = start
        beliefs[i] = shares
        filled[i] = 0


@njit(nogil=True, cache=True, error_model="numpy")
def view_of_task(
    i: int,
    task: Codes,
    said: Codes,
    alpha: float,
    beta: float,
    start: Floats,
    shares: Floats,
    logs: Floats,
    beliefs: Floats,
    right: Floats,
    counts: Codes,
    begin: Codes,
    filled: Codes,
    seen: Codes,
    result: Floats,
) -> None:
    """Finish task `i` of algorithm 2: take in all labels on other tasks, then weigh its own.

    `task` and `said` are of all labels in their order; the other arrays are those of `push_labels` and in any state;
    `result`, shape (M, K), gets the task's log-probabilities.
    """
    size = logs.shape[1]
    shift = _bits(size)
    right[:] = 0.0
    counts[:] = 0
    forget_tasks(0, len(logs), start, shares, logs, beliefs, filled)
    push_labels(task, said, i, alpha, beta, logs, beliefs, right, counts, begin, filled, seen)
    for t in range(len(task)):
        if task[t] == i:
            j = said[t] >> shift
            weight = math.log((size - 1.0) * (right[j] + alpha) / (max(counts[j] - right[j], 0.0) + beta))
            result[i, said[t] - (j << shift)] += weight


@njit(nogil=True, cache=True)
def shared_views(
    first: int,
    last: int,
    task: Codes,
    said: Codes,
    alpha: float,
    beta: float,
    start: Floats,
    shares: Floats,
    logs: Floats,
    beliefs: Floats,
    right: Floats,
    counts: Codes,
    begin: Codes,
    filled: Codes,
    seen: Codes,
    result: Floats,
) -> None:
    """Finish the tasks `first:last` when every label outside is taken in; leaves the state as it was.

    `task` and `said` are of the labels on these tasks in their order; the other arrays are those of `push_labels`;
    `result`, shape (M, K), gets the log-probabilities of each task with its own labels taken in last.
    """
    kept_right, kept_counts = right.copy(), counts.copy()
    if last - first == 1:
        push_labels(task, said, -1, alpha, beta, logs, beliefs, right, counts, begin, filled, seen)
        result[first] = logs[first]
        forget_tasks(first, last, start, shares, logs, beliefs, filled)
    else:
        middle = (first + last) // 2
        low_task, low_said, high_task, high_said = split_labels(task, said, middle)
        push_labels(high_task, high_said, -1, alpha, beta, logs, beliefs, right, counts, begin, filled, seen)
        shared_views(
            first, middle, low_task, low_said, alpha, beta, start, shares,
            logs, beliefs, right, counts, begin, filled, seen, result,
        )  # fmt: skip
        forget_tasks(middle, last, start, shares, logs, beliefs, filled)
        right[:] = kept_right
        counts[:] = kept_counts
        push_labels(low_task, low_said, -1, alpha, beta, logs, beliefs, right, counts, begin, filled, seen)
        shared_views(
            middle, last, high_task, high_said, alpha, beta, start, shares,
            logs, beliefs, right, counts, begin, filled, seen, result,
        )  # fmt: skip
        forget_tasks(first, middle, start, shares, logs, beliefs, filled)
    right[:] = kept_right
    counts[:] = kept_counts
