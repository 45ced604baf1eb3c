"""The bound, sweep by sweep, one phase at a time: it rises inside a phase, and jumps from one to the next."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from PySide6.QtWidgets import QButtonGroup, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from crowdclust_app.gui import theme
from crowdclust_app.gui.charts.chart import Chart
from crowdclust_app.gui.charts.series import ChartLine, ChartSeries, Floats
from crowdclust_app.gui.labels import keep_room

PHASES = {"layers": "Positions", "mixture": "Clusters", "joint": "Joint"}
ABOUT = {
    "layers": "First the items' positions and the workers, without clusters",
    "mixture": "Then the clusters, with the positions held",
    "joint": "At last everything together; this bound is the run's",
}


class TracePlot(QWidget):
    """The bound of the running fit, or of a stored run.

    Parameters
    ----------
    name
        What it is called; its buttons are called after it where it is not the run panel's.
    """

    def __init__(self, parent: QWidget | None = None, name: str = "bound-trace") -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self._best: int | None = None
        self.setAccessibleName("Bound by sweep")
        self._curves: dict[str, dict[int, list[float]]] = {phase: {} for phase in PHASES}
        self._phase = "joint"
        self._follows = True
        self._buttons: dict[str, QPushButton] = {}
        # so wide that the plot does not jump when the figures get longer
        self.chart = Chart(f"{name}-chart", self, left=9 * self.fontMetrics().averageCharWidth())
        group = QButtonGroup(self)
        line = QHBoxLayout()
        line.setSpacing(theme.TILE_GAP)
        for phase, title in PHASES.items():
            button = QPushButton(title, self)
            button.setObjectName(f"phase-{phase}" if name == "bound-trace" else f"{name}-{phase}")
            button.setProperty("rank", "plain")
            button.setCheckable(True)
            button.setStyleSheet("padding: 6px 8px;")
            button.setToolTip(ABOUT[phase])
            button.clicked.connect(lambda _=False, phase=phase: self._choose(phase))
            keep_room(button)
            group.addButton(button)
            self._buttons[phase] = button
            line.addWidget(button)
        line.addStretch(1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(line)
        layout.addWidget(self.chart, 1)
        keep_room(self.chart)
        self._draw()

    @property
    def phase(self) -> str:
        """The phase shown."""
        return self._phase

    def bounds(self, phase: str, start: int) -> list[float]:
        """The bounds of a start in a phase, by sweep."""
        return list(self._curves[phase].get(start, ()))

    def clear(self) -> None:
        """Forget all sweeps and follow the phases to come."""
        self._curves = {phase: {} for phase in PHASES}
        self._follows = True
        self._best = None
        self._draw()

    def add(self, sweeps: Iterable[tuple[int, str, float]]) -> None:
        """Add sweeps of the running fit: start, phase, bound."""
        last = None
        for start, phase, bound in sweeps:
            if phase in self._curves:
                self._curves[phase].setdefault(start, []).append(bound)
                last = phase
        if last is not None:
            if self._follows:
                self._phase = last
            self._draw()

    def show_traces(self, sweeps: Iterable[tuple[int, str, float]], best: int) -> None:
        """Show the traces of all starts of a stored run, the best one in front."""
        self.clear()
        self._phase = "joint"
        self._best = best
        self.add(sweeps)

    def _choose(self, phase: str) -> None:
        self._phase = phase
        self._follows = False
        self._draw()

    def _draw(self) -> None:
        there = any(self._curves.values())
        for phase, button in self._buttons.items():
            button.setChecked(phase == self._phase)
            button.setEnabled(bool(self._curves[phase]))
            button.setVisible(there)
        self.chart.setVisible(there)
        curves = self._curves[self._phase]
        if not curves:
            self.chart.show_series(None)
            return
        newest = self._best if self._best in curves else max(curves)
        order = sorted(curves, key=lambda start: (start == newest, start))
        lines = [
            ChartLine(_sweeps(curves[start]), np.array(curves[start]), "main" if start == newest else "faint")
            for start in order
        ]
        front = lines[-1]
        self.chart.show_series(
            ChartSeries(
                title=f"Bound by sweep in nats, {PHASES[self._phase].lower()}",
                x_label="sweep",
                y_label="",
                x=front.x,
                y=front.y,
                words=tuple(
                    f"start {newest}, sweep {sweep}: {bound:,.1f} nats"
                    for sweep, bound in enumerate(curves[newest], start=1)
                ),
                lines=tuple(lines),
                dots_from=len(front.x) - 1,
                headline=False,
            )
        )


def _sweeps(bounds: list[float]) -> Floats:
    return np.arange(1.0, len(bounds) + 1.0)
