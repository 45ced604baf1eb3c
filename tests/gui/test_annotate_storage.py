"""What was sorted is stored as it happens, survives a kill, and never gets out of step with the screen."""

from __future__ import annotations

import errno
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import user_actions
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QColor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot
from user_actions import CTRL, PATIENCE, Person, find, press_button, settle, text_of

from crowdclust_app.domain.sorting import Action, Sorting
from crowdclust_app.gui import theme
from crowdclust_app.gui.window import MainWindow
from crowdclust_app.services.annotate import annotation
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.campaign.counts import assignment_records
from crowdclust_app.services.campaign.responses import read_responses

OpenWindow = Callable[..., MainWindow]

KILLED = """
import os, signal, sys
from pathlib import Path
sys.path.insert(0, {tests!r})
from user_actions import CTRL, Person, settle
from crowdclust_app.gui.app import make_application
from crowdclust_app.gui.window import MainWindow
app = make_application()
window = MainWindow()
window.show()
window.open_campaign(Path({campaign!r}), "annotate")
settle(window)
person = Person(window)
person.sign_in("Ada")
person.click(0)
person.key("2")
person.drag(person.centre(1), person.centre(2))
person.key("3")
person.click(4)
person.key("z", CTRL)
settle(window)
print(*[tile.item.path for tile in person.grid.tiles], *person.groups, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="kills with a signal")
def test_killed_in_mid_set_the_next_start_goes_on(
    open_window: OpenWindow, campaign_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = KILLED.format(tests=str(Path(user_actions.__file__).parent), campaign=str(campaign_file))
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == -9, done.stderr
    shown = done.stdout.split()
    assert shown[6:] == ["1", "2", "2", "0", "0", "0"]

    person = Person(open_window(campaign_file, "annotate"))
    # the same person, the same photos in the same order, the same groups, the same history
    assert text_of(person.window, "change-worker") == "Ada"
    assert [tile.item.path for tile in person.grid.tiles] == shown[:6]
    assert [str(group) for group in person.groups] == shown[6:]
    person.key("z", CTRL | Qt.KeyboardModifier.ShiftModifier)
    assert person.groups == (1, 2, 2, 0, 3, 0)
    for _ in range(3):
        person.key("z", CTRL)
    assert person.groups == (0,) * 6
    assert Sorting(6, person.stored()).groups == (0,) * 6


def test_closing_the_window_stores_what_is_on_its_way(open_window: OpenWindow, campaign_file: Path) -> None:
    person = Person(open_window(campaign_file, "annotate"))
    person.sign_in("Ada")
    for position in range(6):
        person.click(position)
    person.window.close()
    with Campaign.open(campaign_file) as campaign:
        (worker,) = campaign.workers()
        assignment = annotation.next_assignment(campaign, worker)
        assert assignment is not None
        assert len(annotation.log(campaign, assignment)) == 6


def test_a_change_that_cannot_be_stored_is_told_and_taken_off_the_screen(
    open_window: OpenWindow, campaign_file: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    person = Person(open_window(campaign_file, "annotate"))
    person.sign_in("Ada")
    person.click(0)
    person.settle()
    real, gate = annotation.record, threading.Event()

    def full(campaign: Campaign, assignment: Any, action: Action, seconds: float) -> None:
        gate.wait(PATIENCE / 1000)
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(annotation, "record", full)
    person.click(1)
    # more is done before the failure is known; none of it may be stored after what was lost
    monkeypatch.setattr(annotation, "record", full)
    person.click(2)
    person.key("z", CTRL)
    assert person.groups == (1, 1, 0, 0, 0, 0)
    qtbot.waitUntil(lambda: text_of(person.window, "status-said") == "Saving", timeout=PATIENCE)
    gate.set()
    person.settle()
    monkeypatch.setattr(annotation, "record", real)
    bar = find(person.window, QWidget, "error-bar")
    assert bar.isVisible()
    assert "No space left on device" in text_of(person.window, "error-text")
    assert "not saved" in text_of(person.window, "error-text")
    assert person.groups == (1, 0, 0, 0, 0, 0)
    # and it goes on from there
    press_button(person.window, "error-dismiss")
    person.click(3)
    assert Sorting(6, person.stored()).groups == (1, 0, 0, 1, 0, 0) == person.groups


def test_submit_waits_for_what_is_on_its_way(
    open_window: OpenWindow, campaign_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    person = Person(open_window(campaign_file, "annotate"))
    person.sign_in("Ada")
    real, gate = annotation.record, threading.Event()

    def slow(*arguments: Any) -> None:
        gate.wait(PATIENCE / 1000)
        real(*arguments)

    monkeypatch.setattr(annotation, "record", slow)
    person.key("r")
    person.key(Qt.Key.Key_Return, CTRL)
    # nothing can be done to a set that is being handed in
    before = person.groups
    person.click(0)
    person.key("z", CTRL)
    assert person.groups == before
    gate.set()
    person.settle()
    assert person.window.campaign is not None
    (response,) = read_responses(person.window.campaign)
    assert len(set(response.groups)) == 6
    assert text_of(person.window, "set-title") == "Set 2 of 6"


def test_a_set_that_cannot_be_submitted_stays(
    open_window: OpenWindow, campaign_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    person = Person(open_window(campaign_file, "annotate"))
    person.sign_in("Ada")
    real = annotation.submit

    def broken(*_arguments: Any) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(annotation, "submit", broken)
    person.key("r")
    groups = person.groups
    person.key(Qt.Key.Key_Return, CTRL)
    person.settle()
    assert "Input/output error" in text_of(person.window, "error-text")
    assert person.groups == groups
    monkeypatch.setattr(annotation, "submit", real)
    press_button(person.window, "submit-button")
    person.settle()
    assert text_of(person.window, "set-title") == "Set 2 of 6"


def test_active_seconds_are_stored_and_taken_up_again(open_window: OpenWindow, campaign_file: Path) -> None:
    person = Person(open_window(campaign_file, "annotate"))
    person.sign_in("Ada")
    now = [1000.0]
    person.page._now = lambda: now[0]
    person.page.clock._now = person.page._now
    person.page.clock._last = None
    person.page.clock._seconds = 0.0
    person.page.clock.touch()
    now[0] += 12
    person.click(0)
    person.settle()
    # the window goes to the back for an hour
    person.page.clock.stop()
    now[0] += 3600
    person.page.changeEvent(QEvent(QEvent.Type.ActivationChange))
    now[0] += 8
    person.key("r")
    person.key(Qt.Key.Key_Return, CTRL)
    person.settle()
    assert person.window.campaign is not None
    (record,) = [a for a in assignment_records(person.window.campaign) if a.submitted_at is not None]
    assert record.active_seconds == pytest.approx(20, abs=0.01)


def test_a_photo_that_cannot_be_read_shows_its_name_and_why(
    open_window: OpenWindow, campaign_file: Path, photo_folder: Path
) -> None:
    person = Person(open_window(campaign_file, "annotate"))
    for file in photo_folder.rglob("*.png"):
        file.write_bytes(b"not a picture any more")
    person.sign_in("Ada")
    tile = person.grid.tiles[0]
    reason = person.window.pictures.failure(tile.path, tile.item.content_hash)
    assert reason
    # it is painted, not left empty: some pixels of the tile are text
    layout = person.grid.grid_layout
    assert layout is not None
    image = person.grid.grab(layout.cell(0)).toImage()
    colours = {image.pixel(x, y) for x in range(image.width()) for y in range(0, image.height(), 2)}
    assert len(colours) > 8
    # and can be sorted like any other
    person.click(0)
    assert person.groups[0] == 1


def test_a_sorted_tile_wears_its_groups_colour_and_the_picture_is_untouched(
    open_window: OpenWindow, campaign_file: Path
) -> None:
    person = Person(open_window(campaign_file, "annotate"))
    person.sign_in("Ada")
    settle(person.window)
    person.grid._forget_scaled()
    layout = person.grid.grid_layout
    assert layout is not None
    cell = layout.cell(0)
    before = person.grid.grab(cell).toImage()
    person.key("2")
    person.click(0)
    person.grid._set_hover(None)
    after = person.grid.grab(cell).toImage()
    tile = person.grid.tiles[0].item
    from crowdclust_app.gui.annotate.layout import fitted

    place = fitted(cell, tile.width or 1, tile.height or 1).translated(-cell.topLeft())
    assert QColor(after.pixel(place.left() - 2, place.center().y())) == theme.group_colour(2)
    assert QColor(after.pixel(place.center().x(), place.bottom() + 2)) == theme.group_colour(2)
    # below and beside the badge every pixel is the picture's
    for x in range(place.left() + 30, place.right()):
        for y in range(place.top() + 26, place.bottom()):
            assert before.pixel(x, y) == after.pixel(x, y)


def test_photos_that_moved_are_asked_for_and_found(
    open_window: OpenWindow, campaign_file: Path, photo_folder: Path, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "disk" / "elsewhere"
    elsewhere.parent.mkdir()
    photo_folder.rename(elsewhere)
    window = open_window(campaign_file, "progress")
    assert str(photo_folder) in window.error_bar.text.text()
    window.show_screen("annotate")
    settle(window)
    assert text_of(window, "lost-images-page-heading") == "The photos are not where they were"
    screen: Any = window.screen_named("annotate")
    screen.relocate(elsewhere)
    settle(window)
    assert window.error_bar.isHidden()
    person = Person(window)
    person.sign_in("Ada")
    tile = person.grid.tiles[0]
    assert tile.path.parent.parent == elsewhere
    assert window.pictures.failure(tile.path, tile.item.content_hash) == ""


def test_the_next_sets_photos_are_loaded_ahead(open_window: OpenWindow, campaign_file: Path) -> None:
    person = Person(open_window(campaign_file, "annotate"))
    person.sign_in("Ada")
    person.settle()
    hits = person.window.campaign.hits()
    items = {item.number: item for item in person.window.campaign.items()}
    kept = {key[0] for key in person.window.pictures._kept}
    assert {items[number].content_hash for number in hits[1].items} <= kept


def test_a_set_handed_in_from_another_window_gives_way_to_the_next(
    open_window: OpenWindow, campaign_file: Path
) -> None:
    person = Person(open_window(campaign_file, "annotate"))
    person.sign_in("Ada")
    person.key("r")
    person.settle()
    here = [tile.item.path for tile in person.grid.tiles]
    with Campaign.open(campaign_file) as campaign:
        assignment = annotation.next_assignment(campaign, campaign.workers()[0])
        assert assignment is not None
        annotation.submit(campaign, assignment, 1.0)
    person.key(Qt.Key.Key_Return, CTRL)
    person.settle()
    assert "submitted already" in text_of(person.window, "error-text")
    assert [tile.item.path for tile in person.grid.tiles] != here
    assert text_of(person.window, "set-title") == "Set 2 of 6"
    person.click(0)
    assert len(person.stored()) == 1


def test_names_of_files_are_kept_from_those_who_sort(open_window: OpenWindow, campaign_file: Path) -> None:
    """A folder named after the category would tell annotators what to see."""
    person = Person(open_window(campaign_file, "annotate"))
    person.sign_in("Ada")
    QTest.mouseMove(person.grid, person.centre(0))
    QTest.mouseMove(person.grid, person.centre(1))
    shown = [widget.toolTip() + widget.accessibleDescription() for widget in person.page.findChildren(QWidget)]
    assert not any("photo0" in text or "even" in text or "odd" in text for text in shown)
