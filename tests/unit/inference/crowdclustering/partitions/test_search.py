"""Partitions of every number: planted ones are found, a number is kept to, and starts can only help."""

from __future__ import annotations

import label_by_label as slow
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdclust_app.domain.response_table import ResponseTable
from crowdclust_app.evaluation.metrics import variation_of_information
from crowdclust_app.evaluation.simulation import SimulationSettings, simulate_campaign
from crowdclust_app.inference.crowdclustering.model.canonical_order import ordered
from crowdclust_app.inference.crowdclustering.model.parallel import no_check
from crowdclust_app.inference.crowdclustering.partitions.answers import Answers
from crowdclust_app.inference.crowdclustering.partitions.candidates import candidates_of, pair_counts
from crowdclust_app.inference.crowdclustering.partitions.decision_model import DecisionFit
from crowdclust_app.inference.crowdclustering.partitions.search import (
    best_of_number,
    improve_by_starts,
    merged,
    nearest_number,
    partitions_by_number,
    refined,
    tidied,
)

NOISY = SimulationSettings(
    items=60, clusters=5, items_per_hit=10, redundancy=5, workers_per_hit=3, workers=10, noise=0.1, coarse=0.1, seed=3
)


def campaign_answers(**changes: object) -> tuple[Answers, ResponseTable, np.ndarray]:
    campaign = simulate_campaign(SimulationSettings(**{**{f: getattr(NOISY, f) for f in FIELDS}, **changes}))
    order = ordered(campaign.table)
    truth = np.empty(campaign.table.n_items, dtype=object)
    truth[order.item_at] = campaign.truth
    return Answers.of(order.table), order.table, truth


FIELDS = ("items", "clusters", "items_per_hit", "redundancy", "workers_per_hit", "workers", "noise", "coarse", "seed")


def test_the_planted_partition_is_the_likeliest_of_its_number() -> None:
    answers, _, truth = campaign_answers()
    candidates = candidates_of(answers, pair_counts(answers))
    found = partitions_by_number(answers, candidates, 12, no_check)
    assert set(range(1, 9)) <= set(found)
    assert variation_of_information(found[5].partition, truth) == pytest.approx(0.0, abs=1e-12)
    planted = DecisionFit.before(answers, np.unique(truth, return_inverse=True)[1]).settled(answers)
    assert found[5].loglik >= planted.loglik - 1e-3 * abs(planted.loglik)
    logliks = [found[K].loglik for K in range(1, 6)]
    assert logliks == sorted(logliks)
    assert nearest_number(found, 1000).n_clusters == max(found)
    assert nearest_number({2: found[2]}, 1).n_clusters == 2


def test_merging_makes_the_pair_one_that_costs_least_and_moving_mends_what_is_misplaced() -> None:
    answers, _, truth = campaign_answers()
    number = np.unique(truth, return_inverse=True)[1]
    cut = np.where((number == 2) & (np.arange(60) % 2 == 0), 5, number)
    whole = merged(answers, DecisionFit.before(answers, cut).settled(answers))
    assert variation_of_information(whole.partition, truth) == pytest.approx(0.0, abs=1e-12)
    strayed = number.copy()
    strayed[:8] = (strayed[:8] + 1) % 5
    mended = refined(answers, DecisionFit.before(answers, strayed), no_check)
    assert variation_of_information(mended.partition, truth) == pytest.approx(0.0, abs=1e-12)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 1000), K=st.integers(1, 6))
def test_more_starts_never_make_it_worse(seed: int, K: int) -> None:
    random = np.random.default_rng(seed)
    table = slow.random_table(random, 10, 3, tuple(random.integers(2, 8, 12)))
    answers = Answers.of(ordered(table).table)
    n = int(answers.shown.sum())
    K = min(K, n)
    candidates = candidates_of(answers, pair_counts(answers))
    before = -np.inf
    for n_starts in (1, 2, 5):
        found = partitions_by_number(answers, candidates, min(8, n), no_check)
        improve_by_starts(answers, candidates, found, K, range(2, n_starts + 1), seed, no_check)
        fit = best_of_number(answers, candidates, found, K, no_check)
        assert fit.n_clusters == K == len(np.unique(fit.partition[answers.shown]))
        assert fit.loglik >= before
        before = fit.loglik


def test_large_campaigns_have_cells_in_place_of_items() -> None:
    answers, _, truth = campaign_answers(items=400, items_per_hit=20, redundancy=6, clusters=8)
    dense, sparse = candidates_of(answers, pair_counts(answers)), candidates_of(answers, None)
    assert dense.average is not None
    assert sparse.average is None
    assert len(sparse.points) <= 100
    assert len(sparse.cells) == 400
    found = partitions_by_number(answers, sparse, 16, no_check)
    assert variation_of_information(found[8].partition, truth) == pytest.approx(0.0, abs=1e-12)


def test_items_that_go_with_nothing_are_clusters_of_their_own_and_a_stray_few_are_not() -> None:
    random = np.random.default_rng(0)
    kinds = np.repeat([0, 1, 2, 3, 4, 5, 6], [12, 12, 1, 1, 1, 1, 1])
    responses = []
    for hit in range(60):
        items = random.permutation(29)[:12]
        responses.append((hit % 6, dict(zip(items.tolist(), kinds[items].tolist(), strict=True))))
    answers = Answers.of(ordered(slow.table_of(responses, 29, 6)).table)
    names = ordered(slow.table_of(responses, 29, 6)).item_at
    truth = np.empty(29, dtype=np.int64)
    truth[names] = kinds
    leftover = np.minimum(truth, 2)
    tidy = tidied(answers, DecisionFit.before(answers, leftover).settled(answers), no_check)
    assert tidy.n_clusters == 7
    assert variation_of_information(tidy.partition, truth) == pytest.approx(0.0, abs=1e-12)
    few = truth.copy()
    few[np.flatnonzero(truth == 0)[:2]] = 7
    tidy = tidied(answers, DecisionFit.before(answers, few).settled(answers), no_check)
    assert variation_of_information(tidy.partition, truth) == pytest.approx(0.0, abs=1e-12)
