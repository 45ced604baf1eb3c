from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from campaign_making import MakeCampaign, do_next

from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.domain.errors import Cancelled, UserError
from crowdclust_app.services.annotate import annotation
from crowdclust_app.services.campaign.checking import check_campaign
from crowdclust_app.services.progress_report import ProgressReport
from crowdclust_app.storage import probe, schema


@pytest.fixture
def path(make_campaign: MakeCampaign) -> Path:
    campaign = make_campaign()
    ann, ben = campaign.add_worker("Ann"), campaign.add_worker("Ben")
    for worker in (ann, ben, ann):
        do_next(campaign, worker)
    annotation.next_assignment(campaign, ann)
    campaign.close()
    return campaign.path


def tamper(path: Path, *statements: str) -> tuple[str, ...]:
    """Change a file behind its rules; the problems then found."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        rules = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for name, _ in rules:
            connection.execute(f"DROP TRIGGER {name}")
        for statement in statements:
            connection.execute(statement)
        for _, sql in rules:
            connection.execute(sql)
    before = path.read_bytes()
    report = check_campaign(path)
    assert path.read_bytes() == before
    assert report.ok == (not report.problems)
    assert all(problem.endswith(".") for problem in report.problems)
    return report.problems


def test_a_sound_file_has_no_problems(path: Path) -> None:
    assert check_campaign(path).problems == ()
    assert tamper(path) == ()


@pytest.mark.parametrize(
    ("statement", "found"),
    [
        ("DELETE FROM response_items WHERE response = 1 AND position = 0", "does not cover exactly the items"),
        ("UPDATE response_items SET grp = 9 WHERE response = 1 AND position = 0", "not what the log of assignment 1"),
        (
            "UPDATE hits SET workers_wanted = 1; UPDATE assignments SET hit = 0 WHERE number = 2",
            "was done by 2 workers, more than the 1",
        ),
        ("UPDATE hits SET submitted = 2 WHERE number = 0", "The HIT h0001 counts 2 submissions"),
        ("UPDATE assignments SET status = 'skipped' WHERE number = 1", "told in two ways"),
        ("UPDATE assignments SET item_order = '[1,2]' WHERE number = 4", "order of photos of assignment 4"),
        ("INSERT INTO events VALUES (999, 4, '', 'redo', NULL, 0, '')", "log of assignment 4 cannot have happened"),
        ("DELETE FROM hit_items WHERE hit = 5", "The HIT h0006 has no items"),
        ("UPDATE workers SET number = 7 WHERE number = 1", "The numbers of the workers have a gap"),
        ("UPDATE workers SET number = 7 WHERE number = 1", "refers to a missing row of workers"),
        (
            "INSERT INTO runs (stage, method, created_at, settings, seed, versions, fingerprint, seconds, summary,"
            " scalars, names, arrays) VALUES ('all', '', '', '', 0, '', '', 0, '', '', '', x'0102')",
            "The arrays of run 1 cannot be read",
        ),
    ],
)
def test_what_is_wrong_is_said(path: Path, statement: str, found: str) -> None:
    assert any(found in problem for problem in tamper(path, *statement.split("; ")))


def test_a_missing_rule_is_said(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DROP TRIGGER events_no_update")
    assert check_campaign(path).problems == ("The campaign file is damaged (the rule events_no_update is missing).",)


def test_images_are_looked_for(path: Path) -> None:
    images = path.parent / "images"
    first = images / "part 0" / "photo #0.png"
    first.unlink()
    (images / "part 1" / "photo #1.png").write_bytes(b"shorter")
    missing, changed = check_campaign(path).problems
    assert missing == f"1 image is missing in {images.resolve()}, such as part 0/photo #0.png."
    assert changed == f"1 image is not what was imported in {images.resolve()}, such as part 1/photo #1.png."
    images.rename(images.with_name("gone"))
    (gone,) = check_campaign(path).problems
    assert "images are not where they were" in gone


def test_a_damaged_file_is_a_problem_and_other_files_are_refused(path: Path, tmp_path: Path) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    report = check_campaign(path)
    assert not report.ok
    assert "damaged" in report.problems[0]
    path.write_bytes(b"")
    with pytest.raises(UserError, match="empty"):
        check_campaign(path)
    with pytest.raises(UserError, match="no such"):
        check_campaign(tmp_path / "none.crowdclust")


def test_damage_that_only_the_full_check_meets_is_a_problem(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = bytearray(path.read_bytes())
    for page in range(8, len(content) // 8192):
        content[page * 8192 : page * 8192 + 200] = bytes(200)
    path.write_bytes(content)
    assert "damaged" in check_campaign(path).problems[0]
    monkeypatch.setattr("crowdclust_app.storage.checks.inspect", lambda path: schema.SCHEMA_VERSION)
    report = check_campaign(path)
    assert not report.ok
    assert any("damaged" in problem for problem in report.problems)


def test_an_older_file_is_not_migrated_by_a_check(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schema, "SCHEMA_VERSION", schema.SCHEMA_VERSION + 1)
    monkeypatch.setattr(probe, "layout_problem", lambda _: "the table remarks is missing")
    assert "older format" in check_campaign(path).problems[0]


def test_a_check_reports_and_can_be_cancelled(path: Path) -> None:
    token = CancelToken()
    seen: list[ProgressReport] = []

    def progress(report: ProgressReport) -> None:
        seen.append(report)
        token.cancel()

    with pytest.raises(Cancelled):
        check_campaign(path, progress=progress, cancel=token)
    assert seen
