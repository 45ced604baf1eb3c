"""What reading an image file gives: facts at import, pixels for display. No decoder is loaded by this module."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class ImageFacts:
    """What a campaign keeps about an image file.

    Parameters
    ----------
    width, height
        Pixels, as shown (after the orientation that the file asks for).
    frames
        Frames of an animation or pages of a document; the first is the one that is shown.
    byte_size
        Size of the file.
    content_hash
        SHA-256 of the file's bytes, 64 hexadecimal digits.
    """

    width: int
    height: int
    frames: int
    byte_size: int
    content_hash: str


@dataclass(frozen=True, slots=True, eq=False)
class Picture:
    """An image ready to be shown.

    Parameters
    ----------
    pixels : ndarray of shape (h, w, 3)
        sRGB, 8 bits, contiguous and writable; possibly smaller than the image itself.
    width, height
        Pixels of the whole image, as shown (after orientation).
    frames
        Frames of an animation or pages of a document; the pixels are those of the first.
    """

    pixels: NDArray[np.uint8]
    width: int
    height: int
    frames: int
