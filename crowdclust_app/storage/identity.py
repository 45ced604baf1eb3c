"""Which file an open campaign is: whether its name still leads to it, and whether it is as new as it was.

A POSIX process loses all its locks on a file when it closes any descriptor of it. So every descriptor that is opened
here stays open until nothing in this process has the file open.
"""

from __future__ import annotations

import contextlib
import os
import threading
from pathlib import Path

from crowdclust_app.storage.failures import FileLostError, explain_os_error

# Where SQLite counts the changes of a file (its file format, section 1.3), and a byte beyond those it locks.
_CHANGES_AT, _FREE_BYTE = 24, 0x40000000 + 4096
_O_BINARY = getattr(os, "O_BINARY", 0)

_guard = threading.Lock()
_held: dict[tuple[int, int], list[FileIdentity]] = {}
_unused: dict[tuple[int, int], list[int]] = {}


class FileIdentity:
    """A campaign file as it was when it was opened; to be made before SQLite opens it and closed after.

    Parameters
    ----------
    path
        The file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        with _guard:
            self._descriptor = os.open(path, os.O_RDONLY | _O_BINARY)
            self._key = _key(os.fstat(self._descriptor))
            _held.setdefault(self._key, []).append(self)
        self._changes = self._count()

    def check(self) -> None:
        """Raise `FileLostError` when the name leads to no file, to another, or to an older state of this one."""
        try:
            found = self.path.stat()
        except FileNotFoundError as error:
            raise FileLostError(
                "the campaign file is not there any more: it was moved, renamed or deleted while it was open, and this "
                "was not saved",
                where=str(self.path),
                todo="put it back under this name, or open it where it is now",
            ) from error
        except OSError as error:
            raise explain_os_error(error, self.path) from error
        changes = self._count()
        if _key(found) != self._key or changes < self._changes:
            raise replaced(self.path)
        self._changes = changes

    def close(self) -> None:
        """Forget the file."""
        with _guard:
            mates = _held.get(self._key, [])
            if self not in mates:
                return
            mates.remove(self)
            _unused.setdefault(self._key, []).append(self._descriptor)
            if not mates:
                del _held[self._key]
                for descriptor in _unused.pop(self._key):
                    with contextlib.suppress(OSError):
                        os.close(descriptor)

    def nameless(self) -> bool:
        """Whether no name leads to the file any more: it was deleted, or another took its place."""
        return os.fstat(self._descriptor).st_nlink == 0

    def copy_to(self, target: Path) -> None:
        """Write the file's bytes into a new one."""
        with _guard, target.open("xb") as copy:
            os.lseek(self._descriptor, 0, os.SEEK_SET)
            while block := os.read(self._descriptor, 1 << 20):
                copy.write(block)

    def read(self, length: int) -> tuple[bytes, int]:
        """The first bytes of the file, and how many it has."""
        with _guard:
            os.lseek(self._descriptor, 0, os.SEEK_SET)
            return os.read(self._descriptor, length), os.fstat(self._descriptor).st_size

    def _count(self) -> int:
        return int.from_bytes(self.read(_CHANGES_AT + 4)[0][_CHANGES_AT:], "big")


def replaced(path: Path) -> FileLostError:
    """What to say of a file that is another now, or an older state of the same."""
    return FileLostError(
        "the campaign file was replaced by another one or by an older copy while it was open, and this was not saved",
        where=str(path),
        todo="open it again to go on with what is there now, or restore the newer copy first",
    )


def held(path: Path) -> FileIdentity | None:
    """The file as this process has it open; None when it has not."""
    try:
        mates = _held.get(_key(path.stat()))
    except OSError:
        return None
    return mates[0] if mates else None


def first_bytes(path: Path, length: int) -> tuple[bytes, int]:
    """The first bytes of a file, and how many it has, without a loss of locks."""
    known = held(path)
    if known is not None:
        return known.read(length)
    with path.open("rb") as file:
        return file.read(length), file.seek(0, os.SEEK_END)


def can_lock(path: Path) -> bool:
    """Whether programs can lock parts of a file against each other where it is."""
    try:
        import fcntl
    except ImportError:  # Windows, where locks are part of every file system
        return True
    if held(path) is not None:
        return True
    try:
        with path.open("rb") as file:
            fcntl.lockf(file, fcntl.LOCK_SH | fcntl.LOCK_NB, 1, _FREE_BYTE)
            fcntl.lockf(file, fcntl.LOCK_UN, 1, _FREE_BYTE)
    except OSError:
        return False
    return True


def _key(found: os.stat_result) -> tuple[int, int]:
    return found.st_dev, found.st_ino
