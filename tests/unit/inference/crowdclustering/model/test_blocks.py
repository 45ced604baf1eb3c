"""The updates of docs/model.md, sections 3-5, held to the same thing with the labels expanded one by one."""

from __future__ import annotations

import label_by_label as slow
import numpy as np
import pytest

from crowdclust_app.inference.crowdclustering.kernels import pair_labels
from crowdclust_app.inference.crowdclustering.model import blocks
from crowdclust_app.inference.crowdclustering.model.bound import layer_divergence, worker_divergence

EXACT = {"rtol": 1e-10, "atol": 1e-10}
DIMENSIONS = [1, 2, 3, 4, 5]
WEIGHTS = [1.0, 0.3]


def beliefs_for(dimensions, weight=1.0, seed=0):
    random = np.random.default_rng([seed, dimensions])
    return slow.random_beliefs(random, slow.random_table(random), dimensions, label_weight=weight)


@pytest.mark.parametrize("dimensions", DIMENSIONS)
def test_second_moments_of_the_weights_give_the_square_of_every_activity(dimensions):
    beliefs = beliefs_for(dimensions)
    points = blocks.vech(
        beliefs.mean[:, :, None] * beliefs.mean[:, None, :] + np.eye(dimensions) * beliefs.variance[:, None, :]
    )
    for a, b, j, _ in slow.expand(beliefs.labels):
        inner = beliefs.mean[a] @ beliefs.weights[j] @ beliefs.mean[b]
        square = points[a] @ beliefs.judges.moments[j] @ points[b]
        square += 2 * beliefs.biases[j] * inner + beliefs.biases[j] ** 2 + beliefs.bias_variances[j]
        mean, variance = slow.moments(beliefs, a, b, j)
        np.testing.assert_allclose(mean, inner + beliefs.biases[j], **EXACT)
        np.testing.assert_allclose(square, mean**2 + variance, **EXACT)
        np.testing.assert_allclose(square, slow.second_moment(beliefs, a, b, j), **EXACT)


@pytest.mark.parametrize("weight", WEIGHTS)
@pytest.mark.parametrize("dimensions", DIMENSIONS)
def test_the_likelihoods_bound_is_the_sum_over_labels(dimensions, weight):
    beliefs = beliefs_for(dimensions, weight)
    np.testing.assert_allclose(beliefs.sum_labels()[:, 2].sum(), slow.likelihood_bound(beliefs), **EXACT)


@pytest.mark.parametrize("weight", WEIGHTS)
@pytest.mark.parametrize("dimensions", DIMENSIONS)
def test_a_sweep_updates_item_after_item_as_label_by_label(dimensions, weight):
    fast, expected = beliefs_for(dimensions, weight), beliefs_for(dimensions, weight)
    random = np.random.default_rng(1)
    root = random.normal(size=(fast.labels.n_items, dimensions, dimensions))
    precision = root @ root.transpose(0, 2, 1) + np.eye(dimensions)
    shift = random.normal(size=(fast.labels.n_items, dimensions))
    for item in range(expected.labels.n_items):
        found = slow.item_update(expected, item, precision[item], shift[item])
        expected.mean[item], expected.variance[item] = found
    fast.update_items(precision, shift)
    np.testing.assert_allclose(fast.mean, expected.mean, **EXACT)
    np.testing.assert_allclose(fast.variance, expected.variance, **EXACT)
    # the tiles have followed
    expected.refresh_items()
    np.testing.assert_allclose(fast.tiles.features, expected.tiles.features, **EXACT)


@pytest.mark.parametrize("weight", WEIGHTS)
@pytest.mark.parametrize("dimensions", DIMENSIONS)
def test_the_workers_weights_update_as_label_by_label(dimensions, weight):
    beliefs = beliefs_for(dimensions, weight)
    mean, variance = slow.worker_update(beliefs)
    beliefs.update_weights()
    np.testing.assert_allclose(blocks.vech(beliefs.weights), mean, **EXACT)
    np.testing.assert_allclose(blocks.vech(beliefs.weight_variances), variance, **EXACT)
    np.testing.assert_array_equal(beliefs.weights, beliefs.weights.transpose(0, 2, 1))


@pytest.mark.parametrize("weight", WEIGHTS)
@pytest.mark.parametrize("dimensions", DIMENSIONS)
def test_the_biases_update_as_label_by_label(dimensions, weight):
    beliefs = beliefs_for(dimensions, weight)
    mean, variance = slow.bias_update(beliefs)
    beliefs.update_biases(beliefs.sum_labels())
    np.testing.assert_allclose(beliefs.biases, mean, **EXACT)
    np.testing.assert_allclose(beliefs.bias_variances, variance, **EXACT)
    np.testing.assert_array_equal(beliefs.judges.bias, beliefs.biases)


def test_large_responses_are_summed_in_pieces():
    # more partners than factors fit into one product
    random = np.random.default_rng(3)
    size = pair_labels.FACTORS + 75
    table = slow.table_of([(0, {i: int(random.integers(4)) for i in range(size)})])
    beliefs = slow.random_beliefs(random, table, 2)
    beliefs.weights *= 0.01
    beliefs.refresh_workers()
    assert np.isfinite(beliefs.sum_labels()).all()
    half = slow.table_of([(0, {0: 0, **{i: 1 + i % 3 for i in range(1, size)}})])
    beliefs = slow.random_beliefs(random, half, 1)
    mean, square = [], []
    M, S, t = beliefs.weights[0, 0, 0], beliefs.weight_variances[0, 0, 0], beliefs.biases[0]
    first, second = np.triu_indices(size, 1)
    m, e = beliefs.mean[:, 0], beliefs.mean[:, 0] ** 2 + beliefs.variance[:, 0]
    items = beliefs.labels.items
    a, b = items[first], items[second]
    mean = M * m[a] * m[b] + t
    square = (M * M + S) * e[a] * e[b] + 2 * t * M * m[a] * m[b] + t * t + beliefs.bias_variances[0]
    delta = np.sqrt(square)
    groups = beliefs.labels.groups
    signs = np.where(groups[first] == groups[second], 1, -1)
    expected = (-np.logaddexp(0, -delta) + (signs * mean - delta) / 2).sum()
    np.testing.assert_allclose(beliefs.sum_labels()[0, 2], expected, rtol=1e-12)


@pytest.mark.parametrize("weight", WEIGHTS)
def test_an_items_update_is_a_stationary_point_with_delta_held(weight):
    beliefs = beliefs_for(3, weight)
    n, D = beliefs.mean.shape
    before = beliefs.mean[-1].copy(), beliefs.variance[-1].copy()
    beliefs.update_items(np.repeat(np.eye(D)[None], n, axis=0), np.zeros((n, D)))
    after = beliefs.mean[-1].copy(), beliefs.variance[-1].copy()
    # the last item's Deltas, as they were when its turn came
    beliefs.mean[-1], beliefs.variance[-1] = before
    deltas = np.sqrt(slow.all_moments(beliefs)[1])
    beliefs.mean[-1], beliefs.variance[-1] = after

    def value():
        return slow.likelihood_bound(beliefs, deltas) - layer_divergence(beliefs)

    np.testing.assert_allclose(slow.numerical_gradient(value, beliefs.mean[-1]), 0, atol=1e-6)
    np.testing.assert_allclose(slow.numerical_gradient(value, beliefs.variance[-1]), 0, atol=1e-6)


def test_a_workers_update_is_a_stationary_point_with_delta_held():
    beliefs = beliefs_for(3, 0.5)
    deltas = np.sqrt(slow.all_moments(beliefs)[1])
    beliefs.update_weights()
    rows, columns = np.triu_indices(3)
    for of in (beliefs.weights, beliefs.weight_variances):
        upper = blocks.vech(of)

        def value(upper=upper, of=of):
            of[:, rows, columns] = upper
            of[:, columns, rows] = upper
            return slow.likelihood_bound(beliefs, deltas) - worker_divergence(beliefs)

        np.testing.assert_allclose(slow.numerical_gradient(value, upper), 0, atol=1e-6)
        value()


def test_a_biass_update_is_a_stationary_point_with_delta_held():
    beliefs = beliefs_for(2, 0.5)
    deltas = np.sqrt(slow.all_moments(beliefs)[1])
    beliefs.update_biases(beliefs.sum_labels())

    def value():
        return slow.likelihood_bound(beliefs, deltas) - worker_divergence(beliefs)

    np.testing.assert_allclose(slow.numerical_gradient(value, beliefs.biases), 0, atol=1e-6)
    np.testing.assert_allclose(slow.numerical_gradient(value, beliefs.bias_variances), 0, atol=1e-6)


def test_who_gave_no_label_keeps_the_prior():
    table = slow.table_of([(0, {0: 0, 1: 1, 2: 0}), (2, {3: 0})], n_workers=4)
    random = np.random.default_rng(0)
    beliefs = slow.random_beliefs(random, table, 2, weight_variance=0.7, bias_variance=3.0)
    beliefs.update_weights()
    beliefs.update_biases(beliefs.sum_labels())
    for j in (1, 2, 3):
        np.testing.assert_array_equal(beliefs.weights[j], 0)
        np.testing.assert_allclose(beliefs.weight_variances[j], 0.7)
        assert beliefs.biases[j] == 0
        np.testing.assert_allclose(beliefs.bias_variances[j], 3.0)
    np.testing.assert_array_equal(beliefs.labels.answered, [0])
    assert beliefs.labels.n_items == 3


def test_a_copy_of_the_beliefs_is_updated_apart():
    beliefs = beliefs_for(2)
    kept = beliefs.mean.copy(), beliefs.weights.copy(), beliefs.biases.copy(), beliefs.tiles.features.copy()
    copy = beliefs.copy()
    np.testing.assert_array_equal(copy.sum_labels(), beliefs.sum_labels())
    n, D = beliefs.mean.shape
    copy.update_items(np.repeat(np.eye(D)[None], n, axis=0), np.zeros((n, D)))
    copy.update_weights()
    copy.update_biases(copy.sum_labels())
    now = beliefs.mean, beliefs.weights, beliefs.biases, beliefs.tiles.features
    for before, after in zip(kept, now, strict=True):
        np.testing.assert_array_equal(before, after)
    assert not np.array_equal(copy.mean, beliefs.mean)
