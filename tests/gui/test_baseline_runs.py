"""Runs of the methods to compare with, in the window: what they lack is said, nothing breaks."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtWidgets import QComboBox, QLabel, QPushButton
from pytestqt.qtbot import QtBot
from sorted_campaign import click, make_campaign, open_window, part, settle

from crowdclust_app.domain.fit_settings import FitSettings
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.fits.campaign_fits import fit_campaign
from crowdclust_app.services.fits.run_store import run_list


@pytest.fixture
def path(tmp_path: Path) -> Path:
    made = make_campaign(tmp_path)
    with Campaign.open(made) as campaign:
        fit_campaign(campaign, FitSettings(method="nmf", dimensions=2, n_starts=2, n_clusters=4))
    return made


def test_the_clusters_of_a_baseline_are_shown_and_another_can_be_run(qtbot: QtBot, path: Path) -> None:
    window = open_window(qtbot, path, "clusters")
    summary = part(window, "run-summary", QLabel)
    assert isinstance(summary, QLabel)
    assert "NMF" in summary.text()
    assert "Bound" not in summary.text()
    assert "was told the number of clusters, 4" in summary.text()
    method = part(window, "run-method", QComboBox)
    assert isinstance(method, QComboBox)
    assert method.currentData() == "nmf"
    method.setCurrentIndex(method.findData("spectral"))
    click(qtbot, part(window, "run-button", QPushButton))
    settle(window)
    assert window.campaign is not None
    assert [run.method for run in run_list(window.campaign)] == ["nmf", "spectral"]
    assert "Spectral" in summary.text()


def test_the_matrices_of_a_baseline_are_shown_and_the_missing_ones_do_no_harm(qtbot: QtBot, path: Path) -> None:
    window = open_window(qtbot, path, "workers")
    for kind in ("bound", "calibrated"):
        click(qtbot, part(window, f"kind-{kind}", QPushButton))
        settle(window)
        assert not part(window, "large-matrix").grab().isNull()
