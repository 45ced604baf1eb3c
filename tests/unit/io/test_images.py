"""Pictures look as they should, whatever the file: formats, depths, colours, orientation, size."""

from __future__ import annotations

import hashlib
import io
import threading
import warnings
from pathlib import Path

import numpy as np
import pytest
from image_files import encoded, gradient, one_of_each, oriented, ramp, swapped_profile, tiff, written
from numpy.typing import NDArray
from PIL import Image, ImageCms

from crowdclust_app.domain.errors import UserError
from crowdclust_app.io.images import probe, read_picture, scan_folder

ROUGHLY = {"jpg": 14, "webp": 14, "avif": 14}
GREY = 128


def shown(folder: Path, name: str, data: bytes, side: int | None = None) -> NDArray[np.uint8]:
    return read_picture(written(folder, name, data), side).pixels


def close(pixel: NDArray[np.uint8], colour: tuple[int, int, int], tolerance: int = 3) -> bool:
    return bool(np.abs(pixel.astype(int) - np.array(colour)).max() <= tolerance)


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


@pytest.mark.parametrize(
    ("dtype", "low", "high"),
    [
        ("uint16", 0, 65535),
        ("uint16", 300, 4000),
        ("int32", -70000, 90000),
        ("float32", 0.0, 1.0),
        ("float32", -3e38, 3e38),
    ],
)
@pytest.mark.parametrize("side", [None, 20])
def test_deep_greys_are_stretched_to_what_the_eye_can_see(
    tmp_path: Path, dtype: str, low: float, high: float, side: int | None
) -> None:
    data = encoded(Image.fromarray(ramp(dtype, low, high)), "TIFF")
    pixels = shown(tmp_path, "a.tif", data, side).astype(int)
    row = pixels[0, :, 0]
    assert row[0] <= 8
    assert row[-1] >= 247
    assert abs(row[len(row) // 2] - 128) <= 8
    assert (np.diff(row) >= 0).all()
    assert (pixels == pixels[:, :, :1]).all()


def test_a_16_bit_png_is_stretched_too(tmp_path: Path) -> None:
    pixels = shown(tmp_path, "a.png", encoded(Image.fromarray(ramp("uint16", 300, 900)), "PNG"))
    assert pixels[0, 0, 0] == 0
    assert pixels[0, -1, 0] == 255


def test_big_endian_deep_greys_are_the_same_picture(tmp_path: Path) -> None:
    values = ramp("uint16", 0, 5000)
    little = shown(tmp_path, "a.tif", encoded(Image.fromarray(values), "TIFF"))
    big = Image.frombytes("I;16B", (values.shape[1], values.shape[0]), values.astype(">u2").tobytes())
    assert np.array_equal(shown(tmp_path, "b.tif", encoded(big, "TIFF")), little)


def test_a_few_hot_pixels_do_not_blacken_the_picture(tmp_path: Path) -> None:
    values = ramp("uint16", 100, 1000, 100, 100).copy()
    values[::40, ::40] = 65535
    pixels = shown(tmp_path, "a.tif", encoded(Image.fromarray(values), "TIFF"))
    assert pixels[1, -1, 0] >= 250
    assert abs(int(pixels[1, 50, 0]) - 128) <= 8


def test_a_few_bright_pixels_on_black_stay_visible(tmp_path: Path) -> None:
    values = np.zeros((100, 100), dtype=np.uint16)
    values[50, 50:53] = 9
    pixels = shown(tmp_path, "a.tif", encoded(Image.fromarray(values), "TIFF"))
    assert pixels[50, 51, 0] == 255
    assert pixels[0, 0, 0] == 0


@pytest.mark.parametrize("value", [0, 7, 65535])
def test_a_constant_deep_picture_is_mid_grey(tmp_path: Path, value: int) -> None:
    data = encoded(Image.fromarray(np.full((5, 7), value, dtype=np.uint16)), "TIFF")
    assert (shown(tmp_path, "a.tif", data) == GREY).all()


def test_values_that_are_no_numbers_do_not_decide_the_stretch(tmp_path: Path) -> None:
    values = ramp("float32", 0, 10).copy()
    values[0, 0], values[1, 0], values[2, 0] = np.nan, np.inf, -np.inf
    pixels = shown(tmp_path, "a.tif", encoded(Image.fromarray(values), "TIFF"))
    assert pixels[0, 0, 0] == 0
    assert pixels[1, 0, 0] == 255
    assert pixels[2, 0, 0] == 0
    assert abs(int(pixels[5, 24, 0]) - 128) <= 5


def test_a_float_picture_without_a_number_is_shown_black(tmp_path: Path) -> None:
    data = encoded(Image.fromarray(np.full((4, 4), np.nan, dtype=np.float32)), "TIFF")
    assert (shown(tmp_path, "a.tif", data) == 0).all()


def test_a_deep_tiff_that_counts_from_white_is_turned_over(tmp_path: Path) -> None:
    raw = ramp("<u2", 0, 60000).tobytes()
    normal = shown(tmp_path, "a.tif", tiff(raw, 48, 32, (16,), photometric=1))
    inverted = shown(tmp_path, "b.tif", tiff(raw, 48, 32, (16,), photometric=0))
    assert np.array_equal(inverted, 255 - normal)


def test_16_bit_colours_keep_their_colours(tmp_path: Path) -> None:
    wide = (np.asarray(gradient()).astype("<u2") * 257).tobytes()
    pixels = shown(tmp_path, "a.tif", tiff(wide, 48, 32, (16, 16, 16), photometric=2))
    assert np.array_equal(pixels, np.asarray(gradient()))


def test_16_bit_png_colours_keep_their_colours(tmp_path: Path) -> None:
    pixels = shown(tmp_path, "a.png", deep_png(np.asarray(gradient()).astype(">u2") * 257))
    assert np.array_equal(pixels, np.asarray(gradient()))


def deep_png(values: NDArray[np.uint16]) -> bytes:
    """A 16-bit RGB PNG, which Pillow reads but does not write."""
    import struct
    import zlib

    height, width, _ = values.shape
    rows = b"".join(b"\0" + row.astype(">u2").tobytes() for row in values)

    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    header = struct.pack(">IIBBBBB", width, height, 16, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def test_a_float_colour_tiff_is_refused_with_advice(tmp_path: Path) -> None:
    raw = np.zeros((32, 48, 3), dtype="<f4").tobytes()
    path = written(tmp_path, "a.tif", tiff(raw, 48, 32, (32, 32, 32), photometric=2, sample_format=3))
    with pytest.raises(UserError) as caught:
        read_picture(path)
    assert caught.value.what == ("this variety of TIFF cannot be read, or it is damaged; save it as PNG or 8-bit TIFF")


def test_adobe_cmyk_is_not_shown_as_a_negative(tmp_path: Path) -> None:
    """Pillow writes CMYK JPEGs inverted with Adobe's marker, as Photoshop does."""
    data = encoded(Image.new("CMYK", (32, 32), (0, 255, 255, 0)), "JPEG", quality=95)
    assert b"Adobe" in data
    assert close(shown(tmp_path, "a.jpg", data)[16, 16], (255, 0, 0), 6)
    white = encoded(Image.new("CMYK", (32, 32), (0, 0, 0, 0)), "JPEG", quality=95)
    assert close(shown(tmp_path, "b.jpg", white)[16, 16], (255, 255, 255), 4)


def test_cmyk_and_ycbcr_tiffs(tmp_path: Path) -> None:
    cmyk = encoded(Image.new("CMYK", (20, 12), (255, 0, 255, 0)), "TIFF")
    assert close(shown(tmp_path, "a.tif", cmyk)[5, 5], (0, 255, 0), 2)
    ycbcr = Image.new("RGB", (32, 16), (200, 40, 90)).convert("YCbCr")
    data = encoded(ycbcr, "TIFF", compression="jpeg")
    assert Image.open(io.BytesIO(data)).tag_v2[262] == 6  # the file does hold YCbCr
    assert close(shown(tmp_path, "b.tif", data)[5, 5], (200, 40, 90), 4)


def test_lab_colours(tmp_path: Path) -> None:
    """CIE Lab (54, 81, 70) is a strong red; stored with a and b counted from 128."""
    red = Image.new("LAB", (20, 12), (round(54 * 2.55), 128 + 81, 128 + 70))
    pixels = shown(tmp_path, "a.tif", encoded(red, "TIFF"))
    assert pixels[5, 5, 0] > 240
    assert max(pixels[5, 5, 1:]) < 60
    grey = shown(tmp_path, "b.tif", encoded(Image.new("LAB", (20, 12), (128, 128, 128)), "TIFF"))
    assert np.ptp(grey[5, 5]) <= 4


def test_one_bit_pictures_are_black_and_white(tmp_path: Path) -> None:
    image = Image.new("1", (16, 8), 0)
    image.paste(1, (8, 0, 16, 8))
    for name, file_format in (("a.png", "PNG"), ("a.tif", "TIFF"), ("a.bmp", "BMP")):
        pixels = shown(tmp_path, name, encoded(image, file_format))
        assert (pixels[:, :8] == 0).all()
        assert (pixels[:, 8:] == 255).all()


@pytest.mark.parametrize("mode", ["RGBA", "LA"])
@pytest.mark.parametrize("side", [None, 4])
def test_what_is_transparent_shows_a_neutral_ground(tmp_path: Path, mode: str, side: int | None) -> None:
    colour = (250, 250, 250) if mode == "RGBA" else (250,)
    image = Image.new(mode, (16, 16), (*colour, 0))
    image.paste((*colour, 255), (8, 0, 16, 16))
    pixels = shown(tmp_path, "a.png", encoded(image, "PNG"), side)
    assert close(pixels[:, 0], (GREY, GREY, GREY), 4)
    assert close(pixels[:, -1], (250, 250, 250), 4)


def test_half_transparent_is_half_way_to_the_ground(tmp_path: Path) -> None:
    data = encoded(Image.new("RGBA", (4, 4), (228, 28, 128, 128)), "PNG")
    assert close(shown(tmp_path, "a.png", data)[0, 0], (178, 78, 128), 1)


def test_the_hidden_colour_of_transparent_pixels_does_not_bleed(tmp_path: Path) -> None:
    """Shrinking mixes what is seen, not the bright green that a transparent pixel may hide."""
    image = Image.new("RGBA", (64, 64), (0, 255, 0, 0))
    for column in range(0, 64, 2):
        image.paste((128, 128, 128, 255), (column, 0, column + 1, 64))
    pixels = shown(tmp_path, "a.png", encoded(image, "PNG"), 8)
    assert np.abs(pixels.astype(int) - 128).max() <= 2


def test_palette_with_a_transparent_entry(tmp_path: Path) -> None:
    image = Image.new("P", (16, 8), 0)
    image.putpalette([10, 20, 30, 240, 200, 100])
    image.paste(1, (8, 0, 16, 8))
    for name, file_format in (("a.png", "PNG"), ("a.gif", "GIF")):
        opaque = shown(tmp_path, name, encoded(image, file_format))
        assert close(opaque[0, 0], (10, 20, 30), 0)
        assert close(opaque[0, -1], (240, 200, 100), 0)
        holes = shown(tmp_path, name, encoded(image, file_format, transparency=0))
        assert close(holes[0, 0], (GREY, GREY, GREY), 0)
        assert close(holes[0, -1], (240, 200, 100), 0)


@pytest.mark.parametrize(("mode", "key", "seen"), [("L", 40, 90), ("RGB", (1, 2, 3), (90, 80, 70))])
def test_a_png_with_one_transparent_colour(tmp_path: Path, mode: str, key: object, seen: object) -> None:
    image = Image.new(mode, (8, 8), key)
    image.paste(seen, (4, 0, 8, 8))
    pixels = shown(tmp_path, "a.png", encoded(image, "PNG", transparency=key))
    assert (pixels[:, :4] == GREY).all()
    assert tuple(pixels[0, -1]) == (seen if isinstance(seen, tuple) else (seen,) * 3)


@pytest.mark.parametrize("side", [None, 8])
def test_an_embedded_profile_is_applied(tmp_path: Path, side: int | None) -> None:
    """The profile says that the file's red channel is the blue primary."""
    image = Image.new("RGB", (32, 32), (255, 0, 0))
    pixels = shown(tmp_path, "a.png", encoded(image, "PNG", icc_profile=swapped_profile()), side)
    assert close(pixels[0, 0], (0, 0, 255), 4)
    alpha = Image.new("RGBA", (32, 32), (255, 0, 0, 0))
    alpha.paste((255, 0, 0, 255), (16, 0, 32, 32))
    pixels = shown(tmp_path, "b.png", encoded(alpha, "PNG", icc_profile=swapped_profile()), side)
    assert close(pixels[0, 0], (GREY, GREY, GREY), 0)
    assert close(pixels[0, -1], (0, 0, 255), 4)


def test_the_usual_profile_changes_nothing(tmp_path: Path) -> None:
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    pixels = shown(tmp_path, "a.png", encoded(gradient(), "PNG", icc_profile=profile)).astype(int)
    assert np.abs(pixels - np.asarray(gradient()).astype(int)).max() <= 2


@pytest.mark.parametrize("profile", [b"no profile", swapped_profile()[:200], b"\0" * 500])
def test_a_broken_profile_is_ignored(tmp_path: Path, profile: bytes) -> None:
    pixels = shown(tmp_path, "a.png", encoded(gradient(), "PNG", icc_profile=profile))
    assert np.array_equal(pixels, np.asarray(gradient()))


def test_a_profile_of_another_colour_space_is_ignored(tmp_path: Path) -> None:
    lab = ImageCms.ImageCmsProfile(ImageCms.createProfile("LAB")).tobytes()
    pixels = shown(tmp_path, "a.png", encoded(gradient(), "PNG", icc_profile=lab))
    assert np.array_equal(pixels, np.asarray(gradient()))


def test_a_grey_picture_in_a_file_that_speaks_of_colours(tmp_path: Path) -> None:
    data = encoded(Image.new("L", (8, 8), 77), "PNG", icc_profile=swapped_profile())
    assert close(shown(tmp_path, "a.png", data)[0, 0], (77, 77, 77), 4)


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
