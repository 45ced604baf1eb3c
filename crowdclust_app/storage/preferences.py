"""What the lead prefers, by name: rows that may be changed."""

from __future__ import annotations

import json
from typing import Any

from sqlalchemy import Connection, insert, select

from crowdclust_app.storage import schema


def preference(connection: Connection, key: str, default: Any = None) -> Any:
    """What is kept under this name."""
    found = connection.execute(
        select(schema.preferences.c.value).where(schema.preferences.c.key == key)
    ).scalar_one_or_none()
    return default if found is None else json.loads(found)


def set_preference(connection: Connection, key: str, value: Any) -> None:
    """Keep a value that JSON can hold under this name."""
    stored = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    connection.execute(insert(schema.preferences).prefix_with("OR REPLACE"), {"key": key, "value": stored})
