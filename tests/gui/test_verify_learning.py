"""Learning from images on the Verify screen: switch, predictions, gold, the next question, what can go wrong."""

from __future__ import annotations

import shutil
import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from acting import PATIENCE
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QAbstractItemModelTester
from PySide6.QtWidgets import QApplication, QCheckBox, QComboBox, QFileDialog, QLabel, QPushButton
from pytestqt.qtbot import QtBot
from sorted_campaign import ask_some, click, make_campaign, move, open_window, part, settle

from crowdclust_app.domain.campaign import Worker
from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.domain.errors import Cancelled
from crowdclust_app.domain.questions import Said
from crowdclust_app.gui.verify.content import VerifyContent
from crowdclust_app.gui.verify.expertise import ExpertiseModel
from crowdclust_app.gui.verify.learnt_view import DOUBT, NO_FIRST, NOT_ASKED, OUTSIDE, YES_FIRST, LearntView
from crowdclust_app.gui.verify.wall import WallTile
from crowdclust_app.gui.window import MainWindow
from crowdclust_app.services import learning
from crowdclust_app.services.campaigns import Campaign
from crowdclust_app.services.learning import Desk, LearningSettings
from crowdclust_app.services.learning_results import LearntWorker
from crowdclust_app.services.question_verdicts import IN, OUT, UNDECIDED
from crowdclust_app.services.verifying import Interview, answers, make_question_set, question_set

CROWD = {"Ann": 0.97, "Bo": 0.9, "Lump": 0.55}
ASKED, GIVEN = 20, 36
CTRL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twenty of 24 photos are asked about, twelve of them have answers."""
    path = make_campaign(tmp_path_factory.mktemp("learning"), fit=True)
    with Campaign.open(path) as campaign:
        asked = make_question_set(campaign, "Is its number even?", range(ASKED), wanted=3)
        people = sorters(campaign)
        interview, rng = Interview(campaign, asked), np.random.default_rng(1)
        for item in range(GIVEN // 3):
            for worker in people:
                right = rng.random() < CROWD[worker.name]
                interview.answer(worker, item, Said.YES if (item % 2 == 0) == right else Said.NO, 2.0)
    return path


def sorters(campaign: Campaign) -> list[Worker]:
    return [worker for worker in campaign.workers() if worker.name in CROWD]


@pytest.fixture
def path(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CROWDCLUST_HOME", str(tmp_path / "home"))
    return shutil.copytree(made.parent, tmp_path / "c") / made.name


def content(window: MainWindow) -> VerifyContent:
    found = window.current_screen.content  # type: ignore[union-attr]
    assert isinstance(found, VerifyContent)
    return found


def words(window: MainWindow, name: str) -> str:
    return part(window, name, QLabel).text()


def learn(window: MainWindow, qtbot: QtBot) -> None:
    """Switch learning on, as a person does."""
    click(qtbot, part(window, "side-learning"))
    switch = part(window, "learning-switch", QCheckBox)
    assert switch.isVisible()
    qtbot.mouseClick(switch, Qt.MouseButton.LeftButton, pos=QPoint(10, switch.height() // 2))
    settle(window)


@pytest.fixture
def window(qtbot: QtBot, path: Path) -> MainWindow:
    return open_window(qtbot, path, "verify")


@pytest.fixture
def learnt(qtbot: QtBot, window: MainWindow) -> MainWindow:
    learn(window, qtbot)
    return window


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


def test_switched_on_every_photo_gets_a_probability_and_the_switch_is_remembered(
    qtbot: QtBot, path: Path, window: MainWindow
) -> None:
    lead = content(window).lead
    click(qtbot, part(window, "side-learning"))
    assert words(window, "learning-trouble").startswith("Switched on, every photo")
    assert not part(window, "learning-now").isEnabled()
    learn(window, qtbot)
    assert window.campaign is not None
    assert learning.learning_of(window.campaign, 1) == LearningSettings("gp", "photos")
    assert words(window, "learning-state").startswith(f"Learnt from {GIVEN} answers in")
    known = content(window).learning.work.desk
    assert known is not None
    found = known.learnt
    assert found is not None
    counts = {kind: found.count(kind) for kind in (IN, OUT, UNDECIDED)}
    assert words(window, "learning-figures").startswith(
        f"In {counts[IN]}, out {counts[OUT]}, undecided {counts[UNDECIDED]}; 8 of them predictions alone"
    )
    assert part(window, "show-in", QPushButton).text() == f"Verified in {counts[IN]}"
    assert "features of the photos. Noise: " in words(window, "learning-basis")
    assert words(window, "learning-trouble") == ""
    for text in found.warnings:
        assert text[1:] in words(window, "learning-warnings")
    click(qtbot, part(window, "show-not-asked"))
    assert sorted(lead.wall.positions) == list(range(GIVEN // 3, ASKED))
    window.close()
    again = open_window(qtbot, path, "verify")
    # the side, the switch and what was learnt are there again without a word
    assert part(again, "learning-switch", QCheckBox).isChecked()
    assert part(again, "learning-panel").isVisible()
    assert words(again, "learning-state").startswith(f"Learnt from {GIVEN} answers in")
    part(again, "learning-switch").setFocus()
    qtbot.keyClick(part(again, "learning-switch"), Qt.Key.Key_Space)
    settle(again)
    assert again.campaign is not None
    assert learning.learning_of(again.campaign, 1) is None
    assert words(again, "learning-state") == "Switched off"
    assert words(again, "learning-figures") == ""


def test_predictions_are_marked_by_word_and_dashes_and_sorted(qtbot: QtBot, learnt: MainWindow) -> None:
    lead = content(learnt).lead
    desk = content(learnt).learning.work.desk
    assert desk is not None
    assert desk.learnt is not None
    p = desk.learnt.probability
    order = part(learnt, "photo-order", QComboBox)
    click(qtbot, part(learnt, "show-not-asked"))
    doubt = [abs(p[place] - 0.5) for place in lead.wall.positions]
    assert order.currentData() == DOUBT
    assert doubt == sorted(doubt)
    for name, sign in ((YES_FIRST, -1), (NO_FIRST, 1)):
        order.setFocus()
        qtbot.keyClick(order, Qt.Key.Key_Down)
        assert order.currentData() == name
        shown = [sign * p[place] for place in lead.wall.positions]
        assert shown == sorted(shown)
    tile = choose(learnt, ASKED - 1, NOT_ASKED)
    assert (tile.caption, tile.predicted) == ("predicted", True)
    assert f"predicted to belong with probability {tile.belief}" in words(learnt, "photo-about")
    model = lead.wall.model()
    told = model.index(lead.wall.currentIndex().row(), 0).data(Qt.ItemDataRole.AccessibleTextRole)
    assert told == f"p19.png: predicted, {tile.belief}"
    answered = choose(learnt, 0)
    assert not answered.predicted
    assert "yes" in answered.caption or "no" in answered.caption
    click(qtbot, part(learnt, "show-outside"))
    assert [lead.wall._wall.tile(row).item for row in range(4)] == sorted(
        range(ASKED, 24), key=lambda item: desk.learnt.others[item]
    )
    lead.wall.setFocus()
    qtbot.keyClick(lead.wall, Qt.Key.Key_Home)
    assert "outside this question set" in words(learnt, "photo-about")
    qtbot.keyClick(lead.wall, "g")
    assert words(learnt, "photo-about") == "Only a photo of this question set can be gold"
    click(qtbot, part(learnt, "side-aggregators"))
    assert lead.wall.positions == lead.verification.disputed  # type: ignore[union-attr]
    assert not part(learnt, "show-not-asked").isVisible()


def test_answers_of_others_are_learnt_from_without_a_word(qtbot: QtBot, path: Path, learnt: MainWindow) -> None:
    with Campaign.open(path) as other:
        assert ask_some(other, 1, {"Zoe": 1.0}, most=3) == 3
    state = part(learnt, "learning-state", QLabel)
    qtbot.waitUntil(lambda: state.text().startswith(f"Learnt from {GIVEN + 3} answers"), timeout=PATIENCE)
    settle(learnt)
    assert [worker.name for worker in content(learnt).lead.learning.roc.workers][-1] == "Zoe"


def test_the_next_question_is_what_the_desk_says_and_undo_brings_it_back(qtbot: QtBot, learnt: MainWindow) -> None:
    campaign, work = learnt.campaign, content(learnt).learning.work
    assert campaign is not None
    zoe = campaign.add_worker("Zoe")
    click(qtbot, part(learnt, "verify-answer"))
    settle(learnt)
    content(learnt).begin(zoe)
    settle(learnt)
    page = content(learnt).answers
    asked = []
    for key in "yny":
        desk = work.desk
        assert desk is not None
        expected = desk.next_question([zoe.number])
        assert expected is not None
        assert page.photo.item not in asked
        asked.append(page.photo.item)
        # asked about before anybody else was, which uniform asking would not do
        assert expected.item >= GIVEN // 3
        qtbot.keyClick(page, key)
        settle(learnt)
    assert all(item is not None and item >= GIVEN // 3 for item in asked)
    given = [(answer.item, answer.said.value) for answer in answers(campaign, 1) if answer.worker == zoe.number]
    assert given == list(zip(asked, ("yes", "no", "yes"), strict=True))
    qtbot.keyClick(page, Qt.Key.Key_Z, CTRL)
    settle(learnt)
    assert page.photo.item == asked[-1]
    assert len([1 for answer in answers(campaign, 1) if answer.worker == zoe.number]) == 2
    # what was answered has been learnt from meanwhile
    assert not work.desk.stale()  # type: ignore[union-attr]


def test_the_first_question_is_the_least_certain_photo(qtbot: QtBot, learnt: MainWindow) -> None:
    desk = content(learnt).learning.work.desk
    assert desk is not None
    assert desk.learnt is not None
    assert learnt.campaign is not None
    zoe = learnt.campaign.add_worker("Zoe")
    told = desk.next_question([zoe.number])
    assert told is not None
    content(learnt).begin(zoe)
    settle(learnt)
    assert content(learnt).answers.photo.item == told.item
    open_ = np.flatnonzero(~desk.learnt.asked)
    assert told.item == open_[np.abs(desk.learnt.probability[open_] - 0.5).argmin()]


def test_without_anything_learnt_questions_come_as_ever(qtbot: QtBot, path: Path, window: MainWindow) -> None:
    assert window.campaign is not None
    zoe = window.campaign.add_worker("Zoe")
    expected = Interview(window.campaign, question_set(window.campaign, 1)).next_question(zoe)
    assert expected is not None
    content(window).begin(zoe)
    settle(window)
    assert content(window).learning.work.desk is None
    assert content(window).answers.photo.item == expected.item


def test_workers_are_told_by_pointer_and_keyboard(qtbot: QtBot, learnt: MainWindow) -> None:
    panel = content(learnt).lead.learning
    plot, table = panel.roc, panel.table
    assert [worker.name for worker in plot.workers] == ["Ann", "Bo", "Lump"]
    area = plot.area()
    assert area.width() > 100
    ann, lump = plot.workers[0], plot.workers[-1]
    assert plot.point(ann).x() == pytest.approx(area.left() + (1 - ann.specificity) * area.width())
    assert plot.point(ann).y() == pytest.approx(area.bottom() - ann.sensitivity * area.height())
    assert plot.ellipse(ann).width() == pytest.approx(2 * ann.specificity_sd * area.width())
    plot.setFocus()
    qtbot.keyClick(plot, Qt.Key.Key_Right)
    assert isinstance(ann, LearntWorker)
    low, high = ann.interval
    told = words(learnt, "learnt-worker")
    assert told.startswith(f"Ann, 12 answers: right {ann.expertise:.2f}, 95 % {low:.2f}–{high:.2f}\nsensitivity 0.")
    assert low < ann.expertise < high
    middle = plot.ellipse(lump).center()
    move(plot, QPoint(round(middle.x()), round(middle.y())))
    assert words(learnt, "learnt-worker").startswith("Lump")
    row = table.currentIndex().row()
    assert table.model().index(row, 0).data() == "Lump"
    table.setFocus()
    qtbot.keyClick(table, Qt.Key.Key_Up)
    assert plot.chosen is not None
    assert words(learnt, "learnt-worker").startswith(plot.chosen.name)
    best = [float(table.model().index(row, 1).data()) for row in range(3)]
    assert best == sorted(best, reverse=True)


def test_experts_positions_of_a_run_and_files(
    qtbot: QtBot, tmp_path: Path, learnt: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    method, source = part(learnt, "learning-method", QComboBox), part(learnt, "learning-source", QComboBox)
    method.setFocus()
    qtbot.keyClick(method, Qt.Key.Key_Down)
    settle(learnt)
    assert learnt.campaign is not None
    assert learning.learning_of(learnt.campaign, 1) == LearningSettings("experts", "photos")
    assert "Noise" not in words(learnt, "learning-basis")
    source.setFocus()
    qtbot.keyClick(source, Qt.Key.Key_Down)
    settle(learnt)
    assert learning.learning_of(learnt.campaign, 1) == LearningSettings("experts", "run", run=1)
    assert "of run 1" in words(learnt, "learning-basis")
    table = tmp_path / "features.csv"
    table.write_text("item,even\n" + "".join(f"p{n:02d}.png,{(n + 1) % 2}\n" for n in range(24)))
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (str(table), ""))
    qtbot.keyClick(source, Qt.Key.Key_Down)
    settle(learnt)
    assert learning.learning_of(learnt.campaign, 1) == LearningSettings("experts", "table", path=str(table))
    assert source.currentText() == "a table (CSV): features.csv"
    assert "1 feature of" in words(learnt, "learning-basis")
    # a dialog that is closed without a choice changes nothing
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: ("", ""))
    source.setCurrentIndex(source.count() - 1)
    source.activated.emit(source.count() - 1)
    settle(learnt)
    assert "features.csv" in source.currentText()
    model = tmp_path / "no.onnx"
    model.write_text("this is no model")
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (str(model), ""))
    source.activated.emit(source.count() - 1)
    settle(learnt)
    assert "no.onnx" in words(learnt, "learning-trouble")
    assert part(learnt, "learning-now").isVisible()


def test_gold_is_marked_with_keys_taken_back_and_anchors(qtbot: QtBot, learnt: MainWindow) -> None:
    lead, campaign = content(learnt).lead, learnt.campaign
    assert campaign is not None
    lead.wall.setFocus()
    lead.wall.clearSelection()
    for item, modifier, yes in ((16, Qt.KeyboardModifier.NoModifier, True), (17, SHIFT, False)):
        choose(learnt, item, NOT_ASKED)
        qtbot.keyClick(lead.wall, Qt.Key.Key_G, modifier)
        settle(learnt)
        assert learning.gold_of(campaign, 1)[item] is yes
    assert learning.gold_of(campaign, 1) == {16: True, 17: False}
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
    assert learning.gold_of(campaign, 1) == {16: True}
    lead.wall.setCurrentIndex(lead.wall.model().index(0, 0))
    assert words(learnt, "photo-about").endswith("gold: belongs")
    click(qtbot, part(learnt, "gold-none"))
    settle(learnt)
    assert learning.gold_of(campaign, 1) == {}
    qtbot.keyClick(lead.wall, Qt.Key.Key_Z, CTRL)
    settle(learnt)
    assert learning.gold_of(campaign, 1) == {16: True}
    qtbot.keyClick(lead.wall, Qt.Key.Key_Z, CTRL)
    qtbot.keyClick(lead.wall, Qt.Key.Key_Z, CTRL)
    settle(learnt)
    assert learning.gold_of(campaign, 1) == {}
    assert learnt.status.said.text() == "Nothing to take back"


def test_gold_is_never_told_to_who_answers(qtbot: QtBot, learnt: MainWindow) -> None:
    assert learnt.campaign is not None
    for item in range(12, ASKED - 1):
        learning.mark_gold(learnt.campaign, 1, item, item % 2 == 0)
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
    assert len(learning.gold_of(learnt.campaign, 1)) == 7
    # the first that was asked is the only photo without gold and answers
    first = next(answer for answer in answers(learnt.campaign, 1) if answer.worker == zoe.number)
    assert first.item == ASKED - 1


def test_stopped_it_waits_until_it_is_wanted(qtbot: QtBot, window: MainWindow, monkeypatch: pytest.MonkeyPatch) -> None:
    started, refresh = threading.Event(), Desk.refresh

    def endless(desk: Desk, progress: object, cancel: CancelToken) -> object:
        started.set()
        while not cancel.cancelled:
            threading.Event().wait(0.01)
        raise Cancelled

    monkeypatch.setattr(Desk, "refresh", endless)
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
    monkeypatch.setattr(Desk, "refresh", refresh)
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
                interview.answer(worker, item, Said.YES, 1.0)
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
    stale = Desk.stale

    def refuses(_desk: Desk) -> bool:
        raise OSError(5, "the disk is away")

    monkeypatch.setattr(Desk, "stale", refuses)
    content(learnt).learning.work.ensure()
    settle(learnt)
    assert words(learnt, "learning-trouble").startswith("The system refused: the disk is away")
    monkeypatch.setattr(Desk, "stale", stale)
    with Campaign.open(path) as other:
        assert ask_some(other, 1, {"Zoe": 1.0}, most=1) == 1
    content(learnt).refresh()
    settle(learnt)
    settle(learnt)
    assert words(learnt, "learning-trouble") == ""
    assert words(learnt, "learning-state").startswith(f"Learnt from {GIVEN + 1} answers")


def test_commands_are_listed_with_their_keys(window: MainWindow) -> None:
    listed = {command.title: command.shortcut for command in window.commands.of(window.current_screen)}
    assert listed["Gold: the chosen photo belongs"] == "G"
    assert listed["Gold: the chosen photo does not belong"] == "Shift+G"
    assert {
        "Learn now",
        "Switch learning from images on or off",
        "Photos: not asked",
        "Show: learn from images",
    } <= set(listed)


def test_another_set_shows_nothing_of_the_one_before(qtbot: QtBot, path: Path, learnt: MainWindow) -> None:
    assert learnt.campaign is not None
    learning.mark_gold(learnt.campaign, 1, 3, False)
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


def test_a_view_without_anything_learnt_claims_nothing(window: MainWindow) -> None:
    verification = content(window).lead.verification
    assert verification is not None
    view = LearntView(verification)
    assert view.count(UNDECIDED) == ASKED
    assert (view.count(IN), view.count(OUT), view.count(OUTSIDE)) == (0, 0, 0)
    assert view.tile(ASKED - 1, {}).belief == ""


def test_the_model_keeps_qts_rules(qapp: QApplication) -> None:
    model = ExpertiseModel()
    tester = QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    worker = LearntWorker(1, "Ann", 3, 0.9, 0.1, 0.8, 0.1, 0.85, 0.1, (0.6, 0.95))
    model.show([worker])
    assert (model.rowCount(), model.row_of(1), model.row_of(2), tester.parent()) == (1, 0, None, None)
