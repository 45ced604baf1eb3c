"""Errors that a user can read.

`UserError` is for everything the user can mend: the command line prints it as one line and exits with 2, the
window shows it in the error bar. Anything else that escapes is a fault of ours.
"""

from __future__ import annotations


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
        place = f"{where}: " if where else ""
        advice = f"; {todo}" if todo else ""
        super().__init__(f"{place}{what}{advice}.")


class Cancelled(CrowdclustError):  # noqa: N818 - a request of the user, not a fault
    """The user asked for a long operation to stop."""
