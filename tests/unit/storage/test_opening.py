"""What is opened, what is refused, and that a refused file stays as it was."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from campaign_making import MakeCampaign, SmallDisk, do_next, fake_scan

from crowdclust_app.domain.campaign import PlanSettings
from crowdclust_app.domain.errors import CrowdclustError, UserError
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.campaign.checking import check_campaign
from crowdclust_app.services.campaign.counts import campaign_figures
from crowdclust_app.services.campaign.creating import create_from_scan
from crowdclust_app.services.campaign.responses import read_responses
from crowdclust_app.storage import connection as storage_connection
from crowdclust_app.storage import schema


def closed_campaign(make_campaign: MakeCampaign, responses: int = 6) -> Path:
    campaign = make_campaign()
    ann = campaign.add_worker("Ann")
    for _ in range(responses):
        do_next(campaign, ann)
    campaign.close()
    return campaign.path


def listing(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()}


def refuse(path: Path) -> UserError:
    """Open it, and make sure that it is refused in one sentence and nothing in its folder has changed."""
    before = listing(path.parent)
    with pytest.raises(UserError) as caught:
        Campaign.open(path)
    assert listing(path.parent) == before
    sentence = str(caught.value)
    assert sentence.startswith(str(path.resolve()))
    assert sentence.endswith(".")
    assert "\n" not in sentence
    return caught.value


def test_a_file_is_what_it_should_be(make_campaign: MakeCampaign) -> None:
    campaign = make_campaign()
    with campaign.database.read() as connection:
        for pragma, value in (
            ("journal_mode", "truncate"),
            ("synchronous", 2),
            ("foreign_keys", 1),
            ("recursive_triggers", 1),
            ("application_id", schema.APPLICATION_ID),
            ("user_version", schema.SCHEMA_VERSION),
        ):
            assert connection.exec_driver_sql(f"PRAGMA {pragma}").scalar_one() == value, pragma
    campaign.close()
    assert sorted(listing(campaign.path.parent)) == ["birds.crowdclust"], "one file, no logs beside it"
    with pytest.raises(CrowdclustError, match="has been closed"):
        campaign_figures(campaign)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "the file is empty"),
        (b"hello, this is a text and not a campaign" * 10, "not a Crowdclust campaign"),
        (b"SQLite format 3\x00", "damaged .only 16 bytes"),
        (os.urandom(5000), "not a Crowdclust campaign"),
    ],
)
def test_other_files_are_refused(tmp_path: Path, content: bytes, reason: str) -> None:
    path = tmp_path / "x.crowdclust"
    path.write_bytes(content)
    assert refuse(path).args
    with pytest.raises(UserError, match=reason):
        Campaign.open(path)


def test_a_folder_and_a_missing_file_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="a folder, not a campaign"):
        Campaign.open(tmp_path)
    with pytest.raises(UserError, match="no such campaign file"):
        Campaign.open(tmp_path / "none.crowdclust")
    assert list(tmp_path.iterdir()) == []


def test_another_programs_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.crowdclust"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE items (number INTEGER)")
        connection.commit()
    assert "another program" in refuse(path).what


def test_a_newer_version_is_refused(make_campaign: MakeCampaign) -> None:
    path = closed_campaign(make_campaign)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {schema.SCHEMA_VERSION + 1}")
    error = refuse(path)
    assert "newer Crowdclust" in error.what
    assert error.todo == "update Crowdclust to open it"


def test_a_newer_version_that_is_only_in_the_log_is_refused_too(make_campaign: MakeCampaign, tmp_path: Path) -> None:
    path = closed_campaign(make_campaign)
    copy = tmp_path / "killed" / "x.crowdclust"
    copy.parent.mkdir()
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA wal_autocheckpoint = 0")
        connection.execute(f"PRAGMA user_version = {schema.SCHEMA_VERSION + 1}")
        shutil.copy(path, copy)
        shutil.copy(f"{path}-wal", f"{copy}-wal")
    before = listing(copy.parent)
    with pytest.raises(UserError, match="newer Crowdclust"):
        Campaign.open(copy)
    after = listing(copy.parent)
    assert {name: after[name] for name in before} == before


@pytest.mark.parametrize("share", [0.001, 0.01, 0.1, 0.5, 0.9, 0.999])
def test_a_file_that_was_cut_is_refused(make_campaign: MakeCampaign, share: float) -> None:
    path = closed_campaign(make_campaign)
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * share)])
    error = refuse(path)
    assert "damaged" in error.what
    assert "bytes are there" in error.what


def test_a_file_with_overwritten_pages_is_refused_or_whole(make_campaign: MakeCampaign) -> None:
    """Noise over a page of the middle is never opened as if it were nothing."""
    path = closed_campaign(make_campaign)
    content = path.read_bytes()
    generator = random.Random(5)
    pages = len(content) // 8192
    refused = 0
    for page in range(1, pages):
        broken = bytearray(content)
        broken[page * 8192 : page * 8192 + 4096] = generator.randbytes(4096)
        path.write_bytes(broken)
        refuse(path)
        refused += 1
    assert refused == pages - 1 > 20


def test_a_file_without_one_of_its_tables_is_refused(make_campaign: MakeCampaign) -> None:
    path = closed_campaign(make_campaign)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DROP VIEW pair_labels")
        connection.commit()
    assert "pair_labels is missing" in refuse(path).what


@pytest.mark.parametrize(
    "name",
    [
        "with space",
        "tri#angle",
        "what?",
        "100%",
        "%20",
        "a&mode=memory",
        "Füchse 狐狸 🦊",
        'it\'s "quoted"',
        "file:x",
        ":memory:",
    ],
)
def test_any_name_works(tmp_path: Path, name: str) -> None:
    folder = tmp_path / name
    folder.mkdir()
    path = folder / f"{name}.crowdclust"
    create_from_scan(path, folder / "images", fake_scan(folder / "images", 6), PlanSettings(3, 1, 1))
    with Campaign.open(path) as campaign:
        ann = campaign.add_worker("Ann")
        assert do_next(campaign, ann) is not None
        assert campaign.name == name
        assert campaign.item_path(campaign.items()[0]).is_file()
    with Campaign.open(path) as campaign:
        assert len(read_responses(campaign)) == 1
    assert sorted(path.name for path in folder.iterdir()) == sorted(["images", f"{name}.crowdclust"])


def test_a_link_to_a_campaign_opens_the_campaign(make_campaign: MakeCampaign, tmp_path: Path) -> None:
    path = closed_campaign(make_campaign, responses=1)
    link = tmp_path / "elsewhere" / "link.crowdclust"
    link.parent.mkdir()
    link.symlink_to(path)
    with Campaign.open(link) as campaign:
        assert campaign.path == path.resolve()
        assert len(read_responses(campaign)) == 1
        assert campaign.images_found


# Places that cannot be written


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="permissions do not bind the administrator")
@pytest.mark.parametrize("what", ["file", "folder"])
def test_what_may_not_be_written_is_refused(make_campaign: MakeCampaign, what: str) -> None:
    path = closed_campaign(make_campaign)
    locked = path if what == "file" else path.parent
    mode = locked.stat().st_mode
    locked.chmod(mode & ~0o222)
    try:
        assert "read-only" in refuse(path).what
    finally:
        locked.chmod(mode)


def test_a_read_only_disk_is_refused(small_disk: SmallDisk) -> None:
    path = small_disk.campaign()
    Campaign.open(path).close()
    small_disk.make_read_only()
    error = refuse(path)
    assert "read-only" in error.what
    assert "copy the campaign to a folder that is" in str(error)
    assert check_campaign(path).problems == ()
    with pytest.raises(UserError, match="read-only"):
        small_disk.campaign("second")
    assert not path.with_name("second.crowdclust").exists()


def test_a_file_that_turns_read_only_is_named(make_campaign: MakeCampaign, monkeypatch: pytest.MonkeyPatch) -> None:
    path = closed_campaign(make_campaign)
    real = storage_connection.file_uri  # type: ignore[attr-defined]
    monkeypatch.setattr(storage_connection, "file_uri", lambda p, mode: real(p, "ro"))
    monkeypatch.setattr(storage_connection, "_IN_USE", ())
    with pytest.raises(UserError, match="read-only"):
        Campaign.open(path)


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="no folder here is known to be on no disk")
def test_a_folder_on_no_disk_is_not_called_full(tmp_path: Path) -> None:
    scan = fake_scan(tmp_path / "images", 6)
    with pytest.raises(UserError, match=r"x\.crowdclust: nothing can be written in this folder; choose another"):
        create_from_scan(Path("/proc/x.crowdclust"), tmp_path / "images", scan, PlanSettings())


def test_creating_where_nothing_can_be_made_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        storage_connection, "temporary_beside", lambda path: path.with_name("no such folder") / "x.part"
    )
    scan = fake_scan(tmp_path / "images", 6)
    with pytest.raises(UserError, match="read-only"):
        create_from_scan(tmp_path / "x.crowdclust", tmp_path / "images", scan, PlanSettings())
    assert [path.name for path in tmp_path.iterdir()] == ["images"]


def test_a_writer_that_never_ends_is_named(make_campaign: MakeCampaign, monkeypatch: pytest.MonkeyPatch) -> None:
    campaign = make_campaign()
    campaign.close()
    monkeypatch.setattr(storage_connection, "BUSY_SECONDS", 0.05)
    with closing(sqlite3.connect(campaign.path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(UserError, match="another program is writing"):
            Campaign.open(campaign.path)
        other.execute("ROLLBACK")
    Campaign.open(campaign.path).close()


def test_a_fault_of_ours_is_not_dressed_up(make_campaign: MakeCampaign) -> None:
    from sqlalchemy.exc import IntegrityError

    campaign = make_campaign()
    with pytest.raises(IntegrityError), campaign.database.write() as connection:
        connection.exec_driver_sql("INSERT INTO workers (number, name, created_at) VALUES (0, '', '')")


def test_a_campaign_that_is_read_alone_refuses_changes(make_campaign: MakeCampaign, tmp_path: Path) -> None:
    path = closed_campaign(make_campaign, responses=2)
    moved = tmp_path / "elsewhere" / path.name
    moved.parent.mkdir()
    shutil.copy(path, moved)
    before = listing(moved.parent)
    with Campaign.open(moved, read_only=True) as campaign:
        assert campaign.read_only
        assert len(read_responses(campaign)) == 2
        assert campaign.images_found, "found, though the campaign cannot note where"
        with pytest.raises(UserError, match="cannot be written here"):
            campaign.add_worker("Bo")
    assert listing(moved.parent) == before
    with Campaign.open_somehow(path) as campaign:
        assert not campaign.read_only
        assert campaign.add_worker("Bo").name == "Bo"


def test_an_older_campaign_cannot_be_read_alone(make_campaign: MakeCampaign) -> None:
    path = closed_campaign(make_campaign)
    with closing(sqlite3.connect(path)) as plain:
        plain.execute(f"PRAGMA user_version = {schema.SCHEMA_VERSION - 1}")
        plain.execute("DROP VIEW standing_decisions")
    before = listing(path.parent)
    with pytest.raises(UserError, match=r"made by an older Crowdclust .*copy it to a folder that can be written"):
        Campaign.open(path, read_only=True)
    assert listing(path.parent) == before
