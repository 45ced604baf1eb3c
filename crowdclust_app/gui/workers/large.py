"""One worker's confusion matrix in large, with example photos beside each row and the scale."""

from __future__ import annotations

from math import isnan

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPoint, QRect, QRectF, Qt, Signal
from PySide6.QtGui import QFont, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPalette, QPen
from PySide6.QtWidgets import QWidget

from crowdclust_app.gui import theme
from crowdclust_app.gui.clusters.album import Album
from crowdclust_app.gui.clusters.painting import paint_badge, paint_photo
from crowdclust_app.gui.wording import ABSENT
from crowdclust_app.gui.workers.matrices import colour_of, picture_of, scale_picture

EXAMPLES = 2
SCALE = 44
BADGE = 30
LARGEST_CELL = 96
SMALLEST_TEXT_CELL = 38
NAMES = 84
SMALLEST_NAME_CELL = 14
STEPS = {Qt.Key.Key_Left: (0, -1), Qt.Key.Key_Right: (0, 1), Qt.Key.Key_Up: (-1, 0), Qt.Key.Key_Down: (1, 0)}


class LargeMatrix(QWidget):
    """The matrix of the chosen worker.

    Signals
    -------
    pointed : str
        The cell under the pointer, or under the keys' cursor, in words; "" for none.
    """

    pointed = Signal(str)

    def __init__(self, album: Album, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("large-matrix")
        self.setAccessibleName("Confusion matrix of the chosen worker")
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMinimumSize(280, 240)
        self._album = album
        self._matrix: NDArray[np.float64] | None = None
        self._numbers: list[int] = []
        self._examples: list[list[int]] = []
        self._names: list[str] = []
        self._cell: tuple[int, int] | None = None
        album.arrived.connect(self.update)

    def show_matrix(
        self,
        matrix: NDArray[np.float64] | None,
        numbers: list[int],
        examples: list[list[int]],
        names: list[str] | None = None,
    ) -> None:
        """Show a matrix.

        Parameters
        ----------
        matrix : ndarray of shape (K, K)
            In the order of `numbers`; None for a worker without one.
        numbers
            Cluster numbers of rows and columns.
        examples
            Items shown beside each row.
        names
            What the lead calls each cluster, "" for nothing.
        """
        self._matrix, self._numbers, self._examples = matrix, numbers, examples
        self._names = names or [""] * len(numbers)
        if self._cell is not None and (matrix is None or max(self._cell) >= len(numbers)):
            self._cell = None
        self._tell()
        self.update()

    @property
    def order(self) -> list[int]:
        """Cluster numbers in the order of rows and columns."""
        return list(self._numbers)

    # --- geometry

    def _geometry(self) -> tuple[QRect, int, int]:
        """The square of the matrix, side of a cell, side of an example photo."""
        count = max(1, len(self._numbers))
        words = NAMES if any(self._names) else 0
        room = self.height() - BADGE - theme.STEP - words
        for cell in range(min(LARGEST_CELL, max(1, room // count)), 0, -1):
            photo = max(0, min(cell - 4, 88))
            left = words + EXAMPLES * (photo + theme.TILE_GAP) + BADGE + theme.STEP
            if left + cell * count + theme.MARGIN + SCALE <= self.width():
                break
        return QRect(left, BADGE + words, cell * count, cell * count), cell, photo

    def cell_centre(self, row: int, column: int) -> QPoint:
        """The middle of a cell, by place."""
        square, cell, _ = self._geometry()
        return QPoint(square.left() + column * cell + cell // 2, square.top() + row * cell + cell // 2)

    # --- painting

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw headings, cells, values where they fit, and the scale."""
        if self._matrix is None:
            return
        painter = QPainter(self)
        square, cell, photo = self._geometry()
        painter.drawImage(square, picture_of(self._matrix))
        bold = QFont(self.font())
        bold.setBold(True)
        for place, number in enumerate(self._numbers):
            if cell >= 16:
                middle = square.top() + place * cell + cell / 2
                width = min(BADGE, max(14, cell - 2))
                paint_badge(painter, QRectF(square.left() - BADGE - 4, middle - 11, BADGE - 2, 22), number, bold)
                across = square.left() + place * cell + cell / 2
                paint_badge(painter, QRectF(across - width / 2, square.top() - 26, width, 22), number, bold)
            for index, item in enumerate(self._examples[place][:EXAMPLES]):
                left = index * (photo + theme.TILE_GAP) + (NAMES if any(self._names) else 0)
                tile = QRect(left, square.top() + place * cell + (cell - photo) // 2, photo, photo)
                if photo >= 12:
                    pixmap = self._album.pixmap(item, photo, self.devicePixelRatioF())
                    paint_photo(painter, tile, pixmap, self.palette())
        if any(self._names) and cell >= SMALLEST_NAME_CELL:
            self._paint_names(painter, square, cell)
        if cell >= SMALLEST_TEXT_CELL:
            self._paint_values(painter, square, cell)
        self._paint_cursor(painter, square, cell)
        self._paint_scale(painter, square)

    def _paint_names(self, painter: QPainter, square: QRect, cell: int) -> None:
        """The lead's names: beside the rows, and upright above the columns."""
        painter.setFont(self.font())
        painter.setPen(self.palette().color(QPalette.ColorRole.Text))
        metrics = painter.fontMetrics()
        for place, name in enumerate(self._names):
            short = metrics.elidedText(name, Qt.TextElideMode.ElideRight, NAMES - theme.STEP)
            beside = QRect(0, square.top() + place * cell, NAMES - theme.STEP, cell)
            painter.drawText(beside, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, short)
            painter.save()
            painter.translate(square.left() + place * cell + cell // 2, square.top() - BADGE - 2)
            painter.rotate(-90)
            above = QRect(0, -cell // 2, NAMES - theme.STEP, cell)
            painter.drawText(above, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, short)
            painter.restore()

    def _paint_values(self, painter: QPainter, square: QRect, cell: int) -> None:
        painter.setFont(self.font())
        for row, column in np.ndindex(self._matrix.shape):  # type: ignore[union-attr]
            value = float(self._matrix[row, column])  # type: ignore[index]
            painter.setPen(theme.text_on(colour_of(value)))
            rect = QRect(square.left() + column * cell, square.top() + row * cell, cell, cell)
            painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, ABSENT if isnan(value) else f"{value:.2f}")

    def _paint_cursor(self, painter: QPainter, square: QRect, cell: int) -> None:
        if self._cell is None:
            return
        row, column = self._cell
        rect = QRect(square.left() + column * cell, square.top() + row * cell, cell, cell)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(self.palette().color(QPalette.ColorRole.Base), 4))
        painter.drawRect(rect.adjusted(1, 1, -2, -2))
        painter.setPen(QPen(self.palette().color(QPalette.ColorRole.Text), 2))
        painter.drawRect(rect.adjusted(1, 1, -2, -2))

    def _paint_scale(self, painter: QPainter, square: QRect) -> None:
        height = min(square.height(), 400)
        bar = QRect(square.right() + 1 + theme.MARGIN, square.top(), 12, height)
        painter.drawImage(bar, scale_picture(height))
        painter.setFont(self.font())
        painter.setPen(theme.muted(self.palette()))
        for value in (1.0, 0.5, 0.0):
            middle = bar.top() + round((1.0 - value) * (height - 1))
            top = max(bar.top(), min(middle - 9, bar.bottom() - 18))
            rect = QRect(bar.right() + 6, top, SCALE - 18, 18)
            painter.drawText(rect, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, f"{value:g}")

    # --- pointer and keys

    def _point_at(self, at: QPoint) -> tuple[int, int] | None:
        square, cell, _ = self._geometry()
        if self._matrix is None or not square.contains(at):
            return None
        return (at.y() - square.top()) // cell, (at.x() - square.left()) // cell

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Tell the value under the pointer."""
        self._go(self._point_at(event.position().toPoint()))

    def leaveEvent(self, event: object) -> None:
        """The pointer is on no cell any more."""
        self._go(None)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Arrows go from cell to cell."""
        key = Qt.Key(event.key())
        if key not in STEPS or self._matrix is None:
            super().keyPressEvent(event)
            return
        row, column = self._cell or (0, 0)
        if self._cell is not None:
            row, column = row + STEPS[key][0], column + STEPS[key][1]
        last = len(self._numbers) - 1
        self._go((max(0, min(row, last)), max(0, min(column, last))))

    def _go(self, cell: tuple[int, int] | None) -> None:
        if cell != self._cell:
            self._cell = cell
            self._tell()
            self.update()

    def _tell(self) -> None:
        if self._cell is None or self._matrix is None:
            self.pointed.emit("")
            return
        row, column = self._cell
        first, second = self._numbers[row], self._numbers[column]
        value = float(self._matrix[row, column])
        first_name, second_name = (f" ({name})" if name else "" for name in (self._names[row], self._names[column]))
        which = f"two of cluster {first}{first_name}"
        if first != second:
            which = f"one of cluster {first}{first_name} and one of cluster {second}{second_name}"
        known = "no figure from this method" if isnan(value) else f"{value:.3f}"
        self.pointed.emit(f"{known}: puts {which} into one group")
