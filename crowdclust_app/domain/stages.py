"""What a stage is, and how stages are named: `all`, `all/1` for its subdivided cluster 1, `all/1/2` one below that."""

from __future__ import annotations

import re
from collections.abc import Container
from dataclasses import dataclass
from datetime import datetime

from crowdclust_app.domain.campaign import WHOLE_COLLECTION, PlanSettings
from crowdclust_app.domain.errors import InvalidInputError

SEPARATOR = "/"
_PART = re.compile(r"([1-9][0-9]{0,8})(?:\.([2-9]|[1-9][0-9]{1,8}))?")


@dataclass(frozen=True, slots=True)
class StageInfo:
    """A stage and how far its HITs have come.

    Parameters
    ----------
    name
        `all`, `all/1`, `all/1/2`.
    settings
        What its plan was asked for.
    parent, run, cluster
        What it subdivides; none of them for the whole collection. A stage that came with a table has no run.
    removed_at
        When it was taken out of sight.
    items
        How many it has.
    hits, hits_complete
        Planned HITs, and those with all their workers.
    wanted, submitted
        Turns that the plan asks for, and those that are done.
    responses
        Submitted responses, imported ones included.
    """

    name: str
    settings: PlanSettings
    created_at: datetime
    parent: str | None
    run: int | None
    cluster: int | None
    removed_at: datetime | None
    items: int
    hits: int
    hits_complete: int
    wanted: int
    submitted: int
    responses: int

    @property
    def removed(self) -> bool:
        """Whether it is out of sight."""
        return self.removed_at is not None


def stage_name(parent: str, cluster: int, taken: Container[str] = ()) -> str:
    """The name of a stage that subdivides a cluster.

    Parameters
    ----------
    parent
        Name of the stage whose run found the cluster.
    cluster
        Number of the cluster, from 1.
    taken
        Names that other stages have, removed ones too.

    Returns
    -------
    str
        `all/1`; when another run's cluster 1 has that name already, `all/1.2`, then `all/1.3`.
    """
    plain = f"{parent}{SEPARATOR}{cluster}"
    name, number = plain, 1
    while name in taken:
        number += 1
        name = f"{plain}.{number}"
    return name


def stage_parts(name: str) -> tuple[str, int] | None:
    """Parent and cluster of a stage by its name; None for the whole collection.

    Raises
    ------
    InvalidInputError
        When no stage can have this name.
    """
    if name == WHOLE_COLLECTION:
        return None
    parent, _, last = name.rpartition(SEPARATOR)
    match = _PART.fullmatch(last)
    if match is None or not parent:
        raise InvalidInputError(f"{name} is no name of a stage", todo="write all, all/1, all/1/2 and so on")
    stage_parts(parent)
    return parent, int(match[1])


def category_path(stage: str, cluster: int) -> str:
    """Where a cluster stands in the tree: the path of its stage and its number, as in `all/1/2`."""
    return f"{stage}{SEPARATOR}{cluster}"
