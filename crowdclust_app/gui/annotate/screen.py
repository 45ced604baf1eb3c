"""The Annotate screen: who sorts, what is sorted, and that all of it is stored."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QFileDialog, QStackedWidget, QVBoxLayout

from crowdclust_app.domain.campaign import Item, Worker
from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.domain.sorting import Action, ActionKind
from crowdclust_app.gui.annotate.end_page import EndPage
from crowdclust_app.gui.annotate.session import AssignedSet, Session
from crowdclust_app.gui.annotate.set_page import SetPage
from crowdclust_app.gui.annotate.sorting_grid import Tile
from crowdclust_app.gui.annotate.worker_page import WorkerPage
from crowdclust_app.gui.errors import describe
from crowdclust_app.gui.registry import ScreenEntry
from crowdclust_app.gui.screen import Screen, Shell
from crowdclust_app.services.annotate.annotation import WorkerProgress
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.campaign.exclusions import active_workers
from crowdclust_app.services.progress_report import Progress

WORKER_KEY = "worker"
READ_KEY = "instructions-read"
SAVED = "Everything is saved"
BROKEN = "broken photo"


class AnnotateScreen(Screen):
    """Sort one set after another."""

    def __init__(self, shell: Shell, entry: ScreenEntry) -> None:
        super().__init__(shell, entry)
        self._campaign: Campaign | None = None
        self._items: dict[int, Item] = {}
        self._looked_for_worker = False
        self._session: Session | None = None
        # Most changes are stored within a few milliseconds; only a wait that can be felt is worth a word.
        self._saving = QTimer(self)
        self._saving.setSingleShot(True)
        self._saving.setInterval(300)
        self._saving.timeout.connect(lambda: shell.say("Saving"))
        self.pages = QStackedWidget()
        self.worker_page = WorkerPage()
        self.set_page = SetPage(shell.pictures)
        self.end_page = EndPage(
            "end-page",
            "done",
            (
                ("Look again", "end-again", self._fetch),
                ("Somebody else sorts", "end-change-worker", self.change_worker),
                ("See the campaign", "end-campaign", lambda: shell.show_screen("start")),
            ),
        )
        self.lost_page = EndPage(
            "lost-images-page", "broken", (("Choose the folder", "find-images", self._ask_for_images),)
        )
        for page in (self.worker_page, self.set_page, self.end_page, self.lost_page):
            self.pages.addWidget(page)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.pages)
        self.worker_page.picked.connect(self.begin)
        self.worker_page.added.connect(self._add_worker)
        self.set_page.acted.connect(self._store)
        self.set_page.submitted.connect(self._submit)
        self.set_page.skipped.connect(self._skip)
        self.set_page.flagged.connect(self._flag)
        self.set_page.worker_left.connect(self.change_worker)
        self.set_page.instructions.closed.connect(self._instructions_read)
        shell.theme_changed.connect(self._draw_signs)
        self._add_commands()

    # --- Screen

    def set_campaign(self, campaign: Campaign | None) -> None:
        """Change to another campaign; its last worker is read when the screen is shown."""
        self._end_session()
        self._campaign = campaign
        self._items = {}
        self._looked_for_worker = False
        self.set_page.set_campaign("" if campaign is None else campaign.instructions)
        self.pages.setCurrentWidget(self.worker_page)

    def refresh(self) -> None:
        """Go on where the worker stopped, or list the workers."""
        if self._campaign is None:
            return
        if not self._campaign.images_found:
            self._show_lost_images()
        elif self._session is None or self.pages.currentWidget() is self.worker_page:
            self._list_workers()
        elif self.pages.currentWidget() is self.set_page:
            self.set_page.clock.touch()
            self.set_page.grid.setFocus()

    def leave(self) -> None:
        """Time spent on other screens is not work on the set."""
        if self.pages.currentWidget() is self.set_page:
            self.set_page.clock.stop()

    def escape(self) -> bool:
        """Close what is open above the photos."""
        return self.pages.currentWidget() is self.set_page and self.set_page.escape()

    def setFocus(self, *_arguments: object) -> None:
        """The keyboard belongs to what is shown."""
        page = self.pages.currentWidget()
        if page is self.set_page:
            self.set_page.grid.setFocus()
        elif page is not None:
            page.setFocus()

    # --- who sorts

    def begin(self, worker: Worker) -> None:
        """Let this worker sort."""
        if self._campaign is None:
            return
        self._end_session()
        self.shell.remember(WORKER_KEY, worker.name)
        session = Session(self.shell.jobs, self._campaign, worker, self)
        session.turned.connect(self._show_turn)
        session.pending_changed.connect(self._show_pending)
        session.changed.connect(self.shell.data_changed)
        session.coming.connect(lambda items: self.set_page.load_ahead(self._tiles(items)))
        session.lost.connect(self._tell_lost)
        session.failed.connect(self._tell_failed)
        self._session = session
        self.set_page.worker_button.setText(worker.name)
        self.set_page.worker_button.setAccessibleName(f"{worker.name} sorts; change")
        session.fetch()

    def change_worker(self) -> None:
        """Change the worker; the set of the one before is kept for them."""
        self._end_session()
        self.shell.remember(WORKER_KEY, None)
        self.pages.setCurrentWidget(self.worker_page)
        self._list_workers()
        self.worker_page.field.clear()
        self.worker_page.field.setFocus()

    def _list_workers(self) -> None:
        campaign = self._campaign
        assert campaign is not None

        def work(_progress: Progress, _token: CancelToken) -> tuple[Worker, ...]:
            return active_workers(campaign)

        def done(workers: tuple[Worker, ...]) -> None:
            if campaign is not self._campaign:
                return
            self.worker_page.show_workers(workers, campaign.instructions)
            if not self._looked_for_worker:
                self._looked_for_worker = True
                known = self.shell.recall(WORKER_KEY)
                worker = next((worker for worker in workers if worker.name == known), None)
                if worker is not None and self._session is None:
                    self.begin(worker)

        self.shell.jobs.start("database", work, on_done=done, owner=self)

    def _add_worker(self, name: str) -> None:
        campaign = self._campaign
        if campaign is None:
            return

        def work(_progress: Progress, _token: CancelToken) -> Worker:
            return campaign.add_worker(name)

        def done(worker: Worker) -> None:
            if campaign is self._campaign:
                self.begin(worker)
                self.shell.data_changed.emit()

        self.shell.jobs.start("database", work, on_done=done, owner=self, essential=True)

    def _end_session(self) -> None:
        if self._session is not None:
            self._session.end()
            self._session = None
        self.set_page.freeze()

    # --- sets

    def _fetch(self) -> None:
        if self._session is not None:
            self._session.fetch()

    def _show_turn(self, turn: AssignedSet) -> None:
        session, campaign = self._session, self._campaign
        if session is None or campaign is None:
            return
        if turn.assignment is None:
            self._show_end(session.worker, turn.progress.submitted)
            return
        assignment = turn.assignment
        tiles = self._tiles(assignment.items)
        flagged = {k for k, tile in enumerate(tiles) if tile.item.path in turn.flagged}
        self.pages.setCurrentWidget(self.set_page)
        self.set_page.show_set(tiles, turn.log, turn.progress, assignment.active_seconds, flagged)
        read = self.shell.recall(READ_KEY, [])
        beginner = session.worker.name not in read and not turn.progress.submitted and not turn.log
        if beginner and not self.set_page.instructions.isVisible():
            self.set_page.open_instructions()
        self.shell.say(SAVED if turn.log else "")

    def _tiles(self, items: Sequence[int]) -> tuple[Tile, ...]:
        assert self._campaign is not None
        root = self._campaign.image_root
        if not self._items:
            self._items = {item.number: item for item in self._campaign.items()}
        return tuple(Tile(self._items[number], root / self._items[number].path) for number in items)

    def _show_end(self, worker: Worker, submitted: int) -> None:
        sets = "1 set" if submitted == 1 else f"{submitted} sets"
        self.end_page.say(
            f"Nothing left to sort, {worker.name}",
            f"You have sorted {sets}. What remains is done, or is being sorted by others just now."
            if submitted
            else "Every set has been sorted, or is being sorted by others just now.",
        )
        self.pages.setCurrentWidget(self.end_page)
        self.shell.say(SAVED)

    def _instructions_read(self) -> None:
        if self._session is not None:
            read = self.shell.recall(READ_KEY, [])
            if self._session.worker.name not in read:
                self.shell.remember(READ_KEY, [*read, self._session.worker.name])

    def _store(self, actions: list[Action], seconds: float) -> None:
        if self._session is not None:
            self._session.store(actions, seconds)

    def _submit(self, seconds: float) -> None:
        if self._session is not None:
            self._session.submit(seconds)

    def _skip(self, seconds: float) -> None:
        if self._session is not None:
            self._session.skip(seconds)

    def _flag(self, item: int) -> None:
        if self._session is not None:
            self._session.flag(item, BROKEN)
            self.shell.say("Photo flagged; sort it all the same")

    def _show_pending(self, pending: int) -> None:
        if not pending:
            self._saving.stop()
            self.shell.say(SAVED)
        elif not self._saving.isActive():
            self._saving.start()

    def _tell_lost(self, error: BaseException) -> None:
        self.set_page.freeze()
        message = describe(error)
        self.shell.show_error(
            f"{message.text} The last change was not saved; the photos show what is saved.", message.details
        )

    def _tell_failed(self, error: BaseException) -> None:
        self.shell.show_failure(error)
        self.set_page.thaw()

    def show_example(self) -> None:
        """Show the first HIT half sorted, without a worker: a picture for a README, of which nothing is stored."""
        campaign = self._campaign
        if campaign is None or not campaign.hits():
            return
        self._end_session()
        hits = campaign.hits()
        tiles = self._tiles(hits[0].items)
        truth, seen = campaign.truth(), dict[str, int]()
        some = range(max(1, len(tiles) * 3 // 4))
        # by the known categories if there are any, else in two groups
        kinds = [truth.get(tiles[position].item.path, str(2 * position >= len(some))) for position in some]
        placements = tuple((position, seen.setdefault(kinds[position], len(seen) + 1)) for position in some)
        log = [Action(ActionKind.PLACE, placements)]
        self.set_page.worker_button.setText("Ada")
        self.pages.setCurrentWidget(self.set_page)
        self.set_page.show_set(tiles, log, WorkerProgress(0, 0, 1, len(hits) - 1), 0.0, set())

    # --- photos that are elsewhere

    def _show_lost_images(self) -> None:
        campaign = self._campaign
        assert campaign is not None
        if campaign.has_images:
            self.lost_page.say(
                "The photos are not where they were",
                f"They were in {campaign.image_root}. Choose the folder in which they are now.",
            )
        else:
            self.lost_page.say(
                "This campaign has no photos", "Its items came from a table, so there is nothing to sort here."
            )
        button = self.lost_page.focusProxy()
        if button is not None:
            button.setVisible(campaign.has_images)
        self.pages.setCurrentWidget(self.lost_page)

    def _ask_for_images(self) -> None:
        chosen = QFileDialog.getExistingDirectory(self, "The folder of the photos")
        if chosen:
            self.relocate(Path(chosen))

    def relocate(self, folder: Path) -> None:
        """The photos are in this folder now."""
        campaign = self._campaign
        if campaign is None:
            return

        def work(_progress: Progress, _token: CancelToken) -> None:
            campaign.relocate(folder)

        def done(_result: None) -> None:
            self.shell.pictures.clear()
            self.shell.dismiss_error()
            self.pages.setCurrentWidget(self.worker_page)
            self.shell.data_changed.emit()

        self.shell.jobs.start("database", work, on_done=done, owner=self, essential=True)

    def _draw_signs(self) -> None:
        self.end_page.draw_sign()
        self.lost_page.draw_sign()

    def _add_commands(self) -> None:
        page = self.set_page
        for title, key, call in (
            ("Choose a group; two digits from 10 on", "1 – 9", lambda: self.shell.say("Press the group's number")),
            ("New group", "+", page.new_group),
            ("Put into the chosen group", "Return", page.assign),
            ("Take out of its group", "Del", page.take_out),
            ("See a photo large", "Space", page.enlarge),
            ("Put the rest into groups of their own", "R", page.rest_into_own_groups),
            ("Undo", "Ctrl+Z", page.undo),
            ("Redo", "Ctrl+Shift+Z", page.redo),
            ("Select what is not sorted", "Ctrl+A", page.select_unsorted),
            ("Submit the set", "Ctrl+Return", page.submit),
            ("Skip the set", "", page.ask_to_skip),
            ("Flag a broken photo", "F", page.flag),
            ("Show the instructions", "I", page.open_instructions),
            ("Change who sorts", "", self.change_worker),
        ):
            self.shell.add_command(title, key, call, owner=self, bind=False)
