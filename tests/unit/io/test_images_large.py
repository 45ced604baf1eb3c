"""Large pictures: shown where memory allows it, refused by their header where not."""

from __future__ import annotations

import struct
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from image_files import encoded, png, ramp, written
from PIL import Image, ImageFile

from crowdclust_app.domain.errors import UserError
from crowdclust_app.io import colours, decoding, images
from crowdclust_app.io.images import probe, read_picture


def png_header(width: int, height: int) -> bytes:
    """A PNG that announces RGB pixels and holds none."""
    return png(struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0), b"")


@pytest.mark.parametrize("read", [probe, read_picture])
def test_a_header_of_too_many_pixels_is_refused_before_decoding(
    tmp_path: Path, read: Callable[[Path], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A small file that would unpack to gigabytes; nothing may be decoded."""
    monkeypatch.setattr(ImageFile.ImageFile, "load", never)
    path = written(tmp_path, "bomb.png", png_header(60_000, 40_000))
    with pytest.raises(UserError) as caught:
        read(path)
    assert caught.value.what == "the picture has more than 1,000 million pixels"


def never(_image: object) -> None:
    raise AssertionError("a picture above the limits was decoded")


@pytest.mark.parametrize("read", [probe, read_picture])
def test_a_picture_that_would_not_fit_into_memory_is_refused(
    tmp_path: Path, read: Callable[[Path], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ImageFile.ImageFile, "load", never)
    path = written(tmp_path, "large.png", png_header(30_000, 30_000))
    with pytest.raises(UserError) as caught:
        read(path)
    assert caught.value.what == "the picture (30,000 x 30,000) would take 3.6 GB of memory"
    assert caught.value.todo == "save a smaller copy of it"


@pytest.mark.parametrize(
    ("file_format", "options", "mode", "expected"),
    [
        ("PNG", {}, "RGB", 4 * 80 * 60),
        ("PNG", {}, "L", 80 * 60),
        ("JPEG", {}, "RGB", 4 * 80 * 60),
        ("JPEG", {"progressive": True}, "RGB", (4 + 6) * 80 * 60),
        ("JPEG2000", {}, "RGB", 16 * 80 * 60),
    ],
)
def test_memory_is_estimated_from_the_header(
    tmp_path: Path, file_format: str, options: dict[str, bool], mode: str, expected: int
) -> None:
    path = written(tmp_path, "a.png", encoded(Image.new(mode, (80, 60)), file_format, **options))
    with path.open("rb") as file, decoding.open_image(file, path) as image:
        assert decoding.decoded_bytes(image, image.size) == expected


def test_a_jpeg_is_decoded_small_and_so_passes_the_memory_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path, "a.jpg", encoded(Image.new("RGB", (4000, 3000), (9, 99, 199)), "JPEG"))
    monkeypatch.setattr(decoding, "DECODED_BYTES", 4 * 4000 * 3000 // 60)
    assert probe(path).width == 4000
    assert read_picture(path, 300).pixels.shape == (225, 300, 3)
    with pytest.raises(UserError, match="memory"):
        read_picture(path)


@pytest.mark.parametrize("mode", ["1", "L", "P", "RGB", "RGBA", "LA", "CMYK", "LAB", "I;16", "I", "F"])
def test_a_long_picture_is_shrunk_in_strips_to_the_same_pixels(
    tmp_path: Path, mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows do not fit into strips evenly here, and the whole picture at once is the reference."""
    if mode in {"I;16", "I", "F"}:
        image = Image.fromarray(ramp({"I;16": "uint16", "I": "int32", "F": "float32"}[mode], 0, 5000, 1500, 1013))
    else:
        source = np.add.outer(np.arange(1013), np.arange(1500)) // 10 % 256
        image = Image.fromarray(source.astype(np.uint8)).convert("RGB")
        image = Image.merge("LAB", image.split()) if mode == "LAB" else image.convert(mode)
    path = written(tmp_path, "a.tif", encoded(image, "TIFF"))
    whole = read_picture(path, 97).pixels
    monkeypatch.setattr(colours, "_STRIP_PIXELS", 200_000)
    assert np.array_equal(read_picture(path, 97).pixels, whole)


@pytest.mark.parametrize("size", [(20_000, 1_000), (700, 20_000)])
@pytest.mark.parametrize("file_format", ["PNG", "JPEG", "TIFF"])
def test_a_side_of_20_000_pixels(tmp_path: Path, size: tuple[int, int], file_format: str) -> None:
    image = Image.new("RGB", size, (10, 20, 30))
    image.paste((240, 230, 220), (size[0] // 2, 0, *size))
    path = written(tmp_path, "a.png", encoded(image, file_format))
    picture = read_picture(path, 400)
    assert (picture.width, picture.height) == size
    assert max(picture.pixels.shape[:2]) == 400
    assert np.abs(picture.pixels[:, 0].astype(int) - [10, 20, 30]).max() <= 8
    assert np.abs(picture.pixels[:, -1].astype(int) - [240, 230, 220]).max() <= 8


def test_large_pictures_are_decoded_one_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoding, "LARGE_BYTES", 100)
    path = written(tmp_path, "a.png", encoded(Image.new("RGB", (30, 20)), "PNG"))
    done = threading.Event()

    def read() -> None:
        read_picture(path)
        done.set()

    with decoding._large_picture:
        thread = threading.Thread(target=read)
        thread.start()
        assert not done.wait(0.2)
    thread.join(30)
    assert done.is_set()


def test_a_large_picture_holds_the_place_until_it_is_small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoding, "LARGE_BYTES", 100)
    held = []

    def shrink(image: Image.Image, size: tuple[int, int]) -> Image.Image:
        held.append(decoding._large_picture.locked())
        return colours.shown_rgb(image, size)

    monkeypatch.setattr(images, "shown_rgb", shrink)
    read_picture(written(tmp_path, "a.png", encoded(Image.new("RGB", (30, 20)), "PNG")), 10)
    assert held == [True]
    assert not decoding._large_picture.locked()


def test_frames_larger_than_the_picture_do_not_break_it(tmp_path: Path) -> None:
    """A GIF whose frame reaches beyond its screen."""
    data = bytearray(encoded(Image.new("P", (10, 10)), "GIF"))
    data[6:10] = struct.pack("<HH", 4, 4)
    picture = read_picture(written(tmp_path, "a.gif", bytes(data)))
    assert picture.pixels.shape[2] == 3
    assert (picture.height, picture.width) == picture.pixels.shape[:2]
