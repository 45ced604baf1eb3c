"""Two parts beside each other where there is room, and as two tabs where there is not."""

from __future__ import annotations

from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QButtonGroup, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from crowdclust_app.gui import theme


class SideBySide(QWidget):
    """Two parts that share a width.

    Parameters
    ----------
    parts
        Title, name of the tab's button, and widget of each.
    enough
        The width in pixels from which on both are shown.
    """

    def __init__(self, parts: tuple[tuple[str, str, QWidget], ...], enough: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._enough = enough
        self._parts = tuple(part for _, _, part in parts)
        self._front = self._parts[0]
        self._tabs = QWidget(self)
        group = QButtonGroup(self)
        line = QHBoxLayout(self._tabs)
        line.setContentsMargins(0, 0, 0, 0)
        line.setSpacing(theme.TILE_GAP)
        self._buttons: dict[QWidget, QPushButton] = {}
        for title, name, part in parts:
            button = QPushButton(title, self._tabs)
            button.setObjectName(name)
            button.setProperty("rank", "plain")
            button.setCheckable(True)
            button.setStyleSheet("padding: 6px 8px;")
            button.clicked.connect(lambda _=False, part=part: self.bring(part))
            group.addButton(button)
            line.addWidget(button)
            self._buttons[part] = button
        line.addStretch(1)
        beside = QHBoxLayout()
        beside.setSpacing(theme.MARGIN)
        for part in self._parts:
            beside.addWidget(part, 1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.TILE_GAP)
        layout.addWidget(self._tabs)
        layout.addLayout(beside, 1)
        self._show()

    def bring(self, part: QWidget) -> None:
        """Show this part where only one is shown."""
        self._front = part
        self._show()

    def _show(self) -> None:
        both = self.width() >= self._enough
        self._tabs.setVisible(not both)
        for part in self._parts:
            part.setVisible(both or part is self._front)
            self._buttons[part].setChecked(part is self._front)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Show both parts, or one."""
        super().resizeEvent(event)
        self._show()
