"""One worker's work on one HIT as a log of actions, with undo and redo without limit.

The log is what is stored; the groups on screen are what the log says. Undo does not erase anything: it is an action
of its own, so the history of a restarted program is the history of the one that was killed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum


class ActionKind(StrEnum):
    """What a worker can do to the groups."""

    PLACE = "place"
    UNDO = "undo"
    REDO = "redo"


@dataclass(frozen=True, slots=True)
class Action:
    """One action of a worker.

    Parameters
    ----------
    kind
        What was done.
    placements
        For `PLACE`: `(position, group)` for every tile that changed, position counting from 0 in the order shown,
        group from 1, 0 for "in no group". One gesture (a drag over many tiles, "rest into own groups") is one action.
    """

    kind: ActionKind
    placements: tuple[tuple[int, int], ...] = ()


UNSORTED = 0


class Sorting:
    """The groups of one HIT as the log of actions leaves them.

    Parameters
    ----------
    n_items
        Number of tiles `M`.
    log
        Actions so far, oldest first.
    """

    def __init__(self, n_items: int, log: Iterable[Action] = ()) -> None:
        self._groups = [UNSORTED] * n_items
        self._done: list[tuple[tuple[int, int, int], ...]] = []
        self._undone: list[tuple[tuple[int, int, int], ...]] = []
        for action in log:
            self.apply(action)

    @property
    def groups(self) -> tuple[int, ...]:
        """Group number of each tile, `UNSORTED` where it has none; length M."""
        return tuple(self._groups)

    @property
    def can_undo(self) -> bool:
        """Whether there is an action to take back."""
        return bool(self._done)

    @property
    def can_redo(self) -> bool:
        """Whether there is an action to do again."""
        return bool(self._undone)

    @property
    def n_unsorted(self) -> int:
        """Tiles that are in no group yet."""
        return self._groups.count(UNSORTED)

    def members(self, group: int) -> tuple[int, ...]:
        """Positions of the tiles in a group."""
        return tuple(position for position, number in enumerate(self._groups) if number == group)

    def used_groups(self) -> tuple[int, ...]:
        """Numbers of the groups that hold a tile, ascending."""
        return tuple(sorted({number for number in self._groups if number != UNSORTED}))

    def first_free_group(self) -> int:
        """The smallest group number that holds no tile."""
        used = set(self._groups)
        return next(number for number in range(1, len(self._groups) + 2) if number not in used)

    def place(self, positions: Sequence[int], group: int) -> Action | None:
        """The action that puts these tiles into a group (0 takes them out); None when nothing would change."""
        changed = tuple((p, group) for p in dict.fromkeys(positions) if self._groups[p] != group)
        return Action(ActionKind.PLACE, changed) if changed else None

    def rest_into_own_groups(self) -> Action | None:
        """The action that gives every unsorted tile a group of its own; None when all are sorted."""
        used = set(self._groups)
        free = (number for number in range(1, 2 * len(self._groups) + 2) if number not in used)
        rest = tuple((p, next(free)) for p, number in enumerate(self._groups) if number == UNSORTED)
        return Action(ActionKind.PLACE, rest) if rest else None

    def apply(self, action: Action) -> tuple[int, ...]:
        """Carry out an action; return the positions whose group changed.

        Raises
        ------
        ValueError
            When there is nothing to undo or redo, or a position does not exist.
        """
        if action.kind is ActionKind.PLACE:
            step = []
            for position, group in action.placements:
                if not 0 <= position < len(self._groups) or group < 0:
                    raise ValueError(f"no tile {position} or no group {group}")
                step.append((position, self._groups[position], group))
                self._groups[position] = group
            self._done.append(tuple(step))
            self._undone.clear()
            return tuple(position for position, _, _ in step)
        if action.kind is ActionKind.UNDO:
            if not self._done:
                raise ValueError("nothing to undo")
            step_back = self._done.pop()
            self._undone.append(step_back)
            for position, before, _ in reversed(step_back):
                self._groups[position] = before
            return tuple(position for position, _, _ in step_back)
        if not self._undone:
            raise ValueError("nothing to redo")
        again = self._undone.pop()
        self._done.append(again)
        for position, _, after in again:
            self._groups[position] = after
        return tuple(position for position, _, _ in again)
