"""What an open campaign keeps outside its file: a dated copy, and the log of every change since."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import suppress
from pathlib import Path

from crowdclust_app.domain.errors import UserError
from crowdclust_app.storage.backups import identifier_of, keep_dated_copy
from crowdclust_app.storage.identity import FileIdentity
from crowdclust_app.storage.probe import reading
from crowdclust_app.storage.recovery import BACKUPS, RESCUED, newest_state, save_lost
from crowdclust_app.storage.rescue_log import Entry, Mark, RescueLog, Statements, holds


class Safekeeping:
    """Keeps what is done to one campaign file in the person's own folder too, where no loss of the file reaches it.

    A folder that cannot be written is no reason to stop anybody's work: then there is the file alone.

    Parameters
    ----------
    path
        The campaign file.
    copies
        The folder with the folders `backups` and `rescued`.
    """

    def __init__(self, path: Path, copies: Path) -> None:
        self._path = path
        self._copies = copies
        self._log: RescueLog | None = None
        self._lock = threading.Lock()
        self._failed = False
        self._changed = False
        self._last: Mark | None = None

    @property
    def busy(self) -> bool:
        """Whether anything was changed since the last dated copy."""
        return self._changed

    def follows(self, connection: sqlite3.Connection, now: Mark) -> bool:
        """Whether the file's state is the last that was kept, or one that came after it."""
        return self._last is None or now == self._last or holds(connection, self._last)

    def keep(self, before: Mark, after: Mark, statements: Statements) -> None:
        """Keep a change that the file has; it is on disk here, too, when this returns."""
        with self._lock:
            self._changed = True
            self._last = after
            if self._failed:
                return
            try:
                if self._log is None:
                    identifier = identifier_of(self._path)
                    if identifier is None:
                        return
                    self._log = RescueLog(self._copies / RESCUED, self._path, identifier)
                    follows = newest_state(self._copies, identifier) == before
                else:
                    follows = True
                if follows and not statements.too_large:
                    self._log.append(Entry(before, after, tuple(statements.made)))
                else:
                    self._copy()
            except (OSError, UserError):
                self._failed = True

    @property
    def logged(self) -> bool:
        """Whether every change since the last dated copy is in the log."""
        return self._changed and not self._failed

    def save(self, identity: FileIdentity) -> Path | None:
        """Copy the content of a file that has no name any more; None where it has one."""
        return save_lost(identity, self._copies)

    def close(self, *, lost: bool) -> None:
        """Keep a dated copy in place of the log, unless the file was lost."""
        if self._changed and not lost:
            with suppress(OSError, UserError):
                self._copy()
        if self._log is not None:
            if self._changed:
                self._log.close()
            else:
                self._log.remove()

    def _copy(self) -> None:
        with reading(self._path) as connection:
            if self._last is not None and not holds(connection, self._last):
                return  # it is another file now, and the log is all there is
        keep_dated_copy(self._path, self._copies / BACKUPS)
        self._changed = False
