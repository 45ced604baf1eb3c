"""What a simulation says of a plan."""

from __future__ import annotations

import pytest

from crowdclust_app.domain.campaign import PlanSettings
from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.domain.errors import Cancelled
from crowdclust_app.services.campaign.expected_quality import ITEMS, KINDS, expected_quality


def test_more_answers_are_expected_to_be_better_and_the_same_seed_says_the_same() -> None:
    few = expected_quality(1000, PlanSettings(12, 2, 1))
    many = expected_quality(1000, PlanSettings(36, 6, 2))
    assert few is not None
    assert many is not None
    assert few.middle < many.middle
    assert many.middle > 0.6
    assert 0.0 <= many.low <= many.middle <= many.high <= 1.0
    assert (many.items, many.kinds) == (ITEMS, KINDS)
    assert expected_quality(1000, PlanSettings(12, 2, 1, seed=9)) == few, "the plan's own seed does not count"


@pytest.mark.parametrize("plan", [PlanSettings(2, 1, 1), PlanSettings(10_000, 1, 1), PlanSettings(5, 1000, 3)])
def test_strange_plans_have_an_answer_too(plan: PlanSettings) -> None:
    found = expected_quality(20, plan)
    assert found is not None
    assert found.low <= found.middle <= found.high


def test_too_few_items_cannot_be_simulated() -> None:
    assert expected_quality(7, PlanSettings()) is None


def test_it_can_be_cancelled() -> None:
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        expected_quality(1000, PlanSettings(), cancel=token)
