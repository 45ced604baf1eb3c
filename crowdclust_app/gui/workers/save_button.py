"""The pictures of the Workers screen as files, the paper's Figures 3 and 4 among them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtWidgets import QHBoxLayout, QMenu, QPushButton, QWidget

from crowdclust_app.domain.plots import Plot
from crowdclust_app.gui.save_plot import ask_and_save
from crowdclust_app.gui.screen import Screen, Shell
from crowdclust_app.services.clusters.categories import Categories
from crowdclust_app.services.clusters.overview import CampaignOverview
from crowdclust_app.services.clusters.run_view import RunView
from crowdclust_app.services.workers.plots import confusion_grid, pareto_plot, rank_plot

PICTURES = (("matrices", "Matrices of the most active"), ("rank", "HITs by worker"), ("share", "Share of the work"))


class SaveButton(QPushButton):
    """A button with a menu of the pictures, and a command for each.

    Parameters
    ----------
    page
        Above which the dialog appears.
    overview
        Returns the shown overview: the pictures are of its run.
    """

    def __init__(
        self, page: QWidget, overview: Callable[[], CampaignOverview | None], shell: Shell, screen: Screen
    ) -> None:
        super().__init__("Save", page)
        self._page, self._overview, self._shell = page, overview, shell
        self.setObjectName("workers-save")
        self.setProperty("rank", "plain")
        self.setToolTip("Save a picture as PNG and SVG, with the numbers as CSV")
        menu = QMenu(self)
        for name, title in PICTURES:
            menu.addAction(title, partial(self.save, name))
            key = "Ctrl+Shift+S" if name == "matrices" else ""
            words = "Save the matrices" if name == "matrices" else f"Save the plot: {title}"
            shell.add_command(words, key, partial(self.save, name), owner=screen)
        self.setMenu(menu)

    def beside(self, part: QWidget) -> QWidget:
        """That part with the button at its right."""
        line = QWidget(self._page)
        inside = QHBoxLayout(line)
        inside.setContentsMargins(0, 0, 0, 0)
        inside.addWidget(part, 1)
        inside.addWidget(self)
        return line

    def save(self, name: str) -> None:
        """Ask where, then write one of the pictures."""
        overview = self._overview()
        plot = None if overview is None or overview.view is None else _plot(name, overview.view, overview.categories)
        if plot is None:
            self._shell.say("There is nothing to save here yet")
        else:
            ask_and_save(self._shell, plot, self._page)


def _plot(name: str, view: RunView, categories: Categories | None) -> Plot | None:
    if name == "matrices":
        called = {row.number: categories.name(row.number) for row in view.clusters} if categories is not None else {}
        return confusion_grid(view, names=called)
    made: Callable[[RunView], Plot] = rank_plot if name == "rank" else pareto_plot
    return made(view) if any(row.hits for row in view.workers) else None
