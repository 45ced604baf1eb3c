"""Points of the plot, painted once for a view and then copied, so that what lies over them moves at ease."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, Qt, QTimer
from PySide6.QtGui import QBrush, QColor, QFont, QPainter, QPen, QPixmap, QTransform
from PySide6.QtWidgets import QGraphicsItem, QStyleOptionGraphicsItem, QWidget
from shiboken6 import wrapInstance

from crowdclust_app.gui.clusters.painting import paint_badge

SETTLE_MS = 60
"""A view that changes is drawn stretched until it has been still for so long, when there are many points."""
MANY = 5_000
"""From so many points on painting them anew takes longer than a frame."""


@dataclass(frozen=True)
class Stamp:
    """How a point looks.

    Parameters
    ----------
    size
        Diameter in pixels of the window.
    fill, edge
        Colours; None for none.
    width
        Of the edge.
    """

    size: float
    fill: QColor | None
    edge: QColor | None
    width: float = 1.0


def _atlas(stamps: Sequence[Stamp], ratio: float) -> tuple[QPixmap, int]:
    """All stamps in one row of a picture, and the side of each in its pixels."""
    side = int(np.ceil(max((stamp.size + 2 * stamp.width for stamp in stamps), default=1.0) * ratio)) + 2
    atlas = QPixmap(side * max(1, len(stamps)), side)
    atlas.fill(Qt.GlobalColor.transparent)
    painter = QPainter(atlas)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    for place, stamp in enumerate(stamps):
        pen = QPen(stamp.edge, stamp.width * ratio) if stamp.edge is not None else QPen(Qt.PenStyle.NoPen)
        painter.setPen(pen)
        painter.setBrush(QBrush(stamp.fill) if stamp.fill is not None else QBrush(Qt.BrushStyle.NoBrush))
        centre = QPointF(side * (place + 0.5), side / 2)
        painter.drawEllipse(centre, stamp.size * ratio / 2, stamp.size * ratio / 2)
    painter.end()
    return atlas, side


class PointsLayer(pg.GraphicsObject):  # type: ignore[misc]
    """Points of any number, each with one of a few looks.

    Points with NaN are not drawn; later ones lie over earlier ones.
    """

    def __init__(self, box: pg.ViewBox) -> None:
        super().__init__()
        self._box = box
        self._at = np.zeros((0, 2))
        self._look: NDArray[np.int64] = np.zeros(0, dtype=np.int64)
        self._stamps: tuple[Stamp, ...] = ()
        self._atlas: tuple[float, QPixmap, int] | None = None
        self._painted: tuple[QTransform, QRectF, float, QPixmap] | None = None
        self._settle = QTimer(self)
        self._settle.setSingleShot(True)
        self._settle.setInterval(SETTLE_MS)
        self._settle.timeout.connect(self._paint_anew)
        self._anew = True
        self.setAcceptedMouseButtons(Qt.MouseButton.NoButton)

    def show_points(self, at: NDArray[np.float64], look: NDArray[np.int64], stamps: Sequence[Stamp]) -> None:
        """Draw these points.

        Parameters
        ----------
        at : ndarray of shape (n, 2)
        look : ndarray of shape (n,)
            Which of the stamps each point has.
        """
        keep = np.isfinite(at).all(axis=1)
        self._at, self._look = at[keep], look[keep]
        self._stamps = tuple(stamps)
        self._atlas = self._painted = None
        self.prepareGeometryChange()
        self.update()

    @property
    def points(self) -> NDArray[np.float64]:
        """The points drawn; shape (n, 2)."""
        return self._at

    @property
    def looks(self) -> NDArray[np.int64]:
        """Which stamp each has."""
        return self._look

    def boundingRect(self) -> QRectF:
        """The whole view: it is painted as one picture."""
        return self.viewRect() or QRectF()

    def viewRangeChanged(self, *_: object, **__: object) -> None:
        """The picture is another one now."""
        self.prepareGeometryChange()
        super().viewRangeChanged()

    def dataBounds(self, *_: object, **__: object) -> list[tuple[float, float] | None]:
        """The plot chooses its range itself."""
        return [None, None]

    def paint(self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None) -> None:
        """Copy the picture of the points; paint it first where the view is another than before."""
        if not len(self._at):
            return
        transform = QTransform(painter.worldTransform())
        device = transform.mapRect(self.boundingRect())
        ratio = painter.device().devicePixelRatioF() if painter.device() else 1.0
        known = self._painted
        same = known is not None and known[0] == transform and known[1] == device and known[2] == ratio
        stretch = not same and known is not None and not self._anew and len(self._at) >= MANY
        painter.save()
        painter.resetTransform()
        if stretch and known is not None:
            before, rect, _, picture = known
            moved = (before.inverted()[0] * transform).mapRect(rect)
            painter.setClipRect(device)
            painter.drawPixmap(moved, picture, QRectF(picture.rect()))
            self._settle.start()
        else:
            if not same:
                self._painted = (transform, device, ratio, self._picture(transform, device, ratio))
                self._anew = False
            assert self._painted is not None
            painter.drawPixmap(device.topLeft(), self._painted[3])
        painter.restore()

    def _paint_anew(self) -> None:
        self._anew = True
        self.update()

    def _picture(self, transform: QTransform, device: QRectF, ratio: float) -> QPixmap:
        """All points that are in view, as one picture of that size."""
        picture = QPixmap(max(1, round(device.width() * ratio)), max(1, round(device.height() * ratio)))
        picture.fill(Qt.GlobalColor.transparent)
        if self._atlas is None or self._atlas[0] != ratio:
            self._atlas = (ratio, *_atlas(self._stamps, ratio))
        _, atlas, side = self._atlas
        x = (self._at[:, 0] * transform.m11() + transform.dx() - device.left()) * ratio
        y = (self._at[:, 1] * transform.m22() + transform.dy() - device.top()) * ratio
        inside = (x > -side) & (y > -side) & (x < picture.width() + side) & (y < picture.height() + side)
        # Qt reads fragments as structs of ten doubles side by side; making one object a point would take far longer
        rows = np.empty((int(inside.sum()), 10))
        rows[:, 0], rows[:, 1] = x[inside], y[inside]
        rows[:, 2], rows[:, 3] = self._look[inside] * side, 0.0
        rows[:, 4:6] = side
        rows[:, 6:8], rows[:, 8], rows[:, 9] = 1.0, 0.0, 1.0
        painter = QPainter(picture)
        if len(rows):
            first = wrapInstance(rows.ctypes.data, QPainter.PixmapFragment)
            painter.drawPixmapFragments(cast(QPainter.PixmapFragment, first), len(rows), atlas)
        painter.end()
        picture.setDevicePixelRatio(ratio)
        return picture


class NumberBadge(QGraphicsItem):
    """A cluster's number at its centre, the same size at every zoom.

    Parameters
    ----------
    centre, top
        The cluster's centre, and the height of its uppermost points.
    text
        Text of the badge; the number when empty.
    """

    def __init__(
        self, number: int, centre: tuple[float, float], top: float, font: QFont, edge: QColor, text: str = ""
    ) -> None:
        super().__init__()
        self.number = number
        self._text = text or str(number)
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
        return QRectF(-19, -45, 38, 62)

    def drawn(self) -> QRectF:
        """Where the badge itself is, in pixels."""
        width = 30 if len(self._text) < 3 else 36
        return QRectF(-width / 2, -34 if self._lifted else -11, width, 22)

    def make_way(self, pixel_height: float) -> None:
        """Move above the cluster while it is so small on screen that the badge would hide it."""
        reach = (self._top - self._centre[1]) / pixel_height
        lifted = reach < 26
        self.prepareGeometryChange()
        self._lifted = lifted
        self.setPos(self._centre[0], self._top if lifted else self._centre[1])

    def paint(self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None) -> None:
        """Draw the number in its badge, with a thin edge that sets it off from its points."""
        paint_badge(painter, self.drawn(), self.number, self._font, edge=self._edge, text=self._text)


def spread_badges(badges: Sequence[NumberBadge], place: Callable[[QPointF], QPointF]) -> None:
    """Hide badges that would lie over one of a larger cluster; they are given the largest first.

    Parameters
    ----------
    place
        From the plot's coordinates to pixels.
    """
    taken: list[QRectF] = []
    for badge in badges:
        rect = badge.drawn().translated(place(badge.pos()))
        free = not any(rect.intersects(other) for other in taken)
        badge.setVisible(free)
        if free:
            taken.append(rect)
