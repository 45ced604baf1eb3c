"""With the bound: responses dealt without a leak, scored as label by label, and settings chosen by them."""

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
from crowdclust_app.inference.crowdclustering import Crowdclustering
from crowdclust_app.inference.crowdclustering.model.data import labels_of
from crowdclust_app.inference.crowdclustering.model.settings import resolved
from crowdclust_app.inference.crowdclustering.selection.bound_choice import (
    BoundValidation,
    choose_settings,
    chosen_by,
    deal_responses,
    halves,
    one_cluster_rates,
    planned_fits,
    useful_folds,
    views,
)
from crowdclust_app.inference.crowdclustering.selection.prediction import (
    HeldOutScores,
    Placement,
    base_rates,
    mean_and_error,
    same_probabilities,
    score_table,
)

# fits are cut short to be quick
pytestmark = pytest.mark.filterwarnings("ignore::crowdclust_app.domain.errors.NotConvergedWarning")

AUTO = {"n_clusters": "bound", "label_weight": "auto", "worker_prior": "shared", "folds": 5, "n_starts": 1}


def cross_validation_of(table, folds=3, **parameters):
    model = Crowdclustering.as_published(**{"dimensions": 2, "folds": folds, "layer_rounds": 5, **parameters})
    return BoundValidation(table, resolved(model._settings()), folds, planned_fits(folds, False, False))


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
    fold = deal_responses(again, folds, seed)
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
    np.testing.assert_array_equal(fold, deal_responses(again, folds, seed))


def test_what_is_held_out_has_no_part_in_what_predicts_it():
    random = np.random.default_rng(0)
    table = slow.random_table(random, 12, 3, (5, 6, 7, 4, 8, 6, 5, 7, 6))
    validation = cross_validation_of(table)

    def placed(validation, fold):
        validation.place(validation.settings, (fold,))
        return validation._placed[(2, 1.0, fold)]

    placement = placed(validation, 0)
    # other groups in the held-out responses change nothing
    held = np.repeat(validation.fold_of == 0, table.sizes)
    groups = np.where(held, 0, table.groups)
    other = ResponseTable(
        **{name: getattr(table, name) for name in table.__dataclass_fields__ if name != "groups"}, groups=groups
    )
    again = cross_validation_of(other)
    np.testing.assert_array_equal(placed(again, 0).mean, placement.mean)
    assert not np.array_equal(placed(again, 1).mean, placed(validation, 1).mean)
    np.testing.assert_array_equal(base_rates(validation.train(0)), base_rates(again.train(0)))


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
        assert (scores.counts[r], scores.right[r]) == (pairs, right)


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


@pytest.mark.parametrize("folds", [3, 1])
def test_what_is_told_is_chosen_by_other_responses_than_those_it_is_told_of(folds):
    random = np.random.default_rng(7)
    table = slow.random_table(random, 12, 3, tuple(random.integers(4, 8, 30)))
    validation = cross_validation_of(table, label_weight="auto")
    validation.folds = folds
    covered = []
    for scored, choosing in views(validation):
        assert scored.half is None or scored.half == 1 - choosing.half
        assert scored.half is not None or not set(scored.folds) & set(choosing.folds)
        covered += [(fold, scored.half) for fold in scored.folds]
        # other scores of what is told change nothing about the choice
        before = chosen_by(validation, choosing, True, False)
        for key, kept in list(validation._scored.items()):
            if key[2] in scored.folds:
                hidden = np.ones(len(kept.counts), dtype=bool)
                if scored.half is not None:
                    hidden = halves(validation, [key[2]]) == scored.half
                other = np.where(hidden, random.normal(size=len(kept.counts)) * 50, kept.loglik)
                validation._scored[key] = HeldOutScores(other, kept.counts, kept.right)
        after = chosen_by(validation, choosing, True, False)
        assert (after.settings, after.tried) == (before.settings, before.tried)
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
        validation = cross_validation_of(table.take(~coming), folds=3, worker_prior="shared")
        heldout = choose_settings(validation, True, False)
        whole = cross_validation_of(table, folds=3, worker_prior="shared", label_weight=heldout.label_weight)
        whole.fold_of, whole.tests = np.where(coming, 0, 1), [table.take(coming)]
        true.append(whole.scores(whole.settings, (0,)).mean)
        told.append(heldout.loglik)
    assert np.mean(told) < np.mean(true) + 0.02


def test_settings_are_chosen_and_what_they_predict_is_told() -> None:
    campaign = tall_red_campaign(TallRedSettings(seed=1))
    model = Crowdclustering.as_published(**AUTO, dimensions="auto").fit(campaign.table)
    heldout = model.heldout_
    assert heldout is not None
    assert heldout.unit == "pair label"
    assert (model.label_weight_, model.dimensions_) == (heldout.label_weight, heldout.dimensions)
    assert {what for what, _, _ in heldout.tried} == {"label weight", "dimensions"}
    assert heldout.gain > 5 * heldout.gain_se
    assert heldout.responses == campaign.table.n_responses
    assert heldout.scored == campaign.table.n_pair_labels
    # who sorts at random is predicted worst
    assert campaign.worker_kinds[int(np.argmin(heldout.workers.loglik))] == "random"


def test_with_one_cluster_rates_meet_those_of_all_workers_and_of_each() -> None:
    rows = [(0, {0: 0, 1: 0, 2: 0}), (1, {0: 0, 1: 1, 2: 2}), (0, {1: 0, 2: 1})] * 100
    labels = labels_of(slow.table_of(rows, 3, 2), consensus=False)
    rates = one_cluster_rates(labels, np.array([0.5, 0.5]))
    same, pairs = np.array([300.0, 0.0]), np.array([400.0, 300.0])
    overall = (300 + 20 * 0.5) / (700 + 20)
    np.testing.assert_allclose(rates, (same + 50 * overall) / (pairs + 50), rtol=1e-12)


def test_the_same_seed_chooses_the_same():
    table = slow.random_table(np.random.default_rng(6), 20, 3, (6,) * 16)
    first, again = (Crowdclustering.as_published(**AUTO, dimensions=2, seed=3).fit(table) for _ in range(2))
    assert again.heldout_.tried == first.heldout_.tried
    np.testing.assert_array_equal(again.positions_, first.positions_)


def test_a_single_response_cannot_be_held_out():
    table = slow.table_of([(0, {0: 0, 1: 0, 2: 1}), (0, {1: 0})])
    model = Crowdclustering.as_published(**AUTO, dimensions=2).fit(table)
    assert model.heldout_ is None
    assert model.label_weight_ == 1.0
    # two that share no item predict nothing, and are no reason to stop
    apart = slow.table_of([(0, {0: 0, 1: 0}), (1, {2: 0, 3: 1})])
    model = Crowdclustering.as_published(**AUTO, dimensions=2).fit(apart)
    assert model.heldout_.scored == 0
    assert np.isnan(model.heldout_.workers.loglik).all()


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


def test_where_nothing_is_predicted_nothing_is_chosen() -> None:
    """Each two items are together in one response only, so that nothing is known of what is held out."""
    table = slow.table_of([(0, {2 * hit: 0, 2 * hit + 1: hit % 2}) for hit in range(8)], 16, 1)
    model = Crowdclustering.as_published(**AUTO, dimensions="auto").fit(table)
    assert model.heldout_.scored == 0
    assert (model.label_weight_, model.dimensions_) == (1.0, 4)
