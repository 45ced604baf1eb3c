"""Look at a file before anything opens it for writing: is it a whole campaign of a version we know?

Nothing here changes the file. Where no write-ahead log lies beside it, SQLite reads it as immutable, so not even a
lock or a shared-memory file appears beside a file that is then refused.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from crowdclust_app.domain.errors import UserError
from crowdclust_app.storage import schema
from crowdclust_app.storage.failures import damaged, explain_os_error, said_plainly

_MAGIC = b"SQLite format 3\x00"
_HEADER_BYTES = 100


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


def wal_of(path: Path) -> Path:
    """The write-ahead log that belongs to a campaign file."""
    return path.with_name(path.name + "-wal")


def has_wal(path: Path) -> bool:
    """Whether a write-ahead log with content lies beside the file."""
    try:
        return wal_of(path).stat().st_size > 0
    except OSError:
        return False


@contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection]:
    """A plain connection that can only read."""
    uri = file_uri(path, "ro", immutable=not has_wal(path))
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
    if header.pages_valid and header.size < header.page_size * header.pages and not has_wal(path):
        expected = header.page_size * header.pages
        raise damaged(path, f"only {header.size} of its {expected} bytes are there")
    problem = None
    for _ in range(2):
        logged = has_wal(path)
        try:
            version, problem = _look_inside(path)
        except UserError:
            # Another program may have begun to write between our look for its log and our reading.
            if logged == has_wal(path):
                raise
            continue
        if problem is None or logged == has_wal(path):
            break
    if problem is not None:
        raise damaged(path, problem)
    _refuse_newer(path, version)
    return version


def _read_header(path: Path) -> _Header:
    if path.is_dir():
        raise UserError("this is a folder, not a campaign file", where=str(path), todo="choose a .crowdclust file")
    try:
        with path.open("rb") as file:
            head = file.read(_HEADER_BYTES)
            size = file.seek(0, 2)
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
        if version == schema.SCHEMA_VERSION:
            present = {row[0] for row in connection.execute("SELECT name FROM sqlite_master")}
            missing = sorted((set(schema.metadata.tables) | set(schema.VIEW_NAMES)) - present)
            if missing:
                return version, f"the table {missing[0]} is missing"
            if connection.execute("SELECT count(*) FROM campaign").fetchone()[0] != 1:
                return version, "it does not say which campaign it is"
        verdict = str(connection.execute("PRAGMA quick_check(1)").fetchone()[0])
        return version, None if verdict == "ok" else verdict.splitlines()[-1]
