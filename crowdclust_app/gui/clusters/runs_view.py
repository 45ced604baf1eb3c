"""Two runs beside each other: which clusters are which, how far they are apart, and which photos moved."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from crowdclust_app.domain.plots import Plot
from crowdclust_app.gui import theme
from crowdclust_app.gui.clusters.contingency import ContingencyTable, figures_in_words
from crowdclust_app.gui.jobs import Job, cancel_jobs
from crowdclust_app.gui.labels import ElidedLabel
from crowdclust_app.gui.screen import Shell
from crowdclust_app.gui.wording import count_of
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.clusters.categories import Categories, read_categories
from crowdclust_app.services.clusters.comparing import Contingency, compare_runs
from crowdclust_app.services.clusters.plots import comparison_plot
from crowdclust_app.services.clusters.run_view import RunView
from crowdclust_app.services.fits.results import RunInfo
from crowdclust_app.services.fits.run_store import load_run


class TwoRunsView(QWidget):
    """The shown run down, another one across.

    Signals
    -------
    items_wanted : (list of item numbers, words)
        These photos are to be shown.
    """

    items_wanted = Signal(object, str)

    def __init__(self, shell: Shell, parent: QWidget) -> None:
        super().__init__(parent)
        self._shell = shell
        self._campaign: Campaign | None = None
        self._view: RunView | None = None
        self._categories: Categories | None = None
        self._job: Job | None = None
        self._other = QComboBox(self)
        self._other.setObjectName("compare-run")
        self._other.setAccessibleName("Run to compare with")
        self._other.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self._other.setMinimumContentsLength(22)
        self._moved = QPushButton(self)
        self._moved.setObjectName("compare-moved")
        self._moved.setProperty("rank", "plain")
        self._moved.setToolTip("Show the photos outside the outlined cells")
        self._figures = ElidedLabel(self)
        self._figures.setObjectName("compare-figures")
        self._figures.setProperty("rank", "second")
        self.table = ContingencyTable("compare-table", self)
        self.table.setAccessibleName("Clusters of two runs")
        line = QHBoxLayout()
        line.setSpacing(theme.STEP)
        label = QLabel("This run beside", self)
        label.setBuddy(self._other)
        label.setProperty("rank", "second")
        line.addWidget(label)
        line.addWidget(self._other)
        line.addStretch(1)
        line.addWidget(self._moved)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.TILE_GAP)
        layout.addLayout(line)
        layout.addWidget(self._figures)
        layout.addWidget(self.table, 1)
        self._other.currentIndexChanged.connect(self._compare)
        self._moved.clicked.connect(self._show_moved)
        self.table.cell_wanted.connect(self._tell)
        self.setFocusProxy(self.table)
        self._show(None)

    def show_view(
        self, campaign: Campaign | None, view: RunView | None, categories: Categories | None, runs: tuple[RunInfo, ...]
    ) -> None:
        """Compare this run with one of the others, with the newest at first."""
        before = self._other.currentData()
        self._campaign, self._view, self._categories = campaign, view, categories
        self._other.blockSignals(True)
        self._other.clear()
        for info in reversed(runs):
            if view is not None and info.number != view.run.number:
                clusters = count_of(int(str(info.summary["clusters"])), "cluster")
                stage = "" if info.stage == view.run.stage else f", {info.stage}"
                self._other.addItem(f"run {info.number} ({clusters}{stage})", info.number)
        place = self._other.findData(before)
        self._other.setCurrentIndex(max(0, place) if self._other.count() else -1)
        self._other.blockSignals(False)
        self._other.setEnabled(self._other.count() > 0)
        if self.isVisible():
            self._compare()
        else:
            self._show(None)

    def showEvent(self, event: object) -> None:
        """Compare once the page is visible."""
        if self.table.table.found is None:
            self._compare()

    def figure(self) -> Plot | None:
        """The table as a plot for its files."""
        found = self.table.table.found
        return comparison_plot(found) if found is not None else None

    def _compare(self) -> None:
        cancel_jobs(self._job)
        campaign, view, categories = self._campaign, self._view, self._categories
        number = self._other.currentData()
        if campaign is None or view is None or number is None:
            self._show(None)
            return

        def work(_progress: object, _cancel: object) -> Contingency:
            other = load_run(campaign, number)
            there = read_categories(campaign, number, other.result.responsibilities.shape[1])
            return compare_runs(view, other, categories.names if categories else None, there.names)

        self._job = self._shell.jobs.start(
            "database", work, on_done=self._show, on_failed=self._shell.show_failure, owner=self
        )

    def _show(self, found: Contingency | None) -> None:
        self.table.show_table(found)
        moved = len(found.moved()) if found is not None else 0
        words = "there is no other run to compare with" if self._other.count() == 0 else ""
        self._figures.setText(figures_in_words(found) if found is not None else words)
        self._moved.setText(f"Moved {moved:,}")
        self._moved.setEnabled(moved > 0)

    def _show_moved(self) -> None:
        found = self.table.table.found
        if found is not None:
            self.items_wanted.emit(found.moved().tolist(), f"moved between {found.row_title} and {found.column_title}")

    def _tell(self, row: int | None, column: int | None) -> None:
        found = self.table.table.found
        if found is not None:
            parts = [] if row is None else [f"{found.row_title} cluster {found.row_names[row]}"]
            parts += [] if column is None else [f"{found.column_title} cluster {found.column_names[column]}"]
            self.items_wanted.emit(found.items(row, column).tolist(), ", ".join(parts))
