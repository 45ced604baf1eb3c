"""How each worker's groups compare with the clusters of a run, and words for habits worth a second look."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from crowdclust_app.domain.response_table import ResponseTable
from crowdclust_app.inference.crowdclustering.selection.heldout_workers import WorkerScores
from crowdclust_app.services.fits.results import FitResult, Run

if TYPE_CHECKING:
    from crowdclust_app.services.campaign.left_out import Exclusions

RANDOM_BELOW = 0.1
"""Likeness to the clusters (1 the same, 0 what chance gives) under which a worker may have answered at random."""

FEWEST_PAIR_LABELS = 45
"""Pair labels (ten items in one HIT) under which a worker's habits are not judged."""

FAST_SHARE = 1 / 3
"""A worker is called fast below this share of the middle worker's time for an item."""

FAST_SECONDS_AN_ITEM = 0.25
"""A worker is called fast below this time for an item, whatever the others needed."""

RANDOM, ONE_GROUP, ALL_APART, FAST, RETIRED = "random?", "one group?", "all apart?", "fast", "retired"

FLAG_REASONS = {
    RANDOM: "The groups are hardly more like the clusters than chance would make them.",
    ONE_GROUP: "Everything was put into one group.",
    ALL_APART: "Everything was put into a group of its own.",
    FAST: "Much less time for each photo than the others took.",
    RETIRED: "Left out of runs and not asked any more, by the lead's decision.",
}


@dataclass(frozen=True, slots=True)
class WorkerRow:
    """One worker of a campaign beside the clusters of a run.

    Parameters
    ----------
    matrix
        Number of this worker's confusion matrix in the run; None without one.
    hits
        Submitted HITs.
    seconds_per_hit
        Median of the active seconds; None when they were not measured.
    agreement
        Share of the pair labels that say what the clusters say; None without labels.
    likeness
        Adjusted Rand index against the clusters, pooled over the responses: 1 the same groups, 0 what chance gives;
        None where the groups cannot tell (everything together or everything apart), and where all that the worker
        saw is in one cluster.
    flags
        Words from `FLAG_REASONS`.
    excluded
        Responses that the lead excluded one by one.
    over_random, over_random_se
        By how many nats a held-out decision is predicted better than those of a worker who does not look at the
        pictures would be, and its standard error; None where nothing was held out, and in a run of one cluster.
    group
        The group of workers who share a criterion; "" for none, or where that was not computed.
    """

    name: str
    matrix: int | None
    hits: int
    seconds_per_hit: float | None
    agreement: float | None
    likeness: float | None
    flags: tuple[str, ...]
    excluded: int = 0
    over_random: float | None = None
    over_random_se: float | None = None
    group: str = ""

    @property
    def all_flags(self) -> tuple[str, ...]:
        """The flags, and how many responses are excluded."""
        return self.flags + ((f"{self.excluded:,} excluded",) if self.excluded else ())


@dataclass(frozen=True, slots=True)
class _PairCounts:
    """Pairs of each response: all, in one group, in one cluster, in both; each of shape (R,)."""

    pairs: NDArray[np.float64]
    same_group: NDArray[np.float64]
    same_cluster: NDArray[np.float64]
    both: NDArray[np.float64]


def _count_pairs(table: ResponseTable, labels: NDArray[np.int64]) -> _PairCounts:
    """Count by contingency tables; positions whose item has no cluster are left out."""
    n = table.n_responses
    response = np.repeat(np.arange(n), table.sizes)
    cluster = labels[table.items]
    keep = cluster > 0
    response, group, cluster = response[keep], table.groups[keep], cluster[keep]

    def pairs(*keys: NDArray[np.int64]) -> NDArray[np.float64]:
        # one number a cell: sorting numbers is far quicker than sorting rows
        cell = response
        for key in keys:
            cell = cell * (int(key.max(initial=0)) + 1) + key
        _, first, counts = np.unique(cell, return_index=True, return_counts=True)
        weights = counts * (counts - 1) / 2
        return np.bincount(response[first], weights=weights, minlength=n).astype(np.float64)

    return _PairCounts(pairs=pairs(), same_group=pairs(group), same_cluster=pairs(cluster), both=pairs(group, cluster))


def worker_rows(
    table: ResponseTable,
    labels: NDArray[np.int64],
    seconds: Mapping[str, Sequence[float]],
    run: Run | None = None,
    left_out: Exclusions | None = None,
) -> tuple[WorkerRow, ...]:
    """Describe every worker of a campaign.

    Parameters
    ----------
    table
        The responses, those that runs leave out too.
    labels : ndarray of shape (N,)
        Cluster of each item of the table, 0 for none.
    seconds
        Active seconds of each submitted HIT, by worker's name.
    run
        Whose confusion matrices and held-out figures the rows have.
    left_out
        What runs leave out.
    """

    def by_worker(values: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.bincount(table.worker_of_response, weights=values, minlength=table.n_workers).astype(np.float64)

    counts = _count_pairs(table, labels)
    with np.errstate(divide="ignore", invalid="ignore"):
        chance = np.where(counts.pairs > 0, counts.same_group * counts.same_cluster / counts.pairs, 0.0)
    judged, judged_together = by_worker(counts.pairs), by_worker(counts.same_group)
    clustered_together = by_worker(counts.same_cluster)
    equal = by_worker(counts.pairs - counts.same_group - counts.same_cluster + 2 * counts.both)
    gained = by_worker(counts.both - chance)
    possible = by_worker((counts.same_group + counts.same_cluster) / 2 - chance)
    # what a worker does with everything shows without any clusters
    whole = _count_pairs(table, np.ones(table.n_items, dtype=np.int64))
    pairs, together = by_worker(whole.pairs), by_worker(whole.same_group)
    hits = np.bincount(table.worker_of_response, minlength=table.n_workers)
    items = by_worker(table.sizes.astype(np.float64))
    matrices, gains = _matrices(run), _gains(run)
    retired = left_out.retired if left_out else {}
    excluded = Counter(worker for _, worker in (left_out.responses if left_out else ()))
    medians = {name: float(np.median(values)) for name, values in seconds.items() if len(values)}
    an_item = {
        name: medians[name] * hits[j] / items[j]
        for j, name in enumerate(table.worker_names)
        if name in medians and items[j]
    }
    rows = []
    for j, name in enumerate(table.worker_names):
        varied = 0.0 < judged_together[j] < judged[j] and possible[j] > 1e-9
        # no worker can agree with a single cluster more than chance does
        varied = varied and clustered_together[j] < judged[j]
        likeness = float(gained[j] / possible[j]) if varied else None
        rows.append(
            WorkerRow(
                name=name,
                matrix=matrices.get(name),
                hits=int(hits[j]),
                seconds_per_hit=medians.get(name),
                agreement=float(equal[j] / judged[j]) if judged[j] else None,
                likeness=likeness,
                flags=(
                    *_flags(pairs[j], together[j], likeness, an_item.get(name), list(an_item.values())),
                    *((RETIRED,) if name in retired else ()),
                ),
                excluded=excluded[name],
                over_random=gains.get(name, (None, None))[0],
                over_random_se=gains.get(name, (None, None))[1],
            )
        )
    return tuple(rows)


def _matrices(run: Run | None) -> dict[str, int]:
    """Number of each worker's matrix; empty for a consensus, whose one matrix is of all workers."""
    if run is None or len(run.result.answered) != len(run.worker_names):
        return {}
    return {name: j for j, name in enumerate(run.worker_names) if run.result.answered[j]}


def _gains(run: Run | None) -> dict[str, tuple[float, float]]:
    """By how much each worker is predicted better than a random worker, with the standard error."""
    if run is None or one_cluster(run.result) or (figures := worker_scores(run.result)) is None:
        return {}
    pairs = zip(run.worker_names, figures.over_random.tolist(), figures.over_random_se.tolist(), strict=True)
    return {name: (gain, error) for name, gain, error in pairs if np.isfinite(gain) and np.isfinite(error)}


def one_cluster(result: FitResult) -> bool:
    """Whether all items are in one cluster, beside which no worker can be told from one who sorts at random."""
    return len(np.unique(result.labels[result.labels > 0])) < 2


def worker_scores(result: FitResult) -> WorkerScores | None:
    """What held-out responses say of each worker; None where nothing was held out, or by an earlier version."""
    figures = result.heldout_figures
    return None if figures is None else WorkerScores(*figures.T)


def _flags(
    pairs: float, together: float, likeness: float | None, an_item: float | None, of_all: Sequence[float]
) -> tuple[str, ...]:
    flags = []
    if pairs >= FEWEST_PAIR_LABELS:
        if together >= 0.99 * pairs:
            flags.append(ONE_GROUP)
        elif together <= 0.01 * pairs:
            flags.append(ALL_APART)
        elif likeness is not None and likeness < RANDOM_BELOW:
            flags.append(RANDOM)
    if an_item is not None:
        middle = float(np.median(of_all)) if len(of_all) >= 3 else 0.0
        if an_item < max(FAST_SECONDS_AN_ITEM, FAST_SHARE * middle):
            flags.append(FAST)
    return tuple(flags)
