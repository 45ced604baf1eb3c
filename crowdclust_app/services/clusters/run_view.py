"""What the screens show of a stored run: clusters, doubtful items, the facts of one item.

Everything here is arrays and frozen values, made once off the main thread; a screen only reads them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crowdclust_app.domain.response_table import ResponseTable
from crowdclust_app.services.campaign.left_out import Exclusions
from crowdclust_app.services.clusters.block_order import block_order
from crowdclust_app.services.clusters.item_facts import DOUBTFUL_BELOW, ItemFacts, ItemResponse
from crowdclust_app.services.fits.results import FitResult, Run, chances_of, entropy_bits
from crowdclust_app.services.workers.worker_rows import WorkerRow, worker_rows


@dataclass(frozen=True, slots=True)
class ClusterRow:
    """One cluster of a run.

    Parameters
    ----------
    number
        1 is the largest.
    mean_probability
        Mean probability of its items to be in it.
    items : ndarray of shape (size,)
        Item numbers, the most confident first; among equals the ones nearest to the cluster's centre.
    doubtful
        How many of them are doubtful.
    centre
        Mean of its items on the two Fisher axes.
    """

    number: int
    mean_probability: float
    items: NDArray[np.int64]
    doubtful: int
    centre: tuple[float, float]

    @property
    def size(self) -> int:
        """Number of items whose most probable cluster this is."""
        return len(self.items)


@dataclass(frozen=True, slots=True)
class RunView:
    """A run as the screens show it.

    Parameters
    ----------
    labels : ndarray of shape (N,)
        Cluster of each item, 0 for not shown.
    probability, certainty, entropy_bits : ndarray of shape (N,)
        How sure that cluster is (`chances_of`), its probability among all clusters, entropy of all; NaN
        for items not shown.
    times_shown : ndarray of shape (N,)
        Responses that hold the item, by now.
    doubtful : ndarray
        Item numbers below `DOUBTFUL_BELOW`, the least sure first.
    not_shown : ndarray
        Item numbers without a response in the run.
    order : ndarray of shape (K,)
        Cluster indices (0-based) in the order that makes confusion matrices about block-diagonal.
    new_responses
        Responses that came in after the run.
    """

    run: Run
    table: ResponseTable
    labels: NDArray[np.int64]
    probability: NDArray[np.float64]
    certainty: NDArray[np.float64]
    entropy_bits: NDArray[np.float64]
    times_shown: NDArray[np.int64]
    clusters: tuple[ClusterRow, ...]
    doubtful: NDArray[np.int64]
    not_shown: NDArray[np.int64]
    workers: tuple[WorkerRow, ...]
    order: NDArray[np.int64]
    new_responses: int
    item_in_run: NDArray[np.int64]
    item_ptr: NDArray[np.int64]
    item_positions: NDArray[np.int64]

    @property
    def item_names(self) -> tuple[str, ...]:
        """Names of the items by number."""
        return self.run.item_names

    @property
    def fisher(self) -> NDArray[np.float64]:
        """Items on the two Fisher axes; shape (N, 2)."""
        return self.run.result.fisher

    def is_doubtful(self, item: int) -> bool:
        """Whether the item's cluster is less sure than `DOUBTFUL_BELOW`."""
        return bool(self.certainty[item] < DOUBTFUL_BELOW)

    def facts(self, item: int) -> ItemFacts:
        """Collect what the inspector says about one item (a fraction of a millisecond for each response)."""
        turns = [self._turn(item, int(p)) for p in self.item_positions[self.item_ptr[item] : self.item_ptr[item + 1]]]
        turns.sort(key=lambda turn: (turn.agreement, turn.hit, turn.worker))
        alternatives: tuple[tuple[int, float], ...] = ()
        if self.labels[item] > 0:
            row = chances_of(self.run.result)[item]
            best = np.argsort(-row, kind="stable")
            alternatives = tuple((int(k) + 1, float(row[k])) for k in best if row[k] >= 0.01)
        return ItemFacts(
            number=item,
            name=self.item_names[item],
            cluster=int(self.labels[item]),
            probability=float(self.probability[item]),
            entropy_bits=float(self.entropy_bits[item]),
            times_shown=int(self.times_shown[item]),
            alternatives=alternatives,
            turns=tuple(turns),
        )

    def _turn(self, item: int, position: int) -> ItemResponse:
        table = self.table
        response = int(np.searchsorted(table.response_ptr, position, side="right")) - 1
        span = slice(int(table.response_ptr[response]), int(table.response_ptr[response + 1]))
        others = np.arange(span.start, span.stop) != position
        numbers = self.item_in_run[table.items[span]][others]
        same_group = (table.groups[span] == table.groups[position])[others]
        known = numbers >= 0
        numbers, same_group = numbers[known], same_group[known]
        same_cluster = self.labels[numbers] == self.labels[item]
        judged = (self.labels[numbers] > 0) & (self.labels[item] > 0)
        differing = judged & (same_cluster != same_group)
        return ItemResponse(
            hit=table.hit_names[table.hit_of_response[response]],
            worker=table.worker_names[table.worker_of_response[response]],
            shown=span.stop - span.start,
            together=numbers[same_group],
            apart=numbers[~same_group],
            from_other_clusters=int((differing & same_group).sum()),
            left_out=int((differing & ~same_group).sum()),
            agreement=1.0 - float(differing.sum() / max(judged.sum(), 1)),
        )


def view_run(
    run: Run,
    table: ResponseTable,
    seconds: Mapping[str, Sequence[float]] | None = None,
    whole: ResponseTable | None = None,
    left_out: Exclusions | None = None,
) -> RunView:
    """Make of a run and the responses so far what the screens show.

    Parameters
    ----------
    table
        The responses that count.
    seconds
        Active seconds of each submitted HIT, by worker's name.
    whole
        All responses, over the same items, where some do not count; the workers are described by these.
    left_out
        Which do not count.
    """
    result = run.result
    labels = np.where(result.shown, result.labels, 0).astype(np.int64)
    shown = labels > 0
    q = np.clip(result.responsibilities, 0.0, 1.0)
    probability = np.full(len(labels), np.nan)
    probability[shown] = chances_of(result)[shown, labels[shown] - 1]
    certainty = np.full(len(labels), np.nan)
    certainty[shown] = q[shown, labels[shown] - 1]
    entropy = np.full(len(labels), np.nan)
    entropy[shown] = entropy_bits(q)[shown]

    number_of = {name: number for number, name in enumerate(run.item_names)}
    item_in_run = np.array([number_of.get(name, -1) for name in table.item_names], dtype=np.int64)
    ptr, positions = _positions_of_items(item_in_run[table.items], len(labels))

    below = np.flatnonzero(shown & (np.nan_to_num(certainty, nan=1.0) < DOUBTFUL_BELOW))
    doubtful = below[np.lexsort((below, -entropy[below], certainty[below]))]
    return RunView(
        run=run,
        table=table,
        labels=labels,
        probability=probability,
        certainty=certainty,
        entropy_bits=entropy,
        times_shown=np.diff(ptr),
        clusters=_cluster_rows(result, labels, probability, certainty),
        doubtful=doubtful,
        not_shown=np.flatnonzero(~shown),
        workers=worker_rows(whole or table, _labels_in_table(labels, item_in_run), seconds or {}, run, left_out),
        order=block_order(result.confusion[result.answered]),
        new_responses=max(0, table.n_responses - int(run.result.summary["responses"])),
        item_in_run=item_in_run,
        item_ptr=ptr,
        item_positions=positions,
    )


def _labels_in_table(labels: NDArray[np.int64], item_in_run: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.where(item_in_run >= 0, labels[np.maximum(item_in_run, 0)], 0)


def _positions_of_items(items: NDArray[np.int64], n_items: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Transposed index: positions in the table where each item stands; items of number -1 are left out."""
    order = np.argsort(items, kind="stable")
    order = order[items[order] >= 0]
    counts = np.bincount(items[order], minlength=n_items)
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64), order.astype(np.int64)


def _cluster_rows(
    result: FitResult, labels: NDArray[np.int64], probability: NDArray[np.float64], certainty: NDArray[np.float64]
) -> tuple[ClusterRow, ...]:
    rows = []
    for k in range(len(result.means)):
        members = np.flatnonzero(labels == k + 1)
        if not len(members):
            continue
        off = result.positions[members] - result.means[k]
        distance = np.einsum("nd,nd->n", off, np.linalg.solve(result.covariances[k], off.T).T)
        # probabilities next to 1 differ by rounding only, so they are told apart by the distance to the centre
        members = members[np.lexsort((members, distance, -np.round(probability[members], 6)))]
        rows.append(
            ClusterRow(
                number=k + 1,
                mean_probability=float(probability[members].mean()),
                items=members,
                doubtful=int((certainty[members] < DOUBTFUL_BELOW).sum()),
                centre=(float(result.fisher[members, 0].mean()), float(result.fisher[members, 1].mean())),
            )
        )
    return tuple(rows)
