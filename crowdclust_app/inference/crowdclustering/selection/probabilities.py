"""How sure clusters are: plausible partitions by the bootstrap, and what they say of each item (docs/methods.md)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from crowdclust_app.inference.crowdclustering.kernels.arrays import Floats, Ints
from crowdclust_app.inference.crowdclustering.partitions.answers import Answers
from crowdclust_app.inference.crowdclustering.partitions.decision_model import DecisionFit, weighted_pairs
from crowdclust_app.inference.crowdclustering.partitions.search import FitsByNumber, nearest_number, refined, tidied
from crowdclust_app.inference.crowdclustering.selection.curve import HeldOutCurve, Work

DRAWS = 32
# Rounds in which a drawn partition follows its draw.
ROUNDS = 2
# Of the weights' gamma distribution.
SHAPE = 3.0
# Standard errors within which fewer clusters are as good in a draw: the number varies as it would with other responses.
ERRORS_OF_DRAW = 1.0
# No item's own cluster has less than this.
LEAST_CHANCE = 1e-6
# What the square of the number of workers who sorted an item is held against: one worker makes nothing certain.
SHRINKAGE = 0.3
# Two items of a collection go together about so often before anything is known. A worker who puts more together may
# take several kinds for one.
USUAL_RATE = 0.25


@dataclass(frozen=True, slots=True)
class PlausiblePartition:
    """One draw.

    Parameters
    ----------
    memberships : ndarray of shape (n, K)
        Probability of each of its clusters for each item.
    rates : ndarray of shape (K,)
        How often the crowd puts two items of one of them together.
    of_any
        How often it puts any two items together.
    """

    memberships: Floats
    rates: Floats
    of_any: float

    def together(self, sorters: Floats) -> Floats:
        """How surely two items of a cluster go together that were sorted by so many workers each; (n, K)."""
        n = sorters[:, None]
        lifts = np.maximum(self.rates - self.of_any, 0.0) / max(1.0 - self.of_any, 1e-9)
        told_apart = np.maximum(self.rates, 1.0 - (1.0 - lifts) ** n)
        coarse = min(1.0, USUAL_RATE / max(self.of_any, 1e-9)) ** (1.0 / np.maximum(n, 1.0))
        return np.asarray(told_apart * coarse * n**2 / (n**2 + SHRINKAGE))


def draw_partitions(
    answers: Answers, fits: FitsByNumber, curve: HeldOutCurve | None, seed: int, work: Work, told: Callable[[int], None]
) -> list[PlausiblePartition]:
    """Partitions that other responses of the same people could have given: the Bayesian bootstrap (rubin1981).

    Each draw gives the responses random weights, chooses the number of clusters by them, and moves the items of the
    partition of that number.

    Parameters
    ----------
    fits
        Partitions of all responses by number of clusters.
    curve
        By which the number is chosen; without one it is the largest of `fits`.
    told
        Is told how many draws are done.
    """
    rng = np.random.default_rng([seed, 2])
    drawn = []
    for _ in range(DRAWS):
        weight = rng.gamma(SHAPE, 1.0, answers.size)
        weight *= answers.size / weight.sum()
        K = max(fits) if curve is None else curve.chosen(ERRORS_OF_DRAW, weight)
        drawn.append((replace(answers, weight=weight), nearest_number(fits, K), work.check))
    found: list[PlausiblePartition] = []
    while len(found) < DRAWS:
        found += work.share(_draw, drawn[len(found) : len(found) + work.parallel.size])
        told(len(found))
    return found


def _draw(answers: Answers, fit: DecisionFit, check: Callable[[], None]) -> PlausiblePartition:
    fit = tidied(answers, refined(answers, fit, check, ROUNDS), check)
    shown, joined, _ = weighted_pairs(answers, fit.partition, np.zeros_like(fit.workers))
    # the partition varies with the weights; what is known of an item beside it are all answers as they are
    as_given = replace(answers, weight=np.ones(answers.size))
    return PlausiblePartition(memberships_of(fit, as_given), fit.rates_within, float(joined.sum() / shown.sum()))


def memberships_of(fit: DecisionFit, answers: Answers) -> Floats:
    """Probability of each cluster for each item, were the partition of all other items known; (n, K)."""
    logs = fit.posterior(answers)
    found = np.exp(logs - logs.max(axis=1, keepdims=True))
    return np.asarray(found / found.sum(axis=1, keepdims=True))


def chance_with_clusters(draws: list[PlausiblePartition], partition: Ints, sorters: Floats) -> Floats:
    """Chance that an item goes with another member of each cluster, over the plausible partitions.

    Two items go together in a draw where both are in one of its clusters, and then as often as the crowd puts such
    items together, or as one of the `n` workers who sorted the item tells them from any two items, whichever is more.
    What few workers sorted is shrunk, by `n^2 / (n^2 + 0.3)` and, where they put any two items together more often
    than 1/4, by the `n`-th root of 1/4 over that rate, as set on simulated campaigns.

    Parameters
    ----------
    draws
        Plausible partitions.
    partition : ndarray of shape (n,)
        Cluster of each item, from 0, all known.
    sorters : ndarray of shape (n,)
        By how many workers each item was sorted.

    Returns
    -------
    ndarray of shape (n, K)
        An item that is alone in its cluster has the chance that it goes with none of the others there. No other
        cluster has a higher chance than the item's own, and together they have 1 at most.
    """
    n, K = len(partition), int(partition.max()) + 1
    member: Floats = np.eye(K)[partition]
    sizes = member.sum(axis=0)
    own = (np.arange(n), partition)
    sums = np.zeros((n, K))
    for draw in draws:
        together = draw.memberships * draw.together(sorters)
        sums += together @ (draw.memberships.T @ member)
        # an item is no partner of itself
        sums[own] -= (together * draw.memberships).sum(axis=1)
    chance = sums / len(draws) / np.maximum(sizes - member, 1.0)
    known = sorters**2 / (sorters**2 + SHRINKAGE)
    chance = np.clip(chance, 0.0, 1.0)
    alone = sizes[partition] == 1.0
    # of an item with itself nothing is known
    chance[own] = np.where(alone, 0.0, chance[own])
    none = known * (1.0 - chance.max(axis=1))
    chance[own] = np.maximum(np.where(alone, none, chance[own]), LEAST_CHANCE)
    others = np.minimum(chance, (1.0 - 1e-9) * chance[own][:, None])
    others[own] = 0.0
    total = others.sum(axis=1)
    others *= np.minimum(1.0, (1.0 - chance[own]) / np.maximum(total, 1e-12))[:, None]
    others[own] = chance[own]
    return np.asarray(others)
