"""The field in which the lead types the name of a cluster, on the row itself."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QRect, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent
from PySide6.QtWidgets import QAbstractScrollArea, QLineEdit

from crowdclust_app.services.clusters.categories import LONGEST_NAME


class NameField(QLineEdit):
    """One line over the row's name; Enter and leaving keep what was typed, Esc does not.

    Parameters
    ----------
    rows
        The view on which it lies; it gets the keys back.

    Signals
    -------
    finished : (int, str)
        The place, and the name that was typed.
    """

    finished = Signal(int, str)

    def __init__(self, rows: QAbstractScrollArea) -> None:
        super().__init__(rows.viewport())
        self._rows = rows
        self.setObjectName("category-name")
        self.setAccessibleName("Name of the category")
        self.setPlaceholderText("Name")
        self.setMaxLength(LONGEST_NAME)
        self.setStyleSheet("padding: 1px 4px; background: palette(base); border: 1px solid palette(highlight);")
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self._place: int | None = None
        self.hide()

    @property
    def place(self) -> int | None:
        """The place whose name is being typed."""
        return self._place

    def begin(self, place: int, rect: QRect, name: str) -> None:
        """Edit this name."""
        self._place = place
        self.setText(name)
        self.selectAll()
        self.setGeometry(rect)
        self.show()
        self.setFocus(Qt.FocusReason.OtherFocusReason)

    def give_up(self) -> None:
        """Close without keeping what was typed."""
        self._place = None
        self._close()

    def _keep(self) -> None:
        place, self._place = self._place, None
        if place is not None:
            text = self.text()
            self._close()
            self.finished.emit(place, text)

    def _close(self) -> None:
        if self.isVisible():
            had_keys = self.hasFocus()
            self.hide()
            if had_keys:
                self._rows.setFocus(Qt.FocusReason.OtherFocusReason)

    def event(self, event: QEvent) -> bool:
        """Have Esc here before the window has it."""
        ours = (Qt.Key.Key_Escape, Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent) and event.key() in ours:
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter keeps, Esc gives up; the screen's shortcuts are off until then."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._keep()
        elif event.key() == Qt.Key.Key_Escape:
            self.give_up()
        else:
            super().keyPressEvent(event)
            event.accept()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Leaving keeps what was typed."""
        super().focusOutEvent(event)
        if event.reason() != Qt.FocusReason.PopupFocusReason:
            self._keep()
