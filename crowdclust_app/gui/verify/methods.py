"""The table of aggregators, side by side on the same answers."""

from __future__ import annotations

from operator import itemgetter

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView, QWidget

from crowdclust_app.domain.methods import METHODS, verify_names
from crowdclust_app.gui.table_rows import Column, TableRows
from crowdclust_app.services.verify.verdicts import IN, OUT, UNDECIDED, Verification


class MethodsModel(TableRows[tuple[str, ...]]):
    """One row a method, its name first; a method that is still being computed, or cannot be, has dashes."""

    def __init__(self, parent: QWidget | None = None) -> None:
        titles = ("Method", "In", "Out", "Undecided", "Expected wrong")
        super().__init__([Column(title, "", itemgetter(at), at > 0) for at, title in enumerate(titles)], parent)
        self.names = verify_names()
        self._rows = [_figures(name, None) for name in self.names]

    def show_verdicts(self, verification: Verification | None) -> None:
        """Show these verdicts; the current row stays."""
        self._rows = [_figures(name, verification) for name in self.names]
        self.dataChanged.emit(self.index(0, 0), self.index(self.rowCount() - 1, self.columnCount() - 1))

    def told(self, row: tuple[str, ...], column: Column) -> str | None:
        """How the method works."""
        return METHODS[row[0]].sentence


def _figures(name: str, verification: Verification | None) -> tuple[str, ...]:
    if verification is None:
        return (name, "", "", "", "")
    found = verification.method(name)
    if found is None:
        return (name, "–", "–", "–", "–")
    counts = tuple(f"{found.count(verdict):,}" for verdict in (IN, OUT, UNDECIDED))
    return (name, *counts, f"{100 * found.expected_error:.1f} %")


class MethodsTable(QTableView):
    """The aggregators; the current row is the one whose verdicts count.

    Signals
    -------
    chosen : str
        The person went to another method.
    """

    chosen = Signal(str)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("methods-table")
        self.setAccessibleName("Aggregators")
        self._model = MethodsModel(self)
        self._quiet = False
        self.setModel(self._model)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setShowGrid(False)
        self.setTabKeyNavigation(False)
        self.setStyleSheet("QTableView::item { padding: 0 8px; }")
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(26)
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        for column, width in ((1, 64), (2, 64), (3, 100), (4, 140)):
            header.resizeSection(column, width)
        header.geometriesChanged.connect(self._fit_rows)
        self.selectionModel().currentRowChanged.connect(self._moved)

    def showEvent(self, event: QShowEvent) -> None:
        """Fit to the look, which is known by now."""
        super().showEvent(event)
        self._fit_rows()

    def _fit_rows(self) -> None:
        """Be as high as all rows: none is cut, and nothing is to be scrolled."""
        around = self.height() - self.viewport().height()
        self.setFixedHeight(self.verticalHeader().length() + around)

    def show_verdicts(self, verification: Verification | None) -> None:
        """Show these verdicts; the method that counts is the current row."""
        self._model.show_verdicts(verification)
        if verification is not None and verification.question_set.method in self._model.names:
            self.mark(verification.question_set.method)

    def mark(self, method: str) -> None:
        """Make a method the current row without telling."""
        self._quiet = True
        try:
            self.setCurrentIndex(self._model.index(self._model.names.index(method), 0))
        finally:
            self._quiet = False

    def _moved(self, current: QModelIndex, _before: QModelIndex) -> None:
        if not self._quiet and current.isValid():
            self.chosen.emit(self._model.names[current.row()])
