"""The paper's Table 1: every method on campaigns of the size of its Birds and Stoneflies, and on real ones.

`HARD_CAMPAIGNS` are for the same comparison on smaller campaigns, so that it can be made over many seeds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.experiments.results import (
    VI_TITLE,
    ExperimentResult,
    ResultSheet,
    Solver,
    Watch,
    bar_series,
    column,
    grouped,
    mean,
    score,
)
from crowdclust_app.domain.plots import Bars
from crowdclust_app.domain.response_table import ResponseTable
from crowdclust_app.evaluation.simulation import SimulationSettings, simulate_campaign

TRIALS = ("data", "method", "seed", "vi_nats", "ari", "clusters", "true_clusters", "seconds")
FIGURES = ("data", "method", "seeds", "vi_nats", "vi_sd", "vi_median", "ari", "ari_sd", "clusters", "seconds")

HARD = SimulationSettings(noise=0.10, coarse=0.35, workers=130, random_workers=13, size_ratio=4.0)
"""Workers who take a third of the similar categories for one, a tenth of the placements stray, a tenth of the workers
sort at random, categories of uneven size; `M = 36`, `V = 6`, `R = 5`."""

BIRDS = replace(HARD, items=1354, clusters=10)
STONEFLIES = replace(HARD, items=3845, clusters=9)
HARD_CAMPAIGNS = tuple((f"R = {workers}", replace(HARD, workers_per_hit=workers)) for workers in (1, 5))
"""1,000 items in 10 categories, with one worker a HIT and with five."""

QUICK = replace(
    HARD, items=90, clusters=3, items_per_hit=12, redundancy=5, workers_per_hit=3, workers=10, random_workers=1
)


@dataclass(frozen=True, slots=True)
class Known:
    """A real campaign whose categories are known.

    Parameters
    ----------
    truth
        Category of each item of the table; None where it is not known.
    """

    name: str
    table: ResponseTable
    truth: tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class Table1:
    """What is compared.

    Parameters
    ----------
    methods
        Names that the solver knows.
    seeds
        Of simulations and methods; a real campaign stays the same, and its spread is the methods' own.
    simulated
        Name and settings of each simulated campaign; the seed is replaced.
    known
        Real campaigns.
    name
        Of the table of figures.
    """

    methods: tuple[str, ...]
    seeds: tuple[int, ...]
    simulated: tuple[tuple[str, SimulationSettings], ...] = (("birds size", BIRDS), ("stoneflies size", STONEFLIES))
    known: tuple[Known, ...] = ()
    name: str = "table1"


def run_table1(settings: Table1, solve: Solver, watch: Watch) -> ExperimentResult:
    """Have every method cluster every campaign, for every seed.

    Parameters
    ----------
    settings
        What is compared.
    solve
        The methods; those that need the number of clusters are told the true one, as in the paper.
    watch
        Is told before each trial.
    """
    rows: list[tuple[Any, ...]] = []
    names = [*(name for name, _ in settings.simulated), *(known.name for known in settings.known)]
    total = len(names) * len(settings.seeds) * len(settings.methods)
    for seed in settings.seeds:
        for data, table, truth in _campaigns(settings, seed):
            true_clusters = len({category for category in truth if category is not None})
            for method in settings.methods:
                watch.at(len(rows), total, f"{data}, seed {seed}, {method}")
                answer = solve(table, method, true_clusters, seed)
                found = _score_known(answer.labels, truth)
                rows.append((data, method, seed, *found, true_clusters, answer.seconds))
    rows.sort(key=lambda row: (names.index(str(row[0])), settings.methods.index(str(row[1])), row[2]))
    return ExperimentResult(
        ResultSheet("trials", TRIALS, tuple(rows)), _figures(settings.name, rows), _panels(rows, settings.methods)
    )


def _campaigns(settings: Table1, seed: int) -> Iterable[tuple[str, ResponseTable, Sequence[str | None]]]:
    for name, simulation in settings.simulated:
        campaign = simulate_campaign(replace(simulation, seed=seed))
        yield name, campaign.table, campaign.truth
    for known in settings.known:
        yield known.name, known.table, known.truth


def _score_known(labels: NDArray[np.int64], truth: Sequence[str | None]) -> tuple[float, float, int]:
    known = np.array([category is not None for category in truth])
    found = score(labels[known], [category for category in truth if category is not None])
    return found.vi, found.ari, found.clusters


def _figures(name: str, rows: Sequence[tuple[Any, ...]]) -> ResultSheet:
    found = []
    for (data, method), of_one in grouped(rows, 2).items():
        median = float(np.median([row[3] for row in of_one]))
        means = (*column(of_one, 3), median, *column(of_one, 4), mean(of_one, 5), mean(of_one, 7))
        found.append((data, method, len(of_one), *means))
    return ResultSheet(name, FIGURES, tuple(found))


def _panels(rows: Sequence[tuple[Any, ...]], methods: Sequence[str]) -> tuple[Bars, ...]:
    panels = []
    by_data = grouped(rows, 1)
    for (data,), of_data in by_data.items():
        by_method = {name: column(of_one, 3) for (_, name), of_one in grouped(of_data, 2).items()}
        series = bar_series("VI", *zip(*(by_method[name] for name in methods), strict=True))
        title = f"{_called(str(data))}:\n{VI_TITLE}"
        panels.append(Bars("", title, "method", "variation of information (nats)", tuple(methods), (series,)))
    return tuple(panels)


def _called(data: str) -> str:
    """A campaign's name as a stranger reads it."""
    workers = dict(HARD_CAMPAIGNS).get(data)
    if workers is not None:
        each = workers.workers_per_hit
        return f"small hard campaign, {each} worker{'' if each == 1 else 's'} a HIT"
    return f"{data} campaign"
