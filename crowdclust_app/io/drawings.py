"""Pictures that this program draws itself: tall and short things, red and blue, as in the paper's example.

Bottles, vases, jars, mugs, gourds and houses on soft neutral grounds. Height and colour are what two kinds of people
could sort by; everything else (which thing, its place, size, shade, pattern, the light on it) varies and means nothing.
"""

from __future__ import annotations

import colorsys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFilter

SIDE = 288

_Field = NDArray[np.float64]
_Colour = tuple[float, float, float]
_Points = list[tuple[float, float]]

# Edges are drawn this many times larger and averaged.
_FINE = 4
_CREAM: _Colour = (0.97, 0.95, 0.90)

# Half width (of the widest place) down the height, from the top at 0 to the foot at 1.
_PROFILES: dict[str, _Points] = {
    "bottle": [(0, 0.36), (0.05, 0.36), (0.06, 0.28), (0.28, 0.28), (0.47, 0.95), (0.55, 1), (0.95, 1), (1, 0.92)],
    "vase": [(0, 0.66), (0.03, 0.66), (0.2, 0.4), (0.55, 1), (0.9, 0.52), (0.97, 0.6), (1, 0.6)],
    "jar": [
        (0, 0.12),
        (0.05, 0.17),
        (0.1, 0.1),
        (0.13, 0.6),
        (0.19, 0.78),
        (0.23, 0.8),
        (0.45, 1),
        (0.8, 0.95),
        (1, 0.7),
    ],
    "mug": [(0, 0.96), (0.03, 1), (0.9, 0.94), (1, 0.84)],
    "gourd": [(0, 0.1), (0.1, 0.14), (0.3, 0.55), (0.48, 0.42), (0.75, 1), (0.95, 0.8), (1, 0.6)],
}
KINDS = (*_PROFILES, "house")


@dataclass(frozen=True, slots=True)
class Drawing:
    """One drawn picture and what it shows.

    Parameters
    ----------
    name
        File name; says nothing about what is in the picture.
    tall, red
        The two criteria; otherwise the thing is short, or blue.
    kind
        One of `KINDS`.
    image
        RGB, `SIDE` pixels square.
    """

    name: str
    tall: bool
    red: bool
    kind: str
    image: Image.Image

    @property
    def category(self) -> str:
        """The atomic category: `tall red`, `tall blue`, `short red` or `short blue`."""
        return f"{'tall' if self.tall else 'short'} {'red' if self.red else 'blue'}"

    def save(self, folder: Path) -> Path:
        """Write the picture into a folder as PNG; the same drawing gives the same bytes."""
        path = folder / self.name
        self.image.save(path, "PNG", compress_level=4)
        return path


def draw_collection(count: int, seed: int = 0) -> Iterator[Drawing]:
    """Draw pictures, the four categories in nearly equal numbers and shuffled.

    Parameters
    ----------
    count
        How many pictures.
    seed
        The same seed gives the same pictures.
    """
    order = np.random.default_rng([seed, 0]).permutation(count)
    digits = max(3, len(str(count)))
    for number, place in enumerate(order):
        tall, red = bool(place % 2), bool(place // 2 % 2)
        rng = np.random.default_rng([seed, 1, number])
        kind = KINDS[int(rng.integers(len(KINDS)))]
        yield Drawing(f"picture_{number + 1:0{digits}d}.png", tall, red, kind, draw_thing(kind, tall, red, rng))


@dataclass(frozen=True, slots=True)
class _Frame:
    """Where the thing stands, in pixels."""

    centre: float
    top: float
    foot: float
    half_width: float

    @property
    def height(self) -> float:
        return self.foot - self.top


def draw_thing(kind: str, tall: bool, red: bool, rng: np.random.Generator) -> Image.Image:
    """Draw one thing.

    Parameters
    ----------
    kind
        One of `KINDS`.
    tall, red
        What it is like.
    rng
        Decides everything else.
    """
    height = SIDE * (rng.uniform(0.68, 0.78) if tall else rng.uniform(0.27, 0.34))
    half_width = SIDE * (rng.uniform(0.105, 0.135) if tall else rng.uniform(0.17, 0.215))
    foot = SIDE * rng.uniform(0.84, 0.9)
    frame = _Frame(SIDE * rng.uniform(0.4, 0.6), foot - height, foot, half_width)
    colour = _shade_of(red, rng)
    canvas = _ground(rng, foot)
    _cast_shadow(canvas, frame)
    if kind == "house":
        _house(canvas, frame, colour, rng)
    else:
        _turned(canvas, frame, kind, colour, rng)
    return Image.fromarray(np.rint(np.clip(canvas, 0, 1) * 255).astype(np.uint8))


def _shade_of(red: bool, rng: np.random.Generator) -> _Colour:
    hue = rng.uniform(-14, 10) if red else rng.uniform(206, 236)
    return colorsys.hsv_to_rgb((hue % 360) / 360, rng.uniform(0.72, 0.9), rng.uniform(0.72, 0.92))


def _ground(rng: np.random.Generator, foot: float) -> _Field:
    """A wall and a table in one soft grey, warm or cool, lighter where the light falls."""
    wall = np.array(colorsys.hsv_to_rgb(rng.uniform(0.05, 0.16), rng.uniform(0.02, 0.09), rng.uniform(0.86, 0.94)))
    if rng.random() < 0.4:
        wall = wall[::-1]
    y, x = np.arange(SIDE)[:, None] / SIDE, np.arange(SIDE)[None, :] / SIDE
    light = 1.03 - 0.16 * np.hypot(x - rng.uniform(0.2, 0.45), 0.8 * (y - rng.uniform(0.15, 0.35)))
    edge = foot / SIDE - rng.uniform(0.05, 0.1)
    table = 1 - rng.uniform(0.06, 0.1) * _smooth((y - edge) * 60)
    ground: _Field = wall * (light * table)[:, :, None]
    return ground


def _smooth(value: _Field) -> _Field:
    clipped = np.clip(value, 0, 1)
    return clipped * clipped * (3 - 2 * clipped)


def _cast_shadow(canvas: _Field, frame: _Frame) -> None:
    shadow = Image.new("L", (SIDE, SIDE))
    reach, drop = frame.half_width * 1.25, SIDE * 0.022
    left = frame.centre - 0.8 * frame.half_width
    ImageDraw.Draw(shadow).ellipse((left, frame.foot - drop, left + 2 * reach, frame.foot + drop * 1.1), fill=150)
    soft = np.asarray(shadow.filter(ImageFilter.GaussianBlur(SIDE / 55))) / 255.0
    canvas *= (1 - 0.75 * soft)[:, :, None]


def _mask(*shapes: _Points) -> _Field:
    """Share of each pixel inside polygons."""
    large = Image.new("L", (SIDE * _FINE, SIDE * _FINE))
    draw = ImageDraw.Draw(large)
    for points in shapes:
        draw.polygon([(x * _FINE, y * _FINE) for x, y in points], fill=255)
    mask: _Field = np.asarray(large.reduce(_FINE)) / 255.0
    return mask


def _disc(x: float, y: float, radius_x: float, radius_y: float) -> _Points:
    turn = np.linspace(0, 2 * np.pi, 60, endpoint=False)
    return list(zip(x + radius_x * np.cos(turn), y + radius_y * np.sin(turn), strict=True))


def _paint(canvas: _Field, mask: _Field, colour: _Colour | _Field) -> None:
    touched = np.flatnonzero(mask.any(axis=1))
    if not len(touched):
        return
    rows = slice(touched[0], touched[-1] + 1)
    paint = np.asarray(colour)
    canvas[rows] += mask[rows, :, None] * ((paint[rows] if paint.ndim == 3 else paint) - canvas[rows])


def _half_widths(kind: str, down: _Field) -> _Field:
    """Half width at each height, with soft bends between the profile's points."""
    heights, widths = (np.array(values, dtype=np.float64) for values in zip(*_PROFILES[kind], strict=True))
    segment = np.clip(np.searchsorted(heights, down, side="right") - 1, 0, len(heights) - 2)
    share = np.clip((down - heights[segment]) / (heights[segment + 1] - heights[segment]), 0, 1)
    eased = (1 - np.cos(np.pi * share)) / 2
    return widths[segment] + (widths[segment + 1] - widths[segment]) * eased


def _turned(canvas: _Field, frame: _Frame, kind: str, colour: _Colour, rng: np.random.Generator) -> None:
    """Draw a thing made on a potter's wheel: an outline, round shading, a pattern, a gleam."""
    if kind == "mug":
        _handle(canvas, frame, colour, side=1 if rng.random() < 0.5 else -1)
    down = np.linspace(0, 1, 120)
    half = frame.half_width * _half_widths(kind, down)
    y = frame.top + frame.height * down
    outline = [*zip(frame.centre - half, y, strict=True), *zip((frame.centre + half)[::-1], y[::-1], strict=True)]
    body = _mask(outline)

    columns = np.arange(SIDE)[None, :] + 0.5
    depth = np.clip((np.arange(SIDE)[:, None] + 0.5 - frame.top) / frame.height, 0, 1)
    across = (columns - frame.centre) / np.maximum(frame.half_width * _half_widths(kind, depth), 1.0)
    facing = 0.85 * np.sqrt(np.clip(1 - across**2, 0, 1)) - 0.4 * across
    light = 0.5 + 0.58 * np.clip(facing, 0, 1)
    paint = np.broadcast_to(np.array(colour), (SIDE, SIDE, 3)).copy()
    _pattern(paint, frame, depth, rng)
    gleam = 0.42 * np.exp(-(((across + 0.42) / 0.13) ** 2)) * np.sin(np.pi * np.clip(depth * 1.1, 0, 1)) ** 2
    _paint(canvas, body, paint * light[:, :, None] + gleam[:, :, None] * (1 - paint))
    if kind in {"mug", "vase"}:
        width = frame.half_width * _PROFILES[kind][0][1]
        dark = np.array(colour) * 0.38
        _paint(canvas, _mask(_disc(frame.centre, frame.top, width, width * 0.17)), np.array(colour) * 1.05)
        _paint(canvas, _mask(_disc(frame.centre, frame.top + 1, width * 0.88, width * 0.12)), dark)


def _pattern(paint: _Field, frame: _Frame, depth: _Field, rng: np.random.Generator) -> None:
    """Bands, a label or dots on a thing's body, or nothing; in a lighter tone of its own colour or in cream."""
    style = rng.choice(["plain", "bands", "label", "dots"])
    own = paint[0, 0]
    tone = np.asarray(_CREAM) if rng.random() < 0.3 else own + (1 - own) * 0.35
    if style == "bands":
        for place in rng.uniform(0.55, 0.62) + 0.1 * np.arange(int(rng.integers(1, 4))):
            band = _smooth((0.022 - np.abs(depth - place)) * frame.height + 0.5)
            _paint(paint, band, tone)
    elif style == "label":
        half = rng.uniform(0.08, 0.12)
        _paint(paint, _smooth((half - np.abs(depth - 0.7)) * frame.height + 0.5), tone)
        _paint(paint, _smooth((0.02 - np.abs(depth - 0.7)) * frame.height + 0.5), own * 0.7)
    elif style == "dots":
        radius = frame.half_width * rng.uniform(0.09, 0.13)
        rows = ((0.6, 0.0), (0.72, 0.22), (0.84, 0.0))
        dots = [
            _disc(frame.centre + (x + shift) * frame.half_width, frame.top + row * frame.height, radius, radius)
            for row, shift in rows
            for x in (-0.66, -0.22, 0.22, 0.66)
        ]
        _paint(paint, _mask(*dots), tone)


def _handle(canvas: _Field, frame: _Frame, colour: _Colour, side: int) -> None:
    x, y = frame.centre + side * frame.half_width * 0.95, frame.top + frame.height * 0.48
    radius_x, radius_y = frame.half_width * 0.42, min(frame.height * 0.3, frame.half_width * 0.75)
    ring = _mask(_disc(x, y, radius_x, radius_y)) - _mask(_disc(x, y, radius_x * 0.62, radius_y * 0.66))
    _paint(canvas, np.clip(ring, 0, 1), np.array(colour) * (0.72 if side > 0 else 0.95))


def _house(canvas: _Field, frame: _Frame, colour: _Colour, rng: np.random.Generator) -> None:
    """Draw a house whose walls and roof have the colour, with cream windows and a door."""
    own = np.array(colour)
    roof_height = min(frame.height * rng.uniform(0.28, 0.4), frame.half_width * 1.3)
    left, right = frame.centre - frame.half_width * 0.86, frame.centre + frame.half_width * 0.86
    eaves = frame.top + roof_height
    chimney = frame.centre + frame.half_width * rng.uniform(0.3, 0.5)
    width = frame.half_width * 0.16
    _paint(canvas, _mask(_box(chimney, frame.top + roof_height * 0.1, chimney + width, eaves)), own * 0.62)
    light = 1.06 - 0.26 * np.clip((np.arange(SIDE) - left) / (right - left), 0, 1)
    walls = np.broadcast_to(own * light[:, None], canvas.shape)
    _paint(canvas, _mask(_box(left, eaves - 1, right, frame.foot)), walls)
    overhang = frame.half_width
    roof: _Points = [(frame.centre - overhang, eaves), (frame.centre, frame.top), (frame.centre + overhang, eaves)]
    _paint(canvas, _mask(roof), own * 0.68)

    pane = frame.half_width * 0.19
    wall = frame.foot - eaves
    floors = max(1, round(wall / (pane * 4.2)))
    door = _box(
        frame.centre - pane * 0.8, frame.foot - min(pane * 2.9, wall * 0.62), frame.centre + pane * 0.8, frame.foot
    )
    panes, bars = [], []
    for floor in range(floors):
        y = eaves + wall * (floor + 0.42) / floors
        for x in (frame.centre - 0.52 * frame.half_width, frame.centre + 0.52 * frame.half_width):
            panes.append(_box(x - pane * 0.8, y - pane, x + pane * 0.8, y + pane))
            bars.append(_box(x - 0.7, y - pane, x + 0.7, y + pane))
    _paint(canvas, _mask(*panes), _CREAM)
    _paint(canvas, _mask(*bars), own * 0.6)
    _paint(canvas, _mask(door), own * 0.4)


def _box(left: float, top: float, right: float, bottom: float) -> _Points:
    return [(left, top), (right, top), (right, bottom), (left, bottom)]
