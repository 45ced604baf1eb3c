"""Streaming Bayesian inference for crowdsourcing (manino2019): one pass over the labels, as they arrive."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import Any, Literal, Self, Unpack, get_args

import numpy as np
from numpy.typing import NDArray

from crowdclust_app.domain.errors import InvalidInputError, NotFittedError
from crowdclust_app.inference.aggregators.base import Aggregator, Common
from crowdclust_app.inference.aggregators.iterations import Iterations
from crowdclust_app.inference.aggregators.label_posterior import SETTLED, LabelPosterior, log_odds_to_log_probabilities
from crowdclust_app.inference.aggregators.label_table import Codes, Floats, LabelTable, columns_of, label_key
from crowdclust_app.inference.parameters import Parameters

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

    def __init__(self, *, order: Order = "random", **common: Unpack[Common]) -> None:
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
    """Fast SBIC: every label once, one after another (manino2019, algorithm 1).

    Examples
    --------
    >>> votes = [1, 1, 1, 2, 2, 2, 3, 3, 3], list("abcabcabc"), [1, 1, 0, 0, 0, 1, 1, 1, 1]
    >>> FastSBIC(order="arrival").fit(*votes).predict_proba().round(2).tolist()
    [[0.33, 0.67], [0.74, 0.26], [0.17, 0.83]]
    """

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
    """Sorted SBIC: for each task, its own labels after all others (manino2019, algorithm 2).

    Done task by task this streams all labels `M` times. But the streams of two tasks differ in the labels of these two
    alone, so tasks share the beginning of their streams, by halving: the labels of one half of the tasks are taken in
    once for all tasks of the other half, and so on within each half. Each label is taken in about `log2 M` times; the
    memory is that of Fast SBIC and one copy of the workers' counts a level.

    Examples
    --------
    >>> votes = [1, 1, 1, 2, 2, 2, 3, 3, 3], list("abcabcabc"), [1, 1, 0, 0, 0, 1, 1, 1, 1]
    >>> SortedSBIC(order="arrival").fit(*votes).predict_proba().round(2).tolist()
    [[0.24, 0.76], [0.76, 0.24], [0.17, 0.83]]
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
        # for tasks inside a half: all labels of the other half first, then the same again within the half
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
            # back to the state before, for the other half
            forget_tasks(*halves[outside], start, state.log_odds, state.filled)
            state.right[:], state.counts[:] = right, counts


class OnlineSBIC(Parameters):
    """Fast SBIC for labels that are still arriving; tasks and workers may appear at any time (manino2019).

    After the same labels in the same order it gives what `FastSBIC` does. Fitted attributes are computed when they are
    read, in the order in which tasks and workers appeared.

    Parameters
    ----------
    prior
        Beta prior of a worker's accuracy.
    prevalence
        Probability of the second class.
    classes
        The two classes.

    Examples
    --------
    >>> online = OnlineSBIC(classes=("no", "yes")).partial_fit(["t1", "t1"], ["Ann", "Ben"], ["yes", "yes"])
    >>> round(online.probability("t1"), 2)
    0.8
    >>> online.partial_fit(["t2"], ["Ann"], ["no"]).predict(["t1", "t2", "t3"]).tolist()
    ['yes', 'no', None]
    """

    def __init__(
        self, *, prior: tuple[float, float] = (2.0, 1.0), prevalence: float = 0.5, classes: Sequence[Hashable] = (0, 1)
    ) -> None:
        self.prior = prior
        self.prevalence = prevalence
        self.classes = classes
        self._log_odds: dict[Hashable, float] = {}
        self._labels: dict[Hashable, list[tuple[Hashable, bool]]] = {}
        self._right: dict[Hashable, float] = {}
        self._counts: dict[Hashable, int] = {}

    def partial_fit(self, table: Any, worker: Any = None, label: Any = None) -> Self:
        """Take in labels in the order in which they arrived, each in time proportional to the labels on its task.

        Parameters
        ----------
        table, worker, label
            As in `Aggregator.fit`; no label is missing.

        Raises
        ------
        InvalidInputError
            When a label is not one of the classes, or the prior cannot break the symmetry.
        """
        columns = columns_of(table) if worker is None and label is None else (table, worker, label)
        if not self._log_odds:
            self._validate()
        is_second = {value: code == 1 for code, value in enumerate(self.classes)}
        for task, who, said in zip(*columns, strict=True):
            if said not in is_second:
                is_second[said] = self._is_second(said)
            self._add(task, who, is_second[said])
        return self

    def _is_second(self, label: Hashable) -> bool:
        """Tell which class a label is that is written in another way, such as "1" for 1."""
        keys = [label_key(value) for value in self.classes]
        if label_key(label) not in keys:
            named = " and ".join(map(str, self.classes))
            raise InvalidInputError(f"the label {label} is not one of the classes {named}", todo="correct it")
        return keys.index(label_key(label)) == 1

    def _validate(self) -> None:
        if not (min(self.prior) > 0 and 0 < self.prevalence < 1):
            raise InvalidInputError("the prior or the prevalence is out of range", todo="take a prior like 2,1 and 0.5")
        if len(self.classes) != 2:
            raise InvalidInputError(f"{len(self.classes)} classes are declared", todo="declare two")
        check_symmetry(*self.prior, self._start)

    def _add(self, task: Hashable, worker: Hashable, second: bool) -> None:
        alpha, beta = self.prior
        right, count = self._right.get(worker, 0.0), self._counts.get(worker, 0)
        weight = math.log(right + alpha) - math.log(max(count - right, 0.0) + beta)
        old = self.log_odds(task)
        new = old + (weight if second else -weight)
        before, after = _sigmoid(old), _sigmoid(new)
        on_task = self._labels.setdefault(task, [])
        # whether the earlier labels of the task were right is judged by its new probability
        if abs(after - before) > SETTLED:
            for other, said in on_task:
                self._right[other] += after - before if said else before - after
        on_task.append((worker, second))
        self._log_odds[task] = new
        self._counts[worker] = count + 1
        self._right[worker] = self._right.get(worker, 0.0) + (after if second else 1.0 - after)

    @property
    def _start(self) -> float:
        return math.log(self.prevalence) - math.log(1.0 - self.prevalence)

    def log_odds(self, task: Hashable) -> float:
        """Log-odds of the second class for a task; the prevalence's for one without labels."""
        found = self._log_odds.get(task)
        return self._start if found is None else found

    def probability(self, task: Hashable) -> float:
        """Probability of the second class for a task."""
        return _sigmoid(self.log_odds(task))

    def accuracy(self, worker: Hashable) -> tuple[float, float]:
        """Posterior mean and standard deviation of a worker's accuracy."""
        alpha, beta = self.prior
        right, count = self._right.get(worker, 0.0), self._counts.get(worker, 0)
        a, b = alpha + right, beta + max(count - right, 0.0)
        return a / (a + b), math.sqrt(a * b / ((a + b) ** 2 * (a + b + 1.0)))

    def predict(self, tasks: Sequence[Hashable] | None = None) -> NDArray[np.object_]:
        """Give the more probable class of each of these tasks, or of `tasks_`; None where both are equally so."""
        second = self.predict_proba(tasks)[:, 1]
        values = np.empty(3, dtype=object)
        values[:2] = self.classes  # the last is None
        return np.asarray(values[np.where(second == 0.5, 2, second > 0.5)])

    def predict_proba(self, tasks: Sequence[Hashable] | None = None) -> Floats:
        """Give the probability of each class of `classes_`; rows as in `predict`."""
        asked = self.tasks_ if tasks is None else tasks
        second = np.array([self.probability(task) for task in asked], dtype=np.float64)
        return np.column_stack([1.0 - second, second])

    def _check_fitted(self) -> None:
        if not self._log_odds:
            raise NotFittedError("OnlineSBIC has seen no labels yet", todo="give some to partial_fit first")

    @property
    def classes_(self) -> tuple[Hashable, ...]:
        """The two classes."""
        return tuple(self.classes)

    @property
    def tasks_(self) -> tuple[Hashable, ...]:
        """Tasks with labels."""
        self._check_fitted()
        return tuple(self._log_odds)

    @property
    def workers_(self) -> tuple[Hashable, ...]:
        """Workers who gave labels."""
        self._check_fitted()
        return tuple(self._counts)

    @property
    def probabilities_(self) -> Floats:
        """Probability of each class; shape (M, 2)."""
        return self.predict_proba()

    @property
    def labels_(self) -> NDArray[np.object_]:
        """Class values; None where both are equally probable; shape (M,)."""
        return self.predict()

    @property
    def accuracy_(self) -> Floats:
        """Posterior means of the workers' accuracies; shape (J,)."""
        return np.array([self.accuracy(worker)[0] for worker in self.workers_])


def _sigmoid(z: float) -> float:
    if z >= 0:
        return 1.0 / (1.0 + math.exp(-z))
    power = math.exp(z)
    return power / (1.0 + power)
