"""What fills the Progress screen: figures, charts, who has what open, and what can be changed about the plan."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QAbstractItemView,
    QGridLayout,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QProgressBar,
    QPushButton,
    QStackedWidget,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.gui import theme
from crowdclust_app.gui.charts.chart import Chart
from crowdclust_app.gui.jobs import Job, cancel_jobs
from crowdclust_app.gui.progress.figures import FIGURES, about, day_series, in_words, rank_series, share_series
from crowdclust_app.gui.progress.import_page import ImportPage
from crowdclust_app.gui.progress.plan_box import PlanBox
from crowdclust_app.gui.screen import Screen, Shell
from crowdclust_app.gui.screen_content import ScreenContent
from crowdclust_app.gui.table_rows import Column, TableRows
from crowdclust_app.gui.wording import count_of, people_date
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.campaign.pausing import pause, resume
from crowdclust_app.services.campaign.plan_changes import (
    Growth,
    add_images,
    add_redundancy,
    add_workers_per_hit,
    new_images,
)
from crowdclust_app.services.campaign.progress_statistics import (
    CampaignProgress,
    OpenAssignment,
    look_at_pace,
    set_rerun_every,
)
from crowdclust_app.services.campaign.scanning import ScanReport
from crowdclust_app.services.progress_report import Progress

NOTHING_YET = "Nobody has sorted anything yet."


COLUMNS = (
    Column("Worker", "Who sorts", lambda turn: turn.worker),
    Column("HIT", "The set that is begun", lambda turn: turn.hit),
    Column("Stage", "The whole collection, or a cluster that is subdivided", lambda turn: turn.stage),
    Column("Photos", "In the set", lambda turn: f"{turn.items:,}", True),
    Column("Actions", "What was done to it so far", lambda turn: f"{turn.actions:,}", True),
    Column("Begun", "When it was handed out", lambda turn: people_date(turn.started_at)),
    Column("Last move", "When something was done last", lambda turn: people_date(turn.last_event_at)),
    Column("", "Whether somebody else may get it", lambda turn: "free for others" if turn.idle else ""),
)


class OpenModel(TableRows[OpenAssignment]):
    """One row a set that is open, the one that moved last first."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(COLUMNS, parent)

    def show(self, rows: Sequence[OpenAssignment]) -> None:
        """Show these; what is shown already keeps its selection."""
        if list(rows) != self.rows():
            super().show(rows)


class ProgressContent(ScreenContent):
    """How a campaign fills."""

    def __init__(self, shell: Shell, screen: Screen) -> None:
        super().__init__(shell, screen)
        self._pace: CampaignProgress | None = None
        self._changing: Job | None = None
        self._found: ScanReport | None = None
        self._values: dict[str, QLabel] = {}
        self._bar = QProgressBar(self)
        self._paused = QLabel("Paused: no new sets are handed out.", self)
        self.rank, self.share, self.days = (Chart(name, self) for name in ("rank-chart", "share-chart", "day-chart"))
        self._open = OpenModel(self)
        self._nobody = QLabel("Nobody is in the middle of a set.", self)
        self._table = QTableView(self)
        self._open_pages = QStackedWidget(self)
        self.plan = PlanBox(self)
        self._news = QLabel(self)
        self._add_images = QPushButton("Add them", self)
        self._import = QPushButton("Import a table ...", self)
        self.importing = ImportPage(shell, self)
        self._build()
        self.plan.more_sets.connect(self.add_sets)
        self.plan.more_people.connect(self.add_people)
        self.plan.images_wanted.connect(self.look_for_images)
        self.plan.pause_wanted.connect(self.pause_or_go_on)
        self.plan.rerun_wanted.connect(self.run_again_every)
        self._add_images.clicked.connect(self.add_images)
        self._import.clicked.connect(self.import_table)
        self.importing.closed.connect(lambda: self._pages.setCurrentIndex(0))
        self._command("Pause the campaign, or go on", "", self.pause_or_go_on)
        self._command("Look for new images in the folder", "", self.look_for_images)
        self._command("Import answers or known categories from a table", "", self.import_table)
        self._show(None)

    # --- layout

    def _build(self) -> None:
        heading = QLabel("Progress", self)
        heading.setProperty("heading", "page")
        self._import.setObjectName("import-table")
        top = QHBoxLayout()
        top.addWidget(heading, 1)
        top.addWidget(self._import)
        self._paused.setObjectName("paused")
        self._news.setObjectName("progress-news")
        self._news.setWordWrap(True)
        self._add_images.setObjectName("add-images")
        self._bar.setObjectName("progress-bar")
        self._bar.setTextVisible(False)
        charts = QHBoxLayout()
        charts.setSpacing(theme.MARGIN)
        for chart in (self.rank, self.share, self.days):
            charts.addWidget(chart, 1)
        self._set_up_table()
        opened = QLabel("Open sets", self)
        plan = QLabel("Change the plan", self)
        for label in (opened, plan):
            label.setProperty("heading", "part")
        news = QHBoxLayout()
        news.addWidget(self._news, 1)
        news.addWidget(self._add_images)
        main = QWidget(self)
        self._pages = self._fill_with(main, self.importing)
        layout = QVBoxLayout(main)
        layout.setContentsMargins(theme.MARGIN, theme.MARGIN, theme.MARGIN, theme.STEP)
        layout.setSpacing(theme.STEP)
        layout.addLayout(top)
        layout.addLayout(self._figures())
        layout.addWidget(self._bar)
        layout.addWidget(self._paused)
        layout.addLayout(charts, 3)
        layout.addWidget(opened)
        layout.addWidget(self._open_pages, 2)
        layout.addWidget(plan)
        layout.addWidget(self.plan)
        layout.addLayout(news)
        # room for what may be said, so that nothing jumps
        self._news.setMinimumHeight(self._add_images.sizeHint().height())

    def _figures(self) -> QGridLayout:
        grid = QGridLayout()
        grid.setHorizontalSpacing(2 * theme.MARGIN)
        grid.setVerticalSpacing(0)
        for column, (key, title) in enumerate(FIGURES):
            name, value = QLabel(title, self), QLabel(self)
            name.setProperty("rank", "second")
            value.setProperty("heading", "part")
            value.setObjectName(f"figure-{key}")
            value.setAccessibleName(title)
            for label in (name, value):
                label.setToolTip(about(key))
            grid.addWidget(name, 0, column)
            grid.addWidget(value, 1, column)
            self._values[key] = value
        grid.setColumnStretch(len(FIGURES), 1)
        return grid

    def _set_up_table(self) -> None:
        self._table.setObjectName("open-sets")
        self._table.setAccessibleName("Sets that are open")
        self._table.setModel(self._open)
        self._table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self._table.setShowGrid(False)
        self._table.verticalHeader().hide()
        self._table.setMinimumHeight(96)
        header = self._table.horizontalHeader()
        header.setHighlightSections(False)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
        self._nobody.setProperty("rank", "second")
        self._nobody.setAlignment(Qt.AlignmentFlag.AlignTop)
        for page in (self._nobody, self._table):
            self._open_pages.addWidget(page)
        self.setFocusProxy(self._table)

    # --- the content of a screen

    def _forget(self) -> None:
        cancel_jobs(self._changing)
        self._changing = None
        self._found = None
        self.importing.close_page()
        self._show(None)

    def _reader(self, campaign: Campaign) -> Callable[[CancelToken], CampaignProgress]:
        return lambda _cancel: look_at_pace(campaign)

    def escape(self) -> bool:
        """Close the table in the preview, or forget the images that were found."""
        if self._pages.currentWidget() is self.importing:
            self.importing.close_page()
            return True
        if self._found is None:
            return False
        self._found = None
        self._tell("")
        return True

    # --- showing

    def _loaded(self, pace: CampaignProgress) -> None:
        self._show(pace)

    def _show(self, pace: CampaignProgress | None) -> None:
        self._pace = pace
        words = in_words(pace) if pace is not None else {}
        for key, label in self._values.items():
            label.setText(words.get(key, ""))
        figures = pace.figures if pace is not None else None
        self._bar.setRange(0, max(1, figures.assignments_planned if figures else 1))
        self._bar.setValue(figures.assignments_submitted if figures else 0)
        self._paused.setText("Paused: no new sets are handed out." if pace is not None and pace.paused else " ")
        self.rank.show_series(rank_series(pace) if pace else None, NOTHING_YET)
        self.share.show_series(share_series(pace) if pace else None, NOTHING_YET)
        self.days.show_series(day_series(pace) if pace else None, NOTHING_YET)
        self._open.show(pace.open if pace is not None else ())
        self._open_pages.setCurrentIndex(1 if pace is not None and pace.open else 0)
        self._offer()

    def _offer(self) -> None:
        campaign = self._campaign
        busy = self._changing is not None or (campaign is not None and campaign.read_only)
        self.plan.show_plan(self._pace, campaign is not None and campaign.has_images and campaign.images_found, busy)
        self._add_images.setVisible(self._found is not None)
        self._add_images.setEnabled(not busy)
        self._import.setEnabled(campaign is not None and not campaign.read_only)

    def _tell(self, words: str) -> None:
        self._news.setText(words)
        self._offer()

    # --- changing

    def _change(self, call: Callable[[Campaign, Progress, CancelToken], Any], done: Callable[[Any], None]) -> None:
        campaign = self._campaign
        if campaign is None or self._changing is not None:
            return

        def finished(result: Any) -> None:
            self._changing = None
            done(result)
            self.shell.data_changed.emit()

        self._changing = self.shell.jobs.start(
            "database",
            lambda progress, cancel: call(campaign, progress, cancel),
            title="Changing the plan",
            on_done=finished,
            on_failed=self._failed,
            on_cancelled=self._stopped,
            owner=self,
        )
        self._offer()

    def _failed(self, error: BaseException) -> None:
        self._stopped()
        self.shell.show_failure(error)

    def _stopped(self) -> None:
        self._changing = None
        self._offer()

    def add_sets(self, stage: str, more: int) -> None:
        """Plan further sets for every image of a stage."""
        self._change(lambda campaign, _p, _c: add_redundancy(campaign, more, stage), self._grown)

    def add_people(self, stage: str, more: int) -> None:
        """Let further people do every set of a stage."""
        self._change(lambda campaign, _p, _c: add_workers_per_hit(campaign, more, stage), self._grown)

    def _grown(self, growth: Growth) -> None:
        parts = [count_of(growth.items, "image")] * bool(growth.items)
        parts += [count_of(growth.hits, "set")] * bool(growth.hits)
        parts.append(count_of(growth.assignments, "turn"))
        self._found = None
        self._tell(" ".join((f"Added {', '.join(parts)}.", *growth.warnings)))

    def look_for_images(self) -> None:
        """See what has come into the folder since."""
        self._change(new_images, self._show_found)

    def _show_found(self, scan: ScanReport) -> None:
        self._found = scan if scan.items else None
        found = f"{count_of(len(scan.items), 'new image')} in the folder." if scan.items else "No new images."
        self._tell(" ".join((found, *scan.warnings())))

    def add_images(self) -> None:
        """Make the images that were found items."""
        scan = self._found
        if scan is not None:
            self._change(lambda campaign, _p, _c: add_images(campaign, scan), self._grown)

    def import_table(self) -> None:
        """Look at a table before it is imported."""
        if self._campaign is not None and self.importing.open_for(self._campaign):
            self._pages.setCurrentWidget(self.importing)

    def pause_or_go_on(self) -> None:
        """Pause the campaign, or hand out sets again."""
        pace = self._pace
        if pace is not None:
            call = resume if pace.paused else pause
            words = "Sets are handed out again" if pace.paused else "The campaign is paused"
            self._change(lambda campaign, _p, _c: call(campaign), lambda _: self.shell.say(words))

    def run_again_every(self, responses: int) -> None:
        """Keep after how many responses the inference runs again by itself."""
        self._change(lambda campaign, _p, _c: set_rerun_every(campaign, responses), lambda _: None)
