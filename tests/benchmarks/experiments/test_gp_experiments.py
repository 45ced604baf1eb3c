"""The experiments with a crowd and features give every method and strategy the same people with the same luck."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.experiments.expert_sets import (
    TEN_WORKERS,
    FeatureSet,
    LearnedClasses,
    answers,
    asked,
    copies,
    drawn_signs,
    kinds_of,
    negative_log,
    right_share,
    split,
)
from benchmarks.experiments.gp import (
    BOTH_ENDS,
    CURVE,
    FIGURES,
    FOUR,
    Asking,
    Crowds,
    questions_needed,
    run_asking,
    run_crowds,
)
from benchmarks.experiments.gp_active_sets import FIGURES as OF_SETS
from benchmarks.experiments.gp_active_sets import ActiveRule, ActiveSets, run_active_sets
from benchmarks.experiments.results import Watch
from benchmarks.expert_learners import AskingLearner, ExpertLearner
from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.domain.errors import Cancelled

SILENT = Watch()


class Oracle:
    """Knows the truth by the first feature; `mute` says nothing of workers."""

    def __init__(self) -> None:
        self.given: list[np.ndarray] = []

    def __call__(self, train: FeatureSet, said: np.ndarray, test: np.ndarray, method: str, seed: int) -> LearnedClasses:
        self.given.append(said)
        workers = np.empty(0) if method == "mute" else np.array(TEN_WORKERS) + 0.01
        return LearnedClasses(test[:, 0], train.X[:, 0], workers, workers * 0 + 0.02, 0.5)

    def kernel(self, train: FeatureSet, said: np.ndarray, seed: int) -> tuple[float, float]:
        self.given.append(said)
        return 2.0, 3.0

    def learn(self, train: FeatureSet, said: np.ndarray, test: np.ndarray, kernel: tuple[float, float],
              active: ActiveRule, seed: int) -> LearnedClasses:  # fmt: skip
        assert kernel == (2.0, 3.0)
        self.given.append(said)
        return self(train, said, test, active.rule, seed)


class Patient:
    """Asks about the first item and the last worker first; notes what it learned from."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.seen: list[int] = []

    def learn(self, said: np.ndarray) -> None:
        self.seen.append(int(np.abs(said).sum()))

    def predict(self, X: np.ndarray) -> np.ndarray:
        return X[:, 0] if self.seen[-1] > 30 else 1.0 - X[:, 0]

    def item(self, candidates: np.ndarray) -> int:
        return int(candidates[0])

    def workers(self) -> list[int]:
        return [9, 8, 7, 6, 5, 4, 3, 2, 1, 0]

    def expertise(self) -> np.ndarray:
        return np.array(TEN_WORKERS) if self.kind == "joint" else np.empty(0)


def plain(count: int = 60) -> FeatureSet:
    truth = np.arange(count) % 2
    return FeatureSet("plain", np.column_stack([truth, np.ones(count)]).astype(float), truth)


def test_every_method_gets_the_same_labels() -> None:
    oracle = Oracle()
    outcome = run_crowds(Crowds((0, 1), (plain(),), ("gp", "mute"), (0.4,), 20), oracle, SILENT)
    assert len(oracle.given) == 4
    assert np.array_equal(oracle.given[0], oracle.given[1])
    assert not np.array_equal(oracle.given[0], oracle.given[2])
    rows = [dict(zip(FIGURES, row, strict=True)) for row in outcome.figures.rows]
    assert [row["method"] for row in rows] == ["gp", "mute"]
    assert rows[0]["accuracy"] == rows[0]["label_accuracy"] == rows[0]["covered"] == 1.0
    assert rows[0]["expertise_error"] == pytest.approx(0.01)
    assert rows[0]["worst_expert"] == pytest.approx(0.91)
    assert rows[0]["worst_adversary"] == pytest.approx(0.21)
    assert rows[1]["expertise_error"] is None
    assert tuple(outcome.panels[0].series[0].heights) == (1.0, 1.0)


def test_strategies_ask_as_often_and_stop_when_nothing_is_left() -> None:
    made: list[Patient] = []

    def make(items: FeatureSet, kind: str, seed: int) -> Patient:
        made.append(Patient(kind))
        return made[-1]

    settings = Asking((0,), (plain(),), (*FOUR, *BOTH_ENDS), pool=12, start=2, rounds=50, every=2)
    outcome = run_asking(settings, make, SILENT)
    rows = [dict(zip(CURVE, row, strict=True)) for row in outcome.figures.rows]
    assert {row["strategy"] for row in rows} == {one.name for one in (*FOUR, *BOTH_ENDS)}
    for learner in made:
        # votes guide no question: they are learned from only when the accuracy is taken
        step = 1 if learner.kind == "joint" else settings.every
        assert learner.seen == [20 + 3 * number for number in range(0, 11, step)]
    of_majority = [row for row in rows if row["strategy"] == "uniform, majority"]
    assert all(row["expertise_error"] is None for row in of_majority)
    first = [row for row in rows if row["strategy"] == FOUR[0].name]
    assert [row["questions"] for row in first] == [20, 26, 32, 38, 44, 50]
    assert [row["accuracy"] for row in first] == [0.0, 0.0, 1.0, 1.0, 1.0, 1.0]
    assert questions_needed(outcome, 0.9)["plain", FOUR[0].name] == 32
    assert questions_needed(outcome, 1.1)["plain", FOUR[0].name] is None


def test_active_sets_are_compared_with_every_site() -> None:
    oracle = Oracle()
    settings = ActiveSets((0,), plain(90), (40, 80), (20, 50), 40, base=30, kernel_items=10)
    outcome = run_active_sets(settings, oracle, SILENT)
    rows = [dict(zip(OF_SETS, row, strict=True)) for row in outcome.figures.rows]
    assert [len(said) for said in oracle.given if len(said) == 10] == [10, 10]
    assert {(row["items"], row["size"]) for row in rows} == {(40, 20), (40, 40), (80, 20), (80, 50)}
    assert sum(row["rule"] == "full" for row in rows) == 1
    assert all(row["seconds"] == 0.5 for row in rows)
    assert len(outcome.panels) == 2


def test_an_experiment_can_be_stopped() -> None:
    token = CancelToken()
    watch = Watch(lambda done, total, text: token.cancel(), token)
    with pytest.raises(Cancelled):
        run_crowds(Crowds((0,), (plain(),), ("gp", "mute"), (0.4,), 20), Oracle(), watch)


def test_drawn_signs_can_be_told_apart_and_copied() -> None:
    signs = drawn_signs(300, 1)
    assert signs.X.shape == (300, 64)
    assert 0.2 < signs.truth.mean() < 0.8
    assert np.array_equal(signs.X, drawn_signs(300, 1).X)
    rng = np.random.default_rng(0)
    train, test = split(signs, 200, rng)
    assert len(test.X) == 100
    nearest = np.square(test.X[:, None] - train.X[None]).sum(axis=2).argmin(axis=1)
    assert (train.truth[nearest] == test.truth).mean() > 0.8
    more = copies(test, 250, rng)
    assert more.X.shape == (250, 64)
    assert np.array_equal(more.truth[:100], test.truth)
    assert 0.0 < np.abs(more.X[:100] - test.X).mean() < 0.5
    flat = copies(plain(), 70, rng)
    assert np.array_equal(flat.truth[:60], plain().truth)


def test_people_are_right_as_often_as_they_are_said_to_be() -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 4000)
    said = answers(truth, TEN_WORKERS, rng)
    assert (said == (2 * truth - 1)[:, None]).mean(axis=0) == pytest.approx(TEN_WORKERS, abs=0.04)
    assert (asked(said, 0.3, rng) != 0).mean() == pytest.approx(0.3, abs=0.02)
    assert [int(kind.sum()) for kind in kinds_of(TEN_WORKERS)] == [3, 5, 2]
    assert right_share(np.array([0.9, 0.5, 0.2]), np.array([1, 1, 1])) == 0.5
    assert negative_log(np.array([0.5, 0.5]), np.array([0, 1])) == pytest.approx(np.log(2))


def test_the_program_s_own_learners_take_part() -> None:
    signs = drawn_signs(260, 2)
    methods = ("gp", "majority+gp", "em+gp", "dawid-skene+gp", "experts", "gold+gp")
    outcome = run_crowds(Crowds((0,), (signs,), methods, (0.5,), 120), ExpertLearner(), SILENT)
    accuracy = {row[2]: row[4] for row in outcome.figures.rows}
    assert list(accuracy) == list(methods)
    assert accuracy["gp"] > 0.8
    assert accuracy["gp"] > accuracy["majority+gp"]
    asking = Asking((0,), (signs,), BOTH_ENDS, pool=120, start=6, rounds=4, every=4)
    rows = run_asking(asking, AskingLearner, SILENT).figures.rows
    assert [row[4] for row in rows] == [60, 72, 60, 72]
    sets = ActiveSets((0,), signs, (150,), (40,), 150, base=150, kernel_items=80)
    found = run_active_sets(sets, ExpertLearner(), SILENT).figures.rows
    assert {row[3] for row in found} == {"random", "predictive", "variance", "full"}
    assert all(0.4 < row[6] <= 1.0 for row in found)
