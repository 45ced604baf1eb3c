"""Threads and processes for a fit: as many as there are cores, where that pays and memory allows."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager

import psutil

from crowdclust_app.domain.errors import UserError
from crowdclust_app.domain.fit_settings import FitSettings
from crowdclust_app.domain.response_table import ResponseTable
from crowdclust_app.inference.crowdclustering.model.parallel import Parallel
from crowdclust_app.services.fits.process_pool import SpawnedPool

# Nanoseconds of one core that a pair label costs in one sweep, for estimates.
LABEL_NS = 60
# Processes pay where whole fits take so many seconds one after another: each takes two or three to begin.
LEAST_SECONDS = 12.0
# With more pair labels than this, threads share every sweep well enough, and memory is better kept together.
MOST_LABELS = 5_000_000
# Bytes of a process with its libraries, and of every item of a response: its tile, groups and what builds them.
PROCESS_BYTES = 250_000_000
POSITION_BYTES = 600
# Part of the free memory that processes may take.
SHARE = 0.6
MOST_THREADS = 256
MOST_PROCESSES = 60


def cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return max(1, len(os.sched_getaffinity(0)))
    return os.cpu_count() or 1


def free_memory() -> int:
    """Bytes that can be had without swapping."""
    return int(psutil.virtual_memory().available)


def worthwhile_processes(table: ResponseTable, settings: FitSettings, threads: int) -> int:
    """How many processes to make whole fits in; 0 to make them here, one after another.

    Parameters
    ----------
    table, settings
        What is to be fitted.
    threads
        How many may work at once.
    """
    labels = table.n_pair_labels
    # with the bound responses are held out from whole fits
    folds = settings.folds if settings.n_clusters == "bound" else 0
    tasks = max(settings.n_starts, folds)
    if threads < 2 or tasks < 2 or labels > MOST_LABELS:
        return 0
    of_starts = settings.n_starts * (settings.layer_rounds + settings.max_iterations)
    sweeps = of_starts + folds * settings.layer_rounds
    if labels * sweeps * LABEL_NS * 1e-9 < LEAST_SECONDS:
        return 0
    each = PROCESS_BYTES + POSITION_BYTES * len(table.items)
    possible = min(threads, int(SHARE * free_memory() / each))
    return min(possible, tasks, MOST_PROCESSES) if possible > 1 else 0


@contextmanager
def workforce(table: ResponseTable, settings: FitSettings, threads: int | None) -> Iterator[tuple[Parallel, int]]:
    """Who shares the work of one fit; all are gone when it ends, however it ends.

    Parameters
    ----------
    table, settings
        What is to be fitted.
    threads
        How many may work at once; None for as many as there are cores. The result does not depend on it.

    Yields
    ------
    Parallel
        For the fit.
    int
        How many whole fits it makes at once.

    Raises
    ------
    UserError
        When the number of threads is out of range.
    """
    wanted = cores() if threads is None else threads
    if not 1 <= wanted <= MOST_THREADS:
        raise UserError(f"{wanted} threads cannot share a fit", todo=f"choose a number from 1 to {MOST_THREADS}")
    with ExitStack() as stack:
        executor = None
        if wanted > 1:
            executor = stack.enter_context(ThreadPoolExecutor(wanted - 1, thread_name_prefix="crowdclust-sweep"))
        processes = worthwhile_processes(table, settings, wanted)
        pool = stack.enter_context(SpawnedPool(processes)) if processes else None
        yield Parallel(wanted, executor, pool), max(1, processes)
