"""From the Clusters screen to the stage of the cluster that one looks at."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crowdclust_app.gui.clusters.row_menu import RowAction

if TYPE_CHECKING:
    from crowdclust_app.gui.clusters.content import ClustersContent
    from crowdclust_app.gui.screen import Screen, Shell

WANTED = "stages-wanted"
"""Remembered for the Stages screen: run and place of the category that somebody wants subdivided."""
TITLE = "Subdivide this cluster"


def offer_subdividing(content: ClustersContent, shell: Shell, screen: Screen) -> None:
    """Add the entry to the menu of every row, and a command for the row that has the keys."""

    def subdivide(place: int) -> None:
        overview = content.overview
        if overview is not None and overview.view is not None:
            shell.remember(WANTED, [overview.view.run.number, place])
            shell.show_screen("stages")

    def subdivide_current() -> None:
        gallery = content.gallery
        rows = gallery.category_rows
        place = gallery.opened_cluster or gallery.rows.current_place or (rows[0].place if rows else None)
        if place is not None:
            subdivide(place)
        else:
            shell.say("Go to a cluster first")

    content.menu.actions.append(RowAction(TITLE, subdivide, clusters_only=False))
    shell.add_command(TITLE, "Ctrl+Shift+D", subdivide_current, owner=screen)
