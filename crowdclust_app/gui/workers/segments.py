"""Buttons of which one is down: what a part of the screen shows."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtWidgets import QButtonGroup, QHBoxLayout, QPushButton, QWidget

from crowdclust_app.gui import theme


class Segments(QWidget):
    """A line of buttons.

    Parameters
    ----------
    choices
        Name and title of each.
    call
        Called with the name of the one that is pressed.
    prefix
        Before the names of the buttons, for whoever looks for them.
    """

    def __init__(
        self,
        choices: Sequence[tuple[str, str]],
        call: Callable[[str], object],
        prefix: str,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        inside = QHBoxLayout(self)
        inside.setContentsMargins(0, 0, 0, 0)
        inside.setSpacing(theme.TILE_GAP)
        self._group = QButtonGroup(self)
        self.buttons: dict[str, QPushButton] = {}
        for name, title in choices:
            button = QPushButton(title, self)
            button.setObjectName(f"{prefix}-{name}")
            button.setProperty("rank", "plain")
            button.setCheckable(True)
            button.clicked.connect(lambda _=False, name=name: call(name))
            self._group.addButton(button)
            inside.addWidget(button)
            self.buttons[name] = button
        inside.addStretch(1)

    def press(self, name: str) -> None:
        """Show this one as down."""
        self.buttons[name].setChecked(True)
