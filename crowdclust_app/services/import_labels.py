"""Yes/no labels of single items, from a table into question sets.

The labels go where the question is the same: into the set of this sentence that asks about the item, or, for items that
no set asks about with this sentence, into a new one. A worker has one answer to a question, so what is there already is
skipped, and importing a file twice adds nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from crowdclust_app.domain.campaign import Item
from crowdclust_app.domain.errors import UserError
from crowdclust_app.domain.questions import LONGEST_SENTENCE, Policy, Said
from crowdclust_app.services.verifying import MOST_WANTED, USUAL_METHOD

if TYPE_CHECKING:
    from crowdclust_app.io.labels import LabelRows
    from crowdclust_app.services.campaigns import Campaign
    from crowdclust_app.storage.connection import Connection

_WORDS = {
    "yes": Said.YES, "y": Said.YES, "1": Said.YES, "true": Said.YES, "+1": Said.YES,
    "no": Said.NO, "n": Said.NO, "0": Said.NO, "false": Said.NO, "-1": Said.NO,
}  # fmt: skip


@dataclass(slots=True)
class LabelsAdded:
    """What became of the labels.

    Parameters
    ----------
    added, skipped
        Labels that are new, and that were there already or are missing.
    warnings
        Sentences for the lead.
    """

    added: int
    skipped: int
    warnings: tuple[str, ...]


@dataclass(slots=True)
class _Row:
    item: int
    worker: str
    said: Said


@dataclass(slots=True)
class _Table:
    """The rows of a table that count, checked against the campaign; `new_items` are those that it has not yet."""

    rows: list[_Row] = field(default_factory=list)
    new_items: list[Item] = field(default_factory=list)
    missing: int = 0


def sentence_of(file: Path, question: str | None) -> str:
    """The question that the labels of a file answer.

    Raises
    ------
    UserError
        When it is too long.
    """
    sentence = " ".join((question or f"Labels of {file.name}").split())
    if len(sentence) > LONGEST_SENTENCE:
        raise UserError(f"the question is longer than {LONGEST_SENTENCE} letters", todo="shorten it with --question")
    return sentence


def add_labels(campaign: Campaign, file: Path, read: LabelRows, question: str | None = None) -> LabelsAdded:
    """Add labels to the question sets of a campaign, in one transaction.

    Parameters
    ----------
    read
        The table; its tasks are items.
    question
        What was asked; the name of the file when None.

    Raises
    ------
    UserError
        With file and line, when a label is neither yes nor no, or an item is not in the campaign; nothing is changed.
    """
    from crowdclust_app.storage import catalogue, questions
    from crowdclust_app.storage.times import now

    sentence = sentence_of(file, question)
    moment = now()
    with campaign.database.write() as connection:
        table = _checked(connection, file, read)
        catalogue.insert_items(connection, table.new_items)
        known = {worker.name: worker.number for worker in catalogue.workers(connection)}
        names = list(dict.fromkeys(row.worker for row in table.rows if row.worker not in known))
        known |= {worker.name: worker.number for worker in catalogue.insert_workers(connection, names, moment)}
        sets, made = _sets(connection, sentence, table)
        new, contradicting = _new(connection, table, known, sets)
        questions.insert_answers(connection, new, moment)
        if new or table.new_items:
            catalogue.bump_revision(connection)
    warnings = []
    if made:
        warnings.append(f"The question set {made} has been made for them.")
    if table.missing:
        warnings.append(f"{table.missing:,} rows have no label.")
    if contradicting:
        warnings.append(f"{contradicting:,} labels differ from what the same worker said first, which stays.")
    return LabelsAdded(len(new), len(read.task) - len(new), tuple(warnings))


def _checked(connection: Connection, file: Path, read: LabelRows) -> _Table:
    from crowdclust_app.storage import catalogue

    number = {name: at for at, name in enumerate(catalogue.item_paths(connection))}
    takes_items = not catalogue.has_images(connection)
    table = _Table()
    for at, (task, worker, label) in enumerate(zip(read.task, read.worker, read.label, strict=True)):
        where = f"{file}, line {read.lines[at]}"
        if task not in number:
            if not takes_items:
                todo = "name items by their path below the folder of the images"
                raise UserError(f"the item {task} is not in the campaign", where=where, todo=todo)
            number[task] = len(number)
            table.new_items.append(Item(number[task], task))
        if label is None:
            table.missing += 1
            continue
        said = _WORDS.get(label.casefold())
        if said is None:
            raise UserError(f"the label {label} is neither yes nor no", where=where, todo="write yes or no, or 1 or 0")
        table.rows.append(_Row(number[task], worker.strip(), said))
    if not table.rows:
        raise UserError("the table has no label", where=str(file), todo="write yes or no in the column label")
    return table


def _sets(connection: Connection, sentence: str, table: _Table) -> tuple[dict[int, int], int | None]:
    """The question set of each item, and the number of the one that was made, if any."""
    from crowdclust_app.storage import questions
    from crowdclust_app.storage.times import now

    sets: dict[int, int] = {}
    for asked in questions.sets(connection):
        if asked.sentence == sentence:
            sets |= dict.fromkeys(asked.items, asked.number)
    asked_of: dict[int, set[str]] = {}
    for row in table.rows:
        if row.item not in sets:
            asked_of.setdefault(row.item, set()).add(row.worker)
    if not asked_of:
        return sets, None
    made = questions.insert_set(
        connection,
        sentence=sentence,
        items=list(asked_of),
        wanted=min(MOST_WANTED, max(map(len, asked_of.values()))),
        policy=Policy.UNIFORM,
        seed=0,
        run=None,
        cluster=None,
        method=USUAL_METHOD,
        now=now(),
    )
    return sets | dict.fromkeys(asked_of, made), made


_New = tuple[int, int, int, Said]


def _new(
    connection: Connection, table: _Table, workers: dict[str, int], sets: dict[int, int]
) -> tuple[list[_New], int]:
    """Set, item, worker and answer of what nobody has said yet, and how many labels contradict an earlier one."""
    from crowdclust_app.storage import questions

    said: dict[tuple[int, int, int], Said] = {}
    for number in {sets[row.item] for row in table.rows}:
        for answer in questions.standing_answers(connection, number):
            said[number, answer.item, answer.worker] = answer.said
    new: list[_New] = []
    contradicting = 0
    for row in table.rows:
        key = (sets[row.item], row.item, workers[row.worker])
        if key in said:
            contradicting += said[key] is not row.said
        else:
            said[key] = row.said
            new.append((*key, row.said))
    return new, contradicting
