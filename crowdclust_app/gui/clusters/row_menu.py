"""What can be done with a cluster or category: the menu of a gallery row, and the choice of another category."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QMenu, QWidget

from crowdclust_app.gui.clusters.album import Album
from crowdclust_app.gui.clusters.cluster_decisions import ClusterDecisions
from crowdclust_app.gui.clusters.gallery import Gallery
from crowdclust_app.gui.clusters.selection import ItemSelection
from crowdclust_app.gui.commands import Command, CommandPalette
from crowdclust_app.gui.screen import Shell
from crowdclust_app.gui.wording import count_of


@dataclass(frozen=True)
class RowAction:
    """Something that another screen does with a cluster.

    Parameters
    ----------
    title
        As a verb.
    call
        Is given the cluster's number.
    clusters_only
        Whether it can be done with clusters alone, and not with categories that have none.
    """

    title: str
    call: Callable[[int], object]
    clusters_only: bool = True


class RowMenu:
    """Everything that the lead does with rows and chosen photos.

    Parameters
    ----------
    page
        The screen; the choice of a category lies over its window.
    """

    def __init__(
        self,
        shell: Shell,
        album: Album,
        selection: ItemSelection,
        gallery: Gallery,
        deciding: ClusterDecisions,
        page: QWidget,
    ) -> None:
        self._shell = shell
        self._album = album
        self._selection = selection
        self._gallery = gallery
        self._deciding = deciding
        self._page = page
        self._chooser: CommandPalette | None = None
        self._menu: QMenu | None = None
        self.actions: list[RowAction] = []

    # --- the chosen photos

    def names_of_chosen(self) -> list[str]:
        """Names of the chosen photos."""
        return [self._album.name(item) for item in self._selection.items]

    def move_chosen(self) -> None:
        """Ask for a category and put the chosen photos there."""
        names = self.names_of_chosen()
        if not names:
            self._shell.say("Choose some photos first")
            return
        commands = [Command("Back where the run has them", "", lambda: self._deciding.move(names, 0))]
        commands += self._commands(lambda place: self._deciding.move(names, place), skip=())
        self._ask(f"Move {count_of(len(names), 'photo')} to", commands)

    def split_off_chosen(self) -> None:
        """Make a category of the chosen photos, and have its name typed."""
        names = self.names_of_chosen()
        if not names:
            self._shell.say("Choose some photos first")
            return

        def name_it() -> None:
            categories = self._deciding.categories
            if categories is not None:
                self._gallery.show_clusters()
                self._gallery.rows.edit_name(categories.place(names[0], 0))

        self._deciding.split_off(names, then=name_it)

    # --- a row

    def name_current(self) -> None:
        """Type the name of the row that has the keys."""
        place = self._gallery.opened_cluster or self._gallery.rows.current_place
        rows = self._gallery.category_rows
        if place is None and rows:
            place = rows[0].place
        if place is not None:
            self._gallery.show_clusters()
            self._gallery.rows.edit_name(place)

    def merge_current(self) -> None:
        """Ask for a category to make one with that of the row that has the keys."""
        place = self._gallery.opened_cluster or self._gallery.rows.current_place
        if place is None:
            self._shell.say("Go to a cluster first")
            return
        self.merge(place)

    def merge(self, place: int) -> None:
        """Ask for a category to make one with that of this place."""
        categories = self._deciding.categories
        if categories is None:
            return
        commands = self._commands(
            lambda other: self._deciding.merge([place, other]), skip=categories.together_with(place)
        )
        self._ask(f"Make {categories.title(place)} one category with", commands)

    def show(self, place: int, at: QPoint) -> None:
        """Show what can be done with a row."""
        categories = self._deciding.categories
        if categories is None:
            return
        chosen = count_of(len(self._selection.items), "chosen photo")
        names = self.names_of_chosen()
        menu = QMenu(self._page)
        menu.setObjectName("row-menu")
        entries: list[tuple[str, Callable[[], object], bool] | None] = [
            ("Name\tF2", lambda: self._gallery.rows.edit_name(place), True),
            ("Make one category with…\tCtrl+Shift+M", lambda: self.merge(place), categories.n_places > 1),
            ("Take out of its category", lambda: self._deciding.take_apart(place), bool(categories.names.get(place))),
            None,
            (f"Move {chosen} here", lambda: self._deciding.move(names, place), bool(names)),
            (f"Put {chosen} back", lambda: self._deciding.move(names, 0), any(n in categories.moves for n in names)),
            (f"Split {chosen} off\tCtrl+Shift+N", self.split_off_chosen, bool(names)),
            None,
            ("Show all\tEnter", lambda: self._gallery.open_place(place), True),
        ]
        if self.actions:
            entries.append(None)
        for more in self.actions:
            possible = place <= categories.n_clusters or not more.clusters_only
            entries.append((more.title, lambda more=more: more.call(place), possible))  # type: ignore[misc]
        for entry in entries:
            if entry is None:
                menu.addSeparator()
                continue
            title, call, possible = entry
            action = menu.addAction(title)
            action.setEnabled(possible)
            action.triggered.connect(lambda _checked=False, call=call: call())
        if self._menu is not None:
            self._menu.deleteLater()
        self._menu = menu
        menu.popup(at)

    # --- the choice of a category

    def _commands(self, call: Callable[[int], object], skip: tuple[int, ...]) -> list[Command]:
        commands = []
        for row in self._gallery.category_rows:
            if row.place not in skip:
                badge = self._album.badge(row.place)
                title = f"{badge}  {row.name}" if row.name else f"{badge}  Cluster {row.place}"
                figure = count_of(row.size, "photo")
                commands.append(Command(f"{title}  ({figure})", "", lambda place=row.place: call(place)))  # type: ignore[misc]
        return commands

    def _ask(self, words: str, commands: list[Command]) -> None:
        if self._chooser is None:
            self._chooser = CommandPalette(self._page.window())
            self._chooser.setObjectName("category-chooser")
            self._chooser.setAccessibleName("Categories")
            self._chooser.field.setObjectName("category-chooser-field")
        self._chooser.field.setPlaceholderText(words)
        self._chooser.field.setAccessibleName(words)
        self._chooser.show_commands(tuple(commands))
