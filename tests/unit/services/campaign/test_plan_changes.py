"""A campaign that is under way gets more sets, more people, more images; is paused and goes on."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from campaign_making import MakeCampaign, do_next
from hypothesis import given
from hypothesis import strategies as st

from crowdclust_app.domain.campaign import Item, PlanSettings
from crowdclust_app.domain.errors import UserError
from crowdclust_app.services.annotate.annotation import next_assignment
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.campaign.pausing import pause, paused, resume
from crowdclust_app.services.campaign.plan_changes import (
    add_images,
    add_redundancy,
    add_workers_per_hit,
    mixed_hits,
    new_images,
)
from crowdclust_app.services.campaign.scanning import ScanReport


def shown(campaign: Campaign) -> np.ndarray:
    return np.bincount([item for hit in campaign.hits() for item in hit.items], minlength=len(campaign.items()))


def test_more_sets_an_image_are_new_sets_after_the_others(make_campaign: MakeCampaign) -> None:
    campaign = make_campaign(n_items=12, items_per_hit=4, redundancy=2, workers_per_hit=2)
    before = campaign.hits()
    growth = add_redundancy(campaign, 3)
    after = campaign.hits()
    assert after[: len(before)] == before
    assert len(after) - len(before) == growth.hits == 9
    assert growth.assignments == 18
    assert len({hit.name for hit in after}) == len(after)
    assert shown(campaign).min() >= 2
    assert campaign.settings.redundancy == 5
    assert {hit.items for hit in after[len(before) :]}.isdisjoint({hit.items for hit in before})
    with Campaign.open(campaign.path, read_only=True) as again:
        assert again.settings.redundancy == 5


def test_growing_twice_draws_other_sets_and_the_same_again_in_a_copy(make_campaign: MakeCampaign) -> None:
    one, two = make_campaign(name="one"), make_campaign(name="two")
    for campaign in (one, two):
        add_redundancy(campaign, 1)
        add_redundancy(campaign, 1)
    assert [hit.items for hit in one.hits()] == [hit.items for hit in two.hits()]
    grown = [hit.items for hit in one.hits()][-6:]
    assert grown[:3] != grown[3:]


def test_more_people_a_set_are_handed_sets_that_were_full(make_campaign: MakeCampaign) -> None:
    campaign = make_campaign(n_items=4, items_per_hit=4, redundancy=1, workers_per_hit=1)
    first, second = campaign.add_worker("Ann"), campaign.add_worker("Bo")
    do_next(campaign, first)
    assert next_assignment(campaign, second) is None
    growth = add_workers_per_hit(campaign, 1)
    assert (growth.hits, growth.assignments) == (0, 1)
    assert next_assignment(campaign, second) is not None
    assert campaign.settings.workers_per_hit == 2


@pytest.mark.parametrize("more", [0, -1, 10**9])
def test_numbers_out_of_range_change_nothing(make_campaign: MakeCampaign, more: int) -> None:
    campaign = make_campaign()
    before = campaign.hits()
    for grow in (add_redundancy, add_workers_per_hit):
        with pytest.raises(UserError, match="cannot be added"):
            grow(campaign, more)
    assert campaign.hits() == before


def test_new_images_become_items_that_are_shown_among_the_earlier_ones(make_campaign: MakeCampaign) -> None:
    campaign = make_campaign(n_items=12, items_per_hit=4, redundancy=2, workers_per_hit=1)
    other = Campaign.open(campaign.path)
    fresh = tuple(Item(12 + n, f"new{n}.png", f"hash{n}", 10, 4, 4, 1) for n in range(5))
    growth = add_images(campaign, ScanReport(fresh))
    assert (growth.items, len(campaign.items())) == (5, 17)
    assert shown(campaign)[12:].tolist() == [2] * 5
    for hit in campaign.hits()[-growth.hits :]:
        assert any(item >= 12 for item in hit.items)
        assert any(item < 12 for item in hit.items)
    assert [item.path for item in other.items()][12:] == [item.path for item in fresh], "another window sees them too"
    other.close()
    with pytest.raises(UserError, match="in the meantime"):
        add_images(campaign, ScanReport(fresh))
    with pytest.raises(UserError, match="no new images"):
        add_images(campaign, ScanReport(()))


def test_only_files_with_another_path_and_content_are_new(make_campaign: MakeCampaign) -> None:
    from PIL import Image

    campaign = make_campaign(n_items=3, items_per_hit=2, redundancy=1)
    root = campaign.path.parent / "images"
    for n, colour in enumerate(("red", "red", "blue")):
        Image.new("RGB", (8, 8), colour).save(root / f"later{n}.png")
    scan = new_images(campaign)
    assert [item.path for item in scan.items][-2:] == ["later0.png", "later2.png"]
    assert scan.items[0].number == 3


@given(st.integers(0, 40), st.integers(1, 40), st.integers(2, 12), st.integers(1, 4), st.integers(0, 2**32 - 1))
def test_mixed_hits_hold_every_new_item_equally_often(
    n_earlier: int, n_new: int, per_hit: int, redundancy: int, seed: int
) -> None:
    settings = PlanSettings(per_hit, redundancy, 1, seed)
    members = mixed_hits(n_earlier, n_new, settings)
    counts = np.bincount([item for hit in members for item in hit], minlength=n_earlier + n_new)
    assert counts[n_earlier:].tolist() == [redundancy] * n_new
    assert all(len(set(hit)) == len(hit) <= per_hit for hit in members)
    assert all(min(hit) < n_earlier for hit in members) or not n_earlier
    assert members == mixed_hits(n_earlier, n_new, replace(settings))


def test_a_paused_campaign_hands_out_nothing_but_lets_people_end_what_they_have(make_campaign: MakeCampaign) -> None:
    campaign = make_campaign()
    ann, bo = campaign.add_worker("Ann"), campaign.add_worker("Bo")
    begun = next_assignment(campaign, ann)
    pause(campaign)
    pause(campaign)
    assert paused(campaign)
    again = next_assignment(campaign, ann)
    assert begun is not None
    assert again is not None
    assert again.number == begun.number
    with pytest.raises(UserError, match="paused"):
        next_assignment(campaign, bo)
    resume(campaign)
    assert not paused(campaign)
    assert next_assignment(campaign, bo) is not None
