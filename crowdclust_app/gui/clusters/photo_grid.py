"""Many photos in a grid, only those in view drawn: a whole cluster, the doubtful photos, the selection."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import (
    QAbstractListModel,
    QItemSelection,
    QItemSelectionModel,
    QModelIndex,
    QRect,
    QRectF,
    Qt,
    Signal,
)
from PySide6.QtGui import QFont, QMouseEvent, QPainter, QShowEvent
from PySide6.QtWidgets import QAbstractItemView, QListView, QStyleOptionViewItem, QWidget

from crowdclust_app.gui import theme
from crowdclust_app.gui.clusters.album import Album
from crowdclust_app.gui.clusters.painting import paint_badge, paint_doubt, paint_frame, paint_moved, paint_photo
from crowdclust_app.gui.clusters.selection import ItemSelection
from crowdclust_app.gui.tiles import AnyIndex, TileView

WANTED_TILE = 96
BATCH = 2_000
ITEM_ROLE = Qt.ItemDataRole.UserRole


class PhotoModel(QAbstractListModel):
    """Items by number, in the order given."""

    def __init__(self, album: Album, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._album = album
        self._items: list[int] = []
        self._row_of = np.zeros(0, dtype=np.int64)

    def show(self, items: Sequence[int]) -> None:
        """Show these items."""
        self.beginResetModel()
        self._items = list(map(int, items))
        self._row_of = np.full(max(self._items, default=-1) + 1, -1, dtype=np.int64)
        self._row_of[self._items] = np.arange(len(self._items))
        self.endResetModel()

    @property
    def items(self) -> tuple[int, ...]:
        """The items shown."""
        return tuple(self._items)

    def item(self, row: int) -> int:
        """The item in a row."""
        return self._items[row]

    def row_of(self, item: int) -> int | None:
        """The row of an item."""
        row = int(self._row_of[item]) if 0 <= item < len(self._row_of) else -1
        return row if row >= 0 else None

    def rows_of(self, items: Sequence[int]) -> NDArray[np.int64]:
        """The rows of those of these items that are shown, ascending."""
        wanted = np.array(items, dtype=np.int64)
        rows = self._row_of[wanted[wanted < len(self._row_of)]]
        return np.sort(rows[rows >= 0])

    def rowCount(self, parent: AnyIndex = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        """Number of items."""
        return 0 if parent.isValid() else len(self._items)

    def data(self, index: AnyIndex, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """The item's number and, in words, what is known of it."""
        if not index.isValid():
            return None
        item = self._items[index.row()]
        if role == ITEM_ROLE:
            return item
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return self._album.line(item)
        return None


def _runs(rows: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Ascending rows as first and last of each unbroken run: a selection of thousands stays a handful of ranges."""
    if not len(rows):
        return []
    breaks = np.flatnonzero(np.diff(rows) != 1)
    firsts, lasts = rows[np.append(0, breaks + 1)], rows[np.append(breaks, len(rows) - 1)]
    return list(zip(firsts.tolist(), lasts.tolist(), strict=True))


class PhotoGrid(TileView):
    """A grid of photos on the shared selection.

    Signals
    -------
    hovered : (item or None, QRect in this widget's viewport)
        The pointer is on a photo, or on none any more.
    """

    hovered = Signal(object, QRect)

    def __init__(self, album: Album, selection: ItemSelection, parent: QWidget | None = None) -> None:
        super().__init__(WANTED_TILE, parent)
        self.setObjectName("photo-grid")
        self.setAccessibleName("Photos")
        self._album = album
        self._selection = selection
        self._badges = False
        self._follows = False
        self._hovered: int | None = None
        self._photos = PhotoModel(album, self)
        self.setModel(self._photos)
        self.setLayoutMode(QListView.LayoutMode.Batched)  # a place for each of 100,000 photos takes a second
        self.setBatchSize(BATCH)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.verticalScrollBar().valueChanged.connect(album.scrolled)
        self.setMouseTracking(True)
        self.selectionModel().selectionChanged.connect(self._chosen)
        self.selectionModel().currentChanged.connect(self._chosen)
        album.arrived.connect(self.viewport().update)
        selection.changed.connect(self.follow)

    @property
    def items(self) -> tuple[int, ...]:
        """The items shown."""
        return self._photos.items

    def show_items(self, items: Sequence[int], badges: bool) -> None:
        """Show these items; badges tell their clusters where they are not all of one."""
        self._badges = badges
        self._follows = True
        try:
            self._photos.show(items)
        finally:
            self._follows = False
        self.follow()

    def item_at(self, index: AnyIndex) -> int:
        """The item of an index."""
        return self._photos.item(index.row())

    def photo_rect(self, item: int) -> QRect:
        """Where a photo is drawn in the viewport; empty when it is not among the items shown."""
        row = self._photos.row_of(item)
        return QRect() if row is None else self._inner(self.visualRect(self._photos.index(row)))

    def _inner(self, rect: QRect) -> QRect:
        return QRect(rect.left(), rect.top(), rect.width() - theme.TILE_GAP, rect.height() - theme.TILE_GAP)

    def paint_cell(self, painter: QPainter, option: QStyleOptionViewItem, index: AnyIndex) -> None:
        """Draw the photo of an index."""
        self.paint_tile(painter, option.rect, self.item_at(index))

    def paint_tile(self, painter: QPainter, rect: QRect, item: int) -> None:
        """Draw one photo."""
        tile = self._inner(rect)
        pixmap = self._album.pixmap(item, tile.width(), self.devicePixelRatioF())
        failed = pixmap is None and bool(self._album.failure(item))
        paint_photo(painter, tile, pixmap, self.palette(), failed=failed)
        view = self._album.view
        if view is not None and view.is_doubtful(item):
            paint_doubt(painter, tile)
        if item in self._album.moved:
            paint_moved(painter, tile)
        place = self._album.place(item)
        if self._badges and place:
            bold = QFont(self.font())
            bold.setBold(True)
            text = self._album.badge(place)
            badge = QRectF(tile.left() + 4, tile.top() + 4, max(24, 10 + 10 * len(text)), 20)
            paint_badge(painter, badge, place, bold, text=text)
        if item in self._selection:
            paint_frame(painter, tile, self.palette(), current=item == self._selection.current)

    # --- the shared selection

    def follow(self) -> None:
        """Show in the grid what is chosen elsewhere; a hidden grid catches up when it is shown."""
        if self._follows or not self.isVisible():
            return
        self._follows = True
        try:
            chosen = QItemSelection()
            for first, last in _runs(self._photos.rows_of(self._selection.items)):
                chosen.select(self._photos.index(first), self._photos.index(last))
            model = self.selectionModel()
            model.select(chosen, QItemSelectionModel.SelectionFlag.ClearAndSelect)
            current = self._photos.row_of(self._selection.current) if self._selection.current is not None else None
            if current is not None:
                model.setCurrentIndex(self._photos.index(current), QItemSelectionModel.SelectionFlag.NoUpdate)
                self.scrollTo(self._photos.index(current))
        finally:
            self._follows = False
        self.viewport().update()

    def _chosen(self, *_: object) -> None:
        """Choose elsewhere what was chosen in the grid."""
        if self._follows:
            return
        rows = sorted(index.row() for index in self.selectionModel().selectedIndexes())
        items = [self._photos.item(row) for row in rows]
        current = self.currentIndex()
        first = self._photos.item(current.row()) if current.isValid() else None
        if first in items:
            items = [first, *(item for item in items if item != first)]
        self._follows = True
        try:
            if len(items) == 1:
                self._selection.choose(items[0])
            else:
                self._selection.choose_all(items, first if first in items else None)
        finally:
            self._follows = False
        self.viewport().update()

    # --- pointer

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Say which photo the pointer is on."""
        super().mouseMoveEvent(event)
        index = self.indexAt(event.position().toPoint())
        self._hover(self.item_at(index) if index.isValid() else None)

    def leaveEvent(self, event: object) -> None:
        """The pointer is on no photo any more."""
        self._hover(None)

    def _hover(self, item: int | None) -> None:
        if item != self._hovered:
            self._hovered = item
            self.hovered.emit(item, self.photo_rect(item) if item is not None else QRect())

    def showEvent(self, event: QShowEvent) -> None:
        """Catch up with the selection."""
        super().showEvent(event)
        self.follow()
