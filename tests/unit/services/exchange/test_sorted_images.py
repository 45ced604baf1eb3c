"""Photos in folders by category, and lists for other programs."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.domain.errors import Cancelled, UserError
from crowdclust_app.services.exchange.sorted_images import (
    SortedPhoto,
    fiftyone_files,
    folder_names,
    label_studio_config,
    label_studio_tasks,
    write_folders,
)

AWKWARD = [
    "a/b",
    "a:b",
    "A:B",
    "con",
    "  ",
    "..",
    'say "x", <y>',
    "猫🐱",
    "قطة",
    "=1+1",
    "x" * 300,
    "café",
    "tab\there",
]


def photo(root: Path, item: str, category: str, probability: float | None = 0.9, there: bool = True) -> SortedPhoto:
    file = root / item
    if there:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(item.encode())
    return SortedPhoto(item, file, category, probability)


def test_folder_names_are_safe_and_no_two_alike() -> None:
    names = folder_names(AWKWARD)
    assert list(names) == AWKWARD
    folded = [name.casefold() for name in names.values()]
    assert len(set(folded)) == len(AWKWARD)
    assert not any(set('<>:"/\\|?*\t') & set(name) for name in names.values())
    assert all(name and len(name) <= 90 and not name.endswith((" ", ".")) for name in names.values())
    assert names["con"] != "con"
    assert names["猫🐱"] == "猫🐱"


@pytest.mark.parametrize("how", ["copy", "link"])
def test_every_photo_is_in_the_folder_of_its_category(tmp_path: Path, how: Any) -> None:
    root, out = tmp_path / "images", tmp_path / "out"
    photos = [
        photo(root, "x/a.jpg", "cats"),
        photo(root, "y/a.jpg", "cats"),
        photo(root, "b.jpg", 'dogs, "big"'),
        photo(root, "c.jpg", "", None),
        photo(root, "gone.jpg", "cats", there=False),
    ]
    written, missing = write_folders(photos, out, how)
    assert (written, missing) == (4, ("gone.jpg",))
    found = {str(path.relative_to(out)): path.read_bytes() for path in out.rglob("*") if path.is_file()}
    assert found == {
        "cats/a.jpg": b"x/a.jpg",
        "cats/y_a.jpg": b"y/a.jpg",
        "dogs, -big-/b.jpg": b"b.jpg",
        "not sorted/c.jpg": b"c.jpg",
    }
    assert all(path.is_symlink() == (how == "link") for path in out.rglob("*.jpg"))


def test_a_folder_with_something_in_it_is_refused_and_stays(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "mine.txt").write_text("mine")
    with pytest.raises(UserError, match="something in this folder"):
        write_folders([photo(tmp_path / "images", "a.jpg", "cats")], out, "copy")
    assert [path.name for path in out.iterdir()] == ["mine.txt"]


def test_a_cancelled_copy_leaves_nothing(tmp_path: Path) -> None:
    token = CancelToken()
    photos = [photo(tmp_path / "images", f"{n}.jpg", "cats") for n in range(50)]

    def stop(report: object) -> None:
        if getattr(report, "done", 0) >= 20:
            token.cancel()

    with pytest.raises(Cancelled):
        write_folders(photos, tmp_path / "out", "copy", stop, token)
    assert not (tmp_path / "out").exists()


def test_a_failed_copy_leaves_nothing_and_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import shutil

    def full(source: Path, target: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(shutil, "copyfile", full)
    with pytest.raises(UserError, match="No space left"):
        write_folders([photo(tmp_path / "images", "a.jpg", "cats")], tmp_path / "out", "copy")
    assert not (tmp_path / "out").exists()


def test_label_studio_tasks_name_photo_category_and_score(tmp_path: Path) -> None:
    photos = [photo(tmp_path, "a b/ü.jpg", 'cats & "co"'), photo(tmp_path, "c.jpg", "", None)]
    first, second = label_studio_tasks(photos, Path("/data/birds"), "run 3")
    assert first["data"]["image"] == "/data/local-files/?d=birds/a%20b/%C3%BC.jpg"
    (prediction,) = first["predictions"]
    assert prediction["score"] == 0.9
    assert prediction["result"][0]["value"]["choices"] == ['cats & "co"']
    assert second["predictions"] == []
    view = ET.fromstring(label_studio_config(photos))
    assert [choice.get("value") for choice in view.iter("Choice")] == ['cats & "co"']
    assert view.find("Choices").get("name") == prediction["result"][0]["from_name"]


def test_fiftyone_tells_photos_apart_that_differ_in_their_ending(tmp_path: Path) -> None:
    photos = [photo(tmp_path, "a.jpg", "cats"), photo(tmp_path, "a.png", "dogs"), photo(tmp_path, "b.png", "", None)]
    files = fiftyone_files(photos)
    labels = files["labels.json"]
    assert labels["classes"] == ["cats", "dogs"]
    assert [row["label"] for row in labels["labels"].values()] == [0, 1]
    assert set(labels["labels"]) == set(files["data.json"])
    assert files["data.json"]["item-000001"] == str(tmp_path / "a.png")
