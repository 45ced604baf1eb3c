"""Pictures for the screen come from several threads at once and fail with a reason."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from crowdclust_app.domain.errors import UserError
from crowdclust_app.io.drawings import draw_collection
from crowdclust_app.services.annotate.pictures import load_picture


def test_threads_give_the_same_pictures_as_one(tmp_path: Path) -> None:
    paths = [drawing.save(tmp_path) for drawing in draw_collection(12)]
    alone = [load_picture(path, 100) for path in paths]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda path: load_picture(path, 100), paths * 3))
    for number, picture in enumerate(together):
        expected = alone[number % 12]
        assert np.array_equal(picture.pixels, expected.pixels)
        assert (picture.width, picture.height, picture.frames) == (288, 288, 1)
        assert picture.pixels.shape == (100, 100, 3)


def test_without_a_size_every_pixel_is_kept(tmp_path: Path) -> None:
    drawing = next(draw_collection(1))
    assert np.array_equal(load_picture(drawing.save(tmp_path)).pixels, np.asarray(drawing.image))


def test_a_missing_picture_says_why(tmp_path: Path) -> None:
    with pytest.raises(UserError) as caught:
        load_picture(tmp_path / "gone.png", 100)
    assert caught.value.what == "it is not there any more"
