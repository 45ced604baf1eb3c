"""How far one worker can be trusted, in words and bars; what would be without; retiring."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QLineEdit, QProgressBar, QScrollArea, QVBoxLayout, QWidget

from crowdclust_app.gui import theme
from crowdclust_app.gui.charts.chart import Chart
from crowdclust_app.gui.charts.series import ChartSeries
from crowdclust_app.gui.chrome import plain_button
from crowdclust_app.gui.wording import capitalised, signed
from crowdclust_app.gui.workers.table_setup import bare
from crowdclust_app.services.campaign.left_out import LeftOut
from crowdclust_app.services.clusters.run_view import RunView
from crowdclust_app.services.fits.results import heldout_unit
from crowdclust_app.services.workers.criteria import Criteria
from crowdclust_app.services.workers.worker_rows import FLAG_REASONS, RETIRED, WorkerRow, one_cluster, worker_scores


@dataclass(frozen=True, slots=True)
class Gain:
    """One comparison.

    Parameters
    ----------
    against
        Whom the worker is compared with.
    value, error
        Nats a held-out pair label, and the standard error.
    """

    against: str
    value: float
    error: float

    @property
    def words(self) -> str:
        """The comparison as a sentence."""
        sure = abs(self.value) > 2 * self.error
        if not sure:
            return f"Not predicted better than {self.against} ({signed(self.value)} ± {self.error:.2f})."
        way = "better" if self.value > 0 else "worse"
        return f"Predicted {way} than {self.against} ({signed(self.value)} ± {self.error:.2f})."


class TrustPage(QScrollArea):
    """All evidence on a worker's reliability.

    Signals
    -------
    asked_without
        What the clusters would be without this worker is to be computed.
    stopped
        It is not to be computed any more.
    retired : str
        The worker is to be retired, and why.
    brought_back
        The worker is to count again.
    """

    asked_without = Signal()
    stopped = Signal()
    retired = Signal(str)
    brought_back = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("trust-page")
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        bare(self)
        self.reasons = _words("trust-reasons")
        self.criterion = _words("trust-criterion")
        self.predicted = _words("trust-predicted")
        self.gains = Chart("worker-gains", left=8)
        self.gains.setMinimumHeight(136)
        self.without = _words("without-words")
        self.ask = plain_button("Fit without this worker", "ask-without", self.asked_without.emit)
        self.bar = QProgressBar()
        self.bar.setObjectName("without-progress")
        self.bar.setAccessibleName("Fitting without this worker")
        self.bar.setTextVisible(False)
        self.stop = plain_button("Cancel", "stop-without", self.stopped.emit)
        self.reason = QLineEdit()
        self.reason.setObjectName("retire-reason")
        self.reason.setAccessibleName("Why this worker is retired")
        self.reason.setPlaceholderText("Why this worker should not count")
        self.reason.setMaxLength(500)
        self.reason.textChanged.connect(self._enable)
        self.reason.returnPressed.connect(self._retire)
        self.retire = plain_button("Retire", "retire-worker", self._retire)
        self.back = plain_button("Bring back", "bring-back-worker", self.brought_back.emit)
        self.retired_words = _words("retired-words")
        self._row: WorkerRow | None = None
        self._can_write = False
        self._build()
        self.show_running(None)

    def _build(self) -> None:
        inside = QWidget()
        inside.setObjectName("inside")
        layout = QVBoxLayout(inside)
        layout.setContentsMargins(0, 0, theme.MARGIN, 0)
        layout.setSpacing(theme.STEP)
        running = QHBoxLayout()
        running.setSpacing(theme.STEP)
        running.addWidget(self.ask)
        running.addWidget(self.bar, 1)
        running.addWidget(self.stop)
        running.addStretch(1)
        retiring = QHBoxLayout()
        retiring.setSpacing(theme.STEP)
        retiring.addWidget(self.reason, 1)
        retiring.addWidget(self.retire)
        retiring.addWidget(self.back)
        parts: tuple[tuple[str, Sequence[object]], ...] = (
            ("Habits", (self.reasons, self.criterion)),
            ("Held-out prediction", (self.predicted, self.gains)),
            ("Without this worker", (running, self.without)),
            ("Counting in runs", (self.retired_words, retiring)),
        )
        for title, widgets in parts:
            heading = QLabel(title)
            heading.setProperty("heading", "part")
            layout.addWidget(heading)
            for part in widgets:
                if isinstance(part, QWidget):
                    layout.addWidget(part)
                else:
                    assert isinstance(part, QHBoxLayout)
                    layout.addLayout(part)
            layout.addSpacing(theme.STEP)
        layout.addStretch(1)
        self.setWidget(inside)

    def show_worker(
        self,
        row: WorkerRow | None,
        view: RunView | None,
        criteria: Criteria | None,
        retired: LeftOut | None,
        can_write: bool,
        can_refit: bool,
    ) -> None:
        """Show what is known of a worker."""
        changed = row is None or self._row is None or row.name != self._row.name
        self._row, self._can_write = row, can_write
        self.reasons.setText(reasons_of(row))
        self.criterion.setText(criteria.words(row.name) if criteria is not None and row is not None else "")
        self.criterion.setVisible(bool(self.criterion.text()))
        words, gains = predicted_words(row, view)
        self.predicted.setText(words)
        self.gains.show_series(gains_series(gains))
        self.gains.setVisible(bool(gains))
        self.ask.setEnabled(can_refit and row is not None and row.hits > 0 and retired is None)
        if not can_refit:
            self.without.setText("This needs a run with the method Crowdclustering.")
        if changed:
            self.reason.clear()
        is_out = retired is not None
        self.retired_words.setText(
            f"Retired: {retired.reason}. All answers are kept, and none of them counts in runs."
            if retired is not None
            else "All answers count, but for those that are excluded one by one. Who is retired is asked no more; the "
            "answers are kept and left out of runs."
        )
        self.reason.setVisible(not is_out)
        self.retire.setVisible(not is_out)
        self.back.setVisible(is_out)
        self._enable()

    def show_without(self, words: str) -> None:
        """Say what the clusters would be without this worker."""
        self.without.setText(words)

    def show_running(self, share: float | None) -> None:
        """Show how far that has come; None while it is not running."""
        running = share is not None
        self.ask.setVisible(not running)
        self.bar.setVisible(running)
        self.stop.setVisible(running)
        if share is not None:
            self.bar.setRange(0, 1000)
            self.bar.setValue(round(1000 * share))

    def _enable(self) -> None:
        there = self._row is not None and self._can_write
        self.reason.setEnabled(there)
        self.back.setEnabled(there)
        self.retire.setEnabled(there and bool(self.reason.text().strip()))

    def _retire(self) -> None:
        if self.retire.isEnabled() and self.retire.isVisible():
            self.retired.emit(self.reason.text())


def gains_series(gains: tuple[Gain, ...]) -> ChartSeries | None:
    """The comparisons as points with bars of two standard errors, beside a line at 0; None without any."""
    if not gains:
        return None
    values = np.array([gain.value for gain in gains])
    return ChartSeries(
        title=" ".join(gain.words for gain in gains),
        x_label="nats held out, ± 2 standard errors",
        y_label="",
        x=values,
        y=np.arange(len(gains), 0.0, -1.0),
        words=tuple(gain.words for gain in gains),
        across=2.0 * np.array([gain.error for gain in gains]),
        captions=tuple(f"than {gain.against}" for gain in gains),
        uprights=((0.0, ""),),
        low=0.6,
        high=len(gains) + 0.7,
        headline=False,
        tick=None,
        tick_across=lambda value: f"{value:+g}" if value else "0",
    )


def reasons_of(row: WorkerRow | None) -> str:
    """Why a worker is flagged, with the figures."""
    if row is None:
        return ""
    if row.hits == 0:
        return "Has not submitted a HIT yet."
    sentences = []
    for flag in row.flags:
        if flag == RETIRED:
            continue
        words = FLAG_REASONS[flag]
        if flag == "random?" and row.likeness is not None:
            words = f"{words[:-1]} (likeness {row.likeness:.2f}; 1 is the same groups, 0 what chance gives)."
        sentences.append(f"{capitalised(flag).rstrip('?')}: {words[:1].lower()}{words[1:]}")
    if not sentences:
        likeness = f" Likeness to the clusters {row.likeness:.2f}." if row.likeness is not None else ""
        return f"Nothing odd.{likeness}"
    return "\n".join(sentences)


def predicted_words(row: WorkerRow | None, view: RunView | None) -> tuple[str, tuple[Gain, ...]]:
    """What held-out responses say of a worker, and the comparisons."""
    if row is None or view is None:
        return "This needs a run of the inference.", ()
    scores = worker_scores(view.run.result)
    if scores is None or row.name not in view.run.worker_names:
        return "Nothing was held out in this run.", ()
    j, unit = view.run.worker_names.index(row.name), heldout_unit(view.run.result.summary)
    if not scores.scored[j] > 0 or not np.isfinite(scores.loglik[j]):
        return "None of this worker's responses was held out, or no photo of them is in the others.", ()
    gains: tuple[Gain, ...] = ()
    if not one_cluster(view.run.result):
        over_one_group = (float(scores.over_one_group[j]), float(scores.over_one_group_se[j]))
        gains = (
            Gain("a worker who sorts at random", float(scores.over_random[j]), float(scores.over_random_se[j])),
            Gain("one who puts everything together", *over_one_group),
        )
    words = (
        f"{100 * scores.accuracy[j]:.1f} ± {100 * scores.accuracy_se[j]:.1f} % of {int(scores.scored[j]):,} "
        f"held-out {unit}s predicted rightly; "
        f"log-likelihood {scores.loglik[j]:z.2f} ± {scores.loglik_se[j]:.2f} nats a {unit}."
    )
    return " ".join([words, *(gain.words for gain in gains)]), gains


def _words(name: str) -> QLabel:
    label = QLabel()
    label.setObjectName(name)
    label.setWordWrap(True)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    return label
