"""Hash chains over answers, by which a check finds which of them was changed after it was stored.

Each event of an assignment holds a hash of itself and of the event before it; the first, of what the assignment is. A
response holds one of itself and of the last event, an assignment the last hash of its log. Answers to yes/no questions
are chained by question and worker. Nothing is chained over the whole campaign, so copies can be merged. This finds
faulty disks and programs and careless hands; who means to deceive can compute hashes too.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from operator import itemgetter
from typing import NamedTuple


class Link(NamedTuple):
    """A row of a table with the hash that it holds and the one that its content has."""

    table: str
    number: int
    stored: str
    computed: str


class Break(NamedTuple):
    """An answer that is not what was stored."""

    sentence: str
    assignment: int | None


def link(previous: str, *content: object) -> str:
    """The hash of a row after another's, 32 hexadecimal digits.

    Examples
    --------
    >>> link("", "place", 1.5)
    'a60b8edae19e72302a272c4ffef5acae'
    """
    written = json.dumps([previous, *content], separators=(",", ":"), default=repr)  # what a damaged file may hold, too
    return hashlib.sha256(written.encode()).hexdigest()[:32]


def begin(identifier: str, hit: str, worker: str, started_at: str, item_order: str | None) -> str:
    """The hash from which the log of an assignment goes on."""
    return link(identifier, hit, worker, started_at, item_order)


def event(previous: str, at: str, kind: str, placements: str | None, active_seconds: float | None) -> str:
    """The hash of an event after the one before it."""
    return link(previous, at, kind, placements, _real(active_seconds))


def response(
    head: str,
    superseded: str | None,
    facts: tuple[str, float | None, float | None, str, str | None],
    grouping: Sequence[tuple[str, int]],
    names: Iterable[tuple[int, str | None, str | None]],
) -> str:
    """The hash of a response.

    Parameters
    ----------
    head
        The last hash of its assignment's log.
    superseded
        The hash of the response that it takes the place of, if any.
    facts
        When it was submitted, wall and active seconds, source, comment.
    grouping
        Path and group of each item, in the order of their positions.
    names
        Number, label and name of the groups that have one.
    """
    at, wall, active, source, comment = facts
    named = sorted(map(list, names), key=itemgetter(0))
    return link(head, superseded, at, _real(wall), _real(active), source, comment, list(map(list, grouping)), named)


def question(identifier: str, sentence: str, item: str, worker: str) -> str:
    """The hash from which a worker's answers to a question go on."""
    return link(identifier, sentence, item, worker)


def answer(previous: str, kind: str, seconds: float, at: str) -> str:
    """The hash of an answer to a question, or of taking one back, after the one before it."""
    return link(previous, kind, _real(seconds), at)


def links(connection: sqlite3.Connection, *, trust: bool) -> Iterator[Link]:
    """Every hash of a campaign, computed again.

    Parameters
    ----------
    trust
        Whether a hash is computed from the stored hash before it, so that a change is found once and not in all that
        follows, or from the computed one, to make the chains of a file.
    """
    (identifier,) = connection.execute("SELECT identifier FROM campaign").fetchone()
    assignments = connection.execute(
        """
        SELECT a.number, a.head, h.name, w.name, a.started_at, a.item_order FROM assignments a
        JOIN hits h ON h.number = a.hit JOIN workers w ON w.number = a.worker
        """
    ).fetchall()
    heads = {number: begin(identifier, *what) for number, _, *what in assignments}
    for assignment, number, *content, stored in connection.execute(
        "SELECT assignment, number, at, kind, placements, active_seconds, hash FROM events ORDER BY assignment, number"
    ):
        if assignment in heads:
            computed = event(heads[assignment], *content)
            yield Link("events", number, stored, computed)
            heads[assignment] = stored if trust else computed
    for number, head, *_ in assignments:
        yield Link("assignments", number, head, heads[number])
        if trust:
            heads[number] = head
    yield from _responses(connection, heads, trust)
    previous_of: dict[tuple[int, int, int], str] = {}
    for number, of_set, item, worker, sentence, path, name, kind, seconds, at, stored in connection.execute(
        """
        SELECT e.number, e.question_set, e.item, e.worker, s.sentence, i.path, w.name, e.kind, e.seconds, e.at, e.hash
        FROM question_events e JOIN question_sets s ON s.number = e.question_set JOIN items i ON i.number = e.item
        JOIN workers w ON w.number = e.worker ORDER BY e.number
        """
    ):
        before = previous_of.get((of_set, item, worker)) or question(identifier, sentence, path, name)
        computed = answer(before, kind, seconds, at)
        yield Link("question_events", number, stored, computed)
        previous_of[of_set, item, worker] = stored if trust else computed


def _responses(connection: sqlite3.Connection, heads: dict[int, str], trust: bool) -> Iterator[Link]:
    names: dict[int, list[tuple[int, str | None, str | None]]] = defaultdict(list)
    for number, *named in connection.execute("SELECT response, grp, label, name FROM response_groups"):
        names[number].append((named[0], named[1], named[2]))
    sealed: dict[int, str] = {}
    paths = dict(connection.execute("SELECT number, path FROM items"))
    for number, assignment, at, wall, active, source, comment, supersedes, stored in connection.execute(
        """
        SELECT number, assignment, submitted_at, wall_seconds, active_seconds, source, comment, supersedes, hash
        FROM responses ORDER BY number
        """
    ):
        grouping = connection.execute(_GROUPING, (number,))
        computed = response(
            heads.get(assignment, ""),
            None if supersedes is None else sealed.get(supersedes, ""),
            (at, wall, active, source, comment),
            [(paths.get(item, ""), group) for item, group in grouping],
            names.get(number, ()),
        )
        yield Link("responses", number, stored, computed)
        sealed[number] = stored if trust else computed


def chain(connection: sqlite3.Connection) -> None:
    """Give every answer of a campaign its hash."""
    made = list(links(connection, trust=False))
    for table, column in COLUMNS.items():
        connection.executemany(
            f"UPDATE {table} SET {column} = ? WHERE number = ?",
            [(computed, number) for of_table, number, stored, computed in made if of_table == table],
        )


_GROUPING = "SELECT item, grp FROM response_items WHERE response = ? ORDER BY position"
# Where the tables keep their hashes.
COLUMNS = {"events": "hash", "assignments": "head", "responses": "hash", "question_events": "hash"}
_OF_ASSIGNMENT = """
    FROM {table} t JOIN assignments a ON a.number = {assignment} JOIN hits h ON h.number = a.hit
    JOIN workers w ON w.number = a.worker WHERE t.number = ?
    """
_SENTENCES = {
    "events": (
        "SELECT h.name, w.name, t.at, a.number" + _OF_ASSIGNMENT.format(table="events", assignment="t.assignment"),
        "The action of {1} in {0} at {2} is not what was stored, or one before it is missing.",
    ),
    "assignments": (
        "SELECT h.name, w.name, '', a.number" + _OF_ASSIGNMENT.format(table="assignments", assignment="t.number"),
        "The last actions of {1} in {0} are missing, or they are not what was stored.",
    ),
    "responses": (
        "SELECT h.name, w.name, '', a.number" + _OF_ASSIGNMENT.format(table="responses", assignment="t.assignment"),
        "The response of {1} to {0} is not what was stored.",
    ),
    "question_events": (
        """
        SELECT i.path, w.name, t.question_set, NULL FROM question_events t JOIN items i ON i.number = t.item
        JOIN workers w ON w.number = t.worker WHERE t.number = ?
        """,
        "What {1} said about {0} in the question set {2} is not what was stored, or an answer before it is missing.",
    ),
}


def breaks(connection: sqlite3.Connection) -> Iterator[Break]:
    """Answers that were changed after they were stored, or are missing."""
    for found in links(connection, trust=True):
        if found.stored == found.computed:
            continue
        query, sentence = _SENTENCES[found.table]
        row = connection.execute(query, (found.number,)).fetchone()
        if row is not None:  # else it refers to a missing row, which another check says
            yield Break(sentence.format(*row), row[-1])
    for table, things in (("events", "actions"), ("question_events", "answers to questions")):
        last = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = ?", (table,)).fetchone()
        (count,) = connection.execute(f"SELECT count(*) FROM {table}").fetchone()
        if last is not None and count < last[0]:
            yield Break(f"{last[0] - count:,} {things} that were stored are missing.", None)


def _real(value: float | None) -> float | None:
    """A number as SQLite gives it back: whole numbers as real ones, no negative zero."""
    return float(value) + 0.0 if isinstance(value, int | float) else value
