"""The numbers behind a plot."""

from __future__ import annotations

import numpy as np

from crowdclust_app.domain.plots import Bars, BarSeries, Curve, Curves, Matrix, MatrixPlots, Points


def test_points_leave_out_what_has_no_place() -> None:
    at = np.array([[0.0, 1.0], [np.nan, np.nan]])
    plot = Points("e", "Embedding", "Fisher axis 1", "Fisher axis 2", ("a", "b"), at, np.array([1, 0]))
    header, rows = plot.table()
    assert header == ("item", "fisher_axis_1", "fisher_axis_2", "group")
    assert list(rows) == [("a", 0.0, 1.0, 1)]


def test_points_coloured_by_a_figure_have_it_in_the_table() -> None:
    plot = Points("e", "", "x", "y", ("a",), np.zeros((1, 2)), np.array([2]), np.array([0.25]), "doubt (bits)")
    header, rows = plot.table()
    assert header[-1] == "doubt_bits"
    assert list(rows) == [("a", 0.0, 0.0, 2, 0.25)]


def test_a_matrix_is_one_row_a_figure_without_the_missing_ones() -> None:
    plot = Matrix("m", "", "cluster", "category", ("cat",), ("1", "2"), np.array([[3.0, np.nan]]), "items")
    header, rows = plot.table()
    assert header == ("category", "cluster", "items")
    assert list(rows) == [("cat", "1", 3.0)]


def test_a_grid_names_the_worker_of_each_matrix() -> None:
    values = np.array([[[0.9, 0.1], [0.1, 0.8]]])
    plot = MatrixPlots("g", "", ("12 HITs",), ("Ann",), ("1", "2"), values, "probability")
    header, rows = plot.table()
    assert header == ("worker", "row", "column", "probability")
    assert list(rows)[1] == ("Ann", "1", "2", 0.1)


def test_curves_have_their_spread_or_nothing() -> None:
    one = Curve("a", np.array([1.0, 2.0]), np.array([0.5, np.nan]))
    two = Curve("b", np.array([1.0]), np.array([0.7]), np.array([0.1]))
    _, rows = Curves("c", "", "clusters", "score", (one, two)).table()
    assert list(rows) == [("a", 1.0, 0.5, None), ("b", 1.0, 0.7, 0.1)]


def test_an_axis_without_words_still_has_a_column_name() -> None:
    header, _ = Curves("c", "", "", "", ()).table()
    assert header == ("line", "value", "value", "spread")


def test_bars_are_one_row_each() -> None:
    one, two = BarSeries("a", np.array([1.0, 2.0])), BarSeries("b", np.array([3.0, 4.0]), np.array([0.1, 0.2]))
    header, rows = Bars("b", "", "method", "VI (nats)", ("nmf", "cspa"), (one, two)).table()
    assert header == ("series", "method", "vi_nats", "spread")
    of_a, of_b = [("a", "nmf", 1.0, None), ("a", "cspa", 2.0, None)], [("b", "nmf", 3.0, 0.1), ("b", "cspa", 4.0, 0.2)]
    assert list(rows) == of_a + of_b
