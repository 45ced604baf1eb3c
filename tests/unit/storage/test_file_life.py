"""Whatever is done to a campaign file, an acknowledged answer is in it, or comes back, or is in a copy beside it."""

from __future__ import annotations

import contextlib
import shutil
import signal
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from campaign_making import fake_scan
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule
from killing import Answer, answer_with, killed_after

from crowdclust_app.domain.campaign import PlanSettings
from crowdclust_app.domain.errors import UserError
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.campaign.checking import check_campaign
from crowdclust_app.services.campaign.creating import create_from_scan
from crowdclust_app.services.folders import HOME_VARIABLE
from crowdclust_app.storage import connection as storage_connection
from crowdclust_app.storage.failures import BusyError, FileLostError

if sys.platform == "win32":
    pytest.skip("programs are killed as POSIX has it", allow_module_level=True)

NAMES = st.sampled_from(["Ann", "Bo", "Cyd"])


def answers_in(path: Path) -> set[Answer]:
    """HIT and worker of each response in a file, read past this program."""
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        return set(
            connection.execute(
                "SELECT a.hit, w.name FROM responses r JOIN assignments a ON a.number = r.assignment "
                "JOIN workers w ON w.number = a.worker"
            )
        )


class LifeOfAFile(RuleBasedStateMachine):
    """People answer while the file is copied, moved, deleted, replaced, cut, opened twice, closed and abandoned."""

    def __init__(self) -> None:
        super().__init__()
        self.temporary = TemporaryDirectory()
        self.folder = Path(self.temporary.name)
        self.path = self.folder / "a.crowdclust"
        self.away = self.folder / "elsewhere.crowdclust"
        self.older = self.folder / "older"
        self.session: Campaign | None = None
        self.abandoned: list[Campaign] = []
        self.acknowledged: set[Answer] = set()
        self.environment = pytest.MonkeyPatch()
        self.environment.setenv(HOME_VARIABLE, str(self.folder / "home"))
        self.environment.setattr(storage_connection, "BUSY_SECONDS", 0.01)

    @initialize()
    def create(self) -> None:
        images = self.folder / "images"
        create_from_scan(self.path, images, fake_scan(images, 24), PlanSettings(3, 4, 3, seed=1))
        shutil.copy(self.path, self.older)
        self.open()

    def open(self) -> None:
        if self.session is None and self.path.exists():
            self.session = Campaign.open(self.path)

    def acknowledge(self, answer: Answer | None) -> None:
        if answer is not None:
            self.acknowledged.add(answer)

    def end_session(self) -> None:
        if self.session is not None:
            self.session.close()
            self.session = None

    @rule(name=NAMES)
    def answer(self, name: str) -> None:
        if self.session is None:
            return
        whole = self.path.exists()
        try:
            self.acknowledge(answer_with(self.session, name))
        except FileLostError:
            self.end_session()
        else:
            assert whole, "an answer was acknowledged that no file has"

    @precondition(lambda self: self.path.exists())
    @rule()
    def another_window_answers(self) -> None:
        with Campaign.open(self.path) as other:
            self.acknowledge(answer_with(other, "Dora"))

    @precondition(lambda self: self.path.exists())
    @rule()
    def copy(self) -> None:
        shutil.copy(self.path, self.older)
        assert answers_in(self.older) == answers_in(self.path)

    @precondition(lambda self: self.path.exists() and not self.away.exists())
    @rule()
    def move_away(self) -> None:
        self.path.rename(self.away)

    @precondition(lambda self: self.away.exists() and not self.path.exists())
    @rule()
    def move_back(self) -> None:
        self.away.rename(self.path)
        self.open()

    @precondition(lambda self: self.path.exists() and self.session is not None)
    @rule()
    def delete_while_open(self) -> None:
        self.path.unlink()
        self.answer("Ann")

    @precondition(lambda self: self.path.exists() and self.session is not None)
    @rule()
    def replace_by_the_older_copy(self) -> None:
        part = self.folder / "part"
        shutil.copy(self.older, part)
        part.replace(self.path)
        self.answer("Ann")
        self.open()

    @precondition(lambda self: self.path.exists())
    @rule(name=NAMES, sets=st.integers(0, 3), what=st.sampled_from(["nothing", "deleted", "replaced", "overwritten"]))
    def another_process_is_killed(self, name: str, sets: int, what: str) -> None:
        """Nobody notices what happens to its file before it is dead."""
        if what != "nothing":
            self.end_session()
        happens: dict[str, Callable[[], object]] = {
            "nothing": lambda: None,
            "deleted": self.path.unlink,
            "replaced": lambda: (
                shutil.copy(self.older, self.folder / "part") and (self.folder / "part").replace(self.path)
            ),
            "overwritten": lambda: self.path.write_bytes(self.older.read_bytes()),
        }
        self.acknowledged |= killed_after(self.path, name, sets, happens[what])
        if what == "deleted":
            shutil.copy(self.older, self.path)
        self.open()

    @precondition(lambda self: self.path.exists())
    @rule(name=NAMES, more=st.integers(0, 30_000))
    def another_process_fills_the_disk(self, name: str, more: int) -> None:
        """Every file may grow by some bytes only, also those of the log."""
        import resource

        full = max(self.path.stat().st_size, 8192) + more

        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (full, hard))
        try:
            self.acknowledged |= killed_after(self.path, name, 3)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        with Campaign.open(self.path):
            """From here on there is room for a copy."""

    @precondition(lambda self: self.path.exists() and self.session is not None)
    @rule(name=NAMES)
    def another_program_locks_it(self, name: str) -> None:
        assert self.session is not None
        with closing(sqlite3.connect(self.path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            with contextlib.suppress(BusyError, FileLostError):
                self.acknowledge(answer_with(self.session, name))

    @precondition(lambda self: self.path.exists() and self.session is not None)
    @rule()
    def overwrite_by_the_older_copy(self) -> None:
        self.path.write_bytes(self.older.read_bytes())
        self.answer("Ann")
        self.open()

    @precondition(lambda self: self.path.exists())
    @rule(share=st.floats(0, 0.99))
    def cut_it_off_and_restore_a_dated_copy(self, share: float) -> None:
        self.end_session()
        with self.path.open("r+b") as file:
            file.truncate(int(share * self.path.stat().st_size))
        with pytest.raises(UserError):
            Campaign.open(self.path)
        self.restore_a_dated_copy()

    def restore_a_dated_copy(self) -> None:
        copies = sorted((self.folder / "home/data/backups").glob("*"), key=lambda copy: copy.stem.rpartition("-")[2])
        shutil.copy(copies[-1] if copies else self.older, self.path)
        self.open()

    @precondition(lambda self: not self.path.exists() and not self.away.exists())
    @rule()
    def restore_the_older_copy(self) -> None:
        shutil.copy(self.older, self.path)
        self.open()

    @precondition(lambda self: self.session is not None)
    @rule()
    def close_and_open(self) -> None:
        assert self.session is not None
        self.session.close()
        self.session = None
        self.open()

    @precondition(lambda self: self.session is not None and self.path.exists())
    @rule()
    def abandon(self) -> None:
        """The program hangs for ever and is started again."""
        assert self.session is not None
        self.abandoned.append(self.session)
        self.session = None
        self.open()

    def teardown(self) -> None:
        try:
            self.look_everywhere()
        finally:
            self.environment.undo()
            self.temporary.cleanup()

    def look_everywhere(self) -> None:
        for campaign in (*self.abandoned, *([self.session] if self.session else [])):
            campaign.close()
        self.session = None
        if not self.path.exists():
            self.restore_a_dated_copy()
            self.end_session()
        kept = (self.path, self.away, self.older, *(self.folder / "home" / "data").glob("*/*.crowdclust"))
        assert self.acknowledged <= set().union(*(answers_in(path) for path in kept if path.exists()))
        for path in (self.path, self.away):
            if path.exists():
                assert check_campaign(path).ok
                beside = {other.name for other in self.folder.iterdir() if other.name.startswith(path.name)}
                assert beside <= {path.name, f"{path.name}-journal"}


TestAnAcknowledgedAnswerIsNeverLost = LifeOfAFile.TestCase
TestAnAcknowledgedAnswerIsNeverLost.settings = settings(
    max_examples=40, stateful_step_count=50, deadline=None, suppress_health_check=list(HealthCheck)
)
