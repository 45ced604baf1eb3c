"""Give a campaign file back what it lost while it was open: from a copy of the deleted file, or from the rescue log.

A file that is deleted or replaced while it is open is still there for who has it open, and is copied to the folder
`rescued` of the person's own data folder when that is noticed. Where it is not (the program was killed, the old bytes
were overwritten), the log there has every change since the last dated copy.
"""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Sequence
from contextlib import closing, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from crowdclust_app.domain.errors import UserError
from crowdclust_app.storage import schema
from crowdclust_app.storage.backups import copies_of, dated, identifier_of, keep_dated_copy, state_of
from crowdclust_app.storage.chain import breaks
from crowdclust_app.storage.failures import said_plainly
from crowdclust_app.storage.files import publish, remove_temporary, temporary_beside
from crowdclust_app.storage.identity import FileIdentity
from crowdclust_app.storage.migrations import migrate
from crowdclust_app.storage.probe import file_uri, inspect, reading
from crowdclust_app.storage.rescue_log import Entry, Mark, StoredLog, holds, mark, stored_logs

BACKUPS, RESCUED = "backups", "rescued"
# What is only ever added to; a file that has all of an other's rows of these is as new or newer.
_HISTORY = ("events", "responses", "response_items", "flags", "runs", "decisions", "question_events", "workers")


def save_lost(identity: FileIdentity, copies: Path) -> Path | None:
    """Copy a file that has no name any more; None where its name or content are elsewhere, or it cannot be copied."""
    if not identity.nameless():
        return None
    folder = copies / RESCUED
    try:
        folder.mkdir(parents=True, exist_ok=True)
        part = temporary_beside(folder / identity.path.name)
        try:
            identity.copy_to(part)
            identifier = identifier_of(part)
            if identifier is None:
                return None
            final = dated(identity.path, identifier, folder)
            publish(part, final)
        finally:
            remove_temporary(part)
    except OSError:
        return None
    return final


def bring_back(path: Path, copies: Path) -> tuple[str, ...]:
    """Restore what was done to a campaign and this file, an older state of it, lacks.

    Parameters
    ----------
    path
        The file, of this schema version.
    copies
        The person's folder with the folders `backups` and `rescued`.

    Returns
    -------
    tuple of str
        A sentence for what was restored, or for what differs from what the file holds and was kept beside it.
    """
    identifier = identifier_of(path)
    if identifier is None or path.parent in (copies / BACKUPS, copies / RESCUED):  # a copy is looked at as it is
        return ()
    said = _from_copies(path, copies, identifier)
    logs = stored_logs(copies / RESCUED, identifier)
    if logs and _replay_logs(path, copies, identifier, logs, said):
        said += _from_copies(path, copies, identifier)
    if not any(log.in_use for log in logs):
        # as at the closing that a killed program did not come to, or of a file from elsewhere
        with suppress(UserError, OSError):
            newest = newest_state(copies, identifier)
            with reading(path) as connection:
                same, older = newest == mark(connection), newest is not None and not holds(connection, newest)
            if older:
                said.append(f"A dated copy has answers that {path.name} lacks; “crowdclust restore” shows it.")
            if not same:
                keep_dated_copy(path, copies / BACKUPS)
    return tuple(said)


def newest_state(copies: Path, identifier: str) -> Mark | None:
    """The state of the newest dated copy; None when there is none, or none that can be read."""
    newest = copies_of(identifier, copies / BACKUPS)[-1:]
    return state_of(newest[0]) if newest else None


def _from_copies(path: Path, copies: Path, identifier: str) -> list[str]:
    said = []
    for rescued in reversed(copies_of(identifier, copies / RESCUED)):
        with TemporaryDirectory(prefix="crowdclust-") as folder:
            source_path = Path(folder) / rescued.name
            try:
                shutil.copyfile(rescued, source_path)
                if (version := inspect(source_path)) < schema.SCHEMA_VERSION:
                    migrate(source_path, version)
            except (UserError, OSError):
                continue  # not whole, or of a newer version: it stays where it is
            lacking, own = _difference(source_path, path), _difference(path, source_path)
            if lacking and not own:
                with (
                    said_plainly(path),
                    closing(sqlite3.connect(file_uri(source_path, "ro"), uri=True)) as source,
                    closing(sqlite3.connect(file_uri(path, "rw"), uri=True, timeout=20)) as target,
                ):
                    source.backup(target)
                said.append(f"{path.name} was older than when it was open last; {lacking:,} rows of it are back.")
        if lacking and own:
            said.append(f"{rescued} has answers that {path.name} lacks, and the other way round; both were kept.")
        else:  # the file has all of it: from now on it is a copy like others, which go in time
            (copies / BACKUPS).mkdir(parents=True, exist_ok=True)
            with suppress(OSError):
                rescued.replace(copies / BACKUPS / rescued.name)
    return said


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


def _replay_logs(path: Path, copies: Path, identifier: str, logs: Sequence[StoredLog], said: list[str]) -> bool:
    """Repeat what logs tell and the file lacks; whether a whole copy was made in place of that."""
    copied = False
    for log in logs:
        whole = path
        if log.campaign != path and _is_whole(log, identifier):
            whole = log.campaign
        elif (back := _replay(path, log, logs)) is None:
            copied = _replay_on_a_copy(path, log, logs, copies, identifier, said) or copied
            continue
        elif back:
            said.append(f"{path.name} was older than when it was open last; {back:,} rows of it are back.")
        if not log.in_use:
            with suppress(UserError, OSError):
                keep_dated_copy(whole, copies / BACKUPS)
                log.discard()
    return copied


def _is_whole(log: StoredLog, identifier: str) -> bool:
    """Whether the file that a log is about is where it was and has everything."""
    if identifier_of(log.campaign) != identifier:
        return False
    try:
        with reading(log.campaign) as connection:
            return holds(connection, log.entries[-1].after)
    except (UserError, sqlite3.Error):
        return False


def _replay_on_a_copy(
    path: Path, log: StoredLog, logs: Sequence[StoredLog], copies: Path, identifier: str, said: list[str]
) -> bool:
    """Repeat what a log tells on the newest copy that it fits; whether that made another, put with the rescued ones."""
    kept = [copy for folder in (BACKUPS, RESCUED) for copy in copies_of(identifier, copies / folder)]
    for copy in reversed(kept):
        part = temporary_beside(copies / RESCUED / path.name)
        try:
            with suppress(UserError, OSError):
                shutil.copyfile(copy, part)
                if inspect(part) < schema.SCHEMA_VERSION or (back := _replay(part, log, logs)) is None:
                    continue
                if back:
                    publish(part, dated(path, identifier, copies / RESCUED))
                elif copy.parent.name == BACKUPS:
                    said.append(f"{copy} has answers that {path.name} lacks; both were kept.")
                log.discard()
                return back > 0
        finally:
            remove_temporary(part)
    said.append(f"{log.path} has actions that do not fit what {path.name} holds now; both were kept.")
    return False


def _replay(path: Path, log: StoredLog, others: Sequence[StoredLog]) -> int | None:
    """Repeat the changes of a log that a file lacks; None, and no change, when they do not follow from its state.

    Several programs may have changed it in turn, so changes of other logs may come between.

    Returns
    -------
    int or None
        How many actions, answers and responses came back.
    """
    with (
        said_plainly(path),
        closing(sqlite3.connect(file_uri(path, "rw"), uri=True, isolation_level=None, timeout=20)) as connection,
    ):
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA recursive_triggers = ON")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("BEGIN IMMEDIATE")
        try:
            left = [entry for entry in log.entries if not holds(connection, entry.after)]
            if not left:
                return 0
            between = [entry for other in others if other is not log for entry in other.entries]
            broken, before = len(list(breaks(connection))), mark(connection).done
            while left and (entry := _next([*left, *between], connection)) is not None:
                (left if entry in left else between).remove(entry)
                for statement, row in entry.statements:
                    connection.execute(statement, row)
            if left or len(list(breaks(connection))) > broken:
                return None
            back = mark(connection).done - before
            connection.execute("COMMIT")
            return back
        except sqlite3.IntegrityError:
            return None
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")


def _next(entries: list[Entry], connection: sqlite3.Connection) -> Entry | None:
    """The change that was made to what a connection sees now."""
    now = mark(connection)
    return next((entry for entry in entries if entry.before == now), None)
