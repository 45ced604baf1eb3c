"""What fills the Clusters screen: plot over run panel, gallery over inspector, one selection for all."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from crowdclust_app.gui import theme
from crowdclust_app.gui.clusters.gallery import Gallery
from crowdclust_app.gui.clusters.hover import HoverCard
from crowdclust_app.gui.clusters.inspector import Inspector
from crowdclust_app.gui.clusters.plot import EmbeddingPlot
from crowdclust_app.gui.clusters.run_panel import RunPanel
from crowdclust_app.gui.clusters.selection import Selection
from crowdclust_app.gui.empty import EmptyState
from crowdclust_app.gui.labels import ElidedLabel
from crowdclust_app.gui.run_content import EMPTY, MAIN, RUN_SHOWN, RunContent
from crowdclust_app.gui.splitting import splitter
from crowdclust_app.gui.words import count_of
from crowdclust_app.services.looking import Overview

if TYPE_CHECKING:
    from crowdclust_app.gui.screen import Screen, Shell
    from crowdclust_app.services.campaigns import Campaign

HINT = "Drag outlines photos, Shift adds · wheel zooms, 0 shows all · hollow points are doubtful"


class ClustersContent(RunContent):
    """What everybody's groups have in common.

    Parameters
    ----------
    screen
        The screen that it fills, which owns its commands.
    """

    remembered_as = "clusters-splitters"
    usual_sizes = ((660, 340), (430, 250), (400, 280))

    def __init__(self, shell: Shell, screen: Screen) -> None:
        super().__init__(shell)
        self.selection = Selection(self)
        self.plot = EmbeddingPlot(self.selection, self)
        self.gallery = Gallery(self.album, self.selection, self)
        self.inspector = Inspector(self.album, self.selection, self)
        self.panel = RunPanel(shell, self)
        self._title = ElidedLabel(self)
        self._title.setObjectName("clusters-title")
        self._title.setProperty("heading", "part")
        self._title.setAccessibleDescription("Entropy is the mean over the photos of how open their cluster is")
        self._news = ElidedLabel(self)
        self._news.setObjectName("new-responses")
        self._news.setProperty("rank", "second")
        self._hint = ElidedLabel(self)
        self._hint.setText(HINT)
        self._hint.setProperty("rank", "second")
        self._build()
        self.card = HoverCard(self.album, self)
        self.plot.hovered.connect(lambda item, rect: self.card.wait_for(item, self.plot, rect))
        self.gallery.hovered.connect(self.card.wait_for)
        self.plot.lassoed.connect(lambda: self.gallery.outline(self.selection.items))
        self.panel.busy.connect(self._no_run.button.setDisabled)
        self.panel.stored.connect(self._stored)
        self.panel.run_chosen.connect(self.show_run)
        shell.add_command("Run the inference", "Ctrl+R", self.panel.run, owner=screen)
        shell.add_command("Cancel the inference", "Ctrl+.", self.panel.cancel, owner=screen)
        shell.add_command("Show the clusters as rows", "Ctrl+G", self.gallery.show_clusters, owner=screen)
        shell.add_command("Show the doubtful photos", "Ctrl+D", self.gallery.show_doubtful, owner=screen)
        shell.add_command("Show the whole plot", "0", self.plot.show_all, owner=screen, bind=False)
        shell.add_command("Choose all photos of the plot", "Ctrl+A", self.plot.choose_all, owner=screen, bind=False)
        self._show(None)

    def _build(self) -> None:
        self._empty = self._no_answers(
            "The clusters appear here: photos that people kept putting into the same groups.",
            "There are no responses yet. Sort some sets first, or let others do it.",
        )
        self._no_run = EmptyState(
            "The plot and the clusters appear here after the first run.",
            "The settings below are good to begin with.",
            "Run the inference",
            self,
        )
        self._no_run.button.setObjectName("first-run")
        self._no_run.button.clicked.connect(self.panel.run)
        head = QHBoxLayout()
        head.setSpacing(theme.MARGIN)
        head.addWidget(self._title, 2)
        head.addWidget(self._news, 1)
        picture = QWidget(self)
        upper = QVBoxLayout(picture)
        upper.setContentsMargins(0, 0, 0, 0)
        upper.setSpacing(theme.TILE_GAP)
        upper.addLayout(head)
        upper.addWidget(self.plot, 1)
        upper.addWidget(self._hint)
        self._left = QStackedWidget(self)
        self._left.addWidget(picture)
        self._left.addWidget(self._no_run)
        self._picture = picture
        rows = splitter(Qt.Orientation.Vertical, self._left, self.panel)
        self._aside = splitter(Qt.Orientation.Vertical, self.gallery, self.inspector)
        columns = splitter(Qt.Orientation.Horizontal, rows, self._aside)
        self._lay_out(columns, self._empty, rows, self._aside)

    def _order_keys(self) -> None:
        """Have Tab go through the gallery first, where the keys are when the screen comes to the front.

        The way forward ends where it began: what came before the gallery could only be reached backwards.
        """
        parts = [part for part in self.findChildren(QWidget) if part.focusPolicy() & Qt.FocusPolicy.TabFocus]
        # neither the field inside a number's box nor the list that a box drops down
        parts = [part for part in parts if part.focusProxy() is None and part.window() is self.window()]
        parts.sort(key=lambda part: not self._aside.isAncestorOf(part))
        for before, after in pairwise(parts):
            QWidget.setTabOrder(before, after)

    # --- the screen in the window

    def set_campaign(self, campaign: Campaign | None) -> None:
        """Show this campaign from now on."""
        self._order_keys()  # not earlier: coming into the window begins the order anew
        super().set_campaign(campaign)

    def _forget(self) -> None:
        self.selection.clear()
        self.panel.set_campaign(self._campaign)

    def leave(self) -> None:
        """Another screen comes to the front."""
        self.card.wait_for(None, self, self.rect())

    def escape(self) -> bool:
        """Go from a grid of photos back to the rows, then let go of the selection."""
        if self.gallery.escape():
            return True
        if self.selection.items:
            self.selection.clear()
            return True
        return False

    # --- content

    def show_run(self, number: int) -> None:
        """Look at a stored run."""
        self.shell.remember(RUN_SHOWN, number)
        self.refresh()

    def _stored(self, number: int) -> None:
        self.shell.remember(RUN_SHOWN, number)
        # the window refreshes the screen at the front; when that is another one, this one reads it when it returns
        self.shell.data_changed.emit()

    def _show(self, overview: Overview | None) -> None:
        before = self._overview.view if self._overview is not None else None
        self._overview = overview
        view = overview.view if overview is not None else None
        self.album.show(view, dict(overview.files) if overview is not None else {})
        empty = overview is not None and not overview.responses and view is None
        self._pages.setCurrentIndex(EMPTY if empty else MAIN)
        self._left.setCurrentWidget(self._no_run if overview is not None and view is None else self._picture)
        self.setFocusProxy(self._first_part(overview))
        self._aside.setVisible(overview is None or view is not None)
        self.panel.show_runs(overview.runs if overview is not None else (), view.run if view is not None else None)
        same = view is not None and before is not None and view.run.number == before.run.number
        if not same:
            self.selection.clear()
            self.plot.show_view(view)
            self.gallery.show_view()
        self.inspector.refresh()
        self._title.setText(_title(overview))
        news = _news(overview)
        self._news.setText(news)
        self._news.setVisible(bool(news))  # the title has the room while there are none

    def _first_part(self, overview: Overview | None) -> QWidget:
        """What has the keys when the screen comes to the front."""
        if overview is None or overview.view is not None:
            return self.gallery.rows
        return self._no_run.button if overview.responses else self._empty.button


def _title(overview: Overview | None) -> str:
    view = overview.view if overview is not None else None
    if view is None:
        return ""
    entropy = view.run.result.entropy_bits
    clusters = count_of(len(view.clusters), "cluster")
    return f"Run {view.run.number}: {clusters}, entropy {entropy:.4f} bits"


def _news(overview: Overview | None) -> str:
    """Say quietly that the run does not know the newest responses."""
    if overview is None or overview.view is None or not overview.view.new_responses:
        return ""
    came = overview.view.new_responses
    return f"{count_of(came, 'response')} {'has' if came == 1 else 'have'} come in since."
