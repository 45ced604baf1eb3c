"""Which key does what on the page on which a set is sorted."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent

if TYPE_CHECKING:
    from crowdclust_app.gui.annotate.set_page import SetPage

Calls = dict[Qt.Key, Callable[[], object]]
ARROWS = {
    Qt.Key.Key_Left: (-1, 0),
    Qt.Key.Key_Right: (1, 0),
    Qt.Key.Key_Up: (0, -1),
    Qt.Key.Key_Down: (0, 1),
}


def handle_key(page: SetPage, event: QKeyEvent) -> bool:
    """Do what a key is for; whether it is for anything."""
    key = Qt.Key(event.key())
    modifiers = event.modifiers()
    shift = bool(modifiers & Qt.KeyboardModifier.ShiftModifier)
    if modifiers & (Qt.KeyboardModifier.AltModifier | Qt.KeyboardModifier.MetaModifier):
        return False
    if modifiers & Qt.KeyboardModifier.ControlModifier:
        calls = _with_control(page, shift)
    elif Qt.Key.Key_0 <= key <= Qt.Key.Key_9:
        page.type_digit(key - Qt.Key.Key_0)
        return True
    elif key in ARROWS:
        page.step(*ARROWS[key], shift)
        return True
    else:
        calls = _plain(page)
    call = calls.get(key)
    if call is None:
        return False
    call()
    return True


def _with_control(page: SetPage, shift: bool) -> Calls:
    return {
        Qt.Key.Key_Z: page.redo if shift else page.undo,
        Qt.Key.Key_Y: page.redo,
        Qt.Key.Key_A: page.select_unsorted,
        Qt.Key.Key_Return: page.submit,
        Qt.Key.Key_Enter: page.submit,
    }


def _plain(page: SetPage) -> Calls:
    return {
        Qt.Key.Key_Plus: page.new_group,
        Qt.Key.Key_Equal: page.new_group,
        Qt.Key.Key_Return: page.assign,
        Qt.Key.Key_Enter: page.assign,
        Qt.Key.Key_Delete: page.take_out,
        Qt.Key.Key_Backspace: page.take_out,
        Qt.Key.Key_Space: page.enlarge,
        Qt.Key.Key_R: page.rest_into_own_groups,
        Qt.Key.Key_F: page.flag,
        Qt.Key.Key_I: page.open_instructions,
        Qt.Key.Key_Home: lambda: page.go_to(0),
        Qt.Key.Key_End: lambda: page.go_to(page.desk.n_items - 1),
    }
