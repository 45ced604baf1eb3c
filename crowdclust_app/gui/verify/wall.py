"""Photos with what was said about them; only those in view are drawn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QRect, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QPainter, QPalette, QPen
from PySide6.QtWidgets import QAbstractItemView, QStyleOptionViewItem, QWidget

from crowdclust_app.gui import theme
from crowdclust_app.gui.clusters.painting import paint_frame, paint_photo
from crowdclust_app.gui.pictures import PictureCache
from crowdclust_app.gui.tiles import AnyIndex, TileView, is_chosen
from crowdclust_app.gui.verify.photos import Files

WANTED_TILE = 152
INK, GROUND = QColor(20, 20, 20), QColor(255, 255, 255, 235)
GOLD_WORDS = {True: "gold yes", False: "gold no"}


@dataclass(frozen=True)
class WallTile:
    """One photo.

    Parameters
    ----------
    position, item
        In the question set, and in the campaign.
    caption, belief
        "2 yes, 1 no" and "0.62".
    predicted
        Whether it has no answers, so that the probability is a prediction alone.
    gold
        Whether it belongs, where the lead has said so.
    """

    position: int
    item: int
    name: str
    caption: str
    belief: str
    predicted: bool = False
    gold: bool | None = None

    @property
    def spoken(self) -> str:
        """All of it, in words."""
        known = f", {GOLD_WORDS[self.gold]}" if self.gold is not None else ""
        return f"{self.name}: {self.caption}, {self.belief}{known}"


Describe = Callable[[int], WallTile]


class WallModel(QAbstractListModel):
    """Photos in the order given; the description of each is made when it is drawn."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.positions: tuple[int, ...] = ()
        self._describe: Describe | None = None

    def show(self, positions: Sequence[int], describe: Describe) -> None:
        """Show these."""
        self.beginResetModel()
        self.positions, self._describe = tuple(positions), describe
        self.endResetModel()

    def tile(self, row: int) -> WallTile:
        """The photo in a row."""
        assert self._describe is not None
        return self._describe(self.positions[row])

    def rowCount(self, parent: AnyIndex = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        """Number of photos."""
        return 0 if parent.isValid() else len(self.positions)

    def data(self, index: AnyIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """What a screen reader says."""
        if index.isValid() and role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return self.tile(index.row()).spoken
        return None


class PhotoWall(TileView):
    """A grid of photos with a caption each.

    Signals
    -------
    pointed : WallTile or None
        The photo that the keyboard is on or that was clicked.
    gold : bool or None
        Its answer is known: G yes, Shift+G no; Delete: not any more.
    """

    pointed = Signal(object)
    gold = Signal(object)

    def __init__(self, pictures: PictureCache, parent: QWidget) -> None:
        super().__init__(WANTED_TILE, parent)
        self.setObjectName("verdict-photos")
        self.setAccessibleName("Photos")
        self._pictures = pictures
        self._files: Files = {}
        self._wall = WallModel(self)
        self.setModel(self._wall)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.selectionModel().currentChanged.connect(self._moved)
        pictures.arrived.connect(lambda _name: self.viewport().update())

    @property
    def positions(self) -> tuple[int, ...]:
        """Positions in the question set of the photos shown."""
        return self._wall.positions

    def show_tiles(self, positions: Sequence[int], describe: Describe, files: Files) -> None:
        """Show these photos; where the same one is shown again it stays chosen."""
        current = self.currentIndex().row()
        before = self.positions[current] if 0 <= current < len(self.positions) else -1
        self._files = files
        self._wall.show(positions, describe)
        if before in self.positions:
            self.setCurrentIndex(self._wall.index(self.positions.index(before)))
        else:
            self.pointed.emit(None)

    def paint_cell(self, painter: QPainter, option: QStyleOptionViewItem, index: AnyIndex) -> None:
        """Draw the photo of an index."""
        self.paint_tile(painter, option.rect, index.row(), is_chosen(option))

    def paint_tile(self, painter: QPainter, rect: QRect, row: int, chosen: bool) -> None:
        """Draw a photo, and below it what was said and what is believed."""
        tile = self._wall.tile(row)
        line = self.fontMetrics().height()
        photo = QRect(rect.left(), rect.top(), rect.width() - theme.STEP, rect.height() - line - theme.STEP)
        found = self._files.get(tile.item)
        pixmap = self._pictures.pixmap(*found, photo.width(), self.devicePixelRatioF()) if found else None
        failed = pixmap is None and (found is None or bool(self._pictures.failure(*found)))
        paint_photo(painter, photo, pixmap, self.palette(), failed=failed)
        if tile.predicted:
            _paint_predicted(painter, photo)
        if tile.gold is not None:
            _paint_gold(painter, photo, tile.gold)
        words = QRect(photo.left(), photo.bottom() + 2, photo.width(), line)
        painter.setFont(self.font())
        painter.setPen(self.palette().color(QPalette.ColorRole.WindowText))
        # in words for a screen reader, in signs where there is little room
        belief = tile.belief.replace("below ", "< ").replace("above ", "> ")
        room = words.width() - painter.fontMetrics().horizontalAdvance(belief) - theme.STEP
        caption = painter.fontMetrics().elidedText(tile.caption, Qt.TextElideMode.ElideRight, room)
        painter.drawText(words, int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter), caption)
        painter.setPen(theme.muted(self.palette()))
        painter.drawText(words, int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter), belief)
        if chosen:
            paint_frame(painter, photo, self.palette(), current=True)

    @property
    def current(self) -> WallTile | None:
        """The photo that the keyboard is on or that was clicked."""
        index = self.currentIndex()
        return self._wall.tile(index.row()) if index.isValid() else None

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Mark and unmark gold; everything else as lists do."""
        others = event.modifiers() & ~Qt.KeyboardModifier.ShiftModifier
        key, shift = Qt.Key(event.key()), bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        if others or key not in (Qt.Key.Key_G, Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
            super().keyPressEvent(event)
        elif not event.isAutoRepeat():
            self.gold.emit(None if key != Qt.Key.Key_G else not shift)

    def below_tile(self) -> int:
        """One line of words."""
        return self.fontMetrics().height()

    def _moved(self, current: QModelIndex, _before: QModelIndex) -> None:
        self.pointed.emit(self._wall.tile(current.row()) if current.isValid() else None)


def _paint_predicted(painter: QPainter, photo: QRect) -> None:
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


def _paint_gold(painter: QPainter, photo: QRect, yes: bool) -> None:
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
