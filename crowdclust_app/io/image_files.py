"""Which files of a folder are images, in the order in which a person would list them."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from natsort import natsort_keygen, ns

from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.domain.errors import UserError

# fmt: off
READABLE_EXTENSIONS = frozenset({
    ".apng", ".avif", ".bmp", ".dib", ".gif", ".j2k", ".jfif", ".jp2", ".jpe", ".jpeg", ".jpf", ".jpg", ".jpx", ".mpo",
    ".pbm", ".pcx", ".pgm", ".png", ".pnm", ".ppm", ".qoi", ".sgi", ".tga", ".tif", ".tiff", ".webp",
})
# fmt: on
# Images all the same: listing them as unreadable tells people why their pictures are missing from the campaign.
UNSUPPORTED_EXTENSIONS = {
    **dict.fromkeys([".heic", ".heif", ".hif"], "HEIC pictures cannot be read; save it as JPEG or PNG"),
    **dict.fromkeys(
        [".dng", ".cr2", ".cr3", ".nef", ".arw", ".raf", ".orf", ".rw2", ".pef", ".srw"],
        "camera raw files cannot be read; save it as JPEG or TIFF",
    ),
    **dict.fromkeys([".svg", ".svgz", ".eps", ".ai"], "it is a drawing, not pixels; save it as PNG"),
    **dict.fromkeys([".psd", ".psb", ".xcf", ".kra"], "layered files cannot be read; save it as PNG or TIFF"),
    **dict.fromkeys([".ico", ".cur", ".icns"], "icon files cannot be read; save it as PNG"),
    **dict.fromkeys([".jxl"], "JPEG XL pictures cannot be read; save it as JPEG or PNG"),
}

_natural_key = natsort_keygen(alg=ns.PATH | ns.IGNORECASE)


@dataclass(frozen=True, slots=True)
class FolderListing:
    """The files below a folder.

    Parameters
    ----------
    images
        Relative paths with `/` of files that claim to be images, in natural order.
    unreadable
        `(relative path, reason)` for images and folders that are refused without opening them, in natural order.
    others
        How many visible files are something else.
    """

    images: tuple[str, ...]
    unreadable: tuple[tuple[str, str], ...]
    others: int


@dataclass(slots=True)
class _Found:
    images: list[str] = field(default_factory=list)
    unreadable: list[tuple[str, str]] = field(default_factory=list)
    others: int = 0


def natural_order(paths: Iterable[str]) -> list[str]:
    """Sort relative paths as a person would: `img_2` before `img_10`, whatever the case; ties by spelling."""
    return sorted(paths, key=lambda path: (_natural_key(path), path))


def list_folder(root: Path, cancel: CancelToken | None = None) -> FolderListing:
    """Find the images below a folder.

    Hidden files and folders (a leading dot) are left out. Linked folders are followed, each real folder once, so
    that links in a circle end; a folder that is reachable without a link keeps that path.

    Raises
    ------
    UserError
        When the folder does not exist, is a file or cannot be opened.
    """
    _refuse_no_folder(root)
    found = _Found()
    visited: set[tuple[int, int]] = set()
    linked = _walk(root, PurePosixPath(), found, visited, cancel)
    while linked:
        further: list[PurePosixPath] = []
        for relative in sorted(linked, key=lambda path: (_natural_key(str(path)), str(path))):
            further += _walk(root / relative, relative, found, visited, cancel)
        linked = further
    reasons = dict(found.unreadable)
    return FolderListing(
        images=tuple(natural_order(found.images)),
        unreadable=tuple((path, reasons[path]) for path in natural_order(reasons)),
        others=found.others,
    )


def printable(path: str) -> str:
    """The path with bytes that are no UTF-8 written as escapes, so that it can be shown and stored."""
    return path.encode("utf-8", "backslashreplace").decode("utf-8")


def why_not(error: OSError) -> str:
    """What the system's refusal means, in a few words."""
    if isinstance(error, PermissionError):
        return "there is no permission to read it"
    if isinstance(error, FileNotFoundError):
        return "it is not there any more"
    return f"the system cannot read it ({error.strerror or error})"


def _refuse_no_folder(root: Path) -> None:
    try:
        if not root.exists():
            raise UserError("there is no such folder", where=str(root), todo="choose the folder that holds the images")
        if not root.is_dir():
            raise UserError("this is a file, not a folder", where=str(root), todo="choose the folder that holds it")
        os.scandir(root).close()
    except OSError as error:
        raise UserError(f"the folder cannot be opened: {why_not(error)}", where=str(root)) from error


def _walk(
    top: Path, relative: PurePosixPath, found: _Found, visited: set[tuple[int, int]], cancel: CancelToken | None
) -> list[PurePosixPath]:
    """Walk one real tree; return the linked folders met, for later."""
    linked: list[PurePosixPath] = []
    pending = [(top, relative)]
    while pending:
        if cancel is not None:
            cancel.check()
        folder, here = pending.pop()
        try:
            status = folder.stat()
            if (status.st_dev, status.st_ino) in visited:
                continue
            visited.add((status.st_dev, status.st_ino))
            with os.scandir(folder) as entries:
                listed = sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            found.unreadable.append((printable(str(here)), f"the folder cannot be opened: {why_not(error)}"))
            continue
        for entry in listed:
            if entry.name.startswith("."):
                continue
            if entry.is_dir(follow_symlinks=False):
                pending.append((folder / entry.name, here / entry.name))
            elif entry.is_symlink() and _leads_to_folder(entry):
                linked.append(here / entry.name)
            else:
                _file_under(entry, here / entry.name, found)
    return linked


def _leads_to_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link that leads to itself
        return False


def _file_under(entry: os.DirEntry[str], relative: PurePosixPath, found: _Found) -> None:
    extension = relative.suffix.lower()
    name = printable(str(relative))
    if extension in UNSUPPORTED_EXTENSIONS:
        found.unreadable.append((name, UNSUPPORTED_EXTENSIONS[extension]))
    elif extension not in READABLE_EXTENSIONS:
        found.others += 1
    elif name != str(relative):
        found.unreadable.append((name, "its name is not valid Unicode; rename it"))
    else:
        reason = _not_a_file(entry)
        if reason:
            found.unreadable.append((name, reason))
        else:
            found.images.append(name)


def _not_a_file(entry: os.DirEntry[str]) -> str | None:
    """Why this directory entry cannot be read as a file; opening a pipe would wait for ever, for one."""
    try:
        mode = entry.stat().st_mode
    except OSError as error:
        return "the link leads nowhere" if entry.is_symlink() else why_not(error)
    return None if stat.S_ISREG(mode) else "it is not a regular file"
