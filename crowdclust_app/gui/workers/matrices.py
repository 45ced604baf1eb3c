"""Confusion matrices as pictures: one colour map and one scale, 0 to 1, for all of them."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtGui import QColor, QImage


@lru_cache(maxsize=1)
def _table() -> NDArray[np.uint8]:
    map_ = pg.colormap.get("viridis")
    return np.ascontiguousarray(map_.getLookupTable(0.0, 1.0, 256, alpha=False)[:, :3], dtype=np.uint8)


def colour_of(probability: float) -> QColor:
    """The colour of a probability; that of 0 where there is none (NaN)."""
    red, green, blue = _table()[int(np.clip(round(float(np.nan_to_num(probability)) * 255), 0, 255))]
    return QColor(int(red), int(green), int(blue))


def picture_of(matrix: NDArray[np.float64]) -> QImage:
    """A matrix as a picture, one pixel a cell, row 0 at the top."""
    levels = np.clip(np.rint(np.nan_to_num(matrix) * 255), 0, 255).astype(np.intp)
    pixels = np.ascontiguousarray(_table()[levels])
    height, width = levels.shape
    return QImage(pixels.tobytes(), width, height, 3 * width, QImage.Format.Format_RGB888).copy()


def scale_picture(length: int = 256) -> QImage:
    """The scale from 1 (top) to 0 (bottom), one pixel wide."""
    return picture_of(np.linspace(1.0, 0.0, length)[:, None])
