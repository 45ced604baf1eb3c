"""Shapes that the grid, the palette and the pointer share: a group's badge, the tool at the pointer."""

from __future__ import annotations

from functools import lru_cache

from PySide6.QtCore import QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QCursor, QFont, QPainter, QPainterPath, QPalette, QPen, QPixmap, QPolygonF
from PySide6.QtWidgets import QWidget

from crowdclust_app.gui import theme


def paint_badge(painter: QPainter, place: QRect, group: int, font: QFont) -> None:
    """A group's number on its colour."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme.group_colour(group))
    painter.drawRoundedRect(QRectF(place), 4, 4)
    painter.setFont(font)
    painter.setPen(theme.group_text(group))
    painter.drawText(place, int(Qt.AlignmentFlag.AlignCenter), str(group))
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)


def paint_frames_badge(painter: QPainter, picture: QRect, frames: int, font: QFont) -> None:
    """Says that a picture is an animation of which the first frame is shown."""
    text = f"▶ {frames}"
    painter.setFont(font)
    width = painter.fontMetrics().horizontalAdvance(text) + 12
    place = QRect(picture.right() - width - 3, picture.bottom() - 23, width, 20)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(0, 0, 0, 200))
    painter.drawRoundedRect(QRectF(place), 4, 4)
    painter.setPen(QColor(255, 255, 255))
    painter.drawText(place, int(Qt.AlignmentFlag.AlignCenter), text)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)


def paint_check(painter: QPainter, picture: QRect, colour: QColor) -> None:
    """A tick in the upper right corner: this tile is selected."""
    place = QRectF(picture.right() - 25, picture.top() + 4, 22, 22)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(theme.text_on(colour), 1.5))
    painter.setBrush(colour)
    painter.drawEllipse(place)
    painter.setPen(QPen(theme.text_on(colour), 2.2, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
    x, y = place.x(), place.y()
    painter.drawPolyline(QPolygonF([QPointF(x + 6, y + 11.5), QPointF(x + 9.7, y + 15), QPointF(x + 16, y + 7.5)]))
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)


def paint_flag(painter: QPainter, picture: QRect) -> None:
    """A flag in the lower left corner of a photo that a worker reported as broken."""
    place = QRect(picture.left() + 4, picture.bottom() - 25, 22, 22)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(0, 0, 0, 200))
    painter.drawRoundedRect(QRectF(place), 4, 4)
    painter.drawPixmap(place.adjusted(3, 3, -3, -3), theme.icon_pixmap("flag", QColor(255, 255, 255), 16))
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)


def paint_focus(painter: QPainter, cell: QRect, palette: QPalette) -> None:
    """Where the keyboard is: two lines, dark and light, seen on any picture and any frame."""
    window, ink = (palette.color(role) for role in (QPalette.ColorRole.Window, QPalette.ColorRole.WindowText))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(QPen(ink, 3))
    painter.drawRect(QRectF(cell).adjusted(-0.5, -0.5, 0.5, 0.5))
    painter.setPen(QPen(window, 1.5))
    painter.drawRect(QRectF(cell).adjusted(2, 2, -2, -2))


def paint_placeholder(painter: QPainter, place: QRect, name: str, reason: str, widget: QWidget) -> None:
    """A photo that is not here yet is an empty field; one that cannot be read says its name and why."""
    palette = widget.palette()
    window, ink = palette.color(QPalette.ColorRole.Window), palette.color(QPalette.ColorRole.WindowText)
    painter.fillRect(place, theme.mix(window, ink, 0.08))
    if not reason:
        return
    painter.setPen(theme.muted(palette))
    painter.setFont(widget.font())
    side = 24
    top = place.center().y() - side
    if place.height() > 72:
        icon = theme.icon_pixmap("broken", theme.muted(palette), side, widget.devicePixelRatioF())
        painter.drawPixmap(place.center().x() - side // 2, top - 4, icon)
    else:
        top = place.top() - side
    metrics = painter.fontMetrics()
    name = metrics.elidedText(name, Qt.TextElideMode.ElideMiddle, place.width() - 8)
    why = metrics.elidedText(reason, Qt.TextElideMode.ElideRight, place.width() - 8)
    text = place.adjusted(4, 0, -4, -4)
    text.setTop(top + side + 4)
    painter.drawText(text, int(Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop), f"{name}\n{why}")


@lru_cache(maxsize=128)
def tool_cursor(group: int, ratio: float) -> QCursor:
    """An arrow with the badge of the current group."""
    width, height = 48, 40
    pixmap = QPixmap(round(width * ratio), round(height * ratio))
    pixmap.setDevicePixelRatio(ratio)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    arrow = QPainterPath(QPointF(1.5, 1.5))
    for x, y in ((1.5, 18), (5.7, 14.2), (8.4, 20.4), (11.3, 19.2), (8.7, 13.2), (14, 12.8)):
        arrow.lineTo(x, y)
    arrow.closeSubpath()
    painter.setPen(QPen(QColor(255, 255, 255), 1.4))
    painter.setBrush(QColor(20, 20, 20))
    painter.drawPath(arrow)
    font = QFont()
    font.setPixelSize(13)
    font.setBold(True)
    badge = QRect(15, 17, 22 if group < 10 else 28, 20)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(255, 255, 255))
    painter.drawRoundedRect(QRectF(badge.adjusted(-2, -2, 2, 2)), 6, 6)
    paint_badge(painter, badge, group, font)
    painter.end()
    return QCursor(pixmap, 1, 1)
