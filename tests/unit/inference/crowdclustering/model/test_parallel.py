"""Large campaigns: items that never meet are updated at once, and how many threads there are changes nothing."""

from __future__ import annotations

import itertools
from concurrent.futures import ThreadPoolExecutor

import label_by_label as slow
import numpy as np
import pytest

from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.domain.errors import Cancelled
from crowdclust_app.evaluation.simulation import SimulationSettings, simulate_campaign
from crowdclust_app.inference.crowdclustering import Crowdclustering
from crowdclust_app.inference.crowdclustering.kernels import sweep_order
from crowdclust_app.inference.crowdclustering.model.parallel import Parallel, cuts

# fits are cut short to be quick
pytestmark = pytest.mark.filterwarnings("ignore::crowdclust_app.domain.errors.NotConvergedWarning")

EXACT = {"rtol": 1e-10, "atol": 1e-10}


@pytest.fixture
def shared(monkeypatch):
    """Share even small sweeps, and sum in many chunks."""
    monkeypatch.setattr(sweep_order, "WORTH_SHARING", 1)
    monkeypatch.setattr(sweep_order, "STRETCH", 300)
    monkeypatch.setattr(sweep_order, "CHUNK_LABELS", 40)


@pytest.fixture(scope="module")
def table():
    return simulate_campaign(
        SimulationSettings(items=120, clusters=4, items_per_hit=8, redundancy=4, workers_per_hit=3, workers=9)
    ).table


def beliefs_of(table, dimensions=3, seed=0):
    return slow.random_posterior(np.random.default_rng(seed), table, dimensions, label_weight=0.5)


def sparse_table(seed=0):
    random = np.random.default_rng(seed)
    return slow.random_table(random, n_items=25, n_workers=3, sizes=(2, 3, 4, 3, 2, 5, 4, 3, 2))


def test_items_of_a_step_never_meet_and_each_has_its_turn(shared, table):
    posterior = beliefs_of(table)
    assert posterior.order.independent
    assert sorted(posterior.order.items) == list(range(posterior.labels.n_items))
    meet = {frozenset((a, b)) for a, b, _, _ in slow.expand(posterior.labels)}
    steps = [posterior.order.items[a:b].tolist() for a, b in itertools.pairwise(posterior.order.steps)]
    assert max(map(len, steps)) > 5
    assert not [pair for step in steps for pair in itertools.combinations(step, 2) if frozenset(pair) in meet]


def test_a_small_campaign_is_gone_through_in_its_own_order(table):
    posterior = beliefs_of(table)
    assert not posterior.order.independent
    np.testing.assert_array_equal(posterior.order.items, np.arange(posterior.labels.n_items))
    assert len(posterior.order.chunk_workers) == len(posterior.labels.answered)


def test_a_shared_sweep_is_that_of_one_item_after_another(shared):
    fast, expected = beliefs_of(sparse_table()), beliefs_of(sparse_table())
    assert fast.order.independent
    n, D = fast.mean.shape
    precision, shift = np.repeat(2 * np.eye(D)[None], n, axis=0), np.full((n, D), 0.3)
    for item in fast.order.items:
        expected.mean[item], expected.variance[item] = slow.item_update(expected, item, precision[item], shift[item])
    with ThreadPoolExecutor(2) as executor:
        fast.parallel = Parallel(3, executor)
        fast.work *= 3
        # three threads need working memory of their own
        fast.work = [type(work)(*(np.copy(array) for array in work)) for work in fast.work]
        fast.update_items(precision, shift)
    np.testing.assert_allclose(fast.mean, expected.mean, **EXACT)
    np.testing.assert_allclose(fast.variance, expected.variance, **EXACT)


def test_sums_in_chunks_are_those_label_by_label(shared):
    random = np.random.default_rng(4)
    table = slow.random_table(random, n_items=20, n_workers=2, sizes=(12, 9, 14, 11, 13))
    posterior = beliefs_of(table)
    assert len(posterior.order.chunk_workers) > 2
    np.testing.assert_allclose(posterior.sum_labels()[:, 2].sum(), slow.likelihood_bound(posterior), **EXACT)
    posterior.prior = type(posterior.prior)(np.zeros(6), np.full(6, posterior.settings.weight_variance), 0.0, 10.0)
    mean, variance = slow.worker_update(posterior)
    posterior.update_weights()
    np.testing.assert_allclose(posterior.weights[:, *np.triu_indices(3)], mean, **EXACT)
    np.testing.assert_allclose(posterior.weight_variances[:, *np.triu_indices(3)], variance, **EXACT)


def test_the_pass_that_moves_the_weights_serves_the_biases_and_tells_the_bound_before():
    posterior = beliefs_of(sparse_table(1))
    _, square = slow.all_moments(posterior)
    before = slow.likelihood_bound(posterior)
    sums = posterior.update_weights()
    np.testing.assert_allclose(sums[:, 2].sum(), before, **EXACT)
    # section 5 with the new weights, and every lambda as it was
    curved, pulled = np.zeros(3), np.zeros(3)
    for (a, b, j, label), delta in zip(slow.expand(posterior.labels), np.sqrt(square), strict=True):
        inner = posterior.mean[a] @ posterior.weights[j] @ posterior.mean[b]
        curved[j] += 0.5 * slow.curvature(delta)
        pulled[j] += 0.5 * (label / 2 + 2 * slow.curvature(delta) * inner)
    np.testing.assert_allclose(sums[:, 0], curved, **EXACT)
    np.testing.assert_allclose(sums[:, 1], pulled, **EXACT)


def test_responses_to_the_same_items_share_a_tile():
    table = slow.table_of(
        [(0, {3: 0, 1: 1, 2: 0}), (1, {1: 0, 2: 0, 3: 5}), (2, {1: 0, 2: 1}), (0, {2: 7, 3: 7, 1: 7})]
    )
    posterior = beliefs_of(table, 2)
    assert len(posterior.tiles.sizes) == 2
    np.testing.assert_allclose(posterior.sum_labels()[:, 2].sum(), slow.likelihood_bound(posterior), **EXACT)


@pytest.mark.parametrize("clusters", ["bound", 4])
def test_the_number_of_threads_changes_nothing(shared, table, clusters):
    def fitted(parallel):
        model = Crowdclustering.as_published(
            dimensions=2, n_starts=2, n_clusters=clusters, worker_prior="shared", max_iterations=8
        )
        return model.fit(table, parallel=parallel)

    alone = fitted(None)
    for threads in (1, 2, 3):
        with ThreadPoolExecutor(3) as executor:
            together = fitted(Parallel(threads, executor))
        assert together.lower_bounds_ == alone.lower_bounds_
        assert together.bound_ == pytest.approx(alone.bound_, rel=1e-8)
        np.testing.assert_array_equal(together.labels_, alone.labels_)
        np.testing.assert_array_equal(together.positions_, alone.positions_)


def test_a_cancel_stops_within_a_sweep(shared, table):
    token = CancelToken()
    posterior = beliefs_of(table)
    done = []

    def check():
        done.append(1)
        if len(done) == 3:
            token.cancel()
        token.check()

    posterior.parallel = Parallel(check=check)
    n, D = posterior.mean.shape
    before = posterior.mean.copy()
    with pytest.raises(Cancelled):
        posterior.update_items(np.repeat(np.eye(D)[None], n, axis=0), np.zeros((n, D)))
    moved = (posterior.mean != before).any(axis=1)
    assert moved.any()
    assert not moved.all()
    with pytest.raises(Cancelled):
        posterior.sum_labels()


def test_an_error_in_one_thread_is_told_when_all_are_done():
    finished = []

    def work(number):
        if number == 1:
            raise ValueError("no")
        finished.append(number)

    with ThreadPoolExecutor(2) as executor:
        with pytest.raises(ValueError, match="no"):
            Parallel(3, executor).share(work, [(0,), (1,), (2,)])
        assert sorted(finished) == [0, 2]


@pytest.mark.parametrize("parts", [1, 2, 3, 8])
def test_cuts_cover_everything_once_and_evenly(parts):
    loads = np.random.default_rng(0).integers(1, 10, size=200)
    pieces = cuts(loads, parts)
    assert [pieces[0][0], pieces[-1][1]] == [0, 200]
    assert all(a[1] == b[0] for a, b in itertools.pairwise(pieces))
    assert len(pieces) == parts
    assert max(loads[a:b].sum() for a, b in pieces) <= loads.sum() / parts + 10
    assert cuts(np.array([5, 1]), 4) in ([(0, 1), (1, 2)], [(0, 2)])
