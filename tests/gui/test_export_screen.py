"""The Export screen as a person uses it."""

from __future__ import annotations

import csv
import shutil
import subprocess
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QAbstractItemModelTester
from PySide6.QtWidgets import QCheckBox, QComboBox, QLabel, QLineEdit, QTableView
from pytestqt.qtbot import QtBot
from sorted_campaign import click, content_of, make_campaign, open_window, part, settle
from user_actions import PATIENCE

from crowdclust_app.domain.fit_settings import FitSettings
from crowdclust_app.gui.clusters.content import ClustersContent
from crowdclust_app.gui.export.content import TablesModel
from crowdclust_app.gui.window import MainWindow
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.exchange.export_preview import tables_to_write
from crowdclust_app.services.fits.campaign_fits import fit_campaign


@pytest.fixture(scope="module")
def fitted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = make_campaign(tmp_path_factory.mktemp("fitted"), fit=True)
    with Campaign.open(path) as campaign:
        fit_campaign(campaign, FitSettings(dimensions=2, n_starts=1, n_clusters=2, label_weight=0.3))
    return path


@pytest.fixture
def copy(fitted: Path, tmp_path: Path) -> Path:
    return shutil.copytree(fitted.parent, tmp_path / "c") / fitted.name


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def write_folder(qtbot: QtBot, window: MainWindow, folder: Path) -> None:
    field = part(window, "export-folder", QLineEdit)
    field.setFocus()
    field.selectAll()
    qtbot.keyClicks(field, str(folder))


def export(qtbot: QtBot, window: MainWindow) -> None:
    click(qtbot, part(window, "export-button"))
    settle(window)


def state(window: MainWindow) -> str:
    return part(window, "export-state", QLabel).text()


def test_the_exported_clusters_are_those_on_screen(qtbot: QtBot, copy: Path, tmp_path: Path) -> None:
    window = open_window(qtbot, copy, "clusters")
    clusters = content_of(window, ClustersContent)
    view = clusters.album.view
    assert view is not None
    shown = {view.item_names[i]: row.number for row in view.clusters for i in row.items.tolist()}
    sure = {view.item_names[i]: view.probability[i] for row in view.clusters for i in row.items.tolist()}
    window.show_screen("export")
    settle(window)
    out = tmp_path / "out"
    write_folder(qtbot, window, out)
    export(qtbot, window)
    written = rows_of(out / "clusters.csv")
    assert {row["item"]: int(row["cluster"]) for row in written if row["cluster"]} == shown
    for row in written:
        assert float(row["probability"]) == pytest.approx(sure[row["item"]], abs=1e-9)
        assert int(row["times_shown"]) == view.times_shown[view.item_names.index(row["item"])]
    assert str(out) in state(window)
    assert part(window, "export-open").isEnabled()


def test_the_list_says_beforehand_what_is_written(qtbot: QtBot, copy: Path, tmp_path: Path) -> None:
    window = open_window(qtbot, copy, "export")
    model = part(window, "export-tables", QTableView).model()
    told = {model.index(r, 0).data(): model.index(r, 2).data() for r in range(model.rowCount())}
    out = tmp_path / "out"
    write_folder(qtbot, window, out)
    export(qtbot, window)
    assert {path.name for path in out.iterdir()} == set(told)
    for name, count in told.items():
        if name.endswith(".csv"):
            assert len(rows_of(out / name)) == int(count.replace(",", "")), name
    assert told["summary.json"] == ""


def test_an_older_run_can_be_written(qtbot: QtBot, copy: Path, tmp_path: Path) -> None:
    window = open_window(qtbot, copy, "export")
    runs = part(window, "export-run", QComboBox)
    assert [runs.itemText(i)[:5] for i in range(runs.count())] == ["Run 2", "Run 1"]
    runs.setFocus()
    qtbot.keyClick(runs, Qt.Key.Key_Down)
    settle(window)
    write_folder(qtbot, window, tmp_path / "out")
    export(qtbot, window)
    assert {row["cluster"] for row in rows_of(tmp_path / "out" / "clusters.csv")} == {"1", "2", "3", "4"}


def test_workers_can_be_written_as_numbers(qtbot: QtBot, copy: Path, tmp_path: Path) -> None:
    window = open_window(qtbot, copy, "export")
    box = part(window, "export-anonymous", QCheckBox)
    box.setFocus()
    qtbot.keyClick(box, Qt.Key.Key_Space)
    write_folder(qtbot, window, tmp_path / "out")
    export(qtbot, window)
    assert {row["worker"] for row in rows_of(tmp_path / "out" / "responses.csv")} == {"1", "2", "3"}
    assert window.recall("export-anonymous") is True


def test_a_second_export_says_what_it_replaces(qtbot: QtBot, copy: Path, tmp_path: Path) -> None:
    window = open_window(qtbot, copy, "export")
    out = tmp_path / "out"
    out.mkdir()
    (out / "clusters.csv").write_text("old", encoding="utf-8")
    (out / "mine.txt").write_text("mine", encoding="utf-8")
    write_folder(qtbot, window, out)
    qtbot.waitUntil(lambda: "Replaces 1 file" in state(window), timeout=PATIENCE)
    export(qtbot, window)
    assert (out / "mine.txt").read_text(encoding="utf-8") == "mine"
    assert len(rows_of(out / "clusters.csv")) == 24


def test_what_goes_wrong_is_said_in_the_bar_and_nothing_is_changed(qtbot: QtBot, copy: Path, tmp_path: Path) -> None:
    window = open_window(qtbot, copy, "export")
    (tmp_path / "file").write_text("x", encoding="utf-8")
    write_folder(qtbot, window, tmp_path / "file")
    export(qtbot, window)
    assert not window.error_bar.isHidden()
    assert (tmp_path / "file").read_text(encoding="utf-8") == "x"
    assert part(window, "export-button").isEnabled()
    part(window, "export-folder", QLineEdit).clear()
    export(qtbot, window)
    assert any("No folder is chosen" in label.text() for label in window.error_bar.findChildren(QLabel))


def test_without_a_run_the_tables_of_clusters_are_left_out(qtbot: QtBot, tmp_path: Path) -> None:
    window = open_window(qtbot, make_campaign(tmp_path), "export")
    runs = part(window, "export-run", QComboBox)
    assert not runs.isEnabled()
    assert runs.currentText().startswith("No run yet")
    write_folder(qtbot, window, tmp_path / "out")
    export(qtbot, window)
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert "responses.csv" in names
    assert "clusters.csv" not in names


def test_the_model_keeps_qts_rules(copy: Path) -> None:
    model = TablesModel()
    tester = QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    with Campaign.open(copy) as campaign:
        model.show(tables_to_write(campaign, 1))
    assert "clusters.csv" in model.names
    model.show(())
    assert (model.rowCount(), model.columnCount()) == (0, 3)
    assert tester is not None


def test_a_report_on_pages_and_photos_by_cluster_go_with_the_tables(qtbot: QtBot, copy: Path, tmp_path: Path) -> None:
    window = open_window(qtbot, copy, "export")
    settle(window)
    out = tmp_path / "out"
    write_folder(qtbot, window, out)
    for key in ("pdf", "links"):
        click(qtbot, part(window, f"export-part-{key}", QCheckBox))
    export(qtbot, window)
    assert {"clusters.csv", "report.pdf", "photos"} <= {path.name for path in out.iterdir()}
    assert (out / "report.pdf").read_bytes().startswith(b"%PDF")
    if shutil.which("pdftotext"):
        text = subprocess.run(
            ["pdftotext", str(out / "report.pdf"), "-"], capture_output=True, text=True, check=True
        ).stdout
        assert "At a glance" in text
        assert "Reproduction" in text
    assert len(list((out / "photos").rglob("*.*"))) == len(rows_of(out / "clusters.csv"))
    click(qtbot, part(window, "export-part-photos", QCheckBox))
    assert not part(window, "export-part-links", QCheckBox).isChecked()
    export(qtbot, window)
    assert any("something in this folder" in label.text() for label in window.error_bar.findChildren(QLabel))


def test_photos_that_are_gone_are_said_in_the_bar(qtbot: QtBot, copy: Path, tmp_path: Path) -> None:
    with Campaign.open(copy) as campaign:
        gone = campaign.items()[3]
        campaign.item_path(gone).unlink()
        count = len(campaign.items())
    window = open_window(qtbot, copy, "export")
    settle(window)
    write_folder(qtbot, window, tmp_path / "out")
    click(qtbot, part(window, "export-part-photos", QCheckBox))
    export(qtbot, window)
    assert len(list((tmp_path / "out" / "photos").rglob("*.*"))) == count - 1
    said = [label.text() for label in window.error_bar.findChildren(QLabel)]
    assert any(f"1 photo was not found and left out: {gone.path}." in text for text in said)
    assert "written to" in state(window)
