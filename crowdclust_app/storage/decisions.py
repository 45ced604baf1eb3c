"""The lead's decisions: rows that are written once; a row of its own takes one back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, bindparam, insert, text

from crowdclust_app.domain.decisions import Decision
from crowdclust_app.storage import schema
from crowdclust_app.storage.times import from_text, to_text

UNDO = "undo"


def insert_decision(
    connection: Connection, kind: str, detail: Mapping[str, Any], now: datetime, run: int | None = None
) -> int:
    """Store a decision under the next number.

    Raises
    ------
    ValueError
        When the detail holds something that JSON has no word for (NaN included).
    """
    stored = json.dumps(detail, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    values = {"at": to_text(now), "kind": kind, "run": run, "detail": stored}
    key = connection.execute(insert(schema.decisions).values(**values)).inserted_primary_key
    assert key is not None
    return int(key[0])


def take_back(connection: Connection, number: int, now: datetime) -> bool:
    """Take a decision back; whether there was one of this number that stood."""
    run = connection.execute(
        text("SELECT run FROM standing_decisions WHERE number = :number"), {"number": number}
    ).one_or_none()
    if run is None:
        return False
    values = {"at": to_text(now), "kind": UNDO, "run": run.run, "detail": "{}", "undoes": number}
    connection.execute(insert(schema.decisions).values(**values))
    return True


def standing(connection: Connection, *kinds: str, run: int | None = None) -> tuple[Decision, ...]:
    """Decisions that were not taken back, oldest first.

    Parameters
    ----------
    kinds
        Of these kinds alone; of all when none is named.
    run
        About this run alone; None: about any run and about none.
    """
    wanted = "SELECT number, at, kind, run, detail FROM standing_decisions WHERE 1"
    wanted += " AND kind IN :kinds" if kinds else ""
    wanted += " AND run = :run" if run is not None else ""
    statement = text(wanted + " ORDER BY number")
    values: dict[str, Any] = {} if run is None else {"run": run}
    if kinds:
        statement = statement.bindparams(bindparam("kinds", expanding=True))
        values["kinds"] = list(kinds)
    return tuple(
        Decision(row.number, from_text(row.at), row.kind, row.run, json.loads(row.detail))
        for row in connection.execute(statement, values)
    )
