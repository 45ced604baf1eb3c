"""Generalised EM: what it recovers, what it reports, and which of two mirrored answers it takes."""

from __future__ import annotations

import numpy as np
import pytest
from gp_problems import EXPERTISE, labelled_clusters, labels_of

from crowdclust_app.inference.experts import GaussianProcessExperts
from crowdclust_app.inference.experts.features import MIRRORED, SIGN
from crowdclust_app.inference.experts.generalised_em import (
    EMSettings,
    KernelPrior,
    honesty_of,
    initial_workers,
    kernel_logs,
    learn_workers,
    maximise_over_kernel,
    mirror,
)
from crowdclust_app.inference.experts.kernel import Kernel, squared_distances, usual_distance
from crowdclust_app.inference.experts.posterior import DenseEngine
from crowdclust_app.inference.experts.propagation import Sites, propagate
from crowdclust_app.inference.experts.sites import WorkerPosterior, WorkerPriors, label_likelihoods, responsibilities


def accuracy(probability: np.ndarray, truth: np.ndarray) -> float:
    return float(((probability > 0.5) == truth).mean())


def a_learner(trace: list[float] | None = None, anchored: bool = False) -> EMSettings:
    bounds = [] if trace is None else trace
    return EMSettings(WorkerPriors(), 40, 1e-4, anchored, lambda _, bound: bounds.append(bound), lambda: None)


def test_experts_spammers_and_adversaries_are_told_apart_and_their_labels_mended() -> None:
    X, truth, matrix = labelled_clusters(400, 0.4, seed=1)
    model = GaussianProcessExperts().fit(X[:250], matrix[:250])
    assert model.converged_
    assert (model.expertise_[:3] > 0.8).all()
    assert np.abs(model.expertise_[3:8] - 0.5).max() < 0.22
    assert (model.expertise_[8:] < 0.35).all()
    assert np.abs(model.expertise_ - EXPERTISE).mean() <= 0.045
    inside = (model.expertise_interval_[:, 0] <= EXPERTISE) & (model.expertise_interval_[:, 1] >= EXPERTISE)
    assert inside.mean() >= 0.7
    assert accuracy(model.predict_proba(X[250:])[:, 1], truth[250:]) >= 0.95
    votes = (matrix[:250] > 0).sum(axis=1) > (matrix[:250] < 0).sum(axis=1)
    assert accuracy(model.consensus_, truth[:250]) >= (votes == truth[:250]).mean() + 0.15


def test_the_evidence_with_the_priors_rises_and_ends_where_it_is_flat() -> None:
    X, _, matrix = labelled_clusters(80, 0.5, seed=2)
    trace: list[float] = []
    labels = labels_of(matrix[matrix.any(axis=1)])
    X = X[matrix.any(axis=1)]
    engine, em = DenseEngine(Kernel(2.0, 3.0).between(X, X)), a_learner(trace)
    result = learn_workers(engine, np.ones(len(X)), labels, initial_workers(labels, em.priors),
                             Sites.none(len(X)), em)  # fmt: skip
    assert trace[-1] > trace[0]
    assert min(np.diff(trace)[1:]) > -0.02
    found = propagate(engine, label_likelihoods(labels, result.workers), np.ones(len(X)), result.propagated.sites, 1e-9)
    sure = responsibilities(found.update.z, label_likelihoods(labels, result.workers))
    right = np.where(matrix[matrix.any(axis=1)] > 0, sure.consensus[:, None], 1.0 - sure.consensus[:, None])
    asked, eps = matrix[matrix.any(axis=1)] != 0, result.workers.expertise
    slope = (right * asked).sum(axis=0) / eps - ((1 - right) * asked).sum(axis=0) / (1 - eps) + 2 / eps - 1 / (1 - eps)
    assert np.abs(slope * eps * (1 - eps)).max() < 2e-2


def test_the_kernel_is_moved_uphill_and_stays_in_its_bounds() -> None:
    X, truth, _ = labelled_clusters(60, 1.0, seed=3)
    labels = labels_of(np.where(truth == 1, 1, -1)[:, None] * np.ones((1, 2), dtype=int))
    crowd, prior = WorkerPosterior(np.full(2, 0.9), 0.97, np.zeros(2)), KernelPrior(Kernel(1.0, 0.4, 0.2))
    squared, em = squared_distances(X, X), a_learner()

    def goodness(kernel: Kernel) -> float:
        engine = DenseEngine(kernel.of_distances(squared))
        found = propagate(engine, label_likelihoods(labels, crowd), np.ones(60), None, 1e-8)
        return found.log_evidence + prior.log_density(kernel_logs(kernel))

    new, _ = maximise_over_kernel(squared, labels, crowd, Sites.none(60), prior.centre, prior, em)
    assert goodness(new) > goodness(prior.centre) + 1.0
    assert all(low <= log <= high for log, (low, high) in zip(kernel_logs(new), prior.bounds, strict=True))


@pytest.mark.parametrize("seed", range(3))
def test_started_at_the_mirrored_truth_everything_is_turned(seed: int) -> None:
    X, truth, matrix = labelled_clusters(200, 0.4, seed=20 + seed)
    kept = matrix.any(axis=1)
    X, truth, labels = X[kept], truth[kept], labels_of(matrix[kept])
    kernel = Kernel(4.0, usual_distance(X, np.random.default_rng(0)))
    engine, noise = DenseEngine(kernel.between(X, X)), np.ones(len(X))
    wrong = WorkerPosterior(1.0 - np.clip(EXPERTISE, 0.05, 0.95), 0.95, np.zeros(10))
    results = {}
    for anchored in (False, True):
        em = a_learner(anchored=anchored)
        result = learn_workers(engine, noise, labels, wrong, Sites.none(len(X)), em)
        sure = responsibilities(result.propagated.update.z, label_likelihoods(labels, result.workers))
        results[anchored] = accuracy(sure.consensus, truth), result.mirrored
    assert results[False][0] > 0.9
    assert results[False][1]
    assert results[True][0] < 0.1


def test_mirrored_answers_have_the_same_evidence() -> None:
    X, _, matrix = labelled_clusters(40, 0.5, seed=4)
    kept = matrix.any(axis=1)
    labels, engine = labels_of(matrix[kept]), DenseEngine(Kernel(2.0, 3.0).between(X[kept], X[kept]))
    crowd = WorkerPosterior(np.clip(EXPERTISE, 0.1, 0.9), 0.9, np.zeros(10))
    other = mirror(crowd, labels)
    noise = np.ones(int(kept.sum()))
    pair = [
        propagate(engine, label_likelihoods(labels, one), noise, None, 1e-10).log_evidence for one in (crowd, other)
    ]
    assert pair[0] == pytest.approx(pair[1], abs=1e-8)
    assert honesty_of(other, labels) == pytest.approx(-honesty_of(crowd, labels))


def test_five_gold_items_anchor_a_crowd_of_adversaries_and_are_no_worker() -> None:
    expertise = np.array([0.9] * 3 + [0.25] * 7)
    X, truth, matrix = labelled_clusters(300, 0.5, seed=5, expertise=expertise)
    free = GaussianProcessExperts().fit(X, matrix)
    assert accuracy(free.consensus_, truth) < 0.2 or SIGN in free.warnings_ or MIRRORED in free.warnings_
    gold = {int(row): int(truth[row]) for row in (0, 60, 120, 180, 240)}
    anchored = GaussianProcessExperts().fit(X, matrix, gold=gold)
    assert accuracy(anchored.consensus_, truth) > 0.93
    assert len(anchored.expertise_) == len(anchored.workers_) == 10
    assert np.abs(anchored.expertise_ - expertise).mean() < 0.08
    assert SIGN not in anchored.warnings_
    assert anchored.next_question() is None or anchored.next_question().item not in gold
    assert [anchored.labels_[row] for row in gold] == list(gold.values())


def test_gold_items_alone_train_the_classifier() -> None:
    X, truth, _ = labelled_clusters(120, 0.5, seed=6)
    gold = {row: int(truth[row]) for row in range(60)}
    model = GaussianProcessExperts().fit(X, {"task": [], "worker": [], "label": []}, gold=gold)
    assert accuracy(model.predict_proba(X[60:])[:, 1], truth[60:]) > 0.95
    assert model.workers_ == ()


def test_too_few_gold_items_are_said_to_be_few() -> None:
    X, truth, matrix = labelled_clusters(60, 0.5, seed=7)
    one = GaussianProcessExperts(learn_kernel=False).fit(X, matrix, gold={3: int(truth[3])})
    two = GaussianProcessExperts(learn_kernel=False).fit(X, matrix, gold={3: int(truth[3]), 9: int(truth[9])})
    assert "there is only one gold item: mark 5 or more to be safe" in one.warnings_
    assert "there are only 2 gold items: mark 5 or more to be safe" in two.warnings_


def test_the_usual_distance_is_that_of_different_items() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    expected = np.median([np.linalg.norm(X[a] - X[b]) for a in range(40) for b in range(a)])
    assert usual_distance(X, rng) == pytest.approx(expected)
    assert usual_distance(np.repeat(X, 3, axis=0), rng) == pytest.approx(expected, rel=0.05)
    assert usual_distance(X * 1e6 + 1e9, rng) == pytest.approx(expected * 1e6, rel=1e-3)
    assert usual_distance(np.ones((5, 2)), rng) == 1.0
    assert usual_distance(X[:1], rng) == usual_distance(X[:0], rng) == 1.0
    many = rng.normal(size=(2000, 3))
    assert usual_distance(many, rng) == pytest.approx(expected, rel=0.2)
