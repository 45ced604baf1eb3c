"""From responses to clusters: partition, number, probabilities and what they are worth (docs/methods.md)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial

import numpy as np

from crowdclust_app.inference.crowdclustering.kernels.arrays import Floats, Ints
from crowdclust_app.inference.crowdclustering.partitions.answers import Answers, largest_first
from crowdclust_app.inference.crowdclustering.partitions.candidates import Candidates, all_candidates
from crowdclust_app.inference.crowdclustering.partitions.decision_model import DecisionFit
from crowdclust_app.inference.crowdclustering.partitions.search import (
    FitsByNumber,
    as_grouped,
    best_of_number,
    improve_by_starts,
    nearest_number,
    partitions_by_number,
    tidied,
    top_for,
)
from crowdclust_app.inference.crowdclustering.selection.curve import (
    ERRORS_OF_CLUSTERS,
    FEW_RESPONSES,
    HeldOutCurve,
    Work,
    held_out_curve,
)
from crowdclust_app.inference.crowdclustering.selection.probabilities import (
    DRAWS,
    PlausiblePartition,
    chance_with_clusters,
    draw_partitions,
    memberships_of,
)

FOLDS, CANDIDATES, PROBABILITIES = "folds", "candidates", "probabilities"

# A gain over one cluster of fewer standard errors is none; of twice as many where items were sorted by fewer workers
# than `FEW_SORTERS` on average.
SURE, FEW_SORTERS = ERRORS_OF_CLUSTERS, 5.0
# Responses of an item that tell clusters apart in most simulated campaigns.
ENOUGH_SHOWINGS = 6.0
# Of a continuum: most of the spread of the clusters' affinities is on one axis and the folds' partitions differ; or on
# two axes and they differ much, with many clusters.
LINE, LINE_AGREEMENT = 0.65, 0.96
PLANE, PLANE_AGREEMENT, PLANE_CLUSTERS = 0.6, 0.65, 8
# Clusters with which axes can be told.
FEWEST_FOR_AXES = 5


@dataclass(frozen=True, slots=True)
class PartOfDesign:
    """One part of the design, whose items are in no response with others.

    Parameters
    ----------
    answers, items
        Its responses, items renumbered; which items these are, shape (n,).
    curve
        Held-out scores by number of clusters; None where nothing was held out.
    fits
        Partitions of all its responses by number of clusters.
    fit
        The partition chosen.
    """

    answers: Answers
    items: Ints
    curve: HeldOutCurve | None
    fits: FitsByNumber
    fit: DecisionFit


@dataclass(frozen=True, slots=True)
class Partitioned:
    """Clusters of all items that occur.

    Parameters
    ----------
    partition : ndarray of shape (N,)
        Cluster of each item from 0, the largest first; -1 where it never occurred.
    chances, independent : ndarray of shape (N, K)
        Chance that an item goes with another member of each cluster, over the plausible partitions
        (`chance_with_clusters`); probabilities of the clusters were the partition of the other items certain.
    parts
        The parts of the design.
    too_little
        Whether there are too few answers to tell clusters from none.
    continuous, fold_agreement
        Whether items lie on a line or in a plane without gaps; how alike the folds' partitions are (mean adjusted Rand
        index), in the part of the design with the least of it.
    more_sets
        About how many more responses would tell; 0 where there are enough.
    """

    partition: Ints
    chances: Floats
    independent: Floats
    parts: tuple[PartOfDesign, ...]
    too_little: bool
    continuous: bool
    fold_agreement: float
    more_sets: int

    @property
    def n_clusters(self) -> int:
        """Number of clusters `K`."""
        return int(self.partition.max()) + 1


def partition_items(
    answers: Answers, wanted: int | None, folds: int, n_starts: int, seed: int, work: Work
) -> Partitioned:
    """Put the items of a table into clusters, each part of the design by itself.

    Parameters
    ----------
    answers
        The responses, at least one.
    wanted
        Number of clusters; None for as many as predict held-out responses well. Parts without an item in common share
        it; where it is smaller than their number, some of them share the last cluster, since they have to.
    folds
        In how many responses are held out; 0 for none, which needs a number.
    n_starts
        Starts of the search: the first from trees, the others random.
    seed, work
        Of everything drawn; where it is done.
    """
    designs = answers.parts()
    steps = folds * len(designs)
    curves: list[HeldOutCurve | None] = []
    # made once for each part, when they are needed: a single response has its groups
    candidates = [cache(partial(all_candidates, here)) for here, _ in designs]
    for (here, items), trees in zip(designs, candidates, strict=True):
        before = folds * len(curves)

        def told(done: int, before: int = before) -> None:
            work.tell(FOLDS, before + done, steps, 0)

        number = None if wanted is None else min(wanted, len(items))
        curves.append(held_out_curve(here, trees, folds, seed, work, told, number))
    parts = []
    for (here, items), trees, curve in zip(designs, candidates, curves, strict=True):
        parts.append(_part(here, items, trees, curve, wanted if len(designs) == 1 else None, n_starts, seed, work))
        work.tell(CANDIDATES, len(parts), len(designs), parts[-1].fit.n_clusters)
    if wanted is not None and len(parts) > 1:
        parts = _shared_out(parts, candidates, wanted, work)
    return _put_together(answers, parts, wanted, seed, work)


def _part(
    answers: Answers,
    items: Ints,
    candidates: Callable[[], Candidates],
    curve: HeldOutCurve | None,
    wanted: int | None,
    n_starts: int,
    seed: int,
    work: Work,
) -> PartOfDesign:
    """Find the partitions of one part and choose one."""
    check = work.check
    if answers.size == 1 and wanted is None:
        fit = DecisionFit.before(answers, as_grouped(answers)).settled(answers)
        return PartOfDesign(answers, items, None, {fit.n_clusters: fit}, fit)
    trees = candidates()
    K = min(wanted or usual_number_of_groups(answers), len(items))
    if curve is not None and wanted is None:
        K = curve.chosen()
    top = max(min(top_for(K), len(items)), curve.numbers[-1] if curve is not None else 1)
    fits = partitions_by_number(answers, trees, top, check)
    improve_by_starts(answers, trees, fits, K, range(2, n_starts + 1), seed, check)
    if wanted is None:
        return PartOfDesign(answers, items, curve, fits, tidied(answers, nearest_number(fits, K), check))
    fits[K] = best_of_number(answers, trees, fits, K, check)
    return PartOfDesign(answers, items, curve, {K: fits[K]}, fits[K])


def usual_number_of_groups(answers: Answers) -> int:
    """Groups of the median response, which is all there is to go by where nothing can be held out."""
    starts = answers.ptr[:-1]
    return int(np.median(np.maximum.reduceat(answers.groups, starts) + 1))


def _shared_out(
    parts: list[PartOfDesign], candidates: Sequence[Callable[[], Candidates]], wanted: int, work: Work
) -> list[PartOfDesign]:
    """Give the parts so many clusters together, at least one each, where they add most to the likelihood."""
    given = [1] * len(parts)
    room = [len(part.items) for part in parts]
    for part in parts:
        if 1 not in part.fits:
            part.fits[1] = _one_cluster(part)

    def gain(number: int) -> float:
        """What another cluster would add in one part; little beyond those that its search has tried."""
        part, K = parts[number], given[number]
        if room[number] <= K:
            return -np.inf
        known = part.fits.get(K), part.fits.get(K + 1)
        return known[1].loglik - known[0].loglik if known[0] and known[1] else 0.0

    for _ in range(max(0, min(wanted, sum(room)) - len(parts))):
        given[max(range(len(parts)), key=gain)] += 1
    found = []
    for part, trees, K in zip(parts, candidates, given, strict=True):
        fit = _one_cluster(part) if K == 1 else best_of_number(part.answers, trees(), part.fits, K, work.check)
        found.append(PartOfDesign(part.answers, part.items, part.curve, {K: fit}, fit))
    return found


def _one_cluster(part: PartOfDesign) -> DecisionFit:
    return DecisionFit.before(part.answers, np.zeros(len(part.items), dtype=np.int64)).settled(part.answers)


def _put_together(
    answers: Answers, parts: Sequence[PartOfDesign], wanted: int | None, seed: int, work: Work
) -> Partitioned:
    """Number the clusters of all parts, the largest first, and say how sure they are."""
    draws = []
    for number, part in enumerate(parts):

        def told(done: int, before: int = DRAWS * number) -> None:
            work.tell(PROBABILITIES, before + done, DRAWS * len(parts), 0)

        curve = part.curve if wanted is None else None
        draws.append(draw_partitions(part.answers, part.fits, curve, seed, work, told))
    raw = np.full(answers.n_items, -1, dtype=np.int64)
    shift = 0
    for part in parts:
        raw[part.items] = part.fit.partition + shift
        shift += part.fit.n_clusters
    if wanted is not None:
        # more parts than clusters: the smallest parts share the last one
        raw = np.minimum(largest_first(raw), wanted - 1)
    partition = largest_first(raw)
    K = int(partition.max()) + 1
    chances, independent = np.zeros((answers.n_items, K)), np.zeros((answers.n_items, K))
    for part, drawn in zip(parts, draws, strict=True):
        chances[part.items], independent[part.items] = _chances(part, drawn, partition[part.items], K)
    return Partitioned(partition, chances, independent, tuple(parts), *_worth(answers, parts))


def _chances(part: PartOfDesign, draws: list[PlausiblePartition], partition: Ints, K: int) -> tuple[Floats, Floats]:
    """Chances, and probabilities were all else certain, with the clusters of all parts: 0 for those of others."""
    own = part.fit.partition
    columns = np.zeros(part.fit.n_clusters, dtype=np.int64)
    columns[own] = partition
    chances, independent = np.zeros((len(own), K)), np.zeros((len(own), K))
    np.add.at(chances.T, columns, chance_with_clusters(draws, own, part.answers.sorters()).T)
    np.add.at(independent.T, columns, memberships_of(part.fit, part.answers).T)
    return chances, independent


def _worth(answers: Answers, parts: Sequence[PartOfDesign]) -> tuple[bool, bool, float, int]:
    """Whether there are too few answers, whether there are no gaps, the folds' agreement, how many responses lack."""
    gain = squares = 0.0
    for part in parts:
        if part.curve is not None:
            more = part.curve.loglik[part.curve.best()] - part.curve.loglik[0]
            gain += float(more.sum())
            squares += float(more.var() * len(more))
    few = float(answers.sorters()[answers.shown].mean()) < FEW_SORTERS
    sure = gain > (2.0 if few else 1.0) * SURE * math.sqrt(squares)
    missing = ENOUGH_SHOWINGS * int(answers.shown.sum()) / float(answers.sizes.mean()) - answers.size
    untold = all(part.curve is None for part in parts)
    too_little = untold or (few and not sure and missing > 0.0)
    agreements = [part.curve.agreement(part.fit.n_clusters) if part.curve else 1.0 for part in parts]
    continuous = sure and any(map(_is_continuous, parts, agreements))
    return too_little, continuous, min(agreements), max(1, round(missing)) if too_little else 0


def _is_continuous(part: PartOfDesign, agreement: float) -> bool:
    line, plane = share_on_axes(part.fit)
    on_a_line = line > LINE and agreement < LINE_AGREEMENT
    in_a_plane = plane > PLANE and agreement < PLANE_AGREEMENT and part.fit.n_clusters >= PLANE_CLUSTERS
    return part.answers.size >= FEW_RESPONSES and (on_a_line or in_a_plane)


def share_on_axes(fit: DecisionFit) -> tuple[float, float]:
    """Share of the spread of the clusters' affinities on one axis, and on two, by classical scaling (torgerson1952)."""
    K = fit.n_clusters
    if K < FEWEST_FOR_AXES:
        return 0.0, 0.0
    within = np.diag(fit.affinity)
    distance = np.maximum((within[:, None] + within) / 2.0 - fit.affinity, 0.0)
    np.fill_diagonal(distance, 0.0)
    centred = np.eye(K) - 1.0 / K
    values = np.linalg.eigvalsh(-0.5 * centred @ distance**2 @ centred)
    whole = max(float(np.abs(values).sum()), 1e-12)
    return float(values[-1] / whole), float(values[-2:].sum() / whole)
