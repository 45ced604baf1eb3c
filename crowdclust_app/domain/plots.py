"""What a plot shows, as numbers and words: the same for a file of any kind and for the table beside it.

A plot says nothing of colours or sizes; whoever draws it decides those. `table` gives the numbers behind it, so that a
reader can draw it again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Points:
    """Items as points.

    Parameters
    ----------
    name
        Stem of the file.
    names
        What each point is, shape (N,).
    at : ndarray of shape (N, 2)
        Where the points are; rows with NaN are left out by who draws.
    groups : ndarray of shape (N,)
        Number of each point's group, from 1; 0 for none.
    values : ndarray of shape (N,), optional
        A figure to colour by in place of the groups, called `value_label`.
    group_names
        What groups are called, by number, where they are called something.
    """

    name: str
    title: str
    x_label: str
    y_label: str
    names: tuple[str, ...]
    at: NDArray[np.float64]
    groups: NDArray[np.int64]
    values: NDArray[np.float64] | None = None
    value_label: str = ""
    group_names: Mapping[int, str] = field(default_factory=dict)

    def table(self) -> tuple[tuple[str, ...], Iterator[tuple[Any, ...]]]:
        """Header and rows: item, two coordinates, group, its name and the figure where there are such."""
        header: tuple[str, ...] = ("item", _column(self.x_label), _column(self.y_label), "group")
        columns: list[list[Any]] = [list(self.names), *self.at.T.tolist(), self.groups.tolist()]
        if self.group_names:
            header += ("group_name",)
            columns.append([self.group_names.get(group, "") for group in self.groups.tolist()])
        if self.values is not None:
            header += (_column(self.value_label),)
            columns.append(self.values.tolist())
        return header, (row for row in zip(*columns, strict=True) if all(cell == cell for cell in row))


@dataclass(frozen=True, slots=True)
class Matrix:
    """A matrix of figures between two lists of words.

    Parameters
    ----------
    values : ndarray of shape (R, C)
        NaN where there is none.
    lowest, highest
        Ends of the scale; the smallest and the largest figure when None.
    """

    name: str
    title: str
    x_label: str
    y_label: str
    row_names: tuple[str, ...]
    column_names: tuple[str, ...]
    values: NDArray[np.float64]
    value_label: str
    lowest: float | None = None
    highest: float | None = None

    def table(self) -> tuple[tuple[str, ...], Iterator[tuple[Any, ...]]]:
        """Header and rows: one row a figure."""
        header = (_column(self.y_label), _column(self.x_label), _column(self.value_label))
        return header, (
            (row, column, value)
            for row, line in zip(self.row_names, self.values.tolist(), strict=True)
            for column, value in zip(self.column_names, line, strict=True)
            if value == value
        )


@dataclass(frozen=True, slots=True)
class MatrixPlots:
    """Many small matrices of one size on one scale from 0 to 1, as the paper's Figure 3.

    Parameters
    ----------
    captions
        What stands under each, shape (J,).
    owners
        Whose each is, shape (J,), for the table.
    labels
        Words of rows and columns, shape (K,).
    values : ndarray of shape (J, K, K)
    """

    name: str
    title: str
    captions: tuple[str, ...]
    owners: tuple[str, ...]
    labels: tuple[str, ...]
    values: NDArray[np.float64]
    value_label: str

    def table(self) -> tuple[tuple[str, ...], Iterator[tuple[Any, ...]]]:
        """Header and rows: one row a figure."""
        return ("worker", "row", "column", _column(self.value_label)), (
            (owner, row, column, value)
            for owner, matrix in zip(self.owners, self.values.tolist(), strict=True)
            for row, line in zip(self.labels, matrix, strict=True)
            for column, value in zip(self.labels, line, strict=True)
        )


@dataclass(frozen=True, slots=True)
class Curve:
    """One line.

    Parameters
    ----------
    x, y : ndarray of shape (n,)
    spread : ndarray of shape (n,), optional
        Half the lengths of error bars.
    like
        The curve that this one says something about: it is dotted, in that one's colour, and not in the legend.
    """

    name: str
    x: NDArray[np.float64]
    y: NDArray[np.float64]
    spread: NDArray[np.float64] | None = None
    like: str = ""


@dataclass(frozen=True, slots=True)
class Curves:
    """Lines over one axis.

    Parameters
    ----------
    marks
        Places on the x axis to mark, with the word that belongs there.
    from_zero
        Whether the y axis begins at 0.
    log
        Whether both axes are logarithmic, or that of `"y"` alone.
    whole_x
        Whether there is nothing between whole numbers on the x axis.
    """

    name: str
    title: str
    x_label: str
    y_label: str
    curves: tuple[Curve, ...]
    marks: tuple[tuple[float, str], ...] = ()
    from_zero: bool = False
    log: bool | Literal["y"] = False
    whole_x: bool = False

    def table(self) -> tuple[tuple[str, ...], Iterator[tuple[Any, ...]]]:
        """Header and rows: one row a point."""
        return ("line", _column(self.x_label), _column(self.y_label), "spread"), (
            (curve.name, x, y, None if curve.spread is None else float(curve.spread[number]))
            for curve in self.curves
            for number, (x, y) in enumerate(zip(curve.x.tolist(), curve.y.tolist(), strict=True))
            if y == y
        )


@dataclass(frozen=True, slots=True)
class BarSeries:
    """Bars of one colour.

    Parameters
    ----------
    heights : ndarray of shape (n,)
    spread : ndarray of shape (n,), optional
        Half the lengths of error bars.
    """

    name: str
    heights: NDArray[np.float64]
    spread: NDArray[np.float64] | None = None


@dataclass(frozen=True, slots=True)
class Bars:
    """Groups of bars from 0 on.

    Parameters
    ----------
    places
        What each group stands for, shape (n,).
    series
        One bar of each in every group.
    """

    name: str
    title: str
    x_label: str
    y_label: str
    places: tuple[str, ...]
    series: tuple[BarSeries, ...]

    def table(self) -> tuple[tuple[str, ...], Iterator[tuple[Any, ...]]]:
        """Header and rows: one row a bar."""
        return ("series", _column(self.x_label), _column(self.y_label), "spread"), (
            (one.name, place, height, None if one.spread is None else float(one.spread[number]))
            for one in self.series
            for number, (place, height) in enumerate(zip(self.places, one.heights.tolist(), strict=True))
        )


Plot = Points | Matrix | MatrixPlots | Curves | Bars


def _column(label: str) -> str:
    """An axis' words as the name of a column."""
    return "_".join("".join(letter if letter.isalnum() else " " for letter in label.lower()).split()) or "value"
