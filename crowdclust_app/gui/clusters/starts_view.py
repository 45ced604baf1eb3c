"""The starts of a fit beside each other: where each ended, and how far that is behind the best."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QLabel, QTableView, QVBoxLayout, QWidget

from crowdclust_app.domain.plots import Plot
from crowdclust_app.gui import theme
from crowdclust_app.gui.clusters.trace import TracePlot
from crowdclust_app.gui.table_rows import AnyIndex, Column, TableRows
from crowdclust_app.gui.wording import ABSENT
from crowdclust_app.services.clusters.plots import StartRow, bound_plot, kept_start, starts_of, starts_plot, traces_of
from crowdclust_app.services.clusters.run_view import RunView

COLUMNS = (
    Column("Start", "", lambda start: str(start.number), True),
    Column("Bound (nats)", "", lambda start: f"{start.bound:,.1f}", True),
    Column("Behind the best", "", lambda start: "best" if start.behind == 0 else f"{start.behind:,.1f}", True),
    Column("Clusters", "", lambda start: ABSENT if start.clusters is None else f"{start.clusters:,}", True),
    Column("Sweeps", "", lambda start: ABSENT if start.sweeps is None else f"{start.sweeps:,}", True),
)


class StartsModel(TableRows[StartRow]):
    """Starts by number, the best in bold."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(COLUMNS, parent)

    def data(self, index: AnyIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """A figure; the best start in bold."""
        if role == Qt.ItemDataRole.FontRole and index.isValid() and self.row(index.row()).behind == 0:
            font = QFont()
            font.setBold(True)
            return font
        return super().data(index, role)


class StartsView(QWidget):
    """A table of the starts over the traces of all of them."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._view: RunView | None = None
        self._words = QLabel(self)
        self._words.setObjectName("starts-words")
        self._words.setProperty("rank", "second")
        self._words.setWordWrap(True)
        self.model = StartsModel(self)
        self._list = QTableView(self)
        self._list.setObjectName("starts-table")
        self._list.setAccessibleName("Starts of the run")
        self._list.setModel(self.model)
        self._list.setShowGrid(False)
        self._list.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        self._list.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self._list.setTabKeyNavigation(False)
        self._list.verticalHeader().hide()
        self._list.verticalHeader().setDefaultSectionSize(26)
        self._list.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
        self._list.horizontalHeader().setHighlightSections(False)
        self.trace = TracePlot(self, name="starts-trace")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.STEP)
        layout.addWidget(self._words)
        layout.addWidget(self._list, 2)
        layout.addWidget(self.trace, 3)
        self.setFocusProxy(self._list)

    def show_view(self, view: RunView | None) -> None:
        """Show the starts of this run."""
        fresh = view is None or self._view is None or view.run.number != self._view.run.number
        self._view = view
        if not fresh:
            return
        starts = starts_of(view.run.result) if view is not None else ()
        self.model.show(starts)
        words = ""
        if view is not None and not starts:
            words = "This method has no starts and no bound."
        elif len(starts) > 1:
            words = (
                "The start with the highest bound is the run. Starts that end close together say that it is no luck."
            )
        self._words.setText(words)
        if view is None:
            self.trace.clear()
        else:
            self.trace.show_traces(traces_of(view.run.result), best=kept_start(view.run.result))

    def figure(self) -> Plot | None:
        """The traces, or the ends of the starts where no traces are kept, as a plot for its files."""
        if self._view is None or not self._view.run.result.start_bounds:
            return None
        plot = bound_plot(self._view.run, self.trace.phase)
        return plot if plot.curves else starts_plot(self._view.run)
