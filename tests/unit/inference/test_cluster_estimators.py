"""Both estimators of clusters as those who know scikit-learn and pandas expect them."""

# mypy: disable-error-code="attr-defined, arg-type"
# parameters are attributes by name; stand-ins have what is used alone

from __future__ import annotations

import builtins
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from crowdclust_app.domain.errors import InvalidInputError, NotConvergedWarning, NotFittedError, UserError
from crowdclust_app.domain.response_table import Response, ResponseTable
from crowdclust_app.inference.consensus import ConsensusClustering
from crowdclust_app.inference.crowdclustering import Crowdclustering

QUICK = Crowdclustering.as_published(n_clusters=2, n_starts=1, dimensions=2, layer_rounds=5, max_iterations=2000)
ESTIMATORS = [QUICK, ConsensusClustering(method="nmf", n_clusters=2, n_starts=2, max_iterations=2000, tolerance=1e-4)]
each_estimator = pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda one: type(one).__name__)


def columns() -> pd.DataFrame:
    """Five workers who tell flowers from trees, and one item that Eve sorts alone."""
    kinds = {"rose": "flower", "tulip": "flower", "oak": "tree", "fir": "tree", "daisy": "flower", "elm": "tree"}
    rows = [(f"h{n}", name, item, kind) for n, name in enumerate("ABCDE") for item, kind in kinds.items()]
    return pd.DataFrame([*rows, ("h9", "Eve", "stone", "stone")], columns=["hit", "worker", "item", "group"])


def table() -> ResponseTable:
    return ResponseTable.from_responses(
        Response(hit, worker, tuple(rows["item"]), tuple(rows["group"]))
        for (hit, worker), rows in columns().groupby(["hit", "worker"], sort=False)
    )


@each_estimator
def test_parameters_are_given_changed_and_cloned(estimator) -> None:
    model = clone(estimator)
    assert model is not estimator
    assert model.get_params() == estimator.get_params()
    changed = model.set_params(seed=5, n_clusters=3)
    assert changed is model
    assert (model.get_params()["seed"], model.n_clusters, estimator.n_clusters) == (5, 3, 2)
    assert model.set_params(**estimator.get_params()).get_params() == estimator.get_params()
    with pytest.raises(InvalidInputError, match="has no parameter clusters"):
        model.set_params(clusters=3)
    with pytest.raises(TypeError):
        type(model)(2)


def test_the_text_of_an_estimator_names_its_parameters() -> None:
    assert repr(ConsensusClustering(seed=3)) == (
        "ConsensusClustering(method='nmf', n_clusters=2, n_starts=10, max_iterations=300, tolerance=1e-05, seed=3)"
    )
    assert "n_clusters='heldout', n_starts=4, dimensions='auto', label_weight='auto'" in repr(Crowdclustering())


def test_the_papers_settings_can_be_had_by_name() -> None:
    paper = Crowdclustering.as_published(seed=4)
    assert (paper.dimensions, paper.n_clusters, paper.label_weight) == (4, "bound", 1.0)
    assert (paper.worker_prior, paper.folds, paper.seed) == ("independent", 0, 4)
    assert paper.get_params() | Crowdclustering().get_params() == Crowdclustering().get_params()
    assert Crowdclustering.as_published(dimensions=2).dimensions == 2


@each_estimator
def test_a_data_frame_gives_what_a_table_gives(estimator) -> None:
    of_table, of_frame = clone(estimator).fit(table()), clone(estimator).fit(columns())
    of_mapping = clone(estimator).fit({name: list(values) for name, values in columns().items()})
    for model in (of_frame, of_mapping):
        assert model.items_.tolist() == list(table().item_names)
        assert model.workers_.tolist() == list(table().worker_names)
        assert model.labels_.tolist() == of_table.labels_.tolist()
        assert model.responsibilities_.tolist() == of_table.responsibilities_.tolist()
    assert clone(estimator).fit_predict(columns()).tolist() == of_table.labels_.tolist()


@each_estimator
def test_rows_may_stand_in_any_order(estimator) -> None:
    model, mixed = clone(estimator).fit(columns()), clone(estimator).fit(columns().sample(frac=1.0, random_state=1))
    label_of = dict(zip(mixed.items_, mixed.labels_, strict=True))
    together = [[label_of[one] == label_of[other] for other in model.items_] for one in model.items_]
    assert (np.equal.outer(model.labels_, model.labels_) == together).all()


@each_estimator
def test_a_fit_is_told_as_a_data_frame(estimator) -> None:
    model = clone(estimator).fit(columns())
    frame = model.to_frame()
    assert list(frame.columns) == ["item", "cluster", "probability", "entropy_bits"]
    assert frame["item"].tolist() == model.items_.tolist() == ["rose", "tulip", "oak", "fir", "daisy", "elm", "stone"]
    found = frame.set_index("item")
    assert found.loc[["rose", "tulip", "daisy"], "cluster"].nunique() == 1
    assert found.loc["rose", "cluster"] != found.loc["oak", "cluster"]
    assert found.loc["stone", "cluster"] == 0
    assert found.loc["stone", ["probability", "entropy_bits"]].isna().all()
    known = frame[frame["cluster"] > 0]
    chance = getattr(model, "probability_", model.responsibilities_.max(axis=1))
    assert known["probability"].to_numpy() == pytest.approx(chance[:6])
    assert known["entropy_bits"].between(0.0, 1.0).all()
    if isinstance(model, Crowdclustering):
        assert known["entropy_bits"].mean() == pytest.approx(model.entropy_bits_)


@each_estimator
def test_before_a_fit_there_is_nothing_to_ask(estimator) -> None:
    model = clone(estimator)
    for name in ("labels_", "items_", "converged_"):
        with pytest.raises(NotFittedError, match="not fitted yet; fit it first"):
            getattr(model, name)
    with pytest.raises(NotFittedError):
        model.to_frame()
    with pytest.raises(AttributeError, match="has no colour"):
        _ = model.colour


@each_estimator
def test_a_missing_column_and_a_wrong_parameter_are_value_errors(estimator) -> None:
    with pytest.raises(ValueError, match="the responses have no column group; give the columns hit, worker, item"):
        clone(estimator).fit(columns().drop(columns="group"))
    with pytest.raises(ValueError, match="number of clusters"):
        clone(estimator).set_params(n_clusters=0).fit(columns())


@each_estimator
def test_iterations_that_end_too_early_are_a_warning_at_the_call(estimator) -> None:
    model = clone(estimator).set_params(max_iterations=1, tolerance=1e-12)
    with pytest.warns(NotConvergedWarning, match="raise max_iterations") as caught:
        model.fit(columns())
    assert not model.converged_
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert clone(estimator).fit(columns()).converged_


def test_clusters_that_were_given_are_said_to_be_settled() -> None:
    with pytest.warns(NotConvergedWarning, match="the clusters are settled"):
        clone(QUICK).set_params(max_iterations=1).fit(columns())
    with pytest.warns(NotConvergedWarning) as caught:
        clone(QUICK).set_params(max_iterations=1, n_clusters="bound").fit(columns())
    assert "settled" not in str(caught[0].message)


def test_numbers_of_numpy_are_taken_for_numbers() -> None:
    for wanted in np.arange(1, 3):
        model = clone(QUICK).set_params(n_clusters=wanted, label_weight=np.float64(0.5)).fit(columns())
        assert len(model.means_) == wanted


def test_without_pandas_a_data_frame_is_refused_with_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    model = clone(QUICK).fit(table())
    real = builtins.__import__

    def without(name: str, *others, **more):
        if name == "pandas":
            raise ImportError(name)
        return real(name, *others, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(UserError, match=r"data frames need pandas.*pip install"):
        model.to_frame()
