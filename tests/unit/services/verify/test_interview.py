"""Question sets: asking, answering, undoing; nothing lost, nobody asked twice, the same after a restart."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from campaign_making import MakeCampaign
from sqlalchemy.exc import DBAPIError

from crowdclust_app.domain.campaign import Worker
from crowdclust_app.domain.errors import UserError
from crowdclust_app.domain.questions import AnswerKind, Policy, QuestionSet
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.campaign.checking import check_campaign
from crowdclust_app.services.verify.interview import (
    Interview,
    Question,
    answers,
    choose_method,
    make_question_set,
    question_set,
    question_sets,
)

SENTENCE = "Does this belong to the birds?"
POLICIES = (Policy.UNIFORM, Policy.UNCERTAINTY)


@pytest.fixture
def campaign(make_campaign: MakeCampaign) -> Campaign:
    campaign = make_campaign()
    for name in ("Ann", "Ben", "Cem"):
        campaign.add_worker(name)
    return campaign


def ask_all(campaign: Campaign, asked: QuestionSet, seed: int = 0, restart: bool = False) -> list[tuple[int, int]]:
    """Everybody in turn until nobody is asked any more; who was asked what."""
    rng = np.random.default_rng(seed)
    interview = Interview(campaign, asked)
    history = []
    turn = 0
    idle = 0
    workers = campaign.workers()
    while idle < len(workers):
        if restart:
            interview = Interview(campaign, question_set(campaign, asked.number))
        worker = workers[turn % len(workers)]
        turn += 1
        question = interview.next_question(worker)
        if question is None:
            idle += 1
            continue
        idle = 0
        what = rng.random()
        said = AnswerKind.SKIP if what < 0.1 else AnswerKind.YES if what < 0.6 else AnswerKind.NO
        interview.answer(worker, question.item, said, 1.5)
        history.append((worker.number, question.item))
        if rng.random() < 0.1:
            again = interview.undo(worker)
            assert again is not None
            assert again.item == question.item
            interview.answer(worker, again.item, AnswerKind.YES, 1.0)
    return history


def asked_item(question: Question | None) -> int:
    assert question is not None
    return question.item


@pytest.mark.parametrize("policy", POLICIES)
def test_a_set_is_asked_to_its_end_the_same_with_restarts(campaign: Campaign, policy: Policy) -> None:
    sets = [make_question_set(campaign, SENTENCE, range(10), wanted=2, policy=policy, seed=4) for _ in range(2)]
    histories = [ask_all(campaign, asked, restart=number == 1) for number, asked in enumerate(sets)]
    assert histories[0] == histories[1]
    assert len(set(histories[0])) == len(histories[0])
    labels = [answer for answer in answers(campaign, sets[0].number) if answer.said is not AnswerKind.SKIP]
    per_item = np.bincount([answer.item for answer in labels], minlength=10)
    assert len(labels) == 20
    if policy is Policy.UNIFORM:
        assert per_item.tolist() == [2] * 10
    else:
        assert per_item.max() > 2
    info = question_sets(campaign)[0]
    assert (info.labels, info.workers) == (20, 3)
    assert info.seconds == pytest.approx(sum(answer.seconds for answer in labels))
    assert check_campaign(campaign.path).ok


def test_two_windows_ask_as_one(campaign: Campaign) -> None:
    asked = make_question_set(campaign, SENTENCE, range(6), wanted=1, policy=Policy.UNIFORM)
    ann, ben, _ = campaign.workers()
    here, there = Interview(campaign, asked), Interview(campaign, asked)
    first = asked_item(here.next_question(ann))
    here.answer(ann, first, AnswerKind.YES, 1.0)
    assert asked_item(there.next_question(ben)) != first
    assert there.progress(ann).answered == 1
    with pytest.raises(UserError, match="Ann has answered this question already"):
        there.answer(ann, first, AnswerKind.NO, 1.0)
    undone = there.undo(ann)
    assert undone is not None
    assert undone.item == first
    assert first not in undone.ahead
    assert here.progress(ann).answered == 0
    assert answers(campaign, asked.number) == ()
    assert there.undo(ann) is None


def test_undo_goes_back_all_the_way_and_only_over_ones_own(campaign: Campaign) -> None:
    asked = make_question_set(campaign, SENTENCE, range(8), wanted=3)
    ann, ben, _ = campaign.workers()
    interview = Interview(campaign, asked)
    items = []
    for said in (AnswerKind.YES, AnswerKind.SKIP, AnswerKind.NO):
        items.append(asked_item(interview.next_question(ann)))
        interview.answer(ann, items[-1], said, 1.0)
        interview.answer(ben, asked_item(interview.next_question(ben)), AnswerKind.NO, 1.0)
    for item in reversed(items):
        assert asked_item(interview.undo(ann)) == item
    assert interview.undo(ann) is None
    assert {answer.worker for answer in answers(campaign, asked.number)} == {ben.number}
    with campaign.database.read() as connection:
        kinds = connection.exec_driver_sql("SELECT kind FROM question_events ORDER BY number").scalars().all()
    assert kinds == ["yes", "no", "skip", "no", "no", "no", "undo", "undo", "undo"]


def test_progress_says_what_is_left(campaign: Campaign) -> None:
    asked = make_question_set(campaign, SENTENCE, [3, 1, 7], wanted=2, policy=Policy.UNIFORM)
    ann, ben, cem = campaign.workers()
    interview = Interview(campaign, asked)
    assert interview.progress(ann).remaining == 3
    interview.answer(ann, 3, AnswerKind.YES, 1.0)
    interview.answer(ann, 1, AnswerKind.SKIP, 1.0)
    interview.answer(ben, 3, AnswerKind.YES, 1.0)
    progress = interview.progress(ann)
    assert (progress.answered, progress.skipped, progress.remaining) == (1, 1, 1)
    assert (progress.labels, progress.planned) == (2, 6)
    assert interview.progress(cem).remaining == 2


@pytest.mark.parametrize(
    ("sentence", "items", "wanted", "what"),
    [
        (" ", [1], 3, "sentence"),
        ("x" * 301, [1], 3, "longer"),
        (SENTENCE, [], 3, "no photo"),
        (SENTENCE, [1, 1], 3, "twice"),
        (SENTENCE, [99], 3, "not in the campaign"),
        (SENTENCE, [1], 0, "not possible"),
    ],
)
def test_what_cannot_be_asked_is_refused(
    campaign: Campaign, sentence: str, items: list[int], wanted: int, what: str
) -> None:
    with pytest.raises(UserError, match=what):
        make_question_set(campaign, sentence, items, wanted=wanted)
    assert question_sets(campaign) == ()


def test_the_method_that_counts_can_be_chosen(campaign: Campaign) -> None:
    asked = make_question_set(campaign, SENTENCE, [1, 2])
    revision = campaign.revision
    choose_method(campaign, asked.number, "bp")
    assert question_set(campaign, asked.number).method == "bp"
    assert campaign.revision > revision
    with pytest.raises(UserError, match="unknown"):
        choose_method(campaign, asked.number, "best")
    with pytest.raises(UserError, match="no question set 7"):
        question_set(campaign, 7)


def check_refused(campaign: Campaign, statement: str, why: str) -> None:
    with pytest.raises(DBAPIError, match=why), campaign.database.write() as connection:
        connection.exec_driver_sql(statement)


def test_the_file_itself_keeps_the_rules(campaign: Campaign) -> None:
    asked = make_question_set(campaign, SENTENCE, [1, 2])
    ann, ben, _ = campaign.workers()
    Interview(campaign, asked).answer(ann, 1, AnswerKind.YES, 1.0)
    insert = "INSERT INTO question_events (question_set, item, worker, kind, undoes, seconds, at) VALUES "
    check_refused(campaign, f"{insert} (1, 1, {ann.number}, 'no', NULL, 1, '')", "answers a question once")
    check_refused(campaign, f"{insert} (1, 1, {ben.number}, 'undo', 1, 1, '')", "only their own")
    check_refused(campaign, f"{insert} (1, 1, {ann.number}, 'undo', NULL, 1, '')", "undo")
    check_refused(campaign, f"{insert} (1, 5, {ann.number}, 'yes', NULL, 1, '')", "FOREIGN KEY")
    check_refused(campaign, "UPDATE question_events SET kind = 'no'", "history")
    check_refused(campaign, "DELETE FROM question_events", "history")
    check_refused(campaign, "UPDATE questions SET position = 9", "never change")
    check_refused(campaign, "UPDATE question_sets SET sentence = 'x'", "never changed")
    check_refused(campaign, "DELETE FROM question_sets", "never changed")


def test_a_check_finds_what_the_rules_would_not_have_let_in(campaign: Campaign) -> None:
    asked = make_question_set(campaign, SENTENCE, [1, 2])
    ann = campaign.workers()[0]
    Interview(campaign, asked).answer(ann, 1, AnswerKind.YES, 1.0)
    campaign.close()
    with closing(sqlite3.connect(campaign.path)) as connection:
        rule = connection.execute("SELECT sql FROM sqlite_master WHERE name = 'questions_answered_once'").fetchone()[0]
        connection.execute("DROP TRIGGER questions_answered_once")
        connection.execute(
            "INSERT INTO question_events (question_set, item, worker, kind, seconds, at) VALUES (1, 1, 0, 'no', 1, '')"
        )
        connection.execute(rule)
        connection.execute(
            "INSERT INTO question_sets (sentence, wanted, policy, seed, method, created_at)"
            " VALUES ('x', 1, 'uniform', 0, 'em', '')"
        )
        connection.commit()
    problems = "\n".join(check_campaign(campaign.path).problems)
    assert "question set 1, Ann has answered more than once about part 1/photo #1.png" in problems
    assert "question set 2 has no items" in problems


ANSWERING = """
import sys
from pathlib import Path
from crowdclust_app.domain.questions import AnswerKind
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.verify.interview import Interview, question_set
campaign = Campaign.open(Path(sys.argv[1]))
interview = Interview(campaign, question_set(campaign, 1))
worker = campaign.workers()[0]
while (question := interview.next_question(worker)) is not None:
    interview.answer(worker, question.item, AnswerKind.YES, 1.0)
    print(question.item, flush=True)
print("end", flush=True)
"""


def test_a_killed_program_loses_no_answer_and_goes_on_the_same(campaign: Campaign, make_campaign: MakeCampaign) -> None:
    big = make_campaign(n_items=80, name="big")
    worker: Worker = big.add_worker("Ann")
    sets = [make_question_set(big, SENTENCE, range(80), wanted=1, seed=2) for _ in range(2)]
    said: list[int] = []
    for stop in (3, 11, 30):
        with subprocess.Popen(
            [sys.executable, "-c", ANSWERING, str(big.path)], stdout=subprocess.PIPE, text=True
        ) as process:
            assert process.stdout is not None
            for count, line in enumerate(process.stdout, start=1):
                said.append(int(line))
                if count == stop:
                    break
            process.kill()
            said += [int(line) for line in process.stdout]
        assert process.returncode == -signal.SIGKILL
        stored = [answer.item for answer in answers(big, sets[0].number)]
        assert stored[: len(said)] == said
        said = stored
    assert check_campaign(Path(big.path)).ok
    untroubled = Interview(big, sets[1])
    for item in [*said, asked_item(Interview(big, sets[0]).next_question(worker))]:
        assert asked_item(untroubled.next_question(worker)) == item
        untroubled.answer(worker, item, AnswerKind.YES, 1.0)
