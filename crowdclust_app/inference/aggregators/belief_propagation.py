"""Belief propagation on the graph of tasks and workers (liu2012 section 3.1), in log-odds of the second class.

One message an edge and direction. Several labels of one worker on one task are one edge, as the model has it: they
share the task's class and the worker's coin.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from crowdclust_app.inference.aggregators.base import Aggregator
from crowdclust_app.inference.aggregators.iterations import Iterations
from crowdclust_app.inference.aggregators.label_posterior import LabelPosterior, log_odds_to_log_probabilities
from crowdclust_app.inference.aggregators.label_table import Edges, Floats, LabelTable, weighted_sums
from crowdclust_app.inference.aggregators.quadrature import BetaNodes, discrete_nodes

# Log-odds are kept within this: probabilities beyond are 0 and 1 to a double.
_LARGEST = 600.0
# Labels of a worker from which on a few points stand for them.
MANY_LABELS = 1000
# Messages that still swing after so many rounds are averaged with the last ones; the fixed points are the same.
_UNDAMPED = 20
# Workers between two looks at the cancel token.
_SLICE = 64


class _Messages(Aggregator, ABC):
    """Iterates messages between tasks and workers to a fixed point."""

    usual_iterations = 300
    _bounded: ClassVar[bool] = True
    _damped: ClassVar[bool] = True

    @abstractmethod
    def _outgoing(self, edges: Edges, incoming: Floats, run: Iterations) -> Floats:
        """Messages from workers to tasks, shape (E,), given those from tasks to workers."""

    def _starts_negative(self) -> bool:
        """Whether the prior says that workers are wrong more often than right."""
        if isinstance(self._prior, Mapping):
            return sum(point * share for point, share in self._prior.items()) < 0.5
        alpha, beta = self._beta
        return alpha < beta

    def _infer(self, table: LabelTable, run: Iterations) -> LabelPosterior:
        edges = table.edges
        prevalence, estimated = self._start_prevalence(table)
        labelled = table.task_counts > 0
        outgoing = (edges.ones - edges.zeros).astype(np.float64)
        if self._starts_negative():
            outgoing = -outgoing
        beliefs = self._sum(table, edges, outgoing, prevalence)
        settled = np.tanh(outgoing / 4.0)
        going = True
        while going:
            # the product of all other messages to the task: dividing the belief by its own is one pass over the edges
            incoming = beliefs[edges.task] - outgoing
            if self._bounded:
                incoming = np.clip(incoming, -_LARGEST, _LARGEST)
            before, outgoing = outgoing, self._outgoing(edges, incoming, run)
            if self._damped and run.iterations >= _UNDAMPED:
                outgoing = 0.5 * (outgoing + before)
            if estimated:
                share = float((1.0 / (1.0 + np.exp(-np.clip(beliefs[labelled], -_LARGEST, _LARGEST)))).mean())
                share = min(max(share, 1e-9), 1.0 - 1e-9)
                prevalence = np.array([1.0 - share, share])
            beliefs = self._sum(table, edges, outgoing, prevalence)
            # far out, a message may still grow while the probability it stands for is settled
            last, settled = settled, np.tanh(outgoing / 4.0)
            going = run.step(float(np.abs(settled - last).max()))
        return LabelPosterior(log_odds_to_log_probabilities(beliefs), prevalence, {"log_odds_": beliefs})

    def _sum(self, table: LabelTable, edges: Edges, outgoing: Floats, prevalence: Floats) -> Floats:
        votes = weighted_sums(edges.task, outgoing, table.n_tasks)
        return np.asarray(votes + float(np.log(prevalence[1]) - np.log(prevalence[0])))


class _SumProduct(_Messages):
    """Sum-product messages by quadrature over a worker's coin or coins."""

    compiled = True
    _two_coins: ClassVar[bool] = False

    def _infer(self, table: LabelTable, run: Iterations) -> LabelPosterior:
        if not isinstance(self._prior, Mapping):
            self._nodes = BetaNodes(*self._beta)
            self._boxes = np.full((table.n_workers, 4), -1, dtype=np.int64)
            alpha, beta = self._beta
            self._tops = np.full((table.n_workers, 2), float(np.log(alpha) - np.log(beta)))
        return super()._infer(table, run)

    def _outgoing(self, edges: Edges, incoming: Floats, run: Iterations) -> Floats:
        # compiled kernels take a second to load; most methods need none
        from crowdclust_app.inference.aggregators.bp_kernels import one_coin_messages, two_coin_messages
        from crowdclust_app.inference.aggregators.bp_large import one_coin_messages_of_many, two_coin_messages_of_many

        out = np.empty_like(incoming)
        # Equation 8 sums over all ways that a worker's labels may be right and wrong: a polynomial in the coin, whose
        # integral against the Beta prior is a sum over Gauss-Jacobi nodes, exact with enough of them
        for worker in range(len(edges.pointers) - 1):
            begin, end = edges.pointers[worker], edges.pointers[worker + 1]
            if begin == end:
                continue
            if worker % 64 == 0:
                run.check()
            mine = slice(begin, end)
            ones, zeros = edges.ones[mine], edges.zeros[mine]
            degree = int(ones.sum() + zeros.sum())
            if self._two_coins and degree > MANY_LABELS:
                two_coin_messages_of_many(incoming[mine], ones, zeros, *self._beta, self._tops[worker], out[mine])
                continue
            p, r, log_weights = self._nodes.of_degree(degree)
            columns = (incoming[mine], ones, zeros, p, r, log_weights)
            if self._two_coins:
                two_coin_messages(*columns, self._boxes[worker], out[mine])
            elif degree > MANY_LABELS:
                one_coin_messages_of_many(*columns, out[mine])
            else:
                one_coin_messages(*columns, out[mine])
        return out


class BeliefPropagation(_SumProduct):
    """Sum-product belief propagation, one coin a worker, with a Beta or a discrete prior (liu2012, equation 8).

    A prior at one accuracy above one half is majority voting; one at 0 and 1 in equal shares (Haldane's) is KOS.

    Examples
    --------
    >>> votes = [1, 1, 1, 2, 2, 2, 3, 3, 3], list("abcabcabc"), [1, 1, 0, 0, 0, 1, 1, 1, 1]
    >>> BeliefPropagation().fit(*votes).predict_proba([1]).round(2).tolist()
    [[0.21, 0.79]]
    >>> BeliefPropagation(prior={0.5: 0.5, 0.9: 0.5}).fit(*votes).predict_proba([1]).round(2).tolist()
    [[0.16, 0.84]]
    """

    name = "bp"
    takes_discrete_prior = True
    # discrete priors at 0 and 1 give messages that grow without limit, and are computed in log space throughout
    _bounded = False

    def _outgoing(self, edges: Edges, incoming: Floats, run: Iterations) -> Floats:
        if isinstance(self._prior, Mapping):
            return _discrete_messages(edges, incoming, *discrete_nodes(self._prior))
        return super()._outgoing(edges, np.clip(incoming, -_LARGEST, _LARGEST), run)


class TwoCoinBeliefPropagation(_SumProduct):
    """Sum-product belief propagation, independent priors on sensitivity and specificity (liu2012, section 3.1.2).

    Examples
    --------
    >>> votes = [1, 1, 1, 2, 2, 2, 3, 3, 3], list("abcabcabc"), [1, 1, 0, 0, 0, 1, 1, 1, 1]
    >>> fitted = TwoCoinBeliefPropagation().fit(*votes)
    >>> fitted.predict().tolist(), fitted.sensitivity_.round(2).tolist()
    ([1, 0, 1], [0.75, 0.75, 0.64])
    """

    name = "bp2"
    coins = 2
    usual_iterations = 100
    _two_coins = True


class MaxProduct(_Messages):
    """Max-product belief propagation: the jointly most probable labels of all tasks (liu2012, section 3.1).

    Several labels of a worker on one task count as the one given more often, or not at all.

    Examples
    --------
    >>> votes = [1, 1, 1, 2, 2, 2, 3, 3, 3], list("abcabcabc"), [1, 1, 0, 0, 0, 1, 1, 1, 1]
    >>> fitted = MaxProduct().fit(*votes)
    >>> fitted.predict().tolist(), fitted.accuracy_.round(2).tolist()
    ([1, 0, 1], [0.79, 0.79, 0.51])
    """

    name = "bp-max"
    usual_iterations = 100
    # its messages cycle between extremes, and an average of them is no better an answer
    _damped = False
    compiled = True

    def _infer(self, table: LabelTable, run: Iterations) -> LabelPosterior:
        # most methods need no SciPy
        from scipy.special import betaln

        edges = table.edges
        self._sign = np.sign(edges.ones - edges.zeros).astype(np.float64)
        used = np.flatnonzero(self._sign)
        counts = np.bincount(edges.worker[used], minlength=table.n_workers)
        self._used = used, np.concatenate([[0], np.cumsum(counts)])
        # the log prior weight of each count of right labels, for each number of labels that occurs
        alpha, beta = self._beta
        sizes = np.flatnonzero(np.bincount(counts))
        right = np.concatenate([np.arange(size + 1) for size in sizes])
        wrong = np.concatenate([np.arange(size, -1, -1) for size in sizes])
        self._log_psi: Floats = np.asarray(betaln(alpha + right, beta + wrong))
        begin = np.zeros(sizes[-1] + 1, dtype=np.int64)
        begin[sizes] = np.cumsum(sizes + 1) - (sizes + 1)
        self._begin_psi = begin[counts]
        posterior = super()._infer(table, run)
        # as large as the table, and of no use after the fit
        del self._sign, self._used, self._log_psi, self._begin_psi
        return posterior

    def _outgoing(self, edges: Edges, incoming: Floats, run: Iterations) -> Floats:
        # compiled kernels take a second to load; most methods need none
        from crowdclust_app.inference.aggregators.bp_kernels import max_product_messages

        used, pointers = self._used
        sign = self._sign[used]
        right, found = sign * incoming[used], np.empty(len(used))
        for first in range(0, len(pointers) - 1, _SLICE):
            run.check()
            last = min(first + _SLICE, len(pointers) - 1)
            max_product_messages(first, last, pointers, right, self._begin_psi, self._log_psi, found)
        out = np.zeros_like(incoming)
        out[used] = sign * found
        return out


def _discrete_messages(edges: Edges, incoming: Floats, points: Floats, log_shares: Floats) -> Floats:
    """Messages under a discrete prior, in log space; accuracies of 0 and 1 are allowed."""
    with np.errstate(divide="ignore"):
        log_p, log_r = np.log(points), np.log1p(-points)
    ones, zeros = edges.ones[:, None].astype(np.float64), edges.zeros[:, None].astype(np.float64)
    up = _times(ones, log_p) + _times(zeros, log_r)
    down = _times(zeros, log_p) + _times(ones, log_r)
    second, first = -np.logaddexp(0.0, -incoming)[:, None], -np.logaddexp(0.0, incoming)[:, None]
    factor = np.logaddexp(second + up, first + down)
    impossible = np.isneginf(factor)  # only by repeats that contradict a coin without errors
    factor = np.where(impossible, -1e6, factor)
    workers = len(edges.pointers) - 1
    total = np.stack([weighted_sums(edges.worker, column, workers) for column in factor.T], axis=1)
    others = (total + log_shares)[edges.worker] - factor
    return np.asarray(_log_sum(others + up) - _log_sum(others + down))


def _times(counts: Floats, logs: Floats) -> Floats:
    """Counts times logs, where none of an impossible thing is possible."""
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(counts == 0, 0.0, counts * logs), dtype=np.float64)


def _log_sum(logs: Floats) -> Floats:
    """Log of the sum over the last axis; very small but finite where every term is zero."""
    largest = np.maximum(logs.max(axis=-1, keepdims=True), -1e9)
    with np.errstate(under="ignore"):
        return np.asarray(largest[..., 0] + np.log(np.maximum(np.exp(logs - largest).sum(axis=-1), 1e-300)))
