"""What a screen is, and what it may use of the window around it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from PySide6.QtCore import QObject, SignalInstance
from PySide6.QtWidgets import QWidget

from crowdclust_app.gui.jobs import Jobs
from crowdclust_app.gui.pictures import PictureCache
from crowdclust_app.gui.registry import ScreenEntry
from crowdclust_app.gui.theme import Look

if TYPE_CHECKING:
    from crowdclust_app.services.campaign.campaigns import Campaign


class Shell(Protocol):
    """What a screen may use; the main window is one.

    Attributes
    ----------
    jobs
        Work that takes time; everything that touches the disk goes through it.
    campaign
        The open campaign, or None.
    pictures
        Pictures of items, loaded off the main thread.
    data_changed
        Signal; emit it after every call that changed stored data, so that the screens refresh.
    theme_changed
        Signal; colours that were computed from the palette have to be computed again.
    """

    jobs: Jobs
    campaign: Campaign | None
    pictures: PictureCache
    data_changed: SignalInstance
    theme_changed: SignalInstance

    def open_campaign(self, path: Path, show: str = "") -> None:
        """Open a campaign in the background and show this screen, else the one it was left on."""

    def close_campaign(self) -> None:
        """Close the open campaign and show the Start screen."""

    def show_screen(self, name: str) -> None:
        """Bring a screen to the front: "start", "new", "annotate", "clusters", "workers" or "export"."""

    def show_error(self, text: str, details: str = "") -> None:
        """Say in the error bar what is wrong and what to do; details are folded away below it."""

    def show_failure(self, error: BaseException, details: str = "") -> None:
        """Put an exception into words in the error bar, and into the log if it is an internal error."""

    def remembered_look(self) -> Look:
        """The user's choice of light and dark."""

    def set_look(self, look: Look) -> None:
        """Colour the program as the user chose, now and next time."""

    def dismiss_error(self) -> None:
        """Take away what the error bar says, because it is no longer so."""

    def say(self, text: str) -> None:
        """Say in the status line what has just been done."""

    def remember(self, key: str, value: Any) -> None:
        """Keep something JSON can hold for the next time this campaign is open."""

    def recall(self, key: str, default: Any = None) -> Any:
        """What was remembered for this campaign under this key."""

    def add_command(
        self, title: str, shortcut: str, call: Callable[[], Any], *, owner: Screen | None = None, bind: bool = True
    ) -> None:
        """List a command with its key in the command palette (Ctrl+K) and in the help (F1).

        Parameters
        ----------
        title
            What it does, as a verb ("Undo").
        shortcut
            Its key as text ("Ctrl+Z"), or "".
        call
            Does it.
        owner
            The screen it belongs to: it is listed, and its key works, while that screen is shown. None: always.
        bind
            Whether the window makes the key work; False when the screen handles the key itself.
        """


class Screen(QWidget):
    """One page of the window.

    Made when it is first shown. `set_campaign` is called once after that and whenever another campaign is opened or
    closed; `refresh` whenever the screen comes to the front or stored data changed while it is there.

    Parameters
    ----------
    entry
        Which screen of the registry it is.

    Attributes
    ----------
    name
        The name for `show_screen`.
    """

    def __init__(self, shell: Shell, entry: ScreenEntry) -> None:
        super().__init__()
        self.shell = shell
        self.name = entry.name
        self.setObjectName(f"{entry.name}-screen")
        self.setAccessibleName(entry.title)

    def set_campaign(self, campaign: Campaign | None) -> None:
        """Show this campaign from now on."""

    def refresh(self) -> None:
        """Read again what is shown."""

    def leave(self) -> None:
        """Called when another screen comes to the front."""

    def escape(self) -> bool:
        """Close what Esc closes on this screen first; whether there was something to close."""
        return False


def shell_of(widget: QWidget) -> Shell | None:
    """The shell of the screen that a widget is part of; None outside of screens."""
    part: QObject | None = widget
    while part is not None and not isinstance(part, Screen):
        part = part.parent()
    return part.shell if part is not None else None
