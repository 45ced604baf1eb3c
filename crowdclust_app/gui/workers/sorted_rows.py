"""A table of rows that sorts itself: a thousand rows are in order within milliseconds, which a proxy model is not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from crowdclust_app.gui.table_rows import Column, R, TableRows


@dataclass(frozen=True, slots=True, kw_only=True)
class SortedColumn(Column):
    """A column that says besides what it is sorted by."""

    key: Callable[[Any], Any]


class SortedRows(TableRows[R]):
    """Rows in the order of one column; equals stand as `tie` orders them, whichever way the table is sorted."""

    def __init__(self, columns: Sequence[SortedColumn], tie: Callable[[R], Any], parent: QWidget | None = None) -> None:
        super().__init__(columns, parent)
        self._keys = [column.key for column in columns]
        self._tie = tie
        self._column = -1
        self._direction = Qt.SortOrder.AscendingOrder

    @property
    def sorted_by(self) -> int:
        """The column that orders the rows; -1 for none."""
        return self._column

    def _ordered(self, rows: Sequence[R]) -> list[R]:
        found = sorted(rows, key=self._tie)
        if 0 <= self._column < len(self._keys):
            # the sort is stable backwards too, so equals keep the order of the tie
            found.sort(key=self._keys[self._column], reverse=self._direction == Qt.SortOrder.DescendingOrder)
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

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Headings and what they mean, with an arrow at the one that orders the table."""
        said = super().headerData(section, orientation, role)
        if role == Qt.ItemDataRole.DisplayRole and section == self._column and said:
            return f"{said} {'▲' if self._direction == Qt.SortOrder.AscendingOrder else '▼'}"
        return said
