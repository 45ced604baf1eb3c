"""A field for a whole number that says so when it takes no larger one."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtGui import QValidator
from PySide6.QtWidgets import QSpinBox, QWidget


class NumberBox(QSpinBox):
    """A spin box; Qt's own drops the digit that makes a number too large, and says nothing.

    Signals
    -------
    too_large : int
        A digit was not taken, because this is the largest number.
    """

    too_large = Signal(int)

    def __init__(self, low: int, high: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setRange(low, high)

    def validate(self, text: str, position: int) -> tuple[QValidator.State, str, int]:
        """Notice what is refused for being too large."""
        verdict = super().validate(text, position)
        if verdict[0] == QValidator.State.Invalid and text.isdecimal() and int(text) > self.maximum():
            self.too_large.emit(self.maximum())
        return verdict
