"""State of one set while it is sorted: groups, current group, selection, keyboard position. No Qt, no storage."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from crowdclust_app.domain.sorting import UNSORTED, Action, ActionKind, Sorting

# A second digit within this time makes a number of two digits.
DIGIT_SECONDS = 0.8


class SortingState:
    """What the person sees and holds; every method that changes groups returns the actions to be stored.

    Parameters
    ----------
    n_items
        Number of tiles.
    log
        The set's stored actions.

    Attributes
    ----------
    current
        The current group: what a click gives a tile.
    selection
        Positions selected with the rubber band, Ctrl or Shift.
    focus
        The tile that the arrow keys stand on.
    flagged
        Positions flagged as broken.
    """

    def __init__(self, n_items: int, log: Sequence[Action] = ()) -> None:
        self.n_items = n_items
        self.sorting = Sorting(n_items, log)
        self.selection: set[int] = set()
        self.focus = 0
        self.anchor = 0
        self.flagged: set[int] = set()
        last = next((a for a in reversed(log) if a.kind is ActionKind.PLACE and a.placements[0][1]), None)
        self.current = last.placements[0][1] if last else 1
        # The digit typed last and when; the tiles it was given to, and whether that changed anything.
        self._digit: tuple[int, float] | None = None
        self._digit_placed: tuple[int, ...] = ()
        self._digit_changed = False

    @property
    def groups(self) -> tuple[int, ...]:
        """Group of each tile, 0 where it has none."""
        return self.sorting.groups

    def chips(self) -> tuple[int, ...]:
        """Groups to show in the palette: those in use and the current one."""
        return tuple(sorted({*self.sorting.used_groups(), self.current}))

    # --- groups

    def click(self, position: int) -> list[Action]:
        """Give the tile the current group, or take it away if it has that group already."""
        self.forget_digit()
        self.selection.clear()
        self.focus = self.anchor = position
        taken = self.groups[position] == self.current
        return self._place((position,), UNSORTED if taken else self.current)

    def paint(self, positions: Sequence[int]) -> list[Action]:
        """Give all tiles of one stroke the current group."""
        self.forget_digit()
        self.selection.clear()
        if positions:
            self.focus = self.anchor = positions[-1]
        return self._place(positions, self.current)

    def assign(self, group: int | None = None) -> list[Action]:
        """Give the selection, or else the tile with the keyboard, a group (the current one if None)."""
        self.forget_digit()
        if group is not None and group != UNSORTED:
            self.current = group
        target = self.current if group is None else group
        positions = sorted(self.selection) or [self.focus]
        self.selection.clear()
        return self._place(positions, target)

    def choose(self, group: int) -> list[Action]:
        """Make a group the current one; a selection is put into it."""
        self.forget_digit()
        self.current = group
        return self.assign(group) if self.selection else []

    def choose_new(self) -> list[Action]:
        """Make a group without tiles the current one."""
        return self.choose(self.sorting.first_free_group())

    def type_digit(self, digit: int, now: float) -> list[Action]:
        """Make the group with this number, or with this and the digit typed just before, the current one.

        Two digits make one number only where such a group exists or would be the next one, so that whoever has fewer
        than nine groups can type as fast as they like.
        """
        before, self._digit = self._digit, None
        if before is not None and now - before[1] <= DIGIT_SECONDS:
            number = before[0] * 10 + digit
            highest = max(self.sorting.used_groups(), default=0)
            if number <= min(highest + 1, self.n_items):
                return self._correct_to(number)
        if digit == 0:
            return self._place(sorted(self.selection), UNSORTED) if self.selection else []
        self._digit_placed = tuple(sorted(self.selection))
        actions = self.choose(digit)
        self._digit, self._digit_changed = (digit, now), bool(actions)
        return actions

    def _correct_to(self, number: int) -> list[Action]:
        """The first digit was not the whole number: what it did is taken back, so that one undo undoes both."""
        placed, self._digit_placed = self._digit_placed, ()
        self.current = number
        if not placed:
            return []
        actions = self.undo() if self._digit_changed else []
        return actions + self._place(placed, number)

    def forget_digit(self) -> None:
        """Something else was done: the next digit begins a new number."""
        self._digit = None

    def take_out(self) -> list[Action]:
        """Take the selection, or the tile with the keyboard, out of its group."""
        return self.assign(UNSORTED)

    def rest_into_own_groups(self) -> list[Action]:
        """Give every tile without a group one of its own."""
        self.forget_digit()
        action = self.sorting.rest_into_own_groups()
        return self._apply(action)

    def undo(self) -> list[Action]:
        """Take the last action back."""
        self.forget_digit()
        return self._apply(Action(ActionKind.UNDO)) if self.sorting.can_undo else []

    def redo(self) -> list[Action]:
        """Do again what was taken back last."""
        self.forget_digit()
        return self._apply(Action(ActionKind.REDO)) if self.sorting.can_redo else []

    # --- selection and keyboard

    def select(self, positions: Iterable[int], add: bool = False) -> None:
        """Select these tiles, in addition to those that are selected already or instead of them."""
        self.forget_digit()
        self.selection = (self.selection if add else set()) | set(positions)

    def toggle(self, position: int) -> None:
        """Select this tile too, or no longer."""
        self.forget_digit()
        self.selection ^= {position}
        self.focus = self.anchor = position

    def select_range(self, position: int) -> None:
        """Select everything from the tile clicked before to this one, in reading order."""
        self.forget_digit()
        first, last = sorted((self.anchor, position))
        self.selection |= set(range(first, last + 1))
        self.focus = position

    def move_to(self, position: int, extend: bool = False) -> None:
        """Put the keyboard on a tile; with `extend` the selection grows along."""
        if extend:
            self.selection |= {self.focus, position}
        self.focus = position
        self.anchor = position

    # --- inside

    def _place(self, positions: Sequence[int], group: int) -> list[Action]:
        return self._apply(self.sorting.place(positions, group))

    def _apply(self, action: Action | None) -> list[Action]:
        if action is None:
            return []
        self.sorting.apply(action)
        return [action]
