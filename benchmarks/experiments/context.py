"""Section 4.1: the context of a HIT decides how finely it is sorted; dividing found clusters again brings more out.

Workers see few items of each kind in a HIT of everything and take kinds that are alike for one; in a HIT of nothing
but alike kinds they tell them apart.
"""

from __future__ import annotations

from dataclasses import dataclass
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
from crowdclust_app.domain.campaign import PlanSettings
from crowdclust_app.domain.partition import canonical_groups
from crowdclust_app.domain.plots import Bars
from crowdclust_app.domain.response_table import ResponseTable
from crowdclust_app.sampling.plan import make_plan

TRIALS = ("approach", "seed", "responses", "pair_labels", "vi_nats", "ari", "clusters", "vi_coarse_nats", "seconds")
FIGURES = ("approach", "seeds", "responses", "vi_nats", "vi_sd", "ari", "ari_sd", "clusters", "vi_coarse_nats")
FLAT, MORE, DIVISIVE = "flat", "flat, as many HITs", "divisive"


@dataclass(frozen=True, slots=True)
class Context:
    """What is simulated, and how it is divided.

    Parameters
    ----------
    method, seeds
        The method that is tried; seeds of simulation and method.
    items, families, kinds
        Number of items, of families they belong to, and of kinds in each family.
    items_per_hit, redundancy, workers_per_hit, workers
        `M`, `V`, `R`, and how many workers there are.
    noise
        Share of placements that stray into another of the response's groups.
    blur
        A worker takes the kinds of a family for one with probability `min(1, blur (1 - share))`, where `share` is
        that of the family's items in the HIT; drawn anew for every response and family.
    smallest
        Clusters with fewer items than this are not divided.
    """

    method: str
    seeds: tuple[int, ...]
    items: int = 1000
    families: int = 4
    kinds: int = 3
    items_per_hit: int = 36
    redundancy: int = 6
    workers_per_hit: int = 5
    workers: int = 60
    noise: float = 0.05
    blur: float = 1.2
    smallest: int = 24


@dataclass(frozen=True, slots=True)
class Asked:
    """An answer and what was asked for it."""

    labels: NDArray[np.int64]
    responses: int
    pair_labels: int
    seconds: float


def run_context(settings: Context, solve: Solver, watch: Watch) -> ExperimentResult:
    """Compare one run over everything with dividing its clusters once more, at the same number of HITs too.

    Parameters
    ----------
    settings, solve, watch
        As in `run_table1`.
    """
    rows: list[tuple[Any, ...]] = []
    done, total = 0, 3 * len(settings.seeds)
    for seed in settings.seeds:
        kinds = np.random.default_rng(seed).permutation(
            np.arange(settings.items) % (settings.families * settings.kinds)
        )
        watch.at(done, total, f"flat, seed {seed}")
        flat = _sort_and_solve(settings, kinds, np.arange(settings.items), settings.redundancy, seed, solve)
        watch.at(done + 1, total, f"divisive, seed {seed}")
        divided = _divide(settings, kinds, flat, seed, solve, watch)
        more = round(settings.redundancy * divided.responses / flat.responses)
        watch.at(done + 2, total, f"flat with V = {more}, seed {seed}")
        as_many = _sort_and_solve(settings, kinds, np.arange(settings.items), more, seed, solve)
        done += 3
        for name, asked in ((FLAT, flat), (MORE, as_many), (DIVISIVE, divided)):
            fine = score(asked.labels, [str(kind) for kind in kinds])
            coarse = score(asked.labels, [str(kind) for kind in kinds // settings.kinds])
            cost = (asked.responses, asked.pair_labels)
            rows.append((name, seed, *cost, fine.vi, fine.ari, fine.clusters, coarse.vi, asked.seconds))
    rows.sort(key=lambda row: ((FLAT, MORE, DIVISIVE).index(row[0]), row[1]))
    figures = tuple(
        (*key, len(of_one), mean(of_one, 2), *column(of_one, 4), *column(of_one, 5), mean(of_one, 6), mean(of_one, 7))
        for key, of_one in grouped(rows, 1).items()
    )
    names = tuple(row[0] for row in figures)
    bars = bar_series("VI", (row[3] for row in figures), (row[4] for row in figures))
    title = f"{settings.families} families of {settings.kinds} kinds:\n{VI_TITLE}"
    panel = Bars("", title, "how the items were divided", "variation of information (nats)", names, (bars,))
    return ExperimentResult(
        ResultSheet("trials", TRIALS, tuple(rows)), ResultSheet("context", FIGURES, figures), (panel,)
    )


def _sort_and_solve(
    settings: Context, kinds: NDArray[np.int64], items: NDArray[np.int64], redundancy: int, seed: int, solve: Solver
) -> Asked:
    """Plan HITs of these items, have workers sort them, and cluster; labels of these items only."""
    plan = PlanSettings(settings.items_per_hit, redundancy, settings.workers_per_hit, seed)
    table = sort_in_context(settings, kinds[items], plan)
    answer = solve(table, settings.method, len(np.unique(kinds[items])), seed)
    return Asked(answer.labels, table.n_responses, table.n_pair_labels, answer.seconds)


def _divide(settings: Context, kinds: NDArray[np.int64], flat: Asked, seed: int, solve: Solver, watch: Watch) -> Asked:
    """Run the procedure again on every cluster that is large enough; the leaves are the clusters."""
    labels = np.zeros_like(flat.labels)
    responses, pair_labels, seconds = flat.responses, flat.pair_labels, flat.seconds
    for cluster in np.unique(flat.labels[flat.labels > 0]):
        watch.check()
        members = np.flatnonzero(flat.labels == cluster)
        offset = labels.max()
        if len(members) < settings.smallest:
            labels[members] = offset + 1
            continue
        below = _sort_and_solve(settings, kinds, members, settings.redundancy, seed, solve)
        labels[members] = np.where(below.labels > 0, below.labels + offset, 0)
        responses += below.responses
        pair_labels += below.pair_labels
        seconds += below.seconds
    return Asked(labels, responses, pair_labels, seconds)


def sort_in_context(settings: Context, kinds: NDArray[np.int64], plan: PlanSettings) -> ResponseTable:
    """Have workers sort every HIT of a plan over items of these kinds.

    Parameters
    ----------
    kinds : ndarray of shape (n,)
        Kind of each item; kind `k` is of family `k // settings.kinds`.
    plan
        `M`, `V`, `R` and the seed of everything random.
    """
    rng = np.random.default_rng([plan.seed, len(kinds)])
    hits = make_plan(len(kinds), plan).hits
    items, groups, workers, which = [], [], [], []
    for number, hit in enumerate(hits):
        for worker in rng.choice(settings.workers, size=plan.workers_per_hit, replace=False):
            shown = rng.permutation(hit)
            items.append(shown)
            groups.append(_sort_one(settings, kinds[shown], rng))
            workers.append(int(worker))
            which.append(number)
    return ResponseTable(
        item_names=tuple(map(str, range(len(kinds)))),
        worker_names=tuple(f"w{number}" for number in range(settings.workers)),
        hit_names=tuple(f"h{number}" for number in range(len(hits))),
        response_ptr=np.concatenate([[0], np.cumsum([len(shown) for shown in items])]).astype(np.int64),
        items=np.concatenate(items).astype(np.int64),
        groups=np.concatenate(groups).astype(np.int64),
        worker_of_response=np.array(workers, dtype=np.int64),
        hit_of_response=np.array(which, dtype=np.int64),
    )


def _sort_one(settings: Context, kinds: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """One response: families that fill less of the HIT are sorted less finely."""
    family = kinds // settings.kinds
    share = np.bincount(family, minlength=settings.families) / len(kinds)
    blurred = rng.random(settings.families) < settings.blur * (1.0 - share)
    seen = np.where(blurred[family], family * settings.kinds, kinds)
    astray = rng.random(len(kinds)) < settings.noise
    return canonical_groups(np.where(astray, rng.choice(np.unique(seen), len(seen)), seen).tolist())
