"""Image files made for tests: one small picture in every format and mode that a collection may hold."""

from __future__ import annotations

import io
import struct
import zlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageCms

from crowdclust_app.io.images import read_picture


def gradient(width: int = 48, height: int = 32) -> Image.Image:
    """A picture whose corners differ: red grows to the right, green downwards, blue to the upper left."""
    x = np.linspace(0, 255, width)[None, :].repeat(height, 0)
    y = np.linspace(0, 255, height)[:, None].repeat(width, 1)
    return Image.fromarray(np.stack([x, y, 255 - (x + y) / 2], axis=-1).round().astype(np.uint8))


def ramp(dtype: str, low: float, high: float, width: int = 48, height: int = 32) -> NDArray[np.generic]:
    """Grey values that grow from left to right."""
    return np.linspace(low, high, width)[None, :].repeat(height, 0).astype(dtype)


def encoded(image: Image.Image, file_format: str, **options: object) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, file_format, **options)
    return buffer.getvalue()


def animation(frames: int = 3) -> list[Image.Image]:
    return [Image.new("RGB", (20, 12), (60 * number, 200 - 60 * number, 90)) for number in range(frames)]


def tiff(raw: bytes, width: int, height: int, bits: tuple[int, ...], photometric: int, sample_format: int = 1) -> bytes:
    """An uncompressed little-endian TIFF of one strip, for pixel types that Pillow does not write."""
    n = len(bits)
    entries: list[tuple[int, int, int, bytes]] = [
        (256, 4, 1, width.to_bytes(4, "little")),
        (257, 4, 1, height.to_bytes(4, "little")),
        (258, 3, n, b"".join(b.to_bytes(2, "little") for b in bits)),
        (259, 3, 1, (1).to_bytes(2, "little")),
        (262, 3, 1, photometric.to_bytes(2, "little")),
        (273, 4, 1, b"STRP"),
        (277, 3, 1, n.to_bytes(2, "little")),
        (278, 4, 1, height.to_bytes(4, "little")),
        (279, 4, 1, len(raw).to_bytes(4, "little")),
        (284, 3, 1, (1).to_bytes(2, "little")),
        (339, 3, n, sample_format.to_bytes(2, "little") * n),
    ]
    extra_at = 8 + 2 + 12 * len(entries) + 4
    extra = b""
    directory = len(entries).to_bytes(2, "little")
    for tag, kind, count, value in entries:
        if len(value) > 4:
            offset = (extra_at + len(extra)).to_bytes(4, "little")
            extra += value
            value = offset
        directory += tag.to_bytes(2, "little") + kind.to_bytes(2, "little") + count.to_bytes(4, "little")
        directory += value.ljust(4, b"\0")
    directory += bytes(4)
    directory = directory.replace(b"STRP", (extra_at + len(extra)).to_bytes(4, "little"))
    return b"II*\0" + (8).to_bytes(4, "little") + directory + extra + raw


def swapped_profile() -> bytes:
    """An RGB profile of our own in which the red and blue primaries have changed places."""
    data = bytearray(ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes())
    count = int.from_bytes(data[128:132], "big")
    at = {bytes(data[132 + 12 * i : 136 + 12 * i]): 132 + 12 * i for i in range(count)}
    red, blue = at[b"rXYZ"], at[b"bXYZ"]
    data[red + 4 : red + 12], data[blue + 4 : blue + 12] = data[blue + 4 : blue + 12], data[red + 4 : red + 12]
    return bytes(data)


def one_of_each() -> dict[str, bytes]:
    """Small files of every kind, by a name with the fitting extension."""
    rgb = gradient()
    grey = rgb.convert("L")
    rgba = rgb.copy()
    rgba.putalpha(grey)
    palette = rgb.quantize(16)
    first, *others = animation()
    deep = Image.fromarray(ramp("uint16", 300, 4000))
    return {
        "rgb.jpg": encoded(rgb, "JPEG", quality=90),
        "progressive.jpg": encoded(rgb, "JPEG", progressive=True),
        "grey.jpg": encoded(grey, "JPEG"),
        "cmyk.jpg": encoded(rgb.convert("CMYK"), "JPEG"),
        "exif.jpg": encoded(rgb, "JPEG", exif=oriented(6)),
        "rgb.png": encoded(rgb, "PNG"),
        "alpha.png": encoded(rgba, "PNG"),
        "palette.png": encoded(palette, "PNG"),
        "see_through.png": encoded(palette, "PNG", transparency=0),
        "bits.png": encoded(grey.convert("1"), "PNG"),
        "deep.png": encoded(deep, "PNG"),
        "moving.png": encoded(first, "PNG", save_all=True, append_images=others),
        "moving.gif": encoded(first, "GIF", save_all=True, append_images=others),
        "still.gif": encoded(palette, "GIF"),
        "rgb.webp": encoded(rgb, "WEBP"),
        "moving.webp": encoded(first, "WEBP", save_all=True, append_images=others),
        "rgb.tif": encoded(rgb, "TIFF"),
        "packed.tif": encoded(rgb, "TIFF", compression="tiff_lzw"),
        "pages.tif": encoded(first, "TIFF", save_all=True, append_images=others),
        "deep.tif": encoded(deep, "TIFF"),
        "float.tif": encoded(Image.fromarray(ramp("float32", -1, 1)), "TIFF"),
        "lab.tif": encoded(Image.new("LAB", (20, 12), (150, 130, 120)), "TIFF"),
        "rgb.bmp": encoded(rgb, "BMP"),
        "rgb.ppm": encoded(rgb, "PPM"),
        "rgb.tga": encoded(rgb, "TGA"),
        "rgb.pcx": encoded(rgb, "PCX"),
        "rgb.sgi": encoded(rgb, "SGI"),
        "rgb.qoi": encoded(rgb, "QOI"),
        "rgb.jp2": encoded(rgb, "JPEG2000"),
        "rgb.avif": encoded(rgb, "AVIF"),
    }


def oriented(orientation: int) -> Image.Exif:
    exif = Image.Exif()
    exif[0x0112] = orientation
    return exif


def written(folder: Path, name: str, data: bytes) -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


def png(header: bytes, data: bytes) -> bytes:
    """A PNG of a header chunk and compressed data."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    pieces = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(data)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + pieces


def deep_png(values: NDArray[np.uint16]) -> bytes:
    """A 16-bit RGB PNG, which Pillow reads but does not write."""
    height, width, _ = values.shape
    rows = b"".join(b"\0" + row.astype(">u2").tobytes() for row in values)
    return png(struct.pack(">IIBBBBB", width, height, 16, 2, 0, 0, 0), rows)


def shown(folder: Path, name: str, data: bytes, side: int | None = None) -> NDArray[np.uint8]:
    """The pixels that a file of this content shows."""
    return read_picture(written(folder, name, data), side).pixels


def close(pixel: NDArray[np.uint8], colour: tuple[int, int, int], tolerance: int = 3) -> bool:
    return bool(np.abs(pixel.astype(int) - np.array(colour)).max() <= tolerance)
