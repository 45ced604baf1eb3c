"""Assignments, their log of events, and the responses that come of them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any

from sqlalchemy import Connection, TextClause, func, insert, select, text, update

from crowdclust_app.domain.campaign import Assignment, AssignmentStatus
from crowdclust_app.domain.sorting import Action, ActionKind
from crowdclust_app.storage import chain, schema
from crowdclust_app.storage.catalogue import texts
from crowdclust_app.storage.times import from_text, to_text

SUBMIT, SKIP, LAPSE = "submit", "skip", "lapse"
# HITs that a worker has between one and its repeat.
REPEAT_GAP = 3


@dataclass(frozen=True, slots=True)
class AssignmentRow:
    """An assignment with what the lease and the log's next hash need."""

    assignment: Assignment
    last_event_at: datetime
    head: str


@dataclass(frozen=True, slots=True)
class NewResponse:
    """One submitted grouping on its way into the file.

    Parameters
    ----------
    assignment
        Whose; it is submitted already.
    items, groups
        Item numbers and group numbers from 1, aligned.
    group_names
        `(group, label, name)` of the groups whose label in the table is not their number, or that have a name.
    source
        "window", "import" or "revision".
    """

    assignment: int
    items: Sequence[int]
    groups: Sequence[int]
    submitted_at: datetime
    source: str
    wall_seconds: float | None = None
    active_seconds: float | None = None
    supersedes: int | None = None
    group_names: tuple[tuple[int, str | None, str | None], ...] = ()
    comment: str | None = None


def find_assignment(connection: Connection, number: int) -> AssignmentRow | None:
    """One assignment by number."""
    return _one(connection, "a.number = :value", number)


def open_assignment(connection: Connection, worker: int) -> AssignmentRow | None:
    """The assignment that this worker has begun and not ended."""
    return _one(connection, "a.status = 'open' AND a.worker = :value", worker)


@cache
def _assignments_where(condition: str) -> TextClause:
    return text("SELECT a.*, h.name AS hit_name FROM assignments a JOIN hits h ON h.number = a.hit WHERE " + condition)


def _one(connection: Connection, condition: str, value: int) -> AssignmentRow | None:
    row = connection.execute(_assignments_where(condition), {"value": value}).one_or_none()
    if row is None:
        return None
    order = json.loads(row.item_order) if row.item_order else hit_items(connection, row.hit)
    status = AssignmentStatus(row.status)
    submitted = from_text(row.closed_at) if status is AssignmentStatus.SUBMITTED else None
    return AssignmentRow(
        Assignment(
            number=row.number,
            hit=row.hit,
            hit_name=row.hit_name,
            worker=row.worker,
            status=status,
            items=tuple(order),
            started_at=from_text(row.started_at),
            submitted_at=submitted,
            active_seconds=row.active_seconds,
        ),
        from_text(row.last_event_at),
        row.head,
    )


def hit_items(connection: Connection, hit: int) -> tuple[int, ...]:
    """The items of a HIT in plan order."""
    inside = schema.hit_items.c
    return tuple(connection.execute(select(inside.item).where(inside.hit == hit).order_by(inside.position)).scalars())


def next_hit(connection: Connection, worker: int, lease_start: datetime) -> tuple[int, str] | None:
    """The HIT to hand to this worker: fewest submitted responses, then plan order.

    HITs of all stages, but for the removed ones. Open assignments that moved since `lease_start` hold their place among
    the R; a HIT that this worker ever had is out. A repeat goes only to who submitted the HIT that it repeats, after
    `REPEAT_GAP` others.
    """
    row = connection.execute(
        text(
            """
            WITH held AS (
                SELECT hit, count(*) AS n FROM assignments
                WHERE status = 'open' AND last_event_at >= :lease_start GROUP BY hit)
            SELECT h.number, h.name
            FROM hits h LEFT JOIN held ON held.hit = h.number
            WHERE h.stage NOT IN (SELECT name FROM stages WHERE removed_at IS NOT NULL)
              AND h.submitted < h.workers_wanted AND h.submitted + coalesce(held.n, 0) < h.workers_wanted
              AND NOT EXISTS (SELECT 1 FROM assignments mine WHERE mine.hit = h.number AND mine.worker = :worker)
              AND (h.repeats IS NULL OR EXISTS (
                  SELECT 1 FROM assignments a WHERE a.hit = h.repeats AND a.worker = :worker AND a.status = 'submitted'
                    AND (SELECT count(*) FROM assignments s WHERE s.worker = :worker AND s.number > a.number) >= :gap))
            ORDER BY h.submitted, h.position
            LIMIT 1
            """
        ),
        {"worker": worker, "lease_start": to_text(lease_start), "gap": REPEAT_GAP},
    ).one_or_none()
    return None if row is None else (row.number, row.name)


_HAS_ROOM = text(
    """
    SELECT h.workers_wanted > (
        SELECT count(*) FROM assignments a WHERE a.hit = h.number AND a.number <> :number
        AND (a.status = 'submitted' OR (a.status = 'open' AND a.last_event_at >= :lease_start)))
    FROM hits h WHERE h.number = :hit
    """
)


def has_room(connection: Connection, assignment: Assignment, lease_start: datetime) -> bool:
    """Whether the HIT still wants this worker, when everybody else who holds or did it is counted."""
    return bool(
        connection.execute(
            _HAS_ROOM, {"hit": assignment.hit, "number": assignment.number, "lease_start": to_text(lease_start)}
        ).scalar_one()
    )


def remaining_hits(connection: Connection, worker: int, lease_start: datetime) -> int:
    """How many HITs could be handed to this worker now, the open one not counted."""
    return int(
        connection.execute(
            text(
                """
                WITH held AS (
                    SELECT hit, count(*) AS n FROM assignments
                    WHERE status = 'open' AND last_event_at >= :lease_start GROUP BY hit)
                SELECT count(*) FROM hits h LEFT JOIN held ON held.hit = h.number
                WHERE h.stage NOT IN (SELECT name FROM stages WHERE removed_at IS NOT NULL)
                  AND h.submitted < h.workers_wanted AND h.submitted + coalesce(held.n, 0) < h.workers_wanted
                  AND NOT EXISTS (SELECT 1 FROM assignments m WHERE m.hit = h.number AND m.worker = :worker)
                  AND (h.repeats IS NULL OR EXISTS (
                      SELECT 1 FROM assignments a
                      WHERE a.hit = h.repeats AND a.worker = :worker AND a.status = 'submitted'))
                """
            ),
            {"worker": worker, "lease_start": to_text(lease_start)},
        ).scalar_one()
    )


def status_counts(connection: Connection, worker: int) -> dict[str, int]:
    """How many assignments of this worker are open, submitted, skipped."""
    columns = schema.assignments.c
    statement = select(columns.status, func.count()).where(columns.worker == worker).group_by(columns.status)
    return {row[0]: row[1] for row in connection.execute(statement)}


def insert_assignment(
    connection: Connection, *, hit: int, worker: int, item_order: Sequence[int], started_at: datetime
) -> int:
    """Give a HIT to a worker; returns the assignment's number."""
    number = _next_assignment_number(connection)
    order = json.dumps(list(item_order), separators=(",", ":"))
    began = to_text(started_at)
    identifier, hit_name, worker_name = connection.execute(_NAMES, {"hit": hit, "worker": worker}).one()
    connection.execute(
        insert(schema.assignments).values(
            number=number,
            hit=hit,
            worker=worker,
            status=AssignmentStatus.OPEN.value,
            item_order=order,
            started_at=began,
            last_event_at=began,
            head=chain.begin(identifier, hit_name, worker_name, began, order),
        )
    )
    return number


_NAMES = text(
    """
    SELECT (SELECT identifier FROM campaign), (SELECT name FROM hits WHERE number = :hit),
           (SELECT name FROM workers WHERE number = :worker)
    """
)


def _next_assignment_number(connection: Connection) -> int:
    return int(connection.execute(select(func.coalesce(func.max(schema.assignments.c.number) + 1, 1))).scalar_one())


def renew(connection: Connection, number: int, now: datetime) -> None:
    """Start the lease of an assignment anew."""
    columns = schema.assignments.c
    connection.execute(update(schema.assignments).where(columns.number == number).values(last_event_at=to_text(now)))


def close(
    connection: Connection,
    row: AssignmentRow,
    status: AssignmentStatus,
    event: str,
    active_seconds: float,
    now: datetime,
) -> None:
    """End an assignment, with the event that says how."""
    append_event(connection, row, event, None, active_seconds, now)
    columns = schema.assignments.c
    connection.execute(
        update(schema.assignments)
        .where(columns.number == row.assignment.number)
        .values(status=status.value, closed_at=to_text(now))
    )


def append_event(
    connection: Connection,
    row: AssignmentRow,
    kind: str,
    placements: Iterable[tuple[int, int]] | None,
    active_seconds: float,
    now: datetime,
) -> int:
    """Add to the log, and let the lease and the active time of the assignment follow it; returns the event's number."""
    at = to_text(now)
    placed = None if placements is None else json.dumps([list(p) for p in placements], separators=(",", ":"))
    values = {
        "assignment": row.assignment.number,
        "at": at,
        "kind": kind,
        "placements": placed,
        "active_seconds": active_seconds,
        "hash": chain.event(row.head, at, kind, placed, active_seconds),
    }
    number = connection.execute(_ADD_EVENT, values).lastrowid
    connection.execute(_FOLLOW_EVENT, values)
    return number


# Built once: an action is stored a few times a second, and building a statement takes as long as running it.
_ADD_EVENT = text(
    "INSERT INTO events (assignment, at, kind, placements, active_seconds, hash) "
    "VALUES (:assignment, :at, :kind, :placements, :active_seconds, :hash)"
)
_FOLLOW_EVENT = text(
    "UPDATE assignments SET last_event_at = :at, active_seconds = max(active_seconds, :active_seconds), head = :hash "
    "WHERE number = :assignment"
)
_OF_GROUPS = f"assignment = :assignment AND kind IN ({', '.join(repr(kind.value) for kind in ActionKind)})"
_LAST_ACTION = text(f"SELECT max(number) FROM events WHERE {_OF_GROUPS}")
_ACTIONS = text(f"SELECT kind, placements FROM events WHERE {_OF_GROUPS} ORDER BY number")


def last_action(connection: Connection, assignment: int) -> int:
    """Number of the last event of `actions`; 0 when there is none."""
    return int(connection.execute(_LAST_ACTION, {"assignment": assignment}).scalar_one() or 0)


def actions(connection: Connection, assignment: int) -> tuple[Action, ...]:
    """What the worker did to the groups, oldest first."""
    return tuple(
        Action(ActionKind(row.kind), tuple((p, g) for p, g in json.loads(row.placements)) if row.placements else ())
        for row in connection.execute(_ACTIONS, {"assignment": assignment})
    )


def insert_flag(connection: Connection, assignment: Assignment, item: int, reason: str, now: datetime) -> None:
    """Store that a worker found something wrong with an item; saying it twice changes nothing."""
    connection.execute(
        insert(schema.flags)
        .prefix_with("OR IGNORE")
        .values(item=item, worker=assignment.worker, assignment=assignment.number, reason=reason, at=to_text(now))
    )


def insert_responses(connection: Connection, new: Sequence[NewResponse]) -> None:
    """Store submitted groupings: their items first, then the rows that seal them."""
    first = int(connection.execute(select(func.coalesce(func.max(schema.responses.c.number) + 1, 1))).scalar_one())
    numbered = list(enumerate(new, start=first))
    # Straight to the driver: imports come with a million of these rows.
    connection.exec_driver_sql(
        "INSERT INTO response_items (response, item, position, grp) VALUES (?, ?, ?, ?)",
        [
            (number, int(item), position, int(group))
            for number, answer in numbered
            for position, (item, group) in enumerate(zip(answer.items, answer.groups, strict=True))
        ],
    )
    named = [
        {"response": number, "grp": group, "label": label, "name": name}
        for number, answer in numbered
        for group, label, name in answer.group_names
    ]
    if named:
        connection.execute(insert(schema.response_groups), named)
    connection.execute(
        insert(schema.responses),
        [
            {
                "number": number,
                "assignment": answer.assignment,
                "submitted_at": to_text(answer.submitted_at),
                "wall_seconds": answer.wall_seconds,
                "active_seconds": answer.active_seconds,
                "source": answer.source,
                "supersedes": answer.supersedes,
                "comment": answer.comment,
                "hash": sealed,
            }
            for (number, answer), sealed in zip(numbered, _hashes(connection, new), strict=True)
        ],
    )


def _hashes(connection: Connection, new: Sequence[NewResponse]) -> list[str]:
    """The hash of each response."""
    heads = texts(connection, "SELECT number, head FROM assignments", (answer.assignment for answer in new))
    earlier = texts(connection, "SELECT number, hash FROM responses", (answer.supersedes for answer in new))
    paths = texts(connection, "SELECT number, path FROM items", (item for answer in new for item in answer.items))
    return [
        chain.response(
            heads[answer.assignment],
            None if answer.supersedes is None else earlier[answer.supersedes],
            (to_text(answer.submitted_at), answer.wall_seconds, answer.active_seconds, answer.source, answer.comment),
            [(paths[item], int(group)) for item, group in zip(answer.items, answer.groups, strict=True)],
            answer.group_names,
        )
        for answer in new
    ]


def insert_finished(connection: Connection, finished: Sequence[tuple[int, int, datetime, datetime, float]]) -> int:
    """Add submitted assignments (HIT, worker, beginning, end, active seconds); returns the number of the first."""
    first = _next_assignment_number(connection)
    identifier = connection.exec_driver_sql("SELECT identifier FROM campaign").scalar_one()
    hits, workers = (
        {row[0]: row[1] for row in connection.exec_driver_sql(f"SELECT number, name FROM {table}")}
        for table in ("hits", "workers")
    )
    connection.execute(
        insert(schema.assignments),
        [
            {
                "number": number,
                "hit": hit,
                "worker": worker,
                "status": AssignmentStatus.SUBMITTED.value,
                "item_order": None,
                "started_at": to_text(began),
                "last_event_at": to_text(ended),
                "closed_at": to_text(ended),
                "active_seconds": active,
                "head": chain.begin(identifier, hits[hit], workers[worker], to_text(began), None),
            }
            for number, (hit, worker, began, ended, active) in enumerate(finished, start=first)
        ],
    )
    return first


def current_response(connection: Connection, assignment: int) -> int | None:
    """The response of an assignment that no other supersedes."""
    value = connection.execute(
        text("SELECT response FROM current_responses WHERE assignment = :a"), {"a": assignment}
    ).scalar_one_or_none()
    return None if value is None else int(value)


def statuses(connection: Connection) -> dict[tuple[int, int], str]:
    """Status of every assignment by HIT and worker."""
    columns = schema.assignments.c
    rows = connection.execute(select(columns.hit, columns.worker, columns.status))
    return {(row.hit, row.worker): row.status for row in rows}


_IN_ORDER = "ORDER BY submitted_at, response"


def current_responses(connection: Connection, stage: str | None) -> list[Any]:
    """Rows (response, hit, worker, its times, assignment) of a stage (None: of all), by submission."""
    statement = text(
        "SELECT response, hit, worker, submitted_at, wall_seconds, active_seconds, assignment FROM current_responses "
        f"WHERE :stage IS NULL OR stage = :stage {_IN_ORDER}"
    )
    return list(connection.execute(statement, {"stage": stage}))


def tables_moment(connection: Connection) -> tuple[int, ...]:
    """Figures that grow whenever something is added that a table of responses is made of.

    Nothing of it is ever changed or deleted, so counting is enough.
    """
    counted = """
        SELECT (SELECT coalesce(max(number), 0) FROM responses), (SELECT coalesce(max(number), 0) FROM decisions),
               (SELECT count(*) FROM items), (SELECT count(*) FROM workers), (SELECT count(*) FROM hits),
               (SELECT count(*) FROM stage_items)
    """
    return tuple(int(value) for value in connection.execute(text(counted)).one())


def count_response_items(connection: Connection) -> int:
    """How many items the current responses of all stages hold together."""
    counted = "SELECT count(*) FROM response_items i JOIN current_responses r ON r.response = i.response"
    return int(connection.execute(text(counted)).scalar_one())


def all_response_items(connection: Connection) -> Iterator[Sequence[tuple[int, int, int, int]]]:
    """Rows (response, position, item, group) of every response ever stored, in pieces."""
    # Straight from the driver: a million rows, and nothing to be gained from naming their columns.
    result = connection.exec_driver_sql("SELECT response, position, item, grp FROM response_items")
    cursor = result.cursor
    assert cursor is not None
    while rows := cursor.fetchmany(50_000):
        yield rows
    result.close()


def group_labels(connection: Connection) -> dict[tuple[int, int], str]:
    """What a table called a group, by response and group, where that was not the group's number."""
    columns = schema.response_groups.c
    rows = connection.execute(select(columns.response, columns.grp, columns.label).where(columns.label.is_not(None)))
    return {(row.response, row.grp): row.label for row in rows}
