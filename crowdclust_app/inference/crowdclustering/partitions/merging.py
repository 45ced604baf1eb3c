"""Partitions of every size, from many clusters down to one: the two that the labels tell apart least are merged.

Clusters that begin as too many and are merged follow the labels. Cut from above, some are cut where the labels of few
items say so, and are found wrong when there are more; begun as few, of positions alone, they take two for one here and
cut one in two there, and no move of single items mends that.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from crowdclust_app.inference.crowdclustering.kernels.arrays import Floats, Ints
from crowdclust_app.inference.crowdclustering.model.data import PairLabelData
from crowdclust_app.inference.crowdclustering.partitions.dividing import divided
from crowdclust_app.inference.crowdclustering.partitions.merging_costs import nearest_pairs
from crowdclust_app.inference.crowdclustering.partitions.refinement import Refined, best_partition, refine_partition

# Clusters that merging begins from, and how many times as many as are wanted where that is more.
MOST = 24
MORE = 1.5
# Rounds in which items find their places after two clusters have been merged: few have to move.
ROUNDS_AFTER = 3


def chain_of_partitions(
    labels: PairLabelData,
    places: Sequence[Floats],
    seed: int,
    expect: Callable[[Ints], Floats],
    check: Callable[[], None],
    least: int = 1,
) -> dict[int, Ints]:
    """Cut the items into many clusters and merge them again two at a time; of both ways keep what suits the labels.

    Parameters
    ----------
    labels, places, seed, expect, check
        As in `best_partition`.
    least
        Clusters at which to stop.

    Returns
    -------
    dict
        Cluster of each item, by number of clusters, from `least` to the most; a number that was passed over is
        missing. There is one at least, if of fewer clusters.
    """
    size = min(max(MOST, math.ceil(MORE * least)), labels.n_items)
    found = divided(labels, seed, expect, check, size)
    refined = found[max(found)]
    if len(refined.kept) < size:
        # items that no worker has compared are not told apart by labels
        refined = max(refined, best_partition(labels, places, size, seed, expect, check), key=lambda one: len(one.kept))
    keep_better(found, refined)
    while len(refined.kept) > least:
        check()
        k, other = nearest_pairs(labels, refined.partition, len(refined.kept), 1)[0]
        refined = merged(labels, refined.partition, k, other, expect, check)
        keep_better(found, refined)
    fewest = min(least, max(found))
    return {clusters: one.partition for clusters, one in found.items() if clusters >= fewest}


def merged(
    labels: PairLabelData,
    partition: Ints,
    k: int,
    other: int,
    expect: Callable[[Ints], Floats],
    check: Callable[[], None],
) -> Refined:
    """A partition after two of its clusters have become one, and the items have found their places."""
    together = np.unique(np.where(partition == other, k, partition), return_inverse=True)[1].astype(np.int64)
    return refine_partition(labels, together, expect, check, ROUNDS_AFTER)


def keep_better(found: dict[int, Refined], refined: Refined) -> None:
    """Keep a partition where none of so many clusters suits the labels as well."""
    before = found.get(len(refined.kept))
    if before is None or refined.reached > before.reached:
        found[len(refined.kept)] = refined
