"""Cyclic garbage is collected on the main thread alone while a window is there."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from pytestqt.qtbot import QtBot

from crowdclust_app.gui.garbage import collect_what_is_due
from crowdclust_app.gui.jobs import Jobs


class _Cycle:
    def __init__(self) -> None:
        self.itself = self


def _litter(*_: Any) -> None:
    for _turn in range(50_000):
        _Cycle()


@pytest.fixture
def jobs(qtbot: QtBot) -> Iterator[Jobs]:
    made = Jobs()
    yield made
    made.shutdown()


def _watched(seen: list[int]) -> Callable[[], object]:
    cycle = _Cycle()
    weakref.finalize(cycle, lambda: seen.append(threading.get_ident()))
    return weakref.ref(cycle)


def test_what_a_job_allocates_does_not_collect_what_the_window_left(jobs: Jobs, qtbot: QtBot) -> None:
    gc.collect()
    seen: list[int] = []
    left = _watched(seen)
    jobs.start("quick", _litter)
    assert jobs.wait()
    qtbot.waitUntil(lambda: left() is None)
    assert seen == [threading.get_ident()]


def test_python_collects_by_itself_again_after_the_last_window(qtbot: QtBot) -> None:
    first, second = Jobs(), Jobs()
    assert not gc.isenabled()
    first.shutdown()
    first.shutdown()
    assert not gc.isenabled()
    second.shutdown()
    assert gc.isenabled()


def test_old_garbage_goes_when_its_generation_is_due(jobs: Jobs) -> None:
    cycle = _Cycle()
    left = weakref.ref(cycle)
    gc.collect(0)
    gc.collect(1)  # it is in the oldest generation now
    del cycle
    gc.collect(1)
    assert left() is not None
    for _turn in range(500):
        kept = [_Cycle() for _ in range(1000)]
        collect_what_is_due()
    assert kept
    assert left() is None
