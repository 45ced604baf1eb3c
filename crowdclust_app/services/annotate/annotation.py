"""One worker's turns at HITs: handing them out, keeping every action, submitting.

A HIT is handed to `R` different workers and never twice to one. An open assignment holds its place for `LEASE` after
its last event. After that the HIT may be handed to somebody else, but the worker's groups stay: who comes back in time,
before others have filled the place, goes on where they stopped; who comes back later is told so, the assignment ends
as skipped and the next HIT follows. A skipped HIT goes to others and is not offered to this worker again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from crowdclust_app.domain.campaign import Assignment, AssignmentStatus, Worker
from crowdclust_app.domain.errors import UserError
from crowdclust_app.domain.sorting import Action, ActionKind, Sorting
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.campaign.left_out import refuse_retired
from crowdclust_app.services.campaign.pausing import refuse_paused
from crowdclust_app.storage import catalogue
from crowdclust_app.storage import responses as stored_responses
from crowdclust_app.storage.connection import Connection
from crowdclust_app.storage.responses import AssignmentRow
from crowdclust_app.storage.times import now

LEASE = timedelta(hours=24)


@dataclass(frozen=True, slots=True)
class WorkerProgress:
    """How far one worker has come.

    Parameters
    ----------
    submitted, skipped
        HITs that this worker has done, and has given back.
    open
        1 while the worker is in the middle of a HIT, else 0.
    remaining
        HITs that could be handed to this worker now, the open one not counted.
    """

    submitted: int
    skipped: int
    open: int
    remaining: int

    @property
    def total(self) -> int:
        """HITs that this worker could have done in all when nobody else works: submitted, open and remaining."""
        return self.submitted + self.open + self.remaining


def next_assignment(campaign: Campaign, worker: Worker) -> Assignment | None:
    """The HIT that this worker is to sort now.

    First the one that the worker has begun; then the one with the fewest submitted responses among those that still
    want a worker and that this worker never had; among equals the first of the plan. HITs of all stages are handed
    out, those of the whole collection first; those of a removed stage are not, but who is at one of them ends it.

    Returns
    -------
    Assignment or None
        None when there is nothing left for this worker.

    Raises
    ------
    UserError
        When the worker is retired, or the campaign is paused and this worker is not in the middle of a HIT.
    """
    now = _now()
    with campaign.database.write() as connection:
        refuse_retired(connection, worker.name)
        row = stored_responses.open_assignment(connection, worker.number)
        if row is not None:
            if _still_ours(connection, row, now):
                stored_responses.renew(connection, row.assignment.number, now)
                return row.assignment
            _lapse(connection, row, now)
        refuse_paused(connection)
        chosen = stored_responses.next_hit(connection, worker.number, now - LEASE)
        if chosen is None:
            return None
        hit, hit_name = chosen
        shown = shuffled(stored_responses.hit_items(connection, hit), campaign.settings.seed, hit_name, worker.name)
        number = stored_responses.insert_assignment(
            connection, hit=hit, worker=worker.number, item_order=shown, started_at=now
        )
        catalogue.bump_revision(connection)
    return Assignment(
        number=number,
        hit=hit,
        hit_name=hit_name,
        worker=worker.number,
        status=AssignmentStatus.OPEN,
        items=shown,
        started_at=now,
    )


def log(campaign: Campaign, assignment: Assignment) -> tuple[Action, ...]:
    """What the worker has done to the groups so far, oldest first, undo and redo included."""
    with campaign.database.read() as connection:
        return stored_responses.actions(connection, assignment.number)


def record(campaign: Campaign, assignment: Assignment, action: Action, active_seconds: float) -> None:
    """Store one action; it is on disk when this returns.

    Parameters
    ----------
    active_seconds
        Active time on this assignment so far, from its first opening on (`assignment.active_seconds` was it when the
        assignment was handed out). A total and not a difference: a repeated or lost report does no harm.

    Raises
    ------
    UserError
        When the assignment has ended, or has lapsed and others have taken its place.
    ValueError
        When the action is not possible after what is stored (nothing to undo, no such tile).
    """
    now = _now()
    with campaign.database.write() as connection:
        row = _open(connection, assignment, now)
        # taken out, so that a change that is undone leaves nothing here
        last, sorting = campaign.sortings.pop(assignment.number, (0, None))
        if sorting is None or last != stored_responses.last_action(connection, assignment.number):
            sorting = Sorting(len(row.assignment.items), stored_responses.actions(connection, assignment.number))
        sorting.apply(action)
        placements = action.placements if action.kind is ActionKind.PLACE else None
        last = stored_responses.append_event(connection, row, action.kind.value, placements, active_seconds, now)
    campaign.sortings[assignment.number] = last, sorting


def submit(campaign: Campaign, assignment: Assignment, active_seconds: float) -> None:
    """Make a response of the groups as they are stored.

    Raises
    ------
    UserError
        When a photo is in no group yet, or the assignment has ended or lapsed.
    """
    now = _now()
    with campaign.database.write() as connection:
        row = _open(connection, assignment, now)
        ours = row.assignment
        sorting = Sorting(len(ours.items), stored_responses.actions(connection, ours.number))
        if sorting.n_unsorted:
            count = "1 photo is" if sorting.n_unsorted == 1 else f"{sorting.n_unsorted} photos are"
            raise UserError(f"{count} not sorted yet", todo="put each into a group, then submit")
        campaign.sortings.pop(ours.number, None)
        active = max(active_seconds, ours.active_seconds)
        stored_responses.close(connection, row, AssignmentStatus.SUBMITTED, stored_responses.SUBMIT, active, now)
        stored_responses.insert_responses(
            connection,
            [
                stored_responses.NewResponse(
                    assignment=ours.number,
                    items=ours.items,
                    groups=sorting.groups,
                    submitted_at=now,
                    source="window",
                    wall_seconds=max(0.0, (now - ours.started_at).total_seconds()),
                    active_seconds=active,
                )
            ],
        )
        catalogue.bump_revision(connection)


def revise(campaign: Campaign, assignment: Assignment, groups: Sequence[int]) -> None:
    """Replace a submitted grouping by a newer one; the old one stays in the file and counts no more.

    Parameters
    ----------
    groups
        Group number (from 1) of each of `assignment.items`.
    """
    now = _now()
    with campaign.database.write() as connection:
        row = stored_responses.find_assignment(connection, assignment.number)
        before = stored_responses.current_response(connection, assignment.number)
        if row is None or before is None:
            raise UserError(f"the set {assignment.hit_name} is not submitted yet", todo="submit it first")
        if len(groups) != len(row.assignment.items) or min(groups) < 1:
            raise UserError("a response needs a group for each photo", todo="put each into a group")
        stored_responses.insert_responses(
            connection,
            [
                stored_responses.NewResponse(
                    assignment=assignment.number,
                    items=row.assignment.items,
                    groups=groups,
                    submitted_at=now,
                    source="revision",
                    supersedes=before,
                )
            ],
        )
        catalogue.bump_revision(connection)


def skip(campaign: Campaign, assignment: Assignment, active_seconds: float = 0.0) -> None:
    """Give a HIT back to the others; this worker is not offered it again."""
    now = _now()
    with campaign.database.write() as connection:
        row = stored_responses.find_assignment(connection, assignment.number)
        row = _refuse_ended(row, assignment)
        stored_responses.close(connection, row, AssignmentStatus.SKIPPED, stored_responses.SKIP, active_seconds, now)
        catalogue.bump_revision(connection)


def flag_item(campaign: Campaign, assignment: Assignment, item_number: int, reason: str) -> None:
    """Say that something is wrong with a photo; it stays in the HIT and the lead sees the flag.

    Raises
    ------
    UserError
        When the photo is not in this HIT or no reason is given.
    """
    reason = " ".join(reason.split())
    if not reason:
        raise UserError("a flag needs a reason", todo="write what is wrong with the photo")
    now = _now()
    with campaign.database.write() as connection:
        row = stored_responses.find_assignment(connection, assignment.number)
        if row is None or item_number not in row.assignment.items:
            raise UserError(f"the photo is not in the set {assignment.hit_name}", todo="flag one that is")
        stored_responses.insert_flag(connection, row.assignment, item_number, reason, now)
        if row.assignment.status is AssignmentStatus.OPEN and _still_ours(connection, row, now):
            stored_responses.renew(connection, assignment.number, now)
        catalogue.bump_revision(connection)


def progress_of(campaign: Campaign, worker: Worker) -> WorkerProgress:
    """How many HITs this worker has done and could still do."""
    with campaign.database.read() as connection:
        counts = stored_responses.status_counts(connection, worker.number)
        remaining = stored_responses.remaining_hits(connection, worker.number, _now() - LEASE)
    return WorkerProgress(
        submitted=counts.get(AssignmentStatus.SUBMITTED, 0),
        skipped=counts.get(AssignmentStatus.SKIPPED, 0),
        open=counts.get(AssignmentStatus.OPEN, 0),
        remaining=remaining,
    )


def shuffled(items: Sequence[int], seed: int, hit: str, worker: str) -> tuple[int, ...]:
    """The items in the order in which this worker sees them: random, and the same for the same seed, HIT and worker.

    Sorted by a hash and not shuffled by a generator, so that no library's version changes it.
    """

    def key(item: int) -> bytes:
        return hashlib.sha256(f"{seed}\x00{hit}\x00{worker}\x00{item}".encode()).digest()

    return tuple(sorted(items, key=key))


def _open(connection: Connection, assignment: Assignment, now: datetime) -> AssignmentRow:
    """The assignment, open and ours; raise `UserError` if it is not."""
    row = stored_responses.find_assignment(connection, assignment.number)
    row = _refuse_ended(row, assignment)
    if not _still_ours(connection, row, now):
        raise UserError(
            f"the set {assignment.hit_name} was left for more than {LEASE // timedelta(hours=1)} hours and others "
            "have taken it",
            todo="take the next one",
        )
    return row


def _refuse_ended(row: AssignmentRow | None, assignment: Assignment) -> AssignmentRow:
    if row is None:
        raise UserError(f"the set {assignment.hit_name} is not in this campaign", todo="take the next one")
    if row.assignment.status is not AssignmentStatus.OPEN:
        raise UserError(
            f"the set {assignment.hit_name} is {row.assignment.status.value} already, perhaps in another window",
            todo="take the next one",
        )
    return row


def _still_ours(connection: Connection, row: AssignmentRow, now: datetime) -> bool:
    """Whether the lease runs, or has run out while nobody needed the place."""
    lease_start = now - LEASE
    if row.last_event_at >= lease_start:
        # Others who hold it open do not matter, only those who are done: after a change of the computer's clock there
        # can be more holders than places.
        lease_start = datetime.max.replace(tzinfo=UTC)
    return stored_responses.has_room(connection, row.assignment, lease_start)


def _lapse(connection: Connection, row: AssignmentRow, now: datetime) -> None:
    active = row.assignment.active_seconds
    stored_responses.close(connection, row, AssignmentStatus.SKIPPED, stored_responses.LAPSE, active, now)
    catalogue.bump_revision(connection)


def _now() -> datetime:
    return now()
