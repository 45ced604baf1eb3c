"""Answers and known categories out of tables into a campaign.

- `responses`: each response becomes a submitted assignment. HITs that the plan does not have are added as they are and
  handed to nobody; a HIT that it has must have exactly its items and keeps its limit of `R` workers, those who are
  at work on it counted. A response that lacks items which others of its HIT hold, or holds others, is in a HIT of its
  own, `HIT (2)`.
  A response of a stage that the campaign does not have brings that stage with it (see `import_stages`).
- `pairs`: the pair labels of one worker and HIT (all of a worker's where the table names no HIT) become the grouping
  they stand for.
- `labels`: yes/no labels of single items become answers to a question set (see `import_labels`).
- `truth`: known categories, kept for comparison; a newer table replaces what it names.

Names are found in any of their spellings, and photos by the names of their copies. Items that are not in the campaign
are refused with their line, unless the campaign has no images: then they become
items. In a truth table, which often covers more than what was sorted, they are left out and counted. What is there
already is skipped, so importing a file twice adds nothing. Everything is one transaction: a table with a mistake
changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from crowdclust_app.domain.campaign import WHOLE_COLLECTION, AssignmentStatus, Hit, Item
from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.domain.errors import UserError
from crowdclust_app.domain.names import Names, class_key, path_key
from crowdclust_app.domain.partition import canonical_groups
from crowdclust_app.domain.response_table import ResponseTable
from crowdclust_app.io import label_tables, tables
from crowdclust_app.io.tables import KnownNames, ResponseRecord
from crowdclust_app.services.annotate.annotation import LEASE
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.campaign.responses import table_in
from crowdclust_app.services.exchange.import_labels import add_labels
from crowdclust_app.services.exchange.import_pairs import responses_of_pairs
from crowdclust_app.services.exchange.import_stages import StagesOfTable
from crowdclust_app.services.fits.sources import near_miss
from crowdclust_app.services.progress_report import Progress, ProgressReport
from crowdclust_app.storage import catalogue
from crowdclust_app.storage import responses as stored_responses
from crowdclust_app.storage.connection import Connection
from crowdclust_app.storage.responses import NewResponse
from crowdclust_app.storage.times import now

Kind = Literal["responses", "pairs", "labels", "truth"]
_GROUP_NUMBER = re.compile("[1-9][0-9]{0,8}")
KINDS: tuple[Kind, ...] = ("responses", "pairs", "labels", "truth")


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What became of a table.

    Parameters
    ----------
    campaign
        Path of the campaign.
    added, skipped
        Responses (or labels, or categories) that are new, and that were there already or do not concern the campaign.
    warnings
        Sentences for the lead.
    """

    campaign: str
    added: int
    skipped: int
    warnings: tuple[str, ...] = ()


def import_table(
    campaign: Campaign,
    file: Path,
    kind: Kind = "responses",
    progress: Progress | None = None,
    cancel: CancelToken | None = None,
    *,
    question: str | None = None,
    columns: Mapping[str, str] | None = None,
) -> ImportReport:
    """Add what a table says to a campaign.

    Parameters
    ----------
    question
        What the labels of a table of labels answer; the name of the file when None.
    columns
        What the table calls its columns, where it calls them otherwise.

    Raises
    ------
    UserError
        With file and line, when anything in the table is wrong or does not fit; nothing is changed then.
    Cancelled
        When asked to stop; nothing is changed then.
    """
    if kind not in KINDS:
        raise UserError(f"there is no kind of table called {kind}", todo=f"choose {', '.join(KINDS)}")
    if question is not None and kind != "labels":
        raise UserError(f"a table of {kind} answers no question", todo="leave the question out, or import labels")
    if progress:
        progress(ProgressReport(0, None, f"Reading {file.name}"))
    known = known_names(campaign)
    if kind == "truth":
        truth = tables.read_truth(file, known, columns)
        return _import_truth(campaign, truth, known.items, (*_unused(truth.unknown_columns), *truth.notes))
    if kind == "labels":
        read_labels = label_tables.read_labels(file, known, columns)
        found = add_labels(campaign, file, read_labels, question, known.items)
        warnings = (*_unused(read_labels.unknown_columns), *read_labels.notes, *found.warnings)
        return ImportReport(str(campaign.path), found.added, found.skipped, warnings)
    if kind == "pairs":
        pairs = tables.read_pairs(file, known, columns)
        records, about = responses_of_pairs(file, pairs), (*_unused(pairs.unknown_columns), *pairs.notes)
    else:
        read = tables.read_responses(file, known, columns)
        records, about = list(read), (*_unused(read.unknown_columns), *read.notes)
    if cancel:
        cancel.check()
    if progress:
        progress(ProgressReport(0, len(records), f"Adding {len(records):,} responses"))
    with campaign.database.write() as connection:
        adding = _Adding(connection, file, known.items)
        added = adding.add(records)
        if cancel:
            cancel.check()
    if progress:
        progress(ProgressReport(len(records), len(records), "Added"))
    warnings = (*about, *adding.warnings)
    return ImportReport(str(campaign.path), added, len(records) - added, warnings)


def _unused(columns: Sequence[str]) -> tuple[str, ...]:
    if not columns:
        return ()
    noun = "The column" if len(columns) == 1 else "The columns"
    verb = "was" if len(columns) == 1 else "were"
    return (f"{noun} {', '.join(columns)} {verb} not used.",)


def known_names(campaign: Campaign) -> KnownNames:
    """Names of a campaign, which a table may spell otherwise, and of the copies of its photos."""
    with campaign.database.read() as connection:
        return KnownNames(
            items=Names(catalogue.item_paths(connection), catalogue.copies(connection), path_key),
            workers=Names(worker.name for worker in catalogue.workers(connection)),
            hits=Names(hit.name for hit in catalogue.hits(connection)),
            categories=Names(set(catalogue.truth(connection).values()), key=class_key),
            no_more_items=catalogue.has_images(connection),
        )


def _import_truth(campaign: Campaign, truth: tables.Truth, names: Names, warnings: tuple[str, ...]) -> ImportReport:
    with campaign.database.write() as connection:
        number = {name: at for at, name in enumerate(catalogue.item_paths(connection))}
        before = catalogue.truth(connection)
        if not catalogue.has_images(connection):
            new = [Item(at, name) for at, name in enumerate((n for n in truth if n not in number), start=len(number))]
            catalogue.insert_items(connection, new)
            number |= {item.path: item.number for item in new}
        changed = {number[n]: category for n, category in truth.items() if n in number and before.get(n) != category}
        catalogue.set_truth(connection, changed)
        if changed:
            catalogue.bump_revision(connection)
    foreign = [name for name in truth if name not in number]
    if foreign and len(foreign) == len(truth):
        raise UserError(
            f"none of its {len(truth):,} items is in the campaign, such as {foreign[0]}{near_miss(names, foreign)}",
            where=str(campaign.path),
            todo="name the items by their path below the folder of the images",
        )
    if foreign:
        near = near_miss(names, foreign)
        warnings += (f"{len(foreign):,} items of the table are not in the campaign, such as {foreign[0]}{near}.",)
    replaced = sum(name in before and before[name] != category for name, category in truth.items())
    if replaced:
        warnings += (f"{replaced:,} items have another category than before.",)
    named = len(truth) + len(names.met_copies)
    return ImportReport(str(campaign.path), len(changed), named - len(changed), warnings)


@dataclass(slots=True)
class _Known:
    """What the campaign holds, by name, while a table is added to it."""

    items: dict[str, int]
    hits: dict[str, Hit]
    workers: dict[str, int]
    answered: dict[tuple[str, str], tuple[ResponseTable, int]]
    status: dict[tuple[int, int], str]
    taken: dict[int, int]
    new_items: list[Item] = field(default_factory=list)
    new_hits: list[Hit] = field(default_factory=list)
    new_workers: list[str] = field(default_factory=list)


class _Adding:
    """Adds responses within one transaction.

    Parameters
    ----------
    connection
        The transaction.
    file
        Named in errors.
    names
        Of the items.
    """

    def __init__(self, connection: Connection, file: Path, names: Names) -> None:
        self._connection = connection
        self._file = file
        self._names = names
        self._same_name: dict[str, dict[frozenset[int], str]] = {}
        self._partial: dict[str, None] = {}
        self._now = now()
        self._takes_items = not catalogue.has_images(connection)
        self._stages = StagesOfTable.of(connection)
        self._known = self._look()

    def _look(self) -> _Known:
        connection = self._connection
        answered = {}
        for stage in self._stages.known:
            table = table_in(connection, stage, everything=True)
            whose = zip(table.hit_of_response.tolist(), table.worker_of_response.tolist(), strict=True)
            for number, (hit, worker) in enumerate(whose):
                answered[table.hit_names[hit], table.worker_names[worker]] = (table, number)
        hits = {hit.name: hit for hit in catalogue.hits(connection)}
        return _Known(
            items={name: number for number, name in enumerate(catalogue.item_paths(connection))},
            hits=hits,
            workers={worker.name: worker.number for worker in catalogue.workers(connection)},
            answered=answered,
            status=stored_responses.statuses(connection),
            taken=catalogue.taken_by_hit(connection, self._now - LEASE),
        )

    @property
    def warnings(self) -> tuple[str, ...]:
        """Sentences about what was added besides the responses."""
        warnings = self._stages.warnings()
        if self._partial:
            warnings += (
                "Not all who sorted a set of photos sorted the same ones of it; those who differ are in a HIT of their "
                f"own, such as {next(iter(self._partial))}.",
            )
        return warnings

    def add(self, records: Iterable[ResponseRecord]) -> int:
        """Add the responses that are not there yet; returns how many those are."""
        new: list[tuple[Hit, int, ResponseRecord]] = []
        for record in records:
            said = record.response
            items = self._items(record)
            hit = self._hit(record, items)
            before = self._known.answered.get((hit.name, said.worker))
            if before is not None:
                if not _same_grouping(*before, items, said.groups):
                    raise self._error(
                        record,
                        f"{said.worker} has grouped the HIT {hit.name} otherwise in the campaign",
                        "take one of the two out of the table",
                    )
                continue
            worker = self._worker(said.worker)
            self._make_room(record, hit, worker)
            new.append((hit, worker, record))
        if not new:
            return 0
        connection, known = self._connection, self._known
        catalogue.insert_items(connection, known.new_items)
        self._stages.store(connection, self._now)
        catalogue.insert_hits(connection, known.new_hits)
        catalogue.insert_workers(connection, known.new_workers, self._now)
        times = [self._times(record) for _, _, record in new]
        first = stored_responses.insert_finished(
            connection,
            [
                (hit.number, worker, began, ended, record.active_seconds or 0.0)
                for (hit, worker, record), (began, ended, _) in zip(new, times, strict=True)
            ],
        )
        stored_responses.insert_responses(
            connection,
            [
                self._answer(first + at, record, ended, wall)
                for at, ((_, _, record), (_, ended, wall)) in enumerate(zip(new, times, strict=True))
            ],
        )
        catalogue.bump_revision(connection)
        return len(new)

    def _items(self, record: ResponseRecord) -> tuple[int, ...]:
        items = self._known.items
        for at, name in enumerate(record.response.items):
            if name in items:
                continue
            if not self._takes_items:
                what = f"the item {name} is not in the campaign{near_miss(self._names, [name])}"
                todo = "name items by their path below the folder of the images"
                raise self._error(record, what, todo, record.lines[at])
            items[name] = len(items)
            self._known.new_items.append(Item(items[name], name))
        return tuple(items[name] for name in record.response.items)

    def _hit(self, record: ResponseRecord, items: tuple[int, ...]) -> Hit:
        name, stage = self._name_for(record.response.hit, frozenset(items)), record.stage or WHOLE_COLLECTION
        hit = self._known.hits.get(name)
        if hit is None or record.stage is not None:
            self._stages.check(stage, items, lambda what, todo: self._error(record, what, todo))
        if hit is None:
            # A number is free as long as nothing is taken out, and HITs never are.
            hit = Hit(len(self._known.hits), name, items, workers_wanted=0, stage=stage)
            self._known.hits[name] = hit
            self._known.new_hits.append(hit)
        elif set(hit.items) != set(items):
            what = f"the HIT {name} has other items elsewhere in the table or in the campaign"
            raise self._error(record, what, "give it another name")
        elif record.stage is not None and hit.stage != stage:
            raise self._error(record, f"the HIT {name} belongs to the stage {hit.stage}", "give it another name")
        return hit

    def _name_for(self, name: str, items: frozenset[int]) -> str:
        """The name of the HIT with these items: as told, or with a number where an imported HIT has other items."""
        hits = self._known.hits
        if name not in hits or hits[name].workers_wanted:
            return name  # a planned one has to be sorted whole
        same_name = self._same_name.setdefault(name, {})
        if not same_name:
            same_name[frozenset(hits[name].items)] = name
        number = len(same_name) + 1
        while items not in same_name:
            found = f"{name} ({number})"
            same_name[frozenset(hits[found].items) if found in hits else items] = found
            number += 1
        if same_name[items] != name:
            self._partial.setdefault(same_name[items])
        return same_name[items]

    def _worker(self, name: str) -> int:
        workers = self._known.workers
        if name not in workers:
            workers[name] = len(workers)
            self._known.new_workers.append(name)
        return workers[name]

    def _make_room(self, record: ResponseRecord, hit: Hit, worker: int) -> None:
        status, taken = self._known.status, self._known.taken
        held = status.get((hit.number, worker))
        if held is not None:
            word = "skipped it" if held == AssignmentStatus.SKIPPED else "has it open"
            what = f"{record.response.worker} cannot answer the HIT {hit.name} here and {word} in the campaign"
            raise self._error(record, what, "take this response out of the table")
        if hit.workers_wanted and taken.get(hit.number, 0) >= hit.workers_wanted:
            what = f"the HIT {hit.name} has its {hit.workers_wanted} workers already, done or at work"
            raise self._error(record, what, "take this response out, or give the HIT another name")
        taken[hit.number] = taken.get(hit.number, 0) + 1
        status[hit.number, worker] = AssignmentStatus.SUBMITTED

    def _times(self, record: ResponseRecord) -> tuple[datetime, datetime, float | None]:
        """Beginning, end, and wall seconds where the table knows both."""
        ended = _in_utc(record.submitted_at) or self._now
        began = _in_utc(record.started_at)
        if began is None or record.submitted_at is None:
            return began or ended, ended, None
        if began > ended:
            raise self._error(record, "it was submitted before it was started", "correct the times")
        return began, ended, (ended - began).total_seconds()

    def _answer(self, assignment: int, record: ResponseRecord, ended: datetime, wall: float | None) -> NewResponse:
        said = record.response
        numbers, named = _numbered(said.groups, record.group_names)
        return NewResponse(
            assignment=assignment,
            items=[self._known.items[name] for name in said.items],
            groups=numbers,
            submitted_at=ended,
            source="import",
            wall_seconds=wall,
            active_seconds=record.active_seconds,
            group_names=named,
            comment=record.comment,
        )

    def _error(self, record: ResponseRecord, what: str, todo: str, line: int | None = None) -> UserError:
        return UserError(what, where=f"{self._file}, line {line or record.line}", todo=todo)


def _same_grouping(table: ResponseTable, number: int, items: Sequence[int], groups: Sequence[str]) -> bool:
    """Whether a stored response groups the same items in the same way, whatever the order and the labels."""
    inside = slice(table.response_ptr[number], table.response_ptr[number + 1])
    stored = sorted(zip(table.items[inside].tolist(), table.groups[inside].tolist(), strict=True))
    told = sorted(zip(items, groups, strict=True))
    return [item for item, _ in stored] == [item for item, _ in told] and bool(
        (canonical_groups([group for _, group in stored]) == canonical_groups([group for _, group in told])).all()
    )


def _numbered(
    labels: Sequence[str], names: Sequence[str | None]
) -> tuple[list[int], tuple[tuple[int, str | None, str | None], ...]]:
    """Group numbers from 1: the labels themselves where they are such numbers, else in order of first appearance."""
    distinct = list(dict.fromkeys(labels))
    if all(_GROUP_NUMBER.fullmatch(label) for label in distinct):
        number = {label: int(label) for label in distinct}
    else:
        number = {label: at for at, label in enumerate(distinct, start=1)}
    called: dict[int, str] = {}
    for label, name in zip(labels, names, strict=False):
        if name:
            called.setdefault(number[label], name)
    kept = []
    for label in distinct:
        group = number[label]
        other = None if str(group) == label else label
        if other is not None or group in called:
            kept.append((group, other, called.get(group)))
    return [number[label] for label in labels], tuple(kept)


def _in_utc(moment: datetime | None) -> datetime | None:
    """A time without a zone is taken as UTC."""
    if moment is None or moment.tzinfo is not None:
        return moment
    return moment.replace(tzinfo=UTC)
