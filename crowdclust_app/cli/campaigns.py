"""The commands about campaign files: new, import, check, backup."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from crowdclust_app.cli.console import Console, aligned, counted
from crowdclust_app.cli.plans import plan_settings
from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.campaign.checking import check_campaign
from crowdclust_app.services.campaign.copying import save_copy
from crowdclust_app.services.campaign.counts import campaign_figures
from crowdclust_app.services.campaign.creating import create_campaign
from crowdclust_app.services.exchange.importing import import_table as import_into

_LISTED = 5


def new(args: Namespace, console: Console, cancel: CancelToken) -> int:
    """`crowdclust new`."""
    report = create_campaign(args.campaign, args.images, plan_settings(args), progress=console.progress, cancel=cancel)
    skipped = [(path, f"the same picture as {original}") for path, original in report.duplicates]
    skipped += list(report.unreadable)
    summary = {
        "campaign": report.campaign,
        "added": report.added,
        "skipped": len(skipped),
        "warnings": list(report.warnings),
        "duplicates": [{"path": path, "original": original} for path, original in report.duplicates],
        "unreadable": [{"path": path, "reason": reason} for path, reason in report.unreadable],
    }
    console.notes(report.file_warnings)
    with Campaign.open(Path(report.campaign)) as campaign:
        figures = campaign_figures(campaign)
    text = aligned(
        [
            ("Campaign", report.campaign),
            ("Images", f"{report.added:,}"),
            ("HITs", f"{figures.hits:,}, {figures.assignments_planned:,} assignments"),
            ("Left out", f"{len(skipped):,}"),
        ]
    )
    for path, reason in skipped[:_LISTED]:
        text.append(f"  {path}: {reason}")
    if len(skipped) > _LISTED:
        text.append(f"  and {len(skipped) - _LISTED:,} more (--json lists them all)")
    # what was left out has been said, file by file
    console.finish(summary, [*text, *report.plan_warnings])
    return 0


def import_table(args: Namespace, console: Console, cancel: CancelToken) -> int:
    """`crowdclust import`."""
    with Campaign.open(args.campaign) as campaign:
        console.notes(campaign.notes)
        report = import_into(
            campaign, args.file, args.kind, console.progress, cancel, question=args.question, columns=args.columns
        )
    summary = {
        "campaign": report.campaign,
        "added": report.added,
        "skipped": report.skipped,
        "warnings": list(report.warnings),
    }
    text = aligned([("Campaign", report.campaign), ("Added", f"{report.added:,}"), ("Left out", f"{report.skipped:,}")])
    console.finish(summary, [*text, *report.warnings])
    return 0


def check(args: Namespace, console: Console, cancel: CancelToken) -> int:
    """`crowdclust check`."""
    report = check_campaign(args.campaign, progress=console.progress, cancel=cancel)
    summary = {"campaign": str(args.campaign), "ok": report.ok, "problems": list(report.problems)}
    if report.ok:
        text = [f"{args.campaign} is sound."]
    else:
        text = [f"{args.campaign} has {counted(len(report.problems), 'problem')}:"]
        text += [f"  {problem}" for problem in report.problems]
    console.finish(summary, text)
    return 0 if report.ok else 2


def backup(args: Namespace, console: Console, cancel: CancelToken) -> int:
    """`crowdclust backup`."""
    copy = save_copy(args.campaign, args.out)
    console.finish({"campaign": str(args.campaign), "backup": str(copy)}, [f"Wrote {copy}"])
    return 0
