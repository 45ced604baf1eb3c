"""The Workers screen as a person uses it: sort, choose, compare, read values."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PySide6.QtCore import QPersistentModelIndex, QPoint, Qt
from PySide6.QtGui import QImage
from PySide6.QtTest import QAbstractItemModelTester
from PySide6.QtWidgets import QApplication, QFileDialog, QLabel, QTableView
from pytestqt.qtbot import QtBot
from sorted_campaign import click, content_of, make_campaign, move, open_window, part, settle

from crowdclust_app.domain.fit_settings import FitSettings
from crowdclust_app.gui.theme import luminance
from crowdclust_app.gui.window import MainWindow
from crowdclust_app.gui.workers.content import WorkersContent
from crowdclust_app.gui.workers.matrices import colour_of, picture_of, scale_picture
from crowdclust_app.gui.workers.matrix_grid import MatrixGrid
from crowdclust_app.gui.workers.save_button import PICTURES
from crowdclust_app.gui.workers.workers_model import WorkersModel
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.campaign.responses import read_responses
from crowdclust_app.services.fits.campaign_fits import fit_campaign
from crowdclust_app.services.fits.run_store import load_run
from crowdclust_app.services.workers.worker_rows import WorkerRow


@pytest.fixture(scope="module")
def fitted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_campaign(tmp_path_factory.mktemp("fitted"), fit=True)


@pytest.fixture
def window(qtbot: QtBot, fitted: Path, tmp_path: Path) -> MainWindow:
    return open_window(qtbot, shutil.copytree(fitted.parent, tmp_path / "c") / fitted.name, "workers")


def screen_of(window: MainWindow) -> WorkersContent:
    return content_of(window, WorkersContent)


def column(table: QTableView, number: int) -> list[str]:
    return [table.model().index(row, number).data() for row in range(table.model().rowCount())]


def click_heading(qtbot: QtBot, table: QTableView, number: int) -> None:
    header = table.horizontalHeader()
    x = header.sectionViewportPosition(number) + header.sectionSize(number) // 2
    click(qtbot, header.viewport(), QPoint(x, header.height() // 2))


def test_the_table_tells_every_worker(window: MainWindow) -> None:
    table = screen_of(window).table
    assert window.campaign is not None
    hits = len(read_responses(window.campaign)) // 3
    rows = {row[0]: row[1:] for row in zip(*(column(table, n) for n in (0, 1, 2, 3, 6)), strict=True)}
    assert rows["Ann"] == (str(hits), "1 min 20 s", "100 %", "")
    assert rows["Lump"][3] == "one group?"
    assert rows["Idle"] == ("0", "–", "–", "")
    assert rows["Bo"][3] == ""
    assert part(window, "workers-title", QLabel).text() == "4 workers"


@pytest.mark.parametrize("size", [(1024, 768), (1366, 768)])
def test_names_and_flags_can_be_read_in_the_smallest_window(window: MainWindow, size: tuple[int, int]) -> None:
    window.resize(*size)
    settle(window)
    table = screen_of(window).table
    for number, words in ((0, "By height 1"), (6, "one group?")):
        assert table.columnWidth(number) >= table.fontMetrics().horizontalAdvance(words) + 16
    assert table.horizontalScrollBar().maximum() == 0


def test_sorting_the_table_sorts_the_grid(qtbot: QtBot, window: MainWindow) -> None:
    screen = screen_of(window)
    click_heading(qtbot, screen.table, 0)
    assert column(screen.table, 0) == ["Ann", "Bo", "Idle", "Lump"]
    assert screen.grid.names == ["Ann", "Bo", "Idle", "Lump"]
    click_heading(qtbot, screen.table, 0)
    assert screen.grid.names == ["Lump", "Idle", "Bo", "Ann"]
    assert "▼" in screen.table.model().headerData(0, Qt.Orientation.Horizontal)
    click_heading(qtbot, screen.table, 3)
    assert column(screen.table, 3)[0] == "–"
    assert column(screen.table, 3)[-1] == "100 %"


def test_table_grid_and_large_matrix_are_one_selection(qtbot: QtBot, window: MainWindow) -> None:
    screen = screen_of(window)
    row = column(screen.table, 0).index("Bo")
    rect = screen.table.visualRect(screen.table.model().index(row, 0))
    click(qtbot, screen.table.viewport(), rect.center())
    assert screen.chosen == "Bo"
    assert screen.grid._current == "Bo"
    assert part(window, "worker-name", QLabel).text() == "Bo"
    place = screen.grid.names.index("Lump")
    click(qtbot, screen.grid.viewport(), screen.grid.cell_rect(place).center())
    assert screen.chosen == "Lump"
    assert screen.table.currentIndex().row() == column(screen.table, 0).index("Lump")
    assert "one group" in part(window, "worker-about", QLabel).text()
    screen.grid.setFocus()
    qtbot.keyClick(screen.grid, Qt.Key.Key_Home)
    assert screen.chosen == screen.grid.names[0]
    qtbot.keyClick(screen.grid, Qt.Key.Key_Right)
    assert screen.chosen == screen.grid.names[1]
    screen.table.setFocus()
    qtbot.keyClick(screen.table, Qt.Key.Key_Down)
    assert screen.chosen == screen.grid.names[2]


def test_a_cells_value_is_told_and_is_the_runs(qtbot: QtBot, window: MainWindow) -> None:
    screen = screen_of(window)
    screen.choose("Bo")
    assert window.campaign is not None
    run = load_run(window.campaign, 1)
    order = screen.large.order
    settle(window)
    move(screen.large, screen.large.cell_centre(0, 1))
    value = run.result.confusion[run.worker_names.index("Bo"), order[0] - 1, order[1] - 1]
    told = part(window, "matrix-value", QLabel)
    assert told.text().startswith(f"{value:.3f}:")
    assert f"cluster {order[0]}" in told.text()
    assert f"cluster {order[1]}" in told.text()
    click(qtbot, part(window, "kind-bound"))
    settle(window)
    bound = run.result.confusion_bound[run.worker_names.index("Bo"), order[0] - 1, order[1] - 1]
    assert told.text().startswith(f"{bound:.3f}:")
    click(qtbot, part(window, "kind-calibrated"))
    screen.large.setFocus()
    qtbot.keyClick(screen.large, Qt.Key.Key_Down)
    value = run.result.confusion[run.worker_names.index("Bo"), order[1] - 1, order[1] - 1]
    assert told.text().startswith(f"{value:.3f}:")


def test_bos_two_groups_stand_as_two_blocks(window: MainWindow) -> None:
    screen = screen_of(window)
    screen.choose("Bo")
    matrix = screen.large._matrix
    assert matrix is not None
    assert matrix.shape == (4, 4)
    blocks = np.kron(np.eye(2), np.ones((2, 2))) > 0
    assert matrix[blocks].min() > 0.5 > matrix[~blocks].max()


def test_a_worker_without_responses_has_no_matrix_and_says_so(window: MainWindow) -> None:
    screen = screen_of(window)
    screen.choose("Idle")
    assert "Has not submitted a HIT yet" in part(window, "worker-about", QLabel).text()
    assert screen.large._matrix is None
    assert screen.large.order == []


def test_without_a_run_workers_are_listed_and_a_button_leads_to_clusters(qtbot: QtBot, tmp_path: Path) -> None:
    window = open_window(qtbot, make_campaign(tmp_path), "workers")
    screen = screen_of(window)
    assert set(column(screen.table, 0)) == {"Ann", "Bo", "Lump", "Idle"}
    assert column(screen.table, 6)[column(screen.table, 0).index("Lump")] == "one group?"
    button = part(window, "go-to-clusters")
    assert button.isVisible()
    click(qtbot, button)
    assert window.current_screen is not None
    assert window.current_screen.name == "clusters"
    settle(window)


def test_nobody_yet(qtbot: QtBot, tmp_path: Path) -> None:
    window = open_window(qtbot, make_campaign(tmp_path, sort=False), "workers")
    assert part(window, "go-to-annotate").isVisible()
    assert not screen_of(window).table.isVisible()


def test_a_consensus_has_one_matrix_for_all(qtbot: QtBot, fitted: Path, tmp_path: Path) -> None:
    path = shutil.copytree(fitted.parent, tmp_path / "c") / fitted.name
    with Campaign.open(path) as campaign:
        fit_campaign(campaign, FitSettings(method="consensus", dimensions=2, n_starts=1))
    window = open_window(qtbot, path, "workers")
    screen = screen_of(window)
    assert part(window, "worker-name", QLabel).text() == "All workers together"
    assert screen.large._matrix is not None
    assert not screen.grid.isVisible()


def test_models_keep_qts_rules(qapp: QApplication) -> None:
    rows = tuple(
        WorkerRow(f"w{n}", n, n % 5, 10.0 * n, n / 30, None, ("fast",) if n % 7 == 0 else ()) for n in range(30)
    )
    model = WorkersModel()
    tester = QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    model.show(rows)
    kept = QPersistentModelIndex(model.index(3, 0))
    name = kept.data()
    for number in range(7):
        model.sort(number, Qt.SortOrder.DescendingOrder)
        assert kept.data() == name
    assert model.rows()[-1].flags == ("fast",)
    model.sort(1, Qt.SortOrder.DescendingOrder)
    assert [row.name for row in model.rows()[:3]] == ["w14", "w19", "w24"]
    model.sort(1, Qt.SortOrder.AscendingOrder)
    assert [row.name for row in model.rows()[:3]] == ["w0", "w10", "w15"]
    model.show(())
    assert (tester.model(), model.rowCount()) == (model, 0)


def test_500_workers_are_drawn_only_where_they_are_seen(qtbot: QtBot) -> None:
    rng = np.random.default_rng(0)
    grid = MatrixGrid()
    qtbot.addWidget(grid)
    grid.resize(800, 400)
    grid.show_matrices(rng.random((500, 9, 9)))
    grid.show_workers([WorkerRow(f"w{n}", n, 3, None, None, None, ()) for n in range(500)])
    grid.show()
    grid.grab()
    seen = len(grid._pictures)
    assert 8 <= seen <= 48
    rects = [grid.cell_rect(n) for n in range(9)]
    assert len({r.top() for r in rects[:8]}) == 1
    assert rects[8].top() > rects[0].bottom()
    assert rects[7].right() <= grid.viewport().width()
    grid.set_current("w499")
    assert grid.viewport().rect().contains(grid.cell_rect(499))
    grid.grab()
    assert 499 in grid._pictures


def test_colours_follow_one_scale_from_0_to_1(qapp: QApplication) -> None:
    picture = picture_of(np.array([[0.0, 1.0], [0.5, 2.0]]))
    assert picture.pixelColor(0, 0) == colour_of(0.0)
    assert picture.pixelColor(1, 0) == colour_of(1.0) == picture.pixelColor(1, 1)
    assert picture.pixelColor(0, 1) == colour_of(0.5)
    light = [luminance(colour_of(value)) for value in np.linspace(0, 1, 11)]
    assert light == sorted(light)
    scale = scale_picture(100)
    assert scale.pixelColor(0, 0) == colour_of(1.0)
    assert scale.pixelColor(0, 99) == colour_of(0.0)


def test_every_picture_is_saved_with_its_numbers(
    window: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    screen = screen_of(window)
    menu = screen.save.menu()
    assert menu is not None
    assert len(menu.actions()) == len(PICTURES)
    for action, (name, _) in zip(menu.actions(), PICTURES, strict=True):
        chosen = tmp_path / f"{name}, =1 🌲.png"
        monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_a, chosen=chosen, **_k: (str(chosen), ""))
        action.trigger()
        settle(window)
        assert QImage(str(chosen)).width() > 400
        assert "<svg" in chosen.with_suffix(".svg").read_text(encoding="utf-8")
        assert len(pd.read_csv(chosen.with_suffix(".csv"))) > 1


def test_there_is_nothing_to_save_before_a_run(qtbot: QtBot, tmp_path: Path) -> None:
    window = open_window(qtbot, make_campaign(tmp_path), "workers")
    screen_of(window).save.save("matrices")
    assert not list(tmp_path.rglob("*.svg"))


def test_300_clusters_are_whole_in_large(window: MainWindow) -> None:
    large = screen_of(window).large
    matrix = np.full((300, 300), 0.5)
    large.show_matrix(matrix, list(range(1, 301)), [[] for _ in range(300)])
    settle(window)
    last = large.cell_centre(299, 299)
    assert 0 < large.cell_centre(0, 0).x() < last.x() < large.width()
    assert last.y() < large.height()
