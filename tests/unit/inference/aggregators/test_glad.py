"""GLAD against its log posterior written out label by label, and difficulty against crowds with and without it."""

# mypy: disable-error-code="attr-defined"
# what is fitted has names that not all aggregators share

from __future__ import annotations

import math
from collections.abc import Hashable

import numpy as np
import pytest
from label_tables import of_classes

from crowdclust_app.domain.errors import UserError
from crowdclust_app.inference.aggregators import EM, GLAD, LabelTable, encode_labels
from crowdclust_app.inference.aggregators.label_posterior import Prevalence
from crowdclust_app.inference.aggregators.scoring import score


def log_posterior(table: LabelTable, at: np.ndarray) -> float:
    """Of all abilities, logarithms of ease and of shares, the classes summed out, up to a constant."""
    ability, log_ease, log_shares = np.split(at, [table.n_workers, table.n_workers + table.n_tasks])
    shares, total = np.exp(log_shares) / np.exp(log_shares).sum(), -0.5 * ((at[: -len(log_shares)] - 1) ** 2).sum()
    for task in range(table.n_tasks):
        likelihoods = shares.tolist()
        for worker, said in zip(table.worker[table.task == task], table.label[table.task == task], strict=True):
            right = 1 / (1 + math.exp(-ability[worker] * math.exp(log_ease[task])))
            wrong = (1 - right) / (table.n_classes - 1)
            likelihoods = [p * (right if said == true else wrong) for true, p in enumerate(likelihoods)]
        total += math.log(sum(likelihoods))
    return float(total)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("prevalence", ["even", "auto"])
def test_the_mode_is_that_of_the_log_posterior(classes: int, prevalence: Prevalence) -> None:
    table = of_classes(classes, tasks=14, workers=6, per_task=4, seed=2)
    fitted = GLAD(prevalence=prevalence, tolerance=1e-14).fit(table)
    at = np.concatenate([fitted.ability_, -np.log(fitted.difficulty_), np.log(fitted.prevalence_)])
    assert fitted.lower_bounds_[-1] == pytest.approx(log_posterior(table, at), abs=1e-9)
    assert np.diff(fitted.lower_bounds_).min() >= 0
    for number in range(len(at) - (classes if prevalence == "even" else 0)):
        step = np.zeros(len(at))
        step[number] = 1e-4
        slope = (log_posterior(table, at + step) - log_posterior(table, at - step)) / 2e-4
        assert slope == pytest.approx(0.0, abs=1e-4)


def crowd(spread: float) -> tuple[LabelTable, dict[Hashable, Hashable], np.ndarray]:
    """Labels of 300 tasks by all of 20 workers; the logarithms of ease have this standard deviation."""
    rng = np.random.default_rng(4)
    truth, ability, log_ease = rng.integers(0, 2, 300), rng.normal(1, 0.5, 20), rng.normal(-0.2, spread, 300)
    right = rng.random((300, 20)) < 1 / (1 + np.exp(-np.exp(log_ease)[:, None] * ability))
    labels = np.where(right, truth[:, None], 1 - truth[:, None])
    tasks, workers = np.repeat(np.arange(300), 20), np.tile(np.arange(20), 300)
    return encode_labels(tasks, workers, labels.ravel()), dict(enumerate(truth.tolist())), log_ease


def test_difficulty_is_found_where_tasks_differ_and_not_where_they_do_not() -> None:
    table, truth, log_ease = crowd(spread=1.2)
    fitted = GLAD().fit(table)
    assert np.corrcoef(np.log(fitted.difficulty_), log_ease)[0, 1] < -0.75
    assert fitted.difficulty_gain_ > 4 * fitted.difficulty_gain_se_
    assert fitted.notes_[0].startswith(f"tasks differ in difficulty: {fitted.difficulty_gain_:+.4f} nats a held-out")
    assert score(fitted, truth).error <= score(EM().fit_encoded(table), truth).error
    alike = GLAD().fit(crowd(spread=0.0)[0])
    assert alike.difficulty_gain_ < 2 * alike.difficulty_gain_se_
    assert not alike.notes_[0].startswith("tasks differ")


def test_nothing_is_held_out_of_a_few_tasks_or_when_not_wanted() -> None:
    few = of_classes(2, tasks=15, workers=6, per_task=4, seed=2)
    assert math.isnan(GLAD().fit(few).difficulty_gain_)
    table, _, _ = crowd(spread=1.0)
    without = GLAD(held_out=0.0).fit(table)
    assert without.notes_ == ()
    np.testing.assert_array_equal(without.probabilities_, GLAD().fit(table).probabilities_)
    with pytest.raises(UserError, match="held_out is not between 0 and 1"):
        GLAD(held_out=1.0).fit(table)
