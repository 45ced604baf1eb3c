"""Theorems 1 and 2 against their definitions and against simulated crowds."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import beta as beta_distribution

from crowdclust_app.sampling.expected_error import sorted_factor, sorted_gain, uncertainty_bound, uniform_bound


def by_definition(labels: int, alpha: float, beta: float) -> tuple[float, float]:
    """Equations 10 and 14, the probability of k right labels by integrating over the accuracy."""
    n = labels - 1
    factor = gain = 0.0
    for k in range(n + 1):

        def density(p: float, k: int = k) -> float:
            return math.comb(n, k) * p**k * (1 - p) ** (n - k) * float(beta_distribution.pdf(p, alpha, beta))

        share = quad(density, 0, 1)[0]
        right = (k + alpha) / (n + alpha + beta)
        factor += share * 2 * math.sqrt(right * (1 - right))
        gain += share * math.log(right / (1 - right)) * (2 * right - 1)
    return factor, gain


@pytest.mark.parametrize("labels", [1, 2, 7])
@pytest.mark.parametrize("prior", [(2.0, 1.0), (4.0, 3.0)])
def test_factors_are_those_of_the_paper(labels: int, prior: tuple[float, float]) -> None:
    factor, gain = by_definition(labels, *prior)
    assert sorted_factor(labels, *prior) == pytest.approx(factor, rel=1e-6)
    assert sorted_gain(labels, *prior) == pytest.approx(gain, rel=1e-6)


def test_known_accuracies_are_the_limit() -> None:
    integral = quad(lambda p: 2 * math.sqrt(p * (1 - p)) * float(beta_distribution.pdf(p, 4, 3)), 0, 1)[0]
    assert sorted_factor(4000, 4.0, 3.0) == pytest.approx(integral, rel=1e-3)


def test_bounds_average_over_a_workers_labels() -> None:
    mean = np.mean([sorted_factor(h, 4.0, 3.0) for h in range(1, 11)])
    assert uniform_bound(20, 10, 4.0, 3.0) == pytest.approx(mean**20)
    gain = np.mean([sorted_gain(h, 4.0, 3.0) for h in range(1, 11)])
    assert uncertainty_bound(20, 10, 4.0, 3.0) == pytest.approx(math.exp(-20 * gain))
    # many labels a worker: terms between the computed ones are interpolated
    exact = np.mean([sorted_factor(h, 4.0, 3.0) for h in range(1, 401)])
    assert uniform_bound(1, 400, 4.0, 3.0) == pytest.approx(exact, rel=1e-6)


def test_more_labels_and_choosing_well_lower_the_error() -> None:
    errors = [uniform_bound(r, 30, 4.0, 3.0) for r in (0, 5, 10, 20)]
    assert errors[0] == 1.0
    assert errors == sorted(errors, reverse=True)
    assert uncertainty_bound(10, 30, 4.0, 3.0) < uniform_bound(10, 30, 4.0, 3.0)
    with pytest.raises(ValueError, match="above 0"):
        uniform_bound(3, 0, 2.0, 1.0)
