"""Where names are written beside points, so that they cover neither each other nor a point."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, QSizeF

NAME_GAP = 6.0
"""Between a point and its name, in pixels."""
# How far away from its point a name may be, in lines, and in how many directions a place is looked for.
_RINGS, _DIRECTIONS = 10, 24
# Half the side of what a name must leave free around a point.
_POINT = 4.0


def name_places(points: Sequence[QPointF], sizes: Sequence[QSizeF], area: QRectF) -> list[QRectF | None]:
    """Find a place for each name: beside its point, else further and further away while there is room.

    Parameters
    ----------
    points
        All points; the first ones have names, and the earlier the first choice.
    sizes
        Of the names.
    area
        What names have to stay in.

    Returns
    -------
    list of QRectF or None
        One a name; None where there is no room.
    """
    left, top, right, bottom = area.left(), area.top(), area.right(), area.bottom()
    taken = np.array([(at.x() - _POINT, at.y() - _POINT, at.x() + _POINT, at.y() + _POINT) for at in points])
    taken = taken.reshape(-1, 4)
    places: list[QRectF | None] = []
    for at, size in zip(points, sizes, strict=False):
        rooms = _around(at, size)
        inside = (rooms[:, 0] >= left) & (rooms[:, 1] >= top) & (rooms[:, 2] <= right) & (rooms[:, 3] <= bottom)
        rooms = rooms[inside]
        beside = (rooms[:, None, :2] >= taken[None, :, 2:]) | (rooms[:, None, 2:] <= taken[None, :, :2])
        free = np.flatnonzero(np.all(np.any(beside, axis=2), axis=1))
        if not len(free):
            places.append(None)
            continue
        room = rooms[free[0]]
        taken = np.vstack([taken, room])
        places.append(QRectF(QPointF(*room[:2].tolist()), size))
    return places


def leader(point: QPointF, place: QRectF) -> QPointF | None:
    """The end of the line from a point to its name; None where the name is so near that none is needed."""
    near = QPointF(min(max(point.x(), place.left()), place.right()), min(max(point.y(), place.top()), place.bottom()))
    return near if (near - point).manhattanLength() > 2 * NAME_GAP else None


def _around(at: QPointF, size: QSizeF) -> NDArray[np.float64]:
    """Left, top, right and bottom of the places for a name, the nearest first; shape (n, 4)."""
    width, height = size.width(), size.height()
    angle = np.tile(2 * np.pi * np.arange(_DIRECTIONS) / _DIRECTIONS, _RINGS)
    away = NAME_GAP + height * np.repeat(np.arange(1, _RINGS + 1), _DIRECTIONS)
    # beside the point first; around it, the near edge of the name is that far away, not its middle
    across = np.concatenate([[NAME_GAP, -NAME_GAP - width], away * np.cos(angle) + width * (np.cos(angle) - 1.0) / 2])
    up = np.concatenate([[0.0, 0.0], away * np.sin(angle)])
    left, top = at.x() + across, at.y() - up - height / 2
    return np.stack([left, top, left + width, top + height], axis=1)
