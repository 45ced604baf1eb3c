"""One photo, large, over the whole screen."""

from __future__ import annotations

from PySide6.QtCore import QRect, Qt, Signal
from PySide6.QtGui import QColor, QFont, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPixmap
from PySide6.QtWidgets import QWidget

from crowdclust_app.gui import theme
from crowdclust_app.gui.annotate.layout import fitted
from crowdclust_app.gui.annotate.painting import paint_badge
from crowdclust_app.gui.annotate.sorting_grid import Tile
from crowdclust_app.gui.pictures import PictureCache

# The eye adapts to the surroundings of a photo: they are the same dark grey in every theme, as in any light table.
GROUND = QColor(24, 24, 24)
INK = QColor(232, 232, 230)


class PhotoView(QWidget):
    """Shows one tile large; arrows browse, Esc, Space or a click close it, everything else is the page's.

    Signals
    -------
    moved : int
        Another photo is shown.
    closed
        It has been closed.
    """

    moved = Signal(int)
    closed = Signal()

    def __init__(self, parent: QWidget, pictures: PictureCache) -> None:
        super().__init__(parent)
        self.setObjectName("photo-view")
        self.setAccessibleName("Photo, large")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._page = parent
        self._pictures = pictures
        self._tiles: tuple[Tile, ...] = ()
        self._group = 0
        self.position = 0
        pictures.arrived.connect(lambda _name: self.update())
        self.hide()

    def open(self, tiles: tuple[Tile, ...], position: int, group: int) -> None:
        """Show this tile."""
        self._tiles, self._group = tiles, group
        self.position = position
        self.setGeometry(self._page.rect())
        self.show()
        self.raise_()
        self.setFocus(Qt.FocusReason.PopupFocusReason)
        self._fetch_neighbours()
        self.update()

    def show_group(self, group: int) -> None:
        """The photo is in this group now."""
        self._group = group
        self.update()

    def close_view(self) -> None:
        """Back to the grid."""
        if not self.isHidden():
            self.hide()
            self.closed.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Browse and close."""
        step = {Qt.Key.Key_Left: -1, Qt.Key.Key_Up: -1, Qt.Key.Key_Right: 1, Qt.Key.Key_Down: 1}.get(
            Qt.Key(event.key())
        )
        if step is not None:
            self.position = (self.position + step) % len(self._tiles)
            self.moved.emit(self.position)
            self._fetch_neighbours()
            self.update()
        elif event.key() in (Qt.Key.Key_Escape, Qt.Key.Key_Space):
            self.close_view()
        else:
            event.ignore()

    def mousePressEvent(self, _event: QMouseEvent) -> None:
        """A click closes it."""
        self.close_view()

    def mouseDoubleClickEvent(self, _event: QMouseEvent) -> None:
        """The second click of the double click that opened it is not meant for it."""

    def paintEvent(self, _event: QPaintEvent) -> None:
        """The photo and its group; not its name, which may give away what others call it."""
        painter = QPainter(self)
        painter.fillRect(self.rect(), GROUND)
        if not self._tiles:
            return
        tile = self._tiles[self.position]
        room = self.rect().adjusted(16, 16, -16, -56)
        pixmap = self._pixmap(self.position)
        painter.setPen(INK)
        if pixmap is not None:
            # a small picture is enlarged, but not until it is nothing but squares
            width, height = tile.item.width or pixmap.width(), tile.item.height or pixmap.height()
            place = fitted(room, width, height)
            if place.width() > 3 * width:
                place = QRect(0, 0, 3 * width, 3 * height)
                place.moveCenter(room.center())
            painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
            painter.drawPixmap(place, pixmap)
        else:
            reason = self._pictures.failure(tile.path, tile.item.content_hash)
            painter.drawText(room, int(Qt.AlignmentFlag.AlignCenter), reason or "Loading")
        line = QRect(16, self.height() - 44, self.width() - 32, 32)
        left = line.x()
        if self._group:
            font = QFont(self.font())
            font.setBold(True)
            paint_badge(painter, QRect(left, line.y() + 4, 32, 24), self._group, font)
            left += 44
        painter.setFont(self.font())
        painter.setPen(INK)
        number = f"{self.position + 1} of {len(self._tiles)}"
        painter.drawText(line.adjusted(left - 16, 0, 0, 0), int(Qt.AlignmentFlag.AlignVCenter), number)
        painter.setPen(theme.mix(INK, GROUND, 0.35))
        keys = "← → browse   1–9 group   Space close"
        painter.drawText(line, int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight), keys)

    def _pixmap(self, position: int) -> QPixmap | None:
        tile = self._tiles[position]
        return self._pictures.pixmap(
            tile.path, tile.item.content_hash, max(self.width(), self.height()), self.devicePixelRatioF()
        )

    def _fetch_neighbours(self) -> None:
        """Load the next and the previous one too, so that browsing does not wait."""
        for step in (0, 1, -1):
            self._pixmap((self.position + step) % len(self._tiles))
