"""Every command with its key: what Ctrl+K lists and F1 shows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QRect, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence, QPainter, QPaintEvent, QPalette, QShortcut
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QLabel,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QScrollArea,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from crowdclust_app.gui import theme
from crowdclust_app.gui.screen import Screen

if TYPE_CHECKING:
    from PySide6.QtCore import QModelIndex, QPersistentModelIndex


@dataclass(frozen=True)
class Command:
    """Something the user can do.

    Parameters
    ----------
    title
        What it does, as a verb.
    shortcut
        Its key as text, or "".
    call
        Does it.
    owner
        The screen it belongs to; None: the window.
    """

    title: str
    shortcut: str
    call: Callable[[], Any]
    owner: Screen | None = None

    @property
    def key_text(self) -> str:
        """The key as this system writes it."""
        return QKeySequence(self.shortcut).toString(QKeySequence.SequenceFormat.NativeText) or self.shortcut


class Commands(QObject):
    """All commands of the window and its screens."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self._all: list[Command] = []

    def add(
        self, title: str, shortcut: str, call: Callable[[], Any], owner: Screen | None = None, bind: bool = True
    ) -> None:
        """List a command and (with `bind`) make its key work."""
        self._all.append(Command(title, shortcut, call, owner))
        if bind and shortcut:
            made = QShortcut(QKeySequence(shortcut), owner or self._window)
            made.setContext(
                Qt.ShortcutContext.WidgetWithChildrenShortcut if owner else Qt.ShortcutContext.WindowShortcut
            )
            made.activated.connect(call)

    def of(self, screen: Screen | None) -> tuple[Command, ...]:
        """Commands that can be given while this screen is shown, the screen's own first."""
        own = [command for command in self._all if command.owner is screen and screen is not None]
        return (*own, *(command for command in self._all if command.owner is None))


class Overlay(QWidget):
    """Dims the window and shows one panel over it; Esc or a click beside the panel closes it.

    Signals
    -------
    closed
        It has been closed.
    """

    closed = Signal()

    def __init__(self, window: QWidget, width: int) -> None:
        super().__init__(window)
        self._window = window
        self._wanted_width = width
        self._focus_before: QWidget | None = None
        self.panel = QFrame(self)
        self.panel.setProperty("card", True)
        self.hide()

    def open(self, focus: QWidget) -> None:
        """Show it over the whole window, with the keyboard at this widget."""
        self._focus_before = self.window().focusWidget()
        self.setGeometry(self._window.rect())
        self.place()
        self.show()
        self.raise_()
        focus.setFocus(Qt.FocusReason.PopupFocusReason)

    def close_panel(self) -> None:
        """Close it and give the keyboard back."""
        if self.isHidden():
            return
        self.hide()
        if self._focus_before is not None and self._focus_before.isVisible():
            self._focus_before.setFocus(Qt.FocusReason.PopupFocusReason)
        self.closed.emit()

    def place(self) -> None:
        """Put the panel into the middle, a little above."""
        width = min(self._wanted_width, self.width() - 64)
        height = min(self.panel.sizeHint().height(), self.height() - 96)
        self.panel.setGeometry((self.width() - width) // 2, max(48, (self.height() - height) // 4), width, height)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Dim what lies below."""
        painter = QPainter(self)
        shade = self.palette().color(QPalette.ColorRole.Shadow)
        shade.setAlphaF(0.45)
        painter.fillRect(event.rect(), shade)

    def resizeEvent(self, _event: object) -> None:
        """Keep the panel in the middle."""
        self.place()

    def mousePressEvent(self, event: Any) -> None:
        """Close when the click is beside the panel."""
        if not self.panel.geometry().contains(event.position().toPoint()):
            self.close_panel()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Close with Esc."""
        if event.key() == Qt.Key.Key_Escape:
            self.close_panel()
        else:
            super().keyPressEvent(event)


class _Lines(QStyledItemDelegate):
    """A command at the left, its key at the right."""

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Let the style paint the line, then add the key."""
        super().paint(painter, option, index)
        key = index.data(Qt.ItemDataRole.UserRole + 1)
        if key:
            chosen = bool(option.state & QStyle.StateFlag.State_Selected)
            palette: QPalette = option.palette
            role = QPalette.ColorRole.HighlightedText if chosen else QPalette.ColorRole.PlaceholderText
            painter.setPen(palette.color(role))
            place: QRect = option.rect.adjusted(0, 0, -16, 0)
            painter.drawText(place, int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight), key)

    def sizeHint(self, _option: QStyleOptionViewItem, _index: QModelIndex | QPersistentModelIndex) -> QSize:
        """High enough to be hit with ease."""
        return QSize(0, 36)


class CommandPalette(Overlay):
    """Type a few letters of a command, press Enter."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window, 560)
        self.setObjectName("command-palette")
        self.setAccessibleName("Commands")
        self._commands: tuple[Command, ...] = ()
        self.field = QLineEdit(self.panel)
        self.field.setObjectName("command-field")
        self.field.setPlaceholderText("Type a command")
        self.field.setAccessibleName("Command")
        self.list = QListWidget(self.panel)
        self.list.setObjectName("command-list")
        self.list.setFrameShape(QFrame.Shape.NoFrame)
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.list.setItemDelegate(_Lines(self.list))
        self.list.setUniformItemSizes(True)
        layout = QVBoxLayout(self.panel)
        layout.setContentsMargins(8, 8, 8, 8)
        layout.addWidget(self.field)
        layout.addWidget(self.list)
        self.field.textChanged.connect(self._filter)
        self.field.returnPressed.connect(self._give)
        self.list.itemClicked.connect(lambda _item: self._give())
        self.field.installEventFilter(self)

    def show_commands(self, commands: tuple[Command, ...]) -> None:
        """Open with these commands."""
        self._commands = commands
        self.field.clear()
        self._filter("")
        self.open(self.field)

    def place(self) -> None:
        """The panel keeps its height while the list gets shorter, so that nothing jumps."""
        width, height = min(560, self.width() - 64), min(460, self.height() - 96)
        self.panel.setGeometry((self.width() - width) // 2, 64, width, height)

    def eventFilter(self, _watched: object, event: Any) -> bool:
        """Up and down move in the list while the keyboard stays in the field."""
        if event.type() == event.Type.KeyPress and event.key() in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            step = 1 if event.key() == Qt.Key.Key_Down else -1
            if self.list.count():
                self.list.setCurrentRow((self.list.currentRow() + step) % self.list.count())
            return True
        return False

    def _filter(self, text: str) -> None:
        words = text.casefold().split()
        self.list.clear()
        for number, command in enumerate(self._commands):
            if all(word in f"{command.title} {command.key_text}".casefold() for word in words):
                item = QListWidgetItem(command.title, self.list)
                item.setData(Qt.ItemDataRole.UserRole, number)
                item.setData(Qt.ItemDataRole.UserRole + 1, command.key_text)
        self.list.setCurrentRow(0)

    def _give(self) -> None:
        if self.list.currentRow() < 0:
            return
        item = self.list.currentItem()
        command = self._commands[item.data(Qt.ItemDataRole.UserRole)]
        self.close_panel()
        command.call()


class HelpOverlay(Overlay):
    """What this screen is for, and every key that works on it."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window, 640)
        self.setObjectName("help-overlay")
        self.setAccessibleName("Help")
        self._page = QWidget(self.panel)
        self._area = QScrollArea(self.panel)
        self._area.setWidgetResizable(True)
        layout = QVBoxLayout(self.panel)
        layout.setContentsMargins(8, 8, 8, 8)
        layout.addWidget(self._area)

    def show_help(self, title: str, text: str, commands: tuple[Command, ...]) -> None:
        """Open with this text and these commands."""
        page = QWidget()
        page.setObjectName("help-page")
        grid = QGridLayout(page)
        grid.setContentsMargins(16, 16, 16, 16)
        grid.setHorizontalSpacing(24)
        grid.setVerticalSpacing(4)
        grid.setColumnStretch(1, 1)
        heading = QLabel(title)
        heading.setProperty("heading", "page")
        grid.addWidget(heading, 0, 0, 1, 2)
        about = QLabel(text)
        about.setWordWrap(True)
        about.setContentsMargins(0, 4, 0, 12)
        grid.addWidget(about, 1, 0, 1, 2)
        for row, command in enumerate((c for c in commands if c.shortcut), start=2):
            key = QLabel(command.key_text)
            key.setFont(theme.sized(key, theme.TEXT, bold=True))
            key.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            key.setMinimumWidth(120)
            grid.addWidget(key, row, 0)
            grid.addWidget(QLabel(command.title), row, 1)
        self._page = page
        self._area.setWidget(page)
        self.open(self._area)

    def place(self) -> None:
        """As tall as its text, at most as the window."""
        wanted = self._page.sizeHint().height() + 24
        width, height = min(self._wanted_width, self.width() - 64), min(wanted, self.height() - 96)
        self.panel.setGeometry((self.width() - width) // 2, 48, width, height)
