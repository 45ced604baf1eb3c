"""Rows by names, as tables and lists show them."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Connection, text

from crowdclust_app.storage.times import from_text


def assignments(connection: Connection) -> list[tuple[str, str, str, datetime, datetime | None, float]]:
    """HIT, worker, status, beginning, submission (None if it was not), active seconds; oldest first."""
    rows = connection.execute(
        text(
            """
            SELECT h.name AS hit, w.name AS worker, a.status, a.started_at, a.closed_at, a.active_seconds
            FROM assignments a JOIN hits h ON h.number = a.hit JOIN workers w ON w.number = a.worker
            ORDER BY a.number
            """
        )
    )
    return [
        (
            row.hit,
            row.worker,
            row.status,
            from_text(row.started_at),
            from_text(row.closed_at) if row.status == "submitted" else None,
            row.active_seconds,
        )
        for row in rows
    ]


def flags(connection: Connection) -> list[tuple[str, str, str, str, datetime]]:
    """Item, worker, reason, HIT, when; oldest first."""
    rows = connection.execute(
        text(
            """
            SELECT i.path AS item, w.name AS worker, f.reason, h.name AS hit, f.at
            FROM flags f JOIN items i ON i.number = f.item JOIN workers w ON w.number = f.worker
            JOIN assignments a ON a.number = f.assignment JOIN hits h ON h.number = a.hit
            ORDER BY f.number
            """
        )
    )
    return [(row.item, row.worker, row.reason, row.hit, from_text(row.at)) for row in rows]


def group_names(connection: Connection) -> list[tuple[str, str, str, str]]:
    """HIT, worker, group as tables write it, name; of the groups that have a name."""
    rows = connection.execute(
        text(
            """
            SELECT h.name AS hit, w.name AS worker, coalesce(g.label, CAST(g.grp AS TEXT)) AS grp, g.name
            FROM current_responses r JOIN workers w ON w.number = r.worker JOIN hits h ON h.number = r.hit
            JOIN response_groups g ON g.response = r.response
            WHERE g.name IS NOT NULL
            """
        )
    )
    return [(row.hit, row.worker, row.grp, row.name) for row in rows]


def comments(connection: Connection) -> list[tuple[str, str, str]]:
    """HIT, worker, comment; of the responses that have one."""
    rows = connection.execute(
        text(
            """
            SELECT h.name AS hit, w.name AS worker, answer.comment
            FROM current_responses r JOIN workers w ON w.number = r.worker JOIN hits h ON h.number = r.hit
            JOIN responses answer ON answer.number = r.response
            WHERE answer.comment IS NOT NULL
            """
        )
    )
    return [(row.hit, row.worker, row.comment) for row in rows]


def submitted_times(connection: Connection) -> list[tuple[str, float, float | None, str, datetime]]:
    """Worker, active seconds, wall seconds, HIT, submission, of the responses with measured active seconds."""
    rows = connection.execute(
        text(
            """
            SELECT w.name AS worker, r.active_seconds, r.wall_seconds, h.name AS hit, r.submitted_at
            FROM current_responses r JOIN workers w ON w.number = r.worker JOIN hits h ON h.number = r.hit
            WHERE r.active_seconds IS NOT NULL
            ORDER BY r.submitted_at, r.response
            """
        )
    )
    return [(row.worker, row.active_seconds, row.wall_seconds, row.hit, from_text(row.submitted_at)) for row in rows]


def worker_totals(connection: Connection) -> list[tuple[int, int, int, int, str | None]]:
    """Worker, responses, items, pair labels, last submission, of the workers with responses."""
    rows = connection.execute(
        text(
            """
            WITH sizes AS (SELECT hit, count(*) AS n FROM hit_items GROUP BY hit)
            SELECT r.worker, count(*) AS hits, sum(s.n) AS items, sum(s.n * (s.n - 1) / 2) AS pair_labels,
                   max(r.submitted_at) AS last
            FROM current_responses r JOIN sizes s ON s.hit = r.hit
            GROUP BY r.worker
            """
        )
    )
    return [(row.worker, row.hits, row.items, row.pair_labels, row.last) for row in rows]


def worker_seconds(connection: Connection) -> list[tuple[int, float]]:
    """Worker and seconds of each response: active ones, wall ones where those were not measured."""
    rows = connection.execute(
        text(
            """
            SELECT worker, coalesce(active_seconds, wall_seconds) AS seconds FROM current_responses
            WHERE coalesce(active_seconds, wall_seconds) IS NOT NULL
            """
        )
    )
    return [(row.worker, row.seconds) for row in rows]


def repeated_hits(connection: Connection) -> dict[str, str]:
    """Name of the HIT that each repeated HIT repeats, by the repeat's name."""
    rows = connection.execute(
        text("SELECT h.name AS hit, o.name AS original FROM hits h JOIN hits o ON o.number = h.repeats")
    )
    return {row.hit: row.original for row in rows}
