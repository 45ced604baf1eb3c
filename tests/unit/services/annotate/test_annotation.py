from __future__ import annotations

import threading
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from campaign_making import MakeCampaign, do_next, fake_scan, sort_all
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crowdclust_app.domain.campaign import AssignmentStatus, PlanSettings
from crowdclust_app.domain.errors import UserError
from crowdclust_app.domain.partition import canonical_groups
from crowdclust_app.domain.sorting import Action, ActionKind, Sorting
from crowdclust_app.services.annotate import annotation
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.campaign.counts import (
    assignment_records,
    campaign_figures,
    flag_records,
    submitted_times,
    worker_figures,
)
from crowdclust_app.services.campaign.creating import create_from_scan
from crowdclust_app.services.campaign.responses import read_responses, read_table


class Clock:
    """A time that only moves when told."""

    def __init__(self) -> None:
        self.time = datetime(2024, 5, 31, 12, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.time

    def pass_hours(self, hours: float) -> None:
        self.time += timedelta(hours=hours)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(annotation, "_now", clock)
    return clock


# Handing out


def test_the_first_worker_gets_the_hits_in_plan_order(make_campaign: MakeCampaign) -> None:
    campaign = make_campaign()
    ann = campaign.add_worker("Ann")
    names = []
    while assignment := do_next(campaign, ann):
        names.append(assignment.hit_name)
    assert names == [hit.name for hit in campaign.hits()]
    assert len(names) == 6


def test_the_hit_with_the_fewest_submitted_responses_comes_first(make_campaign: MakeCampaign) -> None:
    campaign = make_campaign()
    ann, ben = campaign.add_worker("Ann"), campaign.add_worker("Ben")
    for _ in range(3):
        do_next(campaign, ann)
    assignment = annotation.next_assignment(campaign, ben)
    assert assignment is not None
    assert assignment.hit_name == campaign.hits()[3].name


def test_every_hit_gets_exactly_its_workers_and_none_twice(make_campaign: MakeCampaign) -> None:
    campaign = make_campaign()
    workers = [campaign.add_worker(name) for name in ("Ann", "Ben", "Cem")]
    turn = 0
    idle = 0
    while idle < len(workers):
        idle = 0 if do_next(campaign, workers[turn % 3]) else idle + 1
        turn += 1
    pairs = Counter((record.hit, record.worker) for record in assignment_records(campaign))
    assert set(pairs.values()) == {1}
    assert Counter(record.hit for record in assignment_records(campaign)) == {hit.name: 2 for hit in campaign.hits()}
    figures = campaign_figures(campaign)
    assert (figures.assignments_submitted, figures.assignments_planned, figures.hits_complete) == (12, 12, 6)


def test_an_open_assignment_is_resumed_with_the_same_order(make_campaign: MakeCampaign) -> None:
    campaign = make_campaign()
    ann = campaign.add_worker("Ann")
    first = annotation.next_assignment(campaign, ann)
    campaign.close()
    with Campaign.open(campaign.path) as again:
        assert annotation.next_assignment(again, ann) == first


def test_the_order_of_photos_is_shuffled_for_each_worker_and_hit_by_the_seed(make_campaign: MakeCampaign) -> None:
    campaign = make_campaign(n_items=40, items_per_hit=20)
    first_hit = campaign.hits()[0]
    orders = set()
    for name in ("Ann", "Ben"):
        assignment = annotation.next_assignment(campaign, campaign.add_worker(name))
        assert assignment is not None
        assert assignment.hit == first_hit.number
        assert sorted(assignment.items) == sorted(first_hit.items)
        orders.add(assignment.items)
        assert assignment.items == annotation.shuffled(first_hit.items, campaign.settings.seed, first_hit.name, name)
    assert len(orders | {first_hit.items}) == 3
    assert annotation.shuffled(first_hit.items, 4, first_hit.name, "Ann") not in orders


def test_an_order_is_the_same_in_every_version() -> None:
    assert annotation.shuffled(range(8), 0, "h0001", "Ann") == (6, 5, 3, 2, 4, 7, 0, 1)


def test_open_assignments_hold_their_place(make_campaign: MakeCampaign) -> None:
    campaign = make_campaign(n_items=4)
    assert len(campaign.hits()) == 1
    given = [annotation.next_assignment(campaign, campaign.add_worker(name)) for name in "abc"]
    assert [assignment is not None for assignment in given] == [True, True, False]


def test_skipping_gives_the_hit_to_others_and_not_back_to_this_worker(make_campaign: MakeCampaign) -> None:
    campaign = make_campaign(n_items=4)
    a, b, c = (campaign.add_worker(name) for name in "abc")
    skipped = annotation.next_assignment(campaign, a)
    assert skipped is not None
    annotation.skip(campaign, skipped)
    assert annotation.next_assignment(campaign, a) is None
    assert annotation.next_assignment(campaign, b) is not None
    assert annotation.next_assignment(campaign, c) is not None
    assert annotation.progress_of(campaign, a) == annotation.WorkerProgress(0, 1, 0, 0)


def test_progress_counts_what_this_worker_did_and_can_do(make_campaign: MakeCampaign) -> None:
    campaign = make_campaign()
    ann = campaign.add_worker("Ann")
    do_next(campaign, ann)
    do_next(campaign, ann)
    annotation.next_assignment(campaign, ann)
    progress = annotation.progress_of(campaign, ann)
    assert progress == annotation.WorkerProgress(submitted=2, skipped=0, open=1, remaining=3)
    assert progress.total == 6


# Leases


def test_an_abandoned_hit_comes_back_to_others(make_campaign: MakeCampaign, clock: Clock) -> None:
    campaign = make_campaign(n_items=4, workers_per_hit=1)
    ann, ben = campaign.add_worker("Ann"), campaign.add_worker("Ben")
    left = annotation.next_assignment(campaign, ann)
    assert left is not None
    clock.pass_hours(23)
    assert annotation.next_assignment(campaign, ben) is None
    annotation.record(campaign, left, Action(ActionKind.PLACE, ((0, 1),)), 1.0)  # moves the lease on
    clock.pass_hours(23)
    assert annotation.next_assignment(campaign, ben) is None
    clock.pass_hours(2)
    taken = annotation.next_assignment(campaign, ben)
    assert taken is not None
    assert taken.hit == left.hit
    with pytest.raises(UserError, match="left for more than 24 hours"):
        annotation.record(campaign, left, Action(ActionKind.PLACE, ((1, 1),)), 2.0)
    sort_all(campaign, taken)
    annotation.submit(campaign, taken, 1.0)
    with pytest.raises(UserError, match="left for more than 24 hours"):
        annotation.submit(campaign, left, 2.0)
    assert annotation.next_assignment(campaign, ann) is None
    assert annotation.log(campaign, left) == (Action(ActionKind.PLACE, ((0, 1),)),)
    assert [record.status for record in assignment_records(campaign)] == ["skipped", "submitted"]


def test_a_flag_does_not_take_back_a_place_that_others_have(make_campaign: MakeCampaign, clock: Clock) -> None:
    campaign = make_campaign(n_items=4, workers_per_hit=1)
    ann, ben = campaign.add_worker("Ann"), campaign.add_worker("Ben")
    left = annotation.next_assignment(campaign, ann)
    assert left is not None
    sort_all(campaign, left)
    clock.pass_hours(25)
    taken = annotation.next_assignment(campaign, ben)
    assert taken is not None
    annotation.flag_item(campaign, left, left.items[0], "blurred")
    sort_all(campaign, taken)
    with pytest.raises(UserError, match="left for more than 24 hours"):
        annotation.submit(campaign, left, 1.0)
    annotation.submit(campaign, taken, 1.0)
    assert [flag.worker for flag in flag_records(campaign)] == ["Ann"]


def test_a_clock_that_was_set_back_exceeds_no_limit(make_campaign: MakeCampaign, clock: Clock) -> None:
    campaign = make_campaign(n_items=4, workers_per_hit=1)
    given = []
    for name in "ab":
        given.append(annotation.next_assignment(campaign, campaign.add_worker(name)))
        clock.pass_hours(100)
    clock.pass_hours(-200)
    for assignment in given:
        assert assignment is not None
        sort_all(campaign, assignment)
    annotation.submit(campaign, given[0], 1.0)
    with pytest.raises(UserError, match="others have taken it"):
        annotation.submit(campaign, given[1], 1.0)


def test_who_comes_back_before_others_took_the_place_goes_on(make_campaign: MakeCampaign, clock: Clock) -> None:
    campaign = make_campaign(n_items=4, workers_per_hit=1)
    ann, ben = campaign.add_worker("Ann"), campaign.add_worker("Ben")
    left = annotation.next_assignment(campaign, ann)
    assert left is not None
    sorting = sort_all(campaign, left)
    clock.pass_hours(100)
    assert annotation.next_assignment(campaign, ann) == annotation.next_assignment(campaign, ann)
    assert Sorting(4, annotation.log(campaign, left)).groups == sorting.groups
    assert annotation.next_assignment(campaign, ben) is None  # the lease runs again
    annotation.submit(campaign, left, 9.0)
    assert campaign_figures(campaign).assignments_submitted == 1


# Recording and submitting


def test_a_response_is_what_the_log_says(make_campaign: MakeCampaign) -> None:
    campaign = make_campaign()
    ann = campaign.add_worker("Ann")
    assignment = annotation.next_assignment(campaign, ann)
    assert assignment is not None
    for action in (
        Action(ActionKind.PLACE, ((0, 1), (1, 1))),
        Action(ActionKind.PLACE, ((0, 2),)),
        Action(ActionKind.UNDO),
        Action(ActionKind.PLACE, ((2, 7), (3, 3))),
        Action(ActionKind.UNDO),
        Action(ActionKind.REDO),
    ):
        annotation.record(campaign, assignment, action, 1.0)
    annotation.submit(campaign, assignment, 12.5)
    names = [campaign.items()[number].path for number in assignment.items]
    (response,) = read_responses(campaign)
    assert (response.hit, response.worker) == (assignment.hit_name, "Ann")
    assert dict(zip(response.items, response.groups, strict=True)) == dict(zip(names, "1173", strict=True))
    table = read_table(campaign)
    assert table.groups.tolist() == canonical_groups(response.groups).tolist()
    assert [table.item_names[item] for item in table.items] == list(response.items)


def test_times_are_stored(make_campaign: MakeCampaign, clock: Clock) -> None:
    campaign = make_campaign()
    ann = campaign.add_worker("Ann")
    assignment = annotation.next_assignment(campaign, ann)
    assert assignment is not None
    began = clock.time
    sort_all(campaign, assignment)
    clock.pass_hours(0.5)
    annotation.submit(campaign, assignment, 77.5)
    (time,) = submitted_times(campaign)
    assert (time.worker, time.active_seconds, time.wall_seconds) == ("Ann", 77.5, 1800.0)
    (record,) = assignment_records(campaign)
    assert (record.started_at, record.submitted_at) == (began, clock.time)
    (figures,) = worker_figures(campaign)
    assert (figures.hits, figures.items, figures.pair_labels, figures.seconds_per_hit) == (1, 4, 6, 77.5)


def test_active_seconds_survive_a_restart_and_never_shrink(make_campaign: MakeCampaign) -> None:
    campaign = make_campaign()
    ann = campaign.add_worker("Ann")
    assignment = annotation.next_assignment(campaign, ann)
    assert assignment is not None
    annotation.record(campaign, assignment, Action(ActionKind.PLACE, ((0, 1),)), 30.0)
    annotation.record(campaign, assignment, Action(ActionKind.PLACE, ((1, 1),)), 12.0)
    again = annotation.next_assignment(campaign, ann)
    assert again is not None
    assert again.active_seconds == 30.0


def test_nothing_is_submitted_while_a_photo_is_unsorted(make_campaign: MakeCampaign) -> None:
    campaign = make_campaign()
    assignment = annotation.next_assignment(campaign, campaign.add_worker("Ann"))
    assert assignment is not None
    annotation.record(campaign, assignment, Action(ActionKind.PLACE, ((0, 1), (1, 1), (2, 1))), 1.0)
    with pytest.raises(UserError, match="1 photo is not sorted yet"):
        annotation.submit(campaign, assignment, 2.0)
    assert read_responses(campaign) == []
    annotation.record(campaign, assignment, Action(ActionKind.UNDO), 3.0)
    with pytest.raises(UserError, match="4 photos are not sorted yet"):
        annotation.submit(campaign, assignment, 2.0)


def test_what_has_ended_takes_no_more_actions(make_campaign: MakeCampaign) -> None:
    campaign = make_campaign()
    assignment = do_next(campaign, campaign.add_worker("Ann"))
    assert assignment is not None
    for late in (
        lambda: annotation.record(campaign, assignment, Action(ActionKind.UNDO), 1.0),
        lambda: annotation.submit(campaign, assignment, 1.0),
        lambda: annotation.skip(campaign, assignment),
    ):
        with pytest.raises(UserError, match="submitted already"):
            late()
    assert len(read_responses(campaign)) == 1


def test_an_impossible_action_is_not_stored(make_campaign: MakeCampaign) -> None:
    campaign = make_campaign()
    assignment = annotation.next_assignment(campaign, campaign.add_worker("Ann"))
    assert assignment is not None
    for impossible in (Action(ActionKind.UNDO), Action(ActionKind.REDO), Action(ActionKind.PLACE, ((4, 1),))):
        with pytest.raises(ValueError, match=r"undo|redo|tile"):
            annotation.record(campaign, assignment, impossible, 1.0)
    assert annotation.log(campaign, assignment) == ()


def test_a_revision_supersedes_and_the_first_response_stays_in_the_file(make_campaign: MakeCampaign) -> None:
    campaign = make_campaign()
    assignment = do_next(campaign, campaign.add_worker("Ann"))
    assert assignment is not None
    annotation.revise(campaign, assignment, [5, 5, 5, 5])
    annotation.revise(campaign, assignment, [5, 5, 5, 6])
    (response,) = read_responses(campaign)
    assert response.groups == ("5", "5", "5", "6")
    assert read_table(campaign).groups.tolist() == [0, 0, 0, 1]
    with campaign.database.read() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM responses").scalar_one() == 3
        assert connection.exec_driver_sql("SELECT count(*) FROM pair_labels").scalar_one() == 6
    assert campaign_figures(campaign).responses == 1
    with pytest.raises(UserError, match="a group for each photo"):
        annotation.revise(campaign, assignment, [1, 1, 1])


def test_a_flag_is_kept_once_and_needs_a_reason(make_campaign: MakeCampaign) -> None:
    campaign = make_campaign()
    assignment = annotation.next_assignment(campaign, campaign.add_worker("Ann"))
    assert assignment is not None
    inside, outside = assignment.items[0], next(i.number for i in campaign.items() if i.number not in assignment.items)
    annotation.flag_item(campaign, assignment, inside, " cut  off ")
    annotation.flag_item(campaign, assignment, inside, "cut off")
    with pytest.raises(UserError, match="needs a reason"):
        annotation.flag_item(campaign, assignment, inside, " ")
    with pytest.raises(UserError, match="not in the set"):
        annotation.flag_item(campaign, assignment, outside, "blurred")
    (flag,) = flag_records(campaign)
    assert (flag.item, flag.worker, flag.reason, flag.hit) == (
        campaign.items()[inside].path,
        "Ann",
        "cut off",
        assignment.hit_name,
    )


def test_the_revision_moves_when_screens_have_something_new(make_campaign: MakeCampaign) -> None:
    campaign = make_campaign()
    seen = [campaign.revision]

    def moved() -> bool:
        seen.append(campaign.revision)
        return seen[-1] > seen[-2]

    ann = campaign.add_worker("Ann")
    assert moved()
    assignment = annotation.next_assignment(campaign, ann)
    assert moved()
    assert assignment is not None
    sort_all(campaign, assignment)
    annotation.submit(campaign, assignment, 1.0)
    assert moved()
    campaign_figures(campaign)
    assert not moved()


# Several at once


def test_threads_that_ask_at_once_never_exceed_r(make_campaign: MakeCampaign) -> None:
    campaign = make_campaign(n_items=8, items_per_hit=4, redundancy=2, workers_per_hit=3)
    workers = [campaign.add_worker(f"w{number}") for number in range(8)]
    others = [Campaign.open(campaign.path) for _ in range(2)]
    start, failures = threading.Barrier(len(workers)), []

    def work(number: int) -> None:
        mine = [campaign, *others][number % 3]
        try:
            start.wait()
            while do_next(mine, workers[number]):
                pass
        except Exception as error:  # noqa: BLE001 - shown by the assertion below
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(len(workers))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for other in others:
        other.close()
    assert failures == []
    taken = Counter(record.hit for record in assignment_records(campaign))
    assert taken == {hit.name: 3 for hit in campaign.hits()}
    assert {record.status for record in assignment_records(campaign)} == {AssignmentStatus.SUBMITTED}


def test_one_worker_in_two_windows_has_one_assignment(make_campaign: MakeCampaign) -> None:
    campaign = make_campaign()
    ann = campaign.add_worker("Ann")
    found, start = [], threading.Barrier(4)

    def ask() -> None:
        start.wait()
        found.append(annotation.next_assignment(campaign, ann))

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({assignment.number for assignment in found if assignment}) == 1
    assert len(assignment_records(campaign)) == 1


# Any history, across restarts

STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("place"), st.lists(st.integers(0, 4), min_size=1, max_size=4), st.integers(0, 6)),
        st.just(("undo",)),
        st.just(("redo",)),
        st.just(("rest",)),
        st.just(("restart",)),
    ),
    max_size=25,
)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS)
def test_a_restarted_program_has_the_same_groups_and_the_same_history(
    steps: list[tuple], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("history")
    path: Path = folder / "h.crowdclust"
    create_from_scan(path, folder / "images", fake_scan(folder / "images", 5), PlanSettings(5, 1, 1))
    campaign = Campaign.open(path)
    try:
        ann = campaign.add_worker("Ann")
        assignment = annotation.next_assignment(campaign, ann)
        assert assignment is not None
        truth = Sorting(5)
        for step in steps:
            action: Action | None = None
            if step[0] == "place":
                action = truth.place(step[1], step[2])
            elif step[0] == "undo" and truth.can_undo:
                action = Action(ActionKind.UNDO)
            elif step[0] == "redo" and truth.can_redo:
                action = Action(ActionKind.REDO)
            elif step[0] == "rest":
                action = truth.rest_into_own_groups()
            elif step[0] == "restart":
                campaign.close()
                campaign = Campaign.open(path)
                assert annotation.next_assignment(campaign, ann) == assignment
            if action:
                truth.apply(action)
                annotation.record(campaign, assignment, action, 0.0)
        stored = Sorting(5, annotation.log(campaign, assignment))
        assert stored.groups == truth.groups
        while truth.can_undo:
            assert stored.can_undo
            truth.apply(Action(ActionKind.UNDO))
            stored.apply(Action(ActionKind.UNDO))
            assert stored.groups == truth.groups
        assert not stored.can_undo
        rest = Sorting(5, annotation.log(campaign, assignment)).rest_into_own_groups()
        if rest:
            annotation.record(campaign, assignment, rest, 0.0)
        annotation.submit(campaign, assignment, 0.0)
        groups = Sorting(5, annotation.log(campaign, assignment)).groups
        assert np.array_equal(read_table(campaign).groups, canonical_groups(groups))
    finally:
        campaign.close()
