"""What is known of one item: its photo, how sure its cluster is, and who grouped it how."""

from __future__ import annotations

from PySide6.QtCore import QAbstractListModel, QModelIndex, QPersistentModelIndex, QRect, QRectF, QSize, QSizeF, Qt
from PySide6.QtGui import QFont, QPainter, QPaintEvent, QPalette
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QLabel,
    QListView,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from crowdclust_app.gui import theme
from crowdclust_app.gui.clusters.album import Album, people_probability
from crowdclust_app.gui.clusters.painting import fitted, flat, paint_badge, paint_photo
from crowdclust_app.gui.clusters.selection import ItemSelection
from crowdclust_app.gui.labels import ElidedLabel
from crowdclust_app.gui.wording import count_of
from crowdclust_app.services.clusters.item_facts import ItemFacts, ItemResponse

PHOTO = 124
THUMB = 32
LINE = 24
AnyIndex = QModelIndex | QPersistentModelIndex


def turn_in_words(turn: ItemResponse) -> str:
    """How a worker's grouping of an item differs from the clusters, in full."""
    parts = []
    if turn.from_other_clusters:
        parts.append(f"with {turn.from_other_clusters} of other clusters")
    if turn.left_out:
        parts.append(f"without {turn.left_out} of its own")
    return ", ".join(parts) or "as the clusters say"


def turn_in_short(turn: ItemResponse) -> str:
    """How many of the item's pairs differ from the clusters."""
    differing = turn.from_other_clusters + turn.left_out
    return f"{differing} of {turn.shown - 1} pairs differ" if differing else "as the clusters"


class ItemResponsesModel(QAbstractListModel):
    """The HITs an item was in, the ones that differ most first."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._turns: tuple[ItemResponse, ...] = ()

    def show(self, turns: tuple[ItemResponse, ...]) -> None:
        """Show these turns."""
        self.beginResetModel()
        self._turns = turns
        self.endResetModel()

    def turn(self, row: int) -> ItemResponse:
        """The turn in a row."""
        return self._turns[row]

    def rowCount(self, parent: AnyIndex = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        """Number of turns."""
        return 0 if parent.isValid() else len(self._turns)

    def data(self, index: AnyIndex, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """The turn in words."""
        roles = (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole, Qt.ItemDataRole.ToolTipRole)
        if index.isValid() and role in roles:
            turn = self._turns[index.row()]
            together = count_of(len(turn.together), "other photo")
            return f"{turn.worker}, {turn.hit}: grouped with {together} of {turn.shown - 1}, {turn_in_words(turn)}"
        return None


class ItemResponseDelegate(QStyledItemDelegate):
    """Paints who, where, how it differs, and the photos it was put together with."""

    def __init__(self, album: Album, turns: ItemResponsesModel, parent: QWidget) -> None:
        super().__init__(parent)
        self._album = album
        self._turns = turns

    def sizeHint(self, option: QStyleOptionViewItem, index: AnyIndex) -> QSize:
        """Two lines: words, photos."""
        return QSize(120, LINE + THUMB + 12)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: AnyIndex) -> None:
        """Draw one turn."""
        turn = self._turns.turn(index.row())
        rect = option.rect.adjusted(0, 4, -theme.STEP, 0)
        line = QRect(rect.left(), rect.top(), rect.width(), LINE)
        palette = option.palette
        bold = QFont(option.font)
        bold.setBold(turn.differs)
        painter.setFont(option.font)
        painter.setPen(theme.muted(palette))
        words = turn_in_short(turn)
        painter.drawText(line, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, words)
        painter.setFont(bold)
        painter.setPen(palette.color(QPalette.ColorRole.Text))
        room = line.width() - option.fontMetrics.horizontalAdvance(words) - theme.STEP
        name = painter.fontMetrics().elidedText(f"{turn.worker} · {turn.hit}", Qt.TextElideMode.ElideRight, room)
        painter.drawText(line, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, name)
        self._paint_photos(painter, QRect(rect.left(), rect.top() + LINE, rect.width(), THUMB), turn, option)

    def _paint_photos(self, painter: QPainter, line: QRect, turn: ItemResponse, option: QStyleOptionViewItem) -> None:
        view, widget = self._album.view, option.widget
        if view is None or widget is None:
            return
        painter.setFont(option.font)
        if not len(turn.together):
            painter.setPen(theme.muted(option.palette))
            painter.drawText(line, Qt.AlignmentFlag.AlignVCenter, f"alone among {turn.shown}")
            return
        step = THUMB + theme.TILE_GAP
        fits = max(1, (line.width() - 40) // step)
        for place, item in enumerate(turn.together[:fits].tolist()):
            tile = QRect(line.left() + place * step, line.top(), THUMB, THUMB - 3)
            paint_photo(painter, tile, self._album.pixmap(item, THUMB, widget.devicePixelRatioF()), option.palette)
            if view.labels[item] > 0:
                # colour alone must not carry the cluster: the words above name it too
                stripe = QRect(tile.left(), tile.bottom() + 1, THUMB, 3)
                painter.fillRect(stripe, theme.group_colour(int(view.labels[item])))
        if len(turn.together) > fits:
            painter.setPen(theme.muted(option.palette))
            rest = QRect(line.left() + fits * step, line.top(), 40, THUMB)
            painter.drawText(rest, Qt.AlignmentFlag.AlignVCenter, f"+{len(turn.together) - fits}")


class Portrait(QWidget):
    """The photo of the item."""

    def __init__(self, album: Album, parent: QWidget) -> None:
        super().__init__(parent)
        self.setFixedSize(PHOTO, PHOTO)
        self._album = album
        self.item: int | None = None
        album.arrived.connect(self.update)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the photo, or why there is none."""
        if self.item is None or self._album.view is None:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        pixmap = self._album.pixmap(self.item, PHOTO, self.devicePixelRatioF())
        if pixmap is not None:
            painter.drawPixmap(fitted(QSizeF(pixmap.size()), QRectF(self.rect())), pixmap, QRectF(pixmap.rect()))
        else:
            paint_photo(painter, self.rect(), None, self.palette())
            painter.setPen(theme.muted(self.palette()))
            painter.drawText(
                self.rect(), Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap, self._album.failure(self.item)
            )


class BadgeLabel(QWidget):
    """A cluster's number on its colour as a widget."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setFixedSize(30, 22)
        self.number = 0

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the badge."""
        if self.number > 0:
            bold = QFont(self.font())
            bold.setBold(True)
            paint_badge(QPainter(self), QRectF(self.rect()), self.number, bold)


class Inspector(QWidget):
    """What is known of the current item of the selection."""

    def __init__(self, album: Album, selection: ItemSelection, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("inspector")
        self._album = album
        self._selection = selection
        self.facts: ItemFacts | None = None
        self._photo = Portrait(album, self)
        self._badge = BadgeLabel(self)
        self._labels: dict[str, QLabel] = {"name": ElidedLabel(self, Qt.TextElideMode.ElideLeft)}
        self._labels |= {name: QLabel(self) for name in ("sure", "category", "others", "entropy", "who")}
        for name, label in self._labels.items():
            label.setObjectName(f"inspector-{name}")
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            label.setMinimumWidth(40)
        self._labels["name"].setProperty("heading", "part")
        for name in ("others", "entropy"):
            self._labels[name].setProperty("rank", "second")
            self._labels[name].setWordWrap(True)
        for name in ("who", "category"):
            self._labels[name].setWordWrap(True)
            self._labels[name].setTextFormat(Qt.TextFormat.PlainText)
        self._turns = ItemResponsesModel(self)
        self._list = QListView(self)
        self._list.setObjectName("inspector-turns")
        self._list.setAccessibleName("HITs this photo was in")
        flat(self._list)
        self._list.setModel(self._turns)
        self._list.setItemDelegate(ItemResponseDelegate(album, self._turns, self._list))
        self._list.setUniformItemSizes(True)
        self._list.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        self._list.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self._list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._empty = QLabel("Choose a photo in the plot or in the gallery to see who grouped it how.", self)
        self._empty.setObjectName("inspector-empty")
        self._empty.setProperty("rank", "second")
        self._empty.setWordWrap(True)
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._lay_out()
        album.arrived.connect(self._list.viewport().update)
        selection.changed.connect(self.refresh)
        self.refresh()

    def _lay_out(self) -> None:
        sure = QHBoxLayout()
        sure.setSpacing(theme.STEP)
        sure.addWidget(self._badge)
        sure.addWidget(self._labels["sure"], 1)
        words = QVBoxLayout()
        words.setSpacing(theme.TILE_GAP)
        words.addWidget(self._labels["name"])
        words.addLayout(sure)
        for name in ("category", "others", "entropy", "who"):
            words.addWidget(self._labels[name])
        words.addStretch(1)
        upper = QHBoxLayout()
        upper.setSpacing(theme.MARGIN)
        upper.addWidget(self._photo, 0, Qt.AlignmentFlag.AlignTop)
        upper.addLayout(words, 1)
        self._content = QWidget(self)
        content = QVBoxLayout(self._content)
        content.setContentsMargins(0, 0, 0, 0)
        content.setSpacing(theme.STEP)
        content.addLayout(upper)
        content.addWidget(self._list, 1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, theme.STEP, 0, 0)
        layout.addWidget(self._content, 1)
        layout.addWidget(self._empty, 1)

    def refresh(self) -> None:
        """Tell about the current item."""
        view, current = self._album.view, self._selection.current
        known = view is not None and current is not None
        self._content.setVisible(known)
        self._empty.setVisible(not known)
        if view is None or current is None:
            self.facts = None
            return
        facts = self.facts = view.facts(current)
        self._photo.item = current
        self._photo.update()
        self._badge.number = facts.cluster
        self._badge.setVisible(facts.cluster > 0)
        self._badge.update()
        self._labels["name"].setText(facts.name)
        self._labels["sure"].setText(_sure(facts))
        category = self._album.category(current)
        self._labels["category"].setText(category)
        self._labels["category"].setVisible(bool(category))
        self._labels["others"].setText(_others(facts))
        self._labels["entropy"].setText(_entropy(facts))
        self._labels["who"].setText(_who(facts))
        self._turns.show(facts.turns)
        self._list.scrollToTop()


def _sure(facts: ItemFacts) -> str:
    if facts.cluster == 0:
        return "in no cluster: nobody has sorted it yet"
    return f"probability {people_probability(facts.probability)}"


def _entropy(facts: ItemFacts) -> str:
    return f"entropy {facts.entropy_bits:.2f} bits" if facts.cluster else ""


def _others(facts: ItemFacts) -> str:
    if facts.cluster == 0:
        return ""
    others = [f"{k} ({people_probability(p)})" for k, p in facts.alternatives if k != facts.cluster]
    return f"else cluster {', '.join(others[:3])}" if others else "no other cluster above 0.01"


def _who(facts: ItemFacts) -> str:
    """Name the workers whose groups differ, the most differing first."""
    names = list(dict.fromkeys(turn.worker for turn in facts.turns if turn.differs))
    shown = f"Shown {count_of(facts.times_shown, 'time')}"
    if not names:
        return f"{shown}, always grouped as the clusters say." if facts.turns else ""
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return f"{shown}, grouped differently by {', '.join(names[:3])}{more}."
