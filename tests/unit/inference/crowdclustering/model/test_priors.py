"""A prior that workers share: where the bound is highest, never lower than before, and exact for who is silent."""

from __future__ import annotations

import label_by_label as slow
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from crowdclust_app.domain.errors import UserError
from crowdclust_app.inference.crowdclustering import Crowdclustering
from crowdclust_app.inference.crowdclustering.model.blocks import unvech, vech
from crowdclust_app.inference.crowdclustering.model.bound import layer_divergence, normal_divergence, worker_divergence
from crowdclust_app.inference.crowdclustering.model.priors import LEAST_VARIANCE, WorkerPrior

# fits are cut short to be quick
pytestmark = pytest.mark.filterwarnings("ignore::crowdclust_app.domain.errors.NotConvergedWarning")

SHARED = {"worker_prior": "shared"}


def posterior_for(dimensions, seed=0, n_workers=4, **parameters):
    random = np.random.default_rng([seed, dimensions])
    table = slow.random_table(random, n_workers=n_workers, sizes=(2, 5, 9, 3, 7, 11, 4, 6))
    return slow.random_posterior(random, table, dimensions, **{**SHARED, **parameters})


def odd_prior(dimensions, seed=0):
    random = np.random.default_rng(seed)
    entries = dimensions * (dimensions + 1) // 2
    return WorkerPrior(random.normal(size=entries), random.uniform(0.05, 2, entries), 0.7, 3.0)


def test_the_divergence_of_normals_is_the_expected_log_ratio():
    random = np.random.default_rng(0)
    mean, variance, prior_mean, prior_variance = 0.3, 0.2, -0.4, 1.7
    points = random.normal(mean, np.sqrt(variance), 400_000)
    ratio = stats.norm.logpdf(points, mean, np.sqrt(variance))
    ratio -= stats.norm.logpdf(points, prior_mean, np.sqrt(prior_variance))
    found = normal_divergence(np.array([mean]), np.array([variance]), prior_variance, prior_mean)
    assert found == pytest.approx(ratio.mean(), abs=5 * ratio.std() / np.sqrt(len(points)))
    # and as the sum over entries, term by term
    posterior = posterior_for(3)
    posterior.prior = odd_prior(3)
    total = 0.0
    for j in range(4):
        for entry, (m, s) in enumerate(
            zip(vech(posterior.weights[j]), vech(posterior.weight_variances[j]), strict=True)
        ):
            n, v = posterior.prior.weight_means[entry], posterior.prior.weight_variances[entry]
            total += 0.5 * (np.log(v / s) + (s + (m - n) ** 2) / v - 1)
        m, s = posterior.biases[j], posterior.bias_variances[j]
        total += 0.5 * (np.log(3.0 / s) + (s + (m - 0.7) ** 2) / 3.0 - 1)
    assert worker_divergence(posterior) == pytest.approx(total, rel=1e-12)


@pytest.mark.parametrize("dimensions", [1, 2, 4])
def test_workers_update_towards_the_priors_mean(dimensions):
    """Solved label by label: the update without prior, plus the prior's precision and shift."""
    posterior = posterior_for(dimensions)
    flat = posterior_for(dimensions, weight_variance=1e12, bias_variance=1e12)
    prior = odd_prior(dimensions)
    posterior.prior = prior
    flat.update_weights()
    posterior.update_weights()
    # the likelihood's precision has its diagonal in the flat update
    expected = 1.0 / (1.0 / vech(flat.weight_variances) + 1.0 / prior.weight_variances)
    np.testing.assert_allclose(vech(posterior.weight_variances), expected, rtol=1e-9)
    silent = posterior_for(dimensions, n_workers=4)
    silent.prior = prior
    gone = np.setdiff1d(np.arange(4), silent.labels.answered)
    silent.update_weights()
    for j in gone:
        np.testing.assert_allclose(vech(silent.weights[j]), prior.weight_means, rtol=1e-12)
    sums = posterior.sum_labels()
    posterior.update_biases(sums)
    np.testing.assert_allclose(posterior.bias_variances, 1.0 / (1 / 3.0 - 2.0 * sums[:, 0]), rtol=1e-12)
    np.testing.assert_allclose(posterior.biases, posterior.bias_variances * (0.7 / 3.0 + sums[:, 1]), rtol=1e-12)


def test_the_weights_under_a_prior_with_a_mean_are_where_the_bound_is_stationary():
    posterior = posterior_for(2)
    posterior.prior = odd_prior(2)
    deltas = np.array([np.sqrt(slow.second_moment(posterior, a, b, j)) for a, b, j, _ in slow.expand(posterior.labels)])
    posterior.update_weights()

    def value():
        return slow.likelihood_bound(posterior, deltas) - worker_divergence(posterior)

    here = value()
    for j in posterior.labels.answered:
        kept = posterior.weights.copy()
        for entry in range(3):
            for step in (1e-4, -1e-4):
                moved = vech(kept)
                moved[j, entry] += step
                posterior.weights = unvech(moved, 2)
                posterior.refresh_workers()
                assert value() <= here + 1e-10
        posterior.weights = kept
        posterior.refresh_workers()


def test_the_learnt_prior_is_the_best_one_and_who_is_silent_takes_it_exactly():
    posterior = posterior_for(2, n_workers=7, seed=5)
    answered = posterior.labels.answered
    silent = np.setdiff1d(np.arange(7), answered)
    assert len(silent) > 0
    posterior.learn_prior()
    prior = posterior.prior
    np.testing.assert_allclose(prior.weight_means, vech(posterior.weights)[answered].mean(axis=0))
    np.testing.assert_array_equal(vech(posterior.weights)[silent], np.tile(prior.weight_means, (len(silent), 1)))
    np.testing.assert_array_equal(
        vech(posterior.weight_variances)[silent], np.tile(prior.weight_variances, (len(silent), 1))
    )
    assert (posterior.biases[silent] == prior.bias_mean).all()
    assert (posterior.bias_variances[silent] == prior.bias_variance).all()
    best = worker_divergence(posterior)
    only = vech(posterior.weights)[answered], vech(posterior.weight_variances)[answered]
    assert best == pytest.approx(
        normal_divergence(*only, prior.weight_variances, prior.weight_means)
        + normal_divergence(
            posterior.biases[answered], posterior.bias_variances[answered], prior.bias_variance, prior.bias_mean
        )
    )
    for shift in (1e-3, -1e-3):
        here = normal_divergence(*only, prior.weight_variances, prior.weight_means)
        assert normal_divergence(*only, prior.weight_variances, prior.weight_means + shift) > here
        assert normal_divergence(*only, prior.weight_variances * (1 + shift), prior.weight_means) > here


def test_a_prior_learnt_from_equal_workers_keeps_a_width():
    posterior = posterior_for(2)
    posterior.weights[:] = np.eye(2)
    posterior.weight_variances[:] = 1e-6
    posterior.learn_prior()
    np.testing.assert_array_equal(posterior.prior.weight_variances, LEAST_VARIANCE)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([1, 2, 4]), st.sampled_from([1.0, 0.2]))
def test_the_bound_never_falls_with_a_learnt_prior(seed, dimensions, weight):
    posterior = posterior_for(dimensions, seed, label_weight=weight)
    n = posterior.labels.n_items
    before = -np.inf
    for _ in range(6):
        for step in (
            lambda: posterior.update_items(np.repeat(np.eye(dimensions)[None], n, axis=0), np.zeros((n, dimensions))),
            posterior.update_weights,
            lambda: posterior.update_biases(posterior.sum_labels()),
            posterior.learn_prior,
        ):
            step()
            now = float(posterior.sum_labels()[:, 2].sum()) - worker_divergence(posterior) - layer_divergence(posterior)
            assert now >= before - 1e-9 * abs(now)
            before = now


def test_one_worker_and_consensus_have_nobody_to_share_with():
    table = slow.table_of([(0, {0: 0, 1: 0, 2: 1, 3: 1}), (0, {1: 0, 2: 1, 3: 1})])
    quick = {"dimensions": 2, "n_starts": 1, "layer_rounds": 5, "max_iterations": 5}
    alone, paper = (
        Crowdclustering.as_published(**quick, worker_prior=prior).fit(table) for prior in ("shared", "independent")
    )
    assert alone.bound_ == paper.bound_
    two = slow.random_table(np.random.default_rng(0))
    merged, same = (
        Crowdclustering.as_published(**quick, consensus=True, worker_prior=prior).fit(two)
        for prior in ("shared", "independent")
    )
    assert merged.bound_ == same.bound_


def test_an_unknown_prior_is_refused():
    with pytest.raises(UserError, match="there is no worker prior pooled; choose shared or independent"):
        Crowdclustering.as_published(worker_prior="pooled").fit(slow.table_of([(0, {0: 0, 1: 1})]))
