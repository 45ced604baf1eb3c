"""From whatever a file holds to 8-bit sRGB that can be shown, small and without ever copying a huge picture whole."""

from __future__ import annotations

import functools
import io
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageCms

# What shows through where a picture is transparent.
NEUTRAL_GROUND = (128, 128, 128)
# Share of the values that may end up black or white when 16-bit and float pictures are stretched to 8 bits.
CLIPPED_PERCENT = 0.5
# Values looked at to find that stretch.
_SAMPLE_SIDE = 1024
_STRIP_PIXELS = 4_000_000
_DEEP_MODES = frozenset({"I", "F", "I;16", "I;16B", "I;16L", "I;16N"})
_PHOTOMETRIC_TAG, _WHITE_IS_ZERO = 262, 0
# Colour spaces of ICC profiles and the mode they may be applied to.
_MODE_OF_SPACE = {"GRAY": "L", "RGB": "RGB", "CMYK": "CMYK"}


@dataclass(frozen=True, slots=True)
class Levels:
    """The values that become black and white; inverted when the file counts from white."""

    black: float
    white: float
    inverted: bool = False


def shown_rgb(image: Image.Image, size: tuple[int, int]) -> Image.Image:
    """The picture as it should look on screen.

    Parameters
    ----------
    image
        A loaded image of any mode.
    size
        Width and height of the result, at least 1 each and not larger than the image.

    Returns
    -------
    Image
        Mode RGB, sRGB colours, transparency over `NEUTRAL_GROUND`.
    """
    profile = image.info.get("icc_profile")
    small = _resized(image, size)
    if isinstance(profile, bytes) and profile and image.mode not in _DEEP_MODES:
        small = _through_profile(small, profile)
    return _plain_rgb(small)


def measured_levels(image: Image.Image) -> Levels:
    """Find the values to show as black and white in a 16-bit, 32-bit or float picture.

    Percentiles of a regular sample of the finite values; where they fall together the extremes decide, and a
    constant picture becomes mid-grey.
    """
    side = (min(image.width, _SAMPLE_SIDE), min(image.height, _SAMPLE_SIDE))
    sample = image if image.size == side else image.resize(side, Image.Resampling.NEAREST)
    values = np.asarray(sample, dtype=np.float64)
    values = values[np.isfinite(values)]
    if values.size == 0:
        return Levels(0.0, 1.0)
    inverted = getattr(image, "tag_v2", {}).get(_PHOTOMETRIC_TAG) == _WHITE_IS_ZERO
    low, high = np.percentile(values, [CLIPPED_PERCENT, 100 - CLIPPED_PERCENT])
    if low == high:
        low, high = values.min(), values.max()
    if low == high:
        return Levels(float(low) - 0.5, float(high) + 0.5, inverted)
    return Levels(float(low), float(high), inverted)


def _resized(image: Image.Image, size: tuple[int, int]) -> Image.Image:
    """Shrink into a mode that can be averaged: first whole-number steps in strips of rows, then a fine filter."""
    levels = measured_levels(image) if image.mode in _DEEP_MODES else None
    factors = (max(1, image.width // (2 * size[0])), max(1, image.height // (2 * size[1])))
    if factors == (1, 1) or image.width * image.height <= _STRIP_PIXELS:
        small = _averageable(image, levels)
        if factors != (1, 1):
            small = small.reduce(factors)
    else:
        small = _reduced_in_strips(image, factors, levels)
    return small if small.size == size else small.resize(size, Image.Resampling.BICUBIC)


def _reduced_in_strips(image: Image.Image, factors: tuple[int, int], levels: Levels | None) -> Image.Image:
    rows = factors[1] * max(1, _STRIP_PIXELS // (image.width * factors[1]))
    result: Image.Image | None = None
    for top in range(0, image.height, rows):
        strip = image.crop((0, top, image.width, min(image.height, top + rows)))
        strip = _averageable(strip, levels).reduce(factors)
        if result is None:
            result = Image.new(strip.mode, (strip.width, -(-image.height // factors[1])))
        result.paste(strip, (0, top // factors[1]))
    assert result is not None
    return result


def _averageable(image: Image.Image, levels: Levels | None) -> Image.Image:
    """The picture in L, RGB, RGBA, CMYK or LAB: modes in which the mean of two pixels means something."""
    if levels is not None:
        return Image.fromarray(_stretched(np.asarray(image), levels))
    if "transparency" in image.info and image.mode in {"1", "L", "P", "RGB"}:
        return image.convert("RGBA")
    if image.mode in {"LA", "PA", "RGBa"}:
        return image.convert("RGBA")
    if image.mode == "La":
        return image.convert("LA").convert("RGBA")
    if image.mode == "1":
        return image.convert("L")
    return image if image.mode in {"L", "RGB", "RGBA", "CMYK", "LAB"} else image.convert("RGB")


def _stretched(values: NDArray[np.generic], levels: Levels) -> NDArray[np.uint8]:
    # halves, because the distance between two float extremes may overflow
    half = levels.white / 2 - levels.black / 2
    share = (values.astype(np.float64) / 2 - levels.black / 2) / half
    share = np.clip(np.nan_to_num(share, nan=0.0, posinf=1.0, neginf=0.0), 0.0, 1.0)
    if levels.inverted:
        share = 1.0 - share
    return np.rint(share * 255.0).astype(np.uint8)


def _plain_rgb(image: Image.Image) -> Image.Image:
    if image.mode == "RGBA":
        ground = Image.new("RGBA", image.size, (*NEUTRAL_GROUND, 255))
        return Image.alpha_composite(ground, image).convert("RGB")
    if image.mode == "LAB":
        return _lab_to_rgb(image)
    return image if image.mode == "RGB" else image.convert("RGB")


def _through_profile(image: Image.Image, profile: bytes) -> Image.Image:
    """Colours as the embedded profile means them; a profile that is broken or of another kind is ignored."""
    alpha = image.getchannel("A") if image.mode == "RGBA" else None
    colours = image.convert("RGB") if alpha is not None else image
    transform = _profile_transform(profile, colours.mode)
    if transform is None and image.mode == "L":  # a grey picture in a file that speaks of colours
        colours = image.convert("RGB")
        transform = _profile_transform(profile, "RGB")
    if transform is None:
        return image
    try:
        result = ImageCms.applyTransform(colours, transform)
    except ImageCms.PyCMSError:
        return image
    if result is None:
        return image
    if alpha is not None:
        result.putalpha(alpha)
    return result


@functools.lru_cache(maxsize=32)
def _profile_transform(profile: bytes, mode: str) -> ImageCms.ImageCmsTransform | None:
    try:
        source = ImageCms.ImageCmsProfile(io.BytesIO(profile))
        if mode != _MODE_OF_SPACE.get(source.profile.xcolor_space.strip()):
            return None
        return ImageCms.buildTransform(
            source, ImageCms.createProfile("sRGB"), mode, "RGB", flags=ImageCms.Flags.NOCACHE
        )
    except (ImageCms.PyCMSError, OSError, ValueError, TypeError):
        return None


def _lab_to_rgb(image: Image.Image) -> Image.Image:
    result = ImageCms.applyTransform(image, _lab_transform())
    assert result is not None
    return result


@functools.lru_cache(maxsize=1)
def _lab_transform() -> ImageCms.ImageCmsTransform:
    return ImageCms.buildTransform(
        ImageCms.createProfile("LAB"), ImageCms.createProfile("sRGB"), "LAB", "RGB", flags=ImageCms.Flags.NOCACHE
    )
