"""One worker's HITs: when, how long, how far they agree with the clusters, and how they were sorted.

What all workers did is collected once (`turns_of`); one worker's part of it is then a matter of milliseconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from crowdclust_app.domain.response_table import ResponseTable
from crowdclust_app.evaluation.agreement import self_agreement
from crowdclust_app.inference.crowdclustering.selection.prediction import score_table
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.campaign.left_out import Exclusions, LeftOut
from crowdclust_app.services.exchange.result_tables import Fitted
from crowdclust_app.services.fits.results import Run
from crowdclust_app.storage import records


@dataclass(frozen=True, slots=True)
class SubmittedHit:
    """One submitted HIT of one worker.

    Parameters
    ----------
    hit
        Its name.
    response
        Number of the response in the table.
    at
        When it was submitted, in UTC; None where a table did not say.
    seconds
        Active seconds; None where they were not measured.
    labels
        Pair labels between items of clusters.
    agreement
        Share of these that say what the clusters say; None without any.
    surprise
        Nats a label by which the model is surprised: minus the mean log-probability that it gives this worker's labels;
        None without a matrix.
    repeats
        Name of the HIT that this one repeats; "" for none.
    left_out
        Why it does not count; None where it does.
    """

    hit: str
    response: int
    at: datetime | None
    seconds: float | None
    labels: int
    agreement: float | None
    surprise: float | None
    repeats: str
    left_out: LeftOut | None


@dataclass(frozen=True, slots=True)
class SortedHit:
    """A HIT as a worker sorted it.

    Parameters
    ----------
    groups
        Items of each group by their number in the table, the largest group first.
    strange
        Items that are elsewhere than expected: in another group, or alone, more of their labels would be as expected.
    """

    groups: tuple[tuple[int, ...], ...]
    strange: frozenset[int]


@dataclass(frozen=True, slots=True)
class SubmittedHits:
    """Everybody's submitted HITs, in submission order within each worker.

    Parameters
    ----------
    table
        All responses, those that are left out too.
    cluster : ndarray of shape (N,)
        Cluster of each item of the table, from 0; -1 for none.
    by_worker
        Turns by worker's name.
    with_oneself : ndarray of shape (J, 2)
        Pairs that a worker judged twice in repeated HITs, and those judged alike.
    """

    table: ResponseTable
    cluster: NDArray[np.int64]
    by_worker: Mapping[str, tuple[SubmittedHit, ...]]
    with_oneself: NDArray[np.float64]

    def of(self, worker: str) -> tuple[SubmittedHit, ...]:
        """One worker's turns, oldest first."""
        return self.by_worker.get(worker, ())

    def self_agreement(self, worker: str) -> tuple[int, float] | None:
        """Pairs judged twice and the share of them judged alike; None where nothing was repeated."""
        if worker not in self.table.worker_names:
            return None
        pairs, alike = self.with_oneself[self.table.worker_names.index(worker)]
        return (int(pairs), float(alike / pairs)) if pairs else None

    def sorted_hit(self, turn: SubmittedHit, together: NDArray[np.float64] | None = None) -> SortedHit:
        """How a HIT was sorted.

        Parameters
        ----------
        together : ndarray of shape (K, K), optional
            How probable it is that this worker puts two clusters together: what is expected. Without it, that every
            cluster is a group.
        """
        span = slice(int(self.table.response_ptr[turn.response]), int(self.table.response_ptr[turn.response + 1]))
        items, groups = self.table.items[span], self.table.groups[span]
        where = self.cluster[items]
        known = where >= 0
        expected = where[:, None] == where if together is None else together[where[:, None], where] > 0.5
        strange = items[known][misplaced(groups[known], expected[known][:, known])]
        numbers, sizes = np.unique(groups, return_counts=True)
        order = numbers[np.argsort(-sizes, kind="stable")]
        return SortedHit(
            tuple(tuple(items[groups == number].tolist()) for number in order.tolist()), frozenset(strange.tolist())
        )


def misplaced(groups: NDArray[np.int64], expected: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which items would have more labels as expected in another group, or alone.

    Parameters
    ----------
    groups : ndarray of shape (M,)
        As they were sorted.
    expected : ndarray of shape (M, M)
        Which two items are expected in one group.

    Returns
    -------
    ndarray of bool, shape (M,)
    """
    n = len(groups)
    if not n:
        return np.zeros(0, dtype=bool)
    own = np.unique(groups, return_inverse=True)[1]
    inside = np.eye(int(own.max()) + 1)[own]
    others = expected & ~np.eye(n, dtype=bool)
    sizes = inside.sum(axis=0) - inside
    # labels against the expectation in each group, beside those that being alone has
    against = sizes - 2.0 * (others @ inside)
    here = against[np.arange(n), own]
    return np.asarray(here > np.minimum(against.min(axis=1), 0.0))


def repeated_hits(campaign: Campaign) -> dict[str, str]:
    """Name of the HIT that each repeat repeats."""
    with campaign.database.read() as connection:
        return records.repeated_hits(connection)


def turns_of(
    table: ResponseTable,
    run: Run | None,
    when: Mapping[tuple[str, str], datetime | None],
    seconds: Mapping[tuple[str, str], float],
    repeats: Mapping[str, str],
    left_out: Exclusions,
) -> SubmittedHits:
    """The same from its parts; times by HIT and worker, repeats by name."""
    cluster = np.full(table.n_items, -1, dtype=np.int64)
    if run is not None:
        cluster = Fitted(run.result, run.item_names, run.worker_names, run.stage).labels_in(table) - 1
    K = max(int(cluster.max(initial=-1)) + 1, 1)
    # "same" exactly within clusters: what a score counts as right is then the agreement with the clusters
    plain = score_table(table, cluster, np.eye(K)[None])
    surprise = _surprise(table, cluster, run)
    by_worker: dict[str, list[SubmittedHit]] = {}
    pairs, right = plain.counts.tolist(), plain.right.tolist()
    for response in range(table.n_responses):
        hit = table.hit_names[table.hit_of_response[response]]
        worker = table.worker_names[table.worker_of_response[response]]
        by_worker.setdefault(worker, []).append(
            SubmittedHit(
                hit=hit,
                response=response,
                at=when.get((hit, worker)),
                seconds=seconds.get((hit, worker)),
                labels=int(pairs[response]),
                agreement=right[response] / pairs[response] if pairs[response] else None,
                surprise=float(surprise[response]) if np.isfinite(surprise[response]) else None,
                repeats=repeats.get(hit, ""),
                left_out=left_out.of(hit, worker),
            )
        )
    number_of = {name: number for number, name in enumerate(table.hit_names)}
    root = np.arange(len(table.hit_names))
    for hit, original in repeats.items():
        if hit in number_of and original in number_of:
            root[number_of[hit]] = number_of[original]
    with_oneself = self_agreement(table, root[table.hit_of_response])
    return SubmittedHits(table, cluster, {name: tuple(turns) for name, turns in by_worker.items()}, with_oneself)


def _surprise(table: ResponseTable, cluster: NDArray[np.int64], run: Run | None) -> NDArray[np.float64]:
    """Minus the mean log-probability of each response's labels, in nats; NaN where there is none; shape (R,)."""
    surprise = np.full(table.n_responses, np.nan)
    if run is None or len(run.result.answered) != len(run.worker_names):
        return surprise
    number_of = {name: number for number, name in enumerate(run.worker_names)}
    order = np.argsort(table.worker_of_response, kind="stable")
    ends = np.searchsorted(table.worker_of_response[order], np.arange(table.n_workers + 1))
    # worker by worker: all matrices at once need a lot of memory where there are many clusters
    for worker, name in enumerate(table.worker_names):
        own, number = order[ends[worker] : ends[worker + 1]], number_of.get(name)
        if number is None or not len(own) or not run.result.answered[number]:
            continue
        matrix = run.result.confusion[number]
        if not np.isfinite(matrix).all():
            continue
        scores = score_table(table.take(own), cluster, matrix[None])
        judged = scores.counts > 0
        surprise[own[judged]] = -scores.loglik[judged] / scores.counts[judged]
    return surprise
