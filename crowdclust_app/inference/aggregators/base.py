"""What every label aggregator shares: parameters, `fit`, `predict`, `predict_proba` and the fitted fields.

The shape is that of scikit-learn and of the crowd libraries: parameters are stored unchanged and checked in `fit`;
`fit` takes the tidy table `task, worker, label` (a data frame, a dict of lists) or three arrays; fitted names end in
`_`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, ClassVar, Self, TypedDict

import numpy as np
from numpy.typing import NDArray

from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.domain.errors import InvalidInputError, warn_not_converged
from crowdclust_app.inference.aggregators.iterations import FitStep, Iterations
from crowdclust_app.inference.aggregators.label_posterior import (
    TIES,
    LabelPosterior,
    Prevalence,
    Prior,
    Ties,
    check_prior,
    decide,
    prevalence_of,
)
from crowdclust_app.inference.aggregators.label_table import (
    Codes,
    Floats,
    LabelTable,
    Repeats,
    columns_of,
    encode_labels,
)
from crowdclust_app.inference.aggregators.reliability import Reliability, estimate_reliability
from crowdclust_app.inference.parameters import Parameters

# Tasks times classes, or workers times classes squared: beyond, tables of probabilities do not fit into memory.
MOST_CELLS = 100_000_000


class Common(TypedDict, total=False):
    """The parameters of every method, for the constructors of those that have more."""

    prior: Prior | None
    prevalence: Prevalence
    ties: Ties
    repeats: Repeats
    classes: Sequence[Hashable] | None
    max_iterations: int | None
    tolerance: float
    seed: int


class Aggregator(Parameters):
    """Infers one label a task from the labels of several workers.

    Parameters
    ----------
    prior
        Beta prior `(alpha, beta)` on a worker's probability of being right (per class where a method has several);
        belief propagation also takes a discrete prior as a dict of probability by accuracy. None is `(2, 1)` unless a
        method says otherwise.
    prevalence
        Probability of the second class (a number), of every class (a sequence), `"even"`, or `"auto"` to estimate it;
        None is what the method is known for: `auto` for Dawid-Skene, `even` for the others.
    ties
        What becomes of tasks whose best classes are equally probable: `"undecided"`, a seeded `"random"` one of them,
        or the one more prevalent a priori (`"prior"`; still undecided when that is even). All are in `ties_`.
    repeats
        Which labels count when a worker labelled a task more than once: `"first"`, `"last"`, `"all"` or `"refuse"`.
    classes
        Every class in its order, used or not; None takes those that occur, sorted.
    max_iterations, tolerance
        Iterations end when no probability (or message) changes by more than the tolerance; for Dawid-Skene also when
        the bound rises by less than that a label. None is the method's usual
        limit: 1000 for EM and mean field, which rise slowly but surely, fewer for messages.
    seed
        For whatever a method draws at random.

    Attributes
    ----------
    classes_, tasks_, workers_ : tuple
        Values and names by code.
    probabilities_ : ndarray of shape (M, K)
    labels_ : ndarray of shape (M,)
        Class values; None where undecided.
    codes_ : ndarray of shape (M,)
        The same as codes; -1 where undecided.
    ties_ : ndarray of shape (M,)
        Labelled tasks whose best classes are equally probable.
    label_counts_, worker_label_counts_ : ndarray of shape (M,), (J,)
    accuracy_, accuracy_sd_, sensitivity_, sensitivity_sd_, specificity_, specificity_sd_ : ndarray of shape (J,)
        Posterior means and standard deviations given the inferred labels; the last four are NaN unless there are
        two classes (sensitivity is about the second).
    prevalence_ : ndarray of shape (K,)
    tasks_without_labels_ : tuple
    n_dropped_, n_repeated_, n_conflicting_ : int
    repeats_ : str
        The policy that resolved the repeats.
    n_iterations_ : int
    converged_ : bool
    lower_bounds_ : tuple of float
        One an iteration, for methods that have a bound.
    notes_ : tuple of str
    seed_ : int
    seconds_ : float
    """

    name: ClassVar[str]
    fewest_classes: ClassVar[int] = 2
    most_classes: ClassVar[int | None] = 2
    estimates_prevalence: ClassVar[bool] = False
    usual_prior: ClassVar[tuple[float, float]] = (2.0, 1.0)
    takes_discrete_prior: ClassVar[bool] = False
    # how many coins a worker has: 1, or 2 for one a class
    coins: ClassVar[int] = 1
    order_matters: ClassVar[bool] = False
    usual_iterations: ClassVar[int] = 1000
    # a method of so many rounds, whether anything still changes after them or not
    fixed_rounds: ClassVar[bool] = False
    # its kernels are compiled, or scipy is loaded, on first use
    compiled: ClassVar[bool] = False

    def __init__(
        self,
        *,
        prior: Prior | None = None,
        prevalence: Prevalence = None,
        ties: Ties = "undecided",
        repeats: Repeats = "all",
        classes: Sequence[Hashable] | None = None,
        max_iterations: int | None = None,
        tolerance: float = 1e-6,
        seed: int = 0,
    ) -> None:
        self.prior = prior
        self.prevalence = prevalence
        self.ties = ties
        self.repeats = repeats
        self.classes = classes
        self.max_iterations = max_iterations
        self.tolerance = tolerance
        self.seed = seed

    def fit(
        self,
        table: Any,
        worker: Any = None,
        label: Any = None,
        *,
        progress: Callable[[FitStep], None] | None = None,
        cancel: CancelToken | None = None,
    ) -> Self:
        """Infer the labels.

        Parameters
        ----------
        table
            Anything with the columns `task`, `worker` and `label` (data frame, dict, record array); or the tasks alone,
            with `worker` and `label` beside them.
        progress
            Gets a `FitStep` each iteration.
        cancel
            Looked at each iteration.

        Raises
        ------
        InvalidInputError
            When parameters or labels do not allow this method.
        Cancelled
            When `cancel` says so.

        Warns
        -----
        NotConvergedWarning
            When the iterations ended too early.

        Examples
        --------
        >>> import crowdclust_app as cc
        >>> labels = {
        ...     "task": ["t1", "t1", "t1", "t2", "t2", "t2"],
        ...     "worker": ["Ann", "Ben", "Cem", "Ann", "Ben", "Cem"],
        ...     "label": ["cat", "cat", "dog", "dog", "dog", "dog"],
        ... }
        >>> votes = cc.Majority().fit(labels)
        >>> list(votes.predict())
        ['cat', 'dog']
        >>> votes.classes_, votes.predict_proba().round(2).tolist()
        (('cat', 'dog'), [[0.67, 0.33], [0.0, 1.0]])
        """
        if isinstance(table, LabelTable):
            encoded = table
        else:
            tasks, workers, labels = columns_of(table) if worker is None and label is None else (table, worker, label)
            encoded = encode_labels(tasks, workers, labels, classes=self.classes, repeats=self.repeats)
        self.fit_encoded(encoded, progress=progress, cancel=cancel)
        if self._ended_early:
            warn_not_converged(f"{self.name} did not converge in {self.n_iterations_} iterations")
        return self

    @property
    def _ended_early(self) -> bool:
        return not self.converged_ and not (self.fixed_rounds and self.max_iterations is None)

    def fit_encoded(
        self, table: LabelTable, *, progress: Callable[[FitStep], None] | None = None, cancel: CancelToken | None = None
    ) -> Self:
        """Infer the labels of an encoded table; what `fit` warns of is in `converged_` and `notes_`."""
        self._check_iterations()
        limit = self.usual_iterations if self.max_iterations is None else self.max_iterations
        self.fit_run(table, Iterations(limit, self.tolerance, progress, cancel))
        return self

    def fit_run(self, table: LabelTable, run: Iterations) -> None:
        """Infer within the iterations of a caller (a method made of several fits)."""
        begin = time.perf_counter()
        run.check()
        self._validate(table)
        posterior = self._infer(table, run)
        self._store(table, posterior, run)
        self.seconds_ = time.perf_counter() - begin

    def fit_predict(self, table: Any, worker: Any = None, label: Any = None) -> NDArray[np.object_]:
        """Fit, then give `labels_`."""
        return self.fit(table, worker, label).labels_

    def fit_predict_proba(self, table: Any, worker: Any = None, label: Any = None) -> Floats:
        """Fit, then give `probabilities_`."""
        return self.fit(table, worker, label).probabilities_

    def predict(self, tasks: Sequence[Hashable] | None = None) -> NDArray[np.object_]:
        """Give the inferred labels, None where undecided.

        Parameters
        ----------
        tasks
            Of these tasks, in this order; of `tasks_` when None.
        """
        return self.labels_ if tasks is None else self.labels_[self._positions(tasks)]

    def predict_proba(self, tasks: Sequence[Hashable] | None = None) -> Floats:
        """Give the probability of each class of `classes_`; rows as in `predict`."""
        return self.probabilities_ if tasks is None else self.probabilities_[self._positions(tasks)]

    def _positions(self, tasks: Sequence[Hashable]) -> Codes:
        number = {task: position for position, task in enumerate(self.tasks_)}
        unknown = [task for task in tasks if task not in number]
        if unknown:
            raise InvalidInputError(
                f"the task {unknown[0]} was not in the fit", todo="fit with all tasks you ask about"
            )
        return np.array([number[task] for task in tasks], dtype=np.int64)

    def _infer(self, table: LabelTable, run: Iterations) -> LabelPosterior:
        """What the labels of a table say; each method has its own, or its own `fit_run`."""
        raise TypeError(f"{type(self).__name__} does not say how labels are aggregated")

    def _validate(self, table: LabelTable) -> None:
        if self.ties not in TIES:
            raise InvalidInputError(
                f"the policy for ties {self.ties!r} is unknown", todo=f"take one of {', '.join(TIES)}"
            )
        check_prior(self._prior, self.takes_discrete_prior, self.name)
        prevalence_of(self.prevalence, table.n_classes)
        if table.n_tasks * table.n_classes > MOST_CELLS:
            what = f"the labels have {table.n_classes:,} different values, too many for classes"
            raise InvalidInputError(what, todo="take continuous if they are measurements")
        if table.n_classes < self.fewest_classes:
            what = f"{self.name} needs two classes and every label is {table.classes[0]}"
            raise InvalidInputError(what, todo="declare the other class too, or take majority")
        if self.most_classes is not None and table.n_classes > self.most_classes:
            what = f"{self.name} is for {self.most_classes} classes and the labels have {table.n_classes}"
            raise InvalidInputError(what, todo="take dawid-skene, em, amf, mf, majority or soft-vote")

    def _check_iterations(self) -> None:
        if (self.max_iterations is not None and self.max_iterations < 1) or not self.tolerance >= 0:
            raise InvalidInputError("max_iterations is below 1 or the tolerance below 0", todo="take 100 and 1e-6")

    @property
    def _prior(self) -> Prior:
        """The prior that holds."""
        return self.usual_prior if self.prior is None else self.prior

    @property
    def _beta(self) -> tuple[float, float]:
        prior = self._prior
        if isinstance(prior, Mapping):
            raise TypeError("a discrete prior has no alpha and beta")
        alpha, beta = prior
        return float(alpha), float(beta)

    def _start_prevalence(self, table: LabelTable) -> tuple[Floats, bool]:
        """Give the prevalence to start from and whether it is to be estimated."""
        setting = self.prevalence
        if setting is None:
            setting = "auto" if self.estimates_prevalence else "even"
        return prevalence_of(setting, table.n_classes), isinstance(setting, str) and setting == "auto"

    def _start_shares(self, table: LabelTable) -> Floats:
        """Vote shares to start from; turned round when the prior says that workers are wrong more often than right."""
        alpha, beta = self._beta
        shares = table.shares
        return shares if alpha >= beta else (1.0 - shares) / (table.n_classes - 1)

    def _store(self, table: LabelTable, posterior: LabelPosterior, run: Iterations) -> None:
        self.classes_ = table.classes
        self.probabilities_: Floats = np.exp(posterior.log_probabilities)
        self.prevalence_ = posterior.prevalence
        self._describe_table(table, run)
        chosen = decide(posterior, self._decidable(table), self.ties, self.seed)
        self.codes_, self.ties_, self.tied_classes_ = chosen.codes, chosen.ties, chosen.tied_classes
        values = np.empty(table.n_classes + 1, dtype=object)
        values[: table.n_classes] = table.classes  # the last is None, which the code -1 finds
        self.labels_: NDArray[np.object_] = values[chosen.codes]
        reliability = self._reliability(table)
        for field_name in Reliability.__slots__:
            setattr(self, f"{field_name}_", getattr(reliability, field_name))
        for extra, value in posterior.extras.items():
            setattr(self, extra, value)
        self.notes_ = tuple(posterior.notes + self._remarks(reliability))

    def _decidable(self, table: LabelTable) -> NDArray[np.bool_]:
        """Tasks about which something is known; shape (M,)."""
        return np.asarray(table.task_counts > 0)

    def _reliability(self, table: LabelTable) -> Reliability:
        """How far each worker can be trusted, given the probabilities that were stored."""
        return estimate_reliability(table.canonical, self.probabilities_, self._prior)

    def _describe_table(self, table: LabelTable, run: Iterations) -> None:
        """Take over what the table and the iterations say."""
        self.tasks_, self.workers_ = table.tasks, table.workers
        self.label_counts_ = table.task_counts
        self.worker_label_counts_ = table.worker_counts
        self.n_dropped_, self.n_repeated_ = table.dropped, table.repeated
        self.n_conflicting_, self.repeats_ = table.conflicting, table.repeats
        without = np.flatnonzero(table.task_counts == 0)
        self.tasks_without_labels_ = tuple(table.tasks[number] for number in without)
        self.n_iterations_, self.converged_ = run.iterations, run.converged
        self.lower_bounds_ = tuple(run.bounds)
        self.seed_ = self.seed

    accuracy_: Floats
    accuracy_sd_: Floats
    sensitivity_: Floats
    sensitivity_sd_: Floats
    specificity_: Floats
    specificity_sd_: Floats

    def _remarks(self, reliability: Reliability) -> list[str]:
        remarks = []
        below = reliability.accuracy + 2.0 * reliability.accuracy_sd < 1.0 / len(self.classes_)
        active = self.worker_label_counts_ > 0
        against, present = int((below & active).sum()), int(active.sum())
        if against and 2 * against >= present:
            who = "all" if against == present else f"{against} of"
            remarks.append(f"{who} {present} workers seem to answer the opposite of the truth")
        if self.order_matters:
            remarks.append("the result depends on the order in which the labels are taken")
        if self._ended_early:
            remarks.append(f"did not converge in {self.n_iterations_} iterations")
        return remarks
