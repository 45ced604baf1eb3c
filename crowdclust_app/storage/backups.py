"""Copies of a campaign file: those that a person asks for, and dated ones in a folder of the person's own."""

from __future__ import annotations

import hashlib
import re
import sqlite3
from contextlib import closing, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

from crowdclust_app.domain.errors import UserError
from crowdclust_app.storage.failures import said_plainly
from crowdclust_app.storage.files import publish, remove_temporary, temporary_beside
from crowdclust_app.storage.probe import file_uri, reading
from crowdclust_app.storage.rescue_log import Mark, holds, mark

KEPT, KEPT_DAYS = 10, 30
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


def keep_dated_copy(path: Path, folder: Path) -> None:
    """Keep a dated copy: the newest ten, one a day for a month, and those with answers that the new one lacks."""
    identifier = identifier_of(path)
    if identifier is None:
        return
    folder.mkdir(parents=True, exist_ok=True)
    newest = dated(path, identifier, folder)
    back_up(path, newest)
    with reading(newest) as connection:
        for old in _superfluous(copies_of(identifier, folder)):
            state = state_of(old)
            if state is None or holds(connection, state):
                with suppress(OSError):
                    old.unlink()


def state_of(copy: Path) -> Mark | None:
    """The state of a dated copy; None when it cannot be read."""
    try:
        with reading(copy) as connection:
            return mark(connection)
    except (UserError, sqlite3.Error, TypeError):
        return None


def identifier_of(path: Path) -> str | None:
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


def dated(path: Path, identifier: str, folder: Path) -> Path:
    """Where a copy that is made now goes."""
    return folder / f"{path.stem}-{identifier}-{datetime.now(UTC).strftime(_STAMP)}.crowdclust"


def copies_of(identifier: str, folder: Path) -> list[Path]:
    """The dated copies of a campaign, the oldest first."""
    return sorted(folder.glob(f"*{identifier}-*.crowdclust"), key=_stamp_of)


def _stamp_of(path: Path) -> str:
    return path.stem.rpartition("-")[2]


def _superfluous(copies: list[Path]) -> list[Path]:
    """Of copies, the oldest first, those beyond the newest ten and the last of each day of a month."""
    since = (datetime.now(UTC) - timedelta(days=KEPT_DAYS)).strftime(_STAMP)
    last_of_day = {_stamp_of(copy)[:8]: copy for copy in copies if _stamp_of(copy) >= since}
    return [copy for copy in copies[:-KEPT] if last_of_day.get(_stamp_of(copy)[:8]) != copy]
