"""Plots are whole PNG files that show what they were given."""

from __future__ import annotations

import errno
import sys
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pytest
from matplotlib.container import ErrorbarContainer
from matplotlib.figure import Figure
from PIL import Image

from benchmarks.experiments.results import Panel, PlotSeries
from crowdclust_app.domain.errors import UserError
from crowdclust_app.io.plots import COLOURS, draw_panels

FIRST = PlotSeries("a", (1, 2, 3), (1.0, 2.0, 1.5), (0.1, 0.2, 0.1))
LINES = Panel("A", "x", "y", "lines", (FIRST, PlotSeries("b", (1, 2), (2.0, 3.0))))
BARS = Panel("B", "", "y", "bars", (PlotSeries("VI", ("nmf", "cspa"), (1.5, 0.5), (0.0, 0.0)),))
LOG = Panel("C", "labels", "s", "lines", (PlotSeries("", (10, 1000), (0.1, 9.0)),), log=True)


def pixels_near(picture: Image.Image, colour: str) -> int:
    wanted = np.array([int(colour[n : n + 2], 16) for n in (1, 3, 5)])
    return int((np.abs(np.asarray(picture.convert("RGB")).astype(int) - wanted).max(axis=2) <= 8).sum())


@pytest.mark.parametrize("panels", [(LINES,), (BARS,), (LOG,), (LINES, BARS, LOG), (BARS,) * 5])
def test_a_picture_grows_with_its_panels(tmp_path: Path, panels: tuple[Panel, ...]) -> None:
    draw_panels(tmp_path / "plot.png", panels)
    assert [path.name for path in tmp_path.iterdir()] == ["plot.png"]
    with Image.open(tmp_path / "plot.png") as picture:
        assert picture.format == "PNG"
        columns, lines = min(3, len(panels)), -(-len(panels) // 3)
        assert picture.width / columns == pytest.approx(662, abs=2)
        assert picture.height / lines == pytest.approx(518, abs=2)


def test_series_have_colours_of_their_own(tmp_path: Path) -> None:
    draw_panels(tmp_path / "plot.png", (LINES,))
    with Image.open(tmp_path / "plot.png") as picture:
        assert pixels_near(picture, COLOURS[0]) > 100
        assert pixels_near(picture, COLOURS[1]) > 100
        assert pixels_near(picture, COLOURS[2]) == 0


def test_a_line_like_another_is_dotted_in_its_colour_and_not_in_the_legend(tmp_path: Path) -> None:
    first, second = PlotSeries("a", (1, 2, 3), (0.1, 0.02, 0.001)), PlotSeries("b", (1, 2, 3), (0.5, 0.5, 0.5))
    ink = {}
    for name, more in (("alone", ()), ("with", (PlotSeries("bound", (1, 2, 3), (0.9, 0.8, 0.9), like="a"),))):
        draw_panels(tmp_path / "plot.png", (Panel("", "", "", "lines", (first, second, *more), log="y"),))
        with Image.open(tmp_path / "plot.png") as picture:
            ink[name] = [pixels_near(picture, colour) for colour in COLOURS[:3]]
    assert ink["with"][0] > ink["alone"][0] + 50
    assert ink["with"][1] == pytest.approx(ink["alone"][1], rel=0.2)
    assert ink["with"][2] == 0


def test_only_the_axis_that_is_asked_for_is_logarithmic(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scales = []
    save = Figure.savefig

    def look(figure: Figure, *args: Any, **kwargs: Any) -> None:
        scales.append((figure.axes[0].get_xscale(), figure.axes[0].get_yscale()))
        save(figure, *args, **kwargs)

    monkeypatch.setattr(Figure, "savefig", look)
    for log in (False, True, "y"):
        draw_panels(tmp_path / "plot.png", (Panel("", "", "", "lines", (FIRST,), log=log),))
    assert scales == [("linear", "linear"), ("log", "log"), ("linear", "log")]


def test_bars_begin_at_zero_and_lines_far_from_it_do_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begins = []
    save = Figure.savefig

    def look(figure: Figure, *args: Any, **kwargs: Any) -> None:
        begins.append(figure.axes[0].get_ylim()[0])
        save(figure, *args, **kwargs)

    monkeypatch.setattr(Figure, "savefig", look)
    high, low = PlotSeries("a", (1, 2), (0.9, 0.95)), PlotSeries("b", (1, 2), (0.3, 0.95))
    for kind, series in (("bars", (high,)), ("lines", (high,)), ("lines", (high, low))):
        draw_panels(tmp_path / "plot.png", (Panel("", "", "", kind, series),))  # type: ignore[arg-type]
    assert begins[0] == begins[2] == 0.0
    assert 0.85 < begins[1] < 0.9


@pytest.mark.parametrize(("heights", "lowest"), [((0.1, 0.4), 0.0), ((-0.1, 0.4), -0.3)])
def test_error_bars_do_not_say_that_what_is_positive_may_be_negative(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, heights: tuple[float, float], lowest: float
) -> None:
    ends = []
    save = Figure.savefig

    def look(figure: Figure, *args: Any, **kwargs: Any) -> None:
        bars = figure.axes[0].containers[0]
        lines = (bars if isinstance(bars, ErrorbarContainer) else bars.errorbar).lines[2][0]  # type: ignore[attr-defined]
        ends.append([segment[:, 1].tolist() for segment in lines.get_segments()])
        save(figure, *args, **kwargs)

    monkeypatch.setattr(Figure, "savefig", look)
    for kind in ("lines", "bars"):
        series = PlotSeries("a", (1, 2), heights, (0.2, 0.2))
        draw_panels(tmp_path / "plot.png", (Panel("", "", "", kind, (series,)),))
    for found in ends:
        assert found[0] == pytest.approx([lowest, heights[0] + 0.2])
        assert found[1] == pytest.approx([0.2, 0.6])


def test_a_legend_lies_above_the_bars(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    room = []
    save = Figure.savefig

    def look(figure: Figure, *args: Any, **kwargs: Any) -> None:
        save(figure, *args, **kwargs)
        axes = figure.axes[0]
        highest = max(label.get_window_extent().y1 for label in axes.texts)
        room.append(axes.get_legend().get_texts()[0].get_window_extent().y0 - highest)

    monkeypatch.setattr(Figure, "savefig", look)
    names = tuple(f"method {number}" for number in range(6))
    full = tuple(PlotSeries(name, names, (1.0,) * 6) for name in ("half of the labels", "a third"))
    draw_panels(tmp_path / "plot.png", (Panel("", "", "", "bars", full),))
    assert room[0] >= 0


def test_a_taller_bar_has_more_ink(tmp_path: Path) -> None:
    ink = []
    for height in (1.0, 2.0):
        bars = PlotSeries("", ("small", "large"), (height, 4.0))
        draw_panels(tmp_path / "plot.png", (Panel("", "", "", "bars", (bars,)),))
        with Image.open(tmp_path / "plot.png") as picture:
            ink.append(pixels_near(picture, COLOURS[0]))
    assert ink[1] - ink[0] == pytest.approx(ink[0] / 5, rel=0.15)


def test_a_missing_matplotlib_is_said_and_nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(UserError, match=r"matplotlib, which is not installed; install crowdclust again"):
        draw_panels(tmp_path / "plot.png", (LINES,))
    assert list(tmp_path.iterdir()) == []


def test_a_plot_that_fails_leaves_the_older_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    draw_panels(tmp_path / "plot.png", (LINES,))
    before = (tmp_path / "plot.png").read_bytes()

    def run_out(_figure: Figure, file: BinaryIO, **_: object) -> None:
        file.write(before[:100])
        raise OSError(errno.ENOSPC, "no space left on device")

    monkeypatch.setattr(Figure, "savefig", run_out)
    with pytest.raises((OSError, UserError), match="space"):
        draw_panels(tmp_path / "plot.png", (BARS,))
    assert [path.name for path in tmp_path.iterdir()] == ["plot.png"]
    assert (tmp_path / "plot.png").read_bytes() == before


def test_the_figure_above_the_highest_bar_is_below_the_title(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    room = []
    save = Figure.savefig

    def look(figure: Figure, *args: Any, **kwargs: Any) -> None:
        save(figure, *args, **kwargs)
        axes = figure.axes[0]
        room.append(axes.get_window_extent().y1 - max(label.get_window_extent().y1 for label in axes.texts))

    monkeypatch.setattr(Figure, "savefig", look)
    bars = PlotSeries("", ("flat, as many HITs", "divisive"), (0.04, 0.02), (0.06, 0.03))
    draw_panels(tmp_path / "plot.png", (Panel("two\nlines", "", "", "bars", (bars,)),))
    assert room[0] >= 0
