"""A baseline's run has all that screens and tables ask of a run, and says what it does not know."""

from __future__ import annotations

import csv
import json
from dataclasses import fields, replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from campaign_making import MakeCampaign, do_next

from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.domain.errors import Cancelled, UserError
from crowdclust_app.domain.fit_settings import FitSettings
from crowdclust_app.domain.methods import names_of
from crowdclust_app.domain.response_table import Response, ResponseTable
from crowdclust_app.evaluation.simulation import SimulationSettings, simulate_campaign
from crowdclust_app.services.annotate import annotation
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.clusters.overview import load_overview
from crowdclust_app.services.clusters.run_view import view_run
from crowdclust_app.services.exchange.exporting import export_campaign, export_result
from crowdclust_app.services.fits.baselines import PRIOR_PAIRS, fit_baseline, same_group_rates
from crowdclust_app.services.fits.campaign_fits import fit_campaign
from crowdclust_app.services.fits.fitting import fit_table
from crowdclust_app.services.fits.progress import FitProgress
from crowdclust_app.services.fits.results import FitResult
from crowdclust_app.services.fits.run_store import load_run
from crowdclust_app.services.progress_report import ProgressReport

SIMPLE = SimulationSettings(
    items=60, clusters=3, items_per_hit=12, redundancy=4, workers_per_hit=3, workers=6, noise=0.02, coarse=0.0
)
SETTINGS = FitSettings(method="nmf", dimensions=3, n_starts=2, n_clusters=3)


@pytest.fixture(scope="module")
def campaign():
    return simulate_campaign(SIMPLE)


@pytest.fixture(scope="module")
def fitted(campaign) -> FitResult:
    return fit_table(campaign.table, SETTINGS)


def test_a_baseline_has_every_array_of_a_fit(campaign, fitted: FitResult) -> None:
    n, j, k, d = 60, 6, 3, 3
    expected = {
        "positions": (n, d), "position_variances": (n, d), "weights": (j, d, d), "weight_variances": (j, d, d),
        "biases": (j,), "bias_variances": (j,), "responsibilities": (n, k), "labels": (n,), "shown": (n,),
        "means": (k, d), "covariances": (k, d, d), "mixing": (k,), "fisher": (n, 2), "confusion": (j, k, k),
        "confusion_bound": (j, k, k), "answered": (j,),
    }  # fmt: skip
    found = {f.name: getattr(fitted, f.name) for f in fields(fitted)}
    assert {name: value.shape for name, value in found.items() if isinstance(value, np.ndarray)} == expected
    absent = {"position_variances", "weights", "weight_variances", "biases", "bias_variances", "confusion_bound"}
    for name in expected:
        assert np.isnan(found[name]).all() if name in absent else np.isfinite(found[name]).all(), name
    assert np.array_equal(fitted.responsibilities.argmax(axis=1) + 1, fitted.labels)
    assert set(np.unique(fitted.responsibilities)) == {0.0, 1.0}
    assert np.linalg.eigvalsh(fitted.covariances).min() > 0
    assert fitted.mixing.sum() == pytest.approx(1)


def test_its_summary_says_null_where_there_is_nothing(campaign, fitted: FitResult) -> None:
    summary = fitted.summary
    assert json.loads(json.dumps(summary, allow_nan=False)) == summary
    assert (summary["method"], summary["bound"], summary["starts"], summary["clusters"]) == ("nmf", None, [], 3)
    assert summary["iterations"] > 0
    assert summary["entropy_bits"] == 0
    assert summary["verdicts"][0].startswith("The method nmf was told the number of clusters, 3; it takes all workers")
    spectral = fit_table(campaign.table, replace(SETTINGS, method="spectral")).summary
    assert (spectral["iterations"], spectral["converged"]) == (None, None)


def test_without_a_number_crowdclustering_is_asked_first(campaign) -> None:
    reports: list[ProgressReport] = []
    own = fit_table(campaign.table, replace(SETTINGS, method="crowdclustering", n_clusters="bound"))
    found = fit_table(campaign.table, replace(SETTINGS, n_clusters="bound"), reports.append)
    assert found.summary["clusters"] == own.summary["clusters"]
    assert "as crowdclustering finds them" in found.summary["verdicts"][0]
    first = next(n for n, report in enumerate(reports) if report.text.startswith("nmf:"))
    assert any(isinstance(report, FitProgress) for report in reports[:first])
    assert reports[-1].text.startswith("nmf:")


def test_a_baseline_stops_when_it_is_asked_to(campaign) -> None:
    token = CancelToken()
    with pytest.raises(Cancelled):
        fit_table(campaign.table, SETTINGS, lambda _: token.cancel(), token)


@pytest.mark.parametrize("method", names_of("baseline"))
def test_what_cannot_be_fitted_is_said_for_every_method(method: str) -> None:
    single = ResponseTable.from_responses([Response("h", "w", ("a",), ("1",))])
    with pytest.raises(UserError, match="no response holds two items"):
        fit_table(single, replace(SETTINGS, method=method))
    with pytest.raises(UserError, match="2 items cannot fall into 3 clusters"):
        fit_table(
            ResponseTable.from_responses([Response("h", "w", ("a", "b"), ("1", "2"))]), replace(SETTINGS, method=method)
        )


@pytest.mark.parametrize("groups", ["1111", "1234", "1122"])
@pytest.mark.parametrize("clusters", [1, 2, 4])
def test_tiny_tables_have_finite_places_and_matrices(groups: str, clusters: int) -> None:
    table = ResponseTable.from_responses([Response("h", "w", tuple("abcd"), tuple(groups))], ["never"], ["idle"])
    result = fit_table(table, replace(SETTINGS, method="spectral", n_clusters=clusters))
    assert result.labels[0] == 0
    assert result.answered.tolist() == [False, True]
    for name in ("positions", "fisher", "means", "covariances", "confusion", "responsibilities"):
        assert np.isfinite(getattr(result, name)).all(), name
    assert np.allclose(result.responsibilities.sum(axis=1), 1)


def rates_by_hand(table: ResponseTable, labels: np.ndarray) -> np.ndarray:
    K, J = labels.max(), table.n_workers
    same, pairs = np.zeros((J, K, K)), np.zeros((J, K, K))
    for r in range(table.n_responses):
        j = table.worker_of_response[r]
        for p, q in combinations(range(table.response_ptr[r], table.response_ptr[r + 1]), 2):
            a, b = labels[table.items[p]] - 1, labels[table.items[q]] - 1
            if min(a, b) < 0:
                continue
            for cell in {(a, b), (b, a)}:
                pairs[j][cell] += 1
                same[j][cell] += table.groups[p] == table.groups[q]
    overall = same.sum() / pairs.sum()
    everybody = (same.sum(axis=0) + PRIOR_PAIRS * overall) / (pairs.sum(axis=0) + PRIOR_PAIRS)
    return (same + PRIOR_PAIRS * everybody) / (pairs + PRIOR_PAIRS)


def test_a_worker_s_matrix_is_the_smoothed_rate_pair_by_pair(campaign) -> None:
    labels = np.random.default_rng(1).integers(0, 4, campaign.table.n_items)
    labels[:3] = (1, 2, 3)
    found = same_group_rates(campaign.table, labels)
    assert np.allclose(found, rates_by_hand(campaign.table, labels), rtol=0, atol=1e-12)
    assert np.allclose(found, found.transpose(0, 2, 1))


def test_matrices_show_who_merges_what(campaign, fitted: FitResult) -> None:
    for j in range(6):
        assert np.array_equal(fitted.confusion[j] > 0.5, np.eye(3, dtype=bool))


def test_a_run_is_stored_looked_at_and_exported(make_campaign: MakeCampaign, tmp_path: Path) -> None:
    campaign: Campaign = make_campaign()
    worker = campaign.add_worker("ada")
    while do_next(campaign, worker) is not None:
        pass
    assert annotation.progress_of(campaign, worker).submitted > 0
    run = fit_campaign(campaign, replace(SETTINGS, method="nmf-masked"))
    stored = load_run(campaign, run.number)
    assert stored.settings.method == "nmf-masked"
    assert stored.result.bound is None
    assert np.array_equal(stored.result.labels, run.result.labels)
    overview = load_overview(campaign)
    assert overview.view is not None
    assert sum(row.size for row in overview.view.clusters) == (run.result.labels > 0).sum()
    assert len(overview.view.doubtful) == 0
    assert overview.workers[0].matrix == 0
    facts = overview.view.facts(0)
    assert (facts.probability, facts.entropy_bits) == (1.0, 0.0)
    files = export_campaign(campaign, tmp_path / "out")
    assert {"clusters.csv", "embedding.csv", "confusion.csv"} <= {path.name for path in files}


def test_what_it_does_not_have_is_an_empty_cell(campaign, fitted: FitResult, tmp_path: Path) -> None:
    export_result(fitted, campaign.table, tmp_path)
    with (tmp_path / "embedding.csv").open(newline="") as file:
        row = next(csv.DictReader(file))
    assert row["sd1"] == ""
    assert float(row["x1"]) == pytest.approx(fitted.positions[0, 0])
    with (tmp_path / "confusion.csv").open(newline="") as file:
        cells = list(csv.DictReader(file))
    assert len(cells) == 6 * 9
    assert {cell["eq10_bound"] for cell in cells} == {""}
    assert all(0 < float(cell["probability"]) < 1 for cell in cells)


def test_the_most_confident_items_are_those_nearest_to_the_centre(campaign, fitted: FitResult) -> None:
    from types import SimpleNamespace

    run = SimpleNamespace(
        number=1, result=fitted, item_names=campaign.table.item_names, worker_names=campaign.table.worker_names
    )
    view = view_run(run, campaign.table)  # type: ignore[arg-type]
    for row in view.clusters:
        off = fitted.positions[row.items] - fitted.means[row.number - 1]
        distance = np.einsum("nd,de,ne->n", off, np.linalg.inv(fitted.covariances[row.number - 1]), off)
        assert np.all(np.diff(distance) >= -1e-9)


def test_crowdclustering_is_asked_once_for_the_number(campaign, fitted: FitResult) -> None:
    asked = []

    def crowdclustering() -> FitResult:
        asked.append(1)
        return replace(fitted, summary={"clusters": 2})

    found = fit_baseline(campaign.table, replace(SETTINGS, n_clusters="bound"), crowdclustering)
    assert (found.summary["clusters"], asked) == (2, [1])
    fit_baseline(campaign.table, replace(SETTINGS, n_clusters=3), crowdclustering)
    assert asked == [1]
