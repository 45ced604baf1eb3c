"""The methods of raykar2009 as its experiments want them: joint learning, coins alone, votes, and the truth."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from crowdclust_app.domain.cancellation import CancelToken

if TYPE_CHECKING:
    from benchmarks.experiments.raykar import Cases, Reading
    from crowdclust_app.inference.experts import LogisticExperts

_FLAT = (1.0, 1.0)
_RIDGE = 1e-2
_ROUNDS = 30
_CERTAIN = 1e-3


def read_cases(method: str, cases: Cases, test: Any, cancel: CancelToken | None = None) -> Reading:
    """Run a method on cases.

    Parameters
    ----------
    method
        A name of `evaluation.experiments.raykar`.
    cases
        To learn from.
    test : ndarray of shape (M, D)
        Features of cases to score.
    cancel
        Looked at each iteration.
    """
    from benchmarks.experiments import raykar

    if method == raykar.EM:
        model = _fitted(cases, cases.X, cancel)
        return _reading(model, model.predict_proba(test)[:, 1])
    if method == raykar.DS:
        return _reading(_fitted(cases, None, cancel), np.empty(0))
    asked = cases.said >= 0
    shares = np.where(asked, cases.said, 0).sum(axis=1) / np.maximum(asked.sum(axis=1), 1)
    if method == raykar.SOFT:
        return _of_beliefs(cases, shares, _by_coins(cases, shares), np.empty(0))
    if method == raykar.MAJORITY:
        hard = np.where(shares == 0.5, 0.5, shares > 0.5)
        return _of_beliefs(cases, hard, shares, _scores(cases.X, hard, test))
    if method == raykar.GOLD:
        beliefs = cases.truth.astype(np.float64)
    else:
        beliefs = _fitted(cases, None, cancel).probabilities_[:, 1]
    return _of_beliefs(cases, beliefs, beliefs, _scores(cases.X, beliefs, test))


def _fitted(cases: Cases, X: Any, cancel: CancelToken | None) -> LogisticExperts:
    from crowdclust_app.domain.errors import NotConvergedWarning
    from crowdclust_app.inference.aggregators import LabelTable
    from crowdclust_app.inference.experts import LogisticExperts

    item, worker = np.nonzero(cases.said >= 0)
    names = tuple(range(len(cases.said))), tuple(range(cases.said.shape[1]))
    table = LabelTable(*names, (0, 1), item, worker, cases.said[item, worker])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConvergedWarning)
        return LogisticExperts(prior=_FLAT, ridge=_RIDGE).fit(X, table, cancel=cancel)


def _reading(model: LogisticExperts, scores: Any) -> Reading:
    from benchmarks.experiments.raykar import Reading

    modes = model.confusion_mode_
    spreads = model.sensitivity_sd_, model.specificity_sd_
    return Reading(model.probabilities_[:, 1], scores, modes[:, 1, 1], modes[:, 0, 0], *spreads)


def _of_beliefs(cases: Cases, beliefs: Any, labels: Any, scores: Any) -> Reading:
    """Coins counted against beliefs that are fixed."""
    from benchmarks.experiments.raykar import Reading

    hits, rejections = _coins(cases, beliefs)
    none = np.zeros(len(hits))
    return Reading(labels, scores, hits, rejections, none, none)


def _coins(cases: Cases, beliefs: Any) -> tuple[Any, Any]:
    asked, said = cases.said >= 0, cases.said == 1
    positive, negative = beliefs[:, None] * asked, (1.0 - beliefs[:, None]) * asked
    hits = (positive * said).sum(axis=0) / np.maximum(positive.sum(axis=0), 1e-12)
    rejections = (negative * ~said).sum(axis=0) / np.maximum(negative.sum(axis=0), 1e-12)
    return hits, rejections


def _by_coins(cases: Cases, shares: Any) -> Any:
    """Posterior of the labels with coins and prevalence counted against the vote shares."""
    from scipy.special import expit, logit

    hits, rejections = (np.clip(coin, 1e-6, 1.0 - 1e-6) for coin in _coins(cases, shares))
    yes = np.where(cases.said == 1, np.log(hits) - np.log1p(-rejections), 0.0)
    no = np.where(cases.said == 0, np.log1p(-hits) - np.log(rejections), 0.0)
    prevalence = float(np.clip(shares.mean(), 1e-6, 1.0 - 1e-6))
    return expit(logit(prevalence) + (yes + no).sum(axis=1))


def _scores(X: Any, beliefs: Any, test: Any) -> Any:
    """A logistic regression on soft labels, and its scores for other cases."""
    from crowdclust_app.inference.experts.classifiers import Logistic
    from crowdclust_app.inference.experts.features import fit_scaling

    scaling = fit_scaling(X)
    classifier = Logistic(scaling.apply(X), _RIDGE)
    clipped = np.clip(beliefs, _CERTAIN, 1.0 - _CERTAIN)
    for _ in range(_ROUNDS):
        classifier.update(np.column_stack([1.0 - clipped, clipped]))
    return np.exp(classifier.log_probabilities(scaling.apply(test))[:, 1])
