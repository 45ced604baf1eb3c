"""What a stage has become: its HITs, its run, and what can be done with it."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QProgressBar, QVBoxLayout, QWidget

from crowdclust_app.domain.stages import StageInfo
from crowdclust_app.gui import theme
from crowdclust_app.gui.chrome import plain_button
from crowdclust_app.gui.clusters.run_panel import progress_in_words
from crowdclust_app.gui.labels import ElidedLabel
from crowdclust_app.gui.wording import count_of, people_date
from crowdclust_app.services.progress_report import ProgressReport
from crowdclust_app.services.stages.stage_tree import StageNode


class StagePanel(QWidget):
    """One stage.

    Signals
    -------
    run_wanted, cancel_wanted, open_wanted, remove_wanted, back_wanted
        A button was pressed.
    """

    run_wanted = Signal()
    cancel_wanted = Signal()
    open_wanted = Signal()
    remove_wanted = Signal()
    back_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("stage-panel")
        self._stage: StageNode | None = None
        self._running = ""
        self._read_only = False
        self.hits = ElidedLabel(self)
        self.hits.setObjectName("stage-hits")
        self.hits_bar = QProgressBar(self)
        self.hits_bar.setTextVisible(False)
        self.hits_bar.setAccessibleName("Turns done")
        self.found = QLabel(self)
        self.found.setObjectName("stage-found")
        self.found.setWordWrap(True)
        self.note = QLabel(self)
        self.note.setObjectName("stage-note")
        self.note.setWordWrap(True)
        self.note.setProperty("rank", "second")
        self.run = plain_button("Run", "stage-run", self.run_wanted.emit, rank="first")
        self.cancel = plain_button("Cancel", "stage-cancel", self.cancel_wanted.emit)
        self.open = plain_button("Open in Clusters", "stage-open", self.open_wanted.emit)
        self.remove = plain_button("Remove", "stage-remove", self.remove_wanted.emit)
        self.back = plain_button("Bring back", "stage-back", self.back_wanted.emit, rank="first")
        self.run.setToolTip("With the settings of the last run on the screen Clusters")
        self.remove.setToolTip("Take the stage out of sight; its answers stay, and it can be brought back")
        self.bar = QProgressBar(self)
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName("Progress of the run")
        self.progress = ElidedLabel(self)
        self.progress.setObjectName("stage-progress")
        self.progress.setProperty("rank", "second")
        self._build()

    def _build(self) -> None:
        upper = QHBoxLayout()
        upper.setSpacing(theme.STEP)
        upper.addWidget(self.run, 1)
        upper.addWidget(self.cancel)
        lower = QHBoxLayout()
        lower.setSpacing(theme.STEP)
        lower.addWidget(self.open, 1)
        lower.addWidget(self.remove)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.STEP)
        for widget in (self.hits, self.hits_bar, self.found, self.note):
            layout.addWidget(widget)
        layout.addLayout(upper)
        layout.addWidget(self.bar)
        layout.addWidget(self.progress)
        layout.addLayout(lower)
        layout.addWidget(self.back)
        layout.addStretch(1)  # nothing lies where the form has its button, so that a second click does nothing

    # --- content

    def show_stage(self, stage: StageNode, running: str, read_only: bool) -> None:
        """Tell about a stage; `running` is the name of the one whose inference runs, "" for none."""
        self._stage, self._running, self._read_only = stage, running, read_only
        info = stage.info
        self.hits.setText(_hits(info))
        self.hits_bar.setRange(0, max(1, info.wanted))
        self.hits_bar.setValue(info.submitted)
        self.hits_bar.setVisible(info.wanted > 0)
        self.found.setText(_found(stage))
        self.note.setText(_note(stage))
        self.note.setVisible(bool(self.note.text()))
        self.back.hide()
        for widget in (self.run, self.cancel, self.bar, self.progress):
            widget.show()
        self.open.setVisible(stage.view is not None)
        self.remove.setVisible(info.parent is not None)
        self.remove.setEnabled(not read_only and running != info.name)
        self._show_running()
        self.setFocusProxy(self.run if self.run.isEnabled() else self.open if stage.view is not None else self.remove)

    def show_removed(self, info: StageInfo, read_only: bool) -> None:
        """Tell about a stage that is out of sight."""
        self._stage = None
        self.hits.setText(_hits(info))
        self.hits_bar.setVisible(False)
        when = people_date(info.removed_at) if info.removed_at is not None else ""
        kept = f"Its {count_of(info.responses, 'response')} and its runs are kept." if info.responses else ""
        self.found.setText(f"Removed {when}: its HITs are handed out no more. {kept}".strip())
        self.note.hide()
        for widget in (self.run, self.cancel, self.open, self.remove, self.bar, self.progress):
            widget.hide()
        self.back.show()
        self.back.setEnabled(not read_only)
        self.setFocusProxy(self.back)

    def show_progress(self, report: ProgressReport | None, running: str, words: str = "") -> None:
        """How far the inference of a stage is; None when none runs."""
        self._running = running
        self._show_running()
        mine = self._stage is not None and running == self._stage.info.name
        self.bar.setRange(0, 1000 if not mine or (report is not None and report.total) else 0)
        self.bar.setValue(round(1000 * (report.fraction or 0.0)) if mine and report is not None else 0)
        if words:
            self.progress.setText(words)
        elif mine and report is not None:
            self.progress.setText(progress_in_words(report))
        elif running and not mine:
            self.progress.setText(f"The inference of {running} is running")
        else:
            self.progress.setText("Preparing" if mine else "")

    def _show_running(self) -> None:
        stage = self._stage
        if stage is None:
            return
        mine = self._running == stage.info.name
        self.run.setEnabled(not self._running and stage.info.responses > 0 and not self._read_only)
        self.run.setText("Run again" if stage.view is not None else "Run the inference")
        self._rank(stage.view is None or stage.view.new_responses > 0)
        self.cancel.setEnabled(mine)

    def _rank(self, first: bool) -> None:
        """Have the button stand out while there is something new to be found."""
        rank = "first" if first else ""
        if self.run.property("rank") != rank:
            self.run.setProperty("rank", rank)
            self.run.style().unpolish(self.run)
            self.run.style().polish(self.run)


def _hits(info: StageInfo) -> str:
    if not info.hits:
        return f"{count_of(info.responses, 'response')} to imported HITs, none planned" if info.responses else "No HITs"
    turns = f"{info.submitted:,} of {info.wanted:,} turns"
    extra = info.responses - info.submitted
    more = f", {count_of(extra, 'imported response')}" if extra else ""
    return f"{info.hits_complete:,} of {count_of(info.hits, 'HIT')} done, {turns}{more}"


def _found(stage: StageNode) -> str:
    """What the run says, or what is needed for one."""
    if stage.view is None:
        if stage.info.responses:
            return "There are responses; run the inference to see what people see in these photos."
        return "Its HITs are being handed out to everybody who sorts. Run the inference when some have been sorted."
    run = stage.view.run
    sentences = [
        f"Run {run.number} found {_clusters(stage)} in {count_of(int(run.result.summary['responses']), 'response')}."
    ]
    if stage.cannot_be_divided and stage.info.parent is not None:
        sentences.append("It cannot be divided: people see no kinds here, or not the same ones. That is a result too.")
    if stage.view.new_responses:
        came = stage.view.new_responses
        sentences.append(f"{count_of(came, 'response')} {'has' if came == 1 else 'have'} come in since.")
    return " ".join(sentences)


def _clusters(stage: StageNode) -> str:
    assert stage.view is not None
    number = stage.view.run.result.responsibilities.shape[1]
    return count_of(number, "cluster" if stage.info.parent is None else "subcluster")


def _note(stage: StageNode) -> str:
    """Where the stage comes from, and what hides behind what is shown."""
    info = stage.info
    sentences = []
    if info.parent is not None and info.run is not None:
        sentences.append(f"Made of cluster {info.cluster} of run {info.run} of {info.parent}, and stays with that run.")
    elif info.parent is not None:
        sentences.append("Came with a table of responses, so it belongs to no run here.")
    if stage.hidden_run is not None and stage.view is not None:
        shown = stage.view.run.number
        below = "the stages below it came from this one" if stage.hidden_run > shown else "another one was chosen"
        sentences.append(f"Run {stage.hidden_run} is newer than run {shown}, which is shown: {below}.")
    return " ".join(sentences)
