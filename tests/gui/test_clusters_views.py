"""The tabs of the Clusters screen: axes and colours, known categories, two runs, numbers of clusters, starts, files."""

from __future__ import annotations

import csv
import shutil
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_runs import make_table_campaign, store_run
from PIL import Image
from PySide6.QtCore import Qt
from PySide6.QtTest import QAbstractItemModelTester
from PySide6.QtWidgets import QComboBox, QFileDialog, QLabel, QListView, QPushButton, QSlider, QSpinBox, QTableView
from pytestqt.qtbot import QtBot
from sorted_campaign import click, content_of, make_campaign, open_window, part, settle
from user_actions import PATIENCE

from crowdclust_app.gui.clusters import run_panel
from crowdclust_app.gui.clusters.album import MOST_WAITING
from crowdclust_app.gui.clusters.content import TABS, ClustersContent
from crowdclust_app.gui.clusters.contingency import ContingencyModel
from crowdclust_app.gui.clusters.legend import GroupsModel
from crowdclust_app.gui.clusters.rows_model import figures
from crowdclust_app.gui.clusters.run_panel import summary_in_words
from crowdclust_app.gui.clusters.starts_view import StartsModel
from crowdclust_app.gui.window import MainWindow
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.clusters.category_rows import category_rows
from crowdclust_app.services.clusters.comparing import truth_order
from crowdclust_app.services.clusters.embedding import colouring
from crowdclust_app.services.clusters.plots import StartRow
from crowdclust_app.services.exchange.importing import import_table
from crowdclust_app.services.fits.campaign_fits import fit_campaign
from crowdclust_app.services.fits.run_store import load_run, run_list

FATAL = QAbstractItemModelTester.FailureReportingMode.Fatal
ALT = Qt.KeyboardModifier.AltModifier
KNOWN = ("red", "blue", "green", "yellow")


@pytest.fixture(scope="module")
def fitted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sorted, fitted twice (the second time into two clusters), with known categories of most photos."""
    path = make_campaign(tmp_path_factory.mktemp("fitted"), fit=True)
    rows = "".join(f"p{number:02d}.png,{KNOWN[number % 4]}\n" for number in range(22))
    (path.parent / "known.csv").write_text("item,category\n" + rows, encoding="utf-8")
    with Campaign.open(path) as campaign:
        import_table(campaign, path.parent / "known.csv", "truth")
        labels = load_run(campaign, 1).result.labels
        store_run(campaign, np.where(labels > 2, labels - 2, labels), dimensions=2)
    return path


@pytest.fixture
def window(qtbot: QtBot, fitted: Path, tmp_path: Path) -> MainWindow:
    """On the first run."""
    window = open_window(qtbot, shutil.copytree(fitted.parent, tmp_path / "c") / fitted.name, "clusters")
    content(window).show_run(1)
    settle(window)
    return window


def content(window: MainWindow) -> ClustersContent:
    return content_of(window, ClustersContent)


def open_made(qtbot: QtBot, folder: Path, labels: np.ndarray, dimensions: int = 3) -> MainWindow:
    """A window on a run of these clusters, without images."""
    path = make_table_campaign(folder, len(labels))
    with Campaign.open(path) as campaign:
        store_run(campaign, labels, dimensions)
    return open_window(qtbot, path, "clusters")


def choose(window: MainWindow, name: str, words: str) -> None:
    box = part(window, name, QComboBox)
    assert isinstance(box, QComboBox)
    place = box.findText(words)
    assert place >= 0, f"{words} is not among {[box.itemText(n) for n in range(box.count())]}"
    box.setCurrentIndex(place)


def cell(window: MainWindow, qtbot: QtBot, name: str, row: int, column: int) -> None:
    table = part(window, name, QTableView)
    assert isinstance(table, QTableView)
    click(qtbot, table.viewport(), table.visualRect(table.model().index(row, column)).center())


def test_any_two_axes_can_be_plotted(qtbot: QtBot, window: MainWindow) -> None:
    screen = content(window)
    view = screen.album.view
    assert view is not None
    choose(window, "plot-x", "Position 2")
    choose(window, "plot-y", "Principal 1")
    assert np.array_equal(screen.plot._points[:, 0], view.run.result.positions[:, 1])
    assert screen.plot.widget.getAxis("bottom").labelText == "Position 2"
    low, high = screen.plot.box.viewRange()[0]
    assert low < screen.plot._points[:, 0].min() < screen.plot._points[:, 0].max() < high
    item = int(view.clusters[1].items[0])
    at = screen.plot.widget.viewport().mapFrom(screen.plot, screen.plot.position_of(item).toPoint())
    click(qtbot, screen.plot.widget.viewport(), at)
    assert screen.selection.current is not None
    assert np.allclose(screen.plot._points[screen.selection.current], screen.plot._points[item], atol=0.2)
    assert window.recall("plot-choices") == {"x": "x2", "y": "principal1", "colour": "cluster"}


def test_colours_say_what_is_asked_for(qtbot: QtBot, window: MainWindow) -> None:
    screen = content(window)
    view, overview = screen.album.view, screen.overview
    assert view is not None
    assert overview is not None
    legend = part(window, "plot-groups", QListView)
    assert isinstance(legend, QListView)
    assert legend.model().rowCount() == len(view.clusters)
    choose(window, "plot-colour", "Known category")
    words = [legend.model().index(row, 0).data() for row in range(legend.model().rowCount())]
    assert words == ["blue: 6 photos", "green: 5 photos", "red: 6 photos", "yellow: 5 photos", "not known: 2 photos"]
    click(qtbot, legend.viewport(), legend.visualRect(legend.model().index(1, 0)).center())
    assert set(screen.selection.items) == {2, 6, 10, 14, 18}
    assert set(screen.gallery.grid.items) == set(screen.selection.items)
    choose(window, "plot-colour", "Doubt")
    assert screen.plot.badge_numbers == ()
    assert not legend.isVisible()
    scale = screen.views.legend.scale
    assert scale.isVisible()
    assert scale.figures()[0] == f"{np.nanmax(view.entropy_bits):.2f}" or np.nanmax(view.entropy_bits) == 0
    choose(window, "plot-colour", "Times shown")
    assert scale.whole
    expected = colouring(view, "shown", None, {}).values
    assert expected is not None
    looks = screen.plot.dots.looks
    assert len(looks) == len(view.labels)
    assert (np.diff(np.unique(looks)) > 0).all()
    window.grab()


def test_clusters_stand_beside_known_categories_in_the_leads_order(qtbot: QtBot, window: MainWindow) -> None:
    click(qtbot, part(window, "tab-known"))
    settle(window)
    screen = content(window)
    view = screen.album.view
    assert view is not None
    table = part(window, "known-table", QTableView)
    assert isinstance(table, QTableView)

    def names() -> list[str]:
        return [str(table.model().headerData(n, Qt.Orientation.Vertical)) for n in range(table.model().rowCount())]

    assert names() == ["blue", "green", "red", "yellow"]
    figures = part(window, "known-figures", QLabel)
    assert isinstance(figures, QLabel)
    assert figures.text().startswith("22 photos · variation of information 0.000 bits")
    column = int(view.labels[0]) - 1
    cell(window, qtbot, "known-table", 2, column)
    assert set(screen.gallery.grid.items) == {0, 4, 8, 12, 16, 20}
    assert part(window, "gallery-heading", QLabel).text() == f"known as red, in cluster {column + 1}"
    qtbot.keyClick(table, Qt.Key.Key_Up, ALT)
    settle(window)
    click(qtbot, part(window, "known-up"))
    settle(window)
    assert names() == ["red", "blue", "green", "yellow"]
    assert table.currentIndex().row() == 0
    assert window.campaign is not None
    assert truth_order(window.campaign) == ("red", "blue", "green", "yellow")
    table.setCurrentIndex(table.model().index(3, 0))
    qtbot.keyClick(table, Qt.Key.Key_Return)
    assert screen.selection.items == tuple(np.flatnonzero((view.labels == 1) & (np.arange(24) % 4 == 3)).tolist()[:5])


def test_known_categories_are_loaded_from_a_table(
    qtbot: QtBot, fitted: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = make_campaign(tmp_path, fit=True)
    window = open_window(qtbot, path, "clusters")
    content(window).show_tab("known")
    button = part(window, "known-first-load", QPushButton)
    assert button.isVisible()
    box = part(window, "plot-colour", QComboBox)
    assert isinstance(box, QComboBox)
    assert not box.model().item(box.findText("Known category")).isEnabled()  # type: ignore[attr-defined]
    bad = tmp_path / "bad.csv"
    bad.write_text("item\nx\n", encoding="utf-8")
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_a, **_k: (str(bad), ""))
    click(qtbot, button)
    settle(window)
    assert "category" in window.error_bar.text.text()
    known = tmp_path / "known.csv"
    known.write_bytes((fitted.parent / "known.csv").read_bytes() + b"another,NA\n")
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_a, **_k: (str(known), ""))
    click(qtbot, button)
    settle(window)
    assert "1 of 23 rows have no category (NA): they are left out." in window.error_bar.text.text()
    assert not button.isVisible()
    assert part(window, "known-table", QTableView).model().rowCount() == 4
    assert box.model().item(box.findText("Known category")).isEnabled()  # type: ignore[attr-defined]


def test_two_runs_are_compared_and_what_moved_is_shown(qtbot: QtBot, window: MainWindow) -> None:
    qtbot.keyClick(content(window).gallery.rows, Qt.Key.Key_3, ALT)
    screen = content(window)
    assert screen.tab == "runs"
    settle(window)
    table = part(window, "compare-table", QTableView)
    assert isinstance(table, QTableView)
    assert (table.model().rowCount(), table.model().columnCount()) == (4, 2)
    figures = part(window, "compare-figures", QLabel)
    assert isinstance(figures, QLabel)
    assert "variation of information 1.000 bits" in figures.text()
    view = screen.album.view
    assert view is not None
    moved = part(window, "compare-moved", QPushButton)
    assert isinstance(moved, QPushButton)
    assert moved.text() == "Moved 12"
    click(qtbot, moved)
    assert {int(view.labels[item]) for item in screen.gallery.grid.items} == {3, 4}
    cell(window, qtbot, "compare-table", 0, 0)
    assert set(screen.gallery.grid.items) == set(view.clusters[0].items.tolist())


def test_a_single_run_has_nothing_to_be_compared_with(qtbot: QtBot, tmp_path: Path) -> None:
    window = open_made(qtbot, tmp_path, np.array([1, 1, 2, 2, 2, 0]))
    content(window).show_tab("runs")
    settle(window)
    figures = part(window, "compare-figures", QLabel)
    assert isinstance(figures, QLabel)
    assert figures.text() == "there is no other run to compare with"
    assert not part(window, "compare-moved").isEnabled()


def test_the_figures_behind_the_number_of_clusters_and_a_run_with_another(qtbot: QtBot, window: MainWindow) -> None:
    click(qtbot, part(window, "tab-numbers"))
    screen = content(window)
    tried = [score.clusters for score in screen.numbers.scores]
    assert tried[:4] == [1, 2, 3, 4]
    words = part(window, "numbers-words", QLabel)
    assert isinstance(words, QLabel)
    assert words.text().startswith(f"Run 1 tried 1 to {tried[-1]} clusters.")
    assert "This run has 4 clusters." in words.text()
    slider, box = part(window, "numbers-slider", QSlider), part(window, "numbers-box", QSpinBox)
    assert isinstance(slider, QSlider)
    assert isinstance(box, QSpinBox)
    assert (slider.value(), box.value()) == (4, 4)
    slider.setFocus()
    qtbot.keyClick(slider, Qt.Key.Key_Left)
    assert box.value() == 3
    button = part(window, "numbers-run")
    click(qtbot, button)
    assert not button.isEnabled()
    settle(window)
    assert button.isEnabled()
    assert window.campaign is not None
    newest = run_list(window.campaign)[-1]
    assert newest.settings["clusters"] == 3
    assert screen.album.view is not None
    assert screen.album.view.run.number == newest.number
    assert "Run 1 tried" in words.text(), "the figures are of the run that tried numbers on the same responses"


def test_without_figures_the_numbers_say_what_would_make_them(qtbot: QtBot, tmp_path: Path) -> None:
    window = open_made(qtbot, tmp_path, np.array([1, 1, 2, 2, 2, 0]))
    content(window).show_tab("numbers")
    words = part(window, "numbers-words", QLabel)
    assert isinstance(words, QLabel)
    assert "No run of these responses has tried several numbers" in words.text()
    assert content(window).numbers.figure() is None


def test_starts_stand_beside_each_other(qtbot: QtBot, window: MainWindow) -> None:
    content(window).show_run(2)
    settle(window)
    content(window).show_tab("starts")
    table = part(window, "starts-table", QTableView).model()
    assert [[table.index(row, column).data() for column in range(5)] for row in range(2)] == [
        ["1", "-13.0", "0.5", "–", "–"],
        ["2", "-12.5", "best", "–", "–"],
    ]
    content(window).show_run(1)
    settle(window)
    assert table.rowCount() == 1
    assert table.index(0, 3).data() == "4"
    assert content(window).starts.trace.bounds("joint", 1)


def test_each_plot_is_saved_with_its_numbers(
    qtbot: QtBot, window: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "plots"
    out.mkdir()
    content(window).show_tab("runs")
    settle(window)
    for name in TABS:
        content(window).show_tab(name)
        settle(window)
        monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_a, name=name, **_k: (str(out / f"{name}.png"), ""))
        click(qtbot, part(window, "save-plot"))
        settle(window)
    expected = sorted(f"{name}.{kind}" for name in TABS for kind in ("csv", "png", "svg"))
    assert sorted(path.name for path in out.iterdir()) == expected
    for name in TABS:
        with Image.open(out / f"{name}.png") as picture:
            assert picture.width > 500
    with (out / "plot.csv").open(newline="", encoding="utf-8") as file:
        assert len(list(csv.DictReader(file))) == 24
    with (out / "known.csv").open(newline="", encoding="utf-8") as file:
        assert sum(float(row["items"]) for row in csv.DictReader(file)) == 22
    (out / "known.png").unlink()
    content(window).show_tab("known")
    settle(window)
    before = (out / "known.csv").read_bytes()
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_a, **_k: (str(out / "known.png"), ""))
    click(qtbot, part(window, "save-plot"))
    settle(window)
    assert "known.svg is there already" in window.error_bar.text.text()
    assert (out / "known.csv").read_bytes() == before
    assert not (out / "known.png").exists()


@pytest.mark.parametrize("n_clusters", [0, 1, 2, 300])
def test_few_clusters_and_very_many(qtbot: QtBot, tmp_path: Path, n_clusters: int) -> None:
    labels = np.arange(max(24, 2 * n_clusters)) % max(n_clusters, 1) + (n_clusters > 0)
    window = open_made(qtbot, tmp_path, labels)
    screen = content(window)
    for name in TABS:
        screen.show_tab(name)
        settle(window)
    screen.show_tab("plot")
    for key in ("cluster", "category", "doubt", "shown"):
        screen.views.restore({"colour": key})
        window.grab()
    assert len(screen.gallery.category_rows) == n_clusters
    assert part(window, "cluster-rows", QListView).model().rowCount() == n_clusters
    screen.gallery.show_doubtful()
    settle(window)
    screen.menu.name_current()
    screen.plot.choose_all()
    assert len(screen.selection.items) == (len(labels) if n_clusters else 0)
    settle(window)
    assert not window.error_bar.isVisible()


@pytest.mark.parametrize("dimensions", [1, 20])
def test_one_dimension_and_many(qtbot: QtBot, tmp_path: Path, dimensions: int) -> None:
    window = open_made(qtbot, tmp_path, np.arange(24) % 3 + 1, dimensions)
    box = part(window, "plot-x", QComboBox)
    assert isinstance(box, QComboBox)
    assert box.count() == 2 * dimensions + max(2, dimensions)
    for place in range(box.count()):
        box.setCurrentIndex(place)
        window.grab()
    assert len(content(window).plot.dots.points) == 24


def test_the_folder_of_the_photos_is_gone(qtbot: QtBot, fitted: Path, tmp_path: Path) -> None:
    path = shutil.copytree(fitted.parent, tmp_path / "c") / fitted.name
    hidden = fitted.parent / "photos"
    away = fitted.parent / "away"
    hidden.rename(away)
    shutil.rmtree(path.parent / "photos")
    try:
        window = open_window(qtbot, path, "clusters")
        screen = content(window)
        screen.selection.choose(0)
        screen.gallery.open_place(1)
        settle(window)
        assert screen.album.failure(0)
        screen.deciding.rename(1, "Reds")
        screen.deciding.move([screen.album.name(0)], 2)
        settle(window)
        assert {row.place: row.name for row in screen.gallery.category_rows}[1] == "Reds"
    finally:
        away.rename(hidden)


@pytest.mark.parametrize("phase", ["folds", "candidates", "probabilities", "layers", "mixture", "joint", "storing"])
def test_a_run_can_be_cancelled_in_every_phase(
    qtbot: QtBot, window: MainWindow, monkeypatch: pytest.MonkeyPatch, phase: str
) -> None:
    assert window.campaign is not None
    before = run_list(window.campaign)
    reached = threading.Event()

    def wait(cancel: Any) -> None:
        reached.set()
        deadline = time.monotonic() + PATIENCE / 1000
        while not cancel.cancelled and time.monotonic() < deadline:
            time.sleep(0.005)

    def slow(campaign: Campaign, settings: Any, progress: Any, cancel: Any, *more: Any) -> Any:
        def report(news: Any) -> None:
            progress(news)
            if getattr(news, "phase", "") == phase:
                wait(cancel)

        if phase == "storing":
            from crowdclust_app.services.fits import campaign_fits

            fit = campaign_fits.fit_table  # type: ignore[attr-defined]

            def fitted(*given: Any) -> Any:
                found = fit(*given)
                wait(cancel)
                return found

            monkeypatch.setattr(campaign_fits, "fit_table", fitted)
        return fit_campaign(campaign, settings, report, cancel, *more)

    monkeypatch.setattr(run_panel, "fit_campaign", slow)
    click(qtbot, part(window, "run-button"))
    qtbot.waitUntil(reached.is_set, timeout=PATIENCE)
    click(qtbot, part(window, "cancel-button"))
    settle(window)
    assert run_list(window.campaign) == before
    state = part(window, "run-state", QLabel)
    assert isinstance(state, QLabel)
    assert "nothing was stored" in state.text()
    assert part(window, "run-button").isEnabled()
    assert content(window).gallery.category_rows, "the run that was shown is still there"


def test_ten_thousand_photos_are_scrolled_through_without_loading_them_all(qtbot: QtBot, tmp_path: Path) -> None:
    window = open_made(qtbot, tmp_path, np.ones(10_000, dtype=np.int64))
    screen = content(window)
    names = screen.album.view.item_names
    blocked = threading.Event()
    for _ in range(2):  # both threads that read photos
        window.jobs.start("decode", lambda _progress, _cancel: blocked.wait(PATIENCE / 1000))
    try:
        screen.album._files = {name: (tmp_path / name, name) for name in names}
        screen.gallery.open_place(1)
        grid = screen.gallery.grid
        qtbot.waitUntil(lambda: grid.photo_rect(grid.items[-1]).isValid(), timeout=PATIENCE)
        bar = grid.verticalScrollBar()
        assert bar.maximum() > 50 * grid.height()
        for place in range(0, bar.maximum(), bar.maximum() // 60):
            bar.setValue(place)
            grid.viewport().grab()
            assert window.pictures.waiting < 2 * MOST_WAITING
        assert window.pictures.waiting > 0
        window.pictures.drop_waiting()
    finally:
        blocked.set()
    settle(window)


def test_stability_is_shown_where_a_run_says_it(qtbot: QtBot, window: MainWindow) -> None:
    screen = content(window)
    view = screen.album.view
    assert view is not None
    assert "Stability" not in summary_in_words(view.run)
    for found in ([0.5, 1.0, 0.75, 0.75], [{"cluster": 2, "stability": 1.0}, {"cluster": 1, "stability": 0.5}]):
        summary = {**view.run.result.summary, "stability": found}
        told = replace(view.run, result=replace(view.run.result, summary=summary))
        assert "0.75 (lowest 0.50)" in summary_in_words(told)
        rows = category_rows(replace(view, run=told), screen.deciding.categories)
        assert (rows[0].stability, rows[1].stability) == (0.5, 1.0)
        assert "stability 0.50" in figures(rows[0])


def test_models_keep_qts_rules(qtbot: QtBot, window: MainWindow) -> None:
    content(window).show_tab("known")
    settle(window)
    found = content(window).known.table.table.found
    assert found is not None
    table, groups, starts = ContingencyModel(), GroupsModel(), StartsModel()
    testers = [QAbstractItemModelTester(model, FATAL) for model in (table, groups, starts)]
    table.show(found)
    groups.show(((1, "1", "Birds", 3), (0, "", "not known", 1)))
    starts.show((StartRow(1, -3.0, 0.0, 4, 10), StartRow(2, -4.0, 1.0, None, None)))
    assert (table.rowCount(), table.columnCount(), groups.rowCount(), starts.rowCount()) == (4, 4, 2, 2)
    assert groups.index(1, 0).data() == "not known: 1 photo"
    table.show(None)
    groups.show(())
    starts.show(())
    assert (table.rowCount(), groups.rowCount(), starts.rowCount()) == (0, 0, 0)
    assert len(testers) == 3
