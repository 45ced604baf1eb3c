"""A partition made better at the same number of clusters: one is cut in two and two others become one.

Cutting and merging go one step at a time, and what was cut or merged too early stays so, however single items move.
"""

from __future__ import annotations

from collections.abc import Callable

from crowdclust_app.inference.crowdclustering.kernels.arrays import Floats, Ints
from crowdclust_app.inference.crowdclustering.model.data import PairLabelData
from crowdclust_app.inference.crowdclustering.partitions.dividing import cut_in_two, cut_of
from crowdclust_app.inference.crowdclustering.partitions.merging import merged
from crowdclust_app.inference.crowdclustering.partitions.merging_costs import nearest_pairs
from crowdclust_app.inference.crowdclustering.partitions.refinement import Refined, refine_partition

# The most exchanges, and where whole fits are compared and the first few tell.
ROUNDS = 8
FEW_ROUNDS = 3
# Cuts that are followed by merging: those after which the labels are likeliest; and pairs that are merged after each.
LIKELY_CUTS = 3
LIKELY_PAIRS = 3
# With more items in all responses, exchanges take long and find nothing.
MOST_PLACEMENTS = 200_000
# An exchange has to raise the log-likelihood by such a part of itself.
LEAST_RISE = 1e-6


def exchanges_pay(labels: PairLabelData) -> bool:
    """Whether exchanges are worth their time: not where very many labels already say where each item belongs."""
    return len(labels.items) <= MOST_PLACEMENTS


def exchanged(
    labels: PairLabelData,
    partition: Ints,
    seed: int,
    expect: Callable[[Ints], Floats],
    check: Callable[[], None],
    rounds: int = ROUNDS,
) -> Ints:
    """Exchange clusters as long as that makes the labels likelier.

    Parameters
    ----------
    labels, expect, check
        As in `refine_partition`.
    partition : ndarray of shape (n,)
        Cluster of each item, from 0 and without gaps.
    seed
        Of the directions' search.
    rounds
        The most exchanges.

    Returns
    -------
    ndarray of shape (n,)
        As many clusters, unless items finding their places have left one empty.
    """
    current = refine_partition(labels, partition, expect, check)
    for _ in range(rounds):
        best = max(exchanges(labels, current, seed, expect, check), key=lambda one: one.reached, default=current)
        if not best.reached > current.reached + LEAST_RISE * abs(current.reached):
            break
        current = best
    return current.partition


def exchanges(
    labels: PairLabelData, current: Refined, seed: int, expect: Callable[[Ints], Floats], check: Callable[[], None]
) -> list[Refined]:
    """The partitions of as many clusters that one cut and one merging lead to."""
    size = len(current.kept)
    cuts = [cut_of(labels, current.partition, k, seed) for k in range(size)]
    after = sorted(
        (cut_in_two(labels, current, cut, expect, check) for cut in cuts if cut is not None),
        key=lambda one: -one.reached,
    )
    found = []
    for divided in after[:LIKELY_CUTS]:
        clusters = len(divided.kept)
        if clusters == size:
            found.append(divided)
        elif clusters > size:
            pairs = nearest_pairs(labels, divided.partition, clusters, LIKELY_PAIRS)
            found += [merged(labels, divided.partition, *pair, expect, check) for pair in pairs]
    return [one for one in found if len(one.kept) == size]
