"""How long the main thread is busy at a stretch: until it comes back to its event loop a person gets no answer."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable

from PySide6.QtCore import QObject, Qt, QTimer

BEAT_MS = 10


class StallWatch(QObject):
    """A beat of the event loop; a beat that comes late says how long nothing else could happen.

    Parameters
    ----------
    clock
        `time.perf_counter` for what a person waits; `time.thread_time` for what this thread itself computes, which a
        busy machine does not change.
    place
        Where the event loop is run from; a gap between two beats counts only when that is the same, because code
        that runs the loop now and then also works between its runs. Always the same when None.
    """

    def __init__(
        self, clock: Callable[[], float] = time.perf_counter, place: Callable[[], Hashable] | None = None
    ) -> None:
        super().__init__()
        self._clock = clock
        self._place = place or (lambda: None)
        self._last: tuple[float, Hashable] | None = None
        self.gaps: list[float] = []
        self._timer = QTimer(self)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.setInterval(BEAT_MS)
        self._timer.timeout.connect(self._beat)
        self._timer.start()

    def _beat(self) -> None:
        now, place = self._clock(), self._place()
        if self._last is not None and self._last[1] == place:
            self.gaps.append(now - self._last[0])
        self._last = (now, place)

    def longest(self) -> float:
        """The longest gap so far, in seconds; 0 without any."""
        return max(self.gaps, default=0.0)

    def over(self, seconds: float) -> int:
        """How many gaps were longer."""
        return sum(gap > seconds for gap in self.gaps)

    def forget(self) -> None:
        """Begin anew."""
        self.gaps.clear()
        self._last = None

    def stop(self) -> None:
        """Measure no more."""
        self._timer.stop()
