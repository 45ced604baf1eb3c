"""Whole fits in processes of their own: their progress is heard here, a cancel stops all, and none outlives the fit."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.queues import Queue
from multiprocessing.synchronize import Event
from queue import Empty
from types import TracebackType
from typing import Any

from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.domain.errors import Cancelled, UserError
from crowdclust_app.inference.crowdclustering.model.parallel import Parallel

# Seconds between two looks at whether to stop, while nothing is heard.
PATIENCE = 0.05


class SpawnedPool:
    """Calls functions in other processes; a context manager, at whose end they are gone.

    They are started anew (`spawn`), so they hold no locks, files or window of this process.

    Parameters
    ----------
    processes
        How many, at most.
    """

    def __init__(self, processes: int) -> None:
        context = multiprocessing.get_context("spawn")
        self._news: Queue[Any] = context.Queue()
        self._stop = context.Event()
        self._pool = ProcessPoolExecutor(processes, context, _begin, (self._news, self._stop))

    def __enter__(self) -> SpawnedPool:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self._pool.shutdown(wait=True, cancel_futures=True)
        self._news.close()
        self._news.join_thread()

    def run(
        self,
        task: Callable[..., Any],
        arguments: Sequence[tuple[Any, ...]],
        progress: Callable[[Any], None] | None,
        cancel: CancelToken | None,
    ) -> Iterator[Any]:
        """Call `task` with each of these arguments, and with `progress` and `parallel` by name; results in this order.

        Parameters
        ----------
        task
            A function of a module, since it has to be found by its name.
        arguments
            Of each call.
        progress
            Is called here, on this thread, with whatever the tasks tell.
        cancel
            Stops all of them within a sweep.

        Raises
        ------
        Cancelled
            When asked to stop.
        UserError
            When a process died.
        """
        futures = [self._pool.submit(_call, task, these, progress is not None) for these in arguments]
        for future in futures:
            self._listen(future, progress, cancel)
            try:
                yield future.result()
            except BrokenProcessPool:
                what = "a process that took part in the fit ended before its time, perhaps for want of memory"
                raise UserError(what, todo="fit again with --threads 1, which needs less memory") from None

    def _listen(self, future: Future[Any], progress: Callable[[Any], None] | None, cancel: CancelToken | None) -> None:
        """Pass on what is told until this call is done."""
        while True:
            done = future.done()
            try:
                # what a finished call told may still be on its way
                news = self._news.get(timeout=PATIENCE)
            except Empty:
                if done:
                    return
            else:
                if progress is not None:
                    progress(news)
            if cancel is not None:
                cancel.check()


class _Stop:
    """A cancel token of a child process."""

    def __init__(self, event: Event) -> None:
        self._event = event

    def check(self) -> None:
        if self._event.is_set():
            raise Cancelled("cancelled")


_news: Queue[Any] | None = None
_stop: _Stop | None = None


def _begin(news: Queue[Any], stop: Event) -> None:
    """Make a child process ready."""
    global _news, _stop
    _news, _stop = news, _Stop(stop)
    # Ctrl-C goes to all processes of a terminal; the parent says what becomes of it
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_follow_parent, daemon=True).start()


def _follow_parent() -> None:
    """End with the parent, however that ends."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _call(task: Callable[..., Any], arguments: tuple[Any, ...], tell: bool) -> Any:
    """Call a task in a child process."""
    assert _news is not None
    assert _stop is not None
    return task(*arguments, progress=_news.put if tell else None, parallel=Parallel(check=_stop.check))
