"""One HIT as a worker sorted it: the groups with their photos, those hatched that are elsewhere than expected."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPoint, QRect, QRectF, Qt
from PySide6.QtGui import QFont, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractScrollArea, QToolTip, QWidget

from crowdclust_app.gui import theme
from crowdclust_app.gui.clusters.album import Album
from crowdclust_app.gui.clusters.painting import BAR, flat, paint_badge, paint_doubt, paint_photo
from crowdclust_app.gui.wording import count_of

SIDE, HEAD, BADGE = 64, 22, 22


class SortedView(QAbstractScrollArea):
    """The groups of one response, one below the other."""

    def __init__(self, album: Album, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("sorted-hit")
        self.setAccessibleName("The chosen HIT as this worker sorted it")
        flat(self)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setMinimumHeight(120)
        self._album = album
        self._groups: list[list[int]] = []
        self._strange: frozenset[int] = frozenset()
        self._tiles: list[tuple[QRect, int]] = []
        self._heads: list[tuple[QRect, str]] = []
        album.arrived.connect(self.viewport().update)

    def show_groups(self, groups: list[list[int]], strange: frozenset[int]) -> None:
        """Show these items of the run, group by group; `strange` are elsewhere than expected."""
        self._groups, self._strange = groups, strange
        self.verticalScrollBar().setValue(0)
        self._fit()
        self.viewport().update()

    @property
    def groups(self) -> list[list[int]]:
        """Items of each group."""
        return self._groups

    def _fit(self) -> None:
        across = max(1, (self.width() - BAR) // (SIDE + theme.TILE_GAP))
        self._tiles, self._heads = [], []
        top = 0
        for number, items in enumerate(self._groups, start=1):
            self._heads.append((QRect(0, top, self.width(), HEAD), f"Group {number}, {count_of(len(items), 'photo')}"))
            top += HEAD
            for place, item in enumerate(items):
                row, column = divmod(place, across)
                at = QRect(column * (SIDE + theme.TILE_GAP), top + row * (SIDE + theme.TILE_GAP), SIDE, SIDE)
                self._tiles.append((at, item))
            top += -(-len(items) // across) * (SIDE + theme.TILE_GAP) + theme.STEP
        bar = self.verticalScrollBar()
        bar.setPageStep(self.viewport().height())
        bar.setSingleStep(24)
        bar.setRange(0, max(0, top - self.viewport().height()))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Tiles follow the width."""
        super().resizeEvent(event)
        self._fit()

    def scrollContentsBy(self, _dx: int, _dy: int) -> None:
        """Draw again at the new place."""
        self.viewport().update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw what is in view."""
        painter = QPainter(self.viewport())
        up = -self.verticalScrollBar().value()
        bold = QFont(self.font())
        bold.setBold(True)
        for rect, words in self._heads:
            painter.setPen(theme.muted(self.palette()))
            painter.drawText(rect.translated(0, up), Qt.AlignmentFlag.AlignVCenter, words)
        for rect, item in self._tiles:
            at = rect.translated(0, up)
            if not at.intersects(event.rect()):
                continue
            pixmap = self._album.pixmap(item, SIDE, self.devicePixelRatioF())
            paint_photo(painter, at, pixmap, self.palette(), bool(self._album.failure(item)))
            view = self._album.view
            cluster = int(view.labels[item]) if view is not None and item < len(view.labels) else 0
            if cluster:
                paint_badge(painter, QRectF(at.left() + 3, at.top() + 3, BADGE, 18), cluster, bold)
            if item in self._strange:
                paint_doubt(painter, at)

    def _item_at(self, at: QPoint) -> int | None:
        up = self.verticalScrollBar().value()
        return next((item for rect, item in self._tiles if rect.contains(at + QPoint(0, up))), None)

    def viewportEvent(self, event: QEvent) -> bool:
        """Tell a photo's name and cluster."""
        if event.type() == QEvent.Type.ToolTip:
            item = self._item_at(event.pos())  # type: ignore[attr-defined]
            words = self._album.line(item) if item is not None else ""
            if item in self._strange:
                words += "; elsewhere than expected of this worker"
            QToolTip.showText(event.globalPos(), words, self)  # type: ignore[attr-defined]
            return True
        return super().viewportEvent(event)
