"""How a long operation is asked to stop: a token that any thread may set and the operation looks at."""

from __future__ import annotations

import threading

from crowdclust_app.domain.errors import Cancelled


class CancelToken:
    """A flag set by whoever no longer wants the result."""

    def __init__(self) -> None:
        self._event = threading.Event()

    def cancel(self) -> None:
        """Ask the operation to stop at its next check."""
        self._event.set()

    @property
    def cancelled(self) -> bool:
        """Whether the operation is to stop."""
        return self._event.is_set()

    def check(self) -> None:
        """Raise `Cancelled` if the operation is to stop."""
        if self._event.is_set():
            raise Cancelled("cancelled")
