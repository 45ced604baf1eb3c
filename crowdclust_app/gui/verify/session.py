"""One worker answering the questions of one set: every answer goes to the file before the next question comes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QObject, Signal

from crowdclust_app.domain.campaign import Worker
from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.domain.errors import UserError
from crowdclust_app.domain.questions import AnswerKind, QuestionSet
from crowdclust_app.gui.jobs import Jobs
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.progress_report import Progress
from crowdclust_app.services.verify.active_learning import ActiveLearning
from crowdclust_app.services.verify.interview import AskingProgress, Interview, Question
from crowdclust_app.services.verify.question_sources import neighbours


@dataclass(frozen=True)
class AskedQuestion:
    """What a worker sees now.

    Parameters
    ----------
    question
        None when there is nothing left for this worker.
    neighbours
        Items shown beside it.
    undone
        Whether it is here again because its answer was taken back.
    """

    question: Question | None
    progress: AskingProgress
    neighbours: tuple[int, ...]
    undone: bool = False


class AskingSession(QObject):
    """Asks and stores, off the main thread and in order.

    Parameters
    ----------
    desk
        Called before each question: what chooses it by what was learnt; None where nothing is learnt.

    Signals
    -------
    asked : Turn
        Show this.
    failed : exception
        Nothing was stored; what is on screen is still the question.
    """

    asked = Signal(object)
    failed = Signal(object)

    def __init__(
        self,
        jobs: Jobs,
        campaign: Campaign,
        asked: QuestionSet,
        worker: Worker,
        parent: QObject,
        desk: Callable[[], ActiveLearning | None] = lambda: None,
    ) -> None:
        super().__init__(parent)
        self._desk = desk
        self._jobs = jobs
        self._campaign = campaign
        self.question_set = asked
        self.worker = worker
        self._interview: Interview | None = None
        self._neighbours: tuple[int, ...] = ()
        self._item: int | None = None
        self._over = False
        self.busy = False

    def end(self) -> None:
        """Stop serving this worker; answers that were already sent are still stored."""
        self._over = True

    def begin(self) -> None:
        """Ask the first question."""

        def work() -> AskedQuestion:
            self._interview = Interview(self._campaign, self.question_set)
            self._neighbours = neighbours(self._campaign, self.question_set)
            return self._next(self._interview)

        self._start(work, essential=False)

    def answer(self, said: AnswerKind, seconds: float) -> None:
        """Store an answer to the question on screen and ask the next one."""
        interview, item = self._interview, self._item
        if self.busy or interview is None or item is None:
            return

        def work() -> AskedQuestion:
            interview.answer(self.worker, item, said, seconds)
            return self._next(interview)

        self._start(work)

    def undo(self) -> None:
        """Take the last answer back and show its question again."""
        interview = self._interview
        if self.busy or interview is None:
            return

        def work() -> AskedQuestion | None:
            question = interview.undo(self.worker)
            if question is None:
                return None
            return AskedQuestion(question, interview.progress(self.worker), self._neighbours, undone=True)

        self._start(work)

    def _next(self, interview: Interview) -> AskedQuestion:
        desk = self._desk()
        # only who is here is asked
        told = desk.next_question([self.worker.number]) if desk is not None else None
        question = Question(told.item, told.ahead) if told is not None else interview.next_question(self.worker)
        return AskedQuestion(question, interview.progress(self.worker), self._neighbours)

    def _start(self, work: Callable[[], AskedQuestion | None], essential: bool = True) -> None:
        self.busy = True

        def run(_progress: Progress, _token: CancelToken) -> AskedQuestion | None:
            return work()

        self._jobs.start("database", run, on_done=self._done, on_failed=self._fail, owner=self, essential=essential)

    def _done(self, turn: AskedQuestion | None) -> None:
        self.busy = False
        if self._over or turn is None:
            return
        self._item = None if turn.question is None else turn.question.item
        self.asked.emit(turn)

    def _fail(self, error: BaseException) -> None:
        self.busy = False
        self.failed.emit(error)
        interview = self._interview
        if isinstance(error, UserError) and not self._over and interview is not None:
            # answered in another window: on to what is open
            self._start(lambda: self._next(interview), essential=False)
