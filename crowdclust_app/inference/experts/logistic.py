"""Learning from experts: a classifier of the items and every worker's coins, learnt together by EM (raykar2009).

Each worker answers by two coins (a matrix, for more classes) that do not depend on the item; the true class follows a
logistic regression on the item's features. The E-step computes the posterior of each item's class, the M-step learns
coins and regression from it. Without features the regression shrinks to a prevalence, which is Dawid and Skene's model
(raykar2009, section 6.4).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Self, TypedDict, Unpack

import numpy as np
from numpy.typing import NDArray

from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.domain.errors import InvalidInputError, warn_not_converged
from crowdclust_app.inference.aggregators.base import Aggregator
from crowdclust_app.inference.aggregators.iterations import FitStep, Iterations
from crowdclust_app.inference.aggregators.label_posterior import (
    LabelPosterior,
    Prevalence,
    Prior,
    Ties,
    normalise,
    prevalence_of,
)
from crowdclust_app.inference.aggregators.label_table import Floats, LabelTable, Repeats
from crowdclust_app.inference.aggregators.reliability import Reliability, estimate_reliability
from crowdclust_app.inference.experts import classifiers, coins, features
from crowdclust_app.inference.experts.coin_em import EMResult, Problem, learn
from crowdclust_app.inference.experts.coins import BetaPriors
from crowdclust_app.inference.experts.item_classifier import ItemClassifier, class_values

# Beta priors of the coins with features, and without: the one label that each row begins with in `DawidSkene`.
_USUAL_PRIOR, _PRIOR_ALONE = (2.0, 2.0), (5 / 3, 4 / 3)
# Probabilities to start from are at least this far from 0 and 1.
_LEAST_SHARE = 1e-3
# Pseudo-counts of every answer to gold items; a right one has one more.
_START_COINS = 1.0
# A foreign classifier may never converge.
_FOREIGN_ROUNDS = 50


class AggregatorParameters(TypedDict, total=False):
    """The parameters that every aggregator has."""

    prevalence: Prevalence
    ties: Ties
    repeats: Repeats
    classes: Sequence[Hashable] | None
    max_iterations: int | None
    seed: int


class LogisticExperts(ItemClassifier, Aggregator):
    """Two coins a worker and a logistic regression on the items' features, learnt together (raykar2009).

    Parameters
    ----------
    ridge
        Precision of the Gaussian prior of each weight; features are scaled to standard deviation 1.
    prior
        Beta prior of every coin: of a right answer, of a wrong one. None takes 2,2; without features what Dawid and
        Skene's method has here: one label shared out two to one, which at the mode is 5/3,4/3.
    sensitivity_prior, specificity_prior
        Other Beta priors of the two coins: one pair, or one for each worker named. For two classes.
    prevalence_prior
        Beta prior of the prevalence, which is used without features alone.
    classifier
        Anything in the style of scikit-learn whose `fit` takes sample weights, in place of the logistic regression.
        It is given every item once a class; there is no objective then and no promise that anything rises, and one
        that learns its items by heart only repeats the votes it began with.
    ordered
        Take more than two classes as ordered (as in `classes`): one yes/no problem a boundary (raykar2009,
        section 8.2). Otherwise each worker has a matrix (raykar2009, section 8.1).
    prevalence, ties, repeats, classes, max_iterations, tolerance, seed
        As in `Aggregator`; the EM ends when the objective rises by less than the tolerance, relative to its size. The
        prevalence is learnt from the features where there are any.

    Attributes
    ----------
    classifier_probabilities_ : ndarray of shape (M, K)
        What the features alone say of each item; `probabilities_` is what features and labels say together, and the
        same for items without labels.
    predicted_ : ndarray of shape (M,)
        Items without labels.
    coef_, intercept_
        Weights of the scaled features, shape (D,), and the intercept; for two classes and the logistic regression.
    constant_ : ndarray of shape (D,)
        Columns that are the same for every item.
    confusion_, confusion_mode_ : ndarray of shape (J, K, K)
        Each worker's matrix, at the mean and at the mode of its posterior.
    sensitivity_, specificity_, sensitivity_sd_, specificity_sd_ : ndarray of shape (J,)
        Means and standard deviations of the Beta posteriors given the probabilities (raykar2009, section 7.1). They
        leave out how uncertain probabilities and classifier are: one standard deviation covered 55 % (sensitivity)
        and 66 % (specificity) of the true values in simulations, two covered 85 % and 95 %.
    honesty_ : float
        Sum of the log-odds of all coins; below 2 the mirrored solution is nearly as probable. NaN unless two
        classes.
    mirrored_ : bool
        Whether label switching was undone.
    warnings_ : tuple of str
        The same as `notes_`.

    Examples
    --------
    >>> import crowdclust_app as cc
    >>> import numpy as np
    >>> data = cc.simulate_labels(100, seed=1)
    >>> features = np.outer(data.truth, [1.0, 1.0]) + np.random.default_rng(0).normal(size=(100, 2))
    >>> experts = cc.LogisticExperts().fit(features, data.labels, items=list(data.truth.index))
    >>> bool((experts.predict() == data.truth.to_numpy()).mean() > 0.8)
    True
    """

    name = "experts"
    most_classes = None
    estimates_prevalence = True
    usual_iterations = 500

    def __init__(
        self,
        *,
        ridge: float = 1e-2,
        sensitivity_prior: BetaPriors | None = None,
        specificity_prior: BetaPriors | None = None,
        prevalence_prior: tuple[float, float] = (1.0, 1.0),
        classifier: Any = None,
        ordered: bool = False,
        prior: tuple[float, float] | None = None,
        tolerance: float = 1e-7,
        **common: Unpack[AggregatorParameters],
    ) -> None:
        super().__init__(tolerance=tolerance, **common)
        self.prior = prior
        self.ridge = ridge
        self.sensitivity_prior = sensitivity_prior
        self.specificity_prior = specificity_prior
        self.prevalence_prior = prevalence_prior
        self.classifier = classifier
        self.ordered = ordered

    def fit(  # type: ignore[override]  # the features come first
        self,
        X: Any,
        table: Any,
        worker: Any = None,
        label: Any = None,
        *,
        items: Sequence[Hashable] | None = None,
        gold: Mapping[Hashable, Hashable] | None = None,
        progress: Callable[[FitStep], None] | None = None,
        cancel: CancelToken | None = None,
    ) -> Self:
        """Learn from features and labels.

        Parameters
        ----------
        X
            Finite features of shape (N, D), one row an item; None without features.
        table, worker, label
            As in `Aggregator.fit`; or a vector of one label an item (None or NaN: none); or, of two classes, an array
            (N, R) of a worker's label in each column: -1, 0 (not asked) and +1.
        items
            Names of the rows; tasks are their numbers when None.
        gold
            Items whose class is known, with that class. They also settle which answer is which.
        progress, cancel
            As in `Aggregator.fit`.

        Raises
        ------
        InvalidInputError
            When features, labels, gold items or parameters cannot be used.
        Cancelled
            When `cancel` says so.

        Warns
        -----
        NotConvergedWarning
            When the iterations ended too early.
        """
        matrix = None if X is None else features.check_matrix(X)
        rows = None if matrix is None else len(matrix)
        encoded = features.item_labels(
            rows, table, worker, label, items=items, classes=self.classes, repeats=self.repeats
        )
        self._fit_rows(matrix, encoded, gold, progress, cancel)
        if self._ended_early:
            warn_not_converged(f"{self.name} did not converge in {self.n_iterations_} iterations")
        return self

    def fit_encoded(
        self, table: LabelTable, *, progress: Callable[[FitStep], None] | None = None, cancel: CancelToken | None = None
    ) -> Self:
        """Learn from an encoded table alone, without features; otherwise as in `Aggregator`."""
        self._fit_rows(None, table, None, progress, cancel)
        return self

    def _fit_rows(
        self,
        X: Floats | None,
        table: LabelTable,
        gold: Mapping[Hashable, Hashable] | None,
        progress: Callable[[FitStep], None] | None,
        cancel: CancelToken | None,
    ) -> None:
        """Learn from rows of features, shape (M, D), and their labels; a fit that fails leaves the one before."""
        with features.all_or_nothing(self):
            self._scaling, self._X = None, None
            if X is not None and X.shape[1]:
                self._scaling = features.fit_scaling(X)
                self._X = self._scaling.apply(X)
            self._gold = features.gold_codes(gold, table)
            super().fit_encoded(table, progress=progress, cancel=cancel)
            self.items_, self.classes_ = table.tasks, class_values(table.classes)
            self.predicted_ = np.asarray((table.task_counts == 0) & (self._X is not None))
            self.warnings_ = self.notes_
            del self._X, self._gold

    def predict_proba(self, X: Any = None) -> Floats:
        """Give the probability of each class of `classes_` for new items.

        Parameters
        ----------
        X
            Features of shape (N, D); the items of the fit, with their labels, when None.

        Raises
        ------
        InvalidInputError
            When they do not fit those that were learnt from.
        """
        self._check_fitted()
        if X is None:
            return self.probabilities_
        X = features.check_matrix(X)
        scaled = X[:, :0] if self._scaling is None else self._scaling.apply(X)
        return np.asarray(np.exp(self._by_features([part.log_probabilities(scaled) for part in self._parts])))

    def predict(self, X: Any = None) -> NDArray[Any]:
        """Give the most probable class of new items, or `labels_` of those of the fit."""
        if X is None:
            return self.labels_
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])

    @property
    def _prior(self) -> Prior:
        usual: Prior = _USUAL_PRIOR if self._X is not None else _PRIOR_ALONE
        return usual if self.prior is None else self.prior

    def _validate(self, table: LabelTable) -> None:
        super()._validate(table)
        if not 0 < self.ridge < np.inf:
            raise InvalidInputError(f"the ridge {self.ridge!r} is not above 0", todo="take 0.01")
        coins.check_beta(self.prevalence_prior, "prevalence")

    def _infer(self, table: LabelTable, run: Iterations) -> LabelPosterior:
        if self.classifier is not None and self.max_iterations is None:
            run.max_iterations = _FOREIGN_ROUNDS
        in_order = self.ordered and table.n_classes > 2
        problems = self._boundaries(table) if in_order else [self._problem(table)]
        found = []
        iterations, converged = 0, True
        for number, problem in enumerate(problems):
            each = run if number == 0 else run.again()
            found.append(learn(problem, each))
            iterations, converged = max(iterations, each.iterations), converged and each.converged
        run.iterations, run.converged = iterations, converged
        if in_order:
            run.bounds.clear()  # one trace a boundary is none of the whole
        self._parts = [one.classifier for one in found]
        self._counts, self._coins = found[0].counts, problems[0].coins
        log_posterior = self._by_features([one.log_posterior for one in found])
        known = problems[0].known
        prevalence = np.maximum(np.exp(log_posterior)[known].mean(axis=0), 1e-12)
        fixed, estimated = self._start_prevalence(table)
        extras = self._extras(found)
        remarks = self._sentences(table, found)
        shares = prevalence if estimated or self._X is not None else fixed
        return LabelPosterior(log_posterior, shares / shares.sum(), extras, remarks)

    def _problem(self, table: LabelTable) -> Problem:
        """The whole as one problem."""
        rows = table.canonical
        start, estimated = self._start_prevalence(table)
        made = coins.make_coins(rows, self._beta, self.sensitivity_prior, self.specificity_prior)
        size = table.n_classes
        first, second = self.prevalence_prior
        pseudo = np.maximum(np.array([second, first] if size == 2 else [first] * size) - 1.0, 1e-9)

        def make(X: Floats | None) -> classifiers.Classifier:
            if X is None:
                return classifiers.Prevalence(start, not estimated, pseudo)
            if self.classifier is not None:
                return classifiers.SklearnClassifier(self.classifier, X, size)
            return classifiers.Logistic(X, self.ridge) if size == 2 else classifiers.Softmax(X, self.ridge, size)

        return Problem(self._X, self._gold, rows, made, self._start(table), make)

    def _boundaries(self, table: LabelTable) -> list[Problem]:
        """One yes/no problem for each boundary between neighbouring classes: is it above?"""
        gold, found = self._gold, []
        for boundary in range(table.n_classes - 1):
            asked = replace(table, classes=("not above", "above"), label=(table.label > boundary).astype(np.int64))
            self._gold = np.where(gold >= 0, gold > boundary, -1).astype(np.int64)
            setting = self.prevalence
            if not isinstance(setting, str) and setting is not None:
                share = float(prevalence_of(setting, table.n_classes)[boundary + 1 :].sum())
                self.prevalence = min(max(share, 1e-12), 1.0 - 1e-12)
            try:
                found.append(self._problem(asked))
            finally:
                self.prevalence = setting
        self._gold = gold
        return found

    def _start(self, table: LabelTable) -> Floats:
        """Vote shares to start from; the shares of all labels where an item has none (spec: the global rate)."""
        shares = self._start_shares(table)
        whole = np.bincount(table.label, minlength=table.n_classes) / max(table.n_labels, 1)
        shares = np.where(table.task_counts[:, None] > 0, shares, whole)
        marked = self._gold >= 0
        certain = np.eye(table.n_classes)[self._gold] * marked[:, None]
        if marked[table.task].any():
            # whom to trust is known from the gold items, and so is what the votes are worth
            rows = table.canonical
            coins_seen = coins.count_answers(rows, certain) + _START_COINS + np.eye(table.n_classes)
            matrices = coins_seen / coins_seen.sum(axis=2, keepdims=True)
            judged = np.exp(normalise(coins.log_likelihoods(rows, matrices))[0])
            shares = np.where(table.task_counts[:, None] > 0, judged, shares)
        shares = np.where(marked[:, None], certain, shares)
        shares = np.clip(shares, _LEAST_SHARE, 1.0 - _LEAST_SHARE)
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))

    def _by_features(self, parts: list[Floats]) -> Floats:
        """Join the boundaries' log-probabilities, P(y = c) = P(y > c - 1) - P(y > c); one part is the whole."""
        if len(parts) == 1:
            return parts[0]
        above = np.minimum.accumulate(np.exp(np.stack([part[:, 1] for part in parts], axis=1)), axis=1)
        edge = np.ones((len(above), 1))
        shares = np.maximum(-np.diff(np.concatenate([edge, above, 0.0 * edge], axis=1), axis=1), 1e-300)
        return np.asarray(np.log(shares / shares.sum(axis=1, keepdims=True)))

    def _extras(self, found: Sequence[EMResult]) -> dict[str, Any]:
        extras: dict[str, Any] = {
            "classifier_probabilities_": np.exp(self._by_features([one.log_classifier for one in found])),
            "constant_": np.zeros(0, dtype=bool) if self._scaling is None else self._scaling.constant,
            "honesty_": found[0].honesty if len(found) == 1 else float("nan"),
            "mirrored_": any(one.mirrored for one in found),
        }
        if len(found) == 1:
            posterior = found[0].counts + self._coins.pseudo
            extras["confusion_"] = posterior / posterior.sum(axis=2, keepdims=True)
            extras["confusion_mode_"] = found[0].matrices
            if isinstance(found[0].classifier, classifiers.Logistic):
                extras["coef_"], extras["intercept_"] = found[0].classifier.coefficients
        return extras

    def _sentences(self, table: LabelTable, found: Sequence[EMResult]) -> list[str]:
        said = features.remarks_on(table, self._X is not None)
        constant = 0 if self._scaling is None else int(self._scaling.constant.sum())
        if constant and self._X is not None:
            said.append(f"{constant} of {self._X.shape[1]} features are the same for every item and say nothing")
        if table.n_classes == 2 and not (self._gold >= 0).any():
            if found[0].honesty < features.SURE_OF_SIGN:
                said.append(features.SIGN)
            elif found[0].mirrored:
                said.append(features.MIRRORED)
        return said

    def _decidable(self, table: LabelTable) -> NDArray[np.bool_]:
        # with features there is a prediction for every item
        return np.asarray((table.task_counts > 0) | (self._gold >= 0) | (self._X is not None))

    def _reliability(self, table: LabelTable) -> Reliability:
        general = estimate_reliability(table.canonical, self.probabilities_, self._prior)
        if table.n_classes != 2:
            return general
        posterior = self._counts + self._coins.pseudo
        sensitivity = coins.beta_moments(posterior[:, 1, 1], posterior[:, 1, 0])
        specificity = coins.beta_moments(posterior[:, 0, 0], posterior[:, 0, 1])
        return Reliability(general.accuracy, general.accuracy_sd, *sensitivity, *specificity)

    prior: Any  # None is allowed here
    items_: tuple[Hashable, ...]
    predicted_: NDArray[np.bool_]
    classifier_probabilities_: Floats
    constant_: NDArray[np.bool_]
    honesty_: float
    mirrored_: bool
    confusion_: Floats
    confusion_mode_: Floats
    coef_: Floats
    intercept_: float
    _scaling: features.Scaling | None
    _X: Floats | None
