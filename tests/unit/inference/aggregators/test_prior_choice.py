"""A prior chosen by evidence: against every prior of a grid, and against the one that workers were drawn from."""

from __future__ import annotations

import numpy as np
import pytest
from label_tables import of_classes

from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.domain.errors import Cancelled
from crowdclust_app.inference.aggregators import LabelTable, MeanField, TwoCoinMeanField, encode_labels
from crowdclust_app.inference.aggregators.iterations import Iterations
from crowdclust_app.inference.aggregators.prior_choice import choose_prior


def crowd(prior: tuple[float, float], coins: int) -> LabelTable:
    """Labels of 600 tasks by five each of 60 workers, their coins drawn from a Beta distribution."""
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, 600)
    skill = rng.beta(*prior, (60, coins))
    task = np.repeat(np.arange(600), 5)
    worker = np.concatenate([rng.permutation(60)[:5] for _ in range(600)])
    right = rng.random(3000) < skill[worker, truth[task] if coins == 2 else 0]
    return encode_labels(task, worker, np.where(right, truth[task], 1 - truth[task]))


@pytest.mark.parametrize(("coins", "method"), [(1, MeanField), (2, TwoCoinMeanField)])
def test_no_prior_of_a_grid_has_more_evidence_and_the_truth_is_near(coins: int, method: type[MeanField]) -> None:
    table = crowd((6.0, 1.5), coins)
    chosen = choose_prior(table, coins=coins)
    grid = [(a, b) for a in (0.5, 1, 2, 4, 6, 8, 16) for b in (0.5, 1, 1.5, 2, 4, 8)]
    bounds = {
        prior: method(prior=prior, tolerance=1e-5, max_iterations=1000).fit_encoded(table).lower_bounds_[-1]
        for prior in grid
    }
    assert chosen.bound > max(bounds.values()) - 0.01
    assert (chosen.usual, chosen.usual_bound) == ((2.0, 1.0), pytest.approx(bounds[2, 1]))
    assert chosen.bound > chosen.usual_bound + 5.0
    alpha, beta = chosen.prior
    assert alpha / (alpha + beta) == pytest.approx(0.8, abs=0.03)
    assert 4.0 < alpha + beta < 15.0


def test_matrices_of_more_classes_and_cancelling() -> None:
    table = of_classes(4, tasks=200, workers=20, per_task=6, seed=1)
    chosen = choose_prior(table, coins=2, prevalence="auto")
    alpha, beta = chosen.prior
    # each wrong answer has a count of its own: workers are right three times in four
    assert alpha / (alpha + 3.0 * beta) == pytest.approx(0.75, abs=0.06)
    assert chosen.bound > chosen.usual_bound
    token, seen = CancelToken(), []
    choose_prior(table, run=Iterations(1, 0.0, seen.append, token))
    assert seen[-1].iteration == len(seen) < seen[-1].max_iterations
    token.cancel()
    with pytest.raises(Cancelled):
        choose_prior(table, run=Iterations(1, 0.0, None, token))
