"""The settings of a run as a small form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from PySide6.QtWidgets import QComboBox, QDoubleSpinBox, QGridLayout, QLabel, QSpinBox, QWidget

from crowdclust_app.gui import theme
from crowdclust_app.gui.clusters.runs import METHOD_NAMES
from crowdclust_app.services.fitting import FitSettings

FIELD = 164
ABOUT = {
    "method": "Consensus (Bayesian) is the same model as if one worker had given every response. The others are "
    "there to compare with; they take the number of clusters from Crowdclustering where none is given",
    "dimensions": "Dimensions of the space in which the items lie",
    "starts": "The fit begins so many times from different positions; the highest bound wins",
    "clusters": "How many clusters: as many as the bound favours, or a number",
    "label_weight": "How much each pair label counts. 1 is the paper's model; less when a misplaced photo should not "
    "count as many independent mistakes",
    "seed": "The same seed and the same data give the same run",
}


class SettingsForm(QWidget):
    """Method, dimensions, starts, clusters, label weight, seed."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("run-settings")
        self._method = QComboBox(self)
        for method, title in METHOD_NAMES.items():
            self._method.addItem(title, method)
        # made in the order of the rows, which is the order of Tab
        self._clusters = _whole(self, 0, 99)
        self._clusters.setSpecialValueText("by the bound")
        self._label_weight = QDoubleSpinBox(self)
        self._label_weight.setRange(0.01, 1.0)
        self._label_weight.setSingleStep(0.05)
        self._label_weight.setDecimals(2)
        self._dimensions = _whole(self, 1, 20)
        self._starts = _whole(self, 1, 50)
        self._seed = _whole(self, 0, 999_999)
        rows = (
            ("Method", "method", self._method),
            ("Clusters", "clusters", self._clusters),
            ("Label weight", "label_weight", self._label_weight),
            ("Dimensions", "dimensions", self._dimensions),
            ("Starts", "starts", self._starts),
            ("Seed", "seed", self._seed),
        )
        layout = QGridLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setHorizontalSpacing(theme.STEP)
        layout.setVerticalSpacing(theme.TILE_GAP)
        for row, (title, name, field) in enumerate(rows):
            label = QLabel(title, self)
            label.setBuddy(field)
            for widget in (label, field):
                widget.setToolTip(ABOUT[name])
            field.setObjectName(f"run-{name.replace('_', '-')}")
            field.setAccessibleName(title)
            layout.addWidget(label, row, 0)
            field.setFixedWidth(FIELD)
            layout.addWidget(field, row, 1)
        layout.setColumnStretch(1, 1)
        self.show_settings({})

    def settings(self) -> FitSettings:
        """What the form says."""
        return FitSettings(
            method=self._method.currentData(),
            dimensions=self._dimensions.value(),
            starts=self._starts.value(),
            clusters=self._clusters.value() or "bound",
            label_weight=round(self._label_weight.value(), 2),
            seed=self._seed.value(),
        )

    def show_settings(self, values: Mapping[str, Any]) -> None:
        """Fill the form; what is not given gets the default."""
        default = FitSettings().as_dict()
        given = {name: values.get(name, default[name]) for name in default}
        self._method.setCurrentIndex(max(0, self._method.findData(given["method"])))
        self._dimensions.setValue(given["dimensions"])
        self._starts.setValue(given["starts"])
        self._clusters.setValue(0 if given["clusters"] == "bound" else given["clusters"])
        self._label_weight.setValue(given["label_weight"])
        self._seed.setValue(given["seed"])


def _whole(parent: QWidget, low: int, high: int) -> QSpinBox:
    box = QSpinBox(parent)
    box.setRange(low, high)
    return box
