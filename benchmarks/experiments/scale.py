"""What a fit costs as campaigns grow: the sizes of the paper's Scenes, Stoneflies and Attribute Discovery sets."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from benchmarks.experiments.results import ExperimentResult, ResultSheet, Watch, curve, curves, grouped, mean
from crowdclust_app.domain.plots import Curve, Curves
from crowdclust_app.domain.response_table import ResponseTable
from crowdclust_app.evaluation.simulation import SimulationSettings, simulate_campaign

FIGURES = (
    "items",
    "dimensions",
    "threads",
    "pair_labels",
    "joint_iterations",
    "ns_per_label_iteration",
    "cpu_ns",
    "tanh_ns",
    "ratio_to_tanh",
    "fit_seconds",
    "peak_memory_mb",
    "clusters",
)

SIZES = (
    SimulationSettings(items=1000, clusters=13, workers=130),
    SimulationSettings(items=3845, clusters=9, workers=250),
    SimulationSettings(items=37794, clusters=27, workers=1000),
)
"""`M = 36`, `V = 6`, `R = 5`."""

_CHUNK = 1_000_000
_LEAST_SECONDS = 0.2


@dataclass(frozen=True, slots=True)
class Cost:
    """What one fit took.

    Parameters
    ----------
    iterations
        Joint iterations that were timed.
    joint_seconds, joint_cpu_seconds
        Of all of them; what the cores were busy with them, which other programs on the machine disturb less.
    seconds
        Of the whole fit, without compiling.
    peak_memory_mb
        Most memory the process held during the fit; None where the system does not say.
    clusters
        Clusters found.
    """

    iterations: int
    joint_seconds: float
    joint_cpu_seconds: float
    seconds: float
    peak_memory_mb: float | None
    clusters: int


Meter = Callable[[ResponseTable, int, int, int], Cost]
"""Fits a table with a seed, in so many dimensions and with so many clusters, and says what it took."""


@dataclass(frozen=True, slots=True)
class ScaleSettings:
    """Campaigns in growing order, dimensions, and the seeds of simulation and fit; each gives a row.

    Parameters
    ----------
    seeds, sizes, dimensions
        What is tried.
    threads
        How many share the work.
    """

    seeds: tuple[int, ...]
    sizes: tuple[SimulationSettings, ...] = SIZES
    dimensions: tuple[int, ...] = (4,)
    threads: int = 1


def size_of(items: int) -> SimulationSettings:
    """A campaign of so many items; clusters and workers are those of the paper's set that is nearest in size."""
    nearest = min(SIZES, key=lambda size: abs(np.log(size.items / items)))
    if nearest.items == items:
        return nearest
    return replace(nearest, items=items, clusters=min(nearest.clusters, items))


def run_scale(settings: ScaleSettings, measure: Meter, watch: Watch) -> ExperimentResult:
    """Fit campaigns of every size, and time numpy's `tanh` beside each: machines are compared by the ratio.

    Parameters
    ----------
    settings
        Sizes and seeds.
    measure
        Fits and takes the time.
    watch
        Is told before each fit.
    """
    rows: list[tuple[Any, ...]] = []
    total = len(settings.sizes) * len(settings.seeds) * len(settings.dimensions)
    for size in settings.sizes:
        for seed in settings.seeds:
            table = simulate_campaign(replace(size, seed=seed)).table
            for dimensions in settings.dimensions:
                watch.at(len(rows), total, f"{size.items:,} items, {dimensions} dimensions, seed {seed}")
                labels = table.n_pair_labels
                before = tanh_nanoseconds(labels)
                cost = measure(table, seed, dimensions, size.clusters)
                # before and after: a machine that others use too changes its pace
                tanh = (before + tanh_nanoseconds(labels)) / 2.0
                each = 1e9 * cost.joint_seconds / (cost.iterations * labels)
                busy = 1e9 * cost.joint_cpu_seconds / (cost.iterations * labels)
                took = (cost.seconds, cost.peak_memory_mb, cost.clusters)
                what = (size.items, dimensions, settings.threads, labels, cost.iterations)
                rows.append((*what, each, busy, tanh, each / tanh, *took))
    sheet = ResultSheet("scale", FIGURES, tuple(rows))
    return ExperimentResult(replace(sheet, name="trials"), sheet, _panels(rows))


def tanh_nanoseconds(numbers: int) -> float:
    """Nanoseconds that `numpy.tanh` takes for one of so many float64 numbers, evaluated a million at a time."""
    values = np.random.default_rng(0).normal(size=min(numbers, _CHUNK))
    out = np.empty_like(values)
    np.tanh(values, out=out)
    done, began = 0, time.perf_counter()
    while True:
        np.tanh(values, out=out)
        done += len(values)
        seconds = time.perf_counter() - began
        if done >= numbers and seconds >= _LEAST_SECONDS:
            return 1e9 * seconds / done


def _panels(rows: list[tuple[Any, ...]]) -> tuple[Curves, ...]:
    """Means over the seeds for each size, and for each number of dimensions where several are tried."""
    by_dimensions = grouped([(row[1], *row) for row in rows], 1)
    tanh = _means("numpy tanh, one number", rows, "tanh_ns")
    whole, each = [], []
    for (dimensions,), of_one in by_dimensions.items():
        fits = [row[1:] for row in of_one]
        told = f", {dimensions} dimensions" if len(by_dimensions) > 1 else ""
        whole.append(_means(f"whole fit{told}", fits, "fit_seconds"))
        each.append(_means(f"joint iteration{told}", fits, "ns_per_label_iteration"))
    x_label = "pair labels of the campaign"
    return (
        curves("Time of a fit by campaign size\n(lower is better)", x_label, "seconds", whole, log=True),
        curves(
            "Time of one pair label in one iteration\n(lower is better)",
            x_label,
            "nanoseconds",
            (*each, tanh),
            log=True,
        ),
    )


def _means(name: str, rows: list[tuple[Any, ...]], figure: str) -> Curve:
    """The mean of a figure for each size, over its mean number of pair labels."""
    labels, place = FIGURES.index("pair_labels"), FIGURES.index(figure)
    sizes = grouped(rows, 1).values()
    return curve(name, (mean(of, labels) for of in sizes), (mean(of, place) for of in sizes))
