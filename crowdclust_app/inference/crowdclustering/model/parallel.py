"""Where a fit's work is done: on the calling thread, and in the thread and process pools that the caller passes in.

The parts into which work is cut do not depend on one another, so how many there are changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, wait
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.inference.crowdclustering.kernels.arrays import Ints


def no_check() -> None:
    """Carry on."""


class ProcessPool(Protocol):
    """Calls functions elsewhere, several at once."""

    def run(
        self,
        task: Callable[..., Any],
        arguments: Sequence[tuple[Any, ...]],
        progress: Callable[[Any], None] | None,
        cancel: CancelToken | None,
    ) -> Iterator[Any]:
        """Call `task` with each of these arguments, and with `progress` and `parallel` by name; results in this order.

        `progress` is called on the calling thread. Raises `Cancelled` when `cancel` asks for it.
        """
        ...


@dataclass(frozen=True, slots=True)
class Parallel:
    """The threads and processes of one fit.

    Parameters
    ----------
    threads
        How many work at once, the calling one included.
    executor
        Has at least `threads - 1` others; None for the calling thread alone.
    pool
        Makes whole fits, of starts or without some responses, in other processes; None for one after another here.
    check
        Is called between parts of a sweep; may raise to stop.
    """

    threads: int = 1
    executor: Executor | None = None
    pool: ProcessPool | None = None
    check: Callable[[], None] = no_check

    def __reduce__(self) -> tuple[type[Parallel], tuple[()]]:
        """What goes to another process is done by one thread there."""
        return Parallel, ()

    @property
    def size(self) -> int:
        """Number of threads that work at once."""
        return 1 if self.executor is None else max(1, self.threads)

    def share(self, work: Callable[..., Any], parts: Sequence[tuple[Any, ...]]) -> None:
        """Call `work` with the arguments of each part, at once; there are at most `size` parts.

        Returns when all are done, whatever becomes of any of them.
        """
        self.check()
        if self.executor is None or len(parts) < 2:
            for part in parts:
                work(*part)
            return
        others = [self.executor.submit(work, *part) for part in parts[1:]]
        try:
            work(*parts[0])
        finally:
            wait(others)
        for other in others:
            other.result()

    def each(
        self,
        task: Callable[..., Any],
        arguments: Sequence[tuple[Any, ...]],
        progress: Callable[[Any], None] | None,
        cancel: CancelToken | None,
    ) -> Iterator[Any]:
        """Call `task` with each of these arguments and with `progress` and `parallel` by name; results in this order.

        In the process pool where there is one and more than one call to make, else here, each when its result is
        asked for.
        """
        if self.pool is not None and len(arguments) > 1:
            yield from self.pool.run(task, arguments, progress, cancel)
            return
        for these in arguments:
            self.check()
            yield task(*these, progress=progress, parallel=self)


def cuts(loads: Ints, parts: int) -> list[tuple[int, int]]:
    """Cut a row of pieces into at most so many stretches of about the same load; none is empty."""
    ends = np.cumsum(loads)
    marks = np.searchsorted(ends, ends[-1] * np.arange(1, parts) / parts) + 1
    edges = np.unique(np.concatenate([[0], np.minimum(marks, len(loads)), [len(loads)]]))
    return list(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True))
