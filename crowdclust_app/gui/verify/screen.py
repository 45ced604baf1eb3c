"""The Verify screen, light to import; `content` has its parts."""

from __future__ import annotations

from crowdclust_app.gui.late_screen import LateScreen


class VerifyScreen(LateScreen):
    """Which photos really belong."""

    name = "verify"
    title = "Verify"
    icon = "verify"
    module = "crowdclust_app.gui.verify.content"
    kind = "VerifyContent"
