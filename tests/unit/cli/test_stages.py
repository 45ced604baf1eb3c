"""Subdividing a cluster through the command line: split, fit --stage, export."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

FAST = ("--dimensions", 2, "--starts", 1, "--label-weight", 0.5, "--clusters", 2)


@pytest.fixture
def fitted(run, images: Path, responses: Path, tmp_path: Path) -> Path:
    """Twelve pictures in two clusters: warm and cold."""
    made = run("new", "study", "--images", images, "--items-per-hit", 4, "--redundancy", 2, "--workers-per-hit", 2)
    assert made.code == 0
    assert run("import", "study.crowdclust", responses).code == 0
    assert run("fit", "study.crowdclust", *FAST).code == 0
    return tmp_path / "study.crowdclust"


def stage_responses(path: Path, hits: list[dict[str, str]], stage: str) -> Path:
    """Six people sort the items of a stage by whether their number is below six."""
    lines = ["hit,worker,item,group,stage"]
    items = sorted({row["item"] for row in hits})
    for worker in range(6):
        lines += [f"below,w{worker},{item},{1 + (int(Path(item).stem) < 6)},{stage}" for item in items]
    path.write_text("\n".join(lines) + "\n")
    return path


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_split_fit_export(run, fitted: Path, tmp_path: Path) -> None:
    done = run("split", fitted, "--cluster", 1, "--items-per-hit", 3, "--redundancy", 2, "--json")
    assert done.code == 0, done.err
    summary = done.summary
    assert {"campaign", "added", "skipped", "warnings"} <= set(summary)
    assert (summary["campaign"], summary["added"], summary["skipped"]) == (str(fitted), 6, 0)
    assert (summary["stage"], summary["run"], summary["hits"], summary["assignments"]) == ("all/1", 1, 4, 8)
    # what is not given is as in the plan above
    assert (summary["items_per_hit"], summary["workers_per_hit"]) == (3, 2)

    none = run("fit", fitted, "--stage", "all/1")
    assert (none.code, none.out) == (2, "")
    assert "there are no responses yet" in none.err
    assert run("export", fitted, "--out", "before").code == 0
    hits = [row for row in rows_of(tmp_path / "before" / "plan.csv") if row["hit"] > "h0006"]
    assert len({row["hit"] for row in hits}) == 4
    assert {Path(row["item"]).parent.name for row in hits} in ({"warm"}, {"cold"})
    file = stage_responses(tmp_path / "more.csv", hits, "all/1")
    assert run("import", fitted, file, "--json").summary["added"] == 6
    below = run("fit", fitted, "--stage", "all/1", *FAST, "--out", "stage", "--json")
    assert below.code == 0, below.err
    assert (below.summary["stage"], below.summary["items"], below.summary["run"]) == ("all/1", 6, 2)
    assert {row["path"] for row in rows_of(tmp_path / "stage" / "clusters.csv")} == {"all/1/1", "all/1/2"}

    assert run("export", fitted, "--out", "tree").code == 0
    rows = rows_of(tmp_path / "tree" / "clusters.csv")
    assert {row["path"] for row in rows} == {"all/1/1", "all/1/2", "all/2"}
    for name, path in ((rows[n]["item"], rows[n]["path"]) for n in range(12)):
        if path != "all/2":
            assert path == rows[next(n for n in range(12) if rows[n]["item"] == name)]["path"]
    assert {row["stage"] for row in rows_of(tmp_path / "tree" / "responses.csv")} == {"all", "all/1"}
    # a table of several stages is fitted one stage at a time
    whole = run("fit", tmp_path / "tree" / "responses.csv", *FAST, "--json").summary
    assert (whole["stage"], whole["items"], whole["responses"]) == ("all", 12, 12)
    part = run("fit", tmp_path / "tree" / "responses.csv", "--stage", "all/1", *FAST, "--json").summary
    assert (part["stage"], part["items"], part["responses"]) == ("all/1", 6, 6)
    wrong = run("fit", tmp_path / "tree" / "responses.csv", "--stage", "all/2")
    assert wrong.code == 2
    assert "no responses of the stage all/2" in wrong.err
    assert run("check", fitted).code == 0


def test_running_the_whole_again_says_which_stages_stay(run, fitted: Path) -> None:
    assert run("split", fitted, "--cluster", 1).code == 0
    assert run("split", fitted, "--cluster", 2).code == 0
    again = run("fit", fitted, *FAST, "--json")
    assert "The stages all/1, all/2 stay with the clusters of run 1." in again.summary["warnings"]
    assert again.summary["run"] == 2
    told = run("export", fitted, "--out", "tables").out.splitlines()[-1]
    assert told == "Run 2 of all is newer than run 1, whose clusters are written."
    newer = run("split", fitted, "--cluster", 1, "--json").summary
    assert (newer["stage"], newer["run"]) == ("all/1.2", 2)


def test_split_in_words(run, fitted: Path) -> None:
    done = run("split", fitted, "--cluster", 2)
    assert done.code == 0
    assert "Stage        all/2" in done.out
    assert "cluster 2 of run 1, 6 items" in done.out
    assert "(2 workers a HIT)" in done.out


def test_what_cannot_be_split_changes_nothing(run, fitted: Path) -> None:
    before = fitted.read_bytes()
    for options, why in (
        (("--cluster", 9), "run 1 of all has no cluster 9; choose one of 1 to 2"),
        (("--cluster", 0), "has no cluster 0"),
        (("--cluster", 1, "--stage", "all/3"), "the campaign has no stage all/3; choose one of all"),
        (("--cluster", 1, "--run", 7), "the campaign has no run 7"),
        (("--cluster", 1, "--items-per-hit", 1), "at least 2 items"),
        (("--cluster", 1, "--workers-per-hit", 0), "at least 1 worker"),
        (("--cluster", "one"), "invalid int value"),
        ((), "--cluster"),
    ):
        done = run("split", fitted, *options)
        assert (done.code, done.out) == (2, ""), done.err
        assert why in done.err
        assert done.err.count("\n") == 1
    assert fitted.read_bytes() == before
