"""Who has what open, as an item model."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QWidget

from crowdclust_app.gui.table_rows import Column, TableRows
from crowdclust_app.gui.wording import people_date
from crowdclust_app.services.campaign.progress_statistics import OpenAssignment

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
