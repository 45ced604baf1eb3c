"""Predictions for the photos of a question set after learning from images: their kinds, order and descriptions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from crowdclust_app.gui.clusters.album import people_probability
from crowdclust_app.gui.verify.photos import Files
from crowdclust_app.gui.verify.wall import WallTile
from crowdclust_app.services.verify.active_learning import Learnt
from crowdclust_app.services.verify.verdicts import DECIDED_AT, IN, OUT, UNDECIDED, Verification

DISPUTED, AGREED = "disputed", "agreed"
NOT_ASKED, OUTSIDE, GOLD = "not-asked", "outside", "gold"
EXTRA_KINDS = {
    NOT_ASKED: ("Not asked", "Somebody has answered about every photo."),
    OUTSIDE: ("Outside", "Nothing is predicted for photos outside this question set."),
    GOLD: ("Gold", "No photo is gold. Choose one whose answer you know and press G if it belongs, Shift+G if not."),
}
DOUBT, YES_FIRST, NO_FIRST, AS_ASKED = "doubt", "yes", "no", "set"
ORDERS = {
    DOUBT: "Least certain first",
    YES_FIRST: "Likeliest yes first",
    NO_FIRST: "Likeliest no first",
    AS_ASKED: "In the set's order",
}


@dataclass(frozen=True)
class LearntView:
    """What is known of every photo: answers, gold, predictions.

    Parameters
    ----------
    verification
        The answers.
    learnt
        What was learnt from them; None before that.
    gold
        Whether each gold item belongs, by item number.
    """

    verification: Verification
    learnt: Learnt | None = None
    gold: Mapping[int, bool] = field(default_factory=dict)

    @cached_property
    def _items(self) -> tuple[int, ...]:
        """Of the set, then those outside it that there are predictions for."""
        others = tuple(self.learnt.others) if self.learnt is not None else ()
        return (*self.verification.question_set.items, *others)

    @cached_property
    def _probability(self) -> NDArray[np.float64]:
        """Of yes, for every one of `_items`; NaN where nothing was learnt."""
        if self.learnt is None:
            return np.full(len(self._items), np.nan)
        return np.concatenate([self.learnt.probability, np.array(list(self.learnt.others.values()), dtype=np.float64)])

    @property
    def _size(self) -> int:
        return len(self.verification.question_set.items)

    def is_outside(self, position: int) -> bool:
        """Whether this is a photo that the question set is not about."""
        return position >= self._size

    def item(self, position: int) -> int:
        """Number of the item in the campaign."""
        return self._items[position]

    def is_predicted(self, position: int) -> bool:
        """Whether it has no answers and is not gold, so that its probability is a prediction alone."""
        if self.is_outside(position):
            return True
        unasked = not self.verification.yes[position] and not self.verification.no[position]
        return unasked and self._items[position] not in self.gold

    def positions(self, kind: str, order: str) -> tuple[int, ...]:
        """Positions of this kind in this order; those outside the set are counted on from its end."""
        found = self._of_kind(kind)
        p = self._probability[found]
        if order == AS_ASKED or self.learnt is None:
            return tuple(found.tolist())
        key = {DOUBT: np.abs(p - 0.5), YES_FIRST: -p, NO_FIRST: p}[order]
        return tuple(found[np.argsort(key, kind="stable")].tolist())

    def count(self, kind: str) -> int:
        """How many photos are of this kind."""
        return len(self._of_kind(kind))

    def _of_kind(self, kind: str) -> NDArray[np.int64]:
        said, p = self.verification, self._probability[: self._size]
        decided_at = self.learnt.decided_at if self.learnt is not None else DECIDED_AT
        inside, outside = p >= decided_at, p <= 1.0 - decided_at
        if kind == OUTSIDE:
            return np.arange(self._size, len(self._items))
        if kind in (DISPUTED, AGREED):
            return np.sort(np.array(said.disputed if kind == DISPUTED else said.agreed, dtype=np.int64))
        if kind == NOT_ASKED:
            return np.flatnonzero((said.yes == 0) & (said.no == 0))
        if kind == GOLD:
            return np.flatnonzero([item in self.gold for item in self._items[: self._size]])
        return np.flatnonzero({IN: inside, OUT: outside, UNDECIDED: ~(inside | outside)}[kind])

    def tile(self, position: int, files: Files) -> WallTile:
        """How a photo is shown."""
        item, p = self._items[position], float(self._probability[position])
        predicted = self.learnt is not None and self.is_predicted(position)
        caption = "predicted" if predicted else "not asked"
        if not self.is_outside(position):
            counts = (int(self.verification.yes[position]), "yes"), (int(self.verification.no[position]), "no")
            caption = ", ".join(f"{count} {word}" for count, word in counts if count) or caption
        path = files.get(item)
        belief = people_probability(p) if self.learnt is not None else ""
        name = path[0].name if path else str(item)
        return WallTile(position, item, name, caption, belief, predicted=predicted, gold=self.gold.get(item))

    def told(self, tile: WallTile) -> str:
        """Everything that is known of a photo, in one line."""
        parts = []
        if self.is_outside(tile.position):
            parts.append("outside this question set")
        else:
            said = self.verification.who_said(tile.position)
            parts += [f"{name} {answer.value}" for name, answer in said] or ["nobody has answered yet"]
        if self.learnt is not None:
            word = "predicted to belong" if self.is_predicted(tile.position) else "belongs"
            parts.append(f"{word} with probability {tile.belief}")
        if tile.gold is not None:
            parts.append("gold: belongs" if tile.gold else "gold: does not belong")
        return f"{tile.name}: {'; '.join(parts)}"
