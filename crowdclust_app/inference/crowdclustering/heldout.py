"""What held-out responses say: how well a fit predicts, and which settings predict best (crowdclustering.md, 8 and 9).

Whole responses are held out, a fold at a time. What predicts them is fitted layer by layer to the others alone.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.domain.responses import ResponseTable
from crowdclust_app.inference.crowdclustering.arrays import Floats, Ints
from crowdclust_app.inference.crowdclustering.blocks import Beliefs
from crowdclust_app.inference.crowdclustering.data import labels_of
from crowdclust_app.inference.crowdclustering.growth import grow
from crowdclust_app.inference.crowdclustering.heldout_workers import ONE_GROUP_RATE, WorkerScores, score_workers
from crowdclust_app.inference.crowdclustering.partition import partition_positions
from crowdclust_app.inference.crowdclustering.prediction import (
    Placement,
    Scores,
    base_rates,
    mean_and_error,
    placement_of,
    same_probabilities,
    score_table,
    together,
)
from crowdclust_app.inference.crowdclustering.schedule import HELD_OUT, Reporter, Snapshot, run_layers
from crowdclust_app.inference.crowdclustering.settings import Settings
from crowdclust_app.inference.crowdclustering.starts import start_positions

# Numbers of clusters that are tried, up to the first after which so many in a row are no better than the best.
LADDER = (*range(1, 13), 14, 16, 18, 20, 24, 28, 32, 40, 50)
PATIENCE = 4
# The same while label weights and dimensions are compared: there the best of them is enough.
COARSE = (2, 3, 4, 6, 8, 10, 12, 16, 20)
# What a cluster has to gain, as a share of what the best number of clusters gains over one cluster.
PRICE = 0.01
# A difference of so many standard errors is believed.
SURE = 2.0
# What is preferred for other reasons, a lower label weight or fewer clusters, is as good if it lacks less than this
# part of a standard error.
EQUAL = 0.5
# Label weights and dimensions, in the order in which they are tried, as long as each is better than those before.
WEIGHTS = (1.0, 0.5, 0.25, 0.1)
MORE_DIMENSIONS = (4, 6)
FEWER_DIMENSIONS = (2,)
# Folds on which they are compared.
TRIAL_FOLDS = 2
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
        Predictive log-likelihood a pair label in nats, and its standard error over responses.
    accuracy, accuracy_se
        Share of pair labels that the likelier answer meets.
    base_loglik
        The same log-likelihood when all that is known of a worker is the share of "same".
    gain, gain_se
        `loglik - base_loglik`, and the standard error of that difference, response by response.
    workers
        The same by worker, beside two workers who do not look at the pictures.
    dimensions, label_weight, clusters
        What was chosen or given; `clusters` is 0 where the bound is to say.
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
    tried: tuple[tuple[str, float, float], ...]
    by_clusters: tuple[tuple[int, float, float, float], ...] = ()


def deal_folds(table: ResponseTable, folds: int, seed: int) -> Ints:
    """Fold of each response, -1 for one without pair labels; shape (R,).

    A worker's responses are spread over the folds as evenly as can be, so that the rest says something about that
    worker. Repeats of one HIT by one worker stay together: a repeat would give the answer away.
    """
    useful = np.flatnonzero(table.sizes >= 2)
    key = table.worker_of_response[useful] * (int(table.hit_of_response.max(initial=0)) + 1)
    _, first, unit = np.unique(key + table.hit_of_response[useful], return_index=True, return_inverse=True)
    worker = table.worker_of_response[useful[first]]
    order = np.random.default_rng([seed, 1]).permutation(len(first))
    order = order[np.argsort(worker[order], kind="stable")]
    dealt = np.empty(len(first), dtype=np.int64)
    dealt[order] = np.arange(len(first)) % folds
    fold = np.full(table.n_responses, -1, dtype=np.int64)
    fold[useful] = dealt[unit]
    return fold


def useful_folds(table: ResponseTable, folds: int) -> int:
    """How many of so many folds to use until `ENOUGH_LABELS` pair labels are held out."""
    return min(folds, -(-ENOUGH_LABELS * folds // max(table.n_pair_labels, 1)))


def can_hold_out(table: ResponseTable) -> bool:
    """Whether there are two units to hold out, the rest with labels each time."""
    return int(deal_folds(table, 2, 0).max(initial=-1)) == 1


@dataclass(slots=True)
class Trials:
    """Fits to all folds but one, made when they are asked for, and what they predict.

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
    progress, cancel, began
        As in a fit.
    """

    table: ResponseTable
    settings: Settings
    folds: int
    planned: int
    progress: Callable[[Snapshot], None] | None = None
    cancel: CancelToken | None = None
    began: float = field(default_factory=time.perf_counter)
    done: int = 0
    fold_of: Ints = field(init=False)
    tests: list[ResponseTable] = field(init=False)
    _placed: dict[tuple[int, float, int], Placement] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.fold_of = deal_folds(self.table, self.folds, self.settings.seed)
        self.folds = useful_folds(self.table, int(self.fold_of.max()) + 1)
        self.tests = [self.table.take(self.fold_of == fold) for fold in range(self.folds)]

    def check(self) -> None:
        """Raise `Cancelled` when nobody wants the result any more."""
        if self.cancel is not None:
            self.cancel.check()

    def train(self, fold: int) -> ResponseTable:
        """All responses but those of a fold."""
        return self.table.take((self.fold_of >= 0) & (self.fold_of != fold))

    def placement(self, settings: Settings, fold: int) -> Placement:
        """The fit to all but one fold, layer by layer, from the spectral start."""
        key = (settings.dimensions, settings.label_weight, fold)
        if key not in self._placed:
            self.done += 1
            reporter = Reporter(
                self.done, max(self.planned, self.done), self.began, self.progress, self.cancel, all_of_it=HELD_OUT
            )
            labels = labels_of(self.train(fold), settings.consensus)
            positions = start_positions(labels, settings.dimensions, 0, settings.seed)
            beliefs = Beliefs.at_positions(labels, settings, positions)
            run_layers(beliefs, reporter)
            self._placed[key] = placement_of(beliefs, self.table.n_items)
        return self._placed[key]

    def largest(self, settings: Settings, folds: int) -> int:
        """The most clusters that there can be in each of these folds."""
        return min(len(self.placement(settings, fold).shown) for fold in range(folds))

    def scores(self, settings: Settings, clusters: Literal["bound"] | int, folds: int) -> Scores:
        """How the first so many folds are predicted with that many clusters."""
        found = []
        for fold in range(folds):
            self.check()
            placement = self.placement(settings, fold)
            partition = partition_of(placement.mean, placement.variance, clusters, settings, self.check)
            probabilities = same_probabilities(placement, partition)
            found.append(score_table(self.tests[fold], placement.spread_out(partition), probabilities))
        return together(found)

    def base_scores(self) -> tuple[Scores, Scores]:
        """How the folds are predicted by each worker's share of "same" alone, and by that of the one-group worker."""
        random, one_group = [], []
        for fold in range(self.folds):
            train = self.train(fold)
            cluster = np.full(self.table.n_items, -1, dtype=np.int64)
            cluster[labels_of(train, consensus=True).shown] = 0
            random.append(score_table(self.tests[fold], cluster, base_rates(train)[:, None, None]))
            one_group.append(score_table(self.tests[fold], cluster, np.full((1, 1, 1), ONE_GROUP_RATE)))
        return together(random), together(one_group)

    def best_of(self, settings: Settings) -> Scores:
        """The scores of the best number of clusters, on the trial folds."""
        folds = min(TRIAL_FOLDS, self.folds)
        if settings.clusters == "bound":
            return self.scores(settings, "bound", folds)
        most = self.largest(settings, folds)
        if isinstance(settings.clusters, int):
            return self.scores(settings, min(settings.clusters, most), folds)
        tried = [self.scores(settings, k, folds) for k in COARSE if k <= most]
        return max(tried or [self.scores(settings, 1, folds)], key=lambda scores: scores.per_label)


def partition_of(
    mean: Floats,
    variance: Floats,
    clusters: Literal["bound", "heldout"] | int,
    settings: Settings,
    check: Callable[[], None],
) -> Ints:
    """Put positions into so many clusters, or into as many as the mixture's bound asks for; (n,)."""
    if isinstance(clusters, int):
        return partition_positions(mean, clusters, settings.seed)
    mixture, _ = grow(mean, variance, replace(settings, clusters="bound"), lambda _mixture, _bound: None, check)
    found = np.argmax(mixture.memberships, axis=1)
    return np.asarray(np.unique(found, return_inverse=True)[1], dtype=np.int64)


def enough(tried: Sequence[tuple[int, Scores]]) -> int:
    """The number of clusters that is worth its price.

    Every cluster costs a share `PRICE` of what the best number of clusters gains over one cluster. More clusters than
    there are still predict a little better when they cut along the positions' spread inside a cluster; they gain less
    than that. Fewer clusters are as good where, prices paid, they lack less than `EQUAL` standard errors of the
    difference. Where the gain is not twice its standard error, one cluster is enough.

    Parameters
    ----------
    tried
        Numbers of clusters from 1 on, and their scores on the same responses.

    Returns
    -------
    int
        Its place in `tried`.
    """
    best = max(tried, key=lambda entry: entry[1].per_label)[1]
    worth, error = mean_and_error(best.loglik - tried[0][1].loglik, best.pairs)
    if not worth > SURE * error:
        return 0
    gains = [scores.per_label - PRICE * worth * clusters for clusters, scores in tried]
    top = int(np.argmax(gains))
    for place in range(top):
        error = mean_and_error(tried[top][1].loglik - tried[place][1].loglik, best.pairs)[1]
        if gains[top] - gains[place] < EQUAL * error:
            return place
    return top


def choose_clusters(trials: Trials, settings: Settings) -> tuple[list[tuple[int, Scores]], int]:
    """Score numbers of clusters on all folds until more are no better; return them and the choice's place."""
    tried: list[tuple[int, Scores]] = []
    best, since = -np.inf, 0
    most = trials.largest(settings, trials.folds)
    for clusters in LADDER:
        if clusters > most or since >= PATIENCE:
            break
        tried.append((clusters, trials.scores(settings, clusters, trials.folds)))
        reached = tried[-1][1].per_label
        since = 0 if reached > best else since + 1
        best = max(best, reached)
    return tried, enough(tried)


def with_errors(tried: Sequence[tuple[int, Scores]]) -> tuple[tuple[int, float, float, float], ...]:
    """Each number of clusters with its score, that score's standard error, and the error beside the best number's."""
    best = max(tried, key=lambda entry: entry[1].per_label)[1]
    found = []
    for clusters, scores in tried:
        score, error = mean_and_error(scores.loglik, scores.pairs)
        found.append((clusters, score, error, mean_and_error(best.loglik - scores.loglik, best.pairs)[1]))
    return tuple(found)


def planned_fits(folds: int, any_weight: bool, any_dimensions: bool) -> int:
    """The most fits that `choose` can need."""
    trial = min(TRIAL_FOLDS, folds)
    settings = 1 + any_weight * (len(WEIGHTS) - 1) + any_dimensions * (len(MORE_DIMENSIONS) - 1)
    return folds + trial * (settings - 1)


def choose(trials: Trials, any_weight: bool, any_dimensions: bool) -> HeldOut:
    """Choose what is to be chosen and say how well that predicts.

    Parameters
    ----------
    trials
        With the settings to begin from; their `clusters` may be "heldout".
    any_weight, any_dimensions
        Whether label weight and dimensions are to be chosen.
    """
    settings = trials.settings
    tried: list[tuple[str, float, float]] = []

    def climb(what: str, candidates: Sequence[Settings], values: Sequence[float], give: float) -> Settings:
        """The last candidate before one that lacks more than `give` standard errors of the best so far."""
        chosen, best = candidates[0], trials.best_of(candidates[0])
        if not any(entry[:2] == (what, values[0]) for entry in tried):
            tried.append((what, values[0], best.per_label))
        for candidate, value in zip(candidates[1:], values[1:], strict=True):
            reached = trials.best_of(candidate)
            tried.append((what, value, reached.per_label))
            lacking, error = mean_and_error(best.loglik - reached.loglik, best.pairs)
            if not lacking < give * error:
                break
            chosen = candidate
            if lacking < 0.0:
                best = reached
        return chosen

    if any_weight:
        candidates = [replace(settings, label_weight=weight) for weight in WEIGHTS]
        settings = climb("label weight", candidates, WEIGHTS, EQUAL)
    if any_dimensions:
        here = settings
        for numbers in (MORE_DIMENSIONS, (MORE_DIMENSIONS[0], *FEWER_DIMENSIONS)):
            if settings == here:
                candidates = [with_dimensions(here, number) for number in numbers]
                settings = climb("dimensions", candidates, numbers, 0.0)
    by_clusters: tuple[tuple[int, float, float, float], ...] = ()
    if settings.clusters == "heldout":
        numbers_tried, place = choose_clusters(trials, settings)
        tried += [("clusters", float(number), scores.per_label) for number, scores in numbers_tried]
        clusters, scores = numbers_tried[place]
        by_clusters = with_errors(numbers_tried)
    else:
        wanted = settings.clusters
        clusters = wanted if isinstance(wanted, int) else 0
        scores = trials.scores(settings, wanted, trials.folds)
    return replace(figures(trials, settings, clusters, scores, tuple(tried)), by_clusters=by_clusters)


def with_dimensions(settings: Settings, dimensions: int) -> Settings:
    """The same settings in another number of dimensions, with the degrees of freedom as far above it."""
    more = dimensions - settings.dimensions
    return replace(settings, dimensions=dimensions, degrees_of_freedom=settings.degrees_of_freedom + more)


def settled(settings: Settings, heldout: HeldOut | None) -> Settings:
    """The settings with what was chosen; where nothing could be held out the bound says how many clusters."""
    if heldout is None:
        return replace(settings, clusters="bound") if settings.clusters == "heldout" else settings
    chosen = replace(with_dimensions(settings, heldout.dimensions), label_weight=heldout.label_weight)
    return replace(chosen, clusters=heldout.clusters) if settings.clusters == "heldout" else chosen


def figures(
    trials: Trials, settings: Settings, clusters: int, scores: Scores, tried: tuple[tuple[str, float, float], ...]
) -> HeldOut:
    """Put what the folds say into figures."""
    base, one_group = trials.base_scores()
    loglik, loglik_se = mean_and_error(scores.loglik, scores.pairs)
    accuracy, accuracy_se = mean_and_error(scores.right, scores.pairs)
    gain, gain_se = mean_and_error(scores.loglik - base.loglik, scores.pairs)
    return HeldOut(
        folds=trials.folds,
        responses=int((scores.pairs > 0).sum()),
        pairs=int(scores.pairs.sum()),
        loglik=loglik,
        loglik_se=loglik_se,
        accuracy=accuracy,
        accuracy_se=accuracy_se,
        base_loglik=base.per_label,
        gain=gain,
        gain_se=gain_se,
        workers=score_workers(trials.tests, scores, base, one_group),
        dimensions=settings.dimensions,
        label_weight=settings.label_weight,
        clusters=clusters,
        tried=tried,
    )
