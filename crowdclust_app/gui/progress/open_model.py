"""Who has what open, as an item model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtWidgets import QWidget

from crowdclust_app.gui.words import people_date
from crowdclust_app.services.pace import OpenTurn

AnyIndex = QModelIndex | QPersistentModelIndex


class Column(NamedTuple):
    """One column: heading, what it means, how a cell reads, whether it stands to the right."""

    title: str
    about: str
    text: Callable[[OpenTurn], str]
    number: bool = False


COLUMNS = (
    Column("Worker", "Who sorts", lambda turn: turn.worker),
    Column("HIT", "The set that is begun", lambda turn: turn.hit),
    Column("Stage", "The whole collection, or a cluster that is subdivided", lambda turn: turn.stage),
    Column("Photos", "In the set", lambda turn: f"{turn.items:,}", True),
    Column("Actions", "What was done to it so far", lambda turn: f"{turn.actions:,}", True),
    Column("Begun", "When it was handed out", lambda turn: people_date(turn.started_at)),
    Column("Last move", "When something was done last", lambda turn: people_date(turn.last_event_at)),
    Column("", "Whether somebody else may get it", lambda turn: "free for others" if turn.idle else ""),
)


class OpenModel(QAbstractTableModel):
    """One row a set that is open, the one that moved last first."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._turns: tuple[OpenTurn, ...] = ()

    def show(self, turns: tuple[OpenTurn, ...]) -> None:
        """Show these."""
        if turns != self._turns:
            self.beginResetModel()
            self._turns = turns
            self.endResetModel()

    def rowCount(self, parent: AnyIndex = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        """Number of open sets."""
        return 0 if parent.isValid() else len(self._turns)

    def columnCount(self, parent: AnyIndex = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        """Number of columns."""
        return 0 if parent.isValid() else len(COLUMNS)

    def data(self, index: AnyIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """The cell's words."""
        if not index.isValid():
            return None
        column = COLUMNS[index.column()]
        if role == Qt.ItemDataRole.DisplayRole:
            return column.text(self._turns[index.row()])
        return _alignment(column) if role == Qt.ItemDataRole.TextAlignmentRole else None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Headings, and what they mean."""
        if orientation != Qt.Orientation.Horizontal or not 0 <= section < len(COLUMNS):
            return None
        column = COLUMNS[section]
        if role == Qt.ItemDataRole.DisplayRole:
            return column.title
        if role == Qt.ItemDataRole.ToolTipRole:
            return column.about
        return _alignment(column) if role == Qt.ItemDataRole.TextAlignmentRole else None


def _alignment(column: Column) -> Qt.AlignmentFlag:
    side = Qt.AlignmentFlag.AlignRight if column.number else Qt.AlignmentFlag.AlignLeft
    return side | Qt.AlignmentFlag.AlignVCenter
