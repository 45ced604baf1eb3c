"""The commands that open the window: no command at all, and open."""

from __future__ import annotations

import re
import signal
import threading
from argparse import Namespace
from pathlib import Path

from crowdclust_app.cli.console import Console
from crowdclust_app.cli.display import display_problem
from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.domain.errors import UserError


def start(_args: Namespace, _console: Console, _cancel: CancelToken) -> int:
    """`crowdclust`."""
    return show(None)


def open_campaign(args: Namespace, _console: Console, _cancel: CancelToken) -> int:
    """`crowdclust open`."""
    # `crowdclust` alone shows its window before SQLAlchemy is loaded
    from crowdclust_app.services.campaign.campaigns import Campaign

    # a campaign that cannot be opened is said here, before there is a window
    Campaign.open(args.campaign).close()
    return show(args.campaign)


def show(campaign: Path | None) -> int:
    """Open the window and stay until it is closed."""
    problem = display_problem()
    if problem:
        raise UserError(f"{problem}, so the window cannot be opened", todo="use the commands of crowdclust --help")
    try:
        # Qt's libraries may be missing on a server
        from crowdclust_app.gui.app import run_window
    except ImportError as error:
        raise qt_is_missing(error) from error
    if threading.current_thread() is not threading.main_thread():
        return run_window(campaign)
    # Inside Qt's event loop Python would not get to a handler of its own. Every action is stored when it happens, so
    # an interrupt may end the process at once.
    before = signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        return run_window(campaign)
    finally:
        signal.signal(signal.SIGINT, before)


def qt_is_missing(error: ImportError) -> Exception:
    """An error the user can mend, when it is Qt or a library of the system that is missing; otherwise our fault."""
    missing = (error.name or "").split(".")[0]
    if missing in ("PySide6", "shiboken6", "pyqtgraph") or re.search(r"\.so\b|DLL", str(error)):
        return UserError(
            f"the window's libraries cannot be loaded ({error})", todo="install what the README lists for your system"
        )
    return error
