"""A table of rows that sorts itself: a thousand rows are in order within milliseconds, which a proxy model is not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtWidgets import QWidget

AnyIndex = QModelIndex | QPersistentModelIndex
R = TypeVar("R")


class Column(NamedTuple):
    """One column: heading, what it means, how a row's cell reads, what it is sorted by."""

    title: str
    about: str
    text: Callable[[Any], str]
    key: Callable[[Any], Any]
    number: bool


class SortedRows(QAbstractTableModel, Generic[R]):
    """Rows in the order of one column; equals stand as `tie` orders them, whichever way the table is sorted."""

    def __init__(self, columns: Sequence[Column], tie: Callable[[R], Any], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._columns = tuple(columns)
        self._tie = tie
        self._rows: list[R] = []
        self._column = -1
        self._direction = Qt.SortOrder.AscendingOrder

    def show(self, rows: Sequence[R]) -> None:
        """Show these rows, in the order chosen."""
        self.beginResetModel()
        self._rows = self._ordered(rows)
        self.endResetModel()

    def rows(self) -> list[R]:
        """The rows in the order shown."""
        return list(self._rows)

    def row(self, number: int) -> R:
        """The row shown at this place."""
        return self._rows[number]

    @property
    def sorted_by(self) -> int:
        """The column that orders the rows; -1 for none."""
        return self._column

    def _ordered(self, rows: Sequence[R]) -> list[R]:
        found = sorted(rows, key=self._tie)
        if 0 <= self._column < len(self._columns):
            # the sort is stable backwards too, so equals keep the order of the tie
            found.sort(key=self._columns[self._column].key, reverse=self._direction == Qt.SortOrder.DescendingOrder)
        return found

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Order the rows by a column; what is selected stays selected."""
        self.layoutAboutToBeChanged.emit()
        self._column, self._direction = column, order
        before = self._rows
        self._rows = self._ordered(before)
        place = {id(row): number for number, row in enumerate(self._rows)}
        old = self.persistentIndexList()
        self.changePersistentIndexList(
            old, [self.index(place[id(before[index.row()])], index.column()) for index in old]
        )
        self.layoutChanged.emit()

    def rowCount(self, parent: AnyIndex = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        """Number of rows."""
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: AnyIndex = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        """Number of columns."""
        return 0 if parent.isValid() else len(self._columns)

    def told(self, row: R, column: Column) -> str | None:
        """What a cell says when the pointer rests on it; None for nothing."""
        return None

    def data(self, index: AnyIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Text, alignment, and what is told of a cell."""
        if not index.isValid():
            return None
        row, column = self._rows[index.row()], self._columns[index.column()]
        if role == Qt.ItemDataRole.DisplayRole:
            return column.text(row)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(column)
        if role == Qt.ItemDataRole.ToolTipRole:
            return self.told(row, column)
        return None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Headings and what they mean, with an arrow at the one that orders the table."""
        if orientation != Qt.Orientation.Horizontal or not 0 <= section < len(self._columns):
            return None
        column = self._columns[section]
        if role == Qt.ItemDataRole.DisplayRole:
            if section != self._column or not column.title:
                return column.title
            return f"{column.title} {'▲' if self._direction == Qt.SortOrder.AscendingOrder else '▼'}"
        if role == Qt.ItemDataRole.ToolTipRole:
            return column.about
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(column)
        return None


def _alignment(column: Column) -> Qt.AlignmentFlag:
    side = Qt.AlignmentFlag.AlignRight if column.number else Qt.AlignmentFlag.AlignLeft
    return side | Qt.AlignmentFlag.AlignVCenter
