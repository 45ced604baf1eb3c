"""Triangular estimation (bonald2017, as in manino2019): reliabilities from how three workers agree."""

from __future__ import annotations

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


class TriangularEstimation(Aggregator):
    """Estimates each worker's reliability from agreements, without iterations, then takes a weighted vote (bonald2017).

    With `C_ab` the mean product of two workers' labels (1 and -1) over the tasks both labelled, a worker's squared
    reliability is `C_ka C_kb / C_ab` for the pair with the largest `|C_ab|` among those that both overlap with the
    worker. Signs follow the worker whose agreements with the others are least ambiguous: a worker who agrees with that
    one exactly half of the time gets no say, and one who never overlaps with that one counts as better than chance.
    Prior and seed play no part, but for a prior that says that workers are wrong more often than right.

    Examples
    --------
    >>> votes = [1, 1, 1, 2, 2, 2, 3, 3, 3], list("abcabcabc"), [1, 1, 0, 0, 0, 1, 1, 1, 1]
    >>> fitted = TriangularEstimation().fit(*votes)
    >>> fitted.predict().tolist(), fitted.accuracy_.round(2).tolist()
    ([1, 0, 1], [0.83, 0.83, 0.5])
    """

    name = "te"
    compiled = True

    def _infer(self, table: LabelTable, run: Iterations) -> LabelPosterior:
        # most methods need no SciPy
        from scipy.sparse import csr_array

        # compiled kernels take a second to load; most methods need none
        from crowdclust_app.inference.aggregators.triangular_kernels import best_pairs

        edges = table.edges
        sign = np.sign(edges.ones - edges.zeros).astype(np.float64)
        used = sign != 0
        _refuse_too_many(edges.task[used], table)
        shape = (table.n_workers, table.n_tasks)
        at = (edges.worker[used], edges.task[used])
        answers = csr_array((sign[used], at), shape=shape)
        shown = csr_array((np.ones(int(used.sum())), at), shape=shape)
        overlap = (shown @ shown.T).tocsr()
        # where agreements cancel the product is 0 and must stay a pair all the same: add the overlap, take it off again
        agreement = (answers @ answers.T + 2.0 * overlap).tocsr()
        overlap.sort_indices()
        agreement.sort_indices()
        values = agreement.data / overlap.data - 2.0
        rows = np.repeat(np.arange(table.n_workers), np.diff(overlap.indptr))
        keep = rows != overlap.indices
        rows, neighbours, values = rows[keep], overlap.indices[keep].astype(np.int64), values[keep]
        del overlap, agreement, keep
        # a worker's strongest agreements first, so that the search can stop early
        order = np.lexsort((-np.abs(values), rows))
        neighbours, values = neighbours[order], values[order]
        pointers = np.searchsorted(rows, np.arange(table.n_workers + 1))
        squared, mark = np.zeros(table.n_workers), np.zeros(table.n_workers)
        present = np.zeros(table.n_workers, dtype=bool)
        for begin in range(0, table.n_workers, _SLICE):
            run.check()
            best_pairs(
                begin, min(begin + _SLICE, table.n_workers), pointers, neighbours, values, mark, present, squared
            )
        run.step(0.0)
        reliability = self._with_signs(np.sqrt(squared), rows, neighbours, values)
        weight = np.log1p(reliability) - np.log1p(-reliability)
        prevalence, estimated = self._start_prevalence(table)
        if estimated:
            prevalence = (table.votes.sum(axis=0) + 1.0) / (table.n_labels + 2.0)
        votes = weighted_sums(edges.task, sign * weight[edges.worker], table.n_tasks)
        log_odds = votes + float(np.log(prevalence[1]) - np.log(prevalence[0]))
        notes = [] if reliability.any() else [NO_TRIANGLES]
        return LabelPosterior(log_odds_to_log_probabilities(log_odds), prevalence, {"reliability_": reliability}, notes)

    def _with_signs(self, size: Floats, rows: np.ndarray, neighbours: np.ndarray, values: Floats) -> Floats:
        """Give each worker a sign: that of its agreement with the worker who is least ambiguous."""
        support = size**2 + weighted_sums(rows, values, len(size))
        leading = np.abs(support) >= np.abs(support).max() - _EQUAL
        ahead = np.where(leading, np.where(support >= 0, 1.0, -1.0), 0.0)
        alpha, beta = self._beta
        flip = 1.0 if alpha >= beta else -1.0
        # of several leaders their sum counts, so that names decide nothing
        known = weighted_sums(rows, np.abs(ahead[neighbours]), len(size)) + leading > 0
        agreed = weighted_sums(rows, ahead[neighbours] * values, len(size)) + ahead
        agreed[np.abs(agreed) < _EQUAL] = 0.0
        signs = np.where(known, np.sign(agreed), 1.0)
        return np.asarray(np.clip(flip * signs * size, -_LARGEST, _LARGEST))


def _refuse_too_many(tasks: Codes, table: LabelTable) -> None:
    """Refuse labels with more pairs of workers who share a task than fit into memory."""
    shared = float((np.bincount(tasks, minlength=1).astype(np.float64) ** 2).sum())
    pairs = min(shared, float(table.n_workers) ** 2)
    if pairs > MOST_PAIRS:
        what = f"te compares every two workers who share a task, here about {pairs / 2:,.0f} pairs"
        raise InvalidInputError(
            what, todo=f"it takes up to {MOST_PAIRS // 2:,}; take another method, such as em2 or sbic-fast"
        )
