"""Which workers share a criterion: groups of workers, each with its own partition of the atomic clusters.

A worker who sorts by colour puts clusters together that have one colour. So a group of workers is a partition of the
clusters into blocks: its members put items of one block together with a high rate and items of two blocks with a low
one, each member with rates of their own, so that a clumsy worker and a careful one are of one group. Beside the groups
there are three ways to sort that say nothing of the clusters: at random (one rate for all pairs), everything together
and everything apart. All rates have Beta priors and are integrated out, which makes the likelihood of a worker under a
partition a product of Beta functions; the partitions and the shares of the groups are found by coordinate ascent.

The number of groups is the one with the highest evidence: a further group pays the logarithm of the number of
partitions (all are equally likely before) and half the logarithm of the number of workers for its share.

Labels are counted in decisions, see `worker_pairs`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln, digamma, logsumexp

from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.inference.crowdclustering.kernels.arrays import Floats, Ints
from crowdclust_app.inference.crowdclustering.partitions.cluster_pair_counts import (
    PairCounts,
    canonical,
    log_bell,
    merge_clusters,
    move_clusters,
)

SILENT, IN_GROUP, OWN_WAY, RANDOM, ONE_GROUP, ALL_APART, UNCLEAR = range(7)
"""What a worker is: gave no label between clusters; in a group; sorts by a partition of their own; sorts without
regard to the clusters; puts everything together; everything apart; could be of several kinds."""

# Beta priors of the rates of "same": inside a block, between blocks, at random, everything together, apart.
INSIDE, BETWEEN = (6.0, 1.0), (1.0, 6.0)
OTHERS = {RANDOM: (1.0, 1.0), ONE_GROUP: (40.0, 1.0), ALL_APART: (1.0, 40.0)}
# Kinds are said of workers for whom they are at least this probable.
CERTAIN = 0.8
# Most active workers whose own partitions are tried as those of a group.
SEEDS = 60
ROUNDS = 20
MOST_GROUPS = 12
# Nats by which a further group has to better the evidence: it is then twenty times as probable.
WORTH = 3.0


@dataclass(frozen=True, slots=True)
class WorkerGroups:
    """Groups of `J` workers over `K` clusters, the group of most members first.

    Parameters
    ----------
    group : ndarray of shape (J,)
        Number of the group from 1; 0 for none.
    kind : ndarray of shape (J,)
        `IN_GROUP` and the like.
    probability : ndarray of shape (J,)
        Of the group or kind; of the best guess for `UNCLEAR`, 0 for `SILENT`.
    partitions : ndarray of shape (G, K)
        Block of each cluster, from 0 in order of first appearance.
    together : ndarray of shape (G, K, K)
        Share of "same" among the members' labels; NaN for clusters of which no member had two items before them.
    own : dict of int to ndarray of shape (K,)
        The partitions of workers of `OWN_WAY`.
    evidence : tuple of float
        Log evidence in nats with 0, 1, ... groups, as far as was tried.
    """

    group: Ints
    kind: Ints
    probability: Floats
    partitions: Ints
    together: Floats
    own: dict[int, Ints]
    evidence: tuple[float, ...]


def group_workers(counts: PairCounts, cancel: CancelToken | None = None) -> WorkerGroups:
    """Find the groups of workers who share a criterion.

    Parameters
    ----------
    counts
        How workers sorted pairs of clusters.
    cancel
        Polled between steps.

    Raises
    ------
    Cancelled
        When asked to stop.
    """
    search = _Search(counts, cancel.check if cancel else lambda: None)
    heard = np.flatnonzero(search.total > 0)
    found = _State(np.zeros((0, counts.n_clusters), dtype=np.int64), np.ones(len(OTHERS)) / len(OTHERS))
    evidence = [search.evidence(found, heard)]
    if counts.n_clusters > 1 and len(heard):
        seeds = search.seeds(heard)
        while len(found.partitions) < MOST_GROUPS:
            more = search.with_another(found, seeds, heard)
            if more is None:
                break
            evidence.append(search.evidence(more, heard))
            if evidence[-1] < evidence[-2] + WORTH:
                break
            found = more
    return search.describe(found, heard, tuple(evidence))


@dataclass(frozen=True, slots=True)
class _State:
    """Partitions of the groups, shape (G, K), and shares of groups and of the other kinds, shape (G + 3,)."""

    partitions: Ints
    shares: Floats


class _Search:
    """The steps of the ascent, over the same counts."""

    def __init__(self, counts: PairCounts, check: Callable[[], None]) -> None:
        self.counts, self.check = counts, check
        self.K = counts.n_clusters
        self.first, self.second = np.triu_indices(self.K)
        self.all_same = np.asarray(counts.same.sum(axis=1)).ravel()
        self.all_apart = np.asarray(counts.apart.sum(axis=1)).ravel()
        self.total = self.all_same + self.all_apart
        self.others = np.stack([_marginal(self.all_same, self.all_apart, prior) for prior in OTHERS.values()], axis=1)

    def sums(self, partition: Ints) -> tuple[Floats, Floats, Floats, Floats]:
        """Same and apart inside blocks, same and apart between blocks, by worker."""
        inside = (partition[self.first] == partition[self.second]).astype(np.float64)
        same, apart = self.counts.same @ inside, self.counts.apart @ inside
        return same, apart, np.maximum(self.all_same - same, 0.0), np.maximum(self.all_apart - apart, 0.0)

    def loglik(self, partition: Ints) -> Floats:
        """Log marginal likelihood of every worker under a partition; shape (J,)."""
        same, apart, same_between, apart_between = self.sums(partition)
        return _marginal(same, apart, INSIDE) + _marginal(same_between, apart_between, BETWEEN)

    def matrix(self, state: _State) -> Floats:
        """Of every worker under every group and other kind; shape (J, G + 3)."""
        return np.column_stack([*(self.loglik(partition) for partition in state.partitions), self.others])

    def evidence(self, state: _State, heard: Ints) -> float:
        """Log evidence in nats, the price of the groups paid."""
        G = len(state.partitions)
        logs = self.matrix(state)[heard] + np.log(state.shares)
        price = G * (log_bell(self.K) + 0.5 * np.log(max(len(heard), 1)))
        return float(logsumexp(logs, axis=1).sum() - price) if len(heard) else 0.0

    def seeds(self, heard: Ints) -> Ints:
        """Partitions to begin a group from: those of the workers who gave most labels, and the finest one."""
        active = heard[np.argsort(-self.total[heard], kind="stable")][:SEEDS]
        found = {tuple(range(self.K))}
        for worker in active.tolist():
            self.check()
            member = np.zeros(len(self.total))
            member[worker] = 1.0
            found.add(tuple(self.best_partition(member).tolist()))
        return np.array(sorted(found), dtype=np.int64)

    def best_partition(self, members: Floats, begin: Ints | None = None) -> Ints:
        """The partition of the highest likelihood of these members, found by merging blocks and moving clusters.

        Parameters
        ----------
        members : ndarray of shape (J,)
            How much each worker counts.
        """
        partition = np.arange(self.K) if begin is None else begin
        own = np.flatnonzero(members > 1e-6)
        weight = members[own]
        part = _Search(_of(self.counts, own), self.check)
        # rates first: those of the prior, then what the partition so far says
        inside, between = _rates(INSIDE), _rates(BETWEEN)
        log_in, log_out = np.tile(inside, (len(own), 1)), np.tile(between, (len(own), 1))
        best, best_value = partition, -np.inf
        for _ in range(ROUNDS):
            gain = part.counts.same.T @ (weight * (log_in[:, 0] - log_out[:, 0]))
            gain = gain + part.counts.apart.T @ (weight * (log_in[:, 1] - log_out[:, 1]))
            gains = np.zeros((self.K, self.K))
            gains[self.first, self.second] = gain
            gains = gains + gains.T
            np.fill_diagonal(gains, 0.0)
            partition = move_clusters(gains, merge_clusters(gains))
            value = float((weight * part.loglik(partition)).sum())
            if value <= best_value + 1e-9:
                break
            best, best_value = partition, value
            same, apart, same_between, apart_between = part.sums(partition)
            log_in = _expected_logs(same, apart, INSIDE)
            log_out = _expected_logs(same_between, apart_between, BETWEEN)
        return best

    def with_another(self, state: _State, seeds: Ints, heard: Ints) -> _State | None:
        """The state with one more group, after the ascent; None where no seed is new."""
        known = {tuple(partition.tolist()) for partition in state.partitions}
        best, best_value = None, -np.inf
        G = len(state.partitions)
        fresh = 1.0 / (G + 1 + len(OTHERS))
        shares = np.concatenate([state.shares[:G] * (1 - fresh), [fresh], state.shares[G:] * (1 - fresh)])
        before = self.matrix(state)[heard]
        for seed in seeds:
            self.check()
            if tuple(seed.tolist()) in known:
                continue
            logs = np.column_stack([before[:, :G], self.loglik(seed)[heard], before[:, G:]]) + np.log(shares)
            value = float(logsumexp(logs, axis=1).sum())
            if value > best_value:
                best, best_value = seed, value
        if best is None:
            return None
        return self.ascend(_State(np.vstack([state.partitions, best]), shares), heard)

    def ascend(self, state: _State, heard: Ints) -> _State:
        """Members, shares and partitions in turn until no partition changes."""
        for _ in range(ROUNDS):
            self.check()
            members = self.members(state, heard)
            shares = (members.sum(axis=0) + 0.5) / (len(heard) + 0.5 * members.shape[1])
            weights = np.zeros((len(self.total), members.shape[1]))
            weights[heard] = members
            partitions = []
            for g, partition in enumerate(state.partitions):
                found = self.best_partition(weights[:, g], partition)
                old, new = (float((weights[:, g] * self.loglik(part)).sum()) for part in (partition, found))
                partitions.append(found if new > old + 1e-9 else partition)
            moved = np.array(partitions, dtype=np.int64)
            if np.array_equal(moved, state.partitions) and np.allclose(shares, state.shares, atol=1e-4):
                break
            state = _State(moved, shares)
        return _without_doubles(state)

    def members(self, state: _State, heard: Ints) -> Floats:
        """Probability of every group and other kind for those who gave labels; shape (n, G + 3)."""
        logs = self.matrix(state)[heard] + np.log(state.shares)
        return np.asarray(np.exp(logs - logsumexp(logs, axis=1, keepdims=True)))

    def describe(self, state: _State, heard: Ints, evidence: tuple[float, ...]) -> WorkerGroups:
        """The groups as they are shown: a group of one is that worker's own way."""
        J, G = len(self.total), len(state.partitions)
        members = self.members(state, heard) if len(heard) else np.zeros((0, G + len(OTHERS)))
        chance = members.max(axis=1) if len(heard) else np.zeros(0)
        choice = members.argmax(axis=1) if len(heard) else np.zeros(0, dtype=np.int64)
        sure = chance >= CERTAIN
        sizes = np.bincount(choice[sure & (choice < G)], minlength=G)
        order = [int(g) for g in np.argsort(-sizes, kind="stable") if sizes[g] > 1]
        number = {g: place for place, g in enumerate(order, start=1)}
        group, kind, probability = np.zeros(J, np.int64), np.full(J, SILENT), np.zeros(J)
        probability[heard] = chance
        own: dict[int, Ints] = {}
        kinds = list(OTHERS)
        for worker, best, certain in zip(heard.tolist(), choice.tolist(), sure.tolist(), strict=True):
            if not certain:
                kind[worker] = UNCLEAR
            elif best >= G:
                # with one cluster there is nothing to disregard
                kind[worker] = UNCLEAR if self.K == 1 and kinds[best - G] == RANDOM else kinds[best - G]
            elif best in number:
                kind[worker], group[worker] = IN_GROUP, number[best]
            else:
                kind[worker] = OWN_WAY
                own[worker] = canonical(state.partitions[best])
        partitions = np.array([canonical(state.partitions[g]) for g in order], dtype=np.int64).reshape(-1, self.K)
        together = np.array([self.share_together(group == place) for place in range(1, len(order) + 1)])
        return WorkerGroups(group, kind, probability, partitions, together.reshape(-1, self.K, self.K), own, evidence)

    def share_together(self, members: NDArray[np.bool_]) -> Floats:
        """Share of "same" among the labels of some workers, by clusters; shape (K, K)."""
        same = np.asarray(self.counts.same[members].sum(axis=0)).ravel()
        total = same + np.asarray(self.counts.apart[members].sum(axis=0)).ravel()
        share = np.divide(same, total, out=np.full(len(same), np.nan), where=total > 0)
        matrix = np.empty((self.K, self.K))
        matrix[self.first, self.second] = share
        matrix[self.second, self.first] = share
        return matrix


def _of(counts: PairCounts, workers: Ints) -> PairCounts:
    """The counts of some workers."""
    return PairCounts(counts.n_clusters, counts.same[workers], counts.apart[workers])


def _without_doubles(state: _State) -> _State:
    """Two groups that came to one partition are one."""
    partitions, which = np.unique(state.partitions, axis=0, return_inverse=True)
    G = len(state.partitions)
    shares = np.bincount(which.ravel(), weights=state.shares[:G], minlength=len(partitions))
    return _State(partitions, np.concatenate([shares, state.shares[G:]]))


def _marginal(same: Floats, apart: Floats, prior: tuple[float, float]) -> Floats:
    """Log probability of such labels with a rate of that Beta prior."""
    return np.asarray(betaln(prior[0] + same, prior[1] + apart) - betaln(*prior))


def _expected_logs(same: Floats, apart: Floats, prior: tuple[float, float]) -> Floats:
    """Expected logarithms of the rate and of one minus the rate; shape (n, 2)."""
    a, b = prior[0] + same, prior[1] + apart
    return np.column_stack([digamma(a) - digamma(a + b), digamma(b) - digamma(a + b)])


def _rates(prior: tuple[float, float]) -> Floats:
    mean = prior[0] / (prior[0] + prior[1])
    return np.array([np.log(mean), np.log1p(-mean)])
