"""The command that subdivides a cluster: split."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import replace

from crowdclust_app.cli.console import Console, aligned, counted
from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.stages.stages import cluster_items, default_plan, find_stage, run_to_divide, subdivide

_PLAN = ("items_per_hit", "redundancy", "workers_per_hit", "seed")


def split(args: Namespace, console: Console, cancel: CancelToken) -> int:
    """`crowdclust split`."""
    with Campaign.open(args.campaign) as campaign:
        console.notes(campaign.notes)
        above = find_stage(campaign, args.stage)
        run = run_to_divide(campaign, args.stage, args.run)
        items = cluster_items(campaign, run, args.cluster)
        cancel.check()
        given = {name: getattr(args, name) for name in _PLAN if getattr(args, name) is not None}
        settings = replace(default_plan(above.settings, len(items)), **given)
        report = subdivide(campaign, args.stage, args.cluster, settings, run.number)
    summary = {
        "campaign": report.campaign,
        "added": report.added,
        "skipped": 0,
        "warnings": list(report.warnings),
        "stage": report.stage,
        "run": report.run,
        "cluster": args.cluster,
        "hits": report.hits,
        "assignments": report.assignments,
        "items_per_hit": settings.items_per_hit,
        "redundancy": settings.redundancy,
        "workers_per_hit": settings.workers_per_hit,
        "seed": settings.seed,
    }
    text = aligned(
        [
            ("Stage", report.stage),
            ("Made of", f"cluster {args.cluster} of run {report.run}, {counted(report.added, 'item')}"),
            ("HITs", f"{report.hits:,} of up to {counted(settings.items_per_hit, 'item')}"),
            ("Assignments", f"{report.assignments:,} ({counted(settings.workers_per_hit, 'worker')} a HIT)"),
        ]
    )
    console.finish(summary, [*text, *report.warnings])
    return 0
