"""The likeliest partition of every number of clusters: items move, clusters merge (docs/methods.md)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

import numpy as np
from scipy.sparse import csr_array

from crowdclust_app.inference.crowdclustering.kernels.arrays import Floats, Ints
from crowdclust_app.inference.crowdclustering.partitions.answers import Answers, without_gaps
from crowdclust_app.inference.crowdclustering.partitions.candidates import Candidates
from crowdclust_app.inference.crowdclustering.partitions.decision_model import DecisionFit, weighted_pairs

ROUNDS, ROUNDS_AFTER_MERGING, ROUNDS_AFTER_DIVIDING = 12, 2, 3
# Merges that are tried in full, of those that cost their items least.
TRIED_MERGES = 3
# Paths begin from cuts at the top, and at numbers smaller by this factor each: a tree is cut well near the right one.
NEXT_LEVEL = 0.5
# Of so few items trees tell enough, and a likelier partition is no better.
FEW_ITEMS = 24
# Two log-likelihoods that differ by less than this share are of the same partition.
SAME = 1e-6
# Clusters of so few items are held against larger ones once more.
FEW = 3
# An item alone is counted to a cluster with whose items it is together more often than this.
ALONE = 0.38
# A cluster is one of items that go with nothing when they are together less than this share as often as any two items,
# and less than so many times as often as with items of others.
SHARE_OF_CHANCE, TIMES_OTHERS = 0.5, 3.0

T = TypeVar("T")
Check = Callable[[], None]
FitsByNumber = dict[int, DecisionFit]


def refined(
    answers: Answers, fit: DecisionFit, check: Check, rounds: int = ROUNDS, keep_number: bool = False
) -> DecisionFit:
    """Move every item to the cluster that explains best what was done with it, and learn anew, until none moves.

    Parameters
    ----------
    rounds
        The most rounds.
    keep_number
        Stop before a cluster loses its last item.
    """
    return _refined(answers, fit, check, rounds, keep_number)[0]


def _refined(
    answers: Answers, fit: DecisionFit, check: Check, rounds: int, keep_number: bool = False
) -> tuple[DecisionFit, Floats | None]:
    """As `refined`, and the evidence of what is returned where it was needed anyway."""
    fit = fit.with_partition(answers, fit.partition)
    for _ in range(rounds):
        check()
        fit = fit.stepped(answers)
        evidence = fit.evidence(answers)
        moved = np.where(fit.partition >= 0, (evidence + fit.log_sizes).argmax(axis=1), -1)
        if np.array_equal(moved, fit.partition):
            return fit.scored(answers), evidence
        if keep_number and len(np.unique(moved[moved >= 0])) < fit.n_clusters:
            break
        fit = fit.with_partition(answers, moved)
    return fit.settled(answers, 1), None


def merged(answers: Answers, fit: DecisionFit, evidence: Floats | None = None) -> DecisionFit:
    """Two clusters made one: of the few pairs whose items lose least by a move, the likeliest.

    Parameters
    ----------
    evidence : ndarray of shape (n, K), optional
        That of the fit, where it is known.
    """
    known = fit.partition >= 0
    member = csr_array(
        (np.ones(int(known.sum())), (fit.partition[known], np.flatnonzero(known))),
        shape=(fit.n_clusters, answers.n_items),
    )
    total = member @ (fit.evidence(answers) if evidence is None else evidence)
    loss = np.diag(total)[:, None] - total
    first, second = np.triu_indices(fit.n_clusters, 1)
    order = np.argsort((loss + loss.T)[first, second], kind="stable")[:TRIED_MERGES]
    trials = [
        fit.with_partition(answers, np.where(fit.partition == second[place], first[place], fit.partition))
        for place in order
    ]
    return max(trials, key=lambda trial: float(trial.scores(answers)[0] @ answers.weight))


def merge_down(answers: Answers, cut: Ints, found: FitsByNumber, lowest: int, check: Check) -> None:
    """Refine a partition, merge it step by step, and keep in `found` the likeliest partition of every number."""
    fit, evidence = _refined(answers, DecisionFit.before(answers, cut), check, ROUNDS)
    while True:
        known = found.get(fit.n_clusters)
        # another path is better from here on
        if known is not None and fit.loglik - known.loglik < SAME * abs(fit.loglik):
            return
        found[fit.n_clusters] = fit
        if fit.n_clusters <= lowest:
            return
        fit, evidence = _refined(answers, merged(answers, fit, evidence), check, ROUNDS_AFTER_MERGING)


def partitions_by_number(
    answers: Answers, candidates: Candidates, top: int, check: Check, lowest: int = 1
) -> FitsByNumber:
    """The likeliest partition found of every number of clusters from `lowest` up to about `top`."""
    found: FitsByNumber = {}
    if len(candidates.seen) > FEW_ITEMS:
        _divide(answers, candidates, found, top, lowest, check)
    for level in _levels(top, lowest):
        for cut in candidates.cuts(level):
            check()
            merge_down(answers, cut, found, lowest, check)
    return found


def _divide(answers: Answers, candidates: Candidates, found: FitsByNumber, top: int, lowest: int, check: Check) -> None:
    """Divide step by step, from one cluster, the one that this makes likeliest; then merge again."""
    fit = DecisionFit.before(answers, np.where(answers.shown, 0, -1)).settled(answers)
    found[1] = fit
    # by the members of a cluster: how much likelier dividing it makes the decisions, and which items leave it
    divisions: dict[bytes, tuple[float, Ints]] = {}
    while fit.n_clusters < top:
        clusters = []
        for k in range(fit.n_clusters):
            check()
            items = np.flatnonzero(fit.partition == k)
            clusters.append(items.tobytes())
            if clusters[-1] not in divisions:
                divisions[clusters[-1]] = _division(answers, candidates, fit, items)
        best = max(clusters, key=lambda cluster: divisions[cluster][0])
        gain, leaving = divisions[best]
        if gain <= 0.0:
            break
        fresh = refined(answers, _without(answers, fit, leaving), check, ROUNDS_AFTER_DIVIDING)
        if fresh.n_clusters > fit.n_clusters:
            fit = found[fresh.n_clusters] = fresh
        else:
            divisions[best] = -np.inf, leaving
    if fit.n_clusters > lowest:
        del found[fit.n_clusters]
        merge_down(answers, fit.partition, found, lowest, check)


def _division(answers: Answers, candidates: Candidates, fit: DecisionFit, items: Ints) -> tuple[float, Ints]:
    """How much likelier the decisions are when a cluster is divided, and which of its items leave it then."""
    leaving = items[candidates.halves(items)] if len(items) > 1 else items
    if len(leaving) in (0, len(items)):
        return -np.inf, leaving
    return _without(answers, fit, leaving).scored(answers).loglik - fit.loglik, leaving


def _without(answers: Answers, fit: DecisionFit, leaving: Ints) -> DecisionFit:
    """A fit in which some items of a cluster are a cluster of their own."""
    partition = fit.partition.copy()
    partition[leaving] = fit.n_clusters
    return fit.with_partition(answers, partition)


def _levels(top: int, lowest: int) -> list[int]:
    """Numbers at which paths begin, the largest first."""
    levels = [top]
    while (below := int(NEXT_LEVEL * levels[-1])) >= max(lowest, 2):
        levels.append(below)
    return levels


def improve_by_starts(
    answers: Answers,
    candidates: Candidates,
    found: FitsByNumber,
    K: int,
    starts: Sequence[int],
    seed: int,
    check: Check,
) -> None:
    """Search on from random starts of a little more than `K` clusters; what is found can only become likelier."""
    for start in starts:
        cut = candidates.random_cut(min(top_for(K), int(answers.shown.sum())), seed, start)
        merge_down(answers, cut, found, K, check)


def top_for(K: int) -> int:
    """From how many clusters to merge down to `K`."""
    return int(1.7 * K) + 4


def best_of_number(answers: Answers, candidates: Candidates, found: FitsByNumber, K: int, check: Check) -> DecisionFit:
    """The likeliest partition into exactly `K` clusters, at most as many as there are items that occur.

    Parameters
    ----------
    found
        Partitions of some numbers, such as those of `partitions_by_number`.
    """
    tried = [found[K]] if K in found else []
    for cut in candidates.cuts(K):
        fit = refined(answers, DecisionFit.before(answers, cut), check, keep_number=True)
        if fit.n_clusters == K:
            tried.append(fit)
    if not tried:
        below = max((number for number in found if number < K), default=0)
        tried.append(_split_off(answers, found[below] if below else fit, K))
    return max(tried, key=lambda fit: fit.loglik)


def _split_off(answers: Answers, fit: DecisionFit, K: int) -> DecisionFit:
    """Items that fit their clusters worst become clusters of their own until there are `K`."""
    evidence = fit.posterior(answers)
    known = np.flatnonzero(fit.partition >= 0)
    partition = fit.partition.copy()
    sizes = np.bincount(partition[known], minlength=K).astype(np.int64)
    count = fit.n_clusters
    for item in known[np.argsort(evidence[known, fit.partition[known]], kind="stable")]:
        if count < K and sizes[partition[item]] > 1:
            sizes[partition[item]] -= 1
            partition[item] = count
            count += 1
    return fit.with_partition(answers, partition).settled(answers)


def tidied(answers: Answers, fit: DecisionFit, check: Check) -> DecisionFit:
    """Items that nothing goes with made clusters of their own, and those put into a larger cluster that go with it."""
    alone = _singled(answers, fit)
    found = _absorbed(answers, alone)
    # what has been put together changes where other items go
    return found if found is alone else _absorbed(answers, refined(answers, found, check))


def _singled(answers: Answers, fit: DecisionFit) -> DecisionFit:
    """A cluster whose items are kept apart is none: each becomes a cluster of its own."""
    shown, joined, _ = weighted_pairs(answers, fit.partition, np.zeros_like(fit.workers))
    within, all_shown, all_joined = np.diag(joined), shown.sum(axis=1), joined.sum(axis=1)
    own = within / np.maximum(np.diag(shown), 1e-9)
    others = (all_joined - within) / np.maximum(all_shown - np.diag(shown), 1e-9)
    chance = all_joined.sum() / all_shown.sum()
    apart = (own <= SHARE_OF_CHANCE * chance) & (own <= TIMES_OTHERS * others) & (fit.sizes > 1)
    if not apart.any():
        return fit
    loose = (fit.partition >= 0) & apart[fit.partition]
    alone = np.where(loose, fit.n_clusters + np.arange(len(loose)), fit.partition)
    return fit.with_partition(answers, alone).settled(answers)


def _absorbed(answers: Answers, fit: DecisionFit) -> DecisionFit:
    """A cluster is counted to a larger one where its items are with that one's more often than with each other.

    Such items are of more than one kind, and each worker decides for one. So are up to `FEW` items that are with a
    larger cluster's more often than not.
    """
    while fit.n_clusters > 1:
        shown, joined, _ = weighted_pairs(answers, fit.partition, fit.workers)
        rate = joined / np.maximum(shown, 1e-9)
        least = np.where(fit.sizes <= FEW, np.minimum(np.diag(rate), 0.5), np.diag(rate))
        least = np.where(fit.sizes == 1, ALONE, least)
        rate = np.where((fit.sizes > fit.sizes[:, None]) & (rate > least[:, None]), rate, 0.0)
        small, large = np.unravel_index(int(rate.argmax()), rate.shape)
        if rate[small, large] == 0.0:
            break
        fit = fit.with_partition(answers, np.where(fit.partition == small, large, fit.partition)).settled(answers, 1)
    return fit


def as_grouped(answers: Answers) -> Ints:
    """The groups of a single response as a partition; (n,)."""
    partition = np.full(answers.n_items, -1, dtype=np.int64)
    partition[answers.items] = answers.groups
    return without_gaps(partition)


def nearest_number(by_number: Mapping[int, T], K: int) -> T:
    """What there is for that many clusters, or for the next fewer."""
    return by_number[max((number for number in by_number if number <= K), default=min(by_number))]
