"""The command that makes a finished example: demo."""

from __future__ import annotations

import os
from argparse import Namespace
from pathlib import Path

from crowdclust_app.cli.console import Console, aligned, counted
from crowdclust_app.cli.display import display_problem
from crowdclust_app.cli.results import write_summary, written_lines
from crowdclust_app.cli.window import qt_is_missing, show
from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.domain.errors import UserError
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.demo.demo_campaign import build_demo
from crowdclust_app.services.exchange.exporting import SUMMARY, export_campaign
from crowdclust_app.services.progress_report import ProgressReport

_DEMO_FOLDER = Path("crowdclust-demo")


def demo(args: Namespace, console: Console, cancel: CancelToken) -> int:
    """`crowdclust demo`."""
    out = args.out or _DEMO_FOLDER
    problem = None if args.no_window else display_problem()
    if problem:
        console.note(f"{problem}, so the demo writes its tables and screenshots to {out} instead.")
    report = build_demo(out, progress=console.progress, cancel=cancel)
    written: list[Path] = []
    summary = dict(report.summary)
    if args.no_window or problem:
        written = [*_tables(report.campaign, out, console, cancel), *_screenshots(report.campaign, out, console)]
        summary["files"] = [path.name for path in written]
        written.append(write_summary(out, summary))
    rows = [
        ("Campaign", str(report.campaign)),
        ("Pictures", f"{report.added:,} drawn: tall and short, red and blue"),
        ("Responses", f"{summary['responses']:,} by {counted(summary['workers'], 'invented worker')}"),
        ("Clusters", f"{summary['clusters']:,} found, {summary['vi_nats']:.2f} nats from the drawn ones"),
        ("Label weight", f"{summary['chosen']['label_weight']:g}"),
    ]
    console.finish(summary, [*aligned(rows), *report.warnings, *written_lines(written)])
    return 0 if args.no_window or problem else show(report.campaign)


def _tables(campaign: Path, out: Path, console: Console, cancel: CancelToken) -> list[Path]:
    with Campaign.open(campaign) as opened:
        files = export_campaign(opened, out, progress=console.progress, cancel=cancel)
    # the demo's own summary takes the place of the export's
    return [file for file in files if file.name != SUMMARY]


def _screenshots(campaign: Path, out: Path, console: Console) -> list[Path]:
    """Picture the screens; a computer without Qt's libraries still gets the tables."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    console.progress(ProgressReport(0, None, "Picturing the screens"))
    try:
        # Qt's libraries may be missing on a server
        from crowdclust_app.gui.screenshots import write_screenshots
    except ImportError as error:
        mendable = qt_is_missing(error)
        if not isinstance(mendable, UserError):
            raise
        console.note(f"there are no screenshots: {mendable}")
        return []
    return list(write_screenshots(campaign, out))
