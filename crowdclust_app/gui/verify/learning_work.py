"""Learning from the images of the question set that is shown: off the main thread, again when answers have changed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QObject, Signal

from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.domain.errors import UserError
from crowdclust_app.gui.errors import describe
from crowdclust_app.gui.jobs import Job, cancel_jobs
from crowdclust_app.gui.screen import Shell
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.fits.run_store import run_list
from crowdclust_app.services.progress_report import Progress, ProgressReport
from crowdclust_app.services.verify.active_learning import (
    ActiveLearning,
    LearningSettings,
    Learnt,
    gold_of,
    learning_of,
    mark_gold,
    set_learning,
    unmark_gold,
)

TITLE = "Learning from images"
RUNS_OFFERED = 12
_POSITIONS = "crowdclustering"


@dataclass(frozen=True)
class _Read:
    """What the campaign says of a question set."""

    desk: ActiveLearning
    settings: LearningSettings | None
    gold: dict[int, bool]
    runs: tuple[int, ...]
    trouble: str


def _read(campaign: Campaign, number: int, desk: ActiveLearning | None) -> _Read:
    trouble, settings = "", None
    try:
        settings = learning_of(campaign, number)
    except UserError as error:
        trouble = describe(error).text
    runs = [run.number for run in run_list(campaign) if run.method == _POSITIONS]
    gold = gold_of(campaign, number)
    return _Read(desk or ActiveLearning(campaign, number), settings, gold, tuple(runs[-RUNS_OFFERED:]), trouble)


class LearningWork(QObject):
    """Keeps one set's desk, learns when it is behind, stores the lead's choices.

    Signals
    -------
    settings_read : (LearningSettings or None, tuple of int)
        What is in force, and the runs whose positions can be used.
    learnt : Learnt or None
        What is known now.
    gold_changed : dict
        Whether each gold item belongs.
    busy : bool
        Whether it is learning.
    reported : ProgressReport
        How far that is.
    trouble : str
        Why nothing could be learnt; "" when that is over.
    """

    settings_read = Signal(object, object)
    learnt = Signal(object)
    gold_changed = Signal(object)
    busy = Signal(bool)
    reported = Signal(object)
    trouble = Signal(str)

    def __init__(self, shell: Shell, parent: QObject) -> None:
        super().__init__(parent)
        self._shell = shell
        self._campaign: Campaign | None = None
        self._number = 0
        self._desk: ActiveLearning | None = None
        self._settings: LearningSettings | None = None
        self._gold: dict[int, bool] = {}
        self._marks: list[tuple[int, bool | None]] = []
        # Marks on their way into the file: what was read before them is old.
        self._marking = 0
        self._reading: Job | None = None
        self._checking: Job | None = None
        self._fit: Job | None = None
        # The person stopped it: not begun again until they say so.
        self._held = self._again = False

    @property
    def desk(self) -> ActiveLearning | None:
        """What chooses the next question; None while learning is switched off."""
        return self._desk if self._settings is not None else None

    def open(self, campaign: Campaign, number: int) -> None:
        """Open this question set; for the one that is open already, read the settings in force again."""
        if campaign is not self._campaign or number != self._number:
            self.stop()
            self._campaign, self._number = campaign, number
        desk = self._desk

        def work(_progress: Progress, _token: CancelToken) -> _Read:
            return _read(campaign, number, desk)

        self._reading = self._shell.jobs.start(
            "database", work, on_done=self._opened, owner=self, instead_of=self._reading
        )

    def stop(self) -> None:
        """Nothing is shown any more."""
        jobs = self._reading, self._checking, self._fit
        self._checking = self._fit = None
        cancel_jobs(*jobs)
        self._campaign = self._desk = self._settings = None
        self._gold, self._marks = {}, []
        self._held = self._again = False
        self.busy.emit(False)
        self.trouble.emit("")
        self.gold_changed.emit({})
        self.learnt.emit(None)

    def _opened(self, read: _Read) -> None:
        self._desk, self._settings = read.desk, read.settings
        self.settings_read.emit(read.settings, read.runs)
        if read.trouble:
            self.trouble.emit(read.trouble)
        if read.gold != self._gold and not self._marking:
            self._gold = read.gold
            self.gold_changed.emit(dict(read.gold))
        self._tell()
        self.ensure()

    def _tell(self) -> None:
        desk = self.desk
        self.learnt.emit(desk.learnt if desk is not None else None)

    # --- learning

    def ensure(self) -> None:
        """Learn if answers, gold photos or settings have changed since."""
        desk = self.desk
        if desk is None or self._held:
            return
        if self._fit is not None or self._checking is not None:
            self._again = True
            return

        def work(_progress: Progress, _token: CancelToken) -> bool:
            return desk.stale()

        def told(stale: bool) -> None:
            self._checking = None
            if stale and desk is self.desk:
                self._learn(desk)
            else:
                self._once_more()

        def failed(error: BaseException) -> None:
            self._checking = None
            self.trouble.emit(describe(error).text)

        self._again = False
        self._checking = self._shell.jobs.start("database", work, on_done=told, on_failed=failed, owner=self)

    def learn_now(self) -> None:
        """Learn, even if nothing has changed or it was stopped."""
        desk = self.desk
        if desk is not None and self._fit is None:
            self._held = False
            self._learn(desk)

    def cancel(self) -> None:
        """Stop learning until the person wants it again."""
        if self._fit is not None:
            self._fit.cancel()

    def _learn(self, desk: ActiveLearning) -> None:
        def work(progress: Progress, token: CancelToken) -> Learnt:
            return desk.refresh(progress, token)

        def over(job: Job) -> bool:
            """Whether this was the last word on what is shown."""
            if job is not self._fit:
                return False
            self._fit = None
            self.busy.emit(False)
            return True

        def done(_learnt: Learnt) -> None:
            if over(job):
                self.trouble.emit("")
                self._tell()
                self._once_more()

        def failed(error: BaseException) -> None:
            if over(job):
                self.trouble.emit(describe(error).text)
                if not isinstance(error, UserError):
                    self._shell.show_failure(error)

        def cancelled() -> None:
            if over(job):
                self._held = True
                self.trouble.emit("Stopped; press Learn now to go on.")

        self.trouble.emit("")
        self.busy.emit(True)
        job = self._fit = self._shell.jobs.start(
            "inference",
            work,
            title=TITLE,
            on_done=done,
            on_progress=self.reported.emit,
            on_failed=failed,
            on_cancelled=cancelled,
            owner=self,
        )
        if job.waiting:
            self.reported.emit(ProgressReport(0, None, job.waiting))

    def _once_more(self) -> None:
        if self._again:
            self.ensure()

    # --- the lead's choices

    def choose(self, settings: LearningSettings | None) -> None:
        """Learn like this from now on; None: not at all."""
        campaign, number = self._campaign, self._number
        if campaign is None:
            return
        fit, self._fit = self._fit, None
        if fit is not None:
            fit.cancel()
            self.busy.emit(False)
        self._held, self._settings = False, settings
        self.trouble.emit("")

        def work(_progress: Progress, _token: CancelToken) -> None:
            set_learning(campaign, number, settings)

        self._store(work, self._reread)

    def gold(self, item: int, yes: bool | None) -> None:
        """Mark an item whose answer is known, or (None) not any more."""
        before = self._gold.get(item)
        if self._campaign is not None and before is not yes:
            self._marks.append((item, before))
            self._mark(item, yes)

    def undo_gold(self) -> bool:
        """Take the last mark back; whether there was one."""
        if not self._marks:
            return False
        self._mark(*self._marks.pop())
        return True

    def _mark(self, item: int, yes: bool | None) -> None:
        campaign, number = self._campaign, self._number
        assert campaign is not None
        self._gold = (
            {**self._gold, item: yes} if yes is not None else {k: v for k, v in self._gold.items() if k != item}
        )
        self.gold_changed.emit(dict(self._gold))

        def work(_progress: Progress, _token: CancelToken) -> None:
            if yes is None:
                unmark_gold(campaign, number, item)
            else:
                mark_gold(campaign, number, item, yes)

        self._marking += 1
        self._store(work, self._marked)

    def _marked(self) -> None:
        self._marking -= 1
        if not self._marking:
            self._reread()

    def _store(self, work: Callable[[Progress, CancelToken], None], then: Callable[[], None]) -> None:
        def failed(error: BaseException) -> None:
            self._shell.show_failure(error)
            then()

        self._shell.jobs.start(
            "database", work, on_done=lambda _none: then(), on_failed=failed, owner=self, essential=True
        )

    def _reread(self) -> None:
        if self._campaign is not None:
            self.open(self._campaign, self._number)
