"""Streaming Bayesian inference for crowdsourcing (manino2019): one pass over the labels, as they arrive."""

from __future__ import annotations

import math
from collections.abc import Hashable
from typing import Literal, Unpack, get_args

import numpy as np

from crowdclust_app.domain.errors import InvalidInputError
from crowdclust_app.inference.aggregators.base import Aggregator, Common
from crowdclust_app.inference.aggregators.iterations import Iterations
from crowdclust_app.inference.aggregators.label_posterior import SETTLED, LabelPosterior, log_odds_to_log_probabilities
from crowdclust_app.inference.aggregators.label_table import Codes, Floats, LabelTable

Order = Literal["random", "arrival"]
ORDERS: tuple[Order, ...] = get_args(Order)

# Labels between two looks at the cancel token.
_SLICE = 20_000
# Below this many tasks a range of Sorted SBIC is one call of the compiled code.
_SMALL_RANGE = 64


def check_symmetry(alpha: float, beta: float, log_odds: float) -> None:
    """Refuse a prior under which no label ever moves a task.

    Raises
    ------
    InvalidInputError
        When `alpha = beta` and the classes are equally probable.
    """
    if alpha == beta and log_odds == 0.0:
        what = (
            f"with the prior {alpha:g},{beta:g} and even classes no label says anything and every task stays undecided"
        )
        raise InvalidInputError(
            what, todo="take a prior whose first number is larger, such as 2,1, or another prevalence"
        )


class _State:
    """Everything the streaming updates change."""

    def __init__(self, table: LabelTable, start: float) -> None:
        self.log_odds: Floats = np.full(table.n_tasks, start)
        self.right: Floats = np.zeros(table.n_workers)
        self.counts: Codes = np.zeros(table.n_workers, dtype=np.int64)
        self.begin: Codes = np.cumsum(table.task_counts) - table.task_counts
        self.filled: Codes = np.zeros(table.n_tasks, dtype=np.int64)
        self.seen: Codes = np.zeros(table.n_labels, dtype=np.int64)

    @property
    def arrays(self) -> tuple[Floats, Floats, Codes, Codes, Codes, Codes]:
        return self.log_odds, self.right, self.counts, self.begin, self.filled, self.seen


class _Streaming(Aggregator):
    """What the two variants share.

    Parameters
    ----------
    order
        `"random"` takes the rows in an order drawn by the seed, `"arrival"` as they stand. A table sorted by worker is
        no order of arrival, and as bad as an order can be: one person's view of every task comes first and settles it.
    """

    order_matters = True
    compiled = True

    def __init__(
        self,
        *,
        order: Order = "random",
        **common: Unpack[Common],
    ) -> None:
        super().__init__(**common)
        self.order = order

    def _stream(self, table: LabelTable) -> tuple[Codes, Codes]:
        """Task of each label, and twice its worker plus the class, in the order in which they are taken in."""
        if self.order not in ORDERS:
            raise InvalidInputError(f"the order {self.order!r} is unknown", todo=f"take one of {', '.join(ORDERS)}")
        said = 2 * table.worker + table.label
        if self.order == "arrival":
            return table.task, said
        sequence = np.random.default_rng(self.seed).permutation(table.n_labels)
        return table.task[sequence], said[sequence]

    def _start(self, table: LabelTable) -> tuple[Floats, float]:
        """Give the prevalence and its log-odds; to estimate it, a stream has no second pass and takes the votes."""
        prevalence, estimated = self._start_prevalence(table)
        if estimated:
            prevalence = (table.votes.sum(axis=0) + 1.0) / (table.n_labels + 2.0)
        start = float(np.log(prevalence[1]) - np.log(prevalence[0]))
        check_symmetry(*self._beta, start)
        return prevalence, start


class FastSBIC(_Streaming):
    """Fast SBIC: every label once, one after another."""

    name = "sbic-fast"

    def _infer(self, table: LabelTable, run: Iterations) -> LabelPosterior:
        # compiled kernels take a second to load; most methods need none
        from crowdclust_app.inference.aggregators.sbic_kernels import push_labels

        prevalence, start = self._start(table)
        state = _State(table, start)
        task, said = self._stream(table)
        for first in range(0, table.n_labels, _SLICE):
            run.check()
            part = slice(first, first + _SLICE)
            columns = (task[part], said[part], *self._beta, *state.arrays)
            push_labels(*columns)
        run.step(0.0)
        return LabelPosterior(log_odds_to_log_probabilities(state.log_odds), prevalence, {"log_odds_": state.log_odds})


class SortedSBIC(_Streaming):
    """Sorted SBIC: for each task, its own labels after all others.

    The views of the tasks are shared by halving: all labels of one half are taken in, in their order, before either
    part of the other half is looked at. Each label is taken in about `log2 M` times; the memory is that of Fast SBIC
    and one copy of the workers' counts a level.
    """

    name = "sbic-sorted"

    def _infer(self, table: LabelTable, run: Iterations) -> LabelPosterior:
        prevalence, start = self._start(table)
        state = _State(table, start)
        result = np.full(table.n_tasks, start)
        self._views(run, state, start, (0, table.n_tasks), self._stream(table), result)
        run.step(0.0)
        return LabelPosterior(log_odds_to_log_probabilities(result), prevalence, {"log_odds_": result})

    def _views(
        self,
        run: Iterations,
        state: _State,
        start: float,
        tasks: tuple[int, int],
        labels: tuple[Codes, Codes],
        result: Floats,
    ) -> None:
        # compiled kernels take a second to load; most methods need none
        from crowdclust_app.inference.aggregators.sbic_kernels import (
            forget_tasks,
            push_labels,
            sorted_views,
            split_labels,
        )

        run.check()
        begin, end = tasks
        if end - begin <= _SMALL_RANGE:
            everything = (*labels, *self._beta, start, *state.arrays, result)
            sorted_views(begin, end, *everything)
            return
        middle = (begin + end) // 2
        halves = ((begin, middle), (middle, end))
        split = split_labels(*labels, middle)
        parts = (split[:2], split[2:])
        right, counts = state.right.copy(), state.counts.copy()
        for inside, outside in ((0, 1), (1, 0)):
            task, said = parts[outside]
            for first in range(0, len(task), _SLICE):
                run.check()
                part = slice(first, first + _SLICE)
                columns = (task[part], said[part], *self._beta, *state.arrays)
                push_labels(*columns)
            self._views(run, state, start, halves[inside], parts[inside], result)
            forget_tasks(*halves[outside], start, state.log_odds, state.filled)
            state.right[:], state.counts[:] = right, counts


class OnlineSBIC:
    """Fast SBIC for labels that are still arriving; tasks and workers may appear at any time.

    After the same labels in the same order it believes what `FastSBIC` does.

    Parameters
    ----------
    prior
        Beta prior of a worker's accuracy.
    prevalence
        Probability that a task is true.

    Raises
    ------
    InvalidInputError
        When the prior cannot break the symmetry.

    Examples
    --------
    >>> online = OnlineSBIC()
    >>> online.probability("t1")
    0.5
    >>> log_odds = online.add("t1", "Ann", True), online.add("t1", "Ben", True)
    >>> round(online.probability("t1"), 2)
    0.8
    """

    def __init__(self, prior: tuple[float, float] = (2.0, 1.0), prevalence: float = 0.5) -> None:
        if not (min(prior) > 0 and 0 < prevalence < 1):
            raise InvalidInputError("the prior or the prevalence is out of range", todo="take a prior like 2,1 and 0.5")
        self.prior = prior
        self.prevalence = prevalence
        self._start = math.log(prevalence) - math.log(1.0 - prevalence)
        check_symmetry(prior[0], prior[1], self._start)
        self._log_odds: dict[Hashable, float] = {}
        self._labels: dict[Hashable, list[tuple[Hashable, bool]]] = {}
        self._right: dict[Hashable, float] = {}
        self._counts: dict[Hashable, int] = {}

    def add(self, task: Hashable, worker: Hashable, answer: bool) -> float:
        """Take in one label, in time proportional to the labels on the task.

        Returns
        -------
        float
            The task's new log-odds of being true.
        """
        alpha, beta = self.prior
        right, count = self._right.get(worker, 0.0), self._counts.get(worker, 0)
        weight = math.log(right + alpha) - math.log(max(count - right, 0.0) + beta)
        old = self.log_odds(task)
        new = old + (weight if answer else -weight)
        before, after = _sigmoid(old), _sigmoid(new)
        on_task = self._labels.setdefault(task, [])
        if abs(after - before) > SETTLED:
            for other, said in on_task:
                self._right[other] += after - before if said else before - after
        on_task.append((worker, answer))
        self._log_odds[task] = new
        self._counts[worker] = count + 1
        self._right[worker] = self._right.get(worker, 0.0) + (after if answer else 1.0 - after)
        return new

    def log_odds(self, task: Hashable) -> float:
        """Log-odds that a task is true; the prior's for one without labels."""
        return self._log_odds.get(task, self._start)

    def probability(self, task: Hashable) -> float:
        """Probability that a task is true."""
        return _sigmoid(self.log_odds(task))

    def accuracy(self, worker: Hashable) -> tuple[float, float]:
        """Posterior mean and standard deviation of a worker's accuracy."""
        alpha, beta = self.prior
        right, count = self._right.get(worker, 0.0), self._counts.get(worker, 0)
        a, b = alpha + right, beta + max(count - right, 0.0)
        return a / (a + b), math.sqrt(a * b / ((a + b) ** 2 * (a + b + 1.0)))


def _sigmoid(z: float) -> float:
    if z >= 0:
        return 1.0 / (1.0 + math.exp(-z))
    power = math.exp(z)
    return power / (1.0 + power)
