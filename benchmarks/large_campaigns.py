"""Large campaigns with a run, made to see how the window copes with them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from crowdclust_app.domain.campaign import PlanSettings
from crowdclust_app.services.progress_report import Progress, ProgressReport

if TYPE_CHECKING:
    from crowdclust_app.domain.cancellation import CancelToken

# Enough of a fit for every screen to have something to show; how good the clusters are does not matter here.
_FIT: dict[str, Any] = {
    "dimensions": 2,
    "n_starts": 1,
    "n_clusters": 10,
    "label_weight": 0.3,
    "folds": 0,
    "layer_rounds": 5,
    "max_iterations": 5,
}


def make_bench_campaign(
    folder: Path,
    items: int,
    workers: int,
    pictures: bool,
    seed: int = 0,
    progress: Progress | None = None,
    cancel: CancelToken | None = None,
) -> Path:
    """Make a campaign whose simulated workers have done everything, with one run and known categories.

    Parameters
    ----------
    folder
        Where its file and its pictures go.
    items, workers
        How many.
    pictures
        Draw a picture for every item; otherwise items are names alone.

    Returns
    -------
    Path
        The campaign's file.
    """
    from crowdclust_app.domain.fit_settings import FitSettings
    from crowdclust_app.evaluation.simulation import SimulationSettings, simulate_campaign
    from crowdclust_app.io.tables import write_table
    from crowdclust_app.services.campaign.campaigns import Campaign
    from crowdclust_app.services.campaign.creating import create_campaign, create_without_images
    from crowdclust_app.services.exchange.importing import import_table
    from crowdclust_app.services.exchange.simulated_tables import response_rows
    from crowdclust_app.services.fits.campaign_fits import fit_campaign

    path = folder / f"bench-{items}.crowdclust"
    plan = PlanSettings(36, 6, 5 if pictures else 1, seed)
    simulated = simulate_campaign(
        SimulationSettings(items=items, workers=workers, workers_per_hit=plan.workers_per_hit)
    )
    names = simulated.table.item_names
    if pictures:
        names = _draw(folder / f"pictures-{items}", items, seed, progress, cancel)
        create_campaign(path, folder / f"pictures-{items}", plan, cancel=cancel)
    else:
        create_without_images(path, plan, names)
    if progress is not None:
        progress(ProgressReport(0, None, "Storing answers"))
    responses, truth = folder / "responses.csv", folder / "truth.csv"
    write_table(responses, ("hit", "worker", "item", "group"), response_rows(simulated.table, names=names))
    write_table(truth, ("item", "category"), zip(names, simulated.truth, strict=True))
    with Campaign.open(path) as campaign:
        import_table(campaign, responses, "responses", cancel=cancel)
        import_table(campaign, truth, "truth", cancel=cancel)
        fit_campaign(campaign, FitSettings(seed=seed, **_FIT), progress, cancel)
    return path


def _draw(
    folder: Path, count: int, seed: int, progress: Progress | None, cancel: CancelToken | None
) -> tuple[str, ...]:
    from crowdclust_app.io.drawings import draw_collection

    folder.mkdir(parents=True)
    names = []
    for number, drawing in enumerate(draw_collection(count, seed)):
        if cancel is not None:
            cancel.check()
        if progress is not None and number % 20 == 0:
            progress(ProgressReport(number, count, "Drawing"))
        names.append(drawing.save(folder).name)
    return tuple(names)
