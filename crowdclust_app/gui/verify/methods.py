"""The table of aggregators, side by side on the same answers."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView, QWidget

from crowdclust_app.services.question_verdicts import IN, OUT, UNDECIDED, Verification
from crowdclust_app.services.verifying import METHODS

AnyIndex = QModelIndex | QPersistentModelIndex
TITLES = ("Method", "In", "Out", "Undecided", "Expected wrong")
ABOUT = {
    "majority": "what more people say; even votes are undecided",
    "em": "one reliability a worker, by EM",
    "em2": "sensitivity and specificity a worker, by EM",
    "mf": "one reliability a worker, by mean field",
    "bp": "one reliability a worker, by belief propagation",
    "bp2": "sensitivity and specificity a worker, belief propagation",
    "dawid-skene": "sensitivity, specificity and the share of yes, by EM",
    "sbic-fast": "one pass; what chooses the next question",
}


class MethodsModel(QAbstractTableModel):
    """One row a method; a method that is still being computed, or cannot be, has dashes."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._rows: list[tuple[str, ...]] = [(name, "", "", "", "") for name in METHODS]

    def show(self, verification: Verification | None) -> None:
        """Show these verdicts."""
        self._rows = [(name, *self._figures(name, verification)) for name in METHODS]
        self.dataChanged.emit(self.index(0, 0), self.index(len(METHODS) - 1, len(TITLES) - 1))

    @staticmethod
    def _figures(name: str, verification: Verification | None) -> tuple[str, ...]:
        if verification is None:
            return ("", "", "", "")
        found = verification.method(name)
        if found is None:
            return ("–", "–", "–", "–")
        counts = tuple(f"{found.count(verdict):,}" for verdict in (IN, OUT, UNDECIDED))
        return (*counts, f"{100 * found.expected_error:.1f} %")

    def rowCount(self, parent: AnyIndex = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        """Number of methods."""
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: AnyIndex = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        """Number of columns."""
        return 0 if parent.isValid() else len(TITLES)

    def data(self, index: AnyIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Words and figures."""
        if not index.isValid():
            return None
        row = self._rows[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return row[index.column()]
        if role == Qt.ItemDataRole.ToolTipRole:
            return ABOUT[row[0]]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(index.column())
        return None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Headings."""
        if orientation == Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole:
            return TITLES[section]
        if orientation == Qt.Orientation.Horizontal and role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(section)
        return None


def _alignment(column: int) -> Qt.AlignmentFlag:
    side = Qt.AlignmentFlag.AlignRight if column else Qt.AlignmentFlag.AlignLeft
    return side | Qt.AlignmentFlag.AlignVCenter


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
        self._model.show(verification)
        if verification is not None and verification.question_set.method in METHODS:
            self.mark(verification.question_set.method)

    def mark(self, method: str) -> None:
        """Make a method the current row without telling."""
        self._quiet = True
        try:
            self.setCurrentIndex(self._model.index(METHODS.index(method), 0))
        finally:
            self._quiet = False

    def _moved(self, current: QModelIndex, _before: QModelIndex) -> None:
        if not self._quiet and current.isValid():
            self.chosen.emit(METHODS[current.row()])
