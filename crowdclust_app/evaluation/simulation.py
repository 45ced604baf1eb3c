"""Simulated campaigns whose answer is known: what every claim about the inference is tried on first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crowdclust_app.domain.campaign import PlanSettings
from crowdclust_app.domain.errors import InvalidInputError
from crowdclust_app.domain.partition import canonical_groups
from crowdclust_app.domain.response_table import ResponseTable
from crowdclust_app.sampling.plan import make_plan

# By rank, work falls off like rank^-1.16, with which the top fifth does about four fifths (paper, figure 4).
_PARETO_EXPONENT = 1.16

TALL_RED_CATEGORIES = ("tall red", "tall blue", "short red", "short blue")


@dataclass(frozen=True, slots=True)
class SimulationSettings:
    """What is simulated.

    Parameters
    ----------
    items, clusters
        Number of items and of the categories they truly belong to.
    items_per_hit, redundancy, workers_per_hit
        `M`, `V`, `R` of the plan.
    workers
        Number of workers, random ones included.
    noise
        Share of placements that land in a random one of the worker's groups.
    coarse
        Share of the pairs of similar categories that a worker takes for one; drawn for each worker.
    random_workers
        How many of the workers sort at random.
    seed
        Seed of everything.
    pareto
        Whether a few workers do most of the work, instead of all the same share.
    size_ratio
        How many times as large as the smallest category the largest is; the sizes between are evenly spaced. With 1
        all are equal up to one.
    """

    items: int = 1000
    clusters: int = 10
    items_per_hit: int = 36
    redundancy: int = 6
    workers_per_hit: int = 5
    workers: int = 130
    noise: float = 0.03
    coarse: float = 0.35
    random_workers: int = 0
    seed: int = 0
    pareto: bool = False
    size_ratio: float = 1.0

    def __post_init__(self) -> None:
        if not 1 <= self.clusters <= self.items:
            raise InvalidInputError(
                f"{self.items} items cannot fall into {self.clusters} clusters", todo="lower the clusters"
            )
        if self.workers < self.workers_per_hit:
            what = f"a HIT needs {self.workers_per_hit} different workers and there are {self.workers}"
            raise InvalidInputError(what, todo="raise the workers or lower the workers per HIT")
        if not 0 <= self.random_workers <= self.workers:
            what = f"{self.random_workers} of {self.workers} workers cannot be random"
            raise InvalidInputError(what, todo="lower the random workers")
        for name, value in (("noise", self.noise), ("coarse", self.coarse)):
            if not 0 <= value <= 1:
                raise InvalidInputError(f"the {name} {value:g} is not a share", todo="choose a number from 0 to 1")
        if not 1 <= self.size_ratio < float("inf"):
            what = f"the largest category cannot be {self.size_ratio:g} times as large as the smallest"
            raise InvalidInputError(what, todo="choose 1 or more")
        _ = self.plan

    @property
    def plan(self) -> PlanSettings:
        """What is asked of the plan."""
        return PlanSettings(self.items_per_hit, self.redundancy, self.workers_per_hit, self.seed)


@dataclass(frozen=True, slots=True)
class SimulatedWorker:
    """How one worker sorts.

    Parameters
    ----------
    name
        The worker's name.
    kind
        `sorts`, `random`, or what the worker looks at.
    groups
        The group into which this worker puts each category; empty for a random worker.
    n_groups
        Number of groups a stray item may land in.
    noise
        Share of placements that stray.
    """

    name: str
    kind: str
    groups: tuple[int, ...]
    n_groups: int
    noise: float

    def sort(self, categories: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
        """Sort items of these true categories; canonical group numbers."""
        strays = rng.integers(0, self.n_groups, size=len(categories))
        if not self.groups:
            return canonical_groups(strays.tolist())
        placed = np.asarray(self.groups)[categories]
        astray = rng.random(len(categories)) < self.noise
        return canonical_groups(np.where(astray, strays, placed).tolist())


@dataclass(frozen=True, slots=True)
class SimulatedCampaign:
    """Responses, and what they came from.

    Parameters
    ----------
    table
        The responses; every HIT of the plan done by `R` different workers.
    truth
        True category of each item, in the table's order of items.
    workers
        How each worker sorts, in the table's order of workers.
    categories
        Names of the categories, in the order of `SimulatedWorker.groups`.
    """

    table: ResponseTable
    truth: tuple[str, ...]
    workers: tuple[SimulatedWorker, ...]
    categories: tuple[str, ...]

    @property
    def worker_kinds(self) -> tuple[str, ...]:
        """Kind of each worker, in the table's order of workers."""
        return tuple(worker.kind for worker in self.workers)


def simulate_campaign(settings: SimulationSettings) -> SimulatedCampaign:
    """Simulate a campaign of many workers who see the same categories more or less coarsely.

    The categories lie at random in a plane; each and its nearest one are similar. Every worker takes each pair of
    similar categories for one with probability `coarse`, and what hangs together then is one group.

    Parameters
    ----------
    settings
        What to simulate.

    Returns
    -------
    SimulatedCampaign
        The same for the same settings.
    """
    rng = np.random.default_rng(settings.seed)
    truth = rng.permutation(_categories(settings.items, settings.clusters, settings.size_ratio))
    similar = _similar_categories(rng.random((settings.clusters, 2)))
    random = set(rng.choice(settings.workers, size=settings.random_workers, replace=False).tolist())
    names = numbered("w", settings.workers)
    workers = []
    for number in range(settings.workers):
        groups = _merge(settings.clusters, similar[rng.random(len(similar)) < settings.coarse])
        if number in random:
            workers.append(SimulatedWorker(names[number], "random", (), max(2, settings.clusters), 1.0))
        else:
            workers.append(SimulatedWorker(names[number], "sorts", groups, max(groups) + 1, settings.noise))
    activity = np.ones(settings.workers)
    if settings.pareto:
        activity = rng.permutation(np.arange(1, settings.workers + 1) ** -_PARETO_EXPONENT)
    table = answer_plan(
        settings.plan, numbered("item", settings.items), truth, workers, activity, even=not settings.pareto, rng=rng
    )
    categories = numbered("c", settings.clusters)
    return SimulatedCampaign(table, tuple(categories[k] for k in truth), tuple(workers), categories)


def numbered(prefix: str, count: int) -> tuple[str, ...]:
    """Give names such as `w01`, `w02`, all of one width."""
    width = len(str(count))
    return tuple(f"{prefix}{number:0{width}d}" for number in range(1, count + 1))


def _categories(items: int, clusters: int, size_ratio: float) -> NDArray[np.int64]:
    """Category of each item in order, each with at least one item."""
    if size_ratio == 1:
        return np.arange(items) % clusters
    # one item each, the others by the shares
    shares = np.linspace(1.0, size_ratio, clusters)
    ends = np.floor(np.cumsum(shares) / shares.sum() * (items - clusters) + 0.5).astype(np.int64)
    return np.repeat(np.arange(clusters), 1 + np.diff(ends, prepend=0))


def _similar_categories(points: NDArray[np.float64]) -> NDArray[np.int64]:
    """Pairs of a category and its nearest one, each pair once; shape (n_pairs, 2)."""
    if len(points) < 2:
        return np.zeros((0, 2), dtype=np.int64)
    distances = np.linalg.norm(points[:, None] - points[None], axis=2)
    np.fill_diagonal(distances, np.inf)
    pairs = np.column_stack([np.arange(len(points)), distances.argmin(axis=1)])
    return np.unique(np.sort(pairs, axis=1), axis=0)


def _merge(n_categories: int, pairs: NDArray[np.int64]) -> tuple[int, ...]:
    """Group of each category when these pairs are taken for one."""
    group = np.arange(n_categories)
    for a, b in pairs:
        group[group == group[b]] = group[a]
    return tuple(canonical_groups(group.tolist()).tolist())


def _choose_workers(
    n_hits: int, wanted: int, activity: NDArray[np.float64], even: bool, rng: np.random.Generator
) -> list[NDArray[np.int64]]:
    """Different workers for each HIT: those who did least so far, or drawn by their activity."""
    if not even:
        shares = activity / activity.sum()
        return [np.sort(rng.choice(len(shares), size=wanted, replace=False, p=shares)) for _ in range(n_hits)]
    done = np.zeros(len(activity))
    chosen = []
    for _ in range(n_hits):
        least = np.argsort(done + rng.random(len(done)) / 2)[:wanted]
        done[least] += 1
        chosen.append(np.sort(least))
    return chosen


def answer_plan(
    plan_settings: PlanSettings,
    item_names: tuple[str, ...],
    truth: NDArray[np.int64],
    workers: Sequence[SimulatedWorker],
    activity: NDArray[np.float64],
    *,
    even: bool,
    rng: np.random.Generator,
) -> ResponseTable:
    """Have the plan's HITs done by the workers: the same share each (`even`), or drawn by their activity."""
    hits = make_plan(len(item_names), plan_settings).hits
    chosen = _choose_workers(len(hits), plan_settings.workers_per_hit, activity, even, rng)
    items, groups, who, which = [], [], [], []
    for number, (hit, those) in enumerate(zip(hits, chosen, strict=True)):
        for worker in those:
            shown = rng.permutation(hit)
            items.append(shown)
            groups.append(workers[worker].sort(truth[shown], rng))
            who.append(worker)
            which.append(number)
    sizes = [len(shown) for shown in items]
    return ResponseTable(
        item_names=item_names,
        worker_names=tuple(worker.name for worker in workers),
        hit_names=numbered("h", len(hits)),
        response_ptr=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        items=np.concatenate(items).astype(np.int64),
        groups=np.concatenate(groups).astype(np.int64),
        worker_of_response=np.array(who, dtype=np.int64),
        hit_of_response=np.array(which, dtype=np.int64),
    )
