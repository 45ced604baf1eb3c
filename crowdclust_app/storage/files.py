"""Write whole files only: build under a temporary name in the same folder, then put it in its place in one step."""

from __future__ import annotations

import contextlib
import os
import secrets
import time
from pathlib import Path

STALE_SECONDS = 3600.0
_SIDE_FILES = ("", "-wal", "-shm", "-journal")


def temporary_beside(path: Path) -> Path:
    """A name in the same folder that nobody else uses; hidden, and not a campaign's."""
    return path.with_name(f".{path.name}.{secrets.token_hex(6)}.part")


def publish(temporary: Path, final: Path) -> None:
    """Give a finished file its final name: after a power cut it is there whole or not at all."""
    descriptor = os.open(temporary, os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    temporary.replace(final)
    sync_folder(final.parent)


def sync_folder(folder: Path) -> None:
    """Make a rename in this folder durable, where the system can (Windows cannot, and does it by itself)."""
    if os.name == "nt":
        return
    # Some network file systems refuse to sync a folder; the file itself is synced already.
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def remove_temporary(temporary: Path) -> None:
    """Remove a temporary file with the files that SQLite keeps beside it."""
    for suffix in _SIDE_FILES:
        with contextlib.suppress(OSError):
            temporary.with_name(temporary.name + suffix).unlink()


def is_stale(leftover: Path) -> bool:
    """Whether a temporary file or folder is too old for whoever made it to be still at work."""
    return time.time() - leftover.stat().st_mtime > STALE_SECONDS


def remove_stale(path: Path) -> None:
    """Remove what killed creations of this file left; younger ones may still be at work and are kept."""
    prefix = f".{path.name}."
    with contextlib.suppress(OSError):
        for other in path.parent.iterdir():
            name = other.name
            if not name.startswith(prefix) or not any(name.endswith(f".part{suffix}") for suffix in _SIDE_FILES):
                continue
            with contextlib.suppress(OSError):
                if is_stale(other):
                    other.unlink()
