"""A question set that people have answered in part, and a window that learns from its images."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QCheckBox, QLabel
from pytestqt.qtbot import QtBot
from sorted_campaign import click, content_of, make_campaign, part, settle

from crowdclust_app.domain.campaign import Worker
from crowdclust_app.domain.questions import AnswerKind
from crowdclust_app.gui.verify.content import VerifyContent
from crowdclust_app.gui.verify.learnt_view import NOT_ASKED
from crowdclust_app.gui.verify.wall import WallTile
from crowdclust_app.gui.window import MainWindow
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.verify.interview import Interview, make_question_set
from crowdclust_app.services.verify.verdicts import IN, OUT, UNDECIDED

CROWD = {"Ann": 0.97, "Bo": 0.9, "Lump": 0.55}
ASKED, GIVEN = 20, 36
CTRL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier


def sorters(campaign: Campaign) -> list[Worker]:
    return [worker for worker in campaign.workers() if worker.name in CROWD]


def content(window: MainWindow) -> VerifyContent:
    return content_of(window, VerifyContent)


def words(window: MainWindow, name: str) -> str:
    return part(window, name, QLabel).text()


def learn(window: MainWindow, qtbot: QtBot) -> None:
    """Switch learning on, as a person does."""
    click(qtbot, part(window, "side-learning"))
    switch = part(window, "learning-switch", QCheckBox)
    assert switch.isVisible()
    qtbot.mouseClick(switch, Qt.MouseButton.LeftButton, pos=QPoint(10, switch.height() // 2))
    settle(window)


def choose(window: MainWindow, item: int, kind: str = UNDECIDED) -> WallTile:
    """Go to a photo with the keyboard's frame."""
    lead = content(window).lead
    for other in (kind, IN, OUT, UNDECIDED, NOT_ASKED):
        lead.show_kind(other)
        if item in lead.wall.positions:
            break
    lead.wall.setFocus()
    lead.wall.setCurrentIndex(lead.wall.model().index(lead.wall.positions.index(item), 0))
    tile = lead.wall.current
    assert tile is not None
    assert tile.item == item
    return tile


def make_asked(folder: Path) -> Path:
    """Twenty of 24 photos are asked about, twelve of them have answers."""
    path = make_campaign(folder, fit=True)
    with Campaign.open(path) as campaign:
        asked = make_question_set(campaign, "Is its number even?", range(ASKED), wanted=3)
        people = sorters(campaign)
        interview, rng = Interview(campaign, asked), np.random.default_rng(1)
        for item in range(GIVEN // 3):
            for worker in people:
                right = rng.random() < CROWD[worker.name]
                interview.answer(worker, item, AnswerKind.YES if (item % 2 == 0) == right else AnswerKind.NO, 2.0)
    return path
