"""The tables people bring: responses, pair labels, known categories (docs/files.md).

Every reader says in one sentence what is wrong, with file and line, and takes nothing of a table that has a mistake.
Unknown columns are ignored; their names come back with the rows, to be named once, and so do sentences about how the
table was read.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TypeVar

from crowdclust_app.domain.errors import UserError
from crowdclust_app.domain.names import Names, class_key, path_key, twins_sentence, with_point
from crowdclust_app.domain.partition import DIFFERENT, SAME
from crowdclust_app.domain.response_table import Response
from crowdclust_app.io.csv_reader import CsvTable, open_sheet
from crowdclust_app.io.csvtext import format_cell, write_table
from crowdclust_app.io.layouts import ITEM_ALIASES, WORKER_ALIASES, open_answers

__all__ = [
    "KnownNames",
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

RESPONSE_ALIASES = {
    "hit": ("hitid", "set", "setid"),
    "worker": WORKER_ALIASES,
    "item": ITEM_ALIASES,
    "group": ("groupid", "categoryid", "category", "categorylabel", "categoryname", "pile", "pileid", "cluster"),
    "group_name": ("grouplabel", "categorylabel", "categoryname", "category"),
}
_PAIR_ALIASES = {"worker": WORKER_ALIASES, "hit": ("hitid", "set", "setid")}
_TRUTH_ALIASES = {
    "item": ITEM_ALIASES,
    "category": ("class", "truth", "groundtruth", "gold"),
    "task": ("taskid", *ITEM_ALIASES),
    "label": ("gold", "truth", "groundtruth", "answer"),
}
# who says what an item is called means any category
_RENAMED_TRUTH_ALIASES = {"item": (*ITEM_ALIASES, "task"), "category": (*_TRUTH_ALIASES["category"], "label")}
EVERYTHING = "all"
"""Name of the HIT of a table that names none, because everybody sorted the same items."""

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
    notes
        Sentences about how the table was read.
    """

    def __init__(self, rows: list[T], unknown_columns: tuple[str, ...] = (), notes: tuple[str, ...] = ()) -> None:
        super().__init__(rows)
        self.unknown_columns = unknown_columns
        self.notes = notes


class Truth(dict[str, str]):
    """Category of each item, and the columns that were ignored.

    Parameters
    ----------
    categories
        Category by item.
    unknown_columns
        Names of ignored columns.
    notes
        Sentences about how the table was read.
    """

    def __init__(
        self, categories: dict[str, str], unknown_columns: tuple[str, ...] = (), notes: tuple[str, ...] = ()
    ) -> None:
        super().__init__(categories)
        self.unknown_columns = unknown_columns
        self.notes = notes


@dataclass(slots=True)
class KnownNames:
    """Names that a table may spell otherwise: those of a campaign, and those that the table has had so far."""

    items: Names = field(default_factory=lambda: Names(key=path_key))
    workers: Names = field(default_factory=Names)
    hits: Names = field(default_factory=Names)
    categories: Names = field(default_factory=lambda: Names(key=class_key))
    no_more_items: bool = False  # others are refused or left out by name

    def notes(self) -> tuple[str, ...]:
        """Sentences about copies, and names that differ only in letter case."""
        copies = self.items.met_copies
        sentences = []
        if copies:
            copy, original = next(iter(copies.items()))
            many = (
                "1 item of the table is a copy"
                if len(copies) == 1
                else f"{len(copies):,} items of the table are copies"
            )
            counts = "counts as the original" if len(copies) == 1 else "count as the originals"
            sentences.append(f"{many} and {counts}, such as {copy} of {original}.")
        if not self.no_more_items:
            sentences += twins_sentence("The items", self.items)
        sentences += twins_sentence("The workers", self.workers)
        sentences += twins_sentence("The HITs", self.hits)
        sentences += twins_sentence("The categories", self.categories)
        return tuple(sentences)


@dataclass(frozen=True, slots=True)
class ResponseRecord:
    """One response as a table holds it.

    Parameters
    ----------
    response
        Who put which items into which groups; names as in the table.
    line
        The first line it stands on, for messages.
    lines
        The line of each item, aligned with `response.items`.
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
    lines: tuple[int, ...] = ()
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
    """The rows of one response as they come by; `copies` has the names of copies by the item they are about."""

    line: int
    groups: dict[str, str] = field(default_factory=dict)
    lines: list[int] = field(default_factory=list)
    names: list[str | None] = field(default_factory=list)
    copies: dict[str, str] = field(default_factory=dict)
    extras: tuple[str, ...] = ()


def read_responses(
    path: Path, known: KnownNames | None = None, columns: Mapping[str, str] | None = None
) -> Records[ResponseRecord]:
    """Read a `responses.csv`.

    All rows of one worker in one HIT are one response, wherever they stand. A response of one item is kept. Rows
    without a group are items that were not sorted.

    Parameters
    ----------
    path
        Columns `hit,worker,item,group`, optionally `started_at,submitted_at,active_seconds,stage,group_name,comment`.
        Without `hit` everybody is taken to have sorted the same items.
    known
        Names that exist already; items of which are found under the names of their copies too.
    columns
        What the table calls its columns, where it calls them otherwise.

    Returns
    -------
    Records of ResponseRecord
        In the order in which each response first appears.

    Raises
    ------
    UserError
        With file and line, when anything in the table is wrong.
    """
    known = known or KnownNames()
    required = [RESPONSE_COLUMNS, RESPONSE_COLUMNS[1:]]
    sheet = open_answers(path, required, RESPONSE_EXTRAS, columns, RESPONSE_ALIASES, known.items)
    needed: dict[str, int] = {name: sheet.columns[name] for name in ("hit", "worker", "item") if name in sheet.columns}
    at_hit, at_worker, at_item, at_group = (sheet.position(name) for name in RESPONSE_COLUMNS)
    at_name = sheet.position("group_name")
    extra_names = [name for name in _OF_THE_RESPONSE if name in sheet.columns]
    at_extras = [sheet.columns[name] for name in extra_names]
    hit_of, worker_of, item_of = known.hits.find, known.workers.find, known.items.find
    group_of = Names(key=class_key).find
    met_copies = known.items.met_copies
    gathered: dict[tuple[str, str], _Gathering] = {}
    count = 0
    for line, row in sheet.rows():
        if not (row[at_worker] and row[at_item] and (at_hit < 0 or row[at_hit])):
            raise sheet.empty_cell(line, needed)
        count += 1
        if not row[at_group]:
            sheet.count_missing("group")
            continue
        hit = hit_of(row[at_hit]) if at_hit >= 0 else EVERYTHING
        key = (hit, worker_of(row[at_worker]))
        response = gathered.get(key)
        if response is None:
            response = gathered[key] = _Gathering(line, extras=tuple(row[at] for at in at_extras))
        item, group = item_of(row[at_item]), group_of(row[at_group])
        if (item in response.groups or met_copies) and _second_time(
            sheet, line, known, key, response, item, row[at_item], group
        ):
            continue
        response.groups[item] = group
        response.lines.append(line)
        if at_name >= 0:
            response.names.append(row[at_name] or None)
        for at, name, before in zip(at_extras, extra_names, response.extras, strict=True):
            if row[at] != before:
                what = f"the response of {key[1]} to the HIT {hit} has another {name} on line {response.line}"
                raise sheet.error(line, what, f"give all rows of a response the same {name}")
    if not gathered:
        raise UserError("has no group in any row", where=str(path), todo="say into which group each item was put")
    sheet.say_missing("group", count, "these items count as not sorted")
    if at_hit < 0:
        sheet.notes.append(
            "It has no column hit, which names the items that were sorted together; everybody is taken to have been "
            "shown the same ones."
        )
    records = [_record(sheet, key, response, extra_names) for key, response in gathered.items()]
    return Records(records, sheet.unknown_columns, (*sheet.notes, *known.notes(), *_group_twins(records)))


def _second_time(
    sheet: CsvTable,
    line: int,
    known: KnownNames,
    key: tuple[str, str],
    response: _Gathering,
    item: str,
    written: str,
    group: str,
) -> bool:
    """Whether an item is in the response already, as a copy in the same group.

    Raises
    ------
    UserError
        When it is there otherwise.
    """
    if written in known.items.met_copies:
        response.copies.setdefault(item, written)
    copy = response.copies.get(item)
    before = response.groups.get(item)
    if before is None:
        return False
    hit, worker = key
    if copy is None:
        what = f"the item {item} is a second time in the response of {worker} to the HIT {hit}"
        todo = "keep one of the rows"
        if "hit" not in sheet.columns:
            todo += ", or name the sets that were sorted together in a column hit"
        raise sheet.error(line, what, todo)
    if before != group:
        what = f"{copy} is a copy of {item}, and {worker} put one of them into {before} and the other into {group}"
        raise sheet.error(line, f"{what}: contradictory", "keep one of the rows")
    return True


def _group_twins(records: list[ResponseRecord]) -> tuple[str, ...]:
    """Name groups of one response that differ only in letter case."""
    for record in records:
        groups = set(record.response.groups)
        if len({group.casefold() for group in groups}) == len(groups):
            continue
        names = Names()
        for group in record.response.groups:
            names(group)
        sentence = twins_sentence("The groups", names)
        if sentence:
            said = record.response
            return (f"{sentence[0].removesuffix('.')} (of {said.worker} in the HIT {said.hit}).",)
    return ()


def read_pairs(
    path: Path, known: KnownNames | None = None, columns: Mapping[str, str] | None = None
) -> Records[PairRecord]:
    """Read a `pairs.csv`.

    Parameters
    ----------
    path
        Columns `worker,item_a,item_b,label` (label 1 or -1), optionally `hit`. Rows without a label are left out.
    known, columns
        As in `read_responses`.

    Returns
    -------
    Records of PairRecord
        In the order of the table.

    Raises
    ------
    UserError
        With file and line, when anything in the table is wrong.
    """
    known = known or KnownNames()
    sheet = open_sheet(path, [PAIR_COLUMNS], ("hit",), columns, _PAIR_ALIASES)
    at_worker, at_a, at_b, at_label = (sheet.columns[name] for name in PAIR_COLUMNS)
    at_hit = sheet.position("hit")
    meaning = {"1": SAME, "+1": SAME, "-1": DIFFERENT}
    records = []
    count = 0
    for line, row in sheet.rows():
        if not (row[at_worker] and row[at_a] and row[at_b]):
            raise sheet.empty_cell(line, {name: sheet.columns[name] for name in PAIR_COLUMNS[:3]})
        count += 1
        label = class_key(row[at_label])
        if not label:
            sheet.count_missing("label")
            continue
        if label not in meaning:
            raise sheet.error(line, f"the label {label} is neither 1 nor -1", "write 1 for same and -1 for different")
        worker, item_a, item_b = known.workers(row[at_worker]), known.items(row[at_a]), known.items(row[at_b])
        if item_a == item_b:
            copy = next((name for name in (row[at_a], row[at_b]) if name in known.items.met_copies), None)
            what = f"{copy} is a copy of {item_a}" if copy else f"the item {item_a} is paired with itself"
            raise sheet.error(line, what, "take the row out")
        hit = known.hits(row[at_hit]) if at_hit >= 0 and row[at_hit] else None
        records.append(PairRecord(worker, item_a, item_b, meaning[label], hit, line))
    sheet.say_missing("label", count, "they are left out")
    return Records(records, sheet.unknown_columns, (*sheet.notes, *known.notes()))


def read_truth(path: Path, known: KnownNames | None = None, columns: Mapping[str, str] | None = None) -> Truth:
    """Read known categories.

    Parameters
    ----------
    path
        Columns `item,category`, or `task,label`. Rows without a category are left out.
    known, columns
        As in `read_responses`.

    Returns
    -------
    Truth
        Category by item; an item that stands there twice with the same category counts once.

    Raises
    ------
    UserError
        With file and line, when anything in the table is wrong.
    """
    known = known or KnownNames()
    same = {"task": "item", "label": "category", "group": "category"}
    renamed = {same.get(name, name): called for name, called in (columns or {}).items()}
    sheet = open_sheet(path, TRUTH_COLUMNS, (), renamed, _TRUTH_ALIASES if not renamed else _RENAMED_TRUTH_ALIASES)
    names = next(names for names in TRUTH_COLUMNS if names[0] in sheet.columns and names[1] in sheet.columns)
    at_item, at_category = (sheet.columns[name] for name in names)
    found: dict[str, tuple[str, str]] = {}
    count = 0
    for line, row in sheet.rows():
        if not row[at_item]:
            raise sheet.empty_cell(line, {names[0]: at_item})
        count += 1
        if not row[at_category]:
            sheet.count_missing(names[1])
            continue
        item, category = known.items(row[at_item]), known.categories(with_point(row[at_category]))
        before, first = found.setdefault(item, (category, row[at_item]))
        if before != category:
            copies = known.items.met_copies
            copy, said = (row[at_item], before) if row[at_item] in copies else (first, category)
            if copy in copies:
                what = f"{copy} is a copy of {item}, which the table calls {said}: contradictory"
            else:
                what = f"the {names[0]} {item} has the {names[1]} {category} here and {before} before"
            raise sheet.error(line, what, "keep one of the rows")
    if not found:
        raise UserError(f"has no {names[1]} in any row", where=str(path), todo="check that it was saved completely")
    sheet.say_missing(names[1], count, "they are left out")
    categories = {item: category for item, (category, _) in found.items()}
    return Truth(categories, sheet.unknown_columns, (*sheet.notes, *known.notes()))


def _record(sheet: CsvTable, key: tuple[str, str], response: _Gathering, extra_names: list[str]) -> ResponseRecord:
    hit, worker = key
    extras = {name: text for name, text in zip(extra_names, response.extras, strict=True) if text}
    return ResponseRecord(
        response=Response(hit, worker, tuple(response.groups), tuple(response.groups.values())),
        line=response.line,
        lines=tuple(response.lines),
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
        seconds = float(with_point(text))
    except ValueError:
        seconds = math.nan
    if not (math.isfinite(seconds) and seconds >= 0):
        raise sheet.error(line, f"the active_seconds {text} is not a number of seconds", "write it like 41.5")
    return seconds
