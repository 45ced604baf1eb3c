"""Points of the plot are painted where they lie, in their own looks."""

from __future__ import annotations

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF
from PySide6.QtGui import QColor
from pytestqt.qtbot import QtBot

from crowdclust_app.gui.clusters.layers import PointsLayer, Stamp


def test_every_point_is_painted_in_its_place_and_look(qtbot: QtBot) -> None:
    widget = pg.PlotWidget(background="w")
    qtbot.addWidget(widget)
    widget.resize(300, 200)
    box = widget.getPlotItem().getViewBox()
    layer = PointsLayer(box)
    box.addItem(layer)
    box.setRange(xRange=(0, 4), yRange=(0, 2), padding=0)
    points = np.array([[1.0, 1.0], [2.0, 0.5], [3.0, 1.5], [np.nan, 1.0]])
    colours = [QColor("#ff0000"), QColor("#0000ff")]
    layer.show_points(points, np.array([0, 1, 0, 1]), [Stamp(12.0, colour, None) for colour in colours])
    widget.show()
    qtbot.waitExposed(widget)
    image = widget.grab().toImage()

    def seen(x: float, y: float) -> str:
        at = widget.mapFromScene(box.mapViewToScene(QPointF(x, y)))
        return image.pixelColor(at).name()

    assert [seen(*point) for point in points[:3]] == ["#ff0000", "#0000ff", "#ff0000"]
    assert seen(1.5, 1.5) == seen(2.5, 1.0) == "#ffffff"
    assert len(layer.points) == 3
