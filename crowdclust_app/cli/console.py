"""Where a command's words go: the summary to stdout, notes, progress and errors to stderr."""

from __future__ import annotations

import io
import json
import math
import os
import shutil
import sys
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from crowdclust_app.services.progress_report import ProgressReport

_AT_MOST_EVERY = 0.1  # seconds between two pictures of the bar
_BAR_WIDTH = 24


class Console:
    """The two streams of one command.

    Parameters
    ----------
    as_json
        Print summaries as JSON, alone on stdout.
    quiet
        Print no notes, no progress and no text.
    """

    def __init__(self, *, as_json: bool = False, quiet: bool = False) -> None:
        self.as_json = as_json
        self.quiet = quiet
        self._out = _usable(sys.stdout)
        self._err = _usable(sys.stderr)
        self._bar = bool(not quiet and self._err.isatty() and os.environ.get("TERM") != "dumb")
        self._drawn = False
        self._drawn_at = -math.inf

    def progress(self, report: ProgressReport) -> None:
        """Draw how far a long operation is, where stderr is a terminal."""
        if not self._bar or time.monotonic() - self._drawn_at < _AT_MOST_EVERY:
            return
        self._drawn_at = time.monotonic()
        width = shutil.get_terminal_size().columns - 1
        if report.fraction is None:
            line = f"{report.text} ..." if not report.done else f"{report.text}: {report.done:,}"
        else:
            full = round(report.fraction * _BAR_WIDTH)
            line = f"[{'#' * full}{'.' * (_BAR_WIDTH - full)}] {report.fraction:4.0%}  {report.text}"
        self._write(self._err, f"\r{line[:width]:<{width}}")
        self._drawn = True

    def note(self, sentence: str) -> None:
        """Write a note to stderr; stdout is for the result alone."""
        if not self.quiet:
            self._line(self._err, f"crowdclust: {sentence}")

    def notes(self, sentences: Sequence[str]) -> None:
        """Write several notes to stderr."""
        for sentence in sentences:
            self.note(sentence)

    def error(self, sentence: str) -> None:
        """Write an error to stderr in one line."""
        self._line(self._err, f"crowdclust: {sentence}")

    def finish(self, summary: Mapping[str, Any], text: Sequence[str]) -> None:
        """Print the result: the summary with --json, otherwise the text."""
        if self.as_json:
            self._line(self._out, json.dumps(plain(summary), indent=2, ensure_ascii=not _speaks_utf8(self._out)))
        elif not self.quiet:
            for line in text:
                self._line(self._out, line)
        self._out.flush()

    def clear(self) -> None:
        """Take the progress bar away."""
        if self._drawn:
            self._write(self._err, "\r" + " " * (shutil.get_terminal_size().columns - 1) + "\r")
            self._drawn = False

    def _line(self, stream: TextIO, text: str) -> None:
        self.clear()
        self._write(stream, text + "\n")

    def _write(self, stream: TextIO, text: str) -> None:
        encoding = stream.encoding or "utf-8"
        # a name that the terminal cannot show is still named, by its code
        stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
        if stream is self._err:
            stream.flush()


def plain(value: Any) -> Any:
    """A summary as plain JSON values: lists for tuples, null for numbers that are not finite."""
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def aligned(rows: Sequence[tuple[str, str]]) -> list[str]:
    """Two columns: what, and how much."""
    width = max((len(name) for name, _ in rows), default=0)
    return [f"{name:<{width}}  {value}".rstrip() for name, value in rows]


def counted(number: int, word: str, plural: str | None = None) -> str:
    """A number with its noun."""
    return f"{number:,} {word if number == 1 else plural or word + 's'}"


def _usable(stream: TextIO | None) -> TextIO:
    # a program without a console has no streams at all
    return stream if stream is not None else io.StringIO()


def _speaks_utf8(stream: TextIO) -> bool:
    return (stream.encoding or "").lower().replace("-", "") == "utf8"
