"""How good the clusters of a plan may come out: people are simulated who do it, and what they answer is fitted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crowdclust_app.domain.campaign import PlanSettings
from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.domain.fit_settings import FitSettings
from crowdclust_app.evaluation.metrics import adjusted_rand_index
from crowdclust_app.evaluation.simulation import SimulationSettings, simulate_campaign

# What is simulated, unless there are too few items for it: kinds of photos, photos, photos placed at random, and how
# often a worker merges kinds that are alike. The hard campaigns of the benchmarks are worse, the easy ones better.
KINDS, ITEMS, NOISE, COARSE = 10, 240, 0.05, 0.35
REPEATS = 3
MOST_LABELS = 150_000
# Sets that one worker does before leaving, roughly what volunteers did in the paper's campaigns.
SETS_A_WORKER = 12


@dataclass(frozen=True, slots=True)
class ExpectedQuality:
    """Adjusted Rand index of the fits with what the simulated photos are: 1 the same, 0 what chance gives.

    Parameters
    ----------
    middle, low, high
        Of the simulated campaigns.
    items, kinds
        How large they were.
    """

    middle: float
    low: float
    high: float
    items: int
    kinds: int


def expected_quality(
    n_items: int, plan: PlanSettings, seed: int = 0, cancel: CancelToken | None = None
) -> ExpectedQuality | None:
    """Simulate small campaigns with a plan and fit them.

    An item has as many pair labels as the plan gives it, which decides how well it is placed; the number of items
    hardly matters, so that a few hundred stand for all.

    Parameters
    ----------
    n_items
        Items of the campaign.
    plan
        `M`, `V` and `R`; its seed does not count.
    seed
        Of the simulation.

    Returns
    -------
    ExpectedQuality or None
        None for fewer than eight items.

    Raises
    ------
    Cancelled
        When asked to stop.
    """
    # the form of a new campaign is shown before the inference's compiled kernels are loaded
    from crowdclust_app.services.fits.fitting import fit_table

    size = _size(n_items, plan)
    if size is None:
        return None
    items, kinds = size
    found = []
    for repeat in range(REPEATS):
        campaign = simulate_campaign(_settings(items, kinds, plan, seed * REPEATS + repeat))
        settings = FitSettings(
            dimensions=4, n_starts=1, n_clusters=kinds, label_weight=0.3, folds=0,
            layer_rounds=10, max_iterations=20, seed=seed,
        )  # fmt: skip
        result = fit_table(campaign.table, settings, cancel=cancel)
        shown = result.labels > 0
        truth = np.unique(np.array(campaign.truth), return_inverse=True)[1]
        found.append(adjusted_rand_index(truth[shown], result.labels[shown]))
    return ExpectedQuality(float(np.median(found)), min(found), max(found), items, kinds)


def _size(n_items: int, plan: PlanSettings) -> tuple[int, int] | None:
    """Items and kinds to simulate, so that neither a large plan takes long nor a kind has too few items."""
    if n_items < 8:
        return None
    shown = min(plan.items_per_hit, n_items)
    labels_an_item = plan.redundancy * plan.workers_per_hit * max(1, shown - 1) / 2.0
    items = int(min(n_items, ITEMS, max(40.0, MOST_LABELS / labels_an_item)))
    return items, max(2, min(KINDS, items // 4))


def _settings(items: int, kinds: int, plan: PlanSettings, seed: int) -> SimulationSettings:
    per_hit = min(plan.items_per_hit, items)
    turns = -(-items * plan.redundancy // per_hit) * plan.workers_per_hit
    return SimulationSettings(
        items=items,
        clusters=kinds,
        items_per_hit=per_hit,
        redundancy=plan.redundancy,
        workers_per_hit=plan.workers_per_hit,
        workers=max(plan.workers_per_hit, 4, turns // SETS_A_WORKER),
        noise=NOISE,
        coarse=COARSE,
        seed=seed,
    )
