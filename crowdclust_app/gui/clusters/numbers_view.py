"""How many clusters: how well each number predicts held-out responses, and a run with more or fewer of them."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QSlider, QSpinBox, QVBoxLayout, QWidget

from crowdclust_app.domain.plots import Plot
from crowdclust_app.gui import theme
from crowdclust_app.gui.charts.chart import Chart
from crowdclust_app.gui.charts.series import ChartLine, ChartSeries
from crowdclust_app.gui.labels import keep_room
from crowdclust_app.gui.wording import count_of
from crowdclust_app.services.clusters.plots import ClusterScore, cluster_numbers_plot, cluster_scores
from crowdclust_app.services.clusters.run_view import RunView
from crowdclust_app.services.fits.results import RunInfo

MOST = 999


class NumbersView(QWidget):
    """Held-out score by number of clusters, with one standard error.

    Signals
    -------
    run_wanted : int
        A run with this number of clusters is wanted.
    """

    run_wanted = Signal(int)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._view: RunView | None = None
        self._scores: tuple[ClusterScore, ...] = ()
        self._source = 0
        self._words = QLabel(self)
        self._words.setObjectName("numbers-words")
        self._words.setWordWrap(True)
        self._words.setProperty("rank", "second")
        self.chart = Chart("numbers-chart", self, left=76, ground=QPalette.ColorRole.Base)
        keep_room(self.chart)
        self._slider = QSlider(Qt.Orientation.Horizontal, self)
        self._slider.setObjectName("numbers-slider")
        self._slider.setAccessibleName("Number of clusters")
        self._box = QSpinBox(self)
        self._box.setObjectName("numbers-box")
        self._box.setAccessibleName("Number of clusters")
        self._box.setRange(1, MOST)
        self._again = QPushButton("Run with this number", self)
        self._again.setObjectName("numbers-run")
        line = QHBoxLayout()
        line.setSpacing(theme.STEP)
        label = QLabel("Fewer", self)
        label.setProperty("rank", "second")
        line.addWidget(label)
        line.addWidget(self._slider, 1)
        more = QLabel("More", self)
        more.setProperty("rank", "second")
        for widget in (more, self._box, self._again):
            line.addWidget(widget)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.STEP)
        layout.addWidget(self._words)
        layout.addWidget(self.chart, 1)
        layout.addLayout(line)
        self._slider.valueChanged.connect(self._box.setValue)
        self._box.valueChanged.connect(self._follow_box)
        self._again.clicked.connect(lambda: self.run_wanted.emit(self._box.value()))
        self.setFocusProxy(self._box)

    def show_view(self, view: RunView | None, runs: tuple[RunInfo, ...]) -> None:
        """Show the figures behind the number of clusters of this run."""
        fresh = view is not None and (self._view is None or self._view.run.number != view.run.number)
        self._view = view
        found = cluster_scores(runs, view.run) if view is not None else None
        self._source, self._scores = found if found is not None else (0, ())
        if view is not None and fresh:
            clusters = max(1, len(view.clusters))
            most = max(1, min(MOST, len(view.labels)))
            self._box.setMaximum(most)
            self._slider.setRange(1, max(1, min(most, max(2 * clusters, *(s.clusters for s in self._scores), 12))))
            self._box.setValue(clusters)
        self._words.setText(self._in_words())
        self._draw()

    def set_busy(self, busy: bool) -> None:
        """Disable the start of another run while one is running."""
        self._again.setEnabled(not busy)

    def figure(self) -> Plot | None:
        """The figures as a plot for its files."""
        if self._view is None or not self._scores:
            return None
        return cluster_numbers_plot(self._view.run, self._scores, self._source)

    @property
    def scores(self) -> tuple[ClusterScore, ...]:
        """What is drawn."""
        return self._scores

    def _in_words(self) -> str:
        view = self._view
        if view is None:
            return ""
        if not self._scores:
            return (
                "No run of these responses has tried several numbers. One that takes as many clusters “by held-out "
                "sets” shows here how well each number predicts responses it has not seen."
            )
        best = max(self._scores, key=lambda score: score.loglik)
        near = [s.clusters for s in self._scores if s.se is not None and best.loglik - s.loglik <= (best.se or 0.0)]
        words = f"Run {self._source} tried {self._scores[0].clusters} to {self._scores[-1].clusters} clusters. "
        words += f"{best.clusters} predict held-out responses best"
        if len(near) > 1:
            words += f"; {min(near)} to {max(near)} are within one standard error of that"
        return f"{words}. This run has {count_of(len(view.clusters), 'cluster')}."

    def _follow_box(self, value: int) -> None:
        if self._slider.minimum() <= value <= self._slider.maximum():
            self._slider.setValue(value)
        self._draw()

    def _draw(self) -> None:
        self.chart.setVisible(bool(self._scores))
        if not self._scores or self._view is None:
            self.chart.show_series(None)
            return
        x = np.array([float(score.clusters) for score in self._scores])
        y = np.array([score.loglik for score in self._scores])
        found, wanted = len(self._view.clusters), self._box.value()
        uprights = [(float(found), f"run {self._view.run.number}")]
        if wanted != found:
            uprights.append((float(wanted), ""))
        self.chart.show_series(
            ChartSeries(
                title="Held-out score by number of clusters",
                x_label="clusters",
                y_label="held-out log-likelihood (nats)",
                x=x,
                y=y,
                words=tuple(
                    f"{count_of(score.clusters, 'cluster')}: {score.loglik:.4f}"
                    + (f" ± {score.se:.4f}" if score.se is not None else "")
                    + " nats"
                    for score in self._scores
                ),
                error=np.array([score.se or 0.0 for score in self._scores]),
                spread="band",
                lines=(ChartLine(x, y),),
                uprights=tuple(uprights),
                headline=False,
            )
        )
