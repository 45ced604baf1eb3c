"""What fills the Stages screen: the tree of clusters at the left, the chosen one at the right."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QItemSelectionModel, QModelIndex, Qt
from PySide6.QtWidgets import QAbstractItemView, QComboBox, QHBoxLayout, QHeaderView, QTreeView, QVBoxLayout, QWidget

from crowdclust_app.domain.campaign import PlanSettings
from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.gui import theme
from crowdclust_app.gui.empty import EmptyState
from crowdclust_app.gui.labels import ElidedLabel
from crowdclust_app.gui.run_content import CLUSTER_WANTED, RUN_SHOWN
from crowdclust_app.gui.screen import Screen, Shell
from crowdclust_app.gui.screen_content import EMPTY, MAIN, ScreenContent
from crowdclust_app.gui.splitting import splitter
from crowdclust_app.gui.stages.details import Details
from crowdclust_app.gui.stages.model import DOUBTFUL, HITS, MEAN, NAME, PHOTOS, STATE, NameDelegate, TreeModel
from crowdclust_app.gui.stages.rows import Kind, Row, rows_of, title_of
from crowdclust_app.gui.stages.work import StageWork
from crowdclust_app.gui.wording import count_of, people_date
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.stages.stage_tree import StageTree, look_at_stages

CHOSEN = "stages-chosen"
WANTED = CLUSTER_WANTED.format(screen="stages")
WIDTHS = ((PHOTOS, 68), (MEAN, 88), (DOUBTFUL, 80), (HITS, 92), (STATE, 168))


class StagesContent(ScreenContent):
    """The tree of clusters and what each is subdivided into."""

    remembered_as = "stages-splitters"
    usual_sizes = ((780, 460), (320, 350))

    def __init__(self, shell: Shell, screen: Screen) -> None:
        super().__init__(shell, screen)
        self._tree: StageTree | None = None
        self._chosen: Row | None = None
        self._run: int | None = None
        self.model = TreeModel(self)
        self.tree = QTreeView(self)
        self.details = Details(shell, self)
        self.work = StageWork(shell, self)
        self.runs = QComboBox(self)
        self._title = ElidedLabel(self)
        self._build()
        self._connect()
        self._add_commands()
        self._show(None)

    # --- layout

    def _build(self) -> None:
        self._title.setObjectName("stages-title")
        self._title.setProperty("heading", "part")
        self.runs.setObjectName("stages-run")
        self.runs.setAccessibleName("Run of the whole collection")
        self.runs.setToolTip("Whose clusters the tree begins with; stages stay with the run they came from")
        self._set_up_tree()
        head = QHBoxLayout()
        head.setSpacing(theme.MARGIN)
        head.addWidget(self._title, 1)
        head.addWidget(self.runs)
        left = QWidget(self)
        column = QVBoxLayout(left)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.STEP)
        column.addLayout(head)
        column.addWidget(self.tree, 1)
        self.columns = splitter(Qt.Orientation.Horizontal, left, self.details)
        self._empty = EmptyState(
            "The tree of clusters appears here: each can be subdivided into what people see among its photos alone.",
            "That needs a run of the inference over the whole collection.",
            "Go to Clusters",
            self,
        )
        self._empty.button.setObjectName("stages-to-clusters")
        self._empty.button.clicked.connect(lambda: self.shell.show_screen("clusters"))
        self._pages = self._lay_out(self.columns, self._empty, self.details.rows)

    def _set_up_tree(self) -> None:
        self.tree.setObjectName("stages-tree")
        self.tree.setAccessibleName("Clusters and what they are subdivided into")
        self.tree.setModel(self.model)
        self.tree.setItemDelegateForColumn(NAME, NameDelegate(self.tree))
        self.tree.setUniformRowHeights(True)
        self.tree.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.tree.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.tree.setExpandsOnDoubleClick(True)
        self.tree.setIndentation(20)
        self.tree.setStyleSheet("QTreeView::item { padding: 0 8px; }")
        self.tree.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        header = self.tree.header()
        header.setStretchLastSection(False)
        header.setSectionsMovable(False)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        header.setSectionResizeMode(NAME, QHeaderView.ResizeMode.Stretch)
        for column, width in WIDTHS:
            header.resizeSection(column, width)

    def _connect(self) -> None:
        self.tree.selectionModel().currentChanged.connect(self._moved)
        self.tree.activated.connect(lambda _index: self.to_details())
        self.runs.activated.connect(self._run_chosen)
        self.details.form.wanted.connect(self._subdivide)
        self.work.divided.connect(lambda: self.tree.setFocus(Qt.FocusReason.OtherFocusReason))
        self.work.refused.connect(self.refresh)
        self.work.run_told.connect(self._tell_run)
        panel = self.details.panel
        panel.run_wanted.connect(self.run)
        panel.cancel_wanted.connect(self.work.cancel)
        panel.open_wanted.connect(self.open_in_clusters)
        panel.remove_wanted.connect(self.remove)
        panel.back_wanted.connect(self.bring_back)

    def _add_commands(self) -> None:
        self._command("Subdivide the chosen cluster", "Ctrl+S", self.to_details)
        self._command("Run the chosen stage", "Ctrl+R", self.run)
        self._command("Cancel the run", "Ctrl+.", self.work.cancel)
        self._command("Open the chosen stage in Clusters", "Ctrl+Shift+O", self.open_in_clusters)
        self._command("Remove the chosen stage", "Del", self.remove)
        self._command("Bring the chosen stage back", "Ctrl+B", self.bring_back)

    # --- the screen in the window

    @property
    def chosen(self) -> Row | None:
        """The row whose details are shown."""
        return self._chosen

    def _forget(self) -> None:
        self.work.set_campaign(self._campaign)
        self._run = None
        self._show(None)

    def _reader(self, campaign: Campaign) -> Callable[[CancelToken], StageTree]:
        wanted = self.shell.recall(WANTED)
        if wanted:
            self._run = wanted[0]
        number = self._run
        return lambda cancel: look_at_stages(campaign, number, cancel)

    def escape(self) -> bool:
        """Go from the details back to the tree; whether the keys were there."""
        inside = self.details.isAncestorOf(self.focusWidget() or self)
        if inside:
            self.tree.setFocus(Qt.FocusReason.OtherFocusReason)
        return inside

    def _loaded(self, tree: StageTree) -> None:
        self._show(tree)
        wanted = self.shell.recall(WANTED)
        if wanted:
            self.shell.remember(WANTED, None)
            row = self._wanted_row(*wanted)
            if row is not None:
                self.choose(row)
                self.to_details()

    def _wanted_row(self, run: int, place: int) -> Row | None:
        for row in self.model.rows:
            shown = row.of.view.run.number if row.of is not None and row.of.view is not None else None
            if shown == run and row.category is not None and place in row.category.clusters:
                return row
        return None

    # --- content

    def _show(self, tree: StageTree | None) -> None:
        key = self._chosen.key if self._chosen is not None else None
        if key is None and tree is not None:
            key = self.shell.recall(CHOSEN)
        first = self._tree is None
        closed = {row.key for row in self.model.rows if not self.tree.isExpanded(self.model.index_of(row))}
        self._tree = tree
        self._chosen = None
        nothing = tree is not None and tree.root.view is None and not tree.root.elsewhere and not tree.root.removed
        self._pages.setCurrentIndex(EMPTY if nothing else MAIN)
        self.setFocusProxy(self._empty.button if nothing else self.tree)
        root = rows_of(tree) if tree is not None and not nothing else None
        self.model.show(root)
        for row in self.model.rows:
            self.tree.setExpanded(self.model.index_of(row), first or row.key not in closed)
        self._show_runs(tree)
        self._title.setText(title_of(tree))
        rows = self.model.rows
        self.choose(next((row for row in rows if row.key == key), rows[0] if rows else None), fresh=False)

    def _show_runs(self, tree: StageTree | None) -> None:
        runs = tree.runs if tree is not None else ()
        shown = tree.root.view.run.number if tree is not None and tree.root.view is not None else None
        self.runs.clear()
        for run in reversed(runs):
            found = count_of(int(str(run.summary["clusters"])), "cluster")
            self.runs.addItem(f"Run {run.number} · {found} · {people_date(run.created_at)}", run.number)
        self.runs.setCurrentIndex(max(0, self.runs.findData(shown)))
        self.runs.setEnabled(len(runs) > 1)
        self.runs.setVisible(bool(runs))

    def _run_chosen(self, place: int) -> None:
        self._run = self.runs.itemData(place)
        self.refresh()

    def choose(self, row: Row | None, fresh: bool = True) -> None:
        """Show this row, and mark it in the tree."""
        if row is not None:
            index = self.model.index_of(row)
            above = index.parent()
            while above.isValid():
                self.tree.expand(above)
                above = above.parent()
            flags = QItemSelectionModel.SelectionFlag.ClearAndSelect | QItemSelectionModel.SelectionFlag.Rows
            self.tree.selectionModel().blockSignals(True)
            self.tree.selectionModel().setCurrentIndex(index, flags)
            self.tree.selectionModel().blockSignals(False)
            self.tree.scrollTo(index)
            self.tree.viewport().update()
        self._show_row(row, fresh)

    def _moved(self, current: QModelIndex, _before: QModelIndex) -> None:
        row = self.model.row_at(current)
        if row is not None and row is not self._chosen:
            self.shell.remember(CHOSEN, row.key)
            self._show_row(row, fresh=True)

    def _show_row(self, row: Row | None, fresh: bool) -> None:
        self._chosen = row
        read_only = self._campaign is not None and self._campaign.read_only
        self.details.show_row(row, self._tree, self.work.running, read_only, fresh)
        self.details.panel.show_progress(self.work.report, self.work.running)

    def to_details(self) -> None:
        """Bring the keys to what can be done with the chosen row."""
        page = self.details.pages.currentWidget()
        if page in (self.details.form, self.details.panel):
            page.setFocus(Qt.FocusReason.ShortcutFocusReason)
        if page is self.details.form:
            self.details.form.fields["m"].selectAll()

    # --- what is done with the chosen row

    def _subdivide(self, settings: PlanSettings) -> None:
        row = self._chosen
        if row is not None and row.category is not None and row.of is not None and row.of.view is not None:
            self.work.subdivide(row.of.info.name, row.category.place, settings, row.of.view.run.number)

    def remove(self) -> None:
        """Take the chosen stage out of sight."""
        row = self._chosen
        if row is not None and row.stage is not None and row.stage.info.parent is not None:
            self.work.remove(row.stage.info.name)

    def bring_back(self) -> None:
        """Bring the chosen removed stage back."""
        row = self._chosen
        if row is not None and row.kind is Kind.REMOVED and row.info is not None:
            self.work.bring_back(row.info.name)

    def open_in_clusters(self) -> None:
        """Show the run of the chosen row on the screen Clusters."""
        row = self._chosen
        stage = (row.stage or row.of) if row is not None else None
        if stage is not None and stage.view is not None:
            self.shell.remember(RUN_SHOWN, stage.view.run.number)
            self.shell.show_screen("clusters")

    def run(self) -> None:
        """Run the inference over the chosen stage, in the background."""
        row, panel = self._chosen, self.details.panel
        if row is None or row.stage is None or not panel.run.isEnabled():
            return
        if self.work.run(row.stage.info.name):
            panel.cancel.setFocus(Qt.FocusReason.OtherFocusReason)

    def _tell_run(self, words: str) -> None:
        panel = self.details.panel
        had_keys = panel.cancel.hasFocus()
        panel.show_progress(self.work.report, self.work.running, words)
        if had_keys and not self.work.running:
            self.tree.setFocus(Qt.FocusReason.OtherFocusReason)
