"""Plots as files."""

from __future__ import annotations

import io
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from crowdclust_app.domain.plots import Bars, BarSeries, Curve, Curves, Matrix, MatrixPlots, Plot, Points
from crowdclust_app.io.figures import figure_bytes, write_figure

RNG = np.random.default_rng(0)
AWKWARD = 'cats, "big" $x_1$ 猫 🐱 قطة =1+1'


def plots() -> list[Plot]:
    n = 300
    at = RNG.normal(size=(n, 2))
    at[0] = np.nan
    names = tuple(f"photo {i}" for i in range(n))
    return [
        Points("embedding", AWKWARD, "Fisher 1", "Fisher 2", names, at, RNG.integers(0, 30, n)),
        Points("doubt", "t", "a", "b", names, at, np.ones(n, dtype=int), RNG.random(n), "doubt (bits)"),
        Points("none", "t", "a", "b", (), np.zeros((0, 2)), np.zeros(0, dtype=int)),
        Matrix("m", AWKWARD, "cluster", "category", (AWKWARD, "dog"), ("1", "2"), np.array([[3, np.nan], [0, 1]]), "n"),
        Matrix("big", "t", "cluster", "category", ("r",) * 300, ("c",) * 300, np.eye(300), "n"),
        MatrixPlots("grid", "t", (AWKWARD,) * 40, ("w",) * 40, ("1", "2"), np.full((40, 2, 2), 0.5), "p"),
        MatrixPlots("empty", "t", (), (), ("1",), np.zeros((0, 1, 1)), "p"),
        Curves("c", "t", "x", "y", (Curve(AWKWARD, np.arange(3.0), np.arange(3.0), np.ones(3)),), ((1.0, AWKWARD),)),
        Bars("bars", AWKWARD, "x", "y", (AWKWARD, "dog"), (BarSeries(AWKWARD, np.ones(2)), BarSeries("b", np.ones(2)))),
        Curves("cc", "t", "x", "y", tuple(Curve(str(k), np.arange(50.0), np.arange(50.0)) for k in range(9))),
    ]


@pytest.mark.parametrize("plot", plots(), ids=lambda plot: plot.name)
def test_every_plot_is_a_picture_of_each_kind(plot: Plot) -> None:
    with Image.open(io.BytesIO(figure_bytes(plot, "png"))) as image:
        assert image.width == 1120
    root = ET.fromstring(figure_bytes(plot, "svg"))
    assert root.tag.endswith("svg")
    assert figure_bytes(plot, "pdf").startswith(b"%PDF")


def test_the_same_plot_is_the_same_file() -> None:
    plot = plots()[0]
    for kind in ("png", "svg", "pdf"):
        assert figure_bytes(plot, kind) == figure_bytes(plot, kind)


def test_different_groups_look_different() -> None:
    names, at = ("a", "b"), np.array([[0.0, 0.0], [1.0, 1.0]])
    one = Points("p", "t", "x", "y", names, at, np.array([1, 1]))
    two = Points("p", "t", "x", "y", names, at, np.array([1, 2]))
    assert figure_bytes(one) != figure_bytes(two)


def test_a_written_figure_has_its_numbers_beside_it(tmp_path: Path) -> None:
    plot = plots()[3]
    files = write_figure(tmp_path, plot)
    assert [file.name for file in files] == ["m.png", "m.svg", "m.csv"]
    table = pd.read_csv(files[-1])
    assert list(table.columns) == ["category", "cluster", "n"]
    assert table["n"].tolist() == [3.0, 0.0, 1.0]
