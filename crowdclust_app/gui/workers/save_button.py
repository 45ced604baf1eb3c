"""The pictures of the Workers screen as files, the paper's Figures 3 and 4 among them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QHBoxLayout, QMenu, QPushButton, QWidget

from crowdclust_app.domain.plots import Plot
from crowdclust_app.gui.clusters.save_plot import ask_and_save
from crowdclust_app.services.workers.plots import confusion_grid, pareto_plot, rank_plot

if TYPE_CHECKING:
    from crowdclust_app.gui.screen import Screen, Shell
    from crowdclust_app.gui.workers.content import WorkersContent
    from crowdclust_app.services.clusters.run_view import RunView

PICTURES = (("matrices", "Matrices of the most active"), ("rank", "HITs by worker"), ("share", "Share of the work"))


class SaveButton(QPushButton):
    """A button with a menu of the pictures, and a command for each.

    Parameters
    ----------
    content
        Whose run they are of.
    """

    def __init__(self, content: WorkersContent, shell: Shell, screen: Screen) -> None:
        super().__init__("Save", content)
        self._content, self._shell = content, shell
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
        line = QWidget(self._content)
        inside = QHBoxLayout(line)
        inside.setContentsMargins(0, 0, 0, 0)
        inside.addWidget(part, 1)
        inside.addWidget(self)
        return line

    def save(self, name: str) -> None:
        """Ask where, then write one of the pictures."""
        view = self._content.shown_view
        plot = None if view is None else self._plot(name, view)
        if plot is None:
            self._shell.say("There is nothing to save here yet")
        else:
            ask_and_save(self._shell, plot, self._content)

    def _plot(self, name: str, view: RunView) -> Plot | None:
        if name == "matrices":
            return confusion_grid(view, names=self._names())
        made: Callable[[RunView], Plot] = rank_plot if name == "rank" else pareto_plot
        return made(view) if any(row.hits for row in view.workers) else None

    def _names(self) -> Mapping[int, str]:
        """What the lead calls the clusters."""
        overview = self._content.overview
        categories = overview.categories if overview is not None else None
        view = self._content.shown_view
        if categories is None or view is None:
            return {}
        return {row.number: categories.name(row.number) for row in view.clusters}
