"""Parts that change or appear without moving what is beside them."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget


def keep_room(widget: QWidget) -> None:
    """Have a widget keep its room while it is hidden, so that nothing moves when it appears."""
    policy = widget.sizePolicy()
    policy.setRetainSizeWhenHidden(True)
    widget.setSizePolicy(policy)


class ElidedLabel(QLabel):
    """One line that takes the room it gets; what does not fit is in the tool tip.

    Parameters
    ----------
    mode
        Where the text is shortened.
    """

    def __init__(self, parent: QWidget | None = None, mode: Qt.TextElideMode = Qt.TextElideMode.ElideRight) -> None:
        super().__init__(parent)
        self._mode = mode
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def minimumSizeHint(self) -> QSize:
        """No width at all, and the height of a line even without text."""
        return QSize(0, self.fontMetrics().height() + 2)

    def sizeHint(self) -> QSize:
        """A line as long as the text."""
        return QSize(self.fontMetrics().horizontalAdvance(self.text()) + 2, self.fontMetrics().height() + 2)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw as much as fits."""
        shown = self.fontMetrics().elidedText(self.text(), self._mode, self.width())
        self.setToolTip(self.text() if shown != self.text() else "")
        painter = QPainter(self)
        painter.setPen(self.palette().color(self.foregroundRole()))
        painter.drawText(self.rect(), Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, shown)
