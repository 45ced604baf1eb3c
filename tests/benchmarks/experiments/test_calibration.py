"""Items are in their cluster about as often as their probabilities say."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.experiments.calibration import (
    AFTER,
    BEFORE,
    CAMPAIGNS,
    Calibration,
    calibration_error,
    confidence_and_right,
    reliability,
    run_calibration,
)
from benchmarks.experiments.results import Watch
from crowdclust_app.inference.crowdclustering import Crowdclustering


def test_the_error_is_the_distance_of_probability_and_share_over_the_bins():
    confidence = np.array([0.95, 0.95, 0.95, 0.95, 0.55, 0.55])
    right = np.array([1.0, 1.0, 1.0, 0.0, 1.0, 0.0])
    assert calibration_error(confidence, right) == pytest.approx((4 * 0.2 + 2 * 0.05) / 6)
    assert [row[2] for row in reliability(confidence, right)] == [2, 4]
    assert calibration_error(np.ones(3), np.ones(3)) == 0.0


def test_right_is_the_share_of_the_cluster_s_other_items_of_the_same_category():
    probabilities = np.array([[0.9, 0.1], [0.8, 0.2], [0.7, 0.3], [0.4, 0.6]])
    confidence, right = confidence_and_right(probabilities, np.array([1, 1, 0, 0]))
    # the last is alone in its cluster
    np.testing.assert_allclose(confidence, [0.9, 0.8, 0.7])
    assert right.tolist() == [0.5, 0.5, 0.0]


def believe(table, clusters, seed):
    model = Crowdclustering.as_published(
        n_starts=1, n_clusters=clusters, label_weight=0.5, worker_prior="shared", folds=4, max_iterations=20, seed=seed
    ).fit(table)
    scale = model.probability_ / model.responsibilities_.max(axis=1)
    return model.independent_responsibilities_, model.responsibilities_ * scale[:, None]


@pytest.mark.filterwarnings("ignore::crowdclust_app.domain.errors.NotConvergedWarning")
def test_probabilities_are_calibrated_on_simulated_campaigns():
    smaller = tuple((name, replace(simulation, items=200)) for name, simulation in CAMPAIGNS[1:])
    outcome = run_calibration(Calibration((0, 1), smaller), believe, Watch())
    errors = {words: [row[5] for row in outcome.figures.rows if row[1] == words] for words in (BEFORE, AFTER)}
    # with 36 items a HIT and one worker an item, a quarter of them astray, probabilities are too low
    assert min(errors[AFTER]) < 0.10
    assert max(errors[AFTER]) < 0.16
    assert np.mean(errors[AFTER]) < 0.7 * np.mean(errors[BEFORE])
    # the same items are right: only the probabilities differ
    right = {words: [row[4] for row in outcome.trials.rows if row[1] == words] for words in (BEFORE, AFTER)}
    assert right[BEFORE] == right[AFTER]
    assert {row[0] for row in outcome.sheets[0].rows} == {BEFORE, AFTER}
    assert "nearer the straight line is better" in outcome.panels[0].title
