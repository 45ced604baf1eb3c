"""The gallery: clusters as rows, a whole cluster, and the doubtful, the never shown and the outlined photos."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRect, Qt, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QButtonGroup, QHBoxLayout, QPushButton, QStackedWidget, QVBoxLayout, QWidget

from crowdclust_app.gui import theme
from crowdclust_app.gui.clusters.album import Album, people_probability
from crowdclust_app.gui.clusters.grid import PhotoGrid
from crowdclust_app.gui.clusters.rows import ClusterRowsView, figures
from crowdclust_app.gui.clusters.selection import Selection
from crowdclust_app.gui.labels import ElidedLabel
from crowdclust_app.services.looking import DOUBTFUL_BELOW

CLUSTERS, DOUBTFUL, HIDDEN, OUTLINED = "clusters", "doubtful", "not-shown", "outlined"


class Gallery(QWidget):
    """Photos of a run on the shared selection.

    Signals
    -------
    hovered : (item or None, QWidget, QRect in that widget)
        The pointer is on a photo, or on none any more.
    """

    hovered = Signal(object, QWidget, QRect)

    def __init__(self, album: Album, selection: Selection, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("gallery")
        self._album = album
        self._selection = selection
        self._outlined: tuple[int, ...] = ()
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
        self._stack = QStackedWidget(self)
        self._stack.addWidget(self.rows)
        self._stack.addWidget(self.grid)
        self._lay_out()
        self.rows.opened.connect(self.open_cluster)
        self.rows.hovered.connect(lambda item, rect: self.hovered.emit(item, self.rows.viewport(), rect))
        self.grid.hovered.connect(lambda item, rect: self.hovered.emit(item, self.grid.viewport(), rect))
        selection.changed.connect(self._follow)
        back = QShortcut(QKeySequence("Backspace"), self.grid, self.show_clusters)
        back.setContext(Qt.ShortcutContext.WidgetShortcut)

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
            button.clicked.connect(call)
            group.addButton(button)
            tabs.addWidget(button)
            self._buttons[name] = button
        tabs.addStretch(1)
        line = QHBoxLayout()
        line.setSpacing(theme.STEP)
        line.addWidget(self._back)
        line.addWidget(self._heading, 1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.TILE_GAP)
        layout.addLayout(tabs)
        layout.addLayout(line)
        layout.addWidget(self._stack, 1)

    # --- content

    def show_view(self) -> None:
        """Show the clusters of the album's run."""
        view = self._album.view
        self._outlined = ()
        self.rows.show_clusters(view.clusters if view is not None else ())
        self.show_clusters()

    @property
    def opened_cluster(self) -> int | None:
        """The cluster that is shown whole."""
        return self._opened

    @property
    def shows_rows(self) -> bool:
        """Whether the clusters are shown as rows."""
        return self._stack.currentWidget() is self.rows

    def show_clusters(self) -> None:
        """Show one row a cluster."""
        view = self._album.view
        self._stack.setCurrentWidget(self.rows)
        words = "the most confident photos first" if view is not None else ""
        self._tell(CLUSTERS, words)

    def open_cluster(self, number: int) -> None:
        """Show every photo of a cluster, the most confident first."""
        view = self._album.view
        cluster = next((row for row in view.clusters if row.number == number), None) if view is not None else None
        if cluster is not None:
            self._show_grid(cluster.items.tolist(), badges=False)
            self._tell(CLUSTERS, f"Cluster {number} · {figures(cluster)}", opened=number)

    def show_doubtful(self) -> None:
        """Show the doubtful photos, the least sure first."""
        view = self._album.view
        if view is None:
            return
        self._show_grid(view.doubtful.tolist(), badges=True)
        words = f"probability below {DOUBTFUL_BELOW:g}, the least sure first"
        if not len(view.doubtful):
            lowest = min((float(view.probability[row.items].min()) for row in view.clusters), default=float("nan"))
            words = f"none below {DOUBTFUL_BELOW:g}; the least sure has {people_probability(lowest)}"
        self._tell(DOUBTFUL, words)

    def show_not_shown(self) -> None:
        """Show the photos that nobody has sorted."""
        view = self._album.view
        if view is not None:
            self._show_grid(view.not_shown.tolist(), badges=False)
            self._tell(HIDDEN, "in no submitted HIT of this run, so in no cluster")

    def outline(self, items: Sequence[int]) -> None:
        """Show these photos, which were outlined in the plot."""
        self._outlined = tuple(items)
        self.show_outlined()

    def show_outlined(self) -> None:
        """Show the photos that were outlined last."""
        self._show_grid(self._outlined, badges=True)
        self._tell(OUTLINED, "outlined in the plot")

    def escape(self) -> bool:
        """Go back to the rows; whether they were not shown already."""
        if self.shows_rows:
            return False
        self.show_clusters()
        self.rows.setFocus()
        return True

    def _show_grid(self, items: Sequence[int], badges: bool) -> None:
        self._stack.setCurrentWidget(self.grid)
        self.grid.show_items(items, badges)
        self.grid.setFocus()

    def _tell(self, name: str, words: str, opened: int | None = None) -> None:
        view = self._album.view
        self._opened = opened
        self._heading.setText(words)
        self._back.setVisible(opened is not None)
        counts = {
            CLUSTERS: ("Clusters", len(view.clusters) if view is not None else 0),
            DOUBTFUL: ("Doubtful", len(view.doubtful) if view is not None else 0),
            HIDDEN: ("Not shown", len(view.not_shown) if view is not None else 0),
            OUTLINED: ("Outlined", len(self._outlined)),
        }
        for other, button in self._buttons.items():
            title, count = counts[other]
            button.setText(f"{title} {count:,}")
            button.setChecked(other == name)
            # the two that are seldom there take no room when they are empty
            button.setVisible(other in (CLUSTERS, DOUBTFUL) or count > 0)

    def _follow(self) -> None:
        """Bring the current photo's cluster into view when it was chosen in the plot."""
        current, view = self._selection.current, self._album.view
        if current is not None and view is not None and self.shows_rows and not self.rows.hasFocus():
            self.rows.show_cluster(int(view.labels[current]))
