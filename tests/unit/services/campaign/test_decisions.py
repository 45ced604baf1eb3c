"""The lead's decisions: made, taken back, never changed."""

from __future__ import annotations

import pytest
from campaign_making import MakeCampaign
from sqlalchemy.exc import DBAPIError

from crowdclust_app.domain.errors import UserError
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.campaign.decisions import decide, decide_all, standing, take_back


def test_decisions_stand_until_they_are_taken_back(make_campaign: MakeCampaign) -> None:
    campaign = make_campaign()
    assert standing(campaign) == ()
    before = campaign.revision
    first = decide(campaign, "exclude", {"response": 3, "reason": 'one "group", שלום 🌲'})
    second = decide(campaign, "retire", {"worker": 2})
    assert campaign.revision > before
    assert standing(campaign) == (first, second)
    assert standing(campaign, "retire") == (second,)
    assert standing(campaign, "retire", "exclude") == (first, second)
    assert standing(campaign, "gold") == ()
    take_back(campaign, first.number)
    assert standing(campaign) == (second,)
    campaign.close()
    with Campaign.open(campaign.path) as again:
        assert standing(again) == (second,)


def test_what_does_not_stand_cannot_be_taken_back(make_campaign: MakeCampaign) -> None:
    campaign = make_campaign()
    made = decide(campaign, "pause", {})
    kept = decide(campaign, "pause", {"until": None})
    take_back(campaign, made.number)
    for number in (made.number, kept.number + 1, 99):  # taken back already, the undo itself, never made
        with pytest.raises(UserError, match="does not stand"):
            take_back(campaign, kept.number, number)
    assert standing(campaign) == (kept,)  # all or none


def test_several_are_stored_or_none(make_campaign: MakeCampaign) -> None:
    campaign = make_campaign()
    with pytest.raises(ValueError, match="JSON"):
        decide_all(campaign, [("grow", {"by": 1}), ("grow", {"by": float("nan")})])
    assert standing(campaign) == ()
    made = decide_all(campaign, [("grow", {"by": 1}), ("images", {"added": [4, 5]})])
    assert [decision.kind for decision in standing(campaign)] == ["grow", "images"]
    assert made == standing(campaign)


def test_decisions_are_of_a_run_that_is_there(make_campaign: MakeCampaign) -> None:
    campaign = make_campaign()
    with pytest.raises(DBAPIError, match="FOREIGN KEY"):
        decide(campaign, "name", {"cluster": 1, "name": "x"}, run=7)
    with campaign.database.write() as connection:
        connection.exec_driver_sql(
            "INSERT INTO runs (stage, method, created_at, settings, seed, versions, fingerprint, seconds, summary,"
            " scalars, names, arrays) VALUES ('all', 'm', '2024', '{}', 0, '{}', '', 0, '{}', '{}', '{}', x'00')"
        )
    made = decide(campaign, "name", {"cluster": 1, "name": "x"}, run=1)
    decide(campaign, "name", {"cluster": 1, "name": "y"})
    assert standing(campaign, "name", run=1) == (made,)
    assert len(standing(campaign, "name")) == 2


def test_a_decision_is_never_changed(make_campaign: MakeCampaign) -> None:
    campaign = make_campaign()
    decide(campaign, "pause", {})
    for statement in ("UPDATE decisions SET kind = 'x'", "DELETE FROM decisions"):
        with pytest.raises(DBAPIError, match="never changed"), campaign.database.write() as connection:
            connection.exec_driver_sql(statement)
