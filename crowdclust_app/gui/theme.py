"""Colours and sizes: chrome from the palette's roles only, groups from Okabe and Ito's list."""

from __future__ import annotations

import math
from enum import StrEnum
from functools import cache, lru_cache
from pathlib import Path

from PySide6.QtCore import QByteArray, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QGuiApplication, QIcon, QPainter, QPalette, QPixmap
from PySide6.QtWidgets import QApplication, QWidget

from crowdclust_app.domain.palette import OKABE_ITO as OKABE_ITO

STEP = 8
MARGIN = 16
TILE_GAP = 4
# Points: text, headings of a part, headings of a page.
TEXT, PART, PAGE = 11, 13, 18

# Further rounds of the seven hues by lightness: how far towards black (negative) or white (positive) in OKLab.
# Chosen so that the two most alike of forty are as far apart as they can be, and of the first fourteen even more.
_ROUNDS = (0.0, -0.38, 0.55, -0.22, -0.60, -0.10, 0.25)


class Look(StrEnum):
    """The user's choice of light and dark."""

    SYSTEM = "system"
    LIGHT = "light"
    DARK = "dark"
    CONTRAST = "high contrast"


# --- colour arithmetic


def _linear(channel: float) -> float:
    return channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4


def _gamma(channel: float) -> float:
    channel = min(1.0, max(0.0, channel))
    return channel * 12.92 if channel <= 0.0031308 else 1.055 * channel ** (1 / 2.4) - 0.055


def luminance(colour: QColor) -> float:
    """Relative luminance as WCAG 2 defines it, 0 (black) to 1 (white)."""
    return 0.2126 * _linear(colour.redF()) + 0.7152 * _linear(colour.greenF()) + 0.0722 * _linear(colour.blueF())


def contrast(a: QColor, b: QColor) -> float:
    """Contrast of two colours as WCAG 2 defines it, 1 to 21."""
    lighter, darker = sorted((luminance(a), luminance(b)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def text_on(ground: QColor) -> QColor:
    """Black or white, whichever reads better on this ground; at least 4.58 : 1 on any."""
    black, white = QColor(0, 0, 0), QColor(255, 255, 255)
    return black if contrast(black, ground) >= contrast(white, ground) else white


def mix(a: QColor, b: QColor, share: float) -> QColor:
    """`a` with this share of `b` in it."""
    return QColor.fromRgbF(
        a.redF() + (b.redF() - a.redF()) * share,
        a.greenF() + (b.greenF() - a.greenF()) * share,
        a.blueF() + (b.blueF() - a.blueF()) * share,
    )


def oklab(colour: QColor) -> tuple[float, float, float]:
    """Lightness and two opponent axes, evenly spaced to the eye (Ottosson 2020)."""
    r, g, b = (_linear(c) for c in (colour.redF(), colour.greenF(), colour.blueF()))
    long = math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b)
    middle = math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b)
    short = math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b)
    return (
        0.2104542553 * long + 0.7936177850 * middle - 0.0040720468 * short,
        1.9779984951 * long - 2.4285922050 * middle + 0.4505937099 * short,
        0.0259040371 * long + 0.7827717662 * middle - 0.8086757660 * short,
    )


def _from_oklab(lightness: float, a: float, b: float) -> QColor:
    long = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
    middle = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
    short = (lightness - 0.0894841775 * a - 1.2914855480 * b) ** 3
    return QColor.fromRgbF(
        _gamma(4.0767416621 * long - 3.3077115913 * middle + 0.2309699292 * short),
        _gamma(-1.2684380046 * long + 2.6097574011 * middle - 0.3413193965 * short),
        _gamma(-0.0041960863 * long - 0.7034186147 * middle + 1.7076147010 * short),
    )


# --- groups and clusters


@cache
def group_colour(number: int) -> QColor:
    """Colour of a group or cluster, counted from 1.

    The first seven are Okabe and Ito's; the next rounds are the same hues darker and lighter. Past 49 they repeat: by
    then only the number beside the colour distinguishes groups.
    """
    turn, hue = divmod((number - 1) % (len(OKABE_ITO) * len(_ROUNDS)), len(OKABE_ITO))
    base = QColor(OKABE_ITO[hue])
    shift = _ROUNDS[turn]
    if shift == 0:
        return base
    lightness, a, b = oklab(base)
    if shift < 0:
        factor = 1 + shift
        return _from_oklab(lightness * factor, a * factor, b * factor)
    return _from_oklab(lightness + (1 - lightness) * shift, a * (1 - shift), b * (1 - shift))


@cache
def group_text(number: int) -> QColor:
    """Text colour on `group_colour(number)`, at least 4.5 : 1."""
    return text_on(group_colour(number))


# --- chrome


def _palette(window: str, base: str, text: str, accent: str, button: str) -> QPalette:
    palette = QPalette()
    ground, ink = QColor(window), QColor(text)
    roles = {
        QPalette.ColorRole.Window: ground,
        QPalette.ColorRole.Base: QColor(base),
        QPalette.ColorRole.AlternateBase: mix(QColor(base), ink, 0.04),
        QPalette.ColorRole.Button: QColor(button),
        QPalette.ColorRole.WindowText: ink,
        QPalette.ColorRole.Text: ink,
        QPalette.ColorRole.ButtonText: ink,
        QPalette.ColorRole.ToolTipBase: ink,
        QPalette.ColorRole.ToolTipText: ground,
        QPalette.ColorRole.PlaceholderText: mix(ground, ink, 0.62),
        QPalette.ColorRole.Highlight: QColor(accent),
        QPalette.ColorRole.HighlightedText: text_on(QColor(accent)),
        QPalette.ColorRole.Accent: QColor(accent),
        QPalette.ColorRole.Link: QColor(accent),
        QPalette.ColorRole.LinkVisited: QColor(accent),
        QPalette.ColorRole.BrightText: text_on(ground),
        QPalette.ColorRole.Light: mix(ground, QColor("white"), 0.5),
        QPalette.ColorRole.Midlight: mix(ground, ink, 0.06),
        QPalette.ColorRole.Mid: mix(ground, ink, 0.25),
        QPalette.ColorRole.Dark: mix(ground, ink, 0.45),
        QPalette.ColorRole.Shadow: mix(ground, QColor("black"), 0.7),
    }
    for role, colour in roles.items():
        palette.setColor(role, colour)
    faint = mix(ground, ink, 0.45)
    for role in (QPalette.ColorRole.WindowText, QPalette.ColorRole.Text, QPalette.ColorRole.ButtonText):
        palette.setColor(QPalette.ColorGroup.Disabled, role, faint)
    return palette


def palette_for(look: Look, system_dark: bool = False, system_contrast: bool = False) -> QPalette | None:
    """The palette of a choice; None where the system's own is to be used as it is."""
    if look is Look.SYSTEM:
        if system_contrast:
            return None
        look = Look.DARK if system_dark else Look.LIGHT
    if look is Look.LIGHT:
        return _palette("#F3F3F2", "#FFFFFF", "#1D1E20", "#2F6299", "#FFFFFF")
    if look is Look.DARK:
        return _palette("#202124", "#18191B", "#E6E6E3", "#7FB2E5", "#2D2F33")
    return _palette("#000000", "#000000", "#FFFFFF", "#FFD60A", "#000000")


def line_colour(palette: QPalette) -> QColor:
    """Thin lines and borders that have to be seen, but no more."""
    window, ink = palette.color(QPalette.ColorRole.Window), palette.color(QPalette.ColorRole.WindowText)
    return mix(window, ink, 0.55 if contrast(window, ink) > 19 else 0.20)


def muted(palette: QPalette) -> QColor:
    """Text of second rank, still 4.5 : 1 on the window."""
    window, ink = palette.color(QPalette.ColorRole.Window), palette.color(QPalette.ColorRole.WindowText)
    return mix(window, ink, 0.72)


def apply_font(app: QApplication) -> None:
    """The system's own family at the program's size, figures of equal width where the font has them."""
    font = app.font()
    font.setPointSizeF(TEXT)
    app.setFont(font)


def sized(widget: QWidget, points: int, bold: bool = False) -> QFont:
    """The widget's font at one of the three sizes."""
    font = QFont(widget.font())
    font.setPointSize(points)
    font.setBold(bold)
    return font


def resource(name: str, folder: str = "icons") -> Path:
    """A file of the program's own; style sheets need a path. Icons take any colour, marks have one."""
    # icons are drawn after the window is up; it is there sooner without this
    from importlib import resources

    return Path(str(resources.files("crowdclust_app").joinpath("resources", folder, name)))


@lru_cache(maxsize=256)
def _drawn(name: str, colour: str, side: int, ratio: float) -> QPixmap:
    # icons are drawn after the window is up; it is there sooner without this
    from PySide6.QtSvg import QSvgRenderer

    source = resource(f"{name}.svg").read_text("utf-8")
    renderer = QSvgRenderer(QByteArray(source.replace("currentColor", colour).encode()))
    pixmap = QPixmap(round(side * ratio), round(side * ratio))
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    renderer.render(painter, QRectF(pixmap.rect()))
    painter.end()
    pixmap.setDevicePixelRatio(ratio)
    return pixmap


def forget_icons() -> None:
    """Draw icons anew from now on."""
    _drawn.cache_clear()


def icon_pixmap(name: str, colour: QColor, side: int = 24, ratio: float | None = None) -> QPixmap:
    """One of the program's own icons in this colour."""
    if ratio is None:
        ratio = QGuiApplication.primaryScreen().devicePixelRatio() if QGuiApplication.primaryScreen() else 1.0
    return _drawn(name, colour.name(), side, ratio)


def icon(name: str, palette: QPalette, side: int = 24) -> QIcon:
    """An icon in the colours of the palette: as text, as the chosen one, and faint where it is disabled."""
    made = QIcon()
    normal = muted(palette)
    ink = palette.color(QPalette.ColorRole.WindowText)
    faint = palette.color(QPalette.ColorGroup.Disabled, QPalette.ColorRole.WindowText)
    for state in (QIcon.State.Off, QIcon.State.On):
        colour = ink if state is QIcon.State.On else normal
        made.addPixmap(icon_pixmap(name, colour, side), QIcon.Mode.Normal, state)
        made.addPixmap(icon_pixmap(name, ink, side), QIcon.Mode.Active, state)
        made.addPixmap(icon_pixmap(name, faint, side), QIcon.Mode.Disabled, state)
    return made
