"""Make a question set: about what, with which sentence, how many answers, asked how."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QSize, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QComboBox,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QSizePolicy,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from crowdclust_app.domain.questions import LONGEST_SENTENCE, Policy
from crowdclust_app.gui import theme
from crowdclust_app.gui.chrome import plain_button
from crowdclust_app.gui.clusters.painting import paint_photo
from crowdclust_app.gui.pictures import PictureCache
from crowdclust_app.gui.verify.photos import Files
from crowdclust_app.gui.wording import count_of, people_time
from crowdclust_app.services.verify.interview import MOST_WANTED
from crowdclust_app.services.verify.question_sources import ItemSource

WIDTH = 640
# Assumed for an estimate before anybody has answered.
SECONDS_A_QUESTION = 3.0
POLICIES = ((Policy.UNCERTAINTY, "Where the answers are least certain"), (Policy.UNIFORM, "Every photo equally often"))


@dataclass(frozen=True)
class NewSet:
    """What the lead has filled in."""

    source: ItemSource
    items: tuple[int, ...]
    sentence: str
    wanted: int
    policy: Policy
    seed: int


class PhotoStrip(QWidget):
    """The first photos of what is chosen."""

    SIDE = 72

    def __init__(self, pictures: PictureCache, parent: QWidget) -> None:
        super().__init__(parent)
        self._pictures = pictures
        self._items: tuple[int, ...] = ()
        self._files: Files = {}
        self.setFixedHeight(self.SIDE)
        pictures.arrived.connect(lambda _name: self.update())

    def sizeHint(self) -> QSize:
        """One row."""
        return QSize(8 * self.SIDE, self.SIDE)

    def show_items(self, items: Sequence[int], files: Files) -> None:
        """Show these, as many as there is room for."""
        self._items, self._files = tuple(items), files
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Squares side by side."""
        painter = QPainter(self)
        step = self.SIDE + theme.TILE_GAP
        for place, item in enumerate(self._items[: (self.width() + theme.TILE_GAP) // step]):
            found = self._files.get(item)
            pixmap = self._pictures.pixmap(*found, self.SIDE, self.devicePixelRatioF()) if found else None
            failed = found is None or bool(self._pictures.failure(*found))
            rect = self.rect().adjusted(place * step, 0, 0, 0)
            rect.setWidth(self.SIDE)
            paint_photo(painter, rect, pixmap, self.palette(), failed=pixmap is None and failed)


class FormPage(QWidget):
    """The form.

    Signals
    -------
    made : NewSet
        Make it.
    closed
        Back without making one.
    """

    made = Signal(object)
    closed = Signal()

    def __init__(self, pictures: PictureCache, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("question-form")
        self._sources: tuple[ItemSource, ...] = ()
        self._names: dict[int, str] = {}
        self._files: Files = {}
        self._items: tuple[int, ...] = ()
        self.source = QComboBox()
        self.source.setObjectName("question-source")
        self.filter = QLineEdit()
        self.filter.setObjectName("question-filter")
        self.filter.setPlaceholderText("Only photos whose name holds these words")
        self.sentence = QLineEdit()
        self.sentence.setObjectName("question-text")
        self.sentence.setMaxLength(LONGEST_SENTENCE)
        self.sentence.setPlaceholderText("Does this belong to ...?")
        self.wanted = QSpinBox()
        self.wanted.setObjectName("question-wanted")
        self.wanted.setRange(1, MOST_WANTED)
        self.wanted.setValue(3)
        self.policy = QComboBox()
        self.policy.setObjectName("question-policy")
        for policy, title in POLICIES:
            self.policy.addItem(title, policy)
        self.seed = QSpinBox()
        self.seed.setObjectName("question-seed")
        self.seed.setRange(0, 2**31 - 1)
        self.strip = PhotoStrip(pictures, self)
        self.amount = QLabel()
        self.amount.setObjectName("question-amount")
        self.amount.setProperty("rank", "second")
        self.amount.setWordWrap(True)
        self.make = plain_button("Make the question set", "question-make", self._make, rank="first")
        self.cancel = plain_button("Cancel", "question-cancel", self.closed.emit)
        self._build()
        self._typed = QTimer(self)
        self._typed.setSingleShot(True)
        self._typed.setInterval(150)
        self._typed.timeout.connect(self._choose_items)
        self.source.currentIndexChanged.connect(self._source_changed)
        self.filter.textChanged.connect(self._typed.start)
        self.sentence.textChanged.connect(self._show_amount)
        self.sentence.returnPressed.connect(self._make)
        self.wanted.valueChanged.connect(self._show_amount)

    def _build(self) -> None:
        heading = QLabel("New question set")
        heading.setProperty("heading", "page")
        form = QFormLayout()
        form.setHorizontalSpacing(theme.MARGIN)
        form.setVerticalSpacing(theme.STEP)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.ExpandingFieldsGrow)
        for title, field in (
            ("&Photos", self.source),
            ("&Filter", self.filter),
            ("Ques&tion", self.sentence),
            ("&Answers a photo", self.wanted),
            ("&Next question", self.policy),
            ("S&eed", self.seed),
        ):
            if isinstance(field, QComboBox):
                field.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
            form.addRow(title, field)
            field.setAccessibleName(title.replace("&", ""))
        buttons = QHBoxLayout()
        buttons.addStretch(1)
        buttons.addWidget(self.cancel)
        buttons.addWidget(self.make)
        column = QWidget()
        column.setFixedWidth(WIDTH)
        inside = QVBoxLayout(column)
        inside.setContentsMargins(0, 48, 0, theme.MARGIN)
        inside.setSpacing(theme.MARGIN)
        inside.addWidget(heading)
        inside.addLayout(form)
        inside.addWidget(self.strip)
        inside.addWidget(self.amount)
        inside.addLayout(buttons)
        inside.addStretch(1)
        whole = QHBoxLayout(self)
        whole.addStretch(1)
        whole.addWidget(column)
        whole.addStretch(1)
        self.setFocusProxy(self.source)

    def show_sources(
        self, sources: Sequence[ItemSource], names: dict[int, str], files: Files, about: tuple[int, int] | None = None
    ) -> None:
        """Offer these; `names` has the items' names by number, `about` the run and cluster to begin with."""
        self._sources, self._names, self._files = tuple(sources), names, files
        self.source.blockSignals(True)
        self.source.clear()
        for source in sources:
            self.source.addItem(f"{source.title}  ({count_of(len(source.items), 'photo')})")
        of_cluster = [(source.run, source.cluster) for source in sources]
        if about in of_cluster:
            self.source.setCurrentIndex(of_cluster.index(about))
        self.source.blockSignals(False)
        self.filter.clear()
        self.sentence.clear()
        self._source_changed()

    @property
    def chosen(self) -> ItemSource | None:
        """What the questions are about."""
        row = self.source.currentIndex()
        return self._sources[row] if 0 <= row < len(self._sources) else None

    @property
    def items(self) -> tuple[int, ...]:
        """The items that will be asked about."""
        return self._items

    def _source_changed(self, *_: object) -> None:
        source = self.chosen
        proposed = {other.sentence for other in self._sources}
        if source is not None and (not self.sentence.text() or self.sentence.text() in proposed):
            self.sentence.setText(source.sentence)
        self._choose_items()

    def _choose_items(self) -> None:
        source = self.chosen
        words = self.filter.text().casefold().split()
        items = source.items if source is not None else ()
        if words:
            items = tuple(n for n in items if all(word in self._names.get(n, "").casefold() for word in words))
        self._items = items
        self.strip.show_items(items, self._files)
        self._show_amount()

    def _show_amount(self, *_: object) -> None:
        answers = len(self._items) * self.wanted.value()
        missing = ""
        if not self._items:
            missing = "No photo has such a name."
        elif not self.sentence.text().strip():
            missing = "Write the question that is asked of each photo."
        hours = people_time(answers * SECONDS_A_QUESTION)
        amount = (
            f"{count_of(len(self._items), 'photo')}, {count_of(answers, 'answer')} in all, about {hours} of work at "
            f"{SECONDS_A_QUESTION:g} s an answer. Nobody is asked about a photo twice."
        )
        self.amount.setText(missing or amount)
        self.make.setEnabled(not missing)

    def _make(self) -> None:
        if self._typed.isActive():
            self._typed.stop()
            self._choose_items()
        source = self.chosen
        if source is None or not self.make.isEnabled():
            return
        self.make.setEnabled(False)
        policy = self.policy.currentData()
        sentence = self.sentence.text()
        wanted, seed = self.wanted.value(), self.seed.value()
        self.made.emit(NewSet(source, self._items, sentence, wanted, Policy(policy), seed))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Return makes the set from everywhere."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._make()
        else:
            super().keyPressEvent(event)
