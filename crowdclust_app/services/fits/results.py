"""What a fit gives: a result of a table of responses, and a run as a campaign keeps it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdclust_app.domain.fit_settings import FitSettings


@dataclass(frozen=True, slots=True)
class FitResult:
    """What was inferred from a table of `N` items and `J` workers: `K` clusters in `D` dimensions.

    Parameters
    ----------
    positions, position_variances : ndarray of shape (N, D)
        Posterior of the items' positions.
    weights, weight_variances : ndarray of shape (J, D, D)
        Posterior of the workers' symmetric matrices; the same for all with `consensus`.
    biases, bias_variances : ndarray of shape (J,)
        Posterior of the workers' biases.
    responsibilities : ndarray of shape (N, K)
        Probability of each cluster; column 0 is cluster 1, the largest.
    labels : ndarray of shape (N,)
        Most probable cluster, counted from 1; 0 for an item that was never shown.
    shown : ndarray of bool, shape (N,)
        Whether the item is in any response with another one.
    means, covariances : ndarray of shape (K, D) and (K, D, D)
        The clusters' centres and spreads.
    mixing : ndarray of shape (K,)
        Expected share of each cluster.
    bound
        The lower bound on the log evidence at the end; comparable between fits of the same data, method, prior and
        label weight. None for a method without one.
    lower_bounds : tuple of (phase, bound)
        The best start's trace; monotone inside a phase.
    start_bounds
        The final bound of every start.
    n_iterations, converged
        Joint iterations of the best start, and whether it ended by itself.
    entropy_bits
        Mean entropy of the responsibilities over the items shown.
    fisher : ndarray of shape (N, 2)
        Positions on the first two Fisher discriminant axes of the clusters.
    confusion, confusion_bound : ndarray of shape (J, K, K)
        Probability that a worker puts items of two clusters into one group, calibrated, and by the paper's eq. 10.
    answered : ndarray of bool, shape (J,)
        Workers with responses; the others have no confusion matrix to show.
    heldout_workers : ndarray of shape (J,), or None
        Predictive log-likelihood a held-out decision by worker, in nats; NaN where there was none. With the bound it is
        a held-out pair label's.
    heldout_figures : ndarray of shape (J, 9), or None
        All that held-out responses say of the workers: the fields of `WorkerScores` in their order.
    start_traces : tuple of (start, phase, bound, clusters)
        Every sweep of every start, counted from 1, in order.
    probability : ndarray of shape (N,), or None
        Chance that the item goes with another member of its cluster; None where that is the cluster's probability.
    summary
        The figures of `crowdclust fit --json` (docs/files.md).
    """

    positions: NDArray[np.float64]
    position_variances: NDArray[np.float64]
    weights: NDArray[np.float64]
    weight_variances: NDArray[np.float64]
    biases: NDArray[np.float64]
    bias_variances: NDArray[np.float64]
    responsibilities: NDArray[np.float64]
    labels: NDArray[np.int64]
    shown: NDArray[np.bool_]
    means: NDArray[np.float64]
    covariances: NDArray[np.float64]
    mixing: NDArray[np.float64]
    bound: float | None
    lower_bounds: tuple[tuple[str, float], ...]
    start_bounds: tuple[float, ...]
    n_iterations: int | None
    converged: bool | None
    entropy_bits: float
    fisher: NDArray[np.float64]
    confusion: NDArray[np.float64]
    confusion_bound: NDArray[np.float64]
    answered: NDArray[np.bool_]
    heldout_workers: NDArray[np.float64] | None = None
    start_traces: tuple[tuple[int, str, float, int], ...] = ()
    heldout_figures: NDArray[np.float64] | None = None
    probability: NDArray[np.float64] | None = None
    summary: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FitDiagnostics:
    """What a fit says of itself beside its result.

    Parameters
    ----------
    n_unchanged
        Joint iterations at the end in which no item changed its cluster.
    label_weight
        How much a pair label counted; None for the one that was asked for.
    too_little, more_sets
        Whether there are too few answers to tell clusters from none, and about how many more responses would tell.
    continuous, fold_agreement
        Whether items lie without gaps, and how alike the partitions of different responses are (mean adjusted Rand
        index).
    """

    n_unchanged: int = 0
    label_weight: float | None = None
    too_little: bool = False
    more_sets: int = 0
    continuous: bool = False
    fold_agreement: float = 1.0


NOTHING_SAID = FitDiagnostics()


@dataclass(frozen=True, slots=True)
class Run:
    """A fit as a campaign keeps it.

    Parameters
    ----------
    number
        Counts from 1 in the campaign.
    stage
        What was fitted; `all` is the whole collection.
    created_at
        When, in UTC.
    settings, seed
        What decided it.
    versions
        Versions of this program and of the libraries that computed it.
    fingerprint
        Hash of the responses it saw (`ResponseTable.fingerprint`).
    seconds
        How long it took.
    result
        What came out.
    item_names, worker_names
        In the order of the result's rows.
    """

    number: int
    stage: str
    created_at: datetime
    settings: FitSettings
    seed: int
    versions: Mapping[str, str]
    fingerprint: str
    seconds: float
    result: FitResult
    item_names: tuple[str, ...]
    worker_names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RunInfo:
    """What a list of runs shows.

    Parameters
    ----------
    number
        Its number in the campaign, from 1.
    created_at
        When it was stored.
    seconds
        How long the fit took.
    summary
        The figures of the summary of `fit` (docs/files.md).
    """

    number: int
    stage: str
    method: str
    created_at: datetime
    seed: int
    seconds: float
    fingerprint: str
    settings: dict[str, object]
    summary: dict[str, object]


def entropy_bits(probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
    """Entropy of each row.

    Parameters
    ----------
    probabilities : ndarray of shape (N, K)
        Rows that add up to 1.

    Returns
    -------
    ndarray of shape (N,)
        In bits, never negative.
    """
    positive = np.where(probabilities > 0, probabilities, 1.0)
    entropy: NDArray[np.float64] = np.abs((probabilities * np.log2(positive)).sum(axis=1))
    return entropy


def chances_of(result: FitResult) -> NDArray[np.float64]:
    """Probabilities of the clusters as they are shown: responsibilities where no `probability` is known.

    Returns
    -------
    ndarray of shape (N, K)
        A row has 1 at most; what it lacks is the chance that the item goes with none of the clusters.
    """
    chances = np.clip(result.responsibilities, 0.0, 1.0)
    if result.probability is None:
        return np.asarray(chances)
    own = chances[np.arange(len(chances)), np.maximum(result.labels, 1) - 1]
    scale = np.where(result.labels > 0, result.probability / np.maximum(own, 1e-12), 1.0)
    return np.asarray(chances * scale[:, None])


def heldout_unit(summary: Mapping[str, Any]) -> str:
    """What the held-out figures of a run are about: "decision" or "pair label", which those of earlier versions are."""
    return str(summary.get("heldout_unit") or "pair label")
