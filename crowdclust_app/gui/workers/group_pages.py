"""Workers who share a criterion: a card a group with its name, its members and its partition in photos."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFont, QPainter, QPaintEvent, QPalette, QPen
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QScrollArea,
    QToolTip,
    QVBoxLayout,
    QWidget,
)

from crowdclust_app.gui import theme
from crowdclust_app.gui.clusters.album import Album
from crowdclust_app.gui.clusters.painting import paint_badge, paint_photo
from crowdclust_app.gui.wording import capitalised, count_of
from crowdclust_app.gui.workers.table_setup import bare
from crowdclust_app.services.clusters.categories import Categories
from crowdclust_app.services.workers.criteria import KIND_WORDS, Blocks, Criteria, WorkerGroup, block_words

PHOTO, BADGE, GAP, BETWEEN = 44, 24, 4, 20
# Members who have a button of their own; more are counted.
LISTED = 12


class BlocksStrip(QWidget):
    """A partition of the clusters: each block one frame with a photo and a number a cluster."""

    def __init__(self, album: Album, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._album = album
        self._blocks: Blocks = ()
        self._title: Callable[[int], str] = str
        self._places: list[tuple[QRect, int]] = []
        self._frames: list[QRect] = []
        self._height = 0
        album.arrived.connect(self.update)

    def show_blocks(self, blocks: Blocks, title: Callable[[int], str] = str) -> None:
        """Show these; `title` is how a cluster is written."""
        self._blocks, self._title = blocks, title
        self.setAccessibleName(block_words(blocks))
        self._lay_out()
        self.update()

    def _lay_out(self) -> None:
        self._places, self._frames = [], []
        step = PHOTO + GAP
        room = max(step, self.width() - 2 * GAP)
        left, top, tall = GAP, GAP, PHOTO + BADGE + 2 * GAP
        for block in self._blocks:
            across = min(len(block), max(1, room // step))
            lines = -(-len(block) // across)
            width, height = across * step + GAP, lines * (PHOTO + BADGE) + 2 * GAP
            if left > GAP and left + width > self.width():
                left, top = GAP, top + tall + GAP
                tall = height
            tall = max(tall, height)
            self._frames.append(QRect(left, top, width, height))
            for place, cluster in enumerate(block):
                row, column = divmod(place, across)
                at = QRect(left + GAP + column * step, top + GAP + row * (PHOTO + BADGE), PHOTO, PHOTO + BADGE - GAP)
                self._places.append((at, cluster))
            left += width + BETWEEN
        self._height = top + tall + GAP
        if self.minimumHeight() != self._height:
            self.setMinimumHeight(self._height)

    def resizeEvent(self, event: object) -> None:
        """Blocks follow the width."""
        self._lay_out()

    def sizeHint(self) -> QSize:
        """As high as the blocks are."""
        return QSize(300, max(self._height, PHOTO + BADGE))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw frames, photos and numbers."""
        painter = QPainter(self)
        painter.setPen(QPen(theme.line_colour(self.palette()), 1))
        painter.setBrush(self.palette().color(QPalette.ColorRole.Base))
        for frame in self._frames:
            painter.drawRect(frame)
        bold = QFont(self.font())
        bold.setBold(True)
        view = self._album.view
        first = {row.number: row.items for row in view.clusters} if view is not None else {}
        for rect, cluster in self._places:
            if not rect.intersects(event.rect()):
                continue
            tile = QRect(rect.left(), rect.top(), PHOTO, PHOTO)
            items = first.get(cluster)
            item = int(items[0]) if items is not None and len(items) else None
            pixmap = self._album.pixmap(item, PHOTO, self.devicePixelRatioF()) if item is not None else None
            paint_photo(painter, tile, pixmap, self.palette())
            paint_badge(painter, QRectF(tile.left(), tile.bottom() + 2, PHOTO, 18), cluster, bold)

    def event(self, event: QEvent) -> bool:
        """Tell a cluster's name."""
        if event.type() == QEvent.Type.ToolTip:
            at = event.pos()  # type: ignore[attr-defined]
            cluster = next((cluster for rect, cluster in self._places if rect.contains(at)), None)
            words = f"Cluster {self._title(cluster)}" if cluster else ""
            QToolTip.showText(event.globalPos(), words, self)  # type: ignore[attr-defined]
            return True
        return super().event(event)


class GroupCard(QFrame):
    """One group.

    Signals
    -------
    named : (tuple of str, str)
        Its members and what they are to be called.
    chosen : str
        A member.
    """

    named = Signal(object, str)
    chosen = Signal(str)

    def __init__(
        self, album: Album, group: WorkerGroup, like: WorkerGroup | None, categories: Categories | None
    ) -> None:
        super().__init__()
        self._group = group
        self.setObjectName(f"group-card-{group.number}")
        self.field = QLineEdit(group.name)
        self.field.setObjectName(f"group-name-{group.number}")
        self.field.setAccessibleName(f"Name of group {group.number}")
        self.field.setPlaceholderText(f"Group {group.number}: type what they sort by")
        self.field.setMaxLength(80)
        self.field.setMaximumWidth(360)
        self.field.editingFinished.connect(self._name)
        head = QHBoxLayout()
        head.setSpacing(theme.STEP)
        head.addWidget(self.field, 1)
        count = QLabel(count_of(len(group.members), "worker"))
        count.setProperty("rank", "second")
        head.addWidget(count)
        head.addStretch(1)
        title = _titles(categories)
        words = block_words(group.blocks, title)
        if like is not None:
            words = f"{words}: like {like.title}, but coarser"
        told = QLabel(capitalised(words) + ".")
        told.setObjectName(f"group-words-{group.number}")
        told.setWordWrap(True)
        strip = BlocksStrip(album)
        strip.show_blocks(group.blocks, title)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, theme.MARGIN)
        layout.setSpacing(theme.STEP)
        layout.addLayout(head)
        layout.addWidget(told)
        layout.addWidget(strip)
        layout.addWidget(member_line(group.members, self.chosen.emit))

    def _name(self) -> None:
        text = " ".join(self.field.text().split())
        if text != self._group.name:
            self.named.emit(self._group.members, text)


class GroupsPage(QScrollArea):
    """All groups, and who is in none.

    Signals
    -------
    named : (tuple of str, str)
        Members of a group and what it is to be called.
    chosen : str
        A worker.
    """

    named = Signal(object, str)
    chosen = Signal(str)

    def __init__(self, album: Album, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("groups-page")
        self.setAccessibleName("Workers who share a criterion")
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        bare(self)
        self._album = album
        self._shown: tuple[object, ...] = ()
        self.cards: list[GroupCard] = []

    def show_criteria(self, criteria: Criteria | None, categories: Categories | None, why_not: str) -> None:
        """Show these; without any, say why."""
        view = self._album.view
        wanted = (criteria, categories, why_not, view)
        if len(self._shown) == len(wanted) and all(a is b for a, b in zip(wanted, self._shown, strict=True)):
            return
        if any(card.field.hasFocus() and card.field.isModified() for card in self.cards):
            return  # somebody is typing a name
        self._shown = wanted
        inside = QWidget()
        inside.setObjectName("inside")
        layout = QVBoxLayout(inside)
        layout.setContentsMargins(0, 0, theme.MARGIN, 0)
        layout.setSpacing(theme.STEP)
        summary = QLabel(criteria.sentence if criteria is not None else why_not)
        summary.setObjectName("groups-summary")
        summary.setProperty("heading", "part")
        summary.setWordWrap(True)
        layout.addWidget(summary)
        self.cards = []
        if criteria is not None:
            for group in criteria.groups:
                like = criteria.groups[group.like - 1] if group.like else None
                card = GroupCard(self._album, group, like, categories)
                card.named.connect(self.named)
                card.chosen.connect(self.chosen)
                self.cards.append(card)
                layout.addWidget(card)
            self._list_others(layout, criteria, categories)
        layout.addStretch(1)
        at = self.verticalScrollBar().value()
        self.setWidget(inside)
        self.verticalScrollBar().setValue(at)

    def _list_others(self, layout: QVBoxLayout, criteria: Criteria, categories: Categories | None) -> None:
        others = criteria.others()
        if not others:
            return
        heading = QLabel("In no group")
        heading.setProperty("heading", "part")
        layout.addWidget(heading)
        for kind, workers in others:
            words = QLabel(f"{capitalised(KIND_WORDS[kind])}:")
            words.setObjectName(f"kind-{kind.replace(' ', '-')}")
            words.setProperty("rank", "second")
            layout.addWidget(words)
            layout.addWidget(member_line(workers, self.chosen.emit))
            alone = [worker for worker in workers if worker in criteria.own]
            for worker in alone[:LISTED]:
                blocks = criteria.own[worker]
                layout.addWidget(QLabel(f"{worker} {block_words(blocks, _titles(categories))}."))


def member_line(workers: tuple[str, ...], choose: Callable[[str], object]) -> QWidget:
    """Workers as buttons in one or more lines, the rest counted."""
    line = _Flow()
    for worker in workers[:LISTED]:
        button = QPushButton(_short(worker).replace("&", "&&"))
        button.setProperty("rank", "plain")
        button.setToolTip(worker)
        button.setAccessibleName(f"Show {worker}")
        button.clicked.connect(lambda _=False, worker=worker: choose(worker))
        line.add(button)
    more = len(workers) - LISTED
    if more > 0:
        rest = QLabel(f"and {more:,} more; sort the table by Group to see them")
        rest.setProperty("rank", "second")
        rest.setMinimumHeight(button.sizeHint().height())
        line.add(rest)
    return line


class _Flow(QWidget):
    """Widgets side by side, in as many lines as they need."""

    def __init__(self) -> None:
        super().__init__()
        self._widgets: list[QWidget] = []

    def add(self, widget: QWidget) -> None:
        """Add one at the end."""
        widget.setParent(self)
        self._widgets.append(widget)
        self._lay_out()

    def _lay_out(self) -> None:
        left = top = tall = 0
        for widget in self._widgets:
            size = widget.sizeHint()
            if left and left + size.width() > self.width():
                left, top = 0, top + tall + GAP
            widget.setGeometry(left, top, size.width(), size.height())
            left, tall = left + size.width() + GAP, max(tall, size.height())
        if self.minimumHeight() != top + tall:
            self.setMinimumHeight(top + tall)

    def resizeEvent(self, event: object) -> None:
        """Lines follow the width."""
        self._lay_out()


def _short(name: str, most: int = 24) -> str:
    return name if len(name) <= most else f"{name[: most - 1]}…"


def _titles(categories: Categories | None) -> Callable[[int], str]:
    def title(cluster: int) -> str:
        name = categories.name(cluster) if categories is not None else ""
        return f"{cluster} {name}" if name else str(cluster)

    return title
