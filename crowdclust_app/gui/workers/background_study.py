"""What the Workers screen works out off the main thread: the study of the workers, and clusters without one of them."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from crowdclust_app.domain.response_table import ResponseTable
from crowdclust_app.gui.jobs import Job, cancel_jobs
from crowdclust_app.gui.screen import Shell
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.clusters.run_view import RunView
from crowdclust_app.services.fits.results import Run
from crowdclust_app.services.progress_report import ProgressReport
from crowdclust_app.services.workers.leave_one_out import WithoutWorker, without_worker
from crowdclust_app.services.workers.study import StudyInput, WorkerStudy, read_for_study, study


class Studying(QObject):
    """Keeps the newest study, and the answers to "what if without this worker".

    Signals
    -------
    studied
        There is a new study.
    without_changed
        An answer is there, or how far it has come has changed.
    """

    studied = Signal()
    without_changed = Signal()

    def __init__(self, shell: Shell, parent: QObject) -> None:
        super().__init__(parent)
        self._shell = shell
        self.study: WorkerStudy | None = None
        self._reading: Job | None = None
        self._studying: Job | None = None
        self._without: Job | None = None
        self._asked = ""
        self._share = 0.0
        self._answers: dict[str, WithoutWorker] = {}
        self._answers_of: object = None

    def forget(self) -> None:
        """Another campaign: nothing is known of it."""
        cancel_jobs(self._reading, self._studying)
        self.stop_without()
        self.study = None
        self._answers = {}
        self._answers_of = None

    def look(self, campaign: Campaign | None, view: RunView | None) -> None:
        """Study the workers of this campaign beside this run."""
        cancel_jobs(self._reading, self._studying)
        if campaign is None:
            return
        run, table = (view.run, view.table) if view is not None else (None, None)
        if view is not None:
            self._keep_answers(view)
        elif self._answers_of is not None:
            self._answers, self._answers_of = {}, None
        self._reading = self._shell.jobs.start(
            "database",
            lambda _progress, _cancel: read_for_study(campaign, run, table),
            title="Reading the answers",
            on_done=self._read,
            on_failed=self._shell.show_failure,
            owner=self,
        )

    def _read(self, found: StudyInput) -> None:
        before = self.study
        self._studying = self._shell.jobs.start(
            "quick",
            lambda _progress, cancel: study(found, before, cancel),
            title="Looking for workers who share a criterion",
            on_done=self._done,
            on_failed=self._shell.show_failure,
            owner=self,
        )

    def _done(self, found: WorkerStudy) -> None:
        self.study = found
        self.studied.emit()

    @property
    def sentence(self) -> str:
        """The sentence that is shown while there is no study."""
        for job in (self._reading, self._studying):
            if job is not None and not job.finished:
                return job.sentence
        return "The study of the workers has stopped; it begins again when this screen is opened."

    # --- without a worker

    def _keep_answers(self, view: RunView) -> None:
        """Answers hold for one run and the responses that count."""
        of = (view.run.number, view.table.n_responses, view.table.n_pair_labels)
        if of != self._answers_of:
            self._answers, self._answers_of = {}, of
            self.stop_without()

    def ask_without(self, run: Run, table: ResponseTable, worker: str) -> None:
        """Work out what the clusters would be without this worker."""
        self.stop_without()
        self._asked, self._share = worker, 0.0
        self._without = self._shell.jobs.start(
            "quick",
            lambda progress, cancel: without_worker(run, table, worker, progress, cancel),
            title=f"Fitting without {worker}",
            on_done=self._answered,
            on_progress=self._progressed,
            on_failed=self._failed,
            owner=self,
        )
        self.without_changed.emit()

    def stop_without(self) -> None:
        """Cancel the fit without a worker."""
        if self._without is not None:
            self._without.cancel()
            self._without = None
            self.without_changed.emit()

    def _progressed(self, report: ProgressReport) -> None:
        self._share = report.fraction or 0.0
        self.without_changed.emit()

    def _answered(self, found: WithoutWorker) -> None:
        self._without = None
        self._answers[found.worker] = found
        self.without_changed.emit()

    def _failed(self, error: BaseException) -> None:
        self._without = None
        self.without_changed.emit()
        self._shell.show_failure(error)

    def running_share(self, worker: str | None) -> float | None:
        """How far the answer about a worker has come; None while it is not being computed."""
        if self._without is None or worker != self._asked or self._without.finished:
            return None
        return self._share

    def without_words(self, worker: str | None) -> str:
        """The answer about a worker, if there is one; while it is worked out, what that waits for."""
        if self.running_share(worker) is not None:
            return self._without.sentence  # type: ignore[union-attr]
        found = self._answers.get(worker or "")
        return found.sentence if found is not None else ""
