"""Programs that are killed with no chance to clean up: nothing acknowledged is lost, nothing half is left."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from campaign_making import MakeCampaign, do_next, fake_scan

from crowdclust_app.domain.campaign import PlanSettings
from crowdclust_app.domain.sorting import Action, ActionKind
from crowdclust_app.services.annotate import annotation
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.campaign.checking import check_campaign
from crowdclust_app.services.campaign.counts import assignment_records, campaign_figures
from crowdclust_app.services.campaign.creating import create_from_scan
from crowdclust_app.services.campaign.responses import read_responses
from crowdclust_app.services.exchange.importing import import_table
from crowdclust_app.storage import schema

HELPERS = Path(__file__).resolve().parents[2] / "helpers"

PREAMBLE = """
import sys, time
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from crowdclust_app.domain.campaign import PlanSettings
from crowdclust_app.domain.sorting import Action, ActionKind
from crowdclust_app.services.annotate import annotation
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.campaign.creating import create_from_scan
path = Path(sys.argv[2])

def say(text):
    print(text, flush=True)

def hang(*_):
    say("hanging")
    time.sleep(600)
"""


def run_and_kill(script: str, path: Path, last_words: Callable[[str], bool], *more: str) -> list[str]:
    """Run a program and kill it right after it has said something; what it said so far."""
    command = [sys.executable, "-c", PREAMBLE + textwrap.dedent(script), str(HELPERS), str(path), *more]
    said = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, encoding="utf-8") as process:
        assert process.stdout is not None
        for line in process.stdout:
            said.append(line.strip())
            if last_words(said[-1]):
                process.kill()
                break
        process.kill()
        said += [line.strip() for line in process.stdout]
    if os.name != "nt":
        assert process.returncode == -signal.SIGKILL, "it ended by itself, so nothing was tested"
    return said


SORTING = """
campaign = Campaign.open(path)
worker = campaign.workers()[0]
assignment = annotation.next_assignment(campaign, worker)
done = len(annotation.log(campaign, assignment))
for number in range(done, 100000):
    action = Action(ActionKind.UNDO) if number % 5 == 4 else Action(ActionKind.PLACE, ((number % 4, number % 3 + 1),))
    annotation.record(campaign, assignment, action, 1.0)
    say(number)
"""


def sorting_action(number: int) -> Action:
    if number % 5 == 4:
        return Action(ActionKind.UNDO)
    return Action(ActionKind.PLACE, ((number % 4, number % 3 + 1),))


def test_killed_while_sorting(make_campaign: MakeCampaign) -> None:
    campaign = make_campaign()
    ann = campaign.add_worker("Ann")
    do_next(campaign, ann)
    assignment = annotation.next_assignment(campaign, ann)
    assert assignment is not None
    campaign.close()
    for stop in (3, 40, 41, 160):
        # it may have come further than the last stop before it was killed
        said = run_and_kill(SORTING, campaign.path, lambda number, stop=stop: int(number) >= stop)
        acknowledged = int(said[-1]) + 1
        with Campaign.open(campaign.path) as again:
            resumed = annotation.next_assignment(again, ann)
            assert resumed is not None
            assert (resumed.number, resumed.items) == (assignment.number, assignment.items)
            log = annotation.log(again, resumed)
            # The one that was under way when the program died may have arrived or not.
            assert acknowledged <= len(log) <= acknowledged + 1
            assert log == tuple(sorting_action(number) for number in range(len(log)))
        assert check_campaign(campaign.path).ok


def test_killed_between_the_two_halves_of_a_submission(make_campaign: MakeCampaign) -> None:
    campaign = make_campaign()
    ann = campaign.add_worker("Ann")
    campaign.close()
    script = """
    from campaign_making import do_next
    from crowdclust_app.storage import responses
    responses.insert_responses = hang
    campaign = Campaign.open(path)
    do_next(campaign, campaign.workers()[0])
    """
    run_and_kill(script, campaign.path, "hanging".__eq__)
    with Campaign.open(campaign.path) as again:
        (record,) = assignment_records(again)
        assert record.status == "open"
        assignment = annotation.next_assignment(again, ann)
        assert assignment is not None
        annotation.submit(again, assignment, 1.0)
        assert len(read_responses(again)) == 1
    assert check_campaign(campaign.path).ok


CREATING = """
from campaign_making import fake_scan
stop = sys.argv[3]
def progress(report):
    if str(report.done) == stop:
        hang()
images = path.parent / "images"
create_from_scan(path, images, fake_scan(images, 200), PlanSettings(20, 3, 2), progress=progress)
say("created")
"""


@pytest.mark.parametrize("stop", ["1", "2", "3"])
def test_killed_while_creating(tmp_path: Path, stop: str) -> None:
    path = tmp_path / "birds.crowdclust"
    run_and_kill(CREATING, path, "hanging".__eq__, stop)
    assert not path.exists()
    left = [other for other in tmp_path.iterdir() if other.name != "images"]
    assert all(other.name.startswith(".") and ".part" in other.name for other in left)
    assert left
    for other in left:
        os.utime(other, (0, 0))  # long ago
    create_from_scan(path, tmp_path / "images", fake_scan(tmp_path / "images", 200), PlanSettings(20, 3, 2))
    assert sorted(other.name for other in tmp_path.iterdir()) == ["birds.crowdclust", "images"]
    assert check_campaign(path).ok


def test_killed_before_and_after_the_file_gets_its_name(tmp_path: Path) -> None:
    for when in ("before", "after"):
        path = tmp_path / when / "birds.crowdclust"
        path.parent.mkdir()
        script = f"""
        from crowdclust_app.storage import connection
        real = connection.publish
        def publish(temporary, final):
            if {when!r} == "after":
                real(temporary, final)
            hang()
        connection.publish = publish
        """
        run_and_kill(textwrap.dedent(script) + CREATING, path, "hanging".__eq__, "never")
        assert path.exists() == (when == "after")
        if when == "after":
            assert check_campaign(path).ok
            with Campaign.open(path) as campaign:
                assert campaign_figures(campaign).items == 200


def test_another_creation_under_way_is_left_alone(tmp_path: Path) -> None:
    young = tmp_path / ".birds.crowdclust.0123456789ab.part"
    young.write_bytes(b"at work")
    create_from_scan(tmp_path / "birds.crowdclust", tmp_path, fake_scan(tmp_path / "images", 6), PlanSettings())
    assert young.read_bytes() == b"at work"


IMPORTING = """
from crowdclust_app.services.exchange.importing import import_table
from crowdclust_app.storage import catalogue
catalogue.bump_revision = hang  # the last step before everything is committed
import_table(Campaign.open(path), path.parent / "responses.csv")
"""


def test_killed_while_importing(make_campaign: MakeCampaign) -> None:
    campaign = make_campaign()
    names = [item.path for item in campaign.items()]
    table = campaign.path.parent / "responses.csv"
    rows = [f"hit {n},worker {n},{name},{at % 3}" for n in range(400) for at, name in enumerate(names)]
    table.write_text("hit,worker,item,group\n" + "\n".join(rows), encoding="utf-8")
    campaign.close()
    run_and_kill(IMPORTING, campaign.path, "hanging".__eq__)
    with Campaign.open(campaign.path) as again:
        assert (read_responses(again), again.workers(), len(again.hits())) == ([], (), 6)
        assert import_table(again, table).added == 400
    assert check_campaign(campaign.path).ok


def test_killed_while_migrating(make_campaign: MakeCampaign) -> None:
    campaign = make_campaign()
    do_next(campaign, campaign.add_worker("Ann"))
    campaign.close()
    script = f"""
    from crowdclust_app.storage import migrations, probe, schema
    probe.layout_problem = lambda _: "the table big is missing"
    def step(connection):
        connection.execute("DROP TABLE truth")
        connection.execute("PRAGMA cache_spill = 1")
        connection.execute("CREATE TABLE big AS SELECT e.*, zeroblob(100000) FROM events e")
        hang()
    schema.SCHEMA_VERSION = {schema.SCHEMA_VERSION + 1}
    migrations.STEPS = {{{schema.SCHEMA_VERSION}: step}}
    Campaign.open(path)
    """
    run_and_kill(script, campaign.path, "hanging".__eq__)
    with Campaign.open(campaign.path) as again:
        assert len(read_responses(again)) == 1
    assert check_campaign(campaign.path).ok
    (backup,) = campaign.path.parent.glob("*backup*")
    with closing(sqlite3.connect(backup)) as kept:
        assert kept.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    backup.rename(campaign.path.with_name("restored.crowdclust"))
    with Campaign.open(campaign.path.with_name("restored.crowdclust")) as restored:
        assert len(read_responses(restored)) == 1
