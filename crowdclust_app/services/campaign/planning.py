"""Plans before there is a campaign: what a choice of M, V and R amounts to, and the plan as a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crowdclust_app.domain.campaign import Hit, PlanSettings
from crowdclust_app.io.tables import write_table
from crowdclust_app.sampling.plan import Plan, PlanFigures, make_plan, plan_figures
from crowdclust_app.services.exchange.result_folders import folder_for, write_summary

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


PLAN_COLUMNS = ("hit", "position", "item")


def plan_items(n_items: int, settings: PlanSettings) -> tuple[Plan, PlanFigures]:
    """Make a plan and work out its figures.

    Parameters
    ----------
    n_items
        Number of items `N`.
    settings
        `M`, `V`, `R` and the seed.

    Returns
    -------
    plan, figures
        See `crowdclust_app.sampling.plan`.

    Raises
    ------
    UserError
        When there cannot be such a plan.
    """
    plan = make_plan(n_items, settings)
    return plan, plan_figures(plan)


def planned_repeats(hits: int, share: float, workers_per_hit: int) -> tuple[int, int]:
    """How many of so many HITs are repeated for a share of them, and the turns that this asks for."""
    repeats = min(hits, max(1, round(share * hits))) if share > 0 else 0
    return repeats, repeats * -(-workers_per_hit // 2)


def plan_summary(figures: PlanFigures) -> dict[str, Any]:
    """The figures with the keys of docs/files.md, and the warnings."""
    return {
        "hits": figures.hits,
        "pair_labels": figures.pair_labels,
        "assignments": figures.assignments,
        "shown_min": figures.shown_min,
        "shown_mean": figures.shown_mean,
        "shown_max": figures.shown_max,
        "components": figures.components,
        "pairs_covered": figures.pairs_covered,
        "warnings": list(figures.warnings),
    }


def planned_hits(members: Sequence[NDArray[np.int64]], settings: PlanSettings) -> list[Hit]:
    """Give the constructed HITs of a plan their numbers and names (`h0001` and so on)."""
    width = max(4, len(str(len(members))))
    return [
        Hit(number, f"h{number + 1:0{width}d}", tuple(int(item) for item in inside), settings.workers_per_hit)
        for number, inside in enumerate(members)
    ]


def write_plan(plan: Plan, out: Path, summary: Mapping[str, Any]) -> tuple[Path, ...]:
    """Write a plan as a table: items are named 0..N-1, HITs as in a campaign made with the same plan.

    Parameters
    ----------
    plan
        The plan.
    out
        A file that ends in `.csv`, or a folder for `plan.csv` and `summary.json`.
    summary
        The figures that go into `summary.json`.

    Returns
    -------
    tuple of Path
        The files.
    """
    hits = planned_hits(plan.hits, plan.settings)
    rows = ((hit.name, position, item) for hit in hits for position, item in enumerate(hit.items))
    if out.suffix.lower() == ".csv" and not out.is_dir():
        write_table(out, PLAN_COLUMNS, rows)
        return (out,)
    with folder_for(out):
        write_table(out / "plan.csv", PLAN_COLUMNS, rows)
        return (out / "plan.csv", write_summary(out, summary))
