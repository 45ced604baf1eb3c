"""Work that takes time, off the main thread: four lanes of threads, callbacks on the main thread.

A screen starts a job and gets its result, its progress or its failure as a call on the main thread. A job that was
cancelled never calls `on_done`, `on_progress` or `on_failed` again, even when its result was already on the way; the
same holds when the object that owns the callbacks is gone. So a stale result never lands.
"""

from __future__ import annotations

import sys
import threading
import traceback
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from enum import StrEnum
from typing import Any, Literal

import shiboken6
from PySide6.QtCore import QDeadlineTimer, QEventLoop, QObject, Qt, QTimer, Signal, Slot

from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.domain.errors import Cancelled
from crowdclust_app.gui.garbage import GarbageTimer
from crowdclust_app.services.progress_report import Progress, ProgressReport

Lane = Literal["database", "inference", "quick", "decode"]
Work = Callable[[Progress, CancelToken], Any]

# Threads of each lane. What a person does is stored on the one database thread, so in the order in which it was done;
# fits store their run, and quick work reads answers, from threads of their own lanes, which the database allows.
LANES: dict[Lane, int] = {"database": 1, "inference": 1, "quick": 2, "decode": 2}
PROGRESS_INTERVAL_MS = 100


class JobState(StrEnum):
    """How far a job has come."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


class Job:
    """One piece of work, waiting or running; made by `Jobs.start`."""

    def __init__(
        self,
        jobs: Jobs,
        lane: Lane,
        title: str,
        owner: QObject | None,
        callbacks: dict[str, Callable[..., Any] | None],
        essential: bool = False,
    ) -> None:
        self.lane = lane
        self.essential = essential
        self.title = title
        self.token = CancelToken()
        self.state = JobState.WAITING
        self.report: ProgressReport | None = None
        self._jobs = jobs
        self._owner = owner
        self._callbacks = callbacks
        self._future: Future[None] | None = None
        # Written by the work's thread, read by the main thread: the newest report that was not shown yet.
        self._newest: ProgressReport | None = None

    @property
    def finished(self) -> bool:
        """Whether nothing of this job will be called any more."""
        return self.state in (JobState.DONE, JobState.FAILED, JobState.CANCELLED)

    @property
    def wants_progress(self) -> bool:
        """Whether this job's progress is shown anywhere."""
        return bool(self.title) or self._callbacks["progress"] is not None

    @property
    def waiting(self) -> str:
        """For what this waits, in words; "" once it has a thread."""
        earlier = self._jobs.before(self)
        if earlier is None:
            return ""
        other = f"“{earlier.title}”" if earlier.title else "other work"
        return f"waiting for {other} to end"

    @property
    def sentence(self) -> str:
        """What a page says while there is no result yet: what is running, and for what it waits."""
        return f"{self.title}: {self.waiting}" if self.waiting else f"{self.title} …"

    def cancel(self) -> None:
        """Ask the work to stop; from now on only `on_cancelled` may still be called, once it has stopped."""
        if self.finished or self.token.cancelled:
            return
        self.token.cancel()
        if self._future is not None and self._future.cancel():
            self._jobs._post(lambda: self._jobs._finish(self, JobState.CANCELLED, None))
        self._jobs.changed.emit()

    def _call(self, name: str, *arguments: Any) -> None:
        """Call a callback on the main thread, unless the object that owns it is gone."""
        callback = self._callbacks[name]
        if callback is None:
            return
        for owner in (self._owner, getattr(callback, "__self__", None)):
            if isinstance(owner, QObject) and not shiboken6.isValid(owner):
                return
        callback(*arguments)


def cancel_jobs(*jobs: Job | None) -> None:
    """Cancel those of these jobs that were started and have not ended."""
    for job in jobs:
        if job is not None:
            job.cancel()


class Jobs(QObject):
    """Starts work in its lane and brings what comes of it back to the main thread.

    Signals
    -------
    changed
        A job started, finished or reported progress; `active` has them.
    failed : (Job, exception, details)
        A job without `on_failed` failed; the window shows it in the error bar.
    """

    changed = Signal()
    failed = Signal(object, object, str)
    _wake = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._pools: dict[Lane, ThreadPoolExecutor] = {}
        self._active: list[Job] = []
        self._inbox: deque[Callable[[], None]] = deque()
        self._lock = threading.Lock()
        self._awake = False
        self._closed = False
        self._wake.connect(self._deliver, Qt.ConnectionType.QueuedConnection)
        self._ticker = QTimer(self)
        self._ticker.setInterval(PROGRESS_INTERVAL_MS)
        self._ticker.timeout.connect(self._show_progress)
        self._garbage = GarbageTimer(self)

    @property
    def active(self) -> tuple[Job, ...]:
        """Jobs that have not finished, oldest first."""
        return tuple(self._active)

    def before(self, job: Job) -> Job | None:
        """The job whose end this one waits for; None when it has a thread."""
        jobs = [other for other in self._active if other.lane == job.lane]
        return jobs[0] if job in jobs[LANES[job.lane] :] else None

    def start(
        self,
        lane: Lane,
        work: Work,
        *,
        title: str = "",
        on_done: Callable[[Any], Any] | None = None,
        on_progress: Callable[[ProgressReport], Any] | None = None,
        on_failed: Callable[[BaseException], Any] | None = None,
        on_cancelled: Callable[[], Any] | None = None,
        owner: QObject | None = None,
        essential: bool = False,
        instead_of: Job | None = None,
    ) -> Job:
        """Run `work(progress, token)` on a thread of the lane.

        Parameters
        ----------
        lane
            "database" for short work on the campaign file and "inference" for fits of minutes each run one job after
            another, in the order started. "quick", for what is computed in seconds, and "decode", for pictures and
            what takes milliseconds, run two at once.
        work
            Gets a callable for its progress and the token that says when to stop; must not touch widgets.
        title
            What the status line says while it runs ("Scanning photos"); without one the job runs unseen.
        on_done, on_progress, on_failed, on_cancelled
            Called on the main thread. Progress comes at most ten times a second, the latest wins. A failure without
            `on_failed` goes to the error bar.
        owner
            The callbacks are dropped once this object is deleted; by default the object whose methods they are.
        essential
            Closing the window waits for this job instead of cancelling it: what the user did is being stored.
        instead_of
            An earlier job whose result is no longer needed; it is cancelled.
        """
        cancel_jobs(instead_of)
        if self._closed and essential:
            raise RuntimeError("the window has closed; nothing more can be stored")
        callbacks = {"done": on_done, "progress": on_progress, "failed": on_failed, "cancelled": on_cancelled}
        job = Job(self, lane, title, owner, callbacks, essential)
        if self._closed:
            # started by a timer of a screen that is being closed: the result has no receiver
            job.state = JobState.CANCELLED
            return job
        pool = self._pools.get(lane)
        if pool is None:
            pool = self._pools[lane] = ThreadPoolExecutor(LANES[lane], thread_name_prefix=f"crowdclust-{lane}")
        self._active.append(job)
        job._future = pool.submit(self._run, job, work)
        if job.wants_progress and not self._ticker.isActive():
            self._ticker.start()
        if title:
            self.changed.emit()
        return job

    def shutdown(self) -> None:
        """Cancel everything but essential jobs, wait until all threads have ended; nothing is called afterwards."""
        self._closed = True
        for job in self._active:
            if not job.essential:
                job.token.cancel()
                if job._future is not None:
                    job._future.cancel()
        for pool in self._pools.values():
            pool.shutdown(wait=True)
        self._pools.clear()
        self._active.clear()
        self._inbox.clear()
        self._ticker.stop()
        self._garbage.stop()

    def wait(self, milliseconds: int = 10_000) -> bool:
        """Let the window live until no job is left, at most this long; whether none is left."""
        deadline = QDeadlineTimer(milliseconds)
        loop = QEventLoop()
        while self._active and not deadline.hasExpired():
            QTimer.singleShot(10, loop.quit)
            loop.exec()
        return not self._active

    # --- on the work's thread

    def _run(self, job: Job, work: Work) -> None:
        def progress(report: ProgressReport) -> None:
            job._newest = report

        if job.token.cancelled:
            self._post(lambda: self._finish(job, JobState.CANCELLED, None))
            return
        job.state = JobState.RUNNING
        try:
            result = work(progress, job.token)
        except Cancelled:
            self._post(lambda: self._finish(job, JobState.CANCELLED, None))
        except BaseException as error:  # noqa: BLE001 - whatever it was, the main thread has to hear of it
            caught, details = error, traceback.format_exc()
            self._post(lambda: self._finish(job, JobState.FAILED, caught, details))
        else:
            self._post(lambda: self._finish(job, JobState.DONE, result))

    def _post(self, call: Callable[[], None]) -> None:
        """Have something called on the main thread; many calls wake it once."""
        with self._lock:
            self._inbox.append(call)
            sleeping, self._awake = not self._awake, True
        if sleeping and shiboken6.isValid(self):
            self._wake.emit()

    # --- on the main thread

    @Slot()
    def _deliver(self) -> None:
        with self._lock:
            calls = list(self._inbox)
            self._inbox.clear()
            self._awake = False
        for call in calls:
            try:
                call()
            except Exception:  # noqa: BLE001 - one callback's fault must not lose the results of the others
                sys.excepthook(*sys.exc_info())

    def _finish(self, job: Job, state: JobState, result: Any, details: str = "") -> None:
        if job.finished or self._closed:
            return
        if job in self._active:
            self._active.remove(job)
        if not any(other.wants_progress for other in self._active):
            self._ticker.stop()
        # Cancelled while its result was on the way: the result is stale.
        job.state = JobState.CANCELLED if job.token.cancelled else state
        if job.title:
            self.changed.emit()
        if job.state is JobState.DONE:
            job._call("done", result)
        elif job.state is JobState.CANCELLED:
            job._call("cancelled")
        elif job._callbacks["failed"] is not None:
            job._call("failed", result)
        else:
            self.failed.emit(job, result, details)

    @Slot()
    def _show_progress(self) -> None:
        shown = False
        for job in tuple(self._active):
            report, job._newest = job._newest, None
            if report is None or job.token.cancelled:
                continue
            job.report = report
            shown = shown or bool(job.title)
            job._call("progress", report)
        if shown:
            self.changed.emit()
