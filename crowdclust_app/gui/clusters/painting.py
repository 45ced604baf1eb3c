"""How a photo, a cluster's badge and a doubtful corner are drawn, the same wherever they appear."""

from __future__ import annotations

from PySide6.QtCore import QLineF, QPointF, QRect, QRectF, QSizeF, Qt
from PySide6.QtGui import QColor, QFont, QPainter, QPalette, QPen, QPixmap, QPolygonF
from PySide6.QtWidgets import QAbstractScrollArea, QFrame

from crowdclust_app.gui import theme

BAR = 14
"""Room kept for a scroll bar, there or not, so that photos keep their size."""


def flat(view: QAbstractScrollArea) -> None:
    """Let a view lie on the window itself, without frame and ground of its own."""
    view.setFrameShape(QFrame.Shape.NoFrame)
    # the window's colour and not "transparent", which would leave painters with a black ground to mix colours from
    view.setStyleSheet("border: 0; background: palette(window);")


def paint_badge(
    painter: QPainter, rect: QRectF, number: int, font: QFont, edge: QColor | None = None, text: str = ""
) -> None:
    """Draw a cluster's number on its colour.

    Parameters
    ----------
    edge
        Colour of a thin line around it, where the badge lies on its own colour.
    text
        Text of the badge; the number when empty.
    """
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(edge, 1.5) if edge is not None else Qt.PenStyle.NoPen)
    painter.setBrush(theme.group_colour(number))
    painter.drawRoundedRect(rect, 5, 5)
    painter.setFont(font)
    painter.setPen(theme.group_text(number))
    painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, text or str(number))
    painter.restore()


def paint_photo(
    painter: QPainter, rect: QRect, pixmap: QPixmap | None, palette: QPalette, failed: bool = False
) -> None:
    """Draw a photo whole into a square of neutral ground."""
    ground = theme.mix(palette.color(QPalette.ColorRole.Base), palette.color(QPalette.ColorRole.Text), 0.07)
    painter.fillRect(rect, ground)
    if pixmap is not None:
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        painter.drawPixmap(fitted(QSizeF(pixmap.size()), QRectF(rect)), pixmap, QRectF(pixmap.rect()))
    elif failed:
        painter.setPen(theme.muted(palette))
        painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, "?")


def fitted(size: QSizeF, rect: QRectF) -> QRectF:
    """The largest rectangle of these proportions in the middle of another one."""
    scaled = size.scaled(rect.size(), Qt.AspectRatioMode.KeepAspectRatio)
    offset = QPointF((rect.width() - scaled.width()) / 2, (rect.height() - scaled.height()) / 2)
    return QRectF(rect.topLeft() + offset, scaled)


def paint_doubt(painter: QPainter, rect: QRect) -> None:
    """Hatch the lower right corner of a doubtful photo; dark on light, so that it shows on any picture."""
    side = max(12, min(26, rect.width() // 4))
    right, bottom = rect.x() + rect.width(), rect.y() + rect.height()
    corner = QPolygonF([QPointF(right, bottom - side), QPointF(right, bottom), QPointF(right - side, bottom)])
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(255, 255, 255, 235))
    painter.drawPolygon(corner)
    painter.setPen(QPen(QColor(20, 20, 20), 1.6))
    step = 4.0
    along = step
    while along <= side:
        painter.drawLine(QLineF(right - along, bottom, right, bottom - along))
        along += step
    painter.restore()


def paint_moved(painter: QPainter, rect: QRect) -> None:
    """Mark a photo that the lead put where it is: a ring with a dot in the upper right corner."""
    centre = QPointF(rect.x() + rect.width() - 11, rect.y() + 11)
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(QColor(20, 20, 20), 1.6))
    painter.setBrush(QColor(255, 255, 255, 235))
    painter.drawEllipse(centre, 7, 7)
    painter.setBrush(QColor(20, 20, 20))
    painter.drawEllipse(centre, 2, 2)
    painter.restore()


def paint_frame(painter: QPainter, rect: QRect, palette: QPalette, current: bool) -> None:
    """Frame a chosen photo; the current one has a wider frame."""
    width = 4 if current else 2
    painter.save()
    painter.setBrush(Qt.BrushStyle.NoBrush)
    pen = QPen(palette.color(QPalette.ColorRole.Highlight), width)
    pen.setJoinStyle(Qt.PenJoinStyle.MiterJoin)
    painter.setPen(pen)
    inset = width // 2
    painter.drawRect(rect.adjusted(inset, inset, -inset, -inset))
    # a thin line inside keeps the frame visible on a photo of the same colour
    painter.setPen(QPen(palette.color(QPalette.ColorRole.Base), 1))
    painter.drawRect(rect.adjusted(width, width, -width - 1, -width - 1))
    painter.restore()
