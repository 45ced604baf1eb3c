"""Responses that runs leave out, retired workers, and both taken back."""

from __future__ import annotations

import pytest
from campaign_making import MakeCampaign

from crowdclust_app.domain.errors import UserError
from crowdclust_app.domain.fit_settings import FitSettings
from crowdclust_app.domain.sorting import Action, ActionKind
from crowdclust_app.services.annotate import annotation
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.campaign.exclusions import (
    active_workers,
    bring_back,
    exclude_response,
    exclusions,
    retire_worker,
    take_in,
)
from crowdclust_app.services.campaign.responses import read_responses, read_table
from crowdclust_app.services.fits.campaign_fits import fit_campaign

WHO = ('Ann "A", = 1', "בני 🌲")
QUICK = FitSettings(dimensions=2, n_starts=1, n_clusters=2, label_weight=1.0, folds=0)


def sorted_campaign(make_campaign: MakeCampaign) -> Campaign:
    campaign = make_campaign()
    for name in WHO:
        worker = campaign.add_worker(name)
        while (turn := annotation.next_assignment(campaign, worker)) is not None:
            groups = tuple((place, item % 2 + 1) for place, item in enumerate(turn.items))
            annotation.record(campaign, turn, Action(ActionKind.PLACE, groups), 5.0)
            annotation.submit(campaign, turn, 6.0)
    return campaign


def test_an_excluded_response_stays_and_counts_no_more_until_it_is_taken_in(make_campaign: MakeCampaign) -> None:
    campaign = sorted_campaign(make_campaign)
    before = read_table(campaign)
    hit = before.hit_names[0]
    exclude_response(campaign, hit, WHO[0], "  a child\nsorted, =1+1 ")
    left = exclusions(campaign).of(hit, WHO[0])
    assert left is not None
    assert left.reason == "a child sorted, =1+1"
    assert exclusions(campaign).of(hit, WHO[1]) is None
    after = read_table(campaign)
    assert after.n_responses == before.n_responses - 1
    assert after.fingerprint() != before.fingerprint()
    assert (after.item_names, after.worker_names) == (before.item_names, before.worker_names)
    assert read_table(campaign, everything=True).fingerprint() == before.fingerprint()
    assert len(read_responses(campaign)) == before.n_responses
    take_in(campaign, hit, WHO[0])
    assert read_table(campaign).fingerprint() == before.fingerprint()
    with pytest.raises(UserError, match="not excluded"):
        take_in(campaign, hit, WHO[0])


def test_an_exclusion_outlives_a_revision_and_the_program(make_campaign: MakeCampaign) -> None:
    campaign = make_campaign()
    worker = campaign.add_worker("Ann")
    turn = annotation.next_assignment(campaign, worker)
    assert turn is not None
    annotation.record(campaign, turn, Action(ActionKind.PLACE, tuple((p, 1) for p in range(4))), 1.0)
    annotation.submit(campaign, turn, 1.0)
    exclude_response(campaign, turn.hit_name, "Ann", "in a hurry")
    annotation.revise(campaign, turn, [1, 2, 1, 2])
    campaign.close()
    with Campaign.open(campaign.path) as again:
        assert read_table(again).n_responses == 0
        assert read_table(again, everything=True).n_responses == 1


def test_a_retired_worker_is_left_out_and_not_asked_until_brought_back(make_campaign: MakeCampaign) -> None:
    campaign = sorted_campaign(make_campaign)
    before = read_table(campaign)
    retire_worker(campaign, WHO[1], "sorted at random")
    assert set(read_table(campaign).worker_of_response) == {0}
    assert [worker.name for worker in active_workers(campaign)] == [WHO[0]]
    with pytest.raises(UserError, match="takes no more sets") as refused:
        annotation.next_assignment(campaign, campaign.workers()[1])
    assert "bring you back" in (refused.value.todo or "")
    with pytest.raises(UserError, match="takes no more sets"):
        campaign.add_worker(WHO[1].upper())
    bring_back(campaign, WHO[1])
    assert read_table(campaign).fingerprint() == before.fingerprint()
    assert len(active_workers(campaign)) == 2
    with pytest.raises(UserError, match="not retired"):
        bring_back(campaign, WHO[1])


def test_what_cannot_be_is_refused(make_campaign: MakeCampaign) -> None:
    campaign = sorted_campaign(make_campaign)
    hit = read_table(campaign).hit_names[0]
    for reason, words in (("  ", "needs a reason"), ("x" * 501, "longer than 500")):
        with pytest.raises(UserError, match=words):
            exclude_response(campaign, hit, WHO[0], reason)
        with pytest.raises(UserError, match=words):
            retire_worker(campaign, WHO[0], reason)
    with pytest.raises(UserError, match="has not submitted"):
        exclude_response(campaign, "no such hit", WHO[0], "why")
    with pytest.raises(UserError, match="no worker called"):
        retire_worker(campaign, "Nobody", "why")
    exclude_response(campaign, hit, WHO[0], "why")
    retire_worker(campaign, WHO[1], "why")
    with pytest.raises(UserError, match="excluded already"):
        exclude_response(campaign, hit, WHO[0], "again")
    with pytest.raises(UserError, match="retired already"):
        retire_worker(campaign, WHO[1], "again")
    assert len(exclusions(campaign).decisions) == 2


def test_a_run_says_what_it_left_out(make_campaign: MakeCampaign) -> None:
    campaign = sorted_campaign(make_campaign)
    first = fit_campaign(campaign, QUICK)
    assert first.result.summary["exclusions"] == []
    decision = retire_worker(campaign, WHO[1], "sorted at random")
    second = fit_campaign(campaign, QUICK)
    assert second.result.summary["exclusions"] == [decision.number]
    assert second.result.summary["responses"] == first.result.summary["responses"] // 2
    assert second.fingerprint != first.fingerprint
    assert second.worker_names == first.worker_names
    assert second.result.answered.tolist() == [True, False]
