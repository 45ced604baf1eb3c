"""Pictures of every screen without a display."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication

from crowdclust_app.domain.errors import UserError
from crowdclust_app.gui import theme
from crowdclust_app.gui.registry import SCREENS
from crowdclust_app.gui.screenshots import SIZE, write_screenshots
from crowdclust_app.gui.style import apply_look
from crowdclust_app.services.campaign import recent
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.campaign.counts import assignment_records


@pytest.mark.runs_the_loop_itself
def test_every_screen_is_pictured_light_and_dark(qapp: QApplication, campaign_file: Path, tmp_path: Path) -> None:
    try:
        files = write_screenshots(campaign_file, tmp_path / "shots")
    finally:
        apply_look(qapp, theme.Look.LIGHT)
    assert {file.name for file in files} == {
        f"{entry.name}-{look}.png" for entry in SCREENS for look in ("light", "dark")
    }
    assert sorted((tmp_path / "shots").iterdir()) == sorted(files)
    brightness = {}
    for file in files:
        image = QImage(str(file))
        assert (image.width(), image.height()) == SIZE
        brightness[file.stem] = image.pixelColor(SIZE[0] - 4, 4).lightness()
    for entry in SCREENS:
        assert brightness[f"{entry.name}-light"] > 150 > brightness[f"{entry.name}-dark"], entry.name
    # looking changes nothing
    with Campaign.open(campaign_file) as campaign:
        assert campaign.workers() == ()
        assert assignment_records(campaign) == ()
    assert recent.recent_campaigns() == ()


def test_a_file_that_is_no_campaign_is_told(qapp: QApplication, tmp_path: Path) -> None:
    path = tmp_path / "odd.crowdclust"
    path.write_bytes(b"no campaign")
    with pytest.raises(UserError, match=r"odd\.crowdclust"):
        write_screenshots(path, tmp_path / "shots")
