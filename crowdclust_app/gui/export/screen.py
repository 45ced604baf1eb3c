"""The Export screen, light to import; `content` has its parts."""

from __future__ import annotations

from crowdclust_app.gui.late_screen import LateScreen


class ExportScreen(LateScreen):
    """Writes tables, a report, plots and photos for others."""

    name = "export"
    title = "Export"
    icon = "export"
    module = "crowdclust_app.gui.export.content"
    kind = "ExportContent"
