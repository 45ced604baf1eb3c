"""What the colours of the plot say: groups with their numbers and names, or a scale with its figures."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QAbstractListModel, QModelIndex, QPersistentModelIndex, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFont, QLinearGradient, QPainter, QPaintEvent, QPalette
from PySide6.QtWidgets import (
    QAbstractItemView,
    QListView,
    QStackedWidget,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from crowdclust_app.gui import theme
from crowdclust_app.gui.clusters.painting import flat, paint_badge
from crowdclust_app.gui.clusters.plot import scale_colours, scale_of
from crowdclust_app.gui.wording import count_of
from crowdclust_app.services.clusters.embedding import Colouring

AnyIndex = QModelIndex | QPersistentModelIndex
LINE, WIDTH = 26, 168
GROUP_ROLE = Qt.ItemDataRole.UserRole


class GroupsModel(QAbstractListModel):
    """Groups of the plot: number, name, how many points."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._groups: tuple[tuple[int, str, str, int], ...] = ()

    def show(self, groups: tuple[tuple[int, str, str, int], ...]) -> None:
        """Show these: number, text of the badge, name, points."""
        self.beginResetModel()
        self._groups = groups
        self.endResetModel()

    def group(self, row: int) -> tuple[int, str, str, int]:
        """Number, text of the badge, name and points of a row."""
        return self._groups[row]

    def rowCount(self, parent: AnyIndex = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        """Number of groups."""
        return 0 if parent.isValid() else len(self._groups)

    def data(self, index: AnyIndex, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """A group in words."""
        if not index.isValid():
            return None
        number, _, name, count = self._groups[index.row()]
        if role == GROUP_ROLE:
            return number
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole, Qt.ItemDataRole.ToolTipRole):
            return f"{name}: {count_of(count, 'photo')}"
        return None


class _Lines(QStyledItemDelegate):
    """A badge, a name, a number of photos."""

    def sizeHint(self, _option: QStyleOptionViewItem, _index: AnyIndex) -> QSize:
        """One line."""
        return QSize(WIDTH, LINE)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: AnyIndex) -> None:
        """Draw one group."""
        model = index.model()
        assert isinstance(model, GroupsModel)
        number, badge, name, count = model.group(index.row())
        if option.state & QStyle.StateFlag.State_Selected:
            painter.fillRect(option.rect, option.palette.color(QPalette.ColorRole.Midlight))
        bold = QFont(option.font)
        bold.setBold(True)
        place = QRectF(option.rect.left(), option.rect.top() + 3, 32, 20)
        if number:
            paint_badge(painter, place, number, bold, text=badge)
        else:
            painter.fillRect(QRectF(place.center().x() - 4, place.center().y() - 4, 8, 8), theme.muted(option.palette))
        painter.setFont(option.font)
        rest = QRect(option.rect).adjusted(40, 0, -theme.TILE_GAP, 0)
        painter.setPen(theme.muted(option.palette))
        figure = f"{count:,}"
        painter.drawText(rest, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, figure)
        rest.setRight(rest.right() - option.fontMetrics.horizontalAdvance(figure) - theme.STEP)
        painter.setPen(option.palette.color(QPalette.ColorRole.WindowText))
        shown = option.fontMetrics.elidedText(name, Qt.TextElideMode.ElideRight, rest.width())
        painter.drawText(rest, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, shown)


class ColourScale(QWidget):
    """A bar of all colours with figures beside it."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.title = ""
        self.ends = (0.0, 1.0)
        self.whole = False

    def figures(self) -> tuple[str, ...]:
        """The figures beside the bar, from above."""
        low, high = self.ends
        figures = np.linspace(high, low, 3 if not self.whole or high - low >= 2 else 2)
        return tuple(f"{round(figure):,}" if self.whole else f"{figure:.2f}" for figure in figures)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw title, bar and figures."""
        painter = QPainter(self)
        ink = self.palette().color(QPalette.ColorRole.WindowText)
        painter.setPen(ink)
        words = QRect(0, 0, self.width(), 2 * self.fontMetrics().height())
        wrap = Qt.AlignmentFlag.AlignLeft | Qt.TextFlag.TextWordWrap
        painter.drawText(words, wrap, self.title)
        bar = QRectF(0, words.bottom() + theme.STEP, 16, min(220, self.height() - words.height() - 2 * theme.MARGIN))
        gradient = QLinearGradient(bar.bottomLeft(), bar.topLeft())
        colours = scale_colours(16)
        for place, colour in enumerate(colours):
            gradient.setColorAt(place / (len(colours) - 1), colour)
        painter.fillRect(bar, gradient)
        painter.setPen(ink)
        figures = self.figures()
        for place, figure in enumerate(figures):
            y = bar.top() + bar.height() * place / (len(figures) - 1)
            line = QRectF(24, y - 10, self.width() - 24, 20)
            painter.drawText(line, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, figure)


class Legend(QStackedWidget):
    """Beside the plot.

    Signals
    -------
    chosen : int
        The points of this group are wanted.
    """

    chosen = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("plot-legend")
        self.setFixedWidth(WIDTH)
        self.groups = GroupsModel(self)
        self.list = QListView(self)
        self.list.setObjectName("plot-groups")
        self.list.setAccessibleName("Colours of the plot")
        self.list.setModel(self.groups)
        self.list.setItemDelegate(_Lines(self.list))
        self.list.setUniformItemSizes(True)
        self.list.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        flat(self.list)
        self.list.clicked.connect(self._tell)
        self.list.activated.connect(self._tell)
        self.scale = ColourScale(self)
        self.addWidget(self.list)
        self.addWidget(self.scale)

    def show_colours(self, colours: Colouring | None, badges: dict[int, str]) -> None:
        """Tell what these colours say; badges have their texts by number."""
        if colours is not None and colours.values is not None:
            self.scale.title = colours.title
            self.scale.ends = scale_of(colours.values)
            there = colours.values[np.isfinite(colours.values)]
            self.scale.whole = bool((there == np.round(there)).all())
            self.scale.setAccessibleName(f"{colours.title}: {' to '.join(reversed(self.scale.figures()))}")
            self.scale.update()
            self.setCurrentWidget(self.scale)
            return
        counts = colours.counts if colours is not None else {}
        names = colours.names if colours is not None else {}
        # what has no group comes last
        order = sorted(counts, key=lambda number: (number == 0, number))
        self.groups.show(tuple((n, badges.get(n, str(n)), names[n], counts[n]) for n in order))
        self.setCurrentWidget(self.list)

    def _tell(self, index: QModelIndex) -> None:
        self.chosen.emit(self.groups.group(index.row())[0])
