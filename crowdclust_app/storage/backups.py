"""Copies of a campaign file: those that a person asks for, those made at closing, and rescued ones.

A file that is deleted or replaced while it is open is still there for who has it open. It is copied to a folder of the
person's then, and when an older state of the same campaign is opened later, what it lacks comes back.
"""

from __future__ import annotations

import hashlib
import re
import sqlite3
from contextlib import closing, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

from crowdclust_app.storage.failures import said_plainly
from crowdclust_app.storage.files import publish, remove_temporary, temporary_beside
from crowdclust_app.storage.identity import FileIdentity
from crowdclust_app.storage.probe import file_uri, reading

KEPT, KEPT_DAYS = 10, 30
# What is only ever added to; a file that has all of an other's rows of these is as new or newer.
_HISTORY = ("events", "responses", "response_items", "flags", "runs", "decisions", "question_events", "workers")
_STAMP = "%Y%m%dT%H%M%S%f"


def back_up(path: Path, target: Path, blamed: Path | None = None) -> None:
    """Copy a campaign, whole, whoever else works on it; `target` is replaced.

    Parameters
    ----------
    blamed
        Which file an error is said to be about; `target` when None.
    """
    blamed = blamed or target
    part = temporary_beside(target)
    try:
        with (
            reading(path) as source,
            said_plainly(blamed),
            closing(sqlite3.connect(file_uri(part, "rwc"), uri=True)) as copy,
        ):
            source.backup(copy)
        with said_plainly(blamed):
            publish(part, target)
    finally:
        remove_temporary(part)


def back_up_at_closing(path: Path, folder: Path) -> None:
    """Keep a dated copy, the newest ten and one a day for a month."""
    identifier = _identifier(path)
    if identifier is None:
        return
    folder.mkdir(parents=True, exist_ok=True)
    back_up(path, _dated(path, identifier, folder))
    for old in _superfluous(_copies(identifier, folder)):
        with suppress(OSError):
            old.unlink()


def save_lost(identity: FileIdentity, folder: Path) -> Path | None:
    """Copy a file that has no name any more; None where its name or content are elsewhere, or it cannot be copied."""
    if not identity.nameless():
        return None
    try:
        folder.mkdir(parents=True, exist_ok=True)
        part = temporary_beside(folder / identity.path.name)
        try:
            identity.copy_to(part)
            identifier = _identifier(part)
            if identifier is None:
                return None
            final = _dated(identity.path, identifier, folder)
            publish(part, final)
        finally:
            remove_temporary(part)
    except OSError:
        return None
    return final


def bring_back(path: Path, folder: Path) -> tuple[str, ...]:
    """Restore what a rescued copy has and the file, an older state of the same campaign, lacks.

    Returns
    -------
    tuple of str
        A sentence for what was restored, or for a copy that has other answers than the file.
    """
    said: list[str] = []
    # most people never lose a file, and opening need not ask for whom to look then
    identifier = _identifier(path) if folder.is_dir() else None
    for rescued in reversed(_copies(identifier, folder) if identifier is not None else []):
        lacking, own = _difference(rescued, path), _difference(path, rescued)
        if lacking and not own:
            with (
                said_plainly(path),
                closing(sqlite3.connect(file_uri(rescued, "ro"), uri=True)) as source,
                closing(sqlite3.connect(file_uri(path, "rw"), uri=True, timeout=20)) as target,
            ):
                source.backup(target)
            said.append(f"{path.name} was older than when it was open last; {lacking:,} rows of it are back.")
        elif lacking:
            said.append(f"{rescued} has answers that {path.name} lacks, and the other way round; both were kept.")
    return tuple(said)


def _difference(first: Path, second: Path) -> int:
    """How many rows of history one file has and another has not."""
    with reading(first) as connection:
        connection.execute("ATTACH DATABASE ? AS other", (file_uri(second, "ro"),))
        counts = (
            connection.execute(
                f"SELECT count(*) FROM (SELECT * FROM main.{table} EXCEPT SELECT * FROM other.{table})"
            ).fetchone()[0]
            for table in _HISTORY
        )
        return sum(counts)


def _identifier(path: Path) -> str | None:
    """The identifier of a campaign, by which its copies are known; None when it cannot be told."""
    try:
        with closing(sqlite3.connect(file_uri(path, "ro"), uri=True)) as connection:
            columns = [row[1] for row in connection.execute("PRAGMA table_info(campaign)")]
            column = "identifier" if "identifier" in columns else "created_at"
            found = str(connection.execute(f"SELECT {column} FROM campaign").fetchone()[0])
    except (sqlite3.Error, TypeError):
        return None
    if column == "created_at":
        return identifier_of_old(found)
    return found if re.fullmatch("[0-9a-f]{12}", found) else None  # it becomes part of names of files


def identifier_of_old(created_at: str) -> str:
    """The identifier of a campaign that was made without one."""
    return hashlib.sha256(created_at.encode()).hexdigest()[:12]


def _dated(path: Path, identifier: str, folder: Path) -> Path:
    """Where a copy that is made now goes."""
    return folder / f"{path.stem}-{identifier}-{datetime.now(UTC).strftime(_STAMP)}.crowdclust"


def _copies(identifier: str, folder: Path) -> list[Path]:
    """The dated copies of a campaign, the oldest first."""
    return sorted(folder.glob(f"*{identifier}-*.crowdclust"), key=_stamp_of)


def _stamp_of(path: Path) -> str:
    return path.stem.rpartition("-")[2]


def _superfluous(copies: list[Path]) -> list[Path]:
    """Of copies, the oldest first, those beyond the newest ten and the last of each day of a month."""
    since = (datetime.now(UTC) - timedelta(days=KEPT_DAYS)).strftime(_STAMP)
    last_of_day = {_stamp_of(copy)[:8]: copy for copy in copies if _stamp_of(copy) >= since}
    return [copy for copy in copies[:-KEPT] if last_of_day.get(_stamp_of(copy)[:8]) != copy]
