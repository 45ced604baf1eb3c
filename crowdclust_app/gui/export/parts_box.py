"""What an export may hold besides the tables, as boxes to tick."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QGridLayout, QWidget

from crowdclust_app.gui import theme
from crowdclust_app.services.exchange.export_parts import LINKS, PARTS, PHOTOS, TABLES

_COLUMNS = 4
_OTHER = {PHOTOS: LINKS, LINKS: PHOTOS}


class PartsBox(QWidget):
    """A box a part; photos are copied or linked, not both.

    Signals
    -------
    changed
        Another choice was made.
    """

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._has_runs = self._has_photos = False
        self._boxes: dict[str, QCheckBox] = {}
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(theme.MARGIN)
        grid.setVerticalSpacing(theme.STEP)
        for number, (key, part) in enumerate((key, part) for key, part in PARTS.items() if key != TABLES):
            box = QCheckBox(part.title, self)
            box.setObjectName(f"export-part-{key}")
            box.setToolTip(part.about[0].upper() + part.about[1:])
            box.toggled.connect(lambda on, key=key: self._toggled(key, on))
            self._boxes[key] = box
            grid.addWidget(box, number // _COLUMNS, number % _COLUMNS)
        grid.setColumnStretch(_COLUMNS, 1)
        self._enable()

    @property
    def chosen(self) -> tuple[str, ...]:
        """Keys of the parts that are ticked and can be had."""
        return tuple(key for key, box in self._boxes.items() if box.isChecked() and box.isEnabledTo(self))

    def choose(self, parts: Iterable[str]) -> None:
        """Tick these and no others."""
        wanted = set(parts)
        for key, box in self._boxes.items():
            box.setChecked(key in wanted)

    def offer_runs(self, offered: bool) -> None:
        """Whether there is a run to be written."""
        self._has_runs = offered
        self._enable()

    def offer_photos(self, offered: bool) -> None:
        """Whether the photos can be found."""
        self._has_photos = offered
        self._enable()

    def _enable(self) -> None:
        for key, box in self._boxes.items():
            part = PARTS[key]
            box.setEnabled((self._has_runs or not part.needs_run) and (self._has_photos or not part.needs_photos))

    def _toggled(self, key: str, on: bool) -> None:
        other = self._boxes.get(_OTHER.get(key, ""))
        if on and other is not None:
            other.setChecked(False)
        self.changed.emit()
