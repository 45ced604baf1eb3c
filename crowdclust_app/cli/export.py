"""The command that writes what may leave a campaign: export."""

from __future__ import annotations

from argparse import Namespace

from crowdclust_app.cli.console import Console
from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.exchange.export_parts import TABLES, export_parts, missing_photos_sentence
from crowdclust_app.services.exchange.result_folders import read_summary


def export(args: Namespace, console: Console, cancel: CancelToken) -> int:
    """`crowdclust export`."""
    with Campaign.open_somehow(args.campaign) as campaign:
        console.notes(campaign.notes)
        files = export_parts(
            campaign,
            args.out,
            (TABLES, *args.parts),
            args.anonymous,
            progress=console.progress,
            cancel=cancel,
            without_photos=args.allow_missing_photos,
        )
    summary = read_summary(args.out)
    missing = summary["missing_photos"]
    about_photos = missing_photos_sentence(missing) if missing else ""
    warnings = [warning for warning in summary["warnings"] if warning != about_photos]
    console.finish(summary, [*(f"Wrote {file}" for file in files), *warnings])
    if missing and args.allow_missing_photos:
        console.note(about_photos)
    elif missing:
        advice = "put them back and export again, or add --allow-missing-photos"
        console.error(f"{about_photos.removesuffix('.')}; {advice}.")
        return 2
    return 0
