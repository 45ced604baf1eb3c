"""Small charts of the Workers screen: points, lines and error bars on two axes, told by pointer and keys."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import ceil, floor, log10

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent, QPainter, QPainterPath, QPaintEvent, QPalette, QPen
from PySide6.QtWidgets import QToolTip, QWidget

from crowdclust_app.gui import theme

Floats = NDArray[np.float64]
LEFT, BOTTOM, TOP, RIGHT = 52, 40, 26, 12
NEAR = 14.0
# So many points are drawn as dots of full size; more become smaller.
FEW = 60


@dataclass(frozen=True, slots=True)
class ChartSeries:
    """What a chart shows; all arrays are of one length `n`.

    Parameters
    ----------
    title
        What it is about.
    x_label, y_label
        Of the axes, with the unit.
    x, y
        The points.
    words
        What is told of each point.
    error
        Half the length of each point's bar; None for none.
    lines
        Curves beside the points, as (x, y) in their order; the first is the main one.
    ground
        A horizontal line that the points are compared with, and what it stands for.
    low, high
        Ends of the vertical axis; found from the points when None.
    marked
        Which points are drawn hollow.
    from_zero
        Whether the horizontal axis begins at 0.
    """

    title: str
    x_label: str
    y_label: str
    x: Floats
    y: Floats
    words: tuple[str, ...] = ()
    error: Floats | None = None
    lines: tuple[tuple[Floats, Floats], ...] = ()
    ground: tuple[float, str] | None = None
    low: float | None = None
    high: float | None = None
    marked: frozenset[int] = field(default_factory=frozenset)
    from_zero: bool = False
    tick: Callable[[float], str] = "{:g}".format


def ticks(low: float, high: float, most: int = 5) -> list[float]:
    """Round numbers between two values, both ends included where they are round."""
    if not high > low:
        return [low]
    rough = (high - low) / most
    power = 10.0 ** floor(log10(rough))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough * 0.999)
    first = ceil(low / step - 1e-9)
    last = floor(high / step + 1e-9)
    return [round(number * step, 12) for number in range(first, last + 1)]


def running_median(values: Floats, width: int = 7) -> Floats:
    """The median of each value and its neighbours, fewer at the ends."""
    half = width // 2
    return np.array([np.median(values[max(0, k - half) : k + half + 1]) for k in range(len(values))])


class Chart(QWidget):
    """One chart.

    Signals
    -------
    chosen : int
        A point was clicked, or Enter pressed on it.
    """

    chosen = Signal(int)

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self.setMinimumSize(200, 130)
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._series: ChartSeries | None = None
        self._at: NDArray[np.float64] = np.zeros((0, 2))
        self._cursor: int | None = None
        self._why_empty = ""

    def show_series(self, series: ChartSeries | None, why_empty: str = "") -> None:
        """Show this; without points, say why there are none."""
        self._series = series
        self._why_empty = why_empty
        self._cursor = None
        self.setAccessibleName(series.title if series is not None else why_empty)
        self.update()

    @property
    def series(self) -> ChartSeries | None:
        """What is shown."""
        return self._series

    def point_at(self, index: int) -> QPointF:
        """Where a point is drawn."""
        if self._series is not None:
            self._place(self._series)
        return QPointF(*self._at[index])

    # --- geometry

    def _ends(self, series: ChartSeries) -> tuple[float, float, float, float]:
        xs = [series.x, *(line[0] for line in series.lines)]
        ys = [series.y, *(line[1] for line in series.lines)]
        if series.error is not None and len(series.y):
            ys += [series.y - series.error, series.y + series.error]
        if series.ground is not None:
            ys.append(np.array([series.ground[0]]))
        x, y = np.concatenate(xs), np.concatenate(ys)
        left, right = (float(x.min()), float(x.max())) if len(x) else (0.0, 1.0)
        low, high = (float(y.min()), float(y.max())) if len(y) else (0.0, 1.0)
        left = 0.0 if series.from_zero else left
        low = low if series.low is None else series.low
        high = high if series.high is None else series.high
        if not right > left:
            left, right = left - 0.5, right + 0.5
        if not high > low:
            low, high = low - 0.5, high + 0.5
        room = 0.04 * (high - low)
        low = low if series.low is not None else low - room
        high = high if series.high is not None else high + room
        return left, right, low, high

    def _area(self) -> QRectF:
        return QRectF(LEFT, TOP, max(20, self.width() - LEFT - RIGHT), max(20, self.height() - TOP - BOTTOM))

    def _to_screen(self, x: Floats, y: Floats, series: ChartSeries) -> NDArray[np.float64]:
        left, right, low, high = self._ends(series)
        area = self._area()
        across = area.left() + 6 + (x - left) / (right - left) * (area.width() - 12)
        down = area.bottom() - (np.clip(y, low, high) - low) / (high - low) * area.height()
        return np.column_stack([across, down])

    def _place(self, series: ChartSeries) -> None:
        self._at = self._to_screen(series.x, series.y, series)

    # --- painting

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw axes, lines, bars and points."""
        painter = QPainter(self)
        palette = self.palette()
        series = self._series
        if series is None or not (len(series.x) or series.lines):
            painter.setPen(theme.muted(palette))
            painter.drawText(self.rect(), Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap, self._why_empty)
            return
        self._place(series)
        self._paint_axes(painter, series)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        accent, quiet = palette.color(QPalette.ColorRole.Highlight), theme.muted(palette)
        for number, line in enumerate(series.lines):
            style = Qt.PenStyle.SolidLine if number == 0 else Qt.PenStyle.DashLine
            painter.setPen(QPen(accent if number == 0 else quiet, 2 if number == 0 else 1, style))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawPath(_path(self._to_screen(*line, series)))
        self._paint_points(painter, series)
        if self.hasFocus() or self._cursor is not None:
            self._paint_cursor(painter)

    def _paint_axes(self, painter: QPainter, series: ChartSeries) -> None:
        palette, area = self.palette(), self._area()
        left, right, low, high = self._ends(series)
        line, words = theme.line_colour(palette), theme.muted(palette)
        right_middle = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        for value in ticks(low, high, max(2, int(area.height() // 34))):
            at = self._to_screen(np.array([left]), np.array([value]), series)[0][1]
            painter.setPen(QPen(line, 1))
            painter.drawLine(QPointF(area.left(), at), QPointF(area.right(), at))
            painter.setPen(words)
            painter.drawText(QRectF(0, at - 9, LEFT - 6, 18), right_middle, series.tick(value))
        most = max(2, int(area.width() // 70))
        whole = bool(len(series.x)) and bool(np.all(series.x == np.round(series.x)))
        for value in ticks(left, right, most):
            if whole and value != round(value):
                continue  # there is no half a day, and no half a rank
            at = self._to_screen(np.array([value]), np.array([low]), series)[0][0]
            painter.setPen(words)
            box = QRectF(at - 40, area.bottom() + 3, 80, 16)
            painter.drawText(box, Qt.AlignmentFlag.AlignCenter, f"{value:,g}")
        painter.setPen(words)
        below = QRectF(area.left(), area.bottom() + 19, area.width(), 18)
        under = painter.fontMetrics().elidedText(series.x_label, Qt.TextElideMode.ElideRight, int(area.width()))
        painter.drawText(below, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, under)
        painter.setPen(palette.color(QPalette.ColorRole.Text))
        room = painter.fontMetrics().elidedText(
            self._headline(series),
            Qt.TextElideMode.ElideRight,
            self.width() - 4,
        )
        painter.drawText(QRectF(0, 0, self.width(), TOP - 6), Qt.AlignmentFlag.AlignLeft, room)
        if series.ground is not None:
            value, meaning = series.ground
            at = self._to_screen(np.array([left]), np.array([value]), series)[0][1]
            painter.setPen(QPen(palette.color(QPalette.ColorRole.Text), 1))
            painter.drawLine(QPointF(area.left(), at), QPointF(area.right(), at))
            painter.setPen(words)
            above = QRectF(area.left() + 4, at - 18, area.width(), 18)
            painter.drawText(above, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, meaning)

    def _headline(self, series: ChartSeries) -> str:
        """What is told of the point under the keys' cursor; else what the chart is about."""
        if self._cursor is not None and self.told(self._cursor):
            return self.told(self._cursor)
        return f"{series.title} ({series.y_label})" if series.y_label else series.title

    def _paint_points(self, painter: QPainter, series: ChartSeries) -> None:
        colour = self.palette().color(QPalette.ColorRole.Highlight)
        if series.error is not None:
            tops = self._to_screen(series.x, series.y + series.error, series)
            feet = self._to_screen(series.x, series.y - series.error, series)
            painter.setPen(QPen(theme.mix(self.palette().color(QPalette.ColorRole.Window), colour, 0.6), 1.5))
            for top, foot in zip(tops, feet, strict=True):
                painter.drawLine(QPointF(*top), QPointF(*foot))
        radius = 3.5 if len(series.x) <= FEW else 2.25
        painter.setPen(QPen(colour, 1.5))
        for number, at in enumerate(self._at):
            painter.setBrush(self._hollow() if number in series.marked else colour)
            painter.drawEllipse(QPointF(*at), radius, radius)

    def _hollow(self) -> QColor:
        return self.palette().color(QPalette.ColorRole.Window)

    def _paint_cursor(self, painter: QPainter) -> None:
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(self.palette().color(QPalette.ColorRole.Text), 2))
        if self._cursor is not None and self._cursor < len(self._at):
            painter.drawEllipse(QPointF(*self._at[self._cursor]), 7, 7)
        elif self.hasFocus():
            painter.setPen(QPen(self.palette().color(QPalette.ColorRole.Highlight), 1))
            painter.drawRect(self.rect().adjusted(0, 0, -1, -1))

    # --- pointer and keys

    def told(self, index: int) -> str:
        """What is said of a point."""
        series = self._series
        return series.words[index] if series is not None and index < len(series.words) else ""

    def _nearest(self, at: QPointF) -> int | None:
        if not len(self._at):
            return None
        distance = np.hypot(self._at[:, 0] - at.x(), self._at[:, 1] - at.y())
        best = int(np.argmin(distance))
        return best if distance[best] <= NEAR else None

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Choose the point under the pointer."""
        place = self._nearest(event.position())
        if event.button() == Qt.MouseButton.LeftButton and place is not None:
            self._cursor = place
            self.update()
            self.chosen.emit(place)

    def event(self, event: QEvent) -> bool:
        """Tell the point under the pointer."""
        if event.type() == QEvent.Type.ToolTip:
            place = self._nearest(QPointF(event.pos()))  # type: ignore[attr-defined]
            QToolTip.showText(event.globalPos(), self.told(place) if place is not None else "", self)  # type: ignore[attr-defined]
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Arrows go from point to point; Enter chooses."""
        key, count = Qt.Key(event.key()), len(self._at)
        if not count or key not in (Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Return, Qt.Key.Key_Enter):
            super().keyPressEvent(event)
            return
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            if self._cursor is not None:
                self.chosen.emit(self._cursor)
            return
        step = 1 if key == Qt.Key.Key_Right else -1
        self._cursor = 0 if self._cursor is None else max(0, min(count - 1, self._cursor + step))
        self.setAccessibleDescription(self.told(self._cursor))
        self.update()

    def focusOutEvent(self, event: object) -> None:
        """The keys go elsewhere."""
        self._cursor = None
        self.update()


def _path(points: NDArray[np.float64]) -> QPainterPath:
    path = QPainterPath()
    for number, (x, y) in enumerate(points):
        if number:
            path.lineTo(x, y)
        else:
            path.moveTo(x, y)
    return path
