"""What an annotator sees when there is no set: nothing left, or photos that are not where they were."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QApplication, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from crowdclust_app.gui import theme
from crowdclust_app.gui.chrome import plain_button


class EndPage(QWidget):
    """A sign, a heading, a sentence, and what can be done now."""

    def __init__(self, name: str, icon: str, actions: Sequence[tuple[str, str, Callable[[], object]]]) -> None:
        super().__init__()
        self.setObjectName(name)
        self._icon = icon
        self._sign = QLabel()
        self.heading = QLabel()
        self.heading.setObjectName(f"{name}-heading")
        self.heading.setProperty("heading", "page")
        self.heading.setWordWrap(True)
        self.text = QLabel()
        self.text.setObjectName(f"{name}-text")
        self.text.setProperty("rank", "second")
        self.text.setWordWrap(True)
        buttons = QHBoxLayout()
        buttons.setSpacing(8)
        for k, (title, button_name, call) in enumerate(actions):
            button = plain_button(title, button_name, call, rank="first" if k == 0 else "")
            button.setProperty("tall", True)
            buttons.addWidget(button)
            if k == 0:
                self.setFocusProxy(button)
        buttons.addStretch(1)
        column = QWidget()
        column.setFixedWidth(520)
        layout = QVBoxLayout(column)
        layout.setContentsMargins(0, 64, 0, 16)
        layout.setSpacing(16)
        for widget in (self._sign, self.heading, self.text):
            layout.addWidget(widget)
        layout.addLayout(buttons)
        layout.addStretch(1)
        whole = QHBoxLayout(self)
        whole.addStretch(1)
        whole.addWidget(column, 0, Qt.AlignmentFlag.AlignTop)
        whole.addStretch(1)
        self.draw_sign()

    def say(self, heading: str, text: str) -> None:
        """Set the words."""
        self.heading.setText(heading)
        self.text.setText(text)

    def draw_sign(self) -> None:
        """Draw the sign in the colours of the palette."""
        colour = QApplication.palette().color(QPalette.ColorRole.Accent)
        self._sign.setPixmap(theme.icon_pixmap(self._icon, colour, 48, self.devicePixelRatioF()))
