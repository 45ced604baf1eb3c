"""The widgets of the page on which a set is sorted, where they lie, and what they are called."""

from __future__ import annotations

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QPixmap, QResizeEvent
from PySide6.QtWidgets import QApplication, QHBoxLayout, QLabel, QMenu, QProgressBar, QPushButton, QVBoxLayout, QWidget

from crowdclust_app.gui import theme
from crowdclust_app.gui.annotate.cards import InstructionsCard, SkipCard
from crowdclust_app.gui.annotate.chips import ChipBar
from crowdclust_app.gui.annotate.photo import PhotoView
from crowdclust_app.gui.annotate.sorting_grid import SortingGrid
from crowdclust_app.gui.chrome import Elided
from crowdclust_app.gui.pictures import PictureCache


class SetView(QWidget):
    """Header, photos, palette of groups, buttons, and what can lie above the photos; no behaviour."""

    def __init__(self, pictures: PictureCache) -> None:
        super().__init__()
        self.setObjectName("set-page")
        self._pictures = pictures
        self.grid = SortingGrid(pictures)
        self.chips = ChipBar(self._tile_picture)
        self._build_header()
        self._build_footer()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(16, 8, 16, 8)
        layout.setSpacing(8)
        layout.addLayout(self._header)
        layout.addWidget(self.grid, 1)
        layout.addLayout(self._footer)
        self.photo = PhotoView(self, pictures)
        self.instructions = InstructionsCard(self)
        self.skip_sheet = SkipCard(self)
        self.menu = QMenu(self)
        self.menu.setObjectName("photo-menu")
        self.chips.tab_after = self.redo_button
        self.draw_icons()

    def draw_icons(self) -> None:
        """Draw the signs on buttons in the colours of the palette."""
        self.undo_button.setIcon(theme.icon("undo", QApplication.palette(), 20))
        self.redo_button.setIcon(theme.icon("redo", QApplication.palette(), 20))

    def place_sheets(self) -> None:
        """Put the sheets where they cover least."""
        room = self.grid.geometry()
        width = min(480, room.width() - 32)
        height = min(self.instructions.height_for(width), room.height() - 16)
        self.instructions.setGeometry(room.right() - width, room.top() + 8, width, height)
        height = self.skip_sheet.sizeHint().height()
        self.skip_sheet.setGeometry(QRect(room.center().x() - 200, room.bottom() - height - 8, 400, height))

    def resizeEvent(self, _event: QResizeEvent) -> None:
        """What lies above the photos follows the window."""
        self.photo.setGeometry(self.rect())
        self.place_sheets()

    def _tile_picture(self, position: int, size: int) -> QPixmap | None:
        tile = self.grid.tiles[position]
        return self._pictures.pixmap(tile.path, tile.item.content_hash, size, self.devicePixelRatioF())

    def _build_header(self) -> None:
        self.title = QLabel()
        self.title.setObjectName("set-title")
        self.title.setProperty("heading", "part")
        self.bar = QProgressBar()
        self.bar.setObjectName("set-progress")
        self.bar.setTextVisible(False)
        self.bar.setFixedWidth(96)
        self.about = Elided()
        self.about.setObjectName("set-instructions")
        self.about.setProperty("rank", "second")
        self.help_button = self._button("Instructions", "instructions-button", "Show the instructions (I)")
        self.skip_button = self._button("Skip", "skip-button", "Leave this set to others")
        self.worker_button = self._button("", "change-worker", "Somebody else sorts")
        self._header = QHBoxLayout()
        self._header.setSpacing(16)
        self._header.addWidget(self.title)
        self._header.addWidget(self.bar)
        self._header.addWidget(self.about, 1)
        right = QHBoxLayout()
        right.setSpacing(0)
        for button in (self.help_button, self.skip_button, self.worker_button):
            right.addWidget(button)
        self._header.addLayout(right)

    def _build_footer(self) -> None:
        self.undo_button = self._button("", "undo-button", "Undo (Ctrl+Z)")
        self.redo_button = self._button("", "redo-button", "Redo (Ctrl+Shift+Z)")
        back = QVBoxLayout()
        back.setSpacing(4)
        for button, name in ((self.undo_button, "Undo"), (self.redo_button, "Redo")):
            button.setAccessibleName(name)
            button.setFixedSize(40, 34)
            button.setIconSize(QSize(20, 20))
            button.setStyleSheet("padding: 0;")
            back.addWidget(button)
        tip = "Every photo that is left gets a group of its own (R)"
        self.rest_button = self._button("Rest into own groups", "rest-button", tip)
        self.rest_button.setStyleSheet("padding: 0; min-height: 20px;")
        self.submit_button = self._button("Submit", "submit-button", "Submit (Ctrl+Return)")
        self.submit_button.setProperty("rank", "first")
        self.submit_button.setStyleSheet("min-height: 32px;")
        end = QVBoxLayout()
        end.setSpacing(2)
        for button in (self.rest_button, self.submit_button):
            button.setFixedWidth(208)
            end.addWidget(button)
        self._footer = QHBoxLayout()
        self._footer.setSpacing(16)
        self._footer.addLayout(back)
        self._footer.addWidget(self.chips, 1)
        self._footer.addLayout(end)

    def _button(self, text: str, name: str, tip: str) -> QPushButton:
        button = QPushButton(text)
        button.setObjectName(name)
        button.setProperty("rank", "plain")
        button.setToolTip(tip)
        # the keyboard stays with the photos when a button is clicked; Tab reaches the buttons all the same
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        return button
