"""The card with a larger picture that appears where the pointer rests."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRect, QRectF, QSize, QSizeF, Qt, QTimer
from PySide6.QtGui import QPainter, QPaintEvent, QPalette, QPen
from PySide6.QtWidgets import QWidget

from crowdclust_app.gui import theme
from crowdclust_app.gui.clusters.album import Album
from crowdclust_app.gui.clusters.painting import fitted

HOVER_DELAY_MS = 150
SIDE = 224
LINES = 46


class HoverCard(QWidget):
    """A photo with its name, cluster and probability; it never takes the pointer or the keys.

    Parameters
    ----------
    parent
        The card stays inside this widget.
    """

    def __init__(self, album: Album, parent: QWidget) -> None:
        super().__init__(parent)
        self._room = parent
        self.setObjectName("hover-card")
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.resize(SIDE + 2 * theme.STEP, SIDE + LINES + 2 * theme.STEP)
        self.hide()
        self._album = album
        self.item: int | None = None
        self._waiting: tuple[int, QRect] | None = None
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(HOVER_DELAY_MS)
        self._timer.timeout.connect(self._appear)
        album.arrived.connect(self.update)

    def wait_for(self, item: int | None, source: QWidget, rect: QRect) -> None:
        """Show this item beside `rect` of `source` if the pointer rests; None takes the card away."""
        self._timer.stop()
        if item is None:
            self.item = None
            self.hide()
            return
        origin = source.mapTo(self._room, rect.topLeft())
        self._waiting = (item, QRect(origin, rect.size()))
        # the picture is asked for at once, so that it is mostly here when the card appears
        self._album.pixmap(item, SIDE, self.devicePixelRatioF())
        if self.isVisible():
            self._appear()
        else:
            self._timer.start()

    def _appear(self) -> None:
        if self._waiting is None:
            return
        self.item, beside = self._waiting
        self.move(self._place(beside, self.size()))
        self.show()
        self.raise_()
        self.update()

    def _place(self, beside: QRect, size: QSize) -> QPoint:
        """Right of the rectangle, else left of it, always inside the parent."""
        room = self._room.rect()
        x = beside.right() + 12
        if x + size.width() > room.right():
            x = beside.left() - 12 - size.width()
        y = beside.center().y() - size.height() // 2
        return QPoint(max(0, min(x, room.right() - size.width())), max(0, min(y, room.bottom() - size.height())))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the card."""
        if self.item is None or self._album.view is None:
            return
        painter = QPainter(self)
        palette = self.palette()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        painter.setPen(QPen(theme.line_colour(palette), 1))
        painter.setBrush(palette.color(QPalette.ColorRole.Base))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 6, 6)
        picture = QRectF(theme.STEP, theme.STEP, SIDE, SIDE)
        pixmap = self._album.pixmap(self.item, SIDE, self.devicePixelRatioF())
        if pixmap is not None:
            painter.drawPixmap(fitted(QSizeF(pixmap.size()), picture), pixmap, QRectF(pixmap.rect()))
        else:
            painter.setPen(theme.muted(palette))
            painter.drawText(picture, Qt.AlignmentFlag.AlignCenter, self._album.failure(self.item))
        name, rest = self._album.name(self.item), self._album.belief(self.item)
        metrics = self.fontMetrics()
        line = QRect(theme.STEP, SIDE + theme.STEP + 2, SIDE, LINES // 2)
        painter.setPen(palette.color(QPalette.ColorRole.Text))
        painter.drawText(
            line, Qt.AlignmentFlag.AlignVCenter, metrics.elidedText(name, Qt.TextElideMode.ElideLeft, SIDE)
        )
        painter.setPen(theme.muted(palette))
        painter.drawText(
            line.translated(0, LINES // 2),
            Qt.AlignmentFlag.AlignVCenter,
            metrics.elidedText(rest, Qt.TextElideMode.ElideRight, SIDE),
        )
