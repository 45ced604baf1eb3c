"""The form of a run's settings, made from what is said of each setting."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QSpinBox
from pytestqt.qtbot import QtBot

from crowdclust_app.domain.fit_settings import SETTINGS, FitSettings
from crowdclust_app.gui.clusters.settings_form import ROWS, SettingsForm


@pytest.mark.parametrize(
    "settings",
    [
        FitSettings(),
        FitSettings(method="spectral", n_clusters=12, n_starts=50, dimensions=20, label_weight=1.0, seed=999_999),
        FitSettings(method="consensus", n_clusters="bound", dimensions=1, label_weight=0.35, n_starts=1),
        FitSettings(worker_prior="independent", n_clusters=1),
    ],
)
def test_what_is_shown_comes_back(qtbot: QtBot, settings: FitSettings) -> None:
    form = SettingsForm()
    qtbot.addWidget(form)
    form.show_settings(settings.as_dict())
    assert form.settings() == settings
    form.show_settings({})
    assert form.settings() == FitSettings()


def test_words_can_be_typed_into_the_box_of_clusters(qtbot: QtBot) -> None:
    form = SettingsForm()
    qtbot.addWidget(form)
    box = form.findChild(QSpinBox, "run-clusters")
    assert box.text() == "by held-out sets"
    for typed, value in (("7", 7), ("by the bound", "bound"), ("by held-out sets", "heldout")):
        box.setValue(box.valueFromText(typed))
        assert (box.text(), form.settings().n_clusters) == (typed, value)
    form.ask_for(5)
    assert form.settings().n_clusters == 5


def test_every_row_explains_its_setting(qtbot: QtBot) -> None:
    form = SettingsForm()
    qtbot.addWidget(form)
    for name in ROWS:
        box = form._boxes[name]
        assert box.toolTip().lower() == SETTINGS[name].about.lower()
        assert box.accessibleName() == SETTINGS[name].title
        assert not SETTINGS[name].expert
