"""Streaming Bayesian inference for crowdsourcing (manino2019): one pass over the labels, as they arrive.

The paper has two classes. Here there may be more, as in the other methods with one coin: a wrong answer is any other
class with equal probability.
"""

from __future__ import annotations

import math
from typing import Any, Literal, Unpack, get_args

import numpy as np

from crowdclust_app.domain.errors import InvalidInputError
from crowdclust_app.inference.aggregators.base import Aggregator, Common
from crowdclust_app.inference.aggregators.iterations import Iterations
from crowdclust_app.inference.aggregators.label_posterior import LabelPosterior, normalise
from crowdclust_app.inference.aggregators.label_table import Codes, Floats, LabelTable

Order = Literal["random", "arrival"]
ORDERS: tuple[Order, ...] = get_args(Order)

# Labels between two looks at the cancel token.
_SLICE = 20_000
# Below this many tasks a range of views is one call of the compiled code.
_SMALL_RANGE = 64
# Labels times tasks that one view a task is kept for: some ten seconds.
MOST_STEPS = 100_000_000


def check_symmetry(alpha: float, beta: float, log_shares: Floats) -> None:
    """Refuse a prior under which no label ever moves a task.

    Parameters
    ----------
    alpha, beta
        The workers' prior.
    log_shares : ndarray of shape (K,)
        Log prevalence of the classes, up to a constant.

    Raises
    ------
    InvalidInputError
        When a label is as probable in every class (`alpha = beta` for two) and the classes are equally probable.
    """
    if alpha * (len(log_shares) - 1) == beta and np.ptp(log_shares) == 0.0:
        what = (
            f"with the prior {alpha:g},{beta:g} and even classes no label says anything and every task stays undecided"
        )
        raise InvalidInputError(
            what, todo="take a prior whose first number is larger, such as 2,1, or another prevalence"
        )


class _State:
    """Everything the streaming updates change."""

    def __init__(self, table: LabelTable, prevalence: Floats) -> None:
        # relative to the first class, so that even classes start at exactly 0
        self.start: Floats = np.log(prevalence) - math.log(prevalence[0])
        self.logs: Floats = np.tile(self.start, (table.n_tasks, 1))
        self.beliefs: Floats = np.tile(prevalence, (table.n_tasks, 1))
        self.right: Floats = np.zeros(table.n_workers)
        self.counts: Codes = np.zeros(table.n_workers, dtype=np.int64)
        self.begin: Codes = np.cumsum(table.task_counts) - table.task_counts
        self.filled: Codes = np.zeros(table.n_tasks, dtype=np.int64)
        self.seen: Codes = np.zeros(table.n_labels, dtype=np.int64)

    @property
    def arrays(self) -> tuple[Floats, Floats, Floats, Codes, Codes, Codes, Codes]:
        return self.logs, self.beliefs, self.right, self.counts, self.begin, self.filled, self.seen


class _Streaming(Aggregator):
    """What the variants share.

    Parameters
    ----------
    order
        `"random"` takes the rows in an order drawn by the seed, `"arrival"` as they stand. A table sorted by worker is
        no order of arrival, and as bad as an order can be: one person's view of every task comes first and settles it.
    """

    most_classes = None
    order_matters = True
    compiled = True

    def __init__(self, *, order: Order = "random", **common: Unpack[Common]) -> None:
        super().__init__(**common)
        self.order = order

    def _infer(self, table: LabelTable, run: Iterations) -> LabelPosterior:
        prevalence, estimated = self._start_prevalence(table)
        if estimated:
            # a stream has no second pass and takes the votes
            prevalence = (table.votes.sum(axis=0) + 1.0) / (table.n_labels + table.n_classes)
        state = _State(table, prevalence)
        check_symmetry(*self._beta, state.start)
        logs = self._stream_through(run, state, self._in_order(table), table)
        run.step(0.0)
        extras: dict[str, Any] = {"log_odds_": logs[:, 1] - logs[:, 0]} if table.n_classes == 2 else {}
        return LabelPosterior(normalise(logs)[0], prevalence, extras)

    def _stream_through(self, run: Iterations, state: _State, labels: tuple[Codes, Codes], table: LabelTable) -> Floats:
        """Log-probabilities of the classes of each task up to a constant, shape (M, K); each variant has its own."""
        raise TypeError(f"{type(self).__name__} does not say in which order labels are taken")

    def _in_order(self, table: LabelTable) -> tuple[Codes, Codes]:
        """Task of each label, and its worker and class in one number, in the order in which they are taken in."""
        if self.order not in ORDERS:
            raise InvalidInputError(f"the order {self.order!r} is unknown", todo=f"take one of {', '.join(ORDERS)}")
        said = (table.worker << (table.n_classes - 1).bit_length()) | table.label
        if self.order == "arrival":
            return table.task, said
        sequence = np.random.default_rng(self.seed).permutation(table.n_labels)
        return table.task[sequence], said[sequence]

    def _push(self, run: Iterations, state: _State, labels: tuple[Codes, Codes]) -> None:
        # compiled kernels take a second to load; most methods need none
        from crowdclust_app.inference.aggregators.sbic_kernels import push_labels

        task, said = labels
        for first in range(0, len(task), _SLICE):
            run.check()
            part = slice(first, first + _SLICE)
            columns = (task[part], said[part], -1, *self._beta, *state.arrays)
            push_labels(*columns)


class FastSBIC(_Streaming):
    """Fast SBIC: every label once, one after another (manino2019, algorithm 1).

    Examples
    --------
    >>> votes = [1, 1, 1, 2, 2, 2, 3, 3, 3], list("abcabcabc"), [1, 1, 0, 0, 0, 1, 1, 1, 1]
    >>> FastSBIC(order="arrival").fit(*votes).predict_proba().round(2).tolist()
    [[0.33, 0.67], [0.74, 0.26], [0.17, 0.83]]
    """

    name = "sbic-fast"

    def _stream_through(self, run: Iterations, state: _State, labels: tuple[Codes, Codes], table: LabelTable) -> Floats:
        self._push(run, state, labels)
        return state.logs


class SortedSBIC(_Streaming):
    """Sorted SBIC: for each task, its own labels after all others (manino2019, algorithm 2).

    Each task has a view of its own: a copy of Fast SBIC that takes in all labels on other tasks in their order. Its
    labels are weighed at the end by the reliability of their workers in that view. So the work is that of Fast SBIC
    times the number of tasks; `sbic-sorted-shared` does with its logarithm, in another order. While labels arrive,
    `OnlineSortedSBIC` keeps the views.

    Examples
    --------
    >>> votes = [1, 1, 1, 2, 2, 2, 3, 3, 3], list("abcabcabc"), [1, 1, 0, 0, 0, 1, 1, 1, 1]
    >>> SortedSBIC(order="arrival").fit(*votes).predict_proba().round(2).tolist()
    [[0.24, 0.76], [0.76, 0.24], [0.17, 0.83]]
    """

    name = "sbic-sorted"

    def _validate(self, table: LabelTable) -> None:
        super()._validate(table)
        if table.n_tasks * table.n_labels > MOST_STEPS:
            what = f"sbic-sorted streams all {table.n_labels:,} labels for each of {table.n_tasks:,} tasks, too many"
            raise InvalidInputError(what, todo="take sbic-sorted-shared, which shares the streams, or sbic-fast")

    def _stream_through(self, run: Iterations, state: _State, labels: tuple[Codes, Codes], table: LabelTable) -> Floats:
        # compiled kernels take a second to load; most methods need none
        from crowdclust_app.inference.aggregators.sbic_kernels import view_of_task

        result = np.tile(state.start, (table.n_tasks, 1))
        shares = state.beliefs[0].copy()
        between = max(1, _SLICE // table.n_labels)
        for task in np.flatnonzero(table.task_counts).tolist():
            if task % between == 0:
                run.check()
            everything = (*labels, *self._beta, state.start, shares, *state.arrays, result)
            view_of_task(task, *everything)
        return result


class SharedSortedSBIC(_Streaming):
    """Sorted SBIC with shared views: what manino2019 remarks on algorithm 2 for labels that are all there.

    The views of two tasks differ in the labels of these two alone, so tasks share the beginning of their streams, by
    halving: the labels of one half of the tasks are taken in once for all tasks of the other half, and so on within
    each half. Each label is taken in about `log2 M` times; the memory is that of Fast SBIC and one copy of the workers'
    counts a level. Every view takes in all labels, its own last, as in `sbic-sorted`, but in another order than they
    arrived in, and log-odds differ.

    Examples
    --------
    >>> votes = [1, 1, 1, 2, 2, 2, 3, 3, 3], list("abcabcabc"), [1, 1, 0, 0, 0, 1, 1, 1, 1]
    >>> SharedSortedSBIC(order="arrival").fit(*votes).predict_proba().round(2).tolist()
    [[0.24, 0.76], [0.76, 0.24], [0.17, 0.83]]
    """

    name = "sbic-sorted-shared"

    def _stream_through(self, run: Iterations, state: _State, labels: tuple[Codes, Codes], table: LabelTable) -> Floats:
        result = np.tile(state.start, (table.n_tasks, 1))
        self._views(run, state, state.beliefs[0].copy(), (0, table.n_tasks), labels, result)
        return result

    def _views(
        self,
        run: Iterations,
        state: _State,
        shares: Floats,
        tasks: tuple[int, int],
        labels: tuple[Codes, Codes],
        result: Floats,
    ) -> None:
        # compiled kernels take a second to load; most methods need none
        from crowdclust_app.inference.aggregators.sbic_kernels import forget_tasks, shared_views, split_labels

        run.check()
        begin, end = tasks
        if end - begin <= _SMALL_RANGE:
            everything = (*labels, *self._beta, state.start, shares, *state.arrays, result)
            shared_views(begin, end, *everything)
            return
        # for tasks inside a half: all labels of the other half first, then the same again within the half
        middle = (begin + end) // 2
        halves = ((begin, middle), (middle, end))
        split = split_labels(*labels, middle)
        parts = (split[:2], split[2:])
        right, counts = state.right.copy(), state.counts.copy()
        for inside, outside in ((0, 1), (1, 0)):
            self._push(run, state, parts[outside])
            self._views(run, state, shares, halves[inside], parts[inside], result)
            # back to the state before, for the other half
            forget_tasks(*halves[outside], state.start, shares, state.logs, state.beliefs, state.filled)
            state.right[:], state.counts[:] = right, counts
