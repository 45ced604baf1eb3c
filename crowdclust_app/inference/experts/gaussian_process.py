"""The Gaussian process that learns from experts as an estimator (long2016)."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.domain.errors import InvalidInputError, warn_not_converged
from crowdclust_app.inference.aggregators.iterations import FitStep, Iterations
from crowdclust_app.inference.aggregators.label_posterior import TIES, Ties
from crowdclust_app.inference.aggregators.label_table import REPEATS, Codes, Floats, LabelTable, Repeats
from crowdclust_app.inference.experts.active_set import ActiveSet
from crowdclust_app.inference.experts.features import Scaling, all_or_nothing, check_matrix, fit_scaling
from crowdclust_app.inference.experts.fitting import FitPlan, State, carry_over_workers, learn
from crowdclust_app.inference.experts.inputs import encode, encode_gold, name_rows
from crowdclust_app.inference.experts.item_classifier import ItemClassifier
from crowdclust_app.inference.experts.kernel import Kernel, usual_distance
from crowdclust_app.inference.experts.next_question import QuestionChoice
from crowdclust_app.inference.experts.results import ExpertResults
from crowdclust_app.inference.experts.sites import WorkerPriors
from crowdclust_app.inference.parameters import Parameters

_UPDATE_STEPS = 10
_ROUNDS = 4
# Features whose squares are still numbers.
_FARTHEST = 1e100


class GaussianProcessExperts(ItemClassifier, Parameters, ExpertResults):
    """Learns a classifier of items, each worker's expertise and the labels' global noise, all at once.

    A Gaussian process gives each item a clean class from its features; the label skilled workers agree on is that
    class with probability `xi`, and worker `j` gives that label with probability `eps_j`. Expectation propagation and
    generalised EM (long2016) learn all of it; an active set of few items stands for many.

    Parameters
    ----------
    expertise_prior, agreement_prior
        Beta priors of `eps_j` and of `xi`, both numbers above 1.
    amplitude, length_scale, intercept
        Modes of the kernel's log-normal priors, from which it starts; the length scale is the median distance when
        None, and an intercept of 0 stays 0.
    learn_kernel
        Whether the kernel is learned.
    standardise
        Whether every feature is brought to mean 0 and spread 1 first. What the features' own scale means (pixels,
        embeddings) may be better left as it is.
    active_set
        None keeps a site for every labelled item, `ActiveSet(...)` chooses; `"auto"` takes one above 1,500.
    classes
        No and yes, in this order; those that occur, sorted, when None.
    repeats, ties
        As in `Aggregator`.
    max_iterations, tolerance
        EM steps in a row at most, and the change of any number at which they end.
    relearn_every
        After how many updates the kernel is learned again.
    seed
        Of the items that are drawn.

    Attributes
    ----------
    expertise_, expertise_sd_ : ndarray of shape (R,)
        `eps_j`, the mode of its posterior, and the standard deviation.
    expertise_interval_ : ndarray of shape (R, 2)
        95 % of that posterior.
    agreement_, noise_ : float
        `xi` and `1 - xi`.
    honesty_ : float
        `sum_j logit eps_j`; below 2 in size the sign of everything is unsure.
    consensus_ : ndarray of shape (N,)
        `r_i`, the probability that skilled workers say yes; predicted for items without labels.
    class_probability_ : ndarray of shape (N,)
        `p_i`, the probability that the features' clean class is yes.
    predicted_ : ndarray of shape (N,)
        Items without labels.
    kernel_ : Kernel
        Its length scale is in units of the features as scaled.
    active_rows_ : ndarray of shape (m,) or None
        Rows of the active set.
    evidence_ : float
        `log Z_EP`.
    lower_bounds_ : tuple of float
        Evidence plus log prior at each EM step of the last stage. It need not rise at every step.
    warnings_ : tuple of str
        What the lead should know. Also in `notes_`.

    All other fields of an `Aggregator` are there too, one entry a row of the features.

    Examples
    --------
    >>> import crowdclust_app as cc
    >>> import numpy as np
    >>> data = cc.simulate_labels(100, seed=1)
    >>> features = np.outer(data.truth, [1.0, 1.0]) + np.random.default_rng(0).normal(size=(100, 2))
    >>> process = cc.GaussianProcessExperts().fit(features, data.labels, items=list(data.truth.index))
    >>> bool((process.predict() == data.truth.to_numpy()).mean() > 0.8)
    True
    """

    name: ClassVar[str] = "gp"

    def __init__(
        self,
        *,
        expertise_prior: tuple[float, float] = (3.0, 2.0),
        agreement_prior: tuple[float, float] = (20.0, 2.0),
        amplitude: float = 2.0,
        length_scale: float | None = None,
        intercept: float = 0.0,
        learn_kernel: bool = True,
        standardise: bool = True,
        active_set: ActiveSet | Literal["auto"] | None = "auto",
        classes: Sequence[Hashable] | None = None,
        repeats: Repeats = "all",
        ties: Ties = "undecided",
        max_iterations: int = 30,
        tolerance: float = 1e-3,
        relearn_every: int = 25,
        seed: int = 0,
    ) -> None:
        self.expertise_prior = expertise_prior
        self.agreement_prior = agreement_prior
        self.amplitude = amplitude
        self.length_scale = length_scale
        self.intercept = intercept
        self.learn_kernel = learn_kernel
        self.standardise = standardise
        self.active_set: ActiveSet | Literal["auto"] | None = active_set
        self.classes = classes
        self.repeats: Repeats = repeats
        self.ties: Ties = ties
        self.max_iterations = max_iterations
        self.tolerance = tolerance
        self.relearn_every = relearn_every
        self.seed = seed

    def fit(
        self,
        X: Any,
        table: Any,
        worker: Any = None,
        label: Any = None,
        *,
        items: Sequence[Hashable] | None = None,
        gold: Mapping[Any, Any] | None = None,
        progress: Callable[[FitStep], None] | None = None,
        cancel: CancelToken | None = None,
    ) -> Self:
        """Learn from labels of items with features.

        Parameters
        ----------
        X : array of shape (N, D), or None
            Features, one row an item, labelled or not. None: the labels alone are used, by Dawid and Skene's method.
        table, worker, label
            As in `Aggregator.fit`; or a vector of one label an item (None or NaN: none); or an array (N, R) of a
            worker's label in each column: -1, 0 (not asked) and +1.
        items
            Names of the rows; tasks are row numbers when None.
        gold
            Known classes by item.
        progress
            Gets a `FitStep` each EM step.
        cancel
            Looked at each sweep.

        Raises
        ------
        InvalidInputError
            When features, labels or parameters are none that can be learned from.
        Cancelled
            When `cancel` says so.

        Warns
        -----
        NotConvergedWarning
            When the steps ended too early.
        """
        begin = time.perf_counter()
        self._validate()
        with all_or_nothing(self):
            self._previous: State | None = None
            self._rounds = 0
            if X is None:
                names = None if items is None else name_rows(0, items)
                encoded = encode(table, worker, label, names, None, self.classes, self.repeats)
                self._fit_without_features(encoded, gold, self._run(progress, cancel))
            else:
                names = self._take_features(check_matrix(X), items)
                encoded = encode(table, worker, label, names, len(self._X), self.classes, self.repeats)
                self._learn(encoded, gold, self._run(progress, cancel), fresh=True)
            self.seconds_ = time.perf_counter() - begin
        if not self.converged_:
            warn_not_converged(f"{self.name} did not converge in {self.n_iterations_} steps")
        return self

    def update(
        self,
        table: Any,
        worker: Any = None,
        label: Any = None,
        *,
        gold: Mapping[Any, Any] | None = None,
        progress: Callable[[FitStep], None] | None = None,
        cancel: CancelToken | None = None,
    ) -> Self:
        """Learn on from all labels so far: a round of active learning, with at most ten EM steps.

        The kernel stays, but for every `relearn_every`-th time; with other gold items than before everything begins
        anew. All else is as in `fit`, and nothing changes when it is cancelled. A shallow copy can learn on while this
        one answers: no array is changed in place.

        Parameters
        ----------
        table, worker, label, gold, progress, cancel
            As in `fit`: all labels and all gold items, not only the new ones.
        """
        begin = time.perf_counter()
        self._check_fitted()
        self._validate()
        run = self._run(progress, cancel)
        classes = self.classes_.tolist() if self.classes is None else self.classes
        with all_or_nothing(self):
            if self._previous is None:
                encoded = encode(table, worker, label, self.items_, None, classes, self.repeats)
                self._fit_without_features(encoded, gold, run)
            else:
                encoded = encode(table, worker, label, self._items, len(self._X), classes, self.repeats)
                self._learn(encoded, gold, run, fresh=False)
            self.seconds_ = time.perf_counter() - begin
        return self

    def _take_features(self, X: Floats, items: Sequence[Hashable] | None) -> tuple[Hashable, ...]:
        """Scale features of shape (N, D), and give the names of their rows."""
        self._items = name_rows(len(X), items)
        self._scaling = self._fit_scaling(X)
        self._X = self._scaled(X)
        self._centre = self._first_kernel()
        return self._items

    def _run(self, progress: Callable[[FitStep], None] | None, cancel: CancelToken | None) -> Iterations:
        run = Iterations(_ROUNDS * self.max_iterations, self.tolerance, progress, cancel)
        run.check()
        return run

    def _fit_scaling(self, X: Floats) -> Scaling:
        width = X.shape[1]
        return fit_scaling(X) if self.standardise else Scaling(np.zeros(width), np.ones(width))

    def _scaled(self, X: Any) -> Floats:
        with np.errstate(over="ignore", invalid="ignore"):  # what is that far away is far away
            scaled = self._scaling.apply(X)
        return np.nan_to_num(np.clip(scaled, -_FARTHEST, _FARTHEST), copy=False)

    def _first_kernel(self) -> Kernel:
        length = self.length_scale
        if length is None:
            length = usual_distance(self._X, np.random.default_rng([self.seed, 2]))
        return Kernel(float(self.amplitude), float(length), float(self.intercept))

    def _learn(self, table: LabelTable, gold: Mapping[Any, Any] | None, run: Iterations, *, fresh: bool) -> None:
        known = encode_gold(gold, table)
        priors = WorkerPriors(*(_pair(prior) for prior in (self.expertise_prior, self.agreement_prior)))
        rounds = 0 if fresh else self._rounds + 1
        previous = None
        if not fresh and self._previous is not None and self._same_gold(known) and len(self._previous.rows):
            number = {name: at for at, name in enumerate(self.workers_)}
            then = [number.get(name, -1) for name in table.workers]
            previous = (self._previous, carry_over_workers(self._previous, then, table.n_workers, priors))
        # with other gold items the sign may be another one, and everything begins anew
        steps = self.max_iterations if previous is None else min(_UPDATE_STEPS, self.max_iterations)
        plan = FitPlan(priors, self._centre, self.learn_kernel, self.active_set, steps, self.tolerance, self.seed)
        relearn = previous is None or (self.relearn_every > 0 and rounds % self.relearn_every == 0)
        state = learn(self._X, table, known, plan, run, previous, relearn)
        self._rounds, self._previous, self._gold = rounds, state, known
        self._describe(table, state, run, says_converged=fresh)

    def _same_gold(self, known: tuple[Codes, Codes]) -> bool:
        return all(np.array_equal(old, new) for old, new in zip(self._gold, known, strict=True))

    def _validate(self) -> None:
        for prior, what in ((self.expertise_prior, "expertise"), (self.agreement_prior, "agreement")):
            if not all(1.0 < number < math.inf for number in _pair(prior)):
                raise InvalidInputError(f"the prior of the {what} is not above 1", todo="give two numbers such as 3,2")
        numbers = (self.amplitude, 1.0 if self.length_scale is None else self.length_scale)
        if not all(0.0 < number < math.inf for number in numbers) or not 0.0 <= self.intercept < math.inf:
            raise InvalidInputError("the kernel's numbers are not above 0", todo="take 2 and the median distance")
        if self.ties not in TIES:
            raise InvalidInputError(
                f"the policy for ties {self.ties!r} is unknown", todo=f"take one of {', '.join(TIES)}"
            )
        if self.repeats not in REPEATS:
            raise InvalidInputError(
                f"the policy for repeats {self.repeats!r} is unknown", todo="take one of first, last, all"
            )
        if self.max_iterations < 1 or not self.tolerance >= 0:
            raise InvalidInputError("max_iterations is below 1 or the tolerance below 0", todo="take 30 and 1e-3")
        if isinstance(self.active_set, ActiveSet):
            self.active_set.check()
        elif self.active_set not in (None, "auto"):
            raise InvalidInputError(
                f"the active set {self.active_set!r} is unknown", todo="take auto, None or ActiveSet(400)"
            )

    def predict_proba(self, X: Any = None, *, clean: bool = False) -> Floats:
        """Give the probabilities of no and yes; shape (M, 2).

        Parameters
        ----------
        X : array of shape (M, D), or None
            Features of new items; those of the fit, with what their labels say, when None.
        clean
            Whether it is about the features' clean class rather than the label that skilled workers would give.
        """
        self._check_fitted()
        if X is None:
            yes = self.class_probability_ if clean else self.consensus_
        else:
            if self._previous is None:
                raise InvalidInputError("the fit had no features", todo="fit with features to predict from others")
            yes = self._predict_rows(self._scaled(X), clean)
        return np.column_stack([1.0 - yes, yes])

    def predict(self, X: Any = None) -> NDArray[Any]:
        """Give the more probable class of each item, yes where both are equally so; shape (M,)."""
        second = self.predict_proba(X)[:, 1] >= 0.5
        return np.asarray(self.classes_[second.astype(np.int64)])

    def next_question(
        self,
        workers: Sequence[Hashable] | None = None,
        *,
        candidates: Sequence[Hashable] | None = None,
        honest_only: bool = False,
    ) -> QuestionChoice | None:
        """Choose the next image and whom to ask about it; None when nothing is left to ask.

        Parameters
        ----------
        workers
            Names of those who are there, newcomers too; all of the fit when None.
        candidates
            Names of items that may be asked about. None: those without labels, or when there are none left,
            those that one of the workers has not labelled; no gold items.
        honest_only
            Whether those who are wrong more often than right are asked last.
        """
        self._check_fitted()
        return self._choose(workers, candidates, honest_only)

    def rank_workers(self, workers: Sequence[Hashable] | None = None, *, honest_only: bool = False) -> list[Hashable]:
        """Order who is there by how much an answer may tell, the best first; all of the fit when None."""
        self._check_fitted()
        return self._rank_workers(workers, honest_only)


def _pair(prior: Any) -> tuple[float, float]:
    try:
        a, b = (float(number) for number in prior)
    except (TypeError, ValueError):
        raise InvalidInputError(f"the prior {prior!r} is not two numbers", todo="give two such as 3,2") from None
    return a, b
