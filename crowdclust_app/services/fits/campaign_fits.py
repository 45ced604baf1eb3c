"""Fitting a campaign: its responses in, a stored run with everything it reports out."""

from __future__ import annotations

import platform
from dataclasses import replace
from importlib import metadata

from crowdclust_app.domain.campaign import WHOLE_COLLECTION
from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.domain.fit_settings import FitSettings
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.campaign.exclusions import exclusions
from crowdclust_app.services.campaign.responses import read_table
from crowdclust_app.services.clusters.carrying_over import carry_over
from crowdclust_app.services.fits.fitting import fit_table
from crowdclust_app.services.fits.results import Run
from crowdclust_app.services.fits.run_store import save_run
from crowdclust_app.services.progress_report import Progress
from crowdclust_app.services.stages.stages import find_stage
from crowdclust_app.version import __version__


def fit_campaign(
    campaign: Campaign,
    settings: FitSettings,
    progress: Progress | None = None,
    cancel: CancelToken | None = None,
    stage: str = WHOLE_COLLECTION,
    threads: int | None = None,
) -> Run:
    """Infer the clusters of a campaign from its submitted responses, and keep the run there.

    Parameters
    ----------
    campaign
        Where the responses are and the run goes; earlier runs stay.
    settings, progress, cancel, threads
        As in `fit_table`.
    stage
        Whose responses: the whole collection's, or those of a cluster that is being subdivided.

    Returns
    -------
    Run
        As it is stored.

    Raises
    ------
    UserError
        When there is no such stage, or nothing to infer from.
    """
    find_stage(campaign, stage)
    left_out = exclusions(campaign)
    table = read_table(campaign, stage)
    result = fit_table(table, settings, progress, cancel, threads)
    result = replace(result, summary={**result.summary, "exclusions": list(left_out.decisions)})
    if cancel:
        cancel.check()
    run = save_run(campaign, table, settings, result, versions=versions(), stage=stage)
    carry_over(campaign, run)
    return run


def versions() -> dict[str, str]:
    """Versions of what computes a fit."""
    found = {"crowdclust": __version__, "python": platform.python_version()}
    return found | {name: metadata.version(name) for name in ("numpy", "scipy", "numba")}
