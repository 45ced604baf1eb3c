"""The main window: rail, screens, error bar, status line, and what screens share."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QByteArray, QEvent, Qt, QTimer, Signal
from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDropEvent, QKeyEvent
from PySide6.QtWidgets import QApplication, QHBoxLayout, QMainWindow, QStackedWidget, QVBoxLayout, QWidget

from crowdclust_app.domain.campaign import FILE_SUFFIX
from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.gui import theme
from crowdclust_app.gui.campaign_watcher import CampaignWatcher
from crowdclust_app.gui.chrome import ErrorBar, Rail, StatusLine
from crowdclust_app.gui.commands import CommandPalette, Commands, HelpOverlay
from crowdclust_app.gui.errors import ErrorCentre, Message
from crowdclust_app.gui.jobs import Job, Jobs
from crowdclust_app.gui.late_screen import LateScreen
from crowdclust_app.gui.pictures import PictureCache
from crowdclust_app.gui.registry import SCREENS, ScreenEntry
from crowdclust_app.gui.screen import Screen
from crowdclust_app.gui.settings import WindowSettings
from crowdclust_app.gui.style import apply_look
from crowdclust_app.services.campaign import recent
from crowdclust_app.services.progress_report import Progress

if TYPE_CHECKING:
    from crowdclust_app.services.campaign.campaigns import Campaign

LOOK_KEY = "look"


class MainWindow(QMainWindow):
    """The program's window; implements `Shell` for its screens.

    Parameters
    ----------
    settings
        Remembered state; by default the person's own.
    """

    data_changed = Signal()
    theme_changed = Signal()
    campaign_opened = Signal()

    def __init__(self, settings: WindowSettings | None = None) -> None:
        super().__init__()
        self.setObjectName("main-window")
        self.setWindowTitle("Crowdclust")
        self.setMinimumSize(960, 640)
        self.setAcceptDrops(True)
        self.settings = settings or WindowSettings()
        # whether campaigns that are opened come into the list of recent ones
        self.list_as_recent = True
        self.campaign: Campaign | None = None
        self.jobs = Jobs(self)
        self.pictures = PictureCache(self.jobs, parent=self)
        self.errors = ErrorCentre(parent=self)
        self.commands = Commands(self)
        self.watcher = CampaignWatcher(self.jobs, self)
        self._screens: dict[str, Screen] = {}
        self._history: list[str] = []
        self._opening: Job | None = None
        self._build()
        self._add_commands()
        self.errors.raised.connect(self._show_message)
        self.jobs.failed.connect(self._job_failed)
        self.data_changed.connect(self._refresh)
        self.watcher.changed.connect(self._others_stored)
        self.watcher.ran.connect(self._has_run_again)
        self.watcher.failed.connect(self.show_failure)
        self._save_later = QTimer(self)
        self._save_later.setSingleShot(True)
        self._save_later.setInterval(100)
        self._save_later.timeout.connect(self._save_settings)
        self._restore_geometry(None)
        QApplication.styleHints().colorSchemeChanged.connect(self._system_scheme_changed)

    # --- what screens may use (Shell)

    def open_campaign(self, path: Path, show: str = "") -> None:
        """Open a campaign in the background and show this screen, else the one it was left on."""
        if self._opening is not None:
            self._opening.cancel()
        path = Path(path)

        def work(_progress: Progress, token: CancelToken) -> Campaign:
            # the first window is shown before SQLAlchemy is loaded
            from crowdclust_app.services.campaign.campaigns import Campaign

            campaign = Campaign.open(path)
            if token.cancelled:
                campaign.close()
                token.check()
            if self.list_as_recent:
                recent.remember(campaign.path)
            return campaign

        def done(campaign: Campaign) -> None:
            self._opening = None
            self.error_bar.dismiss()
            self._set_campaign(campaign)
            self.show_screen(show or self.recall("screen", "start"))
            lost = campaign.has_images and not campaign.images_found
            if lost and self.current_screen is not self.screen_named("annotate"):  # which says so itself
                self.show_error(
                    f"The photos of this campaign are not where they were ({campaign.image_root}). "
                    "Open Annotate and choose the folder in which they are now."
                )
            if campaign.notes:
                self.show_error(" ".join(campaign.notes))
            self.campaign_opened.emit()

        def failed(error: BaseException) -> None:
            self._opening = None
            self.show_failure(error)
            self._refresh()

        self._opening = self.jobs.start(
            "database", work, title=f"Opening {path.name}", on_done=done, on_failed=failed, owner=self
        )

    def close_campaign(self) -> None:
        """Close the open campaign and show the Start screen."""
        self._set_campaign(None)
        self.show_screen("start")

    def show_screen(self, name: str) -> None:
        """Bring a screen to the front."""
        entry = next((entry for entry in SCREENS if entry.name == name), SCREENS[0])
        if entry.needs_campaign and self.campaign is None:
            entry = SCREENS[0]
        screen = self._screens.get(entry.name) or self._make(entry)
        current = self.current_screen
        if current is not None and current is not screen:
            current.leave()
            self._history.append(current.name)
            del self._history[:-20]
        self.stack.setCurrentWidget(screen)
        self.rail.mark(entry.name)
        if self.campaign is not None and entry.in_rail:
            self.remember("screen", entry.name)
        screen.refresh()
        screen.setFocus(Qt.FocusReason.OtherFocusReason)

    def show_error(self, text: str, details: str = "") -> None:
        """Say in the error bar what is wrong and what to do; details are folded away below it."""
        self.error_bar.show_error(text, details)

    def show_failure(self, error: BaseException, details: str = "") -> None:
        """Put an exception into words in the error bar, and into the log if it is an internal error."""
        self.errors.report(error, details)

    def dismiss_error(self) -> None:
        """Take away what the error bar says, because it is no longer so."""
        self.error_bar.dismiss()

    def say(self, text: str) -> None:
        """Say in the status line what has just been done."""
        self.status.said.setText(text)

    def remember(self, key: str, value: Any) -> None:
        """Keep something JSON can hold for the next time this campaign is open."""
        self.settings.set(key, value, self._campaign_key)
        self._save_later.start()

    def recall(self, key: str, default: Any = None) -> Any:
        """What was remembered for this campaign under this key."""
        return self.settings.get(key, default, self._campaign_key)

    def add_command(
        self, title: str, shortcut: str, call: Callable[[], Any], *, owner: Screen | None = None, bind: bool = True
    ) -> None:
        """List a command with its key in the command palette and in the help."""
        self.commands.add(title, shortcut, call, owner, bind)

    # --- the window's own

    @property
    def current_screen(self) -> Screen | None:
        """The screen at the front."""
        widget = self.stack.currentWidget()
        return widget if isinstance(widget, Screen) else None

    def screen_named(self, name: str) -> Screen | None:
        """A screen that has been made already."""
        return self._screens.get(name)

    def set_look(self, look: theme.Look) -> None:
        """Colour the program as the user chose, now and next time."""
        self.settings.set(LOOK_KEY, look.value)
        self._save_later.start()
        self.use_look(look)

    def use_look(self, look: theme.Look) -> None:
        """Colour the program without remembering it."""
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        apply_look(app, look)
        self.rail.repaint_icons()
        self.theme_changed.emit()

    def remembered_look(self) -> theme.Look:
        """The user's choice of light and dark."""
        try:
            return theme.Look(self.settings.get(LOOK_KEY, theme.Look.SYSTEM))
        except ValueError:
            return theme.Look.SYSTEM

    def show_help(self) -> None:
        """Say what the screen at the front is for and which keys work on it."""
        screen = self.current_screen
        entry = next((entry for entry in SCREENS if screen is not None and entry.name == screen.name), SCREENS[0])
        self.help.show_help(entry.title, entry.about, self.commands.of(screen))

    def show_commands(self) -> None:
        """List every command that can be given now."""
        self.palette_panel.show_commands(self.commands.of(self.current_screen))

    def back(self) -> None:
        """Close what is open on the screen, else dismiss the error, else go back to the screen before."""
        screen = self.current_screen
        if screen is not None and screen.escape():
            return
        if not self.error_bar.isHidden():
            self.error_bar.dismiss()
            return
        while self._history:
            name = self._history.pop()
            if screen is None or name != screen.name:
                self.show_screen(name)
                self._history.pop()
                return

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Esc goes back."""
        if event.key() == Qt.Key.Key_Escape:
            self.back()
        else:
            super().keyPressEvent(event)

    def resizeEvent(self, event: Any) -> None:
        """Overlays cover the whole window."""
        super().resizeEvent(event)
        for overlay in (self.palette_panel, self.help):
            overlay.setGeometry(self.rect())

    def changeEvent(self, event: QEvent) -> None:
        """Icons follow the palette."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "rail"):
            self.rail.repaint_icons()

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Take campaign files."""
        if self._dropped(event) is not None:
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        """Open the dropped campaign."""
        path = self._dropped(event)
        if path is not None:
            event.acceptProposedAction()
            self.open_campaign(path)

    def closeEvent(self, event: QCloseEvent) -> None:
        """Store what is still to be stored, end all work."""
        screen = self.current_screen
        if screen is not None:
            screen.leave()
        self._save_later.stop()
        self.watcher.stop()
        self._keep_geometry()
        self.jobs.shutdown()
        try:
            self.settings.save()
        except OSError as error:
            self.errors.report(error)
        if self.campaign is not None:
            self.campaign.close()
            self.campaign = None
        self.errors.remove()
        super().closeEvent(event)

    # --- inside

    @property
    def _campaign_key(self) -> Path | None:
        return None if self.campaign is None else self.campaign.path

    def _build(self) -> None:
        self.rail = Rail()
        self.status = StatusLine(self.jobs)
        self.stack = QStackedWidget()
        self.stack.setObjectName("screens")
        stage = QWidget()
        only = QVBoxLayout(stage)
        only.setContentsMargins(0, 0, 0, 0)
        only.addWidget(self.stack)
        self.error_bar = ErrorBar(stage)
        upper = QHBoxLayout()
        upper.setContentsMargins(0, 0, 0, 0)
        upper.setSpacing(0)
        upper.addWidget(self.rail)
        upper.addWidget(stage, 1)
        middle = QWidget()
        whole = QVBoxLayout(middle)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(0)
        whole.addLayout(upper, 1)
        whole.addWidget(self.status)
        self.setCentralWidget(middle)
        self.palette_panel = CommandPalette(self)
        self.help = HelpOverlay(self)
        self.rail.chosen.connect(self.show_screen)

    def _add_commands(self) -> None:
        for number, entry in enumerate((entry for entry in SCREENS if entry.in_rail), start=1):
            key = f"Ctrl+{number}"
            self.rail.add(entry.name, entry.title, entry.icon, key)
            self.rail.set_enabled(entry.name, not entry.needs_campaign)
            self.add_command(f"Show {entry.title}", key, partial(self.show_screen, entry.name))
        self.add_command("New campaign", "Ctrl+N", lambda: self.show_screen("new"))
        self.add_command("Open a campaign", "Ctrl+O", self._ask_for_campaign)
        self.add_command("Close the campaign", "", self.close_campaign)
        for look, title in (
            (theme.Look.SYSTEM, "Colours: as the system"),
            (theme.Look.LIGHT, "Colours: light"),
            (theme.Look.DARK, "Colours: dark"),
            (theme.Look.CONTRAST, "Colours: high contrast"),
        ):
            self.add_command(title, "", partial(self.set_look, look))
        self.add_command("List every command", "Ctrl+K", self.show_commands)
        self.add_command("Help on this screen", "F1", self.show_help)
        self.add_command("Go back", "Esc", self.back, bind=False)
        self.add_command("Quit", "Ctrl+Q", self.close)

    def _ask_for_campaign(self) -> None:
        self.show_screen("start")
        screen = self.screen_named("start")
        ask = getattr(screen, "ask_for_campaign", None)
        if ask is not None:
            ask()

    def _make(self, entry: ScreenEntry) -> Screen:
        kind = LateScreen if entry.late else getattr(importlib.import_module(entry.module), entry.kind)
        screen: Screen = kind(self, entry)
        self._screens[entry.name] = screen
        self.stack.addWidget(screen)
        screen.set_campaign(self.campaign)
        return screen

    def _set_campaign(self, campaign: Campaign | None) -> None:
        if self.campaign is not None:
            self._keep_geometry()
            former = self.campaign
            # behind whatever is still being stored, on the thread that owns the database
            self.jobs.start("database", lambda _progress, _token: former.close(), essential=True)
        self.campaign = campaign
        self.watcher.watch(campaign)
        self.pictures.clear()
        self._history.clear()
        for entry in SCREENS:
            if entry.in_rail:
                self.rail.set_enabled(entry.name, campaign is not None or not entry.needs_campaign)
        self.status.campaign.setText("No campaign open" if campaign is None else campaign.name)
        self.setWindowTitle("Crowdclust" if campaign is None else f"{campaign.name} – Crowdclust")
        self.say("")
        for screen in self._screens.values():
            screen.set_campaign(campaign)

    def _refresh(self) -> None:
        screen = self.current_screen
        if screen is not None:
            screen.refresh()

    def _show_message(self, message: Message) -> None:
        self.show_error(message.text, message.details)

    def _job_failed(self, _job: Job, error: BaseException, details: str) -> None:
        self.errors.report(error, details)

    def _others_stored(self) -> None:
        """Show what others have stored, but do not interrupt who sorts."""
        screen = self.current_screen
        if screen is not None and screen.name != "annotate":
            self.data_changed.emit()

    def _has_run_again(self) -> None:
        self.say("The inference has run again")
        self.data_changed.emit()

    def _save_settings(self) -> None:
        if self.settings.changed:
            self.settings.changed = False
            text = self.settings.text()
            self.jobs.start("decode", lambda _progress, _token: self.settings.write(text), essential=True)

    def _keep_geometry(self) -> None:
        text = bytes(self.saveGeometry().toBase64().data()).decode()
        self.settings.set("geometry", text)
        if self.campaign is not None:
            self.settings.set("geometry", text, self.campaign.path)

    def _restore_geometry(self, campaign: Path | None) -> None:
        text = self.settings.get("geometry", "", campaign) or self.settings.get("geometry", "")
        if not text or not self.restoreGeometry(QByteArray.fromBase64(str(text).encode())):
            self.resize(1366, 768)

    def _system_scheme_changed(self) -> None:
        if self.remembered_look() is theme.Look.SYSTEM:
            # Qt is still telling its own objects; colour afterwards
            QTimer.singleShot(0, self, lambda: self.use_look(theme.Look.SYSTEM))

    def _dropped(self, event: QDropEvent) -> Path | None:
        for url in event.mimeData().urls():
            if url.isLocalFile() and url.toLocalFile().endswith(FILE_SUFFIX):
                return Path(url.toLocalFile())
        return None
