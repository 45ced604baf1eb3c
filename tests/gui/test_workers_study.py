"""The Workers screen beyond the table: criteria, time, HITs as sorted, trust; deciding and undoing."""

from __future__ import annotations

import shutil
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtTest import QAbstractItemModelTester
from PySide6.QtWidgets import QApplication, QFileDialog, QLabel, QLineEdit, QMenu, QProgressBar, QPushButton
from pytestqt.qtbot import QtBot
from sorted_campaign import click, content_of, make_campaign, open_window, part
from user_actions import busy, press_button, settle, text_of, wait_until

from crowdclust_app.domain.fit_settings import FitSettings
from crowdclust_app.domain.plots import Points
from crowdclust_app.domain.sorting import Action, ActionKind
from crowdclust_app.gui.jobs import LANES
from crowdclust_app.gui.window import MainWindow
from crowdclust_app.gui.wording import signed
from crowdclust_app.gui.workers.content import WorkersContent
from crowdclust_app.gui.workers.history import running_median
from crowdclust_app.gui.workers.reliability_page import Gain, predicted_words
from crowdclust_app.gui.workers.turns_model import WorkerHitsModel
from crowdclust_app.gui.workers.work_page import ONE_CLUSTER, PredictedPage
from crowdclust_app.gui.workers.workers_model import FLAGS_COLUMN, GROUP_COLUMN
from crowdclust_app.services.annotate import annotation
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.campaign.exclusions import exclusions, retire_worker
from crowdclust_app.services.demo.demo_campaign import build_demo
from crowdclust_app.services.fits.campaign_fits import fit_campaign
from crowdclust_app.services.workers.submitted_hits import SubmittedHit
from crowdclust_app.services.workers.worker_rows import WorkerRow


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_demo(tmp_path_factory.mktemp("demo")).campaign


@pytest.fixture
def window(qtbot: QtBot, demo: Path, tmp_path: Path) -> MainWindow:
    return open_window(qtbot, shutil.copytree(demo.parent, tmp_path / "c") / demo.name, "workers")


def screen_of(window: MainWindow) -> WorkersContent:
    return content_of(window, WorkersContent)


def cell(screen: WorkersContent, worker: str, column: int) -> str:
    model = screen.table.model()
    rows = {model.index(row, 0).data(): row for row in range(model.rowCount())}
    return str(model.index(rows[worker], column).data())


def test_the_demo_has_two_criteria_and_two_odd_workers_for_the_right_reason(window: MainWindow) -> None:
    screen = screen_of(window)
    press_button(window, "workers-groups")
    settle(window)
    assert text_of(window, "groups-summary") == "2 criteria among 10 workers."
    assert len(screen.groups.cards) == 2
    for kind in ("height", "colour"):
        titles = {cell(screen, f"By {kind} {n}", GROUP_COLUMN) for n in range(1, 6)}
        assert len(titles) == 1
        assert titles < {"Group 1", "Group 2"}
    assert cell(screen, "By height 1", GROUP_COLUMN) != cell(screen, "By colour 1", GROUP_COLUMN)
    for odd, flag, why, kind in (
        ("At random", "random?", "hardly more like the clusters", "as if at random"),
        ("All in one group", "one group?", "put into one group", "everything into one group"),
    ):
        assert cell(screen, odd, GROUP_COLUMN) == ""
        assert flag in cell(screen, odd, FLAGS_COLUMN)
        screen.choose(odd)
        press_button(window, "worker-page-trust")
        assert why in text_of(window, "trust-reasons")
        assert kind in text_of(window, "trust-criterion")
        assert "Not predicted better than" in text_of(window, "trust-predicted")
    screen.choose("By colour 2")
    assert text_of(window, "trust-reasons").startswith("Nothing odd.")
    assert "Predicted better than a worker who sorts at random" in text_of(window, "trust-predicted")


def test_a_group_is_named_and_the_name_is_undone(qtbot: QtBot, window: MainWindow) -> None:
    screen = screen_of(window)
    press_button(window, "workers-groups")
    settle(window)
    group = cell(screen, "By colour 1", GROUP_COLUMN)
    field = part(window, f"group-name-{group.split()[1]}", QLineEdit)
    assert isinstance(field, QLineEdit)
    field.setFocus()
    qtbot.keyClicks(field, "sorts by colour")
    qtbot.keyClick(field, Qt.Key.Key_Return)
    settle(window)
    assert cell(screen, "By colour 3", GROUP_COLUMN) == "sorts by colour"
    assert cell(screen, "By height 3", GROUP_COLUMN).startswith("Group ")
    screen.deciding.undo()
    settle(window)
    assert cell(screen, "By colour 3", GROUP_COLUMN) == group
    screen.deciding.undo()
    settle(window)
    assert cell(screen, "By colour 3", GROUP_COLUMN) == group


def test_members_lead_to_the_worker(qtbot: QtBot, window: MainWindow) -> None:
    screen = screen_of(window)
    press_button(window, "workers-groups")
    settle(window)
    names = {button.text(): button for button in screen.groups.findChildren(QPushButton)}
    click(qtbot, names["By height 4"])
    assert screen.chosen == "By height 4"
    assert "At random" in names


def test_a_response_is_excluded_with_a_reason_and_taken_back_in(qtbot: QtBot, window: MainWindow) -> None:
    screen = screen_of(window)
    screen.choose("By colour 1")
    press_button(window, "worker-page-hits")
    settle(window)
    turn = screen.side.hits.chosen
    assert turn is not None
    surprises = [t.surprise for t in screen.side.hits._model.rows()]
    assert turn.surprise == max(s for s in surprises if s is not None)
    assert sum(map(len, screen.side.hits.sorted.groups)) == 16
    button = part(window, "exclude-response", QPushButton)
    assert not button.isEnabled()
    field = part(window, "exclude-reason", QLineEdit)
    qtbot.keyClicks(field, "two photos slipped")
    assert button.isEnabled()
    press_button(window, "exclude-response")
    settle(window)
    assert window.campaign is not None
    left = exclusions(window.campaign).of(turn.hit, "By colour 1")
    assert left is not None
    assert left.reason == "two photos slipped"
    assert screen.side.hits.chosen is not None
    assert screen.side.hits.chosen.hit == turn.hit
    assert "Excluded: two photos slipped" in text_of(window, "hit-about")
    assert cell(screen, "By colour 1", FLAGS_COLUMN) == "1 excluded"
    assert "run again" in text_of(window, "workers-run")
    press_button(window, "take-in-response")
    settle(window)
    assert exclusions(window.campaign).decisions == ()
    assert "run again" not in text_of(window, "workers-run")
    screen.deciding.undo()
    settle(window)
    assert exclusions(window.campaign).of(turn.hit, "By colour 1") is not None
    screen.deciding.undo()
    settle(window)
    assert exclusions(window.campaign).decisions == ()


def test_a_worker_is_retired_and_brought_back(qtbot: QtBot, window: MainWindow) -> None:
    screen = screen_of(window)
    screen.choose("At random")
    press_button(window, "worker-page-trust")
    field = part(window, "retire-reason", QLineEdit)
    qtbot.keyClicks(field, "does not look")
    qtbot.keyClick(field, Qt.Key.Key_Return)
    settle(window)
    assert "retired" in cell(screen, "At random", FLAGS_COLUMN)
    assert text_of(window, "retired-words").startswith("Retired: does not look.")
    window.show_screen("annotate")
    settle(window)
    names = {button.text() for button in window.findChildren(QPushButton)}
    assert "By colour 1" in names
    assert "At random" not in {b.text() for b in part(window, "worker-names").findChildren(QPushButton)}
    window.show_screen("workers")
    settle(window)
    screen.choose("At random")
    press_button(window, "bring-back-worker")
    settle(window)
    assert "retired" not in cell(screen, "At random", FLAGS_COLUMN)
    assert window.campaign is not None
    assert exclusions(window.campaign).retired == {}


def test_what_is_being_typed_outlives_the_answers_of_others(qtbot: QtBot, window: MainWindow) -> None:
    screen = screen_of(window)
    screen.choose("By colour 1")
    press_button(window, "worker-page-hits")
    press_button(window, "workers-groups")
    settle(window)
    reason = part(window, "exclude-reason", QLineEdit)
    assert isinstance(reason, QLineEdit)
    qtbot.keyClicks(reason, "half a sen")
    name = part(window, "group-name-1", QLineEdit)
    assert isinstance(name, QLineEdit)
    name.setFocus()
    qtbot.keyClicks(name, "sorts b")
    campaign = window.campaign
    assert campaign is not None
    worker = campaign.add_worker("Somebody else")
    turn = annotation.next_assignment(campaign, worker)
    assert turn is not None
    annotation.record(campaign, turn, Action(ActionKind.PLACE, tuple((p, p % 3 + 1) for p in range(16))), 9.0)
    annotation.submit(campaign, turn, 9.0)
    window.data_changed.emit()
    settle(window)
    assert cell(screen, "Somebody else", 1) == "1"
    assert reason.text() == "half a sen"
    assert part(window, "group-name-1", QLineEdit) is name
    assert name.text() == "sorts b"
    qtbot.keyClicks(name, "y it")
    qtbot.keyClick(name, Qt.Key.Key_Return)
    settle(window)
    titles = {cell(screen, f"By {kind} 1", GROUP_COLUMN) for kind in ("height", "colour")}
    assert titles & {"sorts by it"}


def test_a_retired_worker_is_out_of_the_next_run_and_that_is_said(window: MainWindow) -> None:
    screen = screen_of(window)
    campaign = window.campaign
    assert campaign is not None
    retire_worker(campaign, "At random", "does not look")
    fit_campaign(campaign, FitSettings(dimensions=2, n_starts=1, n_clusters=4, label_weight=0.2, folds=0))
    window.data_changed.emit()
    settle(window)
    screen.choose("At random")
    assert "Left out of this run, so it has no matrix." in text_of(window, "worker-about")
    assert screen.large._matrix is None
    assert "run again" not in text_of(window, "workers-run")
    press_button(window, "worker-page-trust")
    assert "Nothing was held out" in text_of(window, "trust-predicted")
    assert not part(window, "ask-without", QPushButton).isEnabled()
    press_button(window, "worker-page-hits")
    assert "Worker retired: does not look" in text_of(window, "hit-about")
    assert not part(window, "exclude-response", QPushButton).isEnabled()


def test_sets_are_planned_to_be_repeated(window: MainWindow) -> None:
    screen = screen_of(window)
    screen.choose("By colour 1")
    press_button(window, "worker-page-time")
    assert window.campaign is not None
    hits = len(window.campaign.hits())
    press_button(window, "plan-repeats")
    settle(window)
    assert len(window.campaign.hits()) == hits + round(hits / 10)
    assert not part(window, "plan-repeats", QPushButton).isVisible()


def test_while_others_have_the_threads_the_page_says_what_it_waits_for(window: MainWindow) -> None:
    screen = screen_of(window)
    press_button(window, "workers-groups")
    screen.choose("At random")
    press_button(window, "worker-page-trust")
    with busy(window, "quick", "Aggregating answers", jobs=LANES["quick"]):
        screen.studying.forget()
        screen.refresh()
        waiting = "waiting for “Aggregating answers” to end"
        wait_until(lambda: text_of(window, "groups-summary").endswith(waiting))
        assert text_of(window, "groups-summary") == f"Looking for workers who share a criterion: {waiting}"
        press_button(window, "ask-without")
        assert text_of(window, "without-words") == f"Fitting without At random: {waiting}"
    settle(window)
    assert text_of(window, "groups-summary") == "2 criteria among 10 workers."
    assert text_of(window, "without-words").startswith("Without At random")


def test_a_study_that_was_stopped_is_not_said_to_go_on(window: MainWindow) -> None:
    screen = screen_of(window)
    press_button(window, "workers-groups")
    with busy(window, "quick", "Aggregating answers", jobs=LANES["quick"]):
        screen.studying.forget()
        screen.refresh()
        wait_until(lambda: any(job.title.startswith("Looking for workers") for job in window.jobs.active))
        press_button(window, "status-cancel")
        wait_until(lambda: "has stopped" in text_of(window, "groups-summary"))
    settle(window)
    stopped = "The study of the workers has stopped; it begins again when this screen is opened."
    assert text_of(window, "groups-summary") == stopped


def test_what_the_clusters_would_be_without_a_worker(window: MainWindow) -> None:
    screen = screen_of(window)
    screen.choose("At random")
    press_button(window, "worker-page-trust")
    press_button(window, "ask-without")
    assert part(window, "without-progress", QProgressBar).isVisible()
    settle(window)
    assert not part(window, "without-progress", QProgressBar).isVisible()
    words = text_of(window, "without-words")
    assert words.startswith("Without At random")
    screen.choose("By colour 1")
    assert text_of(window, "without-words") == ""
    press_button(window, "ask-without")
    press_button(window, "stop-without")
    settle(window)
    assert text_of(window, "without-words") == ""
    screen.choose("At random")
    assert text_of(window, "without-words") == words


def test_time_and_agreement_over_time(qtbot: QtBot, window: MainWindow) -> None:
    screen = screen_of(window)
    screen.choose("By height 2")
    press_button(window, "worker-page-time")
    settle(window)
    page = screen.side.time
    assert page.agreement.series is not None
    assert page.seconds.series is not None
    assert len(page.agreement.series.x) == 16
    assert "not known" in text_of(window, "self-agreement")
    hit = page._hits["seconds-chart"][3]
    click(qtbot, page.seconds, page.seconds.point_at(3).toPoint())
    assert screen.side.hits.isVisible()
    assert screen.side.hits.chosen is not None
    assert screen.side.hits.chosen.hit == hit


def test_work_and_agreement_before_any_model(qtbot: QtBot, tmp_path: Path) -> None:
    window = open_window(qtbot, make_campaign(tmp_path), "workers")
    screen = screen_of(window)
    press_button(window, "workers-work")
    settle(window)
    words = text_of(window, "agreement-words")
    assert "Krippendorff's alpha" in words
    assert "95 % interval" in words
    assert screen.work.rank.series is not None
    assert len(screen.work.rank.series.x) == 3
    press_button(window, "workers-groups")
    assert "needs a run" in text_of(window, "groups-summary")
    press_button(window, "workers-predicted")
    assert screen.predicted.chart.series is None
    screen.choose("Idle")
    for page in ("time", "hits", "trust", "matrix"):
        press_button(window, f"worker-page-{page}")
        window.grab()
    assert text_of(window, "hit-about") == "No HIT submitted yet."


def test_awkward_names_and_one_cluster(qtbot: QtBot, tmp_path: Path) -> None:
    path = make_campaign(tmp_path)
    names = ('=HYPERLINK("x")', 'O\'Neil, "Ann"', "שלום עולם", "🌲" * 30, "<b>bold</b> & co")
    with Campaign.open(path) as campaign:
        for name in names:
            campaign.add_worker(name)
        fit_campaign(campaign, FitSettings(dimensions=2, n_starts=1, n_clusters=1, label_weight=1.0))
    window = open_window(qtbot, path, "workers")
    screen = screen_of(window)
    for lower in ("groups", "predicted", "work", "matrices"):
        press_button(window, f"workers-{lower}")
        for name in (*names, "Ann"):
            screen.choose(name)
            assert part(window, "worker-name", QLabel).text() == name
            window.grab()
    settle(window)
    assert cell(screen, names[-1], GROUP_COLUMN) == ""


def test_turns_model_keeps_qts_rules(qapp: QApplication) -> None:
    turns = tuple(
        SubmittedHit(f"h{n}", n, None, float(n) if n % 3 else None, 10, n / 20, None if n % 5 == 0 else n / 7, "", None)
        for n in range(20)
    )
    model = WorkerHitsModel()
    tester = QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    model.show(turns)
    for number in range(6):
        model.sort(number, Qt.SortOrder.DescendingOrder)
    model.sort(1, Qt.SortOrder.DescendingOrder)
    assert model.row(0).hit == "h19"
    assert "▼" in model.headerData(1, Qt.Orientation.Horizontal)
    model.show(())
    assert (tester.model(), model.rowCount()) == (model, 0)


@pytest.mark.qt_log_ignore("does not support raise", "does not support grabbing", extend=True)
def test_every_chart_can_be_saved(
    qtbot: QtBot, window: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    screen = screen_of(window)
    press_button(window, "workers-work")
    settle(window)
    rank = screen.work.rank
    at = QPoint(5, 5)
    QApplication.sendEvent(rank, QContextMenuEvent(QContextMenuEvent.Reason.Keyboard, at, rank.mapToGlobal(at)))
    menu = part(window, "chart-menu", QMenu)
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_a, **_k: (str(tmp_path / "rank.png"), ""))
    menu.actions()[0].trigger()
    settle(window)
    assert (tmp_path / "rank.png").stat().st_size > 1000
    rows = (tmp_path / "rank.csv").read_text(encoding="utf-8").splitlines()
    assert rows[0] == "line,rank_of_the_worker,value,spread"
    assert len(rows) == 1 + len(rank.series.x)
    press_button(window, "worker-page-trust")
    gains = screen.side.trust.gains.figure()
    assert isinstance(gains, Points)
    assert gains.names == ("than a worker who sorts at random", "than one who puts everything together")


def test_medians_and_signs() -> None:
    assert running_median(np.array([1.0, 100.0, 2.0, 3.0, 4.0]), 3).tolist() == [50.5, 2.0, 3.0, 3.0, 3.5]
    assert (signed(-0.001), signed(0.5), signed(-0.25)) == ("+0.00", "+0.50", "-0.25")
    assert Gain("x", -0.5, 0.1).words.startswith("Predicted worse than x")


def test_in_a_run_of_one_cluster_nobody_is_held_against_a_random_worker(qtbot: QtBot) -> None:
    page = PredictedPage()
    qtbot.addWidget(page)
    row = WorkerRow("w", 0, 3, None, 0.9, None, ())
    scores = np.array([[40.0, -0.5, *[0.1] * 7]])
    run = SimpleNamespace(
        result=SimpleNamespace(
            labels=np.array([1, 1, 0]), heldout_figures=scores, answered=np.array([True]), summary={}
        ),
        worker_names=("w",),
    )
    page.show_workers((row,), run.result)
    assert page.chart.accessibleName() == ONE_CLUSTER
    words, gains = predicted_words(row, SimpleNamespace(run=run))  # type: ignore[arg-type]
    assert "held-out pair labels predicted rightly" in words
    assert gains == ()
    run.result.labels = np.array([1, 2, 0])
    assert len(predicted_words(row, SimpleNamespace(run=run))[1]) == 2  # type: ignore[arg-type]
    page.show_workers((row,), run.result)
    assert page.chart.accessibleName() == "Nothing was held out in this run."
