"""The Stages screen as a person uses it: look at the tree, subdivide, run, remove, bring back, go to Clusters."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QAbstractItemModelTester, QTest
from PySide6.QtWidgets import QApplication, QComboBox, QLabel, QPushButton, QSpinBox
from pytestqt.qtbot import QtBot
from sorted_campaign import click, content_of, make_campaign, open_window, part, settle
from user_actions import Person, press_button, wait_until

from crowdclust_app.domain.campaign import PlanSettings
from crowdclust_app.domain.fit_settings import FitSettings
from crowdclust_app.domain.sorting import Action, ActionKind
from crowdclust_app.gui.clusters.content import ClustersContent
from crowdclust_app.gui.run_content import RUN_SHOWN
from crowdclust_app.gui.stages.content import StagesContent
from crowdclust_app.gui.stages.model import COLUMNS, HITS, NAME, PHOTOS, STATE, TreeModel
from crowdclust_app.gui.stages.rows import Kind, Row, rows_of
from crowdclust_app.gui.window import MainWindow
from crowdclust_app.services.annotate import annotation
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.campaign.responses import read_responses
from crowdclust_app.services.clusters.categories import read_categories, rename
from crowdclust_app.services.fits.campaign_fits import fit_campaign
from crowdclust_app.services.fits.run_store import load_run, run_list
from crowdclust_app.services.stages.stage_tree import look_at_stages
from crowdclust_app.services.stages.stages import cluster_items, remove_stage, subdivide

QUICK = FitSettings(
    dimensions=2, n_starts=3, n_clusters="bound", label_weight=0.6, folds=0, worker_prior="independent", seed=1
)
ODD_NAME = '=1+1 "قطط", 🐱'
NO, CTRL = Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ControlModifier


def sort_stage(path: Path, stage: str, kinds: int, workers: tuple[str, ...] = ("Ann", "Cleo", "Dan")) -> int:
    """Have people sort what is handed out of a stage into kinds that only show there; how many HITs."""
    done = 0
    with Campaign.open(path) as campaign:
        stages = {hit.number: hit.stage for hit in campaign.hits()}
        known = {worker.name: worker for worker in campaign.workers()}
        for name in workers:
            worker = known.get(name) or campaign.add_worker(name)
            while (turn := annotation.next_assignment(campaign, worker)) is not None:
                groups = [item // 4 % kinds if stages[turn.hit] == stage else item % 4 for item in turn.items]
                placed = tuple((place, group + 1) for place, group in enumerate(groups))
                annotation.record(campaign, turn, Action(ActionKind.PLACE, placed), 20.0)
                annotation.submit(campaign, turn, 40.0)
                done += stages[turn.hit] == stage
    return done


@pytest.fixture(scope="module")
def fitted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twenty-four pictures of four colours, one run."""
    path = make_campaign(tmp_path_factory.mktemp("fitted"), sort=False)
    sort_stage(path, "no stage", 1)
    with Campaign.open(path) as campaign:
        run = fit_campaign(campaign, QUICK)
        assert run.result.summary["cluster_sizes"] == [6, 6, 6, 6]
    return path


@pytest.fixture(scope="module")
def divided(fitted: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same with cluster 1 in two subclusters, and cluster 2 that cannot be divided."""
    path = shutil.copytree(fitted.parent, tmp_path_factory.mktemp("divided") / "c") / fitted.name
    for cluster, kinds in ((1, 2), (2, 1)):
        with Campaign.open(path) as campaign:
            stage = subdivide(campaign, "all", cluster, PlanSettings(4, 4, 2)).stage
        assert sort_stage(path, stage, kinds) == 12
        with Campaign.open(path) as campaign:
            fit_campaign(campaign, QUICK, stage=stage)
    return path


@pytest.fixture
def path(fitted: Path, tmp_path: Path) -> Path:
    return shutil.copytree(fitted.parent, tmp_path / "c") / fitted.name


@pytest.fixture
def tree_path(divided: Path, tmp_path: Path) -> Path:
    return shutil.copytree(divided.parent, tmp_path / "c") / divided.name


@pytest.fixture
def window(qtbot: QtBot, path: Path) -> MainWindow:
    return opened(qtbot, path)


@pytest.fixture
def tree_window(qtbot: QtBot, tree_path: Path) -> MainWindow:
    return opened(qtbot, tree_path)


def opened(qtbot: QtBot, path: Path, screen: str = "stages") -> MainWindow:
    window = open_window(qtbot, path, screen)
    window.remember("run-settings", replace(QUICK, n_clusters=4).as_dict())
    return window


def screen_of(window: MainWindow) -> StagesContent:
    return content_of(window, StagesContent)


def states(window: MainWindow) -> dict[str, str]:
    return {row.key: row.state for row in screen_of(window).model.rows}


def row_of(window: MainWindow, key: str) -> Row:
    return next(row for row in screen_of(window).model.rows if row.key == key)


def click_row(qtbot: QtBot, window: MainWindow, key: str) -> None:
    """Click a row's name."""
    content = screen_of(window)
    index = content.model.index_of(row_of(window, key))
    content.tree.scrollTo(index)
    click(qtbot, content.tree.viewport(), content.tree.visualRect(index).center())
    settle(window)


def press(
    window: MainWindow, key: Qt.Key | str, modifiers: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier
) -> None:
    """Press a key where the keyboard is."""
    target = window.focusWidget()
    assert target is not None
    if isinstance(key, str):
        QTest.keyClicks(target, key, modifiers)
    else:
        QTest.keyClick(target, key, modifiers)
    settle(window)


def text(window: MainWindow, name: str) -> str:
    return part(screen_of(window), name, QLabel).text()


def test_the_tree_tells_clusters_sizes_and_what_became_of_them(tree_window: MainWindow) -> None:
    content = screen_of(tree_window)
    found = states(tree_window)
    assert list(found) == ["all", "all/1", "all/1/1", "all/1/2", "all/2", "all/3", "all/4"]
    assert found["all"] == "4 clusters"
    assert found["all/1"] == "2 subclusters"
    assert found["all/2"] == "cannot be divided"
    assert found["all/3"] == found["all/1/1"] == ""
    assert text(tree_window, "stages-title") == "5 categories, 2 stages"
    model = content.model
    root = model.index(0, 0)
    assert [model.index(row, PHOTOS, root).data() for row in range(4)] == ["6"] * 4
    assert model.index(0, HITS, root).data() == "6 of 6"
    assert model.index(1, STATE, root).data() == "cannot be divided"
    assert [model.headerData(n, Qt.Orientation.Horizontal) for n in range(len(COLUMNS))] == list(COLUMNS)
    below = model.index(0, 0, root)
    assert [model.index(row, PHOTOS, below).data() for row in range(2)] == ["3", "3"]


def test_the_model_passes_qts_tester(tree_path: Path, qapp: QApplication) -> None:
    model = TreeModel()
    tester = QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    with Campaign.open(tree_path) as campaign:
        remove_stage(campaign, "all/2")
        root = rows_of(look_at_stages(campaign))
    for shown in (root, None, root):
        model.show(shown)
    assert model.rowCount() == 1
    assert [row.kind for row in model.rows].count(Kind.REMOVED) == 1
    last = model.index_of(model.rows[-1])
    assert last.parent().isValid()
    del tester


def test_a_cluster_is_subdivided_with_the_keyboard_alone(window: MainWindow, path: Path) -> None:
    content = screen_of(window)
    QTest.keyClick(window, Qt.Key.Key_6, CTRL)
    settle(window)
    content.tree.setFocus()
    press(window, Qt.Key.Key_Home)
    press(window, Qt.Key.Key_Down)
    assert text(window, "stage-title") == "Cluster 1"
    assert part(content, "split-m", QSpinBox).value() == 6  # no more than there are  # type: ignore[attr-defined]
    assert text(window, "split-figure-hits") == "1"
    assert "All 6 photos fit into one HIT" in text(window, "split-warning")
    assert content.details.photos.items == tuple(row_of(window, "all/1").category.items)
    press(window, Qt.Key.Key_S, CTRL)
    press(window, "4")
    press(window, Qt.Key.Key_Tab)
    wait_until(lambda: not content.details.form._later.isActive())
    settle(window)
    # consequences follow what is typed: 6 photos in 4 HITs each of 4, for 3 workers
    assert text(window, "split-figure-hits") == "6"
    assert text(window, "split-figure-assignments") == "18"
    assert part(content, "subdivide", QPushButton).text() == "Subdivide into 6 HITs"
    press(window, Qt.Key.Key_Return)
    assert states(window)["all/1"] == "no answers yet"
    assert row_of(window, "all/1").hits == "0 of 6"
    assert content.chosen is row_of(window, "all/1")
    assert text(window, "stage-hits") == "0 of 6 HITs done, 0 of 18 turns"
    assert not part(content, "stage-run", QPushButton).isEnabled()
    with Campaign.open(path) as campaign:
        assert [hit.stage for hit in campaign.hits()].count("all/1") == 6


def test_a_stage_is_sorted_run_and_shown(qtbot: QtBot, window: MainWindow, path: Path) -> None:
    click_row(qtbot, window, "all/3")
    content = screen_of(window)
    for name, value in (("split-m", 4), ("split-v", 4), ("split-r", 2)):
        part(content, name, QSpinBox).setValue(value)
    wait_until(lambda: not content.details.form._later.isActive())
    settle(window)
    click(qtbot, part(content, "subdivide"))
    settle(window)
    assert sort_stage(path, "all/3", 2) == 12
    content.refresh()
    settle(window)
    assert states(window)["all/3"] == "not run yet"
    assert text(window, "stage-hits") == "6 of 6 HITs done, 12 of 12 turns"
    click(qtbot, part(content, "stage-run"))
    assert content.work.running == "all/3"
    settle(window)
    assert states(window)["all/3"] == "2 subclusters"
    assert "found 2 subclusters in 12 responses" in text(window, "stage-found")
    assert "Made of cluster 3 of run 1 of all" in text(window, "stage-note")
    # the number of clusters that was asked for elsewhere was not asked for here
    with Campaign.open(path) as campaign:
        assert run_list(campaign)[-1].stage == "all/3"
        assert run_list(campaign)[-1].settings["clusters"] == "bound"


def test_a_run_is_cancelled_and_nothing_is_stored(qtbot: QtBot, tree_window: MainWindow, tree_path: Path) -> None:
    click_row(qtbot, tree_window, "all/1")
    content = screen_of(tree_window)
    tree_window.remember("run-settings", replace(QUICK, n_starts=50, tolerance=1e-12).as_dict())
    QTest.keyClick(content.tree, Qt.Key.Key_R, CTRL)
    assert part(content, "stage-cancel", QPushButton).isEnabled()
    assert not part(content, "stage-run", QPushButton).isEnabled()
    # another row says what runs, and its own run has to wait
    click_other = row_of(tree_window, "all/2")
    content.choose(click_other)
    if content.work.running:
        assert text(tree_window, "stage-progress") == "The inference of all/1 is running"
        assert not part(content, "stage-run", QPushButton).isEnabled()
    content.choose(row_of(tree_window, "all/1"))
    QTest.keyClick(content.tree, Qt.Key.Key_Period, CTRL)
    settle(tree_window)
    assert text(tree_window, "stage-progress") == "Cancelled; nothing was stored"
    assert content.work.running == ""
    with Campaign.open(tree_path) as campaign:
        assert len(run_list(campaign)) == 3


def test_the_campaign_is_closed_during_a_run(qtbot: QtBot, tree_window: MainWindow, tree_path: Path) -> None:
    click_row(qtbot, tree_window, "all/1")
    content = screen_of(tree_window)
    tree_window.remember("run-settings", replace(QUICK, n_starts=50, tolerance=1e-12).as_dict())
    content.run()
    tree_window.close_campaign()
    settle(tree_window)
    assert content.work.running == ""
    assert content.model.rows == []
    assert not tree_window.error_bar.isVisible()
    with Campaign.open(tree_path) as campaign:
        assert len(run_list(campaign)) == 3


def test_a_stage_is_removed_and_brought_back_with_the_keyboard(tree_window: MainWindow, tree_path: Path) -> None:
    content = screen_of(tree_window)
    content.choose(row_of(tree_window, "all/1"))
    content.tree.setFocus()
    press(tree_window, Qt.Key.Key_Delete)
    found = states(tree_window)
    assert list(found) == ["all", "all/1", "all/2", "all/3", "all/4", "removed all/1"]
    assert found["all/1"] == ""
    assert found["removed all/1"] == "removed"
    with Campaign.open(tree_path) as campaign:
        assert len(read_responses(campaign, "all/1")) == 12
    press(tree_window, Qt.Key.Key_End)
    assert "Its 12 responses and its runs are kept." in text(tree_window, "stage-found")
    press(tree_window, Qt.Key.Key_B, CTRL)
    assert states(tree_window)["all/1"] == "2 subclusters"
    # the whole collection stays
    content.choose(row_of(tree_window, "all"))
    content.tree.setFocus()
    press(tree_window, Qt.Key.Key_Delete)
    assert states(tree_window)["all"] == "4 clusters"
    assert not part(content, "stage-remove", QPushButton).isVisible()


def test_a_removed_stage_cannot_come_back_where_another_is(tree_window: MainWindow, tree_path: Path) -> None:
    with Campaign.open(tree_path) as campaign:
        remove_stage(campaign, "all/1")
        assert subdivide(campaign, "all", 1).stage == "all/1.2"
    content = screen_of(tree_window)
    content.refresh()
    settle(tree_window)
    content.choose(row_of(tree_window, "removed all/1"))
    content.bring_back()
    settle(tree_window)
    assert "remove all/1.2 first" in tree_window.error_bar.text.text()
    assert states(tree_window)["removed all/1"] == "removed"


def test_from_clusters_to_the_stage_and_back(qtbot: QtBot, path: Path) -> None:
    window = opened(qtbot, path, "clusters")
    clusters = content_of(window, ClustersContent)
    titles = [action.title for action in clusters.menu.actions]
    clusters.menu.actions[titles.index("Subdivide this cluster")].call(3)
    settle(window)
    content = screen_of(window)
    assert content.chosen is row_of(window, "all/3")
    assert window.focusWidget() in (content.details.form.fields["m"], content.details.form)
    assert window.recall("stages-wanted") is None
    press(window, Qt.Key.Key_Escape)
    assert content.tree.hasFocus()
    press(window, Qt.Key.Key_O, CTRL | Qt.KeyboardModifier.ShiftModifier)
    content_of(window, ClustersContent)
    assert window.recall(RUN_SHOWN) == 1
    # and with a key, for the cluster whose photos have the keys
    settle(window)
    clusters.gallery.rows.show_place(2)
    clusters.gallery.rows.setFocus()
    QTest.keyClick(clusters.gallery.rows, Qt.Key.Key_D, CTRL | Qt.KeyboardModifier.ShiftModifier)
    settle(window)
    assert screen_of(window).chosen is row_of(window, "all/2")


def test_the_run_of_a_stage_is_shown_in_clusters(tree_window: MainWindow) -> None:
    content = screen_of(tree_window)
    content.choose(row_of(tree_window, "all/1"))
    content.open_in_clusters()
    settle(tree_window)
    clusters = content_of(tree_window, ClustersContent)
    assert part(clusters, "clusters-title", QLabel).text().startswith("Run 2 of all/1: 2 clusters")
    assert clusters.overview is not None
    assert clusters.overview.view is not None
    assert len(clusters.overview.view.item_names) == 6
    assert part(clusters, "run-button", QPushButton).text() == "Run all/1"


def test_stages_stay_with_their_run_and_the_screen_says_so(tree_window: MainWindow, tree_path: Path) -> None:
    with Campaign.open(tree_path) as campaign:
        again = fit_campaign(campaign, replace(QUICK, seed=5))
    content = screen_of(tree_window)
    content.refresh()
    settle(tree_window)
    content.choose(row_of(tree_window, "all"))
    assert states(tree_window)["all/1"] == "2 subclusters"
    assert f"Run {again.number} is newer than run 1, which is shown" in text(tree_window, "stage-note")
    runs = part(content, "stages-run", QComboBox)
    assert isinstance(runs, QComboBox)
    assert runs.currentData() == 1
    runs.setFocus()
    QTest.keyClick(runs, Qt.Key.Key_Up)
    settle(tree_window)
    if content.model.rows[0].stage.view.run.number == 1:
        runs.activated.emit(runs.findData(again.number))
        settle(tree_window)
    found = states(tree_window)
    assert found["stage all/1"] == "2 subclusters"
    assert found["all/1"] == ""
    assert row_of(tree_window, "stage all/1").title == "all/1, from run 1"


def test_what_was_named_is_called_so(qtbot: QtBot, tree_path: Path) -> None:
    with Campaign.open(tree_path) as campaign:
        rename(campaign, read_categories(campaign, 1, 4), 1, ODD_NAME)
        small = cluster_items(campaign, load_run(campaign, 1), 4)
        assert len(small) == 6
    window = opened(qtbot, tree_path)
    content = screen_of(window)
    assert content.model.index_of(row_of(window, "all/1")).data() == ODD_NAME
    content.choose(row_of(window, "all/1"))
    assert text(window, "stage-title") == ODD_NAME
    assert content.model.index_of(row_of(window, "all/1")).data(Qt.ItemDataRole.AccessibleTextRole).startswith(ODD_NAME)


def test_without_a_run_the_screen_leads_to_clusters(qtbot: QtBot, tmp_path: Path) -> None:
    window = opened(qtbot, make_campaign(tmp_path, sort=False))
    content = screen_of(window)
    click(qtbot, part(content, "stages-to-clusters"))
    settle(window)
    assert window.current_screen.name == "clusters"
    assert content.model.rows == []


def test_a_campaign_that_is_read_alone_is_only_shown(tree_window: MainWindow) -> None:
    content = screen_of(tree_window)
    details = content.details
    details.show_row(row_of(tree_window, "all/3"), content._tree, "", read_only=True, fresh=True)
    assert "to read alone" in text(tree_window, "stage-nothing")
    details.show_row(row_of(tree_window, "all/1"), content._tree, "", read_only=True, fresh=True)
    for name in ("stage-remove", "stage-run"):
        assert not part(content, name, QPushButton).isEnabled()
    assert part(content, "stage-open", QPushButton).isEnabled()


def test_the_look_of_a_chosen_row_is_the_same_after_reading_again(qtbot: QtBot, tree_window: MainWindow) -> None:
    content = screen_of(tree_window)
    content.tree.collapse(content.model.index_of(row_of(tree_window, "all/1")))
    click_row(qtbot, tree_window, "all/4")
    content.details.form.fields["v"].setValue(3)
    content.refresh()
    settle(tree_window)
    assert content.chosen is row_of(tree_window, "all/4")
    assert content.details.form.fields["v"].value() == 3  # what is being typed is not lost
    assert not content.tree.isExpanded(content.model.index_of(row_of(tree_window, "all/1")))
    assert content.tree.visualRect(content.model.index_of(row_of(tree_window, "all/4"))).center() != QPoint(0, 0)
    assert content.model.index_of(row_of(tree_window, "all/4")).column() == NAME


def test_somebody_who_sorts_meets_the_sets_of_a_stage_like_any_other(window: MainWindow, path: Path) -> None:
    with Campaign.open(path) as campaign:
        subdivide(campaign, "all", 1, PlanSettings(4, 4, 2))
        inside = {item for hit in campaign.hits() if hit.stage == "all/1" for item in hit.items}
    person = Person(window)
    person.sign_in("Ann")  # who has done everything else
    assert person.count == 4
    session = window.screen_named("annotate")._session  # type: ignore[attr-defined]
    assert set(session.assignment.items) <= inside
    for position in range(4):
        person.click(position)
    press_button(window, "submit-button")
    person.settle()
    with Campaign.open(path) as campaign:
        assert [response.worker for response in read_responses(campaign, "all/1")] == ["Ann"]
    # nothing of stages or clusters is told to who sorts
    words = [label.text() for label in window.current_screen.findChildren(QLabel) if label.isVisible()]
    assert not [text for text in words if "all/1" in text or "stage" in text.casefold() or "cluster" in text.casefold()]
