"""The stored runs as a list, newest first."""

from __future__ import annotations

from PySide6.QtCore import QAbstractListModel, QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtWidgets import QWidget

from crowdclust_app.domain.methods import title_of
from crowdclust_app.gui.wording import count_of, of_stage, people_date
from crowdclust_app.services.fits.results import RunInfo

AnyIndex = QModelIndex | QPersistentModelIndex


class RunsModel(QAbstractListModel):
    """Runs of a campaign, newest first."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._runs: tuple[RunInfo, ...] = ()

    def show(self, runs: tuple[RunInfo, ...]) -> None:
        """Show these runs, given newest last."""
        self.beginResetModel()
        self._runs = tuple(reversed(runs))
        self.endResetModel()

    def run(self, row: int) -> RunInfo:
        """The run in a row."""
        return self._runs[row]

    def row_of(self, number: int) -> int | None:
        """The row of a run."""
        return next((row for row, run in enumerate(self._runs) if run.number == number), None)

    def rowCount(self, parent: AnyIndex = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        """Number of runs."""
        return 0 if parent.isValid() else len(self._runs)

    def data(self, index: AnyIndex, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """A run in one line; its settings as the tool tip."""
        if not index.isValid():
            return None
        run = self._runs[index.row()]
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            found = count_of(int(str(run.summary["clusters"])), "cluster")
            return f"Run {run.number}{of_stage(run.stage)} · {found} · {people_date(run.created_at)}"
        if role == Qt.ItemDataRole.ToolTipRole:
            settings = run.settings
            return (
                f"{title_of(run.method)}, {settings['dimensions']} dimensions, "
                f"{settings['starts']} starts, clusters {settings['clusters']}, "
                f"label weight {settings['label_weight']}, seed {run.seed}"
            )
        return None
