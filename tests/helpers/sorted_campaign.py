"""A small campaign that people with known habits have sorted, and a window on it."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import TypeVar

import numpy as np
from PIL import Image
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot
from user_actions import PATIENCE

from crowdclust_app.domain.campaign import PlanSettings
from crowdclust_app.domain.fit_settings import FitSettings
from crowdclust_app.domain.questions import AnswerKind
from crowdclust_app.domain.sorting import Action, ActionKind
from crowdclust_app.gui.late_screen import LateScreen
from crowdclust_app.gui.screen_content import ScreenContent
from crowdclust_app.gui.window import MainWindow
from crowdclust_app.services.annotate import annotation
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.campaign.creating import create_campaign
from crowdclust_app.services.fits.campaign_fits import fit_campaign
from crowdclust_app.services.verify.interview import Interview, question_set

N = 24
W = TypeVar("W", bound=QWidget)
C = TypeVar("C", bound=ScreenContent)
COLOURS = ((200, 60, 40), (60, 90, 200), (70, 160, 80), (230, 200, 60))
WORKERS = ("Ann", "Bo", "Lump")


def draw(folder: Path) -> Path:
    """N small pictures in four colours, each a little different."""
    folder.mkdir()
    rng = np.random.default_rng(0)
    for number in range(N):
        noise = rng.integers(-20, 20, (24, 32, 3))
        pixels = np.clip(np.array(COLOURS[number % 4]) + noise, 0, 255).astype(np.uint8)
        Image.fromarray(pixels).save(folder / f"p{number:02d}.png")
    return folder


def habit(worker: str, item: int) -> int:
    """The group that a worker puts an item into; Bo tells warm from cold colours only."""
    return {"Ann": item % 4 + 1, "Bo": item % 4 % 2 + 1, "Lump": 1}[worker]


def sort_some(campaign: Campaign, worker: str, most: int = 100) -> int:
    """Have a worker do HITs as the plan hands them out; how many it were."""
    who = next((w for w in campaign.workers() if w.name == worker), None) or campaign.add_worker(worker)
    done = 0
    while done < most and (turn := annotation.next_assignment(campaign, who)) is not None:
        groups = tuple((place, habit(worker, item)) for place, item in enumerate(turn.items))
        annotation.record(campaign, turn, Action(ActionKind.PLACE, groups), 20.0)
        annotation.submit(campaign, turn, 80.0)
        done += 1
    return done


def make_campaign(folder: Path, sort: bool = True, fit: bool = False) -> Path:
    """A campaign file in a folder, sorted by all workers and fitted if asked for."""
    path = folder / "colours.crowdclust"
    create_campaign(path, draw(folder / "photos"), PlanSettings(items_per_hit=8, redundancy=4, workers_per_hit=3))
    with Campaign.open(path) as campaign:
        if sort:
            for worker in WORKERS:
                sort_some(campaign, worker)
            campaign.add_worker("Idle")
        if fit:
            fit_campaign(campaign, FitSettings(dimensions=2, n_starts=1))
    return path


def open_window(qtbot: QtBot, path: Path, screen: str, size: tuple[int, int] = (1366, 768)) -> MainWindow:
    """A shown window on this campaign and screen, everything loaded."""
    window = MainWindow()
    qtbot.addWidget(window)
    window.resize(*size)
    window.show()
    with qtbot.waitSignal(window.campaign_opened, timeout=PATIENCE):
        window.open_campaign(path, show=screen)
    settle(window)
    return window


def content_of(window: MainWindow, kind: type[C]) -> C:
    """What fills the screen at the front."""
    screen = window.current_screen
    assert isinstance(screen, LateScreen)
    assert isinstance(screen.content, kind)
    return screen.content


def settle(window: MainWindow) -> None:
    """Let all work under way come to its end, and everything be drawn."""
    assert window.jobs.wait(PATIENCE)
    QApplication.processEvents()
    window.grab()
    assert window.jobs.wait(PATIENCE)
    QApplication.processEvents()


def part(window: QWidget, name: str, kind: type[W] = QWidget) -> W:  # type: ignore[assignment]
    """The widget of this name, as a person would find it: it has to be there once."""
    (found,) = window.findChildren(kind, name)
    return found


def click(qtbot: QtBot, widget: QWidget, at: QPoint | None = None, shift: bool = False) -> None:
    """Click a widget in its middle or at a point."""
    keys = Qt.KeyboardModifier.ShiftModifier if shift else Qt.KeyboardModifier.NoModifier
    qtbot.mouseClick(widget, Qt.MouseButton.LeftButton, keys, at or widget.rect().center())


def move(widget: QWidget, at: QPoint, button: Qt.MouseButton = Qt.MouseButton.NoButton) -> None:
    """Move the pointer over a widget; QTest's own moves come with no button and may be dropped."""
    place, everywhere = QPointF(at), QPointF(widget.mapToGlobal(at))
    keys = Qt.KeyboardModifier.NoModifier
    event = QMouseEvent(QMouseEvent.Type.MouseMove, place, everywhere, Qt.MouseButton.NoButton, button, keys)
    QApplication.sendEvent(widget, event)


def drag(qtbot: QtBot, widget: QWidget, corners: list[QPoint], steps: int = 8) -> None:
    """Press at the first corner, move from corner to corner, let go at the last."""
    left = Qt.MouseButton.LeftButton
    qtbot.mousePress(widget, left, pos=corners[0])
    for start, end in pairwise(corners):
        for step in range(1, steps + 1):
            # pyqtgraph leaves out moves that follow within 10 ms
            qtbot.wait(12)
            move(widget, start + (end - start) * (step / steps), left)
    qtbot.mouseRelease(widget, left, pos=corners[-1])


def ask_some(campaign: Campaign, number: int, accuracy: dict[str, float], most: int = 1000, seed: int = 0) -> int:
    """Have workers answer a question set in turn, yes to items of even number, as often right as said; how many."""
    asked = question_set(campaign, number)
    interview = Interview(campaign, asked)
    rng = np.random.default_rng(seed)
    known = {worker.name: worker for worker in campaign.workers()}
    workers = [known.get(name) or campaign.add_worker(name) for name in accuracy]
    given = idle = 0
    while given < most and idle < len(workers):
        worker = workers[(given + idle) % len(workers)]
        question = interview.next_question(worker)
        if question is None:
            idle += 1
            continue
        right = rng.random() < accuracy[worker.name]
        interview.answer(
            worker, question.item, AnswerKind.YES if (question.item % 2 == 0) == right else AnswerKind.NO, 2.0
        )
        given, idle = given + 1, 0
    return given
