"""Opening image files with Pillow under our own limits, every failure said in words.

Limits
------
A header may announce up to `HEADER_PIXELS` pixels, and decoding may take up to `DECODED_BYTES` bytes by an estimate
made from the header alone, so a small file that unpacks to a huge picture is refused before it is unpacked. JPEG is
decoded at a reduced scale and so reaches the header's limit; other formats have to be decoded whole (20,000 x 20,000
RGB is 1.6 GB). Only one picture above `LARGE_BYTES` is in memory at a time in the whole process.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import logging
import struct
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from PIL import Image, UnidentifiedImageError

from crowdclust_app.domain.errors import UserError
from crowdclust_app.io.image_files import why_not

HEADER_PIXELS = 1_000_000_000
DECODED_BYTES = 2_500_000_000
LARGE_BYTES = 200_000_000

# Formats whose decoders are in the Pillow wheels and run no other program; content decides, not the extension.
# JPEG includes MPO. Each format has its plugin, and only these are loaded.
_PLUGINS = {
    "JPEG": "Jpeg",
    "PNG": "Png",
    "GIF": "Gif",
    "WEBP": "WebP",
    "TIFF": "Tiff",
    "BMP": "Bmp",
    "DIB": "Bmp",
    "AVIF": "Avif",
    "JPEG2000": "Jpeg2K",
    "PPM": "Ppm",
    "PCX": "Pcx",
    "SGI": "Sgi",
    "QOI": "Qoi",
    "TGA": "Tga",
}
# TGA has no signature, so almost any damaged file could pass for one: only where the name says so.
_BY_NAME_ONLY = {"TGA": ".tga"}

# Bytes a pixel while decoding, decoder's own buffers included.
_BYTES_PER_PIXEL = {"1": 1, "L": 1, "P": 1, "I;16": 2, "I;16B": 2, "I;16L": 2}
_BYTES_PER_PIXEL_OF_FORMAT = {"JPEG2000": 16, "WEBP": 12, "AVIF": 10}
_OTHER_MODES = 4

_large_picture = threading.Lock()
_quiet_lock = threading.Lock()
_quiet_users = 0
_quiet_filters = contextlib.ExitStack()

# Pillow warns at this limit and refuses at twice as much; ours is the refusal.
Image.MAX_IMAGE_PIXELS = HEADER_PIXELS // 2
# Without a handler Python prints Pillow's complaints about odd files to the terminal.
logging.getLogger("PIL").addHandler(logging.NullHandler())


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Keep Pillow's warnings about odd files from the user.

    Warning filters are global, so threads that decode at the same time share one change of them: the first sets it,
    the last takes it back.
    """
    global _quiet_users  # noqa: PLW0603 - counts the threads inside, under a lock
    with _quiet_lock:
        if _quiet_users == 0:
            _quiet_filters.enter_context(warnings.catch_warnings())
            warnings.filterwarnings("ignore", module=r"PIL\.")
        _quiet_users += 1
    try:
        yield
    finally:
        with _quiet_lock:
            _quiet_users -= 1
            if _quiet_users == 0:
                _quiet_filters.close()


@contextlib.contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn whatever goes wrong with an image file into a `UserError` about it."""
    try:
        with quiet():
            yield
    except UserError:
        raise
    except Image.DecompressionBombError as error:
        raise UserError(
            f"the picture has more than {HEADER_PIXELS // 1_000_000:,} million pixels", where=str(path)
        ) from error
    except MemoryError as error:
        raise UserError("there is not enough memory to open the picture", where=str(path)) from error
    except UnidentifiedImageError as error:
        raise UserError(_what_it_is_instead(path), where=str(path)) from error
    except Exception as error:
        raise UserError(_reason(error), where=str(path)) from error


def open_image(file: IO[bytes], path: Path) -> Image.Image:
    """Read the header of an image; nothing is decoded yet.

    Raises
    ------
    UserError
        When the picture is above the limits. Other failures are Pillow's own exceptions, for `explained`.
    """
    extension = path.suffix.lower()
    formats = [name for name in _formats() if _BY_NAME_ONLY.get(name, extension) == extension]
    image = Image.open(file, formats=formats)
    if image.width < 1 or image.height < 1:
        raise UserError("the picture has no pixels", where=str(path))
    if image.width * image.height > HEADER_PIXELS:
        raise UserError(
            f"the picture has {image.width:,} x {image.height:,} pixels, more than the"
            f" {HEADER_PIXELS // 1_000_000:,} million that can be opened",
            where=str(path),
        )
    return image


@functools.cache
def _formats() -> tuple[str, ...]:
    """Load the plugins; the names of those formats that this Pillow can open."""
    for plugin in _PLUGINS.values():
        importlib.import_module(f"PIL.{plugin}ImagePlugin")
    return tuple(name for name in _PLUGINS if name in Image.OPEN)


@contextlib.contextmanager
def decoded(image: Image.Image, path: Path, full_size: tuple[int, int]) -> Iterator[None]:
    """Decode an opened image within the memory limit; its pixels are there inside the block and gone afterwards.

    Parameters
    ----------
    image
        The image, perhaps asked to decode itself smaller (`draft`).
    path
        Its file, for messages.
    full_size
        Its size before that.

    Raises
    ------
    UserError
        When decoding would take too much memory.
    """
    needed = decoded_bytes(image, full_size)
    if needed > DECODED_BYTES:
        raise UserError(
            f"the picture ({full_size[0]:,} x {full_size[1]:,}) would take {needed / 1e9:.1f} GB of memory",
            where=str(path),
            todo="save a smaller copy of it",
        )
    with _large_picture if needed > LARGE_BYTES else contextlib.nullcontext():
        try:
            image.load()
            yield
        finally:
            image.close()  # before the next large picture may begin


def decoded_bytes(image: Image.Image, full_size: tuple[int, int]) -> int:
    """Bytes that decoding will take, estimated from the header."""
    per_pixel = _BYTES_PER_PIXEL_OF_FORMAT.get(image.format or "", _BYTES_PER_PIXEL.get(image.mode, _OTHER_MODES))
    needed = per_pixel * image.width * image.height
    if image.info.get("progressive"):
        # the coefficients of the whole picture, 2 bytes each, whatever the scale it is then decoded at
        needed += 2 * len(image.getbands()) * full_size[0] * full_size[1]
    return needed


def _what_it_is_instead(path: Path) -> str:
    try:
        with path.open("rb") as file:
            start = file.read(64)
    except OSError as error:
        return why_not(error)
    if not start:
        return "the file is empty"
    if not start.strip(b"\0"):
        return "the file holds nothing but zeros"
    if start[4:8] == b"ftyp" and start[8:12] in {b"heic", b"heix", b"hevc", b"mif1", b"msf1", b"heim", b"heis"}:
        return "HEIC pictures cannot be read; save it as JPEG or PNG"
    if start[:4] in {b"II*\0", b"MM\0*", b"II+\0", b"MM\0+"}:
        return "this variety of TIFF cannot be read, or it is damaged; save it as PNG or 8-bit TIFF"
    if start.lstrip(b"\xef\xbb\xbf \r\n\t")[:1] == b"<":
        return "it is a web page or text, not a picture"
    return "it is not a picture that this program knows, or its beginning is damaged"


def _reason(error: Exception) -> str:
    text = str(error).lower()
    if isinstance(error, OSError) and error.errno is not None:
        return why_not(error)
    if (
        isinstance(error, EOFError | struct.error)
        or "truncated" in text
        or "end of file" in text
        or "not enough image data" in text
    ):
        return "the picture is cut off: the file ends too early"
    if "unknown pixel mode" in text or "unsupported" in text or "not supported" in text:
        return "this variety of the format cannot be read; save it as PNG or 8-bit TIFF"
    return "the picture is damaged"
