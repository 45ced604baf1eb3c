"""How workers sorted pairs of clusters, in numbers of decisions, and partitions of the clusters found from such.

The pair labels of one response are not independent: `M` placements make `M (M - 1) / 2` of them. Each counts `2 / M`,
so that a response counts as the `M - 1` decisions that it takes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import log
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import coo_array

from crowdclust_app.domain.response_table import ResponseTable
from crowdclust_app.inference.crowdclustering.kernels.arrays import Floats, Ints

if TYPE_CHECKING:
    from scipy.sparse import csr_array

# Passes over all clusters when single ones are moved.
PASSES = 20


@dataclass(frozen=True, slots=True)
class PairCounts:
    """How often workers put items of two clusters together, in decisions (a response of `M` items counts `M - 1`).

    Parameters
    ----------
    n_clusters
        `K`; the columns are the `P = K (K + 1) / 2` pairs of clusters `a <= b`, row by row of the upper triangle.
    same, apart : sparse array of shape (J, P)
    """

    n_clusters: int
    same: csr_array
    apart: csr_array


def count_cluster_pairs(table: ResponseTable, cluster: Ints, n_clusters: int) -> PairCounts:
    """Count how workers sorted pairs of clusters.

    Parameters
    ----------
    table
        The responses of `J` workers.
    cluster : ndarray of shape (N,)
        Cluster of each item from 0, -1 for none.
    n_clusters
        `K`.
    """
    rows: list[Ints] = []
    columns: list[Ints] = []
    same: list[Floats] = []
    total: list[Floats] = []
    for response in range(table.n_responses):
        span = slice(int(table.response_ptr[response]), int(table.response_ptr[response + 1]))
        where = cluster[table.items[span]]
        known = where >= 0
        if np.count_nonzero(known) < 2:
            continue
        present, a = np.unique(where[known], return_inverse=True)
        groups, g = np.unique(table.groups[span][known], return_inverse=True)
        counts = np.zeros((len(present), len(groups)))
        np.add.at(counts, (a, g), 1.0)
        sizes = counts.sum(axis=1)
        together, shown = counts @ counts.T, np.outer(sizes, sizes)
        diagonal = np.arange(len(present))
        together[diagonal, diagonal] = (counts * (counts - 1.0)).sum(axis=1) / 2.0
        shown[diagonal, diagonal] = sizes * (sizes - 1.0) / 2.0
        first, second = np.triu_indices(len(present))
        weight = 2.0 / sizes.sum()
        columns.append(pair_column(present[first], present[second], n_clusters))
        rows.append(np.full(len(first), table.worker_of_response[response]))
        same.append(weight * together[first, second])
        total.append(weight * shown[first, second])
    shape = (table.n_workers, n_clusters * (n_clusters + 1) // 2)
    if not rows:
        return PairCounts(n_clusters, coo_array(shape).tocsr(), coo_array(shape).tocsr())
    at = (np.concatenate(rows), np.concatenate(columns))
    together_all, total_all = np.concatenate(same), np.concatenate(total)
    return PairCounts(
        n_clusters,
        coo_array((together_all, at), shape=shape).tocsr(),
        coo_array((total_all - together_all, at), shape=shape).tocsr(),
    )


def pair_column(a: Ints, b: Ints, n_clusters: int) -> Ints:
    """Column of the pair of clusters `a <= b`."""
    return np.asarray(a * n_clusters - a * (a - 1) // 2 + (b - a))


def merge_clusters(gains: Floats) -> Ints:
    """Join the two blocks whose union gains most, until no union gains; shape (K,).

    Parameters
    ----------
    gains : ndarray of shape (K, K)
        What it gains to have two clusters in one block.
    """
    K = len(gains)
    between = gains.copy()
    np.fill_diagonal(between, -np.inf)
    block = np.arange(K)
    for _ in range(K - 1):
        a, b = divmod(int(np.argmax(between)), K)
        if not between[a, b] > 0.0:
            break
        between[a] += between[b]
        between[:, a] = between[a]
        between[b] = between[:, b] = -np.inf
        between[a, a] = -np.inf
        block[block == b] = a
    return canonical(block)


def move_clusters(gains: Floats, block: Ints) -> Ints:
    """Move single clusters to the block, or to one of their own, where they gain most; shape (K,)."""
    K = len(gains)
    block = block.copy()
    for _ in range(PASSES):
        moved = False
        for cluster in range(K):
            by_block = np.bincount(block, weights=gains[cluster], minlength=K + 1)
            empty = np.flatnonzero(np.bincount(block, minlength=K + 1) == 0)[0]
            by_block[np.bincount(block, minlength=K + 1) == 0] = -np.inf
            by_block[empty] = 0.0
            best = int(np.argmax(by_block))
            if by_block[best] > by_block[block[cluster]] + 1e-12:
                block[cluster] = best
                moved = True
        if not moved:
            break
    return canonical(block)


def canonical(block: Ints) -> Ints:
    """Blocks numbered from 0 in order of first appearance."""
    _, first, which = np.unique(block, return_index=True, return_inverse=True)
    number = np.empty(len(first), dtype=np.int64)
    number[np.argsort(first)] = np.arange(len(first))
    return np.asarray(number[which])


@lru_cache
def log_bell(n: int) -> float:
    """Logarithm of the number of partitions of `n` things."""
    row = [1]
    for _ in range(n - 1):
        following = [row[-1]]
        for value in row:
            following.append(following[-1] + value)
        row = following
    return log(row[-1])
