"""An open campaign that is moved, deleted or replaced acknowledges nothing more, and loses nothing that was saved."""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from campaign_making import MakeCampaign, do_next, fake_scan

from crowdclust_app.domain.campaign import PlanSettings
from crowdclust_app.domain.errors import UserError
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.campaign.checking import check_campaign
from crowdclust_app.services.campaign.creating import create_from_scan
from crowdclust_app.services.campaign.responses import read_responses
from crowdclust_app.services.folders import data_folder
from crowdclust_app.storage import connection as storage_connection
from crowdclust_app.storage.failures import FileLostError
from crowdclust_app.storage.identity import held

DENY_LOCKS = r"""
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <unistd.h>
#include <sys/syscall.h>
static int answer(int fd, int command, void *argument) {
    if (command == F_SETLK || command == F_SETLKW) { errno = ENOLCK; return -1; }
    return syscall(SYS_fcntl, fd, command, argument);
}
#define LIKE_FCNTL(name) int name(int fd, int command, ...) { \
    va_list list; va_start(list, command); void *argument = va_arg(list, void *); va_end(list); \
    return answer(fd, command, argument); }
LIKE_FCNTL(fcntl)
LIKE_FCNTL(fcntl64)
"""


def with_older_copy(make_campaign: MakeCampaign) -> tuple[Campaign, Path]:
    """An open campaign, and a copy of it as it is before anybody answers."""
    campaign = make_campaign()
    older = campaign.path.with_name("older")
    shutil.copy(campaign.path, older)
    return campaign, older


def answers(path: Path) -> int:
    with Campaign.open(path) as campaign:
        return len(read_responses(campaign))


def test_a_copy_made_while_people_work_has_every_answer(make_campaign: MakeCampaign, tmp_path: Path) -> None:
    campaign = make_campaign()
    ann = campaign.add_worker("Ann")
    for count in range(1, 4):
        do_next(campaign, ann)
        copy = tmp_path / f"copy{count}.crowdclust"
        shutil.copy(campaign.path, copy)
        assert check_campaign(copy).problems == ()
        assert answers(copy) == count


def test_what_is_moved_keeps_its_answers_and_takes_no_more_under_its_old_name(make_campaign: MakeCampaign) -> None:
    campaign = make_campaign()
    ann = campaign.add_worker("Ann")
    for _ in range(3):
        do_next(campaign, ann)
    moved = campaign.path.with_name("moved.crowdclust")
    campaign.path.rename(moved)
    with pytest.raises(FileLostError, match=r"moved, renamed or deleted .* this was not saved"):
        do_next(campaign, ann)
    moved.rename(campaign.path)
    assert do_next(campaign, ann) is not None, "back under its name it goes on"
    campaign.path.rename(moved)
    campaign.close()
    assert answers(moved) == 4
    assert [path.name for path in moved.parent.glob("*.crowdclust*")] == ["moved.crowdclust"]


def test_what_is_deleted_is_rescued_and_comes_back_in_an_older_copy(make_campaign: MakeCampaign) -> None:
    campaign, older = with_older_copy(make_campaign)
    ann = campaign.add_worker("Ann")
    for _ in range(3):
        do_next(campaign, ann)
    campaign.path.unlink()
    for _ in range(2):
        with pytest.raises(FileLostError, match="what had been saved is in"):
            do_next(campaign, ann)
    campaign.close()
    (rescued,) = (data_folder() / "rescued").glob("*.crowdclust")
    assert len(read_rescued(rescued)) == 3
    older.rename(campaign.path)
    with Campaign.open(campaign.path) as again:
        assert "are back" in again.notes[0]
        assert len(read_responses(again)) == 3
        assert do_next(again, again.workers()[0]) is not None
    with Campaign.open(campaign.path) as again:
        assert again.notes == ()
        assert len(read_responses(again)) == 4


@pytest.mark.parametrize("how", ["deleted", "replaced"])
def test_what_is_lost_just_before_closing_comes_back_too(make_campaign: MakeCampaign, how: str) -> None:
    campaign, older = with_older_copy(make_campaign)
    ann = campaign.add_worker("Ann")
    for _ in range(3):
        do_next(campaign, ann)
    if how == "deleted":
        campaign.path.unlink()
    else:
        older.replace(campaign.path)
    campaign.close()
    if how == "deleted":
        older.rename(campaign.path)
    with Campaign.open(campaign.path) as again:
        assert "are back" in again.notes[0]
        assert len(read_responses(again)) == 3


def read_rescued(path: Path) -> list[tuple[int]]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute("SELECT number FROM responses").fetchall()


@pytest.mark.parametrize("in_place", [False, True])
def test_what_a_synchroniser_replaces_by_an_older_copy_acknowledges_nothing(
    make_campaign: MakeCampaign, in_place: bool
) -> None:
    campaign, older = with_older_copy(make_campaign)
    ann = campaign.add_worker("Ann")
    for _ in range(2):
        do_next(campaign, ann)
    if in_place:
        campaign.path.write_bytes(older.read_bytes())
    else:
        older.replace(campaign.path)
    with pytest.raises(FileLostError, match="replaced by another one or by an older copy"):
        do_next(campaign, ann)
    campaign.close()
    with Campaign.open(campaign.path) as again:
        assert "are back" in again.notes[0]
        assert len(read_responses(again)) == 2
    assert check_campaign(campaign.path).problems == ()


def test_a_rescued_copy_with_other_answers_is_kept_beside_the_file(make_campaign: MakeCampaign) -> None:
    campaign, older = with_older_copy(make_campaign)
    do_next(campaign, campaign.add_worker("Ann"))
    campaign.path.unlink()
    with pytest.raises(FileLostError):
        campaign.add_worker("Bo")
    campaign.close()
    older.rename(campaign.path)
    rescued = data_folder() / "rescued"
    away = rescued.with_name("away")
    rescued.rename(away)
    with Campaign.open(campaign.path) as other:
        do_next(other, other.add_worker("Cyd"))
    away.rename(rescued)
    with Campaign.open(campaign.path) as both:
        assert "the other way round; both were kept" in both.notes[0]
        assert [worker.name for worker in both.workers()] == ["Cyd"]
    assert len(list(rescued.glob("*.crowdclust"))) == 1


def test_nothing_is_held_when_everything_is_closed(make_campaign: MakeCampaign) -> None:
    campaign = make_campaign()
    with Campaign.open(campaign.path):
        campaign.close()
        assert held(campaign.path) is not None
    assert held(campaign.path) is None


@pytest.mark.parametrize("suffix", ["-wal", "-journal"])
def test_a_new_campaign_never_takes_the_log_of_a_dead_one(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / "a.crowdclust"
    log = tmp_path / f"a.crowdclust{suffix}"
    log.write_bytes(b"left behind" * 1000)
    report = create_from_scan(path, tmp_path / "images", fake_scan(tmp_path / "images", 6), PlanSettings(3, 1, 1))
    assert any("belonged to another campaign" in warning for warning in report.warnings)
    assert not log.exists()
    (aside,) = tmp_path.glob(f"a.crowdclust{suffix}.*")
    assert aside.read_bytes() == b"left behind" * 1000
    assert check_campaign(path).problems == ()


def test_the_log_of_a_killed_former_version_is_recovered(
    make_campaign: MakeCampaign, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = killed_with_a_log(make_campaign(), tmp_path / "killed", monkeypatch)
    with Campaign.open(copy) as again:
        assert again.notes == ()
        assert len(read_responses(again)) == 4
    assert [path.name for path in copy.parent.iterdir()] == [copy.name]


def test_the_log_of_another_campaign_is_set_aside(
    make_campaign: MakeCampaign, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dead = killed_with_a_log(make_campaign(40, name="dead"), tmp_path / "killed", monkeypatch)
    folder = tmp_path / "other"
    folder.mkdir()
    create_from_scan(folder / dead.name, folder / "images", fake_scan(folder / "images", 6), PlanSettings(3, 1, 1))
    dead.with_name(f"{dead.name}-wal").rename(folder / f"{dead.name}-wal")
    with Campaign.open(folder / dead.name) as kept:
        assert "belonged to another campaign" in kept.notes[0]
        assert (kept.workers(), len(kept.items())) == ((), 6)
    assert check_campaign(folder / dead.name).problems == ()


def killed_with_a_log(campaign: Campaign, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of a campaign as a killed former version left it, with its last answers in the log alone."""
    campaign.close()
    copy = folder / campaign.path.name
    folder.mkdir()
    with monkeypatch.context() as former:
        former.setattr(storage_connection, "_IN_USE", ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON"))
        with Campaign.open(campaign.path) as again:
            ann = again.add_worker("Ann")
            for _ in range(4):
                do_next(again, ann)
            shutil.copy(campaign.path, copy)
            shutil.copy(f"{campaign.path}-wal", f"{copy}-wal")
    return copy


def test_a_disk_that_cannot_lock_is_said_at_once(make_campaign: MakeCampaign, monkeypatch: pytest.MonkeyPatch) -> None:
    fcntl = pytest.importorskip("fcntl")
    campaign = make_campaign()
    do_next(campaign, campaign.add_worker("Ann"))
    campaign.close()

    def refuse(*_: object) -> None:
        raise OSError(37, "No locks available")

    monkeypatch.setattr(fcntl, "lockf", refuse)
    with pytest.raises(UserError, match="this disk cannot lock files"):
        Campaign.open(campaign.path)
    with Campaign.open_somehow(campaign.path) as read:
        assert read.read_only
        assert len(read_responses(read)) == 1


def test_a_copy_is_kept_at_closing_and_old_ones_go(make_campaign: MakeCampaign) -> None:
    campaign = make_campaign()
    folder = data_folder() / "backups"
    (before,) = folder.glob("*.crowdclust")
    campaign.add_worker("Ann")
    campaign.close()
    (first,) = set(folder.glob("*.crowdclust")) - {before}
    before.unlink()
    assert check_campaign(first).ok
    head = first.name.rpartition("-")[0]
    days = [f"202601{day:02}T120000000000" for day in range(1, 13)]
    for day in days:
        shutil.copy(first, folder / f"{head}-{day}.crowdclust")
    with Campaign.open(campaign.path) as again:
        again.add_worker("Bo")
    kept = sorted(path.name for path in folder.glob("*.crowdclust"))
    assert len(kept) == 10, "the oldest are more than a month old"
    assert first.name in kept
    with Campaign.open(campaign.path):
        pass
    assert sorted(path.name for path in folder.glob("*.crowdclust")) == kept, "nothing was changed"


@pytest.mark.parametrize(
    "statement",
    [
        "DROP TRIGGER responses_no_update",
        "DROP TRIGGER events_no_update; CREATE TRIGGER events_no_update BEFORE UPDATE ON events BEGIN SELECT 1; END",
        "CREATE TRIGGER more BEFORE INSERT ON events BEGIN SELECT RAISE(IGNORE); END",
        "DROP VIEW current_responses; CREATE VIEW current_responses AS SELECT 1 AS response",
        "CREATE TABLE more (number INTEGER)",
        "CREATE INDEX more ON events (at)",
        "DROP INDEX decisions_by_kind",
        "ALTER TABLE workers ADD COLUMN more TEXT",
        "DROP VIEW standing_answers; CREATE VIEW standing_answers AS "
        "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT n FROM t",
    ],
)
def test_a_rule_that_was_changed_is_found(make_campaign: MakeCampaign, statement: str) -> None:
    campaign = make_campaign()
    campaign.close()
    with closing(sqlite3.connect(campaign.path)) as connection:
        connection.executescript(statement)
    (problem,) = check_campaign(campaign.path).problems
    assert re.search("is missing|is not what this program made|that this program did not make", problem)
    with pytest.raises(UserError, match="damaged"):
        Campaign.open(campaign.path)


def test_a_campaign_is_read_at_once_where_every_lock_is_denied(make_campaign: MakeCampaign, tmp_path: Path) -> None:
    compiler = shutil.which("cc")
    if sys.platform != "linux" or compiler is None:
        pytest.skip("locks are denied by a small library that is compiled for Linux")
    source, library = tmp_path / "locks.c", tmp_path / "locks.so"
    source.write_text(DENY_LOCKS, encoding="utf-8")
    subprocess.run([compiler, "-shared", "-fPIC", "-o", str(library), str(source)], check=True)
    campaign = make_campaign()
    do_next(campaign, campaign.add_worker("Ann"))
    campaign.close()
    program = (
        "import sys; from pathlib import Path; from crowdclust_app.services.campaign.campaigns import Campaign\n"
        "from crowdclust_app.services.campaign.responses import read_responses\n"
        "with Campaign.open_somehow(Path(sys.argv[1])) as read: print(read.read_only, len(read_responses(read)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(campaign.path)],
        env={**os.environ, "LD_PRELOAD": str(library)},
        capture_output=True,
        text=True,
        timeout=15,  # SQLite would wait for 20 seconds
        check=False,
    )
    assert (done.stdout.strip(), done.returncode) == ("True 1", 0), done.stderr
