"""Where `crowdclust` begins and ends: arguments in, one exit code out."""

from __future__ import annotations

import os
import signal
import sys
import threading
import traceback
from argparse import Namespace
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

from crowdclust_app.cli import commands
from crowdclust_app.cli.commands import Command
from crowdclust_app.cli.console import Console
from crowdclust_app.cli.parser import Parser, build_parser
from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.domain.errors import Cancelled, UserError
from crowdclust_app.version import __version__

DONE, FAULT, TO_MEND, INTERRUPTED = 0, 1, 2, 130

NO_MEMORY = "there is not enough memory for this; close other programs, or use a computer with more."
# Messages of libraries that could not be loaded for lack of memory.
_SIGNS_OF_NO_MEMORY = ("failed to map segment", "Cannot allocate memory", "could not allocate")

TRACEBACK_VARIABLE = "CROWDCLUST_TRACEBACK"
"""With this set in the environment, faults of ours show their traceback on the terminal too."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command, as `crowdclust_app.cli.main` says, which calls this."""
    return run_program(build_parser(), _run, argv)


def run_program(parser: Parser, run: Command, argv: Sequence[str] | None = None) -> int:
    """Read arguments and run what they ask for: one line for what the user can mend, one exit code.

    Parameters
    ----------
    parser
        Knows the options; its result has `json` and `quiet`.
    run
        Does what was asked for; returns the exit code.
    argv
        The arguments without the program's name; those of the process when None.
    """
    # numpy's own threads wait for each other by spinning: on a busy computer small matrices then take ten times as long
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        args = parser.parse_args(argv)
    except SystemExit as leaving:
        return leaving.code if isinstance(leaving.code, int) else TO_MEND
    console = Console(as_json=args.json, quiet=args.quiet)
    cancel = CancelToken()
    try:
        with _interruptible(cancel):
            return run(args, console, cancel)
    except UserError as error:
        return _say(console, " ".join(str(error).split("\n")), TO_MEND)
    except (Cancelled, KeyboardInterrupt):
        return _say(console, "interrupted.", INTERRUPTED)
    except BrokenPipeError:
        return _leave_broken_pipe()
    except MemoryError:
        return _say(console, NO_MEMORY, TO_MEND)
    except Exception as error:  # noqa: BLE001 - the one place where a fault of ours ends
        if any(sign in text for sign in _SIGNS_OF_NO_MEMORY for text in traceback.format_exception(error)):
            return _say(console, NO_MEMORY, TO_MEND)
        return _say(console, _report_fault(error, args), FAULT)


def _run(args: Namespace, console: Console, cancel: CancelToken) -> int:
    try:
        return commands.run(args, console, cancel)
    finally:
        console.clear()


def _say(console: Console, sentence: str, code: int) -> int:
    try:
        console.error(sentence)
    except BrokenPipeError:
        _leave_broken_pipe()
    return code


class _Interrupted(KeyboardInterrupt):
    """Ctrl+C; CPython ends by the signal where its own class came out of an `exec`, even if it is caught later."""


@contextmanager
def _interruptible(cancel: CancelToken) -> Iterator[None]:
    """Let Ctrl+C end the command: this thread by an exception, its helpers by the token."""

    def interrupt(_number: int, _frame: FrameType | None) -> NoReturn:
        cancel.cancel()
        raise _Interrupted

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _leave_broken_pipe() -> int:
    """Stop writing: whoever read the output has seen enough (`crowdclust fit ... | head`)."""
    # the interpreter flushes stdout once more when it ends, and must not fail at that
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, sys.stdout.fileno())
    finally:
        os.close(nowhere)
    return DONE


def _report_fault(error: Exception, args: Namespace) -> str:
    """Keep the traceback in a log, and say in one line where it is."""
    import traceback  # only a fault needs it

    text = "".join(traceback.format_exception(error))
    if os.environ.get(TRACEBACK_VARIABLE):
        sys.stderr.write(text)
    what = " ".join(f"{type(error).__name__}: {error}".split())
    try:
        where = _write_log(text, args)
    except (OSError, UserError):
        return f"a fault of this program ({what}); set {TRACEBACK_VARIABLE}=1 to see where it happened."
    return f"a fault of this program ({what}); the log is in {where}."


def _write_log(text: str, args: Namespace) -> str:
    import platform  # only a fault needs it
    from datetime import datetime

    from crowdclust_app.services.folders import log_folder  # only a fault needs it

    now = datetime.now().astimezone()
    path = log_folder() / f"fault-{now:%Y%m%d-%H%M%S-%f}.log"
    head = f"crowdclust {__version__}, Python {platform.python_version()}, {platform.platform()}, {now.isoformat()}\n"
    path.write_text(f"{head}{vars(args)}\n\n{text}", encoding="utf-8", errors="backslashreplace")
    return str(path)
