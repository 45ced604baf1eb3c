"""The run's clusters beside known categories, in the lead's order."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QStackedWidget, QVBoxLayout, QWidget

from crowdclust_app.domain.plots import Plot
from crowdclust_app.gui import theme
from crowdclust_app.gui.clusters.contingency import ContingencyTable, figures_in_words
from crowdclust_app.gui.empty import EmptyState
from crowdclust_app.gui.jobs import Job, cancel_jobs
from crowdclust_app.gui.labels import ElidedLabel
from crowdclust_app.gui.screen import Shell
from crowdclust_app.services.clusters.categories import Categories
from crowdclust_app.services.clusters.comparing import Contingency, compare_with_known
from crowdclust_app.services.clusters.plots import known_plot
from crowdclust_app.services.clusters.run_view import RunView


class KnownView(QWidget):
    """Known categories down, clusters across.

    Signals
    -------
    items_wanted : (list of item numbers, words)
        These photos are to be shown.
    ordered : tuple of str
        The lead's order of the known categories.
    load_wanted
        A table of known categories is to be loaded.
    """

    items_wanted = Signal(object, str)
    ordered = Signal(object)
    load_wanted = Signal()

    def __init__(self, shell: Shell, parent: QWidget) -> None:
        super().__init__(parent)
        self._shell = shell
        self._view: RunView | None = None
        self._job: Job | None = None
        self._wanted: tuple[Mapping[int, str], Mapping[str, str], tuple[str, ...]] = ({}, {}, ())
        self._stale = False
        self._keys_at: tuple[int, int] | None = None
        self.table = ContingencyTable("known-table", self)
        self.table.setAccessibleName("Known categories and clusters")
        self._figures = ElidedLabel(self)
        self._figures.setObjectName("known-figures")
        self._figures.setProperty("rank", "second")
        self._buttons = {
            "known-up": ("Up", "Move the chosen category up (Alt+Up)", lambda: self.move_row(-1)),
            "known-down": ("Down", "Move the chosen category down (Alt+Down)", lambda: self.move_row(1)),
            "known-load": ("Load", "Load known categories from a CSV file", self.load_wanted.emit),
        }
        self._empty = EmptyState(
            "The clusters beside categories that you know already appear here.",
            "A CSV file with the columns item and category says them, for all photos or for some.",
            "Load known categories",
            self,
        )
        self._empty.button.setObjectName("known-first-load")
        self._empty.button.clicked.connect(self.load_wanted)
        line = QHBoxLayout()
        line.setSpacing(theme.STEP)
        line.addWidget(self._figures, 1)
        for name, (text, tip, call) in self._buttons.items():
            button = QPushButton(text, self)
            button.setObjectName(name)
            button.setProperty("rank", "plain")
            button.setToolTip(tip)
            button.clicked.connect(call)
            line.addWidget(button)
        page = QWidget(self)
        inside = QVBoxLayout(page)
        inside.setContentsMargins(0, 0, 0, 0)
        inside.setSpacing(theme.TILE_GAP)
        inside.addLayout(line)
        inside.addWidget(self.table, 1)
        self._pages = QStackedWidget(self)
        self._pages.addWidget(page)
        self._pages.addWidget(self._empty)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._pages)
        self.table.cell_wanted.connect(self._tell)
        self.setFocusProxy(self.table)

    def show_view(
        self, view: RunView | None, categories: Categories | None, truth: Mapping[str, str], order: tuple[str, ...]
    ) -> None:
        """Compare the clusters of this run once the page is visible."""
        self._view = view
        self._wanted = (categories.names if categories is not None else {}, truth, order)
        self._stale = True
        self._pages.setCurrentIndex(0 if view is not None and truth else 1)
        if self.isVisible():
            self._compare()

    def showEvent(self, event: object) -> None:
        """Compare once the page is visible."""
        if self._stale:
            self._compare()

    def _compare(self) -> None:
        self._stale = False
        cancel_jobs(self._job)
        view, (names, truth, order) = self._view, self._wanted
        if view is None or not truth:
            self._show(None)
            return
        self._job = self._shell.jobs.start(
            "decode",
            lambda _progress, _cancel: compare_with_known(view, truth, order, names),
            on_done=self._show,
            on_failed=self._shell.show_failure,
            owner=self,
        )

    def _show(self, found: Contingency | None) -> None:
        index = self.table.currentIndex()
        at, self._keys_at = self._keys_at or (index.row(), index.column()), None
        self.table.show_table(found)
        if at[0] >= 0:
            self.table.setCurrentIndex(self.table.table.index(*at))
        self._figures.setText(figures_in_words(found) if found is not None else "")

    def move_row(self, step: int) -> None:
        """Move the category that has the keys up or down in the lead's order."""
        found, index = self.table.table.found, self.table.currentIndex()
        if found is None or not index.isValid() or not 0 <= index.row() + step < len(found.row_names):
            return
        names = list(found.row_names)
        names.insert(index.row() + step, names.pop(index.row()))
        self._keys_at = (index.row() + step, index.column())
        self.ordered.emit(tuple(names))

    def figure(self) -> Plot | None:
        """The table as a plot for its files."""
        found = self.table.table.found
        return known_plot(self._view.run, found) if found is not None and self._view is not None else None

    def _tell(self, row: int | None, column: int | None) -> None:
        found = self.table.table.found
        if found is not None:
            parts = [] if row is None else [f"known as {found.row_names[row]}"]
            parts += [] if column is None else [f"in cluster {found.column_names[column]}"]
            self.items_wanted.emit(found.items(row, column).tolist(), ", ".join(parts))
