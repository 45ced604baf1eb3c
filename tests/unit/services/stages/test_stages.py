"""Clusters are subdivided into stages with HITs and runs of their own; nothing that was answered is ever lost."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from campaign_making import MakeCampaign, do_next
from nested_campaign import QUICK, category, kind, maker, nested, sort_everything

from crowdclust_app.domain.campaign import PlanSettings
from crowdclust_app.domain.errors import UserError
from crowdclust_app.domain.sorting import Action, ActionKind
from crowdclust_app.domain.stages import stage_name, stage_parts
from crowdclust_app.services.annotate import annotation
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.campaign.checking import check_campaign
from crowdclust_app.services.campaign.counts import campaign_figures
from crowdclust_app.services.campaign.responses import read_responses
from crowdclust_app.services.fits.campaign_fits import fit_campaign
from crowdclust_app.services.fits.results import Run
from crowdclust_app.services.fits.run_store import load_run, run_list
from crowdclust_app.services.stages.stages import (
    bring_back,
    cluster_items,
    default_plan,
    find_stage,
    remove_stage,
    split_outlook,
    stage_list,
    subdivide,
)


def test_stages_are_named_after_where_they_stand() -> None:
    assert stage_name("all", 1) == "all/1"
    assert stage_name("all/1", 2) == "all/1/2"
    assert stage_name("all", 1, {"all/1"}) == "all/1.2"
    assert stage_name("all", 1, {"all/1", "all/1.2"}) == "all/1.3"
    assert stage_parts("all") is None
    assert stage_parts("all/1.2/30") == ("all/1.2", 30)
    for name in ("", "all/", "all/0", "all/x", "all//1", "1", "all/1.1", "all/1/", "some/1", "=1"):
        with pytest.raises(UserError, match="no name of a stage"):
            stage_parts(name)


SMALL = PlanSettings(items_per_hit=6, redundancy=2, workers_per_hit=3)


@pytest.fixture(scope="module")
def sorted_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A campaign that three workers have sorted to the end, with one run."""
    folder = tmp_path_factory.mktemp("nested")
    with nested(maker(folder)) as campaign:
        assert sort_everything(campaign) == 36
        fit_campaign(campaign, QUICK)
    return folder / "birds.crowdclust"


@pytest.fixture
def fitted(sorted_once: Path, tmp_path: Path) -> Iterator[tuple[Campaign, Run]]:
    shutil.copy(sorted_once, tmp_path / "mine.crowdclust")
    with Campaign.open(tmp_path / "mine.crowdclust") as campaign:
        yield campaign, load_run(campaign, 1)


def cluster_of(campaign: Campaign, run: Run, wanted: int) -> int:
    """The cluster that holds exactly the items of a category."""
    for number in set(run.result.labels.tolist()):
        if {category(item) for item in cluster_items(campaign, run, number)} == {wanted}:
            return int(number)
    raise AssertionError("no cluster is this category")


def test_a_cluster_becomes_a_stage_with_hits_of_its_own(fitted: tuple[Campaign, Run]) -> None:
    campaign, run = fitted
    number = cluster_of(campaign, run, 0)
    before, revision = campaign_figures(campaign), campaign.revision
    report = subdivide(campaign, "all", number, PlanSettings(6, 3, 2, 5))
    assert (report.stage, report.run, report.added) == (f"all/{number}", run.number, 12)
    assert (report.hits, report.assignments) == (6, 12)
    stage = find_stage(campaign, report.stage)
    assert (stage.parent, stage.run, stage.cluster) == ("all", run.number, number)
    assert (stage.items, stage.hits, stage.wanted, stage.submitted) == (12, 6, 12, 0)
    assert stage.settings == PlanSettings(6, 3, 2, 5)
    new = [hit for hit in campaign.hits() if hit.stage == report.stage]
    assert all(category(item) == 0 for hit in new for item in hit.items)
    assert [hit.number for hit in campaign.hits()] == list(range(18))
    assert [hit.name for hit in new] == [f"h{n:04d}" for n in range(13, 19)]
    figures = campaign_figures(campaign)
    assert figures.hits_planned == before.hits_planned + 6
    assert figures.assignments_planned == before.assignments_planned + 12
    assert campaign.revision > revision


def test_a_stage_finds_what_could_not_be_seen_among_everything(fitted: tuple[Campaign, Run]) -> None:
    campaign, run = fitted
    assert len(run.result.mixing) == 3
    number = cluster_of(campaign, run, 0)
    stage = subdivide(campaign, "all", number, SMALL).stage
    whole = len(read_responses(campaign))
    assert sort_everything(campaign) == 12
    assert len(read_responses(campaign)) == whole
    assert len(read_responses(campaign, stage)) == 12
    below = fit_campaign(campaign, QUICK, stage=stage)
    assert below.stage == stage
    assert len(below.item_names) == 12
    kinds = {}
    numbers = {item.path: item.number for item in campaign.items()}
    for name, label in zip(below.item_names, below.result.labels.tolist(), strict=True):
        kinds.setdefault(label, set()).add(kind(numbers[name]))
    assert sorted(map(sorted, kinds.values())) == [[0], [1]]


def test_what_has_no_kinds_cannot_be_divided(fitted: tuple[Campaign, Run]) -> None:
    campaign, run = fitted
    stage = subdivide(campaign, "all", cluster_of(campaign, run, 2)).stage
    sort_everything(campaign)
    assert fit_campaign(campaign, QUICK, stage=stage).result.summary["clusters"] == 1


def test_stages_of_stages(fitted: tuple[Campaign, Run]) -> None:
    campaign, run = fitted
    stage = subdivide(campaign, "all", cluster_of(campaign, run, 0)).stage
    sort_everything(campaign)
    below = fit_campaign(campaign, QUICK, stage=stage)
    deeper = subdivide(campaign, stage, 2)
    assert deeper.stage == f"{stage}/2"
    assert deeper.added == 6
    items = cluster_items(campaign, below, 2)
    assert {item for hit in campaign.hits() if hit.stage == deeper.stage for item in hit.items} == set(items)
    assert sort_everything(campaign) == deeper.assignments == 3
    last = fit_campaign(campaign, QUICK, stage=deeper.stage)
    assert last.result.summary["clusters"] == 1


def test_the_plan_begins_as_the_one_above_and_shrinks_with_the_cluster() -> None:
    above = PlanSettings(36, 6, 5, 7)
    assert default_plan(above, 100) == above
    assert default_plan(above, 20) == replace(above, items_per_hit=20)
    assert default_plan(above, 2) == replace(above, items_per_hit=2)
    outlook = split_outlook(20, default_plan(above, 20))
    assert (outlook.figures.hits, outlook.figures.assignments) == (1, 5)
    assert any("All 20 photos fit into one HIT" in warning for warning in outlook.warnings)
    assert split_outlook(100, above).warnings == ()
    for few in (0, 1):
        with pytest.raises(UserError, match="single photo"):
            split_outlook(few, above)


def test_hits_with_the_fewest_responses_come_first_whatever_their_stage(make_campaign: MakeCampaign) -> None:
    campaign = nested(make_campaign)
    sort_everything(campaign, ("Ada", "Ben"))
    run = fit_campaign(campaign, QUICK)
    stage = subdivide(campaign, "all", cluster_of(campaign, run, 0), PlanSettings(6, 2, 3)).stage
    cyd = campaign.add_worker("Cyd")
    stages = {hit.number: hit.stage for hit in campaign.hits()}
    met = []
    while (turn := do_next(campaign, cyd)) is not None:
        met.append(stages[turn.hit])
    assert met == [stage] * 4 + ["all"] * 12
    ada = campaign.workers()[0]
    assert annotation.progress_of(campaign, ada).remaining == 4


def test_removing_a_stage_keeps_its_answers_and_hands_out_no_more(fitted: tuple[Campaign, Run]) -> None:
    campaign, run = fitted
    stage = subdivide(campaign, "all", cluster_of(campaign, run, 0), SMALL).stage
    assert sort_everything(campaign, ("Ada",)) == 4
    fit_campaign(campaign, QUICK, stage=stage)
    ada = campaign.workers()[0]
    dee = campaign.add_worker("Dee")
    turn = annotation.next_assignment(campaign, dee)
    assert turn is not None
    planned, left = campaign_figures(campaign), annotation.progress_of(campaign, dee).remaining
    assert left > 0
    assert remove_stage(campaign, stage) == (stage,)
    assert find_stage(campaign, stage).removed
    assert annotation.next_assignment(campaign, ada) is None
    assert annotation.progress_of(campaign, ada).remaining == 0
    assert campaign_figures(campaign).assignments_planned == planned.assignments_planned - 12
    assert len(read_responses(campaign, stage)) == 4
    assert len(run_list(campaign)) == 2
    # who is in the middle of one of its HITs ends it
    assert annotation.next_assignment(campaign, dee) == turn
    done = do_next(campaign, dee)
    assert done is not None
    assert len(read_responses(campaign, stage)) == 5
    assert annotation.next_assignment(campaign, dee) is None
    with pytest.raises(UserError, match="removed already"):
        remove_stage(campaign, stage)
    assert bring_back(campaign, stage) == (stage,)
    assert annotation.progress_of(campaign, dee).remaining > 0
    assert len(read_responses(campaign, stage)) == 5
    with pytest.raises(UserError, match="not removed"):
        bring_back(campaign, stage)


def test_stages_below_go_and_come_back_with_theirs(fitted: tuple[Campaign, Run]) -> None:
    campaign, run = fitted
    stage = subdivide(campaign, "all", cluster_of(campaign, run, 0)).stage
    sort_everything(campaign)
    fit_campaign(campaign, QUICK, stage=stage)
    one, two = (subdivide(campaign, stage, number).stage for number in (1, 2))
    assert remove_stage(campaign, two) == (two,)
    assert remove_stage(campaign, stage) == (stage, one)
    with pytest.raises(UserError, match=f"{stage} above it is removed"):
        bring_back(campaign, one)
    with pytest.raises(UserError, match="is removed"):
        subdivide(campaign, stage, 1)
    assert bring_back(campaign, stage) == (stage, one)
    assert find_stage(campaign, two).removed  # it was removed before, and on its own
    with pytest.raises(UserError, match="whole collection cannot be removed"):
        remove_stage(campaign, "all")


def test_a_cluster_has_one_standing_stage(fitted: tuple[Campaign, Run]) -> None:
    campaign, _ = fitted
    stage = subdivide(campaign, "all", 1).stage
    hits = len(campaign.hits())
    with pytest.raises(UserError, match="subdivided already, as the stage all/1"):
        subdivide(campaign, "all", 1)
    assert len(campaign.hits()) == hits
    remove_stage(campaign, stage)
    assert subdivide(campaign, "all", 1).stage == "all/1.2"
    with pytest.raises(UserError, match=r"all/1\.2 now"):
        bring_back(campaign, stage)
    again = fit_campaign(campaign, QUICK)
    assert subdivide(campaign, "all", 1, run=again.number).stage == "all/1.3"
    assert [s.name for s in stage_list(campaign)] == ["all", "all/1", "all/1.2", "all/1.3"]


def test_a_stage_stays_with_the_run_it_came_from(fitted: tuple[Campaign, Run]) -> None:
    campaign, run = fitted
    stage = subdivide(campaign, "all", 1).stage
    inside = {item for hit in campaign.hits() if hit.stage == stage for item in hit.items}
    again = fit_campaign(campaign, replace(QUICK, seed=9))
    assert find_stage(campaign, stage).run == run.number < again.number
    assert {item for hit in campaign.hits() if hit.stage == stage for item in hit.items} == inside


def test_what_cannot_be_subdivided_says_so(make_campaign: MakeCampaign) -> None:
    campaign = nested(make_campaign)
    with pytest.raises(UserError, match="all has no run yet"):
        subdivide(campaign, "all", 1)
    sort_everything(campaign)
    run = fit_campaign(campaign, QUICK)
    for number in (0, -1, 4, 300):
        with pytest.raises(UserError, match=f"has no cluster {number}"):
            subdivide(campaign, "all", number)
    for name in ("all/1", "", "no,such", "الكل", "=1+1", "🐦"):
        with pytest.raises(UserError, match="has no stage"):
            subdivide(campaign, name, 1)
        with pytest.raises(UserError, match="has no stage"):
            fit_campaign(campaign, QUICK, stage=name)
    subdivide(campaign, "all", 1)
    with pytest.raises(UserError, match="is of the stage all, not of all/1"):
        subdivide(campaign, "all/1", 1, run=run.number)
    with pytest.raises(UserError, match="no responses yet"):
        fit_campaign(campaign, QUICK, stage="all/1")


def test_two_photos_make_a_stage_and_one_does_not(make_campaign: MakeCampaign) -> None:
    campaign = make_campaign(n_items=6, items_per_hit=6, redundancy=1, workers_per_hit=2)
    for name in ("Ada", "Ben"):
        turn = annotation.next_assignment(campaign, campaign.add_worker(name))
        assert turn is not None
        groups = {0: 1, 1: 1, 2: 1, 3: 2, 4: 2, 5: 3}
        annotation.record(campaign, turn, _placing([groups[item] for item in turn.items]), 1.0)
        annotation.submit(campaign, turn, 1.0)
    run = fit_campaign(campaign, replace(QUICK, n_clusters=3, label_weight=1.0, weight_variance=10.0))
    sizes = np.bincount(run.result.labels, minlength=4)[1:].tolist()
    assert sizes == [3, 2, 1]
    with pytest.raises(UserError, match="single photo"):
        subdivide(campaign, "all", 3)
    report = subdivide(campaign, "all", 2)
    assert (report.hits, report.added) == (1, 2)
    assert any("say little" in warning for warning in report.warnings)
    for worker in campaign.workers():
        do_next(campaign, worker, n_groups=2)
    below = fit_campaign(campaign, QUICK, stage="all/2")
    assert below.result.summary["clusters"] in (1, 2)
    assert np.isfinite(below.result.responsibilities).all()


def _placing(groups: list[int]) -> Action:
    return Action(ActionKind.PLACE, tuple(enumerate(groups)))


def test_a_file_whose_stages_do_not_fit_is_noticed(fitted: tuple[Campaign, Run]) -> None:
    campaign, _ = fitted
    stage = subdivide(campaign, "all", 1, SMALL).stage
    assert check_campaign(campaign.path).ok
    inside = {item for hit in campaign.hits() if hit.stage == stage for item in hit.items}
    foreign = next(item.number for item in campaign.items() if item.number not in inside)
    with campaign.database.write() as connection:
        connection.exec_driver_sql(
            "INSERT INTO hits (number, stage, name, position, workers_wanted) VALUES (900, ?, 'odd', 900, 1)", (stage,)
        )
        connection.exec_driver_sql("INSERT INTO hit_items (hit, item, position) VALUES (900, ?, 0)", (foreign,))
        connection.exec_driver_sql("UPDATE stages SET parent = ? WHERE name = ?", (stage, stage))
    problems = check_campaign(campaign.path).problems
    assert "The HIT odd shows items that its stage all/1 does not have." in problems
    assert "The stage all/1 is said to come from run 1, which is not of all/1." in problems


def test_stages_of_300_clusters(make_campaign: MakeCampaign) -> None:
    campaign = make_campaign(n_items=600, items_per_hit=600, redundancy=1, workers_per_hit=2)
    worker = campaign.add_worker("Ada")
    turn = annotation.next_assignment(campaign, worker)
    assert turn is not None
    annotation.record(campaign, turn, _placing([item // 2 + 1 for item in turn.items]), 1.0)
    annotation.submit(campaign, turn, 1.0)
    run = fit_campaign(campaign, replace(QUICK, method="cspa", n_clusters=300))
    big = [n for n, size in enumerate(np.bincount(run.result.labels)) if n and size >= 2]
    assert len(big) > 100
    names = [subdivide(campaign, "all", number).stage for number in big[-5:]]
    assert names == [f"all/{number}" for number in big[-5:]]
    assert sum(stage.hits for stage in stage_list(campaign)) == 6
