"""Workers' criteria in words, and names that follow the members."""

from __future__ import annotations

import numpy as np
import pytest
from campaign_making import MakeCampaign
from tall_red import TallRedSettings, tall_red_campaign

from crowdclust_app.domain.errors import UserError
from crowdclust_app.services.campaign.decisions import take_back
from crowdclust_app.services.workers.criteria import (
    ONE_GROUP,
    RANDOM,
    Criteria,
    block_words,
    blocks_of,
    find_criteria,
    group_names,
    name_group,
)


@pytest.fixture(scope="module")
def criteria() -> Criteria:
    campaign = tall_red_campaign(TallRedSettings())
    labels = np.array([campaign.categories.index(category) + 1 for category in campaign.truth])
    return find_criteria(campaign.table, labels, 4)


def test_height_and_colour_in_words(criteria: Criteria) -> None:
    assert criteria.sentence == "2 criteria among 10 workers."
    said = {group.members[0].split()[0]: block_words(group.blocks) for group in criteria.groups}
    assert said == {"height": "puts together {1, 2} and {3, 4}", "colour": "puts together {1, 3} and {2, 4}"}
    assert {len(group.members) for group in criteria.groups} == {5}
    assert dict(criteria.others()) == {RANDOM: ("random 1",), ONE_GROUP: ("one group 1",)}
    assert criteria.words("random 1") == "In no group: sorts without regard to the clusters, as if at random."
    assert criteria.words("one group 1") == "In no group: puts everything into one group."
    assert criteria.words("colour 2").endswith("puts together {1, 3} and {2, 4}.")
    assert criteria.words("never heard of") == "In no group: has not sorted two clustered photos yet."
    assert [group.like for group in criteria.groups] == [0, 0]


def test_partitions_in_words() -> None:
    assert block_words(((1,), (2,), (3,))) == "tells all clusters apart"
    assert block_words(((1, 2, 3),)) == "puts everything together"
    assert block_words(((1, 3), (2,))) == "puts together {1, 3}"
    assert block_words(((1, 3), (2, 4), (5, 6))) == "puts together {1, 3}, {2, 4} and {5, 6}"
    assert block_words(((1, 3), (2,)), lambda k: f"“c{k}”") == "puts together {“c1”, “c3”}"
    assert block_words(()) == "tells all clusters apart"
    assert blocks_of(np.array([0, 1, 0, 2])) == ((1, 3), (2,), (4,))


def test_a_name_follows_the_members_and_is_taken_back(make_campaign: MakeCampaign) -> None:
    campaign = make_campaign()
    table = tall_red_campaign(TallRedSettings()).table
    labels = np.arange(80) % 4 + 1
    colour = next(group for group in find_criteria(table, labels, 4).groups if "colour 1" in group.members)
    decision = name_group(campaign, colour.members[:3], "  sorts by\ncolour, =1 🌈 ")
    # other clusters, other numbers: the members are the same
    turned = find_criteria(table, 5 - labels, 4, group_names(campaign))
    assert [group.name for group in turned.groups if "colour 1" in group.members] == ["sorts by colour, =1 🌈"]
    assert next(group.title for group in turned.groups if "height 1" in group.members).startswith("Group ")
    name_group(campaign, colour.members, "")
    assert {group.name for group in find_criteria(table, labels, 4, group_names(campaign)).groups} == {""}
    take_back(campaign, decision.number)
    assert len(group_names(campaign)) == 1
    with pytest.raises(UserError, match="longer than 80"):
        name_group(campaign, colour.members, "x" * 81)
    with pytest.raises(UserError, match="without workers"):
        name_group(campaign, (), "x")


def test_a_coarser_group_says_whom_it_is_like() -> None:
    coarse = tall_red_campaign(
        TallRedSettings(colour_workers=0, height_workers=8, random_workers=0, one_group_workers=0)
    ).table
    labels = np.arange(80) % 4 + 1
    # the last four workers tell all four apart
    groups = coarse.groups.copy()
    who = np.repeat(coarse.worker_of_response, coarse.sizes)
    groups[who >= 4] = (labels - 1)[coarse.items[who >= 4]]
    mixed = type(coarse)(
        coarse.item_names,
        coarse.worker_names,
        coarse.hit_names,
        coarse.response_ptr,
        coarse.items,
        groups,
        coarse.worker_of_response,
        coarse.hit_of_response,
    )
    found = find_criteria(mixed, labels, 4)
    by_words = {block_words(group.blocks): group for group in found.groups}
    assert set(by_words) == {"puts together {1, 2} and {3, 4}", "tells all clusters apart"}
    assert by_words["puts together {1, 2} and {3, 4}"].like == by_words["tells all clusters apart"].number
    assert by_words["tells all clusters apart"].like == 0
