"""Simulated data whose answer is known, as data frames."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from crowdclust_app.domain.data_frames import frame_of_columns, series_of
from crowdclust_app.domain.response_table import ResponseTable
from crowdclust_app.evaluation.label_simulation import AccuracyPrior, simulate_regular
from crowdclust_app.evaluation.simulation import SimulationSettings, simulate_campaign

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class SimulatedResponses:
    """Responses of simulated workers, and what they came from.

    Parameters
    ----------
    responses : DataFrame
        Columns `hit`, `worker`, `item`, `group`.
    truth : Series
        Category of each item, by item.
    workers : DataFrame
        Columns `worker` and `kind`: `sorts` or `random`.
    """

    responses: pd.DataFrame
    truth: pd.Series[str]
    workers: pd.DataFrame


@dataclass(frozen=True, slots=True)
class SimulatedTasks:
    """Yes/no labels of simulated workers, and what is true.

    Parameters
    ----------
    labels : DataFrame
        Columns `task`, `worker`, `label` (1 for yes, 0 for no).
    truth : Series
        Label of each task, by task.
    accuracy : Series
        How often each worker is right, by worker.
    """

    labels: pd.DataFrame
    truth: pd.Series[int]
    accuracy: pd.Series[float]


def simulate(
    n_items: int = 300,
    n_clusters: int = 6,
    *,
    items_per_hit: int = 20,
    redundancy: int = 6,
    workers_per_hit: int = 3,
    n_workers: int = 30,
    noise: float = 0.03,
    coarse: float = 0.35,
    random_workers: int = 0,
    size_ratio: float = 1.0,
    seed: int = 0,
) -> SimulatedResponses:
    """Simulate a campaign: workers who see the same categories more or less coarsely.

    Parameters
    ----------
    n_items, n_clusters
        Number of items and of the categories they truly belong to.
    items_per_hit, redundancy, workers_per_hit
        `M`, `V`, `R` of the plan: items shown together, HITs an item is in, workers who do each HIT.
    n_workers, random_workers
        Number of workers, and how many of them sort at random.
    noise
        Share of placements that land in a random one of the worker's groups.
    coarse
        Share of the pairs of similar categories that a worker takes for one.
    size_ratio
        How many times as large as the smallest category the largest is.
    seed
        Seed of everything; the same seed gives the same data.

    Raises
    ------
    InvalidInputError
        When a number is out of range.

    Examples
    --------
    >>> import crowdclust_app as cc
    >>> data = cc.simulate(n_items=40, n_clusters=4, seed=1)
    >>> list(data.responses.columns), data.truth.nunique()
    (['hit', 'worker', 'item', 'group'], 4)
    """
    campaign = simulate_campaign(
        SimulationSettings(
            items=n_items,
            clusters=n_clusters,
            items_per_hit=items_per_hit,
            redundancy=redundancy,
            workers_per_hit=workers_per_hit,
            workers=n_workers,
            noise=noise,
            coarse=coarse,
            random_workers=random_workers,
            seed=seed,
            size_ratio=size_ratio,
        )
    )
    names = [worker.name for worker in campaign.workers]
    return SimulatedResponses(
        response_frame(campaign.table),
        series_of(campaign.truth, campaign.table.item_names, "category", "item"),
        frame_of_columns({"worker": names, "kind": campaign.worker_kinds}),
    )


def simulate_labels(
    n_tasks: int = 200,
    *,
    labels_per_task: int = 5,
    tasks_per_worker: int = 20,
    accuracy: AccuracyPrior = (4.0, 2.0),
    seed: int = 0,
) -> SimulatedTasks:
    """Simulate yes/no labels by workers who are each right with a probability of their own (liu2012, section 4).

    Parameters
    ----------
    n_tasks, labels_per_task, tasks_per_worker
        Of the regular graph of tasks and workers; `n_tasks * labels_per_task` must be divisible by `tasks_per_worker`.
    accuracy
        Beta distribution `(alpha, beta)` of the workers' accuracies, or shares by accuracy such as `{0.6: 1, 0.9: 1}`.
    seed
        Seed of everything.

    Raises
    ------
    InvalidInputError
        When there is no such graph.

    Examples
    --------
    >>> import crowdclust_app as cc
    >>> data = cc.simulate_labels(100, accuracy=(8.0, 2.0), seed=1)
    >>> found = cc.DawidSkene().fit(data.labels)
    >>> bool((found.predict() == data.truth.loc[list(found.tasks_)].to_numpy()).mean() > 0.8)
    True
    """
    simulated = simulate_regular(n_tasks, labels_per_task, tasks_per_worker, accuracy, seed)
    labels = simulated.labels
    tasks, workers = _numbered("t", labels.n_tasks), _numbered("w", labels.n_workers)
    assert simulated.accuracies is not None
    return SimulatedTasks(
        frame_of_columns({"task": tasks[labels.task], "worker": workers[labels.worker], "label": labels.label}),
        series_of(simulated.truth.tolist(), tasks.tolist(), "label", "task"),
        series_of(simulated.accuracies.tolist(), workers.tolist(), "accuracy", "worker"),
    )


def response_frame(table: ResponseTable) -> pd.DataFrame:
    """Responses as rows `hit,worker,item,group`; groups are numbered from 1."""
    response = np.repeat(np.arange(table.n_responses), table.sizes)
    hits, workers, items = (
        np.array(names, dtype=object) for names in (table.hit_names, table.worker_names, table.item_names)
    )
    return frame_of_columns(
        {
            "hit": hits[table.hit_of_response[response]],
            "worker": workers[table.worker_of_response[response]],
            "item": items[table.items],
            "group": table.groups + 1,
        }
    )


def _numbered(prefix: str, count: int) -> np.ndarray[tuple[int], np.dtype[np.object_]]:
    width = len(str(count))
    return np.array([f"{prefix}{number:0{width}d}" for number in range(1, count + 1)], dtype=object)
