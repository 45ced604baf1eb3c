"""The New campaign screen: a folder, a plan, and what that asks of people, worked out while it is typed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import (
    QFileDialog,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QListWidget,
    QPlainTextEdit,
    QScrollArea,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from crowdclust_app.domain.campaign import Item, PlanSettings
from crowdclust_app.domain.errors import UserError
from crowdclust_app.gui.annotate.grid import PhotoGrid, Tile
from crowdclust_app.gui.chrome import plain_button
from crowdclust_app.gui.jobs import Job
from crowdclust_app.gui.screen import Screen, Shell

if TYPE_CHECKING:
    from crowdclust_app.domain.cancellation import CancelToken
    from crowdclust_app.services.campaigns import Campaign
    from crowdclust_app.services.progress import Progress, ProgressReport
    from crowdclust_app.services.scanning import ScanReport

SUFFIX = ".crowdclust"
# Seconds a photo of a set takes while nothing has been measured: the paper's annotators needed about this.
SECONDS_PER_PHOTO = 5
DEBOUNCE_MS = 200
FIGURES = (
    ("hits", "HITs"),
    ("assignments", "Assignments"),
    ("hours", f"At {SECONDS_PER_PHOTO} s a photo"),
    ("shown", "HITs a photo is in"),
    ("pair_labels", "Pair labels"),
    ("components", "Connected parts"),
)


@dataclass(frozen=True)
class Outlook:
    """What a plan comes to, for the screen.

    Parameters
    ----------
    texts
        The figures as they are shown, by their keys in `FIGURES`.
    warnings
        Sentences about what is wrong with the plan.
    first
        Positions of the photos of the first HIT.
    """

    texts: dict[str, str]
    warnings: tuple[str, ...]
    first: tuple[int, ...]


def people_time(seconds: float) -> str:
    """A time as people say it."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    if minutes < 120:
        return f"{minutes} min"
    return f"{seconds / 3600:.0f} h" if seconds >= 36_000 else f"{seconds / 3600:.1f} h"


def outlook(n_items: int, settings: PlanSettings) -> Outlook:
    """Work a plan out; runs off the main thread."""
    from crowdclust_app.services.planning import plan_items

    plan, figures = plan_items(n_items, settings)
    seconds = SECONDS_PER_PHOTO * min(settings.items_per_hit, n_items) * figures.assignments
    low, mean, high = figures.shown_min, figures.shown_mean, figures.shown_max
    texts = {
        "hits": f"{figures.hits:,}",
        "assignments": f"{figures.assignments:,}",
        "hours": people_time(seconds),
        "shown": f"{low}–{high}, mean {mean:.1f}" if low != high else f"{low}",
        "pair_labels": f"{figures.pair_labels:,}",
        "components": f"{figures.components:,}",
    }
    return Outlook(texts, tuple(figures.warnings), tuple(plan.hits[0].tolist()))


class NewCampaignScreen(Screen):
    """Make a campaign from a folder of photos."""

    name = "new"
    title = "New campaign"
    icon = "new"

    def __init__(self, shell: Shell) -> None:
        super().__init__(shell)
        self._folder: Path | None = None
        self._scan: ScanReport | None = None
        self._scanning: Job | None = None
        self._figuring: Job | None = None
        self._creating: Job | None = None
        self._plan_error = ""
        self._later = QTimer(self)
        self._later.setSingleShot(True)
        self._later.setInterval(DEBOUNCE_MS)
        self._later.timeout.connect(self._work_out)
        self._build()
        self._show_state()

    def set_campaign(self, campaign: Campaign | None) -> None:
        """Nothing here is about the open campaign."""

    def refresh(self) -> None:
        """The preview may have been dropped from memory while another screen was shown."""
        self.preview.update()

    # --- folder

    def choose_folder(self) -> None:
        """Let the user choose the folder of the photos."""
        chosen = QFileDialog.getExistingDirectory(self, "The folder of the photos", str(self._folder or Path.home()))
        if chosen:
            self.use_folder(Path(chosen))

    def use_folder(self, folder: Path) -> None:
        """Look through this folder in the background."""
        if self._scanning is not None:
            self._scanning.cancel()
        self._folder, self._scan = folder, None
        self.folder_field.setText(str(folder))
        if not self.path_field.isModified():
            self.path_field.setText(str(folder.parent / f"{folder.name or 'campaign'}{SUFFIX}"))
        self.preview.show_set((), None)
        self._list_left_out()
        self._blank_figures()

        def work(progress: Progress, token: CancelToken) -> ScanReport:
            from crowdclust_app.services.campaigns import scan_images

            return scan_images(folder, progress, token)

        self._scanning = self.shell.jobs.start(
            "database",
            work,
            title=f"Looking through {folder.name}",
            on_done=self._scanned,
            on_progress=self._show_progress,
            on_failed=self._scan_failed,
            on_cancelled=self._scan_cancelled,
        )
        self.scan_state.setText("Looking for photos")
        self._show_state()

    def _show_progress(self, report: ProgressReport) -> None:
        of = f" of {report.total:,}" if report.total else ""
        self.scan_state.setText(f"{report.done:,}{of} files read")

    def _scanned(self, scan: ScanReport) -> None:
        self._scanning, self._scan = None, scan
        parts = [f"{len(scan.items):,} photos"]
        if scan.duplicates:
            parts.append(f"{len(scan.duplicates):,} copies left out")
        if scan.unreadable:
            parts.append(f"{len(scan.unreadable):,} cannot be read")
        self.scan_state.setText(", ".join(parts))
        self._list_left_out()
        self._work_out()
        self._show_state()

    def _scan_failed(self, error: BaseException) -> None:
        self._scanning = None
        self.scan_state.setText("No photos")
        self.shell.show_failure(error)
        self._show_state()

    def _scan_cancelled(self) -> None:
        self._scanning = None
        if self._scan is None:
            self.scan_state.setText("Stopped; choose the folder again to go on")
        self._show_state()

    def _list_left_out(self) -> None:
        self.left_out.clear()
        scan = self._scan
        if scan is not None:
            self.left_out.addItems([f"{path}: {reason}" for path, reason in scan.unreadable])
            self.left_out.addItems([f"{path}: the same as {original}" for path, original in scan.duplicates])
        self.left_out.setVisible(self.left_out.count() > 0)
        self.left_out_heading.setVisible(self.left_out.count() > 0)

    # --- plan

    def settings(self) -> PlanSettings:
        """What the fields say."""
        return PlanSettings(
            self.fields["m"].value(), self.fields["v"].value(), self.fields["r"].value(), self.fields["seed"].value()
        )

    def _work_out(self) -> None:
        """Work out what the plan comes to, dropping what an older choice came to."""
        if self._scan is None:
            return
        if self._figuring is not None:
            self._figuring.cancel()
        n_items, settings = len(self._scan.items), self.settings()
        self._figuring = self.shell.jobs.start(
            "decode",
            lambda _progress, _token: outlook(n_items, settings),
            on_done=self._show_outlook,
            on_failed=self._plan_refused,
            owner=self,
        )

    def _show_outlook(self, found: Outlook) -> None:
        self._figuring = None
        self._plan_error = ""
        for key, label in self.figures.items():
            label.setText(found.texts[key])
        self.warning.setText("\n".join(found.warnings))
        self.warning.setVisible(bool(found.warnings))
        scan, folder = self._scan, self._folder
        if scan is not None and folder is not None:
            chosen: list[Item] = [scan.items[k] for k in found.first]
            self.preview.show_set([Tile(item, folder / item.path) for item in chosen], None)
        self._show_state()

    def _plan_refused(self, error: BaseException) -> None:
        self._figuring = None
        self._blank_figures()
        if isinstance(error, UserError):
            self._plan_error = error.what
        else:
            self.shell.show_failure(error)
        self._show_state()

    def _blank_figures(self) -> None:
        for label in self.figures.values():
            label.setText("–")
        self.warning.hide()

    # --- create

    def missing(self) -> str:
        """What still has to be done before the campaign can be made; "" if nothing."""
        if self._creating is not None:
            return "Making the campaign"
        if self._folder is None:
            return "Choose a folder of photos"
        if self._scanning is not None:
            return "Wait for the photos"
        if self._scan is None:
            return "Choose a folder with photos"
        if self._plan_error:
            return self._plan_error[:1].upper() + self._plan_error[1:]
        if not self.path_field.text().strip():
            return "Name the campaign's file"
        return ""

    def make(self) -> None:
        """Make the campaign and open it."""
        scan, folder = self._scan, self._folder
        if self.missing() or scan is None or folder is None:
            return
        path = Path(self.path_field.text().strip()).expanduser()
        if path.suffix != SUFFIX:
            path = path.with_name(path.name + SUFFIX)
        settings, instructions = self.settings(), self.instructions.toPlainText().strip()

        def work(_progress: Progress, _token: CancelToken) -> Path:
            from crowdclust_app.services.campaigns import create_from_scan

            return Path(create_from_scan(path, folder, scan, settings, instructions).campaign)

        self._creating = self.shell.jobs.start(
            "database",
            work,
            title=f"Making {path.name}",
            on_done=self._created,
            on_failed=self._create_failed,
            on_cancelled=self._create_cancelled,
        )
        self._show_state()

    def _created(self, path: Path) -> None:
        self._creating = None
        self._show_state()
        self.shell.open_campaign(path, show="start")

    def _create_failed(self, error: BaseException) -> None:
        self._creating = None
        self._show_state()
        self.shell.show_failure(error)

    def _create_cancelled(self) -> None:
        self._creating = None
        self._show_state()

    def _choose_file(self) -> None:
        chosen, _ = QFileDialog.getSaveFileName(
            self, "The campaign's file", self.path_field.text(), f"Campaigns (*{SUFFIX})"
        )
        if chosen:
            self.path_field.setText(chosen)
            self.path_field.setModified(True)
            self._show_state()

    def _show_state(self) -> None:
        missing = self.missing()
        self.create_button.setText(missing or "Create the campaign")
        self.create_button.setEnabled(not missing)
        self.choose.setEnabled(self._creating is None)

    # --- widgets

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
        form.addWidget(self.instructions, 1)
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setWidget(left)
        area.setFixedWidth(392)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.create_button = plain_button("", "create-campaign", self.make, rank="first")
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
        self.choose = plain_button("Choose", "choose-folder", self.choose_folder)
        self.path_field = QLineEdit()
        self.path_field.setObjectName("campaign-path")
        self.path_field.setAccessibleName("The campaign's file")
        self.path_field.textChanged.connect(lambda _text: self._show_state())
        elsewhere = plain_button("Change", "choose-file", self._choose_file)
        for button in (self.choose, elsewhere):
            button.setFixedWidth(112)
        self.scan_state = self._second("Its photos stay where they are")
        self.scan_state.setObjectName("scan-state")
        for caption, field, button, below in (
            ("Folder of photos", self.folder_field, self.choose, self.scan_state),
            ("The campaign's file", self.path_field, elsewhere, None),
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
        self.fields: dict[str, QSpinBox] = {}
        plan = QGridLayout()
        plan.setHorizontalSpacing(16)
        plan.setVerticalSpacing(8)
        plan.setColumnStretch(0, 1)
        defaults = PlanSettings()
        fields = (
            ("m", "Photos shown together (M)", defaults.items_per_hit, 2, 200),
            ("v", "HITs a photo is in (V)", defaults.redundancy, 1, 1000),
            ("r", "Workers for each HIT (R)", defaults.workers_per_hit, 1, 1000),
            ("seed", "Seed of the plan", defaults.seed, 0, 2_147_483_647),
        )
        for row, (key, caption, value, low, high) in enumerate(fields):
            field = QSpinBox()
            field.setObjectName(f"plan-{key}")
            field.setAccessibleName(caption)
            field.setRange(low, high)
            field.setValue(value)
            field.setFixedWidth(112)
            field.setAlignment(Qt.AlignmentFlag.AlignRight)
            field.valueChanged.connect(lambda _value: self._later.start())
            label = QLabel(caption)
            label.setBuddy(field)
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
            grid.addWidget(figure, 3 * row, column)
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
        self.preview = PhotoGrid(self.shell.pictures, interactive=False)
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
