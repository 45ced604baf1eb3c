"""The tree of clusters as Qt's item views want it."""

from __future__ import annotations

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QPersistentModelIndex, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QPainter, QPalette
from PySide6.QtWidgets import QApplication, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from crowdclust_app.gui import theme
from crowdclust_app.gui.clusters.album import badge_text, people_probability
from crowdclust_app.gui.clusters.painting import paint_badge
from crowdclust_app.gui.stages.rows import Kind, Row
from crowdclust_app.gui.wording import ABSENT

AnyIndex = QModelIndex | QPersistentModelIndex
COLUMNS = ("Category", "Photos", "Mean", "Doubtful", "HITs done", "Found")
ABOUT = (
    "A cluster, or what the lead called it; below it what it was subdivided into",
    "How many photos it has",
    "Mean probability of its photos to be in it",
    "Photos that other clusters are likely for too",
    "HITs of its stage that have all their workers, of those planned",
    "What has come of subdividing it",
)
NAME, PHOTOS, MEAN, DOUBTFUL, HITS, STATE = range(6)
ROW_ROLE = Qt.ItemDataRole.UserRole
ROW_HEIGHT = 32


class TreeModel(QAbstractItemModel):
    """Rows of the tree of clusters; read only."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._root: Row | None = None

    def show(self, root: Row | None) -> None:
        """Show this tree."""
        self.beginResetModel()
        self._root = root
        self.endResetModel()

    @property
    def rows(self) -> list[Row]:
        """Every row, from above."""
        return self._root.every() if self._root is not None else []

    def row_at(self, index: AnyIndex) -> Row | None:
        """The row of an index."""
        return index.internalPointer() if index.isValid() else None

    def index_of(self, row: Row) -> QModelIndex:
        """The index of a row's first column."""
        return self.createIndex(row.place, 0, row)

    def index(self, row: int, column: int, parent: AnyIndex = QModelIndex()) -> QModelIndex:  # noqa: B008 - Qt's own
        """The index of a cell."""
        if not self.hasIndex(row, column, parent):
            return QModelIndex()
        above = self.row_at(parent)
        found = self._root if above is None else above.children[row]
        return self.createIndex(row, column, found)

    def parent(self, index: AnyIndex = QModelIndex()) -> QModelIndex:  # type: ignore[override]  # noqa: B008
        """The index of the row above."""
        row = self.row_at(index)
        return QModelIndex() if row is None or row.parent is None else self.index_of(row.parent)

    def rowCount(self, parent: AnyIndex = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        """Number of rows below a row."""
        if parent.column() > 0:
            return 0
        above = self.row_at(parent)
        if above is None:
            return 0 if self._root is None else 1
        return len(above.children)

    def columnCount(self, parent: AnyIndex = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        """Number of columns."""
        return len(COLUMNS)

    def data(self, index: AnyIndex, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """A cell in words."""
        row = self.row_at(index)
        if row is None:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return _cell(row, index.column())
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return _sentence(row) if index.column() == NAME else _cell(row, index.column())
        if role == Qt.ItemDataRole.TextAlignmentRole and index.column() not in (NAME, STATE):
            return int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        if role == Qt.ItemDataRole.ToolTipRole and index.column() == NAME:
            return row.category.path if row.category is not None else row.title
        if role == Qt.ItemDataRole.ToolTipRole and index.column() == STATE:
            return row.state
        if role == Qt.ItemDataRole.ToolTipRole and index.column() == HITS and row.info is not None:
            return f"{row.info.submitted:,} of {row.info.wanted:,} turns"
        if role == ROW_ROLE:
            return row
        return None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """The columns' headings."""
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return COLUMNS[section]
        if role == Qt.ItemDataRole.ToolTipRole:
            return ABOUT[section]
        if role == Qt.ItemDataRole.TextAlignmentRole and section not in (NAME, STATE):
            return int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        return None


def _cell(row: Row, column: int) -> str:
    if column == NAME:
        return row.title
    if column == PHOTOS:
        return f"{row.size:,}"
    if column == MEAN:
        words = "" if row.category is None else _probability(row)
        return words.replace("above ", "> ").replace("below ", "< ")
    if column == DOUBTFUL:
        return "" if row.doubtful is None else f"{row.doubtful:,}"
    return row.hits if column == HITS else row.state


def _probability(row: Row) -> str:
    return ABSENT if row.mean_probability is None else people_probability(row.mean_probability)


def _sentence(row: Row) -> str:
    """A row for who cannot see it."""
    parts = [row.title, f"{row.size:,} photos"]
    if row.category is not None:
        parts.append(f"mean probability {_probability(row)}, {row.doubtful} doubtful")
    if row.hits:
        parts.append(f"{row.hits} HITs done")
    return ", ".join([*parts, *([row.state] if row.state else [])])


class NameDelegate(QStyledItemDelegate):
    """Paints a category with the badge of its cluster."""

    def sizeHint(self, option: QStyleOptionViewItem, index: AnyIndex) -> QSize:
        """Rows of one height."""
        return QSize(super().sizeHint(option, index).width() + 40, ROW_HEIGHT)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: AnyIndex) -> None:
        """Draw badge and name, or the name alone."""
        row = index.data(ROW_ROLE)
        if not isinstance(row, Row):
            super().paint(painter, option, index)
            return
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        QApplication.style().drawPrimitive(QStyle.PrimitiveElement.PE_PanelItemViewItem, option, painter, option.widget)
        rect = option.rect.adjusted(4, 0, -4, 0)
        font = QFont(option.font)
        if row.kind is Kind.CATEGORY and row.category is not None and row.of is not None and row.of.view is not None:
            text = badge_text(row.category.place, row.of.view.run.result.responsibilities.shape[1])
            badge = QRectF(rect.left(), rect.center().y() - 10, max(26, 12 + 10 * len(text)), 20)
            bold = QFont(font)
            bold.setBold(True)
            paint_badge(painter, badge, row.category.place, bold, text=text)
            rect.setLeft(int(badge.right()) + theme.STEP)
        painter.save()
        painter.setFont(font)
        painter.setPen(_ink(option.palette, chosen, row.kind is Kind.REMOVED))
        words = option.fontMetrics.elidedText(row.title, Qt.TextElideMode.ElideRight, rect.width())
        painter.drawText(rect, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, words)
        painter.restore()


def _ink(palette: QPalette, chosen: bool, quiet: bool) -> QColor:
    if chosen:
        return palette.color(QPalette.ColorRole.HighlightedText)
    return theme.muted(palette) if quiet else palette.color(QPalette.ColorRole.Text)
