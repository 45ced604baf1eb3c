"""The order of clusters in which confusion matrices are shown."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.spatial.distance import squareform


def block_order(confusion: NDArray[np.float64]) -> NDArray[np.int64]:
    """Order clusters so that confusion matrices come out about block-diagonal.

    Parameters
    ----------
    confusion : ndarray of shape (J, K, K)
        Matrices of the workers who answered.

    Returns
    -------
    ndarray of shape (K,)
        Cluster indices from 0: the leaves of average linkage on one minus the mean matrix, ordered so that neighbours
        are as like as they can be, cluster 1 in the first half.
    """
    n_clusters = confusion.shape[1]
    if n_clusters < 3 or not len(confusion):
        return np.arange(n_clusters)

    mean = np.asarray(confusion.mean(axis=0), dtype=np.float64)
    distance = 1.0 - (mean + mean.T) / 2.0
    np.fill_diagonal(distance, 0.0)
    tree = linkage(squareform(np.maximum(distance, 0.0), checks=False), method="average", optimal_ordering=True)
    order = np.asarray(leaves_list(tree), dtype=np.int64)
    return order if np.flatnonzero(order == 0)[0] < n_clusters / 2 else order[::-1].copy()
