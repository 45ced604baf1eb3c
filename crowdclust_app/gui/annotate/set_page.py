"""The page on which a set is sorted: photos, palette of groups, submit."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import QEvent, QObject, QPoint, Qt, Signal
from PySide6.QtGui import QKeyEvent

from crowdclust_app.domain.sorting import Action
from crowdclust_app.gui.annotate.chips import NEW
from crowdclust_app.gui.annotate.clock import ActiveClock
from crowdclust_app.gui.annotate.set_view import SetView
from crowdclust_app.gui.annotate.sorting_grid import Tile
from crowdclust_app.gui.annotate.sorting_state import SortingState
from crowdclust_app.gui.pictures import PictureCache
from crowdclust_app.services.annotate.annotation import WorkerProgress

Calls = dict[Qt.Key, Callable[[], object]]
ARROWS = {Qt.Key.Key_Left: (-1, 0), Qt.Key.Key_Right: (1, 0), Qt.Key.Key_Up: (0, -1), Qt.Key.Key_Down: (0, 1)}
_SIGNS_OF_LIFE = {QEvent.Type.MouseMove, QEvent.Type.MouseButtonPress, QEvent.Type.KeyPress, QEvent.Type.Wheel}


class SetPage(SetView):
    """Everything the annotator does; says what is to be stored.

    Signals
    -------
    acted : list of Action, float
        Carried out on screen, to be stored; active seconds so far.
    submitted, skipped : float
        The set is done, or given back; active seconds.
    flagged : int
        Number of an item that is broken.
    worker_left
        The worker is to be changed.
    """

    acted = Signal(list, float)
    submitted = Signal(float)
    skipped = Signal(float)
    flagged = Signal(int)
    worker_left = Signal()

    def __init__(self, pictures: PictureCache, now: Callable[[], float] = time.monotonic) -> None:
        super().__init__(pictures)
        self._now = now
        self.desk = SortingState(0)
        self.clock = ActiveClock(now=now)
        self.frozen = True
        self._coming: tuple[Tile, ...] = ()
        # The tile of the click just before: a double click takes back what its first click did.
        self._last_clicked: int | None = None
        self._connect()

    # --- showing a set

    def show_set(
        self, tiles: Sequence[Tile], log: Sequence[Action], progress: WorkerProgress, seconds: float, flagged: set[int]
    ) -> None:
        """Put a set on the desk."""
        self.photo.hide()
        self.skip_sheet.close_sheet()
        self.menu.close()
        # what the set before still waited for must not come first
        self._pictures.drop_waiting()
        self.desk = SortingState(len(tiles), log)
        self.desk.flagged = flagged
        self.clock = ActiveClock(seconds, self._now)
        self.clock.touch()
        self.frozen = False
        self.grid.show_set(tiles, self.desk)
        number, total = progress.submitted + 1, max(progress.total, progress.submitted + 1)
        self.title.setText(f"Set {number} of {total}")
        self.bar.setRange(0, total)
        self.bar.setValue(progress.submitted)
        self.bar.setAccessibleName(f"{progress.submitted} of {total} sets done")
        self._show_groups()
        self.grid.setFocus(Qt.FocusReason.OtherFocusReason)

    def load_ahead(self, tiles: Sequence[Tile]) -> None:
        """Load these photos once those of this set are here."""
        self._coming = tuple(tiles)
        self._load_coming()

    def freeze(self) -> None:
        """Nothing can be done until the next set is shown."""
        self.frozen = True
        self.submit_button.setEnabled(False)

    def thaw(self) -> None:
        """The set could not be submitted; go on with it."""
        self.frozen = False
        self._show_groups()

    def set_campaign(self, instructions: str) -> None:
        """Show the instructions of a campaign."""
        self.about.setText(instructions)
        self.instructions.set_text(instructions)

    def open_instructions(self) -> None:
        """Show the sheet with the instructions, or put it away."""
        if self.instructions.isVisible():
            self.instructions.close_sheet()
        else:
            self.instructions.open()
            self.place_sheets()

    def escape(self) -> bool:
        """Close what is open above the photos, else drop the selection."""
        if self.photo.isVisible():
            self.photo.close_view()
        elif self.instructions.isVisible():
            self.instructions.close_sheet()
        elif self.skip_sheet.isVisible():
            self.skip_sheet.close_sheet()
        elif self.desk.selection:
            self.desk.selection.clear()
            self.grid.redraw()
        else:
            return False
        return True

    # --- commands

    def undo(self) -> None:
        """Take the last action back."""
        self._do(self.desk.undo)

    def redo(self) -> None:
        """Do it again."""
        self._do(self.desk.redo)

    def rest_into_own_groups(self) -> None:
        """Every photo that is left gets a group of its own."""
        self._do(self.desk.rest_into_own_groups)

    def assign(self) -> None:
        """Put the selection, or the photo at hand, into the chosen group."""
        self._aim()
        self._do_here(self.desk.assign)

    def take_out(self) -> None:
        """Take the selection, or the photo at hand, out of its group."""
        self._aim()
        self._do_here(self.desk.take_out)

    def new_group(self) -> None:
        """Make a new group the current one."""
        self._do_here(self.desk.choose_new)

    def submit(self) -> None:
        """Hand the set in, if all is sorted."""
        if not self.frozen and self.desk.n_items and not self.desk.sorting.n_unsorted:
            self.freeze()
            self.submitted.emit(self.clock.touch())

    def ask_to_skip(self) -> None:
        """Ask whether to skip the set."""
        if not self.frozen:
            self.skip_sheet.open()
            self.place_sheets()
            self.skip_sheet.no.setFocus(Qt.FocusReason.PopupFocusReason)

    def flag(self, position: int | None = None) -> None:
        """Say that a photo is broken: this one, else the one under the pointer or the keyboard."""
        if position is None:
            position = self.photo.position if self.photo.isVisible() else self.grid.pointed
        if self.frozen or position is None or position in self.desk.flagged:
            return
        self.desk.flagged.add(position)
        self.grid.redraw([position])
        self.flagged.emit(self.grid.tiles[position].item.number)

    def enlarge(self, position: int | None = None) -> None:
        """See one photo large."""
        if position is None:
            position = self.grid.pointed
        if position is not None and self.grid.tiles:
            self.desk.focus = position
            self.photo.open(self.grid.tiles, position, self.desk.groups[position])

    def select_unsorted(self) -> None:
        """Select every photo that is in no group."""
        self.desk.select(p for p, group in enumerate(self.desk.groups) if not group)
        self.grid.redraw()

    # --- keys

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """All keys of the page, wherever on it the keyboard is."""
        self.clock.touch()
        key = Qt.Key(event.key())
        modifiers = event.modifiers()
        shift = bool(modifiers & Qt.KeyboardModifier.ShiftModifier)
        if modifiers & (Qt.KeyboardModifier.AltModifier | Qt.KeyboardModifier.MetaModifier):
            call = None
        elif modifiers & Qt.KeyboardModifier.ControlModifier:
            call = self._calls_with_control(shift).get(key)
        elif Qt.Key.Key_0 <= key <= Qt.Key.Key_9:
            call = partial(self.type_digit, key - Qt.Key.Key_0)
        elif key in ARROWS:
            call = partial(self.step, *ARROWS[key], shift)
        else:
            call = self._plain_calls().get(key)
        if call is None:
            event.ignore()
        else:
            call()

    def _calls_with_control(self, shift: bool) -> Calls:
        return {
            Qt.Key.Key_Z: self.redo if shift else self.undo,
            Qt.Key.Key_Y: self.redo,
            Qt.Key.Key_A: self.select_unsorted,
            Qt.Key.Key_Return: self.submit,
            Qt.Key.Key_Enter: self.submit,
        }

    def _plain_calls(self) -> Calls:
        return {
            Qt.Key.Key_Plus: self.new_group,
            Qt.Key.Key_Equal: self.new_group,
            Qt.Key.Key_Return: self.assign,
            Qt.Key.Key_Enter: self.assign,
            Qt.Key.Key_Delete: self.take_out,
            Qt.Key.Key_Backspace: self.take_out,
            Qt.Key.Key_Space: self.enlarge,
            Qt.Key.Key_R: self.rest_into_own_groups,
            Qt.Key.Key_F: self.flag,
            Qt.Key.Key_I: self.open_instructions,
            Qt.Key.Key_Home: lambda: self.go_to(0),
            Qt.Key.Key_End: lambda: self.go_to(self.desk.n_items - 1),
        }

    def type_digit(self, digit: int) -> None:
        """A digit of a group's number."""
        self._do_here(lambda: self.desk.type_digit(digit, self._now()))

    def step(self, dx: int, dy: int, extend: bool) -> None:
        """Move the keyboard to the tile beside; with `extend` the selection grows along."""
        layout = self.grid.grid_layout
        if layout is None:
            return
        focus = self.desk.focus
        # the first arrow only shows where the keyboard is: at the tile under the pointer, if there is one
        if not self.grid.keyboard_leads and self.grid.pointed is not None:
            focus = self.grid.pointed
        self.go_to(layout.neighbour(focus, dx, dy), extend)

    def go_to(self, position: int, extend: bool = False) -> None:
        """Put the keyboard on a tile."""
        if not 0 <= position < self.desk.n_items:
            return
        self.desk.forget_digit()
        self.grid.keyboard_leads = True
        self.desk.move_to(position, extend)
        self.grid.setFocus(Qt.FocusReason.OtherFocusReason)
        self.grid.redraw()
        self._describe()

    def _describe(self) -> None:
        """Say for screen readers which photo the keyboard is on."""
        desk = self.desk
        if desk.focus < len(self.grid.tiles):
            group = f"group {desk.groups[desk.focus]}" if desk.groups[desk.focus] else "not sorted"
            self.grid.setAccessibleDescription(f"Photo {desk.focus + 1} of {desk.n_items}, {group}")

    def _aim(self) -> None:
        """Without a selection, Enter is meant for the photo under the pointer or the keyboard."""
        if not self.photo.isVisible() and self.grid.pointed is not None and not self.desk.selection:
            self.desk.focus = self.grid.pointed

    # --- pointer

    def _clicked(self, position: int) -> None:
        self._do(lambda: self.desk.click(position))
        self._last_clicked = position

    def _double_clicked(self, position: int) -> None:
        """A double click only looks: what its first click did is taken back."""
        if self._last_clicked != position:
            # two quick clicks on two tiles, close together at their border
            self._clicked(position)
            return
        self._do(self.desk.undo)
        self.enlarge(position)

    def _banded(self, positions: list[int], keep: bool) -> None:
        self.desk.select(positions, add=keep)
        self.grid.redraw()

    def _toggled(self, position: int) -> None:
        self.desk.toggle(position)
        self.grid.redraw()

    def _ranged(self, position: int) -> None:
        self.desk.select_range(position)
        self.grid.redraw()

    def _chip_chosen(self, group: int) -> None:
        self._do(self.desk.choose_new if group == NEW else lambda: self.desk.choose(group))

    def _show_menu(self, position: int, place: QPoint) -> None:
        """What can be done to one photo, for those who look for it with the right button."""
        self.menu.clear()
        self.menu.addAction("See large\tSpace", lambda: self.enlarge(position))
        taken = self.menu.addAction("Take out of its group\tDel", lambda: self._take_out_one(position))
        taken.setEnabled(bool(self.desk.groups[position]))
        flag = self.menu.addAction("Flag as broken\tF", lambda: self.flag(position))
        flag.setEnabled(position not in self.desk.flagged)
        self.menu.popup(place)

    def _take_out_one(self, position: int) -> None:
        self.desk.selection.clear()
        self.desk.focus = position
        self._do(self.desk.take_out)

    def _photo_moved(self, position: int) -> None:
        self.desk.focus = position
        self.desk.forget_digit()
        self.photo.show_group(self.desk.groups[position])

    def _photo_closed(self) -> None:
        self.grid.setFocus(Qt.FocusReason.PopupFocusReason)
        self.grid.redraw()

    # --- carrying out

    def _do_here(self, call: Callable[[], list[Action]]) -> None:
        """Carry out what is meant for the photo that is shown large, if one is."""
        if self.photo.isVisible():
            self.desk.selection = {self.photo.position}
        self._do(call)

    def _do(self, call: Callable[[], list[Action]]) -> None:
        if self.frozen:
            return
        self._last_clicked = None
        seconds = self.clock.touch()
        actions = call()
        self._show_groups()
        if actions:
            self.acted.emit(actions, seconds)

    def _show_groups(self) -> None:
        """Show what the desk says, everywhere."""
        desk = self.desk
        self.grid.redraw()
        self._describe()
        self.chips.show_groups(desk.chips(), desk.sorting.members, desk.current)
        if self.photo.isVisible():
            self.photo.show_group(desk.groups[self.photo.position])
        left = desk.sorting.n_unsorted
        self.submit_button.setText("Submit" if not left else f"{left} not sorted yet")
        self.submit_button.setEnabled(not left and not self.frozen)
        self.rest_button.setEnabled(bool(left))
        self.undo_button.setEnabled(desk.sorting.can_undo)
        self.redo_button.setEnabled(desk.sorting.can_redo)

    def _load_coming(self) -> None:
        layout = self.grid.grid_layout
        if layout is None or self._pictures.waiting or not self._coming:
            return
        side = max(layout.cell_width, layout.cell_height)
        for tile in self._coming:
            self._pictures.pixmap(tile.path, tile.item.content_hash, side, self.devicePixelRatioF())
        self._coming = ()

    # --- Qt

    def changeEvent(self, event: QEvent) -> None:
        """Time counts while the window is in front."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.ActivationChange:
            if self.isActiveWindow():
                self.clock.touch()
            else:
                self.clock.stop()
        elif event.type() == QEvent.Type.PaletteChange and hasattr(self, "undo_button"):
            self.draw_icons()

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        """Every movement over the photos is a sign of life."""
        if event.type() in _SIGNS_OF_LIFE:
            self.clock.touch()
        return False

    def _connect(self) -> None:
        for button, call in (
            (self.help_button, self.open_instructions),
            (self.skip_button, self.ask_to_skip),
            (self.worker_button, self.worker_left.emit),
            (self.undo_button, self.undo),
            (self.redo_button, self.redo),
            (self.rest_button, self.rest_into_own_groups),
            (self.submit_button, self.submit),
        ):
            # without the argument `checked` that Qt adds
            button.clicked.connect(lambda _checked=False, call=call: call())
        self.grid.clicked.connect(self._clicked)
        self.grid.painted.connect(lambda positions: self._do(lambda: self.desk.paint(positions)))
        self.grid.banded.connect(self._banded)
        self.grid.toggled.connect(self._toggled)
        self.grid.ranged.connect(self._ranged)
        self.grid.enlarged.connect(self._double_clicked)
        self.grid.menu_wanted.connect(self._show_menu)
        self.grid.installEventFilter(self)
        self.chips.chosen.connect(self._chip_chosen)
        self.photo.moved.connect(self._photo_moved)
        self.photo.closed.connect(self._photo_closed)
        self.instructions.closed.connect(lambda: self.grid.setFocus(Qt.FocusReason.PopupFocusReason))
        self.skip_sheet.closed.connect(lambda: self.grid.setFocus(Qt.FocusReason.PopupFocusReason))
        self.skip_sheet.confirmed.connect(self._skip)
        self._pictures.arrived.connect(self._arrived)

    def _skip(self) -> None:
        self.freeze()
        self.skipped.emit(self.clock.touch())

    def _arrived(self, _name: str) -> None:
        self.chips.update()
        self._load_coming()
