"""Which settings predict held-out responses best, and how well they do (docs/model.md, sections 8 and 9)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from crowdclust_app.inference.crowdclustering.kernels.arrays import Ints
from crowdclust_app.inference.crowdclustering.model.settings import USUAL_DIMENSIONS, ResolvedSettings
from crowdclust_app.inference.crowdclustering.selection.heldout import HeldOut, Trials, item_sets
from crowdclust_app.inference.crowdclustering.selection.heldout_workers import score_workers
from crowdclust_app.inference.crowdclustering.selection.prediction import HeldOutScores, mean_and_error, together

# Numbers of clusters that are tried, up to the first after which so many in a row are no better than the best.
LADDER = (*range(1, 13), 14, 16, 18, 20, 24, 28, 32, 40, 50)
PATIENCE = 4
# How many numbers beyond the one that is enough are looked at more closely; below it one is.
BEYOND = 2
# The same while label weights and dimensions are compared: there the best of them is enough.
COARSE = (2, 3, 4, 6, 8, 10, 12, 16, 20)
# What a cluster has to gain, as a share of what the best number of clusters gains over one cluster.
PRICE = 0.01
# A difference of so many standard errors is believed.
SURE = 2.0
# What is preferred for other reasons is as good if it lacks less than so many standard errors: a lower label weight,
# and fewer clusters, of which one too many by chance of the folds is worse than one too few.
EQUAL = 0.5
EQUAL_CLUSTERS = 1.0
# Label weights and dimensions, in the order in which they are tried, as long as each is better than those before.
WEIGHTS = (1.0, 0.5, 0.25, 0.1)
MORE_DIMENSIONS = (USUAL_DIMENSIONS, 6)
FEWER_DIMENSIONS = (2,)
# Folds on which they are compared.
TRIAL_FOLDS = 2
# Below this part of the log-loss of one cluster, what clusters gain is nothing, however sure.
NOTHING = 0.01

NumbersTried = tuple[tuple[int, float, float, float], ...]


def enough(tried: Sequence[tuple[int, HeldOutScores]]) -> int:
    """The number of clusters that is worth its price.

    Every cluster costs a share `PRICE` of what the best number of clusters gains over one cluster. More clusters than
    there are still predict a little better when they cut along the positions' spread inside a cluster; they gain less
    than that. Fewer clusters are as good where, prices paid, they lack less than `EQUAL_CLUSTERS` standard errors of
    the difference. Where the gain is not twice its standard error, or less than `NOTHING`, one cluster is enough.

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
    if not worth > max(SURE * error, -NOTHING * tried[0][1].per_label):
        return 0
    gains = [scores.per_label - PRICE * worth * clusters for clusters, scores in tried]
    top = int(np.argmax(gains))
    for place in range(top):
        error = mean_and_error(tried[top][1].loglik - tried[place][1].loglik, best.pairs)[1]
        if gains[top] - gains[place] < EQUAL_CLUSTERS * error:
            return place
    return top


@dataclass(frozen=True, slots=True)
class View:
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
    trials
        With the settings to begin from; their `clusters` may be "heldout".
    view
        What may be looked at.
    closely
        Whether the numbers of clusters around the one that is enough are looked at more closely.
    settings
        What is chosen so far.
    clusters
        The number chosen, or "bound".
    tried, by_clusters
        As in `HeldOut`.
    """

    trials: Trials
    view: View
    closely: bool
    settings: ResolvedSettings = field(init=False)
    clusters: Literal["bound"] | int = field(init=False, default="bound")
    tried: list[tuple[str, float, float]] = field(init=False, default_factory=list)
    by_clusters: NumbersTried = field(init=False, default=())

    def __post_init__(self) -> None:
        self.settings = self.trials.settings

    def scores(
        self, settings: ResolvedSettings, clusters: Literal["bound"] | int, folds: Sequence[int], closer: bool = False
    ) -> HeldOutScores:
        """The scores that may be looked at."""
        scores = self.trials.scores(settings, clusters, folds, closer)
        if self.view.half is None:
            return scores
        return masked(scores, halves(self.trials, folds) == self.view.half)

    def best_of(self, settings: ResolvedSettings) -> HeldOutScores:
        """The scores of the best number of clusters, on the trial folds."""
        folds = self.view.trial
        wanted = settings.n_clusters
        if wanted == "bound":
            return self.scores(settings, "bound", folds)
        most = self.trials.largest(settings, folds)
        if isinstance(wanted, int):
            return self.scores(settings, min(wanted, most), folds)
        tried = [self.scores(settings, k, folds) for k in COARSE if k <= most]
        return max(tried or [self.scores(settings, 1, folds)], key=lambda scores: scores.per_label)

    def climb(self, what: str, candidates: Sequence[ResolvedSettings], values: Sequence[float], give: float) -> None:
        """Settle on the last candidate before one that lacks more than `give` standard errors of the best so far."""
        chosen, best = candidates[0], self.best_of(candidates[0])
        if not any(entry[:2] == (what, values[0]) for entry in self.tried):
            self.tried.append((what, values[0], best.per_label))
        for candidate, value in zip(candidates[1:], values[1:], strict=True):
            reached = self.best_of(candidate)
            self.tried.append((what, value, reached.per_label))
            lacking, error = mean_and_error(best.loglik - reached.loglik, best.pairs)
            if not lacking < give * error:
                break
            chosen = candidate
            if lacking < 0.0:
                best = reached
        self.settings = chosen

    def choose_settings(self, any_weight: bool, any_dimensions: bool) -> None:
        """Choose label weight and dimensions, where they are to be chosen and anything was predicted."""
        if not (any_weight or any_dimensions) or not self.best_of(self.settings).pairs.any():
            return
        if any_weight:
            self.climb("label weight", [replace(self.settings, label_weight=w) for w in WEIGHTS], WEIGHTS, EQUAL)
        if any_dimensions:
            here = self.settings
            for numbers in (MORE_DIMENSIONS, (MORE_DIMENSIONS[0], *FEWER_DIMENSIONS)):
                if self.settings == here:
                    self.climb("dimensions", [with_dimensions(here, number) for number in numbers], numbers, 0.0)

    def choose_clusters(self) -> None:
        """Score numbers of clusters on all folds until more are no better, and choose one, where it is to be chosen."""
        wanted = self.settings.n_clusters
        most = self.trials.largest(self.settings, self.view.folds)
        if wanted != "heldout":
            self.clusters = min(wanted, most) if isinstance(wanted, int) else "bound"
            return
        tried: list[tuple[int, HeldOutScores]] = []
        best, since = -np.inf, 0
        for clusters in LADDER:
            if clusters > most or since >= PATIENCE:
                break
            tried.append((clusters, self.scores(self.settings, clusters, self.view.folds)))
            reached = tried[-1][1].per_label
            since = 0 if reached > best else since + 1
            best = max(best, reached)
        if self.closely:
            tried = self.look_closer(tried)
        self.tried += [("clusters", float(number), scores.per_label) for number, scores in tried]
        self.by_clusters = with_errors(tried)
        self.clusters = tried[enough(tried)][0]

    def look_closer(self, tried: list[tuple[int, HeldOutScores]]) -> list[tuple[int, HeldOutScores]]:
        """The same scores, those of the number that is enough and of its neighbours at their best.

        Clusters that have been cut and merged step by step are not the best of their number everywhere, and one
        number must not be preferred to the next because the next was unlucky. Numbers beyond the last that was tried
        stay out of it.
        """
        scores, most = dict(tried), tried[-1][0]
        looked_at: set[int] = set()
        while True:
            tried = sorted(scores.items())
            centre = tried[enough(tried)][0]
            near = {number for number in range(centre - 1, centre + BEYOND + 1) if 1 < number <= most} - looked_at
            if not near:
                return tried
            for number in sorted(near):
                scores[number] = self.scores(self.settings, number, self.view.folds, closer=True)
            looked_at |= near


def decide(trials: Trials, view: View, any_weight: bool, any_dimensions: bool, closely: bool) -> SettingsChoice:
    """Choose what is to be chosen by what a view shows."""
    decision = SettingsChoice(trials, view, closely)
    decision.choose_settings(any_weight, any_dimensions)
    decision.choose_clusters()
    return decision


def masked(scores: HeldOutScores, seen: NDArray[np.bool_]) -> HeldOutScores:
    """The scores of some responses; the others count for nothing."""
    return HeldOutScores(*(np.where(seen, values, 0.0) for values in (scores.loglik, scores.pairs, scores.right)))


def halves(trials: Trials, folds: Sequence[int]) -> Ints:
    """Half of each response held out in these folds, 0 or 1: all responses about the same items are in the same."""
    return np.concatenate([item_sets(trials.tests[fold]) for fold in folds]) % 2


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


def views(trials: Trials) -> list[tuple[View, View]]:
    """What is scored, and by what the settings for it are chosen: another fold, or with one fold its other half."""
    folds = tuple(range(trials.folds))
    if len(folds) > 1:
        return [(View((fold,)), View(tuple(other for other in folds if other != fold))) for fold in folds]
    return [(View(folds, half), View(folds, 1 - half)) for half in (0, 1)]


def choose(trials: Trials, any_weight: bool, any_dimensions: bool) -> HeldOut:
    """Choose what is to be chosen and say how well that predicts.

    The choice is by all that is held out; how well it predicts is told by choosing again for each fold, by the others,
    if with a less close look at the numbers of clusters.

    Parameters
    ----------
    trials
        With the settings to begin from; their `clusters` may be "heldout".
    any_weight, any_dimensions
        Whether label weight and dimensions are to be chosen.
    """
    everything = decide(trials, View(tuple(range(trials.folds))), any_weight, any_dimensions, True)
    found: list[tuple[HeldOutScores, HeldOutScores]] = []
    for scored, chosen_by in views(trials):
        choice = decide(trials, chosen_by, any_weight, any_dimensions, False)
        parts = (
            trials.scores(choice.settings, clusters, scored.folds, closer=True) for clusters in (choice.clusters, 1)
        )
        if scored.half is None:
            found.append((next(parts), next(parts)))
        else:
            seen = halves(trials, scored.folds) == scored.half
            found.append((masked(next(parts), seen), masked(next(parts), seen)))
    if trials.folds > 1:
        scores, one_cluster = (together([pair[n] for pair in found]) for n in (0, 1))
    else:
        # each half has nothing where the other has its scores
        scores, one_cluster = (add(found[0][n], found[1][n]) for n in (0, 1))
    return figures(trials, everything, scores, one_cluster)


def add(first: HeldOutScores, second: HeldOutScores) -> HeldOutScores:
    """Sum up two scores of the same responses."""
    return HeldOutScores(first.loglik + second.loglik, first.pairs + second.pairs, first.right + second.right)


def with_dimensions(settings: ResolvedSettings, dimensions: int) -> ResolvedSettings:
    """The same settings in another number of dimensions, with the degrees of freedom as far above it."""
    more = dimensions - settings.dimensions
    return replace(settings, dimensions=dimensions, degrees_of_freedom=settings.degrees_of_freedom + more)


def settled(settings: ResolvedSettings, heldout: HeldOut | None) -> ResolvedSettings:
    """The settings with what was chosen; where nothing could be held out the bound says how many clusters."""
    if heldout is None:
        return replace(settings, n_clusters="bound") if settings.n_clusters == "heldout" else settings
    chosen = replace(with_dimensions(settings, heldout.dimensions), label_weight=heldout.label_weight)
    return replace(chosen, n_clusters=heldout.clusters) if settings.n_clusters == "heldout" else chosen


def figures(trials: Trials, choice: SettingsChoice, scores: HeldOutScores, one_cluster: HeldOutScores) -> HeldOut:
    """Put what the folds say into figures."""
    rates, one_group = trials.base_scores()
    base = max(rates, one_cluster, key=lambda yardstick: yardstick.per_label)
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
        workers=score_workers(trials.tests, scores, rates, one_group),
        dimensions=choice.settings.dimensions,
        label_weight=choice.settings.label_weight,
        clusters=choice.clusters if isinstance(choice.clusters, int) else 0,
        temperature=trials.temperature(choice.settings, choice.clusters) if isinstance(choice.clusters, int) else 1.0,
        tried=tuple(choice.tried),
        by_clusters=choice.by_clusters,
    )
