"""One large photo, and the photos of a category beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from PySide6.QtCore import QRect, QRectF, QSize, QSizeF, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPixmap
from PySide6.QtWidgets import QSizePolicy, QWidget

from crowdclust_app.gui import theme
from crowdclust_app.gui.annotate.photo import GROUND, INK
from crowdclust_app.gui.clusters.painting import fitted, paint_photo
from crowdclust_app.gui.pictures import PictureCache

Files = Mapping[int, tuple[Path, str | None]]
# A small picture is enlarged, but not until it is nothing but squares.
MOST_ENLARGED = 4


class OnePhoto(QWidget):
    """The photo that is asked about, as large as there is room."""

    def __init__(self, pictures: PictureCache, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("question-photo")
        self.setAccessibleName("The photo that is asked about")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self._pictures = pictures
        self._files: Files = {}
        self.item: int | None = None
        pictures.arrived.connect(lambda _name: self.update())

    def show_item(self, item: int | None, ahead: Sequence[int], files: Files) -> None:
        """Show this item, and load those that probably follow."""
        self.item, self._files = item, files
        self.update()
        for other in ahead:
            self._pixmap(other)

    @property
    def loaded(self) -> bool:
        """Whether the photo can be seen."""
        return self.item is not None and self._pixmap(self.item) is not None

    def _pixmap(self, item: int) -> QPixmap | None:
        found = self._files.get(item)
        side = max(self.width(), self.height())
        return self._pictures.pixmap(*found, side, self.devicePixelRatioF()) if found else None

    def paintEvent(self, _event: QPaintEvent) -> None:
        """The photo without its name, which may give away what others call it."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(GROUND)
        painter.drawRoundedRect(self.rect(), 8, 8)
        if self.item is None:
            return
        room = QRectF(self.rect().adjusted(16, 16, -16, -16))
        pixmap = self._pixmap(self.item)
        if pixmap is not None:
            size = pixmap.deviceIndependentSize()
            most = size * MOST_ENLARGED
            if most.width() < room.width() and most.height() < room.height():
                centre = room.center()
                room.setSize(most)
                room.moveCenter(centre)
            painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
            painter.drawPixmap(fitted(QSizeF(size), room), pixmap, QRectF(pixmap.rect()))
            return
        found = self._files.get(self.item)
        reason = self._pictures.failure(*found) if found else "there is no photo of this item"
        painter.setPen(INK)
        painter.drawText(room, int(Qt.AlignmentFlag.AlignCenter), reason or "Loading")


class Neighbours(QWidget):
    """Photos that surely belong to the category, two columns of them, as many as there is room."""

    COLUMNS = 2

    def __init__(self, pictures: PictureCache, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("neighbours")
        self.setAccessibleName("Photos of the category")
        self._pictures = pictures
        self._files: Files = {}
        self.items: tuple[int, ...] = ()
        pictures.arrived.connect(lambda _name: self.update())

    def show_items(self, items: Sequence[int], files: Files) -> None:
        """Show these items."""
        self.items, self._files = tuple(items), files
        self.update()

    def sizeHint(self) -> QSize:
        """Room for two columns."""
        return QSize(280, 400)

    @property
    def shown(self) -> tuple[int, ...]:
        """The items that there is room for."""
        return self.items[: len(self._places())]

    def _places(self) -> list[QRect]:
        side = (self.width() - theme.TILE_GAP * (self.COLUMNS - 1)) // self.COLUMNS
        step = side + theme.TILE_GAP
        rows = max(1, (self.height() + theme.TILE_GAP) // step)
        places = [QRect(step * (k % 2), step * (k // 2), side, side) for k in range(rows * self.COLUMNS)]
        return places[: len(self.items)]

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Square tiles, the photos whole in them."""
        painter = QPainter(self)
        for item, place in zip(self.items, self._places(), strict=False):
            found = self._files.get(item)
            pixmap = self._pictures.pixmap(*found, place.width(), self.devicePixelRatioF()) if found else None
            failed = found is None or bool(self._pictures.failure(*found))
            paint_photo(painter, place, pixmap, self.palette(), failed=pixmap is None and failed)
