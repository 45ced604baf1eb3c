"""What fills the Export screen: a folder, a run, the tables that will be there, and what else is wanted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt, QTimer, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import (
    QAbstractItemView,
    QCheckBox,
    QComboBox,
    QFileDialog,
    QGridLayout,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QLineEdit,
    QProgressBar,
    QPushButton,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.gui import theme
from crowdclust_app.gui.export.parts_box import PartsBox
from crowdclust_app.gui.export.report_pdf import write_pdf
from crowdclust_app.gui.jobs import Job, cancel_jobs
from crowdclust_app.gui.paths import typed_path
from crowdclust_app.gui.screen import Screen, Shell
from crowdclust_app.gui.screen_content import ScreenContent
from crowdclust_app.gui.table_rows import Column, TableRows
from crowdclust_app.gui.wording import count_of, of_stage, people_date
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.exchange.export_parts import (
    TABLES,
    export_parts,
    missing_photos_sentence,
    parts_in_the_way,
)
from crowdclust_app.services.exchange.export_preview import TableToWrite, files_in_the_way, tables_to_write
from crowdclust_app.services.exchange.result_folders import read_summary
from crowdclust_app.services.fits.results import RunInfo
from crowdclust_app.services.fits.run_store import run_list
from crowdclust_app.services.progress_report import Progress, ProgressReport
from crowdclust_app.services.stages.leaf_clusters import exported_run

FOLDER, ANONYMOUS, PARTS_KEY = "export-folder", "export-anonymous", "export-parts"
WIDEST, ROW = 960, 28


COLUMNS = (
    Column("File", "", lambda table: table.name),
    Column("What it holds", "", lambda table: table.about),
    Column("Rows", "", lambda table: "" if table.rows is None else f"{table.rows:,}", True),
)


class TablesModel(TableRows[TableToWrite]):
    """The files of an export."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(COLUMNS, parent)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the files."""
        return tuple(table.name for table in self.rows())


class ExportContent(ScreenContent):
    """Writes the campaign's tables as CSV files."""

    def __init__(self, shell: Shell, screen: Screen) -> None:
        super().__init__(shell, screen)
        self._usual: int | None = None
        self._looking: Job | None = None
        self._writing: Job | None = None
        self._written: Path | None = None
        self._tables = TablesModel(self)
        self._folder = QLineEdit(self)
        self._choose = QPushButton("Choose", self)
        self._run = QComboBox(self)
        self._anonymous = QCheckBox("Write workers as numbers instead of names", self)
        self._parts = PartsBox(self)
        self._list = QTableView(self)
        self._export = QPushButton("Export", self)
        self._cancel = QPushButton("Cancel", self)
        self._open = QPushButton("Open folder", self)
        self._bar = QProgressBar(self)
        self._state = QLabel(self)
        self._look_later = QTimer(self)
        self._look_later.setSingleShot(True)
        self._look_later.setInterval(250)
        self._look_later.timeout.connect(self._look_at_folder)
        self._name_parts()
        self._arrange()
        self._choose.clicked.connect(self._ask_for_folder)
        self._folder.textChanged.connect(self._look_later.start)
        self._folder.returnPressed.connect(self.export)
        self._run.currentIndexChanged.connect(self._read_tables)
        self._parts.changed.connect(self._parts_changed)
        self._export.clicked.connect(self.export)
        self._cancel.clicked.connect(self.cancel)
        self._open.clicked.connect(self._open_folder)
        self._command("Export", "Ctrl+E", self.export)
        self.setFocusProxy(self._folder)
        self._show_state()

    # --- layout

    def _name_parts(self) -> None:
        parts: dict[str, QWidget] = {
            "export-folder": self._folder,
            "export-choose": self._choose,
            "export-run": self._run,
            "export-anonymous": self._anonymous,
            "export-tables": self._list,
            "export-button": self._export,
            "export-cancel": self._cancel,
            "export-open": self._open,
            "export-state": self._state,
        }
        for name, part in parts.items():
            part.setObjectName(name)
        self._folder.setAccessibleName("Folder")
        self._run.setAccessibleName("Run")
        self._list.setAccessibleName("Tables that will be written")
        self._export.setProperty("rank", "first")
        self._state.setWordWrap(True)
        self._state.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._bar.setTextVisible(False)
        self._list.setModel(self._tables)
        self._list.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        self._list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._list.setShowGrid(False)
        self._list.setStyleSheet("QTableView::item { padding: 0 8px; }")
        self._list.verticalHeader().hide()
        self._list.verticalHeader().setDefaultSectionSize(ROW)
        header = self._list.horizontalHeader()
        header.setHighlightSections(False)
        header.setSectionsClickable(False)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        header.setSectionResizeMode(1, QHeaderView.ResizeMode.Stretch)
        header.resizeSection(0, 180)
        header.resizeSection(2, 110)

    def _arrange(self) -> None:
        heading = QLabel("Export", self)
        heading.setProperty("heading", "page")
        about = QLabel("Tables, a report, plots and photos for others. The campaign itself stays as it is.", self)
        about.setProperty("rank", "second")
        fields = QGridLayout()
        fields.setHorizontalSpacing(theme.MARGIN)
        fields.setVerticalSpacing(theme.STEP)
        fields.setColumnStretch(1, 1)
        for row, (title, widget) in enumerate((("Folder", self._folder), ("Run", self._run))):
            label = QLabel(title, self)
            label.setBuddy(widget)
            fields.addWidget(label, row, 0)
            fields.addWidget(widget, row, 1)
        fields.addWidget(self._choose, 0, 2)
        fields.addWidget(self._anonymous, 2, 1)
        also = QLabel("Besides", self)
        also.setAlignment(Qt.AlignmentFlag.AlignTop)
        fields.addWidget(also, 3, 0)
        fields.addWidget(self._parts, 3, 1)
        buttons = QHBoxLayout()
        buttons.setSpacing(theme.STEP)
        for button in (self._export, self._cancel, self._open):
            buttons.addWidget(button)
        buttons.addWidget(self._bar, 1)
        column = QWidget(self)
        column.setMaximumWidth(WIDEST)
        inside = QVBoxLayout(column)
        inside.setContentsMargins(0, 0, 0, 0)
        inside.setSpacing(theme.STEP)
        inside.addWidget(heading)
        inside.addWidget(about)
        inside.addSpacing(theme.STEP)
        inside.addLayout(fields)
        inside.addSpacing(theme.STEP)
        inside.addWidget(self._list, 100)
        inside.addLayout(buttons)
        inside.addWidget(self._state)
        inside.addStretch(1)
        self._state.setMinimumHeight(2 * self.fontMetrics().height() + theme.STEP)
        self._state.setAlignment(Qt.AlignmentFlag.AlignTop)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(theme.MARGIN, theme.MARGIN, theme.MARGIN, theme.STEP)
        layout.addWidget(column, 1)
        layout.addStretch(0)

    # --- the screen in the window

    def _forget(self) -> None:
        cancel_jobs(self._looking, self._writing)
        campaign = self._campaign
        self._writing = None
        self._written = None
        self._tables.show(())
        self._run.clear()
        if campaign is not None:
            default = campaign.path.parent / f"{campaign.name}-export"
            self._folder.setText(self.shell.recall(FOLDER, str(default)))
            self._anonymous.setChecked(bool(self.shell.recall(ANONYMOUS, False)))
            self._parts.choose(self.shell.recall(PARTS_KEY, []))
            self._parts.offer_photos(campaign.has_images and campaign.images_found)
        self._show_state()

    def _reader(self, campaign: Campaign) -> Callable[[CancelToken], tuple[tuple[RunInfo, ...], int | None]]:
        return lambda _cancel: (run_list(campaign), exported_run(campaign))

    # --- content

    def _loaded(self, found: tuple[tuple[RunInfo, ...], int | None]) -> None:
        runs, usual = found
        wanted = self._run.currentData()
        chosen = self._run.count() > 0 and wanted != self._usual
        self._usual = usual
        self._run.blockSignals(True)
        self._run.clear()
        for run in reversed(runs):
            clusters = count_of(int(str(run.summary["clusters"])), "cluster")
            name = f"Run {run.number}{of_stage(run.stage)}"
            self._run.addItem(f"{name} · {clusters} · {people_date(run.created_at)}", run.number)
        if not runs:
            self._run.addItem("No run yet: the tables of clusters are left out", None)
        self._run.setCurrentIndex(max(0, self._run.findData(wanted if chosen else usual)))
        self._run.blockSignals(False)
        self._run.setEnabled(bool(runs))
        self._parts.offer_runs(bool(runs))
        self._read_tables()

    def _read_tables(self, *_: Any) -> None:
        campaign, run = self._campaign, self._run.currentData()
        if campaign is None:
            return
        self._reading = self.shell.jobs.start(
            "database",
            lambda _progress, _cancel: tables_to_write(campaign, run),
            on_done=self._show_tables,
            owner=self,
            instead_of=self._reading,
        )

    def _show_tables(self, tables: tuple[TableToWrite, ...]) -> None:
        self._tables.show(tables)
        self._list.setMaximumHeight(self._list.horizontalHeader().height() + ROW * len(tables) + 4)
        self._look_at_folder()

    def _look_at_folder(self) -> None:
        """Say before the export what it will replace."""
        if self._writing is not None:
            return
        folder, names, parts = self._chosen_folder(), self._tables.names, self._parts.chosen
        cancel_jobs(self._looking)
        if folder is None or not names or folder == self._written:
            self._show_state()
            return
        self._looking = self.shell.jobs.start(
            "database",
            lambda _progress, _cancel: _in_the_way(folder, names, parts),
            on_done=self._tell_replaced,
            owner=self,
        )

    def _tell_replaced(self, names: tuple[str, ...]) -> None:
        self._show_state(
            f"Replaces {count_of(len(names), 'file or folder', 'files and folders')} of an earlier export here."
            if names
            else ""
        )

    def _parts_changed(self) -> None:
        self._written = None
        self._look_later.start()

    def _chosen_folder(self) -> Path | None:
        return typed_path(self._folder.text())

    def _ask_for_folder(self) -> None:
        before = self._chosen_folder()
        start = before if before is not None and before.is_dir() else Path(before or ".").parent
        chosen = QFileDialog.getExistingDirectory(self, "Folder for the tables", str(start))
        if chosen:
            self._folder.setText(chosen)

    def _open_folder(self) -> None:
        if self._written is not None:
            QDesktopServices.openUrl(QUrl.fromLocalFile(str(self._written)))

    # --- writing

    def export(self) -> None:
        """Write the tables."""
        campaign, folder, run = self._campaign, self._chosen_folder(), self._run.currentData()
        if campaign is None or self._writing is not None:
            return
        if folder is None:
            self.shell.show_error("No folder is chosen; choose one for the tables.")
            self._folder.setFocus()
            return
        anonymous, parts = self._anonymous.isChecked(), (TABLES, *self._parts.chosen)
        self.shell.remember(PARTS_KEY, list(self._parts.chosen))
        self.shell.remember(FOLDER, self._folder.text().strip())
        self.shell.remember(ANONYMOUS, anonymous)

        def work(progress: Progress, cancel: CancelToken) -> tuple[Path, ...]:
            return export_parts(campaign, folder, parts, anonymous, run, progress, cancel, write_pdf)

        self._written = None
        self._writing = self.shell.jobs.start(
            "database",
            work,
            title="Exporting",
            on_done=self._done,
            on_progress=self._progress,
            on_failed=self._failed,
            on_cancelled=self._cancelled,
            owner=self,
        )
        self._show_state("Writing")

    def cancel(self) -> None:
        """Stop; nothing is changed in the folder."""
        if self._writing is not None:
            self._writing.cancel()
            self._show_state("Stopping")

    def _progress(self, report: ProgressReport) -> None:
        self._show_state(report.text, report.done)

    def _done(self, files: tuple[Path, ...]) -> None:
        self._writing = None
        self._written = files[0].parent if files else None
        self.shell.say(f"{count_of(len(files), 'file')} exported")
        self._show_state(f"{count_of(len(files), 'file')} written to {self._written}")
        missing = read_summary(self._written)["missing_photos"] if self._written is not None else []
        if missing:
            self.shell.show_error(missing_photos_sentence(missing))

    def _failed(self, error: BaseException) -> None:
        self._writing = None
        self._show_state()
        self.shell.show_failure(error)

    def _cancelled(self) -> None:
        self._writing = None
        self._show_state("Cancelled; the folder is as it was.")

    def _show_state(self, words: str = "", done: int = 0) -> None:
        writing = self._writing is not None
        usable = self._campaign is not None and not writing
        for part in (self._folder, self._choose, self._anonymous, self._parts, self._export):
            part.setEnabled(usable)
        self._cancel.setEnabled(self._writing is not None and not self._writing.token.cancelled)
        self._open.setEnabled(self._written is not None)
        self._bar.setRange(0, max(1, len(self._tables.names)))
        self._bar.setValue(done if writing else 0)
        if words or self._written is None:
            self._state.setText(words)


def _in_the_way(folder: Path, tables: tuple[str, ...], parts: tuple[str, ...]) -> tuple[str, ...]:
    """Files and folders that an export would replace."""
    return (*files_in_the_way(folder, tables), *parts_in_the_way(folder, parts))
