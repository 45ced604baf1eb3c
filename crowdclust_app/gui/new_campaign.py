"""The New campaign screen: a folder, a plan, and what that asks of people, worked out while it is typed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QFileDialog

from crowdclust_app.domain.campaign import FILE_SUFFIX, Item, PlanSettings
from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.domain.errors import UserError
from crowdclust_app.gui.annotate.sorting_grid import Tile
from crowdclust_app.gui.jobs import Job, cancel_jobs
from crowdclust_app.gui.new_campaign_form import NewCampaignForm
from crowdclust_app.gui.outlook import QUALITY, WORKING, Outlook, about_quality, outlook, quality_in_words
from crowdclust_app.gui.paths import typed_path
from crowdclust_app.gui.registry import ScreenEntry
from crowdclust_app.gui.screen import Shell
from crowdclust_app.gui.wording import capitalised
from crowdclust_app.services.campaign.expected_quality import ExpectedQuality, expected_quality
from crowdclust_app.services.progress_report import Progress, ProgressReport

if TYPE_CHECKING:
    from crowdclust_app.services.campaign.campaigns import Campaign
    from crowdclust_app.services.campaign.scanning import ScanReport

DEBOUNCE_MS = 200


class NewCampaignScreen(NewCampaignForm):
    """Make a campaign from a folder of photos."""

    def __init__(self, shell: Shell, entry: ScreenEntry) -> None:
        super().__init__(shell, entry)
        self._folder: Path | None = None
        self._scan: ScanReport | None = None
        self._scanning: Job | None = None
        self._simulating: Job | None = None
        self._figuring: Job | None = None
        self._creating: Job | None = None
        self._plan_error = ""
        self._later = QTimer(self)
        self._later.setSingleShot(True)
        self._later.setInterval(DEBOUNCE_MS)
        self._later.timeout.connect(self._work_out)
        self.choose.clicked.connect(lambda _checked: self.choose_folder())
        self.elsewhere.clicked.connect(lambda _checked: self._choose_file())
        self.path_field.textChanged.connect(lambda _text: self._show_state())
        for field in self.fields.values():
            field.valueChanged.connect(lambda _value: self._later.start())
            field.too_large.connect(
                lambda most, field=field: self.shell.say(f"{field.accessibleName()}: {most:,} at most")
            )
        self.create_button.clicked.connect(lambda _checked: self.make())
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
        self.shell.dismiss_error()  # it was about another folder
        self._folder, self._scan = folder, None
        self.folder_field.setText(str(folder))
        if not self.path_field.isModified():
            self.path_field.setText(str(folder.parent / f"{folder.name or 'campaign'}{FILE_SUFFIX}"))
        self.preview.show_set((), None)
        self._list_left_out()
        self._blank_figures()

        def work(progress: Progress, token: CancelToken) -> ScanReport:
            # the form is shown before Pillow is loaded
            from crowdclust_app.services.campaign.scanning import scan_images

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

    def repeat_share(self) -> float:
        """Which share of the HITs comes a second time."""
        return self.fields["repeats"].value() / 100

    def _work_out(self) -> None:
        """Work out what the plan comes to, dropping what an older choice came to."""
        if self._scan is None:
            return
        n_items, settings, repeats = len(self._scan.items), self.settings(), self.repeat_share()
        self._forget_simulation()
        self._figuring = self.shell.jobs.start(
            "decode",
            lambda _progress, _token: outlook(n_items, settings, repeats),
            on_done=self._show_outlook,
            on_failed=self._plan_refused,
            owner=self,
            instead_of=self._figuring,
        )

    def _show_outlook(self, found: Outlook) -> None:
        self._plan_error = ""
        for key, label in self.figures.items():
            label.setText(found.texts[key])
        self.warning.setText("\n".join(found.warnings))
        self.warning.setVisible(bool(found.warnings))
        scan, folder = self._scan, self._folder
        if scan is not None and folder is not None:
            chosen: list[Item] = [scan.items[k] for k in found.first]
            self.preview.show_set([Tile(item, folder / item.path) for item in chosen], None)
        self._simulate()
        self._show_state()

    def _simulate(self) -> None:
        """See in the background how good the clusters of such a plan may come out."""
        if self._scan is None:
            return
        n_items, settings = len(self._scan.items), self.settings()

        def work(_progress: Progress, cancel: CancelToken) -> ExpectedQuality | None:
            return expected_quality(n_items, settings, cancel=cancel)

        def cancelled() -> None:
            if job is self._simulating:
                self._show_quality(None)

        job = self._simulating = self.shell.jobs.start(
            "quick",
            work,
            title="Simulating people who do this plan",
            on_done=self._show_quality,
            on_cancelled=cancelled,
            owner=self,
        )
        self.figures[QUALITY].setText(job.waiting or WORKING)

    def _show_quality(self, found: ExpectedQuality | None) -> None:
        self.figures[QUALITY].setText(quality_in_words(found))
        self.figures[QUALITY].setToolTip(about_quality(found))

    def _forget_simulation(self) -> None:
        cancel_jobs(self._simulating)

    def _plan_refused(self, error: BaseException) -> None:
        self._blank_figures()
        if isinstance(error, UserError):
            self._plan_error = error.what
        else:
            self.shell.show_failure(error)
        self._show_state()

    def _blank_figures(self) -> None:
        self._forget_simulation()
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
            return capitalised(self._plan_error)
        if self._file() is None:
            return "Name the campaign's file"
        return ""

    def _file(self) -> Path | None:
        """Where the campaign shall be; None while the field names no file."""
        path = typed_path(self.path_field.text())
        if path is None or path.name in ("", ".."):
            return None
        return path if path.suffix == FILE_SUFFIX else path.with_name(path.name + FILE_SUFFIX)

    def make(self) -> None:
        """Make the campaign and open it."""
        scan, folder, path = self._scan, self._folder, self._file()
        if self.missing() or scan is None or folder is None or path is None:
            return
        settings, instructions = self.settings(), self.instructions.toPlainText().strip()
        repeats = self.repeat_share()

        def work(_progress: Progress, _token: CancelToken) -> Path:
            # the form is shown before SQLAlchemy is loaded
            from crowdclust_app.services.campaign.creating import create_from_scan

            made = create_from_scan(path, folder, scan, settings, instructions, repeat_share=repeats)
            return Path(made.campaign)

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
            self, "The campaign's file", self.path_field.text(), f"Campaigns (*{FILE_SUFFIX})"
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
