"""The errors that a user reads, and what Python programs catch them as."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor

import pytest

from crowdclust_app.domain.errors import (
    InvalidInputError,
    NotConvergedWarning,
    NotFittedError,
    UserError,
    no_convergence_warning,
    warn_not_converged,
)
from crowdclust_app.evaluation.metrics import contingency
from crowdclust_app.inference.aggregators import DawidSkene, encode_labels


@pytest.mark.parametrize("kind", [UserError, InvalidInputError, NotFittedError])
def test_an_error_says_where_what_and_what_to_do(kind: type[UserError]) -> None:
    error = kind("the column task is missing", where="labels.csv:1", todo="add it")
    assert str(error) == "labels.csv:1: the column task is missing; add it."
    assert (error.what, error.where, error.todo) == ("the column task is missing", "labels.csv:1", "add it")
    assert str(kind("it is missing")) == "it is missing."


def test_an_error_of_another_process_reads_the_same() -> None:
    error = InvalidInputError("the column task is missing", where="labels.csv:1", todo="add it")
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_python_programs_catch_them_by_the_built_in_classes() -> None:
    with pytest.raises(ValueError, match="there are no labels"):
        encode_labels([], [], [])
    with pytest.raises(ValueError, match="two clusterings of the same items"):
        contingency([1], [1, 2])
    with pytest.raises(InvalidInputError, match="DawidSkene has no parameter nonsense"):
        DawidSkene().set_params(nonsense=1)
    assert issubclass(NotConvergedWarning, UserWarning)


def test_what_a_fit_gives_is_not_there_before_it() -> None:
    model = DawidSkene()
    for ask in (model.predict, model.predict_proba, lambda: model.labels_, lambda: model.accuracy_):
        with pytest.raises(NotFittedError, match="DawidSkene is not fitted yet; fit it first"):
            ask()
    assert not hasattr(model, "labels_")
    fitted = DawidSkene().fit([1, 1, 2, 2], ["a", "b", "a", "b"], [0, 0, 1, 1])
    with pytest.raises(AttributeError, match="DawidSkene has no centres_") as refused:
        _ = fitted.centres_  # type: ignore[attr-defined]
    assert not isinstance(refused.value, NotFittedError)
    assert pickle.loads(pickle.dumps(model)).get_params() == model.get_params()


def test_a_fit_without_the_warning_leaves_those_of_other_threads_alone() -> None:
    with ThreadPoolExecutor(1) as thread:
        with no_convergence_warning():
            warn_not_converged("it ended early")
            with pytest.raises(NotConvergedWarning, match="it ended early; raise max_iterations"):
                thread.submit(warn_not_converged, "it ended early").result()
        with pytest.raises(NotConvergedWarning):
            warn_not_converged("it ended early")
