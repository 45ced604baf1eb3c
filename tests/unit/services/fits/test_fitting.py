"""A fit reports every figure of its contract, says what it cannot answer, and is the same for the same seed."""

from __future__ import annotations

import json
import math
import sys
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_results import result
from tall_red import TallRedSettings, tall_red_campaign

from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.domain.errors import Cancelled, UserError
from crowdclust_app.domain.fit_settings import FitSettings
from crowdclust_app.domain.response_table import Response, ResponseTable
from crowdclust_app.services.fits import summary as fit_summary
from crowdclust_app.services.fits.fitting import fit_table
from crowdclust_app.services.fits.progress import SEARCH_PHASES, FitProgress
from crowdclust_app.services.fits.results import FitResult
from crowdclust_app.services.fits.summary import compare_with_truth, peak_memory_mb, verdicts
from crowdclust_app.services.progress_report import ProgressReport

SETTINGS = FitSettings(dimensions=2, n_starts=2, label_weight=0.2)
SMALL = TallRedSettings(items=48, items_per_hit=12, workers_per_hit=6)

KEYS = [
    "method", "items", "workers", "responses", "pair_labels", "clusters", "cluster_sizes", "bound", "iterations",
    "converged", "starts", "entropy_bits", "heldout_loglik", "heldout_se", "heldout_accuracy", "heldout_accuracy_se",
    "heldout_base_loglik", "heldout_gain", "heldout_gain_se", "heldout_unit", "chosen", "tried", "clusters_tried",
    "structure", "too_little", "continuous", "parts", "sets_to_add", "joining_sets", "expected_calibration_error",
    "stability", "verdicts", "warnings", "settings", "seconds", "peak_memory_mb",
]  # fmt: skip


@pytest.fixture(scope="module")
def example():
    return tall_red_campaign(SMALL)


@pytest.fixture(scope="module")
def fitted(example) -> FitResult:
    return fit_table(example.table, SETTINGS)


def test_the_paper_s_example(example, fitted: FitResult) -> None:
    truth = dict(zip(example.table.item_names, example.truth, strict=True))
    figures = compare_with_truth(example.table.item_names, fitted.labels, truth)
    assert figures["vi_nats"] == pytest.approx(0, abs=1e-12)
    assert figures["vi_bits"] == pytest.approx(0, abs=1e-12)
    assert (figures["ari"], figures["truth_items"], figures["truth_ignored"]) == (1.0, 48, 0)
    # each worker's two groups are seen in the worker's confusion matrix
    kind_of_cluster = [example.truth[int(np.flatnonzero(fitted.labels == k + 1)[0])] for k in range(4)]
    for worker, kind in enumerate(example.worker_kinds):
        word = {"height": 0, "colour": 1}.get(kind)
        if word is not None:
            looks = [name.split()[word] for name in kind_of_cluster]
            same = np.array([[a == b for b in looks] for a in looks])
            assert np.array_equal(fitted.confusion[worker] > 0.5, same)
        if kind == "one group":
            assert fitted.confusion[worker].min() > 0.9


def test_the_summary_has_the_keys_of_the_contract_and_is_json(example, fitted: FitResult) -> None:
    summary = fitted.summary
    assert list(summary) == KEYS
    assert json.loads(json.dumps(summary, allow_nan=False)) == summary
    assert summary["items"] == 48
    assert summary["workers"] == 12
    assert summary["responses"] == example.table.n_responses
    assert summary["pair_labels"] == example.table.n_pair_labels
    assert summary["cluster_sizes"] == [12, 12, 12, 12]
    assert summary["bound"] == max(summary["starts"]) == fitted.bound
    assert len(summary["starts"]) == 2
    assert summary["heldout_loglik"] - summary["heldout_base_loglik"] == pytest.approx(summary["heldout_gain"])
    assert summary["heldout_gain"] > 5 * summary["heldout_gain_se"] > 0
    assert 0.8 < summary["heldout_accuracy"] < 1
    assert summary["chosen"] == {"dimensions": 2, "label_weight": 0.2, "clusters": 4}
    assert summary["heldout_unit"] == "decision"
    assert (summary["too_little"], summary["continuous"], summary["parts"]) == (False, False, 1)
    assert summary["sets_to_add"] is summary["joining_sets"] is summary["expected_calibration_error"] is None
    assert summary["warnings"] == []
    assert [entry["value"] for entry in summary["tried"]][:4] == [1, 2, 3, 4]
    assert summary["settings"] == SETTINGS.as_dict()
    assert summary["seconds"] > 0
    assert 20 < summary["peak_memory_mb"] < 5000


def test_the_arrays_have_the_shapes_they_should(fitted: FitResult) -> None:
    n, j, k, d = 48, 12, 4, 2
    expected = {
        "positions": (n, d), "position_variances": (n, d), "weights": (j, d, d), "weight_variances": (j, d, d),
        "biases": (j,), "bias_variances": (j,), "responsibilities": (n, k), "labels": (n,), "shown": (n,),
        "means": (k, d), "covariances": (k, d, d), "mixing": (k,), "fisher": (n, 2), "confusion": (j, k, k),
        "confusion_bound": (j, k, k), "answered": (j,),
        "heldout_workers": (j,),
        "heldout_figures": (j, 9),
        "probability": (n,),
    }  # fmt: skip
    found = {f.name: getattr(fitted, f.name) for f in fields(fitted)}
    assert {name: value.shape for name, value in found.items() if isinstance(value, np.ndarray)} == expected


def test_consensus_gives_every_worker_the_same_matrix(example) -> None:
    result = fit_table(example.table, replace(SETTINGS, method="consensus", n_starts=1))
    assert result.summary["method"] == "consensus"
    assert result.confusion.shape[0] == 12
    assert np.array_equal(result.confusion[0], result.confusion[11])
    assert result.answered.all()


def test_the_same_seed_gives_the_same_bits(example, fitted: FitResult) -> None:
    again = fit_table(example.table, SETTINGS)
    assert np.array_equal(again.positions, fitted.positions)
    assert again.start_bounds == fitted.start_bounds
    other = fit_table(example.table, replace(SETTINGS, seed=1))
    assert other.start_bounds[1] != fitted.start_bounds[1]


def test_progress_comes_every_sweep_and_never_goes_back(example) -> None:
    reports: list[Any] = []
    fit_table(example.table, SETTINGS, reports.append)
    assert reports[0] == ProgressReport(0, None, "preparing")
    sweeps = reports[1:]
    assert all(isinstance(report, FitProgress) for report in sweeps)
    done = [report.done for report in sweeps]
    assert done == sorted(done)
    assert max(done) <= sweeps[0].total
    assert {report.total for report in sweeps} == {sweeps[0].total}
    ahead = [report for report in sweeps if report.phase in SEARCH_PHASES]
    assert sweeps[: len(ahead)] == ahead
    assert list(dict.fromkeys(report.phase for report in ahead)) == ["folds", "candidates", "probabilities"]
    folds = [report for report in ahead if report.phase == "folds"]
    assert folds[-1].text == "choosing the number of clusters, fold 5 of 5"
    assert ahead[-1].text == "drawing responses anew for probabilities, 32 of 32"
    assert [report for report in ahead if report.phase == "candidates"][-1].clusters == 4
    assert {report.start for report in sweeps[len(ahead) :]} == {1, 2}
    assert "bound -" in sweeps[-1].text
    assert "clusters" in sweeps[-1].text


def test_a_fit_stops_when_it_is_asked_to(example) -> None:
    token = CancelToken()

    def stop(report: ProgressReport) -> None:
        if report.done >= 3:
            token.cancel()

    with pytest.raises(Cancelled):
        fit_table(example.table, SETTINGS, stop, token)


def test_nothing_to_infer_from_is_one_sentence() -> None:
    with pytest.raises(UserError, match="there are no responses yet"):
        fit_table(ResponseTable.from_responses([]), SETTINGS)
    lonely = ResponseTable.from_responses([Response("h", "w", ("a",), ("1",))])
    with pytest.raises(UserError, match="no response holds two items"):
        fit_table(lonely, SETTINGS)
    two = ResponseTable.from_responses([Response("h", "w", ("a", "b"), ("1", "2"))])
    with pytest.raises(UserError, match="2 items cannot fall into 3 clusters"):
        fit_table(two, replace(SETTINGS, n_clusters=3))


def test_a_number_of_clusters_is_kept_to(example) -> None:
    assert fit_table(example.table, replace(SETTINGS, n_clusters=2, n_starts=1)).summary["clusters"] <= 2


def test_what_the_design_cannot_answer_is_said() -> None:
    responses = [Response("h1", "w", ("a", "b", "c"), tuple("112")), Response("h2", "w", ("d", "e"), tuple("12"))]
    table = ResponseTable.from_responses([*responses, Response("h3", "v", ("a",), ("1",))], item_names=("never",))
    result = fit_table(table, replace(SETTINGS, n_starts=1))
    said = " ".join(result.summary["verdicts"])
    assert "The design falls into 2 parts that share no item" in said
    assert "1 item is never shown" in said
    assert "Every pair label counts 0.2 (label weight)" in said
    assert result.labels[0] == 0
    assert sum(result.summary["cluster_sizes"]) == 5
    assert result.summary["workers"] == 2


@pytest.mark.parametrize(
    ("bounds", "converged", "expected"),
    [
        ((-100.0,), True, ["The fit converged after 7 joint iterations."]),
        (
            (-100.0, -100.01),
            False,
            [
                "The fit had not converged after 7 joint iterations; its figures could still change.",
                "All 2 starts ended at the same bound within 0.1%.",
            ],
        ),
        (
            (-1000.0, -900.0, -900.5),
            True,
            [
                "The fit converged after 7 joint iterations.",
                "The 3 starts ended at bounds from -1,000.0 to -900.0; 1 other start came within 0.1% of the best.",
            ],
        ),
    ],
)
def test_verdicts_on_convergence_and_starts(example, bounds, converged: bool, expected: list[str]) -> None:
    found = replace(
        result(1, k=2), converged=converged, start_bounds=bounds, labels=np.zeros(example.table.n_items, np.int64)
    )
    said = verdicts(example.table, {"label_weight": 1.0, "clusters": "bound"}, found)
    always = [
        "Every pair label counts in full (label weight 1), as in the paper.",
        "1 worker (one group 1): one group for everything.",
    ]
    assert list(said) == [*expected, *always]


def test_truth_is_compared_where_both_know_an_item() -> None:
    truth = {"a": "x", "b": "x", "c": "y", "other": "y", "never": "x"}
    figures = compare_with_truth(("a", "b", "c", "d", "never"), np.array([1, 1, 2, 2, 0]), truth)
    assert (figures["vi_nats"], figures["truth_items"], figures["truth_ignored"]) == (0.0, 3, 2)
    figures = compare_with_truth(("a", "b"), np.array([1, 2]), truth)
    assert figures["vi_nats"] == pytest.approx(math.log(2))
    assert figures["vi_bits"] == pytest.approx(1)
    with pytest.raises(UserError, match="not one item of the truth is in the responses"):
        compare_with_truth(("d",), np.array([1]), truth)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"method": "kmeans"}, "there is no method kmeans"),
        ({"dimensions": 0}, "0 dimensions"),
        ({"n_starts": 0}, "the starts must be at least 1"),
        ({"n_clusters": 0}, "0 is no number of clusters"),
        ({"n_clusters": "many"}, "many is no number of clusters"),
        ({"folds": 1}, "1 folds cannot be held out"),
        ({"folds": 0}, "nothing can be chosen by them"),
        ({"folds": 0, "n_clusters": 3, "label_weight": 1.0}, "nothing can be chosen by them"),
        ({"worker_prior": "pooled"}, "there is no worker prior pooled"),
        ({"label_weight": 0.0}, "the label weight 0 is out of range"),
        ({"label_weight": 1.5}, "the label weight 1.5 is out of range"),
        ({"label_weight": math.nan}, "the label weight nan is out of range"),
        ({"seed": -1}, "the seed must not be negative"),
        ({"seed": 2**63}, "the seed is too large"),
        ({"scale": 0.0}, "the scale must be a number above 0"),
        ({"position_variance": math.inf}, "the position variance must be a number above 0"),
        ({"degrees_of_freedom": 2.0, "dimensions": 4}, "the degrees of freedom must be above 3"),
        ({"degrees_of_freedom": 4.0}, "the degrees of freedom must be above 5"),
    ],
)
def test_settings_that_cannot_be_are_refused(change: dict, words: str) -> None:
    with pytest.raises(UserError, match=words):
        FitSettings(**change)


def test_peak_memory_without_the_system_s_help(monkeypatch: pytest.MonkeyPatch) -> None:
    assert peak_memory_mb() > 20
    monkeypatch.setattr(fit_summary, "Path", lambda _: Path("/nonexistent"))
    assert peak_memory_mb() > 20
    monkeypatch.setitem(sys.modules, "resource", None)
    assert peak_memory_mb() is None
