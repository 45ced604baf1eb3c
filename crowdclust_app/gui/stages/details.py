"""At the right of the tree: the photos of the chosen row, and what can be done with it."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QScrollArea, QSizePolicy, QStackedWidget, QVBoxLayout, QWidget

from crowdclust_app.gui import theme
from crowdclust_app.gui.clusters.album import Album, people_probability
from crowdclust_app.gui.clusters.painting import BAR
from crowdclust_app.gui.clusters.photo_grid import PhotoGrid
from crowdclust_app.gui.clusters.selection import ItemSelection
from crowdclust_app.gui.labels import ElidedLabel
from crowdclust_app.gui.screen import Shell
from crowdclust_app.gui.splitting import splitter
from crowdclust_app.gui.stages.rows import Kind, Row
from crowdclust_app.gui.stages.split_form import SplitForm
from crowdclust_app.gui.stages.stage_panel import StagePanel
from crowdclust_app.gui.wording import count_of
from crowdclust_app.services.stages.stage_tree import StageNode, StageTree, plan_for

OF_EACH = 12
"""Photos of each category that are shown of a whole stage."""


class Details(QWidget):
    """Photos above, the stage or the form to make one below."""

    def __init__(self, shell: Shell, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("stage-details")
        self.album = Album(shell.pictures, self)
        self.selection = ItemSelection(self)
        self.photos = PhotoGrid(self.album, self.selection, self)
        self.title = ElidedLabel(self)
        self.title.setObjectName("stage-title")
        self.title.setProperty("heading", "part")
        self.about = ElidedLabel(self)
        self.about.setObjectName("stage-about")
        self.about.setProperty("rank", "second")
        self.form = SplitForm(shell, self)
        self.panel = StagePanel(self)
        self.nothing = QLabel(self)
        self.nothing.setObjectName("stage-nothing")
        self.nothing.setWordWrap(True)
        self.nothing.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.nothing.setProperty("rank", "second")
        self.pages = QStackedWidget(self)
        for page in (self.nothing, self.form, self.panel):
            self.pages.addWidget(page)
        self.pages.currentChanged.connect(self._fit_page)
        scroll = QScrollArea(self)
        scroll.setWidgetResizable(True)
        scroll.setWidget(self.pages)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        # what does not fit is scrolled to from above, never cut off at the side
        scroll.setMinimumWidth(self.pages.minimumSizeHint().width() + BAR)
        upper = QWidget(self)
        above = QVBoxLayout(upper)
        above.setContentsMargins(0, 0, 0, 0)
        above.setSpacing(theme.TILE_GAP)
        above.addWidget(self.title)
        above.addWidget(self.about)
        above.addWidget(self.photos, 1)
        self._fit_page()
        self.rows = splitter(Qt.Orientation.Vertical, upper, scroll)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.rows)

    def _fit_page(self, *_: int) -> None:
        """Have the page that is shown alone say how high it is, so that nothing is scrolled that would fit."""
        for page in (self.nothing, self.form, self.panel):
            shown = page is self.pages.currentWidget()
            policy = QSizePolicy.Policy.Preferred if shown else QSizePolicy.Policy.Ignored
            page.setSizePolicy(QSizePolicy.Policy.Preferred, policy)
        self.pages.adjustSize()

    def show_row(self, row: Row | None, tree: StageTree | None, running: str, read_only: bool, fresh: bool) -> None:
        """Show a row of the tree.

        Parameters
        ----------
        running
            Stage whose inference runs.
        fresh
            Whether it is another row than before: then the form begins anew.
        """
        self.title.setText(_title(row))
        self.about.setText(_about(row))
        self._show_photos(row, tree)
        if row is None or tree is None:
            self._say("")
        elif row.kind is Kind.REMOVED and row.info is not None:
            self.panel.show_removed(row.info, read_only)
            self.pages.setCurrentWidget(self.panel)
        elif row.stage is not None:
            self.panel.show_stage(row.stage, running, read_only)
            self.pages.setCurrentWidget(self.panel)
        else:
            self._offer(row, tree, read_only, fresh)

    def _offer(self, row: Row, tree: StageTree, read_only: bool, fresh: bool) -> None:
        """Offer to subdivide a category that is not subdivided yet."""
        category, stage = row.category, row.of
        if category is None or stage is None:
            self._say("")
        elif not category.divisible:
            self._say("A cluster of a single photo cannot be subdivided.")
        elif read_only:
            self._say("This campaign is open to read alone, so nothing can be subdivided here.")
        else:
            if fresh or self.pages.currentWidget() is not self.form:
                self.form.show_category(len(category.items), plan_for(stage, category), tree.seconds_a_photo)
            self.pages.setCurrentWidget(self.form)

    def _say(self, words: str) -> None:
        self.form.clear()
        self.nothing.setText(words)
        self.pages.setCurrentWidget(self.nothing)

    def _show_photos(self, row: Row | None, tree: StageTree | None) -> None:
        stage = _stage_of_photos(row)
        view = stage.view if stage is not None else None
        items: list[int] = []
        if stage is not None and view is not None and row is not None:
            items = row.category.items.tolist() if row.category is not None else _of_stage(stage)
        if view is not self.album.view:
            self.selection.clear()
        self.album.show(view, dict(tree.files) if tree is not None else {})
        if tuple(items) != self.photos.items or view is None:
            self.photos.show_items(items, badges=row is not None and row.category is None)
        self.photos.viewport().update()


def _of_stage(stage: StageNode) -> list[int]:
    """The most confident photos of each category of a stage."""
    return [item for category in stage.categories for item in category.items[:OF_EACH].tolist()]


def _stage_of_photos(row: Row | None) -> StageNode | None:
    """The stage in whose run a row's photos are numbered."""
    if row is None:
        return None
    return row.of if row.category is not None else row.stage


def _title(row: Row | None) -> str:
    return row.title if row is not None else ""


def _about(row: Row | None) -> str:
    if row is None:
        return ""
    parts = [count_of(row.size, "photo")]
    if row.category is None and row.stage is not None and row.stage.view is not None:
        parts.append("the most confident of each cluster")
    if row.category is not None:
        parts.insert(0, row.category.path)
        if len(row.category.clusters) > 1:
            parts.append("clusters " + ", ".join(str(cluster) for cluster in row.category.clusters))
        if row.category.mean_probability is not None:
            parts.append(f"mean probability {people_probability(row.category.mean_probability)}")
        if row.category.doubtful:
            parts.append(f"{row.category.doubtful:,} doubtful")
    return " · ".join(parts)
