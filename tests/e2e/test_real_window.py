"""The program as it is started, in a real window on a virtual screen, with keys that come from the X server.

The person at the keyboard sorts, the process is killed in the middle of a set, and the next start goes on there.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

import pytest

from crowdclust_app.domain.campaign import Assignment, PlanSettings
from crowdclust_app.domain.sorting import Sorting
from crowdclust_app.io.drawings import draw_collection
from crowdclust_app.services.annotate import annotation
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.campaign.creating import create_campaign
from crowdclust_app.services.campaign.responses import read_responses

pytestmark = pytest.mark.e2e

PATIENCE = 120.0
ATTEMPTS = 10
T = TypeVar("T")


@pytest.fixture(scope="module")
def display() -> Iterator[str]:
    """A virtual screen of its own."""
    missing = [tool for tool in ("Xvfb", "xdotool") if shutil.which(tool) is None]
    if missing:
        what = f"{' and '.join(missing)} missing; on Debian: apt-get install xvfb xdotool"
        if os.environ.get("CROWDCLUST_REQUIRE_XVFB"):
            pytest.fail(what)
        pytest.skip(what)
    read, write = os.pipe()
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(write), "-screen", "0", "1366x768x24", "-nolisten", "tcp"],
        pass_fds=[write],
        stderr=subprocess.DEVNULL,
    )
    os.close(write)
    with os.fdopen(read) as answer:
        number = answer.readline().strip()
    assert number, "the virtual screen did not start"
    yield f":{number}"
    server.terminate()
    server.wait(PATIENCE)


class Desktop:
    """A screen, a keyboard, and the program on it."""

    def __init__(self, display: str, home: Path) -> None:
        self.environment = {
            **{key: value for key, value in os.environ.items() if not key.startswith("QT_")},
            "DISPLAY": display,
            "QT_QPA_PLATFORM": "xcb",
            "CROWDCLUST_HOME": str(home),
        }
        self.program: subprocess.Popen[bytes] | None = None

    def start(self, *arguments: str) -> None:
        """Start the program and give its window the keyboard."""
        self.program = subprocess.Popen([sys.executable, "-m", "crowdclust_app", *arguments], env=self.environment)
        window = wait_for(lambda: self.xdotool("search", "--onlyvisible", "--pid", str(self.program.pid)).split())[-1]
        wait_for(lambda: self.xdotool("windowfocus", window) or self.xdotool("getwindowfocus").strip() == window)

    def xdotool(self, *words: str) -> str:
        done = subprocess.run(
            ["xdotool", *words], env=self.environment, capture_output=True, text=True, check=False, timeout=PATIENCE
        )
        return done.stdout

    def press(self, *keys: str) -> None:
        self.xdotool("key", "--delay", "60", *keys)

    def type(self, text: str) -> None:
        self.xdotool("type", "--delay", "60", text)

    def rests(self) -> bool:
        """Whether the program has done all that was asked of it: it waits, and has not computed for half a second."""
        assert self.program is not None
        seen = set()
        for _ in range(5):
            # after the name in brackets: the state, and 11 and 12 fields later the time computed, in ticks
            fields = Path(f"/proc/{self.program.pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
            seen.add((fields[0], fields[11], fields[12]))
            time.sleep(0.1)
        return len(seen) == 1 and seen.pop()[0] == "S"

    def kill(self) -> None:
        assert self.program is not None
        self.program.send_signal(signal.SIGKILL)
        self.program.wait(PATIENCE)

    def close(self) -> int:
        """Quit as a person does."""
        assert self.program is not None
        self.press("ctrl+q")
        return self.program.wait(PATIENCE)


def wait_for(look: Callable[[], T], patience: float = PATIENCE) -> T:
    """Look until there is something."""
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline:
        found = look()
        if found:
            return found
        time.sleep(0.1)
    raise AssertionError("it did not come in time")


@pytest.fixture
def desktop(display: str, tmp_path: Path) -> Iterator[Desktop]:
    desktop = Desktop(display, tmp_path / "home")
    yield desktop
    if desktop.program is not None and desktop.program.poll() is None:
        desktop.program.kill()
        desktop.program.wait(PATIENCE)


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """Eight drawn pictures, two HITs of four, one worker each."""
    pictures = tmp_path / "pictures"
    pictures.mkdir()
    for drawing in draw_collection(8, seed=1):
        drawing.save(pictures)
    path = tmp_path / "study.crowdclust"
    create_campaign(path, pictures, PlanSettings(items_per_hit=4, redundancy=1, workers_per_hit=1))
    return path


def open_assignment(campaign: Campaign) -> Assignment | None:
    """What the only worker is at, as the file says."""
    workers = campaign.workers()
    return annotation.next_assignment(campaign, workers[0]) if workers else None


def placed(campaign: Campaign, assignment: Assignment) -> int:
    return len(annotation.log(campaign, assignment))


def insist(desktop: Desktop, keys: Sequence[str], look: Callable[[], T]) -> T:
    """Press keys, which do nothing when done twice, until they show.

    They are pressed again when the program has nothing left to do, however long that takes on a busy machine: what has
    the keys may not have been there yet.
    """
    for _ in range(ATTEMPTS):
        wait_for(desktop.rests)
        desktop.press(*keys)
        wait_for(lambda: bool(look()) or desktop.rests())
        if found := look():
            return found
    raise AssertionError(f"{keys} had no effect")


def test_sorting_goes_on_after_the_process_was_killed(desktop: Desktop, study: Path) -> None:
    desktop.start("open", str(study))
    with Campaign.open(study) as campaign:
        insist(desktop, ("ctrl+2", "ctrl+a", "A", "d", "a", "Return"), campaign.workers)
        turn = wait_for(lambda: open_assignment(campaign))
        # Escape puts the instructions away; a photo that is in its group already stays there
        insist(desktop, ("Escape", "Home", "1", "Return"), lambda: placed(campaign, turn) == 1)
        insist(desktop, ("Home", "Right", "2", "Return"), lambda: placed(campaign, turn) == 2)
        desktop.kill()

        desktop.start("open", str(study))
        insist(desktop, ("ctrl+2", "Home", "3", "Return"), lambda: placed(campaign, turn) == 3)
        # the history is that of the killed program: the second undo takes back what it did
        desktop.press("ctrl+z", "ctrl+z")
        wait_for(lambda: placed(campaign, turn) == 5)
        assert Sorting(4, annotation.log(campaign, turn)).groups == (1, 0, 0, 0)
        desktop.press("Home", "Right", "2", "Return", "Right", "2", "Return", "r", "ctrl+Return")
        wait_for(lambda: len(read_responses(campaign)) == 1)
        (response,) = read_responses(campaign)
        names = [item.path for item in campaign.items()]
        assert response.worker == "Ada"
        group = dict(zip(response.items, response.groups, strict=True))
        first, second, third, fourth = (group[names[item]] for item in turn.items)
        assert second == third
        assert len({first, second, fourth}) == 3
    assert desktop.close() == 0
