"""One worker's HITs: when, how long, how like the clusters, how surprising, and how they were sorted."""

from __future__ import annotations

import numpy as np
import pytest
from campaign_making import MakeCampaign

from crowdclust_app.domain.fit_settings import FitSettings
from crowdclust_app.domain.sorting import Action, ActionKind
from crowdclust_app.services.annotate import annotation
from crowdclust_app.services.campaign.exclusions import exclude_response, retire_worker
from crowdclust_app.services.campaign.responses import read_table
from crowdclust_app.services.clusters.overview import load_overview
from crowdclust_app.services.fits.campaign_fits import fit_campaign
from crowdclust_app.services.workers.study import read_for_study, study
from crowdclust_app.services.workers.submitted_hits import misplaced
from crowdclust_app.services.workers.worker_rows import worker_scores

QUICK = FitSettings(dimensions=2, n_starts=1, n_clusters=2, label_weight=1.0, folds=2)


def test_turns_tell_what_a_worker_did(make_campaign: MakeCampaign) -> None:
    campaign = make_campaign(n_items=16, items_per_hit=8, redundancy=3)
    strayed: dict[str, tuple[str, int]] = {}
    for name in ("Ann", "Bo"):
        worker = campaign.add_worker(name)
        turn_number = 0
        while (turn := annotation.next_assignment(campaign, worker)) is not None:
            groups = [item % 2 + 1 for item in turn.items]
            if name == "Ann" and turn_number == 1:
                groups[0] = 3 - groups[0]
                strayed[name] = (turn.hit_name, turn.items[0])
            annotation.record(campaign, turn, Action(ActionKind.PLACE, tuple(enumerate(groups))), 5.0)
            annotation.submit(campaign, turn, 10.0 + turn_number)
            turn_number += 1
    campaign.add_worker("Idle")
    run = fit_campaign(campaign, QUICK)
    hit, item = strayed["Ann"]
    exclude_response(campaign, hit, "Ann", "went astray")
    turns = study(read_for_study(campaign, run)).turns
    ann = turns.of("Ann")
    assert [turn.seconds for turn in ann] == [10.0 + n for n in range(len(ann))]
    assert [turn.at for turn in ann] == sorted(turn.at for turn in ann if turn.at is not None)
    odd = max(ann, key=lambda turn: turn.surprise or 0.0)
    assert odd.hit == hit
    assert odd.agreement == pytest.approx(1 - 7 / 28)
    assert odd.left_out is not None
    assert odd.left_out.reason == "went astray"
    assert all(turn.agreement == 1.0 and turn.left_out is None for turn in ann if turn.hit != hit)
    assert all(0 < turn.surprise < odd.surprise for turn in ann if turn is not odd)
    as_sorted = turns.sorted_hit(odd)
    assert as_sorted.strange == {item}
    # of who puts all together the smaller group is not expected
    assert turns.sorted_hit(odd, np.full((2, 2), 0.9)).strange == set(as_sorted.groups[1])

    assert sorted(sum(as_sorted.groups, ())) == sorted(
        next(planned.items for planned in campaign.hits() if planned.name == hit)
    )
    assert [len(group) for group in as_sorted.groups] == sorted(map(len, as_sorted.groups), reverse=True)
    assert turns.of("Idle") == ()
    assert turns.self_agreement("Ann") is None
    assert turns.self_agreement("nobody") is None
    scores = worker_scores(run.result)
    assert scores is not None
    assert scores.scored[2] == 0


def test_an_item_is_misplaced_where_another_group_or_none_suits_it_better() -> None:
    def found(groups: str, kinds: str) -> str:
        known = np.array(list(kinds))
        wrong = misplaced(np.array(list(map(int, groups))), known[:, None] == known)
        return "".join("x" if flag else "." for flag in wrong)

    assert found("111222", "aaabbb") == "......"
    # one of b among many a, while most labels of it are as expected
    assert found("11112222333", "aaabbbbbccc") == "...x......."
    # everything in one group: those who are fewer would be better apart
    assert found("11111", "aaaab") == "....x"
    # everything apart: each would be better with its like
    assert found("1234", "aabc") == "xx.."
    assert found("", "") == ""


def test_without_a_run_there_is_no_agreement_but_time(make_campaign: MakeCampaign) -> None:
    campaign = make_campaign()
    worker = campaign.add_worker("Ann")
    turn = annotation.next_assignment(campaign, worker)
    assert turn is not None
    annotation.record(campaign, turn, Action(ActionKind.PLACE, tuple((p, 1) for p in range(4))), 1.0)
    annotation.submit(campaign, turn, 2.0)
    found = study(read_for_study(campaign, None))
    assert found.criteria is None
    assert found.can_repeat
    (only,) = found.turns.of("Ann")
    assert (only.agreement, only.surprise, only.labels, only.seconds) == (None, None, 0, 2.0)


def test_the_screens_say_what_is_left_out_and_that_a_run_is_stale(make_campaign: MakeCampaign) -> None:
    campaign = make_campaign()
    for name in ("Ann", "Bo"):
        worker = campaign.add_worker(name)
        while (turn := annotation.next_assignment(campaign, worker)) is not None:
            groups = tuple((place, item % 2 + 1) for place, item in enumerate(turn.items))
            annotation.record(campaign, turn, Action(ActionKind.PLACE, groups), 5.0)
            annotation.submit(campaign, turn, 6.0)
    fit_campaign(campaign, QUICK)
    before = load_overview(campaign)
    assert not before.exclusions_changed
    hits = before.workers[1].hits
    hit = read_table(campaign).hit_names[0]
    exclude_response(campaign, hit, "Ann", "why")
    retire_worker(campaign, "Bo", "why")
    after = load_overview(campaign)
    assert after.exclusions_changed
    assert after.view is not None
    ann, bo = after.workers
    assert (bo.hits, bo.flags[-1], ann.excluded) == (hits, "retired", 1)
    assert ann.all_flags[-1] == "1 excluded"
    assert set(np.unique(after.view.table.worker_of_response)) == {0}
    fit_campaign(campaign, QUICK)
    assert not load_overview(campaign).exclusions_changed
