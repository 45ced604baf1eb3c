"""Stored runs of the inference: rows that are written once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, insert, select

from crowdclust_app.storage import schema

INFO = ("number", "stage", "method", "created_at", "seed", "seconds", "fingerprint", "settings", "summary")


def insert_run(connection: Connection, values: Mapping[str, Any]) -> int:
    """Store a run under the next number."""
    done = connection.execute(insert(schema.runs).values(**values))
    key = done.inserted_primary_key
    assert key is not None
    return int(key[0])


def run_rows(connection: Connection) -> list[Any]:
    """Every run without its arrays, newest last."""
    columns = [schema.runs.c[name] for name in INFO]
    return list(connection.execute(select(*columns).order_by(schema.runs.c.number)))


def run_row(connection: Connection, number: int) -> Any | None:
    """One run with everything; None if there is no such number."""
    return connection.execute(select(schema.runs).where(schema.runs.c.number == number)).one_or_none()
