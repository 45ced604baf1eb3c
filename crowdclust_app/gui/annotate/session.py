"""What a worker does, on its way into the campaign file: in order, off the main thread, and never silently lost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from PySide6.QtCore import QObject, Signal

from crowdclust_app.domain.campaign import Assignment, Worker
from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.domain.errors import UserError
from crowdclust_app.domain.sorting import Action
from crowdclust_app.gui.jobs import Jobs, Work
from crowdclust_app.services.annotate import annotation
from crowdclust_app.services.annotate.annotation import WorkerProgress
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.campaign.counts import flag_records
from crowdclust_app.services.progress_report import Progress


@dataclass(frozen=True)
class AssignedSet:
    """What a worker gets to sort.

    Parameters
    ----------
    assignment
        The set; None when there is nothing left.
    log
        Its stored actions.
    progress
        How far the worker has come.
    flagged
        Names of photos of this set that the worker has flagged.
    """

    assignment: Assignment | None
    log: tuple[Action, ...]
    progress: WorkerProgress
    flagged: frozenset[str] = frozenset()


class _Stream:
    """The actions of one turn; once one could not be stored, none after it is."""

    def __init__(self) -> None:
        self.broken = False


def fetch_turn(campaign: Campaign, worker: Worker) -> AssignedSet:
    """The worker's set with everything the screen needs to show it; runs on the database's thread."""
    assignment = annotation.next_assignment(campaign, worker)
    progress = annotation.progress_of(campaign, worker)
    if assignment is None:
        return AssignedSet(None, (), progress)
    flagged = frozenset(
        flag.item for flag in flag_records(campaign) if flag.worker == worker.name and flag.hit == assignment.hit_name
    )
    return AssignedSet(assignment, annotation.log(campaign, assignment), progress, flagged)


def followers(campaign: Campaign) -> dict[int, tuple[int, ...]]:
    """For each HIT the items of the next in plan order: most often what a worker gets after it."""
    hits = campaign.hits()
    return {hit.number: after.items for hit, after in pairwise(hits)}


class Session(QObject):
    """One worker at work.

    Signals
    -------
    turned : Turn
        Show this set, with these groups.
    pending_changed : int
        Actions that are not on disk yet.
    changed
        Something that other screens show was stored.
    lost : exception
        An action could not be stored; the set is read again and `turned` follows.
    coming : tuple of int
        Items that will probably be in the next set, to be loaded ahead.
    failed : exception
        A set could not be fetched, submitted, skipped; what is on screen is still true.
    """

    turned = Signal(object)
    pending_changed = Signal(int)
    changed = Signal()
    lost = Signal(object)
    failed = Signal(object)
    coming = Signal(object)

    def __init__(self, jobs: Jobs, campaign: Campaign, worker: Worker, parent: QObject) -> None:
        super().__init__(parent)
        self._jobs = jobs
        self._campaign = campaign
        self.worker = worker
        self._assignment: Assignment | None = None
        self._stream = _Stream()
        self._over = False
        self._followers: dict[int, tuple[int, ...]] | None = None
        self.pending = 0

    @property
    def assignment(self) -> Assignment | None:
        """The set on the desk."""
        return self._assignment

    def end(self) -> None:
        """Stop serving this worker; actions that were already sent are still stored."""
        self._over = True

    def fetch(self) -> None:
        """Get the worker's set."""

        def work(_progress: Progress, _token: CancelToken) -> AssignedSet:
            return fetch_turn(self._campaign, self.worker)

        self._jobs.start("database", work, on_done=self._turn, on_failed=self._fail, owner=self)

    def store(self, actions: Sequence[Action], seconds: float) -> None:
        """Store actions that have been carried out on screen."""
        assignment, stream = self._assignment, self._stream
        if assignment is None:
            return
        for action in actions:

            def work(_progress: Progress, _token: CancelToken, action: Action = action) -> None:
                if stream.broken:
                    return
                try:
                    annotation.record(self._campaign, assignment, action, seconds)
                except BaseException:
                    stream.broken = True
                    raise

            self.pending += 1
            self._jobs.start(
                "database",
                work,
                on_done=lambda _result: self._stored(stream),
                on_failed=lambda error: self._lost(stream, error),
                owner=self,
                essential=True,
            )
        self.pending_changed.emit(self.pending)

    def submit(self, seconds: float) -> None:
        """Submit the set and get the next; whatever is on its way is stored before, for the lane keeps the order."""
        assignment, stream = self._assignment, self._stream
        if assignment is None:
            return

        def work(_progress: Progress, _token: CancelToken) -> AssignedSet | None:
            if stream.broken:
                return None
            annotation.submit(self._campaign, assignment, seconds)
            return fetch_turn(self._campaign, self.worker)

        self._finish(work)

    def skip(self, seconds: float) -> None:
        """Give the set back and get the next."""
        assignment = self._assignment
        if assignment is None:
            return

        def work(_progress: Progress, _token: CancelToken) -> AssignedSet:
            annotation.skip(self._campaign, assignment, seconds)
            return fetch_turn(self._campaign, self.worker)

        self._finish(work)

    def flag(self, item: int, reason: str) -> None:
        """Say that a photo of the set is broken."""
        assignment = self._assignment
        if assignment is None:
            return

        def work(_progress: Progress, _token: CancelToken) -> None:
            annotation.flag_item(self._campaign, assignment, item, reason)

        self._jobs.start(
            "database",
            work,
            on_done=lambda _result: self.changed.emit(),
            on_failed=self._fail,
            owner=self,
            essential=True,
        )

    # --- on the main thread again

    def _finish(self, work: Work) -> None:
        def done(turn: AssignedSet | None) -> None:
            if turn is not None:
                self._turn(turn)
                self.changed.emit()

        def failed(error: BaseException) -> None:
            self._fail(error)
            if isinstance(error, UserError) and not self._over:
                # the set is not what it was: handed in from another window, or left for so long that others have it
                self.fetch()

        self._jobs.start("database", work, on_done=done, on_failed=failed, owner=self, essential=True)

    def _turn(self, turn: AssignedSet) -> None:
        if self._over:
            return
        self._assignment = turn.assignment
        self._stream = _Stream()
        self.turned.emit(turn)
        if self._followers is not None:
            self._tell_coming()
        elif turn.assignment is not None:
            # reading a large plan takes long and its result is not urgent: the database's thread stays free for answers
            self._jobs.start(
                "decode", lambda _progress, _token: followers(self._campaign), on_done=self._know_plan, owner=self
            )

    def _know_plan(self, found: dict[int, tuple[int, ...]]) -> None:
        self._followers = found
        self._tell_coming()

    def _tell_coming(self) -> None:
        if self._over or self._assignment is None or self._followers is None:
            return
        self.coming.emit(self._followers.get(self._assignment.hit, ()))

    def _fail(self, error: BaseException) -> None:
        if not self._over:
            self.failed.emit(error)

    def _stored(self, stream: _Stream) -> None:
        self.pending -= 1
        if not self._over:
            self.pending_changed.emit(self.pending)

    def _lost(self, stream: _Stream, error: BaseException) -> None:
        self._stored(stream)
        # reported even when the screen shows another worker or campaign: work was lost
        self.lost.emit(error)
        if not self._over and stream is self._stream:
            self.fetch()
