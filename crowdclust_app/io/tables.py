"""The tables people bring: responses, pair labels, known categories (docs/files.md).

Every reader says in one sentence what is wrong, with file and line, and takes nothing of a table that has a mistake.
Unknown columns are ignored; their names come back with the rows, to be named once.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TypeVar

from crowdclust_app.domain.errors import UserError
from crowdclust_app.domain.partition import DIFFERENT, SAME
from crowdclust_app.domain.response_table import Response
from crowdclust_app.io.csvtext import CsvTable, format_cell, open_sheet, write_table

__all__ = [
    "PairRecord",
    "Records",
    "ResponseRecord",
    "Truth",
    "format_cell",
    "read_pairs",
    "read_responses",
    "read_truth",
    "write_table",
]

RESPONSE_COLUMNS = ("hit", "worker", "item", "group")
RESPONSE_EXTRAS = ("started_at", "submitted_at", "active_seconds", "stage", "group_name", "comment")
PAIR_COLUMNS = ("worker", "item_a", "item_b", "label")
TRUTH_COLUMNS = (("item", "category"), ("task", "label"))

# What holds for a response as a whole and therefore has to be the same on each of its rows.
_OF_THE_RESPONSE = ("started_at", "submitted_at", "active_seconds", "stage", "comment")

T = TypeVar("T")


class Records(list[T]):
    """Rows of a table, and the columns that were ignored.

    Parameters
    ----------
    rows
        The rows.
    unknown_columns
        Names of ignored columns.
    """

    def __init__(self, rows: list[T], unknown_columns: tuple[str, ...] = ()) -> None:
        super().__init__(rows)
        self.unknown_columns = unknown_columns


class Truth(dict[str, str]):
    """Category of each item, and the columns that were ignored.

    Parameters
    ----------
    categories
        Category by item.
    unknown_columns
        Names of ignored columns.
    """

    def __init__(self, categories: dict[str, str], unknown_columns: tuple[str, ...] = ()) -> None:
        super().__init__(categories)
        self.unknown_columns = unknown_columns


@dataclass(frozen=True, slots=True)
class ResponseRecord:
    """One response as a table holds it.

    Parameters
    ----------
    response
        Who put which items into which groups; names as in the table.
    line
        The first line it stands on, for messages.
    started_at, submitted_at
        When; None where the table does not say.
    active_seconds
        How long the worker was at it.
    stage
        The stage it belongs to; None where the table does not say.
    group_names
        What the worker called the group of each item, aligned with `response.items`; empty without such a column.
    comment
        The worker's remark.
    """

    response: Response
    line: int
    started_at: datetime | None = None
    submitted_at: datetime | None = None
    active_seconds: float | None = None
    stage: str | None = None
    group_names: tuple[str | None, ...] = ()
    comment: str | None = None


@dataclass(frozen=True, slots=True)
class PairRecord:
    """One pair label.

    Parameters
    ----------
    worker, item_a, item_b
        Names as in the table.
    label
        `SAME` (1) or `DIFFERENT` (-1).
    hit
        The HIT in which the worker saw the two; None where the table does not say.
    line
        The line it stands on, for messages.
    """

    worker: str
    item_a: str
    item_b: str
    label: int
    hit: str | None
    line: int


@dataclass(slots=True)
class _Gathering:
    """The rows of one response as they come by."""

    line: int
    groups: dict[str, str] = field(default_factory=dict)
    names: list[str | None] = field(default_factory=list)
    extras: tuple[str, ...] = ()


def read_responses(path: Path) -> Records[ResponseRecord]:
    """Read a `responses.csv`.

    All rows of one worker in one HIT are one response, wherever they stand. A response of one item is kept.

    Parameters
    ----------
    path
        Columns `hit,worker,item,group`, optionally `started_at,submitted_at,active_seconds,stage,group_name,comment`.

    Returns
    -------
    Records of ResponseRecord
        In the order in which each response first appears.

    Raises
    ------
    UserError
        With file and line, when anything in the table is wrong.
    """
    sheet = open_sheet(path, [RESPONSE_COLUMNS], RESPONSE_EXTRAS)
    at_hit, at_worker, at_item, at_group = (sheet.columns[name] for name in RESPONSE_COLUMNS)
    at_name = sheet.position("group_name")
    extra_names = [name for name in _OF_THE_RESPONSE if name in sheet.columns]
    at_extras = [sheet.columns[name] for name in extra_names]
    shared: dict[str, str] = {}  # one string object a name, however many rows hold it
    gathered: dict[tuple[str, str], _Gathering] = {}
    for line, row in sheet.rows():
        hit, worker, item, group = row[at_hit], row[at_worker], row[at_item], row[at_group]
        if not (hit.strip() and worker.strip() and item.strip() and group.strip()):
            raise _empty_cell(sheet, line, row, RESPONSE_COLUMNS)
        key = (hit, worker)
        response = gathered.get(key)
        if response is None:
            response = gathered[key] = _Gathering(line, extras=tuple(row[at] for at in at_extras))
        if item in response.groups:
            what = f"the item {item} is a second time in the response of {worker} to the HIT {hit}"
            raise sheet.error(line, what, "keep one of the rows")
        response.groups[shared.setdefault(item, item)] = shared.setdefault(group, group)
        if at_name >= 0:
            response.names.append(row[at_name] or None)
        for at, name, before in zip(at_extras, extra_names, response.extras, strict=True):
            if row[at] != before:
                what = f"the response of {worker} to the HIT {hit} has another {name} on line {response.line}"
                raise sheet.error(line, what, f"give all rows of a response the same {name}")
    records = [_record(sheet, key, response, extra_names) for key, response in gathered.items()]
    return Records(records, sheet.unknown_columns)


def read_pairs(path: Path) -> Records[PairRecord]:
    """Read a `pairs.csv`.

    Parameters
    ----------
    path
        Columns `worker,item_a,item_b,label` (label 1 or -1), optionally `hit`.

    Returns
    -------
    Records of PairRecord
        In the order of the table.

    Raises
    ------
    UserError
        With file and line, when anything in the table is wrong.
    """
    sheet = open_sheet(path, [PAIR_COLUMNS], ("hit",))
    at_worker, at_a, at_b, at_label = (sheet.columns[name] for name in PAIR_COLUMNS)
    at_hit = sheet.position("hit")
    meaning = {"1": SAME, "+1": SAME, "-1": DIFFERENT}
    records = []
    for line, row in sheet.rows():
        worker, item_a, item_b, label = row[at_worker], row[at_a], row[at_b], row[at_label].strip()
        if not (worker.strip() and item_a.strip() and item_b.strip() and label):
            raise _empty_cell(sheet, line, row, PAIR_COLUMNS)
        if label not in meaning:
            raise sheet.error(line, f"the label {label} is neither 1 nor -1", "write 1 for same and -1 for different")
        if item_a == item_b:
            raise sheet.error(line, f"the item {item_a} is paired with itself", "take the row out")
        hit = row[at_hit] if at_hit >= 0 else ""
        records.append(PairRecord(worker, item_a, item_b, meaning[label], hit or None, line))
    return Records(records, sheet.unknown_columns)


def read_truth(path: Path) -> Truth:
    """Read known categories.

    Parameters
    ----------
    path
        Columns `item,category`, or `task,label`.

    Returns
    -------
    Truth
        Category by item; an item that stands there twice with the same category counts once.

    Raises
    ------
    UserError
        With file and line, when anything in the table is wrong.
    """
    sheet = open_sheet(path, TRUTH_COLUMNS)
    names = next(names for names in TRUTH_COLUMNS if names[0] in sheet.columns and names[1] in sheet.columns)
    at_item, at_category = (sheet.columns[name] for name in names)
    categories: dict[str, str] = {}
    for line, row in sheet.rows():
        item, category = row[at_item], row[at_category]
        if not (item.strip() and category.strip()):
            raise _empty_cell(sheet, line, row, names)
        if categories.setdefault(item, category) != category:
            what = f"the {names[0]} {item} has the {names[1]} {category} here and {categories[item]} before"
            raise sheet.error(line, what, "keep one of the rows")
    return Truth(categories, sheet.unknown_columns)


def _empty_cell(sheet: CsvTable, line: int, row: list[str], names: tuple[str, ...]) -> UserError:
    name = next(name for name in names if not row[sheet.columns[name]].strip())
    return sheet.error(line, f"the {name} is empty", "fill it in or take the row out")


def _record(sheet: CsvTable, key: tuple[str, str], response: _Gathering, extra_names: list[str]) -> ResponseRecord:
    hit, worker = key
    extras = {name: text for name, text in zip(extra_names, response.extras, strict=True) if text}
    return ResponseRecord(
        response=Response(hit, worker, tuple(response.groups), tuple(response.groups.values())),
        line=response.line,
        started_at=_time(sheet, response.line, "started_at", extras),
        submitted_at=_time(sheet, response.line, "submitted_at", extras),
        active_seconds=_seconds(sheet, response.line, extras),
        stage=extras.get("stage"),
        group_names=tuple(response.names),
        comment=extras.get("comment"),
    )


def _time(sheet: CsvTable, line: int, name: str, extras: dict[str, str]) -> datetime | None:
    text = extras.get(name)
    if text is None:
        return None
    try:
        return datetime.fromisoformat(text.strip())
    except ValueError:
        what = f"the {name} {text} is not a date and time"
        raise sheet.error(line, what, "write it like 2024-05-31T14:03:00+00:00") from None


def _seconds(sheet: CsvTable, line: int, extras: dict[str, str]) -> float | None:
    text = extras.get("active_seconds")
    if text is None:
        return None
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not (math.isfinite(seconds) and seconds >= 0):
        raise sheet.error(line, f"the active_seconds {text} is not a number of seconds", "write it like 41.5")
    return seconds
