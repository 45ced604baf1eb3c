"""Look at a file before anything opens it for writing: is it a whole campaign of a version we know?

Nothing here changes the file, but for the log that a killed program left, which is written into it. A file of the
format with a write-ahead log is read as immutable where no log lies beside it, so that SQLite makes no file beside one
that is then refused; so is one on a disk that cannot lock.
"""

from __future__ import annotations

import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from crowdclust_app.domain.errors import UserError
from crowdclust_app.storage import schema
from crowdclust_app.storage.failures import damaged, explain_os_error, said_plainly
from crowdclust_app.storage.identity import can_lock, first_bytes
from crowdclust_app.storage.layout import layout_problem
from crowdclust_app.storage.logs import logs_beside

_MAGIC = b"SQLite format 3\x00"
_HEADER_BYTES = 100
# Where the header says whether the file is of the format with a write-ahead log.
_FORMAT_AT, _WRITE_AHEAD = 18, b"\x02"


@dataclass(frozen=True, slots=True)
class _Header:
    """The fields of SQLite's file header that are looked at (its file format, section 1.3)."""

    page_size: int
    pages: int
    pages_valid: bool
    user_version: int
    application_id: int
    size: int


def file_uri(path: Path, mode: str, *, immutable: bool = False) -> str:
    """SQLite's URI of a file whose name may hold `?`, `#`, `%`, spaces or any letter."""
    uri = path.absolute().as_uri()
    if uri.startswith("file://") and not uri.startswith("file:///"):
        uri = "file:////" + uri.removeprefix("file://")  # a Windows share, which SQLite wants without a host
    return f"{uri}?mode={mode}{'&immutable=1' if immutable else ''}"


def reading_uri(path: Path) -> str:
    """SQLite's URI of a file that is only read."""
    write_ahead = first_bytes(path, _HEADER_BYTES)[0][_FORMAT_AT : _FORMAT_AT + 1] == _WRITE_AHEAD
    return file_uri(path, "ro", immutable=not logs_beside(path) and (write_ahead or not can_lock(path)))


@contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection]:
    """A plain connection that can only read."""
    with said_plainly(path):
        uri = reading_uri(path)
    with said_plainly(path), closing(sqlite3.connect(uri, uri=True, isolation_level=None, timeout=10)) as connection:
        yield connection


def inspect(path: Path) -> int:
    """Make sure that this is a whole campaign file that this version can open.

    Returns
    -------
    int
        Its schema version, at most `schema.SCHEMA_VERSION`.

    Raises
    ------
    UserError
        For anything else; the file is unchanged.
    """
    header = _read_header(path)
    _refuse_newer(path, header.user_version)
    if header.pages_valid and header.size < header.page_size * header.pages and not logs_beside(path):
        expected = header.page_size * header.pages
        raise damaged(path, f"only {header.size} of its {expected} bytes are there")
    problem = None
    for _ in range(2):
        logged = logs_beside(path)
        try:
            version, problem = _look_inside(path)
        except UserError:
            # Another program may have begun to write between our look for its log and our reading.
            if logged == logs_beside(path):
                raise
            continue
        if problem is None or logged == logs_beside(path):
            break
    if problem is not None:
        raise damaged(path, problem)
    _refuse_newer(path, version)
    return version


def _read_header(path: Path) -> _Header:
    try:
        kind = path.stat().st_mode
        if stat.S_ISDIR(kind):
            raise UserError("this is a folder, not a campaign file", where=str(path), todo="choose a .crowdclust file")
        if not stat.S_ISREG(kind):
            raise UserError("this is a pipe or a device, not a file", where=str(path), todo="choose a .crowdclust file")
        head, size = first_bytes(path, _HEADER_BYTES)
    except FileNotFoundError as error:
        raise UserError("there is no such campaign file", where=str(path), todo="check the name") from error
    except PermissionError as error:
        raise UserError(
            "the file cannot be read", where=str(path), todo="give yourself the right to read it"
        ) from error
    except OSError as error:
        raise explain_os_error(error, path) from error
    if not head:
        raise UserError("the file is empty, not a campaign", where=str(path), todo="choose another or restore a copy")
    if not head.startswith(_MAGIC):
        raise UserError("this is not a Crowdclust campaign", where=str(path), todo="choose a .crowdclust file")
    if len(head) < _HEADER_BYTES:
        raise damaged(path, f"only {len(head)} bytes are there")

    def number(at: int, length: int = 4) -> int:
        return int.from_bytes(head[at : at + length], "big")

    page_size = number(16, 2)
    header = _Header(
        page_size=65536 if page_size == 1 else page_size,
        pages=number(28),
        pages_valid=number(24) == number(92),
        user_version=number(60),
        application_id=number(68),
        size=size,
    )
    if header.application_id != schema.APPLICATION_ID:
        raise UserError(
            "this database belongs to another program, it is not a Crowdclust campaign",
            where=str(path),
            todo="choose a .crowdclust file",
        )
    return header


def _refuse_newer(path: Path, version: int) -> None:
    if version > schema.SCHEMA_VERSION:
        raise UserError(
            f"this campaign was made by a newer Crowdclust (format {version}, this one knows up to "
            f"{schema.SCHEMA_VERSION})",
            where=str(path),
            todo="update Crowdclust to open it",
        )


def _look_inside(path: Path) -> tuple[int, str | None]:
    """Schema version and the first structural problem."""
    with reading(path) as connection:
        version = int(connection.execute("PRAGMA user_version").fetchone()[0])
        problem = layout_problem(connection)
        if version == schema.SCHEMA_VERSION:
            if problem is not None:
                return version, problem
            if connection.execute("SELECT count(*) FROM campaign").fetchone()[0] != 1:
                return version, "it does not say which campaign it is"
        elif problem is None and version < schema.SCHEMA_VERSION:
            return version, f"it calls itself of format {version} and has the tables of {schema.SCHEMA_VERSION}"
        elif version < 1:
            return version, f"there is no format {version}"
        verdict = str(connection.execute("PRAGMA quick_check(1)").fetchone()[0])
        return version, None if verdict == "ok" else verdict.splitlines()[-1]
