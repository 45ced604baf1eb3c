"""The Stages screen, light to import; `content` has its parts."""

from __future__ import annotations

from crowdclust_app.gui.late_screen import LateScreen


class StagesScreen(LateScreen):
    """The tree of clusters, and what each of them is subdivided into."""

    name = "stages"
    title = "Stages"
    icon = "stages"
    module = "crowdclust_app.gui.stages.content"
    kind = "StagesContent"
