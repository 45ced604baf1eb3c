"""The grid of photos: painted by hand, so that a click answers within one frame."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QFont,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPalette,
    QPen,
    QPixmap,
    QResizeEvent,
)
from PySide6.QtWidgets import QApplication, QSizePolicy, QWidget

from crowdclust_app.domain.campaign import Item
from crowdclust_app.gui import theme
from crowdclust_app.gui.annotate.layout import FRAME, GridLayout, fitted, lay_out, typical_aspect
from crowdclust_app.gui.annotate.painting import (
    paint_badge,
    paint_check,
    paint_flag,
    paint_focus,
    paint_frames_badge,
    paint_placeholder,
    tool_cursor,
)
from crowdclust_app.gui.annotate.sorting_state import SortingState
from crowdclust_app.gui.pictures import PictureCache


@dataclass(frozen=True)
class Tile:
    """One photo of the set: its item and where its file is."""

    item: Item
    path: Path


class SortingGrid(QWidget):
    """All photos of a set at once; says what the pointer did, the screen decides what that means.

    Signals
    -------
    clicked : int
        A plain click on a tile.
    toggled, ranged : int
        A click with Ctrl, with Shift.
    painted : list of int
        A drag over these tiles.
    banded : list of int, bool
        A rubber band around these tiles; whether Ctrl or Shift keeps what was selected.
    enlarged : int
        A double click on a tile.
    menu_wanted : int, QPoint
        A right click on a tile, at this place of the screen.
    """

    clicked = Signal(int)
    toggled = Signal(int)
    ranged = Signal(int)
    painted = Signal(list)
    banded = Signal(list, bool)
    enlarged = Signal(int)
    menu_wanted = Signal(int, QPoint)

    def __init__(self, pictures: PictureCache, interactive: bool = True) -> None:
        super().__init__()
        self.setObjectName("photo-grid")
        self.setAccessibleName("Photos of the set")
        self.setMouseTracking(interactive)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus if interactive else Qt.FocusPolicy.NoFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self._interactive = interactive
        self._pictures = pictures
        self._tiles: tuple[Tile, ...] = ()
        self._desk: SortingState | None = None
        self._layout: GridLayout | None = None
        self._aspect = 4 / 3
        self._scaled: dict[int, QPixmap] = {}
        # Whether the pictures may be scaled sharply now; not while the window is being resized.
        self._sharp = False
        # The current gesture: where it began, where the pointer was last, the tiles of a stroke, the rubber band.
        self._press: QPointF | None = None
        self._before: QPointF | None = None
        self._stroke: list[int] = []
        self._band: QRectF | None = None
        self._banded: frozenset[int] = frozenset()
        self._hover: int | None = None
        self.keyboard_leads = False
        self._sharpen = QTimer(self)
        self._sharpen.setSingleShot(True)
        self._sharpen.setInterval(80)
        self._sharpen.timeout.connect(self._forget_scaled)
        self._badge_font = QFont(self.font())
        self._badge_font.setBold(True)
        pictures.arrived.connect(self._arrived)

    # --- what is shown

    def show_set(self, tiles: Sequence[Tile], desk: SortingState | None) -> None:
        """Show these photos with the groups of this desk (None: photos alone)."""
        self._tiles = tuple(tiles)
        self._desk = desk
        self._aspect = typical_aspect([(tile.item.width, tile.item.height) for tile in tiles])
        self._press, self._stroke, self._band, self._hover = None, [], None, None
        self._relayout()

    @property
    def grid_layout(self) -> GridLayout | None:
        """Where the tiles lie."""
        return self._layout

    @property
    def tiles(self) -> tuple[Tile, ...]:
        """What is shown."""
        return self._tiles

    @property
    def pointed(self) -> int | None:
        """The tile that a key is about: under the pointer if that moved last, else where the keyboard is."""
        if self._desk is None or not self._tiles:
            return None
        if not self.keyboard_leads and self._hover is not None:
            return self._hover
        return self._desk.focus

    def redraw(self, positions: Sequence[int] | None = None) -> None:
        """Paint these tiles again, all of them if None; the pointer shows the current group."""
        if self._layout is None:
            return
        if positions is None:
            self.update()
        else:
            for position in positions:
                self.update(self._layout.cell(position).adjusted(-2, -2, 2, 2))
        self.show_tool()

    def show_tool(self) -> None:
        """Show the current group beside the pointer."""
        if self._desk is not None and self._interactive:
            self.setCursor(tool_cursor(self._desk.current, self.devicePixelRatioF()))

    def sizeHint(self) -> QSize:
        """It takes what there is."""
        return QSize(900, 560)

    # --- pointer

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Begin a click, a stroke or a rubber band."""
        if event.button() != Qt.MouseButton.LeftButton or self._layout is None or self._desk is None:
            super().mousePressEvent(event)
            return
        self.keyboard_leads = False
        place = event.position()
        tile = self._layout.at(place.x(), place.y())
        self._press = place
        self._stroke = []
        self._band, self._banded = None, frozenset()
        if tile is None:
            self._band = QRectF(place, place)
        elif not event.modifiers() & (Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.ControlModifier):
            self._stroke = [tile]
            self.redraw([tile])

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Go on with a stroke or a band; else mark the tile under the pointer."""
        if self._layout is None or self._desk is None:
            return
        place = event.position()
        if self._press is not None and not event.buttons() & Qt.MouseButton.LeftButton:
            # the button was let go elsewhere (a menu, another window): the gesture is void
            self._press, self._before, self._stroke, self._band = None, None, [], None
            self.update()
        if self._press is None:
            self.keyboard_leads = False
            self._set_hover(self._layout.at(place.x(), place.y()))
            return
        if self._band is None and not self._stroke:
            far = (place - self._press).manhattanLength() >= QApplication.startDragDistance()
            if far:
                self._band = QRectF(self._press, place)
        if self._band is not None:
            self._band = QRectF(self._press, place)
            self._banded = frozenset(self._layout.within(self._band))
            self.update()
            return
        if self._stroke:
            start = self._before if self._before is not None else self._press
            for tile in self._layout.between(start.x(), start.y(), place.x(), place.y()):
                if tile not in self._stroke:
                    self._stroke.append(tile)
                    self.redraw([tile])
            self._before = place

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """End it: one gesture is one action."""
        if event.button() != Qt.MouseButton.LeftButton or self._press is None or self._layout is None:
            return
        press, stroke, band = self._press, self._stroke, self._band
        self._press, self._stroke, self._band, self._before = None, [], None, None
        keep = bool(event.modifiers() & (Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.ControlModifier))
        if band is not None:
            self.banded.emit(list(self._layout.within(band)), keep)
            self.update()
        elif len(stroke) > 1:
            self.painted.emit(stroke)
        elif stroke:
            self.clicked.emit(stroke[0])
        else:
            tile = self._layout.at(press.x(), press.y())
            if tile is not None:
                control = event.modifiers() & Qt.KeyboardModifier.ControlModifier
                (self.toggled if control else self.ranged).emit(tile)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Show the photo large."""
        if self._layout is None or self._desk is None or event.button() != Qt.MouseButton.LeftButton:
            return
        tile = self._layout.at(event.position().x(), event.position().y())
        if tile is not None and event.modifiers() == Qt.KeyboardModifier.NoModifier:
            self._press, self._stroke = None, []
            self.enlarged.emit(tile)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Offer what can be done to one photo."""
        tile = None
        if self._layout is not None and self._desk is not None:
            if event.reason() is QContextMenuEvent.Reason.Keyboard:
                tile = self.pointed
            else:
                tile = self._layout.at(event.pos().x(), event.pos().y())
        if tile is not None and self._layout is not None:
            keyboard = event.reason() is QContextMenuEvent.Reason.Keyboard
            place = self.mapToGlobal(self._layout.cell(tile).center()) if keyboard else event.globalPos()
            self.menu_wanted.emit(tile, place)

    def leaveEvent(self, event: object) -> None:
        """No tile is under the pointer any more."""
        self._set_hover(None)

    def focusInEvent(self, event: object) -> None:
        """Show where the keyboard is."""
        self.update()

    def focusOutEvent(self, event: object) -> None:
        """The keyboard went elsewhere."""
        self.update()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Keys belong to the page around the grid."""
        event.ignore()

    def _set_hover(self, tile: int | None) -> None:
        if tile != self._hover:
            changed = [t for t in (tile, self._hover) if t is not None]
            self._hover = tile
            self.redraw([t for t in changed if t < len(self._tiles)])

    # --- layout and pictures

    def event(self, event: QEvent) -> bool:
        """Another screen with other pixels needs other pictures."""
        if event.type() == QEvent.Type.DevicePixelRatioChange:
            self._relayout()
        return super().event(event)

    def resizeEvent(self, _event: QResizeEvent) -> None:
        """Lay the tiles out again."""
        self._relayout()

    def _relayout(self) -> None:
        self._layout = None
        if self._tiles and self.width() > 32 and self.height() > 32:
            self._layout = lay_out(len(self._tiles), self.width(), self.height(), self._aspect)
        # while the window is being resized the pictures are scaled roughly; sharply once it rests
        self._sharpen.start()
        self._sharp = False
        self._scaled.clear()
        self.update()
        self.show_tool()

    def _forget_scaled(self) -> None:
        self._scaled.clear()
        self._sharp = True
        self.update()

    def _arrived(self, name: str) -> None:
        if self._layout is None:
            return
        for position, tile in enumerate(self._tiles):
            if name in (tile.item.content_hash, str(tile.path)):
                self._scaled.pop(position, None)
                self.update(self._layout.cell(position))

    def _picture(self, position: int, cell: QRect) -> tuple[QPixmap | None, QRect]:
        """The picture of a tile and where it goes."""
        tile = self._tiles[position]
        ratio = self.devicePixelRatioF()
        side = max(cell.width(), cell.height()) - 2 * FRAME
        found = self._scaled.get(position)
        known = (tile.item.width, tile.item.height)
        if found is None:
            found = self._pictures.pixmap(tile.path, tile.item.content_hash, side, ratio)
            if found is None:
                if not all(known) or self._pictures.failure(tile.path, tile.item.content_hash):
                    known = (4, 3)
                return None, fitted(cell, known[0] or 4, known[1] or 3)
            place = fitted(cell, found.width(), found.height())
            if self._sharp:
                exact = self._pictures.is_exact(tile.path, tile.item.content_hash, side, ratio)
                found = found.scaled(
                    round(place.width() * ratio),
                    round(place.height() * ratio),
                    Qt.AspectRatioMode.IgnoreAspectRatio,
                    Qt.TransformationMode.SmoothTransformation,
                )
                found.setDevicePixelRatio(ratio)
                if exact:
                    self._scaled[position] = found
            return found, place
        return found, fitted(cell, found.width(), found.height())

    # --- painting

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the tiles that the event is about."""
        painter = QPainter(self)
        painter.fillRect(event.rect(), self.palette().color(QPalette.ColorRole.Window))
        if self._layout is None:
            return
        for position in range(len(self._tiles)):
            cell = self._layout.cell(position)
            if cell.adjusted(-2, -2, 2, 2).intersects(event.rect()):
                self._paint_tile(painter, position, cell)
        if self._band is not None:
            accent = self.palette().color(QPalette.ColorRole.Highlight)
            painter.setPen(QPen(accent, 1))
            accent.setAlphaF(0.12)
            painter.setBrush(accent)
            painter.drawRect(self._band.normalized())

    def _paint_tile(self, painter: QPainter, position: int, cell: QRect) -> None:
        pixmap, place = self._picture(position, cell)
        around = place.adjusted(-FRAME, -FRAME, FRAME, FRAME)
        group = self._group_shown(position)
        if self._is_selected(position):
            self._paint_selection(painter, cell)
        if group:
            self._paint_group(painter, around, group)
        elif position == self._hover and not self._is_selected(position):
            painter.fillRect(around, self.palette().color(QPalette.ColorRole.Mid))
        if pixmap is None:
            tile = self._tiles[position]
            reason = self._pictures.failure(tile.path, tile.item.content_hash)
            paint_placeholder(painter, place, Path(tile.item.path).name, reason, self)
        else:
            painter.drawPixmap(place, pixmap)
        if group:
            width = 24 if group < 10 else 30
            paint_badge(painter, QRect(around.left(), around.top(), width, 24), group, self._badge_font)
        self._paint_signs(painter, position, place, cell)

    def _paint_selection(self, painter: QPainter, cell: QRect) -> None:
        """The ground of a tile that is selected."""
        accent, window = (
            self.palette().color(QPalette.ColorRole.Highlight),
            self.palette().color(QPalette.ColorRole.Window),
        )
        painter.fillRect(cell.adjusted(-2, -2, 2, 2), accent)
        painter.fillRect(cell, theme.mix(window, accent, 0.35))

    def _paint_group(self, painter: QPainter, around: QRect, group: int) -> None:
        """A frame in the colour of a group."""
        palette, colour = self.palette(), theme.group_colour(group)
        painter.fillRect(around, colour)
        if theme.contrast(colour, palette.color(QPalette.ColorRole.Window)) < 1.6:
            # a pale frame on a light background, or a dark one on a dark background, needs a line as its edge
            painter.setPen(palette.color(QPalette.ColorRole.Dark))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(around.adjusted(0, 0, -1, -1))

    def _paint_signs(self, painter: QPainter, position: int, place: QRect, cell: QRect) -> None:
        """Paint the signs on a photo: animated, broken, selected, keyboard focus."""
        frames, desk = self._tiles[position].item.frames, self._desk
        if frames > 1 and place.width() > 64:
            paint_frames_badge(painter, place, frames, self.font())
        if desk is not None and position in desk.flagged:
            paint_flag(painter, place)
        if self._is_selected(position):
            paint_check(painter, place, self.palette().color(QPalette.ColorRole.Highlight))
        if desk is not None and self.keyboard_leads and position == desk.focus and self.hasFocus():
            paint_focus(painter, cell, self.palette())

    def _group_shown(self, position: int) -> int:
        """The group that a tile has, or is being given; 0 for none."""
        if self._desk is None:
            return 0
        return self._desk.current if self._shows_stroke(position) else self._desk.groups[position]

    def _shows_stroke(self, position: int) -> bool:
        """Whether the tile is painted by the current gesture; a press on a tile of the current group is not."""
        return position in self._stroke and (len(self._stroke) > 1 or self._stroke[0] == position)

    def _is_selected(self, position: int) -> bool:
        if self._desk is None:
            return False
        return position in self._desk.selection or (self._band is not None and position in self._banded)
