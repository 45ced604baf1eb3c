"""The Clusters screen's item models, and what lies under the pointer."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtTest import QAbstractItemModelTester
from PySide6.QtWidgets import QApplication
from sorted_campaign import make_campaign

from crowdclust_app.gui.clusters.album import Album, people_probability
from crowdclust_app.gui.clusters.geometry import nearest_point, neighbour, points_inside
from crowdclust_app.gui.clusters.inspector import ItemResponsesModel, turn_in_words
from crowdclust_app.gui.clusters.photo_grid import PhotoModel
from crowdclust_app.gui.clusters.rows_model import CategoryRowsModel
from crowdclust_app.gui.clusters.runs_model import RunsModel
from crowdclust_app.gui.clusters.selection import ItemSelection
from crowdclust_app.gui.jobs import Jobs
from crowdclust_app.gui.pictures import PictureCache
from crowdclust_app.gui.wording import people_date, people_time
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.clusters.category_rows import category_rows
from crowdclust_app.services.clusters.overview import CampaignOverview, load_overview

FATAL = QAbstractItemModelTester.FailureReportingMode.Fatal


@pytest.fixture(scope="module")
def overview(tmp_path_factory: pytest.TempPathFactory) -> CampaignOverview:
    with Campaign.open(make_campaign(tmp_path_factory.mktemp("models"), fit=True)) as campaign:
        return load_overview(campaign)


def test_models_keep_qts_rules(qapp: QApplication, overview: CampaignOverview) -> None:
    assert overview.view is not None
    jobs = Jobs()
    album = Album(PictureCache(jobs))
    album.show(overview.view, {})
    rows, photos, turns, runs = CategoryRowsModel(), PhotoModel(album), ItemResponsesModel(), RunsModel()
    testers = [QAbstractItemModelTester(model, FATAL) for model in (rows, photos, turns, runs)]
    assert overview.categories is not None
    rows.show(category_rows(overview.view, overview.categories))
    photos.show(overview.view.clusters[0].items.tolist())
    turns.show(overview.view.facts(0).turns)
    runs.show(overview.runs)
    assert (rows.rowCount(), photos.rowCount()) == (len(overview.view.clusters), overview.view.clusters[0].size)
    assert (turns.rowCount(), runs.rowCount()) == (overview.view.times_shown[0], 1)
    assert photos.index(0, 0).data() == album.line(int(overview.view.clusters[0].items[0]))
    assert "Run 1" in runs.index(0, 0).data()
    for model in (rows, photos, turns, runs):
        model.show(())
        assert model.rowCount() == 0
    assert len(testers) == 4
    jobs.shutdown()


def test_a_turn_is_told_in_words(overview: CampaignOverview) -> None:
    assert overview.view is not None
    turns = {turn.worker: turn for turn in overview.view.facts(0).turns}
    assert turn_in_words(turns["Ann"]) == "as the clusters say"
    lump = turns["Lump"]
    assert turn_in_words(lump) == f"with {lump.from_other_clusters} of other clusters"


def test_the_selection_tells_only_changes_and_keeps_its_current_item(qapp: QApplication) -> None:
    selection = ItemSelection()
    told: list[tuple[int, ...]] = []
    selection.changed.connect(lambda: told.append(selection.items))
    selection.choose(4)
    selection.choose(4)
    selection.choose_all([2, 4, 6])
    assert selection.current == 4
    selection.toggle(4)
    assert selection.current == 6
    selection.add([2, 9])
    assert selection.items == (2, 6, 9)
    selection.clear()
    assert (selection.items, selection.current) == ((), None)
    assert told == [(4,), (2, 4, 6), (2, 6), (2, 6, 9), ()]


def test_the_nearest_point_is_nearest_in_pixels() -> None:
    points = np.array([[0.0, 0.0], [1.0, 0.0], [np.nan, np.nan], [0.0, 10.0]])
    assert nearest_point(points, (0.4, 0.0), (0.1, 1.0), reach=10) == 0
    assert nearest_point(points, (0.0, 8.0), (0.1, 1.0), reach=10) == 3
    assert nearest_point(points, (0.5, 5.0), (0.01, 0.1), reach=10) is None
    assert nearest_point(np.zeros((0, 2)), (0, 0), (1, 1), reach=10) is None
    rng = np.random.default_rng(0)
    many = rng.normal(size=(500, 2))
    for at in rng.normal(size=(20, 2)):
        by_hand = min(range(500), key=lambda i: (many[i] - at) / (0.01, 0.02) @ ((many[i] - at) / (0.01, 0.02)))
        assert nearest_point(many, tuple(at), (0.01, 0.02), reach=1e9) == by_hand


def test_an_outline_holds_what_is_inside_it() -> None:
    square = np.array([[0.0, 0.0], [2.0, 0.0], [2.0, 2.0], [0.0, 2.0]])
    points = np.array([[1.0, 1.0], [3.0, 1.0], [0.1, 1.9], [-0.1, 1.0], [np.nan, 1.0]])
    assert points_inside(points, square).tolist() == [0, 2]
    horseshoe = np.array([[0, 0], [3, 0], [3, 3], [2, 3], [2, 1], [1, 1], [1, 3], [0, 3]], dtype=float)
    assert points_inside(np.array([[0.5, 2], [1.5, 2], [2.5, 2], [1.5, 0.5]]), horseshoe).tolist() == [0, 2, 3]
    assert points_inside(points, square[:2]).tolist() == []


def test_an_arrow_leads_to_the_near_point_ahead() -> None:
    points = np.array([[0.0, 0.0], [2.0, 0.1], [1.0, 3.0], [-1.0, 0.0], [np.nan, 0.0]])
    assert neighbour(points, 0, (1.0, 0.0), (1.0, 1.0)) == 1
    assert neighbour(points, 0, (-1.0, 0.0), (1.0, 1.0)) == 3
    assert neighbour(points, 0, (0.0, 1.0), (1.0, 1.0)) == 2
    assert neighbour(points, 0, (0.0, -1.0), (1.0, 1.0)) is None


def test_numbers_and_times_read_as_people_say_them() -> None:
    assert [people_probability(p) for p in (0.621, 0.9991, 1.0, 0.001, float("nan"))] == [
        "0.62",
        "above 0.99",
        "1.00",
        "below 0.01",
        "–",
    ]
    assert [people_time(s) for s in (None, 0.4, 9.97, 59.7, 80, 120, 3600, 7500)] == [
        "–",
        "0.4 s",
        "10 s",
        "1 min",
        "1 min 20 s",
        "2 min",
        "1 h",
        "2 h 5 min",
    ]
    now = datetime(2025, 6, 4, 15, 0, tzinfo=UTC).astimezone()
    assert people_date(now, now) == f"{now:%H:%M}"
    assert people_date(now - timedelta(days=40), now).startswith("25 Apr ")
    assert people_date(now - timedelta(days=400), now).endswith(" 2024")


def test_photo_files_are_named_even_when_one_is_gone(tmp_path: Path) -> None:
    path = make_campaign(tmp_path, sort=False)
    (tmp_path / "photos" / "p03.png").unlink()
    with Campaign.open(path) as campaign:
        found = load_overview(campaign)
    assert len(found.files) == 24
    assert found.view is None
    assert [worker.name for worker in found.workers] == []
