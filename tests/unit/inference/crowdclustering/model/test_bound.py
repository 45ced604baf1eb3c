"""The bound never falls from block to block, whatever was answered."""

from __future__ import annotations

import label_by_label as slow
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

from crowdclust_app.inference.crowdclustering.kernels.arrays import IGNORED, LANES
from crowdclust_app.inference.crowdclustering.kernels.vectors import squares_to_bound_terms, squares_to_curvatures
from crowdclust_app.inference.crowdclustering.model import mixture
from crowdclust_app.inference.crowdclustering.model.bound import (
    layer_divergence,
    lower_bound,
    position_entropy,
    prior_terms,
    worker_divergence,
)

FALL = 1e-9


@st.composite
def campaigns(draw):
    n_items = draw(st.integers(2, 10))
    responses = []
    for _ in range(draw(st.integers(1, 6))):
        size = draw(st.integers(1, n_items))
        items = draw(st.permutations(range(n_items)))[:size]
        groups = draw(st.lists(st.integers(0, 3), min_size=size, max_size=size))
        responses.append((draw(st.integers(0, 2)), dict(zip(items, groups, strict=True))))
    items = draw(st.permutations(range(n_items)))[:2]
    responses.append((0, {items[0]: 0, items[1]: draw(st.integers(0, 1))}))
    return slow.table_of(responses, n_items, 3)


class Watch:
    """Takes the bound after every block and refuses a fall."""

    def __init__(self, value):
        self.value = value
        self.before = -np.inf
        self("the start")

    def __call__(self, block):
        now = self.value()
        assert np.isfinite(now), block
        assert now >= self.before - FALL * abs(now), (block, self.before, now)
        self.before = now


def posterior_of(table, dimensions, weight, seed):
    return slow.random_posterior(np.random.default_rng(seed), table, dimensions, label_weight=weight)


def bound_of(posterior, mixture_bound=None):
    return lower_bound(posterior.sum_labels(), prior_terms(posterior, mixture_bound))


@settings(max_examples=20, deadline=None)
@given(campaigns(), st.sampled_from([1.0, 0.2]), st.integers(0, 1000))
def test_the_bound_is_the_sum_of_its_terms(table, weight, seed):
    posterior = posterior_of(table, 2, weight, seed)
    labels = slow.likelihood_bound(posterior) - worker_divergence(posterior)
    np.testing.assert_allclose(bound_of(posterior), labels - layer_divergence(posterior), rtol=1e-10)
    np.testing.assert_allclose(bound_of(posterior, -3.5), labels + position_entropy(posterior) - 3.5, rtol=1e-10)


@settings(max_examples=20, deadline=None)
@given(campaigns(), st.integers(0, 1000))
def test_the_sums_of_an_update_give_the_bound_before_it(table, seed):
    posterior = posterior_of(table, 2, 1.0, seed)
    before, prior = bound_of(posterior), prior_terms(posterior)
    np.testing.assert_allclose(lower_bound(posterior.update_weights(), prior), before, rtol=1e-10)


@settings(max_examples=40, deadline=None)
@given(campaigns(), st.sampled_from([1, 2, 4]), st.sampled_from([1.0, 0.2]), st.integers(0, 1000))
def test_the_bound_never_falls_layer_by_layer(table, dimensions, weight, seed):
    posterior = posterior_of(table, dimensions, weight, seed)
    n = posterior.labels.n_items
    check_rise = Watch(lambda: bound_of(posterior))
    for _ in range(6):
        posterior.update_items(np.repeat(np.eye(dimensions)[None], n, axis=0), np.zeros((n, dimensions)))
        check_rise("items")
        posterior.update_weights()
        check_rise("weights")
        posterior.update_biases(posterior.sum_labels())
        check_rise("biases")


@settings(max_examples=40, deadline=None)
@given(campaigns(), st.sampled_from([1, 2, 4]), st.sampled_from([1.0, 0.2]), st.integers(0, 1000))
def test_the_bound_never_falls_jointly(table, dimensions, weight, seed):
    posterior = posterior_of(table, dimensions, weight, seed)
    priors = posterior.settings
    n = posterior.labels.n_items
    q = np.random.default_rng(seed).dirichlet(np.ones(3), size=n)
    mix = mixture.refresh_memberships(
        mixture.fit_components(q, posterior.mean, posterior.variance, priors), posterior.mean, posterior.variance
    )[0]

    def value():
        # holds for old memberships too
        rho = mixture.log_responsibilities(mix, posterior.mean, posterior.variance)
        q = np.maximum(mix.memberships, 1e-300)
        of_mixture = float(np.sum(mix.memberships * (rho - np.log(q))))
        of_mixture -= mixture.stick_divergence(mix, priors.concentration)
        of_mixture -= mixture.component_divergence(mix, priors)
        return bound_of(posterior, of_mixture)

    check_rise = Watch(value)
    for _ in range(6):
        posterior.update_items(*mixture.position_prior(mix))
        check_rise("items")
        mix, _ = mixture.refresh_memberships(mix, posterior.mean, posterior.variance)
        check_rise("memberships")
        mix = mixture.fit_components(mix.memberships, posterior.mean, posterior.variance, priors)
        check_rise("components")
        posterior.update_weights()
        check_rise("weights")
        posterior.update_biases(posterior.sum_labels())
        check_rise("biases")


@njit
def curvatures(squares):
    squares_to_curvatures(squares, len(squares), 1.0)


@njit
def weighed(squares, lanes):
    squares_to_bound_terms(squares, 0, len(squares), lanes)


def whole_vectors(values):
    return np.concatenate([values, np.full(-len(values) % LANES, IGNORED)])


def test_the_curvature_is_exact_where_it_matters():
    near = np.array([0.0, -1e-18, 1e-40, 1e-14] * LANES)
    curvatures(near)
    np.testing.assert_allclose(near, -0.125, rtol=1e-14)
    squares = 10.0 ** np.linspace(-8, 6, 300 * LANES)
    found = squares.copy()
    curvatures(found)
    delta = np.sqrt(squares)
    np.testing.assert_allclose(found, -np.tanh(delta / 2) / (4 * delta), rtol=5e-15)


def test_pairs_are_weighed_one_by_one_and_those_that_do_not_count_are_left_out():
    squares = np.concatenate([[0.0, 1e-300, 1e-30, 0.12, 3600.0, 1e8, np.inf], 10.0 ** np.linspace(-20, 3.4, 94)])
    for square in squares:
        cells, lanes = whole_vectors(np.array([square])), np.empty(3 * LANES)
        weighed(cells, lanes)
        delta = np.sqrt(square)
        limit = -0.125 if delta < 1e-9 else -np.tanh(delta / 2) / (4 * delta)
        np.testing.assert_allclose(cells[0], limit, rtol=5e-15)
        assert not cells[1:].any()
        curved, deltas, factors = lanes.reshape(3, LANES)
        assert curved.sum() == cells[0]
        np.testing.assert_allclose(deltas.sum(), delta, rtol=1e-15, atol=1e-30)
        np.testing.assert_allclose(factors.prod(), 1 + np.exp(-delta), rtol=1e-15)
    # far out the logistic function is 1, and never more
    assert factors.prod() >= 1.0


def test_many_pairs_are_weighed_together():
    squares = np.random.default_rng(0).gamma(1.0, 4.0, 37)
    cells, lanes = whole_vectors(squares), np.empty(3 * LANES)
    weighed(cells, lanes)
    delta = np.sqrt(squares)
    expected = (-np.tanh(delta / 2) / (4 * delta)).sum(), delta.sum()
    np.testing.assert_allclose(lanes.reshape(3, LANES)[:2].sum(axis=1), expected, rtol=1e-14)
    np.testing.assert_allclose(lanes[2 * LANES :].prod(), np.prod(1 + np.exp(-delta)), rtol=1e-13)
