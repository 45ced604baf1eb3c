"""Charts by themselves: points that are told by pointer and keys, axes, drawing anew."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from sorted_campaign import move

from crowdclust_app.gui.charts.axes import ticks
from crowdclust_app.gui.charts.chart import Chart
from crowdclust_app.gui.charts.series import ChartLine, ChartSeries


def test_charts_draw_points_and_tell_them(qtbot: QtBot) -> None:
    chart = Chart("chart")
    qtbot.addWidget(chart)
    chart.resize(400, 300)
    chart.show()
    x = np.arange(1.0, 1001.0)
    words = tuple(f"point {n}" for n in range(1000))
    chart.show_series(
        ChartSeries("Title", "x", "y", x, np.sin(x), words, error=np.full(1000, 0.1), ground=(0.0, "ground"))
    )
    chart.grab()
    picked: list[int] = []
    chart.chosen.connect(picked.append)
    QTest.mouseClick(chart, Qt.MouseButton.LeftButton, pos=chart.point_at(500).toPoint())
    assert abs(picked[0] - 500) < 3
    qtbot.keyClick(chart, Qt.Key.Key_Right)
    qtbot.keyClick(chart, Qt.Key.Key_Return)
    assert picked[1] == picked[0] + 1
    assert chart.headline.text() == f"point {picked[1]}"
    QTest.mouseClick(chart, Qt.MouseButton.LeftButton, pos=QPoint(1, 1))
    assert len(picked) == 2
    chart.show_series(ChartSeries("One", "x", "", np.array([1.0]), np.array([2.0]), ("only",)))
    chart.grab()
    assert chart.told(0) == "only"
    chart.show_series(None, "nothing here")
    chart.grab()
    assert chart.accessibleName() == "nothing here"


def test_a_chart_tells_what_the_pointer_is_on_and_what_the_keys_go_to(qtbot: QtBot) -> None:
    chart = Chart("chart")
    qtbot.addWidget(chart)
    chart.resize(400, 300)
    chart.show()
    x = np.arange(1.0, 4.0)
    chart.show_series(ChartSeries("Title", "x", "unit", x, x**2, ("a", "b", "c"), lines=(ChartLine(x, x),)))
    heard: list[int | None] = []
    chart.pointed.connect(heard.append)
    move(chart, chart.point_at(1).toPoint())
    assert (chart.headline.text(), chart.accessibleDescription()) == ("b", "b")
    assert (chart.point_at(2) - chart.point_at(0)).x() > 200
    assert (chart.point_at(2) - chart.point_at(0)).y() < -100
    move(chart, QPoint(200, 2))
    assert chart.headline.text() == "Title (unit)"
    qtbot.keyClick(chart, Qt.Key.Key_Left)
    qtbot.keyClick(chart, Qt.Key.Key_Right)
    assert heard == [1, None, 2, 0]
    # what is longer than the axis is high ends at it, and what has no figures has no place
    chart.show_series(ChartSeries("T", "x", "", np.array([1.0, 2.0]), np.array([3.0, np.nan]), high=2.0, low=0.0))
    assert chart.point_at(0).y() == pytest.approx(chart.area().top())
    chart.grab()


def test_a_chart_can_be_drawn_anew_again_and_again(qtbot: QtBot) -> None:
    chart = Chart("chart")
    qtbot.addWidget(chart)
    chart.show()
    x = np.arange(1.0, 9.0)
    for turn in range(40):
        spread: Any = ("bars", "band", "ellipses")[turn % 3]
        chart.show_series(
            ChartSeries(
                f"Turn {turn}", "x", "y", x, np.sin(x + turn), tuple("abcdefgh"), error=x / 9, across=x / 9,
                spread=spread, names=tuple("abcdefgh") if spread == "ellipses" else (), ground=(0.0, "ground"),
                uprights=((3.0, "here"), (4.0, "")), lines=(ChartLine(x, np.cos(x)),), square=turn % 2 == 0,
                headline=turn % 2 == 1,
            )
        )  # fmt: skip
        chart.resize(300 + 7 * turn, 260 + turn % 5)
        chart.setVisible(turn % 5 != 0)
        QApplication.processEvents()
        gc.collect()
    assert chart.accessibleName() == "Turn 39"


def test_figures_on_an_axis_are_round() -> None:
    assert ticks(0.0, 1.0) == [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    assert ticks(3.0, 3.0) == [3.0]
    assert ticks(-0.3, 0.4, 4) == [-0.2, 0.0, 0.2, 0.4]
