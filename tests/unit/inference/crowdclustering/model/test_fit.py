"""Whole fits: recovery, invariance, edge cases, determinism, progress and cancelling."""

# mypy: disable-error-code="attr-defined, arg-type"
# parameters are attributes by name; stand-ins have what is used alone

from __future__ import annotations

import itertools

import label_by_label as slow
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.domain.errors import Cancelled, UserError
from crowdclust_app.domain.response_table import Response, ResponseTable
from crowdclust_app.evaluation.metrics import variation_of_information
from crowdclust_app.inference.crowdclustering import Crowdclustering, Snapshot

# fits are cut short to be quick
pytestmark = pytest.mark.filterwarnings("ignore::crowdclust_app.domain.errors.NotConvergedWarning")

QUICK = {"dimensions": 2, "n_starts": 2, "layer_rounds": 10, "max_iterations": 15}


def tall_red(seed, n_items=80, items_per_hit=12, rounds=5, workers=8, noise=0.03):
    """Items are tall or short and red or blue; even workers see height, odd ones colour. Returns table and truth."""
    random = np.random.default_rng(seed)
    truth = random.integers(0, 4, n_items)
    responses = []
    for _ in range(rounds):
        order = random.permutation(n_items)
        for start in range(0, n_items, items_per_hit):
            items = order[start : start + items_per_hit]
            for worker in random.choice(workers, 4, replace=False):
                groups = truth[items] // 2 if worker % 2 == 0 else truth[items] % 2
                wrong = random.random(len(items)) < noise
                groups = np.where(wrong, random.integers(0, 2, len(items)), groups)
                responses.append((int(worker), dict(zip(items.tolist(), groups.tolist(), strict=True))))
    return slow.table_of(responses, n_items, workers), truth


def check_sane(model, table):
    """What holds for every fit, whatever was answered."""
    N, J, D = table.n_items, 1 if model.consensus else table.n_workers, model.dimensions
    K = model.means_.shape[0]
    shapes = {
        "positions_": (N, D),
        "position_variances_": (N, D),
        "weights_": (J, D, D),
        "weight_variances_": (J, D, D),
        "biases_": (J,),
        "bias_variances_": (J,),
        "responsibilities_": (N, K),
        "labels_": (N,),
        "shown_": (N,),
        "answered_": (J,),
        "means_": (K, D),
        "covariances_": (K, D, D),
        "mixing_": (K,),
        "fisher_": (N, 2),
        "confusion_": (J, K, K),
        "confusion_bound_": (J, K, K),
    }
    for name, shape in shapes.items():
        value = getattr(model, name)
        assert value.shape == shape, name
        assert np.isfinite(value).all(), name
    assert (model.position_variances_ > 0).all()
    np.testing.assert_allclose(model.responsibilities_.sum(axis=1), 1.0)
    np.testing.assert_allclose(model.mixing_.sum(), 1.0)
    np.testing.assert_array_equal(model.labels_ > 0, model.shown_)
    shown = model.labels_[model.shown_]
    np.testing.assert_array_equal(shown, 1 + np.argmax(model.responsibilities_[model.shown_], axis=1))
    sizes = np.bincount(shown, minlength=K + 1)[1:]
    assert (sizes > 0).all()
    assert (np.diff(sizes) <= 0).all()
    assert np.isfinite(model.bound_)
    assert model.bound_ == max(model.start_bounds_)
    assert ((model.probability_ >= 0) & (model.probability_ <= 1)).all()
    assert len(model.start_bounds_) == model.n_starts
    assert 0 <= model.entropy_bits_ <= np.log2(K) + 1e-12
    for matrix in (model.confusion_, model.confusion_bound_):
        assert ((matrix >= 0) & (matrix <= 1)).all()
        np.testing.assert_allclose(matrix, matrix.transpose(0, 2, 1), atol=1e-12)
    for phase in ("layers", "mixture", "joint"):
        bounds = [bound for name, bound in model.lower_bounds_ if name == phase]
        assert bounds, phase
        assert all(b >= a - 1e-9 * abs(b) for a, b in itertools.pairwise(bounds)), phase
    assert model.bound_ >= bounds[-1] - 1e-9 * abs(model.bound_)


@pytest.mark.parametrize("seed", range(4))
def test_tall_and_red_are_four_clusters_and_each_worker_shows_two_groups(seed):
    table, truth = tall_red(seed)
    model = Crowdclustering.as_published(n_starts=2, label_weight=0.2, seed=seed).fit(table)
    check_sane(model, table)
    assert model.means_.shape[0] == 4
    assert variation_of_information(truth, model.labels_) == pytest.approx(0.0, abs=1e-12)
    category = [truth[np.flatnonzero(model.labels_ == k)[0]] for k in range(1, 5)]
    for worker in range(table.n_workers):
        seen = [c // 2 if worker % 2 == 0 else c % 2 for c in category]
        together = np.equal.outer(seen, seen)
        assert model.confusion_[worker][together].min() > 0.8
        assert model.confusion_[worker][~together].max() < 0.2


def test_consensus_gives_every_response_to_one_worker():
    table, truth = tall_red(0)
    model = Crowdclustering.as_published(**QUICK, consensus=True).fit(table)
    check_sane(model, table)
    alone = ResponseTable(
        item_names=table.item_names,
        worker_names=("everybody",),
        hit_names=table.hit_names,
        response_ptr=table.response_ptr,
        items=table.items,
        groups=table.groups,
        worker_of_response=np.zeros_like(table.worker_of_response),
        hit_of_response=table.hit_of_response,
    )
    same = Crowdclustering.as_published(**QUICK).fit(alone)
    assert same.bound_ == model.bound_
    np.testing.assert_array_equal(same.labels_, model.labels_)
    assert len(truth) == len(model.labels_)


def test_a_fit_is_a_function_of_table_parameters_and_seed():
    table, _ = tall_red(1)
    first, again, other = (Crowdclustering.as_published(**QUICK, seed=seed).fit(table) for seed in (3, 3, 4))
    for name in ("positions_", "weights_", "responsibilities_", "confusion_", "fisher_"):
        np.testing.assert_array_equal(getattr(first, name), getattr(again, name))
    assert first.start_bounds_ == again.start_bounds_
    assert first.lower_bounds_ == again.lower_bounds_
    assert first.start_bounds_[1] != other.start_bounds_[1]
    # the same object again, too
    refitted = first.fit(table)
    assert refitted is first
    np.testing.assert_array_equal(refitted.positions_, again.positions_)


def renamed_groups(responses, random):
    return [
        Response(r.hit, r.worker, r.items, tuple({"0": "x", "1": "y", "2": "a"}.get(g, g) for g in r.groups))
        for r in responses
    ]


def shuffled_responses(responses, random):
    return [responses[i] for i in random.permutation(len(responses))]


def shuffled_inside(responses, random):
    orders = [random.permutation(len(r.items)) for r in responses]
    return [
        Response(r.hit, r.worker, tuple(r.items[i] for i in order), tuple(r.groups[i] for i in order))
        for r, order in zip(responses, orders, strict=True)
    ]


@pytest.mark.parametrize("change", [renamed_groups, shuffled_responses, shuffled_inside])
@pytest.mark.parametrize("order", ["the same items", "items renumbered"])
def test_names_and_order_do_not_matter(change, order):
    table, truth = tall_red(2, noise=0.0)
    random = np.random.default_rng(0)
    responses = [
        Response(
            str(r),
            table.worker_names[table.worker_of_response[r]],
            tuple(table.item_names[i] for i in table.items[table.response_ptr[r] : table.response_ptr[r + 1]]),
            tuple(str(g) for g in table.groups[table.response_ptr[r] : table.response_ptr[r + 1]]),
        )
        for r in range(table.n_responses)
    ]
    names = list(table.item_names)
    if order == "items renumbered":
        names = [names[i] for i in random.permutation(len(names))]
    changed = ResponseTable.from_responses(change(responses, random), names, table.worker_names)
    parameters = {"dimensions": 3, "n_starts": 1, "label_weight": 0.2}
    before = Crowdclustering.as_published(**parameters).fit(table)
    after = Crowdclustering.as_published(**parameters).fit(changed)
    number = {name: i for i, name in enumerate(changed.item_names)}
    labels = after.labels_[[number[name] for name in table.item_names]]
    assert variation_of_information(before.labels_, labels) == pytest.approx(0.0, abs=1e-12)
    assert variation_of_information(before.labels_, truth) == pytest.approx(0.0, abs=1e-12)


EDGES = {
    "an item never shown": ([(0, {0: 0, 1: 0, 2: 1}), (1, {1: 0, 2: 1, 3: 1})], 6, 2),
    "a worker with one response": ([(0, {0: 0, 1: 0, 2: 1})] * 3 + [(1, {0: 0, 2: 0})], 3, 2),
    "a worker without responses": ([(0, {0: 0, 1: 0, 2: 1})], 3, 3),
    "all in one group": ([(0, dict.fromkeys(range(6), 0)), (1, dict.fromkeys(range(6), 0))], 6, 2),
    "all alone": ([(0, {i: i for i in range(6)}), (1, {i: i for i in range(6)})], 6, 2),
    "two items": ([(0, {0: 0, 1: 0})], 2, 1),
    "two items apart": ([(0, {0: 0, 1: 1})], 2, 1),
    "one response in all": ([(0, {i: i % 3 for i in range(9)})], 9, 1),
    "contradicting duplicates": ([(0, {0: 0, 1: 0, 2: 1}), (0, {0: 0, 1: 1, 2: 0})] * 4, 3, 1),
    "sizes that differ": (
        [(0, {i: i % 4 for i in range(200)}), (1, {i: i % 2 for i in range(50)}), (0, {3: 0, 7: 1})],
        200,
        2,
    ),
    "a response of a single item": ([(0, {0: 0, 1: 1, 2: 1}), (1, {2: 0}), (1, {3: 0})], 4, 2),
}


@pytest.mark.parametrize("dimensions", [1, 4])
@pytest.mark.parametrize("case", EDGES)
def test_edge_cases_fit(case, dimensions):
    responses, n_items, n_workers = EDGES[case]
    table = slow.table_of(responses, n_items, n_workers)
    model = Crowdclustering.as_published(**{**QUICK, "dimensions": dimensions}).fit(table)
    check_sane(model, table)
    in_pairs = {i for _, groups in responses if len(groups) > 1 for i in groups}
    np.testing.assert_array_equal(np.flatnonzero(model.shown_), sorted(in_pairs))
    answered = {worker for worker, groups in responses if len(groups) > 1}
    np.testing.assert_array_equal(np.flatnonzero(model.answered_), sorted(answered))
    # what is not shown has the expected weights of the clusters
    for item in np.flatnonzero(~model.shown_):
        np.testing.assert_array_equal(model.responsibilities_[item], model.mixing_)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    seed=st.integers(0, 10_000),
    dimensions=st.sampled_from([1, 2, 4]),
    clusters=st.sampled_from(["bound", 3]),
    label_weight=st.sampled_from([1.0, 0.01, 1e-6]),
    consensus=st.booleans(),
    variances=st.tuples(*[st.sampled_from([1e-4, 1.0, 1e4])] * 3),
    mixture=st.tuples(*[st.sampled_from([1e-3, 1.0, 1e2])] * 3),
)
def test_nothing_makes_a_fit_lose_its_numbers(seed, dimensions, clusters, label_weight, consensus, variances, mixture):
    random = np.random.default_rng(seed)
    sizes = (2, *random.integers(1, 15, random.integers(1, 10)).tolist())
    table = slow.random_table(random, int(random.integers(2, 20)), 3, sizes, int(random.integers(1, 6)))
    model = Crowdclustering.as_published(
        dimensions=dimensions,
        n_starts=2,
        n_clusters=clusters,
        label_weight=label_weight,
        weight_variance=variances[0],
        bias_variance=variances[1],
        position_variance=variances[2],
        concentration=mixture[0],
        mean_precision=mixture[1],
        scale=mixture[2],
        layer_rounds=5,
        max_iterations=10,
        consensus=consensus,
    ).fit(table)
    check_sane(model, table)


def test_a_response_of_a_single_item_changes_nothing():
    responses = [(0, {0: 0, 1: 1, 2: 1, 4: 0}), (1, {2: 0, 3: 1, 1: 0})]
    without = Crowdclustering.as_published(**QUICK).fit(slow.table_of(responses, 5, 2))
    beside = Crowdclustering.as_published(**QUICK).fit(slow.table_of([*responses, (1, {2: 0}), (0, {0: 0})], 5, 2))
    assert beside.bound_ == without.bound_
    np.testing.assert_array_equal(beside.positions_, without.positions_)


def test_items_not_shown_do_not_weigh_on_the_others():
    table, _ = tall_red(0)
    more = slow.table_of([], 0, 0)
    more = ResponseTable(
        item_names=(*table.item_names, *(f"extra{i}" for i in range(50))),
        worker_names=table.worker_names,
        hit_names=table.hit_names,
        response_ptr=table.response_ptr,
        items=table.items,
        groups=table.groups,
        worker_of_response=table.worker_of_response,
        hit_of_response=table.hit_of_response,
    )
    few, many = Crowdclustering.as_published(**QUICK).fit(table), Crowdclustering.as_published(**QUICK).fit(more)
    assert few.bound_ == many.bound_
    assert few.entropy_bits_ == many.entropy_bits_
    np.testing.assert_array_equal(few.labels_, many.labels_[: table.n_items])
    assert (many.labels_[table.n_items :] == 0).all()


@pytest.mark.parametrize("responses", [[], [(0, {0: 0}), (1, {1: 0})]])
def test_without_pair_labels_there_is_nothing_to_fit(responses):
    with pytest.raises(UserError, match="no response has two items"):
        Crowdclustering.as_published().fit(slow.table_of(responses, 3, 2))


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"dimensions": 0}, "0 dimensions cannot be fitted"),
        ({"n_starts": 0}, "starts must be at least 1"),
        ({"layer_rounds": 0}, "layer rounds must be at least 1"),
        ({"max_iterations": 0}, "max iterations must be at least 1"),
        ({"label_weight": 0.0}, "label weight 0 is out of range"),
        ({"label_weight": 1.5}, "choose a number above 0 and up to 1"),
        ({"label_weight": float("nan")}, "label weight"),
        ({"weight_variance": -1.0}, "weight variance must be a number above 0"),
        ({"scale": float("inf")}, "scale must be a number above 0"),
        ({"degrees_of_freedom": 2.0}, "degrees of freedom must be above 3 with 4 dimensions"),
        ({"n_clusters": 0}, "0 is no number of clusters; choose heldout, bound or a number"),
        ({"n_clusters": "many"}, "many is no number of clusters; choose heldout, bound or a number"),
        ({"n_clusters": "heldout"}, "without held-out responses nothing can be chosen"),
        ({"label_weight": "auto"}, "without held-out responses nothing can be chosen"),
        ({"dimensions": "auto"}, "without held-out responses nothing can be chosen"),
        ({"dimensions": "some"}, "some dimensions cannot be fitted"),
        ({"label_weight": "low"}, "low is no label weight; choose a number above 0 and up to 1, or auto"),
        ({"folds": 1}, "1 folds cannot be held out; choose 2 or more, or 0 for none"),
        ({"tolerance": -1.0}, "tolerance"),
        ({"seed": -1}, "seed must not be negative"),
    ],
)
def test_parameters_are_checked_when_fitting(parameters, said):
    model = Crowdclustering.as_published(**parameters)
    with pytest.raises(UserError, match=said):
        model.fit(slow.table_of([(0, {0: 0, 1: 1})]))


@pytest.mark.parametrize("wanted", [1, 2, 5])
def test_the_number_of_components_can_be_given(wanted):
    table, _ = tall_red(3)
    model = Crowdclustering.as_published(**QUICK, n_clusters=wanted).fit(table)
    check_sane(model, table)
    assert model.means_.shape[0] == wanted


def test_more_components_than_items_are_as_many_as_items():
    table = slow.table_of([(0, {0: 0, 1: 1, 2: 2})])
    model = Crowdclustering.as_published(**QUICK, n_clusters=50).fit(table)
    check_sane(model, table)
    assert model.means_.shape[0] == 3


def test_an_unfinished_fit_says_so():
    table, _ = tall_red(0)
    short = Crowdclustering.as_published(dimensions=2, n_starts=1, max_iterations=1, layer_rounds=2).fit(table)
    assert not short.converged_
    assert short.n_iterations_ == 1
    loose = Crowdclustering.as_published(dimensions=2, n_starts=1, tolerance=1e-3, layer_rounds=20).fit(table)
    assert loose.converged_
    assert loose.n_iterations_ < 100


def test_progress_is_told_every_round():
    table, _ = tall_red(0)
    told: list[Snapshot] = []
    model = Crowdclustering.as_published(**QUICK).fit(table, progress=told.append)
    assert {snapshot.start for snapshot in told} == {1, 2}
    assert all(snapshot.starts == 2 for snapshot in told)
    assert all(later.seconds >= sooner.seconds >= 0 for sooner, later in itertools.pairwise(told))
    best = 1 + int(np.argmax(model.start_bounds_))
    for start in (1, 2):
        of_start = [snapshot for snapshot in told if snapshot.start == start]
        phases = [phase for phase, _ in itertools.groupby(snapshot.phase for snapshot in of_start)]
        # the joint phase is tried twice
        assert phases == ["layers", "mixture", "joint", "mixture", "joint"]
        assert [s.iteration for s in of_start if s.phase == "layers"] == list(range(1, 11))
    assert set(model.lower_bounds_) <= {(s.phase, s.bound) for s in told if s.start == best}
    assert all((snapshot.clusters == 0) == (snapshot.phase == "layers") for snapshot in told)


def test_a_second_try_from_more_components_is_kept_only_when_it_is_better():
    kept = []
    for seed in range(6):
        table = slow.random_table(np.random.default_rng(seed), 30, 3, (12,) * 25, 4)
        told: list[Snapshot] = []
        model = Crowdclustering.as_published(dimensions=2, n_starts=1, layer_rounds=10).fit(table, progress=told.append)
        check_sane(model, table)
        begun = [i for i, snapshot in enumerate(told) if i and snapshot.phase == "mixture"]
        second = max(i for i in begun if told[i - 1].phase == "joint")
        assert told[second].clusters > told[second - 1].clusters or told[second].clusters >= 3
        # the last round reported is behind the end by one update of the biases at most
        assert model.bound_ >= told[second - 1].bound - 1e-9 * abs(model.bound_)
        kept.append(model.lower_bounds_[-1][1] == told[-1].bound)
    assert set(kept) == {True, False}


@pytest.mark.parametrize("phase", ["layers", "mixture", "joint"])
def test_cancelling_stops_within_one_round(phase):
    table, _ = tall_red(0)
    token = CancelToken()
    told = []

    def progress(snapshot):
        told.append(snapshot)
        if snapshot.phase == phase:
            token.cancel()

    model = Crowdclustering.as_published(**QUICK)
    with pytest.raises(Cancelled):
        model.fit(table, progress=progress, cancel=token)
    assert [snapshot.phase for snapshot in told].count(phase) == 1
    assert not hasattr(model, "labels_")


def test_what_progress_raises_ends_the_fit():
    table, _ = tall_red(0)

    def refuse(snapshot):
        raise Cancelled("enough")

    with pytest.raises(Cancelled, match="enough"):
        Crowdclustering.as_published(**QUICK).fit(table, progress=refuse)


def test_parameters_stay_as_they_were_given():
    model = Crowdclustering.as_published(dimensions=3, n_clusters=2, scale=0.7)
    model.fit(slow.table_of([(0, {0: 0, 1: 1, 2: 1})]))
    assert (model.dimensions, model.n_clusters, model.scale, model.degrees_of_freedom) == (3, 2, 0.7, None)
