"""Verification: question sets, handing out their questions, keeping every answer.

Every answer, skip and undo is one event in the campaign file before the next question is asked. Which question comes
next is a function of those events, so two windows on the same file and a program that was killed all go on as one.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass

from crowdclust_app.domain.campaign import Worker
from crowdclust_app.domain.errors import UserError
from crowdclust_app.domain.methods import verify_names
from crowdclust_app.domain.questions import LONGEST_SENTENCE, Answer, AnswerKind, Policy, QuestionSet
from crowdclust_app.inference.aggregators import OnlineSBIC
from crowdclust_app.sampling.asking import Asker
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.storage import catalogue, questions
from crowdclust_app.storage.connection import Connection
from crowdclust_app.storage.times import now

PRIOR = (2.0, 1.0)
PREVALENCE = 0.5
USUAL_METHOD = "mf"
MOST_WANTED = 1000
# Questions whose pictures are loaded ahead.
AHEAD = 3


@dataclass(frozen=True, slots=True)
class QuestionSetInfo:
    """A question set and how far it is.

    Parameters
    ----------
    labels, workers
        Answers (skips are none) and how many people gave them.
    seconds
        Time that they took.
    """

    question_set: QuestionSet
    labels: int
    workers: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Question:
    """What a worker is asked.

    Parameters
    ----------
    item
        Number of the item.
    ahead
        Items that will probably be asked about next.
    """

    item: int
    ahead: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class AskingProgress:
    """How far a worker and the set are.

    Parameters
    ----------
    answered, skipped
        By this worker.
    remaining
        Questions that this worker could still be asked.
    labels, planned
        Of everybody.
    """

    answered: int
    skipped: int
    remaining: int
    labels: int
    planned: int


def make_question_set(
    campaign: Campaign,
    sentence: str,
    items: Sequence[int],
    *,
    wanted: int = 3,
    policy: Policy = Policy.UNCERTAINTY,
    seed: int = 0,
    run: int | None = None,
    cluster: int | None = None,
) -> QuestionSet:
    """Make a set of yes/no questions.

    Parameters
    ----------
    sentence
        What is asked of each item.
    items
        Item numbers, each once.
    wanted, policy, seed
        As in `QuestionSet`.
    run, cluster
        The cluster of a stored run that is verified.

    Raises
    ------
    UserError
        When there is nothing to ask, or no sentence.
    """
    sentence = " ".join(sentence.split())
    if not sentence:
        raise UserError("a question needs a sentence", todo="write what is asked of each photo")
    if len(sentence) > LONGEST_SENTENCE:
        raise UserError(f"the sentence is longer than {LONGEST_SENTENCE} letters", todo="shorten it")
    if not 1 <= wanted <= MOST_WANTED:
        raise UserError(f"{wanted} labels a photo are not possible", todo=f"choose 1 to {MOST_WANTED}")
    chosen = [int(item) for item in items]
    known = {item.number for item in campaign.items()}
    if not chosen:
        raise UserError("no photo is chosen", todo="choose a cluster or some photos")
    if len(set(chosen)) < len(chosen) or not known.issuperset(chosen):
        raise UserError("a photo is chosen twice or is not in the campaign", todo="choose each photo once")
    with campaign.database.write() as connection:
        number = questions.insert_set(
            connection,
            sentence=sentence,
            items=chosen,
            wanted=wanted,
            policy=policy,
            seed=seed,
            run=run,
            cluster=cluster,
            method=USUAL_METHOD,
            now=now(),
        )
        catalogue.bump_revision(connection)
        return questions.sets(connection, number)[0]


def question_sets(campaign: Campaign) -> tuple[QuestionSetInfo, ...]:
    """Every question set, oldest first."""
    with campaign.database.read() as connection:
        counts = questions.answer_counts(connection)
        return tuple(
            QuestionSetInfo(found, *counts.get(found.number, (0, 0, 0.0))) for found in questions.sets(connection)
        )


def question_set(campaign: Campaign, number: int) -> QuestionSet:
    """One question set.

    Raises
    ------
    UserError
        When there is none of this number.
    """
    with campaign.database.read() as connection:
        found = questions.sets(connection, number)
    if not found:
        raise UserError(f"the campaign has no question set {number}", where=str(campaign.path))
    return found[0]


def answers(campaign: Campaign, number: int) -> tuple[Answer, ...]:
    """What was said to the questions of a set and not taken back, oldest first."""
    with campaign.database.read() as connection:
        return tuple(questions.standing_answers(connection, number))


def newest_event(campaign: Campaign, number: int) -> int:
    """Number of the newest event of a set, 0 without any: it changes with every answer given or taken back."""
    with campaign.database.read() as connection:
        return questions.newest_event(connection, number)


def choose_method(campaign: Campaign, number: int, method: str) -> None:
    """Say which aggregator's verdicts go into the results.

    Raises
    ------
    UserError
        When it is not on the Verify screen.
    """
    if method not in verify_names():
        raise UserError(f"the method {method} is unknown here", todo=f"take one of {', '.join(verify_names())}")
    with campaign.database.write() as connection:
        questions.choose_method(connection, number, method)
        catalogue.bump_revision(connection)


class Interview:
    """Asks the questions of one set; safe to use from several threads.

    Parameters
    ----------
    campaign
        Where the answers go.
    asked
        The set.
    """

    def __init__(self, campaign: Campaign, asked: QuestionSet) -> None:
        self.question_set = asked
        self._campaign = campaign
        self._task_of = {item: task for task, item in enumerate(asked.items)}
        self._asker = Asker(len(asked.items), asked.wanted, asked.policy.value, asked.seed, _posterior)
        self._lock = threading.Lock()
        self._seen = 0
        # the events in force by number, so that one can be taken back
        self._standing: dict[int, tuple[int, int, AnswerKind]] = {}
        self._given: dict[int, dict[str, int]] = {}

    def next_question(self, worker: Worker) -> Question | None:
        """What this worker is asked now.

        Returns
        -------
        Question or None
            None when there is nothing left for this worker.
        """
        with self._lock:
            self._catch_up()
            ahead = self._asker.ahead(worker.number, 1 + AHEAD)
            return self._question(ahead)

    def answer(self, worker: Worker, item: int, said: AnswerKind, seconds: float) -> None:
        """Store what a worker says; it is on disk when this returns.

        Raises
        ------
        UserError
            When this worker has answered the question already, perhaps in another window.
        """
        with self._lock:
            with self._campaign.database.write() as connection:
                number = self.question_set.number
                if questions.has_said(connection, number, item, worker.number):
                    what = f"{worker.name} has answered this question already, perhaps in another window"
                    raise UserError(what, todo="take the next one")
                questions.insert_event(
                    connection,
                    question_set=number,
                    item=item,
                    worker=worker.number,
                    kind=said.value,
                    seconds=max(0.0, seconds),
                    now=now(),
                )
                catalogue.bump_revision(connection)
                events = self._new_events(connection)
            self._apply(events)

    def undo(self, worker: Worker) -> Question | None:
        """Take back what this worker said last; the answer stays in the log, with an event that takes it back.

        Returns
        -------
        Question or None
            The same question once more; None when there is nothing to take back.
        """
        with self._lock:
            with self._campaign.database.write() as connection:
                number = self.question_set.number
                last = questions.last_answer(connection, number, worker.number)
                if last is None:
                    return None
                event, item = last
                questions.insert_event(
                    connection,
                    question_set=number,
                    item=item,
                    worker=worker.number,
                    kind=questions.UNDO,
                    seconds=0.0,
                    now=now(),
                    undoes=event,
                )
                catalogue.bump_revision(connection)
                events = self._new_events(connection)
            self._apply(events)
            task = self._task_of[item]
            others = (other for other in self._asker.ahead(worker.number, 1 + AHEAD) if other != task)
            return self._question((task, *others))

    def progress(self, worker: Worker) -> AskingProgress:
        """How far this worker and the whole set are."""
        with self._lock:
            self._catch_up()
            given = self._given.get(worker.number, {})
            return AskingProgress(
                answered=given.get(AnswerKind.YES, 0) + given.get(AnswerKind.NO, 0),
                skipped=given.get(AnswerKind.SKIP, 0),
                remaining=self._asker.open_for(worker.number),
                labels=self._asker.labels,
                planned=self._asker.budget,
            )

    def _question(self, tasks: Sequence[int]) -> Question | None:
        items = [self.question_set.items[task] for task in tasks]
        return Question(items[0], tuple(items[1 : 1 + AHEAD])) if items else None

    def _new_events(self, connection: Connection) -> list[tuple[int, int, int, str, int | None]]:
        return [
            (event.number, event.item, event.worker, event.kind, event.undoes)
            for event in questions.events_after(connection, self.question_set.number, self._seen)
        ]

    def _catch_up(self) -> None:
        with self._campaign.database.read() as connection:
            events = self._new_events(connection)
        self._apply(events)

    def _apply(self, events: Sequence[tuple[int, int, int, str, int | None]]) -> None:
        """Take in events; of those that are taken back further on in the same piece nothing has to be undone."""
        undone = {undoes for *_, undoes in events if undoes is not None}
        for number, item, worker, kind, undoes in events:
            self._seen = number
            if undoes is not None:
                if undoes in self._standing:
                    self._take_back(undoes)
            elif number not in undone:
                said = AnswerKind(kind)
                task = self._task_of[item]
                if said is AnswerKind.SKIP:
                    self._asker.skip(task, worker)
                else:
                    self._asker.add(task, worker, said is AnswerKind.YES)
                self._standing[number] = (task, worker, said)
                given = self._given.setdefault(worker, {})
                given[said] = given.get(said, 0) + 1

    def _take_back(self, number: int) -> None:
        task, worker, said = self._standing.pop(number)
        self._asker.take_back(task, worker)
        self._given[worker][said] -= 1


def _posterior() -> OnlineSBIC:
    return OnlineSBIC(prior=PRIOR, prevalence=PREVALENCE)
