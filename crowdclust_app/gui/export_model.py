"""The list of tables on the Export screen."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtWidgets import QWidget

from crowdclust_app.services.export_preview import TableToWrite

AnyIndex = QModelIndex | QPersistentModelIndex
TITLES = ("File", "What it holds", "Rows")


class TablesModel(QAbstractTableModel):
    """The files of an export."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._tables: tuple[TableToWrite, ...] = ()

    def show(self, tables: tuple[TableToWrite, ...]) -> None:
        """Show these files."""
        self.beginResetModel()
        self._tables = tables
        self.endResetModel()

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the files."""
        return tuple(table.name for table in self._tables)

    def rowCount(self, parent: AnyIndex = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        """Number of files."""
        return 0 if parent.isValid() else len(self._tables)

    def columnCount(self, parent: AnyIndex = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        """Number of columns."""
        return 0 if parent.isValid() else len(TITLES)

    def data(self, index: AnyIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Name, meaning, rows."""
        if not index.isValid():
            return None
        table = self._tables[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return (table.name, table.about, "" if table.rows is None else f"{table.rows:,}")[index.column()]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(index.column())
        return None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Headings."""
        if orientation != Qt.Orientation.Horizontal or not 0 <= section < len(TITLES):
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return TITLES[section]
        return _alignment(section) if role == Qt.ItemDataRole.TextAlignmentRole else None


def _alignment(column: int) -> Qt.AlignmentFlag:
    side = Qt.AlignmentFlag.AlignRight if column == len(TITLES) - 1 else Qt.AlignmentFlag.AlignLeft
    return side | Qt.AlignmentFlag.AlignVCenter
