"""Names beside points: all of them where there is room, none over another."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSizeF

from crowdclust_app.gui.charts.naming import leader, name_places

AREA = QRectF(40, 10, 300, 300)
SIZE = QSizeF(52, 17)


def test_names_in_a_crowd_cover_neither_each_other_nor_a_point() -> None:
    rng = np.random.default_rng(2)
    points = [QPointF(*at) for at in rng.normal((290, 60), 14, (14, 2)).clip((50, 20), (335, 300)).tolist()]
    points.append(QPointF(100, 200))
    places = name_places(points, [SIZE] * len(points), AREA)
    assert None not in places
    found = [place for place in places if place is not None]
    assert all(AREA.contains(place) for place in found)
    assert not any(a.intersects(b) for a, b in combinations(found, 2))
    assert not any(place.contains(point) for place in found for point in points)
    ends = [leader(point, place) for point, place in zip(points, found, strict=True)]
    assert ends[-1] is None
    assert sum(end is not None for end in ends) > 5


def test_a_name_alone_is_beside_its_point_and_inside() -> None:
    for at in (QPointF(100, 100), QPointF(338, 100), QPointF(100, 12), QPointF(340, 310)):
        (place,) = name_places([at], [SIZE], AREA)
        assert place is not None
        assert AREA.contains(place)
    (middle,) = name_places([QPointF(100, 100)], [SIZE], AREA)
    assert middle is not None
    assert leader(QPointF(100, 100), middle) is None
    assert name_places([QPointF(100, 100)], [QSizeF(400, 17)], AREA) == [None]
