"""The Workers screen, light to import; `content` has its parts."""

from __future__ import annotations

from crowdclust_app.gui.late_screen import LateScreen


class WorkersScreen(LateScreen):
    """How each person sorts, and how far each can be trusted."""

    name = "workers"
    title = "Workers"
    icon = "workers"
    module = "crowdclust_app.gui.workers.content"
    kind = "WorkersContent"
