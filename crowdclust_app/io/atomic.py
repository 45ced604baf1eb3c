"""Files that are there whole or not at all."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

from crowdclust_app.domain.errors import UserError


@contextmanager
def atomic_file(path: Path) -> Iterator[BinaryIO]:
    """Write a file that appears under its name only when it is complete.

    The bytes go to a hidden file in the same folder, which takes the name when the block ends well; an older file of
    that name is replaced then and not before. When anything goes wrong (an interrupt too) the hidden file is removed.

    Parameters
    ----------
    path
        The file to write; its folder must exist.

    Yields
    ------
    binary file
        To write to.

    Raises
    ------
    UserError
        When the file cannot be written (no permission, disk full, no such folder).
    """
    path = Path(path)
    hidden = path.with_name(f".{path.name}.{os.urandom(6).hex()}.part")
    try:
        # open rather than mkstemp: the finished file gets the permissions that any new file of this person gets
        with hidden.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        hidden.replace(path)
    except OSError as error:
        _remove(hidden)
        reason = error.strerror or str(error)
        raise UserError(
            f"cannot be written ({reason})", where=str(path), todo="choose another place or make room"
        ) from error
    except BaseException:
        _remove(hidden)
        raise
    _sync_folder(path.parent)


def write_text(path: Path, text: str) -> None:
    """Write a UTF-8 text file, whole or not at all."""
    with atomic_file(path) as file:
        file.write(text.encode("utf-8"))


def write_json(path: Path, value: Mapping[str, Any]) -> None:
    """Write a JSON object, whole or not at all; two spaces of indent, UTF-8, ends with a line feed."""
    write_text(path, json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def make_folder(path: Path) -> None:
    """Make a folder and those above it, if they are not there.

    Raises
    ------
    UserError
        When that is not possible.
    """
    try:
        Path(path).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = "there is a file of that name" if isinstance(error, FileExistsError) else error.strerror
        raise UserError(
            f"the folder cannot be made ({reason})", where=str(path), todo="choose another place"
        ) from error


@contextmanager
def folder_for(path: Path) -> Iterator[Path]:
    """Make sure that files can be written into a folder, before the work that they come from is done.

    Parameters
    ----------
    path
        The folder; made with those above it, if they are not there. What was made is taken away again when the block
        fails and has left it empty.

    Yields
    ------
    Path
        The folder.

    Raises
    ------
    UserError
        When it cannot be made, or nothing can be written into it.
    """
    path = Path(path)
    missing = [folder for folder in (path, *path.parents) if not folder.exists()]
    try:
        make_folder(path)
        try:
            with tempfile.TemporaryFile(dir=path):
                pass
        except OSError as error:
            what = f"nothing can be written into this folder ({error.strerror})"
            raise UserError(what, where=str(path), todo="choose another place") from error
        yield path
    except BaseException:
        with suppress(OSError):
            for folder in missing:
                folder.rmdir()
        raise


def _remove(path: Path) -> None:
    with suppress(OSError):
        path.unlink(missing_ok=True)


def _sync_folder(folder: Path) -> None:
    """Make the new name last through a power cut, where the system has a way to ask for that."""
    with suppress(OSError, AttributeError):
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
