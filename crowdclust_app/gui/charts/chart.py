"""The widget that shows a chart."""

from __future__ import annotations

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QEvent, QPointF, QRectF, QSizeF, Qt, QTimer, Signal
from PySide6.QtGui import (
    QColor,
    QContextMenuEvent,
    QFontMetricsF,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPalette,
    QPen,
    QResizeEvent,
    QShowEvent,
)
from PySide6.QtWidgets import (
    QGraphicsEllipseItem,
    QGraphicsItem,
    QGraphicsRectItem,
    QGraphicsScene,
    QLabel,
    QMenu,
    QWidget,
)

from crowdclust_app.domain.plots import Plot
from crowdclust_app.gui import theme
from crowdclust_app.gui.charts.axes import ChartAxis
from crowdclust_app.gui.charts.naming import leader, name_places
from crowdclust_app.gui.charts.series import ChartSeries, Floats
from crowdclust_app.gui.labels import ElidedLabel
from crowdclust_app.gui.save_plot import ask_and_save
from crowdclust_app.gui.screen import shell_of

LEFT, BOTTOM, TOP, RIGHT, HEADLINE = 52, 40, 9, 12, 20
# Pixels between the ends of the horizontal axis and the outermost points.
INSET = 6.0
# Pixels from a point within which the pointer is on it; of an ellipse, the least half-axis.
NEAR, SMALLEST = 14.0, 8.0
# So many points are drawn as dots of full size; more become smaller.
FEW = 60
# There is no room for more.
MOST_NAMES = 40
KEYS = {Qt.Key.Key_Right: 1, Qt.Key.Key_Down: 1, Qt.Key.Key_Left: -1, Qt.Key.Key_Up: -1}


class Chart(QWidget):
    """One chart.

    The plot itself is made when it is first seen, because that takes long for what most people do not look at.

    Parameters
    ----------
    left
        Room for the figures of the vertical axis, in pixels: the chart must not jump when they get longer.
    ground
        What it lies on.

    Signals
    -------
    pointed : int or None
        The point that the pointer or the keys are on.
    chosen : int
        A point was clicked, or Enter pressed on it.
    """

    pointed = Signal(object)
    chosen = Signal(int)
    # Whether what was pointed at stays so when pointer and keys leave.
    keeps_point = False

    def __init__(
        self,
        name: str,
        parent: QWidget | None = None,
        left: int = LEFT,
        ground: QPalette.ColorRole = QPalette.ColorRole.Window,
    ) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self.setMinimumSize(200, 130)
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._left, self._ground = left, ground
        self._series: ChartSeries | None = None
        self._point: int | None = None
        self._plot: pg.PlotWidget | None = None
        self._ring = pg.ScatterPlotItem()
        self._floor = QGraphicsRectItem()
        self._floor.setPen(QPen(Qt.PenStyle.NoPen))
        self._floor.setZValue(-120)
        self._ellipses: list[QGraphicsEllipseItem] = []
        self._named: list[pg.GraphicsObject] = []
        self.headline = ElidedLabel(self)
        self._why_empty = QLabel(self)
        self._why_empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._why_empty.setWordWrap(True)
        self._why_empty.setProperty("rank", "second")
        for label in (self.headline, self._why_empty):
            label.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._later = QTimer(self)
        self._later.setSingleShot(True)
        self._later.setInterval(0)
        self._later.timeout.connect(self._draw)

    # --- content

    def show_series(self, series: ChartSeries | None, why_empty: str = "") -> None:
        """Show this; without points, say why there are none."""
        self._series = series
        self._point = None
        self._why_empty.setText(why_empty)
        self.setAccessibleName(series.title if series is not None else why_empty)
        self._draw_later()

    @property
    def series(self) -> ChartSeries | None:
        """What is shown."""
        return self._series

    @property
    def point(self) -> int | None:
        """The point that the pointer or the keys are on."""
        return self._point

    def point_to(self, point: int | None) -> None:
        """Tell this point."""
        if point != self._point:
            self._point = point
            self.setAccessibleDescription(self.told(point))
            self.setToolTip(self.told(point))
            self._show_point()
            self.pointed.emit(point)

    def told(self, point: int | None) -> str:
        """The description of a point."""
        words = self._series.words if self._series is not None else ()
        return words[point] if point is not None and point < len(words) else ""

    def figure(self) -> Plot | None:
        """What is shown, for its files."""
        return self._series.figure(self.objectName()) if self._series is not None else None

    # --- geometry

    def area(self) -> QRectF:
        """Where the axes enclose the points."""
        if self._plot is None or self._later.isActive():
            self._later.stop()
            self._draw()
        assert self._plot is not None
        self._plot.plotItem.layout.activate()
        return self._area()

    def _area(self) -> QRectF:
        """The plot area of the last layout, also while a new layout is being made."""
        assert self._plot is not None
        return QRectF(self._plot.getViewBox().sceneBoundingRect().translated(QPointF(self._plot.pos())))

    def point_at(self, index: int) -> QPointF:
        """Where a point is drawn."""
        self.area()
        assert self._series is not None
        return QPointF(*self._on_screen(self._series.x[index : index + 1], self._series.y[index : index + 1])[0])

    def half_axes(self) -> Floats:
        """How far the ellipses reach to the side and upwards, in pixels; shape (n, 2)."""
        area, series = self.area(), self._series
        assert series is not None
        assert series.across is not None
        assert series.error is not None
        left, right, low, high = self._range(series)
        scale = area.width() / (right - left), area.height() / (high - low)
        return np.column_stack([series.across, series.error]) * scale

    def _range(self, series: ChartSeries) -> tuple[float, float, float, float]:
        left, right, low, high = series.ends
        if not series.square:
            pad = INSET * (right - left) / max(self._area().width() - 2 * INSET, 20.0)
            left, right = left - pad, right + pad
        return left, right, low, high

    def _on_screen(self, x: Floats, y: Floats) -> Floats:
        """Pixels of this widget, shape (n, 2)."""
        assert self._series is not None
        left, right, low, high = self._range(self._series)
        area = self._area()
        across = area.left() + (x - left) / (right - left) * area.width()
        down = area.bottom() - (np.clip(y, low, high) - low) / (high - low) * area.height()
        return np.column_stack([across, down])

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Headline, plot and words have the room."""
        super().resizeEvent(event)
        self._lay_out()

    def _lay_out(self) -> None:
        # room for the one-pixel line that shows the keyboard focus
        room = self.rect().adjusted(1, 1, -1, -1)
        self._why_empty.setGeometry(room)
        self.headline.setGeometry(0, 0, self.width() - 4, HEADLINE)
        if self._plot is None or self._series is None:
            return
        if self._series.headline:
            room.setTop(HEADLINE)
        if self._series.square:
            side = max(20, min(room.width() - self._left - RIGHT, room.height() - BOTTOM - TOP))
            room.setSize(QSizeF(side + self._left + RIGHT, side + BOTTOM + TOP).toSize())
        self._plot.setGeometry(room)

    # --- drawing

    def _draw_later(self) -> None:
        """A moment later: the rest of the screen comes first."""
        if self.isVisible():
            self._later.start()

    def showEvent(self, event: QShowEvent) -> None:
        """Draw what has come while it could not be seen."""
        super().showEvent(event)
        self._draw_later()

    def changeEvent(self, event: QEvent) -> None:
        """Follow the palette when it changes."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange) and hasattr(self, "_later"):
            self._draw_later()

    def _make(self) -> pg.PlotWidget:
        axes = {"left": ChartAxis("left", 34), "bottom": ChartAxis("bottom", 70)}
        plot = pg.PlotWidget(self, axisItems=axes)
        plot.setFrameShape(plot.Shape.NoFrame)
        plot.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        # pointer and keys are the chart's
        plot.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        plot.setAntialiasing(True)
        plot.setMenuEnabled(False)
        plot.setMouseEnabled(x=False, y=False)
        plot.hideButtons()
        plot.plotItem.layout.setContentsMargins(0, TOP, RIGHT, 0)
        for axis in axes.values():
            # the lines of the grid lie below what is drawn in the view box, which itself lies at -100
            axis.setZValue(-110)
        plot.getAxis("left").setWidth(self._left)
        plot.getAxis("bottom").setHeight(BOTTOM)
        plot.getViewBox().sigResized.connect(self._fit)
        # pyqtgraph's items change their size without telling the scene, whose index would then hold items that are gone
        plot.scene().setItemIndexMethod(QGraphicsScene.ItemIndexMethod.NoIndex)
        plot.scene().addItem(self._floor)
        plot.show()
        return plot

    def _draw(self) -> None:
        series = self._series
        empty = series is None or not (len(series.x) or series.lines)
        self._why_empty.setVisible(empty)
        if self._plot is not None:
            self._plot.setVisible(not empty)
            self._plot.clear()
        self._ellipses, self._named = [], []
        if empty or series is None:
            self.headline.setText("")
            return
        if self._plot is None:
            self._plot = self._make()
        self._lay_out()
        self._style_axes(self._plot, series)
        self._draw_lines(self._plot, series)
        self._draw_spread(self._plot, series)
        self._draw_points(self._plot, series)
        self._fit()
        self._show_point()

    def _style_axes(self, plot: pg.PlotWidget, series: ChartSeries) -> None:
        palette = self.palette()
        plot.setBackground(palette.color(self._ground))
        self._floor.setBrush(palette.color(QPalette.ColorRole.Base if series.square else self._ground))
        # an ellipse ends at the edge, but not a dot
        clips = QGraphicsItem.GraphicsItemFlag.ItemClipsChildrenToShape
        plot.getViewBox().setFlag(clips, series.square)
        for side, words in (("left", "" if series.headline else series.y_label), ("bottom", series.x_label)):
            plot.getAxis(side).dress(words, palette, self.font())
            plot.getAxis(side).few = series.square
        left, bottom = plot.getAxis("left"), plot.getAxis("bottom")
        left.words, bottom.words = series.tick, series.tick_across
        left.setGrid(255)
        bottom.setGrid(255 if series.square else False)
        bottom.whole = bool(len(series.x)) and bool(np.all(series.x == np.round(series.x)))

    def _draw_lines(self, plot: pg.PlotWidget, series: ChartSeries) -> None:
        palette = self.palette()
        quiet, ink = theme.muted(palette), palette.color(QPalette.ColorRole.Text)
        pens = {
            "main": pg.mkPen(self._accent, width=2),
            "faint": pg.mkPen(theme.line_colour(palette), width=1.25),
            "dashed": pg.mkPen(quiet, width=1, style=Qt.PenStyle.DashLine),
        }
        for line in series.lines:
            plot.plot(line.x, line.y, pen=pens[line.look], antialias=True)
        if series.ground is not None:
            value, meaning = series.ground
            plot.addItem(pg.InfiniteLine(value, angle=0, pen=pg.mkPen(ink, width=1)))
            self._write(plot, meaning, quiet, (0, 1)).setPos(series.ends[0], value)
        for place, words in series.uprights:
            style = Qt.PenStyle.DashLine if words else Qt.PenStyle.SolidLine
            pen = pg.mkPen(quiet if words else ink, width=1.5 if words else 1, style=style)
            look = {"position": 0.08, "color": quiet, "movable": False}
            plot.addItem(pg.InfiniteLine(place, pen=pen, label=words or None, labelOpts=look))

    def _draw_spread(self, plot: pg.PlotWidget, series: ChartSeries) -> None:
        error, across = series.error, series.across
        if series.spread == "ellipses" and error is not None and across is not None:
            for x, y, wide, high in zip(series.x, series.y, across, error, strict=True):
                ellipse = QGraphicsEllipseItem(x - wide, y - high, 2 * wide, 2 * high)
                plot.addItem(ellipse)
                self._ellipses.append(ellipse)
        elif series.spread == "band" and error is not None:
            veil = QColor(self._accent)
            veil.setAlpha(45)
            ends = [plot.plot(series.x, series.y + side * error, pen=pg.mkPen(veil, width=1)) for side in (-1, 1)]
            plot.addItem(pg.FillBetweenItem(*ends, brush=veil))
        elif error is not None or across is not None:
            colour = theme.mix(self.palette().color(QPalette.ColorRole.Window), self._accent, 0.6)
            upright, level = (None if half is None else 2 * half for half in (error, across))
            pen = pg.mkPen(colour, width=1.5)
            plot.addItem(pg.ErrorBarItem(x=series.x, y=series.y, height=upright, width=level, pen=pen))

    def _draw_points(self, plot: pg.PlotWidget, series: ChartSeries) -> None:
        seen = slice(series.dots_from, None)
        size = 7.0 if len(series.x[seen]) <= FEW and not self._ellipses else 4.5
        hollow = self.palette().color(QPalette.ColorRole.Window)
        brushes = [hollow if k in series.marked else self._accent for k in range(series.dots_from, len(series.x))]
        dots = pg.ScatterPlotItem(
            series.x[seen], series.y[seen], size=size, brush=brushes, pen=pg.mkPen(self._accent, width=1.5)
        )
        dots.setZValue(10)
        plot.addItem(dots)
        for y, words in zip(series.y, series.captions, strict=False):
            caption = self._write(plot, words, self._ink, (0, 1.2))
            caption.fill = pg.mkBrush(self.palette().color(self._ground))
            caption.setPos(series.ends[0], y)
        self._ring = pg.ScatterPlotItem(size=14, brush=None, pen=pg.mkPen(self._ink, width=2))
        self._ring.setZValue(20)
        plot.addItem(self._ring)

    def _write(self, plot: pg.PlotWidget, words: str, colour: QColor, anchor: tuple[float, float]) -> pg.TextItem:
        text = pg.TextItem(words, color=colour, anchor=anchor)
        text.setFont(self.font())
        text.textItem.document().setDocumentMargin(0)
        text.updateTextPos()
        plot.addItem(text)
        return text

    @property
    def _accent(self) -> QColor:
        return self.palette().color(QPalette.ColorRole.Highlight)

    @property
    def _ink(self) -> QColor:
        return self.palette().color(QPalette.ColorRole.Text)

    def _fit(self) -> None:
        """Have the axes end where the series does."""
        if self._plot is None or self._series is None:
            return
        left, right, low, high = self._range(self._series)
        self._plot.getViewBox().setRange(xRange=(left, right), yRange=(low, high), padding=0.0)
        self._floor.setRect(self._area().translated(-QPointF(self._plot.pos())))
        self._write_names()

    def _show_point(self) -> None:
        """Mark the described point."""
        series, point = self._series, self._point
        self.update()
        if series is None or self._plot is None:
            return
        if self._ellipses:
            for number, ellipse in enumerate(self._ellipses):
                chosen = number == point
                fill = QColor(self._accent)
                fill.setAlphaF(0.45 if chosen else 0.14)
                ellipse.setBrush(fill)
                ellipse.setPen(pg.mkPen(self._ink if chosen else self._accent, width=2.0 if chosen else 1.2))
                ellipse.setZValue(chosen)
            self._write_names()
        elif point is not None and point < len(series.x):
            self._ring.setData([series.x[point]], [series.y[point]])
        else:
            self._ring.clear()
        title = f"{series.title} ({series.y_label})" if series.y_label else series.title
        self.headline.setText(self.told(point) or title if series.headline else "")

    def _write_names(self) -> None:
        """Write names where they cover nothing, the chosen one's first; with a line to those that are away."""
        series, plot = self._series, self._plot
        if series is None or plot is None or not series.names:
            return
        for item in self._named:
            plot.removeItem(item)
        self._named = []
        order = sorted(range(len(series.x)), key=lambda number: (number != self._point, -number))
        metrics, at = QFontMetricsF(self.font()), self._on_screen(series.x, series.y)
        points = [QPointF(*at[number]) for number in order]
        names = [series.names[number] for number in order[:MOST_NAMES]]
        sizes = [QSizeF(metrics.horizontalAdvance(name), metrics.height()) for name in names]
        box, origin = plot.getViewBox(), QPointF(plot.pos())
        ground = self.palette().color(QPalette.ColorRole.Base)
        ground.setAlphaF(0.75)
        ends: list[QPointF] = []
        for point, name, place in zip(points, names, name_places(points, sizes, self._area()), strict=False):
            if place is None:
                continue
            end = leader(point, place)
            ends += [point, end] if end is not None else []
            text = self._write(plot, name, self._ink, (0, 0))
            text.fill = pg.mkBrush(ground)
            text.setPos(box.mapSceneToView(place.topLeft() - origin))
            text.setZValue(31)
            self._named.append(text)
        # lines to other names go under a name, not through it
        corners = [box.mapSceneToView(end - origin) for end in ends]
        lines = pg.PlotCurveItem(
            [corner.x() for corner in corners],
            [corner.y() for corner in corners],
            connect="pairs",
            antialias=True,
            pen=pg.mkPen(theme.muted(self.palette())),
        )
        lines.setZValue(30)
        plot.addItem(lines)
        self._named.append(lines)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the keyboard focus around the chart while no point has it."""
        super().paintEvent(event)
        if self.hasFocus() and self._point is None:
            painter = QPainter(self)
            painter.setPen(QPen(self._accent, 1))
            painter.drawRect(self.rect().adjusted(0, 0, -1, -1))

    # --- pointer and keys

    def _nearest(self, at: QPointF) -> int | None:
        series = self._series
        if series is None or not len(series.x):
            return None
        self.area()
        off = self._on_screen(series.x, series.y) - (at.x(), at.y())
        reach = np.maximum(self.half_axes(), SMALLEST) if series.spread == "ellipses" else NEAR
        inside = np.hypot(*(off / reach).T) <= 1.0
        distance = np.where(inside, np.hypot(*off.T), np.inf)
        return int(np.argmin(distance)) if inside.any() else None

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Choose the point under the pointer."""
        place = self._nearest(event.position())
        if event.button() == Qt.MouseButton.LeftButton and place is not None:
            self.point_to(place)
            self.chosen.emit(place)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Tell the point under the pointer."""
        self.point_to(self._nearest(event.position()))

    def leaveEvent(self, event: QEvent) -> None:
        """The pointer is on nothing any more."""
        super().leaveEvent(event)
        if not self.keeps_point:
            self.point_to(None)

    def focusOutEvent(self, event: object) -> None:
        """The keys go elsewhere."""
        if not self.keeps_point:
            self.point_to(None)
        self.update()

    def focusInEvent(self, event: object) -> None:
        """Draw the keyboard focus."""
        self.update()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Arrows go from point to point; Enter chooses."""
        key, count = Qt.Key(event.key()), len(self._series.x) if self._series is not None else 0
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self._point is not None:
            self.chosen.emit(self._point)
        elif key in KEYS and count:
            step = KEYS[key]
            self.point_to((0 if step > 0 else count - 1) if self._point is None else (self._point + step) % count)
        else:
            super().keyPressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Offer the chart as a file."""
        shell, plot = shell_of(self), self.figure()
        if shell is not None and plot is not None:
            menu = QMenu(self)
            menu.setObjectName("chart-menu")
            menu.addAction("Save as PNG and SVG with the numbers", lambda: ask_and_save(shell, plot, self))
            menu.popup(event.globalPos())
