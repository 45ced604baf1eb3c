"""What fills the Workers screen: the table over the small matrices, the chosen worker's one in large."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QItemSelectionModel, QModelIndex, Qt
from PySide6.QtWidgets import (
    QAbstractItemView,
    QButtonGroup,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QPushButton,
    QStackedWidget,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from crowdclust_app.gui import theme
from crowdclust_app.gui.empty import EmptyState
from crowdclust_app.gui.run_content import EMPTY, MAIN, RunContent
from crowdclust_app.gui.splitting import splitter
from crowdclust_app.gui.words import count_of
from crowdclust_app.gui.workers.grid import MatrixGrid
from crowdclust_app.gui.workers.large import EXAMPLES, LargeMatrix
from crowdclust_app.gui.workers.model import WorkersModel, WorkersOrder
from crowdclust_app.services.judging import FLAG_REASONS, WorkerRow
from crowdclust_app.services.looking import Overview, RunView

if TYPE_CHECKING:
    from crowdclust_app.gui.screen import Screen, Shell

CALIBRATED, BOUND = "calibrated", "bound"
ABOUT = {
    CALIBRATED: "How probable it is that this worker puts photos of two clusters into one group",
    BOUND: "The same by the paper's eq. 10, which is a lower bound and can be much too low",
}
NAME_COLUMN, HITS_COLUMN, FLAGS_COLUMN = 0, 1, 4


class WorkersContent(RunContent):
    """How each person sorts, and how far each can be trusted.

    Parameters
    ----------
    screen
        The screen that it fills, which owns its commands.
    """

    remembered_as = "workers-splitters"
    usual_sizes = ((700, 460), (300, 400))

    def __init__(self, shell: Shell, screen: Screen) -> None:
        super().__init__(shell)
        self._kind = CALIBRATED
        self._chosen: str | None = None
        self._model = WorkersModel(self)
        self._order = WorkersOrder(self)
        self._order.setSourceModel(self._model)
        self.table = QTableView(self)
        self.grid = MatrixGrid(self)
        self.large = LargeMatrix(self.album, self)
        self._title = _label(self, "workers-title", heading="part")
        self._news = _label(self, "workers-run", rank="second")
        self._name = _label(self, "worker-name", heading="part")
        self._about = _label(self, "worker-about", rank="second")
        self._pointed = _label(self, "matrix-value")
        self._kinds: dict[str, QPushButton] = {}
        self._build()
        self.large.pointed.connect(self._tell_cell)
        self.grid.chosen.connect(self.choose)
        self.table.selectionModel().currentChanged.connect(self._row_moved)
        self._order.layoutChanged.connect(self._reordered)
        shell.add_command("Show the calibrated matrices", "", lambda: self.show_kind(CALIBRATED), owner=screen)
        shell.add_command("Show the paper's bound (eq. 10)", "", lambda: self.show_kind(BOUND), owner=screen)
        self._show(None)

    # --- layout

    def _build(self) -> None:
        self._set_up_table()
        self._empty = self._no_answers(
            "Everybody who sorts photos is listed here, with how they sort.", "Nobody has sorted anything yet."
        )
        self._no_run = EmptyState(
            "One small matrix a worker appears here: which clusters this person puts together.",
            "That needs a run of the inference.",
            "Go to Clusters",
            self,
        )
        self._no_run.button.setObjectName("go-to-clusters")
        self._no_run.button.clicked.connect(lambda: self.shell.show_screen("clusters"))
        self._all_one = EmptyState(
            "This run takes all workers for one, so it has one matrix for everybody.",
            "A run with the method Crowdclustering has one matrix a worker.",
            "Go to Clusters",
            self,
        )
        self._all_one.button.clicked.connect(lambda: self.shell.show_screen("clusters"))
        self._lower = QStackedWidget(self)
        for page in (self.grid, self._no_run, self._all_one):
            self._lower.addWidget(page)
        head = QHBoxLayout()
        head.setSpacing(theme.MARGIN)
        head.addWidget(self._title)
        head.addWidget(self._news, 1)
        upper = QWidget(self)
        above = QVBoxLayout(upper)
        above.setContentsMargins(0, 0, 0, 0)
        above.setSpacing(theme.STEP)
        above.addLayout(head)
        above.addWidget(self.table, 1)
        rows = splitter(Qt.Orientation.Vertical, upper, self._lower)
        columns = splitter(Qt.Orientation.Horizontal, rows, self._make_side())
        self._lay_out(columns, self._empty, rows)

    def _set_up_table(self) -> None:
        self.table.setObjectName("workers-table")
        self.table.setAccessibleName("Workers")
        self.table.setModel(self._order)
        self.table.setSortingEnabled(True)
        self.table.sortByColumn(HITS_COLUMN, Qt.SortOrder.DescendingOrder)
        self.table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.table.setShowGrid(False)
        self.table.setWordWrap(False)
        self.table.setStyleSheet("QTableView::item { padding: 0 8px; }")
        self.table.setTabKeyNavigation(False)
        self.table.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.table.verticalHeader().hide()
        self.table.verticalHeader().setDefaultSectionSize(28)
        header = self.table.horizontalHeader()
        header.setHighlightSections(False)
        # the arrow is part of the heading's text; the style would draw it over the words
        header.setSortIndicatorShown(False)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        # names and flags share what the figures leave, so that both can be read in the smallest window
        for column in (NAME_COLUMN, FLAGS_COLUMN):
            header.setSectionResizeMode(column, QHeaderView.ResizeMode.Stretch)
        for column, width in ((HITS_COLUMN, 68), (2, 104), (3, 112)):
            header.resizeSection(column, width)

    def _make_side(self) -> QWidget:
        side = QWidget(self)
        kinds = QHBoxLayout()
        kinds.setSpacing(theme.TILE_GAP)
        group = QButtonGroup(self)
        for kind, title in ((CALIBRATED, "Calibrated"), (BOUND, "The paper's bound (eq. 10)")):
            button = QPushButton(title, self)
            button.setObjectName(f"kind-{kind}")
            button.setProperty("rank", "plain")
            button.setCheckable(True)
            button.setToolTip(ABOUT[kind])
            button.clicked.connect(lambda _=False, kind=kind: self.show_kind(kind))
            group.addButton(button)
            kinds.addWidget(button)
            self._kinds[kind] = button
        kinds.addStretch(1)
        for label in (self._about, self._pointed):
            label.setWordWrap(True)
        self._pointed.setMinimumHeight(2 * self.fontMetrics().height() + theme.STEP)
        self._pointed.setAlignment(Qt.AlignmentFlag.AlignTop)
        layout = QVBoxLayout(side)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.STEP)
        layout.addWidget(self._name)
        layout.addWidget(self._about)
        layout.addLayout(kinds)
        layout.addWidget(self._pointed)
        layout.addWidget(self.large, 1)
        return side

    def _forget(self) -> None:
        self._chosen = None

    # --- content

    @property
    def chosen(self) -> str | None:
        """The worker shown in large."""
        return self._chosen

    @property
    def _view(self) -> RunView | None:
        return self._overview.view if self._overview is not None else None

    def _show(self, overview: Overview | None) -> None:
        self._overview = overview
        view = self._view
        self.album.show(view, dict(overview.files) if overview is not None else {})
        workers = overview.workers if overview is not None else ()
        self._pages.setCurrentIndex(EMPTY if overview is not None and not workers else MAIN)
        self.setFocusProxy(self.table if overview is None or workers else self._empty.button)
        self._lower.setCurrentWidget(self._page(overview))
        self._title.setText(count_of(len(workers), "worker") if overview is not None else "")
        self._news.setText(_about_run(view))
        self._model.show(workers)
        self._show_matrices()
        self._reordered()
        names = [row.name for row in self._order.workers()]
        self.choose(self._chosen if self._chosen in names else next(iter(names), None))

    def _page(self, overview: Overview | None) -> QWidget:
        if overview is not None and overview.view is None:
            return self._no_run
        return self._all_one if _takes_all_for_one(self._view) else self.grid

    def show_kind(self, kind: str) -> None:
        """Show the calibrated probabilities, or the paper's bound."""
        self._kind = kind
        self._show_matrices()
        self._show_large()

    def _show_matrices(self) -> None:
        for kind, button in self._kinds.items():
            button.setChecked(kind == self._kind)
            button.setVisible(self._view is not None)
        view = self._view
        if view is not None and not _takes_all_for_one(view):
            matrices = self._matrices(view)
            self.grid.show_matrices(matrices[:, view.order][:, :, view.order])

    def _matrices(self, view: RunView) -> Any:
        result = view.run.result
        return result.confusion if self._kind == CALIBRATED else result.confusion_bound

    def _reordered(self, *_: Any) -> None:
        self.grid.show_workers(self._order.workers())
        self.grid.set_current(self._chosen)

    def choose(self, name: str | None) -> None:
        """Show this worker in large, and mark it in the table and in the grid."""
        self._chosen = name
        self.grid.set_current(name)
        names = [row.name for row in self._order.workers()]
        if name in names:
            index = self._order.index(names.index(name), 0)
            flags = QItemSelectionModel.SelectionFlag.ClearAndSelect | QItemSelectionModel.SelectionFlag.Rows
            if self.table.currentIndex().row() != index.row():
                self.table.selectionModel().setCurrentIndex(index, flags)
            else:
                self.table.selectionModel().select(index, flags)
            self.table.scrollTo(index)
        self._show_large()

    def _row_moved(self, current: QModelIndex, _before: QModelIndex) -> None:
        if current.isValid():
            name = self._order.workers()[current.row()].name
            if name != self._chosen:
                self.choose(name)

    def _worker(self) -> WorkerRow | None:
        return next((row for row in self._order.workers() if row.name == self._chosen), None)

    def _show_large(self) -> None:
        worker, view = self._worker(), self._view
        self._name.setText(worker.name if worker is not None else "")
        self._about.setText(_about_worker(worker, view) if worker is not None else "")
        number = worker.matrix if worker is not None else None
        if _takes_all_for_one(view):
            number = 0
            self._name.setText("All workers together")
        if view is None or number is None:
            self.large.show_matrix(None, [], [])
            return
        matrix = self._matrices(view)[number][view.order][:, view.order]
        by_number = {row.number: row for row in view.clusters}
        numbers = [int(k) + 1 for k in view.order]
        examples = [by_number[n].items[:EXAMPLES].tolist() if n in by_number else [] for n in numbers]
        self.large.show_matrix(matrix, numbers, examples)

    def _tell_cell(self, words: str) -> None:
        self._pointed.setText(words or (ABOUT[self._kind] + "." if self._view is not None else ""))


def _label(parent: QWidget, name: str, **properties: str) -> QLabel:
    label = QLabel(parent)
    label.setObjectName(name)
    for key, value in properties.items():
        label.setProperty(key, value)
    return label


def _takes_all_for_one(view: RunView | None) -> bool:
    """Whether the run is a consensus: the same model as if one worker had given every response."""
    return view is not None and view.run.settings.method == "consensus"


def _about_run(view: RunView | None) -> str:
    return f"beside run {view.run.number} ({count_of(len(view.clusters), 'cluster')})" if view is not None else ""


def _about_worker(worker: WorkerRow, view: RunView | None) -> str:
    """Habits in full sentences, or why there is no matrix."""
    sentences = [FLAG_REASONS[flag] for flag in worker.flags]
    if worker.hits == 0:
        sentences.append("Has not submitted a HIT yet, so there is no matrix.")
    elif view is not None and worker.matrix is None and not _takes_all_for_one(view):
        sentences.append("Had not submitted a HIT when this run was made, so it has no matrix.")
    elif not sentences and worker.likeness is not None:
        sentences.append(f"Likeness to the clusters {worker.likeness:.2f}; 1 is the same groups, 0 what chance gives.")
    return " ".join(sentences)
