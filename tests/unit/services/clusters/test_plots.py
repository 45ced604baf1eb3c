"""What the plots of the Clusters screen show: axes, colours, tables of two groupings, starts, numbers of clusters."""

from __future__ import annotations

import csv
import math
from dataclasses import replace
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from campaign_making import MakeCampaign, do_next
from made_results import VERSIONS, result
from PIL import Image

from crowdclust_app.domain.errors import UserError
from crowdclust_app.domain.fit_settings import FitSettings
from crowdclust_app.evaluation.metrics import variation_of_information
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.campaign.responses import read_table
from crowdclust_app.services.clusters import categories, comparing, embedding
from crowdclust_app.services.clusters import plots as plot_data
from crowdclust_app.services.clusters.overview import load_overview
from crowdclust_app.services.clusters.run_view import RunView, view_run
from crowdclust_app.services.exchange import plot_files
from crowdclust_app.services.fits.campaign_fits import fit_campaign
from crowdclust_app.services.fits.results import FitResult
from crowdclust_app.services.fits.run_store import load_run, run_list, save_run

LABELS = np.array([1, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 0])


def made(labels: np.ndarray = LABELS, dimensions: int = 3, seed: int = 1) -> FitResult:
    """A result with these clusters, each around a place of its own."""
    n_clusters = int(labels.max())
    found = result(seed, len(labels), 1, max(n_clusters, 1), dimensions)
    centres = np.random.default_rng(seed).normal(size=(n_clusters + 1, dimensions)) * 4
    positions = centres[labels] + found.positions * 0.1
    return replace(
        found, labels=labels, shown=labels > 0, positions=positions, means=centres[1:] if n_clusters else centres
    )


@pytest.fixture
def campaign(make_campaign: MakeCampaign) -> Campaign:
    campaign = make_campaign()
    do_next(campaign, campaign.add_worker("Ann"))
    return campaign


def view_of(campaign: Campaign, found: FitResult) -> RunView:
    """The result as a stored run on screen."""
    found = replace(found, summary={**found.summary, "responses": 1})
    run = save_run(campaign, read_table(campaign), FitSettings(n_clusters=3), found, versions=VERSIONS, stage="all")
    return view_run(run, read_table(campaign))


def test_items_can_be_shown_on_every_axis(campaign: Campaign) -> None:
    view = view_of(campaign, made())
    axes = embedding.axes_of(view)
    assert list(axes) == [f"{kind}{n}" for kind in ("fisher", "principal", "x") for n in (1, 2, 3)]
    shown = view.labels > 0
    for axis in axes.values():
        assert np.isfinite(axis.values[shown]).all()
        assert np.isnan(axis.values[~shown]).all()
    assert np.array_equal(axes["fisher2"].values[shown], view.fisher[shown, 1])
    assert np.array_equal(axes["x3"].values[shown], view.run.result.positions[shown, 2])
    principal = np.column_stack([axes[f"principal{n}"].values[shown] for n in (1, 2, 3)])
    covariance = np.cov(principal.T)
    assert np.allclose(covariance, np.diag(np.diag(covariance)))
    assert (np.diff(np.diag(covariance)) <= 1e-9).all(), "the widest first"


def test_one_dimension_has_two_axes_to_show(campaign: Campaign) -> None:
    axes = embedding.axes_of(view_of(campaign, made(dimensions=1)))
    assert set(axes) == {"fisher1", "fisher2", "principal1", "x1"}


@pytest.mark.parametrize("labels", [np.zeros(12, dtype=np.int64), np.array([1] * 12), np.array([1] * 6 + [2] * 6)])
def test_few_clusters_or_none_have_axes_and_colours(campaign: Campaign, labels: np.ndarray) -> None:
    view = view_of(campaign, made(labels))
    axes = embedding.axes_of(view)
    for key in embedding.COLOUR_TITLES:
        colours = embedding.colouring(view, key, None, {"part 0/photo #0.png": "a"})
        plot = embedding.embedding_plot(view, axes["fisher1"], axes["fisher2"], colours)
        rows = list(plot.table()[1])
        assert len(rows) == (labels > 0).sum()
        assert colours.groups.shape == labels.shape


def test_colours_say_cluster_category_and_known_category(campaign: Campaign) -> None:
    view = view_of(campaign, made())
    names = view.item_names
    state = categories.read_categories(campaign, view.run.number, 3)
    state = categories.rename(campaign, state, 2, "Birds")
    state = categories.rename(campaign, state, 3, "Birds")
    state = categories.split_off(campaign, state, [names[0]], "Odd")
    by_cluster = embedding.colouring(view, embedding.CLUSTER, state, {})
    assert dict(by_cluster.names) == {1: "Cluster 1", 2: "Birds", 3: "Birds"}
    assert dict(by_cluster.counts) == {1: 5, 2: 4, 3: 2}
    by_category = embedding.colouring(view, embedding.CATEGORY, state, {})
    assert by_category.groups.tolist() == [4, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 0]
    assert dict(by_category.names) == {1: "Cluster 1", 2: "Birds", 4: "Odd"}
    truth = {names[0]: "x", names[1]: "y", names[5]: "x"}
    by_truth = embedding.colouring(view, embedding.TRUTH, state, truth, ("y", "x"))
    assert by_truth.groups.tolist() == [2, 1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0]
    assert dict(by_truth.counts) == {0: 8, 1: 1, 2: 2}
    assert by_truth.names[0] == embedding.UNKNOWN
    assert embedding.colouring(view, embedding.DOUBT, state, {}).values is view.entropy_bits
    shown = embedding.colouring(view, embedding.SHOWN, state, {}).values
    assert shown is not None
    assert np.isnan(shown[11])


def test_the_file_of_a_plot_says_what_its_colours_are_called(campaign: Campaign, tmp_path: Path) -> None:
    view = view_of(campaign, made())
    axes = embedding.axes_of(view)
    state = categories.read_categories(campaign, view.run.number, 3)
    plain = embedding.colouring(view, embedding.CLUSTER, state, {})
    assert embedding.embedding_plot(view, axes["x1"], axes["x2"], plain).group_names == {}
    state = categories.rename(campaign, state, 2, "$Birds$, שלום")
    named = embedding.colouring(view, embedding.CATEGORY, state, {})
    plot = embedding.embedding_plot(view, axes["x1"], axes["x2"], named)
    header, rows = plot.table()
    assert header == ("item", "position_1", "position_2", "group", "group_name")
    assert {row[3:] for row in rows} == {(1, "Cluster 1"), (2, "$Birds$, שלום"), (3, "Cluster 3")}
    files = plot_files.save_plot(plot, tmp_path / "named.png")
    assert all(file.stat().st_size for file in files)
    doubt = embedding.embedding_plot(view, axes["x1"], axes["x2"], embedding.colouring(view, "doubt", state, {}))
    assert [row[3] for row in doubt.table()[1]] == LABELS[:11].tolist(), "the clusters are in the table all the same"


def test_clusters_beside_known_categories_in_the_leads_order(campaign: Campaign) -> None:
    view = view_of(campaign, made())
    names = view.item_names
    truth = dict(zip(names, ["b10", "b10", "a", "a", "b2", "a", "a", "b2", "b2", "c", "c", "c"], strict=True))
    assert comparing.compare_with_known(view, truth).row_names == ("a", "b2", "b10", "c"), "numbers in their order"
    found = comparing.compare_with_known(view, truth, ("c", "gone", "b10"), {2: "Birds"})
    assert found.row_names == ("c", "b10", "a", "b2")
    assert found.column_names == ("1", "2 Birds", "3")
    assert found.counts.tolist() == [[0, 0, 2], [2, 0, 0], [2, 2, 0], [1, 2, 0]]
    assert found.compared == 11
    assert found.items(2, 1).tolist() == [5, 6]
    assert found.items(row=3).tolist() == [4, 7, 8]
    assert found.items(column=0).tolist() == [0, 1, 2, 3, 4]
    shown = [truth[name] for name in names[:11]]
    assert found.vi_nats == pytest.approx(variation_of_information(LABELS[:11], shown))
    assert found.vi_bits == pytest.approx(found.vi_nats / math.log(2))
    plot = plot_data.known_categories_plot(view, truth, {})
    assert plot is not None
    assert plot.values.sum() == 11
    assert plot_data.known_categories_plot(view, {}, {}) is None
    assert comparing.compare_with_known(view, {}).vi_nats is None


def test_the_leads_order_is_kept_in_the_campaign(campaign: Campaign) -> None:
    assert comparing.truth_order(campaign) == ()
    before = campaign.revision
    comparing.set_truth_order(campaign, ("b", 'a "q"'))
    comparing.set_truth_order(campaign, ('a "q"', "b"))
    assert comparing.truth_order(campaign) == ('a "q"', "b")
    assert campaign.revision == before + 2
    with pytest.raises(UserError, match="one place"):
        comparing.set_truth_order(campaign, ("a", "a"))


def test_two_runs_beside_each_other(campaign: Campaign) -> None:
    view = view_of(campaign, made())
    other = view_of(campaign, made(np.array([2, 2, 2, 2, 3, 1, 1, 1, 1, 3, 0, 3]))).run
    found = comparing.compare_runs(view, other, {1: "A"}, {2: "B"})
    assert (found.row_title, found.column_title) == ("run 1", "run 2")
    assert found.row_names == ("1 A", "2", "3")
    assert found.column_names == ("2 B", "1", "3"), "partners stand opposite each other"
    assert found.counts.tolist() == [[4, 0, 1], [0, 4, 0], [0, 0, 1]]
    assert found.matched == ((0, 0), (1, 1), (2, 2))
    assert found.moved().tolist() == [4]
    best = max(sum(found.counts[row, column] for row, column in enumerate(order)) for order in permutations(range(3)))
    assert sum(found.counts[pair] for pair in found.matched) == best
    same = comparing.compare_runs(view, view.run)
    assert same.vi_nats == pytest.approx(0.0)
    assert same.moved().tolist() == []


def test_two_runs_without_a_common_item(campaign: Campaign) -> None:
    view = view_of(campaign, made())
    other = replace(view.run, item_names=tuple(f"other {n}" for n in range(12)))
    found = comparing.compare_runs(view, other)
    assert found.compared == 0
    assert found.vi_bits is None
    assert found.moved().tolist() == []


def test_starts_and_numbers_of_clusters_are_kept_with_a_run(campaign: Campaign) -> None:
    for name in ("Bo", "Cy", "Di"):
        worker = campaign.add_worker(name)
        while do_next(campaign, worker):
            pass
    run = fit_campaign(campaign, FitSettings(dimensions=2, n_starts=3, label_weight=1.0, folds=2))
    result = load_run(campaign, run.number).result
    rows = plot_data.starts_of(result)
    assert [row.number for row in rows] == [1, 2, 3]
    assert min(row.behind for row in rows) == 0.0
    assert [row.bound for row in rows] == list(result.start_bounds)
    assert all(row.clusters is not None and row.sweeps is not None and row.sweeps > 1 for row in rows)
    best = int(np.argmax(result.start_bounds)) + 1
    traces = plot_data.traces_of(result)
    assert [(phase, bound) for start, phase, bound in traces if start == best] == list(result.lower_bounds)
    assert len(plot_data.bound_plot(run).curves) == 3
    assert plot_data.starts_plot(run).curves[0].y.tolist() == list(result.start_bounds)
    old = replace(result, start_traces=())
    assert {start for start, _, _ in plot_data.traces_of(old)} == {best}
    assert plot_data.starts_of(old)[0].clusters is None

    found = plot_data.cluster_scores(run_list(campaign), run)
    assert found is not None
    source, scores = found
    assert source == run.number
    assert [score.clusters for score in scores][:3] == [1, 2, 3]
    assert max(score.loglik for score in scores) < 0
    assert min(score.se_beside_best or 0.0 for score in scores) == 0.0
    assert all(score.se is not None and score.se > 0 for score in scores)
    fixed = fit_campaign(campaign, FitSettings(dimensions=2, n_starts=1, label_weight=1.0, n_clusters=2, folds=2))
    assert plot_data.cluster_scores(run_list(campaign), fixed) == found, (
        "of the run that tried numbers on the same data"
    )
    plot = plot_data.cluster_numbers_plot(fixed, scores, source)
    assert plot.marks == ((float(fixed.result.summary["clusters"]), f"run {fixed.number}"),)
    assert plot_data.cluster_scores(run_list(campaign)[1:], fixed) is None


def test_a_plot_is_written_as_pictures_and_numbers(campaign: Campaign, tmp_path: Path) -> None:
    view = view_of(campaign, made())
    files = plot_files.save_plot(plot_data.embedding_plot(view), tmp_path / "new" / "figure 2.svg")
    assert files == plot_files.files_of_plot(tmp_path / "new" / "figure 2.png")
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == [
        "figure 2.csv",
        "figure 2.png",
        "figure 2.svg",
    ]
    with Image.open(files[0]) as picture:
        assert picture.width > 500
    assert "<svg" in files[1].read_text(encoding="utf-8")
    with files[2].open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 11
    assert [float(row["fisher_axis_1"]) for row in rows] == pytest.approx(view.fisher[:11, 0].tolist())
    (tmp_path / "file").touch()
    with pytest.raises(UserError):
        plot_files.save_plot(plot_data.embedding_plot(view), tmp_path / "file" / "x.png")


def test_the_screens_read_what_the_lead_decided(campaign: Campaign) -> None:
    view = view_of(campaign, made())
    state = categories.read_categories(campaign, view.run.number, 3)
    state = categories.rename(campaign, state, 1, "Birds")
    comparing.set_truth_order(campaign, ("z", "a"))
    overview = load_overview(campaign)
    assert overview.categories == state
    assert overview.truth == {}
    assert overview.truth_order == ("z", "a")
