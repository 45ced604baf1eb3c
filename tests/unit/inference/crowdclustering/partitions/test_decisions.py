"""Sums over decisions against decisions enumerated one by one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import label_by_label as slow
import numpy as np
import pytest

from crowdclust_app.inference.crowdclustering.kernels.decisions import (
    count_cluster_pairs,
    count_item_pairs,
    score_decisions,
)
from crowdclust_app.inference.crowdclustering.model.canonical_order import ordered
from crowdclust_app.inference.crowdclustering.partitions.answers import Answers, item_sets, largest_first, without_gaps
from crowdclust_app.inference.crowdclustering.partitions.decision_model import (
    STRAY,
    WORKER_PRECISION,
    DecisionFit,
    affinities,
)


def answers_of(seed: int, n_items: int = 12, sizes: tuple[int, ...] = (2, 5, 9, 3, 7, 11), groups: int = 3) -> Answers:
    return Answers.of(ordered(slow.random_table(np.random.default_rng(seed), n_items, 3, sizes, groups)).table)


def random_fit(answers: Answers, seed: int, K: int = 3, hidden: int = 0) -> DecisionFit:
    """Any partition of any people; a few items in no cluster."""
    random = np.random.default_rng(seed)
    partition = np.append(np.arange(K), random.integers(0, K, answers.n_items - K))
    partition[answers.n_items - hidden :] = -1
    affinity = random.normal(0, 2, (K, K))
    common = np.array([random.uniform(0.5, 2), random.normal(), random.uniform(0, 1)])
    return DecisionFit(partition, affinity + affinity.T, common, random.normal(0, 0.4, (answers.n_workers, 2)))


def options(fit: DecisionFit, answers: Answers, r: int, p: int, cluster: int) -> tuple[list[float], int]:
    """Scores of all groups that the item at a position can be put into, were it in a cluster, and which it was put."""
    slopes, biases = fit.slopes_and_biases(answers)
    here = range(answers.ptr[r], answers.ptr[r + 1])
    known = [q for q in here if q != p and fit.partition[answers.items[q]] >= 0]
    scores, taken = [], -1
    for group in sorted({int(answers.groups[q]) for q in known}):
        members = [fit.partition[answers.items[q]] for q in known if answers.groups[q] == group]
        if group == answers.groups[p]:
            taken = len(scores)
        scores.append(slopes[r] * np.mean(fit.affinity[cluster, members]) + fit.common[2] * np.log(len(members)))
    scores.append(biases[r])
    return scores, taken if taken >= 0 else len(scores) - 1


def probability(fit: DecisionFit, answers: Answers, r: int, p: int, cluster: int) -> float:
    scores, taken = options(fit, answers, r, p, cluster)
    chance = np.exp(scores) / np.exp(scores).sum()
    return float((1 - STRAY) * chance[taken] + STRAY / len(scores))


def decisions(fit: DecisionFit, answers: Answers) -> list[tuple[int, int, int]]:
    """Response, position and item of every decision about an item in a cluster."""
    found = [(r, p, int(answers.items[p])) for r in range(answers.size) for p in range(*answers.ptr[r : r + 2])]
    return [one for one in found if fit.partition[one[2]] >= 0]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("hidden", [0, 3])
def test_scores_are_those_of_decisions_one_by_one(seed: int, hidden: int) -> None:
    answers = answers_of(seed, groups=1 + seed)
    fit = random_fit(answers, seed, hidden=hidden)
    loglik, right = fit.scores(answers)
    expected, met = np.zeros(answers.size), np.zeros(answers.size)
    for r, p, item in decisions(fit, answers):
        expected[r] += np.log(probability(fit, answers, r, p, fit.partition[item]))
        scores, taken = options(fit, answers, r, p, fit.partition[item])
        met[r] += scores[taken] >= max(scores) - 1e-12
    np.testing.assert_allclose(loglik, expected, rtol=1e-10, atol=1e-10)
    np.testing.assert_array_equal(right, met)


@pytest.mark.parametrize("seed", range(4))
def test_evidence_is_that_of_an_item_moved_to_each_cluster(seed: int) -> None:
    answers = answers_of(seed, groups=1 + seed)
    weight = np.random.default_rng(seed).uniform(0, 2, answers.size)
    weight[0] = 0.0
    answers = replace(answers, weight=weight)
    fit = random_fit(answers, seed, hidden=2)
    expected = np.zeros((answers.n_items, fit.n_clusters))
    for r, p, item in decisions(fit, answers):
        for k in range(fit.n_clusters):
            expected[item, k] += weight[r] * np.log(probability(fit, answers, r, p, k))
    np.testing.assert_allclose(fit.evidence(answers), expected, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(fit.posterior(answers), expected + np.log(fit.sizes + 1.0), rtol=1e-10, atol=1e-10)


def test_derivatives_are_those_of_the_scores() -> None:
    answers = answers_of(1)
    fit = random_fit(answers, 5)
    _, _, gradient, information = fit._scores(answers, True)

    def loglik(slope: float, bias: float, size: float) -> float:
        slopes, biases = fit.slopes_and_biases(answers)
        rates: Any = (slopes + slope, biases + bias, fit.common[2] + size, STRAY, answers.most, False)
        return float(score_decisions(*answers.arrays, fit.partition, fit.affinity, *rates)[0].sum())

    step = 1e-5
    for number, by in enumerate(np.eye(3) * step):
        expected = (loglik(*by) - loglik(*-by)) / (2 * step)
        assert gradient[:, number].sum() == pytest.approx(expected, rel=1e-5, abs=1e-5)
    assert np.linalg.eigvalsh(information.sum(axis=0)).min() > 0
    np.testing.assert_allclose(information, information.transpose(0, 2, 1))


def test_pairs_are_counted_one_by_one() -> None:
    answers = answers_of(3)
    fit = random_fit(answers, 3, hidden=2)
    weight = np.random.default_rng(0).uniform(0, 2, answers.size)
    shown, joined = count_cluster_pairs(*answers.arrays, fit.partition, 3, answers.most, weight)
    of_items = count_item_pairs(*answers.arrays, answers.n_items)
    expected = np.zeros((2, 3, 3))
    by_item = np.zeros((2, answers.n_items, answers.n_items))
    for r in range(answers.size):
        for p in range(*answers.ptr[r : r + 2]):
            for q in range(*answers.ptr[r : r + 2]):
                if p != q:
                    together = answers.groups[p] == answers.groups[q]
                    i, j = answers.items[p], answers.items[q]
                    by_item[:, i, j] += (1, together)
                    k, other = fit.partition[i], fit.partition[j]
                    if min(k, other) >= 0:
                        expected[:, k, other] += (weight[r], weight[r] * together)
    np.testing.assert_allclose((shown, joined), expected, rtol=1e-12)
    np.testing.assert_array_equal(of_items, by_item)


def test_a_cell_that_was_never_seen_has_the_mean_rate_and_one_seen_often_its_own() -> None:
    together, apart = {0: 0, 1: 0, 2: 1, 3: 1}, {0: 0, 2: 1, 1: 0}
    table = slow.table_of([(0, together)] * 200 + [(0, apart)] * 200, 6, 1)
    answers = Answers.of(ordered(table).table)
    affinity = affinities(answers, np.array([0, 0, 1, 1, 2, 2]), np.zeros((1, 2)))
    rate = 1 / (1 + np.exp(-affinity))
    np.testing.assert_allclose(rate, rate.T)
    assert rate[0, 0] > 0.98
    assert rate[0, 1] < 0.02
    # clusters of items that never occur
    assert 0.9 < rate[2, 2] < 1.0
    assert rate[0, 2] == pytest.approx(rate[1, 2])
    assert rate[0, 2] < 0.1


def test_steps_make_decisions_likelier_and_workers_differ_only_where_they_may() -> None:
    answers = answers_of(2, 20, (8,) * 20)
    fit = DecisionFit.before(answers, np.arange(20) % 4)

    def penalised(fit: DecisionFit) -> float:
        return float(fit.scores(answers)[0].sum()) - 0.5 * float((fit.workers**2 @ WORKER_PRECISION).sum())

    assert penalised(fit.stepped(answers).stepped(answers)) > penalised(fit)
    settled = fit.settled(answers)
    assert settled.loglik == pytest.approx(penalised(settled))
    assert settled.workers.any()
    alike = fit.settled(replace(answers, individual=False))
    assert not alike.workers.any()
    assert not np.array_equal(alike.common, fit.common)


def test_answers_keep_responses_of_two_items_and_know_parts_sets_and_sorters() -> None:
    rows = [(0, {3: 0, 1: 1}), (1, {1: 0, 3: 0}), (0, {2: 0}), (1, {4: 0, 5: 0, 0: 1}), (1, {3: 1, 1: 0})]
    answers = Answers.of(ordered(slow.table_of(rows, 7, 2)).table)
    assert answers.size == 4
    assert sorted(np.flatnonzero(answers.shown).tolist()) == [0, 1, 3, 4, 5]
    assert answers.sorters().tolist() == [1, 2, 0, 2, 1, 1, 0]
    parts = answers.parts()
    assert [items.tolist() for _, items in parts] == [[0, 4, 5], [1, 3]]
    assert [(here.size, here.n_items) for here, _ in parts] == [(1, 3), (3, 2)]
    assert len(np.unique(answers.sets)) == 2
    assert item_sets(slow.table_of([], 0, 0)).tolist() == []


def test_partitions_are_numbered_without_gaps_and_by_size() -> None:
    partition = np.array([5, 5, 2, -1, 7, 7, 2, 7])
    assert without_gaps(partition).tolist() == [1, 1, 0, -1, 2, 2, 0, 2]
    assert largest_first(partition).tolist() == [1, 1, 2, -1, 0, 0, 2, 0]


def test_of_a_new_worker_the_mean_over_the_prior_is_predicted() -> None:
    answers = answers_of(1)
    fit = random_fit(answers, 4)
    known = np.ones(answers.n_workers, dtype=bool)
    np.testing.assert_array_equal(fit.predictions(answers, known), fit.scores(answers))
    known[0] = False
    loglik, right = fit.predictions(answers, known)
    of_new = answers.workers == 0
    np.testing.assert_array_equal(loglik[~of_new], fit.scores(answers)[0][~of_new])
    np.testing.assert_array_equal(right, fit.scores(answers)[1])
    mean = np.zeros(int(of_new.sum()))
    places, weights = np.polynomial.hermite_e.hermegauss(3)
    for slope, of_slope in zip(0.5 * places, weights / weights.sum(), strict=True):
        for bias, of_bias in zip(places, weights / weights.sum(), strict=True):
            workers = fit.workers.copy()
            workers[0] = slope, bias
            mean += of_slope * of_bias * np.exp(replace(fit, workers=workers).scores(answers)[0][of_new])
    np.testing.assert_allclose(loglik[of_new], np.log(mean), rtol=1e-10)
