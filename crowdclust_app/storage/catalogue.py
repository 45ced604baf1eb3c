"""What a campaign is about: its items, plan, workers, known categories, and how far it has come."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, func, insert, select, text, update

from crowdclust_app.domain.campaign import WHOLE_COLLECTION, Hit, Item, ItemStatus, PlanSettings, Worker
from crowdclust_app.storage import schema
from crowdclust_app.storage.times import to_text


@dataclass(frozen=True, slots=True)
class CampaignRow:
    """The one row that says what the campaign is."""

    instructions: str
    image_root_relative: str | None
    image_root_absolute: str | None
    settings: PlanSettings
    revision: int


def insert_campaign(
    connection: Connection,
    *,
    instructions: str,
    root_relative: str | None,
    root_absolute: str | None,
    created_with: str,
    now: datetime,
) -> None:
    """Say what the campaign is."""
    connection.execute(
        insert(schema.campaign).values(
            id=1,
            instructions=instructions,
            image_root_relative=root_relative,
            image_root_absolute=root_absolute,
            created_at=to_text(now),
            created_with=created_with,
            identifier=secrets.token_hex(6),
        )
    )


def insert_stage(connection: Connection, name: str, settings: PlanSettings, now: datetime) -> None:
    """Add a stage with the settings of its plan."""
    connection.execute(
        insert(schema.stages).values(
            name=name,
            items_per_hit=settings.items_per_hit,
            redundancy=settings.redundancy,
            workers_per_hit=settings.workers_per_hit,
            seed=settings.seed,
            created_at=to_text(now),
        )
    )


def insert_items(connection: Connection, items: Iterable[Item]) -> None:
    """Add items under the numbers that they have."""
    rows = [
        {
            "number": item.number,
            "path": item.path,
            "content_hash": item.content_hash,
            "byte_size": item.byte_size,
            "width": item.width,
            "height": item.height,
            "frames": item.frames,
        }
        for item in items
    ]
    if rows:
        connection.execute(insert(schema.items), rows)


def insert_left_out(connection: Connection, status: str, found: Iterable[tuple[str, str]]) -> None:
    """Remember files that did not become items, with the original's path or the reason."""
    rows = [{"path": path, "status": status, "detail": detail} for path, detail in found]
    if rows:
        connection.execute(insert(schema.left_out), rows)


def insert_hits(connection: Connection, hits: Sequence[Hit]) -> None:
    """Add HITs in plan order, under the numbers that they have."""
    if not hits:
        return
    first = connection.execute(select(func.coalesce(func.max(schema.hits.c.position), -1) + 1)).scalar_one()
    connection.execute(
        insert(schema.hits),
        [
            {
                "number": hit.number,
                "stage": hit.stage,
                "name": hit.name,
                "position": first + place,
                "workers_wanted": hit.workers_wanted,
            }
            for place, hit in enumerate(hits)
        ],
    )
    connection.execute(
        insert(schema.hit_items),
        [{"hit": hit.number, "item": item, "position": at} for hit in hits for at, item in enumerate(hit.items)],
    )


def insert_workers(connection: Connection, names: Sequence[str], now: datetime) -> tuple[Worker, ...]:
    """Add workers; the names must be new."""
    first = connection.execute(select(func.coalesce(func.max(schema.workers.c.number) + 1, 0))).scalar_one()
    added = tuple(Worker(number, name) for number, name in enumerate(names, start=first))
    if added:
        connection.execute(
            insert(schema.workers),
            [{"number": worker.number, "name": worker.name, "created_at": to_text(now)} for worker in added],
        )
    return added


def bump_revision(connection: Connection) -> None:
    """Say that something which screens show has changed."""
    connection.execute(update(schema.campaign).values(revision=schema.campaign.c.revision + 1))


def revision(connection: Connection) -> int:
    """How often something that screens show has changed."""
    return int(connection.execute(select(schema.campaign.c.revision)).scalar_one())


def campaign_row(connection: Connection) -> CampaignRow:
    """What the campaign is, with the plan settings of the whole collection."""
    row = connection.execute(select(schema.campaign)).one()
    stage = connection.execute(select(schema.stages).where(schema.stages.c.name == WHOLE_COLLECTION)).one()
    return CampaignRow(
        instructions=row.instructions,
        image_root_relative=row.image_root_relative,
        image_root_absolute=row.image_root_absolute,
        settings=PlanSettings(stage.items_per_hit, stage.redundancy, stage.workers_per_hit, stage.seed),
        revision=row.revision,
    )


def set_image_root(connection: Connection, relative: str | None, absolute: str) -> None:
    """Say where the images are now."""
    connection.execute(update(schema.campaign).values(image_root_relative=relative, image_root_absolute=absolute))


def items(connection: Connection) -> tuple[Item, ...]:
    """All items by number."""
    columns = schema.items.c
    statement = select(
        columns.number,
        columns.path,
        columns.content_hash,
        columns.byte_size,
        columns.width,
        columns.height,
        columns.frames,
    ).order_by(columns.number)
    return tuple(Item(*row) for row in connection.execute(statement))


def count_items(connection: Connection) -> int:
    """How many items there are."""
    return int(connection.execute(select(func.count()).select_from(schema.items)).scalar_one())


def item_paths(connection: Connection) -> tuple[str, ...]:
    """The items' names by number (numbers count from 0 without gaps)."""
    return tuple(connection.execute(select(schema.items.c.path).order_by(schema.items.c.number)).scalars())


def has_images(connection: Connection) -> bool:
    """Whether the campaign was made from image files."""
    return connection.execute(select(schema.campaign.c.image_root_absolute)).scalar_one() is not None


def left_out(connection: Connection) -> tuple[tuple[str, str, str], ...]:
    """Files that did not become items: path, status, detail."""
    columns = schema.left_out.c
    statement = select(columns.path, columns.status, columns.detail).order_by(columns.path)
    return tuple((row.path, row.status, row.detail) for row in connection.execute(statement))


def copies(connection: Connection) -> dict[str, str]:
    """Files with the bytes of an item that are none themselves, each with the path of that item."""
    return {path: detail for path, status, detail in left_out(connection) if status == ItemStatus.DUPLICATE}


def workers(connection: Connection) -> tuple[Worker, ...]:
    """All workers by number (numbers count from 0 without gaps)."""
    statement = select(schema.workers.c.number, schema.workers.c.name).order_by(schema.workers.c.number)
    return tuple(Worker(row.number, row.name) for row in connection.execute(statement))


def hits(connection: Connection) -> tuple[Hit, ...]:
    """All HITs in plan order, then the imported ones."""
    members: dict[int, list[int]] = {}
    # Straight from the driver, as `answers.all_response_items`.
    rows = connection.exec_driver_sql("SELECT hit, item FROM hit_items ORDER BY hit, position")
    assert rows.cursor is not None
    for hit, item in rows.cursor.fetchall():
        members.setdefault(hit, []).append(item)
    rows.close()
    columns = schema.hits.c
    statement = select(columns.number, columns.name, columns.workers_wanted, columns.stage).order_by(columns.position)
    return tuple(
        Hit(row.number, row.name, tuple(members.get(row.number, ())), row.workers_wanted, row.stage)
        for row in connection.execute(statement)
    )


def hit_sizes(connection: Connection) -> dict[str, int]:
    """How many items each HIT has, by its name."""
    counted = text("SELECT h.name, count(*) FROM hits h JOIN hit_items i ON i.hit = h.number GROUP BY h.number")
    return {row[0]: row[1] for row in connection.execute(counted)}


def count_planned(connection: Connection) -> int:
    """How many items the HITs that want workers have together."""
    counted = "SELECT count(*) FROM hit_items i JOIN hits h ON h.number = i.hit WHERE h.workers_wanted > 0"
    return int(connection.execute(text(counted)).scalar_one())


def hit_numbers(connection: Connection) -> dict[str, int]:
    """Number of each HIT by name."""
    return {row.name: row.number for row in connection.execute(select(schema.hits.c.name, schema.hits.c.number))}


def repeats(connection: Connection) -> dict[int, int]:
    """The HIT that each repeat repeats, by number."""
    columns = schema.hits.c
    rows = connection.execute(select(columns.number, columns.repeats).where(columns.repeats.is_not(None)))
    return {row.number: row.repeats for row in rows}


def set_repeats(connection: Connection, originals: Mapping[int, int]) -> None:
    """Say of new HITs which ones they repeat, by number."""
    for number, original in originals.items():
        connection.execute(update(schema.hits).where(schema.hits.c.number == number).values(repeats=original))


def taken_by_hit(connection: Connection, lease_start: datetime) -> dict[int, int]:
    """How many workers have submitted each HIT or hold it open, having moved since `lease_start`."""
    rows = connection.execute(
        text(
            """
            SELECT hit, count(*) AS n FROM assignments
            WHERE status = 'submitted' OR (status = 'open' AND last_event_at >= :lease_start) GROUP BY hit
            """
        ),
        {"lease_start": to_text(lease_start)},
    )
    return {row.hit: row.n for row in rows}


def counts(connection: Connection) -> dict[str, int]:
    """How many there are of everything, under the names of the services' figures."""
    row = connection.execute(
        text(
            """
            WITH planned AS (
                SELECT workers_wanted, submitted FROM hits
                WHERE workers_wanted > 0 AND stage NOT IN (SELECT name FROM stages WHERE removed_at IS NOT NULL))
            SELECT (SELECT count(*) FROM items) AS items,
                   (SELECT count(*) FROM hits) AS hits,
                   (SELECT count(*) FROM planned) AS hits_planned,
                   (SELECT coalesce(sum(workers_wanted), 0) FROM planned) AS assignments_planned,
                   (SELECT coalesce(sum(submitted), 0) FROM planned) AS assignments_submitted,
                   (SELECT count(*) FROM planned WHERE submitted >= workers_wanted) AS hits_complete,
                   (SELECT count(*) FROM workers) AS workers,
                   (SELECT count(*) FROM responses WHERE supersedes IS NULL) AS responses,
                   (SELECT count(*) FROM flags) AS flags,
                   (SELECT count(*) FROM runs) AS runs
            """
        )
    ).one()
    return {name: int(value) for name, value in row._mapping.items()}


def truth(connection: Connection) -> dict[str, str]:
    """Known category of each item that has one, by the item's name."""
    statement = (
        select(schema.items.c.path, schema.truth.c.category)
        .join(schema.items, schema.items.c.number == schema.truth.c.item)
        .order_by(schema.items.c.number)
    )
    return {row.path: row.category for row in connection.execute(statement)}


def set_truth(connection: Connection, categories: Mapping[int, str]) -> None:
    """Store known categories by item number, replacing earlier ones of the same items."""
    if categories:
        connection.execute(
            insert(schema.truth).prefix_with("OR REPLACE"),
            [{"item": item, "category": category} for item, category in categories.items()],
        )


def texts(connection: Connection, query: str, numbers: Iterable[int | None]) -> dict[int, str]:
    """What a query of numbers and texts finds of these numbers."""
    wanted = json.dumps(sorted({int(number) for number in numbers if number is not None}))
    rows = connection.exec_driver_sql(f"{query} WHERE number IN (SELECT value FROM json_each(?))", (wanted,))
    return {row[0]: row[1] for row in rows}
