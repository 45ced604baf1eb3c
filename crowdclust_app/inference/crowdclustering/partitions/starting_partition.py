"""Items into a given number of clusters, as a fit begins from them."""

from __future__ import annotations

from collections.abc import Callable

from crowdclust_app.inference.crowdclustering.kernels.arrays import Ints
from crowdclust_app.inference.crowdclustering.partitions.exchanging import exchanged, exchanges_pay
from crowdclust_app.inference.crowdclustering.partitions.merging import chain_of_partitions
from crowdclust_app.inference.crowdclustering.partitions.worker_pools import PooledWorkers


def starting_partition(pooled: PooledWorkers, clusters: int, seed: int, check: Callable[[], None]) -> Ints:
    """Put items into so many clusters.

    Parameters
    ----------
    pooled
        Labels, positions, workers.
    clusters
        How many.
    seed
        Of whatever is drawn.
    check
        Is called often; may raise to stop.

    Returns
    -------
    ndarray of shape (n,)
        Cluster of each item, from 0 and without gaps. There are a few more or fewer clusters where that number was
        passed over.
    """
    labels, expect = pooled.labels, pooled.expect
    chain = chain_of_partitions(labels, pooled.placement.places, seed, expect, check, clusters)
    # where that number was passed over, the next above it
    partition = chain[min(size for size in chain if size >= min(clusters, max(chain)))]
    return exchanged(labels, partition, seed, expect, check) if exchanges_pay(labels) else partition
