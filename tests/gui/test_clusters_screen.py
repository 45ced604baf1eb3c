"""The Clusters screen as a person uses it: run, look, choose, cancel."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QTextDocument
from PySide6.QtWidgets import QLabel, QListView, QPushButton, QSpinBox
from pytestqt.qtbot import QtBot
from sorted_campaign import click, content_of, drag, make_campaign, move, open_window, part, settle, sort_some
from user_actions import PATIENCE, busy

from crowdclust_app.gui import theme
from crowdclust_app.gui.clusters.content import ClustersContent
from crowdclust_app.gui.clusters.layers import NumberBadge
from crowdclust_app.gui.late_screen import LateScreen
from crowdclust_app.gui.window import MainWindow
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.campaign.responses import read_responses
from crowdclust_app.services.exchange.importing import import_table
from crowdclust_app.services.fits.run_store import load_run, run_list


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_campaign(tmp_path_factory.mktemp("sorted"))


@pytest.fixture(scope="module")
def fitted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_campaign(tmp_path_factory.mktemp("fitted"), fit=True)


@pytest.fixture
def window(qtbot: QtBot, made: Path, tmp_path: Path) -> MainWindow:
    """On a sorted campaign without a run."""
    return open_window(qtbot, shutil.copytree(made.parent, tmp_path / "c") / made.name, "clusters")


@pytest.fixture
def looking(qtbot: QtBot, fitted: Path, tmp_path: Path) -> MainWindow:
    """On a sorted campaign with a run."""
    return open_window(qtbot, shutil.copytree(fitted.parent, tmp_path / "c") / fitted.name, "clusters")


def screen_of(window: MainWindow) -> ClustersContent:
    return content_of(window, ClustersContent)


def run_quickly(qtbot: QtBot, window: MainWindow, seed: int = 0) -> None:
    """Fill in the form and press Run, as a person would; wait for the clusters."""
    for name, value in (("run-dimensions", 2), ("run-starts", 1), ("run-seed", seed)):
        box = part(window, name, QSpinBox)
        box.setFocus()
        box.selectAll()
        qtbot.keyClicks(box, str(value))
        qtbot.keyClick(box, Qt.Key.Key_Tab)
    click(qtbot, part(window, "run-button"))
    assert screen_of(window).panel.running
    settle(window)


def words(window: MainWindow, name: str) -> str:
    label = part(window, name, QLabel)
    return label.text()


def test_the_window_lives_while_the_screen_is_on_its_way(qtbot: QtBot, looking: MainWindow) -> None:
    looking.show_screen("workers")
    late = looking.current_screen
    assert isinstance(late, LateScreen)
    assert late.content is None
    assert not late.escape()
    late.refresh()
    looking.show_screen("clusters")
    settle(looking)
    assert late.content is not None
    looking.show_screen("workers")
    settle(looking)
    assert part(looking, "workers-title", QLabel).text() == "4 workers"


def test_before_the_first_run_one_button_leads_to_it(qtbot: QtBot, window: MainWindow) -> None:
    button = part(window, "first-run")
    assert button.isVisible()
    assert not screen_of(window).plot.isVisible()
    assert not screen_of(window).gallery.isVisible()
    click(qtbot, button)
    settle(window)
    assert screen_of(window).plot.isVisible()
    assert screen_of(window).gallery.isVisible()
    assert window.campaign is not None
    assert len(run_list(window.campaign)) == 1


def test_without_responses_the_one_button_leads_to_sorting(qtbot: QtBot, tmp_path: Path) -> None:
    window = open_window(qtbot, make_campaign(tmp_path, sort=False), "clusters")
    button = part(window, "go-to-annotate", QPushButton)
    assert button.isVisible()
    assert not part(window, "run-button").isVisible()
    shown: list[str] = []
    screen_of(window).shell.show_screen = shown.append  # type: ignore[assignment, method-assign]
    click(qtbot, button)
    assert shown == ["annotate"]


def test_a_run_from_the_panel_shows_its_clusters(qtbot: QtBot, window: MainWindow) -> None:
    run_quickly(qtbot, window)
    screen = screen_of(window)
    assert window.campaign is not None
    (info,) = run_list(window.campaign)
    assert info.settings["dimensions"] == 2
    assert info.settings["starts"] == 1
    view = screen.album.view
    assert view is not None
    assert view.run.number == 1
    assert len(view.clusters) == info.summary["clusters"]
    assert screen.plot.badge_numbers == tuple(range(1, len(view.clusters) + 1))
    rows = part(window, "cluster-rows", QListView).model()
    assert rows.rowCount() == len(view.clusters)
    assert f"Cluster 1: {view.clusters[0].size} photos" in rows.index(0, 0).data()
    assert screen.panel.trace.bounds("joint", 1) == [b for phase, b in view.run.result.lower_bounds if phase == "joint"]
    assert f"{len(view.clusters)} clusters" in words(window, "clusters-title")
    assert "entropy" in words(window, "clusters-title")
    assert f"{info.summary['pair_labels']:,}" in words(window, "run-summary")


def test_every_sweep_is_drawn_while_the_run_goes_on(qtbot: QtBot, window: MainWindow) -> None:
    part(window, "run-starts", QSpinBox).setValue(50)
    screen = screen_of(window)
    click(qtbot, part(window, "run-button"))
    qtbot.waitUntil(lambda: len(screen.panel.trace.bounds("layers", 1)) >= 15, timeout=PATIENCE)
    assert part(window, "cancel-button").isEnabled()
    assert not part(window, "run-button").isEnabled()
    assert "start" in words(window, "run-state")
    rising = np.diff(screen.panel.trace.bounds("layers", 1))
    assert (rising >= -1e-6).all()
    click(qtbot, part(window, "cancel-button"))
    settle(window)


def test_a_run_behind_another_says_what_it_waits_for(qtbot: QtBot, window: MainWindow) -> None:
    with busy(window, "inference", "Making the demo"):
        click(qtbot, part(window, "run-button"))
        assert words(window, "run-state") == "Waiting for “Making the demo” to end"
        click(qtbot, part(window, "cancel-button"))
        qtbot.waitUntil(lambda: "nothing was stored" in words(window, "run-state"), timeout=PATIENCE)
    settle(window)


def test_cancelling_stores_nothing_and_leaves_a_usable_window(qtbot: QtBot, window: MainWindow) -> None:
    part(window, "run-starts", QSpinBox).setValue(50)
    screen = screen_of(window)
    click(qtbot, part(window, "run-button"))
    qtbot.waitUntil(lambda: bool(screen.panel.trace.bounds("layers", 1)), timeout=PATIENCE)
    click(qtbot, part(window, "cancel-button"))
    assert not part(window, "cancel-button").isEnabled()
    settle(window)
    assert not screen.panel.running
    assert window.campaign is not None
    assert run_list(window.campaign) == ()
    assert "nothing was stored" in words(window, "run-state")
    assert part(window, "first-run").isVisible()
    run_quickly(qtbot, window)
    assert len(run_list(window.campaign)) == 1
    assert screen.plot.isVisible()


def test_a_second_run_leaves_the_first_as_it_was(qtbot: QtBot, window: MainWindow) -> None:
    run_quickly(qtbot, window)
    assert window.campaign is not None
    first = load_run(window.campaign, 1)
    run_quickly(qtbot, window, seed=7)
    screen = screen_of(window)
    again = load_run(window.campaign, 1)
    assert [run.number for run in run_list(window.campaign)] == [1, 2]
    assert (again.result.positions == first.result.positions).all()
    assert again.settings == first.settings
    assert load_run(window.campaign, 2).seed == 7
    assert screen.overview is not None
    assert screen.overview.view is not None
    assert screen.overview.view.run.number == 2
    history = part(window, "run-history", QListView)
    assert [history.model().index(row, 0).data()[:5] for row in range(2)] == ["Run 2", "Run 1"]
    click(qtbot, history.viewport(), history.visualRect(history.model().index(1, 0)).center())
    settle(window)
    assert screen.overview.view.run.number == 1
    assert "Run 1" in words(window, "clusters-title")


def test_clicking_a_point_chooses_its_photo_everywhere(qtbot: QtBot, looking: MainWindow) -> None:
    screen = screen_of(looking)
    view = screen.album.view
    assert view is not None
    item = int(view.clusters[1].items[0])
    at = screen.plot.widget.viewport().mapFrom(screen.plot, screen.plot.position_of(item).toPoint())
    click(qtbot, screen.plot.widget.viewport(), at)
    chosen = screen.selection.current
    assert chosen is not None
    assert view.labels[chosen] == 2
    assert screen.gallery.rows.currentIndex().row() == 1
    assert screen.inspector.facts is not None
    assert screen.inspector.facts.number == chosen
    assert words(looking, "inspector-name") == view.item_names[chosen]
    turns = part(looking, "inspector-turns", QListView).model()
    assert turns.rowCount() == view.times_shown[chosen]


def test_clicking_a_photo_marks_it_in_the_plot_and_the_inspector(qtbot: QtBot, looking: MainWindow) -> None:
    screen = screen_of(looking)
    view = screen.album.view
    assert view is not None
    item = int(view.clusters[0].items[3])
    click(qtbot, screen.gallery.rows.viewport(), screen.gallery.rows.photo_rect(item).center())
    assert screen.selection.items == (item,)
    assert np.allclose(screen.plot.ring.points, view.fisher[[item]])
    assert screen.inspector.facts is not None
    assert screen.inspector.facts.number == item
    assert "grouped differently by" in words(looking, "inspector-who")
    assert "Lump" in words(looking, "inspector-who")
    assert "Ann" not in words(looking, "inspector-who")


def test_the_whole_cluster_opens_and_closes_again(qtbot: QtBot, looking: MainWindow) -> None:
    screen = screen_of(looking)
    view = screen.album.view
    assert view is not None
    click(qtbot, screen.gallery.rows.viewport(), screen.gallery.rows.more_rect(1).center())
    assert screen.gallery.opened_cluster == 1
    assert screen.gallery.grid.items == tuple(view.clusters[0].items.tolist())
    grid = screen.gallery.grid
    settle(looking)
    click(qtbot, grid.viewport(), grid.photo_rect(grid.items[2]).center())
    assert screen.selection.items == (grid.items[2],)
    qtbot.keyClick(grid, Qt.Key.Key_Right)
    assert screen.selection.items == (grid.items[3],)
    qtbot.keyClick(grid, Qt.Key.Key_Escape)
    assert screen.gallery.shows_rows
    assert screen.selection.items == (grid.items[3],)
    qtbot.keyClick(screen.gallery.rows, Qt.Key.Key_Escape)
    assert screen.selection.items == ()


def test_keys_walk_through_the_rows_and_the_plot(qtbot: QtBot, looking: MainWindow) -> None:
    screen = screen_of(looking)
    view = screen.album.view
    assert view is not None
    rows = screen.gallery.rows
    rows.setFocus()
    qtbot.keyClick(rows, Qt.Key.Key_Right)
    assert screen.selection.items == (view.clusters[0].items[0],)
    qtbot.keyClick(rows, Qt.Key.Key_Right)
    assert screen.selection.items == (view.clusters[0].items[1],)
    qtbot.keyClick(rows, Qt.Key.Key_Return)
    assert screen.gallery.opened_cluster == 1
    screen.plot.setFocus()
    before = view.fisher[screen.selection.current]
    for key, axis, sign in ((Qt.Key.Key_Right, 0, 1), (Qt.Key.Key_Left, 0, -1)):
        screen.selection.choose(int(view.clusters[0].items[1]))
        qtbot.keyClick(screen.plot, key)
        now = view.fisher[screen.selection.current]
        moved = screen.selection.current != int(view.clusters[0].items[1])
        assert not moved or (now[axis] - before[axis]) * sign > 0


def test_tab_reaches_every_part_and_comes_back(qtbot: QtBot, looking: MainWindow) -> None:
    content = screen_of(looking)
    content.setFocus()
    reached: list[str] = []
    for _ in range(40):
        now = looking.focusWidget()
        assert now is not None
        if now.objectName() in reached:
            break
        reached.append(now.objectName())
        qtbot.keyClick(now, Qt.Key.Key_Tab)
    assert reached[0] == "cluster-rows"
    settings = ["run-method", "run-clusters", "run-label-weight", "run-dimensions", "run-starts", "run-seed"]
    assert [name for name in reached if name in settings] == settings
    assert {"embedding-plot", "run-button", "run-history"} <= set(reached)


def test_a_lasso_chooses_what_it_holds_and_shows_the_photos(qtbot: QtBot, looking: MainWindow) -> None:
    screen = screen_of(looking)
    view = screen.album.view
    assert view is not None
    items = view.clusters[0].items
    viewport = screen.plot.widget.viewport()
    places = [viewport.mapFrom(screen.plot, screen.plot.position_of(int(i)).toPoint()) for i in items]
    left, right = min(p.x() for p in places) - 14, max(p.x() for p in places) + 14
    top, bottom = min(p.y() for p in places) - 14, max(p.y() for p in places) + 14
    corners = [QPoint(left, top), QPoint(right, top), QPoint(right, bottom), QPoint(left, bottom)]
    drag(qtbot, viewport, corners)
    assert set(screen.selection.items) == set(items.tolist())
    assert set(screen.gallery.grid.items) == set(items.tolist())
    assert part(looking, "gallery-outlined", QPushButton).text() == f"Chosen {len(items)}"


def test_all_photos_of_the_plot_are_chosen_with_one_key(qtbot: QtBot, looking: MainWindow) -> None:
    screen = screen_of(looking)
    screen.plot.setFocus()
    qtbot.keyClick(screen.plot, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    assert set(screen.selection.items) == set(range(24))
    assert len(screen.gallery.grid.items) == 24
    rows = screen.gallery.grid.selectionModel().selectedIndexes()
    assert len(rows) == 24


def test_a_card_with_the_photo_appears_where_the_pointer_rests(qtbot: QtBot, looking: MainWindow) -> None:
    screen = screen_of(looking)
    view = screen.album.view
    assert view is not None
    item = int(view.clusters[1].items[0])
    viewport = screen.plot.widget.viewport()
    move(viewport, viewport.mapFrom(screen.plot, screen.plot.position_of(item).toPoint()))
    assert not screen.card.isVisible()
    qtbot.waitUntil(screen.card.isVisible, timeout=PATIENCE)
    assert screen.card.item is not None
    assert view.labels[screen.card.item] == 2
    assert screen.rect().contains(screen.card.geometry())
    move(viewport, QPoint(2, 2))
    assert not screen.card.isVisible()
    rows = screen.gallery.rows
    move(rows.viewport(), rows.photo_rect(int(view.clusters[0].items[0])).center())
    qtbot.waitUntil(screen.card.isVisible, timeout=PATIENCE)
    assert screen.card.item == view.clusters[0].items[0]
    settle(looking)


def test_responses_after_the_run_are_told_and_keep_the_selection(qtbot: QtBot, made: Path, tmp_path: Path) -> None:
    path = shutil.copytree(made.parent, tmp_path / "c") / made.name
    with Campaign.open(path) as campaign:
        campaign.add_worker("Late")
    window = open_window(qtbot, path, "clusters")
    run_quickly(qtbot, window)
    assert words(window, "new-responses") == ""
    screen = screen_of(window)
    screen.selection.choose(3)
    table = tmp_path / "more.csv"
    table.write_text("hit,worker,item,group\nx,Late,p00.png,a\nx,Late,p04.png,a\n", encoding="utf-8")
    assert window.campaign is not None
    import_table(window.campaign, table)
    window.data_changed.emit()
    settle(window)
    assert words(window, "new-responses") == "1 response has come in since."
    assert screen.selection.items == (3,)


def test_doubtful_and_never_shown_photos_have_their_own_lists(qtbot: QtBot, tmp_path: Path) -> None:
    path = make_campaign(tmp_path, sort=False)
    with Campaign.open(path) as campaign:
        assert sort_some(campaign, "Ann", most=2) == 2
        hidden = {item.path for item in campaign.items()} - {n for r in read_responses(campaign) for n in r.items}
    assert hidden
    window = open_window(qtbot, path, "clusters")
    run_quickly(qtbot, window)
    screen = screen_of(window)
    view = screen.album.view
    assert view is not None
    click(qtbot, part(window, "gallery-not-shown"))
    assert {view.item_names[item] for item in screen.gallery.grid.items} == hidden
    click(qtbot, part(window, "gallery-doubtful"))
    assert screen.gallery.grid.items == tuple(view.doubtful.tolist())
    assert part(window, "gallery-doubtful", QPushButton).text() == f"Doubtful {len(view.doubtful)}"
    screen.selection.choose(int(view.not_shown[0]))
    assert "nobody has sorted it yet" in words(window, "inspector-sure")


def test_plots_follow_a_change_of_colours(qtbot: QtBot, looking: MainWindow) -> None:
    screen = screen_of(looking)
    try:
        looking.use_look(theme.Look.DARK)
        settle(looking)
        dark = screen.plot.widget.backgroundBrush().color()
        assert dark == looking.palette().base().color()
        assert dark.lightness() < 60
        picture = screen.plot.grab().toImage()
        assert picture.pixelColor(picture.width() - 4, 4).lightness() < 60
    finally:
        looking.use_look(theme.Look.LIGHT)
    settle(looking)
    assert screen.plot.widget.backgroundBrush().color().lightness() > 200


def test_sizes_of_the_parts_are_remembered_for_the_campaign(qtbot: QtBot, looking: MainWindow) -> None:
    screen = screen_of(looking)
    columns = screen._splitters[0]
    columns.setSizes([500, 700])
    columns.splitterMoved.emit(500, 1)
    kept = looking.recall("clusters-splitters")
    assert kept[0] == columns.sizes()


@pytest.mark.parametrize("size", [(1024, 768), (960, 640)])
def test_everything_can_be_read_in_a_small_window(
    qtbot: QtBot, fitted: Path, tmp_path: Path, size: tuple[int, int]
) -> None:
    window = open_window(qtbot, shutil.copytree(fitted.parent, tmp_path / "c") / fitted.name, "clusters", size)
    assert (window.width(), window.height()) == size
    history, figures = part(window, "run-history", QListView), part(window, "run-summary", QLabel)
    row = history.sizeHintForColumn(0)
    assert 0 < row <= history.viewport().width(), "a run's line is whole"
    table = QTextDocument()
    table.setDefaultFont(figures.font())
    table.setDocumentMargin(0)
    table.setHtml(figures.text().split("<p>")[0])
    table.setTextWidth(figures.width())
    assert table.size().width() <= figures.width(), "each figure stands beside its name"
    assert not part(window, "bound-trace").isVisible()
    click(qtbot, part(window, "show-bound"))
    settle(window)
    assert not history.isVisible()
    for phase in ("layers", "mixture", "joint"):
        button = part(window, f"phase-{phase}", QPushButton)
        assert button.isVisible()
        assert button.width() >= button.sizeHint().width()
    click(qtbot, part(window, "show-runs"))
    assert history.isVisible()
    click(qtbot, part(window, "run-button"))
    assert part(window, "bound-trace").isVisible(), "a run that begins shows its bound"
    screen_of(window).panel.cancel()
    settle(window)


def test_a_wide_window_shows_bound_and_figures_together(qtbot: QtBot, looking: MainWindow) -> None:
    assert part(looking, "bound-trace").isVisible()
    assert part(looking, "run-history", QListView).isVisible()
    assert not part(looking, "show-bound").isVisible()
    looking.resize(960, 640)
    settle(looking)
    assert looking.width() == 960
    assert not part(looking, "bound-trace").isVisible()
    assert part(looking, "show-bound").isVisible()


def test_the_uppermost_badge_is_whole_at_any_height_until_the_person_zooms(qtbot: QtBot, looking: MainWindow) -> None:
    plot = screen_of(looking).plot
    for size in ((1366, 768), (960, 640), (1366, 900)):
        looking.resize(*size)
        settle(looking)
        room = plot.widget.mapToScene(plot.widget.rect()).boundingRect()
        badges = [item for item in plot.widget.scene().items() if isinstance(item, NumberBadge)]
        assert badges
        for badge in badges:
            drawn = badge.deviceTransform(plot.widget.viewportTransform()).mapRect(badge.drawn())
            assert room.contains(drawn), f"cut off at {size}"
    qtbot.keyClick(plot, "+")
    (_, zoomed) = plot.box.viewRange()
    looking.resize(1366, 700)
    settle(looking)
    assert plot.box.viewRange()[1] == pytest.approx(zoomed)
