"""Cross-validation: whole responses are held out, a fold at a time, and predicted by the others (docs/model.md, 9.3).

What predicts them is fitted layer by layer to the others alone; `choosing` chooses by the scores.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.domain.response_table import ResponseTable
from crowdclust_app.inference.crowdclustering.kernels.arrays import Floats, Ints
from crowdclust_app.inference.crowdclustering.model.blocks import VariationalPosterior
from crowdclust_app.inference.crowdclustering.model.component_search import grow
from crowdclust_app.inference.crowdclustering.model.data import PairLabelData, labels_of
from crowdclust_app.inference.crowdclustering.model.initialisation import start_positions
from crowdclust_app.inference.crowdclustering.model.parallel import Parallel
from crowdclust_app.inference.crowdclustering.model.schedule import HELD_OUT, Reporter, Snapshot, run_layers
from crowdclust_app.inference.crowdclustering.model.settings import ResolvedSettings
from crowdclust_app.inference.crowdclustering.partitions.cluster_probabilities import usual_temperature
from crowdclust_app.inference.crowdclustering.partitions.exchanging import FEW_ROUNDS, exchanged, exchanges_pay
from crowdclust_app.inference.crowdclustering.partitions.merging import chain_of_partitions
from crowdclust_app.inference.crowdclustering.partitions.refinement import (
    best_partition,
    evidence_of,
    log_shares,
    tempered,
    worker_rates,
)
from crowdclust_app.inference.crowdclustering.partitions.worker_pools import PooledWorkers, pool_workers
from crowdclust_app.inference.crowdclustering.selection.heldout_workers import ONE_GROUP_RATE, WorkerScores
from crowdclust_app.inference.crowdclustering.selection.prediction import (
    HeldOutScores,
    Placement,
    base_rates,
    concatenated,
    placement_of,
    score_probable,
    score_table,
)

# The temperatures that are tried: which part of its labels' evidence an item's probabilities are made of.
TEMPERATURES = (1.0, 0.7, 0.5, 0.35, 0.25, 0.18, 0.12, 0.08, 0.05, 0.03, 0.02, 0.01)
# Decisions in the labels of one item in one response while settings are compared: what predicts held-out responses of
# simulated campaigns best; with fewer, small clusters are blurred.
DECISIONS = 4.0
# Responses of a fold by which the temperature is chosen.
ENOUGH_RESPONSES = 300
# With so many held-out pair labels another fold says nothing new: a large campaign needs one fold, a small one all.
ENOUGH_LABELS = 40_000


@dataclass(frozen=True, slots=True)
class HeldOut:
    """How well held-out responses are predicted, and what was chosen by them.

    Parameters
    ----------
    folds, responses, pairs
        Folds, responses held out one fold at a time, and their pair labels between items that the rest has seen.
    loglik, loglik_se
        Predictive log-likelihood a pair label in nats, and its standard error over responses. A fold is scored with
        what the other folds choose, so that choosing does not flatter the figure.
    accuracy, accuracy_se
        Share of pair labels that the likelier answer meets.
    base_loglik
        The same log-likelihood without clusters: by each worker's share of "same", or by the same model with all items
        in one cluster, whichever predicts better. The second shrinks workers as the clusters' model does, so that
        shrinkage alone is never taken for structure.
    gain, gain_se
        `loglik - base_loglik`, and the standard error of that difference, response by response.
    workers
        The same by worker, beside two workers who do not look at the pictures.
    dimensions, label_weight, clusters
        What was chosen or given; `clusters` is 0 where the bound is to say.
    temperature
        How much of independent decisions the labels are (`refinement.tempered`); 1 where the bound is to say.
    tried
        `(what, value, log-likelihood a label)` of all that was compared, in order; `what` is "label weight",
        "dimensions" or "clusters".
    by_clusters
        `(clusters, log-likelihood a label, its standard error, standard error of the difference to the best)` of each
        number of clusters that was tried, where they were.
    """

    folds: int
    responses: int
    pairs: int
    loglik: float
    loglik_se: float
    accuracy: float
    accuracy_se: float
    base_loglik: float
    gain: float
    gain_se: float
    workers: WorkerScores
    dimensions: int
    label_weight: float
    clusters: int
    temperature: float
    tried: tuple[tuple[str, float, float], ...]
    by_clusters: tuple[tuple[int, float, float, float], ...] = ()


def deal_folds(table: ResponseTable, folds: int, seed: int) -> Ints:
    """Fold of each response, -1 for one without pair labels; shape (R,).

    A worker's responses are spread over the folds as evenly as can be, so that the rest says something about that
    worker. What one worker said of one set of items stays together: a repeat would give the answer away.
    """
    useful = np.flatnonzero(table.sizes >= 2)
    which = item_sets(table)
    key = table.worker_of_response[useful] * (int(which.max(initial=0)) + 1)
    _, first, unit = np.unique(key + which[useful], return_index=True, return_inverse=True)
    worker = table.worker_of_response[useful[first]]
    order = np.random.default_rng([seed, 1]).permutation(len(first))
    order = order[np.argsort(worker[order], kind="stable")]
    dealt = np.empty(len(first), dtype=np.int64)
    dealt[order] = np.arange(len(first)) % folds
    fold = np.full(table.n_responses, -1, dtype=np.int64)
    fold[useful] = dealt[unit]
    return fold


def item_sets(table: ResponseTable) -> Ints:
    """A number for each response that is the same exactly for responses about the same items; shape (R,)."""
    if not table.n_responses:
        return np.zeros(0, dtype=np.int64)
    # sums of random numbers of the items: equal sets, equal sums, and others differ but for one chance in 10^18
    tokens = np.random.default_rng(0).integers(1, 2**62, size=table.n_items, dtype=np.int64).astype(np.uint64)
    sums = np.zeros(table.n_responses, dtype=np.uint64)
    np.add.at(sums, np.repeat(np.arange(table.n_responses), table.sizes), tokens[table.items])
    return np.unique(sums, return_inverse=True)[1].astype(np.int64)


def useful_folds(table: ResponseTable, folds: int) -> int:
    """How many of so many folds to use until `ENOUGH_LABELS` pair labels are held out."""
    return min(folds, -(-ENOUGH_LABELS * folds // max(table.n_pair_labels, 1)))


def can_hold_out(table: ResponseTable) -> bool:
    """Whether there are two units to hold out, the rest with labels each time."""
    return int(deal_folds(table, 2, 0).max(initial=-1)) == 1


@dataclass(slots=True)
class CrossValidation:
    """Fits to all folds but one, made when first needed, and how well they predict the fold left out.

    Parameters
    ----------
    table
        All responses.
    settings
        Of the fits; label weight and dimensions are replaced when others are tried.
    folds
        In how many the responses are dealt; afterwards, how many of these are used.
    planned
        Fits that may be needed, for the progress.
    progress, cancel, began, parallel
        As in a fit.
    """

    table: ResponseTable
    settings: ResolvedSettings
    folds: int
    planned: int
    progress: Callable[[Snapshot], None] | None = None
    cancel: CancelToken | None = None
    began: float = field(default_factory=time.perf_counter)
    parallel: Parallel = field(default_factory=Parallel)
    done: int = 0
    fold_of: Ints = field(init=False)
    tests: list[ResponseTable] = field(init=False)
    _placed: dict[tuple[int, float, int], Placement] = field(init=False, default_factory=dict)
    _pooled: dict[tuple[int, float, int], PooledWorkers] = field(init=False, default_factory=dict)
    _chains: dict[tuple[int, float, int], dict[int, Ints]] = field(init=False, default_factory=dict)
    _exchanged: dict[tuple[int, float, int, int], Ints] = field(init=False, default_factory=dict)
    _scored: dict[tuple[int, float, int, str | int, bool], HeldOutScores] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.fold_of = deal_folds(self.table, self.folds, self.settings.seed)
        self.folds = useful_folds(self.table, int(self.fold_of.max()) + 1)
        self.tests = [self.table.take(self.fold_of == fold) for fold in range(self.folds)]

    def check(self) -> None:
        """Raise `Cancelled` when the fit was cancelled."""
        if self.cancel is not None:
            self.cancel.check()

    def report(self, settings: ResolvedSettings, clusters: Literal["bound"] | int) -> None:
        """Report which number of clusters is tried, 0 for those of the bound."""
        if self.progress is not None:
            number = clusters if isinstance(clusters, int) else 0
            most, seconds = max(self.planned, self.done), time.perf_counter() - self.began
            self.progress(Snapshot(self.done, most, HELD_OUT, settings.layer_rounds, 0.0, number, seconds))

    def train(self, fold: int) -> ResponseTable:
        """All responses but those of a fold."""
        return self.table.take((self.fold_of >= 0) & (self.fold_of != fold))

    def placement(self, settings: ResolvedSettings, fold: int) -> Placement:
        """The fit to all but one fold, layer by layer, from the spectral start."""
        return self.placements(settings, (fold,))[0]

    def placements(self, settings: ResolvedSettings, folds: Sequence[int]) -> list[Placement]:
        """The fits to all but each of these folds; made at once where there are processes."""
        keys = [(settings.dimensions, settings.label_weight, fold) for fold in folds]
        missing = [key for key in keys if key not in self._placed]
        most = max(self.planned, self.done + len(missing))
        tasks = [
            (self.train(fold), settings, self.done + number, most, self.began)
            for number, (_, _, fold) in enumerate(missing, start=1)
        ]
        self.done += len(missing)
        for key, placement in zip(
            missing, self.parallel.each(place_items, tasks, self.progress, self.cancel), strict=True
        ):
            self._placed[key] = placement
        return [self._placed[key] for key in keys]

    def largest(self, settings: ResolvedSettings, folds: Sequence[int]) -> int:
        """The most clusters that there can be in each of these folds."""
        return min(len(placement.shown) for placement in self.placements(settings, folds))

    def scores(
        self, settings: ResolvedSettings, clusters: Literal["bound"] | int, folds: Sequence[int], exchange: bool = False
    ) -> HeldOutScores:
        """How these folds are predicted with that many clusters, improved by exchanging some of them if asked for."""
        self.placements(settings, folds)
        return concatenated([self._score(settings, clusters, fold, exchange) for fold in folds])

    def _score(
        self, settings: ResolvedSettings, clusters: Literal["bound"] | int, fold: int, exchange: bool
    ) -> HeldOutScores:
        exchange = exchange and exchanges_can_help(self.pooled(settings, fold).labels, clusters)
        key = (settings.dimensions, settings.label_weight, fold, clusters, exchange)
        if key not in self._scored:
            self.report(settings, clusters)
            pooled = self.pooled(settings, fold)
            partition, rates = self.refined(settings, clusters, fold, exchange)
            test = self.tests[fold]
            if clusters == "bound":
                spread = pooled.placement.spread_out(partition)
                self._scored[key] = score_table(test, spread, rates, pooled.pool_of)
            else:
                probable = self.probable(pooled, partition, rates, [usual_temperature(pooled.labels, DECISIONS)])
                self._scored[key] = score_probable(test, next(probable), rates, pooled.pool_of)
        return self._scored[key]

    def probable(
        self, pooled: PooledWorkers, partition: Ints, rates: Floats, temperatures: Sequence[float]
    ) -> Iterator[Floats]:
        """Probabilities of the clusters for all items at each temperature, -1 for those not shown; (N, K)."""
        evidence = evidence_of(pooled.labels, partition, rates)
        shares = log_shares(partition, rates.shape[1])
        for temperature in temperatures:
            self.check()
            memberships = np.full((self.table.n_items, rates.shape[1]), -1.0)
            memberships[pooled.placement.shown] = tempered(evidence, shares, temperature)
            yield memberships

    def pooled(self, settings: ResolvedSettings, fold: int) -> PooledWorkers:
        """The responses outside a fold, alike workers pooled, against which partitions are scored."""
        key = (settings.dimensions, settings.label_weight, fold)
        if key not in self._pooled:
            labels = labels_of(self.train(fold), settings.consensus)
            self._pooled[key] = pool_workers(labels, self.placement(settings, fold))
        return self._pooled[key]

    def refined(
        self, settings: ResolvedSettings, clusters: Literal["bound"] | int, fold: int, exchange: bool = False
    ) -> tuple[Ints, Floats]:
        """Clusters of the items that the rest of a fold has seen, (n,), and the pools' rates between them, (P, K, K).

        Where the bound says how many clusters there are, they are the mixture's and the rates are the model's. With
        `exchange` clusters are exchanged as long as that makes the labels likelier.
        """
        self.check()
        pooled = self.pooled(settings, fold)
        labels, places = pooled.labels, pooled.placement.places
        if clusters == "bound":
            partition = partition_by_bound(pooled.placement.mean, pooled.placement.variance, settings, self.check)
            return partition, pooled.expect(partition)
        key = (settings.dimensions, settings.label_weight, fold)
        if key not in self._chains:
            self._chains[key] = chain_of_partitions(labels, places, settings.seed, pooled.expect, self.check)
        chain = self._chains[key]
        if clusters not in chain:
            refined = best_partition(labels, places, clusters, settings.seed, pooled.expect, self.check)
            chain[clusters] = refined.partition
        partition = chain[clusters]
        if exchange and exchanges_can_help(labels, clusters):
            best = (*key, clusters)
            if best not in self._exchanged:
                self._exchanged[best] = exchanged(
                    labels, partition, settings.seed, pooled.expect, self.check, FEW_ROUNDS
                )
            partition = self._exchanged[best]
        return partition, worker_rates(labels, partition, pooled.expect(partition))

    def temperature(self, settings: ResolvedSettings, clusters: int) -> float:
        """How much of independent decisions the labels are: that with which probable clusters predict best."""
        sums = np.zeros(len(TEMPERATURES))
        for fold in range(self.folds):
            pooled = self.pooled(settings, fold)
            partition, rates = self.refined(settings, clusters, fold, exchange=True)
            test = subsample(self.tests[fold])
            for place, memberships in enumerate(self.probable(pooled, partition, rates, TEMPERATURES)):
                sums[place] += score_probable(test, memberships, rates, pooled.pool_of).loglik.sum()
        return float(TEMPERATURES[int(np.argmax(sums))])

    def base_scores(self) -> tuple[HeldOutScores, HeldOutScores]:
        """How the folds are predicted by each worker's share of "same" alone, and by that of the one-group worker."""
        random, one_group = [], []
        for fold in range(self.folds):
            train = self.train(fold)
            cluster = np.full(self.table.n_items, -1, dtype=np.int64)
            cluster[labels_of(train, consensus=True).shown] = 0
            random.append(score_table(self.tests[fold], cluster, base_rates(train)[:, None, None]))
            one_group.append(score_table(self.tests[fold], cluster, np.full((1, 1, 1), ONE_GROUP_RATE)))
        return concatenated(random), concatenated(one_group)


def place_items(
    table: ResponseTable,
    settings: ResolvedSettings,
    number: int,
    most: int,
    began: float,
    *,
    progress: Callable[[Snapshot], None] | None,
    parallel: Parallel,
) -> Placement:
    """Fit layer by layer, from the spectral start: fit `number` of at most so many, as a task for `Parallel.each`."""
    reporter = Reporter(number, most, began, progress, None, told_phase=HELD_OUT, parallel=parallel)
    labels = labels_of(table, settings.consensus)
    origin = start_positions(labels, settings.dimensions, 0, settings.seed)
    posterior = VariationalPosterior.at_positions(labels, settings, origin.copy(), parallel)
    run_layers(posterior, reporter)
    return placement_of(posterior, table.n_items, origin)


def exchanges_can_help(labels: PairLabelData, clusters: Literal["bound"] | int) -> bool:
    """Whether exchanging clusters may lead to better ones of that number."""
    return clusters not in ("bound", 1) and exchanges_pay(labels)


def subsample(table: ResponseTable) -> ResponseTable:
    """At most `ENOUGH_RESPONSES` of the responses, evenly over the table."""
    step = max(1, table.n_responses // ENOUGH_RESPONSES)
    return table.take(np.arange(0, table.n_responses, step))


def partition_by_bound(mean: Floats, variance: Floats, settings: ResolvedSettings, check: Callable[[], None]) -> Ints:
    """Put positions into as many clusters as the mixture's bound asks for; (n,)."""
    mixture, _ = grow(mean, variance, replace(settings, n_clusters="bound"), lambda _mixture, _bound: None, check)
    found = np.argmax(mixture.memberships, axis=1)
    return np.asarray(np.unique(found, return_inverse=True)[1], dtype=np.int64)
