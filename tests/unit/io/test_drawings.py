"""The drawn pictures show what they say, vary otherwise, and are the same for the same seed."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from crowdclust_app.io.drawings import KINDS, SIDE, Drawing, draw_collection, draw_thing
from crowdclust_app.io.images import read_picture

CATEGORIES = ["short blue", "short red", "tall blue", "tall red"]


@pytest.fixture(scope="module")
def drawings() -> list[Drawing]:
    return list(draw_collection(48, seed=3))


def strongly_coloured(drawing: Drawing) -> NDArray[np.bool_]:
    """Where the thing is: the ground is nearly grey."""
    pixels = np.asarray(drawing.image).astype(int)
    return np.ptp(pixels, axis=2) > 90


def test_categories_are_equally_many_and_shuffled(drawings: list[Drawing]) -> None:
    categories = [drawing.category for drawing in drawings]
    assert Counter(categories) == dict.fromkeys(CATEGORIES, 12)
    assert categories[:24] != categories[24:]
    assert len({tuple(categories[i : i + 4]) for i in range(0, 48, 4)}) > 6


def test_a_number_that_four_does_not_divide(drawings: list[Drawing]) -> None:
    counts = Counter(drawing.category for drawing in draw_collection(10))
    assert set(counts) == set(CATEGORIES)
    assert set(counts.values()) == {2, 3}


def test_tall_things_are_tall(drawings: list[Drawing]) -> None:
    for drawing in drawings:
        rows = np.flatnonzero(strongly_coloured(drawing).sum(axis=1) >= 3)
        height = (rows[-1] - rows[0]) / SIDE
        assert (height > 0.5) == drawing.tall, drawing.name
        assert height > 0.5 or height < 0.4, "nothing is in between"


def test_red_things_are_red(drawings: list[Drawing]) -> None:
    for drawing in drawings:
        red, _, blue = np.asarray(drawing.image)[strongly_coloured(drawing)].astype(int).mean(axis=0)
        assert (red > blue) == drawing.red, drawing.name
        assert abs(red - blue) > 80, "no colour is in between"


def test_the_rest_varies(drawings: list[Drawing]) -> None:
    assert {drawing.kind for drawing in drawings} == set(KINDS)
    assert len({drawing.image.tobytes() for drawing in drawings}) == len(drawings)
    columns = [np.flatnonzero(strongly_coloured(drawing).any(axis=0)).mean() for drawing in drawings]
    assert np.std(columns) > 5


def test_names_do_not_give_the_answer_away(drawings: list[Drawing]) -> None:
    assert [drawing.name for drawing in drawings][:2] == ["picture_001.png", "picture_002.png"]
    assert len({drawing.name for drawing in drawings}) == len(drawings)


def test_the_same_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    for first, second in zip(draw_collection(6, seed=1), draw_collection(6, seed=1), strict=True):
        assert first.save(tmp_path / "a").read_bytes() == second.save(tmp_path / "b").read_bytes()
    other = next(draw_collection(6, seed=2))
    assert other.image.tobytes() != next(draw_collection(6, seed=1)).image.tobytes()


def test_a_saved_drawing_reads_back(tmp_path: Path) -> None:
    drawing = next(draw_collection(1))
    picture = read_picture(drawing.save(tmp_path))
    assert np.array_equal(picture.pixels, np.asarray(drawing.image))
    assert (picture.width, picture.height) == (SIDE, SIDE)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("tall", [True, False])
def test_every_kind_stays_inside_the_picture(kind: str, tall: bool) -> None:
    for seed in range(12):
        image = draw_thing(kind, tall, True, np.random.default_rng(seed))
        where = strongly_coloured(Drawing("x.png", tall, True, kind, image))
        assert not where[:3].any()
        assert not where[-3:].any()
        assert not where[:, :3].any()
        assert not where[:, -3:].any()
