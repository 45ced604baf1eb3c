"""Sorting sets as a person does: mouse, keys, undo, submit."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QLineEdit, QWidget
from user_actions import CTRL, SHIFT, Person, find, press_button, settle, text_of

from crowdclust_app.domain.campaign import AssignmentStatus
from crowdclust_app.domain.sorting import Action, ActionKind, Sorting
from crowdclust_app.gui.window import MainWindow
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.campaign.counts import assignment_records, flag_records
from crowdclust_app.services.campaign.responses import read_responses

OpenWindow = Callable[..., MainWindow]


@pytest.fixture
def person(open_window: OpenWindow, campaign_file: Path) -> Person:
    """Ada, at her first set of six photos."""
    made = Person(open_window(campaign_file, "annotate"))
    made.sign_in("Ada")
    assert made.count == 6
    assert made.groups == (0,) * 6
    return made


def place(*placements: tuple[int, int]) -> Action:
    return Action(ActionKind.PLACE, placements)


def test_the_first_set_begins_with_the_instructions(open_window: OpenWindow, campaign_file: Path) -> None:
    person = Person(open_window(campaign_file, "annotate"))
    person.sign_in("Ada", read=False)
    sheet = find(person.window, QWidget, "instructions-sheet")
    assert sheet.isVisible()
    assert text_of(person.window, "instructions-text") == "Sort by what it is."
    press_button(person.window, "instructions-done")
    assert not sheet.isVisible()
    # they stay reachable
    person.key("i")
    assert sheet.isVisible()
    person.key(Qt.Key.Key_Escape)
    assert not sheet.isVisible()
    assert text_of(person.window, "set-title") == "Set 1 of 6"


def test_a_click_gives_the_group_in_hand_and_another_takes_it_away(person: Person) -> None:
    person.click(2)
    assert person.groups == (0, 0, 1, 0, 0, 0)
    person.key("3")
    person.click(2)
    person.click(4)
    assert person.groups == (0, 0, 3, 0, 3, 0)
    person.click(4)
    assert person.groups == (0, 0, 3, 0, 0, 0)
    assert person.stored() == (place((2, 1)), place((2, 3)), place((4, 3)), place((4, 0)))
    assert text_of(person.window, "submit-button") == "5 not sorted yet"
    assert text_of(person.window, "status-said") == "Everything is saved"


def test_the_palette_shows_groups_and_the_last_chip_makes_one(person: Person) -> None:
    assert person.chip(1) is not None
    assert person.chip(2) is None
    person.click(0)
    person.click(1)
    press_button(person.window, "new-group")
    assert person.page.desk.current == 2
    person.click(3)
    chip = person.chip(2)
    assert chip is not None
    assert chip.accessibleName() == "Group 2, 1 photo, in hand"
    first = person.chip(1)
    assert first is not None
    assert first.accessibleName() == "Group 1, 2 photos"
    QTest.mouseClick(first, Qt.MouseButton.LeftButton)
    person.click(4)
    assert person.groups == (1, 1, 0, 2, 1, 0)


def test_a_drag_paints_every_tile_it_crosses_as_one_action(person: Person) -> None:
    person.drag(person.centre(0), person.centre(1), person.centre(2))
    assert person.groups[:3] == (1, 1, 1)
    assert len(person.stored()) == 1
    person.key("z", CTRL)
    assert person.groups == (0,) * 6


def test_a_fast_drag_jumps_over_no_tile(person: Person) -> None:
    layout = person.grid.grid_layout
    assert layout is not None
    assert layout.columns >= 3
    person.drag(person.centre(0), person.centre(layout.columns - 1))
    assert person.groups[: layout.columns] == (1,) * layout.columns


def test_a_drag_that_begins_on_the_group_in_hand_paints_too(person: Person) -> None:
    person.click(0)
    person.drag(person.centre(0), person.centre(1))
    assert person.groups[:2] == (1, 1)


def test_a_rubber_band_from_beside_the_photos_selects(person: Person) -> None:
    layout = person.grid.grid_layout
    assert layout is not None
    last = layout.cell(1)
    beside = QPoint(layout.cell(0).left() - 3, layout.cell(0).top() + 4)
    assert layout.at(beside.x(), beside.y()) is None
    person.drag(beside, last.center(), modifiers=Qt.KeyboardModifier.NoModifier)
    assert person.page.desk.selection == {0, 1}
    assert person.groups == (0,) * 6
    person.key("2")
    assert person.groups == (2, 2, 0, 0, 0, 0)
    assert person.page.desk.selection == set()
    assert person.page.desk.current == 2
    assert person.stored() == (place((0, 2), (1, 2)),)


def test_a_rubber_band_with_shift_begins_on_a_photo_and_adds(person: Person) -> None:
    person.click(5, CTRL)
    person.drag(person.centre(0), person.centre(1), modifiers=SHIFT)
    assert person.page.desk.selection == {0, 1, 5}
    person.key("+")
    assert person.groups == (1, 1, 0, 0, 0, 1)


def test_control_and_shift_clicks_select(person: Person) -> None:
    person.click(1, CTRL)
    person.click(4, SHIFT)
    assert person.page.desk.selection == {1, 2, 3, 4}
    person.click(2, CTRL)
    assert person.page.desk.selection == {1, 3, 4}
    person.key(Qt.Key.Key_Return)
    assert person.groups == (0, 1, 0, 1, 1, 0)
    # Esc drops a selection and leaves the screen where it is
    person.click(0, CTRL)
    person.key(Qt.Key.Key_Escape)
    assert person.page.desk.selection == set()
    assert person.page.isVisible()


def test_a_chip_takes_the_selection(person: Person) -> None:
    person.click(0)
    person.key("2")
    person.click(1)
    person.click(4, CTRL)
    person.click(5, CTRL)
    first = person.chip(1)
    assert first is not None
    QTest.mouseClick(first, Qt.MouseButton.LeftButton)
    assert person.groups == (1, 2, 0, 0, 1, 1)


def test_everything_can_be_sorted_by_keyboard(person: Person) -> None:
    layout = person.grid.grid_layout
    assert layout is not None
    QTest.mouseMove(person.window.rail)
    person.grid.leaveEvent(None)
    person.key(Qt.Key.Key_Home)
    person.key(Qt.Key.Key_Return)
    person.key(Qt.Key.Key_Right)
    person.key("2")
    person.key(Qt.Key.Key_Return)
    assert person.groups[:2] == (1, 2)
    assert person.grid.accessibleDescription() == "Photo 2 of 6, group 2"
    person.key(Qt.Key.Key_Down)
    if layout.rows > 1:
        below = 1 + layout.columns
        if below < 6:
            assert person.page.desk.focus == below
    person.key(Qt.Key.Key_Home)
    person.key(Qt.Key.Key_Right, SHIFT)
    assert person.page.desk.selection == {0, 1}
    person.key(Qt.Key.Key_Delete)
    assert person.groups == (0,) * 6
    person.key("r")
    person.key(Qt.Key.Key_Return, CTRL)
    person.settle()
    assert text_of(person.window, "set-title") == "Set 2 of 6"


def test_space_shows_one_photo_large_and_arrows_browse(person: Person) -> None:
    person.key(Qt.Key.Key_Home)
    person.key(Qt.Key.Key_Space)
    assert person.photo.isVisible()
    assert person.photo.position == 0
    person.key(Qt.Key.Key_Right)
    assert person.photo.position == 1
    person.key("2")
    assert person.groups == (0, 2, 0, 0, 0, 0)
    person.key(Qt.Key.Key_Left)
    person.key(Qt.Key.Key_Return)
    assert person.groups == (2, 2, 0, 0, 0, 0)
    person.key(Qt.Key.Key_Escape)
    assert not person.photo.isVisible()
    assert person.grid.hasFocus()
    person.key(Qt.Key.Key_Space)
    person.key(Qt.Key.Key_Space)
    assert not person.photo.isVisible()


def test_space_shows_the_photo_under_the_pointer(person: Person) -> None:
    QTest.mouseMove(person.grid, person.centre(0))
    QTest.mouseMove(person.grid, person.centre(4))
    person.key(Qt.Key.Key_Space)
    assert person.photo.position == 4


def test_a_double_click_looks_and_changes_nothing(person: Person) -> None:
    person.key("2")
    person.click(3)
    before = person.groups
    person.double_click(3)
    assert person.photo.isVisible()
    assert person.photo.position == 3
    assert person.groups == before
    person.settle()
    assert Sorting(6, person.stored()).groups == before


def test_undo_and_redo_have_no_limit(person: Person) -> None:
    states = [person.groups]
    for round_ in range(1, 8):
        person.key(str(round_))
        for position in range(6):
            person.click(position)
            states.append(person.groups)
    for state in reversed(states[:-1]):
        person.key("z", CTRL)
        assert person.groups == state
    assert not find(person.window, QAbstractButton, "undo-button").isEnabled()
    for state in states[1:]:
        person.key("z", CTRL | SHIFT)
        assert person.groups == state
    person.key("z", CTRL)
    person.key("y", CTRL)
    assert person.groups == states[-1]
    assert Sorting(6, person.stored()).groups == states[-1]


def test_groups_above_nine_are_reached_by_a_second_digit(open_window: OpenWindow, tmp_path: Path) -> None:
    from user_actions import draw_photos

    from crowdclust_app.domain.campaign import PlanSettings
    from crowdclust_app.services.campaign.creating import create_campaign

    path = tmp_path / "many.crowdclust"
    create_campaign(path, draw_photos(tmp_path / "many", 16), PlanSettings(16, 1, 1, 0))
    person = Person(open_window(path, "annotate"))
    person.sign_in("Ada")
    for position in range(11):
        person.key("+")
        person.click(position)
    assert person.groups[:11] == tuple(range(1, 12))
    person.key("1")
    person.key("2")
    assert person.page.desk.current == 12
    person.click(11)
    assert person.groups[11] == 12
    # with a selection: what the first digit did is replaced, and one undo takes both back
    person.click(14, CTRL)
    person.click(15, CTRL)
    before = person.groups
    person.key("1")
    assert person.groups[14:] == (1, 1)
    person.key("0")
    assert person.groups[14:] == (10, 10)
    person.key("z", CTRL)
    assert person.groups == before
    assert Sorting(16, person.stored()).groups == before


def test_submit_waits_until_all_is_sorted_and_the_next_set_comes(person: Person) -> None:
    changed: list[bool] = []
    person.window.data_changed.connect(lambda: changed.append(True))
    submit = find(person.window, QAbstractButton, "submit-button")
    first = person.grid.tiles
    person.key(Qt.Key.Key_Return, CTRL)
    person.settle()
    assert person.grid.tiles == first, "a set with unsorted photos was submitted"
    person.click(0)
    person.click(1)
    person.key("r")
    assert person.groups == (1, 1, 2, 3, 4, 5)
    assert submit.text() == "Submit"
    press_button(person.window, "submit-button")
    person.settle()
    assert text_of(person.window, "set-title") == "Set 2 of 6"
    assert person.groups == (0,) * 6
    assert changed
    assert person.window.campaign is not None
    (response,) = read_responses(person.window.campaign)
    assert response.worker == "Ada"
    names = [tile.item.path for tile in first]
    assert dict(zip(response.items, response.groups, strict=True)) == dict(
        zip(names, [str(g) for g in (1, 1, 2, 3, 4, 5)], strict=True)
    )


def test_nothing_left_is_said_in_a_friendly_way(person: Person) -> None:
    for number in range(1, 7):
        assert text_of(person.window, "set-title") == f"Set {number} of 6"
        person.key("r")
        person.key(Qt.Key.Key_Return, CTRL)
        person.settle()
    assert text_of(person.window, "end-page-heading") == "Nothing left to sort, Ada"
    assert "6 sets" in text_of(person.window, "end-page-text")
    press_button(person.window, "end-change-worker")
    person.settle()
    assert find(person.window, QLineEdit, "worker-name").isVisible()


def test_skip_asks_first_and_the_set_does_not_come_again(person: Person) -> None:
    first = {tile.item.path for tile in person.grid.tiles}
    press_button(person.window, "skip-button")
    press_button(person.window, "skip-cancel")
    assert {tile.item.path for tile in person.grid.tiles} == first
    press_button(person.window, "skip-button")
    press_button(person.window, "skip-confirm")
    person.settle()
    assert text_of(person.window, "set-title") == "Set 1 of 5"
    assert person.window.campaign is not None
    assert [turn.status for turn in assignment_records(person.window.campaign)].count(AssignmentStatus.SKIPPED) == 1


def test_a_broken_photo_is_flagged_once_and_stays_flagged(
    person: Person, open_window: OpenWindow, campaign_file: Path
) -> None:
    person.key(Qt.Key.Key_End)
    person.key("f")
    person.key("f")
    person.settle()
    assert person.window.campaign is not None
    (flag,) = flag_records(person.window.campaign)
    assert flag.item == person.grid.tiles[5].item.path
    assert flag.worker == "Ada"
    again = Person(open_window(campaign_file, "annotate"))
    assert again.page.desk.flagged == {5}


def test_names_are_remembered_picked_and_changed(open_window: OpenWindow, campaign_file: Path) -> None:
    window = open_window(campaign_file, "annotate")
    ada = Person(window)
    ada.sign_in("Ada")
    ada.click(0)
    press_button(window, "change-worker")
    settle(window)
    Person(window).sign_in("Ben")
    assert ada.groups == (0,) * 6
    press_button(window, "change-worker")
    settle(window)
    press_button(window, "worker-0")
    settle(window)
    assert ada.groups == (1, 0, 0, 0, 0, 0)
    with Campaign.open(campaign_file) as campaign:
        assert [worker.name for worker in campaign.workers()] == ["Ada", "Ben"]
    # a known name, written again in other letters, is the same person
    press_button(window, "change-worker")
    settle(window)
    Person(window).sign_in("ada")
    assert ada.groups == (1, 0, 0, 0, 0, 0)
    with Campaign.open(campaign_file) as campaign:
        assert len(campaign.workers()) == 2


def test_every_control_has_a_name_and_tab_reaches_it(person: Person) -> None:
    person.key("r")
    unnamed = [
        button.objectName()
        for button in person.window.findChildren(QAbstractButton)
        if button.isVisible() and not (button.accessibleName() or button.text())
    ]
    assert unnamed == []
    reached = []
    for _ in range(60):
        person.key(Qt.Key.Key_Tab)
        focus = person.window.focusWidget()
        reached.append(focus.objectName())
        if focus.objectName() == "submit-button":
            break
    wanted = ["undo-button", "group-chip-1", "group-chip-6", "new-group", "submit-button"]
    assert [name for name in reached if name in wanted] == wanted
    # wherever the keyboard is, the keys of the page work
    person.key("z", CTRL)
    assert person.groups == (0,) * 6


@pytest.mark.qt_log_ignore("This plugin does not support")
def test_a_right_click_offers_what_can_be_done_to_one_photo(person: Person) -> None:
    person.click(2)
    person.page.grid.menu_wanted.emit(2, person.grid.mapToGlobal(person.centre(2)))
    menu = person.page.menu
    actions = {action.text().split("\t")[0]: action for action in menu.actions()}
    assert list(actions) == ["See large", "Take out of its group", "Flag as broken"]
    menu.close()
    actions["Take out of its group"].trigger()
    assert person.groups == (0,) * 6
    actions["Flag as broken"].trigger()
    assert person.page.desk.flagged == {2}
    actions["See large"].trigger()
    assert person.photo.position == 2
    assert person.photo.isVisible()


def test_a_gesture_whose_button_was_let_go_elsewhere_is_void(person: Person) -> None:
    QTest.mousePress(person.grid, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, person.centre(0))
    none = Qt.MouseButton.NoButton
    for position in (1, 2):
        place = QPointF(person.centre(position))
        event = QMouseEvent(QEvent.Type.MouseMove, place, place, none, none, Qt.KeyboardModifier.NoModifier)
        QApplication.sendEvent(person.grid, event)
    person.settle()
    assert person.groups == (0,) * 6
    person.click(3)
    assert person.groups == (0, 0, 0, 1, 0, 0)


def test_quick_clicks_on_two_tiles_are_no_double_click(person: Person) -> None:
    person.click(0)
    QTest.mouseDClick(person.grid, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, person.centre(1))
    assert not person.photo.isVisible()
    assert person.groups == (1, 1, 0, 0, 0, 0)
