"""What the screens about a stored run have in common: they read it, and show its photos."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.gui.clusters.album import Album
from crowdclust_app.gui.empty import EmptyState
from crowdclust_app.gui.screen import Screen, Shell
from crowdclust_app.gui.screen_content import ScreenContent
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.clusters.overview import CampaignOverview, load_overview
from crowdclust_app.services.clusters.run_view import RunView

RUN_SHOWN = "run-shown"
CLUSTER_WANTED = "{screen}-wanted"
"""Remembered for another screen: run and place of the category that it is to show."""


# What is shown while a campaign is being read.
NOTHING = CampaignOverview(0, (), None, (), {})


class RunContent(ScreenContent):
    """Shows one run of a campaign."""

    def __init__(self, shell: Shell, screen: Screen) -> None:
        super().__init__(shell, screen)
        self._overview: CampaignOverview | None = None
        self.album = Album(shell.pictures, self)

    def _no_answers(self, promise: str, reason: str) -> EmptyState:
        """The page before anybody has sorted anything."""
        page = EmptyState(promise, reason, "Sort photos", self)
        page.button.setObjectName("go-to-annotate")
        page.button.clicked.connect(lambda: self.shell.show_screen("annotate"))
        return page

    @property
    def overview(self) -> CampaignOverview | None:
        """What is shown."""
        return self._overview

    @property
    def shown_view(self) -> RunView | None:
        """The run that is shown."""
        return self._overview.view if self._overview is not None else None

    def _forget(self) -> None:
        self._show(None)

    def _show(self, overview: CampaignOverview | None) -> None:
        """Show this; None while it is being read. What fills the screen says how."""

    def _reader(self, campaign: Campaign) -> Callable[[CancelToken], CampaignOverview]:
        number = self.shell.recall(RUN_SHOWN)
        return lambda cancel: load_overview(campaign, number, cancel)

    def _loaded(self, overview: CampaignOverview) -> None:
        first = self._overview is None
        self._show(overview)
        if first and self.isVisible() and not self.isAncestorOf(QApplication.focusWidget() or self):
            # what had the keys before may be gone from this page
            self.setFocus(Qt.FocusReason.OtherFocusReason)
