"""The Clusters screen, light to import; `content` has its parts."""

from __future__ import annotations

from crowdclust_app.gui.late_screen import LateScreen


class ClustersScreen(LateScreen):
    """What everybody's groups have in common."""

    name = "clusters"
    title = "Clusters"
    icon = "clusters"
    module = "crowdclust_app.gui.clusters.content"
    kind = "ClustersContent"
