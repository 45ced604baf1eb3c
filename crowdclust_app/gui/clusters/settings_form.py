"""The settings of a run as a small form, made from the description of each setting."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from PySide6.QtWidgets import QComboBox, QDoubleSpinBox, QGridLayout, QLabel, QSpinBox, QWidget

from crowdclust_app.domain.fit_settings import SETTINGS, FitSettings, Setting
from crowdclust_app.gui import theme

FIELD = 164
# In the order of the rows, which is the order of Tab.
ROWS = ("method", "n_clusters", "label_weight", "worker_prior", "dimensions", "n_starts", "seed")


class WordBox(QComboBox):
    """One of a setting's words."""

    def __init__(self, words: Mapping[str, str], parent: QWidget) -> None:
        super().__init__(parent)
        for word, title in words.items():
            self.addItem(title, word)

    def chosen(self) -> str:
        """What is chosen."""
        return str(self.currentData())

    def choose(self, value: str) -> None:
        """Show this value, or the first where it is unknown."""
        self.setCurrentIndex(max(0, self.findData(value)))


class WholeBox(QSpinBox):
    """A whole number, or one of a setting's words, which lie below all numbers."""

    def __init__(self, setting: Setting, parent: QWidget) -> None:
        super().__init__(parent)
        low, high = setting.low or 0, setting.high or 0
        self._number_of = {word: low - len(setting.words) + n for n, word in enumerate(setting.words)}
        self._title_of = {self._number_of[word]: title for word, title in setting.words.items()}
        self.setRange(low - len(setting.words), high)

    def textFromValue(self, value: int) -> str:
        """The title of a word, or the number."""
        return self._title_of.get(value, str(value))

    def valueFromText(self, text: str) -> int:
        """The number, or the one that represents the word."""
        named = {title: value for value, title in self._title_of.items()}
        return named[text] if text in named else int(text)

    def chosen(self) -> str | int:
        """What is chosen."""
        return next((word for word, number in self._number_of.items() if number == self.value()), self.value())

    def choose(self, value: str | int) -> None:
        """Show this value."""
        self.setValue(self._number_of[value] if isinstance(value, str) else value)


class ShareBox(QDoubleSpinBox):
    """A number above 0 with two decimals, or a setting's one word, which is stored as 0."""

    def __init__(self, setting: Setting, parent: QWidget) -> None:
        super().__init__(parent)
        (self._word, title), *_ = setting.words.items()
        self.setRange(0.0, setting.high or 1.0)
        self.setSpecialValueText(title)
        self.setSingleStep(setting.step)
        self.setDecimals(2)

    def chosen(self) -> str | float:
        """What is chosen."""
        return round(self.value(), 2) or self._word

    def choose(self, value: str | float) -> None:
        """Show this value."""
        self.setValue(0.0 if isinstance(value, str) else value)


class SettingsForm(QWidget):
    """Method, clusters, label weight, worker prior, dimensions, starts, seed."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("run-settings")
        layout = QGridLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setHorizontalSpacing(theme.STEP)
        layout.setVerticalSpacing(theme.TILE_GAP)
        self._boxes = {name: _box(SETTINGS[name], self) for name in ROWS}
        for row, (name, box) in enumerate(self._boxes.items()):
            setting = SETTINGS[name]
            label = QLabel(setting.title, self)
            label.setBuddy(box)
            for widget in (label, box):
                widget.setToolTip(setting.about[0].upper() + setting.about[1:])
            box.setObjectName(f"run-{setting.key.replace('_', '-')}")
            box.setAccessibleName(setting.title)
            layout.addWidget(label, row, 0)
            box.setFixedWidth(FIELD)
            layout.addWidget(box, row, 1)
        layout.setColumnStretch(1, 1)
        self.show_settings({})

    def settings(self) -> FitSettings:
        """What the form says."""
        return FitSettings.from_dict({SETTINGS[name].key: box.chosen() for name, box in self._boxes.items()})

    def ask_for(self, clusters: int) -> None:
        """Ask for this number of clusters."""
        self._boxes["n_clusters"].choose(clusters)

    def show_settings(self, values: Mapping[str, Any]) -> None:
        """Fill the form; what is not given gets the default."""
        given = {**FitSettings().as_dict(), **values}
        for name, box in self._boxes.items():
            box.choose(given[SETTINGS[name].key])


def _box(setting: Setting, parent: QWidget) -> Any:
    if setting.low is None:
        return WordBox(setting.words, parent)
    return WholeBox(setting, parent) if setting.step >= 1 else ShareBox(setting, parent)
