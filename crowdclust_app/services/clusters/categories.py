"""What the lead calls the clusters of a run, which of them are one category, and which photos belong elsewhere.

The run itself stays as it is. Names, merges and moved photos are decisions, replayed in their order: clusters of one
name are one category, and a photo that was moved counts where it was moved to. Photos split off into a category
without a cluster are photos moved to a name. A *place* is a cluster's number, or the number after the last cluster for
the first category without one, and so on; 0 is none.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdclust_app.domain.decisions import Decision
from crowdclust_app.domain.errors import UserError
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.campaign.decisions import decide, standing, take_back
from crowdclust_app.services.fits.results import Run

NAME, MERGE, MOVE = "name", "merge", "move"
KINDS = (NAME, MERGE, MOVE)
LONGEST_NAME = 80
NEW_CATEGORY = "New category"
# Signs that turn the rest of a line around, or that are invisible; joiners stay, scripts and emoji need them.
_UNSEEN = frozenset("\u200b\ufeff\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


@dataclass(frozen=True, slots=True)
class Move:
    """Where the lead put one photo.

    Parameters
    ----------
    cluster
        A cluster's number; 0 for a category that has none.
    name
        That category's name.
    carried_from
        The run from which it was carried over, if it was.
    """

    cluster: int
    name: str = ""
    carried_from: int | None = None


@dataclass(frozen=True, slots=True)
class Categories:
    """Names, merges and moves of one run as they stand.

    Parameters
    ----------
    run
        Its number.
    n_clusters
        Clusters of the run.
    names
        Name by cluster, of those that have one.
    carried
        The run from which a cluster's name was carried over, of the clusters whose name was not given since.
    moves
        Moved photos by the item's name.
    decisions
        The decisions in force, oldest first.
    split_off
        Names of the categories without a cluster, in the order in which they came to be.
    by_name
        Places by name in lower case.
    """

    run: int
    n_clusters: int
    names: Mapping[int, str]
    carried: Mapping[int, int]
    moves: Mapping[str, Move]
    decisions: tuple[Decision, ...] = ()
    split_off: tuple[str, ...] = ()
    by_name: Mapping[str, tuple[int, ...]] = field(default_factory=dict)

    @property
    def n_places(self) -> int:
        """Clusters, and categories without one."""
        return self.n_clusters + len(self.split_off)

    def name(self, place: int) -> str:
        """The category's name, "" where there is none."""
        if place > self.n_clusters:
            return self.split_off[place - self.n_clusters - 1]
        return self.names.get(place, "")

    def title(self, place: int) -> str:
        """The category's name, or which cluster it is."""
        return self.name(place) or (f"Cluster {place}" if place else "")

    def of_name(self, name: str) -> tuple[int, ...]:
        """Places of a category; upper and lower case count as the same."""
        return self.by_name.get(name.casefold(), ())

    def together_with(self, place: int) -> tuple[int, ...]:
        """Places of one category with this one, itself included."""
        return self.of_name(self.name(place)) or (place,)

    def place(self, item: str, cluster: int) -> int:
        """Where a photo of a cluster belongs."""
        move = self.moves.get(item)
        if move is None:
            return cluster
        return move.cluster or next(iter(self.of_name(move.name)), cluster)

    def places(self, labels: NDArray[np.int64], item_names: Sequence[str]) -> NDArray[np.int64]:
        """Where each photo belongs.

        Parameters
        ----------
        labels : ndarray of shape (N,)
            Cluster of each item, 0 for none.
        item_names
            Of the `N` items.

        Returns
        -------
        ndarray of shape (N,)
        """
        found = labels.astype(np.int64)
        if self.moves:
            number_of = {name: number for number, name in enumerate(item_names)}
            for item in self.moves:
                if item in number_of:
                    found[number_of[item]] = self.place(item, 0)
        return found

    def columns(self, labels: Mapping[str, int]) -> dict[str, tuple[str | None, str | None]]:
        """Category and override of each item, as `clusters.csv` has them, of the items that have any.

        Parameters
        ----------
        labels
            Cluster by item's name; 0 for none.
        """
        found: dict[str, tuple[str | None, str | None]] = {}
        for item, cluster in labels.items():
            place = self.place(item, cluster)
            name = self.name(place) if place else ""
            moved = place != cluster
            override = (name or f"cluster {place}") if moved else None
            if name or override:
                found[item] = (name or None, override)
        return found


def read_categories(campaign: Campaign, run: int, n_clusters: int) -> Categories:
    """The decisions in force about the clusters of a run."""
    return replay(run, n_clusters, standing(campaign, *KINDS, run=run))


def category_columns(campaign: Campaign, run: Run) -> dict[str, tuple[str | None, str | None]]:
    """Category and override of each item of a run that has any, by name, as `clusters.csv` has them."""
    labels = np.where(run.result.shown, run.result.labels, 0).tolist()
    state = read_categories(campaign, run.number, run.result.responsibilities.shape[1])
    return state.columns(dict(zip(run.item_names, labels, strict=True)))


def replay(run: int, n_clusters: int, decisions: Sequence[Decision]) -> Categories:
    """Names and moves after these decisions, oldest first."""
    names: dict[int, str] = {}
    carried: dict[int, int] = {}
    moves: dict[str, Move] = {}
    for decision in decisions:
        detail = decision.detail
        source = detail.get("carried_from")
        if decision.kind in (NAME, MERGE):
            for cluster in detail["clusters"]:
                names.pop(cluster, None)
                carried.pop(cluster, None)
                if detail["name"]:
                    names[cluster] = detail["name"]
                    if source is not None:
                        carried[cluster] = source
            old = {name.casefold() for name in detail.get("split_off", ())}
            for item, move in moves.items():
                if not move.cluster and move.name.casefold() in old:
                    cluster = 0 if detail["name"] else min(detail["clusters"])
                    moves[item] = replace(move, name=detail["name"], cluster=cluster)
        else:
            target = Move(detail.get("cluster", 0), detail.get("name", ""), source)
            for item in detail["items"]:
                moves.pop(item, None)
                if target.cluster or target.name:
                    moves[item] = target
    return _indexed(Categories(run, n_clusters, names, carried, moves, tuple(decisions)))


def _indexed(found: Categories) -> Categories:
    """The same with its categories without a cluster, and places by name."""
    by_name: dict[str, list[int]] = {}
    for cluster, name in sorted(found.names.items()):
        by_name.setdefault(name.casefold(), []).append(cluster)
    split_off: list[str] = []
    for move in found.moves.values():
        if not move.cluster and move.name.casefold() not in by_name:
            split_off.append(move.name)
            by_name[move.name.casefold()] = [found.n_clusters + len(split_off)]
    places = {name: tuple(places) for name, places in by_name.items()}
    return replace(found, split_off=tuple(split_off), by_name=places)


def tidy_name(name: str) -> str:
    """A name as it is kept: in one line, without invisible signs.

    Raises
    ------
    UserError
        When it is too long.
    """
    plain = unicodedata.normalize("NFC", name)
    plain = "".join(" " if sign.isspace() else sign for sign in plain if sign not in _UNSEEN)
    plain = "".join(sign for sign in plain if unicodedata.category(sign) not in ("Cc", "Cs"))
    plain = " ".join(plain.split())
    if not any(unicodedata.category(sign) not in ("Cf", "Mn", "Zs") for sign in plain):
        return ""
    if len(plain) > LONGEST_NAME:
        raise UserError(f"the name is longer than {LONGEST_NAME} letters", todo="shorten it")
    return plain


def rename(campaign: Campaign, now: Categories, place: int, name: str) -> Categories:
    """Name the category of a place; "" takes its name, and with it the union of its clusters, away.

    A name that another category has already makes one category of both, spelt as it was there.

    Raises
    ------
    UserError
        When the name is too long, or the category has no cluster and would be left without a name.
    """
    name = tidy_name(name)
    same = now.together_with(place)
    others = tuple(other for other in now.of_name(name) if other not in same)
    if others:
        name = now.name(others[0])
    if not name and any(one > now.n_clusters for one in same):
        todo = "write a name, or move its photos back"
        raise UserError("a category without a cluster of its own needs a name", todo=todo)
    if name == now.name(place) and place not in now.carried:
        return now
    return _decide(campaign, now, MERGE if others else NAME, _renaming(now, same, name))


def merge(campaign: Campaign, now: Categories, places: Sequence[int], name: str = "") -> Categories:
    """Make one category of several; without a name it takes the first one's that has one.

    Raises
    ------
    UserError
        When there are not two of them, or the name is too long.
    """
    every = tuple(dict.fromkeys(same for place in places for same in now.together_with(place)))
    if len(every) < 2 or len({now.name(place).casefold() or place for place in every}) < 2:
        raise UserError("two categories are needed to make one of them", todo="choose another one")
    name = tidy_name(name) or next((now.name(place) for place in places if now.name(place)), "")
    if not name:
        name = f"Clusters {' and '.join(str(place) for place in sorted(every))}"[:LONGEST_NAME]
    every = tuple(dict.fromkeys([*every, *now.of_name(name)]))
    return _decide(campaign, now, MERGE, _renaming(now, every, name))


def take_apart(campaign: Campaign, now: Categories, place: int) -> Categories:
    """Take a cluster out of its category: it has no name then.

    Raises
    ------
    UserError
        When it has none, or is no cluster.
    """
    if not now.names.get(place):
        raise UserError("this cluster is in no category", todo="choose one that has a name")
    return _decide(campaign, now, NAME, {"clusters": [place], "name": ""})


def move(campaign: Campaign, now: Categories, items: Sequence[str], place: int) -> Categories:
    """Put photos into the category of a place; 0 puts them back where the run has them.

    Raises
    ------
    UserError
        When there are none, or no such place.
    """
    if not items:
        raise UserError("no photos are chosen", todo="choose some first")
    if not 0 <= place <= now.n_places:
        raise UserError(f"there is no category {place}", todo="choose another one")
    target: dict[str, Any] = {"items": list(items)}
    if place > now.n_clusters:
        target["name"] = now.name(place)
    elif place:
        target["cluster"] = place
    return _decide(campaign, now, MOVE, target)


def split_off(campaign: Campaign, now: Categories, items: Sequence[str], name: str = "") -> Categories:
    """Make a category of its own of these photos; without a name it is called a new one.

    Raises
    ------
    UserError
        When there are no photos, or the name is taken.
    """
    if not items:
        raise UserError("no photos are chosen", todo="choose some first")
    name = tidy_name(name)
    if name and now.of_name(name):
        raise UserError(f"there is a category {now.name(now.of_name(name)[0])} already", todo="move the photos there")
    count = 1
    while not name or now.of_name(name):
        name = NEW_CATEGORY if count == 1 else f"{NEW_CATEGORY} {count}"
        count += 1
    return _decide(campaign, now, MOVE, {"items": list(items), "name": name})


def to_undo(now: Categories) -> Decision | None:
    """The newest decision of the lead's own; what was carried over stays."""
    own = [decision for decision in now.decisions if decision.detail.get("carried_from") is None]
    return own[-1] if own else None


def undo(campaign: Campaign, now: Categories) -> Categories:
    """Take the newest decision back.

    Raises
    ------
    UserError
        When there is none.
    """
    last = to_undo(now)
    if last is None:
        raise UserError("there is nothing to undo about the clusters of this run")
    take_back(campaign, last.number)
    return read_categories(campaign, now.run, now.n_clusters)


def again(campaign: Campaign, now: Categories, decision: Decision) -> Categories:
    """Decide once more what was taken back."""
    return _decide(campaign, now, decision.kind, decision.detail)


def in_words(now: Categories, decision: Decision) -> str:
    """What a decision did: "moved 3 photos to Birds"."""
    detail = decision.detail
    if decision.kind == MOVE:
        photos = f"{len(detail['items']):,} photo{'' if len(detail['items']) == 1 else 's'}"
        if detail.get("name"):
            return f"split off {photos} as {detail['name']}"
        return f"moved {photos} to {now.title(detail['cluster'])}" if detail.get("cluster") else f"put {photos} back"
    clusters = ", ".join(str(cluster) for cluster in detail["clusters"])
    what = f"cluster{'' if len(detail['clusters']) == 1 else 's'} {clusters}" if clusters else "the category"
    if not detail["name"]:
        return f"took the name of {what} away"
    return f"made {what} one category, {detail['name']}" if decision.kind == MERGE else f"named {what} {detail['name']}"


def _renaming(now: Categories, places: Iterable[int], name: str) -> dict[str, Any]:
    """Name clusters, and the categories without one that are among the places."""
    places = tuple(places)
    detail: dict[str, Any] = {"clusters": [place for place in places if place <= now.n_clusters], "name": name}
    # photos that were moved to the name of a category follow it, also where a cluster has that name by now
    old = {now.name(place) for place in places} - {""}
    moved = {move.name for move in now.moves.values() if not move.cluster}
    following = sorted(one for one in moved if one.casefold() in {other.casefold() for other in old})
    if following:
        detail["split_off"] = following
    return detail


def _decide(campaign: Campaign, now: Categories, kind: str, detail: Mapping[str, Any]) -> Categories:
    made = decide(campaign, kind, detail, run=now.run)
    return replay(now.run, now.n_clusters, (*now.decisions, made))
