"""Beside the photos: whether the question set learns from its images, and what was learnt."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QProgressBar,
    QPushButton,
    QSizePolicy,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from crowdclust_app.gui import theme
from crowdclust_app.gui.chrome import plain_button
from crowdclust_app.gui.labels import ElidedLabel
from crowdclust_app.gui.verify.expertise import ExpertiseTable
from crowdclust_app.gui.verify.learning_setup import LearningSetup
from crowdclust_app.gui.verify.reliability_plot import ReliabilityPlot
from crowdclust_app.gui.wording import capitalised, count_of, people_time
from crowdclust_app.services.progress_report import ProgressReport
from crowdclust_app.services.verify.active_learning import Learnt
from crowdclust_app.services.verify.learning_results import LearntWorker
from crowdclust_app.services.verify.verdicts import IN, OUT, UNDECIDED

OFF = "Switched on, every photo gets a probability, and the next question is the one that tells most."
WAITING = "Nothing is learnt yet."


class LearningPanel(QWidget):
    """Switch, progress, figures, warnings, workers.

    Signals
    -------
    wanted
        Learn now.
    stopped
        Stop the running job.
    """

    wanted = Signal()
    stopped = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("learning-panel")
        self.setup = LearningSetup(self)
        self.state = ElidedLabel()
        self.state.setObjectName("learning-state")
        self.bar = QProgressBar()
        self.bar.setObjectName("learning-bar")
        self.bar.setTextVisible(False)
        self.stop_button = plain_button("Stop", "learning-stop", self.stopped.emit)
        self.learn_button = plain_button("Learn now", "learning-now", self.wanted.emit)
        self.trouble = _words("learning-trouble")
        self.figures = _words("learning-figures")
        self.basis = _words("learning-basis", rank="second")
        self.warnings = _words("learning-warnings")
        self.left_out = ElidedLabel()
        self.left_out.setObjectName("learning-left-out")
        # small enough to be seen whole below the warnings
        self.roc = ReliabilityPlot("roc-plot", self, QSize(240, 200), false_alarms=True)
        self.table = ExpertiseTable(self)
        self.worker = _words("learnt-worker")
        self._learnt: Learnt | None = None
        self._on = self._busy = False
        self._build()
        self.roc.worker_pointed.connect(self._tell_worker)
        self.table.chosen.connect(self.roc.choose)
        self._show_state()

    def _build(self) -> None:
        self._buttons = QStackedWidget()
        self._buttons.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        for button in (self.learn_button, self.stop_button):
            self._buttons.addWidget(button)
        saying = QVBoxLayout()
        saying.setSpacing(2)
        saying.addWidget(self.state)
        saying.addWidget(self.bar)
        self.bar.setFixedHeight(6)
        policy = self.bar.sizePolicy()
        policy.setRetainSizeWhenHidden(True)
        self.bar.setSizePolicy(policy)
        self.heading = QLabel("Workers, ± one standard deviation")
        self.heading.setProperty("heading", "part")
        self.worker.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.worker.setMinimumHeight(2 * self.fontMetrics().lineSpacing())
        row = QHBoxLayout()
        row.setSpacing(theme.STEP)
        row.addWidget(self.roc, 1)
        row.addWidget(self.table, 1)
        self._workers = QWidget()
        column = QVBoxLayout(self._workers)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.STEP)
        column.addLayout(row, 1)
        column.addWidget(self.worker)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.STEP)
        self.setup.head.addWidget(self._buttons)
        layout.addWidget(self.setup)
        layout.addLayout(saying)
        for widget in (self.trouble, self.figures, self.basis, self.warnings, self.left_out, self.heading):
            layout.addWidget(widget)
        layout.addWidget(self._workers, 1)
        layout.addStretch(0)
        self.setFocusProxy(self.setup.switch)

    # --- content

    @property
    def buttons(self) -> tuple[QPushButton, QPushButton]:
        """To learn now, and to stop."""
        return self.learn_button, self.stop_button

    def show_on(self, on: bool) -> None:
        """Whether learning is switched on."""
        self._on = on
        self._show_state()

    def show_busy(self, busy: bool) -> None:
        """Whether it is learning."""
        self._busy = busy
        self.bar.setRange(0, 0)
        self._show_state()

    def show_progress(self, report: ProgressReport) -> None:
        """How far it is."""
        if self._busy:
            self.bar.setRange(0, report.total or 0)
            self.bar.setValue(report.done)
            self.state.setText(_sentence(report.text, stop=""))

    def show_trouble(self, text: str) -> None:
        """Why nothing (new) was learnt; "" takes it away."""
        self.trouble.setText(text)
        self._show_state()

    def show_learnt(self, learnt: Learnt | None) -> None:
        """Show what was learnt; None while there is nothing."""
        self._learnt = learnt
        self.figures.setText(_figures(learnt) if learnt is not None else "")
        self.basis.setText(_basis(learnt) if learnt is not None else "")
        self.warnings.setText("\n".join(_sentence(text) for text in learnt.warnings) if learnt is not None else "")
        self.left_out.setText(_left_out(learnt) if learnt is not None else "")
        workers = learnt.workers if learnt is not None else ()
        self.roc.show_workers(workers)
        chosen = self.roc.chosen_worker
        self.table.show_workers(workers, chosen.number if chosen is not None else None)
        self._show_state()

    def _show_state(self) -> None:
        learnt = self._learnt
        if not self._on:
            words = "Switched off"
        elif self._busy:
            words = "Learning"
        elif learnt is None:
            words = WAITING
        else:
            words = f"Learnt from {count_of(learnt.answers, 'answer')} in {people_time(learnt.seconds)}"
        self.state.setText(words)
        self.bar.setVisible(self._busy)
        self._buttons.setCurrentWidget(self.stop_button if self._busy else self.learn_button)
        self.learn_button.setEnabled(self._on)
        if not self._on and not self.trouble.text():
            self.trouble.setText(OFF)
        elif self._on and self.trouble.text() == OFF:
            self.trouble.setText("")
        for label in (self.trouble, self.figures, self.basis, self.warnings, self.left_out):
            label.setVisible(bool(label.text()))
        somebody = learnt is not None and bool(learnt.workers)
        for widget in (self.heading, self._workers):
            widget.setVisible(somebody)

    def _tell_worker(self, worker: LearntWorker | None) -> None:
        self.table.mark(worker.number if worker is not None else None)
        self.worker.setText(_about_worker(worker) if worker is not None else "")


def _words(name: str, rank: str = "") -> QLabel:
    label = QLabel()
    label.setObjectName(name)
    label.setWordWrap(True)
    label.setTextFormat(Qt.TextFormat.PlainText)
    if rank:
        label.setProperty("rank", rank)
    return label


def _sentence(text: str, stop: str = ".") -> str:
    return f"{capitalised(text)}{'' if text.endswith('.') else stop}"


def _figures(learnt: Learnt) -> str:
    counts = ", ".join(f"{word} {learnt.count(kind):,}" for word, kind in (("in", IN), ("out", OUT)))
    alone = int((~learnt.asked & ~learnt.gold).sum())
    rest = f"; {alone:,} of them predictions alone" if alone else ""
    return _sentence(f"{counts}, undecided {learnt.count(UNDECIDED):,}{rest}", stop="")


def _basis(learnt: Learnt) -> str:
    gold = f"{count_of(int(learnt.gold.sum()), 'gold photo')}, " if learnt.gold.any() else ""
    words = f"{gold}{count_of(learnt.features, 'feature')} of {learnt.source}"
    if learnt.noise is not None:
        words += f". Noise: {100 * learnt.noise:.1f} % of all answers are off, whoever gives them"
    return _sentence(words, stop="")


def _left_out(learnt: Learnt) -> str:
    if not learnt.left_out:
        return ""
    names = "; ".join(f"{name} ({reason})" for name, reason in learnt.left_out)
    return f"Left out: {count_of(len(learnt.left_out), 'photo')}: {names}"


def _about_worker(worker: LearntWorker) -> str:
    """What was learnt of a worker, in words."""
    low, high = worker.interval
    return (
        f"{worker.name}, {count_of(worker.labels, 'answer')}: right {worker.expertise:.2f}, 95 % {low:.2f}–{high:.2f}\n"
        f"sensitivity {worker.sensitivity:.2f} ± {worker.sensitivity_sd:.2f}, "
        f"specificity {worker.specificity:.2f} ± {worker.specificity_sd:.2f}"
    )
