"""Clusters that the responses bear out are found again when these are drawn anew; others are not, and are named."""

from __future__ import annotations

import numpy as np
import pytest
from tall_red import TallRedSettings, tall_red_campaign

from crowdclust_app.domain.errors import UserError
from crowdclust_app.domain.fit_settings import FitSettings
from crowdclust_app.evaluation.simulation import SimulationSettings, simulate_campaign
from crowdclust_app.services.fits.fitting import fit_table
from crowdclust_app.services.fits.stability import best_jaccard
from crowdclust_app.services.fits.verdicts import stability_sentences


def test_the_best_jaccard_index_of_each_cluster() -> None:
    labels = np.array([1, 1, 1, 1, 2, 2, 3, 0])
    found = np.array([5, 5, 5, 2, 2, 2, 0, 5])
    np.testing.assert_allclose(best_jaccard(labels, found, 3), [3 / 4, 2 / 3, np.nan])


def test_true_clusters_are_stable_and_too_many_are_not() -> None:
    table = tall_red_campaign(TallRedSettings(items=48, items_per_hit=12, workers_per_hit=6)).table
    settings = FitSettings(dimensions=2, n_starts=1, n_clusters=4, label_weight=0.2, folds=0, bootstrap=8)
    result = fit_table(table, settings)
    assert len(result.summary["stability"]) == 4
    assert min(result.summary["stability"]) > 0.9
    assert any(sentence.startswith("Every cluster is found again") for sentence in result.summary["verdicts"])
    assert fit_table(table, settings).summary["stability"] == result.summary["stability"]
    noise = simulate_campaign(
        SimulationSettings(
            items=60, clusters=3, items_per_hit=8, redundancy=4, workers_per_hit=1, workers=6, random_workers=6
        )
    ).table
    unstable = fit_table(
        noise, FitSettings(dimensions=2, n_starts=1, n_clusters=4, label_weight=0.5, folds=0, bootstrap=8)
    )
    assert min(unstable.summary["stability"]) < 0.6
    assert any("unstable" in sentence for sentence in unstable.summary["verdicts"])


def test_stability_in_words() -> None:
    assert stability_sentences(None) == []
    assert stability_sentences([0.9, 0.8])[0].endswith("80% of its items.")
    assert stability_sentences([0.9, 0.5])[0].startswith("Cluster 2 (50%) is unstable")
    with pytest.raises(UserError):
        FitSettings(bootstrap=-1)
