"""Yes/no labels of single items, from a table into question sets.

The labels go where the question is the same: into the set of this sentence that asks about the item, or, for items that
no set asks about with this sentence, into a new one. The sentence is in the column `question`, as `labels.csv` is
written, or the same for all. A worker has one answer to a question, so what is there already is skipped, and importing
a file twice adds nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from crowdclust_app.domain.campaign import Item
from crowdclust_app.domain.errors import UserError
from crowdclust_app.domain.names import Names, truth_value
from crowdclust_app.domain.questions import LONGEST_SENTENCE, AnswerKind, Policy
from crowdclust_app.io.label_tables import LabelRows
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.fits.sources import near_miss
from crowdclust_app.services.verify.interview import MOST_WANTED, USUAL_METHOD
from crowdclust_app.storage import catalogue, questions
from crowdclust_app.storage.connection import Connection
from crowdclust_app.storage.times import now


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
    sentence: str
    item: int
    worker: str
    said: AnswerKind


@dataclass(slots=True)
class _Table:
    """The rows of a table that count, checked against the campaign; `new_items` are those that it has not yet."""

    rows: list[_Row] = field(default_factory=list)
    new_items: list[Item] = field(default_factory=list)
    missing: int = 0


def add_labels(campaign: Campaign, file: Path, read: LabelRows, question: str | None, names: Names) -> LabelsAdded:
    """Add labels to the question sets of a campaign, in one transaction.

    Parameters
    ----------
    read
        The table; its tasks are items.
    question
        What was asked; what the table says, else the name of the file, when None.
    names
        Of the items.

    Raises
    ------
    UserError
        With file and line, when a label is neither yes nor no, or an item is not in the campaign; nothing is changed.
    """
    moment = now()
    with campaign.database.write() as connection:
        table = _checked(connection, file, read, question, names)
        catalogue.insert_items(connection, table.new_items)
        known = {worker.name: worker.number for worker in catalogue.workers(connection)}
        new_workers = list(dict.fromkeys(row.worker for row in table.rows if row.worker not in known))
        known |= {worker.name: worker.number for worker in catalogue.insert_workers(connection, new_workers, moment)}
        sets, made = _sets(connection, table)
        new, contradicting = _new(connection, table, known, sets)
        questions.insert_answers(connection, new, moment)
        if new or table.new_items:
            catalogue.bump_revision(connection)
    warnings: list[str] = []
    warnings += [f"The question set {number} has been made: {sentence}" for number, sentence in made]
    if table.missing:
        warnings.append(f"{table.missing:,} rows have no label.")
    if contradicting:
        warnings.append(f"{contradicting:,} labels differ from what the same worker said first, which stays.")
    return LabelsAdded(len(new), len(read.task) - len(new), tuple(warnings))


def _checked(connection: Connection, file: Path, read: LabelRows, question: str | None, names: Names) -> _Table:
    usual = f"Labels of {file.name}"
    asked = [question] * len(read.task) if question else list(read.question) or [usual] * len(read.task)
    number = {name: at for at, name in enumerate(catalogue.item_paths(connection))}
    takes_items = not catalogue.has_images(connection)
    table = _Table()
    for at, (task, worker, label) in enumerate(zip(read.task, read.worker, read.label, strict=True)):
        where = f"{file}, line {read.lines[at]}"
        sentence = " ".join((asked[at] or usual).split())
        if len(sentence) > LONGEST_SENTENCE:
            raise UserError(f"the question is longer than {LONGEST_SENTENCE} letters", where=where, todo="shorten it")
        if task not in number and task.partition(":")[0].isdecimal():
            task = names(task.partition(":")[2])  # of several questions: the number of its set, a colon, the item
        if task not in number:
            if not takes_items:
                todo = "name items by their path below the folder of the images"
                what = f"the item {task} is not in the campaign{near_miss(names, [task])}"
                raise UserError(what, where=where, todo=todo)
            number[task] = len(number)
            table.new_items.append(Item(number[task], task))
        if label is None:
            table.missing += 1
            continue
        yes = truth_value(label)
        if yes is None:
            raise UserError(f"the label {label} is neither yes nor no", where=where, todo="write yes or no, or 1 or 0")
        table.rows.append(_Row(sentence, number[task], worker, AnswerKind.YES if yes else AnswerKind.NO))
    if not table.rows:
        raise UserError("the table has no label", where=str(file), todo="write yes or no in the column label")
    return table


_Asked = tuple[str, int]


def _sets(connection: Connection, table: _Table) -> tuple[dict[_Asked, int], list[tuple[int, str]]]:
    """The set that asks each question of each item, and those that were made, by number and sentence."""
    sets: dict[_Asked, int] = {}
    for asked in questions.sets(connection):
        sets |= {(asked.sentence, item): asked.number for item in asked.items}
    workers: dict[str, dict[int, set[str]]] = {}
    for row in table.rows:
        if (row.sentence, row.item) not in sets:
            workers.setdefault(row.sentence, {}).setdefault(row.item, set()).add(row.worker)
    made = []
    for sentence, asked_of in workers.items():
        number = questions.insert_set(
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
        sets |= {(sentence, item): number for item in asked_of}
        made.append((number, sentence))
    return sets, made


_New = tuple[int, int, int, AnswerKind]


def _new(
    connection: Connection, table: _Table, workers: dict[str, int], sets: dict[_Asked, int]
) -> tuple[list[_New], int]:
    """Set, item, worker and answer of what nobody has said yet, and how many labels contradict an earlier one."""
    said: dict[tuple[int, int, int], AnswerKind] = {}
    for number in {sets[row.sentence, row.item] for row in table.rows}:
        for answer in questions.standing_answers(connection, number):
            said[number, answer.item, answer.worker] = answer.said
    new: list[_New] = []
    contradicting = 0
    for row in table.rows:
        key = (sets[row.sentence, row.item], row.item, workers[row.worker])
        if key in said:
            contradicting += said[key] is not row.said
        else:
            said[key] = row.said
            new.append((*key, row.said))
    return new, contradicting
