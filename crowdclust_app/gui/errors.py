"""One place for whatever goes wrong, on whatever thread: it ends in the log and in the error bar."""

from __future__ import annotations

import logging
import sys
import threading
import traceback
from dataclasses import dataclass
from logging.handlers import RotatingFileHandler
from pathlib import Path
from types import TracebackType

from PySide6.QtCore import QObject, Signal

from crowdclust_app.domain.errors import UserError
from crowdclust_app.gui.wording import capitalised
from crowdclust_app.services.folders import log_folder

LOGGER = logging.getLogger("crowdclust")
LOG_NAME = "crowdclust.log"


@dataclass(frozen=True)
class Message:
    """What the error bar says.

    Parameters
    ----------
    text
        What is wrong, where, and what to do now.
    details
        For whoever is asked for help; "" if there is nothing more to say.
    """

    text: str
    details: str = ""


def describe(error: BaseException, details: str = "") -> Message:
    """Put an exception into words for the user."""
    if isinstance(error, UserError):
        text = str(error)
        return Message(capitalised(text))
    if isinstance(error, MemoryError):
        return Message("There is not enough memory for this. Close other programs, or use fewer or smaller photos.")
    if isinstance(error, OSError) and error.strerror:
        where = f" ({error.filename})" if error.filename else ""
        return Message(f"The system refused: {error.strerror}{where}. Nothing else was changed.", details)
    if not details:
        details = "".join(traceback.format_exception(error))
    return Message(
        "Something went wrong inside Crowdclust. What was stored before is safe; the details are in the log.", details
    )


class ErrorCentre(QObject):
    """Receives every uncaught exception.

    Signals
    -------
    raised : Message
        For the error bar; arrives on the main thread whatever thread it was.
    """

    raised = Signal(object)

    def __init__(self, log: Path | None = None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._log = log
        self._handler: logging.Handler | None = None
        self._before: tuple[object, object] | None = None

    @property
    def log_file(self) -> Path:
        """The log."""
        if self._log is None:
            self._log = log_folder() / LOG_NAME
        return self._log

    def install(self) -> None:
        """Take over the interpreter's hooks."""
        if self._before is None:
            self._before = (sys.excepthook, threading.excepthook)
            sys.excepthook = self._uncaught
            threading.excepthook = self._uncaught_in_thread

    def remove(self) -> None:
        """Give the hooks back and close the log."""
        if self._before is not None:
            sys.excepthook, threading.excepthook = self._before  # type: ignore[assignment]
            self._before = None
        if self._handler is not None:
            LOGGER.removeHandler(self._handler)
            self._handler.close()
            self._handler = None

    def report(self, error: BaseException, details: str = "") -> None:
        """Log it (if it is an internal error) and say it in the error bar."""
        if not isinstance(error, UserError):
            self._write(error, details)
        self.raised.emit(describe(error, details))

    def _write(self, error: BaseException, details: str) -> None:
        try:
            if self._handler is None:
                self._handler = RotatingFileHandler(self.log_file, maxBytes=1_000_000, backupCount=2, encoding="utf-8")
                self._handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
                LOGGER.addHandler(self._handler)
            LOGGER.error("%s", details or "".join(traceback.format_exception(error)))
        except (OSError, UserError):
            # a full disk must not hide the error itself
            sys.__stderr__ and sys.__stderr__.write(details)

    def _uncaught(self, kind: type[BaseException], error: BaseException, where: TracebackType | None = None) -> None:
        if issubclass(kind, KeyboardInterrupt):
            sys.__excepthook__(kind, error, where)
            return
        self.report(error, "".join(traceback.format_exception(kind, error, where)))

    def _uncaught_in_thread(self, caught: threading.ExceptHookArgs) -> None:
        if caught.exc_value is not None:
            self._uncaught(caught.exc_type, caught.exc_value, caught.exc_traceback)
