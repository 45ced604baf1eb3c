"""Subdivide clusters (gomes2011, section 4.1): the items of one become a stage with its own plan, HITs and runs.

Workers who are shown items of one cluster alone see differences that they pass over among items of all kinds. A stage
belongs to the run that found its cluster and stays with it when the stage above is run again. It can be taken out of
sight and brought back; its answers stay in the file either way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from crowdclust_app.domain.campaign import WHOLE_COLLECTION, Hit, PlanSettings
from crowdclust_app.domain.errors import UserError
from crowdclust_app.domain.stages import StageInfo, stage_name
from crowdclust_app.sampling.plan import PlanFigures, make_plan, plan_figures
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.campaign.planning import plan_items
from crowdclust_app.services.clusters.categories import read_categories
from crowdclust_app.services.fits.results import Run
from crowdclust_app.services.fits.run_store import load_run, run_list
from crowdclust_app.storage import catalogue, stages
from crowdclust_app.storage.connection import Connection
from crowdclust_app.storage.times import now

FEWEST_ITEMS = 2


@dataclass(frozen=True, slots=True)
class SplitReport:
    """What became of a cluster that was subdivided.

    Parameters
    ----------
    campaign
        Path of the campaign.
    stage
        Name of the new stage.
    run
        The run that found the cluster.
    added
        Items in the stage.
    hits, assignments
        HITs of its plan, and turns that they ask for.
    warnings
        Sentences for the lead.
    """

    campaign: str
    stage: str
    run: int
    added: int
    hits: int
    assignments: int
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SplitOutlook:
    """What subdividing a cluster would come to.

    Parameters
    ----------
    settings
        What the plan is asked for.
    items
        Items of the cluster.
    figures
        What the plan amounts to.
    warnings
        Those of the plan, and what is worth knowing besides.
    """

    settings: PlanSettings
    items: int
    figures: PlanFigures
    warnings: tuple[str, ...]


def stage_list(campaign: Campaign) -> tuple[StageInfo, ...]:
    """Every stage, the removed ones too, in the order in which they were made."""
    with campaign.database.read() as connection:
        return tuple(stages.stage_rows(connection))


def find_stage(campaign: Campaign, name: str) -> StageInfo:
    """One stage by name.

    Raises
    ------
    UserError
        When the campaign has none of this name.
    """
    known = {stage.name: stage for stage in stage_list(campaign)}
    if name not in known:
        standing = ", ".join(stage.name for stage in known.values() if not stage.removed)
        todo = f"choose one of {standing}; split makes another"
        raise UserError(f"the campaign has no stage {name}", where=str(campaign.path), todo=todo)
    return known[name]


def cluster_items(campaign: Campaign, run: Run, cluster: int) -> tuple[int, ...]:
    """Numbers in the campaign of the items of a cluster, ascending.

    What the lead decided counts: photos that were moved are where they were moved to, and clusters that are one
    category have their items together.

    Parameters
    ----------
    cluster
        A cluster, or the place of a category without one (see `services.categories`).

    Raises
    ------
    UserError
        When the run has no such cluster.
    """
    known = read_categories(campaign, run.number, run.result.responsibilities.shape[1])
    labels = np.where(run.result.shown, run.result.labels, 0).astype(np.int64)
    places = known.places(labels, run.item_names)
    wanted = known.together_with(cluster) if 1 <= cluster <= known.n_places else ()
    members = np.flatnonzero(np.isin(places, wanted)).tolist()
    if not members:
        there = sorted(set(places[places > 0].tolist()))
        todo = f"choose one of 1 to {there[-1]}" if there else "run it again when there are more responses"
        raise UserError(f"run {run.number} of {run.stage} has no cluster {cluster}", todo=todo)
    numbers = {item.path: item.number for item in campaign.items()}
    names = (run.item_names[member] for member in members)
    return tuple(sorted(numbers[name] for name in names if name in numbers))


def newest_run(campaign: Campaign, stage: str) -> int | None:
    """Number of the newest run of a stage."""
    return max((run.number for run in run_list(campaign) if run.stage == stage), default=None)


def run_to_divide(campaign: Campaign, stage: str, run: int | None = None) -> Run:
    """The run of a stage whose clusters can be subdivided: the one given, or the newest.

    Raises
    ------
    UserError
        When there is no such stage or run, or the stage is removed.
    """
    if find_stage(campaign, stage).removed:
        raise UserError(f"the stage {stage} is removed", todo="bring it back first")
    number = run if run is not None else newest_run(campaign, stage)
    if number is None:
        raise UserError(f"{stage} has no run yet, so it has no clusters", todo=f"fit the stage {stage} first")
    found = load_run(campaign, number)
    if found.stage != stage:
        raise UserError(f"run {number} is of the stage {found.stage}, not of {stage}", todo=f"choose a run of {stage}")
    return found


def stay_behind(campaign: Campaign, run: Run) -> tuple[str, ...]:
    """Sentences about stages that stay with an earlier run of the same stage when it is run again."""
    earlier: dict[int, list[str]] = {}
    for stage in stage_list(campaign):
        if stage.parent == run.stage and stage.run is not None and stage.run != run.number and not stage.removed:
            earlier.setdefault(stage.run, []).append(stage.name)
    return tuple(
        f"The stage{'s' if len(names) > 1 else ''} {', '.join(names)} stay{'' if len(names) > 1 else 's'} with the "
        f"clusters of run {number}."
        for number, names in sorted(earlier.items())
    )


def default_plan(parent: PlanSettings, n_items: int) -> PlanSettings:
    """The plan that a stage begins with: as the stage above, but no more items a HIT than there are."""
    return replace(parent, items_per_hit=max(FEWEST_ITEMS, min(parent.items_per_hit, n_items)))


def split_outlook(n_items: int, settings: PlanSettings) -> SplitOutlook:
    """Work out what a stage of so many items would ask of the workers.

    Raises
    ------
    UserError
        When there cannot be such a stage.
    """
    _refuse_too_few(n_items)
    plan, figures = plan_items(n_items, settings)
    return SplitOutlook(settings, n_items, figures, _warnings(n_items, settings, len(plan.hits), figures.warnings))


def subdivide(
    campaign: Campaign, stage: str, cluster: int, settings: PlanSettings | None = None, run: int | None = None
) -> SplitReport:
    """Make a stage of a cluster's items: its HITs are handed out from now on.

    Parameters
    ----------
    stage
        The stage whose run found the cluster; `all` is the whole collection.
    cluster
        Number of the cluster.
    settings
        `M`, `V`, `R` and seed of the plan; `default_plan` when None.
    run
        The run that found it; the newest of the stage when None.

    Returns
    -------
    SplitReport

    Raises
    ------
    UserError
        When there is no such stage, run or cluster, when it has fewer than 2 items, or is subdivided already.
        Nothing is changed then.
    """
    above = find_stage(campaign, stage)
    found = run_to_divide(campaign, stage, run)
    number = found.number
    items = cluster_items(campaign, found, cluster)
    _refuse_too_few(len(items))
    same = read_categories(campaign, number, found.result.responsibilities.shape[1]).together_with(cluster)
    chosen = settings or default_plan(above.settings, len(items))
    plan = make_plan(len(items), chosen)
    figures = plan_figures(plan)
    members = [tuple(items[place] for place in hit.tolist()) for hit in plan.hits]
    name = _store(campaign, found, same, chosen, items, members)
    warnings = _warnings(len(items), chosen, len(members), figures.warnings)
    if len(same) > 1:
        several = " and ".join(str(one) for one in same)
        warnings = (f"Clusters {several} are one category, so the stage has the photos of all of them.", *warnings)
    return SplitReport(
        campaign=str(campaign.path),
        stage=name,
        run=number,
        added=len(items),
        hits=len(members),
        assignments=figures.assignments,
        warnings=warnings,
    )


def _store(
    campaign: Campaign,
    run: Run,
    clusters: tuple[int, ...],
    settings: PlanSettings,
    items: Sequence[int],
    members: Sequence[tuple[int, ...]],
) -> str:
    """Write a stage of one category's clusters with its HITs; returns its name, which has the first of them."""
    with campaign.database.write() as connection:
        rows = stages.stage_rows(connection)
        cluster = min(clusters)
        for other in rows:
            if other.run == run.number and other.cluster in clusters and not other.removed:
                raise UserError(
                    f"cluster {cluster} of run {run.number} is subdivided already, as the stage {other.name}",
                    todo="remove that stage first, or go on with it",
                )
        name = stage_name(run.stage, cluster, {row.name for row in rows})
        stages.insert_stage(connection, name, settings, items, now(), parent=run.stage, run=run.number, cluster=cluster)
        catalogue.insert_hits(connection, stage_hits(connection, members, settings, name))
        catalogue.bump_revision(connection)
    return name


def stage_hits(
    connection: Connection, members: Sequence[tuple[int, ...]], settings: PlanSettings, stage: str
) -> list[Hit]:
    """HITs that come after those there are: numbers and names (`h0121` and so on) go on where they end.

    People who sort see no difference between stages; a HIT's name says only its place in the whole.
    """
    taken = set(catalogue.hit_numbers(connection))
    first = stages.first_free_hit(connection)
    hits = []
    place = first
    for number, inside in enumerate(members, start=first):
        name = f"h{place + 1:04d}"
        while name in taken:
            place += 1
            name = f"h{place + 1:04d}"
        place += 1
        hits.append(Hit(number, name, inside, settings.workers_per_hit, stage))
    return hits


def remove_stage(campaign: Campaign, name: str) -> tuple[str, ...]:
    """Take a stage and those below it out of sight: their HITs are handed out no more, their answers and runs stay.

    Returns
    -------
    tuple of str
        The stages that were removed.

    Raises
    ------
    UserError
        When there is no such stage, it is removed already, or it is the whole collection.
    """
    if name == WHOLE_COLLECTION:
        raise UserError("the whole collection cannot be removed", todo="choose a stage below it")
    if find_stage(campaign, name).removed:
        raise UserError(f"the stage {name} is removed already", todo="bring it back, or choose another")
    with campaign.database.write() as connection:
        rows = stages.stage_rows(connection)
        gone = tuple(row.name for row in rows if not row.removed and _is_below(row.name, name, rows))
        stages.set_removed(connection, gone, now())
        catalogue.bump_revision(connection)
    return gone


def bring_back(campaign: Campaign, name: str) -> tuple[str, ...]:
    """Bring a removed stage back, with the stages below it that were removed at the same moment.

    Returns
    -------
    tuple of str
        The stages that are back.

    Raises
    ------
    UserError
        When it is not removed, the stage above it is, or its cluster has become another stage since.
    """
    find_stage(campaign, name)
    with campaign.database.write() as connection:
        rows = {row.name: row for row in stages.stage_rows(connection)}
        row = rows[name]
        if not row.removed:
            raise UserError(f"the stage {name} is not removed", todo="choose one that is")
        if row.parent is not None and rows[row.parent].removed:
            raise UserError(f"the stage {row.parent} above it is removed", todo=f"bring {row.parent} back first")
        for other in rows.values():
            same = (other.parent, other.run, other.cluster) == (row.parent, row.run, row.cluster)
            if same and not other.removed:
                what = f"its cluster is subdivided as the stage {other.name} now"
                raise UserError(what, where=name, todo=f"remove {other.name} first")
        back = tuple(
            other.name
            for other in rows.values()
            if other.removed_at == row.removed_at and _is_below(other.name, name, list(rows.values()))
        )
        stages.set_removed(connection, back, None)
        catalogue.bump_revision(connection)
    return back


def _is_below(name: str, other: str, rows: Sequence[StageInfo]) -> bool:
    """Whether a stage is another one or below it."""
    parents = {row.name: row.parent for row in rows}
    at: str | None = name
    while at is not None:
        if at == other:
            return True
        at = parents.get(at)
    return False


def _refuse_too_few(n_items: int) -> None:
    if n_items < FEWEST_ITEMS:
        raise UserError(
            "a cluster of a single photo cannot be subdivided", todo=f"choose one of {FEWEST_ITEMS} photos or more"
        )


def _warnings(n_items: int, settings: PlanSettings, n_hits: int, of_plan: Sequence[str]) -> tuple[str, ...]:
    found = list(of_plan)
    if n_hits == 1 and n_items <= settings.items_per_hit:
        found.append(
            f"All {n_items:,} photos fit into one HIT, so what is found rests on "
            f"{'the 1 worker' if settings.workers_per_hit == 1 else f'the {settings.workers_per_hit:,} workers'} who "
            "sort it."
        )
    if n_items < 5:
        found.append(f"Groups among {n_items} photos say little.")
    return tuple(found)
