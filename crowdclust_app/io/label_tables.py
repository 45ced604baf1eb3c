"""The table of single labels: `labels.csv` with the columns `task,worker,label` (docs/files.md)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from crowdclust_app.domain.names import Names, class_key, twins_sentence, with_point
from crowdclust_app.io.csv_reader import CsvTable
from crowdclust_app.io.layouts import ITEM_ALIASES, WORKER_ALIASES, open_answers
from crowdclust_app.io.tables import KnownNames

LABEL_COLUMNS = ("task", "worker", "label")
LABEL_ALIASES = {
    "task": ("taskid", "item", *ITEM_ALIASES),
    "worker": WORKER_ALIASES,
    "label": ("answer", "response", "class", "category", "rating", "choice", "judgment", "judgement"),
}


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
    notes
        Sentences about how the table was read.
    """

    task: list[str]
    worker: list[str]
    label: list[str | None]
    ordered: bool
    unknown_columns: tuple[str, ...]
    lines: Sequence[int] = ()
    question: Sequence[str] = ()
    notes: tuple[str, ...] = ()


def read_labels(path: Path, known: KnownNames | None = None, columns: Mapping[str, str] | None = None) -> LabelRows:
    """Read a `labels.csv`.

    Parameters
    ----------
    path
        Columns `task,worker,label`, optionally `order` (a number; rows are sorted by it) and `question`.
    known, columns
        As in `tables.read_responses`.

    Raises
    ------
    UserError
        With file and line, when anything in the table is wrong.
    """
    known = known or KnownNames()
    same = {"item": "task", "group": "label", "category": "label"}
    renamed = {same.get(name, name): called for name, called in (columns or {}).items()}
    sheet = open_answers(path, [LABEL_COLUMNS], ("order", "question"), renamed, LABEL_ALIASES, known.items)
    at_task, at_worker, at_label = (sheet.columns[name] for name in LABEL_COLUMNS)
    at_order, at_question = sheet.position("order"), sheet.position("question")
    classes = Names(key=class_key)
    task_of, worker_of = known.items.find, known.workers.find
    tasks: list[str] = []
    workers: list[str] = []
    labels: list[str | None] = []
    orders: list[float] = []
    lines: list[int] = []
    asked: list[str] = []
    for line, row in sheet.rows():
        if not (row[at_task] and row[at_worker]):
            raise sheet.empty_cell(line, {"task": at_task, "worker": at_worker})
        lines.append(line)
        tasks.append(task_of(row[at_task]))
        workers.append(worker_of(row[at_worker]))
        labels.append(classes(with_point(row[at_label])) if row[at_label] else None)
        if not row[at_label]:
            sheet.count_missing("label")
        if at_question >= 0:
            asked.append(row[at_question])
        if at_order >= 0:
            orders.append(_order(sheet, line, row[at_order]))
    # whoever aggregates counts missing labels too
    sheet.say_missing("label", len(labels), "they are left out", words_only=True)
    notes = (*sheet.notes, *known.notes(), *twins_sentence("The labels", classes))
    if orders:
        sequence = sorted(range(len(orders)), key=orders.__getitem__)
        tasks, workers = [tasks[row] for row in sequence], [workers[row] for row in sequence]
        labels, lines = [labels[row] for row in sequence], [lines[row] for row in sequence]
        asked = [asked[row] for row in sequence] if asked else asked
    return LabelRows(tasks, workers, labels, bool(orders), sheet.unknown_columns, lines, asked, notes)


def _order(sheet: CsvTable, line: int, text: str) -> float:
    try:
        number = float(with_point(text))
    except ValueError:
        number = math.nan
    if math.isnan(number):
        raise sheet.error(
            line, f"the order {text!r} is not a number", "number the labels as they came, or drop the column"
        )
    return number
