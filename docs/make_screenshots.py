"""Picture the screens for these pages: the demo is made anew, and each screen is saved light, small enough for git.

Run `python docs/make_screenshots.py` when a screen has changed, and look at every picture.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PIL import Image
from PySide6.QtWidgets import QLabel, QLineEdit

from crowdclust_app.gui.app import make_application
from crowdclust_app.gui.new_campaign import NewCampaignScreen
from crowdclust_app.gui.screenshots import SIZE, settle, write_screenshots
from crowdclust_app.gui.settings import WindowSettings
from crowdclust_app.gui.theme import Look
from crowdclust_app.gui.verify.content import VerifyContent
from crowdclust_app.gui.window import MainWindow
from crowdclust_app.services.demo.demo_campaign import DemoReport, build_demo

OUT = Path(__file__).resolve().parent / "screenshots"
SOMEWHERE = "/home/lab"


def save(picture: Path, name: str) -> None:
    """Keep a picture with 256 colours."""
    whole = Image.open(picture).convert("RGB")
    palette = whole.quantize(256, Image.Quantize.MEDIANCUT)
    whole.quantize(palette=palette, dither=Image.Dither.FLOYDSTEINBERG).save(OUT / f"{name}.png", optimize=True)


def picture_pages(report: DemoReport, folder: Path) -> None:
    """Picture what shows paths, with others in their place, and pages that are reached by a button."""
    window = MainWindow(WindowSettings(folder / ".window.json"))
    window.list_as_recent = False

    def keep(name: str) -> None:
        settle(window)
        for shown in (*window.findChildren(QLabel), *window.findChildren(QLineEdit)):
            if str(folder) in shown.text():
                shown.setText(shown.text().replace(str(folder), SOMEWHERE))
        file = folder / f"{name}.png"
        window.grab().save(str(file))
        save(file, name)

    window.resize(*SIZE)
    window.show()
    window.use_look(Look.LIGHT)
    window.open_campaign(report.campaign, show="start")
    keep("start")
    window.show_screen("export")
    keep("export")
    window.show_screen("verify")
    settle(window)
    verify = window.current_screen.findChild(VerifyContent)
    verify.begin(window.campaign.workers()[0])
    keep("answer")
    window.show_screen("new")
    new = window.current_screen
    assert isinstance(new, NewCampaignScreen)
    new.use_folder(report.images)
    keep("new")
    window.close()


def main() -> None:
    """Write the pictures."""
    OUT.mkdir(exist_ok=True)
    app = make_application()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        report = build_demo(folder / "vases")
        for picture in write_screenshots(report.campaign, folder / "pictures"):
            name, _, look = picture.stem.rpartition("-")
            if look == Look.LIGHT.value and name not in ("start", "export", "new"):
                save(picture, name)
        picture_pages(report, folder)
        app.processEvents()


if __name__ == "__main__":
    main()
