"""The main job from a folder of photos to a CSV, played by two people through the window.

Everything is done with clicks and keys on real widgets; only the dialogs for choosing a folder are answered by the
test. The same play runs on drawn pictures everywhere and on real photos where they are at hand.
"""

from __future__ import annotations

import csv
import math
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox, QFileDialog, QLineEdit, QListView, QPlainTextEdit, QSpinBox
from user_actions import Person, find, press_button, settle, wait_until

from crowdclust_app.evaluation.metrics import variation_of_information
from crowdclust_app.gui.window import MainWindow
from crowdclust_app.io.drawings import draw_collection
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.campaign.responses import read_responses
from crowdclust_app.services.fits.run_store import load_run

PHOTOS = 60
M, V, R = 12, 3, 2
Eyes = Callable[[str], str]
"""What a person sees in a photo of this name: the kind that decides the group."""


def drawn(folder: Path) -> tuple[Eyes, Eyes]:
    """Pictures of tall and short, red and blue things; one person sees the height, the other the colour."""
    folder.mkdir()
    seen: dict[str, str] = {}
    for drawing in draw_collection(PHOTOS, seed=3):
        seen[drawing.save(folder).relative_to(folder).as_posix()] = drawing.category
    return (lambda name: seen[name].split()[0]), (lambda name: seen[name].split()[1])


def real(folder: Path, data: Path) -> tuple[Eyes, Eyes]:
    """Photos of waste; one person sees the material, the other whether it is flat, a vessel or anything else."""
    for material in sorted((data / "images" / "trash6").iterdir()):
        for photo in sorted(material.glob("*.jpg"))[: PHOTOS // 6]:
            (folder / material.name).mkdir(parents=True, exist_ok=True)
            shutil.copy(photo, folder / material.name / photo.name)
    shapes = {"cardboard": "flat", "paper": "flat", "trash": "rest"}
    return (lambda name: name.split("/")[0]), (lambda name: shapes.get(name.split("/")[0], "vessel"))


def make_the_campaign(window: MainWindow, folder: Path, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Start screen, New campaign, folder, numbers, instructions, Create."""
    press_button(window, "card-new")
    settle(window)
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_a, **_k: str(folder))
    press_button(window, "choose-folder")
    settle(window)
    path = find(window, QLineEdit, "campaign-path")
    path.selectAll()
    QTest.keyClicks(path, str(file))
    for name, value in (("plan-m", M), ("plan-v", V), ("plan-r", R), ("plan-seed", 4)):
        box = find(window, QSpinBox, name)
        box.setFocus()
        box.selectAll()
        QTest.keyClicks(box, str(value))
        QTest.keyClick(box, Qt.Key.Key_Tab)
    QTest.keyClicks(find(window, QPlainTextEdit, "instructions"), "Group what looks alike to you.")
    # the figures follow a moment after the last key
    later = window.screen_named("new")._later  # type: ignore[attr-defined]
    wait_until(lambda: not later.isActive())
    settle(window)
    press_button(window, "create-campaign")
    settle(window)
    assert window.campaign is not None
    assert window.campaign.path == file.resolve()


def sort_with_the_mouse(person: Person, eyes: Eyes) -> int:
    """Choose a group with a digit, click its photos; submit with the button."""
    done = 0
    while person.grid.isVisible() and person.count:
        kinds: dict[str, int] = {}
        for tile in person.grid.tiles:
            kinds.setdefault(eyes(tile.item.path), len(kinds) + 1)
        for kind, group in kinds.items():
            person.key(str(group))
            for position, tile in enumerate(person.grid.tiles):
                if eyes(tile.item.path) == kind:
                    person.click(position)
            QTest.qWait(1)
        press_button(person.window, "submit-button")
        person.settle()
        done += 1
    return done


def sort_with_the_keyboard(person: Person, eyes: Eyes) -> int:
    """Walk over the photos with the arrow keys, type the group, Enter; submit with Ctrl+Return."""
    done = 0
    while person.grid.isVisible() and person.count:
        kinds: dict[str, int] = {}
        person.key(Qt.Key.Key_Home)
        for position, tile in enumerate(person.grid.tiles):
            group = kinds.setdefault(eyes(tile.item.path), len(kinds) + 1)
            assert person.page.desk.focus == position
            person.key(str(group))
            person.key(Qt.Key.Key_Return)
            if position + 1 < person.count:
                person.key(Qt.Key.Key_Right)
        person.key(Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
        person.settle()
        done += 1
    return done


def clusters_on_screen(window: MainWindow) -> dict[int, int]:
    """Size of each cluster as the gallery's rows say it."""
    rows = find(window, QListView, "cluster-rows").model()
    said = [str(rows.index(row, 0).data()) for row in range(rows.rowCount())]
    # "Cluster 3: 17 photos, ..."
    return {int(text.split()[1].rstrip(":")): int(text.split()[2]) for text in said}


def read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def play(
    window: MainWindow, folder: Path, eyes: tuple[Eyes, Eyes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> list[dict[str, str]]:
    """The whole job; gives the rows of `clusters.csv` after checking them against the screen."""
    make_the_campaign(window, folder, tmp_path / "study.crowdclust", monkeypatch)
    hits = math.ceil(PHOTOS * V / M)
    for name, sort, sees in (("Ada", sort_with_the_mouse, eyes[0]), ("Ben", sort_with_the_keyboard, eyes[1])):
        person = Person(window)
        person.sign_in(name)
        assert sort(person, sees) == hits
        press_button(window, "end-change-worker")
        settle(window)

    press_button(window, "rail-clusters")
    settle(window)
    press_button(window, "first-run")
    settle(window)
    sizes = clusters_on_screen(window)
    assert sum(sizes.values()) == PHOTOS

    press_button(window, "rail-export")
    settle(window)
    out = tmp_path / "tables"
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_a, **_k: str(out))
    out.mkdir()
    press_button(window, "export-choose")
    settle(window)
    assert find(window, QComboBox, "export-run").count() == 1
    press_button(window, "export-button")
    settle(window)

    rows = read(out / "clusters.csv")
    assert Counter(int(row["cluster"]) for row in rows) == sizes
    assert len(read(out / "responses.csv")) == hits * R * M
    assert len(read(out / "pairs.csv")) == hits * R * M * (M - 1) // 2
    with Campaign.open(tmp_path / "study.crowdclust") as campaign:
        assert {(r.worker, len(r.items)) for r in read_responses(campaign)} == {("Ada", M), ("Ben", M)}
        run = load_run(campaign, 1)
        stored = {name: int(label) for name, label in zip(run.item_names, run.result.labels, strict=True)}
    assert stored == {row["item"]: int(row["cluster"]) for row in rows}
    return rows


def test_two_people_sort_drawn_pictures_by_height_and_by_colour(
    open_window: Callable[..., MainWindow], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    eyes = drawn(tmp_path / "pictures")
    rows = play(open_window(), tmp_path / "pictures", eyes, tmp_path, monkeypatch)
    known = [f"{eyes[0](row['item'])} {eyes[1](row['item'])}" for row in rows]
    assert len(set(known)) == 4
    # nobody made four groups, and the four are found
    assert variation_of_information([row["cluster"] for row in rows], known) == pytest.approx(0, abs=1e-12)


def test_two_people_sort_real_photos_by_material_and_by_shape(
    open_window: Callable[..., MainWindow], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shared_data: Path
) -> None:
    eyes = real(tmp_path / "photos", shared_data)
    rows = play(open_window(), tmp_path / "photos", eyes, tmp_path, monkeypatch)
    assert len({row["cluster"] for row in rows}) > 1
    known = [eyes[0](row["item"]) for row in rows]
    assert variation_of_information([row["cluster"] for row in rows], known) < 0.7
