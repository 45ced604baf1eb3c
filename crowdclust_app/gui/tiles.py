"""A list that shows photos as tiles, as many side by side as there is room for; only those in view are drawn."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QSize, Qt, QTimer
from PySide6.QtGui import QPainter, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QListView, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from crowdclust_app.gui.clusters.painting import BAR, flat

AnyIndex = QModelIndex | QPersistentModelIndex


class _Delegate(QStyledItemDelegate):
    """Has the view paint a tile."""

    def __init__(self, view: TileView) -> None:
        super().__init__(view)
        self._view = view

    def sizeHint(self, option: QStyleOptionViewItem, index: AnyIndex) -> QSize:
        """A whole cell of the grid."""
        return self._view.gridSize()

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: AnyIndex) -> None:
        """Draw the tile of an index."""
        self._view.paint_cell(painter, option, index)


class TileView(QListView):
    """A grid of square tiles that fills the width.

    Parameters
    ----------
    wanted
        Width of a tile at least, in pixels; they become wider until the row is full.
    """

    def __init__(self, wanted: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._wanted = wanted
        self.setItemDelegate(_Delegate(self))
        flat(self)
        self.setViewMode(QListView.ViewMode.IconMode)
        self.setMovement(QListView.Movement.Static)
        self.setUniformItemSizes(True)
        self.setResizeMode(QListView.ResizeMode.Adjust)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.verticalScrollBar().setSingleStep(24)
        self._resized = QTimer(self)
        self._resized.setSingleShot(True)
        self._resized.setInterval(30)
        self._resized.timeout.connect(self._fit_tiles)
        self._fit_tiles()

    def paint_cell(self, painter: QPainter, option: QStyleOptionViewItem, index: AnyIndex) -> None:
        """Draw what is in a cell; nothing in a list that shows nothing."""

    def below_tile(self) -> int:
        """Height that a cell has below its tile, in pixels."""
        return 0

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fit the tiles to the new width once the resizing pauses."""
        super().resizeEvent(event)
        self._resized.start()

    def _fit_tiles(self) -> None:
        width = max(1, self.width() - BAR - 1)
        side = width // max(1, width // self._wanted)
        size = QSize(side, side + self.below_tile())
        if self.gridSize() != size:
            self.setGridSize(size)


def is_chosen(option: QStyleOptionViewItem) -> bool:
    """Whether a cell that is being drawn is selected."""
    return bool(option.state & QStyle.StateFlag.State_Selected)
