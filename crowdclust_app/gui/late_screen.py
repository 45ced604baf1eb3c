"""Screens whose parts need modules that take long to import: the window stays alive meanwhile."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Protocol

from PySide6.QtWidgets import QVBoxLayout, QWidget

from crowdclust_app.gui.screen import Screen

if TYPE_CHECKING:
    from crowdclust_app.gui.screen import Shell
    from crowdclust_app.services.campaign.campaigns import Campaign


class Content(Protocol):
    """What fills the screen once it is there; the methods are those of `Screen`."""

    def set_campaign(self, campaign: Campaign | None) -> None:
        """Show this campaign from now on."""

    def refresh(self) -> None:
        """Read again what is shown."""

    def leave(self) -> None:
        """Another screen comes to the front."""

    def escape(self) -> bool:
        """Close what Esc closes first; whether there was something to close."""


class LateScreen(Screen):
    """Imports its content in the decode lane, then makes it on the main thread.

    Attributes
    ----------
    module, kind
        Where the content's class is; it is called with the shell and this screen.
    """

    module = ""
    kind = ""

    def __init__(self, shell: Shell) -> None:
        super().__init__(shell)
        self.content: Content | None = None
        self._campaign: Campaign | None = None
        self._wants_refresh = False
        self._inside = QVBoxLayout(self)
        self._inside.setContentsMargins(0, 0, 0, 0)
        shell.jobs.start(
            "decode", lambda _progress, _cancel: importlib.import_module(self.module), on_done=self._fill, owner=self
        )

    def _fill(self, module: object) -> None:
        content = getattr(module, self.kind)(self.shell, self)
        assert isinstance(content, QWidget)
        had_keys = self.hasFocus()
        self.setFocusProxy(content)
        self._inside.addWidget(content)
        self.content = content  # type: ignore[assignment]
        content.set_campaign(self._campaign)  # type: ignore[attr-defined]
        if self._wants_refresh:
            content.refresh()  # type: ignore[attr-defined]
        if had_keys:
            content.setFocus()

    def set_campaign(self, campaign: Campaign | None) -> None:
        """Show this campaign from now on."""
        self._campaign = campaign
        if self.content is not None:
            self.content.set_campaign(campaign)

    def refresh(self) -> None:
        """Read again what is shown."""
        self._wants_refresh = True
        if self.content is not None:
            self.content.refresh()

    def leave(self) -> None:
        """Another screen comes to the front."""
        if self.content is not None:
            self.content.leave()

    def escape(self) -> bool:
        """Close what Esc closes first; whether there was something to close."""
        return self.content.escape() if self.content is not None else False
