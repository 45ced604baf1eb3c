"""Answers and known categories out of a table: what it is, what it calls its columns, and how it is understood."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QComboBox,
    QFileDialog,
    QFormLayout,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QPushButton,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.gui import theme
from crowdclust_app.gui.jobs import Job, cancel_jobs
from crowdclust_app.gui.screen import Shell
from crowdclust_app.gui.table_rows import Column, TableRows
from crowdclust_app.gui.wording import count_of
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.exchange.importing import ImportReport, Kind, import_table
from crowdclust_app.services.exchange.table_preview import COLUMNS, TablePreview, preview_table
from crowdclust_app.services.progress_report import Progress

_TITLES: dict[Kind, str] = {
    "responses": "Groups of photos",
    "labels": "Yes/no answers",
    "pairs": "Pairs, same or different",
    "truth": "Known categories",
}
_EVERY_OTHER = "*"


class ImportPage(QWidget):
    """Previews a table and imports it.

    Signals
    -------
    closed
        The page has done its work or is not wanted any more.
    """

    closed = Signal()

    def __init__(self, shell: Shell, parent: QWidget) -> None:
        super().__init__(parent)
        self._shell = shell
        self._campaign: Campaign | None = None
        self._file: Path | None = None
        self._looking: Job | None = None
        self._importing: Job | None = None
        self._heading = QLabel("Import a table", self)
        self._kind = QComboBox(self)
        self._form = QFormLayout()
        self._boxes: dict[str, QComboBox] = {}
        self._notes = QLabel(self)
        self._rows = TableRows[tuple[str, ...]]((), self)
        self._table = QTableView(self)
        self._import = QPushButton("Import", self)
        self._build()

    def _build(self) -> None:
        self._heading.setProperty("heading", "page")
        for kind, title in _TITLES.items():
            self._kind.addItem(title, kind)
        self._kind.setObjectName("import-kind")
        self._kind.currentIndexChanged.connect(self._choose_kind)
        self._notes.setObjectName("import-notes")
        self._notes.setWordWrap(True)
        self._table.setObjectName("import-preview")
        self._table.setAccessibleName("The first rows as they are understood")
        self._table.verticalHeader().hide()
        self._table.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
        self._table.setShowGrid(False)
        self._import.setObjectName("import-button")
        self._import.setProperty("rank", "first")
        self._import.clicked.connect(self.import_it)
        cancel = QPushButton("Cancel", self)
        cancel.setObjectName("import-cancel")
        cancel.clicked.connect(self.close_page)
        buttons = QHBoxLayout()
        buttons.addStretch(1)
        buttons.addWidget(cancel)
        buttons.addWidget(self._import)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.MARGIN, theme.MARGIN, theme.MARGIN, theme.STEP)
        layout.setSpacing(theme.STEP)
        layout.addWidget(self._heading)
        layout.addWidget(self._kind)
        layout.addLayout(self._form)
        layout.addWidget(self._notes)
        layout.addWidget(self._table, 1)
        layout.addLayout(buttons)

    # --- choosing

    def open_for(self, campaign: Campaign) -> bool:
        """Ask for a table; whether one was chosen."""
        start = str(campaign.path.parent)
        chosen, _ = QFileDialog.getOpenFileName(
            self, "Import a table", start, "Tables (*.csv *.tsv *.txt);;All files (*)"
        )
        if not chosen:
            return False
        self._campaign, self._file = campaign, Path(chosen)
        self._heading.setText(f"Import {self._file.name}")
        self._choose_kind()
        return True

    def _choose_kind(self) -> None:
        """Offer the columns of another kind of table."""
        while self._form.rowCount():
            self._form.removeRow(0)
        self._boxes = {}
        for name in COLUMNS[self._chosen_kind]:
            box = QComboBox(self)
            box.setObjectName(f"import-column-{name}")
            box.addItem("recognised by itself", "")
            box.currentIndexChanged.connect(self._look)
            self._boxes[name] = box
            self._form.addRow(f"Column with the {name.replace('_', ' ')}", box)
        self._look()

    @property
    def _chosen_kind(self) -> Kind:
        kind: Kind = self._kind.currentData()
        return kind

    @property
    def _columns(self) -> dict[str, str]:
        return {name: box.currentData() for name, box in self._boxes.items() if box.currentData()}

    # --- looking

    def _look(self) -> None:
        campaign, file, kind, columns = self._campaign, self._file, self._chosen_kind, self._columns
        if campaign is None or file is None:
            return
        self._import.setEnabled(False)
        self._looking = self._shell.jobs.start(
            "database",
            lambda _progress, _cancel: preview_table(campaign, file, kind, columns),
            on_done=self._show,
            on_failed=self._shell.show_failure,
            owner=self,
            instead_of=self._looking,
        )

    def _show(self, preview: TablePreview) -> None:
        for name, box in self._boxes.items():
            if box.count() == 1:
                box.blockSignals(True)
                for column in filter(None, preview.columns):
                    box.addItem(column, column)
                if name in ("item", "task", "worker"):
                    box.addItem("every other column", _EVERY_OTHER)
                box.blockSignals(False)
        self._notes.setText(preview.problem or " ".join(preview.notes))
        self._rows = TableRows(
            [
                Column(name.replace("_", " "), "", lambda row, at=at: row[at])  # type: ignore[misc]
                for at, name in enumerate(COLUMNS[self._chosen_kind])
            ],
            self,
        )
        self._rows.show(preview.rows)
        self._table.setModel(self._rows)
        self._import.setEnabled(not preview.problem and self._campaign is not None and not self._campaign.read_only)

    # --- importing

    def import_it(self) -> None:
        """Add what the table says to the campaign."""
        campaign, file, kind, columns = self._campaign, self._file, self._chosen_kind, self._columns
        if campaign is None or file is None or self._importing is not None:
            return

        def work(progress: Progress, cancel: CancelToken) -> ImportReport:
            return import_table(campaign, file, kind, progress, cancel, columns=columns)

        self._import.setEnabled(False)
        self._importing = self._shell.jobs.start(
            "database",
            work,
            title=f"Importing {file.name}",
            on_done=self._done,
            on_failed=self._failed,
            on_cancelled=lambda: self._failed(None),
            owner=self,
        )

    def _done(self, report: ImportReport) -> None:
        self._importing = None
        things = {"labels": ("answer", "answers"), "truth": ("known category", "known categories")}
        thing = things.get(self._chosen_kind, ("response", "responses"))
        left_out = f", {report.skipped:,} left out" if report.skipped else ""
        self._shell.say(f"Imported {count_of(report.added, *thing)}{left_out}")
        if report.warnings:
            self._shell.show_error(report.warnings[0], "\n".join(report.warnings[1:]))
        self._shell.data_changed.emit()
        self.close_page()

    def _failed(self, error: BaseException | None) -> None:
        self._importing = None
        self._import.setEnabled(True)
        if error is not None:
            self._shell.show_failure(error)

    def close_page(self) -> None:
        """Let go of the table."""
        cancel_jobs(self._looking, self._importing)
        self._campaign = self._file = self._looking = self._importing = None
        self.closed.emit()
