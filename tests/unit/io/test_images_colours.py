"""Depths, colour spaces, transparency and profiles look as they should."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from image_files import close, deep_png, encoded, gradient, ramp, shown, swapped_profile, tiff, written
from PIL import Image, ImageCms

from crowdclust_app.domain.errors import UserError
from crowdclust_app.io.images import read_picture

GREY = 128


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
    # the file does hold YCbCr
    assert Image.open(io.BytesIO(data)).tag_v2[262] == 6  # type: ignore[attr-defined]
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
def test_a_png_with_one_transparent_colour(tmp_path: Path, mode: str, key: Any, seen: Any) -> None:
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
