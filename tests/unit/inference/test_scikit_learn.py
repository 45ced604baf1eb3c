"""Aggregators and learners as those who know pandas and scikit-learn use them."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import pandas
import pytest
from sklearn.base import clone, is_classifier
from sklearn.datasets import make_blobs
from sklearn.exceptions import NotFittedError as SklearnNotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_is_fitted

from crowdclust_app.domain.errors import InvalidInputError, NotFittedError
from crowdclust_app.domain.methods import METHODS, names_of
from crowdclust_app.inference.experts import GaussianProcessExperts, LogisticExperts

LEARNERS = [LogisticExperts(ridge=1.0), GaussianProcessExperts(learn_kernel=False)]
of_both = pytest.mark.parametrize("learner", LEARNERS, ids=["experts", "gp"])


def estimator(name: str) -> Any:
    module, _, class_name = METHODS[name].path.partition(":")
    return getattr(import_module(module), class_name)()


def frame(name: str) -> pandas.DataFrame:
    """Three workers on twenty tasks, of which the third errs on every fifth; measurements for `continuous`."""
    wrong = {("c", task) for task in range(0, 20, 5)}
    rows = [(f"t{n:02}", worker, (n % 2) ^ ((worker, n) in wrong)) for n in range(20) for worker in "abc"]
    found = pandas.DataFrame(rows, columns=["task", "worker", "label"])
    if METHODS[name].scale == "interval":
        found["label"] += 0.25 * (found["worker"] == "b")
    return found


def blobs() -> tuple[np.ndarray, np.ndarray]:
    X, y = make_blobs(60, centers=[[-3.0, 0.0], [3.0, 1.0]], cluster_std=0.7, random_state=0)
    return X, y


@pytest.mark.parametrize("name", names_of("aggregator"))
def test_an_aggregator_takes_a_data_frame_and_is_cloned(name: str) -> None:
    table = frame(name)
    columns = {column: table[column].tolist() for column in table}
    fitted = estimator(name).fit(table)
    np.testing.assert_array_equal(clone(fitted).fit(columns).predict(), fitted.predict())
    assert (fitted.predict(["t03"])[0], fitted.tasks_[3]) == (fitted.labels_[3], "t03")
    assert clone(fitted.set_params(seed=3)).get_params() == fitted.get_params()


@pytest.mark.parametrize("name", names_of("aggregator", "learner"))
def test_nothing_is_predicted_before_a_fit(name: str) -> None:
    model = estimator(name)
    asked = [model.predict, lambda: model.accuracy_]
    if name != "continuous":
        asked.append(model.predict_proba)
    if METHODS[name].kind == "learner":
        asked.append(lambda: model.score([[0.0]], [1]))
    for ask in asked:
        with pytest.raises(NotFittedError, match=f"{type(model).__name__} is not fitted yet; fit it first"):
            ask()
    with pytest.raises(SklearnNotFittedError):
        check_is_fitted(model)


@of_both
def test_cross_validation_by_one_label_an_item(learner: Any) -> None:
    X, y = blobs()
    assert is_classifier(learner)
    assert cross_val_score(learner, X, y, cv=3).tolist() == [1.0, 1.0, 1.0]
    words = pandas.Series(np.where(y == 1, "yes", "no"))
    assert cross_val_score(learner, pandas.DataFrame(X), words, cv=3).tolist() == [1.0, 1.0, 1.0]
    for scoring in ("roc_auc", "accuracy", "f1"):
        assert cross_val_score(learner, X, y, cv=3, scoring=scoring).tolist() == [1.0, 1.0, 1.0]


@of_both
def test_cross_validation_by_every_workers_label(learner: Any) -> None:
    X, y = blobs()
    said = np.column_stack([2 * y - 1] * 3)
    said[::4, 1] = 0  # not asked
    said[::3, 2] *= -1  # wrong
    right = ((said == (2 * y - 1)[:, None]) & (said != 0)).sum() / (said != 0).sum()
    scores = cross_val_score(learner, X, said, cv=3)
    assert scores.mean() == pytest.approx(right, abs=0.02)
    fitted = clone(learner).fit(X, said)
    assert fitted.score(X, y) == 1.0
    assert fitted.score(X, said) == pytest.approx(right)
    assert fitted.score(None, said) == fitted.score(X, said)
    assert fitted.score(X, np.arange(len(X)), ["a"] * len(X), y) == 1.0


@of_both
def test_a_missing_label_of_an_item_is_none(learner: Any) -> None:
    X, y = blobs()
    known = [None if item % 3 == 0 else int(label) for item, label in enumerate(y)]
    fitted = clone(learner).fit(X, known)
    assert fitted.predicted_.tolist() == [label is None for label in known]
    assert fitted.score(X, y) == 1.0
    assert fitted.workers_ == ("labels",)
    with pytest.raises(InvalidInputError, match="differ in length"):
        clone(learner).fit(X, known[:-1])


def test_learners_are_steps_of_pipelines_and_searches() -> None:
    X, y = blobs()
    piped = make_pipeline(StandardScaler(), LogisticExperts(ridge=1.0)).fit(X, y)
    assert piped.score(X, y) == 1.0
    assert piped.predict_proba(X).shape == (60, 2)
    found = GridSearchCV(LogisticExperts(), {"ridge": [0.1, 10.0]}, cv=3).fit(X, y)
    assert found.best_score_ == 1.0
    assert found.best_estimator_.classes_.tolist() == [0, 1]
