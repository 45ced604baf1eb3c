"""Subdivide a category: the plan of its stage, and what that asks of people, worked out while it is typed."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QGridLayout, QLabel, QVBoxLayout, QWidget

from crowdclust_app.domain.campaign import ASSUMED_SECONDS_AN_ITEM, PlanSettings
from crowdclust_app.domain.errors import CrowdclustError
from crowdclust_app.gui import theme
from crowdclust_app.gui.chrome import plain_button
from crowdclust_app.gui.jobs import Job, cancel_jobs
from crowdclust_app.gui.labels import keep_room
from crowdclust_app.gui.number_box import NumberBox
from crowdclust_app.gui.screen import Shell
from crowdclust_app.gui.wording import ABSENT, capitalised, people_time
from crowdclust_app.services.stages.stages import SplitOutlook, split_outlook

DEBOUNCE_MS = 150
FIELDS = (
    ("m", "Photos a HIT (M)", "How many photos are shown together", 2, 10_000),
    ("v", "HITs a photo (V)", "In how many HITs a photo is, on average", 1, 1000),
    ("r", "Workers a HIT (R)", "How many different people sort each HIT", 1, 1000),
    ("seed", "Seed", "The same seed gives the same plan", 0, 2_147_483_647),
)
FIGURES = (
    ("hits", "HITs"),
    ("assignments", "Assignments"),
    ("hours", "Time of all"),
    ("shown", "HITs a photo is in"),
    ("pairs", "Pair labels"),
    ("components", "Connected parts"),
)


class SplitForm(QWidget):
    """The form.

    Signals
    -------
    wanted : PlanSettings
        Make the stage with this plan.
    """

    wanted = Signal(object)

    def __init__(self, shell: Shell, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("split-form")
        self._shell = shell
        self._items = 0
        self._seconds: float | None = None
        self._job: Job | None = None
        self.fields: dict[str, NumberBox] = {}
        self.figures: dict[str, QLabel] = {}
        self.button = plain_button("Subdivide", "subdivide", self._make, rank="first")
        self.warning = QLabel(self)
        self.warning.setObjectName("split-warning")
        self._later = QTimer(self)
        self._later.setSingleShot(True)
        self._later.setInterval(DEBOUNCE_MS)
        self._later.timeout.connect(self._work_out)
        self._build()

    def _build(self) -> None:
        plan = QGridLayout()
        plan.setHorizontalSpacing(theme.STEP)
        plan.setVerticalSpacing(theme.TILE_GAP)
        plan.setColumnStretch(2, 1)
        for place, (key, caption, about, low, high) in enumerate(FIELDS):
            field = NumberBox(low, high, self)
            field.setObjectName(f"split-{key}")
            field.setAccessibleName(caption)
            field.setToolTip(about)
            field.setFixedWidth(80)
            field.setAlignment(Qt.AlignmentFlag.AlignRight)
            field.valueChanged.connect(lambda _value: self._changed())
            label = QLabel(caption, self)
            label.setBuddy(field)
            label.setToolTip(about)
            row, column = divmod(place, 2)
            plan.addWidget(label, row, 3 * column)
            plan.addWidget(field, row, 3 * column + 1)
            self.fields[key] = field
        amounts = QGridLayout()
        amounts.setHorizontalSpacing(theme.MARGIN)
        amounts.setVerticalSpacing(0)
        for k, (key, caption) in enumerate(FIGURES):
            figure = QLabel(ABSENT, self)
            figure.setObjectName(f"split-figure-{key}")
            figure.setProperty("heading", "part")
            below = QLabel(caption, self)
            below.setProperty("rank", "second")
            row, column = divmod(k, 3)
            amounts.addWidget(figure, 3 * row, column)
            amounts.addWidget(below, 3 * row + 1, column)
            amounts.setColumnStretch(column, 1)
            self.figures[key] = figure
        amounts.setRowMinimumHeight(2, theme.STEP)
        purpose = QLabel("Have these photos sorted once more, among themselves.", self)
        purpose.setWordWrap(True)
        self.warning.setWordWrap(True)
        self.warning.setProperty("state", "warning")
        self.warning.setMinimumHeight(44)
        keep_room(self.warning)
        self.warning.hide()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.STEP)
        layout.addWidget(purpose)
        layout.addLayout(plan)
        layout.addLayout(amounts)
        layout.addWidget(self.warning)
        layout.addStretch(1)
        layout.addWidget(self.button)
        self.setFocusProxy(self.fields["m"])

    # --- content

    @property
    def settings(self) -> PlanSettings:
        """What the fields say."""
        return PlanSettings(*(self.fields[key].value() for key, *_ in FIELDS))

    def show_category(self, items: int, settings: PlanSettings, seconds_a_photo: float | None) -> None:
        """Offer to subdivide a category of so many items, beginning with this plan."""
        self._items, self._seconds = items, seconds_a_photo
        values = (settings.items_per_hit, settings.redundancy, settings.workers_per_hit, settings.seed)
        for (key, *_), value in zip(FIELDS, values, strict=True):
            self.fields[key].blockSignals(True)
            self.fields[key].setValue(value)
            self.fields[key].blockSignals(False)
        self._changed()
        self._later.stop()
        self._work_out()

    def clear(self) -> None:
        """Offer nothing."""
        self._later.stop()
        self._items = 0
        cancel_jobs(self._job)
        self._show(None)

    def _changed(self) -> None:
        self._later.start()

    def _work_out(self) -> None:
        items, settings = self._items, self.settings
        self._job = self._shell.jobs.start(
            "decode",
            lambda _progress, _cancel: split_outlook(items, settings),
            on_done=self._show,
            on_failed=self._refused,
            owner=self,
            instead_of=self._job,
        )

    def _show(self, found: SplitOutlook | None) -> None:
        texts = _texts(found, self._seconds) if found is not None else {}
        for key, figure in self.figures.items():
            figure.setText(texts.get(key, ABSENT))
        self.figures["hours"].setToolTip(_about_time(self._seconds))
        self._warn(" ".join(found.warnings) if found is not None else "")
        self.button.setEnabled(found is not None)
        self.button.setText(f"Subdivide into {found.figures.hits:,} HITs" if found and found.figures.hits > 1
                            else "Subdivide")  # fmt: skip

    def _refused(self, error: BaseException) -> None:
        self._show(None)
        if not isinstance(error, CrowdclustError):
            self._shell.show_failure(error)
            return
        self._warn(capitalised(str(error)))

    def _warn(self, words: str) -> None:
        self.warning.setText(words)
        self.warning.setVisible(bool(words))

    def _make(self) -> None:
        if self.button.isEnabled() and self._items:
            self.button.setEnabled(False)
            self.wanted.emit(self.settings)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Return makes the stage from every field."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._make()
        else:
            super().keyPressEvent(event)


def _texts(found: SplitOutlook, seconds_a_photo: float | None) -> dict[str, str]:
    figures = found.figures
    low, mean, high = figures.shown_min, figures.shown_mean, figures.shown_max
    shown = min(found.settings.items_per_hit, found.items)
    return {
        "hits": f"{figures.hits:,}",
        "assignments": f"{figures.assignments:,}",
        "hours": people_time((seconds_a_photo or ASSUMED_SECONDS_AN_ITEM) * shown * figures.assignments),
        "shown": f"{mean:.1f} ({low}–{high})" if low != high else f"{low}",
        "pairs": f"{figures.pair_labels:,}",
        "components": f"{figures.components:,}",
    }


def _about_time(seconds_a_photo: float | None) -> str:
    if seconds_a_photo is None:
        return f"At {ASSUMED_SECONDS_AN_ITEM:g} s a photo, as nothing has been measured yet"
    return f"At {seconds_a_photo:.1f} s a photo, as it took so far"
