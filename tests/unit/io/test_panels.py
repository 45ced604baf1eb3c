"""Plots are whole PNG files that show what they were given."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pytest
from matplotlib.container import ErrorbarContainer
from matplotlib.figure import Figure
from PIL import Image

from benchmarks.experiments.results import bar_series, curve, curves
from crowdclust_app.domain.errors import UserError
from crowdclust_app.domain.plots import Bars, Curves
from crowdclust_app.io.figures import COLOURS, write_panels

FIRST = curve("a", (1, 2, 3), (1.0, 2.0, 1.5), (0.1, 0.2, 0.1))
LINES = curves("A", "x", "y", (FIRST, curve("b", (1, 2), (2.0, 3.0))))
BARS = Bars("", "B", "", "y", ("nmf", "cspa"), (bar_series("VI", (1.5, 0.5), (0.0, 0.0)),))
LOG = curves("C", "labels", "s", (curve("", (10, 1000), (0.1, 9.0)),), log=True)


def pixels_near(picture: Image.Image, colour: str) -> int:
    wanted = np.array([int(colour[n : n + 2], 16) for n in (1, 3, 5)])
    return int((np.abs(np.asarray(picture.convert("RGB")).astype(int) - wanted).max(axis=2) <= 8).sum())


@pytest.mark.parametrize("panels", [(LINES,), (BARS,), (LOG,), (LINES, BARS, LOG), (BARS,) * 5])
def test_a_picture_grows_with_its_panels(tmp_path: Path, panels: tuple[Curves | Bars, ...]) -> None:
    write_panels(tmp_path / "plot.png", panels)
    assert [path.name for path in tmp_path.iterdir()] == ["plot.png"]
    with Image.open(tmp_path / "plot.png") as picture:
        assert picture.format == "PNG"
        columns, lines = min(3, len(panels)), -(-len(panels) // 3)
        assert picture.width / columns == pytest.approx(662, abs=2)
        assert picture.height / lines == pytest.approx(518, abs=2)


def test_series_have_colours_of_their_own(tmp_path: Path) -> None:
    write_panels(tmp_path / "plot.png", (LINES,))
    with Image.open(tmp_path / "plot.png") as picture:
        assert pixels_near(picture, COLOURS[0]) > 100
        assert pixels_near(picture, COLOURS[1]) > 100
        assert pixels_near(picture, COLOURS[2]) == 0


def test_a_line_like_another_is_dotted_in_its_colour_and_not_in_the_legend(tmp_path: Path) -> None:
    first, second = curve("a", (1, 2, 3), (0.1, 0.02, 0.001)), curve("b", (1, 2, 3), (0.5, 0.5, 0.5))
    ink = {}
    for name, more in (("alone", ()), ("with", (curve("bound", (1, 2, 3), (0.9, 0.8, 0.9), like="a"),))):
        write_panels(tmp_path / "plot.png", (curves("", "", "", (first, second, *more), log="y"),))
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
        write_panels(tmp_path / "plot.png", (curves("", "", "", (FIRST,), log=log),))
    assert scales == [("linear", "linear"), ("log", "log"), ("linear", "log")]


def test_whole_numbers_have_no_ticks_between_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = []
    save = Figure.savefig

    def look(figure: Figure, *args: Any, **kwargs: Any) -> None:
        ticks.append(figure.axes[0].get_xticks())
        save(figure, *args, **kwargs)

    monkeypatch.setattr(Figure, "savefig", look)
    for x in ((1, 2, 3), (1.0, 2.0, 3.0)):
        write_panels(tmp_path / "plot.png", (curves("", "", "", (curve("a", x, (1.0, 2.0, 1.5)),)),))
    assert np.array_equal(ticks[0], np.round(ticks[0]))
    assert not np.array_equal(ticks[1], np.round(ticks[1]))


def test_bars_begin_at_zero_and_lines_far_from_it_do_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begins = []
    save = Figure.savefig

    def look(figure: Figure, *args: Any, **kwargs: Any) -> None:
        begins.append(figure.axes[0].get_ylim()[0])
        save(figure, *args, **kwargs)

    monkeypatch.setattr(Figure, "savefig", look)
    high, low = curve("a", (1, 2), (0.9, 0.95)), curve("b", (1, 2), (0.3, 0.95))
    bars = Bars("", "", "", "", ("1", "2"), (bar_series("a", (0.9, 0.95)),))
    for plot in (bars, curves("", "", "", (high,)), curves("", "", "", (high, low))):
        write_panels(tmp_path / "plot.png", (plot,))
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
    lines = curves("", "", "", (curve("a", (1, 2), heights, (0.2, 0.2)),))
    for plot in (lines, Bars("", "", "", "", ("1", "2"), (bar_series("a", heights, (0.2, 0.2)),))):
        write_panels(tmp_path / "plot.png", (plot,))
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
    full = tuple(bar_series(name, (1.0,) * 6) for name in ("half of the labels", "a third"))
    write_panels(tmp_path / "plot.png", (Bars("", "", "", "", names, full),))
    assert room[0] >= 0


def test_a_taller_bar_has_more_ink(tmp_path: Path) -> None:
    ink = []
    for height in (1.0, 2.0):
        bars = bar_series("", (height, 4.0))
        write_panels(tmp_path / "plot.png", (Bars("", "", "", "", ("small", "large"), (bars,)),))
        with Image.open(tmp_path / "plot.png") as picture:
            ink.append(pixels_near(picture, COLOURS[0]))
    assert ink[1] - ink[0] == pytest.approx(ink[0] / 5, rel=0.15)


def test_a_plot_that_fails_leaves_the_older_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_panels(tmp_path / "plot.png", (LINES,))
    before = (tmp_path / "plot.png").read_bytes()

    def run_out(_figure: Figure, file: BinaryIO, **_: object) -> None:
        file.write(before[:100])
        raise OSError(errno.ENOSPC, "no space left on device")

    monkeypatch.setattr(Figure, "savefig", run_out)
    with pytest.raises((OSError, UserError), match="space"):
        write_panels(tmp_path / "plot.png", (BARS,))
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
    bars = bar_series("", (0.04, 0.02), (0.06, 0.03))
    places = ("flat, as many HITs", "divisive")
    write_panels(tmp_path / "plot.png", (Bars("", "two\nlines", "", "", places, (bars,)),))
    assert room[0] >= 0
