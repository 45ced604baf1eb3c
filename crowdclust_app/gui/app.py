"""Start the program with a window."""

from __future__ import annotations

import sys
from pathlib import Path

from PySide6.QtCore import QLoggingCategory, QTimer
from PySide6.QtWidgets import QApplication

from crowdclust_app.gui import theme
from crowdclust_app.gui.window import MainWindow


def make_application() -> QApplication:
    """The one application object, with the program's name, font and style."""
    app = QApplication.instance()
    if not isinstance(app, QApplication):
        app = QApplication(sys.argv[:1])
    app.setApplicationName("crowdclust")
    app.setApplicationDisplayName("Crowdclust")
    app.setDesktopFileName("crowdclust")
    app.setStyle("Fusion")
    theme.apply_font(app)
    return app


def run_window(campaign: Path | None = None) -> int:
    """Open the window, on this campaign if one is given, and stay until it is closed.

    Returns
    -------
    int
        The exit code.
    """
    QLoggingCategory.setFilterRules("qt.qpa.*.debug=false")
    app = make_application()
    window = MainWindow()
    window.errors.install()
    window.use_look(window.remembered_look())
    window.show_screen("start")
    window.show()
    if campaign is not None:
        # after the first frame, so that the window is there at once
        QTimer.singleShot(0, window, lambda: window.open_campaign(campaign))
    try:
        return app.exec()
    finally:
        window.errors.remove()
