"""What a program had acknowledged before it was killed comes back, whatever happened to the file before that."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest
from campaign_making import MakeCampaign, do_next
from killing import answer_with, killed_after

from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.campaign.checking import check_campaign
from crowdclust_app.services.campaign.responses import read_responses
from crowdclust_app.services.folders import data_folder

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="programs are killed as POSIX has it")


def answers(campaign: Campaign) -> set[tuple[str, str]]:
    return {(response.hit, response.worker) for response in read_responses(campaign)}


def copies() -> list[Path]:
    """Dated copies, the oldest first."""
    return sorted((data_folder() / "backups").glob("*"), key=lambda copy: copy.stem.rpartition("-")[2])


def logs() -> list[Path]:
    return list((data_folder() / "rescued").glob("*"))


@pytest.fixture
def closed(make_campaign: MakeCampaign) -> Path:
    """A campaign in which Ann has done one set, with an older copy beside it."""
    campaign = make_campaign()
    shutil.copy(campaign.path, campaign.path.with_name("older"))
    answer_with(campaign, "Ann")
    campaign.close()
    return campaign.path


def test_what_was_overwritten_by_an_older_copy_comes_back(closed: Path) -> None:
    older = closed.with_name("older").read_bytes()
    assert len(killed_after(closed, "Bo", 2, lambda: closed.write_bytes(older))) == 2
    with Campaign.open(closed) as again:
        assert "rows of it are back" in again.notes[0]
        assert sorted(worker for _, worker in answers(again)) == ["Ann", "Bo", "Bo"]
        assert answer_with(again, "Bo") is not None
    with Campaign.open(closed) as again:
        assert again.notes == ()
        assert len(answers(again)) == 4
    assert check_campaign(closed).ok
    assert logs() == []


def test_what_was_deleted_comes_back_in_the_dated_copy(closed: Path) -> None:
    assert len(killed_after(closed, "Bo", 2, closed.unlink)) == 2
    assert not closed.exists()
    shutil.copy(copies()[-1], closed)
    with Campaign.open(closed) as again:
        assert "rows of it are back" in again.notes[0]
        assert sorted(worker for _, worker in answers(again)) == ["Ann", "Bo", "Bo"]
    assert check_campaign(closed).ok


def test_a_new_campaign_has_a_copy_from_its_first_opening(make_campaign: MakeCampaign) -> None:
    path = make_campaign().path
    assert len(killed_after(path, "Bo", 1, path.unlink)) == 1
    shutil.copy(copies()[0], path)
    with Campaign.open(path) as again:
        assert len(answers(again)) == 1


def test_what_several_programs_did_in_turn_comes_back(closed: Path) -> None:
    older = closed.with_name("older").read_bytes()

    def with_others() -> None:
        first, second = Campaign.open(closed), Campaign.open(closed)
        for _ in range(2):
            assert answer_with(first, "Cyd") is not None
            assert answer_with(second, "Dora") is not None
        closed.write_bytes(older)

    killed_after(closed, "Bo", 1, with_others)
    with Campaign.open(closed) as again:
        assert sorted(worker for _, worker in answers(again)) == ["Ann", "Bo", "Cyd", "Cyd", "Dora", "Dora"]
        assert sum("are back" in note for note in again.notes) >= 1
    assert check_campaign(closed).ok
    assert logs() == []


def test_what_is_whole_where_it_was_is_not_brought_into_a_copy(closed: Path) -> None:
    copy = closed.with_name("copy.crowdclust")
    shutil.copy(closed, copy)
    assert len(killed_after(closed, "Bo", 2)) == 2
    with Campaign.open(copy) as other:
        assert not any("are back" in note for note in other.notes)
        assert len(answers(other)) == 1
    with Campaign.open(closed) as again:
        assert len(answers(again)) == 3
    assert logs() == []


def test_what_does_not_fit_is_kept_in_a_copy_of_its_own(closed: Path) -> None:
    older = closed.with_name("older")
    assert len(killed_after(closed, "Bo", 2, closed.unlink)) == 2
    away = data_folder() / "rescued"
    away.rename(away.with_name("away"))
    shutil.copy(older, closed)
    with Campaign.open(closed) as other:
        answer_with(other, "Cyd")
    shutil.rmtree(away, ignore_errors=True)
    away.with_name("away").rename(away)
    with Campaign.open(closed) as both:
        assert any("both were kept" in note for note in both.notes)
        assert [worker for _, worker in answers(both)] == ["Cyd"]
    (rescued,) = away.glob("*.crowdclust")
    assert check_campaign(rescued).ok
    with Campaign.open(rescued) as kept:
        assert sorted(worker for _, worker in answers(kept)) == ["Ann", "Bo", "Bo"]


def test_after_a_kill_the_next_opening_makes_the_copy_that_closing_would_have(closed: Path) -> None:
    before = len(copies())
    killed_after(closed, "Bo", 2)
    assert len(logs()) == 1
    with Campaign.open(closed):
        assert len(copies()) == before + 1
        assert logs() == []
    with Campaign.open(closed):
        pass
    assert len(copies()) == before + 1, "nothing was changed"


def test_closing_leaves_a_dated_copy_and_no_log(closed: Path) -> None:
    with Campaign.open(closed) as campaign:
        answer_with(campaign, "Bo")
        assert len(logs()) == 1
    assert logs() == []
    with Campaign.open(copies()[-1]) as copy:
        assert len(answers(copy)) == 2


def test_a_dated_copy_with_answers_that_no_newer_one_has_is_said_and_kept(closed: Path) -> None:
    with Campaign.open(closed) as campaign:
        answer_with(campaign, "Bo")
    lost = copies()[-1]
    closed.write_bytes(closed.with_name("older").read_bytes())
    with Campaign.open(closed) as again:
        assert "A dated copy has answers that birds.crowdclust lacks" in again.notes[0]
    for turn in range(15):
        with Campaign.open(closed) as again:
            assert again.notes == ()
            again.add_worker(f"Worker {turn}")
    assert lost in copies()
    assert len(copies()) <= 12


def test_a_folder_for_copies_that_cannot_be_written_stops_nobody(closed: Path) -> None:
    for name in ("rescued", "backups"):
        shutil.rmtree(data_folder() / name)
        (data_folder() / name).write_bytes(b"")
    with Campaign.open(closed) as campaign:
        assert do_next(campaign, campaign.workers()[0]) is not None
    with Campaign.open(closed) as again:
        assert len(answers(again)) == 2
