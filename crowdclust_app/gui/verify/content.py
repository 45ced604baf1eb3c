"""What fills the Verify screen: the question sets, the form for a new one, who answers, the questions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from crowdclust_app.domain.campaign import Worker
from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.domain.questions import AnswerKind, QuestionSet
from crowdclust_app.gui.annotate.worker_page import WorkerPage
from crowdclust_app.gui.empty import EmptyState
from crowdclust_app.gui.run_content import CLUSTER_WANTED
from crowdclust_app.gui.screen import Screen, Shell
from crowdclust_app.gui.screen_content import ScreenContent
from crowdclust_app.gui.verify.answer_page import AnswerPage
from crowdclust_app.gui.verify.form import FormPage, NewSet
from crowdclust_app.gui.verify.lead_page import LeadPage
from crowdclust_app.gui.verify.lead_words import KINDS
from crowdclust_app.gui.verify.learning_link import LearningLink
from crowdclust_app.gui.verify.live import LiveAnswers
from crowdclust_app.gui.verify.photos import Files
from crowdclust_app.gui.verify.session import AskedQuestion, AskingSession
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.campaign.exclusions import active_workers
from crowdclust_app.services.progress_report import Progress
from crowdclust_app.services.verify.interview import QuestionSetInfo, choose_method, make_question_set, question_sets
from crowdclust_app.services.verify.question_sources import ItemSource, item_sources
from crowdclust_app.services.verify.verdicts import Verification

SET_KEY, WORKER_KEY, COLUMNS_KEY = "verify-set", "verify-worker", "verify-columns"
WANTED = CLUSTER_WANTED.format(screen="verify")
SAVED = "Every answer is saved"


@dataclass(frozen=True)
class Loaded:
    """The question sets, and the items' names and photos by number."""

    sets: tuple[QuestionSetInfo, ...]
    names: dict[int, str]
    files: Files


class VerifyContent(ScreenContent):
    """Which photos really belong."""

    def __init__(self, shell: Shell, screen: Screen) -> None:
        super().__init__(shell, screen)
        self._sets: tuple[QuestionSetInfo, ...] = ()
        self._names: dict[int, str] = {}
        self._files: Files = {}
        self._number: int | None = None
        self._session: AskingSession | None = None
        self.lead = LeadPage(shell.pictures, self)
        self.live = LiveAnswers(shell, self.lead)
        self.learning = LearningLink(shell, self.lead)
        self.form = FormPage(shell.pictures, self)
        self.worker_page = WorkerPage("Who is answering?", "answering", "verify-")
        self.answers = AnswerPage(shell.pictures, self)
        self.empty = EmptyState(
            "Verification asks people yes/no questions about single photos: does this really belong?",
            "Make a set of questions from a cluster, or from any photos and a sentence of your own.",
            "Make a question set",
            self,
        )
        self.empty.button.setObjectName("verify-first")
        self._blank = QWidget()
        self.pages = self._fill_with(self._blank, self.lead, self.form, self.worker_page, self.answers, self.empty)
        self._connect()
        self._add_commands()
        self.learning.add_commands(screen)

    def _connect(self) -> None:
        self.empty.button.clicked.connect(self.open_form)
        self.lead.making.connect(self.open_form)
        self.live.found.connect(self._show_answers)
        self.live.waiting.connect(self.lead.show_waiting)
        self.lead.answering.connect(self.open_questions)
        self.lead.set_chosen.connect(self.show_set)
        self.lead.method_chosen.connect(self._choose_method)
        self.lead.columns.splitterMoved.connect(lambda *_: self.shell.remember(COLUMNS_KEY, self.lead.columns.sizes()))
        self.form.made.connect(self._make)
        self.form.closed.connect(self._show_home)
        self.worker_page.picked.connect(self.begin)
        self.worker_page.added.connect(self._add_worker)
        self.answers.answered.connect(self._answer)
        self.answers.undone.connect(self._undo)
        self.answers.worker_left.connect(self.change_worker)
        self.answers.closed.connect(self.close_questions)

    def _add_commands(self) -> None:
        for title, key, call in (
            ("Answer yes", "Y", lambda: self._say(AnswerKind.YES)),
            ("Answer no", "N", lambda: self._say(AnswerKind.NO)),
            ("Skip the question", "S", lambda: self._say(AnswerKind.SKIP)),
            ("Take the last answer back", "Ctrl+Z", self.answers.undo),
            ("Change who answers", "", self.change_worker),
        ):
            self._command(title, key, call, bind=False)
        for title, key, call in (
            ("New question set", "Ctrl+Shift+N", self.open_form),
            ("Answer questions", "Ctrl+Return", self.open_questions),
        ):
            self._command(title, key, call)
        for kind, (title, _) in KINDS.items():
            self._command(f"Photos: {title.lower()}", "", partial(self.lead.show_kind, kind))

    def _say(self, said: AnswerKind) -> None:
        if self.pages.currentWidget() is self.answers:
            self.answers.say(said)

    # --- the screen in the window

    def _forget(self) -> None:
        campaign = self._campaign
        self._end_session()
        self.live.stop()
        self.learning.close()
        self._sets, self._names, self._files = (), {}, {}
        self._number = self.shell.recall(SET_KEY) if campaign is not None else None
        sizes = self.shell.recall(COLUMNS_KEY) if campaign is not None else None
        if sizes:
            self.lead.columns.setSizes(sizes)
        self.lead.show_verification(None, {})
        if campaign is not None:
            self.learning.recall()
        self._turn_to(self._blank)

    def _reader(self, campaign: Campaign) -> Callable[[CancelToken], Loaded]:
        return lambda _cancel: _load_sets(campaign)

    def escape(self) -> bool:
        """From a form or the questions back to the question sets."""
        if self.pages.currentWidget() in (self.form, self.worker_page, self.answers):
            self.close_questions()
            return True
        return False

    def setFocus(self, *_arguments: object) -> None:
        """The keyboard belongs to what is shown."""
        page = self.pages.currentWidget()
        if page is self.empty:
            self.empty.button.setFocus(Qt.FocusReason.OtherFocusReason)
        elif page is not None:
            page.setFocus(Qt.FocusReason.OtherFocusReason)

    def _turn_to(self, page: QWidget) -> None:
        had_keys = self.isAncestorOf(self.window().focusWidget() or self.window()) or self.hasFocus()
        self.pages.setCurrentWidget(page)
        if had_keys and self.isVisible():
            self.setFocus()

    # --- the lead's view

    def _loaded(self, loaded: Loaded) -> None:
        self._sets, self._names, self._files = loaded.sets, loaded.names, loaded.files
        numbers = [info.question_set.number for info in loaded.sets]
        if self._number not in numbers:
            self._number = numbers[-1] if numbers else None
        self.lead.show_sets(loaded.sets, self._number)
        wanted = self.shell.recall(WANTED)
        if wanted is not None:
            self.shell.remember(WANTED, None)
            self.verify_cluster(*wanted)
        elif self.pages.currentWidget() in (self._blank, self.lead, self.empty):
            self._show_home()

    def verify_cluster(self, run: int, cluster: int) -> None:
        """Show the newest question set about this cluster; the form for one where there is none yet."""
        about = [info.question_set for info in self._sets]
        found = next((asked for asked in reversed(about) if (asked.run, asked.cluster) == (run, cluster)), None)
        self._end_session()
        if found is None:
            self._open_form((run, cluster))
            return
        self.lead.show_sets(self._sets, found.number)
        self._turn_to(self.lead)
        self.show_set(found.number)

    def _show_home(self) -> None:
        self._turn_to(self.lead if self._sets else self.empty)
        if self._sets:
            self._look()

    def show_set(self, number: int) -> None:
        """Show another question set."""
        if number != self._number:
            self._number = number
            self.shell.remember(SET_KEY, number)
            self.lead.show_verification(None, {})
        self._look()

    def _look(self) -> None:
        if self._campaign is not None and self._number is not None:
            self.live.look(self._campaign, self._number)
            self.learning.work.open(self._campaign, self._number)

    def _show_answers(self, verification: Verification) -> None:
        """Show what the answers say; figures of all methods stay until there are newer ones of all."""
        shown = self.lead.verification
        same = shown is not None and shown.question_set.number == verification.question_set.number
        if not same or len(verification.methods) > 1 or shown.labels != verification.labels:  # type: ignore[union-attr]
            self.lead.show_verification(verification, self._files)
        self.learning.work.ensure()

    def _choose_method(self, method: str) -> None:
        campaign, shown = self._campaign, self.lead.verification
        if campaign is None or shown is None or shown.question_set.method == method:
            return
        asked = replace(shown.question_set, method=method)
        self.lead.show_verification(replace(shown, question_set=asked), self._files)

        def work(_progress: Progress, _token: CancelToken) -> None:
            choose_method(campaign, asked.number, method)

        self.shell.jobs.start("database", work, owner=self, essential=True)

    # --- a new set

    def open_form(self) -> None:
        """Fill in a new question set."""
        self._open_form(None)

    def _open_form(self, about: tuple[int, int] | None) -> None:
        """Fill in a new question set, about this cluster of this run where they are named."""
        campaign = self._campaign
        if campaign is None:
            return
        run = about[0] if about else self.shell.recall("run-shown")

        def work(_progress: Progress, _token: CancelToken) -> tuple[ItemSource, ...]:
            return item_sources(campaign, run)

        def done(sources: tuple[ItemSource, ...]) -> None:
            self.form.show_sources(sources, self._names, self._files, about)
            self._turn_to(self.form)
            self.form.setFocus(Qt.FocusReason.OtherFocusReason)

        self.shell.jobs.start("database", work, on_done=done, owner=self)

    def _make(self, new: NewSet) -> None:
        campaign = self._campaign
        if campaign is None:
            return

        def work(_progress: Progress, _token: CancelToken) -> QuestionSet:
            return make_question_set(
                campaign,
                new.sentence,
                new.items,
                wanted=new.wanted,
                policy=new.policy,
                seed=new.seed,
                run=new.source.run,
                cluster=new.source.cluster,
            )

        def done(made: QuestionSet) -> None:
            self._number = made.number
            self.shell.remember(SET_KEY, made.number)
            self.shell.say("The question set is saved")
            self.lead.show_verification(None, {})
            self.pages.setCurrentWidget(self.lead)
            self.lead.setFocus(Qt.FocusReason.OtherFocusReason)
            self.shell.data_changed.emit()

        def failed(error: BaseException) -> None:
            self.form.make.setEnabled(True)
            self.shell.show_failure(error)

        self.shell.jobs.start("database", work, on_done=done, on_failed=failed, owner=self, essential=True)

    # --- answering

    @property
    def _asked(self) -> QuestionSet | None:
        return next((info.question_set for info in self._sets if info.question_set.number == self._number), None)

    def open_questions(self) -> None:
        """Answer the questions of the set that is shown, as who answered last, or ask who it is."""
        campaign = self._campaign
        if campaign is None or self._asked is None or self.pages.currentWidget() is not self.lead:
            return

        def work(_progress: Progress, _token: CancelToken) -> tuple[Worker, ...]:
            return active_workers(campaign)

        def done(workers: tuple[Worker, ...]) -> None:
            self.worker_page.show_workers(workers, self._asked.sentence if self._asked is not None else "")
            known = self.shell.recall(WORKER_KEY)
            worker = next((worker for worker in workers if worker.name == known), None)
            if worker is not None:
                self.begin(worker)
            else:
                self._show_workers()

        self.shell.jobs.start("database", work, on_done=done, owner=self)

    def _show_workers(self) -> None:
        self._turn_to(self.worker_page)
        self.worker_page.field.clear()
        self.worker_page.field.setFocus()

    def change_worker(self) -> None:
        """Change the worker."""
        if self._asked is None:
            return
        self._end_session()
        self.shell.remember(WORKER_KEY, None)
        self._turn_to(self.lead)
        self.open_questions()

    def _add_worker(self, name: str) -> None:
        campaign = self._campaign
        if campaign is None:
            return

        def work(_progress: Progress, _token: CancelToken) -> Worker:
            return campaign.add_worker(name)

        self.shell.jobs.start("database", work, on_done=self.begin, owner=self, essential=True)

    def begin(self, worker: Worker) -> None:
        """Let this worker answer."""
        campaign, asked = self._campaign, self._asked
        if campaign is None or asked is None:
            return
        self._end_session()
        self.shell.remember(WORKER_KEY, worker.name)
        session = AskingSession(self.shell.jobs, campaign, asked, worker, self, lambda: self.learning.work.desk)
        session.asked.connect(self._show_turn)
        session.failed.connect(self._tell_failed)
        self._session = session
        self.answers.wait(asked.sentence, worker.name)
        self._turn_to(self.answers)
        self.answers.setFocus(Qt.FocusReason.OtherFocusReason)
        session.begin()

    def _show_turn(self, turn: AskedQuestion) -> None:
        if self._session is not None:
            self.answers.show_turn(turn, self._files)
            self.learning.work.ensure()
            self.shell.say(SAVED if turn.progress.answered + turn.progress.skipped else "")

    def _answer(self, said: AnswerKind, seconds: float) -> None:
        if self._session is not None:
            self._session.answer(said, seconds)

    def _undo(self) -> None:
        if self._session is not None:
            self._session.undo()

    def _tell_failed(self, error: BaseException) -> None:
        self.answers.thaw()
        self.shell.show_failure(error)

    def _end_session(self) -> None:
        if self._session is not None:
            self._session.end()
            self._session = None

    def close_questions(self) -> None:
        """Back to the question sets, with what has been answered."""
        self._end_session()
        self._show_home()
        self.refresh()


def _load_sets(campaign: Campaign) -> Loaded:
    """Read the question sets and where the photos are."""
    items = campaign.items()
    files: Files = {}
    if campaign.has_images and campaign.images_found:
        files = {item.number: (campaign.item_path(item), item.content_hash) for item in items}
    return Loaded(question_sets(campaign), {item.number: item.path for item in items}, files)
