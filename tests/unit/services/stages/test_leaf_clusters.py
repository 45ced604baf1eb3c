"""The tree of clusters is in the export, and responses of stages go out and come in."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from nested_campaign import QUICK, category, kind, maker, nested, rows_of, sort_everything

from crowdclust_app.domain.campaign import PlanSettings
from crowdclust_app.domain.errors import UserError
from crowdclust_app.domain.report import DataTable
from crowdclust_app.io.tables import write_table
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.campaign.checking import check_campaign
from crowdclust_app.services.campaign.responses import read_responses
from crowdclust_app.services.clusters.categories import merge, move, read_categories, rename, split_off
from crowdclust_app.services.exchange.export_parts import export_parts
from crowdclust_app.services.exchange.export_preview import tables_to_write
from crowdclust_app.services.exchange.exporting import export_campaign
from crowdclust_app.services.exchange.importing import import_table
from crowdclust_app.services.exchange.reporting import campaign_report
from crowdclust_app.services.exchange.reporting.tree import INDENT, tree_section
from crowdclust_app.services.fits.campaign_fits import fit_campaign
from crowdclust_app.services.fits.results import Run
from crowdclust_app.services.fits.run_store import load_run
from crowdclust_app.services.stages.leaf_clusters import leaves_below
from crowdclust_app.services.stages.stages import cluster_items, find_stage, remove_stage, stage_list, subdivide

SMALL = PlanSettings(items_per_hit=6, redundancy=2, workers_per_hit=3)
ODD_NAME = '=SUM(1,2) "قطط" 🐱, تجربة'


@pytest.fixture(scope="module")
def made_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Category 0 subdivided, sorted and fitted; category 2 subdivided, which has no kinds."""
    folder = tmp_path_factory.mktemp("tree")
    with nested(maker(folder)) as campaign:
        sort_everything(campaign)
        run = fit_campaign(campaign, QUICK)
        for wanted in (0, 2):
            stage = subdivide(campaign, "all", cluster_of(campaign, run, wanted), SMALL).stage
            sort_everything(campaign)
            fit_campaign(campaign, QUICK, stage=stage)
    return folder / "birds.crowdclust"


@pytest.fixture
def tree(made_once: Path, tmp_path: Path) -> Iterator[tuple[Campaign, Run, dict[int, int]]]:
    """The campaign, the run of the whole collection, and the cluster of each category."""
    shutil.copy(made_once, tmp_path / "mine.crowdclust")
    with Campaign.open(tmp_path / "mine.crowdclust") as campaign:
        run = load_run(campaign, 1)
        yield campaign, run, {wanted: cluster_of(campaign, run, wanted) for wanted in range(3)}


def cluster_of(campaign: Campaign, run: Run, wanted: int) -> int:
    """The cluster that holds exactly the items of a category."""
    for number in set(run.result.labels.tolist()):
        if {category(item) for item in cluster_items(campaign, run, number)} == {wanted}:
            return int(number)
    raise AssertionError("no cluster is this category")


def exported(campaign: Campaign, folder: Path) -> list[dict[str, str]]:
    """Rows of `clusters.csv`."""
    export_campaign(campaign, folder)
    return rows_of(folder, "clusters.csv")


def test_the_tree_is_in_the_table(tree: tuple[Campaign, Run, dict[int, int]], tmp_path: Path) -> None:
    campaign, run, clusters = tree
    rows = exported(campaign, tmp_path / "out")
    assert [row["item"] for row in rows] == [item.path for item in campaign.items()]
    paths: dict[tuple[int, int], set[str]] = {}
    for number, row in enumerate(rows):
        paths.setdefault((category(number), kind(number)), set()).add(row["path"])
        stage = "all" if category(number) == 1 else f"all/{clusters[category(number)]}"
        assert row["stage"] == stage
        assert row["path"] == f"{stage}/{row['cluster']}"
        assert 0 < float(row["probability"]) <= 1
        assert row["category"] == row["override"] == ""
    first, last = clusters[0], clusters[2]
    assert paths[0, 0] | paths[0, 1] == {f"all/{first}/1", f"all/{first}/2"}
    assert all(len(found) == 1 for found in paths.values())
    assert paths[1, 0] == paths[1, 1] == {f"all/{clusters[1]}"}
    assert paths[2, 0] == {f"all/{last}/1"}  # one subcluster: it cannot be divided
    summary = json.loads((tmp_path / "out" / "summary.json").read_text(encoding="utf-8"))
    assert (summary["run"], summary["warnings"]) == (run.number, [])
    assert summary["stages"] == ["all", f"all/{first}", f"all/{last}"]


def test_photos_are_put_into_folders_by_leaf(tree: tuple[Campaign, Run, dict[int, int]], tmp_path: Path) -> None:
    campaign, run, clusters = tree
    fit_campaign(campaign, replace(QUICK, seed=4))
    rename(campaign, read_categories(campaign, run.number, 3), clusters[2], "plain, ones")
    export_parts(campaign, tmp_path / "out", ["photos"])
    folders = {folder.name: len(list(folder.iterdir())) for folder in (tmp_path / "out" / "photos").iterdir()}
    first = clusters[0]
    assert folders == {
        f"cluster {first}-1": 6,
        f"cluster {first}-2": 6,
        f"cluster {clusters[1]}": 12,
        "plain, ones - 1": 12,
    }


def test_every_response_is_written_with_its_stage(tree: tuple[Campaign, Run, dict[int, int]], tmp_path: Path) -> None:
    campaign, _, clusters = tree
    export_campaign(campaign, tmp_path / "out")
    rows = rows_of(tmp_path / "out", "responses.csv")
    stages = {hit.name: hit.stage for hit in campaign.hits()}
    assert {row["stage"] for row in rows} == {"all", f"all/{clusters[0]}", f"all/{clusters[2]}"}
    assert all(stages[row["hit"]] == row["stage"] for row in rows)
    counts = {table.name: table.rows for table in tables_to_write(campaign, 1)}
    for name in ("responses.csv", "pairs.csv", "clusters.csv", "membership.csv"):
        assert counts[name] == len(rows_of(tmp_path / "out", name))


def test_names_go_from_the_root_down(tree: tuple[Campaign, Run, dict[int, int]], tmp_path: Path) -> None:
    campaign, run, clusters = tree
    rename(campaign, read_categories(campaign, run.number, 3), clusters[0], ODD_NAME)
    below = load_run(campaign, 2)
    assert below.stage == f"all/{clusters[0]}"
    known = read_categories(campaign, below.number, 2)
    rename(campaign, known, 2, "small, ones")
    rows = exported(campaign, tmp_path / "out")
    names = {row["path"]: row["category"].removeprefix("'") for row in rows}
    assert names[f"all/{clusters[0]}/1"] == f"{ODD_NAME} / 1"
    assert names[f"all/{clusters[0]}/2"] == f"{ODD_NAME} / small, ones"
    assert names[f"all/{clusters[1]}"] == names[f"all/{clusters[2]}/1"] == ""
    written = next(row["category"] for row in rows if row["path"] == f"all/{clusters[0]}/1")
    assert written.startswith("'=")  # no spreadsheet runs it


def test_a_photo_that_was_moved_leaves_the_stage(tree: tuple[Campaign, Run, dict[int, int]], tmp_path: Path) -> None:
    campaign, run, clusters = tree
    names = [item.path for item in campaign.items()]
    known = read_categories(campaign, run.number, 3)
    known = move(campaign, known, [names[0]], clusters[1])
    split_off(campaign, known, [names[3]], "odd ones")
    below = load_run(campaign, 2)
    was = leaves_below(campaign, run)[names[6]]
    move(campaign, read_categories(campaign, below.number, 2), [names[6]], 3 - was.cluster)
    rows = {row["item"]: row for row in exported(campaign, tmp_path / "out")}
    assert rows[names[0]]["path"] == f"all/{clusters[1]}"
    assert rows[names[0]]["override"] == f"cluster {clusters[1]}"
    assert rows[names[3]]["path"] == "all/4"
    assert rows[names[3]]["category"] == rows[names[3]]["override"] == "odd ones"
    moved = rows[names[6]]
    assert moved["path"] == f"{below.stage}/{3 - was.cluster}"
    assert (moved["cluster"], moved["override"]) == (str(was.cluster), f"cluster {3 - was.cluster}")
    # a stage made now has what is in the category by now
    again = remove_stage(campaign, below.stage)
    report = subdivide(campaign, "all", clusters[0])
    assert again == (below.stage,)
    assert report.added == 10
    assert report.stage == f"{below.stage}.2"


def test_clusters_of_one_category_are_subdivided_together(
    tree: tuple[Campaign, Run, dict[int, int]], tmp_path: Path
) -> None:
    campaign, run, clusters = tree
    remove_stage(campaign, f"all/{clusters[0]}")
    remove_stage(campaign, f"all/{clusters[2]}")
    merge(campaign, read_categories(campaign, run.number, 3), [clusters[0], clusters[1]], "both")
    report = subdivide(campaign, "all", clusters[1], SMALL)
    assert report.added == 24
    assert any("are one category" in warning for warning in report.warnings)
    with pytest.raises(UserError, match="subdivided already"):
        subdivide(campaign, "all", clusters[0])
    sort_everything(campaign)
    fit_campaign(campaign, QUICK, stage=report.stage)
    rows = exported(campaign, tmp_path / "out")
    inside = [row for number, row in enumerate(rows) if category(number) != 2]
    assert all(row["path"].startswith(f"{report.stage}/") for row in inside)
    assert {row["category"].split(" / ")[0] for row in inside} == {"both"}


def test_without_a_run_of_its_own_a_stage_leaves_the_items_where_they_are(
    tree: tuple[Campaign, Run, dict[int, int]], tmp_path: Path
) -> None:
    campaign, _, clusters = tree
    subdivide(campaign, "all", clusters[1])
    rows = exported(campaign, tmp_path / "out")
    assert {row["path"] for number, row in enumerate(rows) if category(number) == 1} == {f"all/{clusters[1]}"}


def test_the_run_that_stages_came_from_is_exported_though_a_newer_one_is_there(
    tree: tuple[Campaign, Run, dict[int, int]], tmp_path: Path
) -> None:
    campaign, run, clusters = tree
    again = fit_campaign(campaign, replace(QUICK, seed=4))
    export_campaign(campaign, tmp_path / "tree")
    summary = json.loads((tmp_path / "tree" / "summary.json").read_text(encoding="utf-8"))
    assert summary["run"] == run.number
    assert summary["warnings"] == [
        f"Run {again.number} of all is newer than run {run.number}, whose clusters are written."
    ]
    export_campaign(campaign, tmp_path / "new", run=again.number)
    assert {row["stage"] for row in rows_of(tmp_path / "new", "clusters.csv")} == {"all"}
    for wanted in (0, 2):
        remove_stage(campaign, f"all/{clusters[wanted]}")
    export_campaign(campaign, tmp_path / "flat")
    assert json.loads((tmp_path / "flat" / "summary.json").read_text(encoding="utf-8"))["run"] == again.number


def test_the_run_of_a_stage_can_be_exported_by_itself(
    tree: tuple[Campaign, Run, dict[int, int]], tmp_path: Path
) -> None:
    campaign, _, clusters = tree
    export_campaign(campaign, tmp_path / "out", run=2)
    rows = rows_of(tmp_path / "out", "clusters.csv")
    assert len(rows) == 12
    assert {row["stage"] for row in rows} == {f"all/{clusters[0]}"}
    hits = {hit.name for hit in campaign.hits() if hit.stage == f"all/{clusters[0]}"}
    assert {row["hit"] for row in rows_of(tmp_path / "out", "pairs.csv")} == hits


def test_responses_of_stages_come_back(tree: tuple[Campaign, Run, dict[int, int]], tmp_path: Path) -> None:
    campaign, _, clusters = tree
    export_campaign(campaign, tmp_path / "out")
    file = tmp_path / "out" / "responses.csv"
    assert import_table(campaign, file).added == 0
    with nested(maker(tmp_path / "other"), name="other") as other:
        report = import_table(other, file)
        assert report.added == len(read_responses(campaign, None))
        assert len([warning for warning in report.warnings if "came with the table" in warning]) == 2
        for stage in stage_list(campaign):
            copy = find_stage(other, stage.name)
            assert (copy.parent, copy.cluster, copy.responses) == (stage.parent, stage.cluster, stage.responses)
            assert copy.items == stage.items
            assert read_responses(other, stage.name) == read_responses(campaign, stage.name)
        assert import_table(other, file).added == 0
        run = fit_campaign(other, QUICK, stage=f"all/{clusters[0]}")
        assert run.result.summary["clusters"] == 2
    assert check_campaign(tmp_path / "other" / "other.crowdclust").ok


def test_a_response_does_not_bring_items_into_a_stage_that_a_run_made(
    tree: tuple[Campaign, Run, dict[int, int]], tmp_path: Path
) -> None:
    campaign, _, clusters = tree
    names = [item.path for item in campaign.items()]
    file = tmp_path / "more.csv"
    rows = [("new", "Eve", names[item], "1", f"all/{clusters[0]}") for item in (0, 1)]
    write_table(file, ("hit", "worker", "item", "group", "stage"), rows)
    with pytest.raises(UserError, match=f"has an item that the stage all/{clusters[0]} does not have"):
        import_table(campaign, file)
    write_table(file, ("hit", "worker", "item", "group", "stage"), [rows[0]])
    assert import_table(campaign, file).added == 1
    assert check_campaign(campaign.path).ok


def test_a_report_shows_the_tree_with_what_cannot_be_divided(tree: tuple[Campaign, Run, dict[int, int]]) -> None:
    campaign, run, clusters = tree
    rename(campaign, read_categories(campaign, run.number, 3), clusters[0], ODD_NAME)
    section = tree_section(campaign, run.number)
    assert section is not None
    table = section.blocks[-1]
    assert isinstance(table, DataTable)
    words = [row[0].strip() for row in table.rows]
    assert ODD_NAME in words
    assert "cannot be divided further" in words
    assert sum(row[0].startswith(INDENT) for row in table.rows) >= 3
    titles = [part.title for part in campaign_report(campaign, run.number).sections]
    assert "Stages" in titles
