"""The commands that need no answers: plan and simulate."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from crowdclust_app.cli.console import Console, aligned, counted, plain
from crowdclust_app.cli.results import write_summary, written_lines
from crowdclust_app.domain.campaign import PlanSettings
from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.services.campaign.planning import plan_items, plan_summary, write_plan
from crowdclust_app.services.exchange.simulated_tables import simulate as simulate_tables


def plan_settings(args: Namespace) -> PlanSettings:
    """What the plan options ask for."""
    return PlanSettings(args.items_per_hit, args.redundancy, args.workers_per_hit, args.seed)


def plan(args: Namespace, console: Console, cancel: CancelToken) -> int:
    """`crowdclust plan`."""
    made, figures = plan_items(args.items, plan_settings(args))
    cancel.check()
    summary = plan_summary(figures)
    written = write_plan(made, args.out, plain(summary)) if args.out else ()
    pairs = args.items * (args.items - 1) // 2
    text = aligned(
        [
            ("HITs", f"{figures.hits:,}"),
            ("Assignments", f"{figures.assignments:,} ({counted(args.workers_per_hit, 'worker')} a HIT)"),
            ("Pair labels", f"{figures.pair_labels:,}"),
            ("HITs an item is in", f"{figures.shown_min} to {figures.shown_max}, {figures.shown_mean:.2f} on average"),
            ("Pairs covered", f"{figures.pairs_covered:,} of {pairs:,} ({figures.pairs_covered / pairs:.1%})"),
            ("Design", "connected" if figures.components == 1 else f"{figures.components:,} separate parts"),
        ]
    )
    console.finish(summary, [*text, *figures.warnings, *written_lines(written)])
    return 0


def simulate(args: Namespace, console: Console, cancel: CancelToken) -> int:
    """`crowdclust simulate`."""
    names = ("items", "clusters", "items_per_hit", "redundancy", "workers_per_hit", "workers", "noise", "coarse")
    settings = {name: getattr(args, name) for name in (*names, "random_workers", "seed")}
    summary = simulate_tables(args.out, **settings)
    cancel.check()
    written = [*map(Path, summary["files"]), write_summary(args.out, summary)]
    text = aligned(
        [
            ("Items", f"{summary['items']:,} in {counted(summary['clusters'], 'cluster')}"),
            ("Workers", f"{summary['workers']:,}, {args.random_workers:,} of them at random"),
            ("Responses", f"{summary['responses']:,} to {counted(summary['hits'], 'HIT')}"),
            ("Pair labels", f"{summary['pair_labels']:,}"),
        ]
    )
    console.finish(summary, [*text, *written_lines(written)])
    return 0
