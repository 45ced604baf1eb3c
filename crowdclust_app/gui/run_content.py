"""What the screens about a stored run have in common: they read it off the main thread and remember their sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QSplitter, QStackedWidget, QVBoxLayout, QWidget

from crowdclust_app.gui import theme
from crowdclust_app.gui.clusters.album import Album
from crowdclust_app.gui.empty import EmptyState
from crowdclust_app.gui.jobs import cancel_jobs
from crowdclust_app.services.clusters.overview import CampaignOverview, load_overview

if TYPE_CHECKING:
    from crowdclust_app.gui.jobs import Job
    from crowdclust_app.gui.screen import Shell
    from crowdclust_app.services.campaign.campaigns import Campaign

RUN_SHOWN = "run-shown"
CLUSTER_WANTED = "{screen}-wanted"
"""Remembered for another screen: run and place of the category that it is to show."""
MAIN, EMPTY = 0, 1


class RunContent(QWidget):
    """Shows one run of a campaign.

    Attributes
    ----------
    remembered_as
        Under which name the sizes of the parts are kept.
    usual_sizes
        Those of each splitter that nobody has moved yet.
    """

    remembered_as = ""
    usual_sizes: tuple[tuple[int, int], ...] = ()

    def __init__(self, shell: Shell) -> None:
        super().__init__()
        self.shell = shell
        self._campaign: Campaign | None = None
        self._loading: Job | None = None
        self._overview: CampaignOverview | None = None
        self._splitters: tuple[QSplitter, ...] = ()
        self.album = Album(shell.pictures, self)

    def _no_answers(self, promise: str, reason: str) -> EmptyState:
        """The page before anybody has sorted anything."""
        page = EmptyState(promise, reason, "Sort photos", self)
        page.button.setObjectName("go-to-annotate")
        page.button.clicked.connect(lambda: self.shell.show_screen("annotate"))
        return page

    def _lay_out(self, columns: QSplitter, empty: EmptyState, *others: QSplitter) -> None:
        """Fill the screen with these columns, or the page that is shown while it is empty."""
        main = QWidget(self)
        inside = QVBoxLayout(main)
        inside.setContentsMargins(theme.MARGIN, theme.MARGIN, theme.MARGIN, theme.STEP)
        inside.addWidget(columns)
        self._pages = QStackedWidget(self)
        self._pages.addWidget(main)
        self._pages.addWidget(empty)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._pages)
        self._splitters = (columns, *others)
        for part in self._splitters:
            part.splitterMoved.connect(self._remember_sizes)

    # --- the screen in the window

    @property
    def overview(self) -> CampaignOverview | None:
        """What is shown."""
        return self._overview

    def set_campaign(self, campaign: Campaign | None) -> None:
        """Show this campaign from now on."""
        cancel_jobs(self._loading)
        self._campaign = campaign
        self._forget()
        self._show(None)
        self._restore_sizes()

    def refresh(self) -> None:
        """Read the run and the responses again, off the main thread."""
        campaign = self._campaign
        if campaign is None:
            return
        number = self.shell.recall(RUN_SHOWN)
        self._loading = self.shell.jobs.start(
            "database",
            lambda _progress, cancel: load_overview(campaign, number, cancel),
            on_done=self._loaded,
            on_failed=self.shell.show_failure,
            owner=self,
            instead_of=self._loading,
        )

    def leave(self) -> None:
        """Another screen comes to the front."""

    def escape(self) -> bool:
        """Close what Esc closes first; whether there was something to close."""
        return False

    def _forget(self) -> None:
        """Let go of what was chosen in the campaign before."""

    def _show(self, overview: CampaignOverview | None) -> None:
        """Show this; None while it is being read. What fills the screen says how."""

    def _loaded(self, overview: CampaignOverview) -> None:
        first = self._overview is None
        self._show(overview)
        if first and self.isVisible() and not self.isAncestorOf(QApplication.focusWidget() or self):
            # what had the keys before may be gone from this page
            self.setFocus(Qt.FocusReason.OtherFocusReason)

    # --- remembered sizes

    def _remember_sizes(self, *_: Any) -> None:
        self.shell.remember(self.remembered_as, [part.sizes() for part in self._splitters])

    def _restore_sizes(self) -> None:
        usual = [list(sizes) for sizes in self.usual_sizes]
        sizes = self.shell.recall(self.remembered_as, usual) if self._campaign is not None else usual
        for part, given in zip(self._splitters, sizes, strict=False):
            part.setSizes(given)
