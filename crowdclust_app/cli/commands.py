"""What each command does: it calls one service and says what came out."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from typing import TYPE_CHECKING

from crowdclust_app.cli import aggregate, campaigns, fitting, stages, window

if TYPE_CHECKING:
    from crowdclust_app.cli.console import Console
    from crowdclust_app.domain.cancellation import CancelToken

Command = Callable[["Namespace", "Console", "CancelToken"], int]

COMMANDS: dict[str | None, Command] = {
    None: window.start,
    "open": window.open_campaign,
    "demo": window.demo,
    "new": campaigns.new,
    "import": campaigns.import_table,
    "export": campaigns.export,
    "check": campaigns.check,
    "plan": fitting.plan,
    "fit": fitting.fit,
    "split": stages.split,
    "aggregate": aggregate.aggregate,
    "simulate": fitting.simulate,
}


def run(args: Namespace, console: Console, cancel: CancelToken) -> int:
    """Run the command that was named; returns the exit code."""
    return COMMANDS[args.command](args, console, cancel)
