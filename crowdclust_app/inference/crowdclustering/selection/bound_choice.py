"""Label weight and dimensions by cross-validation, where the bound says how many clusters there are.

Whole responses are held out, a fold at a time. The others are fitted layer by layer, the bound puts the positions into
clusters, and the held-out pair labels are scored by what the model expects of each worker between them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.domain.response_table import ResponseTable
from crowdclust_app.inference.crowdclustering.kernels.arrays import Floats, Ints
from crowdclust_app.inference.crowdclustering.model.blocks import VariationalPosterior
from crowdclust_app.inference.crowdclustering.model.component_search import grow
from crowdclust_app.inference.crowdclustering.model.data import PairLabelData, labels_of
from crowdclust_app.inference.crowdclustering.model.initialisation import start_positions
from crowdclust_app.inference.crowdclustering.model.parallel import Parallel
from crowdclust_app.inference.crowdclustering.model.schedule import HELD_OUT, Reporter, Snapshot, run_layers
from crowdclust_app.inference.crowdclustering.model.settings import USUAL_DIMENSIONS, ResolvedSettings, with_dimensions
from crowdclust_app.inference.crowdclustering.partitions.answers import item_sets
from crowdclust_app.inference.crowdclustering.selection.heldout import PAIR_LABEL, HeldOut, heldout_figures
from crowdclust_app.inference.crowdclustering.selection.heldout_workers import ONE_GROUP_RATE, score_workers
from crowdclust_app.inference.crowdclustering.selection.prediction import (
    HeldOutScores,
    Placement,
    base_rates,
    concatenated,
    mean_and_error,
    placement_of,
    same_probabilities,
    score_table,
)

# A lower label weight is as good if it lacks less than so many standard errors.
ERRORS_OF_SETTINGS = 0.5
# Label weights and dimensions, in the order in which they are tried, as long as each is better than those before.
WEIGHTS = (1.0, 0.5, 0.25, 0.1)
MORE_DIMENSIONS, FEWER_DIMENSIONS = (USUAL_DIMENSIONS, 6), (USUAL_DIMENSIONS, 2)
# Folds on which they are compared.
TRIAL_FOLDS = 2
# With so many held-out pair labels another fold says nothing new.
ENOUGH_LABELS = 40_000
# Pair labels that the model's expectation counts for with all items in one cluster: against those of all workers, and
# against a worker's own.
COMMON_PAIRS, OWN_PAIRS, LEAST_RATE = 20.0, 50.0, 1e-4


def deal_responses(table: ResponseTable, folds: int, seed: int) -> Ints:
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


def useful_folds(table: ResponseTable, folds: int) -> int:
    """How many of so many folds to use until `ENOUGH_LABELS` pair labels are held out."""
    return min(folds, -(-ENOUGH_LABELS * folds // max(table.n_pair_labels, 1)))


@dataclass(slots=True)
class BoundValidation:
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
    _scored: dict[tuple[int, float, int, bool], HeldOutScores] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.fold_of = deal_responses(self.table, self.folds, self.settings.seed)
        self.folds = useful_folds(self.table, int(self.fold_of.max()) + 1)
        self.tests = [self.table.take(self.fold_of == fold) for fold in range(self.folds)]

    def check(self) -> None:
        """Raise `Cancelled` when the fit was cancelled."""
        if self.cancel is not None:
            self.cancel.check()

    def train(self, fold: int) -> ResponseTable:
        """All responses but those of a fold."""
        return self.table.take((self.fold_of >= 0) & (self.fold_of != fold))

    def place(self, settings: ResolvedSettings, folds: Sequence[int]) -> None:
        """Make the fits to all but each of these folds that are missing; at once where there are processes."""
        keys = [(settings.dimensions, settings.label_weight, fold) for fold in folds]
        missing = [key for key in keys if key not in self._placed]
        most = max(self.planned, self.done + len(missing))
        tasks = [
            (self.train(fold), settings, self.done + number, most, self.began)
            for number, (_, _, fold) in enumerate(missing, start=1)
        ]
        self.done += len(missing)
        placements = self.parallel.each(place_items, tasks, self.progress, self.cancel)
        self._placed |= dict(zip(missing, placements, strict=True))

    def scores(self, settings: ResolvedSettings, folds: Sequence[int], one_cluster: bool = False) -> HeldOutScores:
        """How these folds are predicted with the bound's clusters, or with all items in one."""
        self.place(settings, folds)
        return concatenated([self._score(settings, fold, one_cluster) for fold in folds])

    def _score(self, settings: ResolvedSettings, fold: int, one_cluster: bool) -> HeldOutScores:
        key = (settings.dimensions, settings.label_weight, fold, one_cluster)
        if key not in self._scored:
            self.check()
            placement = self._placed[key[:3]]
            if one_cluster:
                partition = np.zeros(len(placement.shown), dtype=np.int64)
                labels = labels_of(self.train(fold), settings.consensus)
                rates = one_cluster_rates(labels, same_probabilities(placement, partition)[:, 0, 0])[:, None, None]
            else:
                partition = partition_by_bound(placement.mean, placement.variance, settings, self.check)
                rates = same_probabilities(placement, partition)
            self._scored[key] = score_table(self.tests[fold], placement.spread_out(partition), rates)
        return self._scored[key]

    def base_scores(self) -> tuple[HeldOutScores, HeldOutScores]:
        """How the folds are predicted by each worker's share of "same" alone, and by that of the one-group worker."""
        random, one_group = [], []
        for fold, test in enumerate(self.tests):
            train = self.train(fold)
            cluster = np.full(self.table.n_items, -1, dtype=np.int64)
            cluster[labels_of(train, consensus=True).shown] = 0
            random.append(score_table(test, cluster, base_rates(train)[:, None, None]))
            one_group.append(score_table(test, cluster, np.full((1, 1, 1), ONE_GROUP_RATE)))
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
    positions = start_positions(labels, settings.dimensions, 0, settings.seed)
    posterior = VariationalPosterior.at_positions(labels, settings, positions, parallel)
    run_layers(posterior, reporter)
    return placement_of(posterior, table.n_items)


def partition_by_bound(mean: Floats, variance: Floats, settings: ResolvedSettings, check: Callable[[], None]) -> Ints:
    """Put positions into as many clusters as the mixture's bound asks for; (n,)."""
    mixture, _ = grow(mean, variance, replace(settings, n_clusters="bound"), lambda _mixture, _bound: None, check)
    found = np.argmax(mixture.memberships, axis=1)
    return np.asarray(np.unique(found, return_inverse=True)[1], dtype=np.int64)


def one_cluster_rates(labels: PairLabelData, expected: Floats) -> Floats:
    """How often each worker puts items together, all taken for one cluster; (J,).

    Parameters
    ----------
    expected : ndarray of shape (J,)
        What the model expects: its odds are scaled to meet the labels of all workers, then drawn to the worker's own.
    """
    pairs = np.bincount(labels.workers, labels.sizes * (labels.sizes - 1) / 2.0, minlength=labels.n_workers)
    same = labels.half_labels + pairs / 2.0
    expected = np.clip(expected, LEAST_RATE, 1.0 - LEAST_RATE)
    mean = float(pairs @ expected / pairs.sum())
    seen = (same.sum() + COMMON_PAIRS * mean) / (pairs.sum() + COMMON_PAIRS)
    odds = seen / (1.0 - seen) * (1.0 - mean) / mean * expected / (1.0 - expected)
    rates = (same + OWN_PAIRS * odds / (1.0 + odds)) / (pairs + OWN_PAIRS)
    return np.asarray(np.clip(rates, LEAST_RATE, 1.0 - LEAST_RATE))


@dataclass(frozen=True, slots=True)
class HeldOutView:
    """The held-out responses by which something may be chosen: of some folds, and of which half of them (None: all)."""

    folds: tuple[int, ...]
    half: int | None = None

    @property
    def trial(self) -> tuple[int, ...]:
        """The folds on which label weights and dimensions are compared."""
        return tuple(fold for fold in self.folds if fold < TRIAL_FOLDS)


@dataclass(slots=True)
class SettingsChoice:
    """Chooses label weight and dimensions by what a view shows; `tried` is as in `HeldOut`."""

    validation: BoundValidation
    view: HeldOutView
    settings: ResolvedSettings = field(init=False)
    tried: list[tuple[str, float, float]] = field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        self.settings = self.validation.settings

    def scores(self, settings: ResolvedSettings) -> HeldOutScores:
        """The scores of the responses in view, on the trial folds."""
        folds = self.view.trial
        scores = self.validation.scores(settings, folds)
        if self.view.half is None:
            return scores
        return masked(scores, halves(self.validation, folds) == self.view.half)

    def hill_climb(
        self, what: str, candidates: Sequence[ResolvedSettings], values: Sequence[float], tolerated: float
    ) -> None:
        """Choose the last candidate before one that is more than `tolerated` standard errors behind the best so far."""
        chosen, best = candidates[0], self.scores(candidates[0])
        if not any(entry[:2] == (what, values[0]) for entry in self.tried):
            self.tried.append((what, values[0], best.mean))
        for candidate, value in zip(candidates[1:], values[1:], strict=True):
            reached = self.scores(candidate)
            self.tried.append((what, value, reached.mean))
            lacking, error = mean_and_error(best.loglik - reached.loglik, best.counts)
            if not lacking < tolerated * error:
                break
            chosen = candidate
            if lacking < 0.0:
                best = reached
        self.settings = chosen

    def choose(self, any_weight: bool, any_dimensions: bool) -> None:
        """Choose label weight and dimensions, where they are to be chosen and anything was predicted."""
        # where no held-out label can be predicted all scores are equal and would choose by chance
        if not (any_weight or any_dimensions) or not self.scores(self.settings).counts.any():
            return
        if any_weight:
            candidates = [replace(self.settings, label_weight=weight) for weight in WEIGHTS]
            self.hill_climb("label weight", candidates, WEIGHTS, ERRORS_OF_SETTINGS)
        if any_dimensions:
            # more dimensions first; fewer only where more were no better
            here = self.settings
            for numbers in (MORE_DIMENSIONS, FEWER_DIMENSIONS):
                if self.settings == here:
                    self.hill_climb("dimensions", [with_dimensions(here, number) for number in numbers], numbers, 0.0)


def masked(scores: HeldOutScores, seen: NDArray[np.bool_]) -> HeldOutScores:
    """The scores of some responses; the others count for nothing."""
    return HeldOutScores(*(np.where(seen, values, 0.0) for values in (scores.loglik, scores.counts, scores.right)))


def halves(validation: BoundValidation, folds: Sequence[int]) -> Ints:
    """Half of each response held out in these folds, 0 or 1: all responses about the same items are in the same."""
    return np.concatenate([item_sets(validation.tests[fold]) for fold in folds]) % 2


def planned_fits(folds: int, any_weight: bool, any_dimensions: bool) -> int:
    """The most fits that `choose_settings` can need."""
    trial = min(TRIAL_FOLDS, folds)
    settings = 1 + any_weight * (len(WEIGHTS) - 1) + any_dimensions * (len(MORE_DIMENSIONS) - 1)
    return folds + trial * (settings - 1)


def views(validation: BoundValidation) -> list[tuple[HeldOutView, HeldOutView]]:
    """What is scored, and by what the settings for it are chosen: another fold, or with one fold its other half."""
    folds = tuple(range(validation.folds))
    if len(folds) > 1:
        return [(HeldOutView((fold,)), HeldOutView(tuple(other for other in folds if other != fold))) for fold in folds]
    return [(HeldOutView(folds, half), HeldOutView(folds, 1 - half)) for half in (0, 1)]


def chosen_by(validation: BoundValidation, view: HeldOutView, any_weight: bool, any_dimensions: bool) -> SettingsChoice:
    """Choose what is to be chosen by the responses of a view."""
    choice = SettingsChoice(validation, view)
    choice.choose(any_weight, any_dimensions)
    return choice


def choose_settings(validation: BoundValidation, any_weight: bool, any_dimensions: bool) -> HeldOut:
    """Choose what is to be chosen and say how well that predicts.

    The choice is by all that is held out. How well it predicts is told by nested cross-validation: each fold is scored
    with what the other folds choose.

    Parameters
    ----------
    validation
        With the settings to begin from.
    any_weight, any_dimensions
        Whether label weight and dimensions are to be chosen.
    """
    everything = chosen_by(validation, HeldOutView(tuple(range(validation.folds))), any_weight, any_dimensions)
    found: list[list[HeldOutScores]] = [[], []]
    for scored, choosing in views(validation):
        settings = chosen_by(validation, choosing, any_weight, any_dimensions).settings
        for kept, one_cluster in zip(found, (False, True), strict=True):
            scores = validation.scores(settings, scored.folds, one_cluster)
            seen = halves(validation, scored.folds)
            kept.append(scores if scored.half is None else masked(scores, seen == scored.half))
    # each half has nothing where the other has its scores
    put_together = concatenated if validation.folds > 1 else add
    return _figures(validation, everything, *(put_together(scores) for scores in found))


def add(scores: list[HeldOutScores]) -> HeldOutScores:
    """Sum up two scores of the same responses."""
    first, second = scores
    return HeldOutScores(first.loglik + second.loglik, first.counts + second.counts, first.right + second.right)


def _figures(
    validation: BoundValidation, choice: SettingsChoice, scores: HeldOutScores, one_cluster: HeldOutScores
) -> HeldOut:
    """Put what the folds say into figures."""
    rates, one_group = validation.base_scores()
    base = max(rates, one_cluster, key=lambda yardstick: yardstick.mean)
    who = np.concatenate([test.worker_of_response for test in validation.tests])
    return HeldOut(
        unit=PAIR_LABEL,
        folds=validation.folds,
        workers=score_workers(who, validation.table.n_workers, scores, rates, one_group),
        dimensions=choice.settings.dimensions,
        label_weight=choice.settings.label_weight,
        clusters=0,
        tried=tuple(choice.tried),
        **heldout_figures(scores, base),
    )
