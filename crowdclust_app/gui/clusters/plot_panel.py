"""The embedding with what belongs to it: which axes, which colours, what the colours say, and its files."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from crowdclust_app.domain.plots import Plot
from crowdclust_app.gui import theme
from crowdclust_app.gui.clusters.album import badge_text
from crowdclust_app.gui.clusters.legend import Legend
from crowdclust_app.gui.clusters.plot import EmbeddingPlot, PlotContent
from crowdclust_app.gui.clusters.selection import ItemSelection
from crowdclust_app.services.clusters.category_rows import Arrangement
from crowdclust_app.services.clusters.comparing import known_categories
from crowdclust_app.services.clusters.embedding import (
    CATEGORY,
    CLUSTER,
    COLOUR_TITLES,
    TRUTH,
    Axis,
    Colouring,
    colouring,
    embedding_plot,
)
from crowdclust_app.services.clusters.item_facts import DOUBTFUL_BELOW
from crowdclust_app.services.clusters.run_view import RunView

ENOUGH = 520
"""The width in pixels from which on the legend is shown."""


class PlotPanel(QWidget):
    """The plot under the choice of its axes and colours, its legend beside it.

    Signals
    -------
    chosen_here
        Another axis or colour was chosen.
    """

    chosen_here = Signal()

    def __init__(self, selection: ItemSelection, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._selection = selection
        self._view: RunView | None = None
        self._arrangement: Arrangement | None = None
        self._truth: Mapping[str, str] = {}
        self._order: tuple[str, ...] = ()
        self._axes: dict[str, Axis] = {}
        self.colours: Colouring | None = None
        self.plot = EmbeddingPlot(selection, self)
        self.legend = Legend(self)
        self._boxes = {name: QComboBox(self) for name in ("x", "y", "colour")}
        self._lay_out()
        self.legend.chosen.connect(self._choose_group)
        for box in self._boxes.values():
            box.currentIndexChanged.connect(self._chosen)

    def _lay_out(self) -> None:
        bar = QHBoxLayout()
        bar.setSpacing(theme.STEP)
        for name, title in (("x", "Across"), ("y", "Up"), ("colour", "Colour")):
            box = self._boxes[name]
            box.setObjectName(f"plot-{name}")
            box.setAccessibleName(title)
            box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
            box.setMinimumContentsLength(5)
            label = QLabel(title, self)
            label.setBuddy(box)
            label.setProperty("rank", "second")
            bar.addWidget(label)
            bar.addWidget(box, 1)
        for key, title in COLOUR_TITLES.items():
            self._boxes["colour"].addItem(title, key)
        middle = QHBoxLayout()
        middle.setSpacing(theme.STEP)
        middle.addWidget(self.plot, 1)
        middle.addWidget(self.legend)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.TILE_GAP)
        layout.addLayout(bar)
        layout.addLayout(middle, 1)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Leave the legend out where the plot itself would have no room."""
        super().resizeEvent(event)
        self.legend.setVisible(self.width() >= ENOUGH)

    def remembered(self) -> dict[str, str]:
        """What is chosen."""
        return {name: box.currentData() or "" for name, box in self._boxes.items()}

    def restore(self, kept: object) -> None:
        """Choose what was remembered, as far as it is there."""
        wanted = kept if isinstance(kept, dict) else {"colour": CLUSTER}
        for name, box in self._boxes.items():
            place = box.findData(wanted.get(name))
            if place >= 0:
                box.setCurrentIndex(place)

    # --- content

    def show_view(
        self,
        view: RunView | None,
        arrangement: Arrangement | None = None,
        truth: Mapping[str, str] | None = None,
        order: tuple[str, ...] = (),
        axes: Mapping[str, Axis] | None = None,
    ) -> None:
        """Plot the items of this run on these axes, with what the lead made of it."""
        fresh = view is None or self._view is None or view.run.number != self._view.run.number
        self._view, self._arrangement, self._truth, self._order = view, arrangement, truth or {}, order
        if fresh or not self._axes:
            self._axes = dict(axes or {})
            self._list_axes()
        self._offer_colours()
        self.draw()

    def _list_axes(self) -> None:
        before = self.remembered()
        for name, usual in (("x", "fisher1"), ("y", "fisher2")):
            box = self._boxes[name]
            box.blockSignals(True)
            box.clear()
            for axis in self._axes.values():
                box.addItem(axis.title.replace(" axis", ""), axis.key)  # short: the box is narrow
            place = box.findData(before[name] or usual)
            box.setCurrentIndex(place if place >= 0 else box.findData(usual))
            box.blockSignals(False)

    def _offer_colours(self) -> None:
        """Known categories can only be shown where there are some."""
        box = self._boxes["colour"]
        place = box.findData(TRUTH)
        model = box.model()
        flags = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
        item = model.item(place)  # type: ignore[attr-defined]
        item.setFlags(flags if self._truth else Qt.ItemFlag.NoItemFlags)
        item.setToolTip("" if self._truth else "No known categories are loaded")
        if not self._truth and box.currentIndex() == place:
            box.setCurrentIndex(box.findData(CLUSTER))

    def draw(self) -> None:
        """Draw what is chosen."""
        view = self._view
        if view is None or not self._axes:
            self.colours = None
            self.plot.show_content(None)
            self.legend.show_colours(None, {})
            return
        key = self._boxes["colour"].currentData()
        order = known_categories(self._truth, self._order)
        made = self._arrangement
        categories, places = (made.categories, made.places) if made is not None else (None, None)
        self.colours = colouring(view, key, categories, self._truth, order, places)
        n_clusters = len(view.run.result.means)
        badges = {
            number: badge_text(number, n_clusters) if key in (CLUSTER, CATEGORY) else str(number)
            for number in self.colours.counts
            if number
        }
        unsure = np.nan_to_num(view.certainty, nan=1.0) < DOUBTFUL_BELOW
        x, y = self._chosen_axes()
        self.plot.show_content(PlotContent(x, y, self.colours, unsure, badges, view.labels))
        self.legend.show_colours(self.colours, badges)

    def _chosen_axes(self) -> tuple[Axis, Axis]:
        return self._axes[self._boxes["x"].currentData()], self._axes[self._boxes["y"].currentData()]

    def figure(self) -> Plot | None:
        """The plot as it is, for its files."""
        if self._view is None or self.colours is None:
            return None
        return embedding_plot(self._view, *self._chosen_axes(), self.colours)

    def _chosen(self) -> None:
        self.draw()
        self.chosen_here.emit()

    def _choose_group(self, number: int) -> None:
        if self.colours is not None and self._view is not None:
            items = np.flatnonzero((self.colours.groups == number) & (self._view.labels > 0))
            self._selection.choose_all(items.tolist())
            if len(items) > 1:
                self.plot.lassoed.emit()
