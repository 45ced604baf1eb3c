"""The words of a campaign as values: items, HITs, workers, assignments, what a plan asks for."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from crowdclust_app.domain.errors import InvalidInputError

FILE_SUFFIX = ".crowdclust"
"""How the name of a campaign's file ends."""

WHOLE_COLLECTION = "all"
LARGEST_NUMBER = 2**63 - 1
"""The largest whole number that a campaign file holds."""

ASSUMED_SECONDS_AN_ITEM = 5.0
"""A worker's time for an item until one was measured; the paper's annotators needed about this."""


@dataclass(frozen=True, slots=True)
class PlanSettings:
    """What the lead chooses for a plan (gomes2011, section 2).

    Parameters
    ----------
    items_per_hit
        `M`, items shown together.
    redundancy
        `V`, the number of HITs an item is expected to be in.
    workers_per_hit
        `R`, how many different workers do each constructed HIT.
    seed
        Seed of the random fill.
    """

    items_per_hit: int = 36
    redundancy: int = 6
    workers_per_hit: int = 5
    seed: int = 0

    def __post_init__(self) -> None:
        if self.items_per_hit < 2:
            raise InvalidInputError("a HIT needs at least 2 items", todo="raise the items per HIT (M)")
        if self.redundancy < 1:
            raise InvalidInputError("the redundancy V must be at least 1", todo="raise V")
        if self.workers_per_hit < 1:
            raise InvalidInputError("each HIT needs at least 1 worker", todo="raise the workers per HIT (R)")
        if self.seed < 0:
            raise InvalidInputError("the seed must not be negative", todo="choose 0 or a larger whole number")
        for name, value in (
            ("number of items per HIT (M)", self.items_per_hit),
            ("redundancy (V)", self.redundancy),
            ("number of workers per HIT (R)", self.workers_per_hit),
            ("seed", self.seed),
        ):
            if value > LARGEST_NUMBER:
                raise InvalidInputError(f"the {name} is too large", todo=f"choose {LARGEST_NUMBER:,} at most")


class ItemStatus(StrEnum):
    """What became of a file at import."""

    READY = "ready"
    DUPLICATE = "duplicate"
    UNREADABLE = "unreadable"


@dataclass(frozen=True, slots=True)
class Item:
    """One image of the campaign.

    Parameters
    ----------
    number
        Its number in the campaign file.
    path
        Relative to the image root, with `/`; the item's name in every table.
    content_hash
        SHA-256 of the file's bytes, hexadecimal; None for items that came from a table.
    byte_size, width, height
        Size of the file in bytes, of the picture in pixels (as shown, after EXIF orientation).
    frames
        Number of frames; more than one is an animation, of which the first is shown.
    """

    number: int
    path: str
    content_hash: str | None = None
    byte_size: int | None = None
    width: int | None = None
    height: int | None = None
    frames: int = 1


@dataclass(frozen=True, slots=True)
class Worker:
    """Who annotates."""

    number: int
    name: str


@dataclass(frozen=True, slots=True)
class Hit:
    """The items shown together."""

    number: int
    name: str
    items: tuple[int, ...]
    workers_wanted: int
    stage: str = WHOLE_COLLECTION


class AssignmentStatus(StrEnum):
    """How far one worker's turn at one HIT has come."""

    OPEN = "open"
    SUBMITTED = "submitted"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class Assignment:
    """One worker's turn at one HIT.

    Parameters
    ----------
    number, hit, worker
        Numbers in the campaign file.
    hit_name
        The HIT's name in tables.
    items
        Item numbers in the order in which this worker sees them.
    """

    number: int
    hit: int
    hit_name: str
    worker: int
    status: AssignmentStatus
    items: tuple[int, ...]
    started_at: datetime
    submitted_at: datetime | None = None
    active_seconds: float = 0.0
