"""Small JPEG copies of photos, to be put into a report."""

from __future__ import annotations

import io
from pathlib import Path

from PIL import Image

from crowdclust_app.io.images import read_picture

_QUALITY = 80


def thumbnail_jpeg(path: Path, longest_side: int = 144) -> bytes:
    """Read an image and make a small JPEG of it.

    Parameters
    ----------
    path
        The image file.
    longest_side
        In pixels; a smaller image is not enlarged.

    Raises
    ------
    UserError
        When the file is missing or cannot be read.
    """
    picture = read_picture(path, longest_side)
    buffer = io.BytesIO()
    Image.fromarray(picture.pixels).save(buffer, "JPEG", quality=_QUALITY, optimize=True)
    return buffer.getvalue()
