"""Small sheets over the photos: how to sort, and whether to skip."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QScrollArea, QVBoxLayout, QWidget

from crowdclust_app.gui.chrome import plain_button

HOW_TO = (
    ("1 – 9, +", "choose a group, or a new one"),
    ("Click, drag", "put photos into the chosen group; click again to take one out"),
    ("Shift + drag", "select photos, then press a number"),
    ("Space", "see one photo large"),
    ("F, right click", "flag a photo that is broken"),
    ("Ctrl+Z", "undo, as far back as you like"),
    ("R", "put every photo that is left into a group of its own"),
)


class Card(QFrame):
    """A card over the page; the page places it.

    Signals
    -------
    closed
        It has been closed.
    """

    closed = Signal()

    def __init__(self, parent: QWidget, name: str) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self.setProperty("card", True)
        self.hide()

    def open(self) -> None:
        """Show it above the photos."""
        self.adjustSize()
        self.show()
        self.raise_()

    def close_sheet(self) -> None:
        """Put it away."""
        if not self.isHidden():
            self.hide()
            self.closed.emit()


class InstructionsCard(Card):
    """The lead's instructions and the few keys that matter."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent, "instructions-sheet")
        self.setAccessibleName("Instructions")
        self._text = QLabel()
        self._text.setObjectName("instructions-text")
        self._text.setWordWrap(True)
        self._text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        area = QScrollArea()
        area.setWidgetResizable(True)
        inner = self._inner = QWidget()
        inner.setObjectName("help-page")
        inside = QVBoxLayout(inner)
        inside.setContentsMargins(0, 0, 8, 0)
        inside.setSpacing(8)
        heading = QLabel("How to sort")
        heading.setProperty("heading", "part")
        inside.addWidget(heading)
        inside.addWidget(self._text)
        inside.addSpacing(8)
        for keys, what in HOW_TO:
            line = QHBoxLayout()
            line.setSpacing(16)
            key = QLabel(f"<b>{keys}</b>")
            key.setFixedWidth(124)
            key.setAlignment(Qt.AlignmentFlag.AlignTop)
            text = QLabel(what)
            text.setWordWrap(True)
            line.addWidget(key)
            line.addWidget(text, 1)
            inside.addLayout(line)
        inside.addStretch(1)
        area.setWidget(inner)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.done = plain_button("Start sorting", "instructions-done", self.close_sheet, rank="first")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(24, 24, 16, 16)
        layout.addWidget(area, 1)
        layout.addWidget(self.done, 0, Qt.AlignmentFlag.AlignRight)

    def height_for(self, width: int) -> int:
        """How high it has to be to show everything without a scroll bar."""
        return self._inner.heightForWidth(width - 56) + 24 + 16 + 48

    def set_text(self, text: str) -> None:
        """What the lead wrote."""
        self._text.setText(text or "Put photos that belong together into the same group. How many groups is up to you.")


class SkipCard(Card):
    """Asks before a set is given back, because it does not come again.

    Signals
    -------
    confirmed
        Skip it.
    """

    confirmed = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent, "skip-sheet")
        self.setAccessibleName("Skip this set")
        text = QLabel("Skip this set? Somebody else will sort it, and you will not get it again.")
        text.setWordWrap(True)
        self.yes = plain_button("Skip it", "skip-confirm", self._confirm)
        self.no = plain_button("Keep sorting", "skip-cancel", self.close_sheet, rank="first")
        buttons = QHBoxLayout()
        buttons.addStretch(1)
        buttons.addWidget(self.yes)
        buttons.addWidget(self.no)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(24, 24, 16, 16)
        layout.setSpacing(16)
        layout.addWidget(text)
        layout.addLayout(buttons)

    def _confirm(self) -> None:
        self.close_sheet()
        self.confirmed.emit()
