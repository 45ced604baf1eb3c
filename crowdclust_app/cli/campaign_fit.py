"""`crowdclust fit` of a campaign, which keeps the run."""

from __future__ import annotations

from argparse import Namespace

from crowdclust_app.cli.console import Console
from crowdclust_app.cli.fit_results import finish_fit, truth_for
from crowdclust_app.cli.results import results_folder
from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.domain.fit_settings import FitSettings
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.campaign.responses import read_table
from crowdclust_app.services.clusters.categories import category_columns
from crowdclust_app.services.fits.campaign_fits import fit_campaign
from crowdclust_app.services.fits.run_store import NotStoredError
from crowdclust_app.services.stages.stages import find_stage, stay_behind


def fit_into_campaign(args: Namespace, settings: FitSettings, console: Console, cancel: CancelToken) -> int:
    """Fit a stage of a campaign, store the run, say what came out."""
    with Campaign.open_somehow(args.source) as campaign:
        console.notes(campaign.notes)
        find_stage(campaign, args.stage)
        table = read_table(campaign, args.stage)
        truth, warnings = truth_for(args.truth, table, campaign.copies())
        with results_folder(args.out):
            try:
                run = fit_campaign(campaign, settings, console.progress, cancel, args.stage, args.threads)
                warnings = [*warnings, *stay_behind(campaign, run)]
                result, number = run.result, run.number
                called = category_columns(campaign, run)
            except NotStoredError as error:
                kept = f"its tables are in {args.out}" if args.out else "--out DIR would keep its tables"
                lost = f"{error.where}: {error.what}, so this run is not stored in it; {kept}."
                result, number, warnings, called = error.result, None, [*warnings, lost], {}
            return finish_fit(args, console, table, result, truth, warnings, run=number, categories=called)
