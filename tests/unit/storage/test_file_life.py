"""Whatever is done to a campaign file, an acknowledged answer is in it, or in a copy rescued or made at closing."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from campaign_making import do_next, fake_scan
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from crowdclust_app.domain.campaign import PlanSettings
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.campaign.checking import check_campaign
from crowdclust_app.services.campaign.creating import create_from_scan
from crowdclust_app.services.folders import HOME_VARIABLE
from crowdclust_app.storage.failures import FileLostError

Answer = tuple[int, str]


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
    """People answer while the file is copied, moved, deleted, replaced, opened twice, closed and abandoned."""

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

    @initialize()
    def create(self) -> None:
        images = self.folder / "images"
        create_from_scan(self.path, images, fake_scan(images, 24), PlanSettings(3, 4, 3, seed=1))
        shutil.copy(self.path, self.older)
        self.open()

    def open(self) -> None:
        if self.session is None and self.path.exists():
            self.session = Campaign.open(self.path)

    def answer_with(self, campaign: Campaign, name: str) -> None:
        known = {worker.name: worker for worker in campaign.workers()}
        assignment = do_next(campaign, known.get(name) or campaign.add_worker(name))
        if assignment is not None:
            self.acknowledged.add((assignment.hit, name))

    @rule(name=st.sampled_from(["Ann", "Bo", "Cyd"]))
    def answer(self, name: str) -> None:
        if self.session is None:
            return
        whole = self.path.exists()
        try:
            self.answer_with(self.session, name)
        except FileLostError:
            self.session.close()
            self.session = None
        else:
            assert whole, "an answer was acknowledged that no file has"

    @precondition(lambda self: self.path.exists())
    @rule()
    def another_window_answers(self) -> None:
        with Campaign.open(self.path) as other:
            self.answer_with(other, "Dora")

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
        for campaign in (*self.abandoned, *([self.session] if self.session else [])):
            campaign.close()
        data = self.folder / "home" / "data"
        kept = [path for path in (self.path, self.away, self.older, *data.glob("*/*")) if path.exists()]
        found = set().union(*map(answers_in, kept)) if kept else set()
        assert self.acknowledged <= found
        for path in (self.path, self.away):
            if path.exists():
                assert check_campaign(path).ok
                beside = {other.name for other in self.folder.iterdir() if other.name.startswith(path.name)}
                assert beside <= {path.name, f"{path.name}-journal"}
        self.environment.undo()
        self.temporary.cleanup()


TestAnAcknowledgedAnswerIsNeverLost = LifeOfAFile.TestCase
TestAnAcknowledgedAnswerIsNeverLost.settings = settings(
    max_examples=40, stateful_step_count=50, deadline=None, suppress_health_check=list(HealthCheck)
)
