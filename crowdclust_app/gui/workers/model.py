"""The table of workers as an item model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, QSortFilterProxyModel, Qt
from PySide6.QtWidgets import QWidget

from crowdclust_app.gui.words import ABSENT, people_time
from crowdclust_app.gui.workers.gains import signed
from crowdclust_app.services.judging import FLAG_REASONS, WorkerRow

AnyIndex = QModelIndex | QPersistentModelIndex
SORT_ROLE = Qt.ItemDataRole.UserRole


def _share(value: float | None) -> str:
    return ABSENT if value is None else f"{100 * value:.0f} %"


class Column(NamedTuple):
    """One column: heading, what it means, how a worker's cell reads, what it is sorted by."""

    title: str
    about: str
    text: Callable[[WorkerRow], str]
    key: Callable[[WorkerRow], Any]
    number: bool


def _first(value: float | None) -> float:
    return -1.0 if value is None else value


def _gain(row: WorkerRow) -> str:
    if row.over_random is None or row.over_random_se is None:
        return ABSENT
    return f"{signed(row.over_random)} ± {row.over_random_se:.2f}"


COLUMNS = (
    Column("Worker", "Who annotates", lambda row: row.name, lambda row: row.name.casefold(), False),
    Column("HITs", "Submitted HITs", lambda row: f"{row.hits:,}", lambda row: row.hits, True),
    Column(
        "Time a HIT",
        "Median of the time at work on a HIT; pauses do not count",
        lambda row: people_time(row.seconds_per_hit),
        lambda row: _first(row.seconds_per_hit),
        True,
    ),
    Column(
        "Agreement",
        "Share of the pair labels that say what the clusters say",
        lambda row: _share(row.agreement),
        lambda row: _first(row.agreement),
        True,
    ),
    Column(
        "Held out",
        "By how many nats a held-out pair label is predicted better than a random worker's, ± the standard error",
        _gain,
        lambda row: float("-inf") if row.over_random is None else row.over_random,
        True,
    ),
    Column(
        "Group",
        "The group of workers who put the same clusters together",
        lambda row: row.group,
        # who is in no group stands last when sorted upwards
        lambda row: (not row.group, row.group.casefold()),
        False,
    ),
    Column(
        "Flags",
        "Habits worth a second look, and what is left out of runs",
        lambda row: ", ".join(row.all_flags),
        # the flagged first when sorted upwards
        lambda row: (not row.all_flags, ", ".join(row.all_flags)),
        False,
    ),
)
NAME_COLUMN, HITS_COLUMN, TIME_COLUMN, AGREEMENT_COLUMN, HELD_OUT_COLUMN, GROUP_COLUMN, FLAGS_COLUMN = range(7)


class WorkersModel(QAbstractTableModel):
    """Every worker of the campaign."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._rows: tuple[WorkerRow, ...] = ()

    def show(self, rows: tuple[WorkerRow, ...]) -> None:
        """Show these workers."""
        self.beginResetModel()
        self._rows = rows
        self.endResetModel()

    def worker(self, row: int) -> WorkerRow:
        """The worker in a row."""
        return self._rows[row]

    def rowCount(self, parent: AnyIndex = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        """Number of workers."""
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: AnyIndex = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        """Number of columns."""
        return 0 if parent.isValid() else len(COLUMNS)

    def data(self, index: AnyIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Text, sorting key, alignment, and the reasons of flags."""
        if not index.isValid():
            return None
        row, column = self._rows[index.row()], COLUMNS[index.column()]
        if role == Qt.ItemDataRole.DisplayRole:
            return column.text(row)
        if role == SORT_ROLE:
            return column.key(row)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            side = Qt.AlignmentFlag.AlignRight if column.number else Qt.AlignmentFlag.AlignLeft
            return side | Qt.AlignmentFlag.AlignVCenter
        if role == Qt.ItemDataRole.ToolTipRole and row.flags and column.title == "Flags":
            return "\n".join(f"{flag} {FLAG_REASONS[flag]}" for flag in row.flags)
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


class WorkersOrder(QSortFilterProxyModel):
    """The workers in the order chosen in the table's heading."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSortRole(SORT_ROLE)

    def lessThan(self, left: AnyIndex, right: AnyIndex) -> bool:
        """Compare keys as Python does; equals stand in the order of their names, whichever way the table is sorted."""
        model = self.sourceModel()
        assert isinstance(model, WorkersModel)
        first, second = model.worker(left.row()), model.worker(right.row())
        key = COLUMNS[left.column()].key
        if key(first) != key(second):
            return bool(key(first) < key(second))
        upwards = self.sortOrder() == Qt.SortOrder.AscendingOrder
        return first.name < second.name if upwards else first.name > second.name

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Headings, with an arrow at the one that orders the table."""
        found = super().headerData(section, orientation, role)
        if role == Qt.ItemDataRole.DisplayRole and section == self.sortColumn():
            return f"{found} {'▲' if self.sortOrder() == Qt.SortOrder.AscendingOrder else '▼'}"
        return found

    def workers(self) -> list[WorkerRow]:
        """The workers in this order."""
        model = self.sourceModel()
        assert isinstance(model, WorkersModel)
        return [model.worker(self.mapToSource(self.index(row, 0)).row()) for row in range(self.rowCount())]
