"""Where the tiles of a set lie: as large as they can be without a scroll bar."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QRect, QRectF

GAP = 4
FRAME = 4
# A few photos are not blown up over the whole window.
TALLEST = 440
FLATTEST, STEEPEST = 2.0, 0.6


@dataclass(frozen=True)
class GridLayout:
    """Cells of one size in rows, filled in reading order.

    Parameters
    ----------
    count
        Number of tiles.
    columns, rows
        Shape of the grid.
    left, top, cell_width, cell_height
        Whole pixels, so that frames are sharp.
    """

    count: int
    columns: int
    rows: int
    left: int
    top: int
    cell_width: int
    cell_height: int

    def cell(self, position: int) -> QRect:
        """Where a tile lies, its frame included."""
        row, column = divmod(position, self.columns)
        return QRect(
            self.left + column * (self.cell_width + GAP),
            self.top + row * (self.cell_height + GAP),
            self.cell_width,
            self.cell_height,
        )

    def at(self, x: float, y: float) -> int | None:
        """The tile at a point; None in the gaps and outside."""
        column, from_left = divmod(x - self.left, self.cell_width + GAP)
        row, from_top = divmod(y - self.top, self.cell_height + GAP)
        if not (0 <= column < self.columns and 0 <= row < self.rows):
            return None
        if from_left >= self.cell_width or from_top >= self.cell_height:
            return None
        position = int(row) * self.columns + int(column)
        return position if position < self.count else None

    def within(self, band: QRectF) -> tuple[int, ...]:
        """The tiles that a rubber band touches."""
        # a band without height or width is a line, and a line touches tiles too
        thick = band.normalized().adjusted(-0.5, -0.5, 0.5, 0.5)
        return tuple(p for p in range(self.count) if thick.intersects(QRectF(self.cell(p))))

    def between(self, x0: float, y0: float, x1: float, y1: float) -> Iterator[int]:
        """The tiles along a stroke of the pointer: a fast drag jumps over none of them."""
        step = max(4.0, min(self.cell_width, self.cell_height) / 4)
        steps = max(1, math.ceil(math.hypot(x1 - x0, y1 - y0) / step))
        last = None
        for k in range(steps + 1):
            found = self.at(x0 + (x1 - x0) * k / steps, y0 + (y1 - y0) * k / steps)
            if found is not None and found != last:
                last = found
                yield found

    def neighbour(self, position: int, dx: int, dy: int) -> int:
        """Where an arrow key leads; it stays inside the grid."""
        if dx:
            return min(self.count - 1, max(0, position + dx))
        moved = position + dy * self.columns
        return moved if 0 <= moved < self.count else position


def typical_aspect(sizes: Sequence[tuple[int | None, int | None]]) -> float:
    """Width over height that most photos of a set have, within bounds; 4 : 3 when nothing is known."""
    known = sorted(width / height for width, height in sizes if width and height)
    if not known:
        return 4 / 3
    return min(FLATTEST, max(STEEPEST, known[len(known) // 2]))


def lay_out(count: int, width: int, height: int, aspect: float) -> GridLayout:
    """The grid whose photos are largest.

    Parameters
    ----------
    count
        Number of tiles, at least 1.
    width, height
        Room in logical pixels.
    aspect
        Width over height of a typical photo.
    """
    best: tuple[float, int, int] | None = None
    for columns in range(1, count + 1):
        rows = math.ceil(count / columns)
        room_x = (width - GAP * (columns - 1)) / columns - 2 * FRAME
        room_y = (height - GAP * (rows - 1)) / rows - 2 * FRAME
        tall = min(room_y, room_x / aspect, TALLEST)
        if best is None or tall > best[0] + 0.5:
            best = (tall, columns, rows)
    assert best is not None
    tall, columns, rows = best
    cell_height = max(16, math.floor(tall) + 2 * FRAME)
    cell_width = max(16, math.floor(tall * aspect) + 2 * FRAME)
    used_x = columns * cell_width + (columns - 1) * GAP
    used_y = rows * cell_height + (rows - 1) * GAP
    return GridLayout(
        count, columns, rows, max(0, (width - used_x) // 2), max(0, (height - used_y) // 2), cell_width, cell_height
    )


def fitted(cell: QRect, width: float, height: float) -> QRect:
    """Where a picture of this size lies in its cell: whole, centred, inside the frame."""
    room_x, room_y = cell.width() - 2 * FRAME, cell.height() - 2 * FRAME
    scale = min(room_x / max(1.0, width), room_y / max(1.0, height))
    w, h = max(1, round(width * scale)), max(1, round(height * scale))
    return QRect(cell.x() + (cell.width() - w) // 2, cell.y() + (cell.height() - h) // 2, w, h)
