"""The commands that open the window: no command at all, open, demo."""

from __future__ import annotations

import os
import re
import signal
import threading
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from crowdclust_app.cli.console import aligned, counted
from crowdclust_app.cli.display import display_problem
from crowdclust_app.cli.fitting import write_summary, written_lines
from crowdclust_app.domain.errors import UserError
from crowdclust_app.services.progress_report import ProgressReport

if TYPE_CHECKING:
    from crowdclust_app.cli.console import Console
    from crowdclust_app.domain.cancellation import CancelToken

_DEMO_FOLDER = Path("crowdclust-demo")


def start(_args: Namespace, _console: Console, _cancel: CancelToken) -> int:
    """`crowdclust`."""
    return _show(None)


def open_campaign(args: Namespace, _console: Console, _cancel: CancelToken) -> int:
    """`crowdclust open`."""
    from crowdclust_app.services.campaign.campaigns import Campaign

    # a campaign that cannot be opened is said here, before there is a window
    Campaign.open(args.campaign).close()
    return _show(args.campaign)


def demo(args: Namespace, console: Console, cancel: CancelToken) -> int:
    """`crowdclust demo`."""
    from crowdclust_app.services.demo.demo_campaign import build_demo

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
    return 0 if args.no_window or problem else _show(report.campaign)


def _tables(campaign: Path, out: Path, console: Console, cancel: CancelToken) -> list[Path]:
    from crowdclust_app.services.campaign.campaigns import Campaign
    from crowdclust_app.services.exchange.exporting import SUMMARY, export_campaign

    with Campaign.open(campaign) as opened:
        files = export_campaign(opened, out, progress=console.progress, cancel=cancel)
    # the demo's own summary takes the place of the export's
    return [file for file in files if file.name != SUMMARY]


def _screenshots(campaign: Path, out: Path, console: Console) -> list[Path]:
    """Picture the screens; a computer without Qt's libraries still gets the tables."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    console.progress(ProgressReport(0, None, "Picturing the screens"))
    try:
        from crowdclust_app.gui.screenshots import write_screenshots
    except ImportError as error:
        mendable = _qt_is_missing(error)
        if not isinstance(mendable, UserError):
            raise
        console.note(f"there are no screenshots: {mendable}")
        return []
    return list(write_screenshots(campaign, out))


def _show(campaign: Path | None) -> int:
    """Open the window and stay until it is closed."""
    problem = display_problem()
    if problem:
        raise UserError(f"{problem}, so the window cannot be opened", todo="use the commands of crowdclust --help")
    try:
        from crowdclust_app.gui.app import run_window
    except ImportError as error:
        raise _qt_is_missing(error) from error
    if threading.current_thread() is not threading.main_thread():
        return run_window(campaign)
    # Inside Qt's event loop Python would not get to a handler of its own. Every action is stored when it happens, so
    # an interrupt may end the process at once.
    before = signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        return run_window(campaign)
    finally:
        signal.signal(signal.SIGINT, before)


def _qt_is_missing(error: ImportError) -> Exception:
    """An error the user can mend, when it is Qt or a library of the system that is missing; otherwise our fault."""
    missing = (error.name or "").split(".")[0]
    if missing in ("PySide6", "shiboken6", "pyqtgraph") or re.search(r"\.so\b|DLL", str(error)):
        return UserError(
            f"the window's libraries cannot be loaded ({error})", todo="install what the README lists for your system"
        )
    return error
