"""The Start screen: cards, recent campaigns, the open campaign at a glance."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QAbstractButton, QComboBox, QFileDialog, QScrollArea, QWidget
from user_actions import find, is_dark, press_button, settle, text_of

from crowdclust_app.domain.campaign import PlanSettings
from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.gui import theme
from crowdclust_app.gui.start import RecentRow, StartCard, when
from crowdclust_app.gui.window import MainWindow
from crowdclust_app.services.campaign import recent
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.campaign.creating import create_without_images
from crowdclust_app.services.exchange.importing import import_table

OpenWindow = Callable[..., MainWindow]


def test_the_first_start_shows_three_cards_and_nothing_else(open_window: OpenWindow) -> None:
    window = open_window()
    cards = [card.accessibleName() for card in window.findChildren(StartCard) if card.isVisible()]
    assert cards == ["New campaign", "Open", "Demo"]
    assert not window.findChildren(RecentRow)
    assert not find(window, QWidget, "overview").isVisible()
    press_button(window, "card-new")
    assert window.current_screen is not None
    assert window.current_screen.name == "new"


def test_a_campaign_is_chosen_in_a_dialog(
    open_window: OpenWindow, campaign_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    window = open_window()
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_a, **_k: ("", ""))
    press_button(window, "card-open")
    settle(window)
    assert window.campaign is None
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_a, **_k: (str(campaign_file), ""))
    press_button(window, "card-open")
    settle(window)
    assert window.campaign is not None
    assert text_of(window, "overview-name") == "study"
    assert text_of(window, "overview-items") == "12"
    assert text_of(window, "overview-hits") == "6"
    assert text_of(window, "overview-hits-word") == "HITs"
    assert text_of(window, "overview-responses") == "0"
    assert text_of(window, "overview-responses-word") == "responses, 0 of 12 planned"
    press_button(window, "go-annotate")
    assert window.current_screen is not None
    assert window.current_screen.name == "annotate"


def test_responses_outside_the_plan_are_counted(open_window: OpenWindow, campaign_file: Path, tmp_path: Path) -> None:
    table = tmp_path / "responses.csv"
    with Campaign.open(campaign_file) as campaign:
        names = [item.path for item in campaign.items()[:4]]
        planned = campaign.hits()[0]
        inside = [campaign.items()[item].path for item in planned.items]
        rows = [f"other {n},w{n % 3},{name},{at % 2}" for n in range(9) for at, name in enumerate(names)]
        rows += [f"{planned.name},w0,{name},{at % 2}" for at, name in enumerate(inside)]
        table.write_text("hit,worker,item,group\n" + "\n".join(rows) + "\n", encoding="utf-8")
        import_table(campaign, table)
    window = open_window(campaign_file, "start")
    assert text_of(window, "overview-hits") == "15"
    assert text_of(window, "overview-hits-word") == "HITs, 6 planned"
    assert text_of(window, "overview-responses") == "10"
    assert text_of(window, "overview-responses-word") == "responses, 1 of 12 planned"


def test_a_campaign_without_a_plan_speaks_of_none(open_window: OpenWindow, tmp_path: Path) -> None:
    table = tmp_path / "responses.csv"
    table.write_text("hit,worker,item,group\nh,w,a,1\nh,w,b,2\n", encoding="utf-8")
    path = tmp_path / "tables.crowdclust"
    create_without_images(path, PlanSettings())
    with Campaign.open(path) as campaign:
        import_table(campaign, table)
    window = open_window(path, "start")
    assert text_of(window, "overview-responses") == "1"
    assert text_of(window, "overview-responses-word") == "response"


def test_recent_campaigns_are_listed_and_the_missing_ones_greyed(
    open_window: OpenWindow, campaign_file: Path, tmp_path: Path
) -> None:
    gone = tmp_path / "gone.crowdclust"
    gone.write_bytes(b"")
    recent.remember(gone)
    gone.unlink()
    recent.remember(campaign_file)
    window = open_window()
    rows = window.findChildren(RecentRow)
    assert [row.path.name for row in rows] == ["study.crowdclust", "gone.crowdclust"]
    assert find(window, QAbstractButton, "recent-study").isEnabled()
    assert not find(window, QAbstractButton, "recent-gone").isEnabled()
    press_button(window, "forget-gone")
    settle(window)
    assert [entry.name for entry in recent.recent_campaigns()] == ["study"]
    assert not [row for row in window.findChildren(RecentRow) if row.path == gone and row.isVisible()]
    press_button(window, "recent-study")
    settle(window)
    assert window.campaign is not None
    # what is open is not offered again
    assert not [row for row in window.findChildren(RecentRow) if row.isVisible()]


def test_the_demo_is_made_with_progress_and_opened(
    open_window: OpenWindow, campaign_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from crowdclust_app.services.demo import demo_campaign

    asked: list[Path] = []

    class Made:
        campaign = campaign_file

    def build(folder: Path, progress: Any = None, cancel: CancelToken | None = None) -> Made:
        asked.append(folder)
        assert progress is not None
        assert cancel is not None
        return Made()

    monkeypatch.setattr(demo_campaign, "build_demo", build)
    window = open_window()
    press_button(window, "card-demo")
    assert not find(window, QAbstractButton, "card-demo").isEnabled()
    settle(window)
    assert len(asked) == 1
    assert window.campaign is not None
    assert window.campaign.path == campaign_file.resolve()
    assert window.current_screen is not None
    assert window.current_screen.name == "clusters"


def test_a_demo_that_fails_can_be_tried_again(open_window: OpenWindow, monkeypatch: pytest.MonkeyPatch) -> None:
    from crowdclust_app.domain.errors import UserError
    from crowdclust_app.services.demo import demo_campaign

    def build(*_arguments: Any, **_keywords: Any) -> None:
        raise UserError("the demo cannot be written here", todo="choose another folder")

    monkeypatch.setattr(demo_campaign, "build_demo", build)
    window = open_window()
    press_button(window, "card-demo")
    settle(window)
    assert text_of(window, "error-text") == "The demo cannot be written here; choose another folder."
    assert find(window, QAbstractButton, "card-demo").isEnabled()


def test_the_colours_are_chosen_here(open_window: OpenWindow) -> None:
    window = open_window()
    choice = find(window, QComboBox, "look-choice")
    assert choice.currentData() == theme.Look.SYSTEM.value
    try:
        choice.setCurrentIndex(choice.findData(theme.Look.DARK.value))
        choice.activated.emit(choice.currentIndex())
        settle(window)
        assert window.remembered_look() is theme.Look.DARK
        assert is_dark(window.palette())
    finally:
        window.use_look(theme.Look.LIGHT)


def test_times_are_said_as_people_say_them() -> None:
    now = datetime(2026, 3, 20, 12, tzinfo=UTC)
    assert when(now - timedelta(hours=1), now) == "today"
    assert when(now - timedelta(days=1), now) == "yesterday"
    assert when(now - timedelta(days=5), now) == "5 days ago"
    assert when(now - timedelta(days=15), now) == "5 March 2026"


def test_in_the_smallest_window_nothing_is_cut_off(open_window: OpenWindow, campaign_file: Path) -> None:
    for campaign in (None, campaign_file):
        window = open_window(campaign, size=(1024, 768))
        (area,) = window.screen_named("start").findChildren(QScrollArea)
        assert area.horizontalScrollBar().maximum() == 0
        for card in ("card-new", "card-open", "card-demo"):
            button = find(window, QAbstractButton, card)
            assert area.viewport().rect().contains(button.rect().translated(button.mapTo(area.viewport(), QPoint())))
