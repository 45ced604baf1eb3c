"""Bring a campaign file of an older version up to this one, after copying it beside itself.

A step takes what a file holds from version `n` to `n + 1` and is registered in `STEPS`; after the last one tables,
rules and views are made anew, so that they are those of a new file. All of a migration is one transaction: killed
anywhere, the file is either the old one or the new one, and the copy of the old one stays.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path

from crowdclust_app.domain.errors import CrowdclustError
from crowdclust_app.storage import chain, schema
from crowdclust_app.storage.backups import back_up, identifier_of_old
from crowdclust_app.storage.failures import damaged, said_plainly
from crowdclust_app.storage.probe import file_uri
from crowdclust_app.storage.rebuilding import rebuild

Step = Callable[[sqlite3.Connection], None]


def _to_version_2(connection: sqlite3.Connection) -> None:
    """Add stages of stages, the lead's decisions, preferences, and what may be taken back."""
    for statement in (
        "ALTER TABLE stages ADD COLUMN parent TEXT REFERENCES stages(name)",
        "ALTER TABLE stages ADD COLUMN run INTEGER REFERENCES runs(number)",
        "ALTER TABLE stages ADD COLUMN cluster INTEGER",
        "ALTER TABLE stages ADD COLUMN removed_at TEXT",
        "ALTER TABLE hits ADD COLUMN repeats INTEGER REFERENCES hits(number)",
        "ALTER TABLE assignments ADD COLUMN skip_reason TEXT",
        "ALTER TABLE question_sets ADD COLUMN learning TEXT",
        """CREATE TABLE stage_items (
            stage TEXT NOT NULL REFERENCES stages(name), item INTEGER NOT NULL REFERENCES items(number),
            PRIMARY KEY (stage, item)) WITHOUT ROWID""",
        "CREATE TABLE flags_taken_back (flag INTEGER PRIMARY KEY REFERENCES flags(number), at TEXT NOT NULL)",
        """CREATE TABLE decisions (
            number INTEGER PRIMARY KEY AUTOINCREMENT, at TEXT NOT NULL, kind TEXT NOT NULL CHECK (kind <> ''),
            run INTEGER REFERENCES runs(number), detail TEXT NOT NULL,
            undoes INTEGER UNIQUE REFERENCES decisions(number),
            CONSTRAINT an_undo_undoes_a_decision CHECK ((kind = 'undo') = (undoes IS NOT NULL)))""",
        "CREATE INDEX decisions_by_kind ON decisions (kind, run, number)",
        "CREATE TABLE preferences (key TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL)",
    ):
        connection.execute(statement)


def _to_version_3(connection: sqlite3.Connection) -> None:
    """Name the campaign, and give every answer its hash."""
    for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
        connection.execute(f'DROP TRIGGER "{name}"')  # they forbid every change, and are made anew in the end
    for table, column in [("campaign", "identifier"), *chain.COLUMNS.items()]:
        connection.execute(f"ALTER TABLE {table} ADD COLUMN {column} TEXT DEFAULT '' NOT NULL")
    (created,) = connection.execute("SELECT created_at FROM campaign").fetchone()
    # the same in every copy of this file, whenever it is brought up to date
    connection.execute("UPDATE campaign SET identifier = ?", (identifier_of_old(created),))
    chain.chain(connection)


STEPS: Mapping[int, Step] = {1: _to_version_2, 2: _to_version_3}


def migrate(path: Path, version: int) -> Path:
    """Copy the file beside itself, then bring it to `schema.SCHEMA_VERSION`.

    Parameters
    ----------
    path
        A whole campaign file.
    version
        Its schema version.

    Returns
    -------
    Path
        The copy of the file as it was.
    """
    backup = _back_up(path, version)
    with (
        said_plainly(path),
        closing(sqlite3.connect(file_uri(path, "rw"), uri=True, isolation_level=None, timeout=20)) as connection,
    ):
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = OFF")  # steps may rebuild tables; checked as a whole below
        connection.execute("BEGIN IMMEDIATE")
        try:
            # Another program may have migrated it while we waited for the lock.
            now = int(connection.execute("PRAGMA user_version").fetchone()[0])
            while now < schema.SCHEMA_VERSION:
                if now not in STEPS:
                    raise CrowdclustError(f"no migration leads from version {now} of {path}")
                STEPS[now](connection)
                now += 1
                connection.execute(f"PRAGMA user_version = {now}")
            rebuild(connection)
            broken = connection.execute("PRAGMA foreign_key_check").fetchone()
            if broken is not None:
                raise damaged(path, f"a row of {broken[0]} refers to a missing row of {broken[2]}")
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
    return backup


def _back_up(path: Path, version: int) -> Path:
    """Copy the file, with what its write-ahead log holds, under a name of its own beside it."""
    count = 1
    while True:
        number = "" if count == 1 else f"-{count}"
        backup = path.with_name(f"{path.stem}.v{version}-backup{number}{path.suffix}")
        if not backup.exists():
            back_up(path, backup, blamed=path)
            return backup
        count += 1
