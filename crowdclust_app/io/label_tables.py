"""The table of single labels: `labels.csv` with the columns `task,worker,label` (docs/files.md)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from crowdclust_app.io.csvtext import CsvTable, open_sheet

LABEL_COLUMNS = ("task", "worker", "label")


@dataclass(frozen=True, slots=True)
class LabelRows:
    """The rows of a table of labels as three columns.

    Parameters
    ----------
    task, worker
        Names as in the table.
    label
        Labels as in the table; None where the cell is empty, which is a missing label.
    ordered
        Whether the table says in which order the labels arrived; then the rows are in that order.
    unknown_columns
        Names of ignored columns.
    lines
        The line of each row, where the rows come from a file.
    question
        What was asked in each row, where the table says it.
    """

    task: list[str]
    worker: list[str]
    label: list[str | None]
    ordered: bool
    unknown_columns: tuple[str, ...]
    lines: Sequence[int] = ()
    question: Sequence[str] = ()


def read_labels(path: Path) -> LabelRows:
    """Read a `labels.csv`.

    Parameters
    ----------
    path
        Columns `task,worker,label`, optionally `order` (a number; rows are sorted by it) and `question`.

    Raises
    ------
    UserError
        With file and line, when anything in the table is wrong.
    """
    sheet = open_sheet(path, [LABEL_COLUMNS], ("order", "question"))
    at_task, at_worker, at_label = (sheet.columns[name] for name in LABEL_COLUMNS)
    at_order, at_question = sheet.position("order"), sheet.position("question")
    shared: dict[str, str] = {}  # one string object a name, however many rows hold it
    tasks: list[str] = []
    workers: list[str] = []
    labels: list[str | None] = []
    orders: list[float] = []
    lines: list[int] = []
    asked: list[str] = []
    for line, row in sheet.rows():
        task, worker, label = row[at_task], row[at_worker], row[at_label].strip()
        if not task or not worker or task.isspace() or worker.isspace():
            name = "worker" if task.strip() else "task"
            raise sheet.error(line, f"the {name} is empty", "fill it in or take the row out")
        lines.append(line)
        tasks.append(shared.setdefault(task, task))
        workers.append(shared.setdefault(worker, worker))
        labels.append(shared.setdefault(label, label) if label else None)
        if at_question >= 0:
            asked.append(shared.setdefault(row[at_question], row[at_question]))
        if at_order >= 0:
            orders.append(_order(sheet, line, row[at_order]))
    if orders:
        sequence = sorted(range(len(orders)), key=orders.__getitem__)
        tasks, workers = [tasks[row] for row in sequence], [workers[row] for row in sequence]
        labels, lines = [labels[row] for row in sequence], [lines[row] for row in sequence]
        asked = [asked[row] for row in sequence] if asked else asked
    return LabelRows(tasks, workers, labels, bool(orders), sheet.unknown_columns, lines, asked)


def _order(sheet: CsvTable, line: int, text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if math.isnan(number):
        raise sheet.error(
            line, f"the order {text!r} is not a number", "number the labels as they came, or drop the column"
        )
    return number
