"""How a campaign fills."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest
from campaign_making import MakeCampaign, do_next

from crowdclust_app.domain.campaign import ASSUMED_SECONDS_AN_ITEM
from crowdclust_app.domain.errors import UserError
from crowdclust_app.services.annotate.annotation import next_assignment
from crowdclust_app.services.campaign.progress_statistics import (
    look_at_pace,
    rerun_every,
    responses_by_day,
    set_rerun_every,
)


def test_before_anybody_came_the_time_is_assumed(make_campaign: MakeCampaign) -> None:
    campaign = make_campaign(n_items=12, items_per_hit=4, redundancy=2, workers_per_hit=2)
    pace = look_at_pace(campaign)
    assert (pace.left, pace.seconds_per_hit, pace.days, pace.open) == (12, None, (), ())
    assert pace.hours_left == pytest.approx(12 * 4 * ASSUMED_SECONDS_AN_ITEM / 3600)
    assert pace.ready_on is None
    assert pace.new_responses == 0


def test_what_is_done_open_and_left(make_campaign: MakeCampaign) -> None:
    campaign = make_campaign(n_items=12, items_per_hit=4, redundancy=2, workers_per_hit=2)
    ann, bo = campaign.add_worker("Ann"), campaign.add_worker("Bo")
    do_next(campaign, ann)
    do_next(campaign, ann)
    do_next(campaign, bo)
    turn = next_assignment(campaign, bo)
    assert turn is not None
    pace = look_at_pace(campaign)
    assert pace.left == 9
    assert [(row.worker.name, row.hits) for row in pace.workers] == [("Ann", 2), ("Bo", 1)]
    (one,) = pace.open
    assert (one.worker, one.hit, one.items, one.idle) == ("Bo", turn.hit_name, 4, False)
    assert [(row.name, row.submitted, row.wanted) for row in pace.stages] == [("all", 3, 12)]
    assert sum(count for _, count in pace.days) == pace.new_responses == 3
    assert pace.ready_on == (datetime.now().astimezone() + timedelta(days=3)).date()
    later = look_at_pace(campaign, datetime.now(UTC) + timedelta(days=30))
    assert later.open[0].idle
    assert later.ready_on is None, "nothing came lately, so nothing can be said"


def test_days_without_responses_are_zero() -> None:
    came = [datetime(2026, 3, 1, 12, tzinfo=UTC), datetime(2026, 3, 3, 1, tzinfo=UTC), datetime(2026, 3, 3, tzinfo=UTC)]
    assert responses_by_day(came) == ((date(2026, 3, 1), 1), (date(2026, 3, 2), 0), (date(2026, 3, 3), 2))


def test_running_again_by_itself_is_kept(make_campaign: MakeCampaign) -> None:
    campaign = make_campaign()
    assert rerun_every(campaign) == 0
    set_rerun_every(campaign, 25)
    set_rerun_every(campaign, 30)
    assert look_at_pace(campaign).rerun_every == 30
    with pytest.raises(UserError, match="negative"):
        set_rerun_every(campaign, -1)
