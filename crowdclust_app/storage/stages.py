"""Stages: the whole collection, and clusters that are being subdivided."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from sqlalchemy import Connection, func, insert, select, text, update

from crowdclust_app.domain.campaign import PlanSettings
from crowdclust_app.domain.stages import StageInfo
from crowdclust_app.storage import schema
from crowdclust_app.storage.times import from_text, to_text


def insert_stage(
    connection: Connection,
    name: str,
    settings: PlanSettings,
    items: Iterable[int],
    now: datetime,
    *,
    parent: str,
    run: int | None,
    cluster: int,
) -> None:
    """Add a stage below another one, with its items."""
    connection.execute(
        insert(schema.stages).values(
            name=name,
            items_per_hit=settings.items_per_hit,
            redundancy=settings.redundancy,
            workers_per_hit=settings.workers_per_hit,
            seed=settings.seed,
            created_at=to_text(now),
            parent=parent,
            run=run,
            cluster=cluster,
        )
    )
    insert_stage_items(connection, name, items)


def insert_stage_items(connection: Connection, stage: str, items: Iterable[int]) -> None:
    """Say that these items belong to a stage too."""
    rows = [{"stage": stage, "item": int(item)} for item in items]
    if rows:
        connection.execute(insert(schema.stage_items), rows)


def stage_rows(connection: Connection) -> list[StageInfo]:
    """Every stage, the removed ones too, in the order in which they were made."""
    rows = connection.execute(
        text(
            """
            SELECT s.*, (SELECT count(*) FROM stage_items i WHERE i.stage = s.name) AS own,
                   (SELECT count(*) FROM items) AS every_item,
                   coalesce(h.hits, 0) AS hits, coalesce(h.complete, 0) AS complete,
                   coalesce(h.wanted, 0) AS wanted, coalesce(h.submitted, 0) AS submitted,
                   coalesce(h.responses, 0) AS responses
            FROM stages s LEFT JOIN (
                SELECT stage, sum(workers_wanted > 0) AS hits,
                       sum(workers_wanted > 0 AND submitted >= workers_wanted) AS complete,
                       sum(workers_wanted) AS wanted,
                       sum(CASE WHEN workers_wanted > 0 THEN submitted ELSE 0 END) AS submitted,
                       sum(submitted) AS responses
                FROM hits GROUP BY stage) h ON h.stage = s.name
            ORDER BY s.created_at, s.name
            """
        )
    )
    return [
        StageInfo(
            name=row.name,
            settings=PlanSettings(row.items_per_hit, row.redundancy, row.workers_per_hit, row.seed),
            created_at=from_text(row.created_at),
            parent=row.parent,
            run=row.run,
            cluster=row.cluster,
            removed_at=None if row.removed_at is None else from_text(row.removed_at),
            items=row.every_item if row.parent is None else row.own,
            hits=row.hits,
            hits_complete=row.complete,
            wanted=row.wanted,
            submitted=row.submitted,
            responses=row.responses,
        )
        for row in rows
    ]


def item_numbers(connection: Connection, stage: str) -> tuple[int, ...] | None:
    """The items of a stage in ascending order; None for the whole collection, which has every item."""
    stages = schema.stages.c
    below = connection.execute(select(stages.parent.is_not(None)).where(stages.name == stage)).scalar_one_or_none()
    if not below:
        return None
    inside = schema.stage_items.c
    return tuple(connection.execute(select(inside.item).where(inside.stage == stage).order_by(inside.item)).scalars())


def set_removed(connection: Connection, names: Sequence[str], removed_at: datetime | None) -> None:
    """Take stages out of sight, or (None) bring them back; nothing of them is deleted."""
    columns = schema.stages.c
    moment = None if removed_at is None else to_text(removed_at)
    connection.execute(update(schema.stages).where(columns.name.in_(names)).values(removed_at=moment))


def first_free_hit(connection: Connection) -> int:
    """The number of the next HIT."""
    return int(connection.execute(select(func.coalesce(func.max(schema.hits.c.number) + 1, 0))).scalar_one())
