"""What is known of one item: its cluster, and what every worker did with it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

DOUBTFUL_BELOW = 0.9
"""An item whose cluster has a smaller probability among all clusters than this is called doubtful."""


@dataclass(frozen=True, slots=True)
class ItemResponse:
    """What one worker did with one item in one HIT.

    Parameters
    ----------
    shown
        Items in the HIT, this one included.
    together, apart : ndarray of item numbers
        The other items, in this worker's group and outside it.
    from_other_clusters
        How many of `together` are in another cluster.
    left_out
        How many of `apart` are in the item's own cluster.
    agreement
        Share of the item's pairs that say what the clusters say.
    """

    hit: str
    worker: str
    shown: int
    together: NDArray[np.int64]
    apart: NDArray[np.int64]
    from_other_clusters: int
    left_out: int
    agreement: float

    @property
    def differs(self) -> bool:
        """Whether any pair of the item says something else than the clusters."""
        return bool(self.from_other_clusters or self.left_out)


@dataclass(frozen=True, slots=True)
class ItemFacts:
    """What is known about one item; `turns` has the most differing first.

    Parameters
    ----------
    alternatives
        `(cluster, probability)`, the most probable first, down to one in a hundred; empty when never shown.
    """

    number: int
    name: str
    cluster: int
    probability: float
    entropy_bits: float
    times_shown: int
    alternatives: tuple[tuple[int, float], ...]
    turns: tuple[ItemResponse, ...]
