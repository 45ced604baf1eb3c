"""Learning from experts by a logistic regression: against brute force, against finite differences, and bad inputs."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.special import expit, log_expit
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.domain.errors import Cancelled, UserError
from crowdclust_app.inference.binary import DawidSkene, DawidSkeneMAP, NotConvergedWarning, Ordinal, encode_labels
from crowdclust_app.inference.experts import features
from crowdclust_app.inference.experts.features import BadInput
from crowdclust_app.inference.experts.logistic import LogisticExperts

SENSITIVITY = np.array([0.9, 0.8, 0.57, 0.6, 0.55])
SPECIFICITY = np.array([0.95, 0.85, 0.62, 0.65, 0.58])


def two_coins(count: int, seed: int, kept: float = 1.0, width: int = 3) -> tuple:
    """Features, truth, and three columns of labels by the paper's radiologists."""
    rng = np.random.default_rng(seed)
    truth = (rng.random(count) < 0.4).astype(int)
    X = rng.normal(size=(count, width))
    X[:, 0] += 2.0 * truth
    right = rng.random((count, 5)) < np.where(truth[:, None] == 1, SENSITIVITY, SPECIFICITY)
    labels = np.where(right, truth[:, None], 1 - truth[:, None])
    task, worker = np.nonzero(rng.random((count, 5)) < kept)
    return X, truth, (task, worker, labels[task, worker])


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


def categories(count: int, size: int, seed: int, ordered: bool = False) -> tuple:
    """Features, labels of four experts and truth for several classes."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, size, count)
    X = rng.normal(size=(count, size))
    if ordered:
        X[:, 0] += 1.5 * truth
    else:
        X[np.arange(count), truth] += 2.0
    skill = np.array([0.9, 0.8, 0.4, 0.3])
    wrong = np.clip(truth[:, None] + rng.choice([-1, 1], (count, 4)), 0, size - 1) if ordered else None
    other = rng.integers(0, size, (count, 4)) if wrong is None else wrong
    labels = np.where(rng.random((count, 4)) < skill, truth[:, None], other)
    task, worker = np.nonzero(np.ones_like(labels))
    return X, (task, worker, labels[task, worker]), truth


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


def test_another_classifier_takes_the_place_of_the_logistic_one() -> None:
    from sklearn.tree import DecisionTreeClassifier

    X, truth, labels = two_coins(400, 9)
    ours = LogisticExperts(ridge=1.0).fit(X, *labels)
    theirs = LogisticExperts(classifier=LogisticRegression(C=1.0)).fit(X, *labels)
    assert theirs.probabilities_ == pytest.approx(ours.probabilities_, abs=0.02)
    assert theirs.lower_bounds_ == ()
    tree = DecisionTreeClassifier(max_depth=3, random_state=0)
    grown = LogisticExperts(classifier=tree).fit(X, *labels)
    assert (grown.codes_ == truth).mean() > 0.8
    assert not hasattr(tree, "tree_")
    ours_of_three = LogisticExperts(classifier=tree)
    features_of_three, labels_of_three, truth_of_three = categories(200, 3, 1)
    ours_of_three.fit(features_of_three, *labels_of_three)
    assert (ours_of_three.codes_ == truth_of_three).mean() > 0.7


def test_a_classifier_that_cannot_be_used_is_named() -> None:
    X, _, labels = two_coins(30, 1)
    with pytest.raises(BadInput, match="KNeighborsClassifier takes no sample weights"):
        LogisticExperts(classifier=KNeighborsClassifier()).fit(X, *labels)
    with pytest.raises(BadInput, match="no fit and predict_proba"):
        LogisticExperts(classifier=object()).fit(X, *labels)
    with pytest.raises(BadInput, match=r"is a class; make one of it: KNeighborsClassifier\(\)"):
        LogisticExperts(classifier=KNeighborsClassifier).fit(X, *labels)
    with pytest.raises(BadInput, match="Pipeline takes no sample weights"):
        LogisticExperts(classifier=make_pipeline(StandardScaler(), KNeighborsClassifier())).fit(X, *labels)


def test_the_last_step_of_a_pipeline_gets_the_weights() -> None:
    X, _, labels = two_coins(100, 2)
    alone = LogisticExperts(classifier=LogisticRegression()).fit(X, *labels)
    piped = LogisticExperts(classifier=make_pipeline(FunctionTransformer(), LogisticRegression())).fit(X, *labels)
    assert piped.probabilities_ == pytest.approx(alone.probabilities_, abs=1e-12)


def test_a_fit_that_is_refused_leaves_the_one_before() -> None:
    X, _, labels = two_coins(40, 3)
    model = LogisticExperts().fit(X, *labels)
    before = model.predict_proba(X)
    with pytest.raises(BadInput, match="of the class zebra"):
        model.fit(1000.0 * X, *labels, gold={0: "zebra"})
    with pytest.raises(BadInput, match="no classes by item"):
        model.fit(1000.0 * X, *labels, gold=[(0, 1)])  # type: ignore[arg-type]
    assert model.predict_proba(X) == pytest.approx(before, abs=0.0)
    assert sorted(vars(model)) == sorted(vars(LogisticExperts().fit(X, *labels)))


def test_an_encoded_table_is_learnt_from_without_features_and_nothing_is_predicted_before() -> None:
    _, _, labels = two_coins(40, 3)
    encoded = LogisticExperts().fit_encoded(encode_labels(*labels))
    assert encoded.probabilities_ == pytest.approx(LogisticExperts().fit(None, *labels).probabilities_, abs=0.0)
    with pytest.raises(BadInput, match="not fitted yet"):
        LogisticExperts().predict_proba()


def test_many_features_and_few_items_change_nothing_but_the_time() -> None:
    X, _, labels = two_coins(30, 1, width=3)
    wide = np.random.default_rng(0).normal(size=(30, 200))
    model = LogisticExperts().fit(np.concatenate([X, wide], axis=1), *labels)
    assert np.isfinite(model.probabilities_).all()
    assert len(model.coef_) == 203
    from crowdclust_app.inference.experts.classifiers import Logistic

    scaled = features.fit_scaling(wide).apply(wide)
    rotated = Logistic(scaled, 0.5)
    full = Logistic(np.concatenate([scaled, np.zeros((171, 200))]), 0.5)  # rows that say nothing but "half"
    belief = model.probabilities_
    for _ in range(20):
        rotated.update(belief)
        full.update(np.concatenate([belief, np.full((171, 2), 0.5)]))
    slopes, intercept = rotated.coefficients
    assert len(slopes) == 200
    p = expit(scaled @ slopes + intercept)
    # the gradient of the unrotated objective is zero as well
    assert np.abs(scaled.T @ (belief[:, 1] - p) - 0.5 * slopes).max() < 1e-6


def test_odd_tables_give_finite_results() -> None:
    X, _, labels = two_coins(20, 1)
    ones = np.ones(len(labels[0]), dtype=int)
    cases = [
        (X, (*labels[:2], ones)),  # all labels equal
        (np.zeros((20, 2)), labels),  # constant features
        (np.concatenate([X, X], axis=1), labels),  # twice the same column
        (X * 1e200, labels),
        (X * 1e-200, labels),
        (X[:1], (np.zeros(5, int), np.arange(5), np.array([1, 1, 0, 1, 1]))),  # one item
        (X, tuple(column[labels[1] == 0] for column in labels)),  # one expert
        (np.zeros((20, 0)), labels),  # no column
    ]
    for features_of_case, labels_of_case in cases:
        for prior in ((2.0, 2.0), (1.0, 1.0)):
            model = LogisticExperts(prior=prior, classes=(0, 1)).fit(features_of_case, *labels_of_case)
            for name in ("probabilities_", "sensitivity_", "sensitivity_sd_", "specificity_", "accuracy_"):
                assert np.isfinite(getattr(model, name)).all()
    all_ones = LogisticExperts(classes=(0, 1)).fit(X, *labels[:2], ones)
    assert features.ONE_CLASS.format(label=1) in all_ones.notes_
    assert all_ones.probabilities_[:, 1].min() > 0.5
    constant = LogisticExperts().fit(np.concatenate([X, np.ones((20, 1))], axis=1), *labels)
    assert "1 of 4 features are the same for every item and say nothing" in constant.notes_


def test_scale_and_order_do_not_matter() -> None:
    X, _, (task, worker, label) = two_coins(100, 11, kept=0.5)
    plain = LogisticExperts().fit(X, task, worker, label)
    scaled = LogisticExperts().fit(X * 1e6 + 3.0, task, worker, label)
    order = np.random.default_rng(0).permutation(len(task))
    moved = LogisticExperts().fit(X, task[order], worker[order], label[order])
    assert scaled.probabilities_ == pytest.approx(plain.probabilities_, abs=1e-6)
    assert (moved.probabilities_ == plain.probabilities_).all()


def test_a_thousand_experts_do_not_underflow() -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 12)
    labels = np.where(rng.random((12, 1000)) < 0.7, truth[:, None], 1 - truth[:, None])
    task, worker = np.nonzero(np.ones_like(labels))
    model = LogisticExperts().fit(rng.normal(size=(12, 2)), task, worker, labels[task, worker])
    assert model.codes_.tolist() == truth.tolist()
    assert np.isfinite(model.lower_bounds_).all()


def test_an_expert_without_labels_has_the_prior() -> None:
    X, _, (task, worker, label) = two_coins(40, 1)
    table = encode_labels(task, worker, label)
    from dataclasses import replace

    wider = replace(table, workers=(*table.workers, "newcomer"))
    model = LogisticExperts(prior=(3.0, 1.0)).fit(X, wider)
    assert model.sensitivity_[5] == pytest.approx(0.75)
    assert model.confusion_mode_[5] == pytest.approx(np.array([[0.75, 0.25], [0.25, 0.75]]))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"X": np.full((10, 2), np.nan)}, "not a finite number"),
        ({"X": np.full((10, 2), np.inf)}, "not a finite number"),
        ({"X": [["red"]] * 10}, "not all numbers"),
        ({"X": np.zeros(10)}, "not a matrix"),
        ({"X": np.zeros((5, 2))}, "task 5 has labels and no features"),
        ({"items": list("abcde")}, "5 names of items for 10 rows"),
        ({"items": [0, 1, 2, 3, 4, 5, 6, 7, 8, 8]}, "item 8 has two rows"),
        ({"gold": {0: "maybe"}}, "of the class maybe"),
        ({"model": {"ridge": 0.0}}, "ridge"),
        ({"model": {"prior": (0.0, 1.0)}}, "not above 0"),
        ({"model": {"sensitivity_prior": (1.0, -1.0)}}, "not above 0"),
        ({"model": {"specificity_prior": {0: "much"}}}, "not two numbers"),
        ({"model": {"prevalence_prior": (0.0, 1.0)}}, "not above 0"),
    ],
)
def test_what_cannot_be_used_is_said_in_a_sentence(change: dict, message: str) -> None:
    X = change.pop("X", np.zeros((10, 2)))
    model = LogisticExperts(**change.pop("model", {}))
    task, worker = np.repeat(np.arange(10), 2), np.tile([0, 1], 10)
    with pytest.raises(UserError, match=message):
        model.fit(X, task, worker, (task + worker) % 2, **change)


def test_new_features_have_to_fit() -> None:
    X, _, labels = two_coins(30, 1)
    model = LogisticExperts().fit(X, *labels)
    with pytest.raises(BadInput, match="2 columns where the fit had 3"):
        model.predict_proba(X[:, :2])
    three = ({"x": (2.0, 2.0)}, categories(20, 3, 0))
    with pytest.raises(BadInput, match="are for two classes"):
        LogisticExperts(sensitivity_prior=three[0]).fit(three[1][0], *three[1][1])


def test_it_can_be_cancelled_and_says_when_it_ended_early() -> None:
    X, _, labels = two_coins(60, 1)
    token = CancelToken()
    steps = []

    def listen(step: object) -> None:
        steps.append(step)
        if len(steps) == 2:
            token.cancel()

    with pytest.raises(Cancelled):
        LogisticExperts(tolerance=0.0).fit(X, *labels, progress=listen, cancel=token)
    assert len(steps) == 2
    with pytest.warns(NotConvergedWarning):
        model = LogisticExperts(max_iterations=2).fit(X, *labels)
    assert not model.converged_


def test_it_has_the_shape_of_every_aggregator() -> None:
    model = LogisticExperts(ridge=0.5, prior=(3.0, 1.0))
    assert model.get_params()["ridge"] == 0.5
    again = LogisticExperts(**model.get_params())
    assert again.get_params() == model.get_params()
    assert model.set_params(ordered=True).ordered
