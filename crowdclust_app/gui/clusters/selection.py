"""The items chosen on the Clusters screen: one selection that plot, gallery and inspector share."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QObject, Signal


class ItemSelection(QObject):
    """Chosen items by number, in the order chosen, one of them current.

    Signals
    -------
    changed
        The chosen items or the current one are others than before.
    """

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._items: dict[int, None] = {}
        self._current: int | None = None

    @property
    def items(self) -> tuple[int, ...]:
        """Numbers of the chosen items."""
        return tuple(self._items)

    @property
    def current(self) -> int | None:
        """The item that the inspector shows."""
        return self._current

    def __contains__(self, item: int) -> bool:
        return item in self._items

    def choose(self, item: int) -> None:
        """Choose this item alone."""
        self._set([item], item)

    def choose_all(self, items: Iterable[int], current: int | None = None) -> None:
        """Choose these items and make one current: the one given, the one that was, or the first."""
        chosen = dict.fromkeys(map(int, items))
        if current not in chosen:
            current = self._current if self._current in chosen else next(iter(chosen), None)
        self._set(chosen, current)

    def add(self, items: Iterable[int]) -> None:
        """Choose these items besides those already chosen."""
        self.choose_all([*self._items, *items])

    def toggle(self, item: int) -> None:
        """Choose the item if it is not chosen, leave it out if it is."""
        if item in self._items:
            rest = [other for other in self._items if other != item]
            self._set(rest, rest[-1] if rest else None)
        else:
            self._set([*self._items, item], item)

    def clear(self) -> None:
        """Choose nothing."""
        self._set([], None)

    def _set(self, items: Iterable[int], current: int | None) -> None:
        chosen = items if isinstance(items, dict) else dict.fromkeys(map(int, items))
        current = None if current is None else int(current)
        if (chosen, current) != (self._items, self._current):
            self._items, self._current = chosen, current
            self.changed.emit()
