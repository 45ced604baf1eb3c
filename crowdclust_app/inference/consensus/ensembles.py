"""Cluster ensembles by partitioning graphs: CSPA, MCLA (Strehl and Ghosh 2002) and HBGF (Fern and Brodley 2004).

All three see partial clusterings as the object-distributed case: an item that a response does not hold is in none of
its hyperedges. METIS makes parts of about equal weight, so clusters of very uneven size are beyond these methods.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import block_array, csr_array

from crowdclust_app.inference.consensus.coassociation import CoAssociation, Ints
from crowdclust_app.inference.consensus.partitioning import partition


def cspa(evidence: CoAssociation, clusters: int, seed: int) -> Ints:
    """Cluster-based similarity partitioning: the graph of items, weighted by how often two are together.

    The similarity is `S = H H' / r` with `H` the items' hyperedges and `r` the responses (their section 3.2); the
    factor does not change the cut.

    Returns
    -------
    ndarray of shape (n,)
        Cluster from 0.
    """
    return partition(evidence.together(), clusters, seed)


def jaccard(evidence: CoAssociation) -> csr_array[Any]:
    """Likeness of hyperedges, `|a and b| / |a or b|`, as one sparse product; 0 on the diagonal; shape (G, G)."""
    shared = (evidence.in_group.T @ evidence.in_group).tocoo()
    rows, columns = shared.coords
    off = rows != columns
    rows, columns, both = rows[off], columns[off], shared.data[off]
    sizes = evidence.group_sizes
    found = csr_array((both / (sizes[rows] + sizes[columns] - both), (rows, columns)), shape=shared.shape)
    found.sort_indices()
    return found


def mcla(evidence: CoAssociation, clusters: int, seed: int) -> Ints:
    """Meta-clustering: cluster the hyperedges by their likeness, then let the meta-clusters compete for the items.

    The meta-graph has hyperedges as vertices, weighted by their sizes, and Jaccard's coefficient on its edges. A
    meta-cluster collapses to the mean of its hyperedges; each item goes where that is largest (their section 3.4),
    with ties broken at random.

    Returns
    -------
    ndarray of shape (n,)
        Cluster from 0.
    """
    meta = partition(jaccard(evidence), clusters, seed, vertex_weights=evidence.group_sizes)
    n_meta = int(meta.max()) + 1
    member = csr_array((np.ones(len(meta)), (np.arange(len(meta)), meta)), shape=(len(meta), n_meta))
    hyperedges = np.maximum(np.bincount(meta, minlength=n_meta), 1)
    association = (evidence.in_group @ member).toarray() / hyperedges
    # a random order of the columns breaks ties; sums of the same numbers may differ in the last bit
    order = np.random.default_rng(seed).permuted(np.tile(np.arange(n_meta), (len(association), 1)), axis=1)
    shuffled = np.round(np.take_along_axis(association, order, axis=1), 12)
    best = np.argmax(shuffled, axis=1)
    return np.asarray(order[np.arange(len(order)), best], dtype=np.int64)


def hbgf(evidence: CoAssociation, clusters: int, seed: int) -> Ints:
    """Hybrid bipartite graph: items and hyperedges are both vertices, joined where an item is in a hyperedge.

    One cut of that graph gives clusters of items and of hyperedges at once (fern2004, section 3.3).

    Returns
    -------
    ndarray of shape (n,)
        Cluster from 0.
    """
    graph = csr_array(block_array([[None, evidence.in_group], [evidence.in_group.T, None]], format="csr"))
    return partition(graph, clusters, seed)[: evidence.n_items]
