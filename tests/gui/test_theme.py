"""Colours that can be told apart and read, icons that are there."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import pytest
from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import QApplication
from user_actions import is_dark

from crowdclust_app import gui
from crowdclust_app.gui import theme
from crowdclust_app.gui.style import apply_look

ICONS = Path(gui.__file__).parents[1] / "resources" / "icons"


def test_the_first_groups_have_okabe_and_itos_colours_in_their_order() -> None:
    names = [theme.group_colour(number).name().upper() for number in range(1, 8)]
    assert names == ["#E69F00", "#56B4E9", "#009E73", "#F0E442", "#0072B2", "#D55E00", "#CC79A7"]


def test_the_number_on_every_group_can_be_read() -> None:
    for number in range(1, 121):
        assert theme.contrast(theme.group_text(number), theme.group_colour(number)) >= 4.5, number


def test_text_can_be_read_on_any_ground() -> None:
    for red, green, blue in itertools.product(range(0, 256, 15), repeat=3):
        ground = QColor(red, green, blue)
        assert theme.contrast(theme.text_on(ground), ground) >= 4.5


def distance(a: QColor, b: QColor) -> float:
    return float(sum((x - y) ** 2 for x, y in zip(theme.oklab(a), theme.oklab(b), strict=True)) ** 0.5)


def test_forty_groups_have_forty_colours() -> None:
    colours = [theme.group_colour(number) for number in range(1, 41)]
    nearest = min(distance(a, b) for a, b in itertools.combinations(colours, 2))
    # 0.02 in OKLab is what is just seen side by side
    assert nearest > 0.045
    first = [theme.group_colour(number) for number in range(1, 15)]
    assert min(distance(a, b) for a, b in itertools.combinations(first, 2)) > 0.09


def test_contrast_is_that_of_wcag() -> None:
    black, white = QColor("black"), QColor("white")
    assert theme.contrast(black, white) == pytest.approx(21)
    assert theme.contrast(white, QColor("#767676")) == pytest.approx(4.54, abs=0.01)
    assert theme.contrast(QColor("#123456"), QColor("#123456")) == pytest.approx(1)


@pytest.mark.parametrize("look", [theme.Look.LIGHT, theme.Look.DARK, theme.Look.CONTRAST])
def test_words_of_every_rank_can_be_read(look: theme.Look) -> None:
    palette = theme.palette_for(look)
    assert palette is not None
    role = QPalette.ColorRole
    for ground in (role.Window, role.Base, role.Button, role.AlternateBase):
        assert theme.contrast(palette.color(role.WindowText), palette.color(ground)) >= 7
        assert theme.contrast(theme.muted(palette), palette.color(ground)) >= 4.5
    assert theme.contrast(palette.color(role.HighlightedText), palette.color(role.Highlight)) >= 4.5
    # the ring around what has the keyboard
    assert theme.contrast(palette.color(role.Accent), palette.color(role.Window)) >= 3


def test_the_look_follows_the_system_unless_one_is_chosen() -> None:
    light, dark = theme.palette_for(theme.Look.SYSTEM, False), theme.palette_for(theme.Look.SYSTEM, True)
    assert light is not None
    assert dark is not None
    assert not is_dark(light)
    assert is_dark(dark)
    assert theme.palette_for(theme.Look.SYSTEM, True, True) is None
    chosen = theme.palette_for(theme.Look.LIGHT, True, True)
    assert chosen is not None
    assert not is_dark(chosen)


def test_every_look_can_be_put_on_and_off(qapp: QApplication) -> None:
    grounds = {}
    try:
        for look in theme.Look:
            apply_look(qapp, look)
            grounds[look] = qapp.palette().color(QPalette.ColorRole.Window).name()
    finally:
        apply_look(qapp, theme.Look.LIGHT)
    assert len({grounds[look] for look in (theme.Look.LIGHT, theme.Look.DARK, theme.Look.CONTRAST)}) == 3


def test_every_icon_draws_something_in_the_colour_asked_for(qapp: QApplication) -> None:
    files = sorted(ICONS.glob("*.svg"))
    assert len(files) >= 15
    for file in files:
        assert re.search(r'viewBox="0 0 (24 24|12 12)"', file.read_text(encoding="utf-8")), file.name
        image = theme.icon_pixmap(file.stem, QColor("#FF00FF"), 24, 2.0).toImage()
        assert image.width() == 48
        drawn = sum(image.pixelColor(x, y).alpha() > 128 for x in range(48) for y in range(48))
        assert drawn > 20, file.name


def test_icons_used_by_the_code_are_there() -> None:
    names = {file.stem for file in ICONS.glob("*.svg")}
    for path in Path(gui.__file__).parent.rglob("*.py"):
        for name in re.findall(r'(?:icon_pixmap|theme\.icon)\(\s*"([a-z-]+)"', path.read_text(encoding="utf-8")):
            assert name in names, f"{path.name} wants {name}"
