"""How well partitions of every number of clusters predict responses that had no part in them (docs/methods.md)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from crowdclust_app.inference.crowdclustering.kernels.arrays import Floats, Ints
from crowdclust_app.inference.crowdclustering.model.parallel import Parallel, no_check
from crowdclust_app.inference.crowdclustering.partitions.answers import Answers
from crowdclust_app.inference.crowdclustering.partitions.candidates import (
    Candidates,
    PairCounts,
    candidates_of,
    pair_counts,
)
from crowdclust_app.inference.crowdclustering.partitions.search import (
    FitsByNumber,
    nearest_number,
    partitions_by_number,
    top_for,
)

# Fewer clusters are as good as the best where they lack less than so many paired standard errors.
ERRORS_OF_CLUSTERS = 2.0
# With fewer responses than this it is one standard error: what two of five people did alike is not to be missed.
FEW_RESPONSES = 10
# Sets of items are held out whole where there are so many of them a fold.
SETS_A_FOLD = 3
# Share of responses that follow no clusters: they are predicted as with one cluster.
ODD_RESPONSES = 0.05
# Clusters from which merging begins. It begins from more, as far as `MOST_CLUSTERS`, while the number that would be
# chosen is above this share of them.
FIRST_TOP, ROOM, RAISE, MOST_CLUSTERS = 20, 0.6, 1.8, 500
# It begins from more where that many clusters are plain to see, up to this many.
FARTHEST_FIRST_TOP = 64


@dataclass(frozen=True, slots=True)
class Work:
    """Where the search is done, and whom it tells.

    Parameters
    ----------
    check
        Is called often; may raise to stop.
    tell
        Is given a phase, how many of its steps are done, how many there are, and a number of clusters, on the calling
        thread.
    parallel
        Threads that share the steps; how many there are changes nothing.
    """

    check: Callable[[], None] = no_check
    tell: Callable[[str, int, int, int], None] = lambda _phase, _done, _steps, _clusters: None
    parallel: Parallel = field(default_factory=Parallel)

    def share(self, task: Callable[..., Any], arguments: Sequence[tuple[Any, ...]]) -> list[Any]:
        """Call a task with each of these arguments, at most `parallel.size` of them; results in this order."""
        results: list[Any] = [None] * len(arguments)

        def run(number: int) -> None:
            results[number] = task(*arguments[number])

        self.parallel.share(run, [(number,) for number in range(len(arguments))])
        return results


def deal_folds(answers: Answers, folds: int, seed: int) -> Ints:
    """Fold of each response, from 0 without gaps; shape (R,).

    Responses about the same items are held out together where there are enough sets of items; otherwise those that one
    worker gave about the same items, since a repeat would give the answer away.
    """
    unit = answers.sets
    if len(np.unique(unit)) < SETS_A_FOLD * folds:
        unit = answers.sets * answers.n_workers + answers.workers
    units, place = np.unique(unit, return_inverse=True)
    fold = np.empty(len(units), dtype=np.int64)
    fold[np.random.default_rng([seed, 1]).permutation(len(units))] = np.arange(len(units)) % min(folds, len(units))
    return fold[place]


@dataclass(frozen=True, slots=True)
class HeldOutCurve:
    """Held-out scores by number of clusters.

    Parameters
    ----------
    numbers
        Numbers of clusters, ascending; the first is 1.
    loglik, right : ndarray of shape (len(numbers), R)
        Log-probability of each response's decisions in nats, and how many are the likeliest ones, by the partition of
        the other folds.
    decisions : ndarray of shape (R,)
        How many decisions were scored: those about items that the other folds know too.
    trained
        Partition of each number, fold by fold.
    """

    numbers: tuple[int, ...]
    loglik: Floats
    right: Floats
    decisions: Floats
    trained: tuple[dict[int, Ints], ...]

    def chosen(self, errors: float | None = None, weight: Floats | None = None) -> int:
        """The fewest clusters that predict as well as the best number within so many paired standard errors.

        Parameters
        ----------
        errors
            Standard errors over responses; None for the usual ones.
        weight : ndarray of shape (R,), optional
            What each response counts.
        """
        best, n = self.best(weight), self.loglik.shape[1]
        if errors is None:
            errors = 1.0 if n < FEW_RESPONSES else ERRORS_OF_CLUSTERS
        lacking = self.loglik[best] - self.loglik
        deviation = lacking - lacking.mean(axis=1, keepdims=True)
        error = np.sqrt((deviation**2).sum(axis=1) * n / max(n - 1, 1))
        lost = lacking.sum(axis=1) if weight is None else lacking @ weight
        return self.numbers[int(np.flatnonzero(lost <= errors * error)[0])]

    def best(self, weight: Floats | None = None) -> int:
        """Place of the number that predicts best."""
        return int(np.argmax(self.loglik.sum(axis=1) if weight is None else self.loglik @ weight))

    def place(self, K: int) -> int:
        """Place of that number, or of the next smaller one that was tried."""
        return max(place for place, number in enumerate(self.numbers) if place == 0 or number <= K)

    def agreement(self, K: int) -> float:
        """How alike the folds' partitions of that many clusters are: mean adjusted Rand index of two folds."""
        parts = [nearest_number(fold, K) for fold in self.trained]
        found = [adjusted_rand(a, b) for n, a in enumerate(parts) for b in parts[:n]]
        return float(np.mean(found)) if found else 0.0


def held_out_curve(
    answers: Answers,
    candidates: Callable[[], Candidates],
    folds: int,
    seed: int,
    work: Work,
    told: Callable[[int], None],
    wanted: int | None = None,
) -> HeldOutCurve | None:
    """Hold each fold out in turn and score it by partitions of the rest; None where nothing can be held out.

    Parameters
    ----------
    candidates
        Gives those of all answers, in which every item occurs.
    folds, seed
        How many folds, and of what they are dealt by.
    told
        Is told how many folds are done.
    wanted
        The number of clusters where it is given: then no more are tried than it takes to find them.
    """
    if folds == 0:
        return None
    fold_of = deal_folds(answers, folds, seed)
    n_folds = int(fold_of.max()) + 1
    if n_folds < 2:
        return None
    trees = candidates()
    most = max(1, answers.n_items // 2)
    if wanted is None:
        near = min(trees.number_together() + 4, FARTHEST_FIRST_TOP)
        top = min(max(FIRST_TOP, near), most)
    else:
        top = min(top_for(wanted), answers.n_items)
    done: list[_Fold] = []
    while len(done) < n_folds:
        arguments = [
            (answers, fold_of == fold, trees.counts, top, work.check)
            for fold in range(len(done), min(len(done) + work.parallel.size, n_folds))
        ]
        fresh = work.share(_hold_out, arguments)
        if wanted is None and top < min(most, MOST_CLUSTERS) and any(fold.chosen() > ROOM * top for fold in fresh):
            top, done = min(int(RAISE * top) + 1, most), []
        else:
            done += fresh
        told(len(done))
    return _joined(fold_of, done)


@dataclass(frozen=True, slots=True)
class _Fold:
    """Scores of the responses of one fold by number of clusters, how many decisions they are, and the partitions."""

    scores: dict[int, tuple[Floats, Floats]]
    decisions: Floats
    partitions: dict[int, Ints]

    def row(self, K: int) -> tuple[Floats, Floats]:
        """Scores of that number, or of the next smaller one."""
        return nearest_number(self.scores, K)

    def chosen(self) -> int:
        """The number that this fold alone would choose."""
        numbers = sorted(self.scores)
        loglik, right = (np.array([self.scores[number][n] for number in numbers]) for n in (0, 1))
        return HeldOutCurve(tuple(numbers), loglik, right, self.decisions, ()).chosen(ERRORS_OF_CLUSTERS)


def _hold_out(answers: Answers, held: Any, counts: PairCounts | None, top: int, check: Callable[[], None]) -> _Fold:
    train, test = answers.take(~held), answers.take(held)
    rest = None
    if counts is not None:
        less = pair_counts(test)
        assert less is not None
        rest = (counts[0] - less[0], counts[1] - less[1])
    fits: FitsByNumber = partitions_by_number(train, candidates_of(train, rest), top, check)
    trained = np.bincount(train.workers, minlength=train.n_workers) > 0
    known = np.bincount(test.response_of, train.shown[test.items], minlength=test.size)
    return _Fold(
        {number: fit.predictions(test, trained) for number, fit in fits.items()},
        np.where(known >= 2, known, 0.0),
        {number: fit.partition for number, fit in fits.items()},
    )


def _joined(fold_of: Ints, folds: Sequence[_Fold]) -> HeldOutCurve:
    numbers = sorted(set().union(*(fold.scores for fold in folds)))
    order = np.argsort(np.concatenate([np.flatnonzero(fold_of == n) for n in range(len(folds))]), kind="stable")
    loglik, right = (
        np.array([np.concatenate([fold.row(number)[n] for fold in folds]) for number in numbers])[:, order]
        for n in (0, 1)
    )
    # one odd response must not decide the number
    loglik = np.logaddexp(np.log1p(-ODD_RESPONSES) + loglik, np.log(ODD_RESPONSES) + loglik[0])
    decisions = np.concatenate([fold.decisions for fold in folds])[order]
    return HeldOutCurve(tuple(numbers), loglik, right, decisions, tuple(fold.partitions for fold in folds))


def adjusted_rand(first: Ints, second: Ints) -> float:
    """Adjusted Rand index of two partitions, over the items that have a cluster in both."""
    both = (first >= 0) & (second >= 0)
    counts = np.zeros((int(first.max()) + 1, int(second.max()) + 1))
    np.add.at(counts, (first[both], second[both]), 1.0)
    together, in_first, in_second, total = (
        float((sizes * (sizes - 1.0) / 2.0).sum())
        for sizes in (counts, counts.sum(axis=1), counts.sum(axis=0), counts.sum())
    )
    expected = in_first * in_second / max(total, 1.0)
    most = (in_first + in_second) / 2.0
    return (together - expected) / (most - expected) if most > expected else 1.0
