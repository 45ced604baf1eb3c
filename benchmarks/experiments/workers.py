"""Figure 4, left and centre: who does the work, and what is lost without the most or the least active workers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.experiments.redundancy import SCENES
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
from crowdclust_app.domain.plots import Curve, Curves
from crowdclust_app.domain.response_table import ResponseTable
from crowdclust_app.evaluation.simulation import SimulationSettings, simulate_campaign

TRIALS = ("removed", "step", "seed", "workers_removed", "hits_left", "vi_nats", "ari", "clusters", "seconds")
FIGURES = ("removed", "step", "seeds", "workers_removed", "hits_left", "vi_nats", "vi_sd", "ari", "clusters")
RANKS = ("seed", "rank", "hits", "share_of_workers", "share_of_hits")
UNEVEN_WORK = replace(SCENES, pareto=True)
MOST, LEAST = "most active", "least active"


@dataclass(frozen=True, slots=True)
class Workers:
    """What is taken away.

    Parameters
    ----------
    method
        The one that is tried.
    seeds
        Of simulation and method.
    steps
        How many of the most active workers go, one after another; of the least active so many go at each step that
        about as many HITs are left.
    """

    method: str
    seeds: tuple[int, ...]
    steps: int = 10
    simulation: SimulationSettings = UNEVEN_WORK


def run_workers(settings: Workers, solve: Solver, watch: Watch) -> ExperimentResult:
    """Cluster without the most active workers, and without the least active ones.

    Parameters
    ----------
    settings, solve, watch
        As in `run_table1`.
    """
    rows: list[tuple[Any, ...]] = []
    ranks: list[tuple[Any, ...]] = []
    for seed in settings.seeds:
        campaign = simulate_campaign(replace(settings.simulation, seed=seed))
        table, truth = campaign.table, campaign.truth
        order, hits = rank_workers(table)
        ranks.extend(_rank_rows(seed, hits))
        complete: tuple[Any, ...] = ()
        plan = removals(order, hits, settings.steps)
        for number, (removed, step, gone) in enumerate(plan):
            done = settings.seeds.index(seed) * len(plan) + number
            watch.at(done, len(settings.seeds) * len(plan), f"without the {len(gone)} {removed} workers, seed {seed}")
            left = table.take(np.flatnonzero(~np.isin(table.worker_of_response, gone)))
            if step or not complete:
                answer = solve(left, settings.method, len(set(truth)), seed)
                found = score(answer.labels, truth)
                complete = complete or (found.vi, found.ari, found.clusters, answer.seconds)
            cells = (found.vi, found.ari, found.clusters, answer.seconds) if step else complete
            rows.append((removed, step, seed, len(gone), left.n_responses, *cells))
    rows.sort(key=lambda row: (str(row[0]), row[1], row[2]))
    figures = tuple(
        (*key, len(of_one), mean(of_one, 3), mean(of_one, 4), *column(of_one, 5), mean(of_one, 6), mean(of_one, 7))
        for key, of_one in grouped(rows, 2).items()
    )
    first = [row for row in ranks if row[0] == settings.seeds[0]]
    return ExperimentResult(
        ResultSheet("trials", TRIALS, tuple(rows)),
        ResultSheet("workers", FIGURES, figures),
        _panels(figures, first),
        (ResultSheet("ranks", RANKS, tuple(ranks)),),
    )


def rank_workers(table: ResponseTable) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Workers with responses, the most active first, and how many HITs each did."""
    hits = np.bincount(table.worker_of_response, minlength=table.n_workers)
    order = np.argsort(-hits, kind="stable")
    order = order[hits[order] > 0].astype(np.int64)
    return order, hits[order].astype(np.int64)


def removals(order: NDArray[np.int64], hits: NDArray[np.int64], steps: int) -> list[tuple[str, int, NDArray[np.int64]]]:
    """Who is taken away at each step: nobody, then the most active one after another, then the least active in groups.

    Parameters
    ----------
    order, hits
        From `rank_workers`.
    steps
        Fewer where there are not so many workers; one always stays.

    Returns
    -------
    list of (which, step, workers)
        For both ends step 0 takes nobody away. A step at which the least active are the same as before is left out.
    """
    steps = min(steps, len(order) - 1)
    found = [(MOST, 0, order[:0]), (LEAST, 0, order[:0])]
    from_below, before = np.cumsum(hits[::-1]), 0
    for step in range(1, steps + 1):
        gone = int(hits[:step].sum())
        found.append((MOST, step, order[:step]))
        count = min(max(int(np.searchsorted(from_below, gone, side="right")), 1), len(order) - 1)
        # one worker more could take more HITs away than this step may
        if count > before:
            found.append((LEAST, step, order[len(order) - count :]))
            before = count
    return found


def _rank_rows(seed: int, hits: NDArray[np.int64]) -> list[tuple[Any, ...]]:
    n, done = len(hits), np.cumsum(hits)
    return [(seed, r + 1, int(hits[r]), (r + 1) / n, float(done[r] / done[-1])) for r in range(n)]


def _panels(figures: Sequence[tuple[Any, ...]], ranks: Sequence[tuple[Any, ...]]) -> tuple[Curves, ...]:
    def lines(rows: Sequence[tuple[Any, ...]], name: str, x: int, y: int, spread: int | None = None) -> Curve:
        cells = [tuple(float(row[c]) for row in rows) for c in (x, y)]
        bars = () if spread is None else tuple(float(row[spread]) for row in rows)
        return curve(name, cells[0], cells[1], bars)

    share = curve("", (100.0 * float(row[3]) for row in ranks), (100.0 * float(row[4]) for row in ranks))
    left = tuple(
        lines(of_one, f"without the {which} workers", 4, 5, 6) for (which,), of_one in grouped(figures, 1).items()
    )
    return (
        curves(
            "Who does the work:\nHITs of each worker",
            "worker, the most active first",
            "HITs completed",
            (lines(ranks, "", 1, 2),),
        ),
        curves(
            "Pareto curve: share of the HITs\nthat the most active workers did", "% of workers", "% of HITs", (share,)
        ),
        curves(f"Without some of the workers:\n{VI_TITLE}", "HITs left", "variation of information (nats)", left),
    )
