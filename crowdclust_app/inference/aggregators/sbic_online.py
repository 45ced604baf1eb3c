"""SBIC for labels that are still arriving (manino2019), fast and sorted; tasks and workers may appear at any time."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from crowdclust_app.domain.errors import InvalidInputError, NotFittedError
from crowdclust_app.inference.aggregators.label_posterior import SETTLED, prevalence_of
from crowdclust_app.inference.aggregators.label_table import Floats, columns_of, label_key
from crowdclust_app.inference.aggregators.sbic import check_symmetry
from crowdclust_app.inference.parameters import Parameters


class _View:
    """What is believed after some labels; the arithmetic of `sbic_kernels.push_labels` on single labels."""

    def __init__(self, prior: tuple[float, float], shares: Floats) -> None:
        self.prior = prior
        self.start: list[float] = (np.log(shares) - math.log(shares[0])).tolist()
        self.shares: list[float] = shares.tolist()
        self.logs: dict[Hashable, list[float]] = {}
        self.beliefs: dict[Hashable, list[float]] = {}
        self.labels: dict[Hashable, list[tuple[Hashable, int]]] = {}
        self.right: dict[Hashable, float] = {}
        self.counts: dict[Hashable, int] = {}

    def copy(self) -> _View:
        made = _View.__new__(_View)
        made.prior, made.start, made.shares = self.prior, self.start, self.shares
        # the lists of a task are replaced and not changed, but for its labels
        made.logs, made.beliefs = self.logs.copy(), self.beliefs.copy()
        made.labels = {task: said.copy() for task, said in self.labels.items()}
        made.right, made.counts = self.right.copy(), self.counts.copy()
        return made

    def coin(self, worker: Hashable) -> tuple[float, float]:
        """The Beta posterior of a worker's accuracy."""
        alpha, beta = self.prior
        right, count = self.right.get(worker, 0.0), self.counts.get(worker, 0)
        return right + alpha, max(count - right, 0.0) + beta

    def weight(self, worker: Hashable) -> float:
        """What a label of this worker adds to the log-odds of its class against any other."""
        a, b = self.coin(worker)
        return math.log(a) - math.log(b) + math.log(len(self.start) - 1)

    def add(self, task: Hashable, worker: Hashable, said: int) -> None:
        logs = self.logs.get(task, self.start).copy()
        logs[said] += self.weight(worker)
        before, after = self.beliefs.get(task, self.shares), probabilities(logs)
        change = [new - old for new, old in zip(after, before, strict=True)]
        on_task = self.labels.setdefault(task, [])
        # whether the earlier labels of the task were right is judged by its new probabilities
        if max(map(abs, change)) > SETTLED:
            for other, then in on_task:
                self.right[other] += change[then]
        on_task.append((worker, said))
        self.logs[task], self.beliefs[task] = logs, after
        self.counts[worker] = self.counts.get(worker, 0) + 1
        self.right[worker] = self.right.get(worker, 0.0) + after[said]


class _Online(Parameters, ABC):
    """What the two variants share."""

    def __init__(
        self,
        *,
        prior: tuple[float, float] = (2.0, 1.0),
        prevalence: float | Sequence[float] = 0.5,
        classes: Sequence[Hashable] = (0, 1),
    ) -> None:
        self.prior = prior
        self.prevalence = prevalence
        self.classes = classes
        # of all labels so far
        self._all: _View | None = None

    def partial_fit(self, table: Any, worker: Any = None, label: Any = None) -> Self:
        """Take in labels in the order in which they arrived.

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
        if self._all is None:
            self._all = self._empty()
        codes = {value: code for code, value in enumerate(self.classes)}
        for task, who, said in zip(*columns, strict=True):
            if said not in codes:
                codes[said] = self._code(said)
            self._add(self._all, task, who, codes[said])
        return self

    @abstractmethod
    def _add(self, everything: _View, task: Hashable, worker: Hashable, said: int) -> None:
        """Take in one label."""

    @abstractmethod
    def _logs(self, task: Hashable) -> list[float]:
        """Log-probabilities of the classes of a task up to a constant; the prevalence's for one without labels."""

    def _code(self, label: Hashable) -> int:
        """Tell which class a label is that is written in another way, such as "1" for 1."""
        keys = [label_key(value) for value in self.classes]
        if label_key(label) not in keys:
            named = ", ".join(map(str, self.classes[:-1]))
            what = f"the label {label} is not one of the classes {named} and {self.classes[-1]}"
            raise InvalidInputError(what, todo="correct it")
        return keys.index(label_key(label))

    def _empty(self) -> _View:
        """A view of no labels, the parameters checked."""
        if len(self.classes) < 2:
            raise InvalidInputError(f"{len(self.classes)} classes are declared", todo="declare two or more")
        shares = prevalence_of(self.prevalence, len(self.classes))
        alpha, beta = self.prior
        if not (0 < alpha < math.inf and 0 < beta < math.inf):
            raise InvalidInputError(f"the prior {alpha:g},{beta:g} is not above 0", todo="give two numbers such as 2,1")
        view = _View((alpha, beta), shares)
        check_symmetry(alpha, beta, np.array(view.start))
        return view

    @property
    def _whole(self) -> _View:
        return self._empty() if self._all is None else self._all

    def log_odds(self, task: Hashable) -> float:
        """Log-odds of the second class of two for a task; the prevalence's for one without labels."""
        first, second = self._logs(task)
        return second - first

    def probability(self, task: Hashable) -> float:
        """Probability of the second class for a task."""
        return probabilities(self._logs(task))[1]

    def accuracy(self, worker: Hashable) -> tuple[float, float]:
        """Posterior mean and standard deviation of a worker's accuracy."""
        a, b = self._whole.coin(worker)
        return a / (a + b), math.sqrt(a * b / ((a + b) ** 2 * (a + b + 1.0)))

    def predict(self, tasks: Sequence[Hashable] | None = None) -> NDArray[np.object_]:
        """Give the most probable class of each of these tasks, or of `tasks_`; None where several are equally so."""
        shares = self.predict_proba(tasks)
        best = shares == shares.max(axis=1, keepdims=True)
        values = np.empty(len(self.classes) + 1, dtype=object)
        values[:-1] = self.classes  # the last is None
        return np.asarray(values[np.where(best.sum(axis=1) > 1, -1, best.argmax(axis=1))])

    def predict_proba(self, tasks: Sequence[Hashable] | None = None) -> Floats:
        """Give the probability of each class of `classes_`; rows as in `predict`."""
        asked = self.tasks_ if tasks is None else tasks
        rows = [probabilities(self._logs(task)) for task in asked]
        return np.array(rows, dtype=np.float64).reshape(-1, len(self.classes))

    def _check_fitted(self) -> None:
        if self._all is None or not self._all.logs:
            raise NotFittedError(f"{type(self).__name__} has seen no labels yet", todo="give some to partial_fit first")

    @property
    def classes_(self) -> tuple[Hashable, ...]:
        """The classes."""
        return tuple(self.classes)

    @property
    def tasks_(self) -> tuple[Hashable, ...]:
        """Tasks with labels."""
        self._check_fitted()
        return tuple(self._whole.logs)

    @property
    def workers_(self) -> tuple[Hashable, ...]:
        """Workers who gave labels."""
        self._check_fitted()
        return tuple(self._whole.counts)

    @property
    def probabilities_(self) -> Floats:
        """Probability of each class; shape (M, K)."""
        return self.predict_proba()

    @property
    def labels_(self) -> NDArray[np.object_]:
        """Class values; None where several are equally probable; shape (M,)."""
        return self.predict()

    @property
    def accuracy_(self) -> Floats:
        """Posterior means of the workers' accuracies; shape (J,)."""
        return np.array([self.accuracy(worker)[0] for worker in self.workers_])


class OnlineSBIC(_Online):
    """Fast SBIC for labels that are still arriving; tasks and workers may appear at any time (manino2019).

    After the same labels in the same order it gives what `FastSBIC` does. A label takes time in proportion to the
    labels on its task. Fitted attributes are computed when they are read, in the order in which tasks and workers
    appeared.

    Parameters
    ----------
    prior
        Beta prior of a worker's accuracy.
    prevalence
        Probability of the second of two classes, or of every class; 0.5 is even.
    classes
        The classes, two or more.

    Examples
    --------
    >>> online = OnlineSBIC(classes=("no", "yes")).partial_fit(["t1", "t1"], ["Ann", "Ben"], ["yes", "yes"])
    >>> round(online.probability("t1"), 2)
    0.8
    >>> online.partial_fit(["t2"], ["Ann"], ["no"]).predict(["t1", "t2", "t3"]).tolist()
    ['yes', 'no', None]
    """

    def _add(self, everything: _View, task: Hashable, worker: Hashable, said: int) -> None:
        everything.add(task, worker, said)

    def _logs(self, task: Hashable) -> list[float]:
        view = self._whole
        return view.logs.get(task, view.start)


class OnlineSortedSBIC(_Online):
    """Sorted SBIC for labels that are still arriving (manino2019, algorithm 2): a view of all other labels a task.

    After the same labels in the same order it gives what `SortedSBIC` does. A label is taken in by the views of all
    other tasks, so it takes time in proportion to the number of tasks, and the memory is that of a view times the
    tasks. Accuracies are those of Fast SBIC, which has seen all labels.

    Parameters
    ----------
    prior, prevalence, classes
        As in `OnlineSBIC`.

    Examples
    --------
    >>> online = OnlineSortedSBIC(classes=("no", "yes")).partial_fit(["t1", "t1"], ["Ann", "Ben"], ["yes", "yes"])
    >>> round(online.probability("t1"), 2)
    0.8
    >>> round(online.partial_fit(["t2", "t2"], ["Ann", "Ben"], ["no", "no"]).probability("t1"), 2)
    0.84
    """

    def __init__(
        self,
        *,
        prior: tuple[float, float] = (2.0, 1.0),
        prevalence: float | Sequence[float] = 0.5,
        classes: Sequence[Hashable] = (0, 1),
    ) -> None:
        super().__init__(prior=prior, prevalence=prevalence, classes=classes)
        self._views: dict[Hashable, _View] = {}

    def _add(self, everything: _View, task: Hashable, worker: Hashable, said: int) -> None:
        if task not in self._views:
            # nothing of what was taken in so far is on this task
            self._views[task] = everything.copy()
        for other, view in self._views.items():
            if other != task:
                view.add(task, worker, said)
        everything.add(task, worker, said)

    def _logs(self, task: Hashable) -> list[float]:
        whole = self._whole
        logs = whole.start.copy()
        for worker, said in whole.labels.get(task, ()):
            logs[said] += self._views[task].weight(worker)
        return logs


def probabilities(logs: Sequence[float]) -> list[float]:
    """Probabilities of the classes from logs up to a constant."""
    largest = max(logs)
    powers = [math.exp(one - largest) for one in logs]
    total = sum(powers)
    return [power / total for power in powers]
