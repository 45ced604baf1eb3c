"""The bound never falls from block to block, whatever was answered."""

from __future__ import annotations

import label_by_label as slow
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdclust_app.inference.crowdclustering import kernels, mixture
from crowdclust_app.inference.crowdclustering.bound import layer_divergence, position_entropy, worker_divergence

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


def beliefs_of(table, dimensions, weight, seed):
    return slow.random_beliefs(np.random.default_rng(seed), table, dimensions, label_weight=weight)


def likelihood(beliefs):
    return float(beliefs.sum_labels()[:, 2].sum()) - worker_divergence(beliefs)


@settings(max_examples=40, deadline=None)
@given(campaigns(), st.sampled_from([1, 2, 4]), st.sampled_from([1.0, 0.2]), st.integers(0, 1000))
def test_the_bound_never_falls_layer_by_layer(table, dimensions, weight, seed):
    beliefs = beliefs_of(table, dimensions, weight, seed)
    n = beliefs.labels.n_items
    check_rise = Watch(lambda: likelihood(beliefs) - layer_divergence(beliefs))
    for _ in range(6):
        beliefs.update_items(np.repeat(np.eye(dimensions)[None], n, axis=0), np.zeros((n, dimensions)))
        check_rise("items")
        beliefs.update_weights()
        check_rise("weights")
        beliefs.update_biases(beliefs.sum_labels())
        check_rise("biases")


@settings(max_examples=40, deadline=None)
@given(campaigns(), st.sampled_from([1, 2, 4]), st.sampled_from([1.0, 0.2]), st.integers(0, 1000))
def test_the_bound_never_falls_jointly(table, dimensions, weight, seed):
    beliefs = beliefs_of(table, dimensions, weight, seed)
    priors = beliefs.settings
    n = beliefs.labels.n_items
    q = np.random.default_rng(seed).dirichlet(np.ones(3), size=n)
    mix = mixture.refresh_memberships(
        mixture.fit_components(q, beliefs.mean, beliefs.variance, priors), beliefs.mean, beliefs.variance
    )[0]

    def value():
        # holds for old memberships too
        rho = mixture.log_responsibilities(mix, beliefs.mean, beliefs.variance)
        q = np.maximum(mix.memberships, 1e-300)
        of_mixture = float(np.sum(mix.memberships * (rho - np.log(q))))
        of_mixture -= mixture.stick_divergence(mix, priors.concentration)
        of_mixture -= mixture.component_divergence(mix, priors)
        return likelihood(beliefs) + of_mixture + position_entropy(beliefs)

    check_rise = Watch(value)
    for _ in range(6):
        beliefs.update_items(*mixture.position_prior(mix))
        check_rise("items")
        mix, _ = mixture.refresh_memberships(mix, beliefs.mean, beliefs.variance)
        check_rise("memberships")
        mix = mixture.fit_components(mix.memberships, beliefs.mean, beliefs.variance, priors)
        check_rise("components")
        beliefs.update_weights()
        check_rise("weights")
        beliefs.update_biases(beliefs.sum_labels())
        check_rise("biases")


def test_the_exponential_is_exact_where_it_matters():
    x = np.concatenate([[0.0, 1e-300, 1e-30, 0.34, 0.35, 60.0], 10.0 ** np.linspace(-20, 1.7, 500)])
    found = np.array([kernels.exponential(value) for value in x])
    np.testing.assert_allclose(found, np.expm1(-x), rtol=5e-15)
    # far out it is -1, and never less
    assert kernels.exponential(1e4) == -1.0
    assert kernels.exponential(np.inf) == -1.0


def test_the_curvature_has_its_limit_at_zero():
    def curvature(square):
        delta = kernels.root(square)
        e = kernels.exponential(delta)
        return e / (4.0 * delta * (2.0 + e))

    for square in (0.0, -1e-18, 1e-40, 1e-14):
        np.testing.assert_allclose(curvature(square), -0.125, rtol=1e-14)
    squares = 10.0 ** np.linspace(-8, 6, 300)
    delta = np.sqrt(squares)
    np.testing.assert_allclose([curvature(square) for square in squares], -np.tanh(delta / 2) / (4 * delta), rtol=5e-15)
