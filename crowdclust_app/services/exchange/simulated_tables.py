"""Simulated campaigns as the tables that real ones come in."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from crowdclust_app.domain.response_table import ResponseTable
from crowdclust_app.evaluation.simulation import SimulatedCampaign, SimulationSettings, simulate_campaign
from crowdclust_app.io.atomic import folder_for
from crowdclust_app.io.tables import write_table

__all__ = ["response_rows", "simulate", "simulation_tables"]


def simulate(out: Path, **settings: Any) -> dict[str, Any]:
    """Simulate a campaign and write `responses.csv`, `truth.csv` and `workers_truth.csv`.

    Parameters
    ----------
    out
        Folder for the tables; made when it is not there.
    **settings
        Those of `SimulationSettings`.

    Returns
    -------
    dict
        What was simulated and the files, as plain JSON values.

    Raises
    ------
    UserError
        When the settings cannot be, or the files not be written.
    """
    chosen = SimulationSettings(**settings)
    campaign = simulate_campaign(chosen)
    files = simulation_tables(campaign, out)
    table = campaign.table
    return {
        "items": table.n_items,
        "clusters": chosen.clusters,
        "workers": table.n_workers,
        "hits": len(table.hit_names),
        "responses": table.n_responses,
        "pair_labels": table.n_pair_labels,
        "settings": asdict(chosen),
        "files": [str(path) for path in files],
    }


def simulation_tables(campaign: SimulatedCampaign, out: Path) -> tuple[Path, ...]:
    """Write a simulated campaign.

    Parameters
    ----------
    campaign
        What was simulated.
    out
        Folder for the tables; made when it is not there.

    Returns
    -------
    tuple of Path
        `responses.csv`, `truth.csv` (`item,category`) and `workers_truth.csv` (`worker,kind,hits,groups`). `groups`
        joins the categories that the worker takes for one with `+`, with a space between groups; it is empty for a
        random worker.
    """
    table = campaign.table
    hits = np.bincount(table.worker_of_response, minlength=table.n_workers)
    workers = [
        (worker.name, worker.kind, hits[number], _groups(worker.groups, campaign.categories))
        for number, worker in enumerate(campaign.workers)
    ]
    paths = tuple(out / name for name in ("responses.csv", "truth.csv", "workers_truth.csv"))
    with folder_for(out):
        write_table(paths[0], ("hit", "worker", "item", "group"), response_rows(campaign.table))
        write_table(paths[1], ("item", "category"), zip(table.item_names, campaign.truth, strict=True))
        write_table(paths[2], ("worker", "kind", "hits", "groups"), workers)
    return paths


def response_rows(
    table: ResponseTable, worker: Callable[[str], str] = str, names: Sequence[str] | None = None
) -> Iterator[tuple[str, str, str, int]]:
    """Rows of `responses.csv`: HIT, worker, item, group.

    Parameters
    ----------
    worker
        How a worker is written.
    names
        Names of the items in place of the table's.
    """
    items = names or table.item_names
    for number in range(table.n_responses):
        hit = table.hit_names[table.hit_of_response[number]]
        who = worker(table.worker_names[table.worker_of_response[number]])
        span = slice(int(table.response_ptr[number]), int(table.response_ptr[number + 1]))
        for item, group in zip(table.items[span].tolist(), table.groups[span].tolist(), strict=True):
            yield hit, who, items[item], group + 1


def _groups(groups: tuple[int, ...], categories: tuple[str, ...]) -> str:
    members: dict[int, list[str]] = {}
    for category, group in zip(categories, groups, strict=False):
        members.setdefault(group, []).append(category)
    return " ".join("+".join(names) for names in members.values())
