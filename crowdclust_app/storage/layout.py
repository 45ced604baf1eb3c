"""Whether the tables, rules and views of a file are exactly those of this version, and none beside them."""

from __future__ import annotations

import sqlite3
from functools import cache

from sqlalchemy import create_engine
from sqlalchemy.pool import StaticPool

from crowdclust_app.storage import schema

_OBJECTS = "SELECT type, name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'"
_KINDS = {"table": "table", "index": "index", "trigger": "rule", "view": "view"}

Definition = tuple[str, frozenset[str]]


def layout_problem(connection: sqlite3.Connection) -> str | None:
    """The first difference between a file's objects and those of this version; None when there is none."""
    found = {name: (kind, _parts(sql or "")) for kind, name, sql in connection.execute(_OBJECTS)}
    expected = _expected()
    for name, definition in expected.items():
        if name not in found:
            return f"the {_KINDS[definition[0]]} {name} is missing"
        if found[name] != definition:
            return f"the {_KINDS[definition[0]]} {name} is not what this program made"
    for name in found:
        if name not in expected:
            return f"there is a {_KINDS.get(found[name][0], 'thing')} {name} that this program did not make"
    return None


def definitions() -> list[tuple[str, str]]:
    """Kind and statement of each table, index, trigger and view of this version, in an order that makes them."""
    return [(kind, sql) for kind, _, sql in _made() if sql]


@cache
def _made() -> list[tuple[str, str, str]]:
    engine = create_engine("sqlite://", poolclass=StaticPool)
    with engine.begin() as connection:
        schema.metadata.create_all(connection, checkfirst=False)
        for statement in schema.rules():
            connection.exec_driver_sql(statement)
        rows = [(kind, name, sql) for kind, name, sql in connection.exec_driver_sql(_OBJECTS)]
    engine.dispose()
    return rows


@cache
def _expected() -> dict[str, Definition]:
    return {name: (kind, _parts(sql or "")) for kind, name, sql in _made()}


def _parts(sql: str) -> frozenset[str]:
    """A definition without regard to spaces, quotes and the order of a table's columns."""
    text = " ".join(sql.replace('"', " ").split()).replace("( ", "(").replace(" )", ")").replace(" ,", ",")
    parts, depth, begin = [], 0, 0
    for place, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if (letter == "(" and depth == 1) or (letter == "," and depth == 1) or (letter == ")" and depth == 0):
            parts.append(text[begin:place].strip().casefold())
            begin = place + 1
    return frozenset([*parts, text[begin:].strip().casefold()])
