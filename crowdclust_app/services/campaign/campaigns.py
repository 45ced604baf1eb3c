"""A campaign that is open: what it holds, for screens and commands.

Every call is one short transaction on a connection of its own, so a campaign may be used from any thread, and several
programs may have the same file open.
"""

from __future__ import annotations

import unicodedata
from pathlib import Path
from typing import Self

from crowdclust_app.domain.campaign import Hit, Item, PlanSettings, Worker
from crowdclust_app.domain.errors import UserError
from crowdclust_app.domain.names import name_key
from crowdclust_app.domain.sorting import Sorting
from crowdclust_app.services.campaign.image_root import find_root, likeness, relative_root, sample_of
from crowdclust_app.services.campaign.left_out import refuse_retired
from crowdclust_app.services.campaign.table_cache import TableCache
from crowdclust_app.services.folders import data_folder
from crowdclust_app.storage import catalogue
from crowdclust_app.storage.connection import Database, open_database
from crowdclust_app.storage.failures import NotWritableError
from crowdclust_app.storage.times import now

LONGEST_NAME = 80


def _copies() -> Path | None:
    """The person's folder for copies of campaigns; None where it cannot be made."""
    try:
        return data_folder()
    except UserError:
        return None


class Campaign:
    """An open campaign file; made by `Campaign.open`, to be closed.

    Parameters
    ----------
    path
        The file, absolute and without symbolic links.
    database
        Its open database.
    """

    def __init__(self, path: Path, database: Database) -> None:
        self.path = path
        self.database = database
        self.tables = TableCache()
        # of assignments that are being sorted: the number of the last action, and what all of them lead to
        self.sortings: dict[int, tuple[int, Sorting]] = {}
        with database.read() as connection:
            row = catalogue.campaign_row(connection)
            self._items = catalogue.items(connection)
        self.instructions = row.instructions
        self.settings: PlanSettings = row.settings
        self._root: Path | None = None
        self._root_found = False
        if row.image_root_absolute is not None:
            self._find_images(row.image_root_relative, row.image_root_absolute)

    @classmethod
    def open(cls, path: Path, read_only: bool = False) -> Campaign:
        """Open a campaign file, migrating it if it is of an older version.

        Parameters
        ----------
        path
            The file.
        read_only
            Open it to read alone, which also works on a full disk and where nothing can be written.

        Raises
        ------
        UserError
            When it is not a whole campaign of a version that is known, or cannot be written (unless it is to be read
            alone); it is unchanged then.
        """
        real = path.resolve()
        database = open_database(real, read_only=read_only, copies=None if read_only else _copies())
        try:
            return cls(real, database)
        except BaseException:
            database.close()
            raise

    @classmethod
    def open_somehow(cls, path: Path) -> Campaign:
        """Open a campaign file to read and write, or, where it cannot be written, to read alone.

        Raises
        ------
        UserError
            When it is not a whole campaign of a version that is known.
        """
        try:
            return cls.open(path)
        except NotWritableError:
            return cls.open(path, read_only=True)

    @property
    def notes(self) -> tuple[str, ...]:
        """What happened to the file when it was opened, in sentences: logs set aside, answers brought back."""
        return self.database.notes

    @property
    def read_only(self) -> bool:
        """Whether it was opened to read alone; every change is refused then."""
        return self.database.read_only

    def close(self) -> None:
        """Close the file; everything is in it already. A copy is kept of one that was changed."""
        self.database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def name(self) -> str:
        """The file's name without its ending."""
        return self.path.stem

    @property
    def revision(self) -> int:
        """A counter that grows whenever something that screens show has changed, by whatever program."""
        with self.database.read() as connection:
            return catalogue.revision(connection)

    # Images

    @property
    def has_images(self) -> bool:
        """Whether the campaign was made from a folder of images and not for tables alone."""
        return self._root is not None

    @property
    def image_root(self) -> Path:
        """The folder of the images; where it was last, if it cannot be found."""
        if self._root is None:
            raise UserError("this campaign has no images, its items came from a table", where=str(self.path))
        return self._root

    @property
    def images_found(self) -> bool:
        """Whether the folder of the images was found when the campaign was opened (or relocated)."""
        return self._root_found

    def item_path(self, item: Item) -> Path:
        """Where the picture of an item is.

        Raises
        ------
        UserError
            When the folder of the images has not been found. A single missing file is found by whoever reads it.
        """
        if not self._root_found:
            raise UserError(
                "the images of this campaign are not where they were",
                where=str(self.image_root),
                todo="choose the folder in which they are now",
            )
        return self.image_root / item.path

    def relocate(self, root: Path) -> None:
        """Say where the images are now.

        Raises
        ------
        UserError
            When not one of them is in that folder.
        """
        root = root.resolve()
        if not self.has_images or not likeness(root, self._items):
            raise UserError(
                "none of this campaign's images is in this folder",
                where=str(root),
                todo=f"choose the folder that holds {self._items[0].path}" if self._items else None,
            )
        self._store_root(root)

    def _find_images(self, relative: str | None, absolute: str) -> None:
        found = find_root(self.path, relative, absolute, sample_of(self._items))
        self._root, self._root_found = found or Path(absolute), found is not None
        if found and not self.read_only and (str(found) != absolute or relative_root(self.path, found) != relative):
            self._store_root(found)

    def _store_root(self, root: Path) -> None:
        with self.database.write() as connection:
            catalogue.set_image_root(connection, relative_root(self.path, root), str(root))
            catalogue.bump_revision(connection)
        self._root, self._root_found = root, True

    # What it is about

    def items(self) -> tuple[Item, ...]:
        """All items by number."""
        with self.database.read() as connection:  # tables or another window may have added some
            if catalogue.count_items(connection) != len(self._items):
                self._items = catalogue.items(connection)
        return self._items

    def read_settings(self) -> None:
        """Read the plan's settings again, after they grew."""
        with self.database.read() as connection:
            self.settings = catalogue.campaign_row(connection).settings

    def left_out(self) -> tuple[tuple[str, str, str], ...]:
        """Files of the folder that did not become items: path, "duplicate" or "unreadable", original or reason."""
        with self.database.read() as connection:
            return catalogue.left_out(connection)

    def copies(self) -> dict[str, str]:
        """Files with the bytes of an item that are none themselves, each with the path of that item."""
        with self.database.read() as connection:
            return catalogue.copies(connection)

    def hits(self) -> tuple[Hit, ...]:
        """All HITs: the plan's in its order, then imported ones (which want no workers)."""
        with self.database.read() as connection:
            return catalogue.hits(connection)

    def truth(self) -> dict[str, str]:
        """Known category of each item that has one, by the item's name."""
        with self.database.read() as connection:
            return catalogue.truth(connection)

    # Workers

    def workers(self) -> tuple[Worker, ...]:
        """All workers by number."""
        with self.database.read() as connection:
            return catalogue.workers(connection)

    def add_worker(self, name: str) -> Worker:
        """Add a worker.

        Raises
        ------
        UserError
            When the name is empty, too long, or taken (upper and lower case count as the same here, because two
            spellings would hand one person the same HIT twice).
        """
        name = " ".join(unicodedata.normalize("NFC", name).split())
        if not name:
            raise UserError("a worker needs a name", todo="write a name")
        if not name.isprintable():
            raise UserError("the name has a sign that cannot be seen", todo="write it again, without pasting")
        if len(name) > LONGEST_NAME:
            raise UserError(f"the name is longer than {LONGEST_NAME} letters", todo="shorten it")
        with self.database.write() as connection:
            for worker in catalogue.workers(connection):
                if name_key(worker.name).casefold() == name_key(name).casefold():
                    refuse_retired(connection, worker.name)
                    raise UserError(
                        f"there is a worker called {worker.name} already", todo="choose that one, or another name"
                    )
            (added,) = catalogue.insert_workers(connection, [name], now())
            catalogue.bump_revision(connection)
        return added
