"""The plot's pointer: drag draws a lasso, the wheel zooms, the middle button moves the view."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QColor, QPainterPath
from PySide6.QtWidgets import QGraphicsPathItem

FEWEST_PIXELS = 3
"""A lasso's outline gets a point each time the pointer has moved so far; it stays short, and smooth to the eye."""


class LassoBox(pg.ViewBox):  # type: ignore[misc]
    """A view of a plot in which a drag with the left button draws an outline.

    Signals
    -------
    lassoed : (outline of shape (n, 2) in plot coordinates, whether to add to the selection)
    clicked : (QPointF in plot coordinates, whether to add to the selection)
    """

    lassoed = Signal(object, bool)
    clicked = Signal(object, bool)

    def __init__(self) -> None:
        super().__init__(enableMenu=False)
        self._outline: list[tuple[float, float]] = []
        self._shape = QGraphicsPathItem(self)
        self._shape.setZValue(1000)
        self._shape.hide()

    def set_colour(self, colour: QColor) -> None:
        """Draw the lasso in this colour."""
        self._shape.setPen(pg.mkPen(colour, width=1.5, style=Qt.PenStyle.DashLine))
        veil = QColor(colour)
        veil.setAlpha(30)
        self._shape.setBrush(veil)

    def mouseDragEvent(self, ev: Any, axis: int | None = None) -> None:
        """Draw with the left button; leave the other buttons' moving and stretching to pyqtgraph."""
        if axis is not None or ev.button() != Qt.MouseButton.LeftButton:
            super().mouseDragEvent(ev, axis)
            return
        ev.accept()
        if ev.isStart():
            start = ev.buttonDownPos()
            self._outline = [(start.x(), start.y())]
        at = ev.pos()
        last = self._outline[-1]
        if abs(at.x() - last[0]) + abs(at.y() - last[1]) >= FEWEST_PIXELS:
            self._outline.append((at.x(), at.y()))
        path = QPainterPath()
        path.moveTo(*self._outline[0])
        for point in self._outline[1:]:
            path.lineTo(*point)
        path.closeSubpath()
        self._shape.setPath(path)
        self._shape.setVisible(not ev.isFinish())
        if ev.isFinish():
            outline, self._outline = self._outline, []
            self.lassoed.emit(self._in_plot(outline), _adds(ev))

    def mouseClickEvent(self, ev: Any) -> None:
        """Say where the left button was clicked."""
        if ev.button() == Qt.MouseButton.LeftButton:
            ev.accept()
            self.clicked.emit(self.mapToView(ev.pos()), _adds(ev))

    def _in_plot(self, outline: list[tuple[float, float]]) -> NDArray[np.float64]:
        mapped = [self.mapToView(pg.Point(*point)) for point in outline]
        return np.array([(point.x(), point.y()) for point in mapped])


def _adds(ev: Any) -> bool:
    return bool(ev.modifiers() & (Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.ControlModifier))
