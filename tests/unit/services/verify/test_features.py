"""Features of items: from photos through the cache, from a table, beside labels."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from onnx_files import write_model
from PIL import Image

from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.domain.errors import Cancelled, UserError
from crowdclust_app.io import descriptors
from crowdclust_app.services.verify import features
from crowdclust_app.services.verify.features import FeatureTable, align_features, features_from_photos, photos_in


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Twelve photos, half of them red, in a folder; the cache is in another."""
    monkeypatch.setenv("CROWDCLUST_HOME", str(tmp_path / "home"))
    photos = tmp_path / "photos"
    photos.mkdir()
    rng = np.random.default_rng(0)
    for number in range(12):
        pixels = rng.integers(0, 60, (24, 24, 3), dtype=np.uint8)
        pixels[..., 0] += 180 * (number % 2)
        Image.fromarray(pixels).save(photos / f"{number:02}.png")
    return photos


def test_photos_that_look_alike_are_near_each_other(folder: Path) -> None:
    table = features_from_photos(photos_in(folder))
    assert table.names == tuple(f"{number:02}.png" for number in range(12))
    assert table.values.shape == (12, 11)
    assert table.own_scale
    assert table.left_out == ()
    side = table.values[:, 0] > 0
    assert len(set(side[::2])) == len(set(side[1::2])) == 1
    assert side[0] != side[1]
    assert features_from_photos(photos_in(folder)).values.tolist() == table.values.tolist()


def test_what_was_computed_is_kept_by_content(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = features_from_photos(photos_in(folder))
    seen: list[Path] = []

    def describe(path: Path) -> np.ndarray:
        seen.append(path)
        return np.zeros(descriptors.COLOURS + descriptors.EDGES, np.float32)

    monkeypatch.setattr(features, "describe_photo", describe)
    (folder / "00.png").rename(folder / "99.png")
    again = features_from_photos(photos_in(folder))
    assert seen == []
    assert again.names[-1] == "99.png"
    assert np.sort(again.values, axis=0) == pytest.approx(np.sort(first.values, axis=0), abs=1e-9)
    kept = sorted((folder.parent / "home" / "cache").rglob("*.npy"))
    assert len(kept) == 12
    kept[0].write_bytes(b"damaged")
    kept[1].write_bytes(b"")
    features_from_photos(photos_in(folder))
    assert len(seen) == 2


def test_photos_that_cannot_be_read_are_named_and_left_out(folder: Path) -> None:
    (folder / "03.png").write_bytes(b"no picture")
    table = features_from_photos([*photos_in(folder), features.PhotoSource("gone.png", folder / "gone.png")])
    assert len(table.names) == 11
    assert [name for name, _ in table.left_out] == ["03.png", "gone.png"]
    aligned = align_features(table, ["00.png"])
    assert any(note.startswith("03.png is left out: ") for note in aligned.notes)
    for path in folder.glob("*.png"):
        path.write_bytes(b"no picture")
    with pytest.raises(UserError, match="not one photo can be read"):
        features_from_photos(photos_in(folder))


def test_it_says_how_far_it_is_and_stops_when_asked(folder: Path) -> None:
    token = CancelToken()
    done = []

    def listen(report) -> None:
        done.append((report.done, report.total))
        if report.done == 3:
            token.cancel()

    with pytest.raises(Cancelled):
        features_from_photos(photos_in(folder), progress=listen, cancel=token)
    assert done == [(0, 12), (1, 12), (2, 12), (3, 12)]


def test_photos_all_the_same_give_features_that_say_nothing(folder: Path) -> None:
    for path in folder.glob("*.png"):
        Image.new("RGB", (10, 10)).save(path)
    table = features_from_photos(photos_in(folder))
    assert (table.values == 0).all()


def test_a_model_of_ones_own_takes_the_place_of_colours_and_edges(folder: Path) -> None:
    pytest.importorskip("onnxruntime")
    model = write_model(folder.parent / "mean.onnx")
    table = features_from_photos(photos_in(folder), model=model)
    assert table.values.shape == (12, 3)
    assert table.source == "mean.onnx"
    broken = folder.parent / "broken.onnx"
    broken.write_bytes(b"no model")
    with pytest.raises(UserError, match="is not an ONNX model"):
        features_from_photos(photos_in(folder), model=broken)
    (folder / "05.png").write_bytes(b"no picture")
    assert features_from_photos(photos_in(folder), model=model).left_out[0][0] == "05.png"


def test_without_the_extra_the_sentence_says_what_to_install(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(UserError, match="install crowdclust with its extra onnx"):
        features_from_photos(photos_in(folder), model=folder.parent / "m.onnx")


def test_a_folder_without_photos_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="there are no photos in this folder"):
        photos_in(tmp_path)


def test_a_cache_that_cannot_be_written_costs_only_time(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = folder.parent / "home"
    home.write_text("a file where a folder should be")
    assert len(features_from_photos(photos_in(folder)).names) == 12


def test_labelled_tasks_come_first_and_gaps_are_filled_and_named() -> None:
    values = np.array([[1.0, np.nan], [3.0, 5.0], [8.0, 7.0]])
    table = FeatureTable(("a", "b", "c"), ("x", "y"), values, "features.csv")
    aligned = align_features(table, ["b", "other", "a"])
    assert aligned.items == ("b", "other", "a", "c")
    assert aligned.X.tolist() == [[3.0, 5.0], [4.0, 6.0], [1.0, 6.0], [8.0, 7.0]]
    assert aligned.notes == (
        "1 of 6 features are missing and are taken for the mean of their column",
        "1 task has no features and is taken for an average one (other)",
    )
    by_number = align_features(FeatureTable(("0", "1"), ("x",), np.zeros((2, 1)), "f"), [1])
    assert by_number.items == (1, "0")
    with pytest.raises(UserError, match=r"not one task with labels is in features\.csv"):
        align_features(table, ["x", "y"])
