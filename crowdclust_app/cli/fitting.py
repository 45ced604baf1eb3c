"""The command that infers the clusters: fit."""

from __future__ import annotations

from argparse import Namespace

from crowdclust_app.cli.console import Console
from crowdclust_app.cli.fit_results import finish_fit, truth_for
from crowdclust_app.cli.results import results_folder
from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.domain.errors import UserError
from crowdclust_app.domain.fit_settings import FitSettings
from crowdclust_app.services.fits.fitting import fit_table
from crowdclust_app.services.fits.sources import is_campaign, read_table_source


def fit(args: Namespace, console: Console, cancel: CancelToken) -> int:
    """`crowdclust fit`."""
    settings = FitSettings.from_dict(vars(args))
    if is_campaign(args.source):
        if args.columns:
            raise UserError("a campaign has no columns to name", where=str(args.source), todo="leave --columns out")
        # a table of responses is fitted without the database
        from crowdclust_app.cli.campaign_fit import fit_into_campaign

        return fit_into_campaign(args, settings, console, cancel)
    source = read_table_source(args.source, args.stage, args.columns)
    truth, warnings = truth_for(args.truth, source.table)
    with results_folder(args.out):
        result = fit_table(source.table, settings, console.progress, cancel, args.threads)
        return finish_fit(args, console, source.table, result, truth, [*source.warnings, *warnings])
