"""The methods that crowdclustering is compared with, as fits: with places, clusters and a matrix a worker."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.domain.errors import no_convergence_warning
from crowdclust_app.domain.fit_settings import FitSettings
from crowdclust_app.domain.response_table import ResponseTable
from crowdclust_app.inference.consensus import ConsensusClustering, Step
from crowdclust_app.inference.crowdclustering.model.data import labels_of
from crowdclust_app.inference.crowdclustering.model.initialisation import spectral_positions
from crowdclust_app.inference.crowdclustering.model.summary import fisher_axes
from crowdclust_app.services.fits.results import FitResult
from crowdclust_app.services.fits.summary import design_sentences, summarise
from crowdclust_app.services.progress_report import Progress, ProgressReport

USUAL_DIMENSIONS = 4
"""Those in which items are shown where none are given."""

PRIOR_PAIRS = 2.0
"""Pairs that everybody's rate counts for in a worker's rate of two clusters, and the rate of all pairs in that."""

# Added to the covariance of a cluster as a share of everything's: a cluster of one item still has a width.
_RIDGE = 1e-3


def fit_baseline(
    table: ResponseTable,
    settings: FitSettings,
    crowdclustering: Callable[[], FitResult],
    progress: Progress | None = None,
    cancel: CancelToken | None = None,
) -> FitResult:
    """Cluster by one of the methods that have no positions.

    They need the number of clusters. Where none is given it is the one that crowdclustering finds with the same
    settings, whose fit comes first.

    Parameters
    ----------
    table, settings, progress, cancel
        As in `fit_table`; of the settings, `n_starts` is the number of random starts and `dimensions` that of the
        spectral embedding in which the items are shown.
    crowdclustering
        Fits with the same settings; asked only where no number of clusters is given.

    Returns
    -------
    FitResult
        Every item is in one cluster with probability 1. Places are spectral, without variances; a worker's matrix
        holds how often that worker put items of two clusters together. What these methods do not have is NaN in
        arrays (weights, biases, eq. 10) and None elsewhere (bound, and for methods without iterations `n_iterations`
        and `converged`).
    """
    began = time.perf_counter()
    given = settings.n_clusters
    clusters = given if isinstance(given, int) else int(crowdclustering().summary["clusters"])

    def report(step: Step) -> None:
        if progress:
            progress(ProgressReport(step.done, step.total, f"{settings.method}: {step.text}"))

    model = ConsensusClustering(
        method=settings.method, n_clusters=clusters, n_starts=settings.n_starts, seed=settings.seed
    )
    with no_convergence_warning():
        model.fit(table, progress=report, cancel=cancel)
    dimensions = USUAL_DIMENSIONS if isinstance(settings.dimensions, str) else settings.dimensions
    described = describe(table, model.labels_, dimensions, settings.seed)
    result = replace(described, n_iterations=model.n_iterations_, converged=model.converged_)
    sentences = _sentences(table, settings, result, clusters)
    seconds = time.perf_counter() - began
    summary = summarise(table, settings.as_dict(), result, seconds=seconds, sentences=sentences)
    return replace(result, summary=summary)


def describe(table: ResponseTable, labels: NDArray[np.int64], dimensions: int, seed: int) -> FitResult:
    """Make a result, but for its summary, from nothing but the clusters of the items.

    Parameters
    ----------
    table
        The responses.
    labels : ndarray of shape (N,)
        Cluster from 1, without gaps; 0 for an item without a pair label.
    dimensions, seed
        Of the spectral embedding.
    """
    shown, n_clusters, n_workers = labels > 0, int(labels.max()), table.n_workers
    placed = spectral_positions(labels_of(table, consensus=True), dimensions, np.random.default_rng([seed, 0]))
    positions = np.tile(placed.mean(axis=0), (table.n_items, 1))
    positions[shown] = placed
    of_cluster = [placed[labels[shown] == k + 1] for k in range(n_clusters)]
    width = np.eye(dimensions) * max(_RIDGE * float(placed.var(axis=0).mean()), np.finfo(np.float64).tiny ** 0.5)
    mixing = np.bincount(labels[shown], minlength=n_clusters + 1)[1:] / shown.sum()
    responsibilities = np.tile(mixing, (table.n_items, 1))
    responsibilities[shown] = np.eye(n_clusters)[labels[shown] - 1]

    def absent(*shape: int) -> NDArray[np.float64]:
        return np.full(shape, np.nan)

    return FitResult(
        positions=positions,
        position_variances=absent(*positions.shape),
        weights=absent(n_workers, dimensions, dimensions),
        weight_variances=absent(n_workers, dimensions, dimensions),
        biases=absent(n_workers),
        bias_variances=absent(n_workers),
        responsibilities=responsibilities,
        labels=labels,
        shown=shown,
        means=np.stack([points.mean(axis=0) for points in of_cluster]),
        covariances=np.stack([_covariance(points) + width for points in of_cluster]),
        mixing=mixing,
        bound=None,
        lower_bounds=(),
        start_bounds=(),
        n_iterations=None,
        converged=None,
        entropy_bits=0.0,
        fisher=positions @ fisher_axes(placed, labels[shown]),
        confusion=same_group_rates(table, labels),
        confusion_bound=absent(n_workers, n_clusters, n_clusters),
        answered=np.bincount(table.worker_of_response, table.sizes > 1, minlength=n_workers) > 0,
    )


def same_group_rates(table: ResponseTable, labels: NDArray[np.int64]) -> NDArray[np.float64]:
    """How often each worker put an item of one cluster together with one of another.

    Parameters
    ----------
    labels : ndarray of shape (N,)
        Cluster from 1; items of cluster 0 are left out.

    Returns
    -------
    ndarray of shape (J, K, K)
        `(same + c p) / (pairs + c)` with `c = PRIOR_PAIRS` and `p` the rate of all workers together, itself drawn
        towards the share of same-group pairs in the whole table; symmetric.
    """
    K, J = int(labels.max()), table.n_workers
    same, pairs = np.zeros((J, K, K)), np.zeros((J, K, K))
    response = np.repeat(np.arange(table.n_responses), table.sizes)
    cluster = labels[table.items]
    kept = cluster > 0
    _, group = np.unique(response * (int(table.groups.max(initial=0)) + 1) + table.groups, return_inverse=True)
    for total, unit in ((same, group), (pairs, response)):
        owner = np.zeros(int(unit.max(initial=0)) + 1, dtype=np.int64)
        owner[unit] = table.worker_of_response[response]
        _add_pairs(total, unit[kept], cluster[kept] - 1, owner)
    all_same, all_pairs = same.sum(axis=0), pairs.sum(axis=0)
    overall = all_same.sum() / max(all_pairs.sum(), 1.0)
    everybody = (all_same + PRIOR_PAIRS * overall) / (all_pairs + PRIOR_PAIRS)
    return np.asarray((same + PRIOR_PAIRS * everybody) / (pairs + PRIOR_PAIRS))


def _add_pairs(
    total: NDArray[np.float64], unit: NDArray[np.int64], cluster: NDArray[np.int64], owner: NDArray[np.int64]
) -> None:
    """Add to each worker's matrix the pairs of clusters inside each unit: `C'C - diag(C'1)` of the counts `C`."""
    K = total.shape[1]
    counts = csr_array((np.ones(len(unit)), (unit, cluster)), shape=(len(owner), K))
    order = np.argsort(owner, kind="stable")
    counts = counts[order]
    ends = np.searchsorted(owner[order], np.arange(len(total) + 1))
    for j in np.unique(owner).tolist():
        mine = counts[ends[j] : ends[j + 1]]
        products = (mine.T @ mine).toarray()
        total[j] += products - np.diag(np.asarray(mine.sum(axis=0)).ravel())
        # inside one cluster the products count every pair twice
        total[j][np.diag_indices(K)] /= 2.0


def _covariance(points: NDArray[np.float64]) -> NDArray[np.float64]:
    apart = points - points.mean(axis=0)
    return np.asarray(apart.T @ apart / len(points))


def _sentences(table: ResponseTable, settings: FitSettings, result: FitResult, clusters: int) -> list[str]:
    own = "" if isinstance(settings.n_clusters, int) else ", as crowdclustering finds them in these responses"
    found = len(result.means)
    sentences = [
        f"The method {settings.method} was told the number of clusters, {clusters}{own}; it takes all workers for "
        "alike and gives no probabilities."
    ]
    if found < clusters:
        sentences.append(f"It used {found} of them.")
    if result.converged is False:
        sentences.append(f"The factorisation had not come to rest after {result.n_iterations} iterations.")
    sentences.extend(design_sentences(table, result.labels))
    return sentences
