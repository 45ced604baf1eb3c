"""Experiments compare what they are given, count everything once, and are right for methods whose answer is known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.experiments import context, redundancy, scale, table1, workers
from benchmarks.experiments.results import MethodResult, Watch, grouped, mean_and_sd, score
from crowdclust_app.domain.campaign import PlanSettings
from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.domain.errors import Cancelled
from crowdclust_app.domain.response_table import Response, ResponseTable
from crowdclust_app.evaluation.metrics import variation_of_information
from crowdclust_app.evaluation.simulation import SimulationSettings, simulate_campaign

SMALL = SimulationSettings(
    items=60, clusters=3, items_per_hit=12, redundancy=3, workers_per_hit=2, workers=8, noise=0.0, coarse=0.0
)
SILENT = Watch()


class Solver:
    """Notes its calls; `blob` puts everything together, `told` cuts into as many parts as it is told."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, int, int]] = []

    def __call__(self, table: ResponseTable, method: str, clusters: int, seed: int) -> MethodResult:
        self.calls.append((method, clusters, seed))
        n = table.n_items
        labels = np.ones(n, dtype=np.int64) if method == "blob" else 1 + np.arange(n) % clusters
        return MethodResult(labels, 2.0 + seed)


def test_table_1_has_every_method_on_every_campaign_for_every_seed() -> None:
    solver = Solver()
    known = table1.Known(
        "known", ResponseTable.from_responses([Response("h", "w", ("a", "b", "c"), ("1", "1", "2"))]), ("x", None, "y")
    )
    settings = table1.Table1(("blob", "told"), (3, 4), (("small", SMALL),), (known,))
    seen: list[tuple[int, int, str]] = []
    outcome = table1.run_table1(settings, solver, Watch(lambda *news: seen.append(news)))
    assert [row[:3] for row in outcome.trials.rows] == [
        (data, method, seed) for data in ("small", "known") for method in ("blob", "told") for seed in (3, 4)
    ]
    assert sorted(solver.calls) == sorted([(m, k, s) for m in ("blob", "told") for k in (2, 3) for s in (3, 4)])
    rows = {row[:3]: dict(zip(outcome.trials.header, row, strict=True)) for row in outcome.trials.rows}
    truth = simulate_campaign(replace(SMALL, seed=4)).truth
    assert rows["small", "blob", 4]["vi_nats"] == pytest.approx(variation_of_information([1] * 60, truth))
    assert rows["small", "blob", 4]["true_clusters"] == 3
    # of the known campaign only the two items with a category count
    assert rows["known", "told", 3]["vi_nats"] == pytest.approx(np.log(2))
    assert rows["known", "blob", 3]["vi_nats"] == pytest.approx(np.log(2))
    figures = {row[:2]: dict(zip(outcome.figures.header, row, strict=True)) for row in outcome.figures.rows}
    assert figures["small", "told"]["seconds"] == 5.5
    values = [rows["small", "told", seed]["vi_nats"] for seed in (3, 4)]
    assert figures["small", "told"]["vi_nats"] == pytest.approx(np.mean(values))
    assert figures["small", "told"]["vi_median"] == pytest.approx(np.median(values))
    assert figures["small", "told"]["vi_sd"] == pytest.approx(np.std(values, ddof=1))
    assert [news[:2] for news in seen] == [(n, 8) for n in range(8)]
    assert [panel.title.replace("\n", " ") for panel in outcome.panels] == [
        "small campaign: variation of information (lower is better)",
        "known campaign: variation of information (lower is better)",
    ]
    assert outcome.panels[0].places == ("blob", "told")


def test_a_hard_campaign_is_called_by_what_is_hard_about_it() -> None:
    few = tuple((name, replace(SMALL, workers_per_hit=s.workers_per_hit)) for name, s in table1.HARD_CAMPAIGNS)
    outcome = table1.run_table1(table1.Table1(("told",), (0,), few, name="hard"), Solver(), SILENT)
    assert {row[0] for row in outcome.trials.rows} == {"R = 1", "R = 5"}
    assert [panel.title.split(":")[0] for panel in outcome.panels] == [
        "small hard campaign, 1 worker a HIT",
        "small hard campaign, 5 workers a HIT",
    ]


def test_hard_campaigns_are_what_they_are_said_to_be() -> None:
    for name, settings in table1.HARD_CAMPAIGNS:
        assert name == f"R = {settings.workers_per_hit}"
        assert (settings.items, settings.clusters, settings.items_per_hit, settings.redundancy) == (1000, 10, 36, 6)
        assert (settings.noise, settings.coarse) == (0.10, 0.35)
        assert settings.random_workers * 10 == settings.workers
        assert settings.size_ratio > 1


def test_redundancy_has_a_line_for_every_method() -> None:
    settings = redundancy.Redundancy(("blob", "told"), (0, 1), (2, 4), SMALL)
    outcome = redundancy.run_redundancy(settings, Solver(), SILENT)
    assert [row[:3] for row in outcome.trials.rows] == [
        (method, value, seed) for method in ("blob", "told") for value in (2, 4) for seed in (0, 1)
    ]
    labels = {row[1]: row[6] for row in outcome.trials.rows}
    assert labels[4] == 2 * labels[2]
    (panel,) = outcome.panels
    assert [(curve.name, tuple(curve.x)) for curve in panel.curves] == [("blob", (2, 4)), ("told", (2, 4))]
    assert tuple(panel.curves[0].y) == tuple(row[3] for row in outcome.figures.rows if row[0] == "blob")
    assert panel.title.endswith("variation of information (lower is better)")
    assert panel.title.startswith("60 items, ")


def test_workers_leave_from_both_ends() -> None:
    order, hits = np.array([4, 2, 0, 1, 3]), np.array([10, 6, 3, 2, 1])
    found = {(which, step): gone.tolist() for which, step, gone in workers.removals(order, hits, 3)}
    assert found == {
        (workers.MOST, 0): [], (workers.LEAST, 0): [],
        (workers.MOST, 1): [4], (workers.LEAST, 1): [0, 1, 3],
        (workers.MOST, 2): [4, 2], (workers.LEAST, 2): [2, 0, 1, 3],
        (workers.MOST, 3): [4, 2, 0],
    }  # fmt: skip
    # however many steps are asked for, somebody stays
    assert max(len(gone) for _, _, gone in workers.removals(order, hits, 99)) == 4


def test_workers_are_ranked_and_what_is_left_is_counted() -> None:
    solver = Solver()
    settings = workers.Workers("told", (5,), 2, replace(SMALL, pareto=True))
    outcome = workers.run_workers(settings, solver, SILENT)
    # the whole campaign is clustered once for both curves
    assert len(solver.calls) == len(outcome.trials.rows) - 1
    table = simulate_campaign(replace(SMALL, pareto=True, seed=5)).table
    hits = np.sort(np.bincount(table.worker_of_response))[::-1]
    rows = {row[:2]: row for row in outcome.trials.rows}
    assert rows[workers.MOST, 0][4] == rows[workers.LEAST, 0][4] == table.n_responses
    assert rows[workers.MOST, 2][4] == table.n_responses - hits[:2].sum()
    (ranks,) = outcome.sheets
    assert [row[2] for row in ranks.rows] == hits[hits > 0].tolist()
    assert ranks.rows[-1][3:] == (1.0, 1.0)
    titles = [panel.title.split(":")[0] for panel in outcome.panels]
    assert titles == ["Who does the work", "Pareto curve", "Without some of the workers"]
    assert outcome.panels[2].title.endswith("(lower is better)")


CONTEXT = context.Context(
    "told", (0,), items=96, families=2, kinds=2, items_per_hit=12, redundancy=4, workers_per_hit=2, workers=5, noise=0.0
)


def test_kinds_are_told_apart_only_where_their_family_fills_the_hit() -> None:
    plan = PlanSettings(12, 4, 2, 0)
    alone = context.sort_in_context(replace(CONTEXT, blur=2.0), np.arange(24) % 2, plan)
    for r in range(alone.n_responses):
        span = slice(alone.response_ptr[r], alone.response_ptr[r + 1])
        assert variation_of_information(alone.groups[span], alone.items[span] % 2) == 0
    kinds = np.arange(96) % 4
    mixed = context.sort_in_context(replace(CONTEXT, blur=99.0), kinds, plan)
    for r in range(mixed.n_responses):
        span = slice(mixed.response_ptr[r], mixed.response_ptr[r + 1])
        family = kinds[mixed.items[span]] // 2
        if len(set(family)) == 2:
            assert variation_of_information(mixed.groups[span], family) == 0
    assert len(np.unique(mixed.items)) == 96


def test_dividing_finds_the_kinds_that_one_run_cannot() -> None:
    def perfect(table: ResponseTable, _method: str, _clusters: int, _seed: int) -> MethodResult:
        """The coarsest partition under which no response separates items: here, what the workers tell apart."""
        apart = np.zeros((table.n_items, table.n_items), dtype=bool)
        for r in range(table.n_responses):
            span = slice(table.response_ptr[r], table.response_ptr[r + 1])
            items, groups = table.items[span], table.groups[span]
            apart[np.ix_(items, items)] |= groups[:, None] != groups
        labels = np.zeros(table.n_items, dtype=np.int64)
        for item in range(table.n_items):
            free = [k for k in range(1, 100) if not (apart[item] & (labels == k)).any()]
            labels[item] = free[0]
        return MethodResult(labels, 1.0)

    outcome = context.run_context(replace(CONTEXT, blur=99.0, redundancy=20, smallest=2), perfect, SILENT)
    rows = {row[0]: dict(zip(outcome.trials.header, row, strict=True)) for row in outcome.trials.rows}
    assert list(rows) == [context.FLAT, context.MORE, context.DIVISIVE]
    # a run over everything sees families, and only families
    assert rows[context.FLAT]["vi_coarse_nats"] == 0
    assert rows[context.FLAT]["vi_nats"] == pytest.approx(np.log(2))
    assert rows[context.DIVISIVE]["vi_nats"] == 0
    assert rows[context.DIVISIVE]["clusters"] == 4
    more, divided = rows[context.MORE]["responses"], rows[context.DIVISIVE]["responses"]
    assert more == pytest.approx(divided, rel=0.1)
    assert more > rows[context.FLAT]["responses"]


def test_small_clusters_are_left_as_they_are() -> None:
    solver = Solver()
    outcome = context.run_context(replace(CONTEXT, smallest=1000), solver, SILENT)
    rows = {row[0]: row for row in outcome.trials.rows}
    assert len(solver.calls) == 3 - 1
    assert rows[context.DIVISIVE][2:8] == rows[context.FLAT][2:8] == rows[context.MORE][2:8]


def test_scale_divides_by_labels_and_iterations() -> None:
    def measure(table: ResponseTable, _seed: int, dimensions: int, clusters: int) -> scale.Cost:
        assert (dimensions, clusters) == (4, SMALL.clusters)
        seconds = 1e-9 * 20 * table.n_pair_labels
        return scale.Cost(20, seconds * 70, seconds * 110, 12.5, None, 3)

    outcome = scale.run_scale(scale.ScaleSettings((0, 1), (SMALL, replace(SMALL, items=90))), measure, SILENT)
    rows = [dict(zip(outcome.figures.header, row, strict=True)) for row in outcome.figures.rows]
    assert [row["items"] for row in rows] == [60, 60, 90, 90]
    for row in rows:
        assert row["ns_per_label_iteration"] == pytest.approx(70)
        assert row["cpu_ns"] == pytest.approx(110)
        assert row["ratio_to_tanh"] == pytest.approx(70 / row["tanh_ns"])
        assert 0.1 < row["tanh_ns"] < 1000
        assert row["peak_memory_mb"] is None
    # one point a size, whatever the seeds
    for panel in outcome.panels:
        for line in panel.curves:
            assert list(line.x) == [np.mean([row["pair_labels"] for row in rows[n : n + 2]]) for n in (0, 2)]
    tanh = outcome.panels[1].curves[1]
    assert tanh.y == pytest.approx([np.mean([row["tanh_ns"] for row in rows[n : n + 2]]) for n in (0, 2)])


def test_scale_has_a_line_for_each_number_of_dimensions() -> None:
    def measure(_table: ResponseTable, _seed: int, dimensions: int, _clusters: int) -> scale.Cost:
        return scale.Cost(20, 1.0, 1.0, float(dimensions), None, 3)

    outcome = scale.run_scale(scale.ScaleSettings((0, 1), (SMALL,), (2, 4)), measure, SILENT)
    assert [(line.name, tuple(line.y)) for line in outcome.panels[0].curves] == [
        ("whole fit, 2 dimensions", (2.0,)),
        ("whole fit, 4 dimensions", (4.0,)),
    ]


def test_the_sizes_are_those_of_the_paper() -> None:
    assert [size.items for size in scale.SIZES] == [1000, 3845, 37794]
    assert {(s.items_per_hit, s.redundancy, s.workers_per_hit) for s in scale.SIZES} == {(36, 6, 5)}
    assert scale.size_of(3845) == scale.SIZES[1]
    between = scale.size_of(20_000)
    assert (between.items, between.clusters, between.workers) == (20_000, 27, 1000)


def test_an_experiment_stops_before_its_next_trial() -> None:
    token = CancelToken()
    solver = Solver()

    def stop_after_one(*call: object) -> MethodResult:
        token.cancel()
        return solver(*call)  # type: ignore[arg-type]

    with pytest.raises(Cancelled):
        table1.run_table1(table1.Table1(("blob",), (0, 1), (("s", SMALL),)), stop_after_one, Watch(cancel=token))
    assert len(solver.calls) == 1


def test_scores_leave_items_that_were_never_shown_out() -> None:
    found = score(np.array([1, 1, 2, 0]), ["a", "a", "b", "b"])
    assert (found.vi, found.ari, found.clusters) == (0.0, 1.0, 2)


def test_means_and_groups() -> None:
    assert mean_and_sd([2.0]) == (2.0, 0.0)
    assert mean_and_sd([1.0, 3.0]) == (2.0, pytest.approx(2**0.5))
    assert grouped([("b", 1), ("a", 2), ("b", 3)], 1) == {("b",): [("b", 1), ("b", 3)], ("a",): [("a", 2)]}
