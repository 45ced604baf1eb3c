"""The bounds of Theorems 1 and 2: by hand, in their limits, and against simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import beta as beta_function
from scipy.special import digamma

from benchmarks.experiments.theorems import bound, exponent


def test_one_label_a_worker_by_hand() -> None:
    # nothing was seen of anybody: everybody is right 4 times of 7
    for variant in ("fast", "sorted"):
        assert exponent("uniform", variant, 1, 4.0, 3.0) == pytest.approx(-math.log(2 * math.sqrt(12) / 7))
        assert exponent("uncertainty", variant, 1, 4.0, 3.0) == pytest.approx(math.log(4 / 3) / 7)


def test_two_labels_a_worker_by_hand() -> None:
    # one label was seen, right with probability 4/7: then 5 of 8, otherwise 4 of 8
    factor = 4 / 7 * 2 * math.sqrt(15) / 8 + 3 / 7
    gain = 4 / 7 * math.log(5 / 3) * 2 / 8
    assert exponent("uniform", "sorted", 2, 4.0, 3.0) == pytest.approx(-math.log(factor))
    assert exponent("uncertainty", "sorted", 2, 4.0, 3.0) == pytest.approx(gain)
    assert exponent("uniform", "fast", 2, 4.0, 3.0) == pytest.approx(-math.log((2 * math.sqrt(12) / 7 + factor) / 2))
    assert exponent("uncertainty", "fast", 2, 4.0, 3.0) == pytest.approx((math.log(4 / 3) / 7 + gain) / 2)


@pytest.mark.parametrize(("alpha", "beta"), [(4.0, 3.0), (2.0, 1.0)])
def test_with_many_labels_accuracies_are_known(alpha: float, beta: float) -> None:
    # E 2 sqrt(p (1 - p)), the rate of Gao et al. 2016, and E (2 p - 1) log(p / (1 - p))
    factor = 2 * beta_function(alpha + 0.5, beta + 0.5) / beta_function(alpha, beta)
    right = alpha / (alpha + beta) * (digamma(alpha + 1) - digamma(beta))
    wrong = beta / (alpha + beta) * (digamma(alpha) - digamma(beta + 1))
    assert exponent("uniform", "sorted", 3000, alpha, beta) == pytest.approx(-math.log(factor), rel=3e-3)
    assert exponent("uncertainty", "sorted", 3000, alpha, beta) == pytest.approx(right - wrong, rel=3e-3)


def test_seeing_more_is_better_and_choosing_is_better() -> None:
    for policy in ("uniform", "uncertainty"):
        rates = [exponent(policy, "sorted", labels, 4.0, 3.0) for labels in (1, 3, 10, 30)]
        assert rates == sorted(rates)
        assert exponent(policy, "fast", 10, 4.0, 3.0) < rates[2]
        assert bound(policy, "fast", 0, 10, 4.0, 3.0) == 1.0
    assert bound("uncertainty", "fast", 20, 10, 4.0, 3.0) < bound("uniform", "fast", 20, 10, 4.0, 3.0)
    with pytest.raises(ValueError, match="at least 1"):
        exponent("uniform", "fast", 0, 4.0, 3.0)


def weights(rng: np.random.Generator, count: int, labels: int) -> np.ndarray:
    """What a label adds to the log-odds of the truth when a worker's other `labels - 1` are judged by the truth."""
    accuracy = rng.beta(4.0, 3.0, count)
    seen = rng.binomial(labels - 1, accuracy)
    weight = np.log((seen + 4.0) / (labels - 1 - seen + 3.0))
    return np.where(rng.random(count) < accuracy, weight, -weight)


@pytest.mark.parametrize("labels_per_task", [5, 20, 60])
def test_theorem_1_bounds_the_error_of_a_fixed_number_of_labels(labels_per_task: int) -> None:
    tasks = 40_000
    moves = weights(np.random.default_rng(2), tasks * labels_per_task, 10).reshape(tasks, labels_per_task).sum(axis=1)
    error = (moves < 0).mean() + 0.5 * (moves == 0).mean()
    limit = bound("uniform", "sorted", labels_per_task, 10, 4.0, 3.0)
    assert error < limit
    # and it is near: what it leaves out falls no faster than a power of the labels
    assert error > limit / (4 * math.sqrt(labels_per_task))


def test_theorem_2_gives_the_rate_of_tasks_asked_until_they_are_sure() -> None:
    rng = np.random.default_rng(3)
    found = []
    for sure in (2.0, 5.0):
        odds, labels = np.zeros(40_000), np.zeros(40_000)
        while len(open_tasks := np.flatnonzero(np.abs(odds) < sure)):
            odds[open_tasks] += weights(rng, len(open_tasks), 10)
            labels[open_tasks] += 1
        found.append((labels.mean(), (odds < 0).mean()))
    (few, high), (many, low) = found
    rate = -math.log(low / high) / (many - few)
    assert rate == pytest.approx(exponent("uncertainty", "sorted", 10, 4.0, 3.0), rel=0.15)
