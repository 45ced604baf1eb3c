"""HITs handed out a second time to who sorted them, and how far people agree with themselves."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from campaign_making import MakeCampaign, fake_scan

from crowdclust_app.domain.campaign import PlanSettings
from crowdclust_app.domain.errors import UserError
from crowdclust_app.domain.response_table import Response, ResponseTable
from crowdclust_app.domain.sorting import Action, ActionKind
from crowdclust_app.inference.crowdclustering.partitions.answers import Answers, item_sets
from crowdclust_app.inference.crowdclustering.selection.bound_choice import deal_responses
from crowdclust_app.inference.crowdclustering.selection.curve import deal_folds
from crowdclust_app.services.annotate import annotation
from crowdclust_app.services.annotate.repeats import add_repeats
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.campaign.creating import create_from_scan
from crowdclust_app.services.campaign.planning import planned_repeats
from crowdclust_app.services.workers.study import read_for_study, study
from crowdclust_app.services.workers.submitted_hits import repeated_hits


def test_a_repeat_goes_to_who_sorted_the_first_some_hits_later(make_campaign: MakeCampaign) -> None:
    campaign = make_campaign(n_items=24, items_per_hit=4, redundancy=2, workers_per_hit=2)
    planned = len(campaign.hits())
    grown = add_repeats(campaign, 1.0)
    assert (grown.hits, grown.assignments) == (planned, planned)
    repeats = repeated_hits(campaign)
    items = {hit.name: set(hit.items) for hit in campaign.hits()}
    assert len(repeats) == planned
    assert all(items[repeat] == items[original] for repeat, original in repeats.items())
    order: dict[str, list[str]] = {}
    shown: dict[tuple[str, str], tuple[int, ...]] = {}
    for name in ("Ann", "Bo"):
        worker = campaign.add_worker(name)
        while (turn := annotation.next_assignment(campaign, worker)) is not None:
            # Bo changes their mind about everything the second time
            shift = 1 if name == "Bo" and turn.hit_name in repeats else 0
            groups = tuple((place, (item + shift * place) % 2 + 1) for place, item in enumerate(turn.items))
            annotation.record(campaign, turn, Action(ActionKind.PLACE, groups), 5.0)
            annotation.submit(campaign, turn, 6.0)
            order.setdefault(name, []).append(turn.hit_name)
            shown[name, turn.hit_name] = turn.items
    done = 0
    for name, hits in order.items():
        for place, hit in enumerate(hits):
            if hit in repeats:
                first = hits.index(repeats[hit])
                assert place - first > 3
                assert shown[name, hit] != shown[name, repeats[hit]]
                done += 1
    assert done >= planned - 4
    progress = annotation.progress_of(campaign, campaign.workers()[0])
    assert progress.submitted == len(order["Ann"])
    turns = study(read_for_study(campaign, None)).turns
    own = turns.self_agreement("Ann")
    assert own is not None
    assert own[1] == 1.0
    other = turns.self_agreement("Bo")
    if other is not None:
        assert other[1] < 1.0
    assert any(turn.repeats for turn in turns.of("Ann"))
    assert not study(read_for_study(campaign, None)).can_repeat


def test_a_share_of_the_hits_is_repeated_and_never_a_repeat(make_campaign: MakeCampaign) -> None:
    campaign = make_campaign(n_items=40, items_per_hit=4, redundancy=4)
    planned = len(campaign.hits())
    add_repeats(campaign, 0.25)
    add_repeats(campaign, 0.5)
    repeats = repeated_hits(campaign)
    assert len(repeats) == round(0.25 * planned) + round(0.5 * planned)
    assert not set(repeats) & set(repeats.values())
    assert len(set(repeats.values())) == len(repeats)
    for share in (0.0, 1.5, -1.0):
        with pytest.raises(UserError, match="no share"):
            add_repeats(campaign, share)
    add_repeats(campaign, 1.0)
    with pytest.raises(UserError, match="has a repeat already"):
        add_repeats(campaign, 0.1)
    with pytest.raises(UserError, match="stage"):
        add_repeats(campaign, 0.1, "all/7")


def test_what_one_worker_said_of_one_set_is_held_out_together() -> None:
    responses = []
    for n in range(12):
        items = tuple(f"i{k}" for k in range(n, n + 5))
        for worker in ("x", "y"):
            responses.append(Response(f"h{n}", worker, items, tuple("11223")))
            responses.append(Response(f"again{n}", worker, items[::-1], tuple("12312")))
    table = ResponseTable.from_responses(responses)
    sets = item_sets(table)
    assert len(np.unique(sets)) == 12
    folds = deal_responses(table, 4, 0)
    for r in range(table.n_responses):
        twins = (sets == sets[r]) & (table.worker_of_response == table.worker_of_response[r])
        assert twins.sum() == 2
        assert len(np.unique(folds[twins])) == 1
    assert np.bincount(folds).tolist() == [12, 12, 12, 12]
    # clusters are chosen with whole sets of items held out
    of_sets = deal_folds(Answers.of(table), 4, 0)
    assert all(len(np.unique(of_sets[sets == one])) == 1 for one in range(12))
    assert item_sets(ResponseTable.from_responses([])).tolist() == []


def test_a_new_campaign_can_have_repeats_from_the_start(tmp_path: Path) -> None:
    scan = fake_scan(tmp_path / "photos", 40)
    path = tmp_path / "twice.crowdclust"
    create_from_scan(path, tmp_path / "photos", scan, PlanSettings(4, 3, 3), repeat_share=0.2)
    with Campaign.open(path) as campaign:
        hits = campaign.hits()
        repeats = repeated_hits(campaign)
    planned = len(hits) - len(repeats)
    assert (len(repeats), 2 * len(repeats)) == planned_repeats(planned, 0.2, 3)
    assert {hit.workers_wanted for hit in hits if hit.name in repeats} == {2}
    assert planned_repeats(7, 0.0, 5) == (0, 0)
    assert planned_repeats(7, 0.01, 5) == (1, 3)
