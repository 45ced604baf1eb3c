"""The gallery's rows: a cluster with its number, its figures and its twelve most confident photos."""

from __future__ import annotations

from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    QRect,
    QRectF,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QFont, QKeyEvent, QMouseEvent, QPainter, QPalette, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QListView, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from crowdclust_app.gui import theme
from crowdclust_app.gui.clusters.album import Album, people_probability
from crowdclust_app.gui.clusters.painting import BAR, flat, paint_badge, paint_doubt, paint_frame, paint_photo
from crowdclust_app.gui.clusters.selection import Selection
from crowdclust_app.gui.words import count_of
from crowdclust_app.services.looking import ClusterRow

PHOTOS_A_ROW = 12
HEADING = 32
SMALLEST_TILE = 60
LARGEST_TILE = 128
AnyIndex = QModelIndex | QPersistentModelIndex


class ClusterRowsModel(QAbstractListModel):
    """The clusters of a run, the largest first."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._rows: tuple[ClusterRow, ...] = ()

    def show(self, rows: tuple[ClusterRow, ...]) -> None:
        """Show these clusters."""
        self.beginResetModel()
        self._rows = rows
        self.endResetModel()

    def cluster(self, row: int) -> ClusterRow:
        """The cluster in a row."""
        return self._rows[row]

    def row_of(self, number: int) -> int | None:
        """The row of a cluster by its number."""
        return next((row for row, cluster in enumerate(self._rows) if cluster.number == number), None)

    def rowCount(self, parent: AnyIndex = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        """Number of clusters."""
        return 0 if parent.isValid() else len(self._rows)

    def data(self, index: AnyIndex, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """The cluster in words, for who cannot see the row."""
        if index.isValid() and role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return f"Cluster {self._rows[index.row()].number}: {figures(self._rows[index.row()])}"
        return None


def figures(cluster: ClusterRow, short: bool = False) -> str:
    """Size, mean probability and doubtful photos of a cluster in words."""
    mean = people_probability(cluster.mean_probability)
    parts = [count_of(cluster.size, "photo"), f"mean {mean}" if short else f"mean probability {mean}"]
    if cluster.doubtful:
        parts.append(f"{cluster.doubtful} doubtful")
    return " · ".join(parts)


class RowDelegate(QStyledItemDelegate):
    """Paints one cluster's row."""

    def __init__(self, view: ClusterRowsView) -> None:
        super().__init__(view)
        self._view = view

    def sizeHint(self, option: QStyleOptionViewItem, index: AnyIndex) -> QSize:
        """As wide as the view, as high as its lines of photos need."""
        return QSize(self._view.row_width(), self._view.row_height(self._view.cluster_at(index).size))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: AnyIndex) -> None:
        """Draw badge, figures, photos and "more"."""
        self._view.paint_row(painter, option.rect, self._view.cluster_at(index))


class ClusterRowsView(QListView):
    """One row a cluster; photos are chosen by click and by keys, "more" opens the whole cluster.

    Signals
    -------
    opened : int
        The whole of this cluster is wanted.
    hovered : (item or None, QRect in this widget's viewport)
        The pointer is on a photo, or on none any more.
    """

    opened = Signal(int)
    hovered = Signal(object, QRect)

    def __init__(self, album: Album, selection: Selection, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("cluster-rows")
        self.setAccessibleName("Clusters with their most confident photos")
        self._album = album
        self._selection = selection
        self._hovered: int | None = None
        self._rows = ClusterRowsModel(self)
        self.setModel(self._rows)
        self.setItemDelegate(RowDelegate(self))
        flat(self)
        self.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        self.verticalScrollBar().setSingleStep(24)
        self.setMouseTracking(True)
        album.arrived.connect(self.viewport().update)
        selection.changed.connect(self.viewport().update)

    def show_clusters(self, rows: tuple[ClusterRow, ...]) -> None:
        """Show these clusters."""
        self._rows.show(rows)

    def cluster_at(self, index: AnyIndex) -> ClusterRow:
        """The cluster of an index."""
        return self._rows.cluster(index.row())

    # --- geometry

    def row_width(self) -> int:
        """Width of a row, the same with and without a scroll bar."""
        return max(64, self.width() - BAR)

    def _photos_a_line(self) -> int:
        width = self.row_width()
        for count in (12, 6, 4, 3):
            if (width + theme.TILE_GAP) // count - theme.TILE_GAP >= SMALLEST_TILE:
                return count
        return 2

    def _tile(self) -> int:
        side = (self.row_width() + theme.TILE_GAP) // self._photos_a_line() - theme.TILE_GAP
        return max(16, min(LARGEST_TILE, side))

    def row_height(self, size: int) -> int:
        """Height of the row of a cluster of this size."""
        lines = -(-min(size, PHOTOS_A_ROW) // self._photos_a_line())
        return HEADING + lines * (self._tile() + theme.TILE_GAP) + theme.MARGIN

    def _tile_rect(self, row: QRect, position: int) -> QRect:
        line, column = divmod(position, self._photos_a_line())
        side = self._tile()
        step = side + theme.TILE_GAP
        return QRect(row.left() + column * step, row.top() + HEADING + line * step, side, side)

    def _more_rect(self, row: QRect) -> QRect:
        width = self.fontMetrics().horizontalAdvance("Show all") + 2 * theme.STEP
        return QRect(row.left() + self.row_width() - width, row.top(), width, HEADING)

    def photo_rect(self, item: int) -> QRect:
        """Where a photo is drawn in the viewport; empty when the rows do not show it."""
        for row in range(self._rows.rowCount()):
            items = self._rows.cluster(row).items[:PHOTOS_A_ROW].tolist()
            if item in items:
                return self._tile_rect(self.visualRect(self._rows.index(row)), items.index(item))
        return QRect()

    def more_rect(self, number: int) -> QRect:
        """Where "Show all" of a cluster is drawn in the viewport."""
        row = self._rows.row_of(number)
        return QRect() if row is None else self._more_rect(self.visualRect(self._rows.index(row)))

    # --- painting

    def paint_row(self, painter: QPainter, rect: QRect, cluster: ClusterRow) -> None:
        """Draw one cluster's row."""
        bold = QFont(self.font())
        bold.setBold(True)
        painter.setFont(self.font())
        badge = QRectF(rect.left(), rect.top() + 5, max(28, 12 + 10 * len(str(cluster.number))), 22)
        paint_badge(painter, badge, cluster.number, bold)
        more = self._more_rect(rect)
        palette = self.palette()
        text = QRect(int(badge.right()) + theme.STEP, rect.top(), 0, HEADING)
        text.setRight(more.left() - theme.STEP)
        painter.setPen(palette.color(QPalette.ColorRole.Text))
        metrics = self.fontMetrics()
        words = figures(cluster)
        if metrics.horizontalAdvance(words) > text.width():
            words = metrics.elidedText(figures(cluster, short=True), Qt.TextElideMode.ElideRight, text.width())
        painter.drawText(text, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, words)
        painter.setPen(palette.color(QPalette.ColorRole.Link))
        painter.drawText(more, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, "Show all")
        ratio = self.devicePixelRatioF()
        view = self._album.view
        for position, item in enumerate(cluster.items[:PHOTOS_A_ROW].tolist()):
            tile = self._tile_rect(rect, position)
            pixmap = self._album.pixmap(item, tile.width(), ratio)
            paint_photo(painter, tile, pixmap, palette, failed=pixmap is None and bool(self._album.failure(item)))
            if view is not None and view.is_doubtful(item):
                paint_doubt(painter, tile)
            if item in self._selection:
                paint_frame(painter, tile, palette, current=item == self._selection.current)

    # --- pointer and keys

    def _hit(self, at: QPoint) -> tuple[ClusterRow, int | None, bool] | None:
        """Cluster, photo and whether it is "more" at a point of the viewport."""
        index = self.indexAt(at)
        if not index.isValid():
            return None
        cluster, rect = self.cluster_at(index), self.visualRect(index)
        for position, item in enumerate(cluster.items[:PHOTOS_A_ROW].tolist()):
            if self._tile_rect(rect, position).contains(at):
                return cluster, item, False
        return cluster, None, self._more_rect(rect).contains(at)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Choose the photo under the pointer, or open the cluster."""
        hit = self._hit(event.position().toPoint())
        if event.button() != Qt.MouseButton.LeftButton or hit is None:
            super().mousePressEvent(event)
            return
        cluster, item, more = hit
        self.setCurrentIndex(self._rows.index(self._rows.row_of(cluster.number) or 0))
        if more:
            self.opened.emit(cluster.number)
        elif item is not None and event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self._selection.toggle(item)
        elif item is not None and event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            self._selection.add([item])
        elif item is not None:
            self._selection.choose(item)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Open the cluster whose heading is clicked twice."""
        hit = self._hit(event.position().toPoint())
        if hit is not None and hit[1] is None:
            self.opened.emit(hit[0].number)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Say which photo the pointer is on."""
        hit = self._hit(event.position().toPoint())
        item = hit[1] if hit else None
        hand = hit is not None and (item is not None or hit[2])
        self.viewport().setCursor(Qt.CursorShape.PointingHandCursor if hand else Qt.CursorShape.ArrowCursor)
        self._hover(item)

    def leaveEvent(self, event: object) -> None:
        """The pointer is on no photo any more."""
        self._hover(None)

    def _hover(self, item: int | None) -> None:
        if item != self._hovered:
            self._hovered = item
            self.hovered.emit(item, self.photo_rect(item) if item is not None else QRect())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Arrows go from photo to photo, Enter opens the cluster."""
        steps = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}
        key = Qt.Key(event.key())
        row, position = self._current_place()
        if row is None:
            if key in (*steps, Qt.Key.Key_Up, Qt.Key.Key_Down) and self._rows.rowCount():
                self._go(0, 0)
                return
            super().keyPressEvent(event)
            return
        if key in steps:
            self._go(row, position + steps[key])
        elif key in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            self._go_line(row, position, -1 if key == Qt.Key.Key_Up else 1)
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.opened.emit(self._rows.cluster(row).number)
        else:
            super().keyPressEvent(event)

    def _shown(self, row: int) -> int:
        return min(PHOTOS_A_ROW, self._rows.cluster(row).size)

    def _current_place(self) -> tuple[int | None, int]:
        """Row and position of the current item; position 0 of its cluster when the row does not show it."""
        current, view = self._selection.current, self._album.view
        if current is None or view is None:
            return None, 0
        row = self._rows.row_of(int(view.labels[current]))
        if row is None:
            return None, 0
        items = self._rows.cluster(row).items[:PHOTOS_A_ROW].tolist()
        return row, items.index(current) if current in items else 0

    def _go(self, row: int, position: int) -> None:
        if position < 0 and row > 0:
            row, position = row - 1, self._shown(row - 1) - 1
        elif position >= self._shown(row) and row + 1 < self._rows.rowCount():
            row, position = row + 1, 0
        position = max(0, min(position, self._shown(row) - 1))
        self._selection.choose(int(self._rows.cluster(row).items[position]))
        self.show_cluster(self._rows.cluster(row).number)

    def _go_line(self, row: int, position: int, step: int) -> None:
        line = self._photos_a_line()
        target = position + step * line
        if 0 <= target < self._shown(row) or (step > 0 and target // line <= (self._shown(row) - 1) // line):
            self._go(row, min(target, self._shown(row) - 1))
        elif 0 <= row + step < self._rows.rowCount():
            row += step
            last_line = (self._shown(row) - 1) // line * line
            start = last_line if step < 0 else 0
            self._go(row, min(start + position % line, self._shown(row) - 1))

    def show_cluster(self, number: int) -> None:
        """Scroll so that a cluster's row is in view."""
        row = self._rows.row_of(number)
        if row is not None:
            self.setCurrentIndex(self._rows.index(row))
            self.scrollTo(self._rows.index(row))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """The rows' heights depend on the width."""
        super().resizeEvent(event)
        self.scheduleDelayedItemsLayout()
