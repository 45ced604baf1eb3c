"""The alternatives that crowdclustering is compared with, as one object."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np

from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.domain.errors import InvalidInputError, warn_not_converged
from crowdclust_app.domain.methods import METHODS, names_of
from crowdclust_app.domain.response_table import ResponseTable, as_response_table
from crowdclust_app.inference.clustering import NOT_SHOWN, ClusterEstimator
from crowdclust_app.inference.consensus import ensembles, nmf
from crowdclust_app.inference.consensus.coassociation import CoAssociation, Ints, ProgressListener, Step, evidence_of
from crowdclust_app.inference.consensus.kmeans import kmeans
from crowdclust_app.inference.consensus.partitioning import require_metis
from crowdclust_app.inference.crowdclustering.model.data import labels_of
from crowdclust_app.inference.crowdclustering.model.initialisation import spectral_positions


class ConsensusClustering(ClusterEstimator):
    """One clustering out of partial clusterings, by a method that takes all workers for alike.

    The constructor keeps its parameters; `fit` checks them. A fit is a function of the table, the parameters and the
    seed.

    Parameters
    ----------
    method : str
        `nmf`: factorise the consensus matrix, unseen pairs as different (Li, Ding and Jordan 2007); `nmf-masked`: the
        same on seen pairs only; `cspa`, `mcla`: Strehl and Ghosh 2002; `hbgf`: Fern and Brodley 2004; `spectral`:
        k-means on the leading eigenvectors of the co-grouping operator, from which crowdclustering starts too.
    n_clusters : int
        How many clusters `K`; a method may leave some of them without items.
    n_starts : int
        Random starts of factorisation, and of k-means (ten times as many); the best by their own measure is kept.
    max_iterations, tolerance : int, float
        Of factorisation: iterations of a start at most, and the relative change of the loss that ends them.
    seed : int
        Of everything random.

    Attributes
    ----------
    items_, workers_ : ndarray of str, shape (N,) and (J,)
        Their names, in the order of all that follows.
    labels_ : ndarray of shape (N,)
        Cluster of each item, counted from 1 by size; 0 for an item in no response with another one.
    responsibilities_ : ndarray of shape (N, K)
        1 for the item's cluster, else 0: these methods give no probabilities.
    losses_ : tuple of float
        Squared error of each iteration of the best factorisation; empty for the others.
    n_iterations_ : int or None
        Their number; None for the others.
    converged_ : bool or None
        Whether they sufficed; None for the others.

    Examples
    --------
    >>> import crowdclust_app as cc
    >>> data = cc.simulate(n_items=40, n_clusters=4, seed=1)
    >>> model = cc.ConsensusClustering(method="spectral", n_clusters=4).fit(data.responses)
    >>> float(cc.metrics.adjusted_rand_index(model.labels_, data.truth.loc[list(model.items_)]))
    1.0
    """

    losses_: tuple[float, ...]
    n_iterations_: int | None
    converged_: bool | None

    def __init__(
        self,
        *,
        method: str = "nmf",
        n_clusters: int = 2,
        n_starts: int = 10,
        max_iterations: int = 300,
        tolerance: float = 1e-5,
        seed: int = 0,
    ) -> None:
        self.method = method
        self.n_clusters = n_clusters
        self.n_starts = n_starts
        self.max_iterations = max_iterations
        self.tolerance = tolerance
        self.seed = seed

    def fit(
        self, responses: Any, *, progress: Callable[[Step], None] | None = None, cancel: CancelToken | None = None
    ) -> Self:
        """Cluster the items.

        Parameters
        ----------
        responses : ResponseTable, pandas.DataFrame or mapping
            The responses: a table of them, or columns `hit`, `worker`, `item` and `group`, one row for each item that
            a worker put into a group.
        progress
            Is given a step every iteration, on the calling thread.
        cancel
            Is polled every iteration (METIS cannot be interrupted).

        Raises
        ------
        InvalidInputError
            When a parameter is out of range, a column is missing, there is no pair label, or METIS is needed and
            missing.
        Cancelled
            When `cancel` asks for it; nothing fitted is changed then.

        Warns
        -----
        NotConvergedWarning
            When factorisation had not come to rest after `max_iterations`.
        """
        self._check()
        table = as_response_table(responses)
        watcher = ProgressListener(progress, cancel)
        watcher.at(0, 1, "counting what is together")
        evidence = evidence_of(table)
        clusters = min(self.n_clusters, evidence.n_items)
        losses: tuple[float, ...] = ()
        converged = None
        if clusters == 1 or clusters == evidence.n_items:
            found = np.arange(evidence.n_items) % clusters
        elif self.method.startswith("nmf"):
            factors = self._factorise(evidence, clusters, watcher)
            found, losses, converged = factors.labels, factors.losses, factors.converged
        elif self.method == "spectral":
            found = self._spectral(table, clusters, watcher)
        else:
            found = getattr(ensembles, self.method)(evidence, clusters, self.seed)
        watcher.at(1, 1, "done")
        self.labels_ = np.full(table.n_items, NOT_SHOWN, dtype=np.int64)
        self.labels_[evidence.shown] = 1 + number_by_size(found)
        self.responsibilities_ = np.eye(1 + int(self.labels_.max()))[self.labels_][:, 1:]
        self._keep_names(table)
        self.losses_ = losses
        self.n_iterations_ = len(losses) or None
        self.converged_ = converged
        if converged is False:
            warn_not_converged(f"the factorisation did not converge in {len(losses)} iterations")
        return self

    def _check(self) -> None:
        methods = tuple(name for name in names_of("baseline") if METHODS[name].path.endswith("ConsensusClustering"))
        if self.method not in methods:
            raise InvalidInputError(f"there is no method {self.method}", todo=f"choose one of {', '.join(methods)}")
        for name, value in (
            ("clusters", self.n_clusters),
            ("starts", self.n_starts),
            ("iterations", self.max_iterations),
        ):
            if value < 1:
                raise InvalidInputError(f"the number of {name} must be at least 1", todo="raise it")
        if self.seed < 0:
            raise InvalidInputError("the seed must not be negative", todo="choose 0 or a larger whole number")
        if METHODS[self.method].needs_metis:
            require_metis()

    def _factorise(self, evidence: CoAssociation, clusters: int, watcher: ProgressListener) -> nmf.Factors:
        settings = nmf.NmfSettings(self.max_iterations, self.tolerance, self.n_starts, self.seed)
        method = nmf.factorise_seen if self.method == "nmf-masked" else nmf.factorise
        return method(evidence, clusters, settings, watcher)

    def _spectral(self, table: ResponseTable, clusters: int, watcher: ProgressListener) -> Ints:
        """K-means on `K - 1` eigenvectors: chance is taken out of the operator, so there is no constant one."""
        random = np.random.default_rng([self.seed, 0])
        points = spectral_positions(labels_of(table, consensus=True), clusters - 1, random)
        return kmeans(points, clusters, 10 * self.n_starts, self.seed, watcher)


def number_by_size(labels: Ints) -> Ints:
    """Number clusters from 0, the largest first, among equals the one with the first item.

    Parameters
    ----------
    labels : ndarray of shape (n,)
        Any numbers.

    Returns
    -------
    ndarray of shape (n,)
        Without gaps.
    """
    _, first, number, sizes = np.unique(labels, return_index=True, return_inverse=True, return_counts=True)
    rank = np.empty(len(sizes), dtype=np.int64)
    rank[np.lexsort((first, -sizes))] = np.arange(len(sizes))
    return rank[number]
