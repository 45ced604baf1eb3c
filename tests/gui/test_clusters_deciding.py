"""Naming, merging, moving and splitting off in the gallery, by mouse and by keyboard, undone and done again."""

from __future__ import annotations

import csv
import shutil
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLineEdit, QMenu, QPushButton, QWidget
from pytestqt.qtbot import QtBot
from sorted_campaign import click, content_of, make_campaign, open_window, part, settle

from crowdclust_app.gui.clusters.content import ClustersContent
from crowdclust_app.gui.clusters.row_menu import RowAction
from crowdclust_app.gui.clusters.rows_model import figures
from crowdclust_app.gui.window import MainWindow
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.clusters.categories import Categories, read_categories
from crowdclust_app.services.exchange.exporting import export_campaign
from crowdclust_app.services.fits.run_store import load_run

# what the display of the tests says when a menu comes up
pytestmark = pytest.mark.qt_log_ignore("does not support raise", "does not support grabbing", extend=True)
CTRL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier


@pytest.fixture(scope="module")
def fitted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_campaign(tmp_path_factory.mktemp("fitted"), fit=True)


@pytest.fixture
def window(qtbot: QtBot, fitted: Path, tmp_path: Path) -> MainWindow:
    """On a sorted campaign with a run."""
    return open_window(qtbot, shutil.copytree(fitted.parent, tmp_path / "c") / fitted.name, "clusters")


def content(window: MainWindow) -> ClustersContent:
    return content_of(window, ClustersContent)


def stored(window: MainWindow) -> Categories:
    assert window.campaign is not None
    return read_categories(window.campaign, 1, len(load_run(window.campaign, 1).result.means))


def row_text(window: MainWindow, row: int) -> str:
    rows = content(window).gallery.rows
    return str(rows.model().index(row, 0).data())


def name(qtbot: QtBot, window: MainWindow, place: int, words: str) -> None:
    """Click the name of a row, type another one."""
    rows = content(window).gallery.rows
    rows.show_place(place)
    click(qtbot, rows.viewport(), rows.name_rect(place).center())
    field = part(window, "category-name", QLineEdit)
    assert isinstance(field, QLineEdit)
    assert field.isVisible()
    field.clear()
    if words.isascii():
        qtbot.keyClicks(field, words)
    else:
        field.insert(words)  # pasted: the test's keyboard has no such keys
    qtbot.keyClick(field, Qt.Key.Key_Return)
    settle(window)


def choose_in_menu(window: MainWindow, place: int, words: str) -> None:
    """Click the three dots of a row, then the entry that begins like this."""
    rows = content(window).gallery.rows
    rows.show_place(place)
    QApplication.processEvents()
    content(window).gallery.rows.menu_wanted.emit(place, rows.viewport().mapToGlobal(rows.menu_rect(place).center()))
    (menu,) = (menu for menu in window.findChildren(QMenu, "row-menu") if menu.isVisible())
    (action,) = (action for action in menu.actions() if action.text().startswith(words))
    assert action.isEnabled(), f"{words} cannot be chosen"
    action.trigger()
    menu.close()
    window.activateWindow()
    settle(window)


def answer_chooser(qtbot: QtBot, window: MainWindow, words: str) -> None:
    """Type a few letters of a category, press Enter."""
    chooser = part(window, "category-chooser")
    assert chooser.isVisible()
    field = part(window, "category-chooser-field", QLineEdit)
    qtbot.keyClicks(field, words)
    qtbot.keyClick(field, Qt.Key.Key_Return)
    settle(window)


def test_a_name_is_typed_on_the_row_and_taken_back(qtbot: QtBot, window: MainWindow) -> None:
    name(qtbot, window, 1, 'Mugs, "blue"')
    assert dict(stored(window).names) == {1: 'Mugs, "blue"'}
    assert row_text(window, 0).startswith('Cluster 1, Mugs, "blue": ')
    rows = content(window).gallery.rows
    assert rows.hasFocus(), "the keys go back to the rows"
    qtbot.keyClick(rows, Qt.Key.Key_Z, CTRL)
    settle(window)
    assert dict(stored(window).names) == {}
    assert row_text(window, 0).startswith("Cluster 1: ")
    qtbot.keyClick(rows, Qt.Key.Key_Z, CTRL | SHIFT)
    settle(window)
    assert dict(stored(window).names) == {1: 'Mugs, "blue"'}
    qtbot.keyClick(rows, Qt.Key.Key_F2)
    field = part(window, "category-name", QLineEdit)
    assert isinstance(field, QLineEdit)
    assert field.text() == 'Mugs, "blue"'
    qtbot.keyClicks(field, "something else")
    qtbot.keyClick(field, Qt.Key.Key_Escape)
    settle(window)
    assert not field.isVisible()
    assert dict(stored(window).names) == {1: 'Mugs, "blue"'}, "Esc keeps nothing"


@pytest.mark.parametrize("words", ["=1+1", "שלום עולם", "👩‍🌾 farm", "a" * 80])
def test_names_of_all_kinds_reach_the_table(qtbot: QtBot, window: MainWindow, tmp_path: Path, words: str) -> None:
    name(qtbot, window, 2, words)
    assert stored(window).name(2) == words
    window.grab()
    assert window.campaign is not None
    export_campaign(window.campaign, tmp_path / "out")
    with (tmp_path / "out" / "clusters.csv").open(newline="", encoding="utf-8") as file:
        found = {row["category"] for row in csv.DictReader(file) if row["cluster"] == "2"}
    assert found == {"'=1+1" if words == "=1+1" else words}


def test_one_name_for_two_clusters_makes_one_category(qtbot: QtBot, window: MainWindow) -> None:
    name(qtbot, window, 1, "Cold")
    name(qtbot, window, 3, "cold")
    assert stored(window).together_with(1) == (1, 3)
    assert [row.place for row in content(window).gallery.category_rows] == [1, 3, 2, 4], "beside each other"
    choose_in_menu(window, 3, "Take out")
    assert stored(window).together_with(1) == (1,)
    choose_in_menu(window, 2, "Make one category with")
    answer_chooser(qtbot, window, "Cold")
    assert stored(window).together_with(1) == (1, 2)


def test_chosen_photos_are_moved_by_keys_and_put_back_by_the_menu(qtbot: QtBot, window: MainWindow) -> None:
    screen = content(window)
    view = screen.album.view
    assert view is not None
    name(qtbot, window, 2, "Warm")
    items = [int(item) for item in view.clusters[0].items[:2]]
    rows = screen.gallery.rows
    rows.show_place(1)
    click(qtbot, rows.viewport(), rows.photo_rect(items[0]).center())
    click(qtbot, rows.viewport(), rows.photo_rect(items[1]).center(), shift=True)
    qtbot.keyClick(rows, Qt.Key.Key_M, CTRL)
    answer_chooser(qtbot, window, "warm")
    found = {row.place: row for row in screen.gallery.category_rows}
    assert sorted(found[2].items.tolist()[-2:]) == sorted(items)
    assert (found[1].gone, found[2].moved) == (2, 2)
    assert "2 moved here" in figures(found[2])
    assert screen.album.moved == frozenset(items)
    assert "moved there by the lead" in part(window, "inspector-category").text()
    choose_in_menu(window, 1, "Move 2 chosen photos here")
    assert screen.album.moved == frozenset()
    qtbot.keyClick(rows, Qt.Key.Key_Z, CTRL)
    settle(window)
    assert screen.album.moved == frozenset(items)
    choose_in_menu(window, 2, "Put 2 chosen photos back")
    assert screen.album.moved == frozenset()
    assert dict(stored(window).moves) == {}


def test_chosen_photos_become_a_category_whose_name_is_typed_at_once(qtbot: QtBot, window: MainWindow) -> None:
    screen = content(window)
    view = screen.album.view
    assert view is not None
    items = [int(item) for item in view.clusters[1].items[:3]]
    button = part(window, "gallery-split", QPushButton)
    assert not button.isEnabled()
    screen.selection.choose_all(items)
    click(qtbot, button)
    settle(window)
    field = part(window, "category-name", QLineEdit)
    assert isinstance(field, QLineEdit)
    assert field.isVisible()
    assert field.text() == "New category"
    qtbot.keyClicks(field, "Odd ones")
    qtbot.keyClick(field, Qt.Key.Key_Return)
    settle(window)
    assert stored(window).split_off == ("Odd ones",)
    last = screen.gallery.category_rows[-1]
    assert (last.name, sorted(last.items.tolist())) == ("Odd ones", sorted(items))
    assert row_text(window, 4).startswith("Category A, Odd ones: 3 photos")
    colour = screen.views
    colour.restore({"colour": "category"})
    assert colour.colours is not None
    assert colour.colours.names[5] == "Odd ones"
    assert 5 in screen.plot.badge_numbers


def test_what_is_typed_next_survives_what_was_typed_before(qtbot: QtBot, window: MainWindow) -> None:
    rows = content(window).gallery.rows
    click(qtbot, rows.viewport(), rows.name_rect(1).center())
    field = part(window, "category-name", QLineEdit)
    qtbot.keyClicks(field, "First")
    rows.show_place(2)
    click(qtbot, rows.viewport(), rows.name_rect(2).center())  # leaving the field keeps the first name
    qtbot.keyClicks(field, "Sec")
    settle(window)
    assert stored(window).name(1) == "First"
    assert field.isVisible()
    qtbot.keyClicks(field, "ond")
    qtbot.keyClick(field, Qt.Key.Key_Return)
    settle(window)
    assert [stored(window).name(place) for place in (1, 2)] == ["First", "Second"]


def test_the_doubtful_photos_of_a_cluster_come_first_when_asked_for(qtbot: QtBot, window: MainWindow) -> None:
    screen = content(window)
    view = screen.album.view
    assert view is not None
    button = part(window, "gallery-order", QPushButton)
    first = screen.gallery.rows.photos(screen.gallery.category_rows[0])
    click(qtbot, button)
    turned = screen.gallery.rows.photos(screen.gallery.category_rows[0])
    assert turned == view.clusters[0].items[::-1].tolist()
    assert turned != first
    click(qtbot, screen.gallery.rows.viewport(), screen.gallery.rows.more_rect(1).center())
    assert screen.gallery.grid.items == tuple(view.clusters[0].items[::-1].tolist())
    assert window.recall("gallery-doubtful-first") is True
    click(qtbot, button)
    assert screen.gallery.grid.items == tuple(view.clusters[0].items.tolist())


def test_a_decision_that_cannot_be_stored_says_so(qtbot: QtBot, window: MainWindow) -> None:
    screen = content(window)
    screen.deciding.rename(1, "x" * 81)
    settle(window)
    assert window.error_bar.isVisible()
    assert "longer than 80" in window.error_bar.text.text()
    assert dict(stored(window).names) == {}
    window.dismiss_error()
    screen.deciding.undo()
    screen.deciding.redo()
    settle(window)
    assert not window.error_bar.isVisible(), "nothing to undo is no error"


def test_other_parts_of_the_program_add_to_the_menu_of_a_cluster(qtbot: QtBot, window: MainWindow) -> None:
    given: list[int] = []
    content(window).menu.actions.append(RowAction("Do something", given.append))
    choose_in_menu(window, 3, "Do something")
    assert given == [3]
    content(window).selection.choose(0)
    content(window).menu.split_off_chosen()
    settle(window)
    content(window).gallery.rows.field.give_up()
    content(window).menu.show(5, window.rect().center())
    (menu,) = (menu for menu in window.findChildren(QMenu, "row-menu") if menu.isVisible())
    assert not next(a for a in menu.actions() if a.text() == "Do something").isEnabled(), "it is no cluster"
    menu.close()


def test_names_go_over_to_the_next_run(qtbot: QtBot, window: MainWindow) -> None:
    name(qtbot, window, 1, "Reds")
    assert window.campaign is not None
    labels = load_run(window.campaign, 1).result.labels
    click(qtbot, part(window, "run-button"))
    settle(window)
    row = next(row for row in content(window).gallery.category_rows if row.name == "Reds")
    assert row.carried_from == 1
    assert set(np.flatnonzero(labels == 1)) == set(row.items.tolist())
    assert "name from run 1" in figures(row)


def test_a_campaign_that_cannot_be_written_keeps_what_it_has(
    qtbot: QtBot, fitted: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = shutil.copytree(fitted.parent, tmp_path / "c") / fitted.name
    with Campaign.open(path) as campaign:
        before = campaign.revision
    window = open_window(qtbot, path, "clusters")
    assert window.campaign is not None
    monkeypatch.setattr(window.campaign.database, "read_only", True)
    content(window).deciding.rename(1, "Reds")
    settle(window)
    assert window.error_bar.isVisible()
    assert content(window).gallery.category_rows[0].name == ""
    assert window.campaign.revision == before
    assert isinstance(content(window), QWidget)
