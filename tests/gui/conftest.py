"""What the window's tests share: own application style, no thread left behind."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest
from PySide6.QtWidgets import QApplication

from crowdclust_app.gui import theme


@pytest.fixture(scope="session")
def qapp_cls() -> type[QApplication]:
    return QApplication


@pytest.fixture(autouse=True)
def _same_look(qapp: QApplication) -> None:
    """Every test starts in the light look, whatever the machine's own is."""
    if qapp.property("crowdclust-look") is None:
        qapp.setStyle("Fusion")
        theme.apply_font(qapp)
        theme.apply_look(qapp, theme.Look.LIGHT)
        qapp.setProperty("crowdclust-look", True)


@pytest.fixture(autouse=True)
def _no_thread_left_behind() -> Iterator[None]:
    """A test that leaves one of the lanes' threads running fails."""
    before = {thread.ident for thread in threading.enumerate()}
    yield
    deadline = time.monotonic() + 5
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
