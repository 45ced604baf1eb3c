"""How the window's tests act: like a person, with the mouse and the keyboard, on what is on screen."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from PIL import Image, ImageDraw
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QPalette
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel, QLineEdit, QWidget

from crowdclust_app.domain.sorting import Action
from crowdclust_app.gui.annotate.photo import PhotoView
from crowdclust_app.gui.annotate.sorting_grid import SortingGrid
from crowdclust_app.gui.jobs import Lane
from crowdclust_app.gui.theme import luminance
from crowdclust_app.gui.window import MainWindow

NO = Qt.KeyboardModifier.NoModifier
SHIFT, CTRL = Qt.KeyboardModifier.ShiftModifier, Qt.KeyboardModifier.ControlModifier
LEFT = Qt.MouseButton.LeftButton
PATIENCE = 60_000
"""Milliseconds after which what has not come will not come; a busy machine needs many of them."""
W = TypeVar("W", bound=QWidget)


def draw_photos(folder: Path, count: int) -> Path:
    """Small pictures that all differ, every second one upright, in two folders."""
    for k in range(count):
        place = folder / ("even" if k % 2 == 0 else "odd")
        place.mkdir(parents=True, exist_ok=True)
        size = (64, 48) if k % 2 == 0 else (48, 64)
        image = Image.new("RGB", size, (20 * k % 256, 255 - 20 * k % 256, 90))
        ImageDraw.Draw(image).ellipse((8, 8, 24 + k, 24 + k), fill=(255, 255, 255))
        image.save(place / f"photo{k:02d}.png")
    return folder


def is_dark(palette: QPalette) -> bool:
    """Whether the window is darker than its text."""
    return luminance(palette.color(QPalette.ColorRole.Window)) < luminance(palette.color(QPalette.ColorRole.WindowText))


def settle(window: MainWindow) -> None:
    """Let everything that is under way come to its end, remembering settings included."""
    while True:
        assert window.jobs.wait(PATIENCE), "work did not end"
        QApplication.processEvents()
        if not window.jobs.active and not window._save_later.isActive():
            return
        QTest.qWait(5)


def wait_until(there: Callable[[], bool]) -> None:
    """Let the window live until something is so."""
    deadline = time.monotonic() + PATIENCE / 1000
    while not there():
        assert time.monotonic() < deadline, "it did not come"
        QTest.qWait(5)


@contextmanager
def busy(window: MainWindow, lane: Lane, title: str, jobs: int = 1) -> Iterator[None]:
    """Long jobs of this title are under way in a lane until the block is left."""
    go = threading.Event()
    for _ in range(jobs):
        window.jobs.start(lane, lambda _progress, _token: go.wait(PATIENCE / 1000), title=title)
    try:
        yield
    finally:
        go.set()


def find(root: QWidget, kind: type[W], name: str) -> W:
    """The widget with this name."""
    found = root.findChild(kind, name)
    assert found is not None, f"nothing is called {name}"
    return found


def press_button(root: QWidget, name: str) -> None:
    """Click a button that can be seen and pressed."""
    button = find(root, QAbstractButton, name)
    assert button.isVisible(), f"{name} cannot be seen"
    assert button.isEnabled(), f"{name} cannot be pressed: {button.text()}"
    QTest.mouseClick(button, LEFT)


def text_of(root: QWidget, name: str) -> str:
    """What a label or button says."""
    for kind in (QLabel, QAbstractButton, QLineEdit):
        found: Any = root.findChild(kind, name)
        if found is not None:
            return str(found.text())
    raise AssertionError(f"nothing is called {name}")


class Person:
    """Somebody who sorts in a window."""

    def __init__(self, window: MainWindow) -> None:
        self.window = window

    @property
    def grid(self) -> SortingGrid:
        return find(self.window, SortingGrid, "photo-grid")

    @property
    def photo(self) -> PhotoView:
        return find(self.window, PhotoView, "photo-view")

    @property
    def page(self) -> Any:
        return find(self.window, QWidget, "set-page")

    @property
    def groups(self) -> tuple[int, ...]:
        """The groups on screen."""
        return tuple(self.page.desk.groups)

    @property
    def count(self) -> int:
        return len(self.grid.tiles)

    def sign_in(self, name: str, read: bool = True) -> None:
        """Write a name, begin, put the instructions away."""
        self.window.show_screen("annotate")
        settle(self.window)
        field = find(self.window, QLineEdit, "worker-name")
        assert field.isVisible()
        field.clear()
        QTest.keyClicks(field, name)
        QTest.keyClick(field, Qt.Key.Key_Return)
        settle(self.window)
        if read and find(self.window, QWidget, "instructions-sheet").isVisible():
            press_button(self.window, "instructions-done")

    def centre(self, position: int) -> QPoint:
        layout = self.grid.grid_layout
        assert layout is not None
        return layout.cell(position).center()

    def click(self, position: int, modifiers: Qt.KeyboardModifier = NO) -> None:
        QTest.mouseClick(self.grid, LEFT, modifiers, self.centre(position))

    def double_click(self, position: int) -> None:
        """Both clicks of a double click, as the system sends them."""
        QTest.mouseClick(self.grid, LEFT, NO, self.centre(position))
        QTest.mouseDClick(self.grid, LEFT, NO, self.centre(position))

    def drag(self, start: QPoint, *stops: QPoint, modifiers: Qt.KeyboardModifier = NO) -> None:
        """Press, move over these points, let go."""
        QTest.mousePress(self.grid, LEFT, modifiers, start)
        for stop in stops:
            QTest.mouseMove(self.grid, stop)
            QApplication.processEvents()
        QTest.mouseRelease(self.grid, LEFT, modifiers, stops[-1])

    def key(self, key: Any, modifiers: Qt.KeyboardModifier = NO) -> None:
        """Press a key where the keyboard is."""
        target = self.window.focusWidget() or self.grid
        QTest.keyClick(target, key, modifiers)

    def chip(self, group: int) -> QAbstractButton | None:
        """The chip of a group, if it is shown."""
        found = self.window.findChild(QAbstractButton, f"group-chip-{group}")
        return found if found is not None and found.isVisible() else None

    def settle(self) -> None:
        settle(self.window)

    def stored(self) -> tuple[Action, ...]:
        """What is in the file of the set on screen."""
        from crowdclust_app.services.annotate import annotation

        self.settle()
        session = self.window.screen_named("annotate")._session  # type: ignore[attr-defined]
        return annotation.log(self.window.campaign, session.assignment)
