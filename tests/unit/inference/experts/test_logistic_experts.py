"""Learning from experts by a logistic regression: against brute force, against finite differences, and bad inputs."""

# mypy: disable-error-code="arg-type, call-arg"
# data come in every form that fit takes

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from expert_problems import SENSITIVITY, SPECIFICITY, categories, two_coins
from scipy.special import log_expit

from crowdclust_app.inference.aggregators import DawidSkene, DawidSkeneMAP, Ordinal
from crowdclust_app.inference.experts import features
from crowdclust_app.inference.experts.logistic import LogisticExperts


def log_objective(
    model: LogisticExperts, X: np.ndarray, labels: tuple, weights: np.ndarray, matrices: np.ndarray
) -> float:
    """The observed log-likelihood by a sum over the classes of each item, and the log priors (section 13)."""
    total = 0.0
    for item, row in enumerate(X):
        eta = float(row @ weights[:-1] + weights[-1])
        terms = []
        for true in (0, 1):
            said = [(w, y) for t, w, y in zip(*labels, strict=True) if t == item]
            terms.append(float(log_expit(eta if true else -eta)) + sum(math.log(matrices[w, true, y]) for w, y in said))
        total += float(np.logaddexp(*terms)) if (labels[0] == item).any() else 0.0
    a, b = model.prior or (2.0, 2.0)
    for matrix in matrices:
        for true in (0, 1):
            total += (a - 1) * math.log(matrix[true, true]) + (b - 1) * math.log(matrix[true, 1 - true])
    precision = np.append(np.full(len(weights) - 1, model.ridge), 1e-6)
    return total - 0.5 * float((precision * weights**2).sum())


@pytest.mark.parametrize("prior", [(2.0, 2.0), (3.0, 1.5)])
def test_beliefs_and_objective_are_those_of_brute_force(prior: tuple[float, float]) -> None:
    X, _, labels = two_coins(9, 3, kept=0.7)
    model = LogisticExperts(prior=prior, tolerance=1e-13, max_iterations=5000).fit(X, *labels)
    scaled = features.fit_scaling(X).apply(X)
    weights = np.append(model.coef_, model.intercept_)
    # every assignment of classes to the items, weighted by its joint probability with the labels
    worlds = np.array(list(itertools.product((0, 1), repeat=len(X))))
    matrices = model.confusion_mode_
    eta = scaled @ model.coef_ + model.intercept_
    logs = np.where(worlds == 1, log_expit(eta), log_expit(-eta)).sum(axis=1)
    for task, worker, label in zip(*labels, strict=True):
        logs += np.log(matrices[worker, worlds[:, task], label])
    weight = np.exp(logs - logs.max())
    exact = weight @ worlds / weight.sum()
    assert model.probabilities_[:, 1] == pytest.approx(exact, abs=1e-6)
    value = log_objective(model, scaled, labels, weights, matrices)
    assert model.lower_bounds_[-1] == pytest.approx(value, abs=1e-5)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kept", [1.0, 0.4])
def test_the_objective_never_falls(seed: int, kept: float) -> None:
    X, _, labels = two_coins(80, seed, kept)
    for model in (LogisticExperts(), LogisticExperts(prior=(1.0, 1.0)), LogisticExperts(prior=(4.0, 1.0))):
        bounds = np.array(model.fit(X, *labels).lower_bounds_)
        assert len(bounds) > 2
        assert np.diff(bounds).min() >= -1e-7 * (1 + abs(bounds[-1]))


def test_the_objective_of_more_classes_never_falls() -> None:
    X, labels, _ = categories(90, 3, seed=2)
    bounds = np.array(LogisticExperts().fit(X, *labels).lower_bounds_)
    assert np.diff(bounds).min() >= -1e-7 * (1 + abs(bounds[-1]))


def test_at_the_end_the_objective_is_flat_in_every_direction() -> None:
    X, _, labels = two_coins(60, 5, kept=0.6)
    model = LogisticExperts(tolerance=1e-13, max_iterations=5000).fit(X, *labels)
    scaled = features.fit_scaling(X).apply(X)
    weights, matrices, h = np.append(model.coef_, model.intercept_), model.confusion_mode_, 1e-5

    def slope(weight_step: np.ndarray, worker: int = 0, true: int = 0, coin_step: float = 0.0) -> float:
        values = []
        for sign in (1.0, -1.0):
            moved = matrices.copy()
            moved[worker, true, true] += sign * coin_step
            moved[worker, true, 1 - true] -= sign * coin_step
            values.append(log_objective(model, scaled, labels, weights + sign * weight_step, moved))
        return (values[0] - values[1]) / (2 * h)

    of_weights = [slope(h * direction) for direction in np.eye(len(weights))]
    nothing = np.zeros(len(weights))
    of_coins = [slope(nothing, worker, true, h) for worker in range(5) for true in (0, 1)]
    assert np.abs(of_weights).max() < 0.01
    assert np.abs(of_coins).max() < 0.01


def test_workers_and_labels_of_the_papers_simulation_come_back() -> None:
    X, truth, labels = two_coins(2000, 1)
    model = LogisticExperts().fit(X, *labels)
    right = (model.codes_ == truth).mean()
    votes = np.bincount(labels[0], weights=labels[2]) / 5
    assert right > ((votes > 0.5) == truth).mean() + 0.05
    assert model.sensitivity_ == pytest.approx(SENSITIVITY, abs=0.065)
    assert model.specificity_ == pytest.approx(SPECIFICITY, abs=0.05)
    assert model.converged_
    assert model.notes_ == ()
    assert ((model.sensitivity_sd_ > 0) & (model.sensitivity_sd_ < 0.05)).all()


def test_items_that_nobody_labelled_are_predicted_as_new_ones_are() -> None:
    X, truth, (task, worker, label) = two_coins(400, 2)
    asked = task < 250
    model = LogisticExperts().fit(X, task[asked], worker[asked], label[asked])
    assert model.predicted_.tolist() == [False] * 250 + [True] * 150
    assert model.label_counts_[250:].sum() == 0
    assert model.probabilities_[250:] == pytest.approx(model.predict_proba(X[250:]))
    assert (model.codes_[250:] == truth[250:]).mean() > 0.8
    assert model.predict(X[250:]).tolist() == model.labels_[250:].tolist()


def test_names_of_items_may_be_in_any_order() -> None:
    X, _, (task, worker, label) = two_coins(60, 4)
    names = [f"photo {number}.png" for number in range(60)]
    order = np.random.default_rng(0).permutation(60)
    table = {"task": [names[at] for at in task], "worker": worker, "label": label}
    plain = LogisticExperts().fit(X, task, worker, label)
    mixed = LogisticExperts().fit(X[order], table, items=[names[at] for at in order])
    assert mixed.items_ == tuple(names[at] for at in order)
    assert mixed.probabilities_ == pytest.approx(plain.probabilities_[order], abs=1e-9)


def test_without_features_it_is_dawid_and_skene_and_says_so() -> None:
    _, _, labels = two_coins(300, 6, kept=0.6)
    model = LogisticExperts(prior=(2.0, 1.5), tolerance=1e-11).fit(None, *labels)
    known = DawidSkeneMAP(prior=(2.0, 1.5), tolerance=1e-11).fit(*labels)
    assert model.probabilities_ == pytest.approx(known.probabilities_, abs=3e-3)
    assert model.labels_.tolist() == known.labels_.tolist()
    usual = LogisticExperts(tolerance=1e-12).fit(None, *labels)
    assert usual.probabilities_ == pytest.approx(DawidSkene(tolerance=1e-12).fit(*labels).probabilities_, abs=5e-3)
    assert features.NO_FEATURES in model.notes_
    assert not model.predicted_.any()
    assert np.ptp(model.classifier_probabilities_[:, 1]) == 0


def test_a_prevalence_that_is_set_stays() -> None:
    _, _, labels = two_coins(60, 6)
    model = LogisticExperts(prevalence=0.3).fit(None, *labels)
    assert model.prevalence_ == pytest.approx([0.7, 0.3])
    strong = LogisticExperts(prevalence_prior=(900.0, 100.0)).fit(None, *labels)
    assert strong.classifier_probabilities_[0, 1] > 0.7


def test_priors_of_single_experts_hold_them() -> None:
    X, _, labels = two_coins(40, 7)
    free = LogisticExperts().fit(X, *labels)
    held = LogisticExperts(
        sensitivity_prior={4: (900.0, 100.0)}, specificity_prior={4: (950.0, 50.0), 3: (2.0, 2.0)}
    ).fit(X, *labels)
    assert held.sensitivity_[4] == pytest.approx(0.9, abs=0.02)
    assert held.specificity_[4] == pytest.approx(0.95, abs=0.02)
    assert abs(held.sensitivity_[0] - free.sensitivity_[0]) < 0.2
    everybody = LogisticExperts(sensitivity_prior=(900.0, 100.0)).fit(X, *labels)
    assert everybody.sensitivity_ == pytest.approx(np.full(5, 0.9), abs=0.02)


def test_gold_items_settle_which_answer_is_which() -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 300)
    X = np.stack([truth + rng.normal(size=300), rng.normal(size=300)], axis=1)
    skill = np.array([0.9, 0.9, 0.2, 0.2, 0.2, 0.2, 0.2])
    labels = np.where(rng.random((300, 7)) < skill, truth[:, None], 1 - truth[:, None])
    task, worker = np.nonzero(np.ones_like(labels))
    gold = {int(item): int(truth[item]) for item in range(8)}
    astray = LogisticExperts().fit(X, task, worker, labels[task, worker])
    anchored = LogisticExperts().fit(X, task, worker, labels[task, worker], gold=gold)
    assert (astray.codes_ == truth).mean() < 0.2
    assert (anchored.codes_ == truth).mean() > 0.95
    assert anchored.sensitivity_[2:].max() < 0.35
    # a gold item that nobody labelled is known all the same
    more = LogisticExperts().fit(np.vstack([X, X[:1]]), task, worker, labels[task, worker], gold={300: 1})
    assert more.probabilities_[300, 1] > 0.9


def test_a_start_at_the_opposite_is_turned_round_once(monkeypatch: pytest.MonkeyPatch) -> None:
    X, truth, labels = two_coins(400, 8)
    honest = LogisticExperts().fit(X, *labels)
    start = LogisticExperts._start
    monkeypatch.setattr(LogisticExperts, "_start", lambda self, table: start(self, table)[:, ::-1])
    turned = LogisticExperts().fit(X, *labels)
    assert turned.mirrored_
    assert not honest.mirrored_
    assert features.MIRRORED in turned.notes_
    assert turned.probabilities_ == pytest.approx(honest.probabilities_, abs=1e-2)
    assert (turned.codes_ == truth).mean() > 0.85


def test_several_classes_have_a_matrix_an_expert() -> None:
    X, labels, truth = categories(600, 4, seed=1)
    model = LogisticExperts().fit(X, *labels)
    blind = LogisticExperts().fit(None, *labels)
    assert (model.codes_ == truth).mean() > (blind.codes_ == truth).mean()
    assert model.confusion_.sum(axis=2) == pytest.approx(np.ones((4, 4)))
    assert model.confusion_[0].diagonal().mean() == pytest.approx(0.925, abs=0.06)
    assert np.isnan(model.sensitivity_).all()
    assert model.predict_proba(X).sum(axis=1) == pytest.approx(np.ones(600))
    assert (model.predict(X) == truth).mean() > 0.7


def test_two_classes_by_the_way_for_several_give_the_same() -> None:
    from crowdclust_app.inference.experts.classifiers import Logistic, Softmax

    X, _, labels = two_coins(120, 3)
    model = LogisticExperts().fit(X, *labels)
    scaled = features.fit_scaling(X).apply(X)
    beliefs = model.probabilities_
    one, several = Logistic(scaled, 0.02), Softmax(scaled, 0.04, 2)
    for _ in range(40):
        one.update(beliefs)
        several.update(beliefs)
    assert several.log_probabilities(scaled) == pytest.approx(one.log_probabilities(scaled), abs=1e-3)


def test_ordered_classes_are_a_row_of_boundaries() -> None:
    X, labels, truth = categories(500, 4, seed=3, ordered=True)
    model = LogisticExperts(ordered=True).fit(X, *labels)
    assert (model.codes_ == truth).mean() > 0.85
    assert model.probabilities_.sum(axis=1) == pytest.approx(np.ones(500))
    assert (model.probabilities_ >= 0).all()
    fresh = model.predict_proba(X)
    assert np.abs(fresh @ np.arange(4) - truth).mean() < 0.5
    without = LogisticExperts(ordered=True).fit(None, *labels)
    known = Ordinal(prior=(2.0, 2.0)).fit(*labels)
    assert (without.codes_ == known.codes_).mean() > 0.97
    gold = LogisticExperts(ordered=True).fit(X, *labels, gold={0: 3, 1: 0})
    assert gold.codes_[:2].tolist() == [3, 0]
