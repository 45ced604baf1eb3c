"""Learning from experts by a logistic regression, in use: other classifiers, odd tables, and what is refused."""

# mypy: disable-error-code="arg-type, call-arg"
# data come in every form that fit takes

from __future__ import annotations

import numpy as np
import pytest
from expert_problems import categories, two_coins
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.domain.errors import Cancelled, InvalidInputError, NotConvergedWarning, NotFittedError, UserError
from crowdclust_app.inference.aggregators import encode_labels
from crowdclust_app.inference.experts import features
from crowdclust_app.inference.experts.logistic import LogisticExperts


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
    with pytest.raises(InvalidInputError, match="KNeighborsClassifier takes no sample weights"):
        LogisticExperts(classifier=KNeighborsClassifier()).fit(X, *labels)
    with pytest.raises(InvalidInputError, match="no fit and predict_proba"):
        LogisticExperts(classifier=object()).fit(X, *labels)
    with pytest.raises(InvalidInputError, match=r"is a class; make one of it: KNeighborsClassifier\(\)"):
        LogisticExperts(classifier=KNeighborsClassifier).fit(X, *labels)
    with pytest.raises(InvalidInputError, match="Pipeline takes no sample weights"):
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
    with pytest.raises(InvalidInputError, match="of the class zebra"):
        model.fit(1000.0 * X, *labels, gold={0: "zebra"})
    with pytest.raises(InvalidInputError, match="no classes by item"):
        model.fit(1000.0 * X, *labels, gold=[(0, 1)])
    assert model.predict_proba(X) == pytest.approx(before, abs=0.0)
    assert sorted(vars(model)) == sorted(vars(LogisticExperts().fit(X, *labels)))


def test_an_encoded_table_is_learnt_from_without_features_and_nothing_is_predicted_before() -> None:
    _, _, labels = two_coins(40, 3)
    encoded = LogisticExperts().fit_encoded(encode_labels(*labels))
    assert encoded.probabilities_ == pytest.approx(LogisticExperts().fit(None, *labels).probabilities_, abs=0.0)
    with pytest.raises(NotFittedError, match="not fitted yet"):
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
    with pytest.raises(InvalidInputError, match="2 columns where the fit had 3"):
        model.predict_proba(X[:, :2])
    three = ({"x": (2.0, 2.0)}, categories(20, 3, 0))
    with pytest.raises(InvalidInputError, match="are for two classes"):
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
