"""What the Stages screen has done in the background: stages made, removed and brought back, and their runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject, Signal

from crowdclust_app.domain.campaign import PlanSettings
from crowdclust_app.domain.fit_settings import FitSettings
from crowdclust_app.gui.clusters.run_panel import REMEMBERED
from crowdclust_app.gui.jobs import Job, cancel_jobs
from crowdclust_app.gui.screen import Shell
from crowdclust_app.gui.wording import capitalised, count_of, people_time
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.fits.campaign_fits import fit_campaign
from crowdclust_app.services.fits.results import Run
from crowdclust_app.services.progress_report import ProgressReport
from crowdclust_app.services.stages.stages import SplitReport, bring_back, remove_stage, subdivide


class StageWork(QObject):
    """One change of the tree after the other, and one run at a time.

    Signals
    -------
    divided
        A stage was made.
    refused
        A change was not made, so what is on screen may be old.
    run_told : str
        A run has begun, gone on or ended; words for when there is more to say than how far it is.
    """

    divided = Signal()
    refused = Signal()
    run_told = Signal(str)

    def __init__(self, shell: Shell, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._shell = shell
        self._campaign: Campaign | None = None
        self._changing: Job | None = None
        self._fitting: Job | None = None
        self.running = ""
        self.report: ProgressReport | None = None

    def set_campaign(self, campaign: Campaign | None) -> None:
        """Work on this campaign from now on."""
        cancel_jobs(self._changing, self._fitting)
        self._changing = self._fitting = self.report = None
        self.running = ""
        self._campaign = campaign

    # --- the tree

    def subdivide(self, stage: str, place: int, settings: PlanSettings, run: int) -> None:
        """Make a stage of a category."""

        def said(report: SplitReport) -> None:
            hits = count_of(report.hits, "HIT")
            self._shell.say(f"{report.stage} has {count_of(report.added, 'photo')} in {hits}, handed out from now on")
            self.divided.emit()

        self._change(lambda campaign: subdivide(campaign, stage, place, settings, run), said)

    def remove(self, name: str) -> None:
        """Take a stage out of sight."""
        if name == self.running:
            self._shell.say("Cancel its run first")
            return
        self._change(
            lambda campaign: remove_stage(campaign, name),
            lambda gone: self._shell.say(f"Removed {', '.join(gone)}; Ctrl+B on its row brings it back"),
        )

    def bring_back(self, name: str) -> None:
        """Bring a removed stage back."""
        self._change(
            lambda campaign: bring_back(campaign, name),
            lambda back: self._shell.say(f"{', '.join(back)} {'is' if len(back) == 1 else 'are'} back"),
        )

    def _change(self, work: Callable[[Campaign], Any], done: Callable[[Any], object]) -> None:
        campaign = self._campaign
        if campaign is None or campaign.read_only or self._changing is not None:
            return

        def changed(result: Any) -> None:
            self._changing = None
            done(result)
            self._shell.data_changed.emit()

        self._changing = self._shell.jobs.start(
            "database",
            lambda _progress, _cancel: work(campaign),
            on_done=changed,
            on_failed=self._not_changed,
            owner=self,
        )

    def _not_changed(self, error: BaseException) -> None:
        self._changing = None
        self._shell.show_failure(error)
        self.refused.emit()

    # --- runs

    def run(self, stage: str) -> bool:
        """Run the inference over a stage; whether it has begun."""
        campaign = self._campaign
        if campaign is None or campaign.read_only or self._fitting is not None:
            return False
        settings = self._settings()
        self.running, self.report = stage, None
        self._fitting = self._shell.jobs.start(
            "inference",
            lambda progress, cancel: fit_campaign(campaign, settings, progress, cancel, stage),
            title=f"Running the inference of {stage}",
            on_done=self._run_done,
            on_progress=self._run_progress,
            on_failed=self._run_failed,
            on_cancelled=lambda: self._end_run("Cancelled; nothing was stored"),
            owner=self,
        )
        self.run_told.emit(capitalised(self._fitting.waiting))
        return True

    def cancel(self) -> None:
        """Stop the run within a sweep; nothing is stored of it."""
        if self._fitting is not None:
            self._fitting.cancel()
            self.run_told.emit("Stopping")

    def _settings(self) -> FitSettings:
        """The settings that were used last on the screen Clusters, but for a number of clusters that was asked for.

        How many there are elsewhere says nothing about a stage.
        """
        given = self._shell.recall(REMEMBERED) or {}
        if isinstance(given.get("clusters"), int):
            given = {**given, "clusters": "heldout" if given.get("folds", 1) else "bound"}
        return FitSettings.from_dict(given)

    def _run_progress(self, report: ProgressReport) -> None:
        self.report = report
        self.run_told.emit("")

    def _end_run(self, words: str = "") -> None:
        self._fitting = self.report = None
        self.running = ""
        self.run_told.emit(words)

    def _run_done(self, run: Run) -> None:
        self._end_run()
        found = count_of(run.result.responsibilities.shape[1], "cluster")
        self._shell.say(f"Run {run.number} of {run.stage} found {found} in {people_time(run.seconds)}")
        self._shell.data_changed.emit()

    def _run_failed(self, error: BaseException) -> None:
        self._end_run()
        self._shell.show_failure(error)
