"""A page that says what will be there."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QPushButton, QVBoxLayout, QWidget

from crowdclust_app.gui import theme


class EmptyState(QWidget):
    """What will be here, and the one button that leads there."""

    def __init__(self, what: str, how: str, button: str, parent: QWidget) -> None:
        super().__init__(parent)
        heading = QLabel(what, self)
        heading.setProperty("heading", "part")
        advice = QLabel(how, self)
        advice.setProperty("rank", "second")
        self.button = QPushButton(button, self)
        self.button.setProperty("rank", "first")
        layout = QVBoxLayout(self)
        layout.setSpacing(theme.STEP)
        layout.addStretch(1)
        for widget in (heading, advice, self.button):
            if isinstance(widget, QLabel):
                widget.setWordWrap(True)
                widget.setAlignment(Qt.AlignmentFlag.AlignCenter)
                layout.addWidget(widget)
        layout.addSpacing(theme.STEP)
        layout.addWidget(self.button, 0, Qt.AlignmentFlag.AlignHCenter)
        layout.addStretch(1)
