"""Pictures of every screen of a campaign, for a README and for looking at the program without a display."""

from __future__ import annotations

import os
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QEvent, QEventLoop, Qt, QTimer
from PySide6.QtWidgets import QApplication, QWidget

from crowdclust_app.domain.errors import UserError
from crowdclust_app.gui import theme
from crowdclust_app.gui.annotate.screen import AnnotateScreen
from crowdclust_app.gui.app import make_application
from crowdclust_app.gui.registry import SCREENS
from crowdclust_app.gui.settings import WindowSettings
from crowdclust_app.gui.window import MainWindow

SIZE = (1366, 768)
WAIT_MS = 60_000


def write_screenshots(campaign: Path, out: Path) -> tuple[Path, ...]:
    """Show a campaign in a window that is not on any display and save each screen, light and dark.

    Parameters
    ----------
    campaign
        The campaign file; it is opened, and nothing in it is changed.
    out
        Folder of the pictures; made if it is not there.

    Returns
    -------
    tuple of Path
        The PNG files, as `clusters-dark.png`.

    Raises
    ------
    UserError
        When the campaign cannot be opened or a picture cannot be written.
    """
    if QApplication.instance() is None:
        os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

    app = make_application()
    out.mkdir(parents=True, exist_ok=True)
    # settings of its own: the person's window must not begin where this one ended
    window = MainWindow(WindowSettings(out / ".window.json"))
    window.list_as_recent = False
    files = []
    try:
        window.resize(*SIZE)
        window.show()
        window.open_campaign(campaign, show="start")
        settle(window)
        if window.campaign is None:
            raise UserError(window.error_bar.text.text().rstrip("."), where=str(campaign))
        for look in (theme.Look.LIGHT, theme.Look.DARK):
            window.use_look(look)
            for entry in SCREENS:
                window.show_screen(entry.name)
                if isinstance(window.current_screen, AnnotateScreen):
                    window.current_screen.show_example()
                settle(window)
                file = out / f"{entry.name}-{look.value}.png"
                if not window.grab().save(str(file)):
                    raise UserError("the picture cannot be written", where=str(file))
                files.append(file)
    finally:
        window.close()
        window.deleteLater()
        QCoreApplication.sendPostedEvents(window, QEvent.Type.DeferredDelete.value)
        app.processEvents()
        (out / ".window.json").unlink(missing_ok=True)
    return tuple(files)


def settle(window: MainWindow) -> None:
    """Let jobs end, and what is drawn a moment later be drawn."""
    for _ in range(2):
        window.jobs.wait(WAIT_MS)
        loop = QEventLoop()
        QTimer.singleShot(150, loop.quit)
        loop.exec()
    # without a display the pointer is taken to be in the upper left corner, over a button
    for widget in window.findChildren(QWidget):
        widget.setAttribute(Qt.WidgetAttribute.WA_UnderMouse, False)
