"""Tables of answers in the layouts of other programs, as rows of one worker, one item and one answer.

- One row a person and one column an item, or the other way round, as R's FreeSortR and DistatisR, Q-sorts and forms
  have it: recognised where it is certain which of the two are the items (`_rows_are_items`).
- Results of a batch from Mechanical Turk: `HITId`, `WorkerId`, `Input.*` and `Answer.*`, numbered alike.
- Free sorts of jsPsych: the places of the photos in `final_locations`; photos less than half a photo apart are a group.

What was understood is said in one sentence. Tables of kardSort, OptimalSort and others that have a row an answer need
no layout: their columns have other names only (`tables.RESPONSE_ALIASES`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from crowdclust_app.domain.errors import UserError
from crowdclust_app.domain.names import Names, spelled
from crowdclust_app.io.csv_reader import (
    ColumnsMissingError,
    CsvTable,
    Row,
    TableText,
    any_sheet,
    open_sheet,
    plain_name,
)

WORKER_ALIASES = (
    "workerid", "user", "userid", "participant", "participantid", "subject", "subjectid", "person", "personid",
    "respondent", "respondentid", "annotator", "annotatorid", "assessor", "judge", "rater", "sorter", "performer",
    "uniqid", "uniqueid", "uid", "prolificpid", "pid", "sonaid", "runid", "sessionid",
)  # fmt: skip
ITEM_ALIASES = (
    "card", "cardlabel", "cardname", "stimulus", "image", "photo", "picture", "imagename", "filename", "file", "object",
    "product", "statement", "cardid", "itemid",
)  # fmt: skip
_ITEMS = frozenset({"item", "items", "task", "tasks", "stimuli", "cards", "objects", "products", "statements", "images",
                    "photos", *ITEM_ALIASES})  # fmt: skip
_PERSONS = frozenset({"worker", "workers", "participants", "subjects", "assessors", "judges", "raters", "users",
                      *WORKER_ALIASES})  # fmt: skip
_KNOWN = frozenset({"hit", "worker", "item", "group", "task", "label", "category"})
_OTHER = frozenset({"timestamp", "date", "time", "age", "sex", "gender", "country", "language", "email", "comment",
                    "comments", "duration", "start", "end"})  # fmt: skip
_PERSON = re.compile(r"(subject|subj|participant|part|person|judge|assessor|rater|user|worker|sorter|expert|respondent"
                     r"|consumer|panelist|s|p|j|a|r|u|w)[ ._-]*\d+", re.IGNORECASE)  # fmt: skip
_PHOTO = re.compile(r".*\.(png|jpe?g|gif|bmp|tiff?|webp)", re.IGNORECASE)
_NUMBERED = re.compile(r"(input|answer)\.(.*?)[ ._-]*(\d+)")
_EVERY_OTHER = "*"
_TASK_ANSWERS = "answer.taskanswers"
_PHOTO_SIZE = 100.0  # of jsPsych, in pixels


def open_answers(
    path: Path,
    required: Sequence[Sequence[str]],
    optional: Sequence[str],
    renamed: Mapping[str, str] | None,
    aliases: Mapping[str, Sequence[str]],
    items: Names,
) -> CsvTable:
    """Open a table of answers in whatever layout.

    Parameters
    ----------
    path, required, optional, renamed, aliases
        As in `open_sheet`; of `required` the last one has worker, item and answer as its last three, in this order or
        with the item before the worker.
    items
        Known ones, which tell items from persons.

    Raises
    ------
    UserError
        When it is no table, or in none of the layouts.
    """
    answer = required[-1][-1]
    item = "task" if "task" in required[-1] else "item"
    wanted = renamed or {}
    if _EVERY_OTHER not in wanted.values():
        try:
            return open_sheet(path, required, optional, renamed, aliases)
        except ColumnsMissingError as error:
            missing = error
    text = TableText(path)
    table = any_sheet(text)
    header = [name.lower() for name in table.header]
    make: Callable[[CsvTable, str, str], CsvTable | None]
    for make in (_mechanical_turk, _free_sort) if not wanted else ():
        found = make(table, item, answer)
        if found is not None:
            return found
    side = _told(wanted, header, item) if wanted else _rows_are_items(table, items)
    if side is None and _EVERY_OTHER in wanted.values():
        told = ", ".join(f"{ours}={theirs}" for ours, theirs in wanted.items())
        todo = f"name a column of its first line, such as {item}=card,worker=*"
        raise UserError(f"cannot be read with {told}", where=f"{path}, line {table.header_line}", todo=todo)
    if side is None and item == "item":
        todo = f"{missing.todo}, or say what it calls them, such as --columns item=card,worker=user"
        raise UserError(missing.what, where=missing.where, todo=todo)
    if side is None:
        raise missing
    return _wide(table, *side, items, item, answer)


def _told(wanted: Mapping[str, str], header: list[str], item: str) -> tuple[int, bool] | None:
    """Which column names the rows and whether they are items, as the user says it."""
    for name in (item, "worker"):
        called = spelled(wanted.get(name, "")).lower()
        others = {key: value for key, value in wanted.items() if key != name}
        if called in header and set(others.values()) <= {_EVERY_OTHER} and others.keys() <= {item, "worker"}:
            return header.index(called), name == item
    return None


def _rows_are_items(table: CsvTable, items: Names) -> tuple[int, bool] | None:
    """Which column names the rows, and whether these are items; None where it is not certain that they are either."""
    plain = [plain_name(name) for name in table.header]
    key = next((at for at, name in enumerate(plain) if name in _ITEMS | _PERSONS), 0)
    others = [at for at in range(len(plain)) if at != key and plain[at] not in _OTHER]
    if len(others) < 2 or {plain[at] for at in others} & _KNOWN or len({plain[at] for at in others}) < len(others):
        return None
    try:
        rows = [row for _, row in table.rows()]
    except UserError:
        return None  # it is not even a table of this width
    names = [row[key] for row in rows]
    columns = [table.header[at] for at in others if table.header[at]]
    if (
        min(len(rows), len(columns)) < 2
        or not all(names)
        or len(set(names)) < len(names)
        or not _may_be_groups(rows, others)
    ):
        return None
    both = ((True, names, columns), (False, columns, names))
    sure = [is_row for is_row, some, _ in both if any(map(items.knows, some)) or all(map(_PHOTO.fullmatch, some))]
    if not sure and plain[key] in _ITEMS | _PERSONS:
        sure = [plain[key] in _ITEMS]
    if not sure:
        sure = [is_row for is_row, _, rest in both if all(map(_PERSON.fullmatch, rest))]
    if not sure and not plain[key] and not any(name.isdecimal() for name in names):
        sure = [True]  # row names of R's packages for sorting tasks are the items
    return (key, sure[0]) if len(sure) == 1 else None


def _may_be_groups(rows: list[list[str]], columns: list[int]) -> bool:
    """Whether cells are names of groups: no measurements, and mostly some that occur more than once."""
    repeated = 0
    for lines in ([[row[at] for row in rows] for at in columns], [[row[at] for at in columns] for row in rows]):
        cells = [[cell for cell in line if cell] for line in lines]
        if any(re.fullmatch(r"[+-]?\d*[.,]\d*[1-9]\d*", cell) for line in cells for cell in line):
            return False
        repeated = max(repeated, sum(len(set(line)) < len(line) for line in cells) * 2 // max(len(cells), 1))
    return repeated > 0


def _wide(table: CsvTable, key: int, rows_are_items: bool, items: Names, item: str, answer: str) -> CsvTable:
    others = [at for at, name in enumerate(table.header) if at != key and name and plain_name(name) not in _OTHER]
    if not rows_are_items:
        # what is known to be an item, or looks like a photo, is one; questions about the person are not
        sure = [at for at in others if items.knows(table.header[at]) or _PHOTO.fullmatch(table.header[at])]
        others = sure or others

    def records() -> Iterator[Row]:
        for line, _ in table.rows():
            for at in others:
                pair = (table.header[at], table.raw[key])
                yield line, [*(pair if rows_are_items else pair[::-1]), table.raw[at]]

    called = f"{table.header[key]}, " if table.header[key] else ""
    rows, columns = ("an item", "a person") if rows_are_items else ("a person", "an item")
    note = f"Read as one row {rows} and one column {columns} ({called}{table.header[others[0]]}, ...)"
    note += f"; the cells are {answer}s."
    unknown = [name for at, name in enumerate(table.header) if at != key and at not in others and name]
    return table.made_of(records, ("worker", item, answer), note, unknown)


def _mechanical_turk(table: CsvTable, item: str, answer: str) -> CsvTable | None:
    header = [name.lower() for name in table.header]
    if not {"hitid", "workerid"} <= set(header):
        return None
    if _TASK_ANSWERS in header:
        table = _with_task_answers(table, header.index(_TASK_ANSWERS))
        header = [name.lower() for name in table.header]
    inputs = [at for at, name in enumerate(header) if name.startswith("input.")]
    answers = [at for at, name in enumerate(header) if name.startswith("answer.")]
    numbered: dict[str, dict[str, int]] = {}
    for at in (*inputs, *answers):
        match = _NUMBERED.fullmatch(header[at])
        if match:
            numbered.setdefault(f"{match[1]}.{match[2]}", {})[match[3]] = at
    shown = [family for name, family in numbered.items() if name.startswith("input.")]
    said = [family for name, family in numbered.items() if name.startswith("answer.")]
    pairs = []
    if len(shown) == len(said) == 1 and shown[0].keys() >= said[0].keys():
        pairs = [(shown[0][number], said[0][number]) for number in said[0]]
    elif item == "task" and len(inputs) == len(answers) == 1:
        pairs = [(inputs[0], answers[0])]
    if not pairs:
        return None
    at_hit, at_worker = header.index("hitid"), header.index("workerid")
    at_status = header.index("assignmentstatus") if "assignmentstatus" in header else None
    rejected = 0 if at_status is None else sum(row[at_status].lower() == "rejected" for _, row in table.rows())

    def records() -> Iterator[Row]:
        for line, row in table.rows():
            if at_status is None or row[at_status].lower() != "rejected":
                for shown_at, said_at in pairs:
                    # a short set leaves the last places empty
                    if row[shown_at] or row[said_at]:
                        yield line, [table.raw[at] for at in (at_hit, at_worker, shown_at, said_at)]

    first = f"{table.header[pairs[0][0]]} and {table.header[pairs[0][1]]}"
    note = f"Read as results of a batch from Mechanical Turk ({first}{', ...' if len(pairs) > 1 else ''})"
    note += f"; {rejected:,} rejected assignments are left out." if rejected else "."
    return table.made_of(records, ("hit", "worker", item, answer), note, ())


def _with_task_answers(table: CsvTable, at: int) -> CsvTable:
    """The table with a column for each answer that its column `Answer.taskAnswers` has as JSON."""

    def answers(line: int, cell: str) -> dict[str, str]:
        try:
            (told,) = json.loads(cell)
            return {f"Answer.{name}": _chosen(value) for name, value in told.items()}
        except (ValueError, TypeError, AttributeError) as error:
            what = f"the {table.header[at]} are not answers as Mechanical Turk writes them"
            raise table.error(line, what, "download the results again") from error

    found = [name for line, row in table.rows() for name in answers(line, row[at])]
    names = list(dict.fromkeys(found))

    def records() -> Iterator[Row]:
        for line, row in table.rows():
            told = answers(line, row[at])
            yield line, [*table.raw[:at], *table.raw[at + 1 :], *(told.get(name, "") for name in names)]

    return table.made_of(records, [*table.header[:at], *table.header[at + 1 :], *names], None, ())


def _chosen(value: Any) -> str:
    """An answer in words: a label, or which of several boxes are ticked."""
    if isinstance(value, dict):
        return str(value["label"]) if "label" in value else ", ".join(name for name, ticked in value.items() if ticked)
    return str(value)


def _free_sort(table: CsvTable, item: str, answer: str) -> CsvTable | None:
    header = [plain_name(name) for name in table.header]
    if "finallocations" not in header or item == "task":
        return None
    at_places = header.index("finallocations")
    at_worker = next((header.index(name) for name in ("worker", *WORKER_ALIASES) if name in header), None)
    size = [header.index(name) if name in header else None for name in ("stimwidth", "stimheight")]

    def records() -> Iterator[Row]:
        trials: dict[str, int] = {}
        for line, row in table.rows():
            if not row[at_places]:
                continue  # another kind of trial
            worker = table.raw[at_worker] if at_worker is not None else table.path.stem
            trials[worker] = trials.get(worker, 0) + 1
            width, height = (
                float(row[at]) if at is not None and row[at].replace(".", "", 1).isdecimal() else _PHOTO_SIZE
                for at in size
            )
            try:
                places = [(str(one["src"]), float(one["x"]), float(one["y"])) for one in json.loads(row[at_places])]
            except (ValueError, TypeError, KeyError) as error:
                what = "the final_locations are not the places of photos"
                raise table.error(line, what, "export the data of the free sort again") from error
            for (photo, _, _), pile in zip(places, _piles(places, width, height), strict=True):
                yield line, [str(trials[worker]), worker, photo, str(pile)]

    note = "Read as free sorts of jsPsych: photos less than half a photo apart are a group"
    note += "." if at_worker is not None else f", all by one person, {table.path.stem}."
    return table.made_of(records, ("hit", "worker", item, answer), note, ())


def _piles(places: Sequence[tuple[Any, float, float]], width: float, height: float) -> list[int]:
    """The number of each photo's pile, from 1."""
    pile = list(range(len(places)))
    for a, (_, x, y) in enumerate(places):
        for b in range(a):
            if abs(x - places[b][1]) < 1.5 * width and abs(y - places[b][2]) < 1.5 * height and pile[a] != pile[b]:
                old, new = pile[a], pile[b]
                pile = [new if one == old else one for one in pile]
    return [one + 1 for one in pile]
