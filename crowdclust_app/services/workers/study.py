"""Everything that the Workers screen says beside the table: criteria, turns, agreement before any model.

Reading (`read_for_study`) and computing (`study`) are apart: the first belongs to whoever owns the database, the second
can take seconds in a large campaign. What has not changed since the last time is taken from there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from crowdclust_app.domain.campaign import WHOLE_COLLECTION, AssignmentStatus
from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.domain.decisions import Decision
from crowdclust_app.domain.response_table import ResponseTable
from crowdclust_app.evaluation.agreement import PairAgreement, pair_agreement
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.campaign.counts import assignment_records, campaign_figures, submitted_times
from crowdclust_app.services.campaign.exclusions import exclusions
from crowdclust_app.services.campaign.left_out import Exclusions
from crowdclust_app.services.campaign.responses import read_table
from crowdclust_app.services.fits.results import Run
from crowdclust_app.services.workers.criteria import Criteria, find_criteria, group_names
from crowdclust_app.services.workers.submitted_hits import SubmittedHits, repeated_hits, turns_of


@dataclass(frozen=True, slots=True)
class StudyInput:
    """What is read for a study.

    Parameters
    ----------
    run
        Whose clusters workers are compared with; None for none.
    table, whole
        The responses that count, and all of them.
    when, seconds
        Submission and active seconds by HIT and worker.
    repeats
        The HIT that each repeat repeats.
    left_out
        What does not count.
    names
        What groups of workers are called.
    can_repeat
        Whether HITs are planned and none of them is repeated.
    """

    run: Run | None
    table: ResponseTable
    whole: ResponseTable
    when: Mapping[tuple[str, str], datetime | None]
    seconds: Mapping[tuple[str, str], float]
    repeats: Mapping[str, str]
    left_out: Exclusions
    names: tuple[Decision, ...]
    can_repeat: bool = False


@dataclass(frozen=True, slots=True)
class WorkerStudy:
    """The findings on the workers of a campaign.

    Parameters
    ----------
    criteria
        Who sorts by what; None without a run.
    turns
        Everybody's HITs.
    agreement
        On pair labels, before any model; None where no two workers can be compared.
    key
        What it was made from.
    can_repeat
        Whether HITs could be repeated and none is.
    """

    criteria: Criteria | None
    turns: SubmittedHits
    agreement: PairAgreement | None
    key: tuple[object, ...]
    can_repeat: bool = False


def read_for_study(campaign: Campaign, run: Run | None, table: ResponseTable | None = None) -> StudyInput:
    """Read what a study needs, but for the responses that count where these are given."""
    stage = run.stage if run is not None else WHOLE_COLLECTION
    left_out = exclusions(campaign)
    repeats = repeated_hits(campaign)
    if table is None:
        table = read_table(campaign, stage)
    return StudyInput(
        run=run,
        table=table,
        whole=read_table(campaign, stage, everything=True) if left_out.decisions else table,
        when={
            (turn.hit, turn.worker): turn.submitted_at
            for turn in assignment_records(campaign)
            if turn.status is AssignmentStatus.SUBMITTED
        },
        seconds={(time.hit, time.worker): time.active_seconds for time in submitted_times(campaign)},
        repeats=repeats,
        left_out=left_out,
        names=group_names(campaign),
        can_repeat=not repeats and campaign_figures(campaign).hits_planned > 0,
    )


def study(found: StudyInput, before: WorkerStudy | None = None, cancel: CancelToken | None = None) -> WorkerStudy:
    """Compute the findings on the workers.

    Parameters
    ----------
    before
        An earlier study, whose parts are used where they still hold.
    cancel
        Polled between steps.

    Raises
    ------
    Cancelled
        When asked to stop.
    """
    labels_key = found.table.fingerprint()
    key = (found.run.number if found.run else None, labels_key, tuple(name.number for name in found.names))
    turns = turns_of(found.whole, found.run, found.when, found.seconds, found.repeats, found.left_out)
    if cancel:
        cancel.check()
    if before is not None and before.key[1] == labels_key:
        agreement = before.agreement
    else:
        agreement = pair_agreement(found.table, cancel=cancel)
    if before is not None and before.key == key:
        criteria = before.criteria
    elif found.run is None or found.run.settings.method == "consensus":
        criteria = None
    else:
        clusters = found.run.result.responsibilities.shape[1]
        criteria = find_criteria(found.table, turns.cluster + 1, clusters, found.names, cancel)
    return WorkerStudy(criteria, turns, agreement, key, found.can_repeat)
