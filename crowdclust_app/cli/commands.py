"""Which function runs each command; its module is imported when the command runs, so that `--help` stays quick."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from importlib import import_module

from crowdclust_app.cli.console import Console
from crowdclust_app.domain.cancellation import CancelToken

Command = Callable[[Namespace, Console, CancelToken], int]

COMMANDS: dict[str | None, str] = {
    None: "crowdclust_app.cli.window:start",
    "open": "crowdclust_app.cli.window:open_campaign",
    "demo": "crowdclust_app.cli.demo:demo",
    "new": "crowdclust_app.cli.campaigns:new",
    "import": "crowdclust_app.cli.campaigns:import_table",
    "export": "crowdclust_app.cli.export:export",
    "check": "crowdclust_app.cli.campaigns:check",
    "backup": "crowdclust_app.cli.campaigns:backup",
    "plan": "crowdclust_app.cli.plans:plan",
    "fit": "crowdclust_app.cli.fitting:fit",
    "split": "crowdclust_app.cli.stages:split",
    "aggregate": "crowdclust_app.cli.aggregate:aggregate",
    "simulate": "crowdclust_app.cli.plans:simulate",
}


def run(args: Namespace, console: Console, cancel: CancelToken) -> int:
    """Run the command that was named; returns the exit code."""
    module, _, function = COMMANDS[args.command].partition(":")
    command: Command = getattr(import_module(module), function)
    return command(args, console, cancel)
