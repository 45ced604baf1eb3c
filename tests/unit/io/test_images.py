"""Pictures look as they should, whatever the file: formats, depths, colours, orientation, size."""

from __future__ import annotations

import hashlib
import threading
import warnings
from pathlib import Path

import numpy as np
import pytest
from image_files import close, encoded, gradient, one_of_each, oriented, shown, written
from PIL import Image

from crowdclust_app.domain.errors import UserError
from crowdclust_app.io.images import probe, read_picture, scan_folder

ROUGHLY = {"jpg": 14, "webp": 14, "avif": 14}


@pytest.mark.parametrize("name", sorted(one_of_each()))
def test_every_kind_of_file_is_read_whole_and_small(tmp_path: Path, name: str) -> None:
    path = written(tmp_path, name, one_of_each()[name])
    facts = probe(path)
    whole, small = read_picture(path), read_picture(path, 10)
    assert whole.pixels.shape == (facts.height, facts.width, 3)
    assert max(small.pixels.shape[:2]) == 10
    for picture in (whole, small):
        assert (picture.width, picture.height, picture.frames) == (facts.width, facts.height, facts.frames)
        assert picture.pixels.dtype == np.uint8
        assert picture.pixels.flags["C_CONTIGUOUS"]
        assert picture.pixels.flags["WRITEABLE"]
    assert facts.byte_size == path.stat().st_size
    assert facts.content_hash == hashlib.sha256(path.read_bytes()).hexdigest()
    assert facts.frames == (3 if name.startswith(("moving", "pages")) else 1)


@pytest.mark.parametrize(
    "name", [name for name in sorted(one_of_each()) if name.startswith("rgb.") or name in {"cmyk.jpg", "packed.tif"}]
)
def test_colours_survive_every_format(tmp_path: Path, name: str) -> None:
    tolerance = ROUGHLY.get(name.rsplit(".", 1)[1], 1)
    pixels = shown(tmp_path, name, one_of_each()[name]).astype(int)
    assert np.abs(pixels - np.asarray(gradient()).astype(int)).mean() <= tolerance / 3
    assert close(pixels[0, 0], (0, 0, 255), tolerance)
    assert close(pixels[0, -1], (255, 0, 128), tolerance)
    assert close(pixels[-1, 0], (0, 255, 128), tolerance)


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("name", ["a.jpg", "a.png", "a.webp", "a.tif"])
def test_orientation_turns_the_picture_and_its_size(tmp_path: Path, name: str, orientation: int) -> None:
    """The corner that the tag says is the upper left one is shown there, at any size."""
    file_format = {"jpg": "JPEG", "png": "PNG", "webp": "WEBP", "tif": "TIFF"}[name[2:]]
    options = {"quality": 95} if file_format in {"JPEG", "WEBP"} else {}
    image = Image.new("RGB", (60, 40), (0, 0, 200))
    image.paste((250, 30, 30), (0, 0, 30, 20))  # red in the stored upper left corner
    image.paste((30, 250, 30), (30, 0, 60, 20))  # green in the stored upper right corner
    path = written(tmp_path, name, encoded(image, file_format, exif=oriented(orientation), **options))
    # where stored upper left and stored upper right end up: (row, column), 0 first and -1 last
    corners = {
        1: ((0, 0), (0, -1)),
        2: ((0, -1), (0, 0)),
        3: ((-1, -1), (-1, 0)),
        4: ((-1, 0), (-1, -1)),
        5: ((0, 0), (-1, 0)),
        6: ((0, -1), (-1, -1)),
        7: ((-1, -1), (0, -1)),
        8: ((-1, 0), (0, 0)),
    }
    facts = probe(path)
    assert (facts.width, facts.height) == ((60, 40) if orientation < 5 else (40, 60))
    for side in (None, 24):
        picture = read_picture(path, side)
        assert (picture.width, picture.height) == (facts.width, facts.height)
        assert (picture.pixels.shape[1] > picture.pixels.shape[0]) == (orientation < 5)
        red, green = corners[orientation]
        assert close(picture.pixels[red], (250, 30, 30), 20)
        assert close(picture.pixels[green], (30, 250, 30), 20)


@pytest.mark.parametrize("name", ["moving.gif", "moving.webp", "moving.png", "pages.tif"])
def test_the_first_frame_is_shown(tmp_path: Path, name: str) -> None:
    picture = read_picture(written(tmp_path, name, one_of_each()[name]))
    assert picture.frames == 3
    assert close(picture.pixels[6, 10], (0, 200, 90), 3)


def test_pictures_inside_a_phones_jpeg_are_no_animation(tmp_path: Path) -> None:
    data = encoded(gradient(), "MPO", save_all=True, append_images=[gradient()])
    picture = read_picture(written(tmp_path, "a.jpg", data), 20)
    assert picture.frames == 1
    assert picture.pixels.shape == (13, 20, 3)


def test_an_animation_with_a_damaged_tail_still_shows_its_first_frame(tmp_path: Path) -> None:
    data = one_of_each()["moving.gif"]
    picture = read_picture(written(tmp_path, "a.gif", data[: len(data) - 40]))
    assert picture.frames >= 1
    assert close(picture.pixels[6, 10], (0, 200, 90), 3)


@pytest.mark.parametrize("size", [(1, 1), (1, 20_000), (20_000, 1), (2, 9_000), (3, 2)])
@pytest.mark.parametrize("file_format", ["PNG", "JPEG"])
@pytest.mark.parametrize("side", [None, 1, 64])
def test_extreme_shapes_never_lose_a_side(
    tmp_path: Path, size: tuple[int, int], file_format: str, side: int | None
) -> None:
    image = Image.new("RGB", size, (200, 100, 50))
    path = written(tmp_path, "a.png", encoded(image, file_format))
    facts = probe(path)
    picture = read_picture(path, side)
    assert (facts.width, facts.height) == (picture.width, picture.height) == size
    longest = max(size) if side is None else min(side, max(size))
    assert max(picture.pixels.shape[:2]) == longest
    assert min(picture.pixels.shape[:2]) >= 1
    assert close(picture.pixels[0, 0], (200, 100, 50), 3)


def test_small_pictures_are_not_enlarged(tmp_path: Path) -> None:
    assert shown(tmp_path, "a.png", encoded(gradient(), "PNG"), 500).shape == (32, 48, 3)


def test_a_length_of_nothing_is_a_fault_of_the_caller(tmp_path: Path) -> None:
    path = written(tmp_path, "a.png", encoded(gradient(), "PNG"))
    with pytest.raises(ValueError, match="0 pixels"):
        read_picture(path, 0)


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"", "the file is empty"),
        (bytes(500), "the file holds nothing but zeros"),
        (b"<html></html>", "it is a web page or text, not a picture"),
        (b"\xff\xd8\xff", "it is not a picture that this program knows, or its beginning is damaged"),
        (encoded(gradient(300, 300), "JPEG")[:-900], "the picture is cut off: the file ends too early"),
        (encoded(gradient(300, 300), "PNG")[:-900], "the picture is cut off: the file ends too early"),
        (encoded(gradient(300, 300), "BMP")[:-900], "the picture is cut off: the file ends too early"),
    ],
)
def test_what_is_no_whole_picture_is_refused_with_its_reason(tmp_path: Path, data: bytes, what: str) -> None:
    path = written(tmp_path, "a.jpg", data)
    for read in (probe, read_picture):
        with pytest.raises(UserError) as caught:
            read(path)
        assert caught.value.what == what
        assert caught.value.where == str(path)


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="it is not there any more"):
        read_picture(tmp_path / "gone.png")
    with pytest.raises(UserError, match="the system cannot read it"):
        read_picture(tmp_path)


def test_a_file_without_signature_needs_its_extension(tmp_path: Path) -> None:
    """TGA has no signature: under any other name it may as well be a damaged file of another format."""
    data = encoded(gradient(), "TGA")
    assert probe(written(tmp_path, "a.tga", data)).width == 48
    with pytest.raises(UserError, match="beginning is damaged"):
        probe(written(tmp_path, "a.jpg", data))


def test_reading_on_many_threads_lets_no_warning_out_and_leaves_the_filters(tmp_path: Path) -> None:
    """A TIFF with a broken tag makes Pillow warn; here warnings are errors."""
    data = bytearray(one_of_each()["rgb.tif"])
    at = data.index((277).to_bytes(2, "little") + (3).to_bytes(2, "little"))
    data[at + 2] = 99  # an unknown field type
    path = written(tmp_path, "a.tif", bytes(data))
    good = written(tmp_path, "b.png", encoded(gradient(), "PNG"))
    before = list(warnings.filters)
    failures: list[BaseException] = []

    def read() -> None:
        for _ in range(20):
            for file in (path, good):
                try:
                    read_picture(file, 16)
                except UserError:
                    pass
                except BaseException as error:  # noqa: BLE001 - reported below
                    failures.append(error)

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert warnings.filters == before


def test_damaged_metadata_does_not_cost_the_picture(tmp_path: Path) -> None:
    data = encoded(gradient(), "JPEG", exif=oriented(6))
    at = data.index(b"Exif\0\0") + 6
    broken = data[:at] + b"\xff" * 12 + data[at + 12 :]
    assert shown(tmp_path, "a.jpg", broken).shape == (32, 48, 3)


def test_scan_folder_gives_relative_paths_in_natural_order(tmp_path: Path) -> None:
    for name in ("b10.png", "b9.png", "notes.txt"):
        written(tmp_path, name, encoded(gradient(), "PNG"))
    assert list(scan_folder(tmp_path)) == ["b9.png", "b10.png"]


def test_real_photos(shared_data: Path) -> None:
    for collection in ("trash6", "signs10"):
        folder = shared_data / "images" / collection
        for relative in list(scan_folder(folder))[::40]:
            facts, picture = probe(folder / relative), read_picture(folder / relative, 64)
            assert (facts.width, facts.height) == (picture.width, picture.height)
            assert max(picture.pixels.shape[:2]) == min(64, max(facts.width, facts.height))
            with Image.open(folder / relative) as image:
                mean = np.asarray(image.convert("RGB")).mean(axis=(0, 1))
            assert np.abs(picture.pixels.mean(axis=(0, 1)) - mean).max() < 4
