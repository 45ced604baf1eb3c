"""Axes of plots, alike wherever they are: quiet lines, the window's letters, round figures as they are."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, floor, log10

import pyqtgraph as pg
from PySide6.QtCore import QRectF
from PySide6.QtGui import QFont, QPalette

from crowdclust_app.gui import theme
from crowdclust_app.gui.charts.series import figure_in_words


def ticks(low: float, high: float, most: int = 5) -> list[float]:
    """Round numbers between two values, both ends included where they are round."""
    if not high > low:
        return [low]
    rough = (high - low) / most
    power = 10.0 ** floor(log10(rough))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough * 0.999)
    first = ceil(low / step - 1e-9)
    last = floor(high / step + 1e-9)
    return [round(number * step, 12) for number in range(first, last + 1)]


def label_axis(axis: pg.AxisItem, words: str, palette: QPalette) -> None:
    """Write what an axis is; its figures are never turned into thousandths or thousands."""
    size = {"font-size": f"{theme.TEXT}pt"}
    axis.setLabel(words, siPrefixEnableRanges=(), color=theme.muted(palette).name(), **size)


def style_axis(axis: pg.AxisItem, words: str, palette: QPalette, font: QFont) -> None:
    """Draw an axis in the colours of the palette.

    Parameters
    ----------
    words
        What it is; none where they are empty.
    """
    axis.setPen(pg.mkPen(theme.line_colour(palette)))
    axis.setTextPen(theme.muted(palette))
    axis.setTickFont(font)
    axis.setSIPrefixEnableRanges(())
    axis.enableAutoSIPrefix(False)
    if words:
        label_axis(axis, words, palette)


class ChartAxis(pg.AxisItem):  # type: ignore[misc]
    """An axis of round figures, without a line of its own.

    Parameters
    ----------
    room
        Least number of pixels from one figure to the next.
    """

    def __init__(self, side: str, room: float) -> None:
        super().__init__(side)
        self._room = room
        self.whole = self.few = False
        self.words: Callable[[float], str] | None = figure_in_words
        self.setStyle(tickLength=0, hideOverlappingLabels=False, tickAlpha=255)

    def boundingRect(self) -> QRectF:
        """With room for half a figure at both ends."""
        return QRectF(super().boundingRect().adjusted(-40, -15, 40, 15))

    def dress(self, words: str, palette: QPalette, font: QFont) -> None:
        """Have the colours of the palette, and these words beside it."""
        style_axis(self, "", palette, font)
        self.setTickPen(self.pen())
        self.setPen(pg.mkPen(None))
        label_axis(self, words, palette)
        self.showLabel(bool(words))
        self.resizeEvent()  # puts the words into the middle

    def tickValues(self, low: float, high: float, size: float) -> list[tuple[float, list[float]]]:
        """Round figures as there is room for them; no half a day, and no half a rank."""
        if self.words is None:
            return []
        found = ticks(low, high, 2 if self.few else max(2, int(size // self._room)))
        return [(1.0, [value for value in found if not self.whole or value == round(value)])]

    def tickStrings(self, values: list[float], _scale: float, _spacing: float) -> list[str]:
        """The figures as the chart writes them."""
        return [self.words(value) if self.words is not None else "" for value in values]
