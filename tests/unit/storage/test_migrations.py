"""Older files are copied beside themselves and brought up to date, in one step or not at all."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from campaign_making import MakeCampaign, do_next

from crowdclust_app.domain.errors import UserError
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.campaign.responses import read_responses
from crowdclust_app.storage import migrations, probe, schema

OLD = schema.SCHEMA_VERSION


def rename_workers(connection: sqlite3.Connection) -> None:
    connection.execute("ALTER TABLE workers ADD COLUMN note TEXT")
    connection.execute("UPDATE workers SET note = 'from version ' || ?", (OLD,))


def add_table(connection: sqlite3.Connection) -> None:
    connection.execute("CREATE TABLE remarks (number INTEGER PRIMARY KEY, worker INTEGER REFERENCES workers(number))")
    connection.execute("INSERT INTO remarks SELECT number, number FROM workers")


def of_a_later_program(connection: sqlite3.Connection) -> str | None:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return None if version == schema.SCHEMA_VERSION else "the table remarks is missing"


@pytest.fixture
def old_file(make_campaign: MakeCampaign, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A campaign of today, while the program is two versions further."""
    campaign = make_campaign()
    ann = campaign.add_worker("Ann")
    do_next(campaign, ann)
    campaign.close()
    monkeypatch.setattr(schema, "SCHEMA_VERSION", OLD + 2)
    monkeypatch.setattr(migrations, "STEPS", {OLD: rename_workers, OLD + 1: add_table})
    monkeypatch.setattr(migrations, "rebuild", lambda connection: None)
    monkeypatch.setattr(probe, "layout_problem", of_a_later_program)
    return campaign.path


def version_of(path: Path) -> int:
    with closing(sqlite3.connect(path)) as connection:
        return int(connection.execute("PRAGMA user_version").fetchone()[0])


def test_an_older_file_is_backed_up_and_migrated(old_file: Path) -> None:
    with closing(sqlite3.connect(old_file)) as original:
        before = list(original.iterdump())
    with Campaign.open(old_file) as campaign:
        assert len(read_responses(campaign)) == 1
        with campaign.database.read() as connection:
            notes = connection.exec_driver_sql("SELECT note FROM workers").scalars().all()
            assert notes == [f"from version {OLD}"]
            assert connection.exec_driver_sql("SELECT count(*) FROM remarks").scalar_one() == 1
    assert version_of(old_file) == OLD + 2
    (backup,) = old_file.parent.glob("*backup*")
    assert backup.name == f"birds.v{OLD}-backup.crowdclust"
    assert version_of(backup) == OLD
    with closing(sqlite3.connect(backup)) as kept:
        assert list(kept.iterdump()) == before
    with Campaign.open(old_file):
        pass
    assert len(list(old_file.parent.glob("*backup*"))) == 1, "an up-to-date file is not copied again"


def test_an_earlier_backup_is_not_overwritten(old_file: Path) -> None:
    earlier = old_file.with_name(f"birds.v{OLD}-backup.crowdclust")
    earlier.write_text("mine")
    Campaign.open(old_file).close()
    assert earlier.read_text() == "mine"
    assert version_of(old_file.with_name(f"birds.v{OLD}-backup-2.crowdclust")) == OLD


def test_a_migration_that_fails_leaves_the_old_file(old_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(connection: sqlite3.Connection) -> None:
        add_table(connection)
        raise RuntimeError("half way")

    monkeypatch.setattr(migrations, "STEPS", {OLD: rename_workers, OLD + 1: fail})
    before = old_file.read_bytes()
    with pytest.raises(RuntimeError, match="half way"):
        Campaign.open(old_file)
    assert version_of(old_file) == OLD
    assert old_file.read_bytes() == before
    monkeypatch.setattr(schema, "SCHEMA_VERSION", OLD)
    with Campaign.open(old_file) as campaign:
        assert len(read_responses(campaign)) == 1


def test_a_migration_that_breaks_references_is_undone(old_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def orphan(connection: sqlite3.Connection) -> None:
        connection.execute("DELETE FROM workers")

    monkeypatch.setattr(migrations, "STEPS", {OLD: orphan, OLD + 1: add_table})
    with pytest.raises(UserError, match="refers to a missing row"):
        Campaign.open(old_file)
    assert version_of(old_file) == OLD


def test_what_lies_in_the_log_is_in_the_backup(old_file: Path) -> None:
    with closing(sqlite3.connect(old_file, isolation_level=None)) as other:
        other.execute("PRAGMA wal_autocheckpoint = 0")
        other.execute("INSERT INTO workers VALUES (7, 'only in the log', '')")
        Campaign.open(old_file).close()
    (backup,) = old_file.parent.glob("*backup*")
    with closing(sqlite3.connect(backup)) as kept:
        assert kept.execute("SELECT name FROM workers WHERE number = 7").fetchone() == ("only in the log",)
    with closing(sqlite3.connect(old_file)) as new:
        assert new.execute("SELECT name FROM workers WHERE number = 7").fetchone() == ("only in the log",)


def test_every_version_has_a_step() -> None:
    assert sorted(migrations.STEPS) == list(range(1, schema.SCHEMA_VERSION))


def test_a_file_of_version_1_opens_with_everything_in_it_and_takes_new_answers(tmp_path: Path) -> None:
    path = tmp_path / "birds.crowdclust"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript((Path(__file__).parent / "version1.sql").read_text(encoding="utf-8"))
        connection.execute(f"PRAGMA application_id = {schema.APPLICATION_ID}")
        connection.execute("PRAGMA user_version = 1")
    with Campaign.open(path) as campaign:
        assert [worker.name for worker in campaign.workers()] == ["Ann", "Bo"]
        assert len(read_responses(campaign)) == 3
        do_next(campaign, campaign.workers()[1])
        assert len(read_responses(campaign)) == 4
    assert version_of(path) == schema.SCHEMA_VERSION
    with Campaign.open(path) as campaign:
        assert len(read_responses(campaign)) == 4, "it opens again"


def test_a_migrated_file_has_the_tables_columns_and_rules_of_a_new_one(
    tmp_path: Path, make_campaign: MakeCampaign
) -> None:
    old = tmp_path / "old.crowdclust"
    with closing(sqlite3.connect(old)) as connection:
        connection.executescript((Path(__file__).parent / "version1.sql").read_text(encoding="utf-8"))
        connection.execute(f"PRAGMA application_id = {schema.APPLICATION_ID}")
        connection.execute("PRAGMA user_version = 1")
    Campaign.open(old).close()
    new = make_campaign()
    new.close()

    def shape(path: Path) -> dict[str, set[str]]:
        with closing(sqlite3.connect(path)) as connection:
            names = connection.execute("SELECT type || ' ' || name, name, type FROM sqlite_master").fetchall()
            return {
                key: {row[1] for row in connection.execute(f"PRAGMA table_info('{name}')")}
                if kind == "table"
                else set()
                for key, name, kind in names
                if not name.startswith("sqlite_")
            }

    assert shape(old) == shape(new.path)
