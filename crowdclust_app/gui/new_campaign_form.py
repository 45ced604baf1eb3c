"""The widgets of the New campaign screen and where they lie."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QListWidget,
    QPlainTextEdit,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from crowdclust_app.domain.campaign import PlanSettings
from crowdclust_app.gui.annotate.sorting_grid import SortingGrid
from crowdclust_app.gui.number_box import NumberBox
from crowdclust_app.gui.outlook import FIGURES, QUALITY
from crowdclust_app.gui.registry import ScreenEntry
from crowdclust_app.gui.screen import Screen, Shell


class NewCampaignForm(Screen):
    """At the left what is chosen, at the right what that comes to; no behaviour."""

    def __init__(self, shell: Shell, entry: ScreenEntry) -> None:
        super().__init__(shell, entry)
        self._build()

    def _build(self) -> None:
        left = QWidget()
        form = QVBoxLayout(left)
        form.setContentsMargins(0, 0, 16, 0)
        form.setSpacing(8)
        heading = QLabel("New campaign")
        heading.setProperty("heading", "page")
        form.addWidget(heading)
        form.addSpacing(8)
        self._build_files(form)
        form.addSpacing(8)
        self._build_plan(form)
        form.addSpacing(8)
        form.addWidget(self._second("Instructions for those who sort"))
        self.instructions = QPlainTextEdit()
        self.instructions.setObjectName("instructions")
        self.instructions.setAccessibleName("Instructions")
        self.instructions.setPlaceholderText("Put photos that belong together into the same group.")
        self.instructions.setTabChangesFocus(True)
        self.instructions.setMinimumHeight(72)
        self.instructions.setMaximumHeight(320)
        form.addWidget(self.instructions, 4)
        form.addStretch(1)
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setWidget(left)
        area.setFixedWidth(392)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.create_button = QPushButton()
        self.create_button.setObjectName("create-campaign")
        self.create_button.setProperty("rank", "first")
        self.create_button.setProperty("tall", True)
        self.create_button.setFixedWidth(376)
        column = QVBoxLayout()
        column.setSpacing(16)
        column.addWidget(area, 1)
        column.addWidget(self.create_button)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(16, 16, 16, 16)
        layout.setSpacing(24)
        layout.addLayout(column)
        layout.addLayout(self._right(), 1)
        self.setFocusProxy(self.choose)

    def _build_files(self, form: QVBoxLayout) -> None:
        self.folder_field = QLineEdit()
        self.folder_field.setObjectName("folder")
        self.folder_field.setAccessibleName("Folder of photos")
        self.folder_field.setReadOnly(True)
        self.folder_field.setPlaceholderText("No folder chosen")
        self.folder_field.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.choose = QPushButton("Choose")
        self.choose.setObjectName("choose-folder")
        self.path_field = QLineEdit()
        self.path_field.setObjectName("campaign-path")
        self.path_field.setAccessibleName("The campaign's file")
        for field in (self.folder_field, self.path_field):
            # paths are longer than the fields
            field.textChanged.connect(field.setToolTip)
        self.elsewhere = QPushButton("Change")
        self.elsewhere.setObjectName("choose-file")
        for button in (self.choose, self.elsewhere):
            button.setFixedWidth(112)
        self.scan_state = self._second("Its photos stay where they are")
        self.scan_state.setObjectName("scan-state")
        for caption, field, button, below in (
            ("Folder of photos", self.folder_field, self.choose, self.scan_state),
            ("The campaign's file", self.path_field, self.elsewhere, None),
        ):
            form.addWidget(self._second(caption))
            line = QHBoxLayout()
            line.setSpacing(8)
            line.addWidget(field, 1)
            line.addWidget(button)
            form.addLayout(line)
            if below is not None:
                form.addWidget(below)

    def _build_plan(self, form: QVBoxLayout) -> None:
        self.fields: dict[str, NumberBox] = {}
        plan = QGridLayout()
        plan.setHorizontalSpacing(16)
        plan.setVerticalSpacing(8)
        plan.setColumnStretch(0, 1)
        defaults = PlanSettings()
        fields = (
            ("m", "Photos shown together (M)", defaults.items_per_hit, 2, 10_000),
            ("v", "HITs a photo is in (V)", defaults.redundancy, 1, 1000),
            ("r", "Workers for each HIT (R)", defaults.workers_per_hit, 1, 1000),
            ("repeats", "HITs given twice to a worker (%)", 0, 0, 100),
            ("seed", "Seed of the plan", defaults.seed, 0, 2_147_483_647),
        )
        for row, (key, caption, value, low, high) in enumerate(fields):
            field = NumberBox(low, high)
            field.setObjectName(f"plan-{key}")
            field.setAccessibleName(caption)
            field.setValue(value)
            field.setFixedWidth(112)
            field.setAlignment(Qt.AlignmentFlag.AlignRight)
            label = QLabel(caption)
            label.setBuddy(field)
            if key == "repeats":
                field.setToolTip(
                    "So many HITs come a second time, some HITs later: how far people agree with themselves"
                )
            plan.addWidget(label, row, 0)
            plan.addWidget(field, row, 1)
            self.fields[key] = field
        form.addLayout(plan)

    def _right(self) -> QVBoxLayout:
        grid = QGridLayout()
        grid.setHorizontalSpacing(16)
        grid.setVerticalSpacing(0)
        self.figures: dict[str, QLabel] = {}
        for k, (key, caption) in enumerate(FIGURES):
            figure = QLabel("–")
            figure.setObjectName(f"figure-{key}")
            figure.setProperty("heading", "part")
            row, column = divmod(k, 3)
            # a sentence may stand in place of the last one
            grid.addWidget(figure, 3 * row, column, 1, 3 if key == QUALITY else 1)
            grid.addWidget(self._second(caption), 3 * row + 1, column)
            grid.setColumnStretch(column, 1)
            self.figures[key] = figure
        grid.setRowMinimumHeight(2, 16)
        self.figures["hours"].setToolTip("Time of all workers together")
        self.figures["assignments"].setToolTip("HITs times workers for each (R)")
        self.warning = QLabel()
        self.warning.setObjectName("plan-warning")
        self.warning.setWordWrap(True)
        self.warning.setProperty("state", "warning")
        self.warning.setMinimumHeight(48)
        # its room is kept free, so that the photos below do not jump while numbers are typed
        policy = self.warning.sizePolicy()
        policy.setRetainSizeWhenHidden(True)
        self.warning.setSizePolicy(policy)
        self.warning.hide()
        self.preview = SortingGrid(self.shell.pictures, interactive=False)
        self.preview.setObjectName("preview")
        self.preview.setAccessibleName("The first HIT")
        self.left_out_heading = self._second("Left out")
        self.left_out = QListWidget()
        self.left_out.setObjectName("left-out")
        self.left_out.setMaximumHeight(120)
        layout = QVBoxLayout()
        layout.setSpacing(8)
        layout.addSpacing(8)
        layout.addWidget(self._second("What the plan asks for"))
        layout.addLayout(grid)
        layout.addWidget(self.warning)
        layout.addSpacing(8)
        layout.addWidget(self._second("The first HIT"))
        layout.addWidget(self.preview, 1)
        layout.addWidget(self.left_out_heading)
        layout.addWidget(self.left_out)
        return layout

    @staticmethod
    def _second(text: str) -> QLabel:
        label = QLabel(text)
        label.setProperty("rank", "second")
        return label
