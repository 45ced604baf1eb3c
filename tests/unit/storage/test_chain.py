"""Any change of an answer behind the program's back is found, wherever it is."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from campaign_making import MakeCampaign, do_next

from crowdclust_app.domain.questions import AnswerKind
from crowdclust_app.domain.sorting import Action, ActionKind
from crowdclust_app.services.annotate import annotation
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.campaign.checking import check_campaign
from crowdclust_app.services.exchange.importing import import_table
from crowdclust_app.services.verify.interview import Interview, make_question_set
from crowdclust_app.storage import chain, schema


@pytest.fixture
def campaign_file(make_campaign: MakeCampaign, tmp_path: Path) -> Path:
    """A campaign with responses, one superseded, one in the making, an imported one, and answers to questions."""
    campaign = make_campaign()
    ann, ben = campaign.add_worker("Ann"), campaign.add_worker("Ben")
    done = do_next(campaign, ann)
    annotation.revise(campaign, done, [2] * len(done.items))
    do_next(campaign, ben)
    begun = annotation.next_assignment(campaign, ann)
    assert begun is not None
    for position in range(3):
        annotation.record(campaign, begun, Action(ActionKind.PLACE, ((position, 1),)), 1.5 * position)
    table = tmp_path / "responses.csv"
    first, second = campaign.items()[:2]
    table.write_text(f"hit,worker,image,group\nx,Cleo,{first.path},red\nx,Cleo,{second.path},blue\n", encoding="utf-8")
    import_table(campaign, table)
    interview = Interview(campaign, make_question_set(campaign, "Is it a bird?", [0, 1, 2]))
    for item, said in ((0, AnswerKind.YES), (1, AnswerKind.NO)):
        interview.answer(ben, item, said, 2.0)
    interview.undo(ben)
    interview.answer(ben, 1, AnswerKind.YES, 2.5)
    campaign.close()
    return campaign.path


def altered(path: Path, *statements: str) -> tuple[str, ...]:
    """The problems of a file that was changed behind its rules, which are all there again."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        rules = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for name, _ in rules:
            connection.execute(f"DROP TRIGGER {name}")
        for statement in statements:
            assert connection.execute(statement).rowcount > 0
        for _, sql in rules:
            connection.execute(sql)
    return check_campaign(path).problems


def test_what_was_not_changed_is_sound(campaign_file: Path) -> None:
    with closing(sqlite3.connect(campaign_file)) as connection:
        found = list(chain.links(connection, trust=False))
        assert {link.table for link in found} == set(chain.COLUMNS)
        assert all(link.stored == link.computed for link in found)
        assert list(chain.breaks(connection)) == []


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE events SET placements = '[[1,2]]' WHERE number = (SELECT max(number) FROM events)",
        "UPDATE events SET at = '2020-01-01T00:00:00.000000+00:00' WHERE number = 2",
        "UPDATE events SET active_seconds = 99 WHERE number = (SELECT max(number) - 1 FROM events)",
        "DELETE FROM events WHERE number = (SELECT max(number) FROM events)",
        "UPDATE assignments SET worker = 2 WHERE number = 2",
        "UPDATE assignments SET started_at = '2020-01-01T00:00:00.000000+00:00' WHERE number = 2",
        "UPDATE responses SET comment = 'sure' WHERE number = 2",
        "UPDATE responses SET submitted_at = '2020-01-01T00:00:00.000000+00:00' WHERE number = 3",
        "UPDATE responses SET active_seconds = 1e6 WHERE number = 4",
        "UPDATE response_items SET grp = 3 - grp WHERE response = 2 AND position < 2",
        "UPDATE response_items SET grp = 3 WHERE response = 4 AND position = 1",
        "UPDATE response_groups SET label = 'x'",
        "UPDATE workers SET name = 'Anna' WHERE number = 0",
        "UPDATE items SET path = 'other.png' WHERE number = 0",
        "UPDATE question_events SET kind = 'no' WHERE number = 1",
        "UPDATE question_events SET seconds = 0 WHERE number = 4",
        "DELETE FROM question_events WHERE number = 4",
        "UPDATE question_sets SET sentence = 'Is it no bird?'",
        "UPDATE campaign SET identifier = '0123456789ab'",
    ],
)
def test_every_change_of_an_answer_is_found(campaign_file: Path, statement: str) -> None:
    problems = altered(campaign_file, statement)
    assert any("stored" in problem and ("not what was" in problem or "missing" in problem) for problem in problems)


def test_a_change_is_said_once_with_whose_answer_it_is(campaign_file: Path) -> None:
    statement = "UPDATE events SET at = '2020-01-01T00:00:00.000000+00:00' WHERE number = 2"
    (problem,) = altered(campaign_file, statement)
    assert problem == (
        "The action of Ann in h0001 at 2020-01-01T00:00:00.000000+00:00 is not what was stored, or one before it is "
        "missing."
    )


def test_copies_of_an_older_file_get_the_same_name_and_hashes(tmp_path: Path) -> None:
    old = tmp_path / "old.crowdclust"
    with closing(sqlite3.connect(old)) as connection:
        connection.executescript((Path(__file__).parent / "version1.sql").read_text(encoding="utf-8"))
        connection.execute(f"PRAGMA application_id = {schema.APPLICATION_ID}")
        connection.execute("PRAGMA user_version = 1")
    other = tmp_path / "other.crowdclust"
    shutil.copyfile(old, other)
    made = []
    for path in (old, other):
        Campaign.open(path).close()
        assert [problem for problem in check_campaign(path).problems if "images" not in problem] == []
        with closing(sqlite3.connect(path)) as connection:
            (identifier,) = connection.execute("SELECT identifier FROM campaign").fetchone()
            links = [(link.table, link.number, link.stored) for link in chain.links(connection, trust=True)]
            assert links
            assert all(len(stored) == 32 for _, _, stored in links)
            made.append((identifier, links))
    assert made[0] == made[1]
    assert len(made[0][0]) == 12
