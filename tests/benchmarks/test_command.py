"""bench, as a script calls it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.command import EXPERIMENTS, _columns


def test_without_a_name_the_experiments_are_listed(run) -> None:
    done = run()
    assert done.code == 0
    assert [line.split()[0] for line in done.out.splitlines()] == list(EXPERIMENTS)
    assert run("--json").summary == {"experiments": EXPERIMENTS}


def test_an_experiment_prints_a_table_and_writes_files(run, tmp_path: Path) -> None:
    argv = ["hard", "--quick", "--seeds", 2, "--seed", 5, "--methods", "nmf,spectral"]
    done = run(*argv, "--out", "out")
    assert done.code == 0
    assert done.err == ""
    head, *lines = done.out.splitlines()
    assert head.split()[:4] == ["data", "method", "seeds", "vi_nats"]
    assert [line.split()[:3] for line in lines[:2]] == [["small", "nmf", "2"], ["small", "spectral", "2"]]
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "hard.csv", "hard_trials.csv", "hard.png", "summary.json",
    }  # fmt: skip
    again = run(*argv, "--out", "again", "--json")
    first, second = json.loads((tmp_path / "out/summary.json").read_text()), again.summary
    assert second["seeds"] == [5, 6]
    for one, other in zip(first["figures"], second["figures"], strict=True):
        assert {k: v for k, v in one.items() if k != "seconds"} == {k: v for k, v in other.items() if k != "seconds"}


def test_labels_are_aggregated_and_further_tables_printed(run, tmp_path: Path) -> None:
    folder = tmp_path / "rte"
    folder.mkdir()
    rows = [f"{task},{worker},{int(task > worker)}" for task in range(8) for worker in range(4)]
    (folder / "labels.csv").write_text("\n".join(["task,worker,label", *rows]) + "\n")
    (folder / "truth.csv").write_text("task,label\n0,0\n7,1\n")
    argv = ["sbic", "--quick", "--seeds", 1, "--methods", "majority,sbic-fast", "--data", folder]
    done = run(*argv, "--out", "out")
    assert (done.code, done.err) == (0, "")
    blocks = [block.splitlines() for block in done.out.split("\n\n")]
    assert blocks[0][0].split()[:4] == ["policy", "method", "labels_per_task", "seeds"]
    assert blocks[1][0] == "table2:"
    assert blocks[1][2].split()[:3] == ["rte", "majority", "2"]
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "sbic.csv", "sbic_trials.csv", "sbic_table2.csv", "sbic.png", "summary.json",
    }  # fmt: skip
    assert run(*argv, "--json").summary["table2"][0]["data"] == "rte"


def test_experts_are_learnt_from(run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CROWDCLUST_DATA", raising=False)
    done = run("experts", "--quick", "--seeds", 1, "--methods", "raykar,crowds", "--out", "out")
    assert done.code == 0
    assert "Figure 4 is left out: it needs labels.csv and truth.csv in a folder rte (--data)" in done.err
    blocks = [block.splitlines() for block in done.out.split("\n\n")]
    assert blocks[0][0].split() == ["figure", "quantity", "seeds", "mean", "sd", "least", "most", "expected"]
    assert blocks[1][0] == "crowds:"
    assert (tmp_path / "out/experts_crowds.png").is_file()
    refused = run("experts", "--methods", "nmf")
    assert (refused.code, "there is no part nmf" in refused.err) == (2, True)


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["speed"], "invalid choice: 'speed'"),
        (["hard", "--methods", "nmf,kmeans"], "there is no method kmeans"),
        (["hard", "--seeds", 0], "the number of seeds must be at least 1"),
        (["sbic", "--methods", "nmf"], "there is no method nmf"),
        (["aggregators", "--data", "none"], "there is no folder with a labels.csv and a truth.csv"),
        (["scale", "--data", "."], "known campaigns are for table1 only"),
        (["table1", "--data", "none"], "there is no folder with a responses.csv and a truth.csv"),
    ],
)
def test_what_the_user_can_mend_is_one_line_and_changes_nothing(run, tmp_path: Path, argv: list, words: str) -> None:
    done = run(*argv)
    assert (done.code, done.out) == (2, "")
    assert words in done.err
    assert done.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_cells_are_short() -> None:
    assert _columns(("method", "vi", "n", "mb"), [("nmf", 0.12345, 1200, None), ("x", 512.34, 3, 1.0)]) == [
        "method     vi      n     mb",
        "nmf     0.123  1,200      -",
        "x       512.3      3  1.000",
    ]
