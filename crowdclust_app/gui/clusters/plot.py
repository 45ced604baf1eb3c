"""The embedding: every item of a run on two axes, in the colour of its cluster or of what else is asked for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QObject, QPointF, QRect, Qt, Signal
from PySide6.QtGui import QColor, QFont, QKeyEvent, QKeySequence, QPalette
from PySide6.QtWidgets import QVBoxLayout, QWidget

from crowdclust_app.gui import theme
from crowdclust_app.gui.charts.axes import label_axis, style_axis
from crowdclust_app.gui.clusters.geometry import nearest_point, neighbour, points_inside
from crowdclust_app.gui.clusters.lasso import LassoBox
from crowdclust_app.gui.clusters.layers import NumberBadge, PointsLayer, Stamp, spread_badges
from crowdclust_app.gui.clusters.selection import ItemSelection
from crowdclust_app.services.clusters.embedding import Axis, Colouring

REACH = 10.0
BADGE_ROOM = 44
"""Pixels above the uppermost point in which the badge of its cluster can stand."""
ARROWS = {
    Qt.Key.Key_Left: (-1.0, 0.0),
    Qt.Key.Key_Right: (1.0, 0.0),
    Qt.Key.Key_Up: (0.0, 1.0),
    Qt.Key.Key_Down: (0.0, -1.0),
}


@dataclass(frozen=True)
class PlotContent:
    """What the plot draws.

    Parameters
    ----------
    x, y
        Its axes.
    colours
        What the colours say.
    unsure : ndarray of shape (N,)
        Items that are drawn hollow.
    badges
        Text of the badge of every group that has one, by its number.
    parts : ndarray of shape (N,)
        Cluster of each item: a group of several has its badge at the one that holds most of it.
    """

    x: Axis
    y: Axis
    colours: Colouring
    unsure: NDArray[np.bool_]
    badges: Mapping[int, str]
    parts: NDArray[np.int64]

    def looks_like(self, other: PlotContent) -> bool:
        """Whether both are drawn alike."""
        mine, theirs = self.colours, other.colours
        same = mine.values is theirs.values
        if mine.values is not None and theirs.values is not None:
            same = np.array_equal(mine.values, theirs.values, equal_nan=True)
        return (
            same
            and self.x is other.x
            and self.y is other.y
            and self.badges == other.badges
            and np.array_equal(mine.groups, theirs.groups)
            and np.array_equal(self.unsure, other.unsure)
        )


class EmbeddingPlot(QWidget):
    """The plot of a run's items.

    Signals
    -------
    hovered : (item or None, QRect in this widget)
        The pointer is on an item, or on none any more.
    lassoed
        Several items were chosen with one outline.
    """

    hovered = Signal(object, QRect)
    lassoed = Signal()

    def __init__(self, selection: ItemSelection, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("embedding-plot")
        self.setAccessibleName("Photos on two axes")
        self._selection = selection
        self._content: PlotContent | None = None
        self._points: NDArray[np.float64] = np.zeros((0, 2))
        self._hovered: int | None = None
        self._badges: list[NumberBadge] = []
        self._whole = True

        self.box = LassoBox()
        self.widget = pg.PlotWidget(self, viewBox=self.box)
        self.widget.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.widget.setFrameShape(self.widget.Shape.NoFrame)
        self.widget.hideButtons()
        self.dots, self.marks, self.ring = (PointsLayer(self.box) for _ in range(3))
        for height, layer in ((100, self.dots), (300, self.marks), (400, self.ring)):
            layer.setZValue(height)
            self.widget.addItem(layer, ignoreBounds=True)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.widget)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

        self.box.clicked.connect(self._click)
        self.box.lassoed.connect(self._lasso)
        self.widget.scene().sigMouseMoved.connect(self._moved)
        self.widget.viewport().installEventFilter(self)
        self.box.sigRangeChanged.connect(self._range_changed)
        self.box.sigResized.connect(self._resized)
        self.box.sigRangeChangedManually.connect(self._zoomed)
        selection.changed.connect(self._show_selection)
        self._restyle()

    # --- content

    def show_content(self, content: PlotContent | None) -> None:
        """Plot this; the view stays where the person zoomed to while the axes are the same."""
        before = self._content
        self._content = content
        if before is not None and content is not None and before.looks_like(content):
            return
        self._points = np.zeros((0, 2))
        if content is not None:
            self._points = np.column_stack([content.x.values, content.y.values])
            for side, axis in (("bottom", content.x), ("left", content.y)):
                label_axis(self.widget.getAxis(side), axis.title, self.palette())
        self._draw()
        if before is None or content is None or before.x is not content.x or before.y is not content.y:
            self.show_all()

    def show_all(self) -> None:
        """Zoom so that every item is in view, until the person zooms."""
        self._whole = True
        points = self._points[~np.isnan(self._points).any(axis=1)]
        if len(points):
            low, high = points.min(axis=0), points.max(axis=0)
            pad = np.maximum((high - low) * 0.06, 0.05)
            height = max(2.0 * BADGE_ROOM, self.box.height())
            above = (high[1] - low[1] + pad[1]) * BADGE_ROOM / (height - BADGE_ROOM)
            self.box.setRange(
                xRange=(low[0] - pad[0], high[0] + pad[0]),
                yRange=(low[1] - pad[1], high[1] + max(pad[1], above)),
                padding=0.0,
            )

    def choose_all(self) -> None:
        """Choose every item of the plot and show their photos."""
        shown = np.flatnonzero(~np.isnan(self._points).any(axis=1))
        if len(shown):
            self._selection.choose_all(shown.tolist())
            self.lassoed.emit()

    def position_of(self, item: int) -> QPointF:
        """Where an item is drawn, in this widget's coordinates."""
        scene = self.box.mapViewToScene(pg.Point(*self._points[item]))
        return QPointF(self.widget.mapTo(self, self.widget.mapFromScene(scene)))

    @property
    def badge_numbers(self) -> tuple[int, ...]:
        """Numbers of the groups that have a badge, the largest first."""
        return tuple(badge.number for badge in self._badges)

    def _draw(self) -> None:
        for badge in self._badges:
            self.widget.removeItem(badge)
        self._badges = []
        content = self._content
        if content is None:
            self.dots.show_points(np.zeros((0, 2)), np.zeros(0, dtype=np.int64), ())
        elif content.colours.values is not None:
            self._draw_scale(content.colours.values)
        else:
            self._draw_groups(content)
        self._place_badges()
        self._show_selection()

    def _draw_groups(self, content: PlotContent) -> None:
        groups = content.colours.groups
        numbers = np.unique(groups)
        edge = self.palette().color(QPalette.ColorRole.Base)
        stamps = []
        for number in numbers.tolist():
            colour = theme.group_colour(number) if number else theme.line_colour(self.palette())
            stamps += [Stamp(self._dot_size(), colour, edge, 0.75), Stamp(self._dot_size() - 1, None, colour, 1.75)]
        look = 2 * np.searchsorted(numbers, groups) + content.unsure
        order = _in_order(look + len(stamps) * (content.unsure + 2 * (groups != 0)))
        self.dots.show_points(self._points[order], look[order], stamps)
        font = QFont(self.font())
        font.setBold(True)
        for number, items in sorted(self._members(groups, content.badges), key=lambda found: -len(found[1])):
            part = content.parts[items]
            members = self._points[items[part == np.argmax(np.bincount(part))]]
            near_top = int(0.95 * (len(members) - 1))
            top = float(np.partition(members[:, 1], near_top)[near_top])
            x, y = (np.add.reduce(members) / len(members)).tolist()
            badge = NumberBadge(number, (x, y), top, font, edge, content.badges[number])
            self.widget.addItem(badge, ignoreBounds=True)
            self._badges.append(badge)

    def _members(self, groups: NDArray[np.int64], wanted: Iterable[int]) -> list[tuple[int, NDArray[np.int64]]]:
        """Number and items of every group that has any in the plot."""
        drawn = np.flatnonzero(np.isfinite(self._points).all(axis=1))
        order = drawn[_in_order(groups[drawn])]
        numbers = sorted(wanted)
        first = np.searchsorted(groups[order], numbers)
        last = np.searchsorted(groups[order], numbers, side="right")
        ends = zip(numbers, first.tolist(), last.tolist(), strict=True)
        return [(number, order[low:high]) for number, low, high in ends if high > low]

    def _draw_scale(self, values: NDArray[np.float64]) -> None:
        low, high = scale_of(values)
        share = np.clip((np.nan_to_num(values, nan=low) - low) / (high - low), 0.0, 1.0)
        edge = theme.line_colour(self.palette())  # either end of the scale may be as dark or as light as the ground
        stamps = [Stamp(self._dot_size(), colour, edge, 0.75) for colour in scale_colours()]
        look = np.round(share * (len(stamps) - 1)).astype(np.int64)
        order = np.argsort(share, kind="stable")  # what stands out lies on top
        self.dots.show_points(self._points[order], look[order], stamps)

    def _dot_size(self) -> int:
        n = len(self._points)
        return 10 if n <= 400 else 8 if n <= 3000 else 6

    def _show_selection(self) -> None:
        items = np.array(self._selection.items, dtype=np.int64)
        items = items[items < len(self._points)]
        ink = self.palette().color(QPalette.ColorRole.Text)
        self.marks.show_points(self._points[items], np.zeros(len(items), dtype=np.int64), (self._frame(4, ink, 1.5),))
        self._show_ring()

    def _frame(self, wider: float, colour: QColor, width: float) -> Stamp:
        return Stamp(self._dot_size() + wider, None, colour, width)

    def _show_ring(self) -> None:
        """Mark the item under the pointer and the current one."""
        items = [i for i in (self._hovered, self._selection.current) if i is not None and i < len(self._points)]
        colour = self.palette().color(QPalette.ColorRole.Highlight)
        look = np.zeros(len(items), dtype=np.int64)
        self.ring.show_points(self._points[items].reshape(-1, 2), look, (self._frame(9, colour, 2.5),))

    # --- look

    def _restyle(self) -> None:
        palette = self.palette()
        self.widget.setBackground(palette.color(QPalette.ColorRole.Base))
        for side in ("bottom", "left"):
            axis = self.widget.getAxis(side)
            style_axis(axis, axis.labelText, palette, self.font())
        self.box.set_colour(palette.color(QPalette.ColorRole.Highlight))
        self._draw()

    def changeEvent(self, event: QEvent) -> None:
        """Follow the palette when it changes."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange) and hasattr(self, "ring"):
            self._restyle()

    # --- pointer and keys

    def item_at(self, scene: QPointF) -> int | None:
        """The item drawn at a point of the scene."""
        if not self.box.sceneBoundingRect().contains(scene):
            return None
        at = self.box.mapSceneToView(scene)
        return nearest_point(self._points, (at.x(), at.y()), self._pixel(), REACH)

    def _pixel(self) -> tuple[float, float]:
        width, height = self.box.viewPixelSize()
        return float(width) or 1.0, float(height) or 1.0

    def _moved(self, scene: QPointF) -> None:
        item = self.item_at(scene)
        if item == self._hovered:
            return
        self._hovered = item
        self._show_ring()
        self.setCursor(Qt.CursorShape.PointingHandCursor if item is not None else Qt.CursorShape.ArrowCursor)
        self._tell()

    def _range_changed(self, *_: object) -> None:
        self._leave()
        self._place_badges()

    def _resized(self, *_: object) -> None:
        if self._whole:
            self.show_all()  # the badges keep their size, so their room is another share of the height now
        self._range_changed()

    def _zoomed(self, *_: object) -> None:
        self._whole = False

    def _place_badges(self) -> None:
        _, height = self._pixel()
        for badge in self._badges:
            badge.make_way(height)
        if self._badges:
            spread_badges(self._badges, lambda at: self.box.mapViewToScene(pg.Point(at)))

    def _leave(self) -> None:
        if self._hovered is not None:
            self._hovered = None
            self._show_ring()
            self._tell()

    def _tell(self) -> None:
        rect = QRect()
        if self._hovered is not None:
            rect = QRect(0, 0, 20, 20)
            rect.moveCenter(self.position_of(self._hovered).toPoint())
        self.hovered.emit(self._hovered, rect)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Notice that the pointer left the plot; a press takes the keys here."""
        if event.type() == QEvent.Type.Leave:
            self._leave()
        elif event.type() == QEvent.Type.MouseButtonPress:
            self.setFocus(Qt.FocusReason.MouseFocusReason)
        return super().eventFilter(watched, event)

    def _click(self, at: QPointF, adds: bool) -> None:
        item = nearest_point(self._points, (at.x(), at.y()), self._pixel(), REACH)
        if item is None:
            if not adds:
                self._selection.clear()
        elif adds:
            self._selection.toggle(item)
        else:
            self._selection.choose(item)

    def _lasso(self, outline: NDArray[np.float64], adds: bool) -> None:
        inside = points_inside(self._points, outline)
        if adds:
            self._selection.add(inside.tolist())
        else:
            self._selection.choose_all(inside.tolist())
        if len(inside) > 1:
            self.lassoed.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Arrows go from item to item, + and - zoom, 0 shows all."""
        key = Qt.Key(event.key())
        if key in ARROWS and self._content is not None:
            self._step(ARROWS[key])
        elif event.text() in ("+", "=", "-"):
            factor = 1.25 if event.text() == "-" else 0.8
            self._zoomed()
            self.box.scaleBy((factor, factor))
        elif key == Qt.Key.Key_0:
            self.show_all()
        elif event.matches(QKeySequence.StandardKey.SelectAll):
            self.choose_all()
        else:
            super().keyPressEvent(event)

    def _step(self, direction: tuple[float, float]) -> None:
        current = self._selection.current
        if current is None or np.isnan(self._points[current]).any():
            shown = np.flatnonzero(~np.isnan(self._points).any(axis=1))
            target = int(shown[0]) if len(shown) else None
        else:
            target = neighbour(self._points, current, direction, self._pixel())
        if target is not None:
            self._selection.choose(target)


def _in_order(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """Places of whole numbers in ascending order; short numbers are sorted many times faster."""
    short = keys.astype(np.uint16) if len(keys) and keys.max() < 2**16 else keys
    return np.argsort(short, kind="stable")


def scale_of(values: NDArray[np.float64]) -> tuple[float, float]:
    """Ends of the scale on which figures are drawn; never the same."""
    there = values[np.isfinite(values)]
    low, high = (float(there.min()), float(there.max())) if len(there) else (0.0, 1.0)
    return (low, high) if high > low else (low, low + 1.0)


def scale_colours(count: int = 64) -> list[QColor]:
    """An even scale from dark blue to yellow."""
    table = pg.colormap.get("viridis").getLookupTable(0.0, 1.0, count)
    return [QColor(*(int(channel) for channel in colour[:3])) for colour in table]
