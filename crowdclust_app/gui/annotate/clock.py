"""The active seconds of a worker on a set: pauses are not counted."""

from __future__ import annotations

import time
from collections.abc import Callable

# A pause longer than this is not work.
IDLE_SECONDS = 60.0


class ActiveClock:
    """Adds up the time between signs of life, leaving out long pauses and time in other windows.

    Parameters
    ----------
    seconds
        What was counted before (a set that is taken up again).
    now
        The clock, in seconds; replaced in tests.
    """

    def __init__(self, seconds: float = 0.0, now: Callable[[], float] = time.monotonic) -> None:
        self._seconds = seconds
        self._now = now
        self._last: float | None = None

    @property
    def seconds(self) -> float:
        """Active seconds so far."""
        return self._seconds

    def touch(self) -> float:
        """The person did something; returns the active seconds so far."""
        now = self._now()
        if self._last is not None and now - self._last <= IDLE_SECONDS:
            self._seconds += now - self._last
        self._last = now
        return self._seconds

    def stop(self) -> float:
        """The window is no longer in front: nothing counts until the next `touch`."""
        seconds = self.touch() if self._last is not None else self._seconds
        self._last = None
        return seconds
