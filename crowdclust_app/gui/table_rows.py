"""A table that shows values as rows, each column saying how it reads them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtWidgets import QWidget

AnyIndex = QModelIndex | QPersistentModelIndex
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Column:
    """One column: heading, what it means, text of a row's cell, whether it is aligned to the right as figures are."""

    title: str
    about: str
    text: Callable[[Any], str]
    number: bool = False

    @property
    def alignment(self) -> Qt.AlignmentFlag:
        """Where its heading and its cells stand."""
        side = Qt.AlignmentFlag.AlignRight if self.number else Qt.AlignmentFlag.AlignLeft
        return side | Qt.AlignmentFlag.AlignVCenter


class TableRows(QAbstractTableModel, Generic[R]):
    """Rows that are read and not written, in the order given."""

    def __init__(self, columns: Sequence[Column], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._columns = tuple(columns)
        self._rows: list[R] = []

    def show(self, rows: Sequence[R]) -> None:
        """Show these rows."""
        self.beginResetModel()
        self._rows = self._ordered(rows)
        self.endResetModel()

    def rows(self) -> list[R]:
        """The rows in the order shown."""
        return list(self._rows)

    def row(self, number: int) -> R:
        """The row shown at this place."""
        return self._rows[number]

    def told(self, row: R, column: Column) -> str | None:
        """What a cell says when the pointer rests on it; None for nothing."""
        return None

    def _ordered(self, rows: Sequence[R]) -> list[R]:
        return list(rows)

    def rowCount(self, parent: AnyIndex = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        """Number of rows."""
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: AnyIndex = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        """Number of columns."""
        return 0 if parent.isValid() else len(self._columns)

    def data(self, index: AnyIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Text, alignment and tooltip of a cell."""
        if not index.isValid():
            return None
        row, column = self._rows[index.row()], self._columns[index.column()]
        if role == Qt.ItemDataRole.DisplayRole:
            return column.text(row)
        if role == Qt.ItemDataRole.ToolTipRole:
            return self.told(row, column)
        return column.alignment if role == Qt.ItemDataRole.TextAlignmentRole else None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Headings and what they mean."""
        if orientation != Qt.Orientation.Horizontal or not 0 <= section < len(self._columns):
            return None
        column = self._columns[section]
        if role == Qt.ItemDataRole.DisplayRole:
            return column.title
        if role == Qt.ItemDataRole.ToolTipRole:
            return column.about or None
        return column.alignment if role == Qt.ItemDataRole.TextAlignmentRole else None
