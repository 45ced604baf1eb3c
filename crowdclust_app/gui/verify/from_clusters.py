"""From the Clusters screen to a question set about the cluster that one looks at."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crowdclust_app.gui.clusters.content import ClustersContent
    from crowdclust_app.gui.screen import Screen, Shell

WANTED = "verify-wanted"
"""Remembered for the Verify screen: run and cluster that somebody wants verified."""
TITLE = "Verify this cluster"


def offer_verification(content: ClustersContent, shell: Shell, screen: Screen) -> None:
    """Add the entry to the menu of every row, and a command for the row that has the keys."""
    from crowdclust_app.gui.clusters.row_menu import RowAction

    def verify(place: int) -> None:
        overview = content.overview
        if overview is None or overview.view is None:
            return
        shell.remember(WANTED, [overview.view.run.number, place])
        shell.show_screen("verify")

    def verify_current() -> None:
        gallery, categories = content.gallery, content.deciding.categories
        rows = gallery.category_rows
        place = gallery.opened_cluster or gallery.rows.current_place or (rows[0].place if rows else None)
        if place is not None and categories is not None and place <= categories.n_clusters:
            verify(place)
        else:
            shell.say("Go to a cluster first")

    content.menu.actions.append(RowAction(TITLE, verify))
    shell.add_command(TITLE, "Ctrl+Shift+V", verify_current, owner=screen)
