"""The table of workers as an item model."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from crowdclust_app.gui.table_rows import Column
from crowdclust_app.gui.wording import ABSENT, people_time, signed
from crowdclust_app.gui.workers.sorted_rows import SortedColumn, SortedRows
from crowdclust_app.services.workers.worker_rows import FLAG_REASONS, WorkerRow


def _share(value: float | None) -> str:
    return ABSENT if value is None else f"{100 * value:.0f} %"


def _first(value: float | None) -> float:
    return -1.0 if value is None else value


def _gain(row: WorkerRow) -> str:
    if row.over_random is None or row.over_random_se is None:
        return ABSENT
    return f"{signed(row.over_random)} ± {row.over_random_se:.2f}"


COLUMNS = (
    SortedColumn("Worker", "Who annotates", lambda row: row.name, key=lambda row: row.name.casefold()),
    SortedColumn("HITs", "Submitted HITs", lambda row: f"{row.hits:,}", True, key=lambda row: row.hits),
    SortedColumn(
        "Time a HIT",
        "Median of the time at work on a HIT; pauses do not count",
        lambda row: people_time(row.seconds_per_hit),
        True,
        key=lambda row: _first(row.seconds_per_hit),
    ),
    SortedColumn(
        "Agreement",
        "Share of the pair labels that say what the clusters say",
        lambda row: _share(row.agreement),
        True,
        key=lambda row: _first(row.agreement),
    ),
    SortedColumn(
        "Held out",
        "By how many nats a held-out decision is predicted better than a random worker's, ± the standard error",
        _gain,
        True,
        key=lambda row: float("-inf") if row.over_random is None else row.over_random,
    ),
    SortedColumn(
        "Group",
        "The group of workers who put the same clusters together",
        lambda row: row.group,
        # workers without a group come last in ascending order
        key=lambda row: (not row.group, row.group.casefold()),
    ),
    SortedColumn(
        "Flags",
        "Habits worth a second look, and what is left out of runs",
        lambda row: ", ".join(row.all_flags),
        # the flagged first when sorted upwards
        key=lambda row: (not row.all_flags, ", ".join(row.all_flags)),
    ),
)
NAME_COLUMN, HITS_COLUMN, TIME_COLUMN, AGREEMENT_COLUMN, HELD_OUT_COLUMN, GROUP_COLUMN, FLAGS_COLUMN = range(7)


class WorkersModel(SortedRows[WorkerRow]):
    """Every worker of the campaign, in the order chosen in the heading."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(COLUMNS, lambda row: row.name, parent)

    def told(self, row: WorkerRow, column: Column) -> str | None:
        """The reasons of flags, and a name that may not fit."""
        if column.title == "Flags" and row.all_flags:
            return "\n".join(f"{flag} {FLAG_REASONS.get(flag, '')}".strip() for flag in row.all_flags)
        return row.name if column.title == "Worker" else None
