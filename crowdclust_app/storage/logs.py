"""Logs of SQLite beside a campaign file: what a killed program left is recovered, what is of another file set aside.

SQLite takes any log of the right name for the file's own. The log of a campaign that was deleted, or of one that lay
here under the same name, would be written into the new file.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import struct
import sys
import tempfile
import time
from contextlib import closing, suppress
from datetime import UTC, datetime
from pathlib import Path

from crowdclust_app.storage import schema
from crowdclust_app.storage.failures import said_plainly
from crowdclust_app.storage.identity import held

LOGS = ("-wal", "-journal")
# Bytes that SQLite locks: in the file while one program changes it, in `-shm` while any has a write-ahead log open.
_RESERVED, _IN_USE = 0x40000001, 128
# Where locks cannot be asked for, a log younger than this is taken for one in use.
_YOUNG_SECONDS = 30.0

# `struct flock` of 64-bit Linux: type, whence, start, length, process.
_FLOCK = "hhqqi0q"

Facts = tuple[str, int, int]


def log_of(path: Path, suffix: str) -> Path:
    """The log that SQLite would take for the file's."""
    return path.with_name(path.name + suffix)


def logs_beside(path: Path) -> list[Path]:
    """Logs with content beside a file, or beside the name of one that is not there."""
    found = []
    for suffix in LOGS:
        with suppress(OSError):
            if log_of(path, suffix).stat().st_size > 0:
                found.append(log_of(path, suffix))
    return found


def set_aside(path: Path) -> tuple[str, ...]:
    """Give the logs beside a name that no file has, or whose file they do not belong to, names of their own.

    Returns
    -------
    tuple of str
        A sentence for each.
    """
    said = []
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%f")
    for log in logs_beside(path):
        aside = log.with_name(f"{log.name}.{stamp}")
        with said_plainly(path):
            log.rename(aside)
        said.append(f"{log.name} belonged to another campaign that lay here under this name; it is {aside.name} now.")
    for suffix in ("-shm", *LOGS):
        with suppress(OSError):
            log_of(path, suffix).unlink()
    return tuple(said)


def settle(path: Path) -> tuple[str, ...]:
    """Recover a file whose program was killed in mid-change; set logs aside that are not its own.

    Nothing is done while a program has the file open.

    Returns
    -------
    tuple of str
        A sentence for each log that was set aside.
    """
    if not logs_beside(path) or held(path) is not None or _in_use(path):
        return ()
    with tempfile.TemporaryDirectory(prefix="crowdclust-") as folder:
        alone, together = Path(folder) / "alone" / path.name, Path(folder) / "together" / path.name
        for copy in (alone, together):
            copy.parent.mkdir()
            with said_plainly(path):
                shutil.copyfile(path, copy)
        for log in logs_beside(path):
            with said_plainly(path):
                shutil.copyfile(log, together.with_name(log.name))
        without, with_log = _facts(alone), _facts(together)
        if _version(together) > schema.SCHEMA_VERSION:
            return ()  # for a newer program to recover
    if without is not None and not _follows(with_log, without):
        return set_aside(path)
    if with_log is not None and os.access(path, os.W_OK) and os.access(path.parent, os.W_OK):
        with said_plainly(path), closing(sqlite3.connect(path, isolation_level=None, timeout=5)) as connection:
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    return ()


def _follows(later: Facts | None, earlier: Facts) -> bool:
    """Whether one state of a file can have come from another: the same campaign, and nothing of it lost."""
    return later is not None and later[0] == earlier[0] and later[1:] >= earlier[1:]


def _facts(path: Path) -> Facts | None:
    """Which campaign a file is, and how many events and responses it has; None when it is not whole.

    The last page that is written makes it whole, so a file without its log may or may not be.
    """
    try:
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            if connection.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok":
                return None
            if connection.execute("PRAGMA foreign_key_check").fetchone() is not None:
                return None
            created = connection.execute("SELECT created_at FROM campaign").fetchone()
            numbers = connection.execute(
                "SELECT (SELECT count(*) FROM events), (SELECT count(*) FROM responses)"
            ).fetchone()
            return repr(created), int(numbers[0]), int(numbers[1])
    except (sqlite3.Error, TypeError, ValueError):
        return None


def _version(path: Path) -> int:
    with suppress(sqlite3.Error), closing(sqlite3.connect(path, isolation_level=None)) as connection:
        return int(connection.execute("PRAGMA user_version").fetchone()[0])
    return 0


def _in_use(path: Path) -> bool:
    """Whether another program has the file, or its log, open for writing."""
    shared = log_of(path, "-shm")
    for file, byte in ((path, _RESERVED), (shared, _IN_USE)):
        with suppress(OSError):
            if _locked(file, byte):
                return True
    return False


def _locked(path: Path, byte: int) -> bool:
    """Whether another process has locked a byte; by the age of the logs where `flock` may look otherwise."""
    if sys.platform != "linux" or struct.calcsize(_FLOCK) != 32:
        newest = max((log.stat().st_mtime for log in logs_beside(path)), default=0.0)
        return time.time() - newest < _YOUNG_SECONDS
    import fcntl

    with path.open("rb") as file:
        asked = struct.pack(_FLOCK, fcntl.F_WRLCK, os.SEEK_SET, byte, 1, 0)
        answer = struct.unpack(_FLOCK, fcntl.fcntl(file.fileno(), fcntl.F_GETLK, asked))
    return bool(answer[0] != fcntl.F_UNLCK)
