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


def posterior_for(dimensions, weight=1.0, seed=0):
    random = np.random.default_rng([seed, dimensions])
    return slow.random_posterior(random, slow.random_table(random), dimensions, label_weight=weight)


@pytest.mark.parametrize("dimensions", DIMENSIONS)
def test_second_moments_of_the_weights_give_the_square_of_every_activity(dimensions):
    posterior = posterior_for(dimensions)
    points = blocks.vech(
        posterior.mean[:, :, None] * posterior.mean[:, None, :] + np.eye(dimensions) * posterior.variance[:, None, :]
    )
    for a, b, j, _ in slow.expand(posterior.labels):
        inner = posterior.mean[a] @ posterior.weights[j] @ posterior.mean[b]
        square = points[a] @ posterior.worker_arrays.moments[j] @ points[b]
        square += 2 * posterior.biases[j] * inner + posterior.biases[j] ** 2 + posterior.bias_variances[j]
        mean, variance = slow.moments(posterior, a, b, j)
        np.testing.assert_allclose(mean, inner + posterior.biases[j], **EXACT)
        np.testing.assert_allclose(square, mean**2 + variance, **EXACT)
        np.testing.assert_allclose(square, slow.second_moment(posterior, a, b, j), **EXACT)


@pytest.mark.parametrize("weight", WEIGHTS)
@pytest.mark.parametrize("dimensions", DIMENSIONS)
def test_the_likelihoods_bound_is_the_sum_over_labels(dimensions, weight):
    posterior = posterior_for(dimensions, weight)
    np.testing.assert_allclose(posterior.sum_labels()[:, 2].sum(), slow.likelihood_bound(posterior), **EXACT)


@pytest.mark.parametrize("weight", WEIGHTS)
@pytest.mark.parametrize("dimensions", DIMENSIONS)
def test_a_sweep_updates_item_after_item_as_label_by_label(dimensions, weight):
    fast, expected = posterior_for(dimensions, weight), posterior_for(dimensions, weight)
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
    posterior = posterior_for(dimensions, weight)
    mean, variance = slow.worker_update(posterior)
    posterior.update_weights()
    np.testing.assert_allclose(blocks.vech(posterior.weights), mean, **EXACT)
    np.testing.assert_allclose(blocks.vech(posterior.weight_variances), variance, **EXACT)
    np.testing.assert_array_equal(posterior.weights, posterior.weights.transpose(0, 2, 1))


@pytest.mark.parametrize("weight", WEIGHTS)
@pytest.mark.parametrize("dimensions", DIMENSIONS)
def test_the_biases_update_as_label_by_label(dimensions, weight):
    posterior = posterior_for(dimensions, weight)
    mean, variance = slow.bias_update(posterior)
    posterior.update_biases(posterior.sum_labels())
    np.testing.assert_allclose(posterior.biases, mean, **EXACT)
    np.testing.assert_allclose(posterior.bias_variances, variance, **EXACT)
    np.testing.assert_array_equal(posterior.worker_arrays.bias, posterior.biases)


def test_large_responses_are_summed_in_pieces():
    # more partners than factors fit into one product
    random = np.random.default_rng(3)
    size = pair_labels.FACTORS + 75
    table = slow.table_of([(0, {i: int(random.integers(4)) for i in range(size)})])
    posterior = slow.random_posterior(random, table, 2)
    posterior.weights *= 0.01
    posterior.refresh_workers()
    assert np.isfinite(posterior.sum_labels()).all()
    half = slow.table_of([(0, {0: 0, **{i: 1 + i % 3 for i in range(1, size)}})])
    posterior = slow.random_posterior(random, half, 1)
    mean, square = [], []
    M, S, t = posterior.weights[0, 0, 0], posterior.weight_variances[0, 0, 0], posterior.biases[0]
    first, second = np.triu_indices(size, 1)
    m, e = posterior.mean[:, 0], posterior.mean[:, 0] ** 2 + posterior.variance[:, 0]
    items = posterior.labels.items
    a, b = items[first], items[second]
    mean = M * m[a] * m[b] + t
    square = (M * M + S) * e[a] * e[b] + 2 * t * M * m[a] * m[b] + t * t + posterior.bias_variances[0]
    delta = np.sqrt(square)
    groups = posterior.labels.groups
    signs = np.where(groups[first] == groups[second], 1, -1)
    expected = (-np.logaddexp(0, -delta) + (signs * mean - delta) / 2).sum()
    np.testing.assert_allclose(posterior.sum_labels()[0, 2], expected, rtol=1e-12)


@pytest.mark.parametrize("weight", WEIGHTS)
def test_an_items_update_is_a_stationary_point_with_delta_held(weight):
    posterior = posterior_for(3, weight)
    n, D = posterior.mean.shape
    before = posterior.mean[-1].copy(), posterior.variance[-1].copy()
    posterior.update_items(np.repeat(np.eye(D)[None], n, axis=0), np.zeros((n, D)))
    after = posterior.mean[-1].copy(), posterior.variance[-1].copy()
    # the last item's Deltas, as they were when its turn came
    posterior.mean[-1], posterior.variance[-1] = before
    deltas = np.sqrt(slow.all_moments(posterior)[1])
    posterior.mean[-1], posterior.variance[-1] = after

    def value():
        return slow.likelihood_bound(posterior, deltas) - layer_divergence(posterior)

    np.testing.assert_allclose(slow.numerical_gradient(value, posterior.mean[-1]), 0, atol=1e-6)
    np.testing.assert_allclose(slow.numerical_gradient(value, posterior.variance[-1]), 0, atol=1e-6)


def test_a_workers_update_is_a_stationary_point_with_delta_held():
    posterior = posterior_for(3, 0.5)
    deltas = np.sqrt(slow.all_moments(posterior)[1])
    posterior.update_weights()
    rows, columns = np.triu_indices(3)
    for of in (posterior.weights, posterior.weight_variances):
        upper = blocks.vech(of)

        def value(upper=upper, of=of):
            of[:, rows, columns] = upper
            of[:, columns, rows] = upper
            return slow.likelihood_bound(posterior, deltas) - worker_divergence(posterior)

        np.testing.assert_allclose(slow.numerical_gradient(value, upper), 0, atol=1e-6)
        value()


def test_a_biass_update_is_a_stationary_point_with_delta_held():
    posterior = posterior_for(2, 0.5)
    deltas = np.sqrt(slow.all_moments(posterior)[1])
    posterior.update_biases(posterior.sum_labels())

    def value():
        return slow.likelihood_bound(posterior, deltas) - worker_divergence(posterior)

    np.testing.assert_allclose(slow.numerical_gradient(value, posterior.biases), 0, atol=1e-6)
    np.testing.assert_allclose(slow.numerical_gradient(value, posterior.bias_variances), 0, atol=1e-6)


def test_who_gave_no_label_keeps_the_prior():
    table = slow.table_of([(0, {0: 0, 1: 1, 2: 0}), (2, {3: 0})], n_workers=4)
    random = np.random.default_rng(0)
    posterior = slow.random_posterior(random, table, 2, weight_variance=0.7, bias_variance=3.0)
    posterior.update_weights()
    posterior.update_biases(posterior.sum_labels())
    for j in (1, 2, 3):
        np.testing.assert_array_equal(posterior.weights[j], 0)
        np.testing.assert_allclose(posterior.weight_variances[j], 0.7)
        assert posterior.biases[j] == 0
        np.testing.assert_allclose(posterior.bias_variances[j], 3.0)
    np.testing.assert_array_equal(posterior.labels.answered, [0])
    assert posterior.labels.n_items == 3


def test_a_copy_of_the_beliefs_is_updated_apart():
    posterior = posterior_for(2)
    kept = posterior.mean.copy(), posterior.weights.copy(), posterior.biases.copy(), posterior.tiles.features.copy()
    copy = posterior.copy()
    np.testing.assert_array_equal(copy.sum_labels(), posterior.sum_labels())
    n, D = posterior.mean.shape
    copy.update_items(np.repeat(np.eye(D)[None], n, axis=0), np.zeros((n, D)))
    copy.update_weights()
    copy.update_biases(copy.sum_labels())
    now = posterior.mean, posterior.weights, posterior.biases, posterior.tiles.features
    for before, after in zip(kept, now, strict=True):
        np.testing.assert_array_equal(before, after)
    assert not np.array_equal(copy.mean, posterior.mean)
