"""Active sets: who is chosen, what is kept of the accuracy, and what every label adds in the end."""

from __future__ import annotations

import numpy as np
import pytest
from gp_problems import EXPERTISE, labelled_clusters, labels_of

from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.domain.errors import Cancelled
from crowdclust_app.inference.experts import ActiveSet, GaussianProcessExperts, fitting
from crowdclust_app.inference.experts.active_set import inducing_factor, refit_all, select
from crowdclust_app.inference.experts.generalised_em import EMSettings, initial_workers, learn_workers, propagate_finely
from crowdclust_app.inference.experts.kernel import Kernel
from crowdclust_app.inference.experts.posterior import DenseEngine
from crowdclust_app.inference.experts.propagation import Sites
from crowdclust_app.inference.experts.remarks import PUBLISHED_RULE
from crowdclust_app.inference.experts.sites import WorkerPriors, label_likelihoods

KERNEL = Kernel(5.0, 3.0)


def a_learner() -> EMSettings:
    return EMSettings(WorkerPriors(), 30, 1e-3, False, lambda change, bound: None, lambda: None)


def with_labels(count: int, keep: float, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    X, truth, matrix = labelled_clusters(count, keep, seed)
    kept = matrix.any(axis=1)
    return X[kept], truth[kept], matrix[kept]


def test_with_every_item_as_inducing_point_it_is_the_dense_process() -> None:
    X, _, matrix = with_labels(60, 0.4, 1)
    labels, em = labels_of(matrix), a_learner()
    crowd = initial_workers(labels, em.priors)
    engine, noise = DenseEngine(KERNEL.between(X, X)), np.ones(len(X))
    dense = learn_workers(engine, noise, labels, crowd, Sites.none(len(X)), em)
    dense = propagate_finely(engine, noise, labels, dense, em)
    sparse, field = refit_all(X, X, KERNEL, labels, crowd, Sites.none(len(X)), em)
    assert sparse.workers.expertise == pytest.approx(dense.workers.expertise, abs=1e-4)
    assert sparse.propagated.log_evidence == pytest.approx(dense.propagated.log_evidence, abs=1e-3)
    new = np.random.default_rng(0).normal(size=(7, X.shape[1])) * 2
    mean, variance = field.predict(new)
    expected = dense.propagated.posterior.predict(KERNEL.between(X, new), np.full(7, KERNEL.variance))
    assert mean == pytest.approx(expected[0], abs=1e-3)
    assert variance == pytest.approx(expected[1], abs=1e-3)


def test_inducing_points_that_coincide_have_a_factor() -> None:
    Z = np.zeros((6, 2))
    lower = inducing_factor(KERNEL, Z)
    assert np.isfinite(lower).all()
    assert lower @ lower.T == pytest.approx(KERNEL.between(Z, Z), rel=1e-3)


@pytest.mark.parametrize("rule", ["variance", "predictive"])
def test_members_are_different_no_more_than_wanted_and_those_that_tell_something(rule: str) -> None:
    X, _, matrix = with_labels(400, 0.3, 2)
    labels, em = labels_of(matrix), a_learner()
    settings = ActiveSet(size=60, rule=rule)  # type: ignore[arg-type]
    crowd = initial_workers(labels, em.priors)
    chosen, mirrored = select(X, KERNEL, labels, crowd, settings, em, np.random.default_rng(0))
    assert not mirrored
    assert 10 <= len(chosen.members) <= 60
    assert len(np.unique(chosen.members)) == len(chosen.members)
    speaks = label_likelihoods(labels, chosen.workers).informativeness
    assert np.median(speaks[chosen.members]) > 0.7
    scores = chosen.scores(chosen.members, settings.rule)
    assert ((scores >= 0.0) & (scores <= 1.0)).all()
    again, _ = select(X, KERNEL, labels, crowd, settings, em, np.random.default_rng(0))
    assert np.array_equal(chosen.members, again.members)


def test_scores_of_the_variance_rule_are_what_a_site_narrows() -> None:
    X, _, matrix = with_labels(120, 0.3, 3)
    labels, em = labels_of(matrix), a_learner()
    chosen, _ = select(X, KERNEL, labels, initial_workers(labels, em.priors), ActiveSet(size=40), em,
                       np.random.default_rng(0))  # fmt: skip
    found = chosen.found
    narrowed = found.posterior.variance / found.cavity_variance
    expected = np.minimum(1.0, narrowed)
    assert chosen.scores(chosen.members, "variance") == pytest.approx(expected, abs=2e-2)


def test_few_members_keep_the_accuracy_and_every_label_adds_to_it() -> None:
    X, truth, matrix = labelled_clusters(600, 0.3, 4)
    train, test = slice(0, 400), slice(400, 600)
    accuracy, error = {}, {}
    for name, active in (
        ("full", None),
        ("variance", ActiveSet(60, refit=False)),
        ("all sites", ActiveSet(60)),
        ("random", ActiveSet(60, "random", refit=False)),
    ):
        model = GaussianProcessExperts(learn_kernel=False, amplitude=5.0, active_set=active)
        model.fit(X[train], matrix[train])
        accuracy[name] = ((model.predict_proba(X[test])[:, 1] > 0.5) == truth[test]).mean()
        error[name] = np.abs(model.expertise_ - EXPERTISE).mean()
        assert (model.active_rows_ is None) == (active is None)
    assert accuracy["all sites"] >= accuracy["full"] - 0.02
    assert accuracy["variance"] >= accuracy["random"] - 0.02
    assert max(error.values()) < 0.04


def test_the_published_rule_works_on_clean_labels_and_says_what_it_is_for() -> None:
    X, truth, _ = labelled_clusters(500, 1.0, 5)
    clean = np.where(truth == 1, 1, -1)[:, None] * np.ones((1, 2), dtype=int)
    model = GaussianProcessExperts(learn_kernel=False, active_set=ActiveSet(60, "predictive", refit=False))
    model.fit(X[:350], clean[:350])
    assert ((model.predict_proba(X[350:])[:, 1] > 0.5) == truth[350:]).mean() > 0.95
    assert PUBLISHED_RULE in model.warnings_


def test_a_mirrored_start_is_turned_with_an_active_set_too() -> None:
    X, truth, matrix = with_labels(300, 0.4, 6)
    labels, em = labels_of(matrix), a_learner()
    right = initial_workers(labels, em.priors)
    wrong = type(right)(1.0 - np.clip(EXPERTISE, 0.05, 0.95), right.agreement, right.right)
    chosen, mirrored = select(X, KERNEL, labels, wrong, ActiveSet(50), em, np.random.default_rng(0))
    mean, _ = chosen.moments(np.arange(len(X)))
    assert mirrored
    assert ((mean > 0) == truth).mean() > 0.85


def test_many_items_take_an_active_set_by_themselves_and_learn_on_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    assert fitting.MOST_DENSE == 1500
    monkeypatch.setattr(fitting, "MOST_DENSE", 300)
    X, truth, matrix = labelled_clusters(500, 0.3, 7)
    first = np.where(np.arange(500)[:, None] < 450, matrix, 0)
    model = GaussianProcessExperts(learn_kernel=False, amplitude=5.0).fit(X, first)
    assert model.active_rows_ is not None
    assert len(model.active_rows_) <= 400
    before = model.active_rows_
    few = GaussianProcessExperts(learn_kernel=False, amplitude=5.0)
    few.fit(X, np.where(np.arange(500)[:, None] < 200, matrix, 0))
    assert few.active_rows_ is None
    few.update(first)
    assert few.active_rows_ is not None
    assert few.consensus_ == pytest.approx(model.consensus_, abs=0.35)
    assert ((few.consensus_ > 0.5) == truth).mean() > 0.93
    model.update(matrix)
    assert np.array_equal(model.active_rows_, before)
    assert ((model.consensus_ > 0.5) == truth).mean() > 0.93
    question = model.next_question(["newcomer"], candidates=[460, 461])
    assert question is not None
    assert question.item in (460, 461)


def test_it_stops_while_members_are_chosen() -> None:
    X, _, matrix = labelled_clusters(300, 0.3, 8)
    token = CancelToken()
    model = GaussianProcessExperts(learn_kernel=False, active_set=ActiveSet(50))
    with pytest.raises(Cancelled):
        model.fit(X, matrix, progress=lambda step: token.cancel() if step.iteration == 2 else None, cancel=token)
    assert not hasattr(model, "probabilities_")
