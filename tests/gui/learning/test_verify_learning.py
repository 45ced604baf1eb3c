"""Learning from images on the Verify screen: switch, predictions, the next question, workers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from learning_window import ASKED, CTRL, GIVEN, choose, content, learn, words
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QAbstractItemModelTester
from PySide6.QtWidgets import QApplication, QCheckBox, QComboBox, QFileDialog, QLabel, QPushButton
from pytestqt.qtbot import QtBot
from sorted_campaign import ask_some, click, move, open_window, part, settle
from user_actions import PATIENCE

from crowdclust_app.gui.verify.expertise import ExpertiseModel
from crowdclust_app.gui.verify.learnt_view import DOUBT, NO_FIRST, NOT_ASKED, OUTSIDE, YES_FIRST, LearntView
from crowdclust_app.gui.window import MainWindow
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.verify import active_learning
from crowdclust_app.services.verify.active_learning import LearningSettings
from crowdclust_app.services.verify.interview import Interview, answers, question_set
from crowdclust_app.services.verify.learning_results import LearntWorker
from crowdclust_app.services.verify.verdicts import IN, OUT, UNDECIDED


def test_switched_on_every_photo_gets_a_probability_and_the_switch_is_remembered(
    qtbot: QtBot, path: Path, window: MainWindow
) -> None:
    lead = content(window).lead
    click(qtbot, part(window, "side-learning"))
    assert words(window, "learning-trouble").startswith("Switched on, every photo")
    assert not part(window, "learning-now").isEnabled()
    learn(window, qtbot)
    assert window.campaign is not None
    assert active_learning.learning_of(window.campaign, 1) == LearningSettings("gp", "photos")
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
    assert active_learning.learning_of(again.campaign, 1) is None
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
    assert lead.wall.positions == lead.verification.disputed
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
    assert not work.desk.stale()


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
    assert plot.place_of(ann).x() == pytest.approx(area.left() + (1 - ann.specificity) * area.width())
    assert plot.place_of(ann).y() == pytest.approx(area.bottom() - ann.sensitivity * area.height())
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
    assert plot.chosen_worker is not None
    assert words(learnt, "learnt-worker").startswith(plot.chosen_worker.name)
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
    assert active_learning.learning_of(learnt.campaign, 1) == LearningSettings("experts", "photos")
    assert "Noise" not in words(learnt, "learning-basis")
    source.setFocus()
    qtbot.keyClick(source, Qt.Key.Key_Down)
    settle(learnt)
    assert active_learning.learning_of(learnt.campaign, 1) == LearningSettings("experts", "run", run=1)
    assert "of run 1" in words(learnt, "learning-basis")
    table = tmp_path / "features.csv"
    table.write_text("item,even\n" + "".join(f"p{n:02d}.png,{(n + 1) % 2}\n" for n in range(24)))
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (str(table), ""))
    qtbot.keyClick(source, Qt.Key.Key_Down)
    settle(learnt)
    assert active_learning.learning_of(learnt.campaign, 1) == LearningSettings("experts", "table", path=str(table))
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
