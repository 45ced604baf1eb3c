"""The Progress screen, light to import; `content` has its parts."""

from __future__ import annotations

from crowdclust_app.gui.late_screen import LateScreen


class ProgressScreen(LateScreen):
    """How a campaign fills."""

    name = "progress"
    title = "Progress"
    icon = "progress"
    module = "crowdclust_app.gui.progress.content"
    kind = "ProgressContent"
