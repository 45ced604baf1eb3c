"""One worker's HITs as an item model."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, NamedTuple

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, QSortFilterProxyModel, Qt
from PySide6.QtWidgets import QWidget

from crowdclust_app.gui.words import ABSENT, people_date, people_time
from crowdclust_app.services.worker_turns import WorkerTurn

AnyIndex = QModelIndex | QPersistentModelIndex
SORT_ROLE = Qt.ItemDataRole.UserRole
_NEVER = datetime.min.replace(tzinfo=UTC)


class Column(NamedTuple):
    """One column: heading, what it means, how a cell reads, what it is sorted by."""

    title: str
    about: str
    text: Callable[[WorkerTurn], str]
    key: Callable[[WorkerTurn], Any]
    number: bool


def _counts(turn: WorkerTurn) -> str:
    if turn.left_out is None:
        return f"repeats {turn.repeats}" if turn.repeats else ""
    return "excluded" if turn.left_out.hit is not None else "retired"


def _share(value: float | None) -> str:
    return ABSENT if value is None else f"{100 * value:.0f} %"


def _first(value: float | None) -> float:
    return -1.0 if value is None else value


COLUMNS = (
    Column("HIT", "Its name", lambda turn: turn.hit, lambda turn: turn.hit.casefold(), False),
    Column(
        "Surprise",
        "How little the model expects these groups of this worker, in nats a pair label",
        lambda turn: ABSENT if turn.surprise is None else f"{turn.surprise:.2f}",
        lambda turn: _first(turn.surprise),
        True,
    ),
    Column(
        "Agreement",
        "Share of the pair labels that say what the clusters say",
        lambda turn: _share(turn.agreement),
        lambda turn: _first(turn.agreement),
        True,
    ),
    Column(
        "Time",
        "Time at work on the HIT; pauses do not count",
        lambda turn: people_time(turn.seconds),
        lambda turn: _first(turn.seconds),
        True,
    ),
    Column(
        "Submitted",
        "When",
        lambda turn: ABSENT if turn.at is None else people_date(turn.at),
        lambda turn: turn.at or _NEVER,
        False,
    ),
    Column("", "Whether it counts in runs", _counts, _counts, False),
)
SURPRISE_COLUMN, AGREEMENT_COLUMN, SUBMITTED_COLUMN, COUNTS_COLUMN = 1, 2, 4, 5


class TurnsModel(QAbstractTableModel):
    """Every submitted HIT of one worker."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._turns: tuple[WorkerTurn, ...] = ()

    def show(self, turns: tuple[WorkerTurn, ...]) -> None:
        """Show these HITs."""
        self.beginResetModel()
        self._turns = turns
        self.endResetModel()

    def turn(self, row: int) -> WorkerTurn:
        """The HIT in a row."""
        return self._turns[row]

    def rowCount(self, parent: AnyIndex = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        """Number of HITs."""
        return 0 if parent.isValid() else len(self._turns)

    def columnCount(self, parent: AnyIndex = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        """Number of columns."""
        return 0 if parent.isValid() else len(COLUMNS)

    def data(self, index: AnyIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Text, sorting key, alignment, and why a HIT does not count."""
        if not index.isValid():
            return None
        turn, column = self._turns[index.row()], COLUMNS[index.column()]
        if role == Qt.ItemDataRole.DisplayRole:
            return column.text(turn)
        if role == SORT_ROLE:
            return column.key(turn)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            side = Qt.AlignmentFlag.AlignRight if column.number else Qt.AlignmentFlag.AlignLeft
            return side | Qt.AlignmentFlag.AlignVCenter
        if role == Qt.ItemDataRole.ToolTipRole and turn.left_out is not None:
            return f"Does not count in runs: {turn.left_out.reason}"
        return None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Headings and what they mean."""
        if orientation != Qt.Orientation.Horizontal or not 0 <= section < len(COLUMNS):
            return None
        column = COLUMNS[section]
        if role == Qt.ItemDataRole.DisplayRole:
            return column.title
        if role == Qt.ItemDataRole.ToolTipRole:
            return column.about
        if role == Qt.ItemDataRole.TextAlignmentRole:
            side = Qt.AlignmentFlag.AlignRight if column.number else Qt.AlignmentFlag.AlignLeft
            return side | Qt.AlignmentFlag.AlignVCenter
        return None


class TurnsOrder(QSortFilterProxyModel):
    """One worker's HITs in the order chosen in the heading."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSortRole(SORT_ROLE)

    def lessThan(self, left: AnyIndex, right: AnyIndex) -> bool:
        """Compare keys as Python does; equals stand in the order in which they were submitted."""
        model = self.sourceModel()
        assert isinstance(model, TurnsModel)
        key = COLUMNS[left.column()].key
        first, second = key(model.turn(left.row())), key(model.turn(right.row()))
        if first != second:
            return bool(first < second)
        upwards = self.sortOrder() == Qt.SortOrder.AscendingOrder
        return left.row() < right.row() if upwards else left.row() > right.row()

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Headings, with an arrow at the one that orders the table."""
        found = super().headerData(section, orientation, role)
        if role == Qt.ItemDataRole.DisplayRole and section == self.sortColumn() and found:
            return f"{found} {'▲' if self.sortOrder() == Qt.SortOrder.AscendingOrder else '▼'}"
        return found

    def turn(self, row: int) -> WorkerTurn:
        """The HIT in a row of this order."""
        model = self.sourceModel()
        assert isinstance(model, TurnsModel)
        return model.turn(self.mapToSource(self.index(row, 0)).row())
