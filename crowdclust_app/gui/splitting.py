"""Parts of a screen that share its room."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QSplitter, QWidget

from crowdclust_app.gui import theme


def splitter(direction: Qt.Orientation, first: QWidget, second: QWidget) -> QSplitter:
    """Two parts side by side or one above the other; new room goes to the first twice as much as to the second."""
    made = QSplitter(direction)
    made.setChildrenCollapsible(False)
    made.setHandleWidth(theme.MARGIN)
    for place, (widget, stretch) in enumerate(((first, 2), (second, 1))):
        made.addWidget(widget)
        made.setStretchFactor(place, stretch)
    return made
