"""The answers to the question set that is shown, aggregated: when it is shown, and again when others have answered."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from PySide6.QtCore import QObject, Qt, QTimer, Signal
from PySide6.QtWidgets import QWidget

from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.gui.jobs import Job, cancel_jobs
from crowdclust_app.gui.screen import Shell
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.progress_report import Progress
from crowdclust_app.services.verify.interview import newest_event, question_set
from crowdclust_app.services.verify.verdicts import Verification, look_at_answers

POLL_MS = 2000
T = TypeVar("T")


class LiveAnswers(QObject):
    """Reads the answers outside the main thread.

    Others answer in windows and processes of their own, so the log is asked every two seconds whether it has grown,
    while the page is in sight.

    Parameters
    ----------
    page
        Where the answers are shown.

    Signals
    -------
    found : Verification
        What the answers say: by the method that counts first, by all a little later.
    waiting : str
        What is running, or what it waits for, while there is no result.
    """

    found = Signal(object)
    waiting = Signal(str)

    def __init__(self, shell: Shell, page: QWidget) -> None:
        super().__init__(page)
        self._shell = shell
        self._page = page
        self._campaign: Campaign | None = None
        self._number = 0
        self._seen = -1
        self._looking: Job | None = None
        self._asking: Job | None = None
        self._timer = QTimer(self)
        self._timer.setInterval(POLL_MS)
        self._timer.timeout.connect(self._ask)
        # queued: a job that has just been started is known by then
        shell.jobs.changed.connect(self._tell, Qt.ConnectionType.QueuedConnection)

    def stop(self) -> None:
        """Nothing is shown any more."""
        self._timer.stop()
        cancel_jobs(self._looking, self._asking)
        self._looking = self._asking = self._campaign = None

    def look(self, campaign: Campaign, number: int) -> None:
        """Aggregate the answers to this set: first what counts, then everything beside it."""
        self._campaign, self._number = campaign, number

        def first(progress: Progress, token: CancelToken) -> tuple[int, Verification]:
            seen = newest_event(campaign, number)
            counting = question_set(campaign, number).method
            return seen, look_at_answers(campaign, number, (counting,), progress, token)

        def rest(progress: Progress, token: CancelToken) -> Verification:
            return look_at_answers(campaign, number, progress=progress, cancel=token)

        def begun(result: tuple[int, Verification]) -> None:
            self._seen, verification = result
            self._looking = None
            self.found.emit(verification)
            if verification.labels:
                self._start(rest, self._looked)

        self._start(first, begun)
        self._timer.start()

    def _start(self, work: Callable[[Progress, CancelToken], T], done: Callable[[T], object]) -> None:
        def failed(error: BaseException) -> None:
            self.waiting.emit("")
            self._shell.show_failure(error)

        def cancelled() -> None:
            if job is self._looking:
                self._looking = None

        job = self._looking = self._shell.jobs.start(
            "quick",
            work,
            title="Aggregating answers",
            on_done=done,
            on_failed=failed,
            on_cancelled=cancelled,
            owner=self._page,
            instead_of=self._looking,
        )

    def _tell(self) -> None:
        if self._looking is not None and not self._looking.finished:
            self.waiting.emit(self._looking.sentence)

    def _looked(self, verification: Verification) -> None:
        self._looking = None
        self.found.emit(verification)

    def _ask(self) -> None:
        """Whether the log has grown."""
        campaign, number = self._campaign, self._number
        if campaign is None or self._looking is not None or self._asking is not None or not self._page.isVisible():
            return

        def work(_progress: Progress, _token: CancelToken) -> int:
            return newest_event(campaign, number)

        def told(newest: int) -> None:
            self._asking = None
            if newest != self._seen and self._looking is None and number == self._number:
                self.look(campaign, number)

        def failed(_error: BaseException) -> None:
            self._asking = None  # the next question of two seconds later may be answered

        self._asking = self._shell.jobs.start("database", work, on_done=told, on_failed=failed, owner=self._page)
