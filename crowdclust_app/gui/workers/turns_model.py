"""One worker's HITs as an item model."""

from __future__ import annotations

from datetime import UTC, datetime

from PySide6.QtWidgets import QWidget

from crowdclust_app.gui.table_rows import Column
from crowdclust_app.gui.wording import ABSENT, people_date, people_time
from crowdclust_app.gui.workers.sorted_rows import SortedColumn, SortedRows
from crowdclust_app.services.workers.submitted_hits import SubmittedHit

_NEVER = datetime.min.replace(tzinfo=UTC)


def _counts(turn: SubmittedHit) -> str:
    if turn.left_out is None:
        return f"repeats {turn.repeats}" if turn.repeats else ""
    return "excluded" if turn.left_out.hit is not None else "retired"


def _share(value: float | None) -> str:
    return ABSENT if value is None else f"{100 * value:.0f} %"


def _first(value: float | None) -> float:
    return -1.0 if value is None else value


COLUMNS = (
    SortedColumn("HIT", "Its name", lambda turn: turn.hit, key=lambda turn: turn.hit.casefold()),
    SortedColumn(
        "Surprise",
        "How little the model expects these groups of this worker, in nats a pair label",
        lambda turn: ABSENT if turn.surprise is None else f"{turn.surprise:.2f}",
        True,
        key=lambda turn: _first(turn.surprise),
    ),
    SortedColumn(
        "Agreement",
        "Share of the pair labels that say what the clusters say",
        lambda turn: _share(turn.agreement),
        True,
        key=lambda turn: _first(turn.agreement),
    ),
    SortedColumn(
        "Time",
        "Time at work on the HIT; pauses do not count",
        lambda turn: people_time(turn.seconds),
        True,
        key=lambda turn: _first(turn.seconds),
    ),
    SortedColumn(
        "Submitted",
        "When",
        lambda turn: ABSENT if turn.at is None else people_date(turn.at),
        key=lambda turn: turn.at or _NEVER,
    ),
    SortedColumn("", "Whether it counts in runs", _counts, key=_counts),
)
SURPRISE_COLUMN, AGREEMENT_COLUMN, SUBMITTED_COLUMN, COUNTS_COLUMN = 1, 2, 4, 5


class WorkerHitsModel(SortedRows[SubmittedHit]):
    """Every submitted HIT of one worker, in the order chosen in the heading."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(COLUMNS, lambda turn: turn.response, parent)

    def told(self, row: SubmittedHit, column: Column) -> str | None:
        """Why a HIT does not count."""
        return f"Does not count in runs: {row.left_out.reason}" if row.left_out is not None else None
