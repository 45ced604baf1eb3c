"""The command line: the same services as the window, for scripts and servers."""

from __future__ import annotations

import os
import signal  # nothing else here: until the handler is set, Ctrl+C ends the program with a traceback
from collections.abc import Sequence

__all__ = ["main"]

INTERRUPTED = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command, and let Ctrl+C end it from the first moment, while it is still being loaded.

    Parameters
    ----------
    argv
        The arguments without the program's name; those of the process when None.

    Returns
    -------
    int
        0 done; 2 something the user can mend; 1 an internal error; 130 interrupted.
    """
    try:
        before = signal.signal(signal.SIGINT, _leave)
    except ValueError:  # beside the main thread, which has the signals
        return _run(argv)
    try:
        return _run(argv)
    finally:
        signal.signal(signal.SIGINT, before)


def _run(argv: Sequence[str] | None) -> int:
    # loading takes long enough for Ctrl+C, whose handler is set by now
    from crowdclust_app.cli.entry import main as run

    return run(argv)


def _leave(_number: int, _frame: object) -> None:
    """Nothing has begun yet that would have to be put in order."""
    try:
        os.write(2, b"crowdclust: interrupted.\n")
    finally:
        os._exit(INTERRUPTED)
