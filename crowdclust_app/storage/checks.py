"""Look for what should not be in a campaign file: one sentence a problem, nothing is changed."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from crowdclust_app.domain.sorting import Action, ActionKind, Sorting
from crowdclust_app.storage import schema
from crowdclust_app.storage.chain import breaks
from crowdclust_app.storage.failures import DamagedError
from crowdclust_app.storage.probe import inspect, reading

AT_MOST = 20

# Each gives one row a problem, the values for its sentence.
_QUERIES = (
    (
        """
        SELECT h.name, w.name FROM responses r JOIN assignments a ON a.number = r.assignment
        JOIN hits h ON h.number = a.hit JOIN workers w ON w.number = a.worker
        WHERE EXISTS (SELECT item FROM hit_items WHERE hit = a.hit
                      EXCEPT SELECT item FROM response_items WHERE response = r.number)
           OR EXISTS (SELECT item FROM response_items WHERE response = r.number
                      EXCEPT SELECT item FROM hit_items WHERE hit = a.hit)
        """,
        "The response of {1} to {0} does not cover exactly the items of its HIT.",
    ),
    (
        """
        SELECT h.name, h.workers_wanted, count(*) FROM hits h JOIN assignments a ON a.hit = h.number
        WHERE a.status = 'submitted' AND h.workers_wanted > 0
        GROUP BY h.number HAVING count(*) > h.workers_wanted
        """,
        "The HIT {0} was done by {2} workers, more than the {1} it wants.",
    ),
    (
        """
        SELECT h.name, h.submitted FROM hits h
        WHERE h.submitted <> (SELECT count(*) FROM assignments a WHERE a.hit = h.number AND a.status = 'submitted')
        """,
        "The HIT {0} counts {1} submissions, which is not how many it has.",
    ),
    (
        """
        SELECT h.name, w.name FROM assignments a JOIN hits h ON h.number = a.hit JOIN workers w ON w.number = a.worker
        GROUP BY a.hit, a.worker HAVING count(*) > 1
        """,
        "The HIT {0} was handed to {1} more than once.",
    ),
    (
        """
        SELECT h.name, w.name FROM assignments a JOIN hits h ON h.number = a.hit JOIN workers w ON w.number = a.worker
        WHERE (a.status = 'submitted') <> EXISTS (SELECT 1 FROM responses r WHERE r.assignment = a.number)
        """,
        "Whether {1} has submitted {0} is told in two ways: the assignment and the responses disagree.",
    ),
    (
        """
        SELECT r.number, r.assignment FROM responses r JOIN responses e ON e.number = r.supersedes
        WHERE e.assignment <> r.assignment
        """,
        "The response {0} supersedes one of another assignment.",
    ),
    (
        "SELECT h.name FROM hits h WHERE NOT EXISTS (SELECT 1 FROM hit_items i WHERE i.hit = h.number)",
        "The HIT {0} has no items.",
    ),
    (
        """
        SELECT name FROM (
            SELECT 'items' AS name, min(number) AS low, max(number) AS high, count(*) AS n FROM items
            UNION ALL SELECT 'workers', min(number), max(number), count(*) FROM workers)
        WHERE n > 0 AND (low <> 0 OR high <> n - 1)
        """,
        "The numbers of the {0} have a gap.",
    ),
    (
        """
        SELECT a.question_set, i.path, w.name FROM standing_answers a JOIN items i ON i.number = a.item
        JOIN workers w ON w.number = a.worker
        GROUP BY a.question_set, a.item, a.worker HAVING count(*) > 1
        """,
        "In the question set {0}, {2} has answered more than once about {1}.",
    ),
    (
        """
        SELECT u.number FROM question_events u JOIN question_events e ON e.number = u.undoes
        WHERE e.kind = 'undo' OR e.number > u.number OR e.worker <> u.worker OR e.item <> u.item
           OR e.question_set <> u.question_set
        """,
        "The event {0} takes back what was no answer of this worker to this question.",
    ),
    (
        """
        SELECT s.number FROM question_sets s
        WHERE NOT EXISTS (SELECT 1 FROM questions q WHERE q.question_set = s.number)
        """,
        "The question set {0} has no items.",
    ),
    (
        """
        SELECT h.name, h.stage FROM hits h JOIN stages s ON s.name = h.stage
        WHERE s.parent IS NOT NULL
          AND EXISTS (SELECT item FROM hit_items WHERE hit = h.number
                      EXCEPT SELECT item FROM stage_items WHERE stage = h.stage)
        """,
        "The HIT {0} shows items that its stage {1} does not have.",
    ),
    (
        """
        SELECT s.name, s.run, s.parent FROM stages s JOIN runs r ON r.number = s.run WHERE r.stage IS NOT s.parent
        """,
        "The stage {0} is said to come from run {1}, which is not of {2}.",
    ),
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a look at a campaign file found.

    Parameters
    ----------
    problems
        One sentence each.
    readable
        Whether its tables can be read, so that more can be checked.
    """

    problems: tuple[str, ...]
    readable: bool


def look(path: Path) -> Verdict:
    """Find what is wrong with a campaign file.

    Raises
    ------
    UserError
        When it is no campaign file at all, or one of a newer version.
    """
    try:
        version = inspect(path)
    except DamagedError as error:
        return Verdict((_sentence(error),), readable=False)
    if version < schema.SCHEMA_VERSION:
        sentence = (
            f"The file is of the older format {version}; open it once with this Crowdclust to bring it up to date."
        )
        return Verdict((sentence,), readable=False)
    found: list[str] = []
    try:
        with reading(path) as connection:
            connection.execute("BEGIN")
            try:
                found.extend(_found(connection))
            finally:
                connection.execute("ROLLBACK")
    except DamagedError as error:  # deeper than the first look went
        found.append(_sentence(error))
        return Verdict(tuple(found), readable=False)
    return Verdict(tuple(found), readable=True)


def _sentence(error: DamagedError) -> str:
    return f"{error.what[0].upper()}{error.what[1:]}."


def _found(connection: sqlite3.Connection) -> Iterator[str]:
    for (verdict,) in connection.execute(f"PRAGMA integrity_check({AT_MOST})"):
        if verdict != "ok":
            yield f"The file is damaged: {str(verdict).splitlines()[-1]}."
    for table, row, parent, _ in connection.execute("PRAGMA foreign_key_check").fetchmany(AT_MOST):
        yield f"Row {row} of {table} refers to a missing row of {parent}."
    for query, sentence in _QUERIES:
        for row in connection.execute(query).fetchmany(AT_MOST):
            yield sentence.format(*row)
    yield from _orders(connection)
    yield from _logs(connection)
    for found in islice(breaks(connection), AT_MOST):
        yield found.sentence


def _orders(connection: sqlite3.Connection) -> Iterator[str]:
    """Assignments that show other photos than their HIT has."""
    members: dict[int, list[int]] = {}
    for hit, item in connection.execute("SELECT hit, item FROM hit_items ORDER BY hit, item"):
        members.setdefault(hit, []).append(item)
    for number, hit, order in connection.execute(
        "SELECT number, hit, item_order FROM assignments WHERE item_order IS NOT NULL"
    ):
        try:
            shown = sorted(json.loads(order))
        except (ValueError, TypeError, RecursionError):
            shown = []
        if shown != members.get(hit, []):
            yield f"The order of photos of assignment {number} is not one of its HIT's items."


def _logs(connection: sqlite3.Connection) -> Iterator[str]:
    """Logs that cannot have happened, and responses that are not what their log says."""
    for number, order, response in connection.execute(
        """
        SELECT a.number, a.item_order, r.number FROM assignments a
        LEFT JOIN responses r ON r.assignment = a.number AND r.source = 'window'
        WHERE a.item_order IS NOT NULL
        """
    ):
        try:
            items = json.loads(order)
            sorting = Sorting(len(items), _actions(connection, number))
        except (ValueError, TypeError, RecursionError):
            yield f"The log of assignment {number} cannot have happened as it is stored."
            continue
        if response is None:
            continue
        stored = dict(connection.execute("SELECT item, grp FROM response_items WHERE response = ?", (response,)))
        if stored != dict(zip(items, sorting.groups, strict=True)):
            yield f"The response {response} is not what the log of assignment {number} leads to."


def _actions(connection: sqlite3.Connection, assignment: int) -> Iterator[Action]:
    kinds = {kind.value for kind in ActionKind}
    for kind, placements in connection.execute(
        "SELECT kind, placements FROM events WHERE assignment = ? ORDER BY number", (assignment,)
    ):
        if kind in kinds:
            yield Action(ActionKind(kind), tuple((p, g) for p, g in json.loads(placements)) if placements else ())
