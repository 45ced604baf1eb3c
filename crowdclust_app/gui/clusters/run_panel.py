"""Below the plot: settings and the Run button, the bound as it rises, the runs so far and what the shown one found."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from html import escape
from typing import Any

from PySide6.QtCore import QItemSelectionModel, QModelIndex, Qt, Signal
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QLabel,
    QListView,
    QProgressBar,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from crowdclust_app.domain.campaign import WHOLE_COLLECTION
from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.domain.fit_settings import FitSettings
from crowdclust_app.domain.methods import title_of
from crowdclust_app.gui import theme
from crowdclust_app.gui.clusters.runs_model import RunsModel
from crowdclust_app.gui.clusters.settings_form import SettingsForm
from crowdclust_app.gui.clusters.side_by_side import SideBySide
from crowdclust_app.gui.clusters.trace import TracePlot
from crowdclust_app.gui.jobs import Job
from crowdclust_app.gui.labels import ElidedLabel, keep_room
from crowdclust_app.gui.screen import Shell
from crowdclust_app.gui.wording import capitalised, of_stage, people_time
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.clusters.category_rows import stabilities
from crowdclust_app.services.clusters.plots import kept_start, traces_of
from crowdclust_app.services.fits.campaign_fits import fit_campaign
from crowdclust_app.services.fits.progress import SEARCH_PHASES, FitProgress
from crowdclust_app.services.fits.results import Run, RunInfo, heldout_unit
from crowdclust_app.services.progress_report import Progress, ProgressReport

REMEMBERED = "run-settings"
ROOM_FOR_BOTH = 440
"""The width in pixels in which the bound and the figures of a run can both be read."""


class RunPanel(QWidget):
    """Starts, watches and lists runs.

    Signals
    -------
    stored : int
        A run has been stored under this number.
    run_chosen : int
        An older or newer run is to be shown.
    busy : bool
        A run has begun or ended.
    """

    stored = Signal(int)
    run_chosen = Signal(int)
    busy = Signal(bool)

    def __init__(self, shell: Shell, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("run-panel")
        self._shell = shell
        self._campaign: Campaign | None = None
        self._job: Job | None = None
        self._sweeps: deque[FitProgress] = deque()
        self._shown: Run | None = None
        self.form = SettingsForm(self)
        self.trace = TracePlot(self)
        self._run = QPushButton("Run", self)
        self._run.setObjectName("run-button")
        self._run.setProperty("rank", "first")
        self._run.clicked.connect(self.run)
        self._cancel = QPushButton("Cancel", self)
        self._cancel.setObjectName("cancel-button")
        self._cancel.clicked.connect(self.cancel)
        self._state = ElidedLabel(self)
        self._state.setObjectName("run-state")
        self._state.setProperty("rank", "second")
        self._bar = QProgressBar(self)
        self._bar.setTextVisible(False)
        self._runs = RunsModel(self)
        self._history = QListView(self)
        self._history.setObjectName("run-history")
        self._history.setAccessibleName("Runs, newest first")
        self._history.setModel(self._runs)
        self._history.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self._history.setStyleSheet("QListView::item { padding: 4px 8px; }")
        self._history.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._history.setTextElideMode(Qt.TextElideMode.ElideRight)
        self._history.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self._history.selectionModel().currentChanged.connect(self._history_moved)
        self._summary = QLabel(self)
        self._summary.setObjectName("run-summary")
        self._summary.setWordWrap(True)
        self._summary.setAlignment(Qt.AlignmentFlag.AlignTop)
        self._summary.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        keep_room(self._history)
        self._lay_out()
        self._show_state()

    def _lay_out(self) -> None:
        buttons = QHBoxLayout()
        buttons.setSpacing(theme.STEP)
        buttons.addWidget(self._run, 2)
        buttons.addWidget(self._cancel, 1)
        settings = QVBoxLayout()
        settings.setSpacing(theme.STEP)
        settings.addWidget(self.form)
        settings.addLayout(buttons)
        settings.addStretch(1)
        scroll = QScrollArea(self)
        scroll.setWidgetResizable(True)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setWidget(self._summary)
        runs = QWidget(self)
        right = QVBoxLayout(runs)
        right.setContentsMargins(0, 0, 0, 0)
        right.setSpacing(theme.STEP)
        right.addWidget(self._history, 2)
        right.addWidget(scroll, 3)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, theme.STEP, 0, 0)
        layout.setSpacing(theme.MARGIN)
        layout.addLayout(settings, 0)
        parts = (("Bound", "show-bound", self.trace), ("Runs", "show-runs", runs))
        self._results = SideBySide(parts, ROOM_FOR_BOTH, self)
        self._results.bring(runs)
        rest = QVBoxLayout()
        rest.setSpacing(theme.TILE_GAP)
        rest.addWidget(self._results, 1)
        rest.addWidget(self._bar)
        rest.addWidget(self._state)
        layout.addLayout(rest, 1)

    # --- content

    @property
    def running(self) -> bool:
        """Whether a run is being computed."""
        return self._job is not None

    def set_campaign(self, campaign: Campaign | None) -> None:
        """Run on this campaign from now on."""
        if self._job is not None:
            self._job.cancel()
            self._job = None
        self._campaign = campaign
        self.show_runs((), None)
        self.form.show_settings((self._shell.recall(REMEMBERED) or {}) if campaign is not None else {})
        self._show_state()

    def show_runs(self, runs: tuple[RunInfo, ...], shown: Run | None) -> None:
        """List the runs and tell about the one shown."""
        fresh = shown is not None and (self._shown is None or shown.number != self._shown.number)
        # set first: moving the list's mark to the run that is shown already asks for nothing
        self._shown = shown
        self._runs.show(runs)
        if shown is not None:
            row = self._runs.row_of(shown.number)
            if row is not None:
                index = self._runs.index(row)
                self._history.selectionModel().setCurrentIndex(index, QItemSelectionModel.SelectionFlag.ClearAndSelect)
        if runs and self._campaign is not None and self._shell.recall(REMEMBERED) is None and not self.running:
            self.form.show_settings(runs[-1].settings)
        self._show_run(shown, fresh)

    def _show_run(self, run: Run | None, fresh: bool) -> None:
        self._history.setVisible(self._runs.rowCount() > 0)
        self._rank_run_button()
        self._run.setText(f"Run{of_stage(self._stage).removeprefix(' of')}")
        self._summary.setText(summary_in_words(run) if run is not None else "")
        if self.running:
            return
        if run is None:
            self.trace.clear()
        elif fresh:
            self._trace_of(run)

    def _trace_of(self, run: Run) -> None:
        self.trace.show_traces(traces_of(run.result), kept_start(run.result))

    def _rank_run_button(self) -> None:
        """Before the first run the empty plot has the only primary button."""
        rank = "first" if self._runs.rowCount() else ""
        if self._run.property("rank") != rank:
            self._run.setProperty("rank", rank)
            self._run.style().unpolish(self._run)
            self._run.style().polish(self._run)

    def _history_moved(self, current: QModelIndex, _before: QModelIndex) -> None:
        if current.isValid():
            number = self._runs.run(current.row()).number
            if self._shown is None or number != self._shown.number:
                self.run_chosen.emit(number)

    # --- running

    @property
    def _stage(self) -> str:
        """What is run: the stage of the run that is shown."""
        return self._shown.stage if self._shown is not None else WHOLE_COLLECTION

    def run(self) -> None:
        """Start a run with the form's settings."""
        campaign = self._campaign
        if campaign is None or self._job is not None:
            return
        settings = self.form.settings()
        self._shell.remember(REMEMBERED, settings.as_dict())
        sweeps: deque[FitProgress] = deque()
        self._sweeps = sweeps
        self.trace.clear()
        self._results.bring(self.trace)
        self._job = self._shell.jobs.start(
            "inference",
            _work(campaign, settings, sweeps, self._stage),
            title=f"Running the inference{of_stage(self._stage)}",
            on_done=self._done,
            on_progress=self._progress,
            on_failed=self._failed,
            on_cancelled=self._cancelled,
            owner=self,
        )
        self._show_state(capitalised(self._job.waiting) or "Preparing")

    def run_with(self, clusters: int) -> None:
        """Start a run with this number of clusters, all else as the form says."""
        if self._campaign is not None and self._job is None:
            self.form.ask_for(clusters)
            self.run()

    def cancel(self) -> None:
        """Stop the run within a sweep; nothing is stored of it."""
        if self._job is not None:
            self._job.cancel()
            self._show_state("Stopping")

    def _progress(self, report: ProgressReport) -> None:
        sweeps = [self._sweeps.popleft() for _ in range(len(self._sweeps))]
        self.trace.add((sweep.start, sweep.phase, sweep.bound) for sweep in sweeps)
        self._show_state(progress_in_words(report), report)

    def _done(self, run: Run) -> None:
        self._job = None
        self._show_state()
        found = run.result.summary["clusters"]
        self._shell.say(f"Run {run.number} found {found} clusters in {people_time(run.seconds)}")
        self.stored.emit(run.number)

    def _failed(self, error: BaseException) -> None:
        self._job = None
        self._restore_trace()
        self._show_state()
        self._shell.show_failure(error)

    def _cancelled(self) -> None:
        self._job = None
        self._restore_trace()
        self._show_state("Cancelled; nothing was stored")

    def _restore_trace(self) -> None:
        self.trace.clear()
        if self._shown is not None:
            self._trace_of(self._shown)

    def _show_state(self, words: str = "", report: ProgressReport | None = None) -> None:
        running = self._job is not None
        self._run.setEnabled(self._campaign is not None and not running)
        self.busy.emit(running)
        self._cancel.setEnabled(self._job is not None and not self._job.token.cancelled)
        self.form.setEnabled(not running)
        self._state.setText(words)
        self._bar.setRange(0, 1000 if not running or (report and report.total) else 0)
        self._bar.setValue(round(1000 * (report.fraction or 0.0)) if report is not None and running else 0)


def _work(
    campaign: Campaign, settings: FitSettings, sweeps: deque[FitProgress], stage: str
) -> Callable[[Progress, CancelToken], Run]:
    """The fit as a job; every sweep is kept for the trace, though only some are reported."""

    def work(progress: Progress, cancel: CancelToken) -> Run:
        def report(news: ProgressReport) -> None:
            if isinstance(news, FitProgress):
                sweeps.append(news)
            progress(news)

        return fit_campaign(campaign, settings, report, cancel, stage)

    return work


def progress_in_words(report: ProgressReport) -> str:
    """How far a fit has come, in one line."""
    if not isinstance(report, FitProgress):
        return report.text if report.total else "Preparing (the first run on a computer takes longer)"
    if report.phase in SEARCH_PHASES:
        return f"{report.text} · {people_time(report.seconds)}"
    phase = {"layers": "positions", "mixture": "clusters", "joint": "joint"}.get(report.phase, report.phase)
    parts = [f"start {report.start} of {report.starts}", f"{phase}, sweep {report.iteration}"]
    if report.phase != "layers":
        parts.append("1 cluster" if report.clusters == 1 else f"{report.clusters} clusters")
    return " · ".join([*parts, f"bound {report.bound:,.1f}", people_time(report.seconds)])


def summary_in_words(run: Run) -> str:
    """What a run found, as rich text: figures in two columns, then the verdicts."""
    summary: Any = run.result.summary
    bounds = summary["starts"]
    rows = [("Method", title_of(summary["method"])), ("Clusters", f"{summary['clusters']}")]
    if summary["bound"] is not None:
        rows += [
            ("Bound", f"{summary['bound']:,.1f}"),
            ("Starts", "1" if len(bounds) == 1 else f"{len(bounds)}, {max(bounds) - min(bounds):,.1f} apart"),
            ("Entropy", f"{summary['entropy_bits']:.4f} bits"),
            ("Label weight", _used(run, "label_weight")),
            ("Dimensions", f"{run.result.positions.shape[1]}"),
        ]
    if summary.get("heldout_loglik") is not None:
        error = "" if summary["heldout_se"] is None else f" ± {summary['heldout_se']:.3f}"
        rows.append((f"Held-out {heldout_unit(summary)}", f"{summary['heldout_loglik']:z.3f}{error} nats"))
    if summary.get("heldout_accuracy") is not None:
        error = "" if summary.get("heldout_accuracy_se") is None else f" ± {summary['heldout_accuracy_se']:.1%}"
        rows.append((f"Held-out {heldout_unit(summary)}s right", f"{summary['heldout_accuracy']:.1%}{error}"))
    stable = list(stabilities(summary).values())
    if stable:
        rows.append(("Stability", f"{sum(stable) / len(stable):.2f} (lowest {min(stable):.2f})"))
    if summary["converged"] is not None:
        rows.append(("Converged", "yes" if summary["converged"] else "no"))
    rows += [
        ("Items", f"{summary['items']:,}"),
        ("Responses", f"{summary['responses']:,}"),
        ("Workers", f"{summary['workers']:,}"),
        ("Pair labels", f"{summary['pair_labels']:,}"),
        ("Time", people_time(run.seconds)),
    ]
    table = "".join(f"<tr><td>{name}&nbsp;&nbsp;</td><td>{escape(value)}</td></tr>" for name, value in rows)
    verdicts = "".join(f"<p>{escape(sentence)}</p>" for sentence in summary.get("verdicts", ()))
    return f"<table cellspacing='0' cellpadding='1'>{table}</table>{verdicts}"


def _used(run: Run, name: str) -> str:
    """What a run was fitted with, and whether it was chosen by held-out responses."""
    given: Any = getattr(run.settings, name)
    if given != "auto":
        return f"{given:g}"
    chosen: Any = run.result.summary.get("chosen") or {}
    return f"{chosen[name]:g} (chosen)" if name in chosen else "1"
