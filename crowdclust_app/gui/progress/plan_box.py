"""What can be changed about a plan that has begun: more sets, more people, more images, a pause."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QComboBox, QGridLayout, QHBoxLayout, QLabel, QPushButton, QWidget

from crowdclust_app.domain.campaign import ASSUMED_SECONDS_AN_ITEM
from crowdclust_app.domain.stages import StageInfo
from crowdclust_app.gui import theme
from crowdclust_app.gui.number_box import NumberBox
from crowdclust_app.gui.wording import count_of, people_time
from crowdclust_app.services.campaign.plan_changes import MOST_MORE
from crowdclust_app.services.campaign.progress_statistics import CampaignProgress

MOST_RESPONSES = 1_000_000


class PlanBox(QWidget):
    """The fields and buttons; what they do is the screen's.

    Signals
    -------
    more_sets, more_people : str, int
        So many further sets an image, or people a set, are wanted in a stage.
    images_wanted, pause_wanted
        The folder is to be looked through for new images; the campaign is to be paused, or to go on.
    rerun_wanted : int
        Responses after which the inference is to run again by itself.
    """

    more_sets = Signal(str, int)
    more_people = Signal(str, int)
    images_wanted = Signal()
    pause_wanted = Signal()
    rerun_wanted = Signal(int)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._pace: CampaignProgress | None = None
        self._stages: tuple[StageInfo, ...] = ()
        self.stage = QComboBox(self)
        self.stage.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.stage.setMinimumWidth(22 * self.fontMetrics().averageCharWidth())
        self.sets, self.people = NumberBox(1, MOST_MORE, self), NumberBox(1, MOST_MORE, self)
        self.rerun = NumberBox(0, MOST_RESPONSES, self)
        self.rerun.setSpecialValueText("never")
        self.add_sets, self.add_people = QPushButton("Add sets", self), QPushButton("Add people", self)
        self.images = QPushButton("Look for new images", self)
        self.pause = QPushButton("Pause", self)
        self.sets_come_to, self.people_come_to = QLabel(self), QLabel(self)
        self._name_parts()
        self._lay_out()
        self.add_sets.clicked.connect(lambda: self.more_sets.emit(self._chosen_stage(), self.sets.value()))
        self.add_people.clicked.connect(lambda: self.more_people.emit(self._chosen_stage(), self.people.value()))
        self.images.clicked.connect(self.images_wanted)
        self.pause.clicked.connect(self.pause_wanted)
        self.rerun.editingFinished.connect(self._rerun_changed)
        for box in (self.sets, self.people):
            box.valueChanged.connect(self._tell)
        self.stage.currentIndexChanged.connect(self._tell)

    def _name_parts(self) -> None:
        parts: dict[str, QWidget] = {
            "grow-stage": self.stage, "grow-sets": self.sets, "grow-people": self.people, "rerun-every": self.rerun,
            "add-sets": self.add_sets, "add-people": self.add_people, "look-for-images": self.images,
            "pause-campaign": self.pause, "sets-come-to": self.sets_come_to, "people-come-to": self.people_come_to,
        }  # fmt: skip
        for name, part in parts.items():
            part.setObjectName(name)
        for part, words in (
            (self.stage, "Stage whose plan grows"), (self.sets, "Further sets an image"),
            (self.people, "Further people a set"), (self.rerun, "Responses after which the inference runs again"),
        ):  # fmt: skip
            part.setAccessibleName(words)
        for label in (self.sets_come_to, self.people_come_to):
            label.setProperty("rank", "second")
        self.images.setToolTip("Images that came into the folder since become items, shown among the earlier ones")
        self.pause.setToolTip("No new sets are handed out; who is in the middle of one can end it")

    def _lay_out(self) -> None:
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(theme.MARGIN)
        grid.setVerticalSpacing(theme.STEP)
        grid.setColumnStretch(3, 1)
        rows = (
            ("Plan of", self.stage, None, None),
            ("More sets an image (V)", self.sets, self.add_sets, self.sets_come_to),
            ("More people a set (R)", self.people, self.add_people, self.people_come_to),
            ("Run again after responses", self.rerun, None, None),
        )
        for row, (title, field, button, words) in enumerate(rows):
            label = QLabel(title, self)
            label.setBuddy(field)
            grid.addWidget(label, row, 0)
            grid.addWidget(field, row, 1)
            if button is not None and words is not None:
                grid.addWidget(button, row, 2)
                grid.addWidget(words, row, 3)
        buttons = QHBoxLayout()
        buttons.setSpacing(theme.STEP)
        buttons.addWidget(self.images)
        buttons.addWidget(self.pause)
        buttons.addStretch(1)
        grid.addLayout(buttons, 0, 2, 1, 2, Qt.AlignmentFlag.AlignLeft)

    def show_plan(self, pace: CampaignProgress | None, has_images: bool, busy: bool) -> None:
        """Show what there is to change; nothing can be pressed while something is being done."""
        self._pace = pace
        stages = pace.stages if pace is not None else ()
        if [info.name for info in stages] != [info.name for info in self._stages]:
            wanted = self.stage.currentData()
            self.stage.blockSignals(True)
            self.stage.clear()
            for info in stages:
                title = "the whole collection" if info.parent is None else info.name
                self.stage.addItem(title, info.name)
            self.stage.setCurrentIndex(max(0, self.stage.findData(wanted)))
            self.stage.blockSignals(False)
        self._stages = stages
        usable = pace is not None and not busy
        for part in (self.stage, self.sets, self.people, self.rerun, self.add_sets, self.add_people, self.pause):
            part.setEnabled(usable)
        self.images.setEnabled(usable and has_images)
        if pace is not None:
            self.pause.setText("Go on" if pace.paused else "Pause")
            if not self.rerun.hasFocus():
                self.rerun.setValue(pace.rerun_every)
        self._tell()

    def _chosen_stage(self) -> str:
        return str(self.stage.currentData() or "all")

    def _info(self) -> StageInfo | None:
        return next((info for info in self._stages if info.name == self.stage.currentData()), None)

    def _tell(self, *_: object) -> None:
        """Say what the numbers amount to."""
        info, pace = self._info(), self._pace
        if info is None or pace is None:
            self.sets_come_to.clear()
            self.people_come_to.clear()
            return
        plan = info.settings
        sets = -(-info.items * self.sets.value() // max(1, min(plan.items_per_hit, info.items)))
        self.sets_come_to.setText(self._work(sets, sets * plan.workers_per_hit, pace))
        more = self._work(0, info.hits * self.people.value(), pace)
        self.people_come_to.setText(more if info.hits else "no sets are planned that more people could do")
        self.add_people.setEnabled(self.add_people.isEnabled() and info.hits > 0)

    def _work(self, sets: int, turns: int, pace: CampaignProgress) -> str:
        each = pace.seconds_per_hit
        if each is None:
            info = self._info()
            assert info is not None
            each = ASSUMED_SECONDS_AN_ITEM * min(info.settings.items_per_hit, info.items)
        parts = [f"about {count_of(sets, 'set')}"] if sets else []
        parts += [count_of(turns, "turn"), f"{people_time(turns * each)} of all together"]
        return ", ".join(parts)

    def _rerun_changed(self) -> None:
        if self._pace is not None and self.rerun.value() != self._pace.rerun_every:
            self.rerun_wanted.emit(self.rerun.value())
