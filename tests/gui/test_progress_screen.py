"""The Progress screen as a lead uses it, and a window that sees what others store."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from PIL import Image
from PySide6.QtCore import Qt
from PySide6.QtTest import QAbstractItemModelTester
from PySide6.QtWidgets import QComboBox, QFileDialog, QLabel, QPushButton, QTableView
from pytestqt.qtbot import QtBot
from sorted_campaign import click, content_of, make_campaign, open_window, part, settle, sort_some
from user_actions import PATIENCE

from crowdclust_app.domain.errors import UserError
from crowdclust_app.gui.number_box import NumberBox
from crowdclust_app.gui.progress.content import OpenModel, ProgressContent
from crowdclust_app.gui.window import MainWindow
from crowdclust_app.services.annotate import annotation
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.campaign.progress_statistics import look_at_pace
from crowdclust_app.services.campaign.responses import read_responses
from crowdclust_app.services.fits.run_store import load_run, run_list


@pytest.fixture(scope="module")
def sorted_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_campaign(tmp_path_factory.mktemp("sorted"))


@pytest.fixture
def path(sorted_once: Path, tmp_path: Path) -> Path:
    return Path(shutil.move(shutil.copytree(sorted_once.parent, tmp_path / "c"), tmp_path / "d")) / sorted_once.name


def content(window: MainWindow) -> ProgressContent:
    return content_of(window, ProgressContent)


def figure(window: MainWindow, key: str) -> str:
    return part(window, f"figure-{key}", QLabel).text()


def news(window: MainWindow) -> str:
    return part(window, "progress-news", QLabel).text()


def test_the_figures_are_those_of_the_campaign(qtbot: QtBot, path: Path) -> None:
    window = open_window(qtbot, path, "progress")
    with Campaign.open(path, read_only=True) as campaign:
        pace = look_at_pace(campaign)
    assert figure(window, "done") == f"{pace.figures.assignments_submitted} of {pace.figures.assignments_planned}"
    assert figure(window, "people") == "3 of 4 have sorted"
    assert figure(window, "time") == "1 min 20 s (median)"
    assert figure(window, "ready") == "done"
    shown = content(window)
    for chart in (shown.rank, shown.share, shown.days):
        assert chart.series is not None
    assert [name.split(":")[0] for name in shown.rank.series.words] == ["Ann", "Bo", "Lump"]


def test_more_sets_and_people_are_added_and_said(qtbot: QtBot, path: Path) -> None:
    window = open_window(qtbot, path, "progress")
    box = part(window, "grow-sets", NumberBox)
    box.setFocus()
    box.selectAll()
    qtbot.keyClicks(box, "2")
    assert "about 6 sets, 18 turns" in part(window, "sets-come-to", QLabel).text()
    click(qtbot, part(window, "add-sets", QPushButton))
    settle(window)
    assert news(window) == "Added 6 sets, 18 turns."
    assert figure(window, "done") == "36 of 54"
    click(qtbot, part(window, "add-people", QPushButton))
    settle(window)
    assert figure(window, "done") == "36 of 72"


def test_a_paused_campaign_says_so_and_goes_on(qtbot: QtBot, path: Path) -> None:
    window = open_window(qtbot, path, "progress")
    click(qtbot, part(window, "pause-campaign", QPushButton))
    settle(window)
    assert "Paused" in part(window, "paused", QLabel).text()
    with Campaign.open(path) as campaign, pytest.raises(UserError, match="paused"):
        annotation.next_assignment(campaign, campaign.workers()[3])
    click(qtbot, part(window, "pause-campaign", QPushButton))
    settle(window)
    assert "Paused" not in part(window, "paused", QLabel).text()


def test_new_images_are_found_and_added(qtbot: QtBot, path: Path) -> None:
    window = open_window(qtbot, path, "progress")
    click(qtbot, part(window, "look-for-images", QPushButton))
    settle(window)
    assert news(window) == "No new images."
    Image.new("RGB", (30, 20), "purple").save(path.parent / "photos" / "later.png")
    click(qtbot, part(window, "look-for-images", QPushButton))
    settle(window)
    assert "1 new image" in news(window)
    click(qtbot, part(window, "add-images", QPushButton))
    settle(window)
    assert news(window).startswith("Added 1 image, 4 sets")
    with Campaign.open(path, read_only=True) as campaign:
        assert campaign.items()[-1].path == "later.png"


def test_what_others_store_appears_without_reopening(qtbot: QtBot, path: Path) -> None:
    window = open_window(qtbot, path, "progress")
    window.watcher.look()
    settle(window)
    with Campaign.open(path) as other:
        from crowdclust_app.services.campaign.plan_changes import add_redundancy

        add_redundancy(other, 1)
        sort_some(other, "Ann", 1)
        turn = annotation.next_assignment(other, other.workers()[1])
        assert turn is not None
    qtbot.waitUntil(lambda: figure(window, "done") == "37 of 45", timeout=PATIENCE)
    table = part(window, "open-sets", QTableView)
    assert table.model().index(0, 0).data() == "Bo"
    assert table.isVisible()


def test_the_inference_runs_again_by_itself(qtbot: QtBot, path: Path) -> None:
    with Campaign.open(path) as campaign:
        from crowdclust_app.domain.fit_settings import FitSettings
        from crowdclust_app.services.campaign.plan_changes import add_redundancy
        from crowdclust_app.services.fits.campaign_fits import fit_campaign

        fit_campaign(campaign, FitSettings(dimensions=2, n_starts=1, n_clusters=4, label_weight=0.3, folds=0))
        add_redundancy(campaign, 2)
    window = open_window(qtbot, path, "progress")
    box = part(window, "rerun-every", NumberBox)
    box.setFocus()
    box.selectAll()
    qtbot.keyClicks(box, "3")
    qtbot.keyClick(box, Qt.Key.Key_Return)
    settle(window)
    with Campaign.open(path) as other:
        sort_some(other, "Ann", 2)
        settle(window)
        window.watcher.look()
        settle(window)
        assert len(run_list(other)) == 1
        sort_some(other, "Ann", 1)
        qtbot.waitUntil(lambda: len(run_list(other)) == 2, timeout=PATIENCE)
        settle(window)
        assert load_run(other, 2).settings == load_run(other, 1).settings
    assert figure(window, "new") == "0 responses"


def test_the_model_of_open_sets_keeps_qts_rules(qtbot: QtBot, path: Path) -> None:
    model = OpenModel()
    tester = QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    with Campaign.open(path) as campaign:
        from crowdclust_app.services.campaign.plan_changes import add_redundancy

        add_redundancy(campaign, 1)
        annotation.next_assignment(campaign, campaign.workers()[0])
        model.show(look_at_pace(campaign).open)
    assert model.rowCount() == 1
    assert model.index(0, 0).data() == "Ann"
    model.show(())
    assert model.rowCount() == 0
    del tester


def chosen(monkeypatch: pytest.MonkeyPatch, file: Path) -> None:
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_a, **_k: (str(file), ""))


def previewed(window: MainWindow) -> list[tuple[str, ...]]:
    model = part(window, "import-preview", QTableView).model()
    return [
        tuple(model.data(model.index(row, column)) for column in range(model.columnCount()))
        for row in range(model.rowCount())
    ]


def test_a_table_is_looked_at_and_imported(
    qtbot: QtBot, path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Campaign.open(path) as campaign:
        names = [item.path for item in campaign.items()[:3]]
        before = len(read_responses(campaign))
    table = tmp_path / "sorts.csv"
    rows = [f"Zoe,{name},{group},x" for name, group in zip(names, "aab", strict=True)]
    table.write_text("\n".join(["wer,was,wohin,wann", *rows]), encoding="utf-8")
    window = open_window(qtbot, path, "progress")
    chosen(monkeypatch, table)
    click(qtbot, part(window, "import-table", QPushButton))
    settle(window)
    assert "has no column hit and no column worker" in part(window, "import-notes", QLabel).text()
    assert not part(window, "import-button", QPushButton).isEnabled()
    for name, column in (("worker", "wer"), ("item", "was"), ("group", "wohin")):
        box = part(window, f"import-column-{name}", QComboBox)
        box.setCurrentIndex(box.findText(column))
        settle(window)
    assert previewed(window) == [("all", "Zoe", name, group) for name, group in zip(names, "aab", strict=True)]
    assert "everybody is taken to have been shown the same ones" in part(window, "import-notes", QLabel).text()
    click(qtbot, part(window, "import-button", QPushButton))
    settle(window)
    with Campaign.open(path, read_only=True) as campaign:
        assert len(read_responses(campaign)) == before + 1
        assert "Zoe" in [worker.name for worker in campaign.workers()]
    assert part(window, "import-table", QPushButton).isVisible(), "the figures are back"
    assert window.status.said.text() == "Imported 1 response"


def test_known_categories_are_previewed_and_left_by_escape(
    qtbot: QtBot, path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Campaign.open(path, read_only=True) as campaign:
        name = campaign.items()[0].path
    table = tmp_path / "known.csv"
    table.write_text(f"item;category\r\n{name};red\r\nother;NA\r\n", encoding="utf-16")
    window = open_window(qtbot, path, "progress")
    chosen(monkeypatch, table)
    click(qtbot, part(window, "import-table", QPushButton))
    settle(window)
    kind = part(window, "import-kind", QComboBox)
    kind.setCurrentIndex(kind.findText("Known categories"))
    settle(window)
    assert previewed(window) == [(name, "red")]
    assert "1 of 2 rows have no category (NA)" in part(window, "import-notes", QLabel).text()
    assert content(window).escape()
    assert part(window, "import-table", QPushButton).isVisible()
    assert not content(window).escape()
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_a, **_k: ("", ""))
    click(qtbot, part(window, "import-table", QPushButton))
    assert part(window, "import-table", QPushButton).isVisible(), "no table was chosen"
