"""The log of what is done to a campaign: what is written is read, up to a line that was cut off."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from campaign_making import MakeCampaign, do_next

from crowdclust_app.storage.rescue_log import MOST_BYTES, MOST_ROWS, Entry, Mark, RescueLog, Statements, holds, mark
from crowdclust_app.storage.rescue_log import stored_logs as stored

NAME = "0123456789ab"
BEFORE, AFTER = Mark(1, (None, "3 x")), Mark(2, ("1 y", "3 x"))


def entry(value: object) -> Entry:
    return Entry(BEFORE, AFTER, (("INSERT INTO t VALUES (?, ?)", (1, value)),))


@pytest.mark.parametrize("value", ["a ü\n", None, 1.0000000000000002, b"\x00\xff", 1 << 62])
def test_what_is_written_is_read(tmp_path: Path, value: object) -> None:
    log = RescueLog(tmp_path / "rescued", tmp_path / "a.crowdclust", NAME)
    assert stored(tmp_path / "rescued", NAME) == [], "a log of nothing is none"
    log.append(entry(value))
    log.append(entry("x" * 100_000))
    (found,) = stored(tmp_path / "rescued", NAME)
    assert found.campaign == tmp_path / "a.crowdclust"
    assert found.entries == (entry(value), entry("x" * 100_000))
    assert stored(tmp_path / "rescued", "another") == []
    log.remove()
    assert stored(tmp_path / "rescued", NAME) == []


def test_a_log_is_read_up_to_a_line_that_was_cut_off(tmp_path: Path) -> None:
    log = RescueLog(tmp_path, tmp_path / "a.crowdclust", NAME)
    for number in range(3):
        log.append(entry(number))
    log.close()
    whole = log.path.read_bytes().rstrip(b"\0")
    for length in range(len(whole)):
        log.path.write_bytes(whole[:length] + b"\0" * 50)
        read = [found for log in stored(tmp_path, NAME) for found in log.entries]
        assert read == [entry(number) for number in range(len(read))]
        assert len(read) == max(0, whole[:length].count(b"\n") - 1)


def test_a_log_of_another_format_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as newer:
        newer.setattr("crowdclust_app.storage.schema.SCHEMA_VERSION", 99)
        log = RescueLog(tmp_path, tmp_path / "a.crowdclust", NAME)
    log.append(entry(1))
    log.close()
    assert stored(tmp_path, NAME) == []
    assert log.path.exists()


def test_a_log_is_not_removed_while_it_is_written(tmp_path: Path) -> None:
    log = RescueLog(tmp_path, tmp_path / "a.crowdclust", NAME)
    log.append(entry(1))
    (found,) = stored(tmp_path, NAME)
    assert found.in_use
    found.discard()
    assert log.path.exists()
    log.close()
    assert not found.in_use
    found.discard()
    assert not log.path.exists()


def test_statements_that_change_nothing_or_too_much_are_not_kept() -> None:
    statements = Statements()
    statements.add("SELECT 1", (), False)
    statements.add("BEGIN IMMEDIATE", (), False)
    assert statements.made == []
    statements.add("\n  insert INTO t VALUES (?)", [(1,), (2,)], True)
    assert [row for _, row in statements.made] == [(1,), (2,)]
    assert not statements.too_large
    many, long = Statements(), Statements()
    many.add("INSERT INTO t VALUES (?)", [(1,)] * (MOST_ROWS + 1), True)
    long.add("INSERT INTO t VALUES (?)", (memoryview(b"x" * (MOST_BYTES + 1)),), False)
    assert many.too_large
    assert long.too_large


def test_a_campaign_holds_the_states_that_it_was_in_and_no_other(make_campaign: MakeCampaign, tmp_path: Path) -> None:
    campaign = make_campaign()
    ann = campaign.add_worker("Ann")
    copy = tmp_path / "copy"
    states = []
    for _ in range(3):
        do_next(campaign, ann)
        shutil.copy(campaign.path, copy)
        with closing(sqlite3.connect(campaign.path)) as now, closing(sqlite3.connect(copy)) as then:
            states.append(mark(then))
            assert mark(now) == states[-1]
            assert all(holds(now, state) for state in states)
            do_next(campaign, ann)
            assert not holds(then, mark(now))
    with closing(sqlite3.connect(campaign.path)) as now, closing(sqlite3.connect(copy)) as other:
        other.execute("INSERT INTO events (assignment, at, kind, active_seconds, hash) VALUES (1, '', 'undo', 0, 'x')")
        assert not holds(now, mark(other)), "of two that differ neither holds the other"
        assert not holds(other, mark(now))
