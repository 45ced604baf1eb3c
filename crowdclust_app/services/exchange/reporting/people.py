"""What a report says of the workers of a run and of the questions that were answered."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.domain.report import Block, DataTable, Paragraph, Section
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.clusters.run_view import RunView
from crowdclust_app.services.verify.interview import question_sets
from crowdclust_app.services.verify.verdicts import IN, OUT, UNDECIDED, look_at_answers
from crowdclust_app.services.workers.criteria import KIND_WORDS, block_words, find_criteria, group_names
from crowdclust_app.services.workers.worker_rows import FLAG_REASONS, WorkerRow

MOST_WORKERS = 200
"""Workers beyond so many are left to workers.csv."""
MOST_LISTED = 20
"""Workers that are named of a group; how many more there are is a figure."""
NONE = "–"


def workers_section(
    view: RunView, heldout: Mapping[str, float], label: Callable[[str], str], figures: Sequence[Block] = ()
) -> Section:
    """The table of workers, the most active first, and the figures about them.

    Parameters
    ----------
    heldout
        Log-likelihood of a held-out decision in nats, by worker's name.
    label
        How a worker is written.
    figures
        Plots with captions, to stand above the table.
    """
    listed = sorted(view.workers, key=lambda row: (-row.hits, row.name))
    rows = tuple(_worker_row(row, heldout.get(row.name), label) for row in listed[:MOST_WORKERS])
    blocks: list[Block] = [*figures]
    blocks.append(
        DataTable(
            ("Worker", "HITs", "Seconds a HIT", "Agreement", "Held out, nats", "Flags"),
            rows,
            (False, True, True, True, True, False),
            "Agreement: share of the worker's pair labels that say what the clusters say.",
        )
    )
    if len(listed) > MOST_WORKERS:
        blocks.append(Paragraph(f"The other {len(listed) - MOST_WORKERS:,} workers are in workers.csv alone."))
    used = dict.fromkeys(flag for row in listed for flag in row.flags)
    blocks += [Paragraph(f"{flag}: {FLAG_REASONS[flag]}") for flag in used if flag in FLAG_REASONS]
    return Section("Workers", tuple(blocks))


def _worker_row(row: WorkerRow, heldout: float | None, label: Callable[[str], str]) -> tuple[str, ...]:
    return (
        label(row.name),
        f"{row.hits:,}",
        NONE if row.seconds_per_hit is None else f"{row.seconds_per_hit:.0f}",
        NONE if row.agreement is None else f"{row.agreement:.2f}",
        NONE if heldout is None else f"{heldout:z.3f}",
        ", ".join(row.flags),
    )


def criteria_section(
    campaign: Campaign,
    view: RunView,
    names: Mapping[int, str],
    label: Callable[[str], str],
    cancel: CancelToken | None = None,
) -> Section | None:
    """Which workers sort by the same criterion, and which clusters that makes one; None where that cannot be said.

    Parameters
    ----------
    names
        What the lead calls the clusters, by number; "" for nothing.
    label
        How a worker is written.
    """
    if view.run.settings.method == "consensus" or len(view.clusters) < 2:
        return None
    inside = view.item_in_run
    labels = np.where(inside >= 0, view.labels[np.maximum(inside, 0)], 0)
    n_clusters = view.run.result.responsibilities.shape[1]
    found = find_criteria(view.table, labels, n_clusters, group_names(campaign), cancel)
    others = found.others()
    if not found.groups and not others:
        return None

    def title(cluster: int) -> str:
        return names.get(cluster) or str(cluster)

    words = (
        "Workers who put the same clusters together sort by the same criterion; the photos of the clusters show which."
    )
    blocks: list[Block] = [Paragraph(f"{found.sentence} {words}")]
    if found.groups:
        rows = tuple(
            (
                group.title,
                f"{len(group.members):,}",
                _capital(block_words(group.blocks, title)),
                _some(group.members, label),
            )
            for group in found.groups
        )
        blocks.append(DataTable(("Group", "Workers", "Clusters", "Who"), rows, (False, True, False, False)))
    blocks += [Paragraph(f"{_capital(KIND_WORDS[kind])}: {_some(who, label)}.") for kind, who in others]
    return Section("Criteria of the workers", tuple(blocks))


def _some(workers: Sequence[str], label: Callable[[str], str]) -> str:
    """The first of these workers by name, and how many more there are."""
    listed = ", ".join(label(worker) for worker in workers[:MOST_LISTED])
    more = len(workers) - MOST_LISTED
    return f"{listed} and {more:,} more" if more > 0 else listed


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]


def verification_section(campaign: Campaign, cancel: CancelToken | None = None) -> Section | None:
    """What the answers to yes/no questions amount to; None where nothing was asked."""
    rows = []
    for info in question_sets(campaign):
        asked = info.question_set
        outcome = look_at_answers(campaign, asked.number, (asked.method,), cancel=cancel) if info.labels else None
        found = outcome.method(asked.method) if outcome is not None else None
        if found is not None:
            counts = tuple(f"{found.count(verdict):,}" for verdict in (IN, OUT, UNDECIDED))
            photos, labels = f"{len(asked.items):,}", f"{info.labels:,} by {info.workers:,}"
            rows.append((asked.sentence, photos, labels, asked.method, *counts))
    if not rows:
        return None
    header = ("Question", "Photos", "Answers, workers", "Method", "In", "Out", "Undecided")
    return Section("Verification", (DataTable(header, tuple(rows), (False, True, True, False, True, True, True)),))
