"""The command that writes what may leave a campaign: export."""

from __future__ import annotations

from argparse import Namespace

from crowdclust_app.cli.console import Console
from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.exchange.export_parts import TABLES, export_parts
from crowdclust_app.services.exchange.result_folders import read_summary


def export(args: Namespace, console: Console, cancel: CancelToken) -> int:
    """`crowdclust export`."""
    with Campaign.open_somehow(args.campaign) as campaign:
        files = export_parts(
            campaign, args.out, (TABLES, *args.parts), args.anonymous, progress=console.progress, cancel=cancel
        )
    summary = read_summary(args.out)
    console.finish(summary, [*(f"Wrote {file}" for file in files), *summary["warnings"]])
    return 0
