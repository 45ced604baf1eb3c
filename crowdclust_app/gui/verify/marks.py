"""Signs on the lead's photos: what is a prediction alone, and what is gold."""

from __future__ import annotations

from PySide6.QtCore import QRect, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

INK, GROUND = QColor(20, 20, 20), QColor(255, 255, 255, 235)
GOLD_WORDS = {True: "gold yes", False: "gold no"}


def paint_predicted(painter: QPainter, photo: QRect) -> None:
    """Frame a photo with dashes, dark on light, so that they show on any picture and any ground."""
    painter.save()
    painter.setBrush(Qt.BrushStyle.NoBrush)
    inside = photo.adjusted(1, 1, -2, -2)
    painter.setPen(QPen(GROUND, 2))
    painter.drawRect(inside)
    pen = QPen(INK, 2, Qt.PenStyle.CustomDashLine)
    pen.setDashPattern([3.0, 3.0])
    pen.setCapStyle(Qt.PenCapStyle.FlatCap)
    painter.setPen(pen)
    painter.drawRect(inside)
    painter.restore()


def paint_gold(painter: QPainter, photo: QRect, yes: bool) -> None:
    """Write in the upper left corner that the answer is known, and which it is."""
    words, metrics = GOLD_WORDS[yes], painter.fontMetrics()
    room = QRectF(photo.left() + 4, photo.top() + 4, metrics.horizontalAdvance(words) + 12, metrics.height() + 2)
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(INK, 1.2))
    painter.setBrush(GROUND)
    painter.drawRoundedRect(room, 4, 4)
    painter.drawText(room, Qt.AlignmentFlag.AlignCenter, words)
    painter.restore()
