"""Exported tables have the promised columns, say what the campaign says, and appear all at once or not at all."""

from __future__ import annotations

import csv
import json
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from campaign_making import MakeCampaign, SmallDisk, do_next

from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.domain.errors import Cancelled, UserError
from crowdclust_app.domain.fit_settings import FitSettings
from crowdclust_app.domain.partition import canonical_groups
from crowdclust_app.domain.response_table import Response, ResponseTable
from crowdclust_app.io import tables
from crowdclust_app.services.annotate import annotation
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.campaign.responses import read_responses, read_table
from crowdclust_app.services.clusters.run_view import view_run
from crowdclust_app.services.exchange.exporting import export_campaign, export_result
from crowdclust_app.services.exchange.importing import import_table
from crowdclust_app.services.fits.campaign_fits import fit_campaign
from crowdclust_app.services.fits.fitting import fit_table
from crowdclust_app.services.fits.results import Run, chances_of, entropy_bits
from crowdclust_app.services.progress_report import ProgressReport

QUICK = FitSettings(dimensions=2, n_starts=1, layer_rounds=5, max_iterations=5, label_weight=0.2)

# docs/files.md; D is 2 here
COLUMNS = {
    "responses.csv": "hit,worker,item,group,started_at,submitted_at,active_seconds,stage",
    "assignments.csv": "hit,worker,status,submitted_at,active_seconds",
    "flags.csv": "item,worker,reason,hit",
    "pairs.csv": "worker,item_a,item_b,label,hit",
    "truth.csv": "item,category",
    "plan.csv": "hit,position,item",
    "clusters.csv": "item,path,cluster,category,probability,entropy_bits,times_shown,stage,verified,override",
    "membership.csv": "item,cluster,probability",
    "embedding.csv": "item,x1,x2,sd1,sd2,fisher1,fisher2",
    "workers.csv": "worker,hits,items,pair_labels,seconds_per_hit,agreement,heldout_loglik,flags",
    "confusion.csv": "worker,cluster_a,cluster_b,probability,eq10_bound",
}
Rows = list[dict[str, str]]


def read(folder: Path, name: str) -> Rows:
    with (folder / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def names_in(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


@pytest.fixture
def worked(make_campaign: MakeCampaign, tmp_path: Path) -> Campaign:
    """Two workers with responses, one skipped and one open assignment, a flag, known categories."""
    campaign = make_campaign(n_items=12, items_per_hit=4, redundancy=2, workers_per_hit=3)
    ada, ben, eve = (campaign.add_worker(name) for name in ("Ada", "=Ben", "Ëve, Mary"))
    for _ in range(len(campaign.hits())):
        do_next(campaign, ada)
    for _ in range(4):
        do_next(campaign, ben, n_groups=3)
    assignment = annotation.next_assignment(campaign, ben)
    annotation.skip(campaign, assignment, 3.5)
    do_next(campaign, eve)
    assignment = annotation.next_assignment(campaign, eve)
    annotation.flag_item(campaign, assignment, assignment.items[1], "upside down")
    truth = tmp_path / "known.csv"
    known = [(item.path, f"c{item.number % 2}") for item in campaign.items()]
    tables.write_table(truth, ("item", "category"), known)
    import_table(campaign, truth, "truth")
    return campaign


@pytest.fixture
def fitted(worked: Campaign) -> tuple[Campaign, Run]:
    return worked, fit_campaign(worked, QUICK)


def test_every_table_has_exactly_its_columns(fitted: tuple[Campaign, Run], tmp_path: Path) -> None:
    files = export_campaign(fitted[0], tmp_path / "out")
    assert [file.name for file in files][-1] == "summary.json"
    assert names_in(tmp_path / "out") == {*COLUMNS, "summary.json"} == {file.name for file in files}
    for name, columns in COLUMNS.items():
        lines = (tmp_path / "out" / name).read_bytes().decode("utf-8").splitlines()
        assert lines[0] == columns
        assert len(lines) > 1


def test_tables_without_rows_are_not_written(make_campaign: MakeCampaign, tmp_path: Path) -> None:
    files = export_campaign(make_campaign(), tmp_path / "out")
    assert [file.name for file in files] == ["plan.csv", "summary.json"]


def test_responses_come_back_as_they_were(worked: Campaign, tmp_path: Path) -> None:
    export_campaign(worked, tmp_path / "out")
    records = tables.read_responses(tmp_path / "out" / "responses.csv")
    before = read_responses(worked)
    # a name that a spreadsheet would run is written so that it does not
    written = [response.worker.removeprefix("'") for response in (record.response for record in records)]
    assert written == [response.worker for response in before]
    for record, response in zip(records, before, strict=True):
        assert record.response.items == response.items
        assert np.array_equal(canonical_groups(record.response.groups), canonical_groups(response.groups))
        assert record.active_seconds == 20.0
        assert record.started_at is not None
        assert record.submitted_at is not None
        assert record.stage == "all"


def test_imported_responses_have_no_times_that_nobody_measured(make_campaign: MakeCampaign, tmp_path: Path) -> None:
    campaign = make_campaign()
    items = [item.path for item in campaign.items()[:3]]
    file = tmp_path / "given.csv"
    tables.write_table(file, ("hit", "worker", "item", "group"), [("x", "Zoe", item, "a") for item in items])
    import_table(campaign, file, "responses")
    export_campaign(campaign, tmp_path / "out")
    rows = read(tmp_path / "out", "responses.csv")
    assert {(row["hit"], row["worker"], row["group"]) for row in rows} == {("x", "Zoe", "a")}
    assert {(row["started_at"], row["active_seconds"]) for row in rows} == {("", "")}
    assert read(tmp_path / "out", "assignments.csv")[0]["active_seconds"] == ""
    assert read(tmp_path / "out", "workers.csv")[0]["seconds_per_hit"] == ""
    # an imported HIT is not of the plan
    assert "x" not in {row["hit"] for row in read(tmp_path / "out", "plan.csv")}


def test_group_names_and_comments_come_back(make_campaign: MakeCampaign, tmp_path: Path) -> None:
    campaign = make_campaign(n_items=4, items_per_hit=4, redundancy=1, workers_per_hit=2)
    a, b, c, d = (item.path for item in campaign.items())
    rows = [f"h0001,Ada,{a},x,tall", f"h0001,Ada,{b},x,tall", f"h0001,Ada,{c},2,", f"h0001,Ada,{d},2,"]
    rows = [f"{row},hard" for row in rows] + [f"h0001,Ben,{item},1,," for item in (a, b, c, d)]
    table = tmp_path / "told.csv"
    table.write_text("\n".join(["hit,worker,item,group,group_name,comment", *rows]) + "\n", encoding="utf-8")
    import_table(campaign, table)
    export_campaign(campaign, tmp_path / "out")
    found = read(tmp_path / "out", "responses.csv")
    told = [",".join(row[c] for c in ("hit", "worker", "item", "group", "group_name", "comment")) for row in found]
    assert told == rows


def test_assignments_and_flags(worked: Campaign, tmp_path: Path) -> None:
    export_campaign(worked, tmp_path / "out")
    rows = read(tmp_path / "out", "assignments.csv")
    statuses = [row["status"] for row in rows]
    assert (statuses.count("submitted"), statuses.count("skipped"), statuses.count("open")) == (11, 1, 1)
    for row in rows:
        assert bool(row["submitted_at"]) == (row["status"] == "submitted")
    assert [row["active_seconds"] for row in rows if row["status"] == "skipped"] == ["3.5"]
    (flag,) = read(tmp_path / "out", "flags.csv")
    assert (flag["worker"], flag["reason"]) == ("Ëve, Mary", "upside down")
    assert flag["item"] in {item.path for item in worked.items()}


def test_pairs_are_the_responses_expanded(worked: Campaign, tmp_path: Path) -> None:
    export_campaign(worked, tmp_path / "out")
    rows = read(tmp_path / "out", "pairs.csv")
    assert len(rows) == read_table(worked).n_pair_labels
    group = {
        (response.hit, response.worker, item): number
        for response in read_responses(worked)
        for item, number in zip(response.items, response.groups, strict=True)
    }
    for row in rows:
        worker = row["worker"].removeprefix("'")
        same = group[row["hit"], worker, row["item_a"]] == group[row["hit"], worker, row["item_b"]]
        assert row["label"] == ("1" if same else "-1")


def test_plan_and_truth(worked: Campaign, tmp_path: Path) -> None:
    export_campaign(worked, tmp_path / "out")
    names = [item.path for item in worked.items()]
    plan: dict[str, list[int]] = {}
    for row in read(tmp_path / "out", "plan.csv"):
        assert int(row["position"]) == len(plan.setdefault(row["hit"], []))
        plan[row["hit"]].append(names.index(row["item"]))
    assert plan == {hit.name: list(hit.items) for hit in worked.hits()}
    assert {row["item"]: row["category"] for row in read(tmp_path / "out", "truth.csv")} == worked.truth()


def test_clusters_match_what_is_on_screen(fitted: tuple[Campaign, Run], tmp_path: Path) -> None:
    campaign, run = fitted
    export_campaign(campaign, tmp_path / "out")
    view = view_run(run, read_table(campaign))
    rows = read(tmp_path / "out", "clusters.csv")
    assert [row["item"] for row in rows] == [item.path for item in campaign.items()]
    for number, row in enumerate(rows):
        assert row["path"] == f"all/{view.labels[number]}"
        assert int(row["cluster"]) == view.labels[number]
        assert float(row["probability"]) == pytest.approx(view.probability[number])
        assert float(row["entropy_bits"]) == pytest.approx(view.entropy_bits[number], abs=1e-12)
        assert int(row["times_shown"]) == view.times_shown[number]
        assert row["stage"] == "all"
        assert row["category"] == row["verified"] == row["override"] == ""
    sizes = np.bincount([int(row["cluster"]) for row in rows])[1:]
    assert list(sizes) == sorted(sizes, reverse=True)


def test_membership_embedding_and_confusion_are_the_runs_arrays(fitted: tuple[Campaign, Run], tmp_path: Path) -> None:
    campaign, run = fitted
    export_campaign(campaign, tmp_path / "out")
    result = run.result
    n_items, n_clusters = result.responsibilities.shape
    membership = np.zeros((n_items, n_clusters))
    for row in read(tmp_path / "out", "membership.csv"):
        membership[run.item_names.index(row["item"]), int(row["cluster"]) - 1] = float(row["probability"])
    assert np.array_equal(membership, chances_of(result))
    for row in read(tmp_path / "out", "embedding.csv"):
        number = run.item_names.index(row["item"])
        assert [float(row["x1"]), float(row["x2"])] == result.positions[number].tolist()
        assert float(row["sd2"]) == pytest.approx(np.sqrt(result.position_variances[number, 1]))
        assert [float(row["fisher1"]), float(row["fisher2"])] == result.fisher[number].tolist()
    confusion = read(tmp_path / "out", "confusion.csv")
    assert len(confusion) == 3 * n_clusters**2
    for row in confusion:
        j = run.worker_names.index(row["worker"].removeprefix("'"))
        a, b = int(row["cluster_a"]) - 1, int(row["cluster_b"]) - 1
        assert float(row["probability"]) == result.confusion[j, a, b]
        assert float(row["eq10_bound"]) == result.confusion_bound[j, a, b]


def test_workers_count_and_agree(fitted: tuple[Campaign, Run], tmp_path: Path) -> None:
    campaign, run = fitted
    export_campaign(campaign, tmp_path / "out")
    rows = {row["worker"]: row for row in read(tmp_path / "out", "workers.csv")}
    assert set(rows) == {"Ada", "'=Ben", "Ëve, Mary"}
    assert [rows[name]["hits"] for name in rows] == ["6", "4", "1"]
    assert rows["Ada"]["items"] == "24"
    assert rows["Ada"]["pair_labels"] == "36"
    assert rows["Ada"]["seconds_per_hit"] == "20.0"
    assert float(rows["Ada"]["heldout_loglik"]) < 0
    cluster = dict(zip(run.item_names, run.result.labels.tolist(), strict=True))
    pairs = [row for row in read(tmp_path / "out", "pairs.csv") if row["worker"] == "Ada"]
    equal = [(cluster[row["item_a"]] == cluster[row["item_b"]]) == (row["label"] == "1") for row in pairs]
    assert float(rows["Ada"]["agreement"]) == pytest.approx(np.mean(equal))


def test_workers_as_numbers_in_every_table(fitted: tuple[Campaign, Run], tmp_path: Path) -> None:
    campaign, _ = fitted
    export_campaign(campaign, tmp_path / "named")
    export_campaign(campaign, tmp_path / "numbered", anonymous=True)
    number = {"Ada": "1", "'=Ben": "2", "Ëve, Mary": "3"}
    for name in COLUMNS:
        named, numbered = read(tmp_path / "named", name), read(tmp_path / "numbered", name)
        if "worker" in named[0]:
            assert [number[row.pop("worker")] for row in named] == [row.pop("worker") for row in numbered]
        assert named == numbered
    for file in (tmp_path / "numbered").iterdir():
        assert b"Ada" not in file.read_bytes()


def test_an_item_that_was_never_shown_has_no_cluster(tmp_path: Path) -> None:
    responses = [Response("h", "w", ("a", "b", "c"), ("1", "1", "2")), Response("h2", "w", ("a", "c"), ("1", "2"))]
    table = ResponseTable.from_responses(responses, item_names=("a", "never", "b", "c"), worker_names=("idle", "w"))
    export_result(fit_table(table, QUICK), table, tmp_path / "out")
    rows = read(tmp_path / "out", "clusters.csv")
    assert [row["item"] for row in rows] == ["a", "never", "b", "c"]
    never = rows[1]
    assert [never[name] for name in ("path", "cluster", "probability", "entropy_bits")] == [""] * 4
    assert [row["times_shown"] for row in rows] == ["2", "0", "1", "2"]
    assert "never" not in {row["item"] for row in read(tmp_path / "out", "membership.csv")}
    assert "never" not in {row["item"] for row in read(tmp_path / "out", "embedding.csv")}
    assert {row["worker"] for row in read(tmp_path / "out", "confusion.csv")} == {"w"}
    idle, busy = read(tmp_path / "out", "workers.csv")
    assert (idle["hits"], idle["agreement"]) == ("0", "")
    assert (busy["hits"], busy["pair_labels"]) == ("2", "4")


def test_after_a_consensus_all_workers_have_one_matrix(tmp_path: Path) -> None:
    responses = [Response("h", f"w{k}", ("a", "b", "c"), ("1", "1", "2")) for k in range(3)]
    table = ResponseTable.from_responses(responses)
    settings = FitSettings(method="consensus", dimensions=2, n_starts=1, layer_rounds=5, max_iterations=5)
    result = fit_table(table, settings)
    files = export_result(result, table, tmp_path / "out")
    assert {file.name for file in files} == {
        "clusters.csv",
        "membership.csv",
        "embedding.csv",
        "confusion.csv",
        "workers.csv",
    }
    rows = read(tmp_path / "out", "confusion.csv")
    matrices = {
        worker: [row["probability"] for row in rows if row["worker"] == worker] for worker in ("w0", "w1", "w2")
    }
    assert matrices["w0"] == matrices["w1"] == matrices["w2"]
    assert len(rows) == 3 * result.confusion.shape[1] ** 2


def test_answers_that_came_after_the_run_do_not_change_its_clusters(
    fitted: tuple[Campaign, Run], tmp_path: Path
) -> None:
    campaign, run = fitted
    late = campaign.add_worker("Late")
    do_next(campaign, late)
    export_campaign(campaign, tmp_path / "out")
    rows = read(tmp_path / "out", "clusters.csv")
    assert [int(row["cluster"]) for row in rows] == run.result.labels.tolist()
    assert sum(int(row["times_shown"]) for row in rows) == 4 * 12
    assert "Late" not in {row["worker"] for row in read(tmp_path / "out", "confusion.csv")}
    assert "Late" in {row["worker"] for row in read(tmp_path / "out", "workers.csv")}


def test_an_earlier_run_can_be_chosen(fitted: tuple[Campaign, Run], tmp_path: Path) -> None:
    campaign, first = fitted
    second = fit_campaign(campaign, replace(QUICK, n_clusters=1))
    export_campaign(campaign, tmp_path / "newest")
    export_campaign(campaign, tmp_path / "first", run=first.number)
    assert {row["cluster"] for row in read(tmp_path / "newest", "clusters.csv")} == {"1"}
    clusters = [int(row["cluster"]) for row in read(tmp_path / "first", "clusters.csv")]
    assert clusters == first.result.labels.tolist()
    summaries = [json.loads((tmp_path / name / "summary.json").read_text()) for name in ("newest", "first")]
    assert [summary["run"] for summary in summaries] == [second.number, first.number]
    with pytest.raises(UserError, match="no run 9"):
        export_campaign(campaign, tmp_path / "none", run=9)
    assert not (tmp_path / "none").exists()


def test_the_summary_names_the_files_and_the_fit(fitted: tuple[Campaign, Run], tmp_path: Path) -> None:
    campaign, run = fitted
    files = export_campaign(campaign, tmp_path / "out", anonymous=True)
    summary = json.loads((tmp_path / "out" / "summary.json").read_text(encoding="utf-8"))
    assert summary["files"] == [file.name for file in files]
    assert (summary["anonymous"], summary["run"]) == (True, run.number)
    assert summary["fit"]["bound"] == run.result.summary["bound"]


def test_a_later_export_replaces_what_is_ours_and_leaves_the_rest(
    make_campaign: MakeCampaign, worked: Campaign, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    export_campaign(worked, out)
    (out / "notes.txt").write_text("mine")
    (out / "membership.csv").write_text("not from an export")
    export_campaign(make_campaign(name="empty"), out)
    assert names_in(out) == {"plan.csv", "summary.json", "notes.txt", "membership.csv"}
    assert (out / "notes.txt").read_text() == "mine"
    assert (out / "membership.csv").read_text() == "not from an export"


@pytest.mark.parametrize("content", ["", "[]", '{"files": ["plan.csv"]}', '{"anonymous": true, "files": ["../a", 3]}'])
def test_a_summary_of_somebody_else_removes_nothing(make_campaign: MakeCampaign, tmp_path: Path, content: str) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "summary.json").write_text(content)
    (tmp_path / "a").write_text("mine")
    (out / "truth.csv").write_text("mine")
    export_campaign(make_campaign(), out)
    assert (tmp_path / "a").read_text() == "mine"
    assert (out / "truth.csv").read_text() == "mine"


def test_a_file_instead_of_a_folder_is_refused(worked: Campaign, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("mine")
    with pytest.raises(UserError) as caught:
        export_campaign(worked, tmp_path / "out")
    assert str(tmp_path / "out") in str(caught.value)
    assert (tmp_path / "out").read_text() == "mine"


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="the administrator may write anywhere")
def test_a_folder_that_may_not_be_written_is_refused(worked: Campaign, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir(mode=0o500)
    with pytest.raises(UserError, match="nothing can be written into this folder"):
        export_campaign(worked, out)


def test_a_read_only_disk_is_refused(worked: Campaign, small_disk: SmallDisk) -> None:
    small_disk.make_read_only()
    with pytest.raises(UserError, match="nothing can be written into this folder"):
        export_campaign(worked, small_disk.folder)
    assert names_in(small_disk.folder) == set()


def test_a_full_disk_leaves_the_folder_as_it_was(worked: Campaign, small_disk: SmallDisk) -> None:
    (small_disk.folder / "plan.csv").write_text("before")
    small_disk.fill(leave=8192)
    with pytest.raises(UserError) as caught:
        export_campaign(worked, small_disk.folder)
    assert caught.value.where is not None
    assert caught.value.where.startswith(str(small_disk.folder))
    assert ".part" not in caught.value.where
    small_disk.empty()
    assert names_in(small_disk.folder) == {"plan.csv"}
    assert (small_disk.folder / "plan.csv").read_text() == "before"


def test_a_folder_in_a_tables_place_changes_nothing(worked: Campaign, tmp_path: Path) -> None:
    out = tmp_path / "out"
    (out / "workers.csv").mkdir(parents=True)
    with pytest.raises(UserError, match="there is a folder of this name"):
        export_campaign(worked, out)
    assert names_in(out) == {"workers.csv"}


def test_progress_and_cancel(worked: Campaign, tmp_path: Path) -> None:
    reports: list[ProgressReport] = []
    export_campaign(worked, tmp_path / "out", progress=reports.append)
    assert [report.text for report in reports][:2] == ["Writing responses.csv", "Writing assignments.csv"]
    cancel = CancelToken()

    def stop(report: ProgressReport) -> None:
        if report.text == "Writing pairs.csv":
            cancel.cancel()

    with pytest.raises(Cancelled):
        export_campaign(worked, tmp_path / "stopped", progress=stop, cancel=cancel)
    assert names_in(tmp_path / "stopped") == set()


def test_entropy_is_in_bits_and_never_negative() -> None:
    rows = np.array([[1.0, 0.0, 0.0, 0.0], [0.25] * 4, [0.5, 0.5, 0, 0]])
    assert entropy_bits(rows).tolist() == [0.0, 2.0, 1.0]
    assert not np.signbit(entropy_bits(rows)).any()
