"""Which settings predict held-out responses best, and how well they do (docs/model.md, sections 8 and 9)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from crowdclust_app.inference.crowdclustering.kernels.arrays import Ints
from crowdclust_app.inference.crowdclustering.model.settings import USUAL_DIMENSIONS, ResolvedSettings
from crowdclust_app.inference.crowdclustering.selection.heldout import CrossValidation, HeldOut, item_sets
from crowdclust_app.inference.crowdclustering.selection.heldout_workers import score_workers
from crowdclust_app.inference.crowdclustering.selection.prediction import HeldOutScores, concatenated, mean_and_error

# Numbers of clusters that are tried, until so many in a row are no better than the best. They lie closer where one
# cluster more or less matters more.
CLUSTER_NUMBERS = (*range(1, 13), 14, 16, 18, 20, 24, 28, 32, 40, 50)
PATIENCE = 4
# Around the number that the rule picks, partitions of so many numbers above it, and of one below, are improved by
# exchanging clusters and scored again.
NEIGHBOURS_ABOVE = 2
# The same while label weights and dimensions are compared: only the best score of each counts there.
COARSE_NUMBERS = (2, 3, 4, 6, 8, 10, 12, 16, 20)
# What a cluster has to gain, as a share of what the best number of clusters gains over one cluster.
COST_PER_CLUSTER = 0.01
# Clusters have to gain so many standard errors over one cluster.
ERRORS_OF_GAIN = 2.0
# What is preferred for other reasons is as good if it lacks less than so many standard errors: a lower label weight;
# and fewer clusters, since one too many by chance of the folds is worse than one too few.
ERRORS_OF_SETTINGS = 0.5
ERRORS_OF_CLUSTERS = 1.0
# Label weights and dimensions, in the order in which they are tried, as long as each is better than those before.
WEIGHTS = (1.0, 0.5, 0.25, 0.1)
MORE_DIMENSIONS = (USUAL_DIMENSIONS, 6)
FEWER_DIMENSIONS = (2,)
# Folds on which they are compared.
TRIAL_FOLDS = 2
# Below this part of the log-loss of one cluster, what clusters gain is nothing, however sure.
LEAST_RELATIVE_GAIN = 0.01

NumbersTried = tuple[tuple[int, float, float, float], ...]


def one_standard_error_rule(tried: Sequence[tuple[int, HeldOutScores]]) -> int:
    """The number of clusters by the one-standard-error rule, after each cluster has paid its cost.

    Every cluster costs a share `COST_PER_CLUSTER` of what the best number of clusters gains over one cluster. More
    clusters than there are still predict a little better when they cut along the positions' spread inside a cluster;
    they gain less than that. Fewer clusters are as good where, costs paid, they lack less than `ERRORS_OF_CLUSTERS`
    standard errors of the difference. Where the gain is not twice its standard error, or less than
    `LEAST_RELATIVE_GAIN` of one cluster's log-loss, there is one cluster.

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
    if not worth > max(ERRORS_OF_GAIN * error, -LEAST_RELATIVE_GAIN * tried[0][1].per_label):
        return 0
    gains = [scores.per_label - COST_PER_CLUSTER * worth * clusters for clusters, scores in tried]
    top = int(np.argmax(gains))
    # the error is that of the paired difference: responses that are hard for all numbers cancel out
    for place in range(top):
        error = mean_and_error(tried[top][1].loglik - tried[place][1].loglik, best.pairs)[1]
        if gains[top] - gains[place] < ERRORS_OF_CLUSTERS * error:
            return place
    return top


@dataclass(frozen=True, slots=True)
class HeldOutView:
    """The held-out responses by which something may be chosen.

    Parameters
    ----------
    folds
        Their folds.
    half
        Which half of each fold, 0 or 1; None for both.
    """

    folds: tuple[int, ...]
    half: int | None = None

    @property
    def trial(self) -> tuple[int, ...]:
        """The folds on which label weights and dimensions are compared."""
        return tuple(fold for fold in self.folds if fold < TRIAL_FOLDS)


@dataclass(slots=True)
class SettingsChoice:
    """Chooses label weight, dimensions and clusters by what a view shows.

    Parameters
    ----------
    validation
        With the settings to begin from; their `n_clusters` may be "heldout".
    view
        The held-out responses that count.
    refine
        Whether the search is refined around the number of clusters that the rule picks.
    settings
        What is chosen so far.
    clusters
        The number chosen, or "bound".
    tried, by_clusters
        As in `HeldOut`.
    """

    validation: CrossValidation
    view: HeldOutView
    refine: bool
    settings: ResolvedSettings = field(init=False)
    clusters: Literal["bound"] | int = field(init=False, default="bound")
    tried: list[tuple[str, float, float]] = field(init=False, default_factory=list)
    by_clusters: NumbersTried = field(init=False, default=())

    def __post_init__(self) -> None:
        self.settings = self.validation.settings

    def scores(
        self, settings: ResolvedSettings, clusters: Literal["bound"] | int, folds: Sequence[int], exchange: bool = False
    ) -> HeldOutScores:
        """The scores of the responses in view."""
        scores = self.validation.scores(settings, clusters, folds, exchange)
        if self.view.half is None:
            return scores
        return masked(scores, halves(self.validation, folds) == self.view.half)

    def best_of(self, settings: ResolvedSettings) -> HeldOutScores:
        """The scores of the best number of clusters, on the trial folds."""
        folds = self.view.trial
        wanted = settings.n_clusters
        if wanted == "bound":
            return self.scores(settings, "bound", folds)
        most = self.validation.largest(settings, folds)
        if isinstance(wanted, int):
            return self.scores(settings, min(wanted, most), folds)
        tried = [self.scores(settings, k, folds) for k in COARSE_NUMBERS if k <= most]
        return max(tried or [self.scores(settings, 1, folds)], key=lambda scores: scores.per_label)

    def hill_climb(
        self, what: str, candidates: Sequence[ResolvedSettings], values: Sequence[float], tolerated: float
    ) -> None:
        """Choose the last candidate before one that is more than `tolerated` standard errors behind the best so far."""
        chosen, best = candidates[0], self.best_of(candidates[0])
        if not any(entry[:2] == (what, values[0]) for entry in self.tried):
            self.tried.append((what, values[0], best.per_label))
        for candidate, value in zip(candidates[1:], values[1:], strict=True):
            reached = self.best_of(candidate)
            self.tried.append((what, value, reached.per_label))
            lacking, error = mean_and_error(best.loglik - reached.loglik, best.pairs)
            if not lacking < tolerated * error:
                break
            chosen = candidate
            if lacking < 0.0:
                best = reached
        self.settings = chosen

    def choose_settings(self, any_weight: bool, any_dimensions: bool) -> None:
        """Choose label weight and dimensions, where they are to be chosen and anything was predicted."""
        # where no held-out label can be predicted all scores are equal and would choose by chance
        if not (any_weight or any_dimensions) or not self.best_of(self.settings).pairs.any():
            return
        if any_weight:
            self.hill_climb(
                "label weight", [replace(self.settings, label_weight=w) for w in WEIGHTS], WEIGHTS, ERRORS_OF_SETTINGS
            )
        if any_dimensions:
            # more dimensions first; fewer only where more were no better
            here = self.settings
            for numbers in (MORE_DIMENSIONS, (MORE_DIMENSIONS[0], *FEWER_DIMENSIONS)):
                if self.settings == here:
                    self.hill_climb("dimensions", [with_dimensions(here, number) for number in numbers], numbers, 0.0)

    def choose_clusters(self) -> None:
        """Score numbers of clusters on all folds until more are no better, and choose one, where it is to be chosen."""
        wanted = self.settings.n_clusters
        most = self.validation.largest(self.settings, self.view.folds)
        if wanted != "heldout":
            self.clusters = min(wanted, most) if isinstance(wanted, int) else "bound"
            return
        tried: list[tuple[int, HeldOutScores]] = []
        best, since = -np.inf, 0
        for clusters in CLUSTER_NUMBERS:
            if clusters > most or since >= PATIENCE:
                break
            tried.append((clusters, self.scores(self.settings, clusters, self.view.folds)))
            reached = tried[-1][1].per_label
            since = 0 if reached > best else since + 1
            best = max(best, reached)
        if self.refine:
            tried = self.refine_search(tried)
        self.tried += [("clusters", float(number), scores.per_label) for number, scores in tried]
        self.by_clusters = with_errors(tried)
        self.clusters = tried[one_standard_error_rule(tried)][0]

    def refine_search(self, tried: list[tuple[int, HeldOutScores]]) -> list[tuple[int, HeldOutScores]]:
        """The same scores, with improved partitions for the number that the rule picks and for its neighbours.

        Clusters that have been cut and merged step by step are not the best of their number everywhere, and one
        number must not be preferred to the next because the next was unlucky. Numbers beyond the last that was tried
        stay out of it.
        """
        scores, most = dict(tried), tried[-1][0]
        looked_at: set[int] = set()
        while True:
            # better scores may move the rule's pick, and with it the neighbourhood
            tried = sorted(scores.items())
            centre = tried[one_standard_error_rule(tried)][0]
            near = {
                number for number in range(centre - 1, centre + NEIGHBOURS_ABOVE + 1) if 1 < number <= most
            } - looked_at
            if not near:
                return tried
            for number in sorted(near):
                scores[number] = self.scores(self.settings, number, self.view.folds, exchange=True)
            looked_at |= near


def choose_by(
    validation: CrossValidation, view: HeldOutView, any_weight: bool, any_dimensions: bool, refine: bool
) -> SettingsChoice:
    """Choose what is to be chosen by the responses of a view."""
    decision = SettingsChoice(validation, view, refine)
    decision.choose_settings(any_weight, any_dimensions)
    decision.choose_clusters()
    return decision


def masked(scores: HeldOutScores, seen: NDArray[np.bool_]) -> HeldOutScores:
    """The scores of some responses; the others count for nothing."""
    return HeldOutScores(*(np.where(seen, values, 0.0) for values in (scores.loglik, scores.pairs, scores.right)))


def halves(validation: CrossValidation, folds: Sequence[int]) -> Ints:
    """Half of each response held out in these folds, 0 or 1: all responses about the same items are in the same."""
    return np.concatenate([item_sets(validation.tests[fold]) for fold in folds]) % 2


def with_errors(tried: Sequence[tuple[int, HeldOutScores]]) -> tuple[tuple[int, float, float, float], ...]:
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


def views(validation: CrossValidation) -> list[tuple[HeldOutView, HeldOutView]]:
    """What is scored, and by what the settings for it are chosen: another fold, or with one fold its other half."""
    folds = tuple(range(validation.folds))
    if len(folds) > 1:
        return [(HeldOutView((fold,)), HeldOutView(tuple(other for other in folds if other != fold))) for fold in folds]
    return [(HeldOutView(folds, half), HeldOutView(folds, 1 - half)) for half in (0, 1)]


def choose(validation: CrossValidation, any_weight: bool, any_dimensions: bool) -> HeldOut:
    """Choose what is to be chosen and say how well that predicts.

    The choice is by all that is held out. How well it predicts is told by nested cross-validation: each fold is scored
    with what the other folds choose, by the same search but without refining it.

    Parameters
    ----------
    validation
        With the settings to begin from; their `n_clusters` may be "heldout".
    any_weight, any_dimensions
        Whether label weight and dimensions are to be chosen.
    """
    everything = choose_by(validation, HeldOutView(tuple(range(validation.folds))), any_weight, any_dimensions, True)
    found: list[tuple[HeldOutScores, HeldOutScores]] = []
    for scored, chosen_by in views(validation):
        choice = choose_by(validation, chosen_by, any_weight, any_dimensions, False)
        parts = (
            validation.scores(choice.settings, clusters, scored.folds, exchange=True)
            for clusters in (choice.clusters, 1)
        )
        if scored.half is None:
            found.append((next(parts), next(parts)))
        else:
            seen = halves(validation, scored.folds) == scored.half
            found.append((masked(next(parts), seen), masked(next(parts), seen)))
    if validation.folds > 1:
        scores, one_cluster = (concatenated([pair[n] for pair in found]) for n in (0, 1))
    else:
        # each half has nothing where the other has its scores
        scores, one_cluster = (add(found[0][n], found[1][n]) for n in (0, 1))
    return summarise(validation, everything, scores, one_cluster)


def add(first: HeldOutScores, second: HeldOutScores) -> HeldOutScores:
    """Sum up two scores of the same responses."""
    return HeldOutScores(first.loglik + second.loglik, first.pairs + second.pairs, first.right + second.right)


def with_dimensions(settings: ResolvedSettings, dimensions: int) -> ResolvedSettings:
    """The same settings in another number of dimensions, with the degrees of freedom as far above it."""
    more = dimensions - settings.dimensions
    return replace(settings, dimensions=dimensions, degrees_of_freedom=settings.degrees_of_freedom + more)


def with_choices(settings: ResolvedSettings, heldout: HeldOut | None) -> ResolvedSettings:
    """The settings with what was chosen; where nothing could be held out, as many clusters as the bound favours."""
    if heldout is None:
        return replace(settings, n_clusters="bound") if settings.n_clusters == "heldout" else settings
    chosen = replace(with_dimensions(settings, heldout.dimensions), label_weight=heldout.label_weight)
    return replace(chosen, n_clusters=heldout.clusters) if settings.n_clusters == "heldout" else chosen


def summarise(
    validation: CrossValidation, choice: SettingsChoice, scores: HeldOutScores, one_cluster: HeldOutScores
) -> HeldOut:
    """Put what the folds say into figures."""
    rates, one_group = validation.base_scores()
    base = max(rates, one_cluster, key=lambda yardstick: yardstick.per_label)
    loglik, loglik_se = mean_and_error(scores.loglik, scores.pairs)
    accuracy, accuracy_se = mean_and_error(scores.right, scores.pairs)
    gain, gain_se = mean_and_error(scores.loglik - base.loglik, scores.pairs)
    return HeldOut(
        folds=validation.folds,
        responses=int((scores.pairs > 0).sum()),
        pairs=int(scores.pairs.sum()),
        loglik=loglik,
        loglik_se=loglik_se,
        accuracy=accuracy,
        accuracy_se=accuracy_se,
        base_loglik=base.per_label,
        gain=gain,
        gain_se=gain_se,
        workers=score_workers(validation.tests, scores, rates, one_group),
        dimensions=choice.settings.dimensions,
        label_weight=choice.settings.label_weight,
        clusters=choice.clusters if isinstance(choice.clusters, int) else 0,
        temperature=validation.temperature(choice.settings, choice.clusters)
        if isinstance(choice.clusters, int)
        else 1.0,
        tried=tuple(choice.tried),
        by_clusters=choice.by_clusters,
    )
