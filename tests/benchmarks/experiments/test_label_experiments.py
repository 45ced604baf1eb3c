"""The experiments with labels give every method the same labels and judge it by the truth, ties half."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from benchmarks.experiments.asking import Margin
from benchmarks.experiments.label_aggregators import (
    CURVES,
    Aggregators,
    Contestant,
    Graph,
    GraphPanel,
    run_aggregators,
    spammers,
)
from benchmarks.experiments.labelling import KnownSet, Verdicts, error_rate, oracle_scores
from benchmarks.experiments.published import TABLE2, remark
from benchmarks.experiments.results import Watch
from benchmarks.experiments.sbic import Sampling, run_sampling
from benchmarks.experiments.theorems import bound
from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.domain.errors import Cancelled
from crowdclust_app.evaluation.label_simulation import LabelledTasks, SimulatedLabels

SILENT = Watch()


class Judge:
    """Counts votes; `against` turns the answer round, `mute` has none. Notes what it was given."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, object, int, bool]] = []
        self.given: list[SimulatedLabels] = []

    def __call__(
        self, labels: SimulatedLabels, method: str, prior: object, seed: int, *, rough: bool = False
    ) -> Verdicts:
        self.calls.append((method, prior, seed, rough))
        self.given.append(labels)
        scores = np.bincount(labels.task, weights=2.0 * labels.label - 1.0, minlength=labels.n_tasks)
        return Verdicts(scores * {"against": -1, "mute": 0}.get(method, 1), 0.25)  # type: ignore[arg-type]


def a_set(name: str = "rte") -> KnownSet:
    task = np.repeat(np.arange(4), 3)
    worker = np.tile(np.arange(3), 4)
    label = np.array([1, 1, 0, 0, 0, 0, 1, 0, 1, 1, 1, 1])
    return KnownSet(name, LabelledTasks(SimulatedLabels(4, 3, task, worker, label), np.array([1, 0, 0, -1])))


def test_errors_count_ties_half_and_only_what_is_known() -> None:
    truth = np.array([1, 0, 1, 0, -1])
    assert error_rate(np.array([2.0, -1.0, -1.0, 0.0, 9.0]), truth) == 1.5 / 4
    labels = SimulatedLabels(5, 1, np.array([0, 2]), np.array([0, 0]), np.array([1, 0]))
    assert error_rate(np.array([2.0, -1.0, -1.0, 0.0, 9.0]), truth, labels) == 0.5
    assert np.isnan(error_rate(np.zeros(2), np.array([-1, -1])))


def test_an_oracle_weighs_workers_by_what_they_are_worth() -> None:
    labels = SimulatedLabels(3, 3, np.array([0, 0, 0, 1, 2]), np.array([0, 1, 2, 1, 0]), np.array([1, 0, 0, 1, 1]))
    scores = oracle_scores(labels, np.array([0.9, 0.5, 0.2]))
    assert scores == pytest.approx([np.log(9) + np.log(4), 0.0, np.log(9)])
    assert scores[1] == 0


def sampling(**changes: Any) -> Sampling:
    plain = Sampling(
        ("majority", "slow", "against"), (0, 1), ("majority", "slow"), 40, 5, uniform=(3, 6), uncertainty=(3, 6),
        labels_per_fit=10, slow=frozenset({"slow"}), slow_labels_per_fit=20,
    )  # fmt: skip
    return replace(plain, **changes)


def test_sampling_has_every_method_at_every_number_of_labels() -> None:
    judge, told = Judge(), []
    outcome = run_sampling(sampling(), judge, Margin, Watch(lambda *news: told.append(news[:2])))
    rows = {row[:4]: dict(zip(outcome.trials.header, row, strict=True)) for row in outcome.trials.rows}
    assert list(rows) == [
        (policy, method, count, seed)
        for policy, methods in (("uniform", ("majority", "slow", "against")), ("uncertainty", ("majority", "slow")))
        for method in methods
        for count in (3, 6)
        for seed in (0, 1)
    ]
    assert told == [(number, 10) for number in range(10)]
    for count in (3, 6):
        one, other = rows["uniform", "majority", count, 1], rows["uniform", "against", count, 1]
        assert one["error"] + other["error"] == pytest.approx(1.0)
    assert rows["uncertainty", "slow", 6, 0]["run_ms"] > rows["uncertainty", "slow", 3, 0]["run_ms"] > 0
    assert [rows["uncertainty", m, 3, 0]["labels_per_fit"] for m in ("majority", "slow")] == [1, 20]
    # between fits the order of the tasks is enough; errors are from proper fits under the workers' own prior
    assert {(method, rough) for method, _, _, rough in judge.calls} == {
        ("majority", False), ("slow", False), ("against", False), ("slow", True),
    }  # fmt: skip
    assert {prior for _, prior, _, _ in judge.calls} == {(4.0, 3.0)}
    assert {len(labels) for labels in judge.given} >= {120, 240}
    (figure_2a, figure_2b, figure_3) = outcome.panels
    assert [curve.name for curve in figure_2a.curves] == ["majority", "slow", "against"]
    assert [tuple(curve.x) for curve in figure_3.curves] == [(3, 6), (3, 6)]
    assert figure_2b.log == "y"


def test_sbic_is_drawn_with_its_bounds() -> None:
    outcome = run_sampling(
        sampling(methods=("sbic-fast", "sbic-sorted"), adaptive=("sbic-fast",)), Judge(), Margin, SILENT
    )
    rows = {row[:3]: dict(zip(outcome.figures.header, row, strict=True)) for row in outcome.figures.rows}
    assert rows["uniform", "sbic-sorted", 6]["bound"] == pytest.approx(bound("uniform", "sorted", 6, 5, 4.0, 3.0))
    assert rows["uncertainty", "sbic-fast", 3]["bound"] == pytest.approx(bound("uncertainty", "fast", 3, 5, 4.0, 3.0))
    figure_2a = outcome.panels[0]
    assert [curve.like for curve in figure_2a.curves] == ["", "", "sbic-fast", "sbic-sorted"]
    assert figure_2a.curves[3].y[1] == rows["uniform", "sbic-sorted", 6]["bound"]


def test_real_sets_are_held_against_the_published_table() -> None:
    judge = Judge()
    settings = sampling(methods=("majority", "sbic-fast"), adaptive=(), known=(a_set(), a_set("mine")))
    (sheet,) = run_sampling(settings, judge, Margin, SILENT).sheets
    rows = {row[:2]: dict(zip(sheet.header, row, strict=True)) for row in sheet.rows}
    # two of three known tasks are right
    assert rows["rte", "majority"]["error"] == pytest.approx(1 / 3)
    assert rows["rte", "majority"]["difference"] == pytest.approx(1 / 3 - 0.1)
    assert "tie counts one half" in rows["rte", "majority"]["remark"]
    assert (rows["rte", "majority"]["seeds"], rows["rte", "sbic-fast"]["seeds"]) == (1, 2)
    assert rows["mine", "majority"]["published"] is None
    assert rows["mine", "majority"]["remark"] == "not in the paper"
    assert ("sbic-fast", (2.0, 1.0), 1, False) in judge.calls


def test_a_difference_has_a_reason_and_no_difference_has_none() -> None:
    for data, methods in TABLE2.items():
        for method, error in methods.items():
            assert remark(data, method, error + 0.004, 0.0) == "as published"
            assert remark(data, method, error + 0.03, 0.02) == "as published"
            assert len(remark(data, method, error + 0.03, 0.0)) > 20
    assert remark("rte", "bp", 0.5, 0.0) == "not in the paper"
    assert remark("trec2011_gold", "em", 0.2, 0.0) == "not the paper's 711 tasks"


def test_graphs_are_those_of_the_paper() -> None:
    points = {curve.figure: curve.points for curve in CURVES}
    assert list(points) == ["1a", "1b", "1c", "2a", "2b", "2c", "2d"]
    assert {(p.tasks_per_worker, p.prior == {0.5: 0.5, 0.9: 0.5}) for p in points["1a"]} == {(5, True)}
    assert {p.workers_per_task for p in points["1b"]} == {15}
    assert all(p.workers_per_task == p.tasks_per_worker == p.x for p in points["1c"])
    assert all(sum(p.prior) == p.x and p.prior[0] == 0.6 * p.x for p in points["2a"])
    assert all(sum(p.prior) == 1 and p.prior[0] == p.x for p in points["2b"])
    assert all(
        (p.workers_per_task, p.tasks_per_worker) == (9, 9) for name in ("2a", "2b", "2c", "2d") for p in points[name]
    )
    assert points["2c"][1].prior == {0.5: 0.45, 0.9: 0.55}
    assert points["2d"][2].prior == pytest.approx({0.1: 0.1, 0.5: 0.45, 0.9: 0.45})
    assert spammers(0.5) == {0.5: 0.5, 0.9: 0.5}


def test_aggregators_judge_the_same_labels_with_their_own_priors() -> None:
    judge, told = Judge(), []
    curve = GraphPanel("2b", "", "", (Graph(0.7, 5, 5, (0.7, 0.3)),))
    who = (Contestant("MV", "majority"), Contestant("True", "bp", "true"), Contestant("Oracle", "oracle"))
    settings = Aggregators(
        (0, 1), 50, (curve,), who, (a_set(), a_set("mine")), (Contestant("no", "against"),),
        of_workers=(Contestant("MV", "majority"),), points=3,
    )  # fmt: skip
    outcome = run_aggregators(settings, judge, Watch(lambda *news: told.append(news[:2])))
    assert told == [(number, len(outcome.trials.rows)) for number in range(len(outcome.trials.rows))]
    rows = {row[:3]: dict(zip(outcome.figures.header, row, strict=True)) for row in outcome.figures.rows}
    assert {key[0] for key in rows} == {"2b", "3 rte", "3 mine", "Raykar 4 rte"}
    assert rows["2b", 0.7, "Oracle"]["error"] < rows["2b", 0.7, "MV"]["error"]
    assert ("bp", (0.7, 0.3), 1, False) in judge.calls
    assert ("majority", (2.0, 1.0), 1, False) in judge.calls
    of_graph = [labels for labels in judge.given if labels.n_tasks == 50]
    assert np.array_equal(of_graph[0].label, of_graph[1].label)
    # one, two and all three labels a task, judged by turning votes round
    assert [key[1] for key in rows if key[0] == "3 mine"] == [1, 2, 3]
    assert rows["3 mine", 3, "no"]["error"] == pytest.approx(2 / 3)
    # one worker labels every task of this set, so that both errors agree
    assert rows["Raykar 4 rte", 1, "MV"]["error"] == rows["Raykar 4 rte", 1, "MV"]["error_all"]
    assert [panel.title for panel in outcome.panels] == ["", "Figure 3 rte", "Figure 3 mine", "Raykar 4 rte"]
    raykar = outcome.panels[-1].curves[0]
    assert raykar.y[-1] == pytest.approx(1 - rows["Raykar 4 rte", 3, "MV"]["error_all"])


def test_tasks_without_labels_are_half_wrong_where_all_tasks_count() -> None:
    labels = SimulatedLabels(4, 2, np.array([0, 1]), np.array([0, 1]), np.array([1, 1]))
    known = KnownSet("rte", LabelledTasks(labels, np.array([1, 1, 1, 0])))
    who = (Contestant("MV", "majority"),)
    settings = Aggregators((0,), curves=(), known=(known,), of_sets=(), of_workers=who, points=2)
    rows = {row[:3]: row for row in run_aggregators(settings, Judge(), SILENT).figures.rows}
    assert rows["Raykar 4 rte", 1, "MV"][4:8:2] == (0.0, 1.5 / 4)
    assert rows["Raykar 4 rte", 2, "MV"][4:8:2] == (0.0, 1.0 / 4)


def test_both_stop_when_they_are_asked_to() -> None:
    token = CancelToken()
    stopping = Watch(lambda *_: token.cancel(), token)
    with pytest.raises(Cancelled):
        run_sampling(sampling(), Judge(), Margin, stopping)
    token = CancelToken()
    with pytest.raises(Cancelled):
        run_aggregators(Aggregators((0,), 90), Judge(), Watch(lambda *_: token.cancel(), token))
