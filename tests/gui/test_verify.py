"""The Verify screen as people use it: make a set, answer by keyboard, undo, look at the verdicts."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QAbstractItemModelTester
from PySide6.QtWidgets import QApplication, QComboBox, QLabel, QLineEdit, QPushButton
from pytestqt.qtbot import QtBot
from sorted_campaign import ask_some, click, content_of, make_campaign, move, open_window, part, settle
from user_actions import PATIENCE, busy

from crowdclust_app.domain.methods import verify_names
from crowdclust_app.domain.questions import AnswerKind, Policy
from crowdclust_app.gui.clusters.content import ClustersContent
from crowdclust_app.gui.jobs import LANES
from crowdclust_app.gui.verify.content import VerifyContent
from crowdclust_app.gui.verify.methods import MethodsModel
from crowdclust_app.gui.window import MainWindow
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.campaign.exclusions import retire_worker
from crowdclust_app.services.verify.interview import Interview, answers, make_question_set, question_set, question_sets
from crowdclust_app.services.verify.verdicts import IN, OUT

CTRL = Qt.KeyboardModifier.ControlModifier
CROWD = {"Ann": 0.97, "Bo": 0.9, "Cy": 0.85, "Lump": 0.6}


@pytest.fixture(scope="module")
def fitted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_campaign(tmp_path_factory.mktemp("verify"), fit=True)


@pytest.fixture
def path(fitted: Path, tmp_path: Path) -> Path:
    return shutil.copytree(fitted.parent, tmp_path / "c") / fitted.name


def content(window: MainWindow) -> VerifyContent:
    return content_of(window, VerifyContent)


def words(window: MainWindow, name: str) -> str:
    return part(window, name, QLabel).text()


def press(qtbot: QtBot, window: MainWindow, keys: str) -> None:
    """Keys one after another, each after the question before has been answered."""
    for key in keys:
        target = window.focusWidget()
        assert target is not None
        qtbot.keyClick(target, key)
        settle(window)


def sign_in(qtbot: QtBot, window: MainWindow, name: str) -> None:
    click(qtbot, part(window, "verify-answer"))
    settle(window)
    field = part(window, "verify-worker-name", QLineEdit)
    assert field.isVisible()
    assert field.hasFocus()
    qtbot.keyClicks(field, name)
    qtbot.keyClick(field, Qt.Key.Key_Return)
    settle(window)
    assert part(window, "answer-page").isVisible()


def stored(window: MainWindow, number: int = 1) -> list[str]:
    assert window.campaign is not None
    return [answer.said.value for answer in answers(window.campaign, number)]


def test_from_nothing_to_verdicts_by_mouse_and_keyboard(qtbot: QtBot, path: Path) -> None:
    window = open_window(qtbot, path, "verify")
    first = part(window, "verify-first", QPushButton)
    assert first.isVisible()
    assert first.hasFocus()
    qtbot.keyClick(first, Qt.Key.Key_Space)
    settle(window)
    source = part(window, "question-source", QComboBox)
    assert source.hasFocus()
    assert source.itemText(0).startswith("Cluster 1 of run 1")
    assert source.itemText(source.count() - 1) == "All photos  (24 photos)"
    assert "right?" in part(window, "question-text", QLineEdit).text()
    click(qtbot, part(window, "question-make"))
    settle(window)
    assert window.campaign is not None
    (info,) = question_sets(window.campaign)
    asked = info.question_set
    assert (asked.run, asked.cluster, asked.wanted, asked.policy) == (1, 1, 3, Policy.UNCERTAINTY)
    assert part(window, "verify-answer").hasFocus()
    assert words(window, "verify-figures") == f"No answers yet, {3 * len(asked.items)} answers planned"
    assert "No answers yet" in words(window, "no-photos")
    sign_in(qtbot, window, "Zoe")
    assert words(window, "question-sentence") == asked.sentence
    page = content(window).answers
    assert page.photo.item in asked.items
    assert page.photo.loaded
    assert page.neighbours.shown
    assert page.photo.item not in page.neighbours.shown
    press(qtbot, window, "yns")
    click(qtbot, part(window, "answer-yes"))
    settle(window)
    assert stored(window) == ["yes", "no", "skip", "yes"]
    assert words(window, "answer-progress") == f"3 answered, 1 skipped, {len(asked.items) - 4} to go"
    press(qtbot, window, "y" * (len(asked.items) - 4))
    assert words(window, "answer-end") == "Nothing left to ask you"
    click(qtbot, part(window, "answer-done"))
    settle(window)
    assert part(window, "lead-page").isVisible()
    assert words(window, "verify-figures").startswith(f"{len(asked.items) - 1} of {3 * len(asked.items)} answers")


def test_undo_brings_the_question_back_however_far(qtbot: QtBot, path: Path) -> None:
    with Campaign.open(path) as campaign:
        make_question_set(campaign, "Is it warm?", range(6), wanted=1)
    window = open_window(qtbot, path, "verify")
    sign_in(qtbot, window, "Zoe")
    page = content(window).answers
    seen = [page.photo.item]
    for key in "ynyny":
        press(qtbot, window, key)
        seen.append(page.photo.item)
    for item in reversed(seen[:-1]):
        qtbot.keyClick(page, Qt.Key.Key_Z, CTRL)
        settle(window)
        assert page.photo.item == item
        assert words(window, "answer-said") == "Taken back; answer it again"
    assert stored(window) == []
    qtbot.keyClick(page, Qt.Key.Key_Z, CTRL)
    settle(window)
    assert page.photo.item == seen[0]
    press(qtbot, window, "n")
    assert stored(window) == ["no"]
    # from the page that says the end, too
    press(qtbot, window, "nnnnn")
    click(qtbot, part(window, "answer-end-undo"))
    settle(window)
    assert page.photo.isVisible()
    assert stored(window) == ["no"] * 5


def test_a_key_pressed_twice_answers_once(qtbot: QtBot, path: Path) -> None:
    with Campaign.open(path) as campaign:
        make_question_set(campaign, "Is it warm?", range(6), wanted=1)
    window = open_window(qtbot, path, "verify")
    sign_in(qtbot, window, "Zoe")
    page = content(window).answers
    for _ in range(4):  # the next question is on its way: nobody can have seen it
        qtbot.keyClick(page, Qt.Key.Key_Y)
    settle(window)
    assert stored(window) == ["yes"]


def test_where_a_worker_stopped_the_next_window_goes_on(qtbot: QtBot, path: Path) -> None:
    with Campaign.open(path) as campaign:
        make_question_set(campaign, "Is it warm?", range(12), wanted=2, seed=3)
    window = open_window(qtbot, path, "verify")
    sign_in(qtbot, window, "Zoe")
    press(qtbot, window, "yny")
    item = content(window).answers.photo.item
    window.close()
    again = open_window(qtbot, path, "verify")
    click(qtbot, part(again, "verify-answer"))
    settle(again)
    # who answered last goes on without being asked
    assert part(again, "answer-worker", QPushButton).text() == "Zoe"
    assert content(again).answers.photo.item == item
    # somebody else may take over
    click(qtbot, part(again, "answer-worker"))
    settle(again)
    assert part(again, "verify-worker-name").isVisible()
    qtbot.keyClick(again, Qt.Key.Key_Escape)
    settle(again)
    assert part(again, "lead-page").isVisible()


def test_an_answer_given_in_another_window_is_told_and_the_next_question_comes(qtbot: QtBot, path: Path) -> None:
    with Campaign.open(path) as campaign:
        make_question_set(campaign, "Is it warm?", range(6), wanted=1)
    window = open_window(qtbot, path, "verify")
    sign_in(qtbot, window, "Zoe")
    page = content(window).answers
    with Campaign.open(path) as other:
        worker = next(worker for worker in other.workers() if worker.name == "Zoe")
        assert page.photo.item is not None
        first = page.photo.item
        Interview(other, question_set(other, 1)).answer(worker, first, AnswerKind.NO, 1.0)
    press(qtbot, window, "y")
    assert "answered this question already" in window.error_bar.text.text()
    assert page.photo.item != first
    assert stored(window) == ["no"]
    press(qtbot, window, "y")
    assert stored(window) == ["no", "yes"]


@pytest.fixture
def answered(qtbot: QtBot, path: Path) -> MainWindow:
    with Campaign.open(path) as campaign:
        make_question_set(campaign, "Is its number even?", range(24), wanted=4, policy=Policy.UNIFORM)
        assert ask_some(campaign, 1, CROWD) == 96
    return open_window(qtbot, path, "verify")


def test_aggregators_stand_side_by_side_and_the_marked_one_counts(qtbot: QtBot, answered: MainWindow) -> None:
    lead = content(answered).lead
    model = lead.methods.model()
    rows = {model.index(row, 0).data(): [model.index(row, c).data() for c in range(1, 5)] for row in range(8)}
    assert tuple(rows) == ("majority", "em", "em2", "mf", "bp", "bp2", "dawid-skene", "sbic-fast")
    assert lead.methods.viewport().height() == lead.methods.verticalHeader().length()  # no row is cut
    for counts in rows.values():
        assert sum(int(count) for count in counts[:3]) == 24
        assert counts[3].endswith("%")
    assert model.index(lead.methods.currentIndex().row(), 0).data() == "mf"
    assert lead.verification is not None
    found = lead.verification.method("mf")
    assert found is not None
    even = [item % 2 == 0 for item in range(24)]
    assert found.has(IN)[even].sum() > 9
    assert found.has(OUT)[[not e for e in even]].sum() > 9
    lead.methods.setFocus()
    qtbot.keyClick(lead.methods, Qt.Key.Key_Up)
    settle(answered)
    assert answered.campaign is not None
    assert question_set(answered.campaign, 1).method == "em2"
    assert words(answered, "method-about").startswith("em2: ")
    count = len(lead.verification.with_verdict("em2", IN))
    assert part(answered, "show-in", QPushButton).text() == f"Verified in {count}"
    assert "Theorem 1" in words(answered, "verify-errors")
    assert words(answered, "verify-figures") == "96 of 96 answers by 4 people; 3 min 12 s spent, none to go"


def test_photos_are_shown_by_verdict_with_who_said_what(qtbot: QtBot, answered: MainWindow) -> None:
    lead = content(answered).lead
    verification = lead.verification
    assert verification is not None
    for kind, expected in (
        ("disputed", verification.disputed),
        ("agreed", verification.agreed),
        ("in", verification.with_verdict("mf", IN)),
        ("out", verification.with_verdict("mf", OUT)),
    ):
        click(qtbot, part(answered, f"show-{kind}"))
        settle(answered)
        assert lead.wall.positions == expected
        assert expected
    lead.wall.setFocus()
    qtbot.keyClick(lead.wall, Qt.Key.Key_Home)
    told = words(answered, "photo-about")
    position = lead.wall.positions[lead.wall.currentIndex().row()]
    for name, said in verification.who_said(position):
        assert f"{name} {said.value}" in told
    assert set(verification.disputed).isdisjoint(verification.agreed)
    assert len(verification.disputed) + len(verification.agreed) == 24


def test_workers_are_ellipses_of_their_posteriors(qtbot: QtBot, answered: MainWindow) -> None:
    plot = content(answered).lead.worker_plot
    assert [worker.name for worker in plot.workers] == ["Ann", "Bo", "Lump", "Cy"]
    area = plot.area()
    assert area.width() == area.height() > 100
    ann = plot.workers[0]
    assert plot.place_of(ann).x() == pytest.approx(area.left() + ann.specificity * area.width())
    assert plot.ellipse(ann).height() == pytest.approx(2 * ann.sensitivity_sd * area.height())
    plot.setFocus()
    qtbot.keyClick(plot, Qt.Key.Key_Right)
    assert words(answered, "reliability-about").startswith("Ann, 24 answers\nsensitivity 0.")
    qtbot.keyClick(plot, Qt.Key.Key_Left)
    assert words(answered, "reliability-about").startswith("Cy, 24 answers")
    lump = plot.workers[2]
    ellipse = plot.ellipse(lump)
    move(plot, QPoint(round(ellipse.center().x()), round(ellipse.bottom() - 2)))
    assert words(answered, "reliability-about").startswith("Lump")
    assert lump.sensitivity + lump.specificity < ann.sensitivity + ann.specificity
    move(plot, QPoint(2, 2))
    assert words(answered, "reliability-about") == ""


def test_several_sets_and_the_form_for_any_photos(qtbot: QtBot, answered: MainWindow) -> None:
    click(qtbot, part(answered, "verify-new"))
    settle(answered)
    form = content(answered).form
    form.source.setCurrentIndex(form.source.count() - 1)
    make = part(answered, "question-make", QPushButton)
    # the sentence that was proposed for a cluster goes with it
    assert part(answered, "question-text", QLineEdit).text() == ""
    assert not make.isEnabled()
    assert words(answered, "question-amount") == "Write the question that is asked of each photo."
    qtbot.keyClicks(part(answered, "question-text"), "Is this p1?")
    qtbot.keyClicks(part(answered, "question-filter"), "P1")
    qtbot.waitUntil(lambda: len(form.items) == 10, timeout=PATIENCE)
    assert words(answered, "question-amount").startswith("10 photos, 30 answers in all")
    part(answered, "question-text").setFocus()
    qtbot.keyClick(part(answered, "question-text"), Qt.Key.Key_Return)
    settle(answered)
    assert answered.campaign is not None
    made = question_sets(answered.campaign)[1].question_set
    assert made.items == tuple(range(10, 20))
    assert (made.run, made.sentence) == (None, "Is this p1?")
    sets = part(answered, "question-sets", QComboBox)
    assert sets.currentData() == 2
    assert words(answered, "verify-figures").startswith("No answers yet")
    sets.setFocus()
    qtbot.keyClick(sets, Qt.Key.Key_Down)
    settle(answered)
    assert sets.currentData() == 1
    assert words(answered, "verify-figures").startswith("96 of 96")
    # a set that is about no cluster shows nothing beside the photo
    qtbot.keyClick(sets, Qt.Key.Key_Up)
    settle(answered)
    sign_in(qtbot, answered, "Zoe")
    assert not content(answered).answers.neighbours.isVisible()


def test_esc_leads_back_from_everywhere(qtbot: QtBot, answered: MainWindow) -> None:
    lead = part(answered, "lead-page")
    click(qtbot, part(answered, "verify-new"))
    settle(answered)
    assert not lead.isVisible()
    qtbot.keyClick(answered.focusWidget() or answered, Qt.Key.Key_Escape)
    settle(answered)
    assert lead.isVisible()
    assert answered.current_screen is not None
    assert answered.current_screen.name == "verify"


def test_the_model_keeps_qts_rules(qapp: QApplication, path: Path) -> None:
    model = MethodsModel()
    tester = QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    model.show_verdicts(None)
    assert (model.rowCount(), tester.parent()) == (8, None)


def test_a_cluster_is_verified_from_the_clusters_screen(qtbot: QtBot, path: Path) -> None:
    window = open_window(qtbot, path, "clusters")
    clusters = content_of(window, ClustersContent)
    settle(window)
    place = clusters.gallery.rows.current_place or clusters.gallery.category_rows[0].place
    qtbot.keyClick(window, Qt.Key.Key_V, CTRL | Qt.KeyboardModifier.ShiftModifier)
    settle(window)
    source = part(window, "question-source", QComboBox)
    assert source.isVisible()
    assert source.currentText().startswith(f"Cluster {place} of run 1")
    click(qtbot, part(window, "question-make", QPushButton))
    settle(window)
    assert window.campaign is not None
    (made,) = question_sets(window.campaign)
    assert (made.question_set.run, made.question_set.cluster) == (1, place)
    # the second time there is a set about it, and that is shown
    action = next(action for action in clusters.menu.actions if action.title == "Verify this cluster")
    action.call(place)
    settle(window)
    assert part(window, "question-sets", QComboBox).isVisible()
    assert part(window, "question-sets", QComboBox).currentData() == 1
    # of a cluster without one the form comes again
    action.call(place % 2 + 1)
    settle(window)
    assert source.isVisible()
    assert source.currentText().startswith(f"Cluster {place % 2 + 1} of run 1")


def test_what_others_answer_meanwhile_appears_by_itself(qtbot: QtBot, answered: MainWindow, path: Path) -> None:
    lead = content(answered).lead
    assert lead.verification is not None
    before = lead.verification.labels
    with Campaign.open(path) as elsewhere:
        interview = Interview(elsewhere, question_set(elsewhere, 1))
        ann = next(worker for worker in elsewhere.workers() if worker.name == "Ann")
        question = interview.undo(ann)
        assert question is not None
        qtbot.waitUntil(
            lambda: lead.verification is not None and lead.verification.labels == before - 1, timeout=PATIENCE
        )
        assert f"{before - 1} of" in words(answered, "verify-figures")
        interview.answer(ann, question.item, AnswerKind.NO, 1.0)
    qtbot.waitUntil(
        lambda: lead.verification is not None and lead.verification.labels == before
        and len(lead.verification.methods) == len(verify_names()), timeout=PATIENCE,
    )  # fmt: skip


def test_verdicts_do_not_wait_for_a_long_fit(qtbot: QtBot, answered: MainWindow) -> None:
    with busy(answered, "inference", "Running the inference"):
        lead = content(answered).lead
        lead.show_verification(None, {})
        content(answered).show_set(1)
        qtbot.waitUntil(
            lambda: lead.verification is not None and len(lead.verification.methods) == len(verify_names()),
            timeout=PATIENCE,
        )
        # the fit still runs: the verdicts did not wait for its end
        assert "Running the inference" in [job.title for job in answered.jobs.active]
    settle(answered)


def test_the_page_says_what_the_verdicts_wait_for(qtbot: QtBot, answered: MainWindow) -> None:
    lead = content(answered).lead
    with busy(answered, "quick", "Fitting without Ann", jobs=LANES["quick"]):
        lead.show_verification(None, {})
        content(answered).show_set(1)
        qtbot.waitUntil(lambda: words(answered, "no-photos") != "", timeout=PATIENCE)
        sentence = "Aggregating answers: waiting for “Fitting without Ann” to end"
        assert words(answered, "no-photos") == words(answered, "verify-figures") == sentence
        assert part(answered, "no-photos").isVisible()
    settle(answered)
    assert lead.verification is not None
    assert words(answered, "verify-figures").startswith("96 of 96 answers")
    assert words(answered, "no-photos") == ""


def test_a_retired_worker_is_not_offered(qtbot: QtBot, path: Path) -> None:
    with Campaign.open(path) as campaign:
        make_question_set(campaign, "Is it warm?", [0, 1, 2])
        retire_worker(campaign, "Lump", "one group for everything")
    window = open_window(qtbot, path, "verify")
    click(qtbot, part(window, "verify-answer"))
    settle(window)
    offered = [worker.name for worker in content(window).worker_page._shown]
    assert "Ann" in offered
    assert "Lump" not in offered
