"""Triangular estimation (bonald2017, as in manino2019): reliabilities from how three workers agree, and a variant."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from crowdclust_app.domain.errors import InvalidInputError
from crowdclust_app.inference.aggregators.base import Aggregator
from crowdclust_app.inference.aggregators.iterations import Iterations
from crowdclust_app.inference.aggregators.label_posterior import LabelPosterior, log_odds_to_log_probabilities
from crowdclust_app.inference.aggregators.label_table import Codes, Floats, LabelTable, weighted_sums

# Workers between two looks at the cancel token.
_SLICE = 64
# Reliability is 2 p - 1; this keeps the weight of a worker who always agreed finite.
_LARGEST = 1.0 - 1e-3
# Pairs of workers that are compared at most, in both directions: some 60 bytes each.
MOST_PAIRS = 20_000_000
NO_TRIANGLES = (
    "no three workers share tasks on which they agree or differ more than by chance, so nobody's answers count"
)
# Agreements this close are equal.
_EQUAL = 1e-9


@dataclass(frozen=True, slots=True)
class Agreements:
    """How often every two workers who share a task agree, in compressed rows.

    Parameters
    ----------
    rows, neighbours : ndarray of shape (P,)
        The two workers; each pair is there in both directions, a worker's strongest agreements first.
    values : ndarray of shape (P,)
        Mean product of their labels (1 and -1) over the tasks both labelled.
    pointers : ndarray of shape (J + 1,)
        Where each worker's neighbours begin.
    """

    rows: Codes
    neighbours: Codes
    values: Floats
    pointers: Codes


class _Triangles(Aggregator, ABC):
    """Squared reliabilities from triangles of workers, signs from the least ambiguous one, then a weighted vote."""

    compiled = True

    @abstractmethod
    def _squared(self, found: Agreements, run: Iterations, notes: list[str]) -> Floats:
        """Squared reliability of each worker, shape (J,); 0 where there is no triangle."""

    @abstractmethod
    def _signs(self, size: Floats, found: Agreements) -> Floats:
        """1 or -1 for each worker, 0 for one who gets no say; shape (J,)."""

    def _infer(self, table: LabelTable, run: Iterations) -> LabelPosterior:
        edges = table.edges
        sign = np.sign(edges.ones - edges.zeros).astype(np.float64)
        used = sign != 0
        _refuse_too_many(self.name, edges.task[used], table)
        found = _agreements(edges.worker[used], edges.task[used], sign[used], table)
        notes: list[str] = []
        size = np.sqrt(self._squared(found, run, notes))
        run.step(0.0)
        alpha, beta = self._beta
        flip = 1.0 if alpha >= beta else -1.0
        reliability = np.clip(flip * self._signs(size, found) * size, -_LARGEST, _LARGEST)
        weight = np.log1p(reliability) - np.log1p(-reliability)
        prevalence, estimated = self._start_prevalence(table)
        if estimated:
            prevalence = (table.votes.sum(axis=0) + 1.0) / (table.n_labels + 2.0)
        votes = weighted_sums(edges.task, sign * weight[edges.worker], table.n_tasks)
        log_odds = votes + float(np.log(prevalence[1]) - np.log(prevalence[0]))
        if not reliability.any():
            notes = [NO_TRIANGLES]
        return LabelPosterior(log_odds_to_log_probabilities(log_odds), prevalence, {"reliability_": reliability}, notes)


def _agreements(worker: Codes, task: Codes, sign: Floats, table: LabelTable) -> Agreements:
    # most methods need no SciPy
    from scipy.sparse import csr_array

    shape = (table.n_workers, table.n_tasks)
    answers = csr_array((sign, (worker, task)), shape=shape)
    shown = csr_array((np.ones(len(sign)), (worker, task)), shape=shape)
    overlap = (shown @ shown.T).tocsr()
    # where agreements cancel the product is 0 and must stay a pair all the same: add the overlap, take it off again
    agreement = (answers @ answers.T + 2.0 * overlap).tocsr()
    overlap.sort_indices()
    agreement.sort_indices()
    # whole numbers until the division: equal agreements are equal to the bit
    values = (agreement.data - 2.0 * overlap.data) / overlap.data
    rows = np.repeat(np.arange(table.n_workers), np.diff(overlap.indptr))
    keep = rows != overlap.indices
    rows, neighbours, values = rows[keep], overlap.indices[keep].astype(np.int64), values[keep]
    del overlap, agreement, keep
    order = np.lexsort((-np.abs(values), rows))
    pointers = np.searchsorted(rows, np.arange(table.n_workers + 1))
    return Agreements(rows, neighbours[order], values[order], pointers)


class TriangularEstimation(_Triangles):
    """Estimates each worker's reliability from agreements, without iterations, then takes a weighted vote (bonald2017).

    With `C_ab` the mean product of two workers' labels (1 and -1) over the tasks both labelled, 0 where there are none,
    a worker's squared reliability is `|C_ka C_kb / C_ab|` for the pair `(a, b)` with the largest `|C_ab|` of all other
    workers. Signs follow the worker `k` with the largest `|r_k^2 + sum_a C_ka|`: `C_ka` has the sign of worker `a`. So
    workers who share no task with the pair, or with `k`, get no say: with few labels a worker that is most of them, and
    `te-overlap` does better. Of pairs that agree equally strongly the first in the order of the workers' names is
    taken, and there may be many. Prior and seed play no part, but for a prior that says that workers are wrong more
    often than right.

    Examples
    --------
    >>> votes = [1, 1, 1, 2, 2, 2, 3, 3, 3], list("abcabcabc"), [1, 1, 0, 0, 0, 1, 1, 1, 1]
    >>> fitted = TriangularEstimation().fit(*votes)
    >>> fitted.predict().tolist(), fitted.accuracy_.round(2).tolist()
    ([1, 0, 1], [0.83, 0.83, 0.5])
    """

    name = "te"

    def _squared(self, found: Agreements, run: Iterations, notes: list[str]) -> Floats:
        size = np.abs(found.values)
        once = np.flatnonzero(found.rows < found.neighbours)
        once = once[size[once] > 0]
        of_pair = found.rows[once], found.neighbours[once], -size[once]
        # by size, then by name: the first pair that leaves out a worker is the worker's
        squared = self._from_first(once[np.lexsort((of_pair[1], of_pair[0], of_pair[2]))], found, run)
        otherwise = self._from_first(once[np.lexsort((-of_pair[1], -of_pair[0], of_pair[2]))], found, run)
        moved = int((np.abs(squared - otherwise) > _EQUAL).sum())
        if moved:
            whom = f"{moved} worker{'s' if moved > 1 else ''}"
            notes.append(
                "several pairs agree equally strongly and the first by name is taken, which decides about "
                f"{whom}; in te-overlap names decide nothing"
            )
        return squared

    def _from_first(self, ranked: Codes, found: Agreements, run: Iterations) -> Floats:
        """Squared reliabilities from the first of these pairs that leaves out each worker."""
        squared = np.zeros(len(found.pointers) - 1)
        waiting = np.arange(len(squared))
        for at in ranked:
            run.check()
            a, b = found.rows[at], found.neighbours[at]
            inside = (waiting == a) | (waiting == b)
            of_a, of_b = self._agreement_with(a, found), self._agreement_with(b, found)
            outside = waiting[~inside]
            squared[outside] = np.abs(of_a[outside] * of_b[outside] / found.values[at])
            waiting = waiting[inside]
            if not len(waiting):
                break
        return squared

    @staticmethod
    def _agreement_with(worker: int, found: Agreements) -> Floats:
        """`C_ka` for one `a` and every `k`, 0 where they share no task; shape (J,)."""
        mine = slice(found.pointers[worker], found.pointers[worker + 1])
        agreement = np.zeros(len(found.pointers) - 1)
        agreement[found.neighbours[mine]] = found.values[mine]
        return agreement

    def _signs(self, size: Floats, found: Agreements) -> Floats:
        support = size**2 + weighted_sums(found.rows, found.values, len(size))
        leader = int((np.abs(support) >= np.abs(support).max() - _EQUAL).argmax())
        agreement = self._agreement_with(leader, found)
        agreement[leader] = 1.0
        return np.asarray(np.sign(support[leader]) * np.sign(agreement))


class OverlapTriangularEstimation(_Triangles):
    """Triangular estimation with, for each worker, a pair that shares tasks with that worker (after bonald2017).

    As `te`, but the pair `(a, b)` with the largest `|C_ab|` is chosen among those that both overlap with the worker,
    and of several such pairs the mean counts, so that names decide nothing. Signs follow the worker whose agreements
    with the others are least ambiguous: a worker who agrees with that one exactly half of the time gets no say, and
    one who never overlaps with that one counts as better than chance.

    Examples
    --------
    >>> votes = [1, 1, 1, 2, 2, 2, 3, 3, 3], list("abcabcabc"), [1, 1, 0, 0, 0, 1, 1, 1, 1]
    >>> fitted = OverlapTriangularEstimation().fit(*votes)
    >>> fitted.predict().tolist(), fitted.accuracy_.round(2).tolist()
    ([1, 0, 1], [0.83, 0.83, 0.5])
    """

    name = "te-overlap"

    def _squared(self, found: Agreements, run: Iterations, notes: list[str]) -> Floats:
        # compiled kernels take a second to load; most methods need none
        from crowdclust_app.inference.aggregators.triangular_kernels import best_pairs

        workers = len(found.pointers) - 1
        squared, mark = np.zeros(workers), np.zeros(workers)
        present = np.zeros(workers, dtype=bool)
        pairs = (found.pointers, found.neighbours, found.values)
        for begin in range(0, workers, _SLICE):
            run.check()
            best_pairs(begin, min(begin + _SLICE, workers), *pairs, mark, present, squared)
        return squared

    def _signs(self, size: Floats, found: Agreements) -> Floats:
        rows, neighbours, values = found.rows, found.neighbours, found.values
        support = size**2 + weighted_sums(rows, values, len(size))
        leading = np.abs(support) >= np.abs(support).max() - _EQUAL
        ahead = np.where(leading, np.where(support >= 0, 1.0, -1.0), 0.0)
        # of several leaders their sum counts, so that names decide nothing
        known = weighted_sums(rows, np.abs(ahead[neighbours]), len(size)) + leading > 0
        agreed = weighted_sums(rows, ahead[neighbours] * values, len(size)) + ahead
        agreed[np.abs(agreed) < _EQUAL] = 0.0
        return np.asarray(np.where(known, np.sign(agreed), 1.0))


def _refuse_too_many(name: str, tasks: Codes, table: LabelTable) -> None:
    """Refuse labels with more pairs of workers who share a task than fit into memory."""
    shared = float((np.bincount(tasks, minlength=1).astype(np.float64) ** 2).sum())
    pairs = min(shared, float(table.n_workers) ** 2)
    if pairs > MOST_PAIRS:
        what = f"{name} compares every two workers who share a task, here about {pairs / 2:,.0f} pairs"
        raise InvalidInputError(
            what, todo=f"it takes up to {MOST_PAIRS // 2:,}; take another method, such as em2 or sbic-fast"
        )
