"""The Verify screen of a question set that is answered in part, and the same once it has learnt from the images."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from learning_window import learn, make_asked
from pytestqt.qtbot import QtBot
from sorted_campaign import open_window

from crowdclust_app.gui.window import MainWindow


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_asked(tmp_path_factory.mktemp("learning"))


@pytest.fixture
def path(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CROWDCLUST_HOME", str(tmp_path / "home"))
    return shutil.copytree(made.parent, tmp_path / "c") / made.name


@pytest.fixture
def window(qtbot: QtBot, path: Path) -> MainWindow:
    return open_window(qtbot, path, "verify")


@pytest.fixture
def learnt(qtbot: QtBot, window: MainWindow) -> MainWindow:
    learn(window, qtbot)
    return window
