"""The watch over the main thread sees what it is for, and nothing else."""

from __future__ import annotations

import time

from PySide6.QtCore import QTimer
from pytestqt.qtbot import QtBot

from crowdclust_app.gui.stalls import StallWatch


def test_work_in_the_event_loop_is_a_gap(qtbot: QtBot) -> None:
    watch = StallWatch()
    QTimer.singleShot(30, lambda: time.sleep(0.3))
    qtbot.wait(600)
    watch.stop()
    assert watch.longest() >= 0.29
    assert watch.over(0.29) == 1


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
    QTimer.singleShot(30, lambda: time.sleep(0.3))
    qtbot.wait(500)
    watch.stop()
    assert watch.longest() < 0.2
    watch.forget()
    assert watch.longest() == 0.0
