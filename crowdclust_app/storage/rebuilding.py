"""Make the tables, rules and views of a campaign file anew, with the rows that the old ones have."""

from __future__ import annotations

import sqlite3

from crowdclust_app.storage import schema
from crowdclust_app.storage.layout import definitions


def rebuild(connection: sqlite3.Connection) -> None:
    """Give a file exactly the objects of this version; columns and tables that it does not have are gone.

    Parameters
    ----------
    connection
        In a transaction, with `foreign_keys` off.
    """
    connection.execute("PRAGMA legacy_alter_table = ON")  # renaming a table leaves what refers to it as it is
    for kind, name in connection.execute(
        "SELECT type, name FROM sqlite_master WHERE type IN ('trigger', 'view') OR type = 'index' AND sql IS NOT NULL"
    ).fetchall():
        connection.execute(f"DROP {kind} IF EXISTS {_quoted(name)}")
    counters = connection.execute("SELECT name, seq FROM sqlite_sequence").fetchall()
    old = {
        name: f"replaced {name}"
        for (name,) in connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
        )
    }
    for name, aside in old.items():
        connection.execute(f"ALTER TABLE {_quoted(name)} RENAME TO {_quoted(aside)}")
    made = definitions()
    for sql in (sql for kind, sql in made if kind == "table"):
        connection.execute(sql)
    for table in schema.metadata.tables.values():
        if table.name not in old:
            continue
        known = {row[1] for row in connection.execute(f"PRAGMA table_info({_quoted(old[table.name])})")}
        columns = ", ".join(_quoted(column.name) for column in table.columns if column.name in known)
        connection.execute(f"INSERT INTO {table.name} ({columns}) SELECT {columns} FROM {_quoted(old[table.name])}")
    for aside in old.values():
        connection.execute(f"DROP TABLE {_quoted(aside)}")
    for name, last in counters:  # a number is not given twice, and a check sees whether rows are missing at the end
        connection.execute("UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = ?", (last, name))
        connection.execute(
            "INSERT INTO sqlite_sequence SELECT ?, ? WHERE ? NOT IN (SELECT name FROM sqlite_sequence) AND ? IN ("
            "SELECT name FROM sqlite_master)",
            (name, last, name, name),
        )
    for sql in (sql for kind, sql in made if kind != "table"):
        connection.execute(sql)
    connection.execute("PRAGMA legacy_alter_table = OFF")


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
