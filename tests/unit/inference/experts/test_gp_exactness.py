"""Expectation propagation against exact sums, orthant probabilities, sampling and finite differences."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from gp_problems import by_sampling, evidence_for, exact, fixed_point, labels_of, random_problem, sequential

from crowdclust_app.inference.experts.generalised_em import kernel_gradient
from crowdclust_app.inference.experts.kernel import Kernel, log_gradients, squared_distances
from crowdclust_app.inference.experts.posterior import DenseEngine, FactorEngine
from crowdclust_app.inference.experts.propagation import Sites, propagate
from crowdclust_app.inference.experts.sites import (
    LabelLikelihoods,
    WorkerPosterior,
    label_likelihoods,
    responsibilities,
    update_sites,
)
from crowdclust_app.inference.experts.triangular_solves import NotPositiveDefiniteError, factor_and_inverse, inverse_of


@pytest.mark.parametrize("seed", range(5))
def test_one_item_has_the_exact_evidence(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X, kernel, matrix, crowd = random_problem(rng, 1, 4)
    evidence = evidence_for(matrix, crowd)
    found = fixed_point(kernel.between(X, X), evidence)
    expected = np.logaddexp(evidence.positive[0], evidence.negative[0]) - np.log(2.0)
    assert found.log_evidence == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(("items", "typical", "worst"), [(2, 3e-4, 0.06), (3, 1e-3, 0.08)])
def test_two_and_three_items_are_close_to_the_sum_over_every_pattern(items: int, typical: float, worst: float) -> None:
    of_evidence, of_classes, converged = [], [], []
    for number in range(300):
        rng = np.random.default_rng([1, number])
        X, kernel, matrix, crowd = random_problem(rng, items, int(rng.integers(1, 8)))
        evidence, K = evidence_for(matrix, crowd), kernel.between(X, X)
        found = fixed_point(K, evidence)
        log_z, clean = exact(K, evidence)
        of_evidence.append(abs(found.log_evidence - log_z))
        of_classes.append(np.abs(responsibilities(found.update.z, evidence).clean - clean).max())
        converged.append(found.converged)
    assert all(converged)
    assert np.median(of_evidence) <= typical
    assert max(of_evidence) <= worst
    assert np.median(of_classes) <= 2e-3
    assert max(of_classes) <= 0.06


def test_eight_items_are_close_to_sampling_the_prior() -> None:
    errors = []
    for number in range(12):
        rng = np.random.default_rng([2, number])
        X, kernel, matrix, crowd = random_problem(rng, 8, 5, (0.5, 2.0))
        X[1] = X[0]
        evidence, K = evidence_for(matrix, crowd), kernel.between(X, X)
        found = fixed_point(K, evidence)
        log_z, clean, mean, variance = by_sampling(K, evidence, 60_000, number)
        deviation = np.sqrt(variance)
        errors.append(
            (
                abs(found.log_evidence - log_z),
                np.abs(responsibilities(found.update.z, evidence).clean - clean).max(),
                (np.abs(found.posterior.mean - mean) / deviation).max(),
                np.abs(np.sqrt(found.posterior.variance) / deviation - 1.0).max(),
            )
        )
    table = np.array(errors)
    assert (np.median(table, axis=0) <= [0.06, 0.03, 0.06, 0.12]).all(), np.median(table, axis=0)
    assert (table.max(axis=0) <= [0.2, 0.1, 0.3, 0.5]).all(), table.max(axis=0)


def test_site_updates_match_the_printed_moments_and_numerical_integration() -> None:
    evidence = LabelLikelihoods(np.zeros(3), np.zeros(3), 0.9, np.log([0.7, 0.2, 0.6]), np.log([0.1, 0.5, 0.59]))
    mean, variance = np.array([0.3, 0.8, -0.4]), np.array([1.3, 0.7, 2.0])
    found = update_sites(mean, variance, np.zeros(3), evidence)
    # the paper's equations 45 to 47, in the noise-free form
    new_mean = mean + variance * found.slope
    v = variance * (1.0 / (new_mean * found.slope) - 1.0)
    assert found.precision == pytest.approx(1.0 / v, rel=1e-12)
    assert found.shift == pytest.approx((new_mean + v * found.slope) / v, rel=1e-12)
    grid = np.linspace(-12, 12, 2_000_001)
    for n in range(3):
        density = np.exp(-0.5 * (grid - mean[n]) ** 2 / variance[n]) / np.sqrt(2 * np.pi * variance[n])
        tilted = density * np.exp(np.where(grid > 0, evidence.positive[n], evidence.negative[n]))
        step = grid[1] - grid[0]
        total = tilted.sum() * step
        first = (tilted * grid).sum() * step / total
        second = (tilted * grid**2).sum() * step / total - first**2
        assert found.log_z[n] == pytest.approx(np.log(total), abs=1e-5)
        assert new_mean[n] == pytest.approx(first, abs=1e-5)
        assert 1.0 / (1.0 / variance[n] + found.precision[n]) == pytest.approx(second, abs=1e-5)


def test_labels_that_contradict_the_neighbours_make_precisions_negative_and_are_kept() -> None:
    X = np.linspace(0, 0.3, 8)[:, None]
    matrix = np.where(np.arange(8) == 4, -1, 1)[:, None] * np.ones((1, 3), dtype=int)
    evidence = evidence_for(matrix, WorkerPosterior(np.full(3, 0.9), 0.9, np.zeros(3)))
    K = Kernel(3.0, 1.0).between(X, X)
    found = fixed_point(K, evidence)
    assert found.converged
    assert found.sites.precision[4] < 0
    assert (np.delete(found.sites.precision, 4) > 0).all()
    log_z, clean, _, _ = by_sampling(K, evidence, 200_000, 0)
    assert found.log_evidence == pytest.approx(log_z, abs=0.12)
    assert np.abs(responsibilities(found.update.z, evidence).clean - clean).max() < 0.06


@pytest.mark.parametrize("seed", range(4))
def test_posterior_with_precisions_of_both_signs_is_the_explicit_inverse(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(12, 2))
    K = Kernel(1.5, 1.0, 0.3).between(X, X)
    precision = rng.uniform(-0.1, 1.5, 12)
    precision[3] = 0.0
    shift = rng.normal(size=12)
    found = DenseEngine(K).posterior(precision, shift)
    sigma = np.linalg.inv(np.linalg.inv(K) + np.diag(precision))
    inner = np.diag(precision) - precision[:, None] * sigma * precision
    assert found.inner_inverse() == pytest.approx(inner, abs=1e-9)
    assert found.variance == pytest.approx(np.diagonal(sigma), abs=1e-9)
    assert found.mean == pytest.approx(sigma @ shift, abs=1e-9)
    sign, log_determinant = np.linalg.slogdet(np.eye(12) + K * precision)
    assert sign == 1
    assert found.log_determinant == pytest.approx(log_determinant, abs=1e-9)
    assert found.weights == pytest.approx(np.linalg.solve(K, found.mean), abs=1e-7)
    new = rng.normal(size=(3, 2))
    cross = Kernel(1.5, 1.0, 0.3).between(X, new)
    mean, variance = found.predict(cross, np.full(3, 1.5**2 + 0.3**2))
    solved = np.linalg.solve(K, cross)
    assert mean == pytest.approx(solved.T @ found.mean, abs=1e-8)
    expected = 1.5**2 + 0.3**2 - np.einsum("ij,ij->j", cross, solved) + np.einsum("ij,ij->j", solved, sigma @ solved)
    assert variance == pytest.approx(expected, abs=1e-8)
    factor = FactorEngine(np.linalg.cholesky(K)).posterior(precision, shift)  # type: ignore[arg-type]
    assert factor.variance == pytest.approx(found.variance, abs=1e-9)
    assert factor.mean == pytest.approx(found.mean, abs=1e-9)
    assert factor.log_determinant == pytest.approx(found.log_determinant, abs=1e-9)


def test_a_posterior_that_is_none_says_so() -> None:
    K = Kernel(1.0, 1.0).between(np.zeros((3, 1)), np.zeros((3, 1)))
    for engine in (DenseEngine(K + 1e-9 * np.eye(3)), FactorEngine(np.ones((3, 1)))):
        with pytest.raises(NotPositiveDefiniteError):
            engine.posterior(np.full(3, -0.5), np.zeros(3))


@pytest.mark.parametrize("seed", range(6))
def test_one_site_after_another_comes_to_the_same_fixed_point(seed: int) -> None:
    rng = np.random.default_rng([3, seed])
    X, kernel, matrix, crowd = random_problem(rng, 15, 4)
    evidence, K = evidence_for(matrix, crowd), kernel.between(X, X)
    found = fixed_point(K, evidence, tolerance=1e-12)
    sites, mean, variance = sequential(K, evidence)
    assert found.sites.precision == pytest.approx(sites.precision, abs=1e-8)
    assert found.sites.shift == pytest.approx(sites.shift, abs=1e-8)
    assert found.posterior.mean == pytest.approx(mean, abs=1e-8)
    assert found.posterior.variance == pytest.approx(variance, abs=1e-8)


@pytest.mark.parametrize("seed", range(4))
def test_noise_in_the_site_or_in_the_prior_is_the_same(seed: int) -> None:
    rng = np.random.default_rng([4, seed])
    X, kernel, matrix, crowd = random_problem(rng, 10, 4)
    evidence, K = evidence_for(matrix, crowd), kernel.between(X, X)
    inside = fixed_point(K, evidence, 1.0, 1e-12)
    outside = fixed_point(K + np.eye(10), evidence, 0.0, 1e-12)
    assert inside.log_evidence == pytest.approx(outside.log_evidence, abs=1e-8)
    assert inside.update.z == pytest.approx(outside.update.z, abs=1e-8)
    larger = fixed_point(9.0 * K, evidence, 9.0, 1e-12)
    assert larger.log_evidence == pytest.approx(inside.log_evidence, abs=1e-8)
    assert larger.update.z == pytest.approx(inside.update.z, abs=1e-8)


def test_both_symmetries_hold() -> None:
    rng = np.random.default_rng(5)
    X, kernel, matrix, crowd = random_problem(rng, 12, 5)
    K = kernel.between(X, X)
    found = fixed_point(K, evidence_for(matrix, crowd))
    mirrored = fixed_point(
        K, evidence_for(matrix, WorkerPosterior(1.0 - crowd.expertise, crowd.agreement, crowd.right))
    )
    assert mirrored.log_evidence == pytest.approx(found.log_evidence, abs=1e-8)
    assert mirrored.posterior.mean == pytest.approx(-found.posterior.mean, abs=1e-8)
    both = evidence_for(matrix, WorkerPosterior(1.0 - crowd.expertise, 1.0 - crowd.agreement, crowd.right))
    same = evidence_for(matrix, crowd)
    assert both.positive == pytest.approx(same.positive, abs=1e-12)
    assert both.negative == pytest.approx(same.negative, abs=1e-12)


def test_permuting_items_and_workers_permutes_the_result() -> None:
    rng = np.random.default_rng(6)
    X, kernel, matrix, crowd = random_problem(rng, 12, 5)
    items, workers = rng.permutation(12), rng.permutation(5)
    found = fixed_point(kernel.between(X, X), evidence_for(matrix, crowd))
    other = WorkerPosterior(crowd.expertise[workers], crowd.agreement, crowd.right)
    moved = fixed_point(kernel.between(X[items], X[items]), evidence_for(matrix[items][:, workers], other))
    assert moved.posterior.mean == pytest.approx(found.posterior.mean[items], abs=1e-9)
    assert moved.log_evidence == pytest.approx(found.log_evidence, abs=1e-9)


def _difference(function: Callable[[float], float], at: float, step: float = 1e-5) -> float:
    return (function(at + step) - function(at - step)) / (2 * step)


@pytest.mark.parametrize("seed", range(5))
def test_gradients_are_the_central_differences_of_the_evidence(seed: int) -> None:
    rng = np.random.default_rng([7, seed])
    X, _, matrix, crowd = random_problem(rng, 25, 4)
    crowd = WorkerPosterior(np.array([0.9, 0.8, 0.7, 0.6]), 0.95, crowd.right)
    kernel = Kernel(2.0, 1.0, 0.7)
    squared, labels = squared_distances(X, X), labels_of(matrix)

    def log_z(k: Kernel = kernel, c: WorkerPosterior = crowd, noise: float = 1.0) -> float:
        return fixed_point(k.of_distances(squared), label_likelihoods(labels, c), noise, 1e-11).log_evidence

    evidence = label_likelihoods(labels, crowd)
    found = fixed_point(kernel.of_distances(squared), evidence, 1.0, 1e-11)
    assert (found.sites.precision < 0).any()
    numbers = np.log([kernel.amplitude, kernel.length_scale, kernel.intercept])
    slopes = []
    for place in range(3):
        direction = np.arange(3) == place
        slopes.append(_difference(lambda d, w=direction: log_z(k=Kernel(*np.exp(numbers + d * w))), 0.0))
    gradient = kernel_gradient(found, log_gradients(kernel, squared))
    assert gradient == pytest.approx(slopes, rel=1e-5, abs=1e-7)

    of_noise = float((-found.update.slope * found.cavity_mean / (2 * (found.cavity_variance + 1.0))).sum())
    assert of_noise == pytest.approx(_difference(lambda s: log_z(noise=s), 1.0), rel=1e-5, abs=1e-7)
    assert (gradient[0] + gradient[2]) / 2 + of_noise == pytest.approx(0.0, abs=1e-8)

    sure = responsibilities(found.update.z, evidence)
    right = np.where(matrix > 0, sure.consensus[:, None], 1.0 - sure.consensus[:, None])
    for worker in range(4):
        mine, eps = matrix[:, worker] != 0, crowd.expertise[worker]
        expected = (right[mine, worker] / eps - (1.0 - right[mine, worker]) / (1.0 - eps)).sum()

        def moved(e: float, j: int = worker) -> float:
            return log_z(
                c=WorkerPosterior(np.where(np.arange(4) == j, e, crowd.expertise), crowd.agreement, crowd.right)
            )

        assert expected == pytest.approx(_difference(moved, eps), rel=1e-5, abs=1e-7)
    xi = crowd.agreement
    expected = float((sure.agrees / xi - (1.0 - sure.agrees) / (1.0 - xi)).sum())
    slope = _difference(lambda x: log_z(c=WorkerPosterior(crowd.expertise, x, crowd.right)), xi)
    assert expected == pytest.approx(slope, rel=1e-5, abs=1e-7)


def test_a_thousand_workers_do_not_underflow() -> None:
    matrix = np.ones((3, 1000), dtype=int)
    matrix[1] = -1
    crowd = WorkerPosterior(np.full(1000, 0.9), 0.95, np.zeros(1000))
    evidence = evidence_for(matrix, crowd)
    found = fixed_point(Kernel(2.0, 1.0).between(np.eye(3), np.eye(3)), evidence)
    assert np.isfinite([found.log_evidence, *found.posterior.mean, *found.posterior.variance]).all()
    assert responsibilities(found.update.z, evidence).consensus == pytest.approx([1, 0, 1], abs=1e-9)


def test_labels_that_say_nothing_leave_the_prior() -> None:
    matrix = np.ones((4, 2), dtype=int)
    evidence = evidence_for(matrix, WorkerPosterior(np.full(2, 0.5), 0.9, np.zeros(2)))
    found = propagate(DenseEngine(np.eye(4)), evidence, np.ones(4), Sites.none(4))
    assert found.converged
    assert found.posterior.mean == pytest.approx(0.0, abs=1e-12)
    assert found.posterior.variance == pytest.approx(1.0)
    assert found.log_evidence == pytest.approx(8 * np.log(0.5))


def test_the_printed_scale_of_a_site_and_the_printed_gradient_are_right_once_read_rightly() -> None:
    rng = np.random.default_rng(8)
    X, _, matrix, crowd = random_problem(rng, 12, 4)
    kernel = Kernel(2.0, 1.0, 0.5)
    squared = squared_distances(X, X)
    evidence, K = evidence_for(matrix, crowd), kernel.of_distances(squared)
    # the paper's form: white noise in the prior, steps as sites
    found = fixed_point(K + np.eye(12), evidence, 0.0, 1e-12)
    m, v, slope = found.cavity_mean, found.cavity_variance, found.update.slope
    new = m + v * slope
    width = v * (1.0 / (new * slope) - 1.0)
    centre = new + width * slope
    # equation 48: the site's mass is such that site times cavity has the tilted normaliser
    scale = np.exp(found.update.log_z) * np.sqrt(np.abs(1.0 + v / width)) * np.exp(0.5 * v * slope / new)
    product = scale * np.sqrt(np.abs(width / (v + width))) * np.exp(-0.5 * (m - centre) ** 2 / (v + width))
    assert product == pytest.approx(np.exp(found.update.log_z), rel=1e-9)
    # equation 53, its first trace closed
    prior = np.linalg.inv(K + np.eye(12))
    mean = found.posterior.mean
    precision = found.sites.precision
    sigma = np.linalg.inv(prior + np.diag(precision))
    printed = []
    for change in log_gradients(kernel, squared):
        inner = prior @ change
        printed.append(
            -0.5 * np.trace(inner) + 0.5 * mean @ inner @ prior @ mean + 0.5 * np.trace(inner @ prior @ sigma)
        )
    inside = fixed_point(K, evidence, 1.0, 1e-12)
    assert kernel_gradient(inside, log_gradients(kernel, squared)) == pytest.approx(printed, rel=1e-7, abs=1e-9)


def test_exchanging_the_two_constants_negates_the_value_and_keeps_the_precision() -> None:
    rng = np.random.default_rng(9)
    evidence = LabelLikelihoods(
        np.zeros(50), np.zeros(50), 0.9, np.log(rng.uniform(0, 1, 50)), np.log(rng.uniform(0, 1, 50))
    )
    other = LabelLikelihoods(np.zeros(50), np.zeros(50), 0.9, evidence.negative, evidence.positive)
    mean, variance = rng.normal(size=50) * 3, rng.uniform(0.1, 5, 50)
    one = update_sites(mean, variance, np.ones(50), evidence)
    two = update_sites(-mean, variance, np.ones(50), other)
    assert (one.precision < 0).any()
    assert one.precision == pytest.approx(two.precision, rel=1e-12)
    assert one.shift == pytest.approx(-two.shift, rel=1e-12)
    # negative exactly where the cavity says the opposite of the labels, strongly enough
    against = np.sign(evidence.positive - evidence.negative) != np.sign(mean)
    assert against[one.precision < 0].all()


@pytest.mark.parametrize("size", [1, 7, 100, 161, 333])
def test_factors_by_halves_are_the_factors(size: int) -> None:
    root = np.random.default_rng(size).normal(size=(size, size))
    matrix = root @ root.T + size * np.eye(size)
    lower, inverse = factor_and_inverse(matrix)
    assert lower == pytest.approx(np.linalg.cholesky(matrix), abs=1e-9)
    assert inverse @ lower == pytest.approx(np.eye(size), abs=1e-9)
    assert inverse_of(lower) == pytest.approx(inverse, abs=1e-9)
    matrix[-1, -1] = -1.0
    with pytest.raises(NotPositiveDefiniteError):
        factor_and_inverse(matrix)
