"""Around the photos while learning is shown: above more kinds of photos and their order, below the marks of gold."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLabel, QPushButton, QSizePolicy, QWidget

from crowdclust_app.gui import theme
from crowdclust_app.gui.chrome import plain_button
from crowdclust_app.gui.verify.learnt_view import DOUBT, EXTRA_KINDS, ORDERS

GOLD_BUTTONS = ((True, "Belongs  (G)"), (False, "Does not  (Shift+G)"), (None, "Not gold  (Del)"))


class WallBar(QWidget):
    """Kinds and order of the photos.

    Signals
    -------
    order_chosen : str
        One of `ORDERS`.
    """

    order_chosen = Signal(str)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.kinds: dict[str, QPushButton] = {}
        self.order = QComboBox()
        self.order.setObjectName("photo-order")
        self.order.setAccessibleName("Order of the photos")
        for name, title in ORDERS.items():
            self.order.addItem(title, name)
        first = QHBoxLayout(self)
        first.setContentsMargins(0, 0, 0, 0)
        first.setSpacing(theme.TILE_GAP)
        for kind, (title, _) in EXTRA_KINDS.items():
            button = plain_button(title, f"show-{kind}", lambda: None, rank="plain")
            button.setCheckable(True)
            self.kinds[kind] = button
            first.addWidget(button)
        first.addStretch(1)
        first.addWidget(self.order)
        self.order.activated.connect(self._activated)

    @property
    def chosen_order(self) -> str:
        """How the photos are sorted."""
        return str(self.order.currentData())

    def show_order(self, order: str) -> None:
        """Sort like this."""
        self.order.setCurrentIndex(max(self.order.findData(order), self.order.findData(DOUBT)))

    def _activated(self, _row: int) -> None:
        self.order_chosen.emit(self.chosen_order)


class GoldBar(QWidget):
    """The lead knows the answer for the photo that is chosen.

    Signals
    -------
    gold : bool or None
        As of the photos themselves.
    """

    gold = Signal(object)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(theme.TILE_GAP)
        label = QLabel("Known answer:")
        label.setToolTip("Gold photos anchor what yes means. Annotators are never told which photos are gold.")
        label.setProperty("rank", "second")
        row.addWidget(label)
        self.buttons: dict[bool | None, QPushButton] = {}
        for yes, title in GOLD_BUTTONS:
            name = {True: "gold-yes", False: "gold-no", None: "gold-none"}[yes]
            button = plain_button(title, name, partial(self.gold.emit, yes), rank="plain")
            button.setEnabled(False)
            # the keys stay with the photos
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            self.buttons[yes] = button
            row.addWidget(button)
        row.addStretch(1)

    def offer(self, possible: bool, now: bool | None) -> None:
        """Whether there is a photo to mark, and what it is marked as."""
        for yes, button in self.buttons.items():
            button.setEnabled(possible and yes is not now)
