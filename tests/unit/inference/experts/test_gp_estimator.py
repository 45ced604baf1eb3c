"""The Gaussian process as an estimator: what it takes, what it refuses, what it says, asks next and learns on from."""

# mypy: disable-error-code="attr-defined, arg-type, dict-item"
# what is fitted has names that not all learners share

from __future__ import annotations

import copy
from pathlib import Path

import numpy as np
import pytest
from gp_problems import labelled_clusters

from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.domain.errors import Cancelled, InvalidInputError, NotConvergedWarning, NotFittedError, UserError
from crowdclust_app.inference.aggregators import DawidSkene
from crowdclust_app.inference.aggregators.iterations import FitStep
from crowdclust_app.inference.experts import ActiveSet, GaussianProcessExperts
from crowdclust_app.inference.experts.features import NO_FEATURES, SIGN
from crowdclust_app.inference.experts.next_question import entropy
from crowdclust_app.inference.experts.remarks import GOLD_CONTRADICTS
from crowdclust_app.io.label_tables import read_labels
from crowdclust_app.io.tables import read_truth

FIELDS = (
    "tasks_", "workers_", "classes_", "probabilities_", "labels_", "codes_", "ties_", "tied_classes_", "label_counts_",
    "worker_label_counts_", "accuracy_", "accuracy_sd_", "sensitivity_", "sensitivity_sd_", "specificity_",
    "specificity_sd_", "prevalence_", "tasks_without_labels_", "n_dropped_", "n_repeated_", "n_conflicting_",
    "repeats_", "n_iterations_", "converged_", "lower_bounds_", "notes_", "seed_", "seconds_", "expertise_",
    "expertise_sd_", "expertise_interval_", "agreement_", "noise_", "honesty_", "consensus_", "class_probability_",
    "predicted_", "kernel_", "active_rows_", "evidence_", "warnings_",
)  # fmt: skip


def quick(**settings: object) -> GaussianProcessExperts:
    return GaussianProcessExperts(learn_kernel=False, **settings)


def table_of(matrix: np.ndarray, names: list[str]) -> dict[str, list[object]]:
    item, worker = np.nonzero(matrix)
    said = ["yes" if value > 0 else "no" for value in matrix[item, worker]]
    return {"task": [names[i] for i in item], "worker": [f"w{j}" for j in worker], "label": said}


def all_finite(model: GaussianProcessExperts) -> bool:
    per_item = (model.probabilities_, model.class_probability_)
    per_worker = (model.expertise_, model.expertise_sd_, model.expertise_interval_, model.accuracy_)
    rest = np.array([model.agreement_, model.noise_, model.honesty_, model.evidence_])
    return all(np.isfinite(values).all() for values in (*per_item, *per_worker, rest))


def test_every_field_of_an_aggregator_is_there_in_the_order_of_the_features() -> None:
    X, _, matrix = labelled_clusters(60, 0.4, seed=1)
    matrix[[3, 7]] = 0
    model = quick().fit(X, matrix)
    assert [name for name in FIELDS if not hasattr(model, name)] == []
    assert model.tasks_ == tuple(range(60))
    assert model.tasks_without_labels_ == (3, 7)
    assert np.flatnonzero(model.predicted_).tolist() == [3, 7]
    assert model.probabilities_.sum(axis=1) == pytest.approx(1.0)
    alone = model.predict_proba(X[[3, 7]])[:, 1]
    assert model.consensus_[[3, 7]] == pytest.approx(alone, abs=1e-9)
    assert model.noise_ == pytest.approx(1.0 - model.agreement_)
    clean = model.predict_proba(X[[3, 7]], clean=True)[:, 1]
    assert alone == pytest.approx(model.agreement_ * clean + model.noise_ * (1 - clean))
    assert isinstance(model.fit(X, matrix), GaussianProcessExperts)


def test_names_in_any_order_give_the_same_as_numbers() -> None:
    X, _, matrix = labelled_clusters(50, 0.5, seed=2)
    names = [f"photo {number}" for number in range(50)]
    by_number = quick().fit(X, matrix)
    columns = table_of(matrix, names)
    order = np.random.default_rng(0).permutation(len(columns["task"]))
    shuffled = {name: [column[at] for at in order] for name, column in columns.items()}
    by_name = quick().fit(X, shuffled, items=names)
    assert by_name.classes_.tolist() == ["no", "yes"]
    assert by_name.probabilities_ == pytest.approx(by_number.probabilities_, abs=1e-9)
    three = quick().fit(X, columns["task"], columns["worker"], columns["label"], items=np.array(names))
    assert three.probabilities_ == pytest.approx(by_number.probabilities_, abs=1e-9)
    assert set(by_name.predict(X[:3])) <= {"yes", "no"}


def test_the_same_call_gives_the_same_bits() -> None:
    X, _, matrix = labelled_clusters(80, 0.4, seed=3)
    first, second = (GaussianProcessExperts(seed=4).fit(X, matrix) for _ in range(2))
    assert np.array_equal(first.probabilities_, second.probabilities_)
    assert first.lower_bounds_ == second.lower_bounds_


@pytest.mark.parametrize(
    ("X", "matrix", "what"),
    [
        (np.array([[1.0], [np.nan]]), np.ones((2, 1)), "not a finite number"),
        (np.array([[1.0], [np.inf]]), np.ones((2, 1)), "not a finite number"),
        (np.ones(3), np.ones((3, 1)), "not a matrix"),
        ([["a"], ["b"]], np.ones((2, 1)), "not all numbers"),
        (np.ones((3, 1)), np.ones((2, 1)), "labels for 2 items and features for 3"),
        (np.ones((2, 1)), np.array([[2], [0]]), "none of -1, 0 and 1"),
        (np.ones((2, 1)), np.array([[np.nan], [0]]), "none of -1, 0 and 1"),
        (np.ones((2, 1)), {"task": [0, 5], "worker": [1, 1], "label": [0, 1]}, "5 has labels and no features"),
        (np.ones((2, 1)), {"task": [0, 1, 1], "worker": [1, 1, 1], "label": ["a", "b", "c"]}, "two classes"),
        (np.ones((2, 1)), {"task": [0], "worker": [1], "label": ["good"]}, "every label is good"),
        (np.ones((2, 1)), {"task": [0], "label": [1]}, "no column worker"),
    ],
)
def test_what_nothing_can_be_learned_from_is_refused_in_a_sentence(X: object, matrix: object, what: str) -> None:
    with pytest.raises(UserError, match=what):
        quick().fit(X, matrix)


@pytest.mark.parametrize(
    "settings",
    [
        {"expertise_prior": (1.0, 2.0)},
        {"agreement_prior": (20.0, 0.5)},
        {"expertise_prior": "high"},
        {"amplitude": 0.0},
        {"length_scale": -1.0},
        {"intercept": -0.1},
        {"active_set": 400},
        {"active_set": ActiveSet(size=1)},
        {"active_set": ActiveSet(rule="best")},
        {"max_iterations": 0},
        {"ties": "both"},
        {"repeats": "some"},
    ],
)
def test_parameters_are_kept_by_the_constructor_and_refused_by_fit(settings: dict[str, object]) -> None:
    model = GaussianProcessExperts(**settings)
    assert {name: model.get_params()[name] for name in settings} == settings
    with pytest.raises(ValueError, match=r".") as refused:
        model.fit(np.ones((2, 1)), np.ones((2, 1)))
    assert isinstance(refused.value, InvalidInputError)


def test_names_that_do_not_fit_are_refused() -> None:
    for items, what in ((["a", "a"], "a has two rows"), (["a"], "1 names of items for 2 rows")):
        with pytest.raises(UserError, match=what):
            quick().fit(np.ones((2, 1)), {"task": ["a"], "worker": [1], "label": [1]}, items=items)
    with pytest.raises(NotFittedError, match="not fitted"):
        quick().predict_proba()
    with pytest.raises(UserError, match="of the class 7"):
        quick().fit(np.ones((2, 1)), np.ones((2, 1)), gold={0: 7})
    model = quick().fit(np.ones((2, 1)), np.ones((2, 1)))
    with pytest.raises(UserError, match="2 columns"):
        model.predict_proba(np.ones((1, 2)))
    with pytest.raises(ValueError, match="no parameter colour"):
        model.set_params(colour=1)


def test_a_worker_without_labels_has_the_prior() -> None:
    X, _, matrix = labelled_clusters(60, 0.5, seed=5)
    matrix[:, 4] = 0
    model = quick().fit(X, matrix)
    assert model.expertise_[4] == pytest.approx(2 / 3)
    assert model.expertise_sd_[4] == pytest.approx(0.2)
    assert all_finite(model)


def test_no_labels_at_all_are_an_even_chance_and_a_first_question() -> None:
    X = np.random.default_rng(0).normal(size=(9, 3))
    for labels in (np.zeros((9, 2)), {"task": [], "worker": [], "label": []}):
        model = quick().fit(X, labels)
        assert model.consensus_ == pytest.approx(0.5)
        assert model.predict_proba(X + 1)[:, 1] == pytest.approx(0.5)
        assert model.expertise_ == pytest.approx(2 / 3)
        assert model.warnings_ == ("nobody has labelled anything yet: every item has an even chance",)
        question = model.next_question(["a newcomer"])
        assert question is not None
        assert (question.item, question.worker, question.entropy) == (0, "a newcomer", 1.0)
        assert all_finite(model)


def test_no_items_at_all_predict_from_the_prior() -> None:
    model = quick(standardise=False).fit(np.empty((0, 2)), {"task": [], "worker": [], "label": []})
    assert model.probabilities_.shape == (0, 2)
    assert model.predict_proba(np.ones((3, 2)))[:, 1] == pytest.approx(0.5)
    assert model.next_question(["anybody"]) is None


@pytest.mark.parametrize("value", [1, -1])
def test_one_class_only_is_said(value: int) -> None:
    X = np.random.default_rng(0).normal(size=(40, 2))
    model = GaussianProcessExperts().fit(X, np.full((40, 3), value))
    share = model.predict_proba(X)[:, 1]
    assert (np.abs(share - (value > 0)) < 0.05).all()
    assert (model.expertise_ > 0.95).all()
    assert any("every label is" in sentence for sentence in model.warnings_)
    assert all_finite(model)


def test_hostile_features_are_survived() -> None:
    X, truth, matrix = labelled_clusters(60, 0.5, seed=6)
    plain = quick(standardise=False).fit(X, matrix)
    for scale in (1e6, 1e-6):
        scaled = quick(standardise=False).fit(X * scale, matrix)
        assert scaled.consensus_ == pytest.approx(plain.consensus_, abs=1e-6)
    constant = quick().fit(np.ones((60, 2)), matrix)
    assert "all items have the same features, which cannot help" in constant.warnings_
    twice = np.repeat(X[:5], 12, axis=0)
    repeated = GaussianProcessExperts().fit(twice, matrix)
    one = quick().fit(X[:1], matrix[:1] + (matrix[:1] == 0))
    assert all(all_finite(model) for model in (constant, repeated, one))
    for standardise in (True, False):
        huge = quick(standardise=standardise).fit(X * 1e300, matrix)
        assert all_finite(huge)
        assert np.isfinite(huge.predict_proba(np.array([[1.7e308, -1.7e308, 0, 1, 1e200, -5]]))).all()
        tiny = quick(standardise=standardise).fit(X * 1e-300, matrix)
        assert all_finite(tiny)
        assert np.isfinite(tiny.predict_proba(X * 1e200)).all()
    wide = quick().fit(np.random.default_rng(1).normal(size=(20, 300)), matrix[:20])
    assert all_finite(wide)
    assert ((plain.consensus_ > 0.5) == truth).mean() > 0.9


def test_repeated_labels_count_as_often_as_they_are_given() -> None:
    X, _, matrix = labelled_clusters(30, 0.6, seed=7)
    item, worker = np.nonzero(matrix)
    label = (matrix[item, worker] > 0).astype(int)
    once = quick().fit(X, item, worker, label)
    twice = quick().fit(X, np.tile(item, 2), np.tile(worker, 2), np.tile(label, 2))
    assert twice.worker_label_counts_.tolist() == (2 * once.worker_label_counts_).tolist()
    assert (twice.expertise_sd_ < once.expertise_sd_).all()


def test_sentences_say_what_is_doubtful() -> None:
    X, truth, matrix = labelled_clusters(60, 0.5, seed=8)
    single = np.zeros_like(matrix)
    single[np.arange(60), np.arange(60) % 3] = 2 * truth - 1
    assert any("hardly any item has two labels" in sentence for sentence in quick().fit(X, single).warnings_)
    noise = np.random.default_rng(1).choice([-1, 1], size=(60, 2))
    assert SIGN in quick().fit(X, noise).warnings_
    few = quick().fit(X, np.where(np.arange(60)[:, None] < 4, matrix, 0))
    assert any("only" in sentence and "labels" in sentence for sentence in few.warnings_)
    assert any("fewer than 5 labels" in sentence for sentence in few.warnings_)
    with pytest.warns(NotConvergedWarning, match="raise max_iterations"):
        short = quick(max_iterations=1).fit(X, matrix)
    assert any("did not converge" in sentence for sentence in short.notes_)
    assert not short.converged_


def test_gold_items_that_contradict_nearly_everybody_are_doubted() -> None:
    X, truth, matrix = labelled_clusters(60, 0.5, seed=8)
    honest = quick().fit(X, matrix, gold={item: int(truth[item]) for item in range(8)})
    assert GOLD_CONTRADICTS not in honest.warnings_
    swapped = quick().fit(X, matrix, gold={item: int(1 - truth[item]) for item in range(8)})
    assert swapped.warnings_[0] == GOLD_CONTRADICTS


def test_without_features_it_is_dawid_and_skene_and_says_so() -> None:
    _, _, matrix = labelled_clusters(60, 0.5, seed=9)
    names = [f"p{number}" for number in range(60)]
    columns = table_of(matrix, names)
    model = GaussianProcessExperts().fit(None, columns, gold={"p0": "yes"})
    plain = DawidSkene().fit(columns)
    assert model.probabilities_ == pytest.approx(plain.probabilities_)
    assert model.tasks_ == plain.tasks_
    assert np.array_equal(model.sensitivity_, plain.sensitivity_)
    assert NO_FEATURES in model.warnings_
    assert any("gold items were not used" in sentence for sentence in model.warnings_)
    assert [name for name in FIELDS if not hasattr(model, name)] == []
    assert model.next_question() is not None
    assert model.update(columns).probabilities_ == pytest.approx(plain.probabilities_)
    with pytest.raises(UserError, match="had no features"):
        model.predict_proba(np.ones((2, 1)))


def test_it_reports_and_stops_within_a_sweep() -> None:
    X, _, matrix = labelled_clusters(80, 0.5, seed=10)
    steps: list[FitStep] = []
    GaussianProcessExperts().fit(X, matrix, progress=steps.append)
    assert [step.iteration for step in steps] == list(range(1, len(steps) + 1))
    assert all(step.bound is not None and np.isfinite(step.bound) for step in steps)
    token = CancelToken()

    def stop(step: FitStep) -> None:
        token.cancel()
        seen.append(step)

    seen: list[FitStep] = []
    with pytest.raises(Cancelled):
        GaussianProcessExperts().fit(X, matrix, progress=stop, cancel=token)
    assert len(seen) == 1


def test_a_cancelled_update_changes_nothing() -> None:
    X, _, matrix = labelled_clusters(60, 0.4, seed=11)
    model = quick().fit(X, np.where(np.arange(60)[:, None] < 30, matrix, 0))
    before = model.probabilities_.copy()
    token = CancelToken()
    with pytest.raises(Cancelled):
        model.update(matrix, progress=lambda _: token.cancel(), cancel=token)
    assert np.array_equal(model.probabilities_, before)
    assert model.update(matrix).predicted_.sum() == (~matrix.any(axis=1)).sum()


def test_a_cancelled_or_refused_fit_leaves_the_one_before() -> None:
    X, _, matrix = labelled_clusters(60, 0.4, seed=11)
    model = quick().fit(X, matrix)
    before, question = model.probabilities_.copy(), model.next_question([4])
    token = CancelToken()
    with pytest.raises(Cancelled):
        model.fit(X[:40] * 2, matrix[:40], progress=lambda _: token.cancel(), cancel=token)
    with pytest.raises(InvalidInputError):
        model.fit(X[:30], matrix)
    assert np.array_equal(model.probabilities_, before)
    assert model.next_question([4]) == question
    assert len(model.predict_proba()) == 60


def test_a_copy_learns_on_while_the_first_one_answers() -> None:
    X, _, matrix = labelled_clusters(60, 0.4, seed=16)
    first = quick().fit(X, np.where(np.arange(60)[:, None] < 25, matrix, 0))
    kept = {name: np.copy(getattr(first, name)) for name in ("probabilities_", "expertise_", "predicted_")}
    question = first.next_question()
    second = copy.copy(first).update(matrix)
    assert all(np.array_equal(getattr(first, name), value) for name, value in kept.items())
    assert first.next_question() == question
    assert second.predicted_.sum() < first.predicted_.sum()
    assert not any("did not converge" in sentence for sentence in second.notes_)


def test_on_bluebirds_without_features_it_has_dawid_and_skenes_error(shared_data: Path) -> None:
    folder = shared_data / "labels" / "bluebirds"
    rows, truth = read_labels(folder / "labels.csv"), read_truth(folder / "truth.csv")
    model = GaussianProcessExperts().fit(None, rows.task, rows.worker, rows.label)
    wrong = [str(label) != truth[str(task)] for task, label in zip(model.tasks_, model.labels_, strict=True)]
    assert np.mean(wrong) == pytest.approx(0.102, abs=6e-4)
    assert NO_FEATURES in model.warnings_


def test_the_least_certain_item_goes_to_whoever_tells_most() -> None:
    X, _, matrix = labelled_clusters(200, 0.6, seed=12)
    matrix[60:] = 0
    model = quick().fit(X, matrix)
    question = model.next_question()
    assert question is not None
    open_ = np.flatnonzero(model.predicted_)
    doubt = entropy(model.consensus_)
    assert doubt[question.item] == pytest.approx(doubt[open_].max())
    assert question.entropy == pytest.approx(doubt[question.item])
    assert question.worker in (0, 1, 2, 8, 9)
    assert 0.0 < question.information < question.entropy
    spammers = model.next_question([3, 4, 5])
    assert spammers is not None
    assert spammers.worker in (3, 4, 5)
    assert spammers.information < question.information
    assert model.next_question([8, 3], honest_only=True).worker == 3
    assert model.next_question([8, 3]).worker == 8
    assert model.next_question([3, "somebody new"]).worker == "somebody new"
    assert model.next_question([]) is None
    only = model.next_question(candidates=[70, 71])
    assert only is not None
    assert only.item in (70, 71)
    with pytest.raises(UserError, match="was not in the fit"):
        model.next_question(candidates=["elsewhere"])
    assert model.rank_workers()[0] == question.worker
    assert set(model.rank_workers([3, 0])) == {0, 3}


def test_nobody_is_asked_the_same_twice() -> None:
    X, _, matrix = labelled_clusters(6, 1.0, seed=13)
    model = quick().fit(X, matrix)
    assert model.next_question() is None
    matrix[2, 4] = 0
    model.update(matrix)
    question = model.next_question()
    assert question is not None
    assert (question.item, question.worker) == (2, 4)
    assert model.next_question([0]) is None


def test_learning_on_reaches_what_a_fresh_fit_reaches() -> None:
    X, truth, matrix = labelled_clusters(150, 0.4, seed=14)
    names = [f"p{number}" for number in range(150)]
    half = np.where(np.arange(150)[:, None] < 75, matrix, 0)
    half[:, 9] = 0
    model = quick(tolerance=1e-4).fit(X, table_of(half, names), items=names)
    assert len(model.workers_) == 9
    model.update(table_of(matrix, names))
    fresh = quick(tolerance=1e-4).fit(X, table_of(matrix, names), items=names)
    assert model.workers_ == fresh.workers_
    assert model.consensus_ == pytest.approx(fresh.consensus_, abs=0.02)
    assert model.expertise_ == pytest.approx(fresh.expertise_, abs=0.02)
    gold = {names[row]: ["no", "yes"][truth[row]] for row in range(6)}
    anchored = model.update(table_of(matrix, names), gold=gold)
    assert [anchored.labels_[row] for row in range(6)] == list(gold.values())


def test_the_kernel_is_learned_again_now_and_then() -> None:
    X, _, matrix = labelled_clusters(60, 0.5, seed=15)
    model = GaussianProcessExperts(relearn_every=2).fit(X, np.where(np.arange(60)[:, None] < 25, matrix, 0))
    first = model.kernel_
    assert model.update(matrix).kernel_ == first
    assert model.update(matrix).kernel_ != first
