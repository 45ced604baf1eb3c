"""The palette of groups along the bottom: a chip for each group, the last one makes a new group."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from PySide6.QtCore import QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFont, QPainter, QPaintEvent, QPalette, QPen, QPixmap, QResizeEvent
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QWidget

from crowdclust_app.gui import theme
from crowdclust_app.gui.annotate.layout import fitted
from crowdclust_app.gui.annotate.painting import paint_badge

HEIGHT = 72
GAP = 4
NEW = 0
# Widest to narrowest: (width, height, rows, photos in the pile). The widest that holds all chips is taken.
SHAPES = ((148, 72, 1, 3), (112, 72, 1, 2), (72, 72, 1, 1), (60, 34, 2, 0), (36, 34, 2, 0), (34, 22, 3, 0))


def shape_for(count: int, width: int) -> tuple[int, int, int, int]:
    """The largest shape in which this many chips fit into the width."""
    for shape in SHAPES:
        columns = max(1, (width + GAP) // (shape[0] + GAP))
        if count <= columns * shape[2]:
            return shape
    return SHAPES[-1]


class Chip(QAbstractButton):
    """One group: number on its colour, how many photos, a small pile of the first ones."""

    def __init__(self, parent: QWidget, group: int, picture: Callable[[int, int], QPixmap | None]) -> None:
        super().__init__(parent)
        self.number = group
        self.members: tuple[int, ...] = ()
        self.current = False
        self.pile = 0
        self._picture = picture
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setObjectName("new-group" if group == NEW else f"group-chip-{group}")

    def describe(self) -> None:
        """Name for screen readers and tooltip."""
        count = len(self.members)
        photos = "1 photo" if count == 1 else f"{count} photos"
        if self.number == NEW:
            self.setAccessibleName("New group")
            self.setToolTip("New group (+)")
        else:
            self.setAccessibleName(f"Group {self.number}, {photos}" + (", in hand" if self.current else ""))
            key = f" (key {self.number})" if self.number < 10 else ""
            self.setToolTip(f"Group {self.number}: {photos}{key}")

    def sizeHint(self) -> QSize:
        """The widest shape."""
        return QSize(SHAPES[0][0], SHAPES[0][1])

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the chip."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        palette = self.palette()
        ink, base = palette.color(QPalette.ColorRole.WindowText), palette.color(QPalette.ColorRole.Base)
        body = QRectF(self.rect()).adjusted(1.5, 1.5, -1.5, -1.5)
        if self.number == NEW:
            painter.setPen(QPen(theme.line_colour(palette), 1.5, Qt.PenStyle.DashLine))
            painter.setBrush(theme.mix(base, ink, 0.08) if self.underMouse() else Qt.BrushStyle.NoBrush)
        elif self.current:
            painter.setPen(QPen(ink, 3))
            painter.setBrush(base)
        else:
            painter.setPen(QPen(theme.line_colour(palette), 1))
            painter.setBrush(theme.mix(base, ink, 0.08) if self.underMouse() else base)
        painter.drawRoundedRect(body, 6, 6)
        if self.number == NEW:
            self._paint_new(painter)
        else:
            self._paint_group(painter)
        if self.hasFocus():
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(palette.color(QPalette.ColorRole.Highlight), 2, Qt.PenStyle.DotLine))
            painter.drawRoundedRect(body.adjusted(3, 3, -3, -3), 4, 4)

    def _paint_new(self, painter: QPainter) -> None:
        painter.setPen(self.palette().color(QPalette.ColorRole.WindowText))
        wide = self.width() >= 100
        painter.setFont(theme.sized(self, theme.TEXT, bold=not wide))
        painter.drawText(self.rect(), int(Qt.AlignmentFlag.AlignCenter), "+  New group" if wide else "+")

    def _paint_group(self, painter: QPainter) -> None:
        palette = self.palette()
        bold = QFont(self.font())
        bold.setBold(True)
        small = self.height() < 60
        if small:
            inner = self.rect().adjusted(4, 4, -4, -4)
            badge = QRect(inner) if self.width() < 50 else QRect(inner.x(), inner.y(), 26, inner.height())
            paint_badge(painter, badge, self.number, bold)
            if self.width() >= 50:
                painter.setPen(palette.color(QPalette.ColorRole.WindowText))
                rest = QRect(badge.right() + 2, inner.y(), inner.right() - badge.right() - 2, inner.height())
                painter.drawText(rest, int(Qt.AlignmentFlag.AlignCenter), str(len(self.members)))
            return
        paint_badge(painter, QRect(8, 8, 30, 28), self.number, bold)
        painter.setFont(self.font())
        painter.setPen(theme.muted(palette))
        below = QRect(6, 40, 34, 24)
        painter.drawText(below, int(Qt.AlignmentFlag.AlignCenter), str(len(self.members)))
        self._paint_pile(painter)

    def _paint_pile(self, painter: QPainter) -> None:
        """The first photos, each a little beside the one before."""
        room = QRect(46, 8, self.width() - 54, self.height() - 16)
        if room.width() < 16:
            return
        shown = self.members[: self.pile]
        size = min(room.height(), room.width())
        step = 0 if len(shown) < 2 else min(size + 4, (room.width() - size) // (len(shown) - 1))
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        for k, position in reversed(list(enumerate(shown))):
            pixmap = self._picture(position, size)
            cell = QRect(room.x() + k * step, room.y(), size, room.height())
            if pixmap is None:
                painter.fillRect(cell, self.palette().color(QPalette.ColorRole.Midlight))
                continue
            place = fitted(cell, pixmap.width(), pixmap.height())
            painter.fillRect(place.adjusted(-1, -1, 1, 1), self.palette().color(QPalette.ColorRole.Base))
            painter.drawPixmap(place, pixmap)


class ChipBar(QWidget):
    """All chips; the height never changes, the chips get smaller as they become many.

    Signals
    -------
    chosen : int
        A group's chip was clicked; `NEW` for the last one.
    """

    chosen = Signal(int)

    def __init__(self, picture: Callable[[int, int], QPixmap | None]) -> None:
        super().__init__()
        self.setObjectName("group-palette")
        self.setAccessibleName("Groups")
        self.setFixedHeight(HEIGHT)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._picture = picture
        # the widget after which Tab comes to the chips
        self.tab_after: QWidget | None = None
        self._chips: dict[int, Chip] = {}
        self._order: tuple[int, ...] = ()

    def show_groups(self, groups: Sequence[int], members: Callable[[int], tuple[int, ...]], current: int) -> None:
        """Show a chip for each of these groups and one for a new group."""
        reordered, self._order = self._order != (*groups, NEW), (*groups, NEW)
        for group in set(self._chips) - set(self._order):
            # Hidden, not deleted: it may be the one whose click is being handled.
            self._chips[group].hide()
        for group in self._order:
            chip = self._chips.get(group)
            if chip is None:
                chip = self._chips[group] = Chip(self, group, self._picture)
                chip.clicked.connect(lambda _checked=False, group=group: self.chosen.emit(group))
            chip.members = () if group == NEW else members(group)
            chip.current = group == current
            chip.describe()
            chip.show()
            chip.update()
        if reordered:
            self._place()
            # chips are made as they are needed, which would put them last in the tab order
            chain = [self.tab_after, *(self._chips[group] for group in self._order)]
            for before, after in pairwise(widget for widget in chain if widget is not None):
                QWidget.setTabOrder(before, after)

    def chip(self, group: int) -> Chip | None:
        """The chip of a group, if it is shown."""
        return self._chips.get(group) if group in self._order else None

    def resizeEvent(self, _event: QResizeEvent) -> None:
        """Place the chips again."""
        self._place()

    def _place(self) -> None:
        width, height, rows, pile = shape_for(len(self._order), self.width())
        columns = max(1, (self.width() + GAP) // (width + GAP))
        between = 0 if rows == 1 else (HEIGHT - rows * height) // (rows - 1)
        for k, group in enumerate(self._order):
            row, column = divmod(k, columns)
            chip = self._chips[group]
            chip.pile = pile
            chip.setGeometry(column * (width + GAP), row * (height + between), width, height)
