"""What a photo looks like in numbers: how its colours are spread, and which way its edges run and where."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from crowdclust_app.io.images import read_picture

VERSION = 1
"""Grows whenever the numbers change, so that nothing computed before is mistaken for them."""

COLOURS, EDGES = 48, 800
"""Lengths of the two parts of a descriptor."""

_SIDE = 96
_BINS = 16
# Lightness, green to red, blue to yellow (CIE Lab): what photos fill of it.
_RANGES = ((0.0, 100.0), (-40.0, 40.0), (-40.0, 40.0))
_ORIENTATIONS = 8
_CELL = 16


def describe_photo(path: Path) -> NDArray[np.float32]:
    """Describe a photo.

    Returns
    -------
    ndarray of shape (COLOURS + EDGES,)
        Square roots of the shares of pixels in each bin of lightness and of the two colour axes; then the histograms
        of oriented gradients of a grid of cells.

    Raises
    ------
    UserError
        When the file cannot be read or is not a whole picture.
    """
    from skimage.color import rgb2lab
    from skimage.feature import hog

    lab = rgb2lab(resized(read_picture(path, 2 * _SIDE).pixels[..., :3], _SIDE, _SIDE))
    shares = [
        np.histogram(np.clip(lab[..., axis], *between), _BINS, between)[0] / (_SIDE * _SIDE)
        for axis, between in enumerate(_RANGES)
    ]
    edges = hog(lab[..., 0] / 100.0, _ORIENTATIONS, (_CELL, _CELL), (2, 2))
    return np.concatenate([np.sqrt(np.concatenate(shares)), edges]).astype(np.float32)


def resized(pixels: NDArray[np.uint8], width: int, height: int) -> NDArray[np.float64]:
    """Bring pixels of shape (h, w, 3) to another size, from 0 to 1; shape (height, width, 3)."""
    shown = Image.fromarray(np.ascontiguousarray(pixels)).resize((width, height), Image.Resampling.LANCZOS)
    return np.asarray(shown, dtype=np.float64) / 255.0
