"""Finding the images of a folder before they become a campaign's items."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sized
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from crowdclust_app.domain.campaign import Item
from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.domain.errors import UserError
from crowdclust_app.io.image_files import list_folder, natural_order
from crowdclust_app.io.images import probe
from crowdclust_app.io.picture import ImageFacts
from crowdclust_app.services.progress_report import Progress, ProgressReport

# Decoding leaves the interpreter, so a few threads help; more would only fight for the disk.
PROBING_THREADS = 4
_AHEAD = 4 * PROBING_THREADS


@dataclass(frozen=True, slots=True)
class ScanReport:
    """What a folder holds.

    Parameters
    ----------
    items
        The images that can be read, in natural order, numbered from 0; each content once.
    duplicates
        `(path, path of the item with the same bytes)`, in natural order; the first of equal files is the item.
    unreadable
        `(path, reason)` of the images that are left out, in natural order.
    others
        How many visible files are no images by their names.
    """

    items: tuple[Item, ...]
    duplicates: tuple[tuple[str, str], ...] = ()
    unreadable: tuple[tuple[str, str], ...] = ()
    others: int = 0

    def warnings(self) -> tuple[str, ...]:
        """One sentence for each kind of file that was left out."""
        sentences = []
        if self.unreadable:
            path, reason = self.unreadable[0]
            count = _counted(len(self.unreadable), "image")
            sentences.append(f"{count} cannot be read and {_is_left_out(self.unreadable)}, such as {path}: {reason}.")
        if self.duplicates:
            path, original = self.duplicates[0]
            count = _counted(len(self.duplicates), "file")
            copies = "a copy of another" if len(self.duplicates) == 1 else "copies of others"
            sentences.append(f"{count} {_is_left_out(self.duplicates)} as {copies}, such as {path} of {original}.")
        return tuple(sentences)


def scan_images(folder: Path, progress: Progress | None = None, cancel: CancelToken | None = None) -> ScanReport:
    """Read every image below a folder: its size, its hash, and whether it can be shown.

    Files are read on a few threads; the report does not depend on them. Nothing is written.

    Parameters
    ----------
    folder
        The image root, searched with all its folders; hidden files are left out.
    progress
        Told once before the files are counted, then after each file.
    cancel
        Looked at between files.

    Raises
    ------
    UserError
        When there is no such folder or no image in it can be read.
    Cancelled
        When asked to stop.
    """
    if progress is not None:
        progress(ProgressReport(0, None, "Looking for images"))
    listing = list_folder(folder, cancel)
    if not listing.images and not listing.unreadable:
        raise _nothing_there(folder, listing.others)
    items: list[Item] = []
    first_with: dict[str, str] = {}
    duplicates: list[tuple[str, str]] = []
    unreadable = dict(listing.unreadable)
    total = len(listing.images)
    for done, (path, facts) in enumerate(_probed(folder, listing.images, cancel), start=1):
        if isinstance(facts, UserError):
            unreadable[path] = facts.what + (f"; {facts.todo}" if facts.todo else "")
        elif facts.content_hash in first_with:
            duplicates.append((path, first_with[facts.content_hash]))
        else:
            first_with[facts.content_hash] = path
            items.append(_item(len(items), path, facts))
        if progress is not None:
            progress(ProgressReport(done, total, f"Reading {path}"))
    if not items:
        path = natural_order(unreadable)[0]
        count = _counted(len(unreadable), "image")
        raise UserError(f"none of the {count} can be read, such as {path}: {unreadable[path]}", where=str(folder))
    return ScanReport(
        items=tuple(items),
        duplicates=tuple(duplicates),
        unreadable=tuple((path, unreadable[path]) for path in natural_order(unreadable)),
        others=listing.others,
    )


def _probed(
    folder: Path, paths: tuple[str, ...], cancel: CancelToken | None
) -> Iterator[tuple[str, ImageFacts | UserError]]:
    """Probe files on threads, a few ahead, and hand the answers out in the order of the paths."""
    pool = ThreadPoolExecutor(PROBING_THREADS, thread_name_prefix="probe")
    waiting: deque[tuple[str, Future[ImageFacts | UserError]]] = deque()
    try:
        for path in paths:
            if cancel is not None:
                cancel.check()
            waiting.append((path, pool.submit(_facts_or_reason, probe, folder / path)))
            if len(waiting) >= _AHEAD:
                first, future = waiting.popleft()
                yield first, future.result()
        while waiting:
            if cancel is not None:
                cancel.check()
            first, future = waiting.popleft()
            yield first, future.result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _facts_or_reason(probe: Callable[[Path], ImageFacts], path: Path) -> ImageFacts | UserError:
    try:
        return probe(path)
    except UserError as error:
        return error


def _item(number: int, path: str, facts: ImageFacts) -> Item:
    return Item(
        number=number,
        path=path,
        content_hash=facts.content_hash,
        byte_size=facts.byte_size,
        width=facts.width,
        height=facts.height,
        frames=facts.frames,
    )


def _nothing_there(folder: Path, others: int) -> UserError:
    todo = "choose the folder that holds the images"
    if others:
        return UserError(f"there is no image here, only {_counted(others, 'other file')}", where=str(folder), todo=todo)
    return UserError("the folder is empty", where=str(folder), todo=todo)


def _is_left_out(files: Sized) -> str:
    return "is left out" if len(files) == 1 else "are left out"


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
