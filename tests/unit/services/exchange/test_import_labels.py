"""Yes/no labels from a table: they become answers to a question set, once."""

from __future__ import annotations

from pathlib import Path

import pytest
from campaign_making import MakeCampaign

from crowdclust_app.domain.errors import UserError
from crowdclust_app.domain.questions import AnswerKind
from crowdclust_app.io.tables import write_table
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.campaign.checking import check_campaign
from crowdclust_app.services.exchange.importing import ImportReport, import_table
from crowdclust_app.services.verify.interview import Interview, answers, question_sets
from crowdclust_app.services.verify.question_tables import LABELS, question_tables
from crowdclust_app.services.verify.verdicts import look_at_answers

FIRST, SECOND = '"part 0/photo #0.png"', '"part 1/photo #1.png"'


@pytest.fixture
def campaign(make_campaign: MakeCampaign) -> Campaign:
    return make_campaign(6)


def table(tmp_path: Path, *rows: str, header: str = "task,worker,label") -> Path:
    path = tmp_path / "labels.csv"
    path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    return path


def said(campaign: Campaign, number: int) -> list[tuple[int, int, str]]:
    return [(answer.item, answer.worker, answer.said.value) for answer in answers(campaign, number)]


def load(campaign: Campaign, path: Path, question: str | None = None) -> ImportReport:
    return import_table(campaign, path, "labels", question=question)


def test_labels_become_answers_to_a_set_of_their_own(campaign: Campaign, tmp_path: Path) -> None:
    path = table(
        tmp_path, f"{FIRST},Ann,1", f"{FIRST},Ben,No", f"{SECOND},Ann,TRUE", f"{FIRST},Cem,yes", f"{SECOND},Ben,"
    )
    report = load(campaign, path)
    assert (report.added, report.skipped) == (4, 1)
    assert report.warnings == ("The question set 1 has been made: Labels of labels.csv", "1 rows have no label.")
    (info,) = question_sets(campaign)
    asked = info.question_set
    assert (asked.sentence, asked.items, asked.wanted, info.labels) == ("Labels of labels.csv", (0, 1), 3, 4)
    assert said(campaign, 1) == [(0, 0, "yes"), (0, 1, "no"), (1, 0, "yes"), (0, 2, "yes")]
    assert [worker.name for worker in campaign.workers()] == ["Ann", "Ben", "Cem"]
    assert look_at_answers(campaign, 1, ("majority",)).labels == 4
    assert check_campaign(campaign.path).ok


def test_importing_twice_adds_nothing_and_new_rows_go_beside_the_old(campaign: Campaign, tmp_path: Path) -> None:
    rows = [f"{FIRST},Ann,1", f"{FIRST},Ben,0"]
    assert load(campaign, table(tmp_path, *rows), "Is it red?").added == 2
    revision = campaign.revision
    again = load(campaign, table(tmp_path, *rows), "Is it  red?")
    assert (again.added, again.skipped, again.warnings) == (0, 2, ())
    assert campaign.revision == revision
    more = load(campaign, table(tmp_path, *rows, f"{FIRST},Cem,1", f"{SECOND},Ann,1", f"{SECOND},Ann,0"), "Is it red?")
    assert (more.added, more.skipped) == (2, 3)
    assert more.warnings == (
        "The question set 2 has been made: Is it red?",
        "1 labels differ from what the same worker said first, which stays.",
    )
    assert said(campaign, 1) == [(0, 0, "yes"), (0, 1, "no"), (0, 2, "yes")]
    assert said(campaign, 2) == [(1, 0, "yes")]
    assert load(campaign, table(tmp_path, *rows), "Is it blue?").added == 2
    assert len(question_sets(campaign)) == 3


def test_answers_given_here_and_labels_from_elsewhere_are_one_set(campaign: Campaign, tmp_path: Path) -> None:
    load(campaign, table(tmp_path, f"{FIRST},Ann,1"), "Is it red?")
    dee = campaign.add_worker("Dee")
    interview = Interview(campaign, question_sets(campaign)[0].question_set)
    assert interview.next_question(dee) is None  # one answer was wanted, and is there
    interview.answer(dee, 0, AnswerKind.NO, 1.0)
    report = load(campaign, table(tmp_path, f"{FIRST},Dee,yes"), "Is it red?")
    assert (report.added, report.skipped) == (0, 1)
    assert "differ" in report.warnings[0]
    assert said(campaign, 1) == [(0, 0, "yes"), (0, 1, "no")]


@pytest.mark.parametrize(
    ("rows", "complaint"),
    [
        ([f"{FIRST},Ann,1", f"{SECOND},Ann,maybe"], r"labels.csv, line 3: the label maybe is neither yes nor no"),
        ([f"{FIRST},Ann,1", "elsewhere.png,Ann,1"], r"labels.csv, line 3: the item elsewhere.png is not in"),
        ([f"{FIRST},,1"], r"labels.csv, line 2: the worker is empty"),
        ([f"{FIRST},Ann,"], r"labels.csv: the table has no label"),
        ([], r"labels.csv, line 1"),
    ],
)
def test_a_table_with_a_mistake_changes_nothing(
    campaign: Campaign, tmp_path: Path, rows: list[str], complaint: str
) -> None:
    revision = campaign.revision
    with pytest.raises(UserError, match=complaint):
        load(campaign, table(tmp_path, *rows))
    assert question_sets(campaign) == ()
    assert campaign.workers() == ()
    assert campaign.revision == revision


def test_a_question_goes_with_labels_only(campaign: Campaign, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="a table of pairs answers no question"):
        import_table(campaign, table(tmp_path, f"{FIRST},Ann,1"), "pairs", question="Why?")
    with pytest.raises(UserError, match="the question is longer than"):
        load(campaign, table(tmp_path, f"{FIRST},Ann,1"), "long " * 200)


def test_what_was_exported_is_known_already_and_new_elsewhere(
    campaign: Campaign, make_campaign: MakeCampaign, tmp_path: Path
) -> None:
    load(campaign, table(tmp_path, f"{FIRST},Ann,1", f"{SECOND},Ben,0"), "Is it red?")
    load(campaign, table(tmp_path, f"{FIRST},Ann,0"), "Is it blue?")
    (exported,) = (one for one in question_tables(campaign, str) if one.name == LABELS)
    path = tmp_path / "exported.csv"
    write_table(path, exported.header, list(exported.rows))
    assert (load(campaign, path).added, load(campaign, path).skipped) == (0, 3)
    other = make_campaign(6, name="other")
    assert load(other, path).added == 3
    assert [info.question_set.sentence for info in question_sets(other)] == ["Is it red?", "Is it blue?"]
    assert [said(other, 1), said(other, 2)] == [said(campaign, 1), said(campaign, 2)]
