"""Progress of a long operation, as one small report for the window and the command line alike."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ProgressReport:
    """How far an operation has come.

    Parameters
    ----------
    done
        Steps finished so far.
    total
        Steps in all; None while that is unknown.
    text
        What is being done, for people.
    """

    done: int
    total: int | None
    text: str

    @property
    def fraction(self) -> float | None:
        """Finished share between 0 and 1; None while the total is unknown."""
        if not self.total:
            return None
        return min(1.0, self.done / self.total)


Progress = Callable[[ProgressReport], None]
