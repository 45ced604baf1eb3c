"""Clusters of items from the decisions of those who sorted them, without positions (docs/methods.md)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, Self

import numpy as np

from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.domain.errors import InvalidInputError
from crowdclust_app.domain.response_table import as_response_table
from crowdclust_app.inference.clustering import ClusterEstimator
from crowdclust_app.inference.crowdclustering.model.canonical_order import ordered
from crowdclust_app.inference.crowdclustering.model.parallel import Parallel, no_check
from crowdclust_app.inference.crowdclustering.partitions.answers import Answers
from crowdclust_app.inference.crowdclustering.selection.curve import HeldOutCurve, Work
from crowdclust_app.inference.crowdclustering.selection.partitioning import partition_items

HELD_OUT: Literal["heldout"] = "heldout"


class DecisionClustering(ClusterEstimator):
    """Find the partition under which the workers' decisions are most probable, and how sure it is.

    A decision is where one item was put, given where the other items of its response are: it joins a group with a
    probability that grows with the affinity of its cluster to those of the group's members. A response of `M` items
    counts as `M` decisions, and not as `M (M - 1) / 2` labels. Each worker has a slope and a bias on the affinities of
    the crowd.

    Parameters
    ----------
    n_clusters : int or "heldout"
        How many clusters `K`; `"heldout"`: the fewest that predict held-out responses as well as the best number,
        within two paired standard errors.
    n_starts : int
        Starts of the search: the first from trees, the others random; more are never worse.
    folds : int
        In how many parts responses are held out; 0 for none, where the number of clusters is given.
    seed : int
        Of everything random.

    Attributes
    ----------
    items_, workers_ : ndarray of str, shape (N,) and (J,)
        Their names, in the order of all that follows.
    labels_ : ndarray of shape (N,)
        Cluster of each item, counted from 1 by size; 0 for an item in no response with another one.
    responsibilities_ : ndarray of shape (N, K)
        Chance that an item goes with another member of each cluster, over plausible partitions; a row has 1 at most.
    curves_ : tuple of HeldOutCurve
        How well each number of clusters predicts held-out responses, one curve for each part of the items that shares
        no response with the others; without those where nothing could be held out.
    too_little_, continuous_ : bool
        Whether there are too few answers to tell; whether items lie on a line or in a plane without gaps.
    notes_ : tuple of str
        The same in sentences.

    Examples
    --------
    >>> import crowdclust_app as cc
    >>> data = cc.simulate(n_items=40, n_clusters=4, seed=1)
    >>> model = cc.DecisionClustering().fit(data.responses)
    >>> float(cc.metrics.adjusted_rand_index(model.labels_, data.truth.loc[list(model.items_)]))
    1.0
    """

    curves_: tuple[HeldOutCurve, ...]
    too_little_: bool
    continuous_: bool
    notes_: tuple[str, ...]

    def __init__(
        self, *, n_clusters: int | Literal["heldout"] = HELD_OUT, n_starts: int = 1, folds: int = 5, seed: int = 0
    ) -> None:
        self.n_clusters = n_clusters
        self.n_starts = n_starts
        self.folds = folds
        self.seed = seed

    def fit(
        self,
        responses: Any,
        *,
        progress: Callable[[str, int, int], None] | None = None,
        cancel: CancelToken | None = None,
        parallel: Parallel | None = None,
    ) -> Self:
        """Cluster the items.

        Parameters
        ----------
        responses : ResponseTable, pandas.DataFrame or mapping
            The responses: a table of them, or columns `hit`, `worker`, `item` and `group`.
        progress
            Is given a phase, how many of its steps are done, and how many there are, on the calling thread.
        cancel
            Is polled often.
        parallel
            Threads that share the work; they change nothing but the time. None for this thread alone.

        Raises
        ------
        InvalidInputError
            When a parameter is out of range, a column is missing, or there is no pair label.
        Cancelled
            When `cancel` asks for it; nothing fitted is changed then.
        """
        self._check()
        table = as_response_table(responses)
        if not table.n_pair_labels:
            raise InvalidInputError("no response holds two items, so nothing says which items go together")
        order = ordered(table)

        def tell(phase: str, done: int, total: int, _clusters: int) -> None:
            if progress:
                progress(phase, done, total)

        work = Work(cancel.check if cancel else no_check, tell, parallel or Parallel())
        wanted = None if isinstance(self.n_clusters, str) else self.n_clusters
        found = partition_items(Answers.of(order.table), wanted, self.folds, self.n_starts, self.seed, work)
        self.labels_ = found.partition[order.item_at] + 1
        self.responsibilities_ = np.maximum(found.chances[order.item_at], 0.0)
        self.curves_ = tuple(part.curve for part in found.parts if part.curve is not None)
        self.too_little_, self.continuous_, self.notes_ = found.too_little, found.continuous, found.notes
        self._keep_names(table)
        return self

    def _check(self) -> None:
        if isinstance(self.n_clusters, str) and self.n_clusters != HELD_OUT:
            raise InvalidInputError(f"the number of clusters must be a number or 'heldout', not {self.n_clusters!r}")
        for name, value in (("clusters", self.n_clusters), ("starts", self.n_starts)):
            if not isinstance(value, str) and value < 1:
                raise InvalidInputError(f"the number of {name} must be at least 1", todo="raise it")
        if self.folds < 2 and (self.folds != 0 or self.n_clusters == HELD_OUT):
            raise InvalidInputError("responses must be held out in at least 2 folds", todo="choose 2 or more")
        if self.seed < 0:
            raise InvalidInputError("the seed must not be negative", todo="choose 0 or a larger whole number")
