"""What the contents of screens have in common: a campaign, read off the main thread, and remembered sizes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from PySide6.QtWidgets import QSplitter, QStackedWidget, QVBoxLayout, QWidget

from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.gui import theme
from crowdclust_app.gui.empty import EmptyState
from crowdclust_app.gui.jobs import Job, cancel_jobs
from crowdclust_app.gui.screen import Screen, Shell

if TYPE_CHECKING:
    from crowdclust_app.services.campaign.campaigns import Campaign

MAIN, EMPTY = 0, 1


class ScreenContent(QWidget):
    """Fills a screen; the methods of the same name are those of `Screen`.

    Parameters
    ----------
    screen
        The screen that it fills, which owns its commands.

    Attributes
    ----------
    remembered_as
        Under which name the sizes of the parts are kept.
    usual_sizes
        Those of each splitter that was never moved.
    """

    remembered_as = ""
    usual_sizes: tuple[tuple[int, int], ...] = ()

    def __init__(self, shell: Shell, screen: Screen) -> None:
        super().__init__()
        self.shell = shell
        self._screen = screen
        self._campaign: Campaign | None = None
        self._reading: Job | None = None
        self._splitters: tuple[QSplitter, ...] = ()

    def _command(self, title: str, key: str, call: Callable[[], object], bind: bool = True) -> None:
        """List a command of the screen."""
        self.shell.add_command(title, key, call, owner=self._screen, bind=bind)

    def _fill_with(self, *pages: QWidget) -> QStackedWidget:
        """Fill the screen with these pages, of which one is shown."""
        stack = QStackedWidget(self)
        for page in pages:
            stack.addWidget(page)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(stack)
        return stack

    def _lay_out(self, columns: QSplitter, empty: EmptyState, *others: QSplitter) -> QStackedWidget:
        """Fill the screen with these columns (page `MAIN`), or the page that is shown while it is empty (`EMPTY`)."""
        main = QWidget(self)
        inside = QVBoxLayout(main)
        inside.setContentsMargins(theme.MARGIN, theme.MARGIN, theme.MARGIN, theme.STEP)
        inside.addWidget(columns)
        self._splitters = (columns, *others)
        for part in self._splitters:
            part.splitterMoved.connect(self._remember_sizes)
        return self._fill_with(main, empty)

    # --- the screen in the window

    def set_campaign(self, campaign: Campaign | None) -> None:
        """Show this campaign from now on."""
        cancel_jobs(self._reading)
        self._campaign = campaign
        self._forget()
        self._restore_sizes()

    def refresh(self) -> None:
        """Read again what is shown, off the main thread."""
        campaign = self._campaign
        if campaign is None:
            return
        read = self._reader(campaign)
        self._reading = self.shell.jobs.start(
            "database",
            lambda _progress, cancel: read(cancel),
            on_done=self._loaded,
            owner=self,
            instead_of=self._reading,
        )

    def leave(self) -> None:
        """Another screen comes to the front."""

    def escape(self) -> bool:
        """Close what Esc closes first; whether there was something to close."""
        return False

    # --- what each does in its own way

    def _forget(self) -> None:
        """Let go of the campaign before, and show nothing until the one that is open now has been read."""

    def _reader(self, campaign: Campaign) -> Callable[[CancelToken], Any]:
        """What reads the campaign on a thread of its own."""
        raise NotImplementedError

    def _loaded(self, found: Any) -> None:
        """Show what has been read."""
        raise NotImplementedError

    # --- remembered sizes

    def _remember_sizes(self, *_: Any) -> None:
        self.shell.remember(self.remembered_as, [part.sizes() for part in self._splitters])

    def _restore_sizes(self) -> None:
        usual = [list(sizes) for sizes in self.usual_sizes]
        sizes = self.shell.recall(self.remembered_as, usual) if self._campaign is not None and usual else usual
        for part, given in zip(self._splitters, sizes, strict=False):
            part.setSizes(given)
