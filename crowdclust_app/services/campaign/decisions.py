"""The lead's decisions: make one, take one back, see which stand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from crowdclust_app.domain.decisions import Decision
from crowdclust_app.domain.errors import UserError
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.storage import catalogue
from crowdclust_app.storage import decisions as rows
from crowdclust_app.storage.times import now

__all__ = ["Decision", "decide", "decide_all", "standing", "take_back"]


def decide(campaign: Campaign, kind: str, detail: Mapping[str, Any], run: int | None = None) -> Decision:
    """Store a decision.

    Parameters
    ----------
    campaign
        Whose lead decides.
    kind
        What sort of decision.
    detail
        What was decided; plain JSON.
    run
        The run whose clusters it is about, if any.

    Returns
    -------
    Decision
        As it stands now; its number takes it back.

    Raises
    ------
    NotWritableError
        When the campaign cannot be written.
    """
    (made,) = decide_all(campaign, [(kind, detail)], run)
    return made


def decide_all(
    campaign: Campaign, decisions: Sequence[tuple[str, Mapping[str, Any]]], run: int | None = None
) -> tuple[Decision, ...]:
    """Store several decisions (kind and detail) at once: all of them or none."""
    with campaign.database.write() as connection:
        at = now()
        made = tuple(
            Decision(rows.insert_decision(connection, kind, detail, at, run), at, kind, run, dict(detail))
            for kind, detail in decisions
        )
        catalogue.bump_revision(connection)
    return made


def take_back(campaign: Campaign, *numbers: int) -> None:
    """Take decisions back, all of them or none.

    Raises
    ------
    UserError
        When one of them does not stand (any more).
    """
    with campaign.database.write() as connection:
        for number in numbers:
            if not rows.take_back(connection, number, now()):
                what = f"decision {number} does not stand, so it cannot be taken back"
                raise UserError(what, where=str(campaign.path), todo="look again: it may have been undone elsewhere")
        catalogue.bump_revision(connection)


def standing(campaign: Campaign, *kinds: str, run: int | None = None) -> tuple[Decision, ...]:
    """Decisions that were not taken back, oldest first.

    Parameters
    ----------
    campaign
        Whose.
    kinds
        Of these kinds alone; of all when none is named.
    run
        About this run alone; None: whatever they are about.
    """
    with campaign.database.read() as connection:
        return rows.standing(connection, *kinds, run=run)
