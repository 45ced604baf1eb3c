"""Rules that the database keeps by itself, whoever writes to it."""

from __future__ import annotations

import pytest
from campaign_making import MakeCampaign, do_next
from sqlalchemy.exc import DBAPIError

from crowdclust_app.domain.partition import DIFFERENT, SAME
from crowdclust_app.services.annotate import annotation
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.campaign.responses import read_responses


@pytest.fixture
def campaign(make_campaign: MakeCampaign) -> Campaign:
    campaign = make_campaign()
    ann, ben = campaign.add_worker("Ann"), campaign.add_worker("Ben")
    done = do_next(campaign, ann)
    do_next(campaign, ben)
    assert done is not None
    annotation.flag_item(campaign, done, done.items[0], "cut off")
    with campaign.database.write() as connection:
        connection.exec_driver_sql("INSERT INTO response_groups VALUES (99, 1, 'x', NULL)")
        connection.exec_driver_sql("DELETE FROM truth")
        # a group's label of a response that comes in the same transaction
        connection.exec_driver_sql(
            "INSERT INTO response_items SELECT 99, item, position, 1 FROM response_items WHERE response = 1"
        )
        connection.exec_driver_sql(
            "INSERT INTO responses (number, assignment, submitted_at, source, supersedes)"
            " VALUES (99, 1, '2024', 'revision', 1)"
        )
        connection.exec_driver_sql(
            "INSERT INTO runs (stage, method, created_at, settings, seed, versions, fingerprint, seconds, summary,"
            " scalars, names, arrays) VALUES ('all', 'm', '2024', '{}', 0, '{}', '', 0, '{}', '{}', '{}', x'00')"
        )
    return campaign


def run(campaign: Campaign, *statements: str) -> None:
    with campaign.database.write() as connection:
        for statement in statements:
            connection.exec_driver_sql(statement)


def check_refused(campaign: Campaign, *statements: str, why: str) -> None:
    with pytest.raises(DBAPIError, match=why):
        run(campaign, *statements)


@pytest.mark.parametrize(
    ("table", "column"),
    [
        ("events", "kind"),
        ("responses", "submitted_at"),
        ("response_items", "grp"),
        ("response_groups", "label"),
        ("flags", "reason"),
        ("runs", "summary"),
        ("hit_items", "position"),
    ],
)
def test_history_is_append_only(campaign: Campaign, table: str, column: str) -> None:
    with campaign.database.read() as connection:
        before = connection.exec_driver_sql(f"SELECT * FROM {table}").all()
    assert before
    check_refused(campaign, f"UPDATE {table} SET {column} = {column}", why="never change")
    check_refused(campaign, f"DELETE FROM {table}", why="never change")
    with campaign.database.read() as connection:
        assert connection.exec_driver_sql(f"SELECT * FROM {table}").all() == before


def test_replacing_is_changing(campaign: Campaign) -> None:
    check_refused(campaign, "INSERT OR REPLACE INTO events SELECT * FROM events WHERE number = 1", why="history")
    check_refused(
        campaign, "REPLACE INTO responses SELECT * FROM responses WHERE number = 1", why="never changed|exactly"
    )


def test_nothing_is_added_to_a_submitted_response(campaign: Campaign) -> None:
    with campaign.database.read() as connection:
        outside = connection.exec_driver_sql(
            "SELECT number FROM items WHERE number NOT IN (SELECT item FROM response_items WHERE response = 1)"
        ).scalars()
        item = next(iter(outside))
    check_refused(campaign, f"INSERT INTO response_items VALUES (1, {item}, 9, 1)", why="never changed")


def test_a_response_covers_exactly_its_hit(campaign: Campaign) -> None:
    start = "INSERT INTO responses (number, assignment, submitted_at, source, supersedes) VALUES "
    check_refused(campaign, start + "(200, 2, '2024', 'revision', 2)", why="exactly the items")
    items = "INSERT INTO response_items SELECT 200, item, position, 1 FROM hit_items WHERE hit = "
    with campaign.database.read() as connection:
        hit = connection.exec_driver_sql("SELECT hit FROM assignments WHERE number = 2").scalar_one()
    for wrong in (f"{items} {hit} LIMIT 3", f"{items} {(hit + 1) % 6}"):
        check_refused(campaign, wrong, start + "(200, 2, '2024', 'revision', 2)", why="exactly the items")
    assert len(read_responses(campaign)) == 2


def test_items_without_a_response_are_not_kept(campaign: Campaign) -> None:
    check_refused(campaign, "INSERT INTO response_items VALUES (300, 0, 0, 1)", why="FOREIGN KEY")


def test_an_unsubmitted_assignment_has_no_response(campaign: Campaign) -> None:
    ann = campaign.workers()[0]
    left = annotation.next_assignment(campaign, ann)
    assert left is not None
    check_refused(
        campaign,
        f"INSERT INTO responses (number, assignment, submitted_at, source) VALUES (300, {left.number}, '', 'window')",
        why="exactly",
    )


def test_a_response_is_superseded_once(campaign: Campaign) -> None:
    check_refused(
        campaign,
        "INSERT INTO response_items SELECT 100, item, position, 1 FROM response_items WHERE response = 1",
        "INSERT INTO responses (number, assignment, submitted_at, source, supersedes)"
        " VALUES (100, 1, '2024', 'revision', 1)",
        why="UNIQUE",
    )


def test_a_hit_is_never_handed_twice_to_one_worker(campaign: Campaign) -> None:
    check_refused(
        campaign,
        "INSERT INTO assignments (hit, worker, status, started_at, last_event_at)"
        " SELECT hit, worker, 'skipped', '', '' FROM assignments LIMIT 1",
        why="UNIQUE",
    )


def test_a_worker_has_one_open_assignment(campaign: Campaign) -> None:
    one = "INSERT INTO assignments (hit, worker, status, started_at, last_event_at) VALUES ({}, 0, 'open', '', '')"
    check_refused(campaign, one.format(4), one.format(5), why="UNIQUE")


def test_a_closed_assignment_stays_closed(campaign: Campaign) -> None:
    check_refused(campaign, "UPDATE assignments SET status = 'open' WHERE number = 1", why="never opened again")


def test_no_more_than_r_workers_submit_a_hit(campaign: Campaign) -> None:
    new = (
        "INSERT INTO assignments (hit, worker, status, started_at, last_event_at) VALUES "
        "({hit}, {worker}, '{status}', '', '')"
    )
    with campaign.database.write() as connection:
        for worker in (2, 3, 4):
            connection.exec_driver_sql(f"INSERT INTO workers VALUES ({worker}, 'w{worker}', '')")
        for worker in (2, 3):
            connection.exec_driver_sql(new.format(hit=5, worker=worker, status="submitted"))
    check_refused(campaign, new.format(hit=5, worker=4, status="submitted"), why="a_hit_has_no_more_than_its_workers")
    with campaign.database.write() as connection:
        connection.exec_driver_sql(new.format(hit=5, worker=4, status="open"))
    check_refused(
        campaign,
        "UPDATE assignments SET status = 'submitted' WHERE worker = 4",
        why="a_hit_has_no_more_than_its_workers",
    )


def test_pair_labels_are_a_view_of_the_current_responses(campaign: Campaign) -> None:
    with campaign.database.read() as connection:
        rows = connection.exec_driver_sql("SELECT item_a, item_b, worker, hit, label FROM pair_labels").all()
    expected = set()
    for response in read_responses(campaign):
        group = dict(zip(response.items, response.groups, strict=True))
        number = {item.path: item.number for item in campaign.items()}
        for a in group:
            for b in group:
                if number[a] < number[b]:
                    label = SAME if group[a] == group[b] else DIFFERENT
                    expected.add((a, b, response.worker, response.hit, label))
    assert {tuple(row) for row in rows} == expected
    assert len(rows) == len(expected) == 12
    assert {row.label for row in rows if row.worker == "Ann"} == {SAME}, "the revision put everything together"
