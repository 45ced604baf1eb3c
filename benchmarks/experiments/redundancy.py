"""Figure 4, right: how near the methods come to the truth as items are in more HITs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from benchmarks.experiments.results import (
    VI_TITLE,
    ExperimentResult,
    ResultSheet,
    Solver,
    Watch,
    column,
    curve,
    curves,
    grouped,
    mean,
    score,
)
from benchmarks.experiments.table1 import HARD
from crowdclust_app.evaluation.simulation import SimulationSettings, simulate_campaign

TRIALS = ("method", "redundancy", "seed", "vi_nats", "ari", "clusters", "pair_labels", "seconds")
FIGURES = ("method", "redundancy", "seeds", "vi_nats", "vi_sd", "ari", "ari_sd", "clusters")

SCENES = replace(HARD, items=1000, clusters=13)
"""The size of the paper's Scenes: 1000 images of 13 categories."""


@dataclass(frozen=True, slots=True)
class Redundancy:
    """What is compared: methods, seeds, the values of `V`, and the campaign but for `V` and its seed."""

    methods: tuple[str, ...]
    seeds: tuple[int, ...]
    values: tuple[int, ...] = (3, 4, 5, 6, 7, 8, 9, 10)
    simulation: SimulationSettings = SCENES


def run_redundancy(settings: Redundancy, solve: Solver, watch: Watch) -> ExperimentResult:
    """Have every method cluster campaigns of every redundancy, for every seed.

    Parameters
    ----------
    settings, solve, watch
        As in `run_table1`.
    """
    rows: list[tuple[Any, ...]] = []
    total = len(settings.methods) * len(settings.seeds) * len(settings.values)
    for seed in settings.seeds:
        for value in settings.values:
            campaign = simulate_campaign(replace(settings.simulation, seed=seed, redundancy=value))
            for method in settings.methods:
                watch.at(len(rows), total, f"V = {value}, seed {seed}, {method}")
                answer = solve(campaign.table, method, len(set(campaign.truth)), seed)
                found = score(answer.labels, campaign.truth)
                labels = campaign.table.n_pair_labels
                rows.append((method, value, seed, found.vi, found.ari, found.clusters, labels, answer.seconds))
    rows.sort(key=lambda row: (settings.methods.index(str(row[0])), row[1], row[2]))
    figures = tuple(
        (*key, len(of_one), *column(of_one, 3), *column(of_one, 4), mean(of_one, 5))
        for key, of_one in grouped(rows, 2).items()
    )
    lines = tuple(
        curve(str(method), (row[1] for row in of_method), (row[3] for row in of_method), (row[4] for row in of_method))
        for (method,), of_method in grouped(figures, 1).items()
    )
    each = settings.simulation.workers_per_hit
    title = f"{settings.simulation.items:,} items, {each} worker{'' if each == 1 else 's'} a HIT:\n{VI_TITLE}"
    panel = curves(title, "HITs that an item is in (redundancy V)", "variation of information (nats)", lines)
    return ExperimentResult(
        ResultSheet("trials", TRIALS, tuple(rows)), ResultSheet("redundancy", FIGURES, figures), (panel,)
    )
