"""What the window's tests share: own application style, no thread left behind."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Hashable, Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication
from user_actions import PATIENCE, draw_photos, settle

from benchmarks.stalls import StallWatch
from crowdclust_app.domain.campaign import PlanSettings
from crowdclust_app.gui import theme
from crowdclust_app.gui.style import apply_look
from crowdclust_app.gui.window import MainWindow
from crowdclust_app.services.campaign.creating import create_campaign

TESTS = str(Path(__file__).parent)
MOST_SECONDS = 1.0


@pytest.fixture(scope="session")
def qapp_cls() -> type[QApplication]:
    return QApplication


@pytest.fixture(autouse=True)
def _same_look(qapp: QApplication) -> None:
    """Every test starts in the light look, whatever the machine's own is."""
    if qapp.property("crowdclust-look") is None:
        qapp.setStyle("Fusion")
        theme.apply_font(qapp)
        apply_look(qapp, theme.Look.LIGHT)
        qapp.setProperty("crowdclust-look", True)


@pytest.fixture(autouse=True)
def _no_thread_left_behind() -> Iterator[None]:
    """A test that leaves one of the lanes' threads running fails."""
    before = {thread.ident for thread in threading.enumerate()}
    yield
    deadline = time.monotonic() + PATIENCE / 1000
    while True:
        left = [
            thread.name
            for thread in threading.enumerate()
            if thread.ident not in before and thread.name.startswith("crowdclust-")
        ]
        if not left or time.monotonic() > deadline:
            break
        time.sleep(0.01)
    assert not left, f"threads left running: {left}"


def _who_waits() -> Hashable:
    """The place in a test from which the event loop is run."""
    frame = sys._getframe(1)
    while frame is not None and TESTS not in frame.f_code.co_filename:
        frame = frame.f_back
    return None if frame is None else (id(frame), frame.f_lasti)


@pytest.fixture(autouse=True)
def _window_is_never_stuck(qapp: QApplication, request: pytest.FixtureRequest) -> Iterator[None]:
    """A test in which the window's own work keeps the main thread for a second fails.

    Where the program itself runs the event loop now and then, as for pictures without a display, what it does between
    two waits keeps nobody waiting.
    """
    if request.node.get_closest_marker("runs_the_loop_itself") is not None:
        yield
        return
    watch = StallWatch(time.thread_time, _who_waits)
    yield
    watch.stop()
    assert watch.longest() < MOST_SECONDS, f"the main thread was busy for {watch.longest():.1f} s at a stretch"


@pytest.fixture
def photo_folder(tmp_path: Path) -> Path:
    """Twelve small drawn photos in two folders, in two shapes."""
    return draw_photos(tmp_path / "photos", 12)


@pytest.fixture
def campaign_file(tmp_path: Path, photo_folder: Path) -> Path:
    """A campaign of those photos: six HITs of six, two workers for each."""
    path = tmp_path / "study.crowdclust"
    create_campaign(path, photo_folder, PlanSettings(6, 3, 2, 0), "Sort by what it is.")
    return path


@pytest.fixture
def open_window(qapp: QApplication) -> Iterator[Callable[..., MainWindow]]:
    """Open windows as the program does; they are closed when the test ends."""
    windows: list[MainWindow] = []

    def opened(campaign: Path | None = None, show: str = "", size: tuple[int, int] | None = (1366, 768)) -> MainWindow:
        window = MainWindow()
        windows.append(window)
        if size is not None:
            window.resize(*size)
        window.show_screen("start")
        window.show()
        window.activateWindow()
        if campaign is not None:
            window.open_campaign(campaign, show)
        settle(window)
        return window

    yield opened
    for window in windows:
        window.close()
        window.deleteLater()
    qapp.sendPostedEvents(None, 0)
    qapp.processEvents()
