"""What fills the Clusters screen: plot over run panel, gallery over inspector, one selection for all."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QButtonGroup, QFileDialog, QHBoxLayout, QPushButton, QStackedWidget, QVBoxLayout, QWidget

from crowdclust_app.gui import theme
from crowdclust_app.gui.clusters.cluster_decisions import ClusterDecisions
from crowdclust_app.gui.clusters.gallery import Gallery
from crowdclust_app.gui.clusters.hover import HoverCard
from crowdclust_app.gui.clusters.inspector import Inspector
from crowdclust_app.gui.clusters.known_view import KnownView
from crowdclust_app.gui.clusters.numbers_view import NumbersView
from crowdclust_app.gui.clusters.plot_panel import PlotPanel
from crowdclust_app.gui.clusters.row_menu import RowAction, RowMenu
from crowdclust_app.gui.clusters.run_panel import RunPanel
from crowdclust_app.gui.clusters.runs_view import TwoRunsView
from crowdclust_app.gui.clusters.selection import ItemSelection
from crowdclust_app.gui.clusters.starts_view import StartsView
from crowdclust_app.gui.empty import EmptyState
from crowdclust_app.gui.labels import ElidedLabel
from crowdclust_app.gui.run_content import CLUSTER_WANTED, NOTHING, RUN_SHOWN, RunContent
from crowdclust_app.gui.save_plot import ask_and_save
from crowdclust_app.gui.screen import Screen, Shell
from crowdclust_app.gui.screen_content import EMPTY, MAIN
from crowdclust_app.gui.splitting import splitter
from crowdclust_app.gui.wording import count_of, of_stage
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.clusters.comparing import set_truth_order
from crowdclust_app.services.clusters.overview import CampaignOverview
from crowdclust_app.services.exchange.importing import ImportReport, import_table

HINT = "Drag outlines photos, Shift adds · wheel zooms, 0 shows all · hollow points are doubtful"
PLOT, KNOWN, RUNS, NUMBERS, STARTS = "plot", "known", "runs", "numbers", "starts"
TABS = {
    PLOT: ("Plot", "Where the photos lie"),
    KNOWN: ("Known", "The clusters beside known categories"),
    RUNS: ("Two runs", "The clusters beside those of another run"),
    NUMBERS: ("How many", "The figures behind the number of clusters"),
    STARTS: ("Starts", "The starts of the fit beside each other"),
}
COLOURS, ORDER = "plot-choices", "gallery-doubtful-first"


class ClustersContent(RunContent):
    """What everybody's groups have in common."""

    remembered_as = "clusters-splitters"
    usual_sizes = ((820, 410), (430, 250), (400, 280))

    def __init__(self, shell: Shell, screen: Screen) -> None:
        super().__init__(shell, screen)
        self.selection = ItemSelection(self)
        self.deciding = ClusterDecisions(shell, self)
        self.views = PlotPanel(self.selection, self)
        self.plot = self.views.plot
        self.known = KnownView(shell, self)
        self.two_runs = TwoRunsView(shell, self)
        self.numbers = NumbersView(self)
        self.starts = StartsView(self)
        self.gallery = Gallery(self.album, self.selection, self)
        self.inspector = Inspector(self.album, self.selection, self)
        self.panel = RunPanel(shell, self)
        self.menu = RowMenu(shell, self.album, self.selection, self.gallery, self.deciding, self)
        self._title = ElidedLabel(self)
        self._title.setObjectName("clusters-title")
        self._title.setProperty("heading", "part")
        self._title.setAccessibleDescription("Entropy is the mean over the photos of how open their cluster is")
        self._news = ElidedLabel(self)
        self._news.setObjectName("new-responses")
        self._hint = ElidedLabel(self)
        self._hint.setText(HINT)
        self._hint.setProperty("rank", "second")
        self._build()
        self.card = HoverCard(self.album, self)
        self._connect()
        self._add_commands()
        self._offer("Verify this cluster", "Ctrl+Shift+V", "verify")
        self._offer("Subdivide this cluster", "Ctrl+Shift+D", "stages", clusters_only=False)
        self._show(None)

    def _connect(self) -> None:
        self.plot.hovered.connect(lambda item, rect: self.card.wait_for(item, self.plot, rect))
        self.gallery.hovered.connect(self.card.wait_for)
        self.plot.lassoed.connect(lambda: self.gallery.outline(self.selection.items))
        self.views.chosen_here.connect(lambda: self.shell.remember(COLOURS, self.views.remembered()))
        self.gallery.ordered.connect(lambda doubtful: self.shell.remember(ORDER, doubtful))
        self.gallery.move_wanted.connect(self.menu.move_chosen)
        self.gallery.split_wanted.connect(self.menu.split_off_chosen)
        self.gallery.rows.named.connect(self.deciding.rename)
        self.gallery.rows.menu_wanted.connect(self.menu.show)
        self.deciding.changed.connect(self._decided)
        for table in (self.known, self.two_runs):
            table.items_wanted.connect(self._choose_items)
        self.known.ordered.connect(self._keep_order)
        self.known.load_wanted.connect(self._load_known)
        self.numbers.run_wanted.connect(self.panel.run_with)
        self.panel.busy.connect(self._no_run.button.setDisabled)
        self.panel.busy.connect(self.numbers.set_busy)
        self.panel.stored.connect(self._stored)
        self.panel.run_chosen.connect(self.show_run)

    def _add_commands(self) -> None:
        for title, key, call in (
            ("Run the inference", "Ctrl+R", self.panel.run),
            ("Cancel the inference", "Ctrl+.", self.panel.cancel),
            ("Show the clusters as rows", "Ctrl+G", self.gallery.show_clusters),
            ("Show the doubtful photos", "Ctrl+D", self.gallery.show_doubtful),
            ("Name the cluster", "Ctrl+Return", self.menu.name_current),
            ("Move the chosen photos", "Ctrl+M", self.menu.move_chosen),
            ("Split the chosen photos off", "Ctrl+Shift+N", self.menu.split_off_chosen),
            ("Make one category of two", "Ctrl+Shift+M", self.menu.merge_current),
            ("Undo", "Ctrl+Z", self.deciding.undo),
            ("Redo", "Ctrl+Shift+Z", self.deciding.redo),
            ("Move the known category up", "Alt+Up", lambda: self.known.move_row(-1)),
            ("Move the known category down", "Alt+Down", lambda: self.known.move_row(1)),
            ("Save the plot", "Ctrl+Shift+S", self.save_plot),
        ):
            self._command(title, key, call)
        for number, (name, (title, _)) in enumerate(TABS.items(), start=1):
            self._command(f"Show: {title}", f"Alt+{number}", lambda name=name: self.show_tab(name))  # type: ignore[misc]
        self._command("Show the whole plot", "0", self.plot.show_all, bind=False)
        self._command("Choose all photos of the plot", "Ctrl+A", self.plot.choose_all, bind=False)

    def _offer(self, title: str, key: str, name: str, clusters_only: bool = True) -> None:
        """Add another screen to the menu of every row, and a command for the row that has the keys."""

        def go(place: int) -> None:
            if self._overview is not None and self._overview.view is not None:
                number = self._overview.view.run.number
                self.shell.remember(CLUSTER_WANTED.format(screen=name), [number, place])
                self.shell.show_screen(name)

        def go_from_current() -> None:
            rows, categories = self.gallery.category_rows, self.deciding.categories
            first = rows[0].place if rows else None
            place = self.gallery.opened_cluster or self.gallery.rows.current_place or first
            clusters = categories.n_clusters if categories is not None else 0
            if place is None or (clusters_only and place > clusters):
                self.shell.say("Go to a cluster first")
            else:
                go(place)

        self.menu.actions.append(RowAction(title, go, clusters_only))
        self._command(title, key, go_from_current)

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
        self._tabs = dict(zip(TABS, (self.views, self.known, self.two_runs, self.numbers, self.starts), strict=True))
        self._stack = QStackedWidget(self)
        for tab in self._tabs.values():
            self._stack.addWidget(tab)
        foot = QHBoxLayout()
        foot.setSpacing(theme.MARGIN)
        foot.addWidget(self._news, 1)
        foot.addWidget(self._hint, 2)
        picture = QWidget(self)
        upper = QVBoxLayout(picture)
        upper.setContentsMargins(0, 0, 0, 0)
        upper.setSpacing(theme.TILE_GAP)
        upper.addLayout(self._head())
        upper.addWidget(self._stack, 1)
        upper.addLayout(foot)
        self._left = QStackedWidget(self)
        self._left.addWidget(picture)
        self._left.addWidget(self._no_run)
        self._picture = picture
        rows = splitter(Qt.Orientation.Vertical, self._left, self.panel)
        self._aside = splitter(Qt.Orientation.Vertical, self.gallery, self.inspector)
        columns = splitter(Qt.Orientation.Horizontal, rows, self._aside)
        self._pages = self._lay_out(columns, self._empty, rows, self._aside)
        self.show_tab(PLOT)

    def _head(self) -> QHBoxLayout:
        """The run, the tabs, and the button that saves what they show."""
        head = QHBoxLayout()
        head.setSpacing(theme.TILE_GAP)
        head.addWidget(self._title, 1)
        self._tab_buttons: dict[str, QPushButton] = {}
        group = QButtonGroup(self)
        for name, (text, tip) in TABS.items():
            button = QPushButton(text, self)
            button.setObjectName(f"tab-{name}")
            button.setProperty("rank", "plain")
            button.setCheckable(True)
            button.setStyleSheet("padding: 6px 8px;")
            button.setToolTip(tip)
            button.clicked.connect(lambda _=False, name=name: self.show_tab(name))
            group.addButton(button)
            head.addWidget(button)
            self._tab_buttons[name] = button
        head.addSpacing(theme.STEP)
        self._save = QPushButton("Save", self)
        self._save.setObjectName("save-plot")
        self._save.setProperty("rank", "plain")
        self._save.setStyleSheet("padding: 6px 8px;")
        self._save.setToolTip("Save what is shown as PNG and SVG, with the numbers as CSV")
        self._save.clicked.connect(self.save_plot)
        head.addWidget(self._save)
        return head

    def show_tab(self, name: str) -> None:
        """Bring one of the views to the front."""
        self._stack.setCurrentWidget(self._tabs[name])
        self._tab_buttons[name].setChecked(True)
        self._hint.setText(HINT if name == PLOT else "")

    @property
    def tab(self) -> str:
        """The view at the front."""
        return next(name for name, view in self._tabs.items() if view is self._stack.currentWidget())

    def save_plot(self) -> None:
        """Save what the tab shows."""
        plot = self._tabs[self.tab].figure()  # type: ignore[attr-defined]
        if plot is None:
            self.shell.say("There is nothing to save here yet")
        else:
            ask_and_save(self.shell, plot, self)

    def _order_keys(self) -> None:
        """Have Tab go through the gallery first, which has the keyboard focus when the screen comes to the front.

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
        if self._campaign is not None:
            self.views.restore(self.shell.recall(COLOURS))
            self.gallery.set_order(bool(self.shell.recall(ORDER, False)))
        super()._forget()

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

    def _show(self, overview: CampaignOverview | None) -> None:
        before = self.shown_view
        self._overview = overview
        shown = overview or NOTHING
        view, made = shown.view, shown.arrangement
        self.album.show(view, dict(shown.files))
        self.album.show_arrangement(made)
        self.deciding.show(self._campaign, view, made)
        self._turn_pages(overview)
        self.panel.show_runs(shown.runs, view.run if view is not None else None)
        rows = made.rows if made is not None else ()
        if view is not None and before is not None and view.run.number == before.run.number:
            self.gallery.show_rows(rows)
        else:
            self.selection.clear()
            self.gallery.show_view(rows)
        self._show_tabs(shown)
        self.inspector.refresh()
        self._title.setText(_title(overview))
        news = _news(overview)
        self._news.setText(news)
        self._news.setVisible(bool(news))  # the hint has the room while there are none
        self._save.setEnabled(view is not None)

    def _turn_pages(self, overview: CampaignOverview | None) -> None:
        """Show the parts, or what leads to them: sorting, or a first run."""
        no_run = overview is not None and overview.view is None
        self._pages.setCurrentIndex(EMPTY if overview is not None and no_run and not overview.responses else MAIN)
        self._left.setCurrentWidget(self._no_run if no_run else self._picture)
        self.setFocusProxy(self._first_part(overview))
        self._aside.setVisible(not no_run)

    def _show_tabs(self, shown: CampaignOverview) -> None:
        view, categories = shown.view, shown.arrangement.categories if shown.arrangement is not None else None
        self.views.show_view(view, shown.arrangement, shown.truth, shown.truth_order, shown.axes)
        self.known.show_view(view, categories, shown.truth, shown.truth_order)
        self.two_runs.show_view(self._campaign, view, categories, shown.runs)
        self.numbers.show_view(view, shown.runs)
        self.starts.show_view(view)

    # --- what the lead decides

    def _decided(self) -> None:
        """Show names, merges and moves as they are now."""
        overview, made = self._overview, self.deciding.arrangement
        if overview is None or overview.view is None or made is None:
            return
        categories = made.categories
        self._overview = overview = replace(overview, categories=categories, arrangement=made)
        self.album.show_arrangement(made)
        self.gallery.show_rows(made.rows)
        self.views.show_view(overview.view, made, overview.truth, overview.truth_order)
        self.known.show_view(overview.view, categories, overview.truth, overview.truth_order)
        self.two_runs.show_view(self._campaign, overview.view, categories, overview.runs)
        self.inspector.refresh()

    def _choose_items(self, items: list[int], words: str) -> None:
        """Choose the photos of a cell, and show them in the gallery."""
        self.selection.choose_all(items)
        self.gallery.outline(items, words)

    def _keep_order(self, order: tuple[str, ...]) -> None:
        campaign, overview = self._campaign, self._overview
        if campaign is None or overview is None:
            return
        self._overview = overview = replace(overview, truth_order=order)
        self.known.show_view(overview.view, overview.categories, overview.truth, order)
        self.views.show_view(overview.view, overview.arrangement, overview.truth, order)
        self.shell.jobs.start(
            "database",
            lambda _progress, _cancel: set_truth_order(campaign, order),
            on_failed=self.shell.show_failure,
            owner=self,
        )

    def _load_known(self) -> None:
        campaign = self._campaign
        if campaign is None:
            return
        start = str(campaign.path.parent)
        chosen, _ = QFileDialog.getOpenFileName(self, "Known categories", start, "Tables (*.csv);;All files (*)")
        if not chosen:
            return
        self.shell.jobs.start(
            "database",
            lambda progress, cancel: import_table(campaign, Path(chosen), "truth", progress=progress, cancel=cancel),
            title="Loading known categories",
            on_done=self._loaded_known,
            on_failed=self.shell.show_failure,
            owner=self,
        )

    def _loaded_known(self, report: ImportReport) -> None:
        left_out = f", {report.skipped:,} left out" if report.skipped else ""
        self.shell.say(f"Loaded the known categories of {count_of(report.added, 'photo')}{left_out}")
        if report.warnings:
            self.shell.show_error(report.warnings[0], "\n".join(report.warnings[1:]))
        self.shell.data_changed.emit()

    def _first_part(self, overview: CampaignOverview | None) -> QWidget:
        """What has the keys when the screen comes to the front."""
        if overview is None or overview.view is not None:
            return self.gallery.rows
        return self._no_run.button if overview.responses else self._empty.button


def _title(overview: CampaignOverview | None) -> str:
    view = overview.view if overview is not None else None
    if view is None:
        return ""
    entropy = view.run.result.entropy_bits
    clusters = count_of(len(view.clusters), "cluster")
    return f"Run {view.run.number}{of_stage(view.run.stage)}: {clusters}, entropy {entropy:.2f} bits"


def _news(overview: CampaignOverview | None) -> str:
    """Say quietly that the run does not know the newest responses."""
    came = overview.view.new_responses if overview is not None and overview.view is not None else 0
    if overview is not None and overview.exclusions_changed:
        return "What runs leave out has changed since."
    return f"{count_of(came, 'response')} {'has' if came == 1 else 'have'} come in since." if came else ""
