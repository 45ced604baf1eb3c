"""The embedding: every item of a run on the two Fisher axes, in its cluster's colour."""

from __future__ import annotations

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QObject, QPointF, QRect, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QFont, QKeyEvent, QKeySequence, QPainter, QPalette
from PySide6.QtWidgets import QGraphicsItem, QStyleOptionGraphicsItem, QVBoxLayout, QWidget

from crowdclust_app.gui import theme
from crowdclust_app.gui.clusters.geometry import nearest_point, neighbour, points_inside
from crowdclust_app.gui.clusters.lasso import LassoBox
from crowdclust_app.gui.clusters.painting import paint_badge
from crowdclust_app.gui.clusters.selection import Selection
from crowdclust_app.services.looking import DOUBTFUL_BELOW, RunView

REACH = 10.0
BADGE_ROOM = 44
"""Pixels above the uppermost point in which the badge of its cluster can stand."""
ARROWS = {
    Qt.Key.Key_Left: (-1.0, 0.0),
    Qt.Key.Key_Right: (1.0, 0.0),
    Qt.Key.Key_Up: (0.0, 1.0),
    Qt.Key.Key_Down: (0.0, -1.0),
}


class Dots(pg.ScatterPlotItem):
    """Points that leave the pointer to the plot; pyqtgraph's own search takes 40 ms for 20,000 of them."""

    def mouseClickEvent(self, ev: object) -> None:
        """Let the plot have the click."""
        ev.ignore()  # type: ignore[attr-defined]


class NumberBadge(QGraphicsItem):
    """A cluster's number at its centre, the same size at every zoom.

    Parameters
    ----------
    centre, top
        The cluster's centre, and the height of its uppermost points.
    """

    def __init__(self, number: int, centre: tuple[float, float], top: float, font: QFont, edge: QColor) -> None:
        super().__init__()
        self.number = number
        self._centre = centre
        self._top = top
        self._lifted = False
        self._font = font
        self._edge = edge
        self.setPos(*centre)
        self.setZValue(500)
        self.setFlag(QGraphicsItem.GraphicsItemFlag.ItemIgnoresTransformations)
        self.setAcceptedMouseButtons(Qt.MouseButton.NoButton)

    def boundingRect(self) -> QRectF:
        """A rectangle around the badge, in pixels."""
        return QRectF(-17, -45, 34, 62)

    def drawn(self) -> QRectF:
        """Where the badge itself is, in pixels."""
        return QRectF(-15, -34 if self._lifted else -11, 30, 22)

    def make_way(self, pixel_height: float) -> None:
        """Move above the cluster while it is so small on screen that the badge would hide it."""
        reach = (self._top - self._centre[1]) / pixel_height
        lifted = reach < 26
        self.prepareGeometryChange()
        self._lifted = lifted
        self.setPos(self._centre[0], self._top if lifted else self._centre[1])

    def paint(self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None) -> None:
        """Draw the number in its badge, with a thin edge that sets it off from its points."""
        paint_badge(painter, self.drawn(), self.number, self._font, edge=self._edge)


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

    def __init__(self, selection: Selection, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("embedding-plot")
        self.setAccessibleName("Items on the two Fisher axes")
        self._selection = selection
        self._view: RunView | None = None
        self._points: NDArray[np.float64] = np.zeros((0, 2))
        self._hovered: int | None = None
        self._layers: list[QGraphicsItem] = []
        self._whole = True

        self.box = LassoBox()
        self.widget = pg.PlotWidget(self, viewBox=self.box)
        self.widget.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.widget.setFrameShape(self.widget.Shape.NoFrame)
        self.widget.hideButtons()
        self._marks = Dots(pxMode=True)
        self._marks.setZValue(300)
        self._ring = Dots(pxMode=True)
        self._ring.setZValue(400)
        for layer in (self._marks, self._ring):
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

    def show_view(self, view: RunView | None) -> None:
        """Plot the items of this run."""
        self._view = view
        self._points = np.zeros((0, 2))
        if view is not None:
            self._points = np.where((view.labels > 0)[:, None], view.fisher, np.nan)
        self._draw()
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
        """Numbers of the clusters that have a badge."""
        return tuple(item.number for item in self._layers if isinstance(item, NumberBadge))

    def _draw(self) -> None:
        for layer in self._layers:
            self.widget.removeItem(layer)
        self._layers = []
        view = self._view
        if view is None:
            self._show_selection()
            return
        size = self._dot_size()
        edge = self.palette().color(QPalette.ColorRole.Base)
        font = QFont(self.font())
        font.setBold(True)
        for row in view.clusters:
            colour = theme.group_colour(row.number)
            sure = row.items[view.probability[row.items] >= DOUBTFUL_BELOW]
            unsure = row.items[view.probability[row.items] < DOUBTFUL_BELOW]
            for items, pen, brush in (
                (sure, pg.mkPen(edge, width=0.75), pg.mkBrush(colour)),
                (unsure, pg.mkPen(colour, width=1.75), pg.mkBrush(None)),
            ):
                if len(items):
                    dots = Dots(pxMode=True, size=size, pen=pen, brush=brush, symbol="o", antialias=True)
                    dots.setData(x=self._points[items, 0], y=self._points[items, 1])
                    self.widget.addItem(dots, ignoreBounds=True)
                    self._layers.append(dots)
        for row in view.clusters:
            top = float(np.nanpercentile(self._points[row.items, 1], 95))
            badge = NumberBadge(row.number, row.centre, top, font, edge)
            self.widget.addItem(badge, ignoreBounds=True)
            self._layers.append(badge)
        self._place_badges()
        self._show_selection()

    def _dot_size(self) -> int:
        n = len(self._points)
        return 10 if n <= 400 else 8 if n <= 3000 else 6

    def _show_selection(self) -> None:
        items = [item for item in self._selection.items if item < len(self._points)]
        places = self._points[items] if items else np.zeros((0, 2))
        keep = ~np.isnan(places).any(axis=1)
        pen = pg.mkPen(self.palette().color(QPalette.ColorRole.Text), width=1.5)
        self._marks.setData(
            x=places[keep, 0], y=places[keep, 1], size=self._dot_size() + 4, pen=pen, brush=pg.mkBrush(None), symbol="o"
        )
        self._show_ring()

    def _show_ring(self) -> None:
        """Mark the item under the pointer and the current one."""
        items = [i for i in (self._hovered, self._selection.current) if i is not None and i < len(self._points)]
        places = self._points[items] if items else np.zeros((0, 2))
        keep = ~np.isnan(places).any(axis=1)
        pen = pg.mkPen(self.palette().color(QPalette.ColorRole.Highlight), width=2.5)
        self._ring.setData(
            x=places[keep, 0], y=places[keep, 1], size=self._dot_size() + 9, pen=pen, brush=pg.mkBrush(None), symbol="o"
        )

    # --- look

    def _restyle(self) -> None:
        palette = self.palette()
        self.widget.setBackground(palette.color(QPalette.ColorRole.Base))
        quiet = theme.muted(palette)
        for side, name in (("bottom", "first Fisher axis"), ("left", "second Fisher axis")):
            axis = self.widget.getAxis(side)
            axis.setPen(pg.mkPen(_faded(quiet, 90)))
            axis.setTextPen(quiet)
            axis.enableAutoSIPrefix(False)
            axis.setTickFont(self.font())
            axis.setLabel(name, color=quiet.name(), **{"font-size": f"{self.font().pointSizeF():.0f}pt"})
        self.box.set_colour(palette.color(QPalette.ColorRole.Highlight))
        self._draw()

    def changeEvent(self, event: QEvent) -> None:
        """Follow the palette when it changes."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange) and hasattr(self, "_ring"):
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
        for layer in self._layers:
            if isinstance(layer, NumberBadge):
                layer.make_way(height)

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
        if key in ARROWS and self._view is not None:
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


def _faded(colour: QColor, alpha: int) -> QColor:
    faded = QColor(colour)
    faded.setAlpha(alpha)
    return faded
