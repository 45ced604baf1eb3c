"""Screens whose content needs modules that take long to import: the window reacts during the import."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QVBoxLayout

from crowdclust_app.gui.registry import ScreenEntry
from crowdclust_app.gui.screen import Screen, Shell
from crowdclust_app.gui.screen_content import ScreenContent

if TYPE_CHECKING:
    from crowdclust_app.services.campaign.campaigns import Campaign


class LateScreen(Screen):
    """Imports its content in the decode lane, then makes it on the main thread."""

    def __init__(self, shell: Shell, entry: ScreenEntry) -> None:
        super().__init__(shell, entry)
        self.content: ScreenContent | None = None
        self._campaign: Campaign | None = None
        self._wants_refresh = False
        self._inside = QVBoxLayout(self)
        self._inside.setContentsMargins(0, 0, 0, 0)
        shell.jobs.start(
            "decode",
            lambda _progress, _cancel: getattr(importlib.import_module(entry.module), entry.kind),
            on_done=self._fill,
            owner=self,
        )

    def _fill(self, kind: type[ScreenContent]) -> None:
        self.content = content = kind(self.shell, self)
        had_keys = self.hasFocus()
        self.setFocusProxy(content)
        self._inside.addWidget(content)
        content.set_campaign(self._campaign)
        if self._wants_refresh:
            content.refresh()
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
