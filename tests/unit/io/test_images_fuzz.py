"""Damaged files of every format give a picture or a sentence, never anything else."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from image_files import one_of_each, written

from crowdclust_app.domain.errors import UserError
from crowdclust_app.io import decoding
from crowdclust_app.io.images import ImageFacts, Picture, probe, read_picture

NAMES = sorted(one_of_each())
samples = functools.cache(one_of_each)


@pytest.fixture(autouse=True, scope="module")
def _little_memory() -> Iterator[None]:
    """A header that a flipped bit made huge is refused early, so that the tests stay quick."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(decoding, "DECODED_BYTES", 50_000_000)
        yield


@st.composite
def damages(draw: st.DrawFn) -> tuple[float, list[tuple[float, int]]]:
    """Where to cut the file off (as a share of its length) and which bytes to overwrite."""
    cut = draw(st.one_of(st.just(1.0), st.floats(0, 1)))
    flips = draw(st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 255)), max_size=8))
    return cut, flips


def damaged(data: bytes, damage: tuple[float, list[tuple[float, int]]]) -> bytes:
    cut, flips = damage
    result = bytearray(data[: round(cut * len(data))])
    for where, value in flips:
        if result:
            result[int(where * len(result))] = value
    return bytes(result)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(damage=damages())
def test_a_damaged_file_gives_a_picture_or_a_reason(
    name: str, damage: tuple[float, list[tuple[float, int]]], tmp_path: Path
) -> None:
    path = written(tmp_path, name, damaged(samples()[name], damage))
    facts = value_or_reason(lambda: probe(path))
    if isinstance(facts, ImageFacts):
        assert min(facts.width, facts.height, facts.frames) >= 1
    picture = value_or_reason(lambda: read_picture(path, 16))
    if isinstance(picture, Picture):
        assert picture.pixels.dtype == np.uint8
        assert picture.pixels.ndim == 3
        assert picture.pixels.shape[2] == 3
        assert 1 <= min(picture.pixels.shape[:2]) <= max(picture.pixels.shape[:2]) <= 16


def value_or_reason(read: Callable[[], object]) -> object:
    """What a reader gives, or the `what` of its refusal; any other exception fails the test."""
    try:
        return read()
    except UserError as error:
        return error.what
