"""A full disk: said in one sentence, and nothing that was saved is lost."""

from __future__ import annotations

import pytest
from campaign_making import SmallDisk, do_next, sort_all

from crowdclust_app.domain.errors import UserError
from crowdclust_app.domain.sorting import Action, ActionKind
from crowdclust_app.services.annotate import annotation
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.campaign.checking import check_campaign
from crowdclust_app.services.campaign.responses import read_responses
from crowdclust_app.services.exchange.importing import import_table


@pytest.mark.parametrize("leave", [0, 4096, 65536, 262144 - 65536])
def test_a_campaign_that_does_not_fit_leaves_nothing(small_disk: SmallDisk, leave: int) -> None:
    small_disk.fill(leave)
    with pytest.raises(UserError, match="disk is full"):
        small_disk.campaign(n_items=300)
    assert [path.name for path in small_disk.folder.iterdir()] == ["filler"]
    small_disk.empty()
    assert check_campaign(small_disk.campaign(n_items=300)).ok


def test_sorting_on_a_disk_that_fills_up_keeps_what_was_acknowledged(small_disk: SmallDisk) -> None:
    path = small_disk.campaign()
    acknowledged = []
    with Campaign.open(path) as campaign:
        ann = campaign.add_worker("Ann")
        do_next(campaign, ann)
        assignment = annotation.next_assignment(campaign, ann)
        assert assignment is not None
        small_disk.fill(65536)
        with pytest.raises(UserError, match=r"disk is full.*everything before it is; free some space"):  # noqa: PT012
            for number in range(2000):
                action = Action(ActionKind.PLACE, ((number % 4, number % 3 + 1),))
                annotation.record(campaign, assignment, action, 1.0)
                acknowledged.append(action)
        assert acknowledged
        assert annotation.log(campaign, assignment) == tuple(acknowledged), "reading works on a full disk"
        small_disk.empty()
        annotation.record(campaign, assignment, Action(ActionKind.UNDO), 1.0)
        acknowledged.append(Action(ActionKind.UNDO))
    with Campaign.open(path) as campaign:
        assert annotation.log(campaign, assignment) == tuple(acknowledged)
        sort_all(campaign, assignment)
        annotation.submit(campaign, assignment, 1.0)
        assert len(read_responses(campaign)) == 2
    assert check_campaign(path).ok


def test_closing_and_opening_on_a_full_disk_loses_nothing(small_disk: SmallDisk) -> None:
    path = small_disk.campaign()
    campaign = Campaign.open(path)
    ann = campaign.add_worker("Ann")
    for _ in range(3):
        do_next(campaign, ann)
    small_disk.fill()
    campaign.close()
    try:
        Campaign.open(path).close()
    except UserError as error:
        assert "disk is full" in error.what  # noqa: PT017 - either is fine, a fault of ours or a loss is not
    small_disk.empty()
    with Campaign.open(path) as campaign:
        assert len(read_responses(campaign)) == 3
    assert check_campaign(path).ok


def test_an_import_that_does_not_fit_adds_nothing(small_disk: SmallDisk) -> None:
    path = small_disk.campaign()
    with Campaign.open(path) as campaign:
        names = [item.path for item in campaign.items()]
        table = small_disk.folder.parent / "responses.csv"
        rows = [f"hit {n},worker {n},{name},{at % 3}" for n in range(3000) for at, name in enumerate(names)]
        table.write_text("hit,worker,item,group\n" + "\n".join(rows), encoding="utf-8")
        with pytest.raises(UserError, match="disk is full"):
            import_table(campaign, table)
        assert read_responses(campaign) == []
        assert len(campaign.hits()) == 6
        assert do_next(campaign, campaign.add_worker("Ann")) is not None
    assert check_campaign(path).ok
