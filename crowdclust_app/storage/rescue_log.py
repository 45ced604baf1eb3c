"""A log of what is done to a campaign, in a folder of the person's own and not beside the file.

A file can be deleted, or overwritten by an older copy, while it is open, and the program be killed before it notices.
So every change since the last dated copy also stands here, synced before it is acknowledged: the statements that made
it, with a mark of the campaign's state before and after. `recovery` gives a file what it lacks of them.
"""

from __future__ import annotations

import base64
import errno
import json
import os
import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from crowdclust_app.storage import schema
from crowdclust_app.storage.files import sync_folder

SUFFIX = ".actions"
# What is larger than this (imports, results of fits) is not logged: a dated copy is made in its place.
MOST_BYTES, MOST_ROWS = 1 << 18, 1000
# Zeros are written ahead, since to sync bytes that a file has already takes half as long as to sync a longer file.
_AHEAD = 1 << 16
_VERBS = ("INSERT", "UPDATE", "DELETE")

# What is only ever added to, by something of each row that no other row has.
_HISTORY = {
    "events": "hash",
    "question_events": "hash",
    "responses": "hash",
    "decisions": "at",
    "workers": "created_at",
    "assignments": "started_at",
    "runs": "created_at",
    "flags": "at",
}
_LAST = [
    f"(SELECT number || ' ' || {what} FROM {table} ORDER BY number DESC LIMIT 1)" for table, what in _HISTORY.items()
]
_THERE = [
    f"coalesce(? = (SELECT number || ' ' || {what} FROM {table} WHERE number = ?), ? IS NULL)"
    for table, what in _HISTORY.items()
]
_MARK = f"SELECT revision, {', '.join(_LAST)} FROM campaign"
_HOLDS = f"SELECT revision >= ? AND {' AND '.join(_THERE)} FROM campaign"


class Mark(NamedTuple):
    """A state of a campaign: its counter of changes, and number and content of the last rows of its history."""

    revision: int
    rows: tuple[str | None, ...]

    @property
    def done(self) -> int:
        """How many actions, answers and responses there are."""
        return sum(max(0, _number(row)) for row in self.rows[:3])


def mark(connection: sqlite3.Connection) -> Mark:
    """The state that a connection sees."""
    revision, *rows = connection.execute(_MARK).fetchone()
    return Mark(revision, tuple(rows))


def holds(connection: sqlite3.Connection, state: Mark) -> bool:
    """Whether a campaign is, or has been, in a state."""
    asked = [part for row in state.rows for part in (row, _number(row), row)]
    return bool(connection.execute(_HOLDS, [state.revision, *asked]).fetchone()[0])


def _number(row: str | None) -> int:
    return -1 if row is None else int(row.partition(" ")[0])


@dataclass(slots=True)
class Statements:
    """What one transaction changes."""

    made: list[tuple[str, Any]] = field(default_factory=list)
    too_large: bool = False

    def add(self, statement: str, parameters: Any, many: bool) -> None:
        """Keep a statement that changes something."""
        if self.too_large or not statement.lstrip()[:6].upper().startswith(_VERBS):
            return
        rows = list(parameters) if many else [parameters]
        if len(rows) > MOST_ROWS or any(
            isinstance(value, str | bytes | memoryview) and len(value) > MOST_BYTES for row in rows for value in row
        ):
            self.too_large = True
        self.made.extend((statement, row) for row in rows)


class Entry(NamedTuple):
    """One change: the states before and after, and the statements between them."""

    before: Mark
    after: Mark
    statements: tuple[tuple[str, tuple[Any, ...]], ...]


class RescueLog:
    """The log of one open campaign, to be written.

    Parameters
    ----------
    folder
        Where it goes; made if need be.
    path
        The campaign file.
    identifier
        The campaign's.
    """

    def __init__(self, folder: Path, path: Path, identifier: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%f")
        self.path = folder / f"{path.stem}-{identifier}-{stamp}{SUFFIX}"
        self._file = self.path.open("x+b", buffering=0)
        self._end = self._written = 0
        _hold(self._file.fileno())
        self._add({"campaign": str(path), "format": schema.SCHEMA_VERSION})
        sync_folder(folder)

    def append(self, entry: Entry) -> None:
        """Add a change; it is on disk when this returns."""
        self._add(entry)

    def close(self) -> None:
        """Leave the log for who opens the campaign next."""
        self._file.close()

    def remove(self) -> None:
        """Remove the log: a copy of the campaign holds everything."""
        self._file.close()
        with suppress(OSError):
            self.path.unlink()

    def _add(self, content: object) -> None:
        written = json.dumps(content, separators=(",", ":"), default=_encoded).encode()
        line = b"%08x %s\n" % (zlib.crc32(written), written)
        if self._end + len(line) > self._written:
            with suppress(OSError):  # where there is no room ahead there may be enough for this line
                self._file.seek(self._written)
                self._written += self._file.write(bytes(_AHEAD + len(line)))
        self._file.seek(self._end)
        if self._file.write(line) != len(line):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        getattr(os, "fdatasync", os.fsync)(self._file.fileno())
        self._end += len(line)


@dataclass(frozen=True, slots=True)
class StoredLog:
    """A log that was found.

    Parameters
    ----------
    path
        Its file.
    campaign
        The campaign file that it was about.
    entries
        Its changes, the oldest first; at least one.
    """

    path: Path
    campaign: Path
    entries: tuple[Entry, ...]

    @property
    def in_use(self) -> bool:
        """Whether a program is writing it."""
        try:
            with self.path.open("rb") as file:
                _hold(file.fileno())
        except OSError:
            return True
        return False

    def discard(self) -> None:
        """Remove the log unless a program is writing it."""
        if not self.in_use:
            with suppress(OSError):
                self.path.unlink()


def stored_logs(folder: Path, identifier: str) -> list[StoredLog]:
    """The logs of a campaign that have anything in them, the oldest first."""
    found = []
    for path in sorted(folder.glob(f"*-{identifier}-*{SUFFIX}"), key=lambda path: path.stem.rpartition("-")[2]):
        with suppress(OSError):
            lines = list(_lines(path.read_bytes()))
            if len(lines) > 1 and lines[0]["format"] == schema.SCHEMA_VERSION:
                found.append(StoredLog(path, Path(lines[0]["campaign"]), tuple(map(_entry, lines[1:]))))
    return found


def _lines(content: bytes) -> Iterator[Any]:
    """What a log holds, up to a line that was not written whole."""
    for line in content.split(b"\n"):
        check, _, written = line.partition(b" ")
        if check != b"%08x" % zlib.crc32(written):
            return
        yield json.loads(written)


def _entry(line: Any) -> Entry:
    before, after, statements = line
    return Entry(
        Mark(before[0], tuple(before[1])),
        Mark(after[0], tuple(after[1])),
        tuple((statement, tuple(map(_decoded, row))) for statement, row in statements),
    )


def _encoded(value: object) -> object:
    if isinstance(value, bytes | memoryview):
        return {"bytes": base64.b64encode(value).decode()}
    raise TypeError(f"a {type(value).__name__} cannot be logged")


def _decoded(value: Any) -> Any:
    return base64.b64decode(value["bytes"]) if isinstance(value, dict) else value


def _hold(descriptor: int) -> None:
    """Mark a log as being written, or raise OSError when another has; Windows refuses to remove an open file anyway."""
    try:
        import fcntl
    except ImportError:
        return
    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
