"""Held-out responses: dealt without a leak, scored as label by label, and chosen by."""

from __future__ import annotations

import label_by_label as slow
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tall_red import TallRedSettings, tall_red_campaign

from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.domain.errors import Cancelled
from crowdclust_app.domain.response_table import ResponseTable
from crowdclust_app.evaluation.metrics import variation_of_information
from crowdclust_app.inference.consensus.kmeans import kmeans
from crowdclust_app.inference.crowdclustering import Crowdclustering
from crowdclust_app.inference.crowdclustering.model.settings import resolved
from crowdclust_app.inference.crowdclustering.partitions.position_clusters import partition_positions
from crowdclust_app.inference.crowdclustering.selection.choosing import (
    COST_PER_CLUSTER,
    LEAST_RELATIVE_GAIN,
    HeldOutView,
    choose,
    choose_by,
    halves,
    one_standard_error_rule,
    planned_fits,
    views,
)
from crowdclust_app.inference.crowdclustering.selection.heldout import CrossValidation, deal_folds, useful_folds
from crowdclust_app.inference.crowdclustering.selection.prediction import (
    HeldOutScores,
    Placement,
    base_rates,
    mean_and_error,
    same_probabilities,
    score_probable,
    score_table,
)

# fits are cut short to be quick
pytestmark = pytest.mark.filterwarnings("ignore::crowdclust_app.domain.errors.NotConvergedWarning")

AUTO = {"n_clusters": "heldout", "label_weight": "auto", "worker_prior": "shared", "folds": 5, "n_starts": 1}


def cross_validation_of(table, folds=3, **parameters):
    model = Crowdclustering.as_published(**{"dimensions": 2, "folds": folds, "layer_rounds": 5, **parameters})
    return CrossValidation(table, resolved(model._settings()), folds, planned_fits(folds, False, False))


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 6))
def test_every_response_is_held_out_once_and_repeats_with_it(seed, folds):
    random = np.random.default_rng(seed)
    table = slow.random_table(random, 12, 4, tuple(random.integers(1, 8, 20)))
    # the same workers sort the same items again, under the name of another HIT
    again = table.take(np.repeat(np.arange(20), 2))
    again = ResponseTable(
        **{name: getattr(again, name) for name in again.__dataclass_fields__ if name != "hit_of_response"},
        hit_of_response=np.arange(40),
    )
    fold = deal_folds(again, folds, seed)
    np.testing.assert_array_equal(fold >= 0, again.sizes >= 2)
    sets = [
        tuple(sorted(again.items[a:b])) for a, b in zip(again.response_ptr[:-1], again.response_ptr[1:], strict=True)
    ]
    numbers = {one: number for number, one in enumerate(dict.fromkeys(sets))}
    unit = again.worker_of_response * 100 + np.array([numbers[one] for one in sets])
    for one in np.unique(unit):
        assert len(set(fold[(unit == one) & (fold >= 0)])) <= 1
    for worker in range(4):
        mine = (again.worker_of_response == worker) & (fold >= 0)
        _, places = np.unique(unit[mine], return_index=True)
        counts = np.bincount(fold[mine][places], minlength=folds)
        assert counts.max() - counts.min() <= 1
    np.testing.assert_array_equal(fold, deal_folds(again, folds, seed))


def test_what_is_held_out_has_no_part_in_what_predicts_it():
    random = np.random.default_rng(0)
    table = slow.random_table(random, 12, 3, (5, 6, 7, 4, 8, 6, 5, 7, 6))
    validation = cross_validation_of(table)
    placement = validation.placement(validation.settings, 0)
    # other groups in the held-out responses change nothing
    held = np.repeat(validation.fold_of == 0, table.sizes)
    groups = np.where(held, 0, table.groups)
    other = ResponseTable(
        **{name: getattr(table, name) for name in table.__dataclass_fields__ if name != "groups"}, groups=groups
    )
    again = cross_validation_of(other)
    np.testing.assert_array_equal(again.placement(again.settings, 0).mean, placement.mean)
    assert not np.array_equal(
        cross_validation_of(other).placement(again.settings, 1).mean, validation.placement(validation.settings, 1).mean
    )
    np.testing.assert_array_equal(base_rates(validation.train(0)), base_rates(again.train(0)))


def test_probable_clusters_are_scored_as_label_by_label():
    random = np.random.default_rng(1)
    table = slow.random_table(random, 12, 3, tuple(random.integers(1, 8, 15)))
    memberships = random.dirichlet(np.ones(4), size=12)
    memberships[random.random(12) < 0.3] = -1.0
    rates = random.random((3, 4, 4))
    rates = (rates + rates.transpose(0, 2, 1)) / 2.0
    scores = score_probable(table, memberships, rates)
    for r in range(table.n_responses):
        here = range(table.response_ptr[r], table.response_ptr[r + 1])
        loglik, pairs, right = 0.0, 0, 0
        for p in here:
            for q in here:
                a, b = memberships[table.items[p]], memberships[table.items[q]]
                if p < q and a[0] >= 0 and b[0] >= 0:
                    same = float(a @ rates[table.worker_of_response[r]] @ b)
                    together = table.groups[p] == table.groups[q]
                    loglik += np.log(same if together else 1.0 - same)
                    pairs += 1
                    right += together == (same >= 0.5)
        np.testing.assert_allclose((scores.loglik[r], scores.pairs[r], scores.right[r]), (loglik, pairs, right))
    sure = np.eye(4)[random.integers(0, 4, 12)]
    certain = score_table(table, np.argmax(sure, axis=1), rates)
    np.testing.assert_allclose(score_probable(table, sure, rates).loglik, certain.loglik, rtol=1e-12)


def test_responses_are_scored_as_label_by_label():
    random = np.random.default_rng(1)
    table = slow.random_table(random, 12, 3, (5, 6, 1, 4, 8, 2), groups=2)
    cluster = random.integers(-1, 3, 12)
    chance = random.uniform(0.05, 0.95, (3, 3, 3))
    chance = (chance + chance.transpose(0, 2, 1)) / 2
    scores = score_table(table, cluster, chance)
    for r in range(table.n_responses):
        here = slice(table.response_ptr[r], table.response_ptr[r + 1])
        items, groups = table.items[here], table.groups[here]
        total, pairs, right = 0.0, 0, 0
        for p in range(len(items)):
            for q in range(p):
                a, b = cluster[items[p]], cluster[items[q]]
                if a >= 0 and b >= 0:
                    same = chance[table.worker_of_response[r], a, b]
                    together = groups[p] == groups[q]
                    total += np.log(same if together else 1 - same)
                    pairs += 1
                    right += together == (same >= 0.5)
        assert scores.loglik[r] == pytest.approx(total, abs=1e-12)
        assert (scores.pairs[r], scores.right[r]) == (pairs, right)


def test_predictions_integrate_over_a_cluster_and_over_the_worker():
    """By sampling items from their clusters and weights from their posterior."""
    random = np.random.default_rng(2)
    mean = np.concatenate([random.normal([1.5, 0], 0.3, (40, 2)), random.normal([-1, 1], 0.5, (40, 2))])
    placement = Placement(
        80, np.arange(80), mean, np.full((80, 2), 0.05), np.eye(2)[None] * 0.8, np.full((1, 2, 2), 0.1),
        np.array([-0.4]), np.array([0.2]),
    )  # fmt: skip
    partition = np.repeat([0, 1], 40)
    found = same_probabilities(placement, partition)[0]
    n = 200_000
    first, second, cross = (random.normal(0, np.sqrt(0.1), n) for _ in range(3))
    bias = -0.4 + random.normal(0, np.sqrt(0.2), n)
    for a in range(2):
        for b in range(2):
            x, y = (
                mean[random.integers(40 * k, 40 * k + 40, n)] + random.normal(0, np.sqrt(0.05), (n, 2)) for k in (a, b)
            )
            activity = (0.8 + first) * x[:, 0] * y[:, 0] + (0.8 + second) * x[:, 1] * y[:, 1] + bias
            activity += cross * (x[:, 0] * y[:, 1] + x[:, 1] * y[:, 0])
            assert found[a, b] == pytest.approx(np.mean(1 / (1 + np.exp(-activity))), abs=0.03)


def test_base_rates_are_each_worker_s_share_shrunk_to_everybody_s():
    table = slow.table_of([(0, {0: 0, 1: 0, 2: 1}), (1, {0: 0, 1: 0})], 3, 3)
    overall = 2 / 4
    np.testing.assert_allclose(base_rates(table), [(1 + 10 * overall) / 13, (1 + 10 * overall) / 11, overall])


def test_the_standard_error_takes_responses_for_the_units():
    random = np.random.default_rng(3)
    values = random.normal(-2, 1, 2000)
    mean, error = mean_and_error(values, np.full(2000, 4.0))
    assert mean == pytest.approx(values.mean() / 4)
    assert error == pytest.approx(values.std(ddof=1) / np.sqrt(2000) / 4)
    assert mean_and_error(np.array([1.0, 9.0]), np.array([2.0, 0.0])) == (0.5, np.inf)
    assert mean_and_error(np.zeros(0), np.zeros(0)) == (0.0, np.inf)


def scores(*per_label):
    return HeldOutScores(np.tile(per_label, 50), np.ones(50 * len(per_label)), np.zeros(50 * len(per_label)))


def test_a_cluster_has_to_be_worth_its_price():
    tried = [(1, scores(-0.70)), (2, scores(-0.50)), (3, scores(-0.50 + 0.9 * COST_PER_CLUSTER * 0.2))]
    assert one_standard_error_rule(tried) == 1
    tried = [(1, scores(-0.70)), (2, scores(-0.50)), (3, scores(-0.48))]
    assert one_standard_error_rule(tried) == 2
    # no gain that is sure
    assert one_standard_error_rule([(1, scores(-0.7, -0.1)), (2, scores(-0.1, -0.69))]) == 0
    assert one_standard_error_rule([(1, scores(-0.7))]) == 0
    # a gain that is sure and next to nothing
    assert one_standard_error_rule([(1, scores(-0.7)), (2, scores(-0.7 + 0.7 * 0.9 * LEAST_RELATIVE_GAIN))]) == 0


@pytest.mark.parametrize("folds", [3, 1])
def test_what_is_told_is_chosen_by_other_responses_than_those_it_is_told_of(folds):
    random = np.random.default_rng(7)
    table = slow.random_table(random, 12, 3, tuple(random.integers(4, 8, 30)))
    validation = cross_validation_of(table, n_clusters="heldout", label_weight="auto")
    validation.folds = folds
    covered = []
    for scored, chosen_by in views(validation):
        assert scored.half is None or scored.half == 1 - chosen_by.half
        assert scored.half is not None or not set(scored.folds) & set(chosen_by.folds)
        covered += [(fold, scored.half) for fold in scored.folds]
        # other scores of what is told change nothing about the choice
        before = choose_by(validation, chosen_by, True, False, False)
        for key, kept in list(validation._scored.items()):
            if key[2] in scored.folds:
                hidden = np.ones(len(kept.pairs), dtype=bool)
                if scored.half is not None:
                    hidden = halves(validation, [key[2]]) == scored.half
                other = np.where(hidden, random.normal(size=len(kept.pairs)) * 50, kept.loglik)
                validation._scored[key] = HeldOutScores(other, kept.pairs, kept.right)
        after = choose_by(validation, chosen_by, True, False, False)
        assert (after.settings, after.clusters, after.tried) == (before.settings, before.clusters, before.tried)
    assert covered == ([(0, None), (1, None), (2, None)] if folds == 3 else [(0, 0), (0, 1)])


@pytest.mark.parametrize("workers_per_hit", [1, 2])
def test_the_figure_told_is_that_of_responses_yet_to_come(workers_per_hit):
    """The figure is of fits to four fifths of the responses, so it may be a little low, but never flatters."""
    from crowdclust_app.evaluation.simulation import SimulationSettings, simulate_campaign

    told, true = [], []
    for seed in range(4):
        noisy = SimulationSettings(
            items=60, clusters=4, items_per_hit=8, redundancy=8, workers_per_hit=workers_per_hit, workers=6,
            noise=0.4, seed=seed,
        )  # fmt: skip
        table = simulate_campaign(noisy).table
        coming = np.random.default_rng(seed).permutation(table.n_responses) % 3 == 0
        validation = cross_validation_of(table.take(~coming), folds=3, n_clusters="heldout", worker_prior="shared")
        heldout = choose(validation, True, False)
        whole = cross_validation_of(table, folds=3, worker_prior="shared", label_weight=heldout.label_weight)
        whole.fold_of, whole.tests = np.where(coming, 0, 1), [table.take(coming)]
        true.append(whole.scores(whole.settings, heldout.clusters, (0,)).per_label)
        told.append(heldout.loglik)
    assert np.mean(told) < np.mean(true) + 0.02


def test_partitions_follow_uneven_clusters_of_one_shape():
    random = np.random.default_rng(4)
    shape = random.normal(size=(300, 2)) * [0.5, 0.2]
    truth = np.repeat([0, 1, 2], [200, 70, 30])
    positions = shape + np.array([[0, 0], [0.4, 1.2], [-0.4, -1.2]])[truth]
    found, begun = partition_positions(positions, 3, 0), kmeans(positions, 3, 4, 0)
    assert variation_of_information(found, truth) == pytest.approx(0.0, abs=1e-12)
    assert variation_of_information(begun, truth) > 0.1
    assert set(partition_positions(np.zeros((4, 2)), 3, 0)) <= {0, 1, 2}
    np.testing.assert_array_equal(partition_positions(positions[:5], 9, 0).max() < 5, True)


@pytest.mark.parametrize("seed", range(3))
def test_everything_automatic_finds_the_paper_s_example(seed):
    campaign = tall_red_campaign(TallRedSettings(seed=seed))
    model = Crowdclustering.as_published(**AUTO, seed=seed).fit(campaign.table)
    assert model.heldout_.clusters == 4 == len(model.means_)
    assert variation_of_information(model.labels_, campaign.truth) == pytest.approx(0.0, abs=1e-12)
    assert model.label_weight_ == model.heldout_.label_weight
    assert model.heldout_.gain > 5 * model.heldout_.gain_se
    assert model.heldout_.responses == campaign.table.n_responses
    # who sorts at random is predicted worst
    assert campaign.worker_kinds[int(np.argmin(model.heldout_.workers.loglik))] == "random"


def test_the_same_seed_chooses_the_same():
    table = slow.random_table(np.random.default_rng(6), 20, 3, (6,) * 16)
    first, again = (Crowdclustering.as_published(**AUTO, dimensions=2, seed=3).fit(table) for _ in range(2))
    assert again.heldout_.tried == first.heldout_.tried
    np.testing.assert_array_equal(again.positions_, first.positions_)


def test_random_answers_have_no_structure():
    random = np.random.default_rng(5)
    table = slow.random_table(random, 60, 6, (10,) * 60)
    model = Crowdclustering.as_published(**AUTO, dimensions=2).fit(table)
    assert model.heldout_.clusters == 1 == len(model.means_)
    assert model.heldout_.gain <= 2 * model.heldout_.gain_se


def test_a_single_response_cannot_be_held_out():
    table = slow.table_of([(0, {0: 0, 1: 0, 2: 1}), (0, {1: 0})])
    model = Crowdclustering.as_published(**AUTO, dimensions=2).fit(table)
    assert model.heldout_ is None
    assert model.label_weight_ == 1.0
    # two that share no item predict nothing, and are no reason to stop
    apart = slow.table_of([(0, {0: 0, 1: 0}), (1, {2: 0, 3: 1})])
    model = Crowdclustering.as_published(**AUTO, dimensions=2).fit(apart)
    assert model.heldout_.pairs == 0
    assert np.isnan(model.heldout_.workers.loglik).all()


@pytest.mark.parametrize("prior", ["shared", "independent"])
@pytest.mark.parametrize("wanted", [2, 4, 6])
def test_a_given_number_of_clusters_is_found_in_noisy_responses(prior, wanted):
    from crowdclust_app.evaluation.simulation import SimulationSettings, simulate_campaign

    noisy = SimulationSettings(
        items=180, clusters=6, items_per_hit=10, redundancy=6, workers_per_hit=2, workers=20, noise=0.15
    )
    table = simulate_campaign(noisy).table
    model = Crowdclustering.as_published(n_starts=1, n_clusters=wanted, worker_prior=prior).fit(table)
    assert len(model.means_) == wanted


def test_cancelling_stops_while_responses_are_held_out():
    table = slow.random_table(np.random.default_rng(6))
    token, told = CancelToken(), []

    def progress(snapshot):
        told.append(snapshot)
        if snapshot.start == 2:
            token.cancel()

    with pytest.raises(Cancelled):
        Crowdclustering.as_published(**AUTO, dimensions=2).fit(table, progress=progress, cancel=token)
    assert {snapshot.phase for snapshot in told} == {"heldout"}
    assert [snapshot.start for snapshot in told].count(2) == 1


def test_a_large_campaign_needs_one_fold_and_a_small_one_all() -> None:
    small = tall_red_campaign(TallRedSettings(seed=0)).table
    assert useful_folds(small, 5) == 5
    many = small.take(np.tile(np.arange(small.n_responses), 1 + 5 * 40_000 // small.n_pair_labels))
    assert many.n_pair_labels >= 5 * 40_000
    assert useful_folds(many, 5) == 1
    middle = many.take(np.arange(many.n_responses) < many.n_responses // 2)  # type: ignore[arg-type]
    assert useful_folds(middle, 5) == 2 + (middle.n_pair_labels * 2 < 5 * 40_000)


def test_the_search_is_refined_around_the_number_chosen_and_not_beyond_the_last() -> None:
    table = tall_red_campaign(TallRedSettings(items=32, items_per_hit=8, seed=2)).table
    validation = cross_validation_of(table, n_clusters="heldout", worker_prior="shared")
    everything = HeldOutView(tuple(range(validation.folds)))
    quickly = choose_by(validation, everything, False, False, False)
    assert not any(key[-1] for key in validation._scored)
    refined_choice = choose_by(validation, everything, False, False, True)
    refined = {key[-2] for key in validation._scored if key[-1]}
    assert {refined_choice.clusters - 1, refined_choice.clusters, refined_choice.clusters + 1} <= refined | {1}  # type: ignore[operator]
    assert max(refined) <= max(number for number, *_ in quickly.by_clusters)
    assert {number for number, *_ in refined_choice.by_clusters} >= refined


def test_where_nothing_is_predicted_nothing_is_chosen() -> None:
    """Each two items are together in one response only, so that nothing is known of what is held out."""
    table = slow.table_of([(0, {2 * hit: 0, 2 * hit + 1: hit % 2}) for hit in range(8)], 16, 1)
    model = Crowdclustering.as_published(**AUTO, dimensions="auto").fit(table)
    assert model.heldout_.pairs == 0
    assert (model.label_weight_, model.dimensions_) == (1.0, 4)
