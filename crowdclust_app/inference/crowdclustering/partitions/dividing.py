"""Partitions of every size, from one cluster up to many: again and again the cluster is cut that two explain best.

Where each cluster is cut is told by the pair labels among its own items alone. The directions that tell apart a few
similar clusters are hardly seen beside those that tell apart all; among their own items they come first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from crowdclust_app.inference.consensus.kmeans import kmeans
from crowdclust_app.inference.crowdclustering.kernels.arrays import Floats, Ints
from crowdclust_app.inference.crowdclustering.model.data import PairLabelData, half_labels
from crowdclust_app.inference.crowdclustering.model.initialisation import start_positions
from crowdclust_app.inference.crowdclustering.partitions.merging_costs import merging_cost
from crowdclust_app.inference.crowdclustering.partitions.refinement import Refined, counts_of, refine_partition

# Fewer items are not cut.
LEAST_ITEMS = 4
# Starts of k-means on the line along which a cluster is cut.
STARTS = 4
# Rounds in which items find their places after a cut.
ROUNDS_AFTER = 4
# Of so many of the most promising cuts each is carried out, and the best is kept.
LIKELY_CUTS = 2
# A cluster of which no more than this share has changed keeps its cut.
SAME = 0.1


@dataclass(frozen=True, slots=True)
class Cut:
    """How a cluster can be cut in two.

    Parameters
    ----------
    members : ndarray of shape (n,)
        Whether each item is in the cluster.
    beyond : ndarray of shape (n,)
        Whether each item is in the second part.
    gain
        By how much the log-likelihood of the labels rises, no other item moving; in nats. Minus infinity where the cut
        has been tried and the parts have run together again.
    """

    members: NDArray[np.bool_]
    beyond: NDArray[np.bool_]
    gain: float


def divided(
    labels: PairLabelData, seed: int, expect: Callable[[Ints], Floats], check: Callable[[], None], most: int
) -> dict[int, Refined]:
    """Put all items into one cluster and cut one cluster after the other.

    Parameters
    ----------
    labels, expect, check
        As in `refine_partition`.
    seed
        Of the directions' search.
    most
        Clusters at which to stop; there are fewer where nothing tells the items of any cluster apart.

    Returns
    -------
    dict
        What was found, by number of clusters, from 1 on; a number that was passed over is missing.
    """
    current = refine_partition(labels, np.zeros(labels.n_items, dtype=np.int64), expect, check, 1)
    found = {1: current}
    cuts = [cut_of(labels, current.partition, 0, seed)]
    while len(current.kept) < most:
        check()
        size = len(current.kept)
        likely = sorted((-cut.gain, k) for k, cut in enumerate(cuts) if cut is not None and cut.gain > 0.0)
        if not likely:
            break
        better: Refined | None = None
        for _, k in likely[:LIKELY_CUTS]:
            cut = cuts[k]
            assert cut is not None
            refined = cut_in_two(labels, current, cut, expect, check)
            if len(refined.kept) <= size:
                cuts[k] = replace(cut, gain=-np.inf)
            elif better is None or refined.reached > better.reached:
                better, chosen = refined, k
        if better is None:
            continue
        cuts[chosen] = None
        known = [cuts[begun] if begun < size else None for begun in better.kept.tolist()]
        current = better
        found[len(current.kept)] = current
        cuts = [
            adapted(cut, current.partition == k) or cut_of(labels, current.partition, k, seed)
            for k, cut in enumerate(known)
        ]
    return found


def cut_in_two(
    labels: PairLabelData, current: Refined, cut: Cut, expect: Callable[[Ints], Floats], check: Callable[[], None]
) -> Refined:
    """A partition after one of its clusters has been cut, and the items have found their places."""
    partition = np.where(cut.beyond, len(current.kept), current.partition)
    return refine_partition(labels, partition, expect, check, ROUNDS_AFTER)


def adapted(cut: Cut | None, members: NDArray[np.bool_]) -> Cut | None:
    """The cut of a cluster that has lost or won a few items; None where they are more, or where it cuts no more."""
    if cut is None or np.count_nonzero(cut.members != members) > SAME * np.count_nonzero(members):
        return None
    beyond = cut.beyond & members
    return Cut(members, beyond, cut.gain) if beyond.any() and (members & ~beyond).any() else None


def cut_of(labels: PairLabelData, partition: Ints, k: int, seed: int) -> Cut | None:
    """Where a cluster is cut best, by the labels among its own items; None where nothing tells them apart.

    The items are put on a line by the leading eigenvector of what is grouped together beyond chance among them
    (docs/model.md, section 7), and the line is cut by k-means.
    """
    members = partition == k
    own = labels_among(labels, members)
    if own is None or own.n_items < LEAST_ITEMS:
        return None
    line = start_positions(own, 1, 0, seed)
    beyond = np.zeros(labels.n_items, dtype=bool)
    beyond[own.shown[kmeans(line, 2, STARTS, seed) == 1]] = True
    clusters = int(partition.max()) + 1
    same, pairs = counts_of(labels, np.where(beyond, clusters, partition), clusters + 1)
    return Cut(members, beyond, merging_cost(same, pairs, k, clusters))


def labels_among(labels: PairLabelData, members: NDArray[np.bool_]) -> PairLabelData | None:
    """The labels between two of these items; None where there is none.

    Parameters
    ----------
    labels
        All of them.
    members : ndarray of shape (n,)
        Whether each item is one of these.
    """
    response = np.repeat(np.arange(labels.n_responses), labels.sizes)
    held = np.bincount(response[members[labels.items]], minlength=labels.n_responses)
    useful = held >= 2
    if not useful.any():
        return None
    kept = members[labels.items] & useful[response]
    shown, items = np.unique(labels.items[kept], return_inverse=True)
    sizes = held[useful]
    return replace(
        labels,
        n_items=len(shown),
        n_pairs=int((sizes * (sizes - 1)).sum()) // 2,
        shown=shown,
        response_ptr=np.concatenate([[0], np.cumsum(sizes)]),
        items=items.astype(np.int64),
        groups=labels.groups[kept],
        workers=labels.workers[useful],
        half_labels=half_labels(sizes, labels.groups[kept], labels.workers[useful], labels.n_workers),
    )
