"""What a chart shows, and the words and ends of its axes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from crowdclust_app.domain.plots import Curve, Curves, Plot, Points

Floats = NDArray[np.float64]
Line = Literal["main", "faint", "dashed"]


def figure_in_words(value: float) -> str:
    """A figure on an axis, never in thousandths or thousands."""
    return f"{value:,.10g}"


@dataclass(frozen=True, slots=True)
class ChartLine:
    """A curve beside the points, by its corners, and whether it is the main one."""

    x: Floats
    y: Floats
    look: Line = "main"


@dataclass(frozen=True, slots=True)
class ChartSeries:
    """What a chart shows; all arrays are of one length `n`.

    Parameters
    ----------
    title
        What it is about.
    x_label, y_label
        Of the axes, with the unit.
    x, y
        The points.
    words
        Description of each point.
    error, across
        Half the lengths of each point's upright and level bar; None for none.
    spread
        Whether these are drawn as bars, as a band around the main line, or as the half-axes of an ellipse.
    names
        What is written beside each point where there is room.
    captions
        What is written above each point, from the left end.
    lines
        Curves beside the points.
    ground
        A level line that the points are compared with, and what it stands for.
    uprights
        Upright lines: those with words are dashed.
    left, right, low, high
        Ends of the axes; found from what is drawn when None.
    marked
        Which points are drawn hollow.
    dots_from
        The first point that is drawn; those before lie on a line and are described all the same.
    headline
        Whether title and unit stand above; else the vertical axis has its words beside it.
    square
        Whether both axes are of the same length.
    tick, tick_across
        Put the figures of the axes into words; None for an axis without figures.
    """

    title: str
    x_label: str
    y_label: str
    x: Floats
    y: Floats
    words: tuple[str, ...] = ()
    error: Floats | None = None
    across: Floats | None = None
    spread: Literal["bars", "band", "ellipses"] = "bars"
    names: tuple[str, ...] = ()
    captions: tuple[str, ...] = ()
    lines: tuple[ChartLine, ...] = ()
    ground: tuple[float, str] | None = None
    uprights: tuple[tuple[float, str], ...] = ()
    left: float | None = None
    right: float | None = None
    low: float | None = None
    high: float | None = None
    marked: frozenset[int] = field(default_factory=frozenset)
    dots_from: int = 0
    headline: bool = True
    square: bool = False
    tick: Callable[[float], str] | None = figure_in_words
    tick_across: Callable[[float], str] = figure_in_words

    @property
    def ends(self) -> tuple[float, float, float, float]:
        """Left, right, lower and upper end of what is drawn."""
        xs = [self.x, *(line.x for line in self.lines), np.array([place for place, _ in self.uprights])]
        ys = [self.y, *(line.y for line in self.lines)]
        if self.error is not None:
            ys += [self.y - self.error, self.y + self.error]
        if self.across is not None:
            xs += [self.x - self.across, self.x + self.across]
        if self.ground is not None:
            ys.append(np.array([self.ground[0]]))
        left, right = _ends(np.concatenate(xs), self.left, self.right)
        low, high = _ends(np.concatenate(ys), self.low, self.high)
        room = 0.04 * (high - low)
        return left, right, low - room * (self.low is None), high + room * (self.high is None)

    def figure(self, name: str) -> Plot:
        """The same for files of this name: points with names, or curves with upright bars."""
        if self.across is not None:
            at, groups = np.column_stack([self.x, self.y]), np.zeros(len(self.x), dtype=np.int64)
            return Points(name, self.title, self.x_label, self.y_label, self.names or self.captions, at, groups)
        curves = [Curve("points", self.x, self.y, self.error)] if len(self.x) else []
        curves += [Curve(f"line {number}", line.x, line.y) for number, line in enumerate(self.lines, start=1)]
        return Curves(name, self.title, self.x_label, self.y_label, tuple(curves), from_zero=self.low == 0.0)


def _ends(values: Floats, first: float | None, last: float | None) -> tuple[float, float]:
    values = values[np.isfinite(values)]
    low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 1.0)
    low, high = low if first is None else first, high if last is None else last
    return (low, high) if high > low else (low - 0.5, high + 0.5)
