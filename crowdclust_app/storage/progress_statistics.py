"""Who has what open, and when responses came; changes to plans that are under way."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Connection, text, update

from crowdclust_app.storage import schema
from crowdclust_app.storage.times import from_text


class OpenRow(NamedTuple):
    """One open assignment by names; `placed` counts the actions so far."""

    worker: str
    hit: str
    stage: str
    items: int
    started_at: datetime
    last_event_at: datetime
    actions: int


def open_rows(connection: Connection) -> tuple[OpenRow, ...]:
    """Every open assignment, the one that moved last first."""
    rows = connection.execute(
        text(
            """
            SELECT w.name AS worker, h.name AS hit, h.stage AS stage, a.started_at, a.last_event_at,
                   (SELECT count(*) FROM hit_items i WHERE i.hit = h.number) AS items,
                   (SELECT count(*) FROM events e WHERE e.assignment = a.number) AS actions
            FROM assignments a JOIN workers w ON w.number = a.worker JOIN hits h ON h.number = a.hit
            WHERE a.status = 'open' ORDER BY a.last_event_at DESC, w.name
            """
        )
    )
    return tuple(
        OpenRow(
            row.worker,
            row.hit,
            row.stage,
            row.items,
            from_text(row.started_at),
            from_text(row.last_event_at),
            row.actions,
        )
        for row in rows
    )


def submitted_at(connection: Connection) -> list[datetime]:
    """When every response came, a revised one when it first did, oldest first."""
    rows = connection.execute(
        text("SELECT submitted_at FROM responses WHERE supersedes IS NULL ORDER BY submitted_at")
    ).scalars()
    return [from_text(row) for row in rows]


def grow_redundancy(connection: Connection, stage: str, more: int) -> None:
    """Say that the plan of a stage now has so many HITs more an item."""
    stages = schema.stages
    connection.execute(update(stages).where(stages.c.name == stage).values(redundancy=stages.c.redundancy + more))


def grow_workers(connection: Connection, stage: str, more: int) -> int:
    """Let so many workers more do every planned HIT of a stage; returns how many HITs there are."""
    stages, hits = schema.stages, schema.hits
    connection.execute(
        update(stages).where(stages.c.name == stage).values(workers_per_hit=stages.c.workers_per_hit + more)
    )
    planned = (hits.c.stage == stage) & (hits.c.workers_wanted > 0)
    done = connection.execute(update(hits).where(planned).values(workers_wanted=hits.c.workers_wanted + more))
    return int(done.rowcount)
