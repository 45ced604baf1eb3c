"""The watch over the main thread sees what it is for, and nothing else."""

from __future__ import annotations

import time
from collections.abc import Callable

from PySide6.QtCore import QTimer
from pytestqt.qtbot import QtBot
from user_actions import PATIENCE

from benchmarks.stalls import StallWatch


def work_between_two_beats(qtbot: QtBot, watch: StallWatch, work: Callable[[], None]) -> None:
    """Have the event loop do some work after the first beat, and wait for the beat that follows."""
    done: list[int] = []

    def once() -> None:
        work()
        done.append(len(watch.gaps))

    qtbot.waitUntil(lambda: len(watch.gaps) > 0, timeout=PATIENCE)
    QTimer.singleShot(0, once)
    qtbot.waitUntil(lambda: bool(done) and len(watch.gaps) > done[0], timeout=PATIENCE)
    watch.stop()


def test_work_in_the_event_loop_is_a_gap(qtbot: QtBot) -> None:
    now = [0.0]

    def work() -> None:
        now[0] += 0.3

    watch = StallWatch(lambda: now[0])
    work_between_two_beats(qtbot, watch, work)
    assert watch.longest() == 0.3
    assert (watch.over(0.29), watch.over(0.3)) == (1, 0)


def test_it_goes_by_the_clock_on_the_wall(qtbot: QtBot) -> None:
    watch = StallWatch()
    work_between_two_beats(qtbot, watch, lambda: time.sleep(0.1))
    assert watch.longest() > 0.09


def test_what_a_test_does_between_two_waits_is_none() -> None:
    places = iter("aaabb")
    times = iter((0.0, 0.01, 0.02, 5.0, 5.01))
    watch = StallWatch(lambda: next(times), lambda: next(places))
    for _ in range(5):
        watch._beat()
    watch.stop()
    assert watch.longest() < 0.02


def test_a_sleeping_thread_has_no_computing_gap(qtbot: QtBot) -> None:
    watch = StallWatch(time.thread_time)
    work_between_two_beats(qtbot, watch, lambda: time.sleep(0.3))
    assert watch.longest() < 0.2
    watch.forget()
    assert watch.longest() == 0.0
