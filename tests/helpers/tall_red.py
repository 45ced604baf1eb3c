"""The paper's example of section 3: objects that are tall or short and red or blue, sorted by height or by colour."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from crowdclust_app.domain.campaign import PlanSettings
from crowdclust_app.domain.errors import InvalidInputError
from crowdclust_app.evaluation.simulation import (
    TALL_RED_CATEGORIES,
    SimulatedCampaign,
    SimulatedWorker,
    answer_plan,
    numbered,
)


@dataclass(frozen=True, slots=True)
class TallRedSettings:
    """The paper's example: objects that are tall or short and red or blue.

    Parameters
    ----------
    items
        Number of objects, the four kinds in turn.
    items_per_hit, redundancy, workers_per_hit
        `M`, `V`, `R` of the plan.
    height_workers, colour_workers
        How many workers sort by height, and by colour.
    random_workers, one_group_workers
        How many sort at random, and how many put everything into one group.
    noise
        Share of placements of the sensible workers that land in a random one of their groups.
    seed
        Seed of everything.
    """

    items: int = 80
    items_per_hit: int = 16
    redundancy: int = 4
    workers_per_hit: int = 8
    height_workers: int = 5
    colour_workers: int = 5
    random_workers: int = 1
    one_group_workers: int = 1
    noise: float = 0.03
    seed: int = 0

    @property
    def plan(self) -> PlanSettings:
        """What is asked of the plan."""
        return PlanSettings(self.items_per_hit, self.redundancy, self.workers_per_hit, self.seed)


def tall_red_campaign(settings: TallRedSettings, item_names: Sequence[str] | None = None) -> SimulatedCampaign:
    """Simulate the example of gomes2011, section 3: two kinds of workers, four atomic clusters.

    Item `i` is of the category `TALL_RED_CATEGORIES[i % 4]`.

    Parameters
    ----------
    settings
        What to simulate.
    item_names
        Names of the items, `settings.items` of them; numbered when None.

    Returns
    -------
    SimulatedCampaign
        The same for the same settings.
    """
    rng = np.random.default_rng(settings.seed)
    truth = np.arange(settings.items) % len(TALL_RED_CATEGORIES)
    kinds = [
        ("height", (0, 0, 1, 1), 2, settings.noise, settings.height_workers),
        ("colour", (0, 1, 0, 1), 2, settings.noise, settings.colour_workers),
        ("random", (), 3, 1.0, settings.random_workers),
        ("one group", (0, 0, 0, 0), 1, 0.0, settings.one_group_workers),
    ]
    workers = [
        SimulatedWorker(f"{kind} {number + 1}", kind, groups, n_groups, noise)
        for kind, groups, n_groups, noise, count in kinds
        for number in range(count)
    ]
    if len(workers) < settings.workers_per_hit:
        what = f"a HIT needs {settings.workers_per_hit} different workers and there are {len(workers)}"
        raise InvalidInputError(what, todo="raise the workers or lower the workers per HIT")
    names = tuple(item_names) if item_names is not None else numbered("item", settings.items)
    table = answer_plan(settings.plan, names, truth, workers, np.ones(len(workers)), even=True, rng=rng)
    return SimulatedCampaign(table, tuple(TALL_RED_CATEGORIES[k] for k in truth), tuple(workers), TALL_RED_CATEGORIES)
