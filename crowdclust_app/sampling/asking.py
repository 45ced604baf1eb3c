"""Which yes/no question a worker is asked next (manino2019, section 2.2, equations 1 and 2).

Every task has one number, its key; the next question is the task of the smallest key among those that the worker has
not had. Under uniform sampling (eq. 1) the key is the number of labels on the task, under uncertainty sampling (eq. 2)
the distance of its log-odds from zero, which orders tasks as the larger of the two probabilities does. The fraction
that breaks ties is drawn anew with every label on a task, from the seed, the task and its number of labels alone: so
the whole order is a function of the seed and of the answers, and a program that was killed goes on where it stopped.

A choice is one pass of two array operations over the keys, whatever the history of the worker: 0.1 ms for 100,000
tasks. A heap would be quicker where workers have seen little, and slow where somebody has answered nearly all of the
most uncertain tasks, which is where a campaign ends.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

UNIFORM, UNCERTAINTY = "uniform", "uncertainty"
# Log-odds closer than this are a tie.
_GRID = 1e-9
# The log-odds beyond which nothing more can be told apart.
_SUREST = 700.0
# Keys of the workers who asked last, so that many workers at once do not fill the memory.
_REMEMBERED = 32

_MASK = (1 << 64) - 1
_FIRST, _SECOND, _STEP = 0xBF58476D1CE4E5B9, 0x94D049BB133111EB, 0x9E3779B97F4A7C15


class StreamingPosterior(Protocol):
    """The posterior of the tasks while labels arrive: `OnlineSBIC`."""

    def partial_fit(self, table: Sequence[Hashable], worker: Sequence[Hashable], label: Sequence[Hashable]) -> Any:
        """Take in labels of these tasks by these workers."""

    def log_odds(self, task: Hashable) -> float:
        """Log-odds that a task is true."""


class Asker:
    """Chooses questions, one after another.

    Parameters
    ----------
    n_tasks
        Number of tasks; they are called 0 to `n_tasks - 1`.
    wanted
        Labels a task: that many each under uniform sampling, so many on average under uncertainty sampling.
    policy
        `"uniform"` or `"uncertainty"`.
    seed
        Of the ties.
    make_posterior
        Makes a posterior without labels; called again when an answer is taken back.
    """

    def __init__(
        self, n_tasks: int, wanted: int, policy: str, seed: int, make_posterior: Callable[[], StreamingPosterior]
    ) -> None:
        if policy not in (UNIFORM, UNCERTAINTY):
            raise ValueError(f"the policy {policy!r} is neither {UNIFORM} nor {UNCERTAINTY}")
        self.n_tasks = n_tasks
        self.wanted = wanted
        self.policy = policy
        self.seed = seed
        self._make_posterior = make_posterior
        self.posterior = make_posterior()
        self.counts: NDArray[np.int64] = np.zeros(n_tasks, dtype=np.int64)
        self._log: dict[tuple[int, int], bool] = {}
        self._had: dict[int, set[int]] = {}
        self._barred: OrderedDict[int, NDArray[np.float64]] = OrderedDict()
        self._keys = self._all_keys()
        self._room: NDArray[np.float64] = np.empty(n_tasks)

    @property
    def labels(self) -> int:
        """Labels so far."""
        return len(self._log)

    @property
    def budget(self) -> int:
        """Labels planned in all."""
        return self.wanted * self.n_tasks

    def has_had(self, task: int, worker: int) -> bool:
        """Whether the worker has answered or skipped the task."""
        return task in self._had.get(worker, ())

    def add(self, task: int, worker: int, answer: bool) -> None:
        """Take in a label.

        Raises
        ------
        ValueError
            When this worker has had the task.
        """
        self.skip(task, worker)
        self._log[task, worker] = answer
        self.counts[task] += 1
        self.posterior.partial_fit([task], [worker], [answer])
        self._keys[task] = self._key(task)

    def skip(self, task: int, worker: int) -> None:
        """Take in that a worker has passed over a task, which is not asked of this worker again.

        Raises
        ------
        ValueError
            When this worker has had the task.
        """
        had = self._had.setdefault(worker, set())
        if task in had:
            raise ValueError(f"worker {worker} has had task {task} already")
        had.add(task)
        barred = self._barred.get(worker)
        if barred is not None:
            barred[task] = np.inf

    def take_back(self, task: int, worker: int) -> None:
        """Forget what a worker did with a task; the posterior is as if it had never been.

        The labels are taken in again without this one, because a label moves what the later ones weigh.

        Raises
        ------
        ValueError
            When the worker has not had the task.
        """
        if not self.has_had(task, worker):
            raise ValueError(f"worker {worker} has not had task {task}")
        self._had[worker].discard(task)
        barred = self._barred.get(worker)
        if barred is not None:
            barred[task] = 0.0
        if self._log.pop((task, worker), None) is None:
            return
        self.counts[task] -= 1
        self.posterior = self._make_posterior()
        if self._log:
            tasks, workers = zip(*self._log, strict=True)
            self.posterior.partial_fit(tasks, workers, list(self._log.values()))
        self._keys = self._all_keys()

    def next_task(self, worker: int) -> int | None:
        """The task to ask this worker about.

        Returns
        -------
        int or None
            None when the labels that were planned are there, or the worker has had every task that is open.
        """
        ahead = self.ahead(worker, 1)
        return ahead[0] if ahead else None

    def ahead(self, worker: int, count: int) -> tuple[int, ...]:
        """The task to ask about and those that would follow if nothing changed, at most `count`."""
        if not self.n_tasks or (self.policy == UNCERTAINTY and self.labels >= self.budget):
            return ()
        free = np.add(self._keys, self._barred_for(worker), out=self._room)
        found = []
        for _ in range(min(count, self.n_tasks)):
            best = int(free.argmin())
            if free[best] == np.inf:
                break
            found.append(best)
            free[best] = np.inf
        return tuple(found)

    def open_for(self, worker: int) -> int:
        """How many questions this worker could be asked now, at most what is left of the plan."""
        left = max(0, self.budget - self.labels)
        if not left or not self.n_tasks:
            return 0
        return min(left, int(np.isfinite(self._keys + self._barred_for(worker)).sum()))

    def _barred_for(self, worker: int) -> NDArray[np.float64]:
        """Zero where the worker may be asked, infinity where not."""
        barred = self._barred.get(worker)
        if barred is None:
            barred = np.zeros(self.n_tasks)
            had = self._had.get(worker)
            if had:
                barred[np.fromiter(had, dtype=np.int64, count=len(had))] = np.inf
            self._barred[worker] = barred
            if len(self._barred) > _REMEMBERED:
                self._barred.popitem(last=False)
        else:
            self._barred.move_to_end(worker)
        return barred

    def _key(self, task: int) -> float:
        count = int(self.counts[task])
        part = draw(self.seed, task, count)
        if self.policy == UNIFORM:
            return count + part if count < self.wanted else float("inf")
        return _steps(self.posterior.log_odds(task)) + part

    def _all_keys(self) -> NDArray[np.float64]:
        parts = draws(self.seed, self.counts)
        if self.policy == UNIFORM:
            return np.where(self.counts < self.wanted, self.counts + parts, np.inf)
        keys = parts + _steps(self.posterior.log_odds(-1))  # of a task that nobody has labelled
        for task in np.flatnonzero(self.counts).tolist():
            keys[task] = parts[task] + _steps(self.posterior.log_odds(task))
        return keys


def _steps(log_odds: float) -> float:
    return float(round(min(abs(log_odds), _SUREST) / _GRID))


def draw(seed: int, task: int, count: int) -> float:
    """A number from 0 to below 1 that looks random and depends on these three alone (splitmix64)."""
    state = _mixed(_mixed(_mixed(seed & _MASK) + task & _MASK) + count & _MASK)
    # 20 bits: no more of it would be left beside a large key, and what is left has to be the same wherever it is used
    return (state >> 44) / (1 << 20)


def draws(seed: int, counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """`draw` of every task at its number of labels; shape (n_tasks,)."""
    tasks = np.arange(len(counts), dtype=np.uint64)
    start = np.uint64(_mixed(seed & _MASK))
    state = _mixed_all(_mixed_all(tasks + start) + counts.astype(np.uint64))
    return (state >> np.uint64(44)).astype(np.float64) / (1 << 20)


def _mixed(x: int) -> int:
    x = (x + _STEP) & _MASK
    x = ((x ^ (x >> 30)) * _FIRST) & _MASK
    x = ((x ^ (x >> 27)) * _SECOND) & _MASK
    return x ^ (x >> 31)


def _mixed_all(x: NDArray[np.uint64]) -> NDArray[np.uint64]:
    x = x + np.uint64(_STEP)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(_FIRST)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(_SECOND)
    mixed: NDArray[np.uint64] = x ^ (x >> np.uint64(31))
    return mixed
