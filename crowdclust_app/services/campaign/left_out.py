"""What runs leave out by the lead's decisions, read within a transaction; `exclusions` makes these decisions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from crowdclust_app.domain.decisions import Decision
from crowdclust_app.domain.errors import UserError
from crowdclust_app.storage import decisions
from crowdclust_app.storage.connection import Connection

EXCLUDE, RETIRE = "exclude", "retire"


@dataclass(frozen=True, slots=True)
class LeftOut:
    """One decision to leave something out.

    Parameters
    ----------
    decision
        Its number.
    worker, hit
        Whose response to which HIT; with no HIT everything of a worker.
    reason
        In the lead's words.
    at
        When, in UTC.
    """

    decision: int
    worker: str
    hit: str | None
    reason: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Exclusions:
    """What is left out by now.

    Parameters
    ----------
    responses
        By HIT and worker.
    retired
        By worker.
    """

    responses: Mapping[tuple[str, str], LeftOut] = field(default_factory=dict)
    retired: Mapping[str, LeftOut] = field(default_factory=dict)

    def of(self, hit: str, worker: str) -> LeftOut | None:
        """Why a response is left out; None where it counts."""
        return self.responses.get((hit, worker)) or self.retired.get(worker)

    @property
    def decisions(self) -> tuple[int, ...]:
        """Numbers of the decisions, ascending: equal exactly where the same is left out."""
        return tuple(sorted(left.decision for left in (*self.responses.values(), *self.retired.values())))


def exclusions_in(connection: Connection) -> Exclusions:
    """What is left out of runs by now."""
    responses: dict[tuple[str, str], LeftOut] = {}
    retired: dict[str, LeftOut] = {}
    for made in decisions.standing(connection, EXCLUDE, RETIRE):
        left = _left_out(made)
        if made.kind == RETIRE:
            retired.setdefault(left.worker, left)
        elif left.hit is not None:
            responses.setdefault((left.hit, left.worker), left)
    return Exclusions(responses, retired)


def refuse_retired(connection: Connection, worker: str) -> None:
    """Refuse to hand a HIT to a retired worker.

    Raises
    ------
    UserError
        When the worker is retired.
    """
    if worker in exclusions_in(connection).retired:
        raise UserError(
            f"{worker} takes no more sets in this campaign",
            todo="ask whoever leads it, who can bring you back in Workers",
        )


def _left_out(made: Decision) -> LeftOut:
    hit = made.detail.get("hit")
    return LeftOut(
        made.number,
        str(made.detail.get("worker", "")),
        None if hit is None else str(hit),
        str(made.detail.get("reason", "")),
        made.at,
    )
