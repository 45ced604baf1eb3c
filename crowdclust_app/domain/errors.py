"""Errors that a user can read.

`UserError` is for everything the user can mend: the command line prints it as one line and exits with 2, the
window shows it in the error bar. Those who call from Python can catch the same errors by the built-in classes that
they expect. Anything else that escapes is an internal error.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar


class CrowdclustError(Exception):
    """Anything this program raises on purpose."""


class UserError(CrowdclustError):
    """Something the user can mend, said in one sentence.

    Parameters
    ----------
    what
        What is wrong, without a full stop.
    where
        The file (and line) it is about, if there is one.
    todo
        What to do now, without a full stop.
    """

    def __init__(self, what: str, *, where: str | None = None, todo: str | None = None) -> None:
        self.what = what
        self.where = where
        self.todo = todo
        super().__init__(what)

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where else ""
        advice = f"; {self.todo}" if self.todo else ""
        return f"{place}{self.what}{advice}."


class InvalidInputError(UserError, ValueError):
    """A parameter or data that cannot be used."""


class NotFittedError(UserError, ValueError, AttributeError):
    """A result was asked of an estimator before `fit`."""


class NotConvergedWarning(UserWarning):
    """The iterations ended before the result stood still."""


# Not a filter of `warnings`: these belong to all threads, and fits run in several.
_quiet = ContextVar("_quiet", default=False)


def warn_not_converged(what: str) -> None:
    """Warn the caller of a `fit` that the iterations ended too early."""
    if not _quiet.get():
        warnings.warn(f"{what}; raise max_iterations", NotConvergedWarning, stacklevel=3)


@contextmanager
def no_convergence_warning() -> Iterator[None]:
    """Fit without `NotConvergedWarning`, where `converged_` is reported in other words."""
    before = _quiet.set(True)
    try:
        yield
    finally:
        _quiet.reset(before)


class Cancelled(CrowdclustError):  # noqa: N818 - a request of the user, not a fault
    """The user asked for a long operation to stop."""
