"""Whole fits in processes of their own: the same result, progress from all, and nothing left behind."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
from dataclasses import replace

import numpy as np
import psutil
import pytest

from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.domain.errors import Cancelled, UserError
from crowdclust_app.domain.fit_settings import FitSettings
from crowdclust_app.evaluation.simulation import SimulationSettings, simulate_campaign
from crowdclust_app.services.fits import resources
from crowdclust_app.services.fits.fitting import fit_table
from crowdclust_app.services.fits.process_pool import SpawnedPool
from crowdclust_app.services.fits.progress import FitProgress
from crowdclust_app.services.fits.resources import worthwhile_processes

SETTINGS = FitSettings(dimensions=2, n_starts=3, folds=3, label_weight=0.3, layer_rounds=5, max_iterations=5)


@pytest.fixture(scope="module")
def table():
    return simulate_campaign(
        SimulationSettings(items=60, clusters=3, items_per_hit=10, redundancy=4, workers_per_hit=3, workers=6)
    ).table


@pytest.fixture
def forced(monkeypatch: pytest.MonkeyPatch) -> None:
    """Processes even for a small campaign, and on any machine."""
    monkeypatch.setattr(resources, "LEAST_SECONDS", 0.0)
    monkeypatch.setattr(resources, "free_memory", lambda: 10**12)


# Tasks of other processes have to be found by their names.
def square(number, *, progress, parallel):
    parallel.check()
    progress((number, os.getpid()))
    return number * number, os.getpid(), sorted(name for name in sys.modules if name.startswith("PySide6"))


def wait_for_the_end(*, progress, parallel):
    progress(os.getpid())
    while True:
        parallel.check()


def die(*, progress, parallel):
    os.kill(os.getpid(), signal.SIGKILL)


def fail(number, *, progress, parallel):
    raise ValueError(f"not {number}")


def test_tasks_run_elsewhere_and_tell_how_far_they_are() -> None:
    news: list[tuple[int, int]] = []
    with SpawnedPool(2) as pool:
        found = list(pool.run(square, [(1,), (2,), (3,)], news.append, None))
    assert [result for result, _, _ in found] == [1, 4, 9]
    assert os.getpid() not in {pid for _, pid, _ in found}
    assert sorted(number for number, _ in news) == [1, 2, 3]
    # a child has no window
    assert all(not modules for _, _, modules in found)
    assert not multiprocessing.active_children()


def test_an_error_of_a_task_is_raised_here() -> None:
    with pytest.raises(ValueError, match="not 7"), SpawnedPool(1) as pool:
        list(pool.run(fail, [(7,)], None, None))
    assert not multiprocessing.active_children()


def test_a_cancel_stops_all() -> None:
    token, seen = CancelToken(), []

    def hear(pid: int) -> None:
        seen.append(pid)
        if len(seen) == 2:
            token.cancel()

    with pytest.raises(Cancelled), SpawnedPool(2) as pool:
        list(pool.run(wait_for_the_end, [(), ()], hear, token))
    assert len(set(seen)) == 2
    assert not multiprocessing.active_children()


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such signals")
def test_a_process_that_dies_is_one_sentence() -> None:
    with pytest.raises(UserError, match=r"ended before its time.*--threads 1"), SpawnedPool(2) as pool:
        list(pool.run(die, [(), ()], None, None))
    assert not multiprocessing.active_children()


@pytest.mark.parametrize("clusters", ["heldout", "bound"])
def test_a_fit_in_processes_is_the_same(table, forced, clusters) -> None:
    settings = replace(SETTINGS, n_clusters=clusters)
    assert worthwhile_processes(table, settings, 2) == 2
    reports: list = []
    apart = fit_table(table, settings, reports.append, threads=2)
    here = fit_table(table, settings, threads=1)
    for name in ("bound", "lower_bounds", "start_bounds", "start_traces", "n_iterations"):
        assert getattr(apart, name) == getattr(here, name)
    for name in ("labels", "positions", "weights", "responsibilities", "confusion"):
        np.testing.assert_array_equal(getattr(apart, name), getattr(here, name))
    timeless = {"seconds", "peak_memory_mb"}
    assert {k: v for k, v in apart.summary.items() if k not in timeless} == {
        k: v for k, v in here.summary.items() if k not in timeless
    }
    told = [report for report in reports if isinstance(report, FitProgress)]
    assert {report.start for report in told if report.phase == "joint"} == {1, 2, 3}
    done = [report.done for report in told]
    assert done == sorted(done)
    assert not multiprocessing.active_children()


def test_a_cancelled_fit_leaves_no_process(table, forced) -> None:
    token = CancelToken()

    def hear(report) -> None:
        if isinstance(report, FitProgress) and report.phase == "joint" and report.start > 1:
            token.cancel()

    with pytest.raises(Cancelled):
        fit_table(table, replace(SETTINGS, n_clusters=3, folds=0, max_iterations=100, tolerance=1e-300), hear, token, 2)
    assert not multiprocessing.active_children()


def test_free_memory_is_part_of_what_the_machine_has() -> None:
    assert 10_000_000 < resources.free_memory() <= psutil.virtual_memory().total


def test_processes_are_for_what_takes_long_and_fits_into_memory(table, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resources, "free_memory", lambda: 10**12)
    assert worthwhile_processes(table, SETTINGS, 4) == 0
    monkeypatch.setattr(resources, "LEAST_SECONDS", 0.0)
    assert worthwhile_processes(table, SETTINGS, 1) == 0
    assert worthwhile_processes(table, SETTINGS, 2) == 2
    assert worthwhile_processes(table, SETTINGS, 8) == 3
    assert worthwhile_processes(table, replace(SETTINGS, n_starts=1, folds=0, n_clusters=2), 8) == 0
    monkeypatch.setattr(resources, "free_memory", lambda: 500_000_000)
    assert worthwhile_processes(table, SETTINGS, 8) == 0
    monkeypatch.setattr(resources, "free_memory", lambda: 1_000_000_000)
    assert worthwhile_processes(table, SETTINGS, 8) == 2
    monkeypatch.setattr(resources, "MOST_LABELS", 10)
    assert worthwhile_processes(table, SETTINGS, 8) == 0


@pytest.mark.parametrize("threads", [0, -1, 1000])
def test_a_number_of_threads_that_cannot_be(table, threads) -> None:
    with pytest.raises(UserError, match=f"{threads} threads cannot share a fit; choose a number from 1 to 256"):
        fit_table(table, SETTINGS, threads=threads)
