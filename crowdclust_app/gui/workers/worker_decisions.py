"""The lead's decisions on the Workers screen: excluding, retiring, naming groups; each can be undone."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject

from crowdclust_app.gui.screen import Shell
from crowdclust_app.services.annotate.repeats import add_repeats
from crowdclust_app.services.campaign import exclusions
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.campaign.decisions import Decision, take_back
from crowdclust_app.services.campaign.left_out import Exclusions, LeftOut
from crowdclust_app.services.workers.criteria import name_group

Step = Callable[[], object]


class WorkerDecisions(QObject):
    """Stores decisions about the worker on screen off the main thread, and remembers how to undo them."""

    def __init__(self, shell: Shell, parent: QObject) -> None:
        super().__init__(parent)
        self._shell = shell
        self._campaign: Campaign | None = None
        self._worker = ""
        self._left_out: Exclusions | None = None
        self._undo: list[tuple[str, Step]] = []

    def forget(self) -> None:
        """Another campaign: nothing of it can be undone here."""
        self._undo = []
        self._campaign, self._left_out, self._worker = None, None, ""

    def about(self, campaign: Campaign | None, worker: str | None, left_out: Exclusions | None) -> None:
        """Say whom the next decisions are about."""
        self._campaign, self._worker, self._left_out = campaign, worker or "", left_out

    @property
    def retirement(self) -> LeftOut | None:
        """The decision that retired this worker; None where there is none."""
        return self._left_out.retired.get(self._worker) if self._left_out is not None else None

    def exclude(self, hit: str, reason: str) -> None:
        """Leave a response out of runs."""
        campaign, worker = self._campaign, self._worker
        if campaign is not None:
            self._do(
                lambda: exclusions.exclude_response(campaign, hit, worker, reason),
                f"{hit} of {worker} is excluded from runs",
                lambda _made: lambda: exclusions.take_in(campaign, hit, worker),
            )

    def take_in(self, hit: str) -> None:
        """Have a response count again."""
        campaign, worker = self._campaign, self._worker
        left = self._left_out.responses.get((hit, worker)) if self._left_out is not None else None
        if campaign is not None and left is not None:
            self._do(
                lambda: exclusions.take_in(campaign, hit, worker),
                f"{hit} of {worker} counts again",
                lambda _made: lambda: exclusions.exclude_response(campaign, hit, worker, left.reason),
            )

    def retire(self, reason: str) -> None:
        """Leave everything of this worker out of runs."""
        campaign, worker = self._campaign, self._worker
        if campaign is not None:
            self._do(
                lambda: exclusions.retire_worker(campaign, worker, reason),
                f"{worker} is retired",
                lambda _made: lambda: exclusions.bring_back(campaign, worker),
            )

    def bring_back(self) -> None:
        """Have this worker count again."""
        campaign, worker, left = self._campaign, self._worker, self.retirement
        if campaign is not None and left is not None:
            self._do(
                lambda: exclusions.bring_back(campaign, worker),
                f"{worker} counts again",
                lambda _made: lambda: exclusions.retire_worker(campaign, worker, left.reason),
            )

    def name_group(self, members: Sequence[str], name: str) -> None:
        """Call a group of workers something."""
        campaign = self._campaign
        if campaign is not None:

            def back(made: object) -> Step:
                return lambda: take_back(campaign, made.number)  # type: ignore[attr-defined]

            words = f"The group is called {name}" if name else "The group has no name any more"
            self._do(lambda: name_group(campaign, members, name), words, back)

    def repeat(self) -> None:
        """Have some HITs repeated; HITs that were planned stay, so this is not undone."""
        campaign = self._campaign
        if campaign is not None:
            self._do(lambda: add_repeats(campaign), "A tenth of the sets is handed out a second time", None)

    def undo(self) -> None:
        """Take the last decision back that was made here."""
        if not self._undo:
            self._shell.say("Nothing to undo here")
            return
        words, step = self._undo.pop()
        self._do(step, f"Undone: {words[:1].lower()}{words[1:]}", None)

    def _do(self, step: Step, words: str, back: Callable[[Decision], Step] | None) -> None:
        def done(made: object) -> None:
            if back is not None:
                self._undo.append((words, back(made)))  # type: ignore[arg-type]
            self._shell.dismiss_error()
            self._shell.say(words)
            self._shell.data_changed.emit()

        def failed(error: BaseException) -> None:
            self._shell.show_failure(error)
            self._shell.data_changed.emit()

        self._shell.jobs.start(
            "database", lambda _progress, _cancel: step(), on_done=done, on_failed=failed, owner=self, essential=True
        )
