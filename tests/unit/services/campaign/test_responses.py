"""Tables that are kept between screens are read again as soon as they are made of something else."""

from __future__ import annotations

from campaign_making import MakeCampaign

from crowdclust_app.domain.campaign import WHOLE_COLLECTION
from crowdclust_app.domain.sorting import Action, ActionKind
from crowdclust_app.services.annotate import annotation
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.campaign.exclusions import exclude_response, retire_worker, take_in
from crowdclust_app.services.campaign.progress_statistics import responses_since_run
from crowdclust_app.services.campaign.responses import count_responses, read_table, read_tables


def sort_one(campaign: Campaign, name: str) -> str:
    turn = annotation.next_assignment(campaign, campaign.add_worker(name))
    assert turn is not None
    annotation.record(campaign, turn, Action(ActionKind.PLACE, tuple((p, 1) for p in range(len(turn.items)))), 5.0)
    annotation.submit(campaign, turn, 6.0)
    return turn.hit_name


def test_a_table_is_kept_until_another_answer_or_a_decision_comes(make_campaign: MakeCampaign) -> None:
    campaign = make_campaign()
    assert read_table(campaign).n_responses == 0
    hit = sort_one(campaign, "Ann")
    first = read_table(campaign)
    assert first.n_responses == 1
    assert read_table(campaign) is first
    assert read_tables(campaign, (WHOLE_COLLECTION,))[WHOLE_COLLECTION] is first
    with Campaign.open(campaign.path) as elsewhere:  # another window on the same file
        sort_one(elsewhere, "Ben")
    assert read_table(campaign).n_responses == 2
    exclude_response(campaign, hit, "Ann", "a child sorted")
    assert read_table(campaign).n_responses == 1
    assert read_table(campaign, everything=True).n_responses == 2
    take_in(campaign, hit, "Ann")
    assert read_table(campaign).n_responses == 2


def test_responses_are_counted_as_the_table_has_them(make_campaign: MakeCampaign) -> None:
    campaign = make_campaign()
    hit = sort_one(campaign, "Ann")
    sort_one(campaign, "Ben")
    assert count_responses(campaign, WHOLE_COLLECTION) == read_table(campaign).n_responses == 2
    exclude_response(campaign, hit, "Ann", "a child sorted")
    retire_worker(campaign, "Ben", "left")
    assert count_responses(campaign, WHOLE_COLLECTION) == read_table(campaign).n_responses == 0
    assert responses_since_run(campaign) == 0
