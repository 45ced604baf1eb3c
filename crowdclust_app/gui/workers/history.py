"""One worker over time, and the HITs as this worker sorted them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QHeaderView, QLabel, QLineEdit, QTableView, QVBoxLayout, QWidget

from crowdclust_app.gui import theme
from crowdclust_app.gui.charts.chart import Chart
from crowdclust_app.gui.charts.series import ChartLine, ChartSeries, Floats
from crowdclust_app.gui.chrome import plain_button
from crowdclust_app.gui.clusters.album import Album
from crowdclust_app.gui.splitting import splitter
from crowdclust_app.gui.wording import count_of, people_time
from crowdclust_app.gui.workers.sorted_view import SortedView
from crowdclust_app.gui.workers.table_setup import set_up_table
from crowdclust_app.gui.workers.turns_model import (
    AGREEMENT_COLUMN,
    COLUMNS,
    COUNTS_COLUMN,
    SUBMITTED_COLUMN,
    SURPRISE_COLUMN,
    WorkerHitsModel,
)
from crowdclust_app.services.workers.submitted_hits import SubmittedHit, SubmittedHits

# Narrower, and there is no room for all columns.
WIDE = 560


class TimePage(QWidget):
    """Agreement with the clusters and seconds a HIT, HIT after HIT; agreement with oneself.

    Signals
    -------
    chosen : str
        A HIT.
    repeats_wanted
        Some HITs are to be repeated.
    """

    chosen = Signal(str)
    repeats_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.agreement = Chart("agreement-chart", self)
        self.seconds = Chart("seconds-chart", self)
        self.oneself = QLabel(self)
        self.oneself.setObjectName("self-agreement")
        self.oneself.setWordWrap(True)
        self.plan = plain_button("Repeat a tenth of the sets", "plan-repeats", self.repeats_wanted.emit)
        self.plan.setToolTip("Hands a tenth of the HITs a second time to people who sorted them, some HITs later")
        self._hits: dict[str, list[str]] = {}
        for chart in (self.agreement, self.seconds):
            chart.chosen.connect(lambda index, chart=chart: self._choose(chart, index))
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.STEP)
        layout.addWidget(self.agreement, 1)
        layout.addWidget(self.seconds, 1)
        layout.addWidget(self.oneself)
        layout.addWidget(self.plan, 0, Qt.AlignmentFlag.AlignLeft)

    def show_turns(
        self, turns: Sequence[SubmittedHit], with_oneself: tuple[int, float] | None, can_plan: bool = False
    ) -> None:
        """Show these HITs, oldest first; `can_plan`: nothing is repeated yet, and could be."""
        self.plan.setVisible(can_plan)
        judged = [(k, turn) for k, turn in enumerate(turns, start=1) if turn.agreement is not None]
        timed = [(k, turn) for k, turn in enumerate(turns, start=1) if turn.seconds is not None]
        self._hits = {
            "agreement-chart": [turn.hit for _, turn in judged],
            "seconds-chart": [turn.hit for _, turn in timed],
        }
        nothing = "Nothing to show before the first HIT." if not turns else "No HIT can be compared with clusters yet."
        self.agreement.show_series(
            _over_time(
                "Agreement with the clusters",
                "share of the labels",
                judged,
                [turn.agreement or 0.0 for _, turn in judged],
                [f"{turn.hit}: {share_words(turn.agreement or 0.0)}" for _, turn in judged],
                high=1.0,
                tick=share_words,
            ),
            nothing,
        )
        self.seconds.show_series(
            _over_time(
                "Time a HIT",
                "time at work",
                timed,
                [turn.seconds or 0.0 for _, turn in timed],
                [f"{turn.hit}: {people_time(turn.seconds)}" for _, turn in timed],
                high=None,
                tick=_short_time,
            ),
            "Nobody measured how long these HITs took.",
        )
        if with_oneself is None:
            self.oneself.setText("No HIT was given to this worker twice, so agreement with oneself is not known.")
        else:
            pairs, share = with_oneself
            self.oneself.setText(
                f"Agreement with oneself on repeated HITs: {share_words(share)} of {count_of(pairs, 'pair')} of photos."
            )

    def _choose(self, chart: Chart, index: int) -> None:
        hits = self._hits.get(chart.objectName(), [])
        if index < len(hits):
            self.chosen.emit(hits[index])


def share_words(share: float) -> str:
    """A share as it is written everywhere: 74 %."""
    return f"{100 * share:.0f} %"


def _short_time(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"


def running_median(values: Floats, width: int = 7) -> Floats:
    """The median of each value and its neighbours, fewer at the ends."""
    half = width // 2
    return np.array([np.median(values[max(0, k - half) : k + half + 1]) for k in range(len(values))])


def _over_time(
    title: str,
    unit: str,
    turns: Sequence[tuple[int, SubmittedHit]],
    values: Sequence[float],
    words: Sequence[str],
    high: float | None,
    tick: Callable[[float], str],
) -> ChartSeries | None:
    if not turns:
        return None
    x, y = np.array([float(k) for k, _ in turns]), np.array(values)
    return ChartSeries(
        title,
        "HITs in the order of submission",
        unit,
        x,
        y,
        tuple(words),
        lines=(ChartLine(x, running_median(y)),) if len(x) > 2 else (),
        low=0.0,
        high=high,
        marked=frozenset(k for k, (_, turn) in enumerate(turns) if turn.left_out is not None),
        tick=tick,
    )


class HitsPage(QWidget):
    """One worker's HITs, those that surprise the model most first, and the chosen one as it was sorted.

    Signals
    -------
    excluded : (str, str)
        A HIT that is to be left out of runs, and why.
    taken_in : str
        A HIT that is to count again.
    """

    excluded = Signal(str, str)
    taken_in = Signal(str)

    def __init__(self, album: Album, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._album = album
        self._turns: SubmittedHits | None = None
        self._hit: str | None = None
        self._worker = ""
        self._expected: NDArray[np.float64] | None = None
        self._shown: tuple[str | None, str] = (None, "")
        self._read_only = False
        self._model = WorkerHitsModel(self)
        self.table = QTableView(self)
        self.sorted = SortedView(album, self)
        self.about = QLabel(self)
        self.about.setObjectName("hit-about")
        self.about.setWordWrap(True)
        self.reason = QLineEdit(self)
        self.reason.setObjectName("exclude-reason")
        self.reason.setAccessibleName("Why this response is excluded")
        self.reason.setPlaceholderText("Why it should not count")
        self.reason.setMaxLength(500)
        self.exclude = plain_button("Exclude from runs", "exclude-response", self._exclude)
        self.take_in = plain_button("Take back in", "take-in-response", self._take_in)
        self.reason.returnPressed.connect(self._exclude)
        self.reason.textChanged.connect(self._enable)
        self._set_up_table()
        line = QHBoxLayout()
        line.setSpacing(theme.STEP)
        for widget in (self.reason, self.exclude, self.take_in):
            line.addWidget(widget, 1 if widget is self.reason else 0)
        lower = QWidget(self)
        below = QVBoxLayout(lower)
        below.setContentsMargins(0, 0, 0, 0)
        below.setSpacing(theme.STEP)
        below.addWidget(self.about)
        below.addWidget(self.sorted, 1)
        below.addLayout(line)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        parts = splitter(Qt.Orientation.Vertical, self.table, lower)
        parts.setSizes([160, 300])
        layout.addWidget(parts)

    def _set_up_table(self) -> None:
        table = self.table
        set_up_table(table, self._model, "turns-table", "HITs of this worker", row=26)
        table.sortByColumn(SURPRISE_COLUMN, Qt.SortOrder.DescendingOrder)
        table.setMinimumHeight(100)
        header = table.horizontalHeader()
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        metrics = self.fontMetrics()
        samples = ("", "Surprise ▼", "Agreement ▼", "12 min 34 s", "30 Nov 12:34", "excluded")
        for column in range(1, len(COLUMNS)):
            header.resizeSection(column, metrics.horizontalAdvance(samples[column]) + 16)
        table.selectionModel().currentChanged.connect(self._moved)

    def show_turns(
        self,
        turns: SubmittedHits | None,
        worker: str,
        read_only: bool = False,
        expected: NDArray[np.float64] | None = None,
    ) -> None:
        """Show a worker's HITs; the chosen one stays when it is still there.

        Parameters
        ----------
        expected : ndarray of shape (K, K), optional
            This worker's matrix.
        """
        if worker != self._worker:
            self._hit = None
        self._turns, self._worker, self._expected = turns, worker, expected
        self._read_only = read_only
        own = turns.of(worker) if turns is not None else ()
        before = self._hit if self._hit in {turn.hit for turn in own} else None
        has_surprise = any(turn.surprise is not None for turn in own)
        self._model.show(own)
        self.table.setColumnHidden(SURPRISE_COLUMN, not has_surprise)
        said = any(turn.left_out is not None or turn.repeats for turn in own)
        self.table.setColumnHidden(COUNTS_COLUMN, not said)
        if not has_surprise and self._model.sorted_by == SURPRISE_COLUMN:
            self.table.sortByColumn(AGREEMENT_COLUMN, Qt.SortOrder.AscendingOrder)
        elif has_surprise and before is None:
            self.table.sortByColumn(SURPRISE_COLUMN, Qt.SortOrder.DescendingOrder)
        self._hit = before
        if own:
            self.choose(before or self._model.row(0).hit)
        else:
            self._show(None)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Leave out when a HIT was submitted where there is no room for it."""
        super().resizeEvent(event)
        self.table.setColumnHidden(SUBMITTED_COLUMN, self.width() < WIDE)

    @property
    def chosen(self) -> SubmittedHit | None:
        """The HIT shown as it was sorted."""
        row = self._row(self._hit)
        return self._model.row(row) if row is not None else None

    def choose(self, hit: str) -> None:
        """Show this HIT."""
        row = self._row(hit)
        if row is not None:
            self.table.selectRow(row)
            self.table.setCurrentIndex(self._model.index(row, 0))
            self._hit = hit
            self._show(self._model.row(row))

    def _row(self, hit: str | None) -> int | None:
        rows = range(self._model.rowCount())
        return next((row for row in rows if self._model.row(row).hit == hit), None)

    def _moved(self, current: QModelIndex, _before: QModelIndex) -> None:
        if current.isValid():
            turn = self._model.row(current.row())
            if turn.hit != self._hit:
                self._hit = turn.hit
                self._show(turn)

    def _show(self, turn: SubmittedHit | None) -> None:
        view = self._album.view
        shown = (turn.hit if turn is not None else None, self._worker)
        if shown != self._shown:
            self._shown = shown
            self.reason.clear()
        groups: list[list[int]] = []
        strange: frozenset[int] = frozenset()
        if turn is not None and self._turns is not None and view is not None:
            expected = self._expected
            if expected is not None and not np.isfinite(expected).all():
                expected = None
            found = self._turns.sorted_hit(turn, expected)
            place = view.item_in_run
            groups = [[int(place[item]) for item in group if place[item] >= 0] for group in found.groups]
            strange = frozenset(int(place[item]) for item in found.strange if place[item] >= 0)
        self.sorted.show_groups(groups, strange)
        self.about.setText(_about(turn, len(strange), view is not None))
        self._enable()

    def _enable(self) -> None:
        turn = self.chosen
        alone = turn is not None and turn.left_out is not None and turn.left_out.hit is not None
        free = turn is not None and turn.left_out is None and not self._read_only
        self.take_in.setVisible(alone)
        self.take_in.setEnabled(alone and not self._read_only)
        for widget in (self.reason, self.exclude):
            widget.setVisible(not alone)
        self.reason.setEnabled(free)
        self.exclude.setEnabled(free and bool(self.reason.text().strip()))

    def _exclude(self) -> None:
        turn = self.chosen
        if turn is not None and turn.left_out is None and self.reason.text().strip() and not self._read_only:
            self.excluded.emit(turn.hit, self.reason.text())

    def _take_in(self) -> None:
        if self.chosen is not None:
            self.taken_in.emit(self.chosen.hit)


def _about(turn: SubmittedHit | None, strange: int, has_run: bool) -> str:
    """One HIT in words."""
    if turn is None:
        return "No HIT submitted yet."
    words = [f"{turn.hit}:"]
    if not has_run:
        words.append("needs a run of the inference to be compared with clusters.")
    elif turn.agreement is None:
        words.append("no two of its photos are in clusters.")
    elif strange:
        words.append(f"{count_of(strange, 'photo')} elsewhere than expected of this worker, hatched.")
    else:
        words.append("every photo is where it is expected of this worker.")
    if turn.repeats:
        words.append(f"Repeats {turn.repeats}.")
    if turn.left_out is not None:
        what = "Excluded" if turn.left_out.hit is not None else "Worker retired"
        words.append(f"{what}: {turn.left_out.reason}")
    return " ".join(words)
