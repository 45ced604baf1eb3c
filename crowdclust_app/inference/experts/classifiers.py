"""The classifiers inside learning from experts: fitted to soft labels, a little further at each step of the EM.

Each sees the labelled items alone when it is fitted and gives log-probabilities of the classes for any item. The
features are scaled (see `features`); an intercept is added here.
"""

from __future__ import annotations

import copy
from typing import Any, Protocol

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import minimize
from scipy.special import expit

from crowdclust_app.domain.errors import InvalidInputError
from crowdclust_app.inference.aggregators.label_posterior import log_odds_to_log_probabilities, normalise
from crowdclust_app.inference.aggregators.label_table import Floats

# Precision of the intercept's prior, which is to say none.
_FREE = 1e-6
_NEWTON_STEPS = 3
_SOFTMAX_STEPS = 20
# A foreign classifier's 0 is taken for this, so that workers' labels can still contradict it.
_SUREST = 1e-6


class Classifier(Protocol):
    """What the EM asks of a classifier."""

    has_bound: bool
    """Whether a step never makes the objective fall."""
    log_prior: float
    """Log prior of the parameters, up to a constant."""

    def update(self, soft_labels: Floats) -> None:
        """Move towards soft labels of the labelled items; shape (n, K)."""

    def log_probabilities(self, X: Floats) -> Floats:
        """Log-probability of each class for scaled features of shape (N, D); shape (N, K)."""

    def swap(self) -> None:
        """Exchange the two classes."""


class Prevalence:
    """No features: one probability a class (raykar2009, section 6.4).

    Parameters
    ----------
    start : ndarray of shape (K,)
        What to begin with.
    fixed
        Whether it stays so.
    pseudo : ndarray of shape (K,)
        Counts that stand for the prior, each above 0.
    """

    has_bound = True

    def __init__(self, start: Floats, fixed: bool, pseudo: Floats) -> None:
        self._shares = start
        self._fixed = fixed
        self._pseudo = pseudo
        self.log_prior = 0.0

    def update(self, soft_labels: Floats) -> None:
        """Count."""
        if self._fixed:
            return
        counts = self._pseudo + soft_labels.sum(axis=0)
        self._shares = np.maximum(counts / counts.sum(), 1e-300)
        self.log_prior = float((self._pseudo * np.log(self._shares)).sum())

    def log_probabilities(self, X: Floats) -> Floats:
        """The same for every item."""
        return np.tile(np.log(self._shares), (len(X), 1))

    def swap(self) -> None:
        """Exchange the two classes."""
        if not self._fixed:
            self._shares = self._shares[::-1]


class _Linear:
    """Coordinates in which a linear classifier is fitted.

    With more features than labelled items the weights lie in the span of those items, and a rotation onto it changes
    nothing but the size of the problem: the prior is the same in every direction.
    """

    has_bound = True

    def __init__(self, X: Floats, ridge: float) -> None:
        self._directions: Floats | None = None
        if X.shape[1] > len(X):
            left, values, right = np.linalg.svd(X, full_matrices=False)
            self._directions = right
            X = left * values
        self._rows = np.concatenate([X, np.ones((len(X), 1))], axis=1)
        self._precision = np.append(np.full(X.shape[1], ridge), _FREE)
        self.log_prior = 0.0

    def _whole(self, weights: Floats) -> tuple[Floats, Any]:
        """Weights of the features as they came, and the intercepts."""
        slopes = weights[..., :-1]
        return (slopes if self._directions is None else slopes @ self._directions), weights[..., -1]


class Logistic(_Linear):
    """Logistic regression on soft labels (raykar2009, sections 3 and 5): a few damped Newton steps at a time.

    Parameters
    ----------
    X : ndarray of shape (n, D)
        Scaled features of the labelled items.
    ridge
        Precision of the Gaussian prior of each weight.
    """

    def __init__(self, X: Floats, ridge: float) -> None:
        super().__init__(X, ridge)
        self._weights = np.zeros(self._rows.shape[1])

    @property
    def coefficients(self) -> tuple[Floats, float]:
        """Weights of the scaled features, shape (D,), and the intercept."""
        slopes, intercept = self._whole(self._weights)
        return slopes, float(intercept)

    def objective(self, weights: Floats, second: Floats) -> float:
        """Expected log-likelihood of the classes and log prior of the weights, up to a constant."""
        eta = self._rows @ weights
        fit = -(second * np.logaddexp(0.0, -eta) + (1.0 - second) * np.logaddexp(0.0, eta)).sum()
        return float(fit - 0.5 * (self._precision * weights**2).sum())

    def update(self, soft_labels: Floats) -> None:
        """Take Newton steps, each halved until the objective rises enough (Armijo)."""
        second = soft_labels[:, 1]
        value = self.objective(self._weights, second)
        for _ in range(_NEWTON_STEPS):
            p = expit(self._rows @ self._weights)
            gradient = self._rows.T @ (second - p) - self._precision * self._weights
            direction = self._solve(p * (1.0 - p), gradient)
            gain = float(gradient @ direction)
            if not gain > 1e-10 * (1.0 + abs(value)):
                break
            step = 1.0
            while step > 1e-10:
                trial = self._weights + step * direction
                new = self.objective(trial, second)
                if new - value >= 1e-4 * step * gain:
                    self._weights, value = trial, new
                    break
                step /= 2.0
            else:
                break
        self.log_prior = -0.5 * float((self._precision * self._weights**2).sum())

    def _solve(self, curvature: Floats, gradient: Floats) -> Floats:
        hessian = (self._rows * curvature[:, None]).T @ self._rows
        hessian[np.diag_indices_from(hessian)] += self._precision
        try:
            return np.asarray(cho_solve(cho_factor(hessian), gradient))
        except np.linalg.LinAlgError:
            return np.asarray(np.linalg.lstsq(hessian, gradient, rcond=None)[0])

    def log_probabilities(self, X: Floats) -> Floats:
        """Log-probability of each class; shape (N, 2)."""
        slopes, intercept = self.coefficients
        return log_odds_to_log_probabilities(X @ slopes + intercept)

    def swap(self) -> None:
        """Exchange the two classes."""
        self._weights = -self._weights


class Softmax(_Linear):
    """Logistic regression for any number of classes, with weights for each (raykar2009, section 8.1).

    Parameters
    ----------
    X, ridge
        As in `Logistic`.
    n_classes
        `K`.
    """

    def __init__(self, X: Floats, ridge: float, n_classes: int) -> None:
        super().__init__(X, ridge)
        self._weights = np.zeros((n_classes, self._rows.shape[1]))

    def objective(self, weights: Floats, soft_labels: Floats) -> tuple[float, Floats]:
        """As in `Logistic`, and its gradient; weights of shape (K, d)."""
        logs, _ = normalise(self._rows @ weights.T)
        pull = self._precision * weights
        value = float((soft_labels * logs).sum() - 0.5 * (pull * weights).sum())
        return value, (soft_labels - np.exp(logs)).T @ self._rows - pull

    def update(self, soft_labels: Floats) -> None:
        """Climb for some quasi-Newton steps."""
        shape = self._weights.shape

        def below(flat: Floats) -> tuple[float, Floats]:
            value, gradient = self.objective(flat.reshape(shape), soft_labels)
            return -value, -gradient.ravel()

        before = below(self._weights.ravel())[0]
        found = minimize(below, self._weights.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": _SOFTMAX_STEPS})
        if found.fun <= before:
            self._weights = np.asarray(found.x).reshape(shape)
        self.log_prior = -0.5 * float((self._precision * self._weights**2).sum())

    def log_probabilities(self, X: Floats) -> Floats:
        """Log-probability of each class; shape (N, K)."""
        slopes, intercepts = self._whole(self._weights)
        return normalise(X @ slopes.T + intercepts)[0]

    def swap(self) -> None:
        """Exchange the two classes."""
        self._weights = self._weights[::-1]


class SklearnClassifier:
    """Anybody's classifier in the style of scikit-learn (raykar2009, section 6.3).

    It is given every labelled item once for each class, weighted by how probable that is, and fitted anew at each step.

    Parameters
    ----------
    estimator
        With `fit(X, y, sample_weight=...)` and `predict_proba(X)`; copied, never changed. Of a pipeline (`steps`) the
        last step gets the weights.
    X : ndarray of shape (n, D)
        Scaled features of the labelled items.
    n_classes
        `K`.
    """

    has_bound = False

    def __init__(self, estimator: Any, X: Floats, n_classes: int) -> None:
        if isinstance(estimator, type):
            what = f"the classifier {estimator.__name__} is a class"
            raise InvalidInputError(what, todo=f"make one of it: {estimator.__name__}()")
        if not (hasattr(estimator, "fit") and hasattr(estimator, "predict_proba")):
            what = "the classifier has no fit and predict_proba"
            raise InvalidInputError(what, todo="give one in the style of scikit-learn")
        self._estimator = estimator
        self._rows = np.concatenate([X] * n_classes)
        self._codes = np.repeat(np.arange(n_classes), len(X))
        self._count = n_classes
        self._fitted: Any = None
        self._swapped = False
        self.log_prior = 0.0

    def update(self, soft_labels: Floats) -> None:
        """Fit a fresh copy."""
        fresh = copy.deepcopy(self._estimator)
        steps = getattr(fresh, "steps", None)
        name = f"{steps[-1][0]}__sample_weight" if steps else "sample_weight"
        try:
            fresh.fit(self._rows, self._codes, **{name: np.ascontiguousarray(soft_labels.T).ravel()})
        except (TypeError, ValueError) as error:
            if "sample_weight" not in str(error):
                raise
            what = f"the classifier {type(self._estimator).__name__} takes no sample weights"
            raise InvalidInputError(what, todo="take one whose fit has sample_weight") from None
        self._fitted, self._swapped = fresh, False

    def log_probabilities(self, X: Floats) -> Floats:
        """Log-probability of each class; shape (N, K)."""
        shares = np.zeros((len(X), self._count))
        if len(X):
            shares[:, np.asarray(self._fitted.classes_, dtype=np.int64)] = self._fitted.predict_proba(X)
        logs = normalise(np.log(np.maximum(shares, _SUREST)))[0]
        return logs[:, ::-1] if self._swapped else logs

    def swap(self) -> None:
        """Exchange the two classes."""
        self._swapped = not self._swapped
