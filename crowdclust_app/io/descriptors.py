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

# sRGB to CIE XYZ, and the white of daylight (D65) seen at 2 degrees.
_XYZ = np.array([[0.412453, 0.357580, 0.180423], [0.212671, 0.715160, 0.072169], [0.019334, 0.119193, 0.950227]])
_WHITE = np.array([0.95047, 1.0, 1.08883])


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
    lab = cie_lab(resized(read_picture(path, 2 * _SIDE).pixels[..., :3], _SIDE, _SIDE))
    shares = [
        np.histogram(np.clip(lab[..., axis], *between), _BINS, between)[0] / (_SIDE * _SIDE)
        for axis, between in enumerate(_RANGES)
    ]
    edges = oriented_gradients(lab[..., 0] / 100.0)
    return np.concatenate([np.sqrt(np.concatenate(shares)), edges]).astype(np.float32)


def cie_lab(rgb: NDArray[np.float64]) -> NDArray[np.float64]:
    """Convert sRGB from 0 to 1 into CIE Lab (IEC 61966-2-1, D65); both of shape (h, w, 3)."""
    linear = np.where(rgb > 0.04045, ((rgb + 0.055) / 1.055) ** 2.4, rgb / 12.92)
    xyz = linear @ _XYZ.T / _WHITE
    x, y, z = np.moveaxis(np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16.0 / 116.0), -1, 0)
    return np.stack([116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)], axis=-1)


def oriented_gradients(grey: NDArray[np.float64]) -> NDArray[np.float64]:
    """Histograms of oriented gradients of cells, normalised in blocks of 2 x 2 cells (L2-Hys).

    Parameters
    ----------
    grey : ndarray of shape (s, s)
        A square picture; s is a multiple of 16, the side of a cell.

    Returns
    -------
    ndarray of shape ((s / 16 - 1)**2 * 32,)
        Blocks row by row, in each its four cells, in each 8 orientations.

    References
    ----------
    N. Dalal and B. Triggs, "Histograms of oriented gradients for human detection", CVPR 2005.
    """
    down, right = np.zeros_like(grey), np.zeros_like(grey)
    down[1:-1] = grey[2:] - grey[:-2]
    right[:, 1:-1] = grey[:, 2:] - grey[:, :-2]
    orientation = np.floor(np.rad2deg(np.arctan2(down, right)) % 180.0 / (180.0 / _ORIENTATIONS))
    votes = np.hypot(down, right)[..., None] * (orientation[..., None] == np.arange(_ORIENTATIONS))
    cells = len(grey) // _CELL
    by_pixel = votes.reshape(cells, _CELL, cells, _CELL, _ORIENTATIONS).transpose(1, 3, 0, 2, 4)
    # Summed pixel by pixel in single precision, as scikit-image does: campaigns keep descriptors that it computed.
    histograms = np.zeros((cells, cells, _ORIENTATIONS), np.float32)
    for vote in by_pixel.reshape(_CELL * _CELL, cells, cells, _ORIENTATIONS):
        histograms += vote
    means = histograms.astype(np.float64) / _CELL**2
    blocks = np.lib.stride_tricks.sliding_window_view(means, (2, 2), axis=(0, 1)).transpose(0, 1, 3, 4, 2)
    return _unit_length(np.minimum(_unit_length(blocks), 0.2)).ravel()


def _unit_length(blocks: NDArray[np.float64]) -> NDArray[np.float64]:
    squares: NDArray[np.float64] = (blocks**2).sum(axis=(2, 3, 4), keepdims=True)
    return blocks / np.sqrt(squares + 1e-10)


def resized(pixels: NDArray[np.uint8], width: int, height: int) -> NDArray[np.float64]:
    """Bring pixels of shape (h, w, 3) to another size, from 0 to 1; shape (height, width, 3)."""
    shown = Image.fromarray(np.ascontiguousarray(pixels)).resize((width, height), Image.Resampling.LANCZOS)
    return np.asarray(shown, dtype=np.float64) / 255.0
