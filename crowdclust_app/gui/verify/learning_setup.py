"""The switch "Learn from images", with the method and where features come from."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFileDialog,
    QFormLayout,
    QHBoxLayout,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from crowdclust_app.domain.methods import names_of, title_of
from crowdclust_app.gui import theme
from crowdclust_app.services.verify.learning_settings import MODEL, PHOTOS, RUN, TABLE, LearningSettings

# Text of the entry while no file is chosen.
FILES = {TABLE: ("a table (CSV)", "Tables (*.csv)"), MODEL: ("an ONNX model", "Models (*.onnx)")}

Source = tuple[str, int | None, str | None]
OWN: Source = (PHOTOS, None, None)


class LearningSetup(QWidget):
    """How a question set learns from its images.

    Signals
    -------
    changed : LearningSettings or None
        The person chose this; None: switched off.
    """

    changed = Signal(object)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.switch = QCheckBox("Learn from images")
        self.switch.setObjectName("learning-switch")
        self.method = QComboBox()
        self.method.setObjectName("learning-method")
        self.method.setAccessibleName("Learning method")
        # the default comes first
        for name in sorted(names_of("learner"), key=lambda name: name != LearningSettings().method):
            self.method.addItem(title_of(name), name)
        self.source = QComboBox()
        self.source.setObjectName("learning-source")
        self.source.setAccessibleName("What is known of each photo")
        self._runs: tuple[int, ...] = ()
        self._file: dict[str, str] = {}
        self._source: Source = OWN
        for box in (self.method, self.source):
            box.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
            box.setMinimumContentsLength(8)
            box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        form = QFormLayout()
        form.setHorizontalSpacing(theme.MARGIN)
        form.setVerticalSpacing(theme.STEP)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.ExpandingFieldsGrow)
        form.addRow("&Method", self.method)
        form.addRow("Features &of", self.source)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.STEP)
        self.head = QHBoxLayout()
        self.head.addWidget(self.switch, 1)
        layout.addLayout(self.head)
        layout.addLayout(form)
        self.switch.clicked.connect(self._tell)
        self.method.activated.connect(self._tell_if_on)
        self.source.activated.connect(self._source_chosen)
        self._fill()

    def show_settings(self, settings: LearningSettings | None, runs: Sequence[int]) -> None:
        """Show what is in force, and offer the positions of these runs; what is off keeps the choice shown."""
        self._runs = tuple(runs)
        self.switch.setChecked(settings is not None)
        if settings is not None:
            self.method.setCurrentIndex(self.method.findData(settings.method))
            self._source = settings.source_key
            if settings.path is not None:
                self._file[settings.source] = settings.path
        elif self._source[0] == RUN and self._source[1] not in self._runs:
            self._source = OWN
        self._fill()

    def choice(self) -> LearningSettings | None:
        """What the widgets say."""
        if not self.switch.isChecked():
            return None
        source, run, path = self._source
        return LearningSettings(str(self.method.currentData()), source, run, path)

    def _fill(self) -> None:
        """List the sources, the chosen one marked."""
        self.source.clear()
        self.source.addItem("the photos: colours and edges", OWN)
        runs = {*self._runs, *((self._source[1],) if self._source[1] is not None else ())}
        for run in sorted(runs, reverse=True):
            self.source.addItem(f"the crowd's positions in run {run}", (RUN, run, None))
        for kind, (title, _) in FILES.items():
            path = self._file.get(kind)
            if path is not None:
                self.source.addItem(f"{title}: {Path(path).name}", (kind, None, path))
            self.source.addItem(f"{title}{', another file' if path else ''} …", (kind, None, None))
        rows = [tuple(self.source.itemData(row)) for row in range(self.source.count())]
        self.source.setCurrentIndex(rows.index(self._source) if self._source in rows else 0)

    def _source_chosen(self, row: int) -> None:
        kind, run, path = self.source.itemData(row)
        if kind in FILES and path is None:
            title, wanted = FILES[kind]
            start = str(Path(self._file[kind]).parent) if kind in self._file else ""
            path, _ = QFileDialog.getOpenFileName(self, f"Choose {title}", start, f"{wanted};;All files (*)")
            if not path:
                self._fill()
                return
            self._file[kind] = path
        self._source = kind, run, path
        self._fill()
        self._tell_if_on()

    def _tell_if_on(self, *_: object) -> None:
        if self.switch.isChecked():
            self._tell()

    def _tell(self, *_: object) -> None:
        self.changed.emit(self.choice())
