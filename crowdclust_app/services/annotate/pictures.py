"""Pictures for the screen."""

from __future__ import annotations

from pathlib import Path

from crowdclust_app.io.images import read_picture
from crowdclust_app.io.picture import Picture

__all__ = ["Picture", "load_picture"]


def load_picture(path: Path, longest_side: int | None = None) -> Picture:
    """Read an image for display; may be called from several threads at once.

    Parameters
    ----------
    path
        The image file.
    longest_side
        Longer side of the result in device pixels; a smaller image is not enlarged. None keeps every pixel.

    Raises
    ------
    UserError
        When the file is missing or cannot be read; its `what` is the reason to show in the picture's place.
    """
    return read_picture(path, longest_side)
