"""Where names are written beside points, so that they cover neither each other nor a point."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, QSizeF

NAME_GAP = 6.0
"""Between a point and its name, in pixels."""
# Half the side of what a name must leave free around a point.
_POINT = 4.0
# Between two places that are tried for a column of names, and from a column to the points, in pixels.
_STEP, _AWAY = 6.0, 14.0


def name_places(points: Sequence[QPointF], sizes: Sequence[QSizeF], area: QRectF) -> list[QRectF | None]:
    """Find a place for each name: beside its point; for those without room there, in a column beside the crowd.

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
    taken = np.array([(at.x() - _POINT, at.y() - _POINT, at.x() + _POINT, at.y() + _POINT) for at in points])
    taken = taken.reshape(-1, 4)
    places: list[QRectF | None] = []
    for at, size in zip(points, sizes, strict=False):
        right = QRectF(QPointF(at.x() + NAME_GAP, at.y() - size.height() / 2), size)
        left = right.translated(-2 * NAME_GAP - size.width(), 0)
        place = next((room for room in (right, left) if area.contains(room) and _free(_edges(room), taken)), None)
        places.append(place)
        if place is not None:
            taken = np.vstack([taken, _edges(place)])
    rest = [number for number, place in enumerate(places) if place is None and sizes[number].width() <= area.width()]
    if rest:
        _fill_column(rest, points, sizes, area, taken, places)
    return places


def leader(point: QPointF, place: QRectF) -> QPointF | None:
    """The end of the line from a point to its name; None where the name is beside it and none is needed."""
    if place.left() > point.x():
        end = QPointF(place.left(), place.center().y())
    elif place.right() < point.x():
        end = QPointF(place.right(), place.center().y())
    else:
        end = QPointF(point.x(), place.bottom() if place.center().y() < point.y() else place.top())
    return end if (end - point).manhattanLength() > 2 * NAME_GAP else None


def _fill_column(
    rest: Sequence[int],
    points: Sequence[QPointF],
    sizes: Sequence[QSizeF],
    area: QRectF,
    taken: NDArray[np.float64],
    places: list[QRectF | None],
) -> None:
    """Put names into the nearest column with room for all of them, from top to bottom as their points are."""
    width, height = max(sizes[number].width() for number in rest), sizes[rest[0]].height()
    lines = area.top() + height * np.arange(int(area.height() / height))
    middle = float(np.mean([points[number].x() for number in rest]))
    level = float(np.mean([points[number].y() for number in rest]))
    best: tuple[int, float] | None = None
    column: tuple[float, list[float]] = (area.left(), [])
    for left in np.arange(area.left() + 2, area.right() - width, _STEP).tolist():
        # no line is worth drawing to a name that lies on the crowd
        near = max(left - middle, middle - left - width)
        open_lines = [top for top in lines.tolist() if _free((left, top, left + width, top + height), taken)]
        rank = (min(len(open_lines), len(rest)), -abs(near - _AWAY))
        if best is None or rank > best:
            best, column = rank, (left, open_lines)
    left, open_lines = column
    tops = sorted(sorted(open_lines, key=lambda top: abs(top + height / 2 - level))[: len(rest)])
    ordered = sorted(rest[: len(tops)], key=lambda number: points[number].y())
    for number, top in zip(ordered, tops, strict=True):
        # towards the crowd, where its line ends
        shift = width - sizes[number].width() if left + width / 2 < middle else 0.0
        places[number] = QRectF(QPointF(left + shift, top), sizes[number])


def _edges(room: QRectF) -> tuple[float, float, float, float]:
    return room.left(), room.top(), room.right(), room.bottom()


def _free(room: tuple[float, float, float, float], taken: NDArray[np.float64]) -> bool:
    """Whether a place lies over none of these; shape (n, 4)."""
    left, top, right, bottom = room
    beside = (left >= taken[:, 2]) | (right <= taken[:, 0]) | (top >= taken[:, 3]) | (bottom <= taken[:, 1])
    return bool(np.all(beside))
