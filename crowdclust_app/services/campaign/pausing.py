"""Pausing a campaign: no sets are handed out until it goes on."""

from __future__ import annotations

from crowdclust_app.domain.errors import UserError
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.campaign.decisions import decide, standing, take_back
from crowdclust_app.storage import decisions
from crowdclust_app.storage.connection import Connection

PAUSE = "pause"


def paused(campaign: Campaign) -> bool:
    """Whether no sets are handed out for now."""
    return bool(standing(campaign, PAUSE))


def pause(campaign: Campaign) -> None:
    """Hand out no further sets until `resume`; who is in the middle of one can end it."""
    if not paused(campaign):
        decide(campaign, PAUSE, {})


def resume(campaign: Campaign) -> None:
    """Hand out sets again."""
    take_back(campaign, *(decision.number for decision in standing(campaign, PAUSE)))


def refuse_paused(connection: Connection) -> None:
    """Refuse to hand out a set while the campaign is paused.

    Raises
    ------
    UserError
        When it is.
    """
    if decisions.standing(connection, PAUSE):
        raise UserError(
            "this campaign is paused, so there are no new sets for now",
            todo="come back later, or ask whoever leads it, who can go on in Progress",
        )
