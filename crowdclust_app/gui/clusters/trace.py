"""The bound, sweep by sweep, one phase at a time: it rises inside a phase, and jumps from one to the next."""

from __future__ import annotations

from collections.abc import Iterable

import pyqtgraph as pg
from PySide6.QtCore import QEvent, Qt, QTimer
from PySide6.QtGui import QPalette, QShowEvent
from PySide6.QtWidgets import QButtonGroup, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from crowdclust_app.gui import theme
from crowdclust_app.gui.clusters.axes import style_axis
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
        self._widget: pg.PlotWidget | None = None
        self._due = False
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
        layout.addStretch(1)
        self._draw()

    @property
    def widget(self) -> pg.PlotWidget:
        """The plot; made when it is first needed, because that takes long for what most people do not look at."""
        if self._widget is None:
            self._widget = widget = pg.PlotWidget(self)
            widget.setFrameShape(widget.Shape.NoFrame)
            widget.setFocusPolicy(Qt.FocusPolicy.NoFocus)
            widget.hideButtons()
            widget.setMenuEnabled(False)
            widget.setMouseEnabled(x=False, y=False)
            keep_room(widget)
            layout = self.layout()
            assert isinstance(layout, QVBoxLayout)
            layout.takeAt(1)  # the stretch that held its place
            layout.addWidget(widget, 1)
            self._restyle()
        return self._widget

    def showEvent(self, event: QShowEvent) -> None:
        """Draw what has come while it could not be seen."""
        super().showEvent(event)
        self._draw()

    def _make(self) -> None:
        self._due = False
        if self.isVisible():
            self.widget.update()

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
        for phase, button in self._buttons.items():
            button.setChecked(phase == self._phase)
            button.setEnabled(bool(self._curves[phase]))
            button.setVisible(any(self._curves.values()))
        if self._widget is None:
            if not self._due and self.isVisible() and any(self._curves.values()):
                self._due = True
                QTimer.singleShot(0, self, self._make)  # a moment later: the rest of the screen comes first
            return
        self.widget.clear()
        self.widget.setVisible(any(self._curves.values()))
        curves = self._curves[self._phase]
        palette = self.palette()
        newest = self._best if self._best in curves else max(curves, default=0)
        for start in sorted(curves, key=lambda start: (start == newest, start)):
            colour = palette.color(QPalette.ColorRole.Highlight) if start == newest else theme.line_colour(palette)
            pen = pg.mkPen(colour, width=2 if start == newest else 1.25)
            bounds = curves[start]
            self.widget.plot(x=list(range(1, len(bounds) + 1)), y=bounds, pen=pen, antialias=True)
            if start == newest:
                self.widget.plot(
                    x=[len(bounds)],
                    y=bounds[-1:],
                    pen=None,
                    symbol="o",
                    symbolSize=7,
                    symbolBrush=colour,
                    symbolPen=None,
                )

    def _restyle(self) -> None:
        if self._widget is None:
            return
        palette = self.palette()
        self.widget.setBackground(palette.color(QPalette.ColorRole.Window))
        for side, words in (("bottom", "sweep"), ("left", "")):
            style_axis(self.widget.getAxis(side), words, palette, self.font())
        # a fixed width: the plot must not jump when the figures get longer
        self.widget.getAxis("left").setWidth(9 * self.fontMetrics().averageCharWidth())
        self._draw()

    def changeEvent(self, event: QEvent) -> None:
        """Follow the palette when it changes."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange) and hasattr(self, "_widget"):
            self._restyle()
