"""The small confusion matrices of all workers, eight a row; only those in view are drawn."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QPoint, QRect, Qt, Signal
from PySide6.QtGui import QFont, QImage, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPalette, QPen, QResizeEvent
from PySide6.QtWidgets import QAbstractScrollArea, QToolTip, QWidget

from crowdclust_app.gui import theme
from crowdclust_app.gui.clusters.painting import BAR, flat
from crowdclust_app.gui.workers.matrices import picture_of
from crowdclust_app.services.workers.worker_rows import WorkerRow

A_ROW = 8
GAP = 12
LARGEST = 160
EDGE = 4
KEYS = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1, Qt.Key.Key_Up: -A_ROW, Qt.Key.Key_Down: A_ROW}


class MatrixGrid(QAbstractScrollArea):
    """One small matrix a worker, in the table's order.

    Signals
    -------
    chosen : str
        A worker was chosen by click or key.
    """

    chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("matrix-grid")
        self.setAccessibleName("Confusion matrices of all workers")
        flat(self)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._workers: list[WorkerRow] = []
        self._matrices: NDArray[np.float64] = np.zeros((0, 0, 0))
        self._cluster_order: NDArray[np.int64] = np.zeros(0, dtype=np.int64)
        self._pictures: dict[int, QImage] = {}
        self._current: str | None = None

    # --- content

    def show_matrices(self, matrices: NDArray[np.float64], order: NDArray[np.int64] | None = None) -> None:
        """Show these matrices, each with its clusters in this order when it is drawn.

        Parameters
        ----------
        matrices : ndarray of shape (J, K, K)
        order : ndarray of shape (K,), optional
        """
        if matrices is self._matrices and order is not None and np.array_equal(order, self._cluster_order):
            return
        self._matrices = matrices
        self._cluster_order = np.arange(matrices.shape[1]) if order is None else order
        self._pictures = {}
        self.viewport().update()

    def show_workers(self, workers: list[WorkerRow]) -> None:
        """Show these workers in this order."""
        self._workers = workers
        self._fit()
        self.viewport().update()

    @property
    def names(self) -> list[str]:
        """The workers in the order shown."""
        return [row.name for row in self._workers]

    def set_current(self, name: str | None) -> None:
        """Mark a worker and bring the matrix into view."""
        self._current = name
        if name in self.names:
            rect = self.cell_rect(self.names.index(name))
            bar = self.verticalScrollBar()
            if rect.top() < 0:
                bar.setValue(bar.value() + rect.top() - GAP)
            elif rect.bottom() > self.viewport().height():
                bar.setValue(bar.value() + rect.bottom() - self.viewport().height() + GAP)
        self.viewport().update()

    # --- geometry

    def _side(self) -> int:
        return max(24, min(LARGEST, self._step()[0] - GAP))

    def _step(self) -> tuple[int, int]:
        across = (self.width() - BAR - EDGE + GAP) // A_ROW
        side = max(24, min(LARGEST, across - GAP))
        return across, side + 2 * self.fontMetrics().height() + theme.MARGIN

    def cell_rect(self, place: int) -> QRect:
        """Where a worker's matrix and its two lines of text are in the viewport."""
        across, down = self._step()
        line, column = divmod(place, A_ROW)
        top = line * down - self.verticalScrollBar().value() + theme.TILE_GAP
        return QRect(EDGE + column * across, top, across - GAP, down - theme.STEP)

    def _place_at(self, at: QPoint) -> int | None:
        across, down = self._step()
        y = at.y() + self.verticalScrollBar().value() - theme.TILE_GAP
        column = max(0, at.x() - EDGE) // max(1, across)
        place = y // down * A_ROW + column
        inside = column < A_ROW and 0 <= place < len(self._workers)
        return place if inside else None

    def _fit(self) -> None:
        _, down = self._step()
        lines = -(-len(self._workers) // A_ROW)
        bar = self.verticalScrollBar()
        bar.setPageStep(self.viewport().height())
        bar.setSingleStep(24)
        bar.setRange(0, max(0, lines * down - self.viewport().height()))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Tiles follow the width."""
        super().resizeEvent(event)
        self._fit()

    def scrollContentsBy(self, dx: int, dy: int) -> None:
        """Draw again at the new place."""
        self.viewport().update()

    # --- painting

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the matrices in view."""
        painter = QPainter(self.viewport())
        _, down = self._step()
        first = max(0, self.verticalScrollBar().value() // down) * A_ROW
        last = ((self.verticalScrollBar().value() + self.viewport().height()) // down + 1) * A_ROW
        for place in range(first, min(last, len(self._workers))):
            self._paint_cell(painter, self.cell_rect(place), self._workers[place])

    def _paint_cell(self, painter: QPainter, cell: QRect, worker: WorkerRow) -> None:
        palette = self.palette()
        side = self._side()
        square = QRect(cell.left() + (cell.width() - side) // 2, cell.top(), side, side)
        if worker.matrix is not None and len(self._matrices):
            painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, False)
            painter.drawImage(square, self._picture(worker.matrix))
        else:
            painter.setPen(QPen(theme.line_colour(palette), 1, Qt.PenStyle.DashLine))
            painter.drawRect(square.adjusted(0, 0, -1, -1))
            painter.setPen(theme.muted(palette))
            words = "no HITs" if worker.hits == 0 else "not in\nthis run"
            painter.drawText(square, Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap, words)
        chosen = worker.name == self._current
        if chosen:
            painter.setPen(QPen(palette.color(QPalette.ColorRole.Highlight), 3))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(square.adjusted(-2, -2, 1, 1))
        font = QFont(self.font())
        font.setBold(chosen)
        painter.setFont(font)
        line = QRect(cell.left(), square.bottom() + 4, cell.width(), self.fontMetrics().height())
        painter.setPen(palette.color(QPalette.ColorRole.Text))
        name = painter.fontMetrics().elidedText(worker.name, Qt.TextElideMode.ElideMiddle, cell.width())
        painter.drawText(line, Qt.AlignmentFlag.AlignHCenter, name)
        painter.setFont(self.font())
        painter.setPen(theme.muted(palette))
        hits = f"{worker.hits:,} HIT" if worker.hits == 1 else f"{worker.hits:,} HITs"
        painter.drawText(line.translated(0, line.height()), Qt.AlignmentFlag.AlignHCenter, hits)

    def _picture(self, matrix: int) -> QImage:
        if matrix not in self._pictures:
            self._pictures[matrix] = picture_of(self._matrices[matrix][self._cluster_order][:, self._cluster_order])
        return self._pictures[matrix]

    # --- pointer and keys

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Choose the worker under the pointer."""
        place = self._place_at(event.position().toPoint())
        if event.button() == Qt.MouseButton.LeftButton and place is not None:
            self.chosen.emit(self._workers[place].name)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Arrows go from worker to worker."""
        key = Qt.Key(event.key())
        if not self._workers or key not in (*KEYS, Qt.Key.Key_Home, Qt.Key.Key_End):
            super().keyPressEvent(event)
            return
        names = self.names
        place = names.index(self._current) if self._current in names else -1
        if key == Qt.Key.Key_Home or place < 0:
            place = 0
        elif key == Qt.Key.Key_End:
            place = len(names) - 1
        else:
            moved = place + KEYS[key]
            place = moved if 0 <= moved < len(names) else place
        self.chosen.emit(names[place])

    def viewportEvent(self, event: QEvent) -> bool:
        """Tell a name that does not fit, and the flags."""
        if event.type() == QEvent.Type.ToolTip:
            place = self._place_at(event.pos())  # type: ignore[attr-defined]
            if place is not None:
                worker = self._workers[place]
                words = [worker.name, *worker.flags]
                QToolTip.showText(event.globalPos(), " · ".join(words), self)  # type: ignore[attr-defined]
                return True
        return super().viewportEvent(event)

    def focusInEvent(self, event: object) -> None:
        """Show that the keys go here."""
        self.viewport().update()
