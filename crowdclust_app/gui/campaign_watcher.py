"""Notices what others have stored in the open campaign, and runs the inference again where the lead wants that."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtWidgets import QWidget

from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.gui.jobs import Job, Jobs, cancel_jobs
from crowdclust_app.services.progress_report import Progress

if TYPE_CHECKING:
    from crowdclust_app.services.campaign.campaigns import Campaign

INTERVAL_MS = 2000


class Seen(NamedTuple):
    """How often the campaign has changed, and whether the inference is due again."""

    revision: int
    due: bool


class CampaignWatcher(QObject):
    """Looks every two seconds, off the main thread, whether the campaign has changed.

    Parameters
    ----------
    window
        The file is not read while it is minimised.

    Signals
    -------
    changed
        Another program has written to the file.
    ran
        The inference has run again.
    failed : exception
        It could not.
    """

    changed = Signal()
    ran = Signal()
    failed = Signal(object)

    def __init__(self, jobs: Jobs, window: QWidget) -> None:
        super().__init__(window)
        self._jobs, self._window = jobs, window
        self._campaign: Campaign | None = None
        self._revision: int | None = None
        self._looking: Job | None = None
        self._running: Job | None = None
        self._timer = QTimer(self)
        self._timer.setInterval(INTERVAL_MS)
        self._timer.timeout.connect(self.look)

    def watch(self, campaign: Campaign | None) -> None:
        """Watch this campaign from now on."""
        cancel_jobs(self._looking, self._running)
        self._looking = self._running = None
        self._campaign, self._revision = campaign, None
        if campaign is None:
            self._timer.stop()
        else:
            self._timer.start()

    def stop(self) -> None:
        """Watch nothing any more."""
        self.watch(None)

    def look(self) -> None:
        """Read the file's revision now, unless a read is running or the window is minimised."""
        campaign = self._campaign
        if campaign is None or self._looking is not None or self._window.isMinimized():
            return
        may_run = self._running is None and not any(job.lane == "inference" for job in self._jobs.active)
        before = self._revision

        def work(_progress: Progress, _cancel: CancelToken) -> Seen:
            revision = campaign.revision
            # what is due is only counted when something has changed: it reads every response
            due = may_run and not campaign.read_only and revision != before and _is_due(campaign)
            return Seen(revision, due)

        self._looking = self._jobs.start(
            "database", work, on_done=self._seen, on_failed=self._not_seen, on_cancelled=self._forget, owner=self
        )

    def _forget(self) -> None:
        self._looking = None

    def _not_seen(self, _error: BaseException) -> None:
        """Try again next time: a job that needs the file reports the error itself."""
        self._looking = None

    def _seen(self, seen: Seen) -> None:
        self._looking = None
        changed = self._revision is not None and seen.revision != self._revision
        self._revision = seen.revision
        if changed:
            self.changed.emit()
        if seen.due:
            self._run_again()

    def _run_again(self) -> None:
        campaign = self._campaign
        if campaign is None:
            return

        def work(progress: Progress, cancel: CancelToken) -> object:
            # the first window is shown before the inference's compiled kernels are loaded
            from crowdclust_app.services.fits.campaign_fits import fit_campaign
            from crowdclust_app.services.fits.rerunning import settings_of_newest

            return fit_campaign(campaign, settings_of_newest(campaign), progress, cancel)

        self._running = self._jobs.start(
            "inference",
            work,
            title="Running again",
            on_done=self._ran,
            on_failed=self._failed,
            on_cancelled=self._ended,
            owner=self,
        )

    def _ended(self) -> None:
        self._running = None

    def _ran(self, _run: object) -> None:
        self._running = None
        self.ran.emit()

    def _failed(self, error: BaseException) -> None:
        self._running = None
        self.failed.emit(error)


def _is_due(campaign: Campaign) -> bool:
    # the first window is shown before SQLAlchemy is loaded
    from crowdclust_app.services.fits.rerunning import is_due

    return is_due(campaign)
