"""The window around the screens: rail, commands, help, errors, status, what is remembered."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QEvent, QMimeData, QPointF, QRect, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QPainter
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QLineEdit, QListWidget, QPlainTextEdit, QWidget
from pytestqt.qtbot import QtBot
from user_actions import CTRL, PATIENCE, find, is_dark, press_button, settle, text_of

from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.domain.errors import UserError
from crowdclust_app.gui import theme
from crowdclust_app.gui.errors import LOG_NAME, ErrorCentre, describe
from crowdclust_app.gui.registry import SCREENS
from crowdclust_app.gui.settings import WindowSettings
from crowdclust_app.gui.style import apply_look
from crowdclust_app.gui.window import MainWindow
from crowdclust_app.services.folders import config_folder, log_folder
from crowdclust_app.services.progress_report import Progress, ProgressReport

OpenWindow = Callable[..., MainWindow]
HEAVY = {"numba", "scipy", "pyqtgraph", "sqlalchemy", "PIL"}


def press(
    window: MainWindow, key: Qt.Key | str, modifiers: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier
) -> None:
    QTest.keyClick(window.focusWidget() or window, key, modifiers)  # type: ignore[arg-type]


def front(window: MainWindow) -> str:
    screen = window.current_screen
    assert screen is not None
    return screen.name


# --- rail and screens


def test_the_rail_leads_to_every_screen_of_a_campaign(open_window: OpenWindow, campaign_file: Path) -> None:
    window = open_window()
    assert not find(window, QAbstractButton, "rail-annotate").isEnabled()
    press(window, "2", CTRL)
    assert front(window) == "start"
    window.open_campaign(campaign_file)
    settle(window)
    for number, entry in enumerate((entry for entry in SCREENS if entry.in_rail), start=1):
        press_button(window, f"rail-{entry.name}")
        assert front(window) == entry.name
        assert find(window, QAbstractButton, f"rail-{entry.name}").isChecked()
        press_button(window, "rail-start")
        press(window, str(number), CTRL)
        assert front(window) == entry.name
        settle(window)
    assert not find(window, QWidget, "error-bar").isVisible()


def test_a_campaign_that_is_closed_takes_its_screens_along(open_window: OpenWindow, campaign_file: Path) -> None:
    window = open_window(campaign_file, "annotate")
    window.close_campaign()
    settle(window)
    assert front(window) == "start"
    assert window.campaign is None
    assert not find(window, QAbstractButton, "rail-annotate").isEnabled()
    assert text_of(window, "status-campaign") == "No campaign open"


def test_escape_goes_back(open_window: OpenWindow, campaign_file: Path) -> None:
    window = open_window(campaign_file, "start")
    window.show_screen("new")
    window.show_screen("start")
    press(window, Qt.Key.Key_Escape)
    assert front(window) == "new"
    press(window, Qt.Key.Key_Escape)
    assert front(window) == "start"


# --- commands and help


def test_every_command_is_listed_with_its_key_and_can_be_given(open_window: OpenWindow) -> None:
    window = open_window()
    press(window, "k", CTRL)
    listed = find(window, QListWidget, "command-list")
    assert listed.isVisible()
    titles = {
        listed.item(row).text(): listed.item(row).data(Qt.ItemDataRole.UserRole + 1) for row in range(listed.count())
    }
    assert titles["New campaign"] == "Ctrl+N"
    assert titles["Help on this screen"] == "F1"
    assert titles["Go back"] == "Esc"
    field = find(window, QLineEdit, "command-field")
    QTest.keyClicks(field, "new camp")
    assert listed.count() == 1
    QTest.keyClick(field, Qt.Key.Key_Return)
    assert not listed.isVisible()
    assert front(window) == "new"


def test_a_screens_commands_are_listed_while_it_is_shown(open_window: OpenWindow, campaign_file: Path) -> None:
    window = open_window(campaign_file, "annotate")
    undo = {command.title: command.key_text for command in window.commands.of(window.current_screen)}
    assert undo["Undo"] == "Ctrl+Z"
    window.show_screen("start")
    assert "Undo" not in {command.title for command in window.commands.of(window.current_screen)}


def test_the_keys_of_the_palette_move_and_close_it(open_window: OpenWindow) -> None:
    window = open_window()
    press(window, "k", CTRL)
    field, listed = find(window, QLineEdit, "command-field"), find(window, QListWidget, "command-list")
    QTest.keyClick(field, Qt.Key.Key_Down)
    assert listed.currentRow() == 1
    QTest.keyClick(field, Qt.Key.Key_Up)
    QTest.keyClick(field, Qt.Key.Key_Up)
    assert listed.currentRow() == listed.count() - 1
    QTest.keyClicks(field, "no such command at all")
    QTest.keyClick(field, Qt.Key.Key_Return)
    QTest.keyClick(field, Qt.Key.Key_Escape)
    assert not listed.isVisible()
    assert front(window) == "start"


def test_f1_says_what_the_screen_is_for_and_which_keys_work(open_window: OpenWindow, campaign_file: Path) -> None:
    window = open_window(campaign_file, "annotate")
    press(window, Qt.Key.Key_F1)
    help_ = find(window, QWidget, "help-overlay")
    assert help_.isVisible()
    from PySide6.QtWidgets import QLabel

    words = " ".join(label.text() for label in help_.findChildren(QLabel))
    assert "belong together" in words
    assert "Ctrl+Z" in words
    press(window, Qt.Key.Key_Escape)
    assert not help_.isVisible()
    assert front(window) == "annotate"


# --- errors


def test_what_a_job_did_not_expect_is_told_with_details_and_logged(open_window: OpenWindow) -> None:
    window = open_window()

    def work(_progress: Progress, _token: CancelToken) -> None:
        raise RuntimeError("the flux is undone")

    window.jobs.start("inference", work)
    settle(window)
    assert find(window, QWidget, "error-bar").isVisible()
    assert "details are in the log" in text_of(window, "error-text")
    details = find(window, QPlainTextEdit, "error-details")
    assert not details.isVisible()
    press_button(window, "error-details-button")
    assert details.isVisible()
    assert "the flux is undone" in details.toPlainText()
    assert "the flux is undone" in (log_folder() / LOG_NAME).read_text(encoding="utf-8")
    press(window, Qt.Key.Key_Escape)
    assert not find(window, QWidget, "error-bar").isVisible()


def test_what_the_user_can_mend_is_one_sentence_without_details(open_window: OpenWindow, tmp_path: Path) -> None:
    window = open_window()
    window.open_campaign(tmp_path / "missing.crowdclust")
    settle(window)
    said = text_of(window, "error-text")
    assert "missing.crowdclust" in said
    assert not find(window, QAbstractButton, "error-details-button").isVisible()
    assert not (log_folder() / LOG_NAME).exists()
    assert front(window) == "start"


@pytest.mark.parametrize("content", [b"", b"this is no database", b"SQLite format 3\0" + bytes(200)])
def test_a_file_that_is_no_campaign_is_refused_and_left_alone(
    open_window: OpenWindow, tmp_path: Path, content: bytes
) -> None:
    path = tmp_path / "odd.crowdclust"
    path.write_bytes(content)
    window = open_window(path)
    assert find(window, QWidget, "error-bar").isVisible()
    assert window.campaign is None
    assert path.read_bytes() == content


def test_half_a_campaign_is_refused(open_window: OpenWindow, campaign_file: Path) -> None:
    whole = campaign_file.read_bytes()
    campaign_file.write_bytes(whole[: len(whole) // 2])
    window = open_window(campaign_file)
    assert window.campaign is None
    assert find(window, QWidget, "error-bar").isVisible()
    assert "study.crowdclust" in text_of(window, "error-text")
    assert not find(window, QAbstractButton, "error-details-button").isVisible()
    assert campaign_file.read_bytes() == whole[: len(whole) // 2]


def test_a_campaign_of_a_newer_version_is_refused(open_window: OpenWindow, campaign_file: Path) -> None:
    with closing(sqlite3.connect(campaign_file)) as connection:
        connection.execute("PRAGMA user_version = 9999")
    window = open_window(campaign_file)
    assert window.campaign is None
    assert "newer" in text_of(window, "error-text")


def test_exceptions_of_any_thread_reach_the_error_bar(open_window: OpenWindow, monkeypatch: pytest.MonkeyPatch) -> None:
    window = open_window()
    monkeypatch.setattr(sys, "excepthook", sys.__excepthook__)
    monkeypatch.setattr(threading, "excepthook", threading.__excepthook__)
    window.errors.install()
    try:

        def fall() -> None:
            raise ValueError("fell in a thread")

        thread = threading.Thread(target=fall)
        thread.start()
        thread.join()
        QApplication.processEvents()
        assert "fell in a thread" in find(window, QPlainTextEdit, "error-details").toPlainText()
        try:
            raise KeyError("fell in the window")
        except KeyError:
            sys.excepthook(*sys.exc_info())
        QApplication.processEvents()
        assert "fell in the window" in find(window, QPlainTextEdit, "error-details").toPlainText()
    finally:
        window.errors.remove()
    assert sys.excepthook is sys.__excepthook__
    assert threading.excepthook is threading.__excepthook__


def test_an_error_is_told_even_when_the_log_cannot_be_written(qtbot: QtBot, tmp_path: Path) -> None:
    centre = ErrorCentre(tmp_path / "no such folder" / "crowdclust.log")
    heard: list[Any] = []
    centre.raised.connect(heard.append)
    centre.report(RuntimeError("lost"))
    assert heard
    centre.remove()


def test_errors_say_what_where_and_what_now() -> None:
    said = describe(UserError("the file is cut off", where="a.crowdclust", todo="take the backup"))
    assert said.text == "A.crowdclust: the file is cut off; take the backup." or said.text.startswith("a.crowdclust")
    assert said.details == ""
    full = describe(OSError(28, "No space left on device", "/disk/x"))
    assert "No space left on device (/disk/x)" in full.text
    odd = describe(ZeroDivisionError("division"))
    assert "ZeroDivisionError" in odd.details


# --- status line


def test_the_status_line_shows_work_and_cancels_it(open_window: OpenWindow, qtbot: QtBot) -> None:
    window = open_window()
    began = threading.Event()

    def work(progress: Progress, token: CancelToken) -> None:
        progress(ProgressReport(1, 4, "one of four"))
        began.set()
        while True:
            token.check()
            threading.Event().wait(0.001)

    cancelled: list[bool] = []
    window.jobs.start("inference", work, title="Counting", on_cancelled=lambda: cancelled.append(True))
    assert began.wait(PATIENCE / 1000)
    qtbot.waitUntil(lambda: "one of four" in text_of(window, "status-work"), timeout=PATIENCE)
    assert text_of(window, "status-work") == "Counting: one of four"
    bar = window.status.bar
    assert bar.isVisible()
    assert bar.value() / bar.maximum() == pytest.approx(0.25)
    press_button(window, "status-cancel")
    qtbot.waitUntil(lambda: bool(cancelled), timeout=PATIENCE)
    assert text_of(window, "status-work") == ""
    assert not bar.isVisible()


# --- remembered


def test_the_last_screen_and_the_windows_size_come_back(open_window: OpenWindow, campaign_file: Path) -> None:
    window = open_window(campaign_file)
    window.resize(960, 700)
    window.show_screen("annotate")
    window.remember("tiles", 3)
    settle(window)
    window.close()
    # no larger than the screen, which is 800 wide without a display: the least width that the window has
    again = open_window(campaign_file, size=None)
    assert (again.width(), again.height()) == (960, 700)
    assert front(again) == "annotate"
    assert again.recall("tiles") == 3
    assert again.recall("nothing", "default") == "default"


def test_unreadable_settings_count_as_none(tmp_path: Path) -> None:
    for text in ("", "{", "[]", '{"program": 3, "campaigns": {}}', '{"program": {}}'):
        file = tmp_path / "window.json"
        file.write_text(text, encoding="utf-8")
        settings = WindowSettings(file)
        assert settings.get("look") is None
        settings.set("look", "dark")
        settings.save()
        assert WindowSettings(file).get("look") == "dark"
    assert [path.name for path in tmp_path.iterdir()] == ["window.json"]


def test_settings_of_many_campaigns_do_not_grow_without_end(tmp_path: Path) -> None:
    file = tmp_path / "window.json"
    settings = WindowSettings(file)
    for number in range(250):
        settings.set("screen", "annotate", tmp_path / f"{number}.crowdclust")
    settings.save()
    again = WindowSettings(file)
    assert again.get("screen", campaign=tmp_path / "249.crowdclust") == "annotate"
    assert again.get("screen", campaign=tmp_path / "0.crowdclust") is None


def test_the_choice_of_colours_is_remembered(open_window: OpenWindow, qapp: QApplication) -> None:
    window = open_window()
    try:
        window.set_look(theme.Look.DARK)
        settle(window)
        assert is_dark(qapp.palette())
        assert (config_folder() / "window.json").is_file()
        assert theme.Look(WindowSettings().get("look")) is theme.Look.DARK
    finally:
        apply_look(qapp, theme.Look.LIGHT)


# --- opening


def test_a_campaign_dropped_on_the_window_is_opened(open_window: OpenWindow, campaign_file: Path) -> None:
    window = open_window()
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(campaign_file))])
    buttons, modifiers = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    enter = QDragEnterEvent(QPointF(300, 300).toPoint(), Qt.DropAction.CopyAction, data, buttons, modifiers)
    window.dragEnterEvent(enter)
    assert enter.isAccepted()
    window.dropEvent(QDropEvent(QPointF(300, 300), Qt.DropAction.CopyAction, data, buttons, modifiers))
    settle(window)
    assert window.campaign is not None
    assert window.campaign.path == campaign_file.resolve()
    other = QMimeData()
    other.setUrls([QUrl.fromLocalFile("/somewhere/photo.png")])
    refused = QDragEnterEvent(QPointF(300, 300).toPoint(), Qt.DropAction.CopyAction, other, buttons, modifiers)
    refused.ignore()
    window.dragEnterEvent(refused)
    assert not refused.isAccepted()


def test_the_window_is_there_before_anything_heavy_is_loaded() -> None:
    script = (
        "import sys\n"
        "from crowdclust_app.gui.app import make_application\n"
        "from crowdclust_app.gui.window import MainWindow\n"
        "app = make_application()\n"
        "window = MainWindow()\n"
        "window.use_look(window.remembered_look())\n"
        "window.show_screen('start')\n"
        "window.show()\n"
        "app.processEvents()\n"
        f"print(sorted(set(sys.modules) & {HEAVY!r}))\n"
        "window.close()\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# --- what this version of Qt's binding must not do


class Overridden(QWidget):
    """Python overrides of the kinds that Qt calls most."""

    calls = 0

    def event(self, event: QEvent) -> bool:
        self.calls += 1
        return super().event(event)

    def eventFilter(self, _watched: object, _event: QEvent) -> bool:
        self.calls += 1
        return False

    def paintEvent(self, _event: object) -> None:
        self.calls += 1
        QPainter(self).fillRect(QRect(0, 0, 4, 4), Qt.GlobalColor.red)

    def mouseMoveEvent(self, _event: object) -> None:
        self.calls += 1

    def hasHeightForWidth(self) -> bool:
        self.calls += 1
        return True


def test_overrides_that_qt_calls_lose_no_references(qapp: QApplication) -> None:
    """Some releases of the binding drop a reference to None or True at each call, until the interpreter aborts."""
    widget = Overridden()
    child = QWidget(widget)
    child.installEventFilter(widget)
    widget.resize(40, 40)
    widget.show()
    qapp.processEvents()

    def round_() -> None:
        for _ in range(400):
            qapp.sendEvent(widget, QEvent(QEvent.Type.User))
            qapp.sendEvent(child, QEvent(QEvent.Type.User))
            widget.repaint()
            widget.hasHeightForWidth()
            QTest.mouseMove(widget)

    round_()
    before = (sys.getrefcount(None), sys.getrefcount(True), sys.getrefcount(False))
    calls = widget.calls
    round_()
    after = (sys.getrefcount(None), sys.getrefcount(True), sys.getrefcount(False))
    made = widget.calls - calls
    assert made >= 1200
    if sys.version_info < (3, 12):
        # from 3.12 on these objects are immortal and their count says nothing
        for name, a, b in zip(("None", "True", "False"), before, after, strict=True):
            assert b >= a - 100, f"{made} calls lost {a - b} references to {name}"
    widget.close()
    widget.deleteLater()
