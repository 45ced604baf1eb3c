"""The settings of a run as a small form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from PySide6.QtWidgets import QComboBox, QDoubleSpinBox, QGridLayout, QLabel, QSpinBox, QWidget

from crowdclust_app.gui import theme
from crowdclust_app.gui.clusters.runs_model import METHOD_NAMES
from crowdclust_app.services.fits.fitting import FitSettings

FIELD = 164
ABOUT = {
    "method": "Consensus (Bayesian) is the same model as if one worker had given every response. The others are "
    "there to compare with; they take the number of clusters from Crowdclustering where none is given",
    "dimensions": "Dimensions of the space in which the items lie; auto: what predicts held-out responses best",
    "starts": "The fit begins so many times from different positions; the highest bound wins",
    "clusters": "How many clusters: as many as predict held-out responses well or as the bound favours, as in the "
    "paper, or a number",
    "label_weight": "How much each pair label counts. 1 is the paper's model; less when a misplaced photo should not "
    "count as many independent mistakes; auto: what predicts held-out responses best",
    "worker_prior": "What is expected of a worker before any answer: learnt from all workers, or the same for each, as "
    "in the paper",
    "seed": "The same seed and the same data give the same run",
}
# Stand for words in the box of clusters, below all numbers.
BY_HELD_OUT, BY_BOUND = -1, 0
CLUSTER_WORDS = {BY_HELD_OUT: "by held-out sets", BY_BOUND: "by the bound"}
AUTO = "auto"
PRIORS = {"shared": "Learnt", "independent": "The same"}


class ClustersBox(QSpinBox):
    """A number of clusters, or who is asked for it."""

    def textFromValue(self, value: int) -> str:
        """Words for the two that are no numbers."""
        return CLUSTER_WORDS.get(value, str(value))

    def valueFromText(self, text: str) -> int:
        """The number, or what the words stand for."""
        named = {words: value for value, words in CLUSTER_WORDS.items()}
        return named[text] if text in named else int(text)


class SettingsForm(QWidget):
    """Method, clusters, label weight, worker prior, dimensions, starts, seed."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("run-settings")
        self._method = QComboBox(self)
        for method, title in METHOD_NAMES.items():
            self._method.addItem(title, method)
        # made in the order of the rows, which is the order of Tab
        self._clusters = ClustersBox(self)
        self._clusters.setRange(BY_HELD_OUT, 999)
        self._label_weight = QDoubleSpinBox(self)
        self._label_weight.setRange(0.0, 1.0)
        self._label_weight.setSpecialValueText(AUTO)
        self._label_weight.setSingleStep(0.05)
        self._label_weight.setDecimals(2)
        self._dimensions = _whole(self, 0, 20)
        self._dimensions.setSpecialValueText(AUTO)
        self._starts = _whole(self, 1, 50)
        self._worker_prior = QComboBox(self)
        for prior, title in PRIORS.items():
            self._worker_prior.addItem(title, prior)
        self._seed = _whole(self, 0, 999_999)
        rows = (
            ("Method", "method", self._method),
            ("Clusters", "clusters", self._clusters),
            ("Label weight", "label_weight", self._label_weight),
            ("Worker prior", "worker_prior", self._worker_prior),
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
        words = {BY_HELD_OUT: "heldout", BY_BOUND: "bound"}
        values: dict[str, Any] = {
            "clusters": words.get(self._clusters.value(), self._clusters.value()),
            "label_weight": round(self._label_weight.value(), 2) or AUTO,
            "dimensions": self._dimensions.value() or AUTO,
        }
        return FitSettings(
            method=self._method.currentData(),
            starts=self._starts.value(),
            worker_prior=self._worker_prior.currentData(),
            seed=self._seed.value(),
            **values,
        )

    def ask_for(self, clusters: int) -> None:
        """Ask for this number of clusters."""
        self._clusters.setValue(clusters)

    def show_settings(self, values: Mapping[str, Any]) -> None:
        """Fill the form; what is not given gets the default."""
        default = FitSettings().as_dict()
        given = {name: values.get(name, default[name]) for name in default}
        numbers = {"heldout": BY_HELD_OUT, "bound": BY_BOUND}
        self._method.setCurrentIndex(max(0, self._method.findData(given["method"])))
        self._dimensions.setValue(0 if given["dimensions"] == AUTO else given["dimensions"])
        self._starts.setValue(given["starts"])
        self._clusters.setValue(numbers.get(given["clusters"], given["clusters"]))
        self._label_weight.setValue(0.0 if given["label_weight"] == AUTO else given["label_weight"])
        self._worker_prior.setCurrentIndex(max(0, self._worker_prior.findData(given["worker_prior"])))
        self._seed.setValue(given["seed"])


def _whole(parent: QWidget, low: int, high: int) -> QSpinBox:
    box = QSpinBox(parent)
    box.setRange(low, high)
    return box
