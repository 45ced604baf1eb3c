"""The gallery's rows as an item model, and in words."""

from __future__ import annotations

from PySide6.QtCore import QAbstractListModel, QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtWidgets import QWidget

from crowdclust_app.gui.clusters.album import badge_text, people_probability
from crowdclust_app.gui.wording import count_of
from crowdclust_app.services.clusters.category_rows import CategoryRow

AnyIndex = QModelIndex | QPersistentModelIndex


class CategoryRowsModel(QAbstractListModel):
    """The clusters of a run and the categories without one."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._rows: tuple[CategoryRow, ...] = ()
        self._row_of: dict[int, int] = {}
        self.n_clusters = 0

    def show(self, rows: tuple[CategoryRow, ...], n_clusters: int = 0) -> None:
        """Show these rows; places after the last cluster have letters."""
        self.beginResetModel()
        self._rows = rows
        self._row_of = {row.place: number for number, row in enumerate(rows)}
        self.n_clusters = n_clusters or max((row.place for row in rows), default=0)
        self.endResetModel()

    @property
    def rows(self) -> tuple[CategoryRow, ...]:
        """All rows."""
        return self._rows

    def row(self, number: int) -> CategoryRow:
        """The row of this number."""
        return self._rows[number]

    def row_of(self, place: int) -> int | None:
        """The number of a place's row."""
        return self._row_of.get(place)

    def badge(self, row: CategoryRow) -> str:
        """What its badge says."""
        return badge_text(row.place, self.n_clusters)

    def rowCount(self, parent: AnyIndex = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        """Number of rows."""
        return 0 if parent.isValid() else len(self._rows)

    def data(self, index: AnyIndex, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """The row in words, for who cannot see it."""
        if index.isValid() and role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            row = self._rows[index.row()]
            what = f"Cluster {row.place}" if row.place <= self.n_clusters else f"Category {self.badge(row)}"
            return f"{what}{f', {row.name}' if row.name else ''}: {figures(row)}"
        return None


def figures(row: CategoryRow, short: bool = False) -> str:
    """Size, mean probability, doubtful and moved photos in words."""
    parts = [count_of(row.size, "photo")]
    if row.mean_probability is not None:
        mean = people_probability(row.mean_probability)
        parts.append(f"mean {mean}" if short else f"mean probability {mean}")
    if row.doubtful:
        parts.append(f"{row.doubtful:,} doubtful")
    if row.stability is not None:
        parts.append(f"stability {row.stability:.2f}")
    if row.moved:
        parts.append(f"{row.moved:,} moved here")
    if row.gone:
        parts.append(f"{row.gone:,} moved away")
    if row.carried_from is not None:
        parts.append(f"name from run {row.carried_from}")
    return " · ".join(parts)
