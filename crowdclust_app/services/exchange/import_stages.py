"""Stages of responses that come with a table: what the campaign lacks is added, what it has must fit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from crowdclust_app.domain.campaign import WHOLE_COLLECTION, PlanSettings
from crowdclust_app.domain.errors import UserError
from crowdclust_app.domain.stages import StageInfo, stage_parts
from crowdclust_app.storage import stages
from crowdclust_app.storage.connection import Connection

Fail = Callable[[str, str], UserError]


@dataclass(slots=True)
class StagesOfTable:
    """The campaign's stages while a table is added to it.

    A stage that the campaign does not have is added below the one that its name says, with the items that the table's
    responses hold; its run is in the campaign that the table came from. A stage of a run here keeps its items.

    Parameters
    ----------
    known
        The campaign's, by name.
    items
        Items by stage, of the stages below the whole collection.
    """

    known: dict[str, StageInfo]
    items: dict[str, set[int]]
    new: dict[str, tuple[str, int]] = field(default_factory=dict)
    added: dict[str, dict[int, None]] = field(default_factory=dict)
    largest: dict[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, connection: Connection) -> StagesOfTable:
        """What the campaign has by now."""
        known = {row.name: row for row in stages.stage_rows(connection)}
        inside = {name: set(stages.item_numbers(connection, name) or ()) for name in known if name != WHOLE_COLLECTION}
        return cls(known, inside)

    def check(self, name: str, items: tuple[int, ...], fail: Fail) -> None:
        """Take the items of a response into its stage.

        Parameters
        ----------
        fail
            Makes the error of what is wrong and what to do.

        Raises
        ------
        UserError
            When no stage can have this name, the one above it is missing, or it cannot have these items.
        """
        if name == WHOLE_COLLECTION:
            return
        if name not in self.known:
            self._add(name, fail)
        inside = self.items.setdefault(name, set())
        foreign = [item for item in items if item not in inside]
        known = self.known.get(name)
        if foreign and known is not None and known.run is not None:
            many = "an item" if len(foreign) == 1 else f"{len(foreign):,} items"
            raise fail(f"the HIT has {many} that the stage {name} does not have", "name the stage that it belongs to")
        above = name.rpartition("/")[0]
        self.check(above, items, fail)
        inside.update(foreign)
        self.added.setdefault(name, {}).update(dict.fromkeys(foreign))
        self.largest[name] = max(self.largest.get(name, 2), len(items))

    def _add(self, name: str, fail: Fail) -> None:
        try:
            parts = stage_parts(name)
        except UserError as error:
            raise fail(error.what, error.todo or "") from None
        assert parts is not None  # the whole collection is always known
        self.new[name] = parts

    def store(self, connection: Connection, now: datetime) -> None:
        """Write the stages that are new, those above first, and the items that came."""
        for name in sorted(self.new, key=lambda one: one.count("/")):
            parent, cluster = self.new[name]
            settings = PlanSettings(self.largest[name], 1, 1)
            items = self.added.pop(name, {})
            stages.insert_stage(connection, name, settings, items, now, parent=parent, run=None, cluster=cluster)
        for name, items in self.added.items():
            stages.insert_stage_items(connection, name, items)

    def warnings(self) -> tuple[str, ...]:
        """What the lead should know of it."""
        return tuple(
            f"The stage {name} was not in the campaign and came with the table; its photos are those that were sorted."
            for name in self.new
        )
