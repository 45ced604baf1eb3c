"""Image files: which there are, what is in them, and their pixels for display. Pillow is the one decoder."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from PIL import Image

from crowdclust_app.io.colours import shown_rgb
from crowdclust_app.io.decoding import decoded, explained, open_image
from crowdclust_app.io.image_files import list_folder
from crowdclust_app.io.picture import ImageFacts, Picture

__all__ = ["ImageFacts", "Picture", "probe", "read_picture", "scan_folder"]

_ORIENTATION_TAG = 0x0112
_TRANSPOSE = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
_SWAPS_SIDES = frozenset({5, 6, 7, 8})
# Decoded at least this many times larger than asked for, so that the last step is a fine filter and not the decoder's.
_DRAFT_MARGIN = 1.5
# Phones put depth maps and previews into a JPEG as further pictures: that is no animation.
_STILL_FORMATS = frozenset({"MPO"})


def scan_folder(root: Path) -> Iterator[str]:
    """Relative paths (with `/`) of the image files below a folder, in natural order.

    Raises
    ------
    UserError
        When the folder does not exist, is a file or cannot be opened.
    """
    yield from list_folder(root).images


def probe(path: Path) -> ImageFacts:
    """Find out what a campaign keeps about an image file, and that the picture can be decoded to its end.

    JPEG is decoded at an eighth of its scale, which reads every byte but is quick.

    Raises
    ------
    UserError
        When the file cannot be read or is not a whole picture.
    """
    with explained(path), path.open("rb") as file:
        content_hash = hashlib.file_digest(file, "sha256").hexdigest()
        byte_size = file.tell()
        file.seek(0)
        with open_image(file, path) as image:
            orientation = _orientation(image)
            full = image.size
            frames = _count_frames(image)
            _draft(image, 1)
            with decoded(image, path, full):
                pass
        width, height = _as_shown(full, orientation)
        return ImageFacts(width, height, frames, byte_size, content_hash)


def read_picture(path: Path, longest_side: int | None = None) -> Picture:
    """Read an image for display.

    Parameters
    ----------
    path
        The file.
    longest_side
        The result is shrunk (never enlarged) to this many pixels on its longer side; None keeps every pixel.

    Raises
    ------
    UserError
        When the file cannot be read or is not a whole picture.
    """
    if longest_side is not None and longest_side < 1:
        raise ValueError(f"a picture of {longest_side} pixels")
    with explained(path), path.open("rb") as file, open_image(file, path) as image:
        orientation = _orientation(image)
        full = image.size
        frames = _count_frames(image)
        target = _fitted(full, longest_side)
        if longest_side is not None:
            _draft(image, max(target))
        with decoded(image, path, full):
            shown = shown_rgb(image, (min(target[0], image.width), min(target[1], image.height)))
            if orientation in _TRANSPOSE:
                shown = shown.transpose(_TRANSPOSE[orientation])
            pixels = np.array(shown, dtype=np.uint8)
        width, height = _as_shown(full, orientation)
        return Picture(pixels, width, height, frames)


def _fitted(size: tuple[int, int], longest_side: int | None) -> tuple[int, int]:
    """Size with this longer side and the same proportions, at least one pixel each way."""
    longest = max(size)
    if longest_side is None or longest <= longest_side:
        return size
    return (max(1, round(size[0] * longest_side / longest)), max(1, round(size[1] * longest_side / longest)))


def _draft(image: Image.Image, longest_side: int) -> None:
    """Ask the decoder (JPEG's can) for a smaller picture that is still large enough."""
    full = image.size
    needed = min(1.0, _DRAFT_MARGIN * longest_side / max(full))
    image.draft(None, (max(1, round(full[0] * needed)), max(1, round(full[1] * needed))))


def _as_shown(size: tuple[int, int], orientation: int) -> tuple[int, int]:
    return (size[1], size[0]) if orientation in _SWAPS_SIDES else size


def _orientation(image: Image.Image) -> int:
    """EXIF orientation, 1 where there is none or the metadata is damaged: a picture is not refused for that."""
    if image.format == "TIFF":
        return 1  # the TIFF decoder turns the picture itself, and gives the turned size
    with contextlib.suppress(Exception):
        value = image.getexif().get(_ORIENTATION_TAG, 1)
        return value if isinstance(value, int) else 1
    return 1


def _count_frames(image: Image.Image) -> int:
    """Number of frames; what cannot be counted (a damaged tail) counts as one, for the first frame may be whole."""
    if image.format in _STILL_FORMATS:
        return 1
    with contextlib.suppress(Exception):
        return max(1, int(getattr(image, "n_frames", 1)))
    with contextlib.suppress(Exception):
        image.seek(0)
    return 1
