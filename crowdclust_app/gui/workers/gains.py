"""How much better held-out responses are predicted than those of workers who do not look: bars on one axis."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPalette, QPen
from PySide6.QtWidgets import QWidget

from crowdclust_app.gui import theme
from crowdclust_app.gui.workers.charts import ticks

LINE, AXIS = 40, 34


@dataclass(frozen=True, slots=True)
class Gain:
    """One comparison.

    Parameters
    ----------
    against
        Whom the worker is compared with.
    value, error
        Nats a held-out pair label, and the standard error.
    """

    against: str
    value: float
    error: float

    @property
    def words(self) -> str:
        """The comparison as a sentence."""
        sure = abs(self.value) > 2 * self.error
        if not sure:
            return f"Not predicted better than {self.against} ({signed(self.value)} ± {self.error:.2f})."
        way = "better" if self.value > 0 else "worse"
        return f"Predicted {way} than {self.against} ({signed(self.value)} ± {self.error:.2f})."


def signed(value: float) -> str:
    """A figure with its sign, and no minus before a zero."""
    return f"{round(value, 2) + 0.0:+.2f}"


class GainBars(QWidget):
    """Comparisons as points with bars of two standard errors, from a line at 0."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("worker-gains")
        self.setMinimumHeight(2 * LINE + AXIS)
        self._gains: tuple[Gain, ...] = ()

    def show_gains(self, gains: tuple[Gain, ...]) -> None:
        """Show these."""
        self._gains = gains
        words = " ".join(gain.words for gain in gains)
        self.setAccessibleName(words or "No held-out prediction of this worker")
        self.setToolTip(words)
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the axis, then one line a comparison."""
        if not self._gains:
            return
        painter = QPainter(self)
        palette = self.palette()
        ends = np.array([[gain.value - 2 * gain.error, gain.value + 2 * gain.error] for gain in self._gains])
        low, high = min(0.0, float(ends.min())), max(0.0, float(ends.max()))
        low, high = low - 0.05 * (high - low or 1.0), high + 0.05 * (high - low or 1.0)
        left, right = 8.0, self.width() - 12.0

        def across(value: float) -> float:
            return left + (value - low) / (high - low) * (right - left)

        foot = LINE * len(self._gains)
        painter.setPen(theme.muted(palette))
        for value in ticks(low, high, max(2, int(self.width() // 90))):
            words = f"{value:+g}" if value else "0"
            half = painter.fontMetrics().horizontalAdvance(words) / 2
            # a figure at either end stays whole
            middle = min(max(across(value), half), self.width() - half)
            painter.drawText(QRectF(middle - 40, foot, 80, 16), Qt.AlignmentFlag.AlignCenter, words)
        unit = QRectF(left, foot + 16, right - left, 16)
        painter.drawText(unit, Qt.AlignmentFlag.AlignRight, "nats a held-out pair label, ± 2 standard errors")
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        accent = palette.color(QPalette.ColorRole.Highlight)
        for number, gain in enumerate(self._gains):
            middle = number * LINE + 28
            painter.setPen(palette.color(QPalette.ColorRole.Text))
            painter.drawText(
                QRectF(left, middle - 26, right - left, 18), Qt.AlignmentFlag.AlignLeft, f"than {gain.against}"
            )
            painter.drawLine(QPointF(across(0.0), middle - 8), QPointF(across(0.0), middle + 8))
            painter.setPen(QPen(accent, 2))
            painter.drawLine(
                QPointF(across(gain.value - 2 * gain.error), middle),
                QPointF(across(gain.value + 2 * gain.error), middle),
            )
            painter.setBrush(accent)
            painter.drawEllipse(QPointF(across(gain.value), middle), 4, 4)
