"""Section 6: the mixture's updates are the maximisers of its own bound, and the bound is the right one."""

from __future__ import annotations

import dataclasses
import itertools
from dataclasses import replace

import numpy as np
import pytest
from label_by_label import numerical_gradient
from scipy.special import betaln
from scipy.stats import multivariate_t

from crowdclust_app.inference.crowdclustering.model import component_search, mixture
from crowdclust_app.inference.crowdclustering.model.estimator import Crowdclustering
from crowdclust_app.inference.crowdclustering.model.settings import resolved


def settings_for(dimensions, **parameters):
    return resolved(Crowdclustering.as_published(dimensions=dimensions, **parameters)._settings())


def no_check():
    """Nobody wants to stop."""


def blobs(random, sizes=(30, 20, 25), dimensions=3, apart=6.0):
    centres = apart * random.normal(size=(len(sizes), dimensions))
    truth = np.repeat(np.arange(len(sizes)), sizes)
    mean = centres[truth] + 0.3 * random.normal(size=(len(truth), dimensions))
    return mean, random.uniform(0.01, 0.2, size=mean.shape), truth


def general_bound(mix, mean, variance, settings):
    """`sum q (log rho - log q) - KL`, true for any `q` and any components."""
    inverses = np.linalg.inv(mix.scatters)
    mix = dataclasses.replace(mix, inverses=inverses, log_dets=np.linalg.slogdet(mix.scatters)[1])
    q = mix.memberships
    rho = mixture.log_responsibilities(mix, mean, variance)
    return (
        float(np.sum(q * (rho - np.log(q))))
        - mixture.stick_divergence(mix, settings.concentration)
        - mixture.component_divergence(mix, settings)
    )


@pytest.mark.parametrize("dimensions", [1, 2, 4])
def test_components_and_sticks_are_stationary_with_memberships_held(dimensions):
    random = np.random.default_rng(dimensions)
    settings = settings_for(dimensions, concentration=1.7, mean_precision=0.3, scale=0.4)
    mean, variance, _ = blobs(random, (6, 5, 4), dimensions, apart=1.0)
    q = random.dirichlet(np.ones(3), size=len(mean))
    mix = mixture.fit_components(q, mean, variance, settings)

    def value():
        return general_bound(mix, mean, variance, settings)

    for point in (mix.sticks, mix.means, mix.mean_counts, mix.freedoms):
        np.testing.assert_allclose(numerical_gradient(value, point), 0, atol=1e-5)
    rows, columns = np.triu_indices(dimensions)
    upper = mix.scatters[:, rows, columns]

    def value_of_scatter():
        mix.scatters[:, rows, columns] = upper
        mix.scatters[:, columns, rows] = upper
        return value()

    np.testing.assert_allclose(numerical_gradient(value_of_scatter, upper), 0, atol=1e-5)


def test_fresh_memberships_are_the_best_and_make_both_forms_of_the_bound_equal():
    random = np.random.default_rng(5)
    settings = settings_for(2)
    mean, variance, _ = blobs(random, (8, 8), 2, apart=1.0)
    mix, bound = mixture.update_mixture(random.dirichlet(np.ones(3), size=len(mean)), mean, variance, settings)
    np.testing.assert_allclose(bound, general_bound(mix, mean, variance, settings), rtol=1e-12)
    for _ in range(5):
        other = 0.9 * mix.memberships + 0.1 * random.dirichlet(np.ones(3), size=len(mean))
        assert general_bound(replace(mix, memberships=other), mean, variance, settings) < bound


@pytest.mark.parametrize("dimensions", [1, 3])
def test_one_component_and_certain_positions_give_the_exact_evidence(dimensions):
    random = np.random.default_rng(11)
    settings = settings_for(dimensions, concentration=2.5, mean_precision=0.2, scale=0.7, degrees_of_freedom=6.5)
    mean = random.normal(size=(9, dimensions))
    _, bound = mixture.update_mixture(np.ones((9, 1)), mean, np.zeros_like(mean), settings)
    # point after point from the predictive Student t
    expected = betaln(1.0 + 9, settings.concentration) - betaln(1.0, settings.concentration)
    for n in range(9):
        seen = mean[:n]
        beta = settings.mean_precision + n
        centre = seen.sum(axis=0) / beta
        scatter = settings.scale * np.eye(dimensions) + seen.T @ seen - beta * np.outer(centre, centre)
        freedom = settings.degrees_of_freedom + n - dimensions + 1
        shape = scatter * (beta + 1) / (beta * freedom)
        expected += multivariate_t(centre, shape, df=freedom).logpdf(mean[n])
    np.testing.assert_allclose(bound, expected, rtol=1e-10)


def test_rounds_never_lower_the_bound_and_sort_by_mass():
    random = np.random.default_rng(2)
    settings = settings_for(3)
    mean, variance, _ = blobs(random)
    q = random.dirichlet(np.ones(6), size=len(mean))
    before = -np.inf
    for _ in range(30):
        mix, bound = mixture.update_mixture(q, mean, variance, settings)
        assert bound >= before - 1e-9 * abs(bound)
        # sticks are in the order of the mass that they were updated from
        counts = mix.sticks[:, 0]
        assert (np.diff(counts) <= 1e-12).all()
        q, before = mix.memberships, bound


def test_the_positions_prior_is_the_gradient_of_the_bound():
    random = np.random.default_rng(8)
    settings = settings_for(2)
    mean, variance, _ = blobs(random, (5, 5), 2, apart=1.0)
    mix, _ = mixture.update_mixture(random.dirichlet(np.ones(2), size=len(mean)), mean, variance, settings)
    precision, shift = mixture.position_prior(mix)

    def value():
        return float(np.sum(mix.memberships * mixture.log_responsibilities(mix, mean, variance)))

    found = numerical_gradient(value, mean)
    np.testing.assert_allclose(found, shift - np.einsum("nde,ne->nd", precision, mean), atol=1e-6)
    found = numerical_gradient(value, variance)
    np.testing.assert_allclose(found, -0.5 * np.diagonal(precision, axis1=1, axis2=2), atol=1e-6)


def test_growth_finds_blobs_that_lie_apart():
    for seed in range(5):
        random = np.random.default_rng(seed)
        mean, variance, truth = blobs(random, (40, 30, 20, 10))
        told = []
        mix, bound = component_search.grow(
            mean,
            variance,
            settings_for(3),
            lambda m, b: told.append((m.size, b)),  # noqa: B023
            no_check,
        )
        assert mix.size == 4
        found = np.argmax(mix.memberships, axis=1)
        assert len({(t, f) for t, f in zip(truth, found, strict=True)}) == 4
        assert [size for size, _ in told] == [1, 2, 3, 4]
        assert told[-1][1] == bound
        assert all(later > sooner for (_, sooner), (_, later) in itertools.pairwise(told))


def test_growth_stops_at_the_number_that_is_asked_for():
    random = np.random.default_rng(0)
    mean, variance, _ = blobs(random, (40, 30, 20, 10))
    for wanted in (1, 2, 7):
        mix, _ = component_search.grow(mean, variance, settings_for(3, n_clusters=wanted), lambda m, b: None, no_check)
        assert mix.size == wanted


def test_revision_drops_what_is_empty_and_merges_what_was_cut():
    random = np.random.default_rng(1)
    settings = settings_for(3)
    mean, variance, truth = blobs(random)
    halves = np.zeros((len(truth), 6))
    # every blob cut in two at random, and a component with nothing
    halves[np.arange(len(truth)), 2 * truth + random.integers(0, 2, len(truth))] = 1.0
    q = np.column_stack([halves, np.zeros(len(truth))])
    mix, bound = mixture.update_mixture(q, mean, variance, settings)
    better, reached = component_search.simplify(mix, bound, mean, variance, settings, no_check)
    assert better.size == 3
    assert reached > bound
    found = np.argmax(better.memberships, axis=1)
    assert len({(t, f) for t, f in zip(truth, found, strict=True)}) == 3


def test_points_on_one_spot_are_not_split():
    mean = np.ones((10, 2))
    mix, bound = component_search.grow(mean, np.full((10, 2), 0.1), settings_for(2), lambda m, b: None, no_check)
    assert mix.size == 1
    assert np.isfinite(bound)
    assert component_search.revise(mix, bound, mean, np.full((10, 2), 0.1), settings_for(2), no_check) is mix


def test_growth_ends_although_empty_components_raise_the_bound():
    # a process that expects very many components gains a little from each, with or without items
    random = np.random.default_rng(6)
    mean, variance = random.normal(size=(12, 2)), np.full((12, 2), 0.3)
    settings = settings_for(2, concentration=100.0, mean_precision=1.0, scale=10.0)
    sizes: list[int] = []

    def watch(mix, bound):
        sizes.append(mix.size)
        assert len(sizes) < 20

    mix, bound = component_search.grow(mean, variance, settings, watch, no_check)
    more = np.column_stack([mix.memberships, np.full((12, 5), 1e-3)])
    assert component_search.settle(more, mean, variance, settings)[1] > bound
    assert component_search.revise(mix, bound, mean, variance, settings, no_check).size <= 12


def test_expected_weights_are_shares_in_the_order_of_the_sticks():
    random = np.random.default_rng(4)
    mean, variance, truth = blobs(random, (30, 15, 5))
    mix, _ = mixture.update_mixture(np.eye(3)[truth], mean, variance, settings_for(3))
    weights = mixture.expected_weights(mix)
    np.testing.assert_allclose(weights.sum(), 1.0)
    np.testing.assert_allclose(weights, [0.6, 0.3, 0.1], atol=0.05)
