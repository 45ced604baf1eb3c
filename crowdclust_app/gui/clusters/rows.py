"""The gallery's rows: number, name to type, figures and the twelve most confident or most doubtful photos."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPoint, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QFont, QKeyEvent, QMouseEvent, QPainter, QPalette, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QListView, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from crowdclust_app.gui import theme
from crowdclust_app.gui.clusters.album import Album
from crowdclust_app.gui.clusters.name_field import NameField
from crowdclust_app.gui.clusters.painting import (
    BAR,
    flat,
    paint_badge,
    paint_doubt,
    paint_frame,
    paint_moved,
    paint_photo,
)
from crowdclust_app.gui.clusters.rows_model import CategoryRowsModel, figures
from crowdclust_app.gui.clusters.selection import ItemSelection
from crowdclust_app.services.clusters.category_rows import CategoryRow

PHOTOS_A_ROW = 12
HEADING = 52
NAME_LINE = 28
SMALLEST_TILE = 60
LARGEST_TILE = 128
NO_NAME = "name it"
MORE, MENU = "Show all", "\u22ef"
AnyIndex = QModelIndex | QPersistentModelIndex


class RowDelegate(QStyledItemDelegate):
    """Has the list paint each of its rows itself."""

    def __init__(self, view: ClusterRowsView) -> None:
        super().__init__(view)
        self._view = view

    def sizeHint(self, option: QStyleOptionViewItem, index: AnyIndex) -> QSize:
        """As wide as the view, as high as its lines of photos need."""
        return QSize(self._view.row_width(), self._view.row_height(self._view.row_at(index).size))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: AnyIndex) -> None:
        """Draw badge, figures, photos and "more"."""
        self._view.paint_row(painter, option.rect, self._view.row_at(index))


class ClusterRowsView(QListView):
    """One row a cluster; photos are chosen by click and by keys, "more" opens the whole cluster.

    Signals
    -------
    opened : int
        The whole of this place is wanted.
    named : (int, str)
        The category of this place is to have this name.
    menu_wanted : (int, QPoint on the screen)
        What can be done with this place is wanted.
    hovered : (item or None, QRect in this widget's viewport)
        The pointer is on a photo, or on none any more.
    """

    opened = Signal(int)
    named = Signal(int, str)
    menu_wanted = Signal(int, QPoint)
    hovered = Signal(object, QRect)

    def __init__(self, album: Album, selection: ItemSelection, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("cluster-rows")
        self.setAccessibleName("Clusters with their photos")
        self._album = album
        self._selection = selection
        self._hovered: int | None = None
        self._doubtful_first = False
        self._rows = CategoryRowsModel(self)
        self.setModel(self._rows)
        self.field = NameField(self)
        self.field.finished.connect(self._named)
        self.setItemDelegate(RowDelegate(self))
        flat(self)
        self.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        self.verticalScrollBar().setSingleStep(24)
        self.verticalScrollBar().valueChanged.connect(album.scrolled)
        self.setMouseTracking(True)
        album.arrived.connect(self.viewport().update)
        selection.changed.connect(self.viewport().update)

    def show_rows(self, rows: tuple[CategoryRow, ...], n_clusters: int, doubtful_first: bool = False) -> None:
        """Show these rows, their most confident or their most doubtful photos first; the view stays where it is."""
        at, current = self.verticalScrollBar().value(), self.current_place
        self._doubtful_first = doubtful_first
        self._rows.show(rows, n_clusters)
        row = self._rows.row_of(current) if current is not None else None
        if row is not None:
            self.setCurrentIndex(self._rows.index(row))
        self.doItemsLayout()
        self.verticalScrollBar().setValue(at)
        if self.field.place is not None:
            if self._rows.row_of(self.field.place) is None:
                self.field.give_up()
            else:
                self.field.setGeometry(self.name_rect(self.field.place))  # what is being typed stays

    @property
    def current_place(self) -> int | None:
        """The place whose row has the keys."""
        index = self.currentIndex()
        return self._rows.row(index.row()).place if index.isValid() else None

    def row_at(self, index: AnyIndex) -> CategoryRow:
        """The row of an index."""
        return self._rows.row(index.row())

    def photos(self, row: CategoryRow) -> list[int]:
        """The photos that a row shows."""
        items = row.items[::-1] if self._doubtful_first else row.items
        return [int(item) for item in items[:PHOTOS_A_ROW]]

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

    def _menu_rect(self, row: QRect) -> QRect:
        return QRect(row.left() + self.row_width() - 32, row.top(), 32, NAME_LINE)

    def _more_rect(self, row: QRect) -> QRect:
        width = self.fontMetrics().horizontalAdvance(MORE) + 2 * theme.STEP
        return QRect(self._menu_rect(row).left() - width, row.top(), width, NAME_LINE)

    def _badge_rect(self, row: QRect, text: str) -> QRect:
        return QRect(row.left(), row.top() + 3, max(28, 12 + 10 * len(text)), 22)

    def _name_rect(self, row: QRect, badge: str) -> QRect:
        left = self._badge_rect(row, badge).right() + theme.STEP
        return QRect(left, row.top(), max(40, self._more_rect(row).left() - theme.TILE_GAP - left), NAME_LINE)

    def photo_rect(self, item: int) -> QRect:
        """Where a photo is drawn in the viewport; empty when the rows do not show it."""
        for number, row in enumerate(self._rows.rows):
            photos = self.photos(row)
            if item in photos:
                return self._tile_rect(self.visualRect(self._rows.index(number)), photos.index(item))
        return QRect()

    def _row_rect(self, place: int) -> QRect:
        row = self._rows.row_of(place)
        return QRect() if row is None else self.visualRect(self._rows.index(row))

    def more_rect(self, place: int) -> QRect:
        """Where "Show all" of a place is drawn in the viewport."""
        rect = self._row_rect(place)
        return self._more_rect(rect) if rect.isValid() else QRect()

    def menu_rect(self, place: int) -> QRect:
        """Where the three dots of a place are drawn in the viewport."""
        rect = self._row_rect(place)
        return self._menu_rect(rect) if rect.isValid() else QRect()

    def name_rect(self, place: int) -> QRect:
        """Where the name of a place is drawn in the viewport."""
        row = self._rows.row_of(place)
        return QRect() if row is None else self._name_rect(self._row_rect(place), self._rows.badge(self._rows.row(row)))

    # --- names

    def edit_name(self, place: int) -> None:
        """Let the lead type the name of a place."""
        row = self._rows.row_of(place)
        if row is not None:
            self.show_place(place)
            self.field.begin(place, self.name_rect(place), self._rows.row(row).name)

    def _named(self, place: int, name: str) -> None:
        row = self._rows.row_of(place)
        if row is not None and (name != self._rows.row(row).name or self._rows.row(row).carried_from is not None):
            self.named.emit(place, name)

    # --- painting

    def paint_row(self, painter: QPainter, rect: QRect, row: CategoryRow) -> None:
        """Draw one row."""
        bold = QFont(self.font())
        bold.setBold(True)
        palette = self.palette()
        text = self._rows.badge(row)
        paint_badge(painter, QRectF(self._badge_rect(rect, text)), row.place, bold, text=text)
        self._paint_words(painter, rect, row, bold)
        ratio = self.devicePixelRatioF()
        view, moved = self._album.view, self._album.moved
        for position, item in enumerate(self.photos(row)):
            tile = self._tile_rect(rect, position)
            pixmap = self._album.pixmap(item, tile.width(), ratio)
            paint_photo(painter, tile, pixmap, palette, failed=pixmap is None and bool(self._album.failure(item)))
            if view is not None and view.is_doubtful(item):
                paint_doubt(painter, tile)
            if item in moved:
                paint_moved(painter, tile)
            if item in self._selection:
                paint_frame(painter, tile, palette, current=item == self._selection.current)

    def _paint_words(self, painter: QPainter, rect: QRect, row: CategoryRow, bold: QFont) -> None:
        palette = self.palette()
        left = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
        name = self._name_rect(rect, self._rows.badge(row))
        painter.setFont(bold if row.name else self.font())
        painter.setPen(palette.color(QPalette.ColorRole.WindowText) if row.name else theme.muted(palette))
        words = f"{row.name} (with {', '.join(map(str, row.others))})" if row.others else row.name or NO_NAME
        shown = painter.fontMetrics().elidedText(words, Qt.TextElideMode.ElideRight, name.width())
        painter.drawText(name, left, shown)
        painter.setFont(self.font())
        painter.setPen(palette.color(QPalette.ColorRole.Link))
        painter.drawText(self._more_rect(rect), Qt.AlignmentFlag.AlignCenter, MORE)
        painter.drawText(self._menu_rect(rect), Qt.AlignmentFlag.AlignCenter, MENU)
        painter.setPen(theme.muted(palette))
        line = QRect(rect.left(), rect.top() + NAME_LINE, self.row_width(), HEADING - NAME_LINE - theme.TILE_GAP)
        metrics, words = self.fontMetrics(), figures(row)
        if metrics.horizontalAdvance(words) > line.width():
            words = metrics.elidedText(figures(row, short=True), Qt.TextElideMode.ElideRight, line.width())
        painter.drawText(line, left, words)

    # --- pointer and keys

    def _hit(self, at: QPoint) -> tuple[CategoryRow, int | None, str] | None:
        """Row, photo and part ("more", "menu", "name" or "") at a point of the viewport."""
        index = self.indexAt(at)
        if not index.isValid():
            return None
        row, rect = self.row_at(index), self.visualRect(index)
        for position, item in enumerate(self.photos(row)):
            if self._tile_rect(rect, position).contains(at):
                return row, item, ""
        parts = {
            "more": self._more_rect(rect),
            "menu": self._menu_rect(rect),
            "name": self._name_rect(rect, self._rows.badge(row)),
        }
        return row, None, next((part for part, place in parts.items() if place.contains(at)), "")

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Choose the photo under the pointer, name the row, open it, or ask what can be done with it."""
        hit = self._hit(event.position().toPoint())
        if event.button() != Qt.MouseButton.LeftButton or hit is None:
            super().mousePressEvent(event)
            return
        row, item, part = hit
        self.setCurrentIndex(self._rows.index(self._rows.row_of(row.place) or 0))
        if item is not None:
            self._choose(item, event.modifiers())
        elif part == "more":
            self.opened.emit(row.place)
        elif part == "menu":
            self.menu_wanted.emit(row.place, self._below_menu(row.place))
        elif part == "name":
            self.edit_name(row.place)

    def _choose(self, item: int, keys: Qt.KeyboardModifier) -> None:
        """Choose a photo; with Control it is added or taken away, with Shift added."""
        if keys & Qt.KeyboardModifier.ControlModifier:
            self._selection.toggle(item)
        elif keys & Qt.KeyboardModifier.ShiftModifier:
            self._selection.add([item])
        else:
            self._selection.choose(item)

    def _below_menu(self, place: int) -> QPoint:
        return self.viewport().mapToGlobal(self.menu_rect(place).bottomLeft())

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """What can be done with the row under the pointer, or with the one that has the keys."""
        by_keys = event.reason() == QContextMenuEvent.Reason.Keyboard
        hit = None if by_keys else self._hit(event.pos())
        place = hit[0].place if hit is not None else self.current_place if by_keys else None
        if place is not None:
            row = self._rows.row_of(place)
            self.setCurrentIndex(self._rows.index(row or 0))
            self.menu_wanted.emit(place, self._below_menu(place) if by_keys else event.globalPos())

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Open the row whose heading is clicked twice, beside its name."""
        hit = self._hit(event.position().toPoint())
        if hit is not None and hit[1] is None and hit[2] == "":
            self.opened.emit(hit[0].place)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Say which photo the pointer is on."""
        hit = self._hit(event.position().toPoint())
        item = hit[1] if hit else None
        shape = Qt.CursorShape.ArrowCursor
        if hit is not None and (item is not None or hit[2] in ("more", "menu")):
            shape = Qt.CursorShape.PointingHandCursor
        elif hit is not None and hit[2] == "name":
            shape = Qt.CursorShape.IBeamCursor
        self.viewport().setCursor(shape)
        self._hover(item)

    def leaveEvent(self, event: object) -> None:
        """The pointer is on no photo any more."""
        self._hover(None)

    def _hover(self, item: int | None) -> None:
        if item != self._hovered:
            self._hovered = item
            self.hovered.emit(item, self.photo_rect(item) if item is not None else QRect())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Arrows go from photo to photo, Enter opens the row, F2 names it."""
        if event.key() == Qt.Key.Key_F2 and self.current_place is not None:
            self.edit_name(self.current_place)
            return
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
            self.opened.emit(self._rows.row(row).place)
        else:
            super().keyPressEvent(event)

    def _shown(self, row: int) -> int:
        return len(self.photos(self._rows.row(row)))

    def _current_place(self) -> tuple[int | None, int]:
        """Row and position of the current item; position 0 of its row when that does not show it."""
        current = self._selection.current
        row = self._rows.row_of(self._album.place(current)) if current is not None else None
        if current is None or row is None:
            return None, 0
        photos = self.photos(self._rows.row(row))
        return row, photos.index(current) if current in photos else 0

    def _go(self, row: int, position: int) -> None:
        if position < 0 and row > 0:
            row, position = row - 1, self._shown(row - 1) - 1
        elif position >= self._shown(row) and row + 1 < self._rows.rowCount():
            row, position = row + 1, 0
        position = max(0, min(position, self._shown(row) - 1))
        photos = self.photos(self._rows.row(row))
        if photos:
            self._selection.choose(photos[position])
        self.show_place(self._rows.row(row).place)

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

    def show_place(self, place: int) -> None:
        """Scroll so that the row of a place is in view."""
        row = self._rows.row_of(place)
        if row is not None:
            self.setCurrentIndex(self._rows.index(row))
            self.scrollTo(self._rows.index(row))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """The rows' heights depend on the width."""
        super().resizeEvent(event)
        self.field.give_up()
        self.scheduleDelayedItemsLayout()
