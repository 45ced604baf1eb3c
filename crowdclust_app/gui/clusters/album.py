"""The run on screen and its photos: what every view of the Clusters screen draws from."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QPixmap

from crowdclust_app.gui.pictures import PictureCache
from crowdclust_app.services.clusters.categories import Categories
from crowdclust_app.services.clusters.category_rows import Arrangement
from crowdclust_app.services.clusters.run_view import RunView

MOST_WAITING = 150
"""When more photos than this wait to be read during scrolling, requests are dropped and the visible ones renewed."""


class Album(QObject):
    """The items of the shown run with their photos.

    Signals
    -------
    arrived
        A photo that was asked for is here.
    """

    arrived = Signal()

    def __init__(self, pictures: PictureCache, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.view: RunView | None = None
        self._pictures = pictures
        self._files: dict[str, tuple[Path, str | None]] = {}
        self._categories: Categories | None = None
        self._places = np.zeros(0, dtype=np.int64)
        self.moved: frozenset[int] = frozenset()
        pictures.arrived.connect(self._tell)

    def show(self, view: RunView | None, files: dict[str, tuple[Path, str | None]]) -> None:
        """Draw from this run; `files` has the photo and content hash of every item by name."""
        self.view = view
        self._files = files
        self.show_arrangement(None)

    def show_arrangement(self, arrangement: Arrangement | None) -> None:
        """Take the lead's names and moves into account."""
        view = self.view
        self._categories = arrangement.categories if arrangement is not None else None
        self._places = view.labels if view is not None else np.zeros(0, dtype=np.int64)
        self.moved = frozenset()
        if view is not None and arrangement is not None:
            self._places = arrangement.places
            self.moved = frozenset(np.flatnonzero(self._places != view.labels).tolist())

    def place(self, item: int) -> int:
        """Where an item belongs, the lead's moves included; 0 for nowhere."""
        return int(self._places[item]) if item < len(self._places) else 0

    def badge(self, place: int) -> str:
        """What the badge of a place says."""
        return badge_text(place, self._categories.n_clusters) if self._categories is not None else str(place)

    def category(self, item: int) -> str:
        """What the lead calls it, and whether it was moved there; "" for nothing."""
        view, place = self.view, self.place(item)
        if view is None or self._categories is None or not place:
            return ""
        name = self._categories.name(place)
        if item in self.moved:
            return f"{name or self._categories.title(place)}, moved there by the lead"
        return name

    def pixmap(self, item: int, side: int, ratio: float) -> QPixmap | None:
        """The photo of an item, None until it is here or when there is none."""
        found = self._file(item)
        return self._pictures.pixmap(*found, side, ratio) if found else None

    def scrolled(self) -> None:
        """Forget photos that were asked for on the way, so that the ones in view come at once."""
        if self._pictures.waiting > MOST_WAITING:
            self._pictures.drop_waiting()
            self.arrived.emit()  # whoever is in view asks again

    def failure(self, item: int) -> str:
        """Why the photo of an item cannot be shown, "" if it can."""
        found = self._file(item)
        return self._pictures.failure(*found) if found else "there is no photo of this item"

    def _file(self, item: int) -> tuple[Path, str | None] | None:
        return self._files.get(self.view.item_names[item]) if self.view is not None else None

    def _tell(self, _name: str) -> None:
        self.arrived.emit()

    def name(self, item: int) -> str:
        """The item's name."""
        return self.view.item_names[item] if self.view is not None else ""

    def belief(self, item: int) -> str:
        """An item's cluster and how sure that is, in words."""
        view = self.view
        if view is None:
            return ""
        if view.labels[item] == 0:
            return "not shown to anybody yet"
        category = self.category(item)
        sure = f"cluster {view.labels[item]}, probability {people_probability(view.probability[item])}"
        return f"{sure}, {category}" if category else sure

    def line(self, item: int) -> str:
        """One line about an item: its name, its cluster and how sure that is."""
        return f"{self.name(item)}: {self.belief(item)}"


def people_probability(probability: float) -> str:
    """A probability with two digits that never rounds doubt away: 0.62, above 0.99, below 0.01."""
    if probability != probability:
        return "–"
    if 0.995 <= probability < 0.9999995:
        return "above 0.99"
    if 0 < probability < 0.005:
        return "below 0.01"
    return f"{probability:.2f}"


def badge_text(place: int, n_clusters: int) -> str:
    """What a badge says: a cluster's number, or a letter for a category that has no cluster."""
    if place <= n_clusters:
        return str(place)
    letters, rest = "", place - n_clusters
    while rest:
        rest, letter = divmod(rest - 1, 26)
        letters = chr(ord("A") + letter) + letters
    return letters
