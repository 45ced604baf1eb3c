"""Python's cyclic garbage, collected on the main thread alone.

Python collects cycles on whatever thread happens to allocate. A screen that was closed is such a cycle, and Qt's
objects must be destroyed on the thread that made them: destroyed on a job's thread, a table's model starts timers of a
view that lives elsewhere, or takes the program down.
"""

from __future__ import annotations

import gc
from typing import ClassVar

from PySide6.QtCore import QObject, QTimer

INTERVAL_MS = 250


class GarbageTimer(QObject):
    """While one of these is running, cycles are collected by its timer and not by any other thread.

    Parameters
    ----------
    parent
        An object of the main thread.
    """

    _running: ClassVar[int] = 0

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        GarbageTimer._running += 1
        gc.disable()
        self._timer: QTimer | None = QTimer(self)
        self._timer.setInterval(INTERVAL_MS)
        self._timer.timeout.connect(collect_what_is_due)
        self._timer.start()

    def stop(self) -> None:
        """Let Python collect by itself again, once no other window wants otherwise."""
        if self._timer is None:
            return
        self._timer.stop()
        self._timer = None
        GarbageTimer._running -= 1
        if GarbageTimer._running == 0:
            gc.enable()


def collect_what_is_due() -> None:
    """Collect the oldest generation that is due by Python's own thresholds; nothing when none is."""
    counts, thresholds = gc.get_count(), gc.get_threshold()
    if counts[0] <= thresholds[0]:
        return
    due = [generation for generation in (0, 1, 2) if counts[generation] > thresholds[generation]]
    # a generation is only as due as the younger ones are: the oldest of an unbroken row
    gc.collect(max(generation for generation in due if due[: generation + 1] == list(range(generation + 1))))
