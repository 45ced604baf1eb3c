"""The iterations of a fit: how they are counted, reported, ended and cancelled."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from crowdclust_app.domain.cancellation import CancelToken


@dataclass(frozen=True, slots=True)
class FitStep:
    """One iteration of a fit.

    Parameters
    ----------
    iteration, max_iterations
        Which of how many at most.
    change
        Largest change of a probability or message.
    bound
        Objective of the method; None where there is none.
    seconds
        Since the fit began.
    """

    iteration: int
    max_iterations: int
    change: float
    bound: float | None
    seconds: float


class Iterations:
    """The iterations of one fit: checks for cancelling, reports, and decides about convergence."""

    def __init__(
        self,
        max_iterations: int,
        tolerance: float,
        progress: Callable[[FitStep], None] | None,
        cancel: CancelToken | None,
    ) -> None:
        self.max_iterations = max_iterations
        self.tolerance = tolerance
        self.iterations = 0
        self.converged = False
        self.bounds: list[float] = []
        self._progress = progress
        self.token = cancel
        self._begin = time.perf_counter()

    def again(self, *, quiet: bool = False) -> Iterations:
        """Begin another fit under the same limits, token and (unless it is to be quiet) listener."""
        return Iterations(self.max_iterations, self.tolerance, None if quiet else self._progress, self.token)

    def check(self) -> None:
        """Raise `Cancelled` when the token says so."""
        if self.token is not None:
            self.token.check()

    def step(self, change: float, bound: float | None = None) -> bool:
        """End an iteration.

        Returns
        -------
        bool
            Whether to go on.
        """
        self.check()
        self.iterations += 1
        self.converged = change <= self.tolerance
        if bound is not None:
            self.bounds.append(bound)
        if self._progress is not None:
            seconds = time.perf_counter() - self._begin
            self._progress(FitStep(self.iterations, self.max_iterations, change, bound, seconds))
        return not self.converged and self.iterations < self.max_iterations
