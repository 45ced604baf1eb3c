"""The gallery: clusters as rows, a whole cluster, and the doubtful, the never shown and the outlined photos."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QRect, Qt, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QButtonGroup, QHBoxLayout, QPushButton, QStackedWidget, QVBoxLayout, QWidget

from crowdclust_app.gui import theme
from crowdclust_app.gui.clusters.album import Album, people_probability
from crowdclust_app.gui.clusters.photo_grid import PhotoGrid
from crowdclust_app.gui.clusters.rows import ClusterRowsView
from crowdclust_app.gui.clusters.rows_model import figures
from crowdclust_app.gui.clusters.selection import ItemSelection
from crowdclust_app.gui.labels import ElidedLabel
from crowdclust_app.services.clusters.category_rows import CategoryRow

CLUSTERS, DOUBTFUL, HIDDEN, OUTLINED = "clusters", "doubtful", "not-shown", "outlined"
ORDERS = {False: "Confident first", True: "Doubtful first"}
TIGHT = "padding: 6px 8px;"


class Gallery(QWidget):
    """Photos of a run on the shared selection.

    Signals
    -------
    hovered : (item or None, QWidget, QRect in that widget)
        The pointer is on a photo, or on none any more.
    move_wanted, split_wanted
        The chosen photos are to go to another category, or to one of their own.
    ordered : bool
        Whether the most doubtful photos come first now.
    """

    hovered = Signal(object, QWidget, QRect)
    move_wanted = Signal()
    split_wanted = Signal()
    ordered = Signal(bool)

    def __init__(self, album: Album, selection: ItemSelection, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("gallery")
        self._album = album
        self._selection = selection
        self._outlined: tuple[int, ...] = ()
        self._outline_words = ""
        self._shown_rows: tuple[CategoryRow, ...] = ()
        self._doubtful_first = False
        self._opened: int | None = None
        self.rows = ClusterRowsView(album, selection, self)
        self.grid = PhotoGrid(album, selection, self)
        self._buttons: dict[str, QPushButton] = {}
        self._heading = ElidedLabel(self)
        self._heading.setObjectName("gallery-heading")
        self._heading.setProperty("rank", "second")
        self._back = QPushButton("Back", self)
        self._back.setObjectName("gallery-back")
        self._back.setProperty("rank", "plain")
        self._back.clicked.connect(self.show_clusters)
        self._back.setStyleSheet(TIGHT)
        self._order = self._button("gallery-order", ORDERS[False], self._turn_order)
        self._order.setToolTip("Which photos of a cluster come first")
        self._move = self._button("gallery-move", "Move to", self.move_wanted.emit)
        self._move.setToolTip("Put the chosen photos into another category")
        self._split = self._button("gallery-split", "Split off", self.split_wanted.emit)
        self._split.setToolTip("Make a category of its own of the chosen photos")
        self._stack = QStackedWidget(self)
        self._stack.addWidget(self.rows)
        self._stack.addWidget(self.grid)
        self._lay_out()
        self.rows.opened.connect(self.open_place)
        self.rows.hovered.connect(lambda item, rect: self.hovered.emit(item, self.rows.viewport(), rect))
        self.grid.hovered.connect(lambda item, rect: self.hovered.emit(item, self.grid.viewport(), rect))
        selection.changed.connect(self._follow)
        back = QShortcut(QKeySequence("Backspace"), self.grid, self.show_clusters)
        back.setContext(Qt.ShortcutContext.WidgetShortcut)

    def _button(self, name: str, text: str, call: Callable[[], object]) -> QPushButton:
        button = QPushButton(text, self)
        button.setObjectName(name)
        button.setProperty("rank", "plain")
        button.setStyleSheet(TIGHT)
        button.clicked.connect(call)
        return button

    def _lay_out(self) -> None:
        tabs = QHBoxLayout()
        tabs.setSpacing(theme.TILE_GAP)
        group = QButtonGroup(self)
        for name, call in (
            (CLUSTERS, self.show_clusters),
            (DOUBTFUL, self.show_doubtful),
            (HIDDEN, self.show_not_shown),
            (OUTLINED, self.show_outlined),
        ):
            button = QPushButton(self)
            button.setObjectName(f"gallery-{name}")
            button.setProperty("rank", "plain")
            button.setCheckable(True)
            button.setStyleSheet(TIGHT)
            button.clicked.connect(call)
            group.addButton(button)
            tabs.addWidget(button)
            self._buttons[name] = button
        tabs.addStretch(1)
        line = QHBoxLayout()
        line.setSpacing(theme.STEP)
        line.addWidget(self._back)
        line.addWidget(self._heading, 1)
        line.addWidget(self._order)
        line.addWidget(self._move)
        line.addWidget(self._split)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.TILE_GAP)
        layout.addLayout(tabs)
        layout.addLayout(line)
        layout.addWidget(self._stack, 1)

    # --- content

    def show_view(self, rows: tuple[CategoryRow, ...]) -> None:
        """Show the clusters of the album's run, with what the lead made of them."""
        self._outlined = ()
        self.show_rows(rows)
        self.show_clusters()

    def show_rows(self, rows: tuple[CategoryRow, ...]) -> None:
        """Show names, merges and moves as they are now, without leaving what is shown."""
        self._shown_rows = rows
        self._fill_rows()
        opened = self._opened
        if opened is not None:
            if self._row(opened) is not None:
                self.open_place(opened)
            else:
                self.show_clusters()
        else:
            self.grid.viewport().update()
            self._count()

    def _fill_rows(self) -> None:
        view = self._album.view
        n_clusters = len(view.run.result.means) if view is not None else 0
        self.rows.show_rows(self._shown_rows, n_clusters, self._doubtful_first)

    @property
    def category_rows(self) -> tuple[CategoryRow, ...]:
        """The rows as they are shown."""
        return self._shown_rows

    def _row(self, place: int) -> CategoryRow | None:
        return next((row for row in self._shown_rows if row.place == place), None)

    @property
    def opened_cluster(self) -> int | None:
        """The place that is shown whole."""
        return self._opened

    @property
    def shows_rows(self) -> bool:
        """Whether the clusters are shown as rows."""
        return self._stack.currentWidget() is self.rows

    @property
    def doubtful_first(self) -> bool:
        """Whether a cluster's most doubtful photos come first."""
        return self._doubtful_first

    def set_order(self, doubtful_first: bool) -> None:
        """Have the most doubtful, or the most confident photos of every cluster first."""
        self._doubtful_first = doubtful_first
        self._order.setText(ORDERS[doubtful_first])
        self._fill_rows()
        if self._opened is not None:
            self.open_place(self._opened)

    def _turn_order(self) -> None:
        self.set_order(not self._doubtful_first)
        self.ordered.emit(self._doubtful_first)

    def show_clusters(self) -> None:
        """Show one row a cluster."""
        self._stack.setCurrentWidget(self.rows)
        self._tell(CLUSTERS, "")

    def open_place(self, place: int) -> None:
        """Show every photo of a cluster or category."""
        row = self._row(place)
        if row is not None:
            items = row.items[::-1] if self._doubtful_first else row.items
            self._show_grid(items.tolist(), badges=False)
            title = row.name or f"Cluster {place}"
            self._tell(CLUSTERS, f"{title} · {figures(row)}", opened=place)

    def show_doubtful(self) -> None:
        """Show the doubtful photos, the least sure first."""
        view = self._album.view
        if view is None:
            return
        self._show_grid(view.doubtful.tolist(), badges=True)
        words = "other clusters are likely too, the least sure first"
        if not len(view.doubtful):
            lowest = min((float(view.certainty[row.items].min()) for row in view.clusters), default=float("nan"))
            words = f"none; the least sure has {people_probability(lowest)} of the probability of all clusters"
        self._tell(DOUBTFUL, words)

    def show_not_shown(self) -> None:
        """Show the photos without responses."""
        view = self._album.view
        if view is not None:
            self._show_grid(view.not_shown.tolist(), badges=False)
            self._tell(HIDDEN, "in no submitted HIT of this run, so in no cluster")

    def outline(self, items: Sequence[int], words: str = "outlined in the plot") -> None:
        """Show these photos, which were chosen in the plot or in a table."""
        self._outlined = tuple(items)
        self._outline_words = words
        self.show_outlined()

    def show_outlined(self) -> None:
        """Show the photos that were outlined last."""
        self._show_grid(self._outlined, badges=True)
        self._tell(OUTLINED, self._outline_words)

    def escape(self) -> bool:
        """Go back to the rows; whether they were not shown already."""
        if self.shows_rows:
            return False
        self.show_clusters()
        self.rows.setFocus()
        return True

    def _show_grid(self, items: Sequence[int], badges: bool) -> None:
        # filled before it is seen: the keys may go to it, and to what it shows, as soon as the rows are gone
        self.grid.show_items(items, badges)
        self._stack.setCurrentWidget(self.grid)
        self.grid.setFocus()

    def _tell(self, name: str, words: str, opened: int | None = None) -> None:
        self._opened = opened
        self._heading.setText(words)
        self._back.setVisible(opened is not None)
        self._order.setVisible(name == CLUSTERS)
        self._count()
        for other, button in self._buttons.items():
            button.setChecked(other == name)

    def _count(self) -> None:
        view = self._album.view
        counts = {
            CLUSTERS: ("Clusters", len(self._shown_rows)),
            DOUBTFUL: ("Doubtful", len(view.doubtful) if view is not None else 0),
            HIDDEN: ("Not shown", len(view.not_shown) if view is not None else 0),
            OUTLINED: ("Chosen", len(self._outlined)),
        }
        for other, button in self._buttons.items():
            title, count = counts[other]
            button.setText(f"{title} {count:,}")
            # the two that are seldom there take no room when they are empty
            button.setVisible(other in (CLUSTERS, DOUBTFUL) or count > 0)
        self._count_chosen()

    def _count_chosen(self) -> None:
        chosen = bool(self._selection.items) and self._album.view is not None
        self._move.setEnabled(chosen)
        self._split.setEnabled(chosen)

    def _follow(self) -> None:
        """Bring the current photo's cluster into view when it was chosen in the plot."""
        self._count_chosen()
        current, view = self._selection.current, self._album.view
        if current is not None and view is not None and self.shows_rows and not self.rows.hasFocus():
            self.rows.show_place(self._album.place(current))
