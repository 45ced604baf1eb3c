"""Whether items are in their cluster as often as their probabilities say, on campaigns whose truth is known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.experiments.results import ExperimentResult, ResultSheet, Watch, curve, curves, mean_and_sd
from crowdclust_app.domain.plots import Curves
from crowdclust_app.domain.response_table import ResponseTable
from crowdclust_app.evaluation.simulation import SimulationSettings, simulate_campaign

TRIALS = ("campaign", "labels", "seed", "items", "right", "probability", "error")
FIGURES = ("campaign", "labels", "seeds", "right", "probability", "error", "error_sd")
BINS = ("labels", "from", "to", "items", "probability", "right")

BEFORE, AFTER = "one partition for certain", "plausible partitions"

_NOISY = SimulationSettings(items=300, clusters=4, workers=20, coarse=0.1, noise=0.25, workers_per_hit=1)
CAMPAIGNS = (
    ("M = 4", replace(_NOISY, items_per_hit=4, redundancy=12)),
    ("M = 12", replace(_NOISY, items_per_hit=12, redundancy=5)),
    ("M = 36", replace(_NOISY, items_per_hit=36, redundancy=4)),
)
"""Campaigns whose clusters are found, but not where every item belongs: small, middle and large sets."""

N_BINS = 10

Bin = tuple[float, float, int, float, float]
Probabilities = NDArray[np.float64]
Believer = Callable[[ResponseTable, int, int], tuple[Probabilities, Probabilities]]
"""Of a table, the number of clusters and a seed: the items' probabilities were the partition of the others certain, and
those that a fit gives, both (N, K)."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """What is tried: seeds, and names and settings of the campaigns but for their seeds."""

    seeds: tuple[int, ...]
    campaigns: tuple[tuple[str, SimulationSettings], ...] = CAMPAIGNS


def confidence_and_right(
    probabilities: Probabilities, truth: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """How sure each item's likeliest cluster is, and the share of that cluster's other items that are of its category.

    Parameters
    ----------
    probabilities : ndarray of shape (N, K)
        Chance that an item goes with another member of each cluster.
    truth : ndarray of shape (N,)
        Category of each item, from 0.

    Returns
    -------
    tuple of two ndarray of shape (n,)
        Of the items that are not alone in their cluster.
    """
    cluster = np.argmax(probabilities, axis=1)
    counts = np.zeros((probabilities.shape[1], int(truth.max()) + 1))
    np.add.at(counts, (cluster, truth), 1.0)
    others = counts.sum(axis=1)[cluster] - 1.0
    known = others > 0
    return probabilities.max(axis=1)[known], ((counts[cluster, truth] - 1.0)[known]) / others[known]


def reliability(
    confidence: NDArray[np.float64], right: NDArray[np.float64]
) -> list[tuple[float, float, int, float, float]]:
    """Bins of equal width that have items: from, to, items, mean probability, share that is right."""
    number = np.minimum((confidence * N_BINS).astype(np.int64), N_BINS - 1)
    found = []
    for n in np.unique(number).tolist():
        here = number == n
        found.append(
            (n / N_BINS, (n + 1) / N_BINS, int(here.sum()), float(confidence[here].mean()), float(right[here].mean()))
        )
    return found


def calibration_error(confidence: NDArray[np.float64], right: NDArray[np.float64]) -> float:
    """Expected calibration error: mean distance of probability and share that is right, over the items' bins."""
    bins = reliability(confidence, right)
    return sum(items * abs(probability - share) for _, _, items, probability, share in bins) / max(len(right), 1)


def run_calibration(settings: Calibration, believe: Believer, watch: Watch) -> ExperimentResult:
    """Fit simulated campaigns and hold the items' probabilities against the truth.

    Parameters
    ----------
    settings
        What is tried.
    believe
        The fit; it is told the number of clusters, so that clusters and categories can be matched.
    watch
        Is told before each fit.
    """
    rows: list[tuple[Any, ...]] = []
    pooled: dict[str, list[tuple[NDArray[np.float64], NDArray[np.float64]]]] = {BEFORE: [], AFTER: []}
    total = len(settings.campaigns) * len(settings.seeds)
    for name, simulation in settings.campaigns:
        for seed in settings.seeds:
            watch.at(len(rows) // 2, total, f"{name}, seed {seed}")
            campaign = simulate_campaign(replace(simulation, seed=seed))
            truth = np.unique(campaign.truth, return_inverse=True)[1].astype(np.int64)
            before, after = believe(campaign.table, simulation.clusters, seed)
            for words, probabilities in ((BEFORE, before), (AFTER, after)):
                found = confidence_and_right(probabilities, truth)
                pooled[words].append(found)
                means = (float(found[1].mean()), float(found[0].mean()), calibration_error(*found))
                rows.append((name, words, seed, len(truth), *means))
    return ExperimentResult(
        ResultSheet("trials", TRIALS, tuple(rows)),
        _figures(rows),
        (_panel(pooled),),
        (ResultSheet("bins", BINS, _bins(pooled)),),
    )


def _figures(rows: list[tuple[Any, ...]]) -> ResultSheet:
    found = []
    for name, words in dict.fromkeys((row[0], row[1]) for row in rows):
        of_one = [row for row in rows if row[:2] == (name, words)]
        right, probability = (mean_and_sd(row[n] for row in of_one)[0] for n in (4, 5))
        found.append((name, words, len(of_one), right, probability, *mean_and_sd(row[6] for row in of_one)))
    return ResultSheet("calibration", FIGURES, tuple(found))


def _together(parts: list[tuple[NDArray[np.float64], NDArray[np.float64]]]) -> tuple[Any, Any]:
    return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])


def _bins(pooled: dict[str, list[tuple[NDArray[np.float64], NDArray[np.float64]]]]) -> tuple[tuple[Any, ...], ...]:
    return tuple((words, *row) for words, parts in pooled.items() for row in reliability(*_together(parts)))


def _panel(pooled: dict[str, list[tuple[NDArray[np.float64], NDArray[np.float64]]]]) -> Curves:
    lines = [curve("as it should be", (0.0, 1.0), (0.0, 1.0))]
    for words, parts in pooled.items():
        bins = reliability(*_together(parts))
        lines.append(curve(words, (row[3] for row in bins), (row[4] for row in bins)))
    title = "Are items in their cluster as often\nas said? (nearer the straight line is better)"
    return curves(title, "probability of the cluster", "share of items that are right", lines)
