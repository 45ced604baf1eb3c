"""Axes of plots, alike wherever they are: quiet lines, the window's letters, figures as they are."""

from __future__ import annotations

import pyqtgraph as pg
from PySide6.QtGui import QFont, QPalette

from crowdclust_app.gui import theme


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
