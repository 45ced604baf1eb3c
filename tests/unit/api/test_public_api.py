"""The Python API as a notebook uses it: names, tables in, estimators, tables out, plots."""

from __future__ import annotations

import doctest
import importlib
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from sklearn.base import clone

import crowdclust_app as cc
from crowdclust_app.api.simulation import SimulatedResponses

ESTIMATORS = [name for name in cc.__all__ if isinstance(getattr(cc, name), type) and hasattr(getattr(cc, name), "fit")]


@pytest.fixture(scope="module")
def data() -> SimulatedResponses:
    return cc.simulate(n_items=60, n_clusters=3, items_per_hit=12, n_workers=12, random_workers=1, seed=3)


@pytest.fixture(scope="module")
def model(data: SimulatedResponses) -> cc.Crowdclustering:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cc.NotConvergedWarning)
        return cc.Crowdclustering(n_starts=1, seed=3).fit(data.responses)


def test_the_import_is_light_and_without_qt() -> None:
    heavy = {"numpy", "scipy", "numba", "pandas", "matplotlib", "sqlalchemy", "PySide6"}
    assert loaded("dir(cc)", heavy) == "[]\n"
    assert loaded("cc.Crowdclustering, cc.plot, cc.open_campaign", {"PySide6", "pyqtgraph"}) == "[]\n"


def loaded(use: str, modules: set[str]) -> str:
    script = f"import sys, crowdclust_app as cc; {use}; print(sorted(set(sys.modules) & {modules!r}))"
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout


def test_every_public_name_is_there_and_nothing_else() -> None:
    assert len(cc.__all__) == len(set(cc.__all__))
    assert all(getattr(cc, name) is not None for name in cc.__all__)
    assert set(cc.__all__) <= set(dir(cc))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        cc.nothing  # noqa: B018


@pytest.mark.parametrize("name", ESTIMATORS)
def test_estimators_keep_their_parameters_and_can_be_cloned(name: str) -> None:
    estimator = getattr(cc, name)(seed=5)
    copy = clone(estimator)
    assert copy.get_params() == estimator.get_params()
    assert copy.set_params(seed=6).get_params()["seed"] == 6
    assert estimator.seed == 5
    assert name in repr(estimator)


def test_responses_are_read_from_a_file_a_frame_and_a_dict_alike(data: SimulatedResponses, tmp_path: Path) -> None:
    path = tmp_path / "responses.csv"
    data.responses.assign(mood="good").to_csv(path, index=False)
    with pytest.warns(UserWarning, match="the column mood is unknown and ignored"):
        from_file = cc.read_responses(path)
    from_frame = cc.read_responses(data.responses)
    assert from_file.fingerprint() == from_frame.fingerprint()
    assert cc.read_responses(data.responses.to_dict("list")).fingerprint() == from_frame.fingerprint()
    assert cc.read_responses(from_frame) is from_frame
    with pytest.raises(ValueError, match="worker"):
        cc.read_responses(data.responses.drop(columns="worker"))


def test_tables_that_call_their_columns_otherwise(data: SimulatedResponses, tmp_path: Path) -> None:
    called = {"hit": "set", "worker": "wer", "item": "was", "group": "wohin"}
    path = tmp_path / "t.csv"
    data.responses.rename(columns=called).to_csv(path, sep=";", encoding="utf-16")
    with pytest.warns(UserWarning, match="read: set as hit, wer as worker, was as item, wohin as group"):
        read = cc.read_responses(path, columns={name: called[name] for name in ("worker", "item", "group")})
    assert read.fingerprint() == cc.read_responses(data.responses).fingerprint()
    path.write_text("frage,wer,antwort\nt,u,1\n")
    with pytest.warns(UserWarning, match="It calls its columns otherwise"):
        labels = cc.read_labels(path, columns={"task": "frage", "worker": "wer", "label": "antwort"})
    assert labels.to_dict("list") == {"task": ["t"], "worker": ["u"], "label": ["1"]}
    path.write_text("frage,antwort\nt,1\n")
    with pytest.warns(UserWarning, match="It calls its columns otherwise"):
        assert cc.read_truth(path, columns={"task": "frage", "label": "antwort"}) == {"t": "1"}


def test_clusters_of_simulated_responses_are_found(data: SimulatedResponses, model: cc.Crowdclustering) -> None:
    truth = data.truth.loc[list(model.items_)]
    assert cc.metrics.adjusted_rand_index(list(truth), model.labels_) == pytest.approx(1.0)
    assert cc.metrics.variation_of_information(list(truth), model.labels_) == 0.0
    frame = model.to_frame()
    assert list(frame.item) == list(model.items_)
    assert (frame.cluster.to_numpy() == model.labels_).all()
    assert set(model.workers_) == set(data.responses.worker)


def test_labels_are_simulated_read_and_aggregated(tmp_path: Path) -> None:
    tasks = cc.simulate_labels(120, accuracy=(8.0, 2.0), seed=2)
    tasks.labels.to_csv(tmp_path / "labels.csv", index=False)
    tasks.truth.rename("label").to_csv(tmp_path / "truth.csv")
    labels, truth = cc.read_labels(tmp_path / "labels.csv"), cc.read_truth(tmp_path / "truth.csv")
    found = cc.MeanField().fit(labels)
    right = [truth[task] == label for task, label in zip(found.tasks_, found.predict(), strict=True)]
    assert np.mean(right) > 0.9
    correlation = np.corrcoef(found.accuracy_, tasks.accuracy.loc[list(found.workers_)])[0, 1]
    assert correlation > 0.5


def test_simulations_come_again_by_their_seed() -> None:
    again = [cc.simulate(n_items=30, n_clusters=3, seed=7).responses for _ in range(2)]
    pd.testing.assert_frame_equal(*again)
    assert not again[0].equals(cc.simulate(n_items=30, n_clusters=3, seed=8).responses)
    with pytest.raises(ValueError, match="cannot fall into 9 clusters"):
        cc.simulate(n_items=3, n_clusters=9)
    with pytest.raises(ValueError, match="cannot be dealt"):
        cc.simulate_labels(7, labels_per_task=5, tasks_per_worker=20)


def test_plots_are_figures_that_a_notebook_shows(data: SimulatedResponses, model: cc.Crowdclustering) -> None:
    aggregated = cc.DawidSkene().fit(cc.simulate_labels(100, seed=1).labels)
    reliability = pd.DataFrame({"worker": ["a", "b"], "sensitivity": [0.9, 0.5], "specificity": [0.8, 0.5]})
    for figure in (
        cc.plot.embedding(model),
        cc.plot.confusion(model),
        cc.plot.confusion(model, most=2),
        cc.plot.reliability(aggregated),
        cc.plot.reliability(reliability),
    ):
        assert isinstance(figure, Figure)
        assert figure._repr_png_().startswith(b"\x89PNG")  # type: ignore[attr-defined]
    assert len(cc.plot.confusion(model, most=2).axes) == 8 + 1
    title = cc.plot.embedding(model).axes[0].get_title()
    assert title.startswith("3 clusters")
    points = cc.plot.reliability(reliability).axes[0].collections[0].get_offsets()
    np.testing.assert_allclose(points, [[0.2, 0.9], [0.5, 0.5]])


def test_plots_of_what_cannot_be_drawn_say_why() -> None:
    for draw in (cc.plot.embedding, cc.plot.confusion):
        with pytest.raises(cc.NotFittedError, match="not fitted"):
            draw(cc.Crowdclustering())
    with pytest.raises(cc.NotFittedError, match="not fitted"):
        cc.plot.reliability(cc.DawidSkene())
    with pytest.raises(ValueError, match="no column specificity"):
        cc.plot.reliability(pd.DataFrame({"worker": ["a"], "sensitivity": [1.0]}))
    three = pd.DataFrame({"task": [1, 1, 2, 2, 3], "worker": list("abaab"), "label": list("xyzxy")})
    with pytest.raises(ValueError, match="no worker has a sensitivity"):
        cc.plot.reliability(cc.DawidSkene(repeats="first").fit(three))


def test_without_pandas_a_sentence_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(cc.UserError, match=r"pip install 'crowdclust\[notebook\]'"):
        cc.simulate(n_items=20, n_clusters=2)


DOCUMENTED = sorted({getattr(cc, name).__module__ for name in cc.__all__ if hasattr(getattr(cc, name), "__module__")})


@pytest.mark.parametrize(
    "module", ["crowdclust_app", "crowdclust_app.api.plot", "crowdclust_app.evaluation.metrics", *DOCUMENTED]
)
def test_the_examples_of_docstrings_run(module: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cc.NotConvergedWarning)
        done = doctest.testmod(importlib.import_module(module))
    assert done.failed == 0
