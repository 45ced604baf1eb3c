"""The table of learnt workers: how often each is right, and how sure that is."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QModelIndex, QSize, Qt, Signal
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView, QWidget

from crowdclust_app.gui.clusters.painting import flat
from crowdclust_app.gui.table_rows import Column, TableRows
from crowdclust_app.services.verify.learning_results import LearntWorker

COLUMNS = (
    Column("Worker", "", lambda worker: worker.name),
    Column("Right", "", lambda worker: f"{worker.expertise:.2f}", True),
    Column("95 %", "", lambda worker: "{:.2f}–{:.2f}".format(*worker.interval), True),
)


class ExpertiseModel(TableRows[LearntWorker]):
    """One row a worker, the best first."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(COLUMNS, parent)

    def row_of(self, number: int) -> int | None:
        """Row of the worker with this number."""
        return next((row for row, worker in enumerate(self._rows) if worker.number == number), None)

    def _ordered(self, rows: Sequence[LearntWorker]) -> list[LearntWorker]:
        return sorted(rows, key=lambda worker: (-worker.expertise, worker.number))


class ExpertiseTable(QTableView):
    """The learnt workers.

    Signals
    -------
    chosen : int
        The keyboard or the pointer went to the worker of this number.
    """

    chosen = Signal(int)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("expertise-table")
        self.setAccessibleName("Workers' expertise")
        self._model = ExpertiseModel(self)
        self._quiet = False
        self.setModel(self._model)
        flat(self)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setShowGrid(False)
        self.setTabKeyNavigation(False)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setMinimumHeight(72)
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(24)
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        header.resizeSection(1, 60)
        header.resizeSection(2, 86)
        self.selectionModel().currentRowChanged.connect(self._moved)

    def sizeHint(self) -> QSize:
        """A few rows; there are more below."""
        return QSize(240, 120)

    def show_workers(self, workers: Sequence[LearntWorker], chosen: int | None) -> None:
        """Show these workers, this one marked."""
        self._model.show(workers)
        self.mark(chosen)

    def mark(self, number: int | None) -> None:
        """Mark a worker's row without telling."""
        row = self._model.row_of(number) if number is not None else None
        self._quiet = True
        try:
            if row is None:
                self.clearSelection()
            elif row != self.currentIndex().row() or not self.selectionModel().hasSelection():
                self.setCurrentIndex(self._model.index(row, 0))
        finally:
            self._quiet = False

    def _moved(self, current: QModelIndex, _before: QModelIndex) -> None:
        if not self._quiet and current.isValid():
            self.chosen.emit(self._model.row(current.row()).number)
