"""Learning from images on the Verify screen: gold that only the lead sees, and what can go wrong."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

import pytest
from learning_window import ASKED, CTRL, GIVEN, SHIFT, choose, content, learn, sorters, words
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCheckBox, QComboBox, QLabel, QPushButton
from pytestqt.qtbot import QtBot
from sorted_campaign import ask_some, click, open_window, part, settle
from user_actions import PATIENCE

from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.domain.errors import Cancelled
from crowdclust_app.domain.questions import AnswerKind
from crowdclust_app.gui.verify.learnt_view import NOT_ASKED
from crowdclust_app.gui.window import MainWindow
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.verify import active_learning
from crowdclust_app.services.verify.active_learning import ActiveLearning
from crowdclust_app.services.verify.interview import Interview, answers, make_question_set


def test_gold_is_marked_with_keys_taken_back_and_anchors(qtbot: QtBot, learnt: MainWindow) -> None:
    lead, campaign = content(learnt).lead, learnt.campaign
    assert campaign is not None
    lead.wall.setFocus()
    lead.wall.clearSelection()
    for item, modifier, yes in ((16, Qt.KeyboardModifier.NoModifier, True), (17, SHIFT, False)):
        choose(learnt, item, NOT_ASKED)
        qtbot.keyClick(lead.wall, Qt.Key.Key_G, modifier)
        settle(learnt)
        assert active_learning.gold_of(campaign, 1)[item] is yes
    assert active_learning.gold_of(campaign, 1) == {16: True, 17: False}
    click(qtbot, part(learnt, "show-gold"))
    assert part(learnt, "show-gold", QPushButton).text() == "Gold 2"
    assert sorted(lead.wall.positions) == [16, 17]
    tiles = {tile.item: tile for tile in map(lead.wall._wall.tile, range(2))}
    assert {item: tile.gold for item, tile in tiles.items()} == {16: True, 17: False}
    assert tiles[16].spoken.endswith("gold yes")
    assert not tiles[16].predicted
    assert "2 gold photos" in words(learnt, "learning-basis")
    desk = content(learnt).learning.work.desk
    assert desk is not None
    assert desk.learnt is not None
    assert desk.learnt.probability[16] > 0.9
    assert desk.learnt.probability[17] < 0.1
    # undo, step by step
    qtbot.keyClick(lead.wall, Qt.Key.Key_Z, CTRL)
    settle(learnt)
    assert active_learning.gold_of(campaign, 1) == {16: True}
    lead.wall.setCurrentIndex(lead.wall.model().index(0, 0))
    assert words(learnt, "photo-about").endswith("gold: belongs")
    click(qtbot, part(learnt, "gold-none"))
    settle(learnt)
    assert active_learning.gold_of(campaign, 1) == {}
    qtbot.keyClick(lead.wall, Qt.Key.Key_Z, CTRL)
    settle(learnt)
    assert active_learning.gold_of(campaign, 1) == {16: True}
    qtbot.keyClick(lead.wall, Qt.Key.Key_Z, CTRL)
    qtbot.keyClick(lead.wall, Qt.Key.Key_Z, CTRL)
    settle(learnt)
    assert active_learning.gold_of(campaign, 1) == {}
    assert learnt.status.said.text() == "Nothing to take back"


def test_gold_is_never_told_to_who_answers(qtbot: QtBot, learnt: MainWindow) -> None:
    assert learnt.campaign is not None
    for item in range(12, ASKED - 1):
        active_learning.mark_gold(learnt.campaign, 1, item, item % 2 == 0)
    zoe = learnt.campaign.add_worker("Zoe")
    content(learnt).refresh()
    settle(learnt)
    assert part(learnt, "show-gold", QPushButton).text() == "Gold 7"
    page = content(learnt).answers
    content(learnt).begin(zoe)
    settle(learnt)
    for key in "y" * ASKED:
        if page.photo.item is None or not page.photo.isVisible():
            break
        seen = [label.text() for label in page.findChildren(QLabel)]
        seen += [button.text() + button.accessibleName() for button in page.findChildren(QPushButton)]
        seen += [page.photo.accessibleName(), page.toolTip(), page.photo.toolTip(), learnt.status.said.text()]
        assert not any("gold" in text.lower() for text in seen)
        before = page.photo.grab().toImage()
        # the lead's keys do nothing here
        qtbot.keyClick(page, "g")
        settle(learnt)
        assert page.photo.grab().toImage() == before
        qtbot.keyClick(page, key)
        settle(learnt)
    assert len(active_learning.gold_of(learnt.campaign, 1)) == 7
    # the first that was asked is the only photo without gold and answers
    first = next(answer for answer in answers(learnt.campaign, 1) if answer.worker == zoe.number)
    assert first.item == ASKED - 1


def test_stopped_it_waits_until_it_is_wanted(qtbot: QtBot, window: MainWindow, monkeypatch: pytest.MonkeyPatch) -> None:
    started, refresh = threading.Event(), ActiveLearning.refresh

    def endless(desk: ActiveLearning, progress: object, cancel: CancelToken) -> object:
        started.set()
        while not cancel.cancelled:
            threading.Event().wait(0.01)
        raise Cancelled

    monkeypatch.setattr(ActiveLearning, "refresh", endless)
    click(qtbot, part(window, "side-learning"))
    part(window, "learning-switch").setFocus()
    qtbot.keyClick(part(window, "learning-switch"), Qt.Key.Key_Space)
    stop = part(window, "learning-stop")
    qtbot.waitUntil(lambda: started.is_set() and stop.isVisible(), timeout=PATIENCE)
    assert part(window, "learning-bar").isVisible()
    # the window lives on meanwhile
    click(qtbot, part(window, "show-not-asked"))
    assert len(content(window).lead.wall.positions) == 8
    click(qtbot, stop)
    settle(window)
    assert words(window, "learning-trouble") == "Stopped; press Learn now to go on."
    assert not stop.isVisible()
    started.clear()
    content(window).refresh()
    settle(window)
    assert not started.is_set()
    monkeypatch.setattr(ActiveLearning, "refresh", refresh)
    click(qtbot, part(window, "learning-now"))
    settle(window)
    assert words(window, "learning-trouble") == ""
    assert words(window, "learning-state").startswith("Learnt from")


def test_photos_that_are_gone_are_told_in_a_sentence(qtbot: QtBot, path: Path, window: MainWindow) -> None:
    for photo in (path.parent / "photos").iterdir():
        photo.unlink()
    learn(window, qtbot)
    told = words(window, "learning-trouble")
    assert told.endswith(".")
    assert "photo" in told
    assert words(window, "learning-state") == "Nothing is learnt yet."
    assert not window.error_bar.isVisible()
    # answering goes on as without it
    assert window.campaign is not None
    content(window).begin(window.campaign.add_worker("Zoe"))
    settle(window)
    assert content(window).answers.photo.item is not None


def test_one_photo_that_is_gone_is_named(qtbot: QtBot, path: Path, window: MainWindow) -> None:
    (path.parent / "photos" / "p03.png").unlink()
    learn(window, qtbot)
    assert words(window, "learning-left-out").startswith("Left out: 1 photo: p03.png (")
    assert words(window, "learning-state").startswith("Learnt from")


def test_answers_of_one_kind_only_are_warned_of(qtbot: QtBot, path: Path) -> None:
    with Campaign.open(path) as campaign:
        asked = make_question_set(campaign, "Is it a picture?", range(8), wanted=2)
        interview = Interview(campaign, asked)
        for item in range(6):
            for worker in sorters(campaign)[:2]:
                interview.answer(worker, item, AnswerKind.YES, 1.0)
    window = open_window(qtbot, path, "verify")
    sets = part(window, "question-sets", QComboBox)
    assert sets.currentData() == 2
    learn(window, qtbot)
    lines = words(window, "learning-warnings").splitlines()
    assert "Every label is yes: nothing can be learnt about the other class." in lines
    assert all(line[0].isupper() and line.endswith(".") for line in lines)


def test_without_answers_there_is_one_sentence(qtbot: QtBot, path: Path) -> None:
    with Campaign.open(path) as campaign:
        make_question_set(campaign, "Is it warm?", range(8), wanted=2)
    window = open_window(qtbot, path, "verify")
    learn(window, qtbot)
    assert words(window, "learning-trouble") == (
        "Nobody has answered yet; have some photos answered, or mark some as gold."
    )
    assert not part(window, "roc-plot").isVisible()
    lead = content(window).lead
    click(qtbot, part(window, "show-not-asked"))
    assert lead.wall.positions == tuple(range(8))
    assert {lead.wall._wall.tile(row).caption for row in range(8)} == {"not asked"}
    # gold alone is enough to predict from
    for item, key in ((0, Qt.KeyboardModifier.NoModifier), (1, SHIFT)):
        choose(window, item, NOT_ASKED)
        qtbot.keyClick(lead.wall, Qt.Key.Key_G, key)
        settle(window)
    assert words(window, "learning-trouble") == ""
    assert words(window, "learning-state").startswith("Learnt from 0 answers")


def test_many_warnings_scroll_and_leave_the_window_its_size(learnt: MainWindow) -> None:
    panel, desk = content(learnt).lead.learning, content(learnt).learning.work.desk
    assert desk is not None
    assert desk.learnt is not None
    before, many = learnt.size(), tuple(f"this is warning number {n}, as long as such are" for n in range(40))
    content(learnt).lead.show_learnt(replace(desk.learnt, warnings=many))
    settle(learnt)
    assert learnt.size() == before
    assert learnt.minimumSizeHint().height() <= 768
    assert panel.height() > learnt.height()


def test_what_cannot_be_looked_up_is_tried_again(
    qtbot: QtBot, path: Path, learnt: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    stale = ActiveLearning.stale

    def refuses(_desk: ActiveLearning) -> bool:
        raise OSError(5, "the disk is away")

    monkeypatch.setattr(ActiveLearning, "stale", refuses)
    content(learnt).learning.work.ensure()
    settle(learnt)
    assert words(learnt, "learning-trouble").startswith("The system refused: the disk is away")
    monkeypatch.setattr(ActiveLearning, "stale", stale)
    with Campaign.open(path) as other:
        assert ask_some(other, 1, {"Zoe": 1.0}, most=1) == 1
    content(learnt).refresh()
    settle(learnt)
    settle(learnt)
    assert words(learnt, "learning-trouble") == ""
    assert words(learnt, "learning-state").startswith(f"Learnt from {GIVEN + 1} answers")


def test_another_set_shows_nothing_of_the_one_before(qtbot: QtBot, path: Path, learnt: MainWindow) -> None:
    assert learnt.campaign is not None
    active_learning.mark_gold(learnt.campaign, 1, 3, False)
    make_question_set(learnt.campaign, "Is it warm?", range(8), wanted=2)
    content(learnt).refresh()
    settle(learnt)
    content(learnt).show_set(2)
    settle(learnt)
    assert not part(learnt, "learning-switch", QCheckBox).isChecked()
    assert words(learnt, "learning-figures") == ""
    assert part(learnt, "show-gold", QPushButton).text() == "Gold 0"
    content(learnt).show_set(1)
    settle(learnt)
    assert part(learnt, "learning-switch", QCheckBox).isChecked()
    assert part(learnt, "show-gold", QPushButton).text() == "Gold 1"
