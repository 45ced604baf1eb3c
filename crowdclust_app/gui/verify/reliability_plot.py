"""How far each worker can be trusted as a judge: sensitivity against specificity, with what is not known yet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from PySide6.QtCore import QLineF, QPointF, QRectF, QSize, QSizeF, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPalette, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from crowdclust_app.gui import theme
from crowdclust_app.gui.verify.naming import leader, name_places

TICKS = (0.0, 0.5, 1.0)
# There is no room for more.
MOST_NAMES = 40


class WorkerEllipse(Protocol):
    """What is drawn of a worker: posterior means with their standard deviations."""

    @property
    def number(self) -> int:
        """Of the campaign."""

    @property
    def name(self) -> str:
        """Of the campaign."""

    @property
    def sensitivity(self) -> float:
        """Yes to what belongs."""

    @property
    def sensitivity_sd(self) -> float:
        """Half-axis upwards."""

    @property
    def specificity(self) -> float:
        """No to what does not belong."""

    @property
    def specificity_sd(self) -> float:
        """Half-axis to the side."""


class ReliabilityPlot(QWidget):
    """One ellipse a worker: centre at the means, half-axes one standard deviation of the Beta posteriors.

    Signals
    -------
    pointed : Judge or None
        The worker under the pointer or chosen by the arrow keys.
    """

    pointed = Signal(object)
    ACROSS = "specificity"

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("judges-plot")
        self.setAccessibleName("Workers by specificity and sensitivity")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumSize(180, 180)
        self.workers: tuple[WorkerEllipse, ...] = ()
        self._chosen: int | None = None

    def sizeHint(self) -> QSize:
        """About square."""
        return QSize(360, 320)

    def show_workers(self, workers: Sequence[WorkerEllipse]) -> None:
        """Show these workers; the chosen one stays so while it is among them."""
        self.workers = tuple(workers)
        if self._chosen not in {worker.number for worker in workers}:
            self._chosen = None
        self.pointed.emit(self.chosen)
        self.update()

    @property
    def chosen(self) -> WorkerEllipse | None:
        """The worker that is told about."""
        return next((worker for worker in self.workers if worker.number == self._chosen), None)

    def choose(self, number: int | None) -> None:
        """Tell about this worker."""
        if number != self._chosen:
            self._chosen = number
            self.pointed.emit(self.chosen)
            self.update()

    def area(self) -> QRectF:
        """Where the plot is drawn."""
        line = self.fontMetrics().height()
        room = QRectF(self.rect()).adjusted(2.6 * line + 12, line * 0.6, -line * 0.6, -(2 * line + 12))
        side = min(room.width(), room.height())
        return QRectF(room.left(), room.top(), side, side)

    def point(self, worker: WorkerEllipse) -> QPointF:
        """The middle of a worker's ellipse."""
        area = self.area()
        return QPointF(
            area.left() + self.across(worker) * area.width(), area.bottom() - worker.sensitivity * area.height()
        )

    def across(self, worker: WorkerEllipse) -> float:
        """How far to the right a worker's ellipse lies, 0 to 1."""
        return worker.specificity

    def guessing(self, area: QRectF) -> QLineF:
        """Where those lie who guess."""
        return QLineF(area.topLeft(), area.bottomRight())

    def ellipse(self, worker: WorkerEllipse) -> QRectF:
        """The rectangle around a worker's ellipse."""
        area, centre = self.area(), self.point(worker)
        across, up = worker.specificity_sd * area.width(), worker.sensitivity_sd * area.height()
        return QRectF(centre.x() - across, centre.y() - up, 2 * across, 2 * up)

    # --- drawing

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Axes, the line of guessing, ellipses, names."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._paint_axes(painter)
        accent = self.palette().color(QPalette.ColorRole.Accent)
        ink = self.palette().color(QPalette.ColorRole.WindowText)
        painter.save()
        painter.setClipRect(self.area().adjusted(-1, -1, 1, 1))
        ordered = sorted(self.workers, key=lambda worker: worker.number == self._chosen)
        for worker in ordered:
            chosen = worker.number == self._chosen
            fill = QColor(accent)
            fill.setAlphaF(0.45 if chosen else 0.14)
            painter.setBrush(fill)
            painter.setPen(QPen(ink if chosen else accent, 2.0 if chosen else 1.2))
            painter.drawEllipse(self.ellipse(worker))
            painter.setBrush(ink if chosen else accent)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.drawEllipse(self.point(worker), 3, 3)
        painter.restore()
        self._paint_names(painter, ordered[::-1])

    def _paint_axes(self, painter: QPainter) -> None:
        area, palette = self.area(), self.palette()
        line, quiet = theme.line_colour(palette), theme.muted(palette)
        painter.fillRect(area, palette.color(QPalette.ColorRole.Base))
        metrics = self.fontMetrics()
        for tick in TICKS:
            x, y = area.left() + tick * area.width(), area.bottom() - tick * area.height()
            painter.setPen(QPen(line, 1))
            painter.drawLine(QPointF(x, area.top()), QPointF(x, area.bottom()))
            painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y))
            painter.setPen(quiet)
            text = f"{tick:g}"
            width = metrics.horizontalAdvance(text)
            painter.drawText(QPointF(x - width / 2, area.bottom() + metrics.ascent() + 4), text)
            painter.drawText(QPointF(area.left() - width - 6, y + metrics.ascent() / 2 - 2), text)
        painter.setPen(QPen(quiet, 1, Qt.PenStyle.DashLine))
        painter.drawLine(self.guessing(area))
        painter.setPen(quiet)
        across = QRectF(area.left(), area.bottom() + metrics.height() + 8, area.width(), metrics.height() + 2)
        painter.drawText(across, int(Qt.AlignmentFlag.AlignCenter), self.ACROSS)
        painter.save()
        painter.translate(metrics.height() / 2 + 4, area.center().y())
        painter.rotate(-90)
        up = QRectF(-area.height() / 2, -metrics.height() / 2, area.height(), metrics.height() + 2)
        painter.drawText(up, int(Qt.AlignmentFlag.AlignCenter), "sensitivity")
        painter.restore()

    def _paint_names(self, painter: QPainter, workers: Sequence[WorkerEllipse]) -> None:
        """Write names where they cover nothing, the chosen worker's first; with a line to those that are away."""
        metrics, ink = self.fontMetrics(), self.palette().color(QPalette.ColorRole.WindowText)
        points = [self.point(worker) for worker in workers]
        names = [worker.name for worker in workers[:MOST_NAMES]]
        sizes = [QSizeF(metrics.horizontalAdvance(name), metrics.height()) for name in names]
        placed = zip(points, names, name_places(points, sizes, self.area()), strict=False)
        found = [(at, name, place) for at, name, place in placed if place is not None]
        painter.setPen(QPen(theme.muted(self.palette()), 1))
        for at, _, place in found:
            end = leader(at, place)
            if end is not None:
                painter.drawLine(at, end)
        # lines to other names go under a name, not through it
        ground = self.palette().color(QPalette.ColorRole.Base)
        ground.setAlphaF(0.75)
        painter.setPen(ink)
        for _, name, place in found:
            painter.fillRect(place, ground)
            painter.drawText(QPointF(place.left(), place.top() + metrics.ascent()), name)

    # --- pointer and keys

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Tell about the worker whose middle is nearest."""
        self.choose(self._nearest(event.position()))

    def _nearest(self, at: QPointF) -> int | None:
        inside = [worker for worker in self.workers if self._is_inside(worker, at)]

        def distance(worker: WorkerEllipse) -> float:
            off = self.point(worker) - at
            return off.x() ** 2 + off.y() ** 2

        return min(inside, key=distance).number if inside else None

    def _is_inside(self, worker: WorkerEllipse, at: QPointF) -> bool:
        off, half = self.point(worker) - at, self.ellipse(worker).size() / 2
        return (off.x() / max(half.width(), 8.0)) ** 2 + (off.y() / max(half.height(), 8.0)) ** 2 <= 1.0

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Arrows go through the workers."""
        step = {
            Qt.Key.Key_Right: 1,
            Qt.Key.Key_Down: 1,
            Qt.Key.Key_Left: -1,
            Qt.Key.Key_Up: -1,
        }.get(Qt.Key(event.key()))
        if step is None or not self.workers:
            super().keyPressEvent(event)
            return
        numbers = [worker.number for worker in self.workers]
        place = numbers.index(self._chosen) + step if self._chosen in numbers else (0 if step > 0 else -1)
        self.choose(numbers[place % len(numbers)])
