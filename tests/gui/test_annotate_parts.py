"""What Annotate is made of: layout, desk, clock, chips; and what the pointer draws."""

from __future__ import annotations

import itertools

import pytest
from PySide6.QtCore import QRect, QRectF

from crowdclust_app.domain.sorting import ActionKind, Sorting
from crowdclust_app.gui.annotate.chips import HEIGHT, SHAPES, shape_for
from crowdclust_app.gui.annotate.clock import IDLE_SECONDS, ActiveClock
from crowdclust_app.gui.annotate.layout import FRAME, GAP, fitted, lay_out, typical_aspect
from crowdclust_app.gui.annotate.sorting_state import DIGIT_SECONDS, SortingState

# --- layout


@pytest.mark.parametrize("count", [1, 2, 3, 7, 12, 36, 37, 100])
@pytest.mark.parametrize(("width", "height"), [(888, 598), (1230, 598), (2424, 1270), (300, 700)])
@pytest.mark.parametrize("aspect", [0.6, 1.0, 4 / 3, 2.0])
def test_every_tile_lies_inside_and_none_over_another(count: int, width: int, height: int, aspect: float) -> None:
    layout = lay_out(count, width, height, aspect)
    cells = [layout.cell(p) for p in range(count)]
    assert all(QRect(0, 0, width, height).contains(cell) for cell in cells)
    assert not any(a.intersects(b) for a, b in itertools.combinations(cells, 2))
    assert layout.columns * layout.rows >= count > layout.columns * (layout.rows - 1)
    for position, cell in enumerate(cells):
        assert layout.at(cell.center().x(), cell.center().y()) == position


def test_tiles_are_four_pixels_apart() -> None:
    layout = lay_out(36, 1230, 598, 1.0)
    assert layout.cell(1).left() - layout.cell(0).right() - 1 == GAP == 4
    assert layout.cell(layout.columns).top() - layout.cell(0).bottom() - 1 == GAP
    between = layout.cell(0).right() + 2
    assert layout.at(between, layout.cell(0).top() + 5) is None


def test_thirty_six_photos_are_large_enough_at_1024_by_768() -> None:
    # what is left of the window for the photos
    layout = lay_out(36, 888, 598, 4 / 3)
    assert layout.cell_height - 2 * FRAME >= 80


def test_no_other_number_of_columns_makes_photos_larger() -> None:
    import math

    for count, aspect in itertools.product((5, 12, 36), (0.75, 1.0, 1.5)):
        layout = lay_out(count, 1000, 600, aspect)
        tall = layout.cell_height - 2 * FRAME
        for columns in range(1, count + 1):
            rows = math.ceil(count / columns)
            room_x = (1000 - GAP * (columns - 1)) / columns - 2 * FRAME
            room_y = (600 - GAP * (rows - 1)) / rows - 2 * FRAME
            assert min(room_y, room_x / aspect, 440) <= tall + 1.5


def test_a_band_without_height_touches_the_tiles_on_its_way() -> None:
    layout = lay_out(6, 900, 300, 1.0)
    a, b = layout.cell(0).center(), layout.cell(2).center()
    assert layout.within(QRectF(a, b)) == (0, 1, 2)
    assert layout.within(QRectF(b, a)) == (0, 1, 2)


def test_pictures_are_whole_and_inside_their_frame() -> None:
    cell = QRect(10, 20, 120, 100)
    for width, height in ((64, 48), (48, 64), (1, 1), (20_000, 3)):
        place = fitted(cell, width, height)
        assert cell.adjusted(FRAME, FRAME, -FRAME, -FRAME).contains(place)
    assert fitted(cell, 112, 92) == cell.adjusted(FRAME, FRAME, -FRAME, -FRAME)


def test_the_typical_aspect_is_the_middle_one_within_bounds() -> None:
    assert typical_aspect([(100, 100), (400, 300), (None, None), (300, 400)]) == 1.0
    assert typical_aspect([(None, None)]) == 4 / 3
    assert typical_aspect([(9000, 10)]) == 2.0
    assert typical_aspect([(10, 9000)]) == 0.6


# --- desk


def numbered(desk: SortingState, *groups: int) -> None:
    for position, group in enumerate(groups):
        desk.choose(group)
        desk.paint([position])


def test_two_digits_make_one_number_only_where_such_a_group_can_be() -> None:
    desk = SortingState(20)
    numbered(desk, 1, 2)
    desk.type_digit(1, 10.0)
    desk.type_digit(2, 10.1)
    assert desk.current == 2, "with two groups, 1 and 2 in quick succession is 2"
    numbered(desk, *range(1, 12))
    desk.type_digit(1, 20.0)
    desk.type_digit(2, 20.1)
    assert desk.current == 12, "the next group"
    desk.type_digit(1, 30.0)
    desk.type_digit(3, 30.1)
    assert desk.current == 3, "13 is neither there nor next"


def test_digits_far_apart_are_two_numbers() -> None:
    desk = SortingState(20)
    numbered(desk, *range(1, 13))
    desk.type_digit(1, 0.0)
    desk.type_digit(2, DIGIT_SECONDS + 0.01)
    assert desk.current == 2
    desk.type_digit(1, 5.0)
    desk.click(15)
    desk.type_digit(2, 5.1)
    assert desk.current == 2, "something was done between"


def test_a_corrected_digit_is_one_step_to_undo() -> None:
    desk = SortingState(14)
    numbered(desk, *range(1, 11))
    before = desk.groups
    desk.select([12, 13])
    actions = desk.type_digit(1, 0.0)
    actions += desk.type_digit(1, 0.2)
    assert desk.groups[12:] == (11, 11)
    assert [action.kind for action in actions] == [ActionKind.PLACE, ActionKind.UNDO, ActionKind.PLACE]
    desk.undo()
    assert desk.groups == before


def test_zero_takes_a_selection_out() -> None:
    desk = SortingState(3)
    numbered(desk, 1, 1)
    assert desk.type_digit(0, 0.0) == []
    desk.select([0, 2])
    (action,) = desk.type_digit(0, 1.0)
    assert action.placements == ((0, 0),)


def test_the_desk_takes_up_the_log_with_the_group_in_hand() -> None:
    first = SortingState(5)
    log = [*first.click(1), *first.choose(4), *first.click(2), *first.undo()]
    again = SortingState(5, log)
    assert again.groups == first.groups == (0, 1, 0, 0, 0)
    assert again.current == 4
    assert again.redo()
    assert again.groups == (0, 1, 4, 0, 0)


def test_the_actions_of_a_desk_are_a_log_of_what_it_shows() -> None:
    desk = SortingState(12)
    log = []
    log += desk.click(3)
    log += desk.paint([4, 5, 6])
    desk.select([0, 1])
    log += desk.choose_new()
    log += desk.undo()
    log += desk.undo()
    log += desk.redo()
    log += desk.rest_into_own_groups()
    log += desk.assign(2)
    assert Sorting(12, log).groups == desk.groups
    assert desk.sorting.n_unsorted == 0


def test_the_chips_are_the_groups_in_use_and_the_one_in_hand() -> None:
    desk = SortingState(4)
    assert desk.chips() == (1,)
    numbered(desk, 3, 1)
    desk.choose(7)
    assert desk.chips() == (1, 3, 7)


@pytest.mark.parametrize("width", [620, 680, 900])
def test_the_chips_of_thirty_six_groups_fit(width: int) -> None:
    count = 37
    chip_width, height, rows, _ = shape_for(count, width)
    columns = (width + 4) // (chip_width + 4)
    assert columns * rows >= count
    assert rows * height <= HEIGHT
    assert shape_for(2, width) == SHAPES[0]


# --- clock


class Watch:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_active_seconds_leave_out_long_pauses() -> None:
    watch = Watch()
    clock = ActiveClock(5.0, watch)
    clock.touch()
    watch.now += 10
    clock.touch()
    watch.now += IDLE_SECONDS
    clock.touch()
    assert clock.seconds == 5 + 10 + IDLE_SECONDS
    watch.now += IDLE_SECONDS + 0.1
    clock.touch()
    watch.now += 2
    assert clock.touch() == 5 + 10 + IDLE_SECONDS + 2


def test_time_in_other_windows_does_not_count() -> None:
    watch = Watch()
    clock = ActiveClock(0.0, watch)
    clock.touch()
    watch.now += 3
    assert clock.stop() == 3
    watch.now += 20
    assert clock.stop() == 3
    clock.touch()
    watch.now += 4
    assert clock.touch() == 7
