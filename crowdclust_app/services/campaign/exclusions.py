"""Answers that runs leave out: single responses that the lead excluded, and everything of workers who were retired.

Nothing is deleted: the answers stay in the campaign and in `responses.csv`, and both are taken back by one more
decision. A run says in its summary which of these decisions it followed, so that it can be told from one that did not.
"""

from __future__ import annotations

from crowdclust_app.domain.campaign import Worker
from crowdclust_app.domain.decisions import Decision
from crowdclust_app.domain.errors import UserError
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.campaign.counts import assignment_records
from crowdclust_app.services.campaign.decisions import decide, take_back
from crowdclust_app.services.campaign.left_out import EXCLUDE, RETIRE, Exclusions, exclusions_in
from crowdclust_app.storage import catalogue

LONGEST_REASON = 500


def exclusions(campaign: Campaign) -> Exclusions:
    """What is left out of runs by now."""
    with campaign.database.read() as connection:
        return exclusions_in(connection)


def exclude_response(campaign: Campaign, hit: str, worker: str, reason: str) -> Decision:
    """Leave a response out of the runs from now on.

    Parameters
    ----------
    hit, worker
        Names of the HIT and of who sorted it.
    reason
        Why; kept with the decision.

    Raises
    ------
    UserError
        When no reason is given, there is no such response, or it is left out already.
    """
    words = _reason(reason, "an exclusion needs a reason")
    if not any(
        turn.hit == hit and turn.worker == worker and turn.submitted_at for turn in assignment_records(campaign)
    ):
        raise UserError(f"{worker} has not submitted the HIT {hit}", todo="choose a response that is there")
    if (hit, worker) in exclusions(campaign).responses:
        raise UserError(f"the response of {worker} to {hit} is excluded already", todo="look again")
    return decide(campaign, EXCLUDE, {"hit": hit, "worker": worker, "reason": words})


def take_in(campaign: Campaign, hit: str, worker: str) -> None:
    """Have a response count again that was excluded by itself.

    Raises
    ------
    UserError
        When it is not excluded.
    """
    left = exclusions(campaign).responses.get((hit, worker))
    if left is None:
        raise UserError(f"the response of {worker} to {hit} is not excluded", todo="look again")
    take_back(campaign, left.decision)


def retire_worker(campaign: Campaign, worker: str, reason: str) -> Decision:
    """Leave everything of a worker out of the runs, and hand this worker no more HITs.

    Raises
    ------
    UserError
        When no reason is given, there is no such worker, or the worker is retired already.
    """
    words = _reason(reason, "to retire a worker needs a reason")
    if worker not in {known.name for known in campaign.workers()}:
        raise UserError(f"there is no worker called {worker}", todo="choose one who is there")
    if worker in exclusions(campaign).retired:
        raise UserError(f"{worker} is retired already", todo="look again")
    return decide(campaign, RETIRE, {"worker": worker, "reason": words})


def bring_back(campaign: Campaign, worker: str) -> None:
    """Have a retired worker's answers count again and hand out HITs to this worker again.

    Raises
    ------
    UserError
        When the worker is not retired.
    """
    left = exclusions(campaign).retired.get(worker)
    if left is None:
        raise UserError(f"{worker} is not retired", todo="look again")
    take_back(campaign, left.decision)


def active_workers(campaign: Campaign) -> tuple[Worker, ...]:
    """The workers who are not retired, by number."""
    with campaign.database.read() as connection:
        retired = exclusions_in(connection).retired
        return tuple(worker for worker in catalogue.workers(connection) if worker.name not in retired)


def _reason(text: str, missing: str) -> str:
    words = " ".join(text.split())
    if not words:
        raise UserError(missing, todo="write why; it is kept and can be read later")
    if len(words) > LONGEST_REASON:
        raise UserError(f"the reason is longer than {LONGEST_REASON} letters", todo="shorten it")
    return words
