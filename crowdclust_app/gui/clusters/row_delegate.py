"""How the gallery's list asks for a row and has it painted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QSize
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem

if TYPE_CHECKING:
    from crowdclust_app.gui.clusters.rows import ClusterRowsView

AnyIndex = QModelIndex | QPersistentModelIndex


class RowDelegate(QStyledItemDelegate):
    """Paints one row."""

    def __init__(self, view: ClusterRowsView) -> None:
        super().__init__(view)
        self._view = view

    def sizeHint(self, option: QStyleOptionViewItem, index: AnyIndex) -> QSize:
        """As wide as the view, as high as its lines of photos need."""
        return QSize(self._view.row_width(), self._view.row_height(self._view.row_at(index).size))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: AnyIndex) -> None:
        """Draw badge, figures, photos and "more"."""
        self._view.paint_row(painter, option.rect, self._view.row_at(index))
