"""Graph partitioning by METIS (karypis1998) through pymetis."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from crowdclust_app.domain.errors import InvalidInputError
from crowdclust_app.inference.consensus.coassociation import Floats, Ints

# METIS weighs edges by whole numbers; the heaviest gets this one (as in Strehl and Ghosh's own programs).
_HEAVIEST = 1000


def require_metis() -> Any:
    """The module pymetis.

    Raises
    ------
    InvalidInputError
        When it is not installed.
    """
    try:
        import pymetis  # an extra
    except ImportError as error:
        raise InvalidInputError(
            "cspa, mcla and hbgf partition graphs with METIS, and the package pymetis is not installed",
            todo="install crowdclust[baselines] (it is published for Linux and macOS), or choose nmf or spectral",
        ) from error
    return pymetis


def partition(graph: csr_array[Any], parts: int, seed: int, vertex_weights: Ints | None = None) -> Ints:
    """Cut a graph into parts of about equal weight with as little edge weight between them as METIS finds.

    Parameters
    ----------
    graph : sparse array of shape (n, n)
        Symmetric, positive, without a diagonal.
    parts
        How many; a part may stay empty.
    seed
        Of METIS.
    vertex_weights : ndarray of shape (n,)
        What each vertex counts for in the balance; 1 when None.

    Returns
    -------
    ndarray of shape (n,)
        Part from 0.
    """
    n = graph.shape[0]
    metis = require_metis()
    if parts == 1:
        return np.zeros(n, dtype=np.int64)
    if parts >= n:
        return np.arange(n, dtype=np.int64)
    graph.sort_indices()
    adjacency = metis.CSRAdjacency(graph.indptr.astype(np.int64), graph.indices.astype(np.int64))
    _, found = metis.part_graph(
        parts,
        adjacency,
        eweights=_whole(graph.data),
        vweights=vertex_weights,
        recursive=True,
        options=metis.Options(seed=seed),
    )
    return np.asarray(found, dtype=np.int64)


def _whole(weights: Floats) -> Ints:
    """Edge weights as whole numbers from 1 to `_HEAVIEST`."""
    if not len(weights):
        return np.zeros(0, dtype=np.int64)
    return np.asarray(np.maximum(1, np.rint(weights * (_HEAVIEST / weights.max()))), dtype=np.int64)
