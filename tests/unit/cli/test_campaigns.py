"""A campaign from pictures to tables through the command line."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pytest
from campaign_making import SmallDisk, do_next

from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.campaign.checking import check_campaign
from crowdclust_app.services.clusters.categories import move, read_categories, rename
from crowdclust_app.services.fits.run_store import load_run

FAST = ("--dimensions", 2, "--starts", 1, "--label-weight", 0.5)


@pytest.fixture
def campaign(run, images: Path, tmp_path: Path) -> Path:
    (images / "broken.png").write_bytes(b"\x89PNG\r\n\x1a\nnothing")
    (images / "zcopy.png").write_bytes((images / "cold/00.png").read_bytes())
    done = run("new", "study.crowdclust", "--images", images, "--items-per-hit", 4, "--redundancy", 2,
               "--workers-per-hit", 2, "--seed", 3, "--json")  # fmt: skip
    assert done.code == 0
    summary = done.summary
    assert set(summary) >= {"campaign", "added", "skipped", "warnings"}
    assert (summary["added"], summary["skipped"]) == (12, 2)
    assert [entry["path"] for entry in summary["unreadable"]] == ["broken.png"]
    assert summary["duplicates"] == [{"path": "zcopy.png", "original": "cold/00.png"}]
    assert Path(summary["campaign"]) == tmp_path / "study.crowdclust"
    return tmp_path / "study.crowdclust"


def test_new_in_words(run, images: Path) -> None:
    done = run("new", "words", "--images", images, "--items-per-hit", 4, "--redundancy", 2)
    assert done.code == 0
    assert "Images    12" in done.out
    assert "HITs      6, 30 assignments" in done.out


def test_new_says_once_what_it_left_out(run, images: Path) -> None:
    (images / "zcopy.png").write_bytes((images / "cold/00.png").read_bytes())
    done = run("new", "once", "--images", images, "--items-per-hit", 4, "--redundancy", 1)
    assert done.out.count("zcopy.png") == 1
    assert "Left out  1\n  zcopy.png: the same picture as cold/00.png\n" in done.out
    assert "The design falls into 3 parts" in done.out
    told = run("new", "json", "--images", images, "--items-per-hit", 4, "--json").summary["warnings"]
    assert told == ["1 file is left out as a copy of another, such as zcopy.png of cold/00.png."]


def test_labels_are_imported_into_a_question_set(run, campaign: Path, tmp_path: Path) -> None:
    with Campaign.open(campaign) as opened:
        names = [item.path for item in opened.items()[:2]]
    labels = tmp_path / "labels.csv"
    labels.write_text(f"task,worker,label\n{names[0]},Ann,yes\n{names[1]},Ann,0\n{names[1]},Ben,no\n", encoding="utf-8")
    told = ("import", campaign, labels, "--kind", "labels", "--question", "Is it red?", "--json")
    done = run(*told)
    assert (done.summary["added"], done.summary["skipped"]) == (3, 0)
    again = run(*told)
    assert (again.summary["added"], again.summary["skipped"]) == (0, 3)
    wrong = run("import", campaign, labels, "--question", "Is it red?")
    assert wrong.code == 2
    assert "answers no question" in wrong.err


def test_the_leads_categories_are_in_what_fit_and_export_write(
    run, campaign: Path, responses: Path, tmp_path: Path
) -> None:
    assert run("import", campaign, responses).code == 0
    assert run("fit", campaign, *FAST, "--clusters", 2).code == 0
    with Campaign.open(campaign) as opened:
        state = read_categories(opened, 1, 2)
        state = rename(opened, state, 1, '=the "first", of two')
        labels = dict(zip(load_run(opened, 1).item_names, load_run(opened, 1).result.labels.tolist(), strict=True))
        moved = next(name for name, label in labels.items() if label == 2)
        move(opened, state, [moved], 1)
    assert run("fit", campaign, *FAST, "--clusters", 2, "--seed", 1, "--out", "fitted").code == 0
    assert run("export", campaign, "--out", "exported").code == 0
    for folder in ("fitted", "exported"):
        with (tmp_path / folder / "clusters.csv").open(newline="", encoding="utf-8") as file:
            rows = {row["item"]: row for row in csv.DictReader(file)}
        called = '\'=the "first", of two'  # no formula for a spreadsheet
        assert {row["category"] for row in rows.values()} == {called, ""}, folder
        assert rows[moved]["category"] == rows[moved]["override"] == called
        assert sum(bool(row["override"]) for row in rows.values()) == 1


def test_photos_that_are_gone_are_counted_and_named(run, campaign: Path, responses: Path, tmp_path: Path) -> None:
    assert run("import", campaign, responses).code == 0
    assert run("fit", campaign, "--starts", "1").code == 0
    parts = ("--with", "photos", "--with", "fiftyone", "--with", "label-studio")
    whole = run("export", campaign, "--out", "whole", *parts, "--json")
    assert (whole.code, whole.err, whole.summary["missing_photos"]) == (0, "", [])
    gone = ["cold/00.png", "cold/02.png", "warm/05.png"]
    for name in gone:
        (tmp_path / "pictures" / name).unlink()
    sentence = "3 photos were not found and left out: cold/00.png, cold/02.png, warm/05.png"
    done = run("export", campaign, "--out", "some", *parts, "--json")
    assert done.code == 2
    assert done.err == f"crowdclust: {sentence}; put them back and export again, or add --allow-missing-photos.\n"
    assert done.summary["missing_photos"] == gone
    assert f"{sentence}." in done.summary["warnings"]
    assert len(list((tmp_path / "some" / "photos").rglob("*.png"))) == 9
    assert (tmp_path / "some" / "clusters.csv").exists()
    data = json.loads((tmp_path / "some" / "fiftyone" / "data.json").read_text())
    assert sorted(Path(file).name for file in data.values()) == sorted({f"{at:02d}.png" for at in range(12)} - {
        "00.png", "02.png", "05.png"})  # fmt: skip
    tasks = json.loads((tmp_path / "some" / "label-studio" / "tasks.json").read_text())
    assert not {task["data"]["item"] for task in tasks} & set(gone)
    allowed = run("export", campaign, "--out", "allowed", *parts, "--allow-missing-photos")
    assert (allowed.code, allowed.err) == (0, f"crowdclust: {sentence}.\n")
    assert run("export", campaign, "--out", "tables").code == 0, "tables need no photos"
    (tmp_path / "pictures").rename(tmp_path / "elsewhere")
    refused = run("export", campaign, "--out", "none", *parts)
    assert (refused.code, "photos of this campaign cannot be found" in refused.err) == (2, True)
    without = run("export", campaign, "--out", "none", *parts, "--allow-missing-photos", "--json")
    assert (without.code, len(without.summary["missing_photos"])) == (0, 12)
    (tmp_path / "elsewhere").rename(tmp_path / "pictures")
    assert run("export", campaign, "--out", "quiet", *parts, "--quiet").err.startswith(f"crowdclust: {sentence};")


def test_import_fit_export_check(run, campaign: Path, responses: Path, tmp_path: Path) -> None:
    done = run("import", campaign, responses, "--json")
    assert done.code == 0, done.err
    assert done.summary == {"campaign": str(campaign), "added": 12, "skipped": 0, "warnings": []}
    again = run("import", campaign, responses, "--json")
    assert (again.summary["added"], again.summary["skipped"]) == (0, 12)

    first = run("fit", campaign, *FAST, "--json")
    assert first.code == 0, first.err
    assert first.summary["run"] == 1
    assert first.summary["cluster_sizes"] == [6, 6]
    second = run("fit", campaign, *FAST)
    assert re.search(r"^Stored as run +2$", second.out, re.M)

    truth = tmp_path / "truth.csv"
    truth.write_text("item,category\ncold/00.png,cold\nwarm/01.png,warm\n")
    assert run("import", campaign, truth, "--kind", "truth", "--json").summary["added"] == 2

    exported = run("export", campaign, "--out", "tables", "--anonymous", "--json")
    assert exported.code == 0
    assert set(exported.summary["files"]) >= {"responses.csv", "pairs.csv", "plan.csv", "clusters.csv", "truth.csv"}
    assert json.loads((tmp_path / "tables/summary.json").read_text()) == exported.summary
    with (tmp_path / "tables/responses.csv").open(newline="") as file:
        assert {row["worker"] for row in csv.DictReader(file)} == {"1", "2", "3", "4", "5", "6"}
    # what was exported can be fitted again, to the same end
    refit = run("fit", "tables/responses.csv", *FAST, "--json")
    assert refit.summary["cluster_sizes"] == [6, 6]
    assert refit.summary["pair_labels"] == first.summary["pair_labels"]

    checked = run("check", campaign, "--json")
    assert checked.code == 0
    assert (checked.summary["ok"], checked.summary["problems"]) == (True, [])
    assert run("check", campaign).out == f"{campaign} is sound.\n"


def test_check_tells_problems_and_fails(run, campaign: Path, images: Path) -> None:
    (images / "cold/02.png").unlink()
    done = run("check", campaign, "--json")
    assert done.code == 2
    assert done.summary["ok"] is False
    assert "cold/02.png" in " ".join(done.summary["problems"])


@pytest.mark.parametrize(
    "argv",
    [
        ["new", "study.crowdclust", "--images", "pictures"],
        ["fit", "study.crowdclust"],
        ["import", "study.crowdclust", "none.csv"],
        ["import", "none.crowdclust", "responses.csv"],
        ["import", "study.crowdclust", "responses.csv", "--kind", "pairs"],
        ["import", "study.crowdclust", "responses.csv", "--kind", "labels"],
        ["check", "responses.csv"],
        ["export", "responses.csv", "--out", "tables"],
        ["export", "study.crowdclust", "--out", "responses.csv"],
        ["open", "responses.csv"],
        ["open", "study.crowdclust"],
        ["new", "other.crowdclust", "--images", "none"],
        ["new", "other.crowdclust", "--images", "empty"],
    ],
    ids=" ".join,
)
def test_refusals_are_one_line_and_change_nothing(
    run, campaign: Path, responses: Path, tmp_path: Path, argv: list[str]
) -> None:
    (tmp_path / "empty").mkdir()
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    done = run(*argv)
    assert done.code == 2
    assert done.err.count("\n") == 1
    assert done.err.startswith("crowdclust")
    assert done.out == ""
    after = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert after == before


@pytest.mark.parametrize("why", ["read-only", "full"])
@pytest.mark.parametrize("left", ["closed", "killed"])
def test_what_cannot_be_written_is_exported_and_fitted_elsewhere(
    run, small_disk: SmallDisk, tmp_path: Path, why: str, left: str
) -> None:
    path = small_disk.campaign()
    campaign = Campaign.open(path)
    for name in ("Ann", "Bo"):
        do_next(campaign, campaign.add_worker(name))
    # a program that is killed leaves its log, with all that it holds, and the index of that
    kept = {file: file.read_bytes() for file in small_disk.folder.iterdir()}
    campaign.close()
    if left == "killed":
        for file, content in kept.items():
            file.write_bytes(content)
    small_disk.fill() if why == "full" else small_disk.make_read_only()
    before = path.read_bytes()

    done = run("export", path, "--out", tmp_path / "tables", "--json")
    assert (done.code, done.err) == (0, "")
    with (tmp_path / "tables/responses.csv").open(newline="") as file:  # type: ignore[assignment]
        assert {row["worker"] for row in csv.DictReader(file)} == {"Ann", "Bo"}

    done = run("fit", path, *FAST, "--out", tmp_path / "fitted", "--json")
    assert done.code == 0, done.err
    stored = done.summary["run"] is not None
    if stored:  # the log that a killed program left on the full disk may have had room for it
        assert (why, left, done.err) == ("full", "killed", "")
    else:
        assert "so this run is not stored in it; its tables are in" in done.err
        assert done.err.count("\n") == 1
        assert path.read_bytes() == before
    assert (tmp_path / "fitted/clusters.csv").is_file()
    assert run("check", path).code == 0


def test_a_backup_is_a_whole_campaign_and_overwrites_nothing(run, campaign: Path, tmp_path: Path) -> None:
    done = run("backup", campaign, "--out", tmp_path / "copy")
    assert done.code == 0, done.err
    copy = tmp_path / "copy.crowdclust"
    assert done.out.strip() == f"Wrote {copy}"
    assert check_campaign(copy).ok
    again = run("backup", campaign, "--out", copy)
    assert (again.code, "already something of this name" in again.err) == (2, True)
    dated = run("backup", campaign, "--json")
    assert Path(json.loads(dated.out)["backup"]).parent == campaign.parent
    assert run("backup", tmp_path / "none.crowdclust").code == 2
