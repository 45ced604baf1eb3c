"""Held-out prediction worker by worker, beside the random worker and the one-group worker."""

from __future__ import annotations

import numpy as np
import pytest
from tall_red import TallRedSettings, tall_red_campaign

from crowdclust_app.inference.crowdclustering import Crowdclustering
from crowdclust_app.inference.crowdclustering.selection.heldout_workers import mean_and_error_by_worker, score_workers
from crowdclust_app.inference.crowdclustering.selection.prediction import HeldOutScores

# fits are cut short to be quick
pytestmark = pytest.mark.filterwarnings("ignore::crowdclust_app.domain.errors.NotConvergedWarning")


@pytest.mark.parametrize("seed", [0, 1])
def test_who_sorts_is_predicted_better_than_who_does_not_look(seed: int) -> None:
    campaign = tall_red_campaign(TallRedSettings(seed=seed))
    model = Crowdclustering.as_published(
        label_weight=0.2, n_clusters=4, folds=5, worker_prior="shared", n_starts=1
    ).fit(campaign.table)
    assert model.heldout_ is not None
    found = model.heldout_.workers
    sensible = np.array([kind in ("height", "colour") for kind in campaign.worker_kinds])
    assert (found.over_random > 2 * found.over_random_se)[sensible].all()
    assert (found.over_one_group > 2 * found.over_one_group_se)[sensible].all()
    random, one_group = campaign.worker_kinds.index("random"), campaign.worker_kinds.index("one group")
    assert not found.over_random[random] > 2 * found.over_random_se[random]
    assert not found.over_one_group[one_group] > 2 * found.over_one_group_se[one_group]
    assert found.accuracy[sensible].min() > 0.8
    total = model.heldout_.loglik * model.heldout_.scored
    assert float((found.loglik * found.scored).sum()) == pytest.approx(total)


def test_errors_are_those_of_responses_and_one_response_has_one_too() -> None:
    rng = np.random.default_rng(0)
    who = np.repeat([0, 1, 2], [400, 1, 3])
    pairs = np.full(404, 10.0)
    values = 10.0 * rng.normal(-0.5, 0.2, 404)
    means, errors = mean_and_error_by_worker(values, pairs, who, 4)
    assert means[0] == pytest.approx(-0.5, abs=0.04)
    assert errors[0] == pytest.approx(0.2 / 20, rel=0.15)
    assert errors[1] == pytest.approx(0.2, rel=0.15)
    assert errors[2] > errors[0]
    assert np.isnan([means[3], errors[3]]).all()


def test_responses_without_labels_say_nothing() -> None:
    campaign = tall_red_campaign(TallRedSettings(items=16, items_per_hit=8, redundancy=2))
    n = campaign.table.n_responses
    nothing = HeldOutScores(np.zeros(n), np.zeros(n), np.zeros(n))
    found = score_workers(campaign.table.worker_of_response, 12, nothing, nothing, nothing)
    assert found.scored.tolist() == [0.0] * 12
    assert np.isnan(found.over_random).all()
