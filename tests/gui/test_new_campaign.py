"""The New campaign screen: folder, plan, figures while typing, create."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QFileDialog, QLineEdit, QListWidget, QPlainTextEdit, QSpinBox, QWidget
from pytestqt.qtbot import QtBot
from user_actions import PATIENCE, busy, draw_photos, find, press_button, settle, text_of

from crowdclust_app.domain.campaign import Item, PlanSettings
from crowdclust_app.gui.annotate.sorting_grid import SortingGrid
from crowdclust_app.gui.jobs import LANES
from crowdclust_app.gui.outlook import outlook, people_time
from crowdclust_app.gui.paths import typed_path
from crowdclust_app.gui.window import MainWindow
from crowdclust_app.services.campaign import scanning
from crowdclust_app.services.campaign.planning import plan_items
from crowdclust_app.services.campaign.scanning import ScanReport

OpenWindow = Callable[..., MainWindow]


def type_number(window: MainWindow, name: str, value: int) -> None:
    field = find(window, QSpinBox, name)
    field.setFocus()
    field.selectAll()
    QTest.keyClicks(field, str(value))


def choose(window: MainWindow, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Choose a folder in the dialog and wait until it has been looked through."""
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_a, **_k: str(folder))
    press_button(window, "choose-folder")
    settle(window)


def wait_for_figures(window: MainWindow, qtbot: QtBot, key: str, text: str) -> None:
    qtbot.waitUntil(lambda: text_of(window, f"figure-{key}") == text, timeout=PATIENCE)


def test_a_campaign_is_made_from_a_folder(
    open_window: OpenWindow, photo_folder: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    window = open_window()
    press_button(window, "card-new")
    assert text_of(window, "create-campaign") == "Choose a folder of photos"
    assert not find(window, QAbstractButton, "create-campaign").isEnabled()
    choose(window, photo_folder, monkeypatch)
    assert text_of(window, "scan-state") == "12 photos"
    path = photo_folder.parent / "photos.crowdclust"
    assert text_of(window, "campaign-path") == str(path)
    for name, value in (("plan-m", 5), ("plan-v", 3), ("plan-r", 2), ("plan-seed", 7)):
        type_number(window, name, value)
    settings = PlanSettings(5, 3, 2, 7)
    plan, figures = plan_items(12, settings)
    wait_for_figures(window, qtbot, "hits", f"{figures.hits:,}")
    wait_for_figures(window, qtbot, "assignments", f"{figures.assignments:,}")
    settle(window)
    assert text_of(window, "figure-pair_labels") == f"{figures.pair_labels:,}"
    assert text_of(window, "figure-components") == f"{figures.components}"
    assert text_of(window, "figure-shown") == outlook(12, settings).texts["shown"]
    preview = find(window, SortingGrid, "preview")
    scan = scanning.scan_images(photo_folder)
    assert [tile.item.path for tile in preview.tiles] == [scan.items[k].path for k in plan.hits[0].tolist()]
    QTest.keyClicks(find(window, QPlainTextEdit, "instructions"), "Sort by shape.")
    press_button(window, "create-campaign")
    settle(window)
    assert window.campaign is not None
    assert window.campaign.path == path.resolve()
    assert window.campaign.settings == settings
    assert window.campaign.instructions == "Sort by shape."
    assert len(window.campaign.items()) == 12
    assert text_of(window, "overview-hits") == str(figures.hits)


def test_large_numbers_are_taken_or_the_person_is_told(open_window: OpenWindow) -> None:
    window = open_window()
    window.show_screen("new")
    for name, largest in (("plan-m", 10_000), ("plan-v", 1000), ("plan-r", 1000), ("plan-seed", 2_147_483_647)):
        type_number(window, name, largest)
        assert find(window, QSpinBox, name).value() == largest
    assert text_of(window, "status-said") == ""
    type_number(window, "plan-m", 20_000)
    assert text_of(window, "status-said") == "Photos shown together (M): 10,000 at most"
    type_number(window, "plan-v", 5000)
    assert text_of(window, "status-said") == "HITs a photo is in (V): 1,000 at most"


def test_a_set_of_a_thousand_photos_is_planned_and_previewed(
    open_window: OpenWindow, tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    items = tuple(Item(k, f"{k}.png", f"{k:064x}", 1, 4, 3) for k in range(1200))
    monkeypatch.setattr(scanning, "scan_images", lambda *_a, **_k: ScanReport(items))
    window = open_window()
    window.show_screen("new")
    choose(window, tmp_path, monkeypatch)
    type_number(window, "plan-m", 1000)
    wait_for_figures(window, qtbot, "hits", "8")
    settle(window)
    assert len(find(window, SortingGrid, "preview").tiles) == 1000


def test_a_plan_that_falls_apart_is_warned_about(
    open_window: OpenWindow, photo_folder: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    window = open_window()
    window.show_screen("new")
    choose(window, photo_folder, monkeypatch)
    type_number(window, "plan-m", 4)
    type_number(window, "plan-v", 1)
    wait_for_figures(window, qtbot, "components", "3")
    warning = find(window, QWidget, "plan-warning")
    assert warning.isVisible()
    assert "cannot be compared" in text_of(window, "plan-warning")
    type_number(window, "plan-v", 3)
    wait_for_figures(window, qtbot, "components", "1")
    assert not warning.isVisible()
    # a warning is no reason not to go on
    assert find(window, QAbstractButton, "create-campaign").isEnabled()


def test_what_is_left_out_is_listed_with_its_reason(
    open_window: OpenWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = draw_photos(tmp_path / "mixed", 4)
    (folder / "broken.jpg").write_bytes(b"\xff\xd8\xff\xe0 cut")
    (folder / "copy.png").write_bytes(next((folder / "even").glob("*.png")).read_bytes())
    window = open_window()
    window.show_screen("new")
    choose(window, folder, monkeypatch)
    assert text_of(window, "scan-state") == "4 photos, 1 copies left out, 1 cannot be read"
    listed = find(window, QListWidget, "left-out")
    lines = [listed.item(row).text() for row in range(listed.count())]
    assert len(lines) == 2
    assert lines[0].startswith("broken.jpg: ")
    assert "the same as" in lines[1]


@pytest.mark.parametrize("content", ["nothing", "texts"])
def test_a_folder_without_photos_is_told(
    open_window: OpenWindow, tmp_path: Path, content: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "empty"
    folder.mkdir()
    if content == "texts":
        (folder / "notes.txt").write_text("no photo", encoding="utf-8")
    window = open_window()
    window.show_screen("new")
    choose(window, folder, monkeypatch)
    assert find(window, QWidget, "error-bar").isVisible()
    assert str(folder) in text_of(window, "error-text")
    assert not find(window, QAbstractButton, "create-campaign").isEnabled()


def test_an_error_about_one_folder_goes_with_the_choice_of_another(
    open_window: OpenWindow, tmp_path: Path, photo_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "empty").mkdir()
    window = open_window()
    window.show_screen("new")
    choose(window, tmp_path / "empty", monkeypatch)
    assert find(window, QWidget, "error-bar").isVisible()
    choose(window, photo_folder, monkeypatch)
    assert not find(window, QWidget, "error-bar").isVisible()


@pytest.mark.parametrize("text", ["", "  ", "/", "..", "."])
def test_a_path_without_a_name_asks_for_one(
    open_window: OpenWindow, photo_folder: Path, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    window = open_window()
    window.show_screen("new")
    choose(window, photo_folder, monkeypatch)
    find(window, QLineEdit, "campaign-path").setText(text)
    assert text_of(window, "create-campaign") == "Name the campaign's file"
    assert not find(window, QAbstractButton, "create-campaign").isEnabled()


def test_a_tilde_is_home_or_the_beginning_of_a_name() -> None:
    assert typed_path(" ") is None
    assert typed_path("~/a b ") == Path.home() / "a b"
    assert typed_path("~nobody-of-this-name/x") == Path("~nobody-of-this-name/x")


def test_an_existing_file_is_not_written_over(
    open_window: OpenWindow, photo_folder: Path, campaign_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = campaign_file.read_bytes()
    window = open_window()
    window.show_screen("new")
    choose(window, photo_folder, monkeypatch)
    field = find(window, QLineEdit, "campaign-path")
    field.setText(str(campaign_file.with_suffix("")))
    press_button(window, "create-campaign")
    settle(window)
    assert find(window, QWidget, "error-bar").isVisible()
    assert "study.crowdclust" in text_of(window, "error-text")
    assert campaign_file.read_bytes() == before
    assert window.campaign is None
    field.clear()
    assert text_of(window, "create-campaign") == "Name the campaign's file"


def test_looking_through_a_folder_can_be_stopped(
    open_window: OpenWindow, photo_folder: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    began = threading.Event()

    def slow(folder: Path, progress: Any, cancel: Any) -> None:
        began.set()
        while True:
            cancel.check()
            threading.Event().wait(0.002)

    monkeypatch.setattr(scanning, "scan_images", slow)
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_a, **_k: str(photo_folder))
    window = open_window()
    window.show_screen("new")
    press_button(window, "choose-folder")
    assert began.wait(PATIENCE / 1000)
    assert text_of(window, "create-campaign") == "Wait for the photos"
    assert "Looking through photos" in text_of(window, "status-work")
    press_button(window, "status-cancel")
    settle(window)
    assert "Stopped" in text_of(window, "scan-state")
    assert not find(window, QAbstractButton, "create-campaign").isEnabled()


def test_the_figures_of_an_older_choice_never_land(
    open_window: OpenWindow, photo_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    window = open_window()
    window.show_screen("new")
    choose(window, photo_folder, monkeypatch)
    screen: Any = window.current_screen
    for redundancy in (6, 5, 4, 3, 2):
        screen.fields["v"].setValue(redundancy)
        screen._work_out()
    screen.fields["m"].setValue(6)
    screen._later.stop()
    screen._work_out()
    settle(window)
    _, figures = plan_items(12, PlanSettings(6, 2, 5, 0))
    assert text_of(window, "figure-hits") == str(figures.hits)


def test_the_file_can_be_put_elsewhere(
    open_window: OpenWindow, photo_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    window = open_window()
    window.show_screen("new")
    chosen = tmp_path / "mine.crowdclust"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_a, **_k: (str(chosen), ""))
    press_button(window, "choose-file")
    choose(window, photo_folder, monkeypatch)
    # choosing a folder afterwards leaves the chosen file alone
    assert text_of(window, "campaign-path") == str(chosen)
    QTest.keyClick(find(window, QAbstractButton, "create-campaign"), Qt.Key.Key_Space)
    settle(window)
    assert chosen.is_file()


def test_times_are_said_as_people_say_them() -> None:
    assert people_time(45) == "45 s"
    assert people_time(600) == "10 min"
    assert people_time(3 * 3600) == "3.0 h"
    assert people_time(40 * 3600) == "40 h"


def test_the_quality_says_what_it_waits_for_and_that_it_was_stopped(
    open_window: OpenWindow, photo_folder: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    window = open_window()
    press_button(window, "card-new")
    choose(window, photo_folder, monkeypatch)
    assert text_of(window, "figure-quality").startswith("ARI ")
    with busy(window, "inference", "Running the inference"):
        type_number(window, "plan-m", 5)
        wait_for_figures(window, qtbot, "quality", "being simulated")
        qtbot.waitUntil(lambda: text_of(window, "figure-quality").startswith("ARI "), timeout=PATIENCE)
    with busy(window, "quick", "Aggregating answers", jobs=LANES["quick"]):
        type_number(window, "plan-m", 6)
        wait_for_figures(window, qtbot, "quality", "waiting for “Aggregating answers” to end")
        press_button(window, "status-cancel")
        wait_for_figures(window, qtbot, "quality", "–")
    settle(window)
