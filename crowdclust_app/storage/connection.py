"""Make and open campaign files; short transactions on pooled connections.

`Database.read` sees one consistent state, `Database.write` takes SQLite's write lock at its beginning (BEGIN
IMMEDIATE), so what it read is still true when it writes, whoever else has the file open.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from sqlalchemy import Connection as Connection
from sqlalchemy import Engine, QueuePool, create_engine, event, update
from sqlalchemy.exc import DBAPIError

from crowdclust_app.domain.errors import CrowdclustError, UserError
from crowdclust_app.storage import schema
from crowdclust_app.storage.failures import FileLostError, no_locks, not_writable, said_plainly
from crowdclust_app.storage.files import publish, remove_stale, remove_temporary, temporary_beside
from crowdclust_app.storage.identity import FileIdentity, can_lock, replaced
from crowdclust_app.storage.logs import set_aside, settle
from crowdclust_app.storage.migrations import migrate
from crowdclust_app.storage.probe import file_uri, inspect, reading_uri
from crowdclust_app.storage.recovery import bring_back
from crowdclust_app.storage.rescue_log import Statements, mark
from crowdclust_app.storage.safekeeping import Safekeeping

BUSY_SECONDS = 20.0


class Database:
    """A campaign file that is open; safe to use from several threads.

    Parameters
    ----------
    path
        The file, which exists and is a campaign of this version (`open_database` makes sure).
    read_only
        Never change the file, nor make another beside it; `write` is refused.
    copies
        The person's folder for copies of campaigns and logs of what is done to them; None for none.
    """

    def __init__(self, path: Path, *, read_only: bool = False, copies: Path | None = None) -> None:
        self.path = path
        self.read_only = read_only
        self._closed = False
        self.notes: tuple[str, ...] = ()
        self._safekeeping = None if copies is None else Safekeeping(path, copies)
        self._lost: FileLostError | None = None
        with said_plainly(path):
            # before the identity: whether the disk can lock is not asked of a file that this process holds
            uri = reading_uri(path) if read_only else file_uri(path, "rw")
            self._identity = FileIdentity(path)
        self._engine = _engine(uri, _ALWAYS if read_only else _IN_USE)
        self._writing = self._engine.execution_options(crowdclust_write=True)
        if self._safekeeping is not None:
            event.listen(self._writing, "after_cursor_execute", _note_statement)

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """One consistent view of the campaign."""
        with self._transaction(self._engine) as connection:
            yield connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """One change, on disk when the block is left, undone when it raises.

        Raises
        ------
        FileLostError
            When the file's name does not lead to it any more; nothing counts as stored then.
        """
        if self.read_only:
            raise not_writable(self.path)
        if self._safekeeping is None:
            with self._transaction(self._writing) as connection:
                yield connection
            self._check_identity()
            return
        statements = Statements()
        with self._transaction(self._writing) as connection:
            driver = connection.connection.driver_connection
            assert isinstance(driver, sqlite3.Connection)
            before = mark(driver)
            if not self._safekeeping.follows(driver, before):
                # its bytes were overwritten by those of another, which may count as many changes
                raise self._said_kept(replaced(self.path))
            connection.info[_STATEMENTS] = statements
            try:
                yield connection
            finally:
                del connection.info[_STATEMENTS]
            after = mark(driver)
        self._check_identity()
        if statements.made:
            self._safekeeping.keep(before, after, statements)

    @contextmanager
    def _transaction(self, engine: Engine) -> Iterator[Connection]:
        if self._closed:
            raise CrowdclustError(f"the campaign {self.path} has been closed")
        self._check_identity()
        with said_plainly(self.path), engine.begin() as connection:
            yield connection

    def _check_identity(self) -> None:
        """Raise `FileLostError` when this is not the file any more; what was in it is kept elsewhere."""
        if self._lost is not None:
            raise self._lost
        try:
            self._identity.check()
        except FileLostError as error:
            said = self._said_kept(error)
            if said is error:
                raise
            raise said from error

    def _said_kept(self, error: FileLostError) -> FileLostError:
        """The error with a word on where the content of the lost file is, which is copied if need be."""
        saved = self._safekeeping.save(self._identity) if self._safekeeping else None
        if saved is None and not (self._safekeeping and self._safekeeping.logged):
            return error
        where = f"is in {saved}, and" if saved else "is kept, and"
        said = FileLostError(
            f"{error.what}; what had been saved {where} comes back when an older copy of this campaign is opened",
            where=error.where,
            todo=error.todo,
        )
        if saved is not None:  # nothing that happens to the name brings this file back
            self._lost = said
        return said

    def refuse_read_only(self) -> None:
        """Raise `UserError` now, and not at the first answer, when the file or its folder cannot be written."""
        with self._transaction(self._writing) as connection:
            # Taking the lock is not enough: SQLite grants it on a read-only file and complains at the first change.
            connection.execute(update(schema.campaign).values(revision=schema.campaign.c.revision))
            connection.rollback()

    def close(self) -> None:
        """Close every connection, leave no file beside the campaign; a dated copy is kept of one that was changed."""
        if self._closed:
            return
        lost = False
        if self._safekeeping is not None and self._safekeeping.busy:
            try:
                self._check_identity()
            except UserError:
                lost = True
        if not self.read_only:
            with suppress(DBAPIError), self._engine.connect() as connection:
                # removes the empty journal
                connection.connection.execute("PRAGMA journal_mode = DELETE")
        self._closed = True
        self._engine.dispose()
        self._identity.close()
        if self._safekeeping is not None:
            self._safekeeping.close(lost=lost)


def open_database(path: Path, *, read_only: bool = False, copies: Path | None = None) -> Database:
    """Open a campaign file for reading and writing, migrating it first if it is of an older version.

    Parameters
    ----------
    path
        The file.
    read_only
        Open it for reading alone, wherever it is; one of an older version is refused then.
    copies
        The person's folder for copies of campaigns and logs of what is done to them; what this file, an older state
        of its campaign, lacks comes back from there.

    Raises
    ------
    NotWritableError
        When it cannot be written.
    UserError
        When it is no campaign, damaged, or of a newer version.
    """
    with said_plainly(path):
        notes = settle(path)
    version = inspect(path)
    if read_only:
        if version < schema.SCHEMA_VERSION:
            raise UserError(
                "this campaign was made by an older Crowdclust and must be brought up to date first",
                where=str(path),
                todo="copy it to a folder that can be written",
            )
        return Database(path, read_only=True)
    if not os.access(path, os.W_OK) or not os.access(path.parent, os.W_OK):
        raise not_writable(path)  # before SQLite, which would leave files of its own beside it
    if not can_lock(path):
        raise no_locks(path)
    if version < schema.SCHEMA_VERSION:
        migrate(path, version)
    if copies is not None:
        notes += bring_back(path, copies)
    database = Database(path, copies=copies)
    database.notes = notes
    try:
        database.refuse_read_only()
    except BaseException:
        database.close()
        raise
    return database


@contextmanager
def building(final: Path, said: list[str] | None = None) -> Iterator[Connection]:
    """Make a new campaign file; it appears under its name, whole, when the block is left without an exception.

    Until then everything goes to a hidden file in the same folder, which a killed program may leave but nobody takes
    for a campaign; the next creation of the same name removes it.

    Parameters
    ----------
    final
        The file.
    said
        Receives a sentence for each log of another campaign that lay beside this name.

    Raises
    ------
    UserError
        When there is something of that name already, or the folder cannot be written.
    """
    remove_stale(final)
    refuse_existing(final)
    notes = set_aside(final)
    if said is not None:
        said.extend(notes)
    part = temporary_beside(final)
    try:
        with said_plainly(final):
            engine = _engine(file_uri(part, "rwc"), _BUILDING)
            try:
                with engine.execution_options(crowdclust_write=True).begin() as connection:
                    _create_tables(connection)
                    yield connection
            finally:
                engine.dispose()
            refuse_existing(final)
            publish(part, final)
    finally:
        remove_temporary(part)


def _create_tables(connection: Connection) -> None:
    schema.metadata.create_all(connection, checkfirst=False)
    for statement in schema.rules():
        connection.exec_driver_sql(statement)
    connection.exec_driver_sql(f"PRAGMA application_id = {schema.APPLICATION_ID}")
    connection.exec_driver_sql(f"PRAGMA user_version = {schema.SCHEMA_VERSION}")


def refuse_existing(final: Path) -> None:
    """Raise `UserError` when a campaign cannot get this name: it is taken, or there is no such folder."""
    if os.path.lexists(final):
        raise UserError(
            "there is already something of this name, and it was left alone",
            where=str(final),
            todo="choose another name for the campaign",
        )
    if not final.parent.is_dir():
        raise UserError("there is no such folder", where=str(final.parent), todo="make it or choose another")


_ALWAYS = (
    "foreign_keys = ON",
    "recursive_triggers = ON",  # without it, INSERT OR REPLACE gets past the triggers that forbid DELETE
    "trusted_schema = OFF",
)
# With a rollback journal every change is in the one file when it is acknowledged, so that a copy of it is whole.
_IN_USE = ("journal_mode = TRUNCATE", "synchronous = FULL", *_ALWAYS)
# A file that is being built is thrown away when anything goes wrong, and synced as a whole before it gets its name.
_BUILDING = ("page_size = 8192", "journal_mode = MEMORY", "synchronous = OFF", *_ALWAYS)


_STATEMENTS = "crowdclust_statements"


def _note_statement(
    connection: Connection, _cursor: object, statement: str, parameters: Any, _context: object, many: bool
) -> None:
    if (statements := connection.info.get(_STATEMENTS)) is not None:
        statements.add(statement, parameters, many)


def _engine(uri: str, pragmas: tuple[str, ...]) -> Engine:
    def connect() -> sqlite3.Connection:
        # Autocommit at the driver's level: the events below begin transactions themselves.
        connection = sqlite3.connect(uri, uri=True, isolation_level=None, timeout=BUSY_SECONDS, check_same_thread=False)
        try:
            for pragma in pragmas:
                connection.execute(f"PRAGMA {pragma}")
        except BaseException:
            connection.close()
            raise
        return connection

    engine = create_engine("sqlite://", creator=connect, poolclass=QueuePool, pool_size=4, max_overflow=-1)

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        writes = connection.get_execution_options().get("crowdclust_write", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine
