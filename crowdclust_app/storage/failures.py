"""What SQLite reports, said to a person: which file, what is wrong, what to do."""

from __future__ import annotations

import errno
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy.exc import DBAPIError

from crowdclust_app.domain.errors import UserError

NEARLY_NOTHING = 1 << 20  # bytes free below which an I/O error is a full disk's

_PRIMARY_MASK = 0xFF  # SQLite's extended result codes keep the primary code in the low byte


class DamagedError(UserError):
    """The content of a campaign file is not what was written."""


class NotWritableError(UserError):
    """A campaign file cannot be changed where it is; it may still be readable."""


class BusyError(UserError):
    """Another program has the campaign locked."""


class FileLostError(UserError):
    """The name of an open campaign leads to no file, to another, or to an older state of it."""


@contextmanager
def said_plainly(path: Path) -> Iterator[None]:
    """Turn errors of the environment inside the block into `UserError`; anything else passes unchanged."""
    try:
        yield
    except DBAPIError as error:
        mended = _explain(error.orig, path) if isinstance(error.orig, sqlite3.Error) else None
        if mended is None:
            raise
        raise mended from error
    except sqlite3.Error as error:
        mended = _explain(error, path)
        if mended is None:
            raise
        raise mended from error
    except OSError as error:
        raise explain_os_error(error, path) from error


def _explain(error: sqlite3.Error, path: Path) -> UserError | None:
    code = getattr(error, "sqlite_errorcode", None)
    if code is None:
        return None
    primary = code & _PRIMARY_MASK
    if primary == sqlite3.SQLITE_FULL:
        return disk_full(path)
    if primary in (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN):
        room = _room(path)
        no_disk = room is not None and not room[0]  # such as /proc
        if no_disk and primary == sqlite3.SQLITE_CANTOPEN:
            return nowhere(path)
        if room is not None and not no_disk and room[1] < NEARLY_NOTHING:
            return disk_full(path)
    if primary in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_CANTOPEN):
        return not_writable(path)
    if primary == sqlite3.SQLITE_IOERR:
        return UserError(
            "the disk reported an error while reading or writing; what was saved before is kept",
            where=str(path),
            todo="check that the disk is still connected and try again",
        )
    if primary in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return damaged(path)
    if primary in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return BusyError(
            "another program is writing to the campaign and does not finish",
            where=str(path),
            todo="wait a moment or close that program, then try again",
        )
    return None


def explain_os_error(error: OSError, path: Path) -> UserError:
    """The `UserError` for a failed operation on the campaign's files."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT if hasattr(errno, "EDQUOT") else errno.ENOSPC):
        return disk_full(path)
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return not_writable(path)
    reason = error.strerror or str(error)
    return UserError(f"the file cannot be used ({reason})", where=str(path), todo="check the place and its name")


def disk_full(path: Path) -> NotWritableError:
    """There is no space left where the campaign is."""
    return NotWritableError(
        "the disk is full, so this last step was not saved; everything before it is",
        where=str(path),
        todo="free some space on it and try again",
    )


def nowhere(path: Path) -> NotWritableError:
    """The folder is one in which no file can be, such as /proc."""
    return NotWritableError("nothing can be written in this folder", where=str(path), todo="choose another folder")


def not_writable(path: Path) -> NotWritableError:
    """The file or its folder cannot be written."""
    return NotWritableError(
        "the campaign cannot be written here: the file or its folder is read-only",
        where=str(path),
        todo="make both writable, or copy the campaign to a folder that is",
    )


def no_locks(path: Path) -> NotWritableError:
    """Programs cannot lock the file against each other."""
    return NotWritableError(
        "this disk cannot lock files, so two programs could destroy each other's answers",
        where=str(path),
        todo="copy the campaign to a disk of this computer",
    )


def damaged(path: Path, detail: str = "") -> DamagedError:
    """The file's content is not what was written."""
    more = f" ({detail})" if detail else ""
    return DamagedError(
        f"the campaign file is damaged{more}",
        where=str(path),
        todo="restore it from a copy; nothing can be added to it safely",
    )


def _room(path: Path) -> tuple[int, int] | None:
    """How many bytes the disk of a file has, and how many of them are free; None when nobody knows."""
    try:
        usage = shutil.disk_usage(path.parent)
    except OSError:
        return None
    return usage.total, usage.free
