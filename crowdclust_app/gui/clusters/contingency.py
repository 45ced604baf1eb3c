"""A table of two groupings: counts in shades, partners outlined, every cell a list of photos."""

from __future__ import annotations

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, QRect, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QPainter, QPalette, QPen
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from crowdclust_app.gui import theme
from crowdclust_app.gui.clusters.plot import scale_colours
from crowdclust_app.gui.wording import count_of
from crowdclust_app.services.clusters.comparing import Contingency

AnyIndex = QModelIndex | QPersistentModelIndex
CELL, ROW, WIDEST = 52, 28, 220


class ContingencyModel(QAbstractTableModel):
    """How many photos are in each pair of groups."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._found: Contingency | None = None
        self._partners: frozenset[tuple[int, int]] = frozenset()
        self._highest = 1

    def show(self, found: Contingency | None) -> None:
        """Show this table."""
        self.beginResetModel()
        self._found = found
        self._partners = frozenset(found.matched) if found is not None else frozenset()
        self._highest = max(1, int(found.counts.max(initial=0))) if found is not None else 1
        self.endResetModel()

    @property
    def found(self) -> Contingency | None:
        """What is shown."""
        return self._found

    def is_partner(self, row: int, column: int) -> bool:
        """Whether row and column belong to each other."""
        return (row, column) in self._partners

    def share(self, row: int, column: int) -> float:
        """A cell's count as a share of the largest one."""
        return float(self._found.counts[row, column]) / self._highest if self._found is not None else 0.0

    def rowCount(self, parent: AnyIndex = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        """Number of rows."""
        return 0 if parent.isValid() or self._found is None else len(self._found.row_names)

    def columnCount(self, parent: AnyIndex = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        """Number of columns."""
        return 0 if parent.isValid() or self._found is None else len(self._found.column_names)

    def data(self, index: AnyIndex, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """A count, and in words what it counts."""
        if not index.isValid() or self._found is None:
            return None
        row, column = index.row(), index.column()
        count = int(self._found.counts[row, column])
        if role == Qt.ItemDataRole.DisplayRole:
            return f"{count:,}" if count else ""
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return Qt.AlignmentFlag.AlignCenter
        if role in (Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole):
            found = self._found
            names = f"{found.row_title} {found.row_names[row]}, {found.column_title} {found.column_names[column]}"
            return f"{names}: {count_of(count, 'photo')}"
        return None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Names of rows and columns."""
        if self._found is None:
            return None
        across = orientation == Qt.Orientation.Horizontal
        names = self._found.column_names if across else self._found.row_names
        if not 0 <= section < len(names):
            return None
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
            return names[section]
        if role == Qt.ItemDataRole.TextAlignmentRole and not across:
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        return None


class _Cells(QStyledItemDelegate):
    """A shade with the count on it."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._colours = scale_colours()

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: AnyIndex) -> None:
        """Draw one cell."""
        model = index.model()
        assert isinstance(model, ContingencyModel)
        rect = QRect(option.rect).adjusted(1, 1, -1, -1)
        share = model.share(index.row(), index.column())
        palette = option.palette
        ground = palette.color(QPalette.ColorRole.Base)
        if share:
            ground = self._colours[round(share * (len(self._colours) - 1))]
        painter.save()
        painter.fillRect(rect, ground)
        if model.is_partner(index.row(), index.column()):
            # a thin double line, which shows on light and dark shades
            painter.setPen(QPen(QColor(255, 255, 255), 1))
            painter.drawRect(rect.adjusted(1, 1, -2, -2))
            painter.setPen(QPen(QColor(20, 20, 20), 1))
            painter.drawRect(rect.adjusted(0, 0, -1, -1))
        if option.state & QStyle.StateFlag.State_Selected:
            painter.setPen(QPen(palette.color(QPalette.ColorRole.Highlight), 3))
            painter.drawRect(rect.adjusted(1, 1, -2, -2))
        painter.setPen(theme.text_on(ground))
        painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, str(index.data() or ""))
        painter.restore()


class ContingencyTable(QTableView):
    """The table on screen.

    Signals
    -------
    cell_wanted : (row or None, column or None)
        The photos of a cell, of a whole row or of a whole column are wanted.
    """

    cell_wanted = Signal(object, object)

    def __init__(self, name: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self.table = ContingencyModel(self)
        self.setModel(self.table)
        self.setItemDelegate(_Cells(self))
        self.setShowGrid(False)
        self.setCornerButtonEnabled(False)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setTabKeyNavigation(False)
        across, down = self.horizontalHeader(), self.verticalHeader()
        for header, size in ((across, CELL), (down, ROW)):
            header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
            header.setDefaultSectionSize(size)
            header.setSectionsClickable(True)
            header.setHighlightSections(True)
        down.setMaximumWidth(WIDEST)
        across.setTextElideMode(Qt.TextElideMode.ElideRight)
        down.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.clicked.connect(lambda index: self.cell_wanted.emit(index.row(), index.column()))
        down.sectionClicked.connect(lambda row: self.cell_wanted.emit(row, None))
        across.sectionClicked.connect(lambda column: self.cell_wanted.emit(None, column))

    def show_table(self, found: Contingency | None) -> None:
        """Show this table."""
        self.table.show(found)
        if found is not None:
            longest = max((self.fontMetrics().horizontalAdvance(name) for name in found.column_names), default=0)
            self.horizontalHeader().setDefaultSectionSize(max(CELL, min(110, longest + 2 * theme.STEP)))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter shows the photos of the cell that has the keys."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.currentIndex().isValid():
            self.cell_wanted.emit(self.currentIndex().row(), self.currentIndex().column())
        else:
            super().keyPressEvent(event)


def figures_in_words(found: Contingency) -> str:
    """How far two groupings are apart, in one line."""
    if found.vi_bits is None or found.ari is None or found.nmi is None:
        return "no photo is in both"
    distance = f"variation of information {found.vi_bits:.3f} bits ({found.vi_nats:.3f} nats)"
    return f"{count_of(found.compared, 'photo')} · {distance} · adjusted Rand {found.ari:.3f} · NMI {found.nmi:.3f}"
