"""What fills the Workers screen: the table over matrices, groups and charts; the chosen worker at the right."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from PySide6.QtCore import QItemSelectionModel, QModelIndex, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QHeaderView, QStackedWidget, QTableView, QVBoxLayout, QWidget

from crowdclust_app.gui import theme
from crowdclust_app.gui.charts.series import Floats
from crowdclust_app.gui.empty import EmptyState
from crowdclust_app.gui.run_content import NOTHING, RunContent
from crowdclust_app.gui.screen import Screen, Shell
from crowdclust_app.gui.screen_content import EMPTY, MAIN
from crowdclust_app.gui.splitting import splitter
from crowdclust_app.gui.wording import count_of
from crowdclust_app.gui.workers.background_study import Studying
from crowdclust_app.gui.workers.group_pages import GroupsPage
from crowdclust_app.gui.workers.matrix_grid import MatrixGrid
from crowdclust_app.gui.workers.save_button import SaveButton
from crowdclust_app.gui.workers.segments import Segments
from crowdclust_app.gui.workers.side import BOUND, CALIBRATED, PAGES, WorkerSide, about_worker, label_of
from crowdclust_app.gui.workers.table_setup import set_up_table
from crowdclust_app.gui.workers.work_page import PredictedPage, WorkPage
from crowdclust_app.gui.workers.worker_decisions import WorkerDecisions
from crowdclust_app.gui.workers.workers_model import (
    AGREEMENT_COLUMN,
    FLAGS_COLUMN,
    GROUP_COLUMN,
    HELD_OUT_COLUMN,
    HITS_COLUMN,
    NAME_COLUMN,
    TIME_COLUMN,
    WorkersModel,
)
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.clusters.overview import CampaignOverview
from crowdclust_app.services.clusters.run_view import RunView
from crowdclust_app.services.workers.leave_one_out import can_leave_out
from crowdclust_app.services.workers.study import WorkerStudy
from crowdclust_app.services.workers.worker_rows import FLAG_REASONS, WorkerRow

MATRICES, GROUPS, PREDICTED, WORK = "matrices", "groups", "predicted", "work"
LOWER = ((MATRICES, "Matrices"), (GROUPS, "Groups"), (PREDICTED, "Predicted"), (WORK, "Work and agreement"))
LOWER_SHOWN, WORKER_PAGE = "workers-lower", "workers-page"
# A table narrower than this has no room for all columns.
WIDE = 700
# The widest words of the columns of fixed width, and the room around them.
WIDEST = {
    HITS_COLUMN: ("HITs ▼", 16),
    TIME_COLUMN: ("Time a HIT", 18),
    AGREEMENT_COLUMN: ("Agreement", 26),
    HELD_OUT_COLUMN: ("+0.00 ± 0.00", 26),
    GROUP_COLUMN: ("Group 12", 14),
}


class WorkersContent(RunContent):
    """How each person sorts, and how far each can be trusted."""

    remembered_as = "workers-splitters"
    usual_sizes = ((812, 418), (280, 420))

    def __init__(self, shell: Shell, screen: Screen) -> None:
        super().__init__(shell, screen)
        self._kind = CALIBRATED
        self._chosen: str | None = None
        self._wanted = MATRICES
        self._model = WorkersModel(self)
        self.table = QTableView(self)
        self.grid = MatrixGrid(self)
        self.groups = GroupsPage(self.album, self)
        self.predicted = PredictedPage(self)
        self.work = WorkPage(self)
        self.side = WorkerSide(self.album, self)
        self.large = self.side.large
        self.studying = Studying(shell, self)
        self.deciding = WorkerDecisions(shell, self)
        self.save = SaveButton(self, lambda: self._overview, shell, screen)
        self._title = label_of(self, "workers-title", heading="part")
        self._news = label_of(self, "workers-run", rank="second")
        self._build()
        self._connect()
        self._add_commands()
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
        self._all_one = EmptyState(
            "This run takes all workers for one, so it has one matrix for everybody.",
            "A run with the method Crowdclustering has one matrix a worker.",
            "Go to Clusters",
            self,
        )
        for page in (self._no_run, self._all_one):
            page.button.clicked.connect(lambda: self.shell.show_screen("clusters"))
        self._lower = QStackedWidget(self)
        for part in (self.grid, self._no_run, self._all_one, self.groups, self.predicted, self.work):
            self._lower.addWidget(part)
        self.switch = Segments(LOWER, self.show_lower, "workers", self)
        head = QWidget(self)
        line = QHBoxLayout(head)
        line.setContentsMargins(0, 0, 0, 0)
        line.setSpacing(theme.MARGIN)
        line.addWidget(self._title)
        line.addWidget(self._news, 1)
        upper, lower = _stacked(head, self.table), _stacked(self.save.beside(self.switch), self._lower)
        rows = splitter(Qt.Orientation.Vertical, upper, lower)
        columns = splitter(Qt.Orientation.Horizontal, rows, self.side)
        self._pages = self._lay_out(columns, self._empty, rows)

    def _set_up_table(self) -> None:
        set_up_table(self.table, self._model, "workers-table", "Workers")
        self.table.sortByColumn(HITS_COLUMN, Qt.SortOrder.DescendingOrder)
        header = self.table.horizontalHeader()
        # names and flags share what the figures leave, so that both can be read in the smallest window
        for column in (NAME_COLUMN, FLAGS_COLUMN):
            header.setSectionResizeMode(column, QHeaderView.ResizeMode.Stretch)
        for column, (words, around) in WIDEST.items():
            header.resizeSection(column, self.fontMetrics().horizontalAdvance(words) + around)

    def _connect(self) -> None:
        self.grid.chosen.connect(self.choose)
        self.groups.chosen.connect(self.choose)
        self.predicted.chosen.connect(self.choose)
        self.work.chosen.connect(self.choose)
        self.groups.named.connect(self.deciding.name_group)
        self.side.kind_chosen.connect(self.show_kind)
        self.side.page_chosen.connect(self._page_shown)
        self.side.time.repeats_wanted.connect(self.deciding.repeat)
        self.side.hits.excluded.connect(self.deciding.exclude)
        self.side.hits.taken_in.connect(self.deciding.take_in)
        self.side.trust.retired.connect(self.deciding.retire)
        self.side.trust.brought_back.connect(self.deciding.bring_back)
        self.side.trust.asked_without.connect(self._ask_without)
        self.side.trust.stopped.connect(self.studying.stop_without)
        self.studying.studied.connect(self._show_study)
        self.studying.without_changed.connect(self._show_without)
        # queued: a job that has just been started is known by then
        self.shell.jobs.changed.connect(self._tell_waiting, Qt.ConnectionType.QueuedConnection)
        self.table.selectionModel().currentChanged.connect(self._row_moved)
        self._model.layoutChanged.connect(self._reordered)

    def _add_commands(self) -> None:
        self._command("Show the calibrated matrices", "", lambda: self.show_kind(CALIBRATED))
        self._command("Show the paper's bound (eq. 10)", "", lambda: self.show_kind(BOUND))
        for key, (name, title) in enumerate(LOWER, start=1):
            self._command(f"Show {title.lower()}", f"Alt+{key}", partial(self.show_lower, name))
        for key, (name, title) in enumerate(PAGES, start=len(LOWER) + 1):
            call = partial(self.side.show_page, name)
            self._command(f"Show of the worker: {title}", f"Alt+{key}", call)
        self._command("Undo the last decision about workers", "Ctrl+Z", self.deciding.undo)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Leave columns out where there is no room for them."""
        super().resizeEvent(event)
        self._fit_columns()

    def _fit_columns(self) -> None:
        narrow = self.table.width() < WIDE
        for column in (HELD_OUT_COLUMN, GROUP_COLUMN):
            self.table.setColumnHidden(column, narrow)

    # --- the screen in the window

    def set_campaign(self, campaign: Campaign | None) -> None:
        """Show this campaign from now on."""
        self.studying.forget()
        self.deciding.forget()
        super().set_campaign(campaign)
        if campaign is not None:
            self.show_lower(self.shell.recall(LOWER_SHOWN, MATRICES))
            self.side.show_page(self.shell.recall(WORKER_PAGE, PAGES[0][0]))

    def _forget(self) -> None:
        self._chosen = None
        super()._forget()

    # --- content

    @property
    def chosen(self) -> str | None:
        """The worker shown in large."""
        return self._chosen

    @property
    def _study(self) -> WorkerStudy | None:
        return self.studying.study

    def _show(self, overview: CampaignOverview | None) -> None:
        self._overview = overview
        shown = overview or NOTHING
        self.album.show(shown.view, dict(shown.files))
        self.album.show_arrangement(shown.arrangement)
        nobody = overview is not None and not shown.workers
        self._pages.setCurrentIndex(EMPTY if nobody else MAIN)
        self.setFocusProxy(self._empty.button if nobody else self.table)
        self._title.setText(count_of(len(shown.workers), "worker") if overview is not None else "")
        self._news.setText(_about_run(overview))
        if overview is not None:
            self.studying.look(self._campaign, shown.view)
        self._show_rows()
        self._show_lower()

    def _show_study(self) -> None:
        self._show_rows()
        self._show_lower()

    def _show_rows(self) -> None:
        self._model.show(self._rows())
        self._fit_columns()
        self._show_matrices()
        self._reordered()
        names = [row.name for row in self._model.rows()]
        self.choose(self._chosen if self._chosen in names else next(iter(names), None))

    def _rows(self) -> tuple[WorkerRow, ...]:
        """The workers, with their groups where these are known."""
        workers = self._overview.workers if self._overview is not None else ()
        criteria = self._study.criteria if self._study is not None else None
        if criteria is None:
            return workers
        titles = {name: criteria.groups[group - 1].title for name, group in criteria.group_of.items()}
        return tuple(replace(row, group=titles.get(row.name, "")) for row in workers)

    def show_lower(self, name: str) -> None:
        """Show matrices, groups, prediction, or work and agreement below the table."""
        self._wanted = name if name in dict(LOWER) else MATRICES
        self.switch.press(self._wanted)
        if self._campaign is not None:
            self.shell.remember(LOWER_SHOWN, self._wanted)
        self._show_lower()

    def _page_shown(self, page: str) -> None:
        if self._campaign is not None:
            self.shell.remember(WORKER_PAGE, page)

    def _show_lower(self) -> None:
        overview, study = self._overview, self._study
        workers = overview.workers if overview is not None else ()
        pages: dict[str, QWidget] = {GROUPS: self.groups, PREDICTED: self.predicted, WORK: self.work}
        page = pages.get(self._wanted, self._page(overview))
        if page is self.groups:
            criteria = study.criteria if study is not None else None
            called = overview.categories if overview is not None else None
            self.groups.show_criteria(criteria, called, self._why_no_groups())
        elif page is self.predicted:
            view = self.shown_view
            self.predicted.show_workers(workers, view.run.result if view is not None else None)
        elif page is self.work:
            self.work.show_work(workers, study)
        self._lower.setCurrentWidget(page)

    def _why_no_groups(self) -> str:
        if self.shown_view is None:
            return "Groups of workers who share a criterion appear here; that needs a run of the inference."
        if _takes_all_for_one(self.shown_view):
            return "This run takes all workers for one; a run with the method Crowdclustering tells them apart."
        return self.studying.sentence

    def _tell_waiting(self) -> None:
        """While there is no study, say what is awaited."""
        if self._overview is not None and self._study is None and self._lower.currentWidget() is self.groups:
            self._show_lower()

    def _page(self, overview: CampaignOverview | None) -> QWidget:
        if overview is not None and overview.view is None:
            return self._no_run
        return self._all_one if _takes_all_for_one(self.shown_view) else self.grid

    def show_kind(self, kind: str) -> None:
        """Show the calibrated probabilities, or the paper's bound."""
        self._kind = kind
        self._show_matrices()
        self._show_large()

    def _show_matrices(self) -> None:
        view = self.shown_view
        self.side.show_kind(self._kind, view is not None)
        if view is not None and not _takes_all_for_one(view):
            self.grid.show_matrices(self._matrices(view), view.order)

    def _matrices(self, view: RunView) -> Any:
        result = view.run.result
        return result.confusion if self._kind == CALIBRATED else result.confusion_bound

    def _reordered(self, *_: Any) -> None:
        self.grid.show_workers(self._model.rows())
        self.grid.set_current(self._chosen)

    def choose(self, name: str | None) -> None:
        """Show this worker in large, and mark it in the table and in the grid."""
        self._chosen = name
        self.grid.set_current(name)
        names = [row.name for row in self._model.rows()]
        if name in names:
            index = self._model.index(names.index(name), 0)
            flags = QItemSelectionModel.SelectionFlag.ClearAndSelect | QItemSelectionModel.SelectionFlag.Rows
            if self.table.currentIndex().row() != index.row():
                self.table.selectionModel().setCurrentIndex(index, flags)
            else:
                self.table.selectionModel().select(index, flags)
            self.table.scrollTo(index)
        self._show_large()

    def _row_moved(self, current: QModelIndex, _before: QModelIndex) -> None:
        if current.isValid():
            name = self._model.rows()[current.row()].name
            if name != self._chosen:
                self.choose(name)

    def _worker(self) -> WorkerRow | None:
        return next((row for row in self._model.rows() if row.name == self._chosen), None)

    def _show_large(self) -> None:
        worker, view, study = self._worker(), self.shown_view, self._study
        one_for_all = _takes_all_for_one(view)
        number = 0 if one_for_all else worker.matrix if worker is not None else None
        name = "All workers together" if one_for_all else worker.name if worker is not None else ""
        self.side.show_head(name, about_worker(worker, view, one_for_all, FLAG_REASONS))
        matrix = expected = None
        if view is not None and number is not None:
            matrix, expected = self._matrices(view)[number], view.run.result.confusion[number]
        self.side.show_matrix(matrix, view, (self._overview or NOTHING).categories)
        can_write = self._campaign is not None and not self._campaign.read_only
        self._show_turns(study, can_write, expected)
        self.deciding.about(self._campaign, self._chosen, self._overview.left_out if self._overview else None)
        criteria = study.criteria if study is not None else None
        can_refit = view is not None and can_leave_out(view.run)
        self.side.trust.show_worker(worker, view, criteria, self.deciding.retirement, can_write, can_refit)
        self._show_without()

    def _show_turns(self, study: WorkerStudy | None, can_write: bool, expected: Floats | None) -> None:
        """Show what the chosen worker did, over time and HIT by HIT."""
        chosen = self._chosen or ""
        if study is None:
            self.side.time.show_turns((), None)
            self.side.hits.show_turns(None, chosen, not can_write, expected)
        else:
            turns = study.turns
            self.side.time.show_turns(turns.of(chosen), turns.self_agreement(chosen), can_write and study.can_repeat)
            self.side.hits.show_turns(turns, chosen, not can_write, expected)

    # --- without this worker

    def _ask_without(self) -> None:
        view = self.shown_view
        if view is not None and self._chosen is not None:
            self.studying.ask_without(view.run, view.table, self._chosen)

    def _show_without(self) -> None:
        self.side.trust.show_running(self.studying.running_share(self._chosen))
        if self.shown_view is not None and can_leave_out(self.shown_view.run):
            self.side.trust.show_without(self.studying.without_words(self._chosen))


def _stacked(above: QWidget, below: QWidget) -> QWidget:
    """One part over another one that has the room."""
    widget = QWidget()
    inside = QVBoxLayout(widget)
    inside.setContentsMargins(0, 0, 0, 0)
    inside.setSpacing(theme.STEP)
    inside.addWidget(above)
    inside.addWidget(below, 1)
    return widget


def _takes_all_for_one(view: RunView | None) -> bool:
    """Whether the run is a consensus: the same model as if one worker had given every response."""
    return view is not None and view.run.settings.method == "consensus"


def _about_run(overview: CampaignOverview | None) -> str:
    if overview is None or overview.view is None:
        return ""
    view = overview.view
    words = f"beside run {view.run.number} ({count_of(len(view.clusters), 'cluster')})"
    return f"{words}; what is left out has changed since, run again" if overview.exclusions_changed else words
