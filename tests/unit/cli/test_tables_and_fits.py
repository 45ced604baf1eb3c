"""plan, simulate and fit on tables, as a script calls them."""

from __future__ import annotations

import csv
import errno
import json
import os
import tempfile
from pathlib import Path

import pytest

from crowdclust_app.cli import fitting
from crowdclust_app.cli.parser import build_parser
from crowdclust_app.domain.methods import names_of

FIT_KEYS = {
    "method", "items", "workers", "responses", "pair_labels", "clusters", "cluster_sizes", "bound", "iterations",
    "converged", "starts", "entropy_bits", "heldout_loglik", "heldout_se", "verdicts", "settings", "seconds",
    "peak_memory_mb",
}  # fmt: skip
TRUTH_KEYS = {"vi_nats", "vi_bits", "ari", "nmi", "truth_items"}
PLAN_KEYS = {
    "hits", "pair_labels", "assignments", "shown_min", "shown_mean", "shown_max", "components", "pairs_covered",
}  # fmt: skip


def rows(path: Path) -> list[list[str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


def test_plan_says_its_figures_and_writes_the_plan(run, tmp_path: Path) -> None:
    done = run("plan", "--items", 100, "--items-per-hit", 10, "--redundancy", 3, "--workers-per-hit", 2, "--json",
               "--out", "plan.csv")  # fmt: skip
    assert done.code == 0
    assert set(done.summary) >= PLAN_KEYS
    assert done.summary["hits"] == 30
    assert done.summary["pair_labels"] == 2 * 30 * 45
    table = rows(tmp_path / "plan.csv")
    assert table[0] == ["hit", "position", "item"]
    assert len(table) == 1 + 300
    assert table[1:6] == [["h0001", str(n), str(n)] for n in range(4)] + [["h0001", "4", table[5][2]]]
    assert {row[2] for row in table[1:]} == {str(n) for n in range(100)}
    assert not (tmp_path / "summary.json").exists()


def test_plan_into_a_folder_brings_its_summary(run, tmp_path: Path) -> None:
    done = run("plan", "--items", 100, "--out", "made/here", "--json")
    assert json.loads((tmp_path / "made/here/summary.json").read_text()) == done.summary
    assert (tmp_path / "made/here/plan.csv").exists()


def test_plan_warns_in_words(run) -> None:
    done = run("plan", "--items", 100, "--items-per-hit", 10, "--redundancy", 1)
    assert "The design falls into 10 parts" in done.out
    assert "10 separate parts" in done.out
    assert done.err == ""


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["plan", "--items", 1], "there is only 1 item"),
        (["plan", "--items", 50, "--redundancy", 0], "the redundancy V must be at least 1"),
        (["plan", "--items", 50, "--items-per-hit", 1], "a HIT needs at least 2 items"),
        (["plan", "--items", 50, "--seed", -1], "the seed must not be negative"),
        (["plan", "--items", 50, "--seed", 2**63], "the seed is too large"),
        (["plan", "--items", 50, "--workers-per-hit", 2**63], "the number of workers per HIT (R) is too large"),
        (["plan", "--items", "many"], "invalid int value: 'many'"),
        (["plan"], "the following arguments are required: --items"),
        (["plan", "--items", 50, "--worker", 3], "unrecognized arguments: --worker 3"),
        (["fit", "none.csv"], "none.csv: there is no such file"),
        (["fit", "none.crowdclust"], "none.crowdclust"),
        (["fit", "x.csv", "--clusters", "many"], "many is neither bound nor heldout nor a whole number"),
        (["fit", "x.csv", "--clusters", 0], "0 is no number of clusters"),
        (["fit", "x.csv", "--label-weight", "low"], "low is neither auto nor a number"),
        (["fit", "x.csv", "--worker-prior", "x"], "invalid choice: 'x'"),
        (["fit", "x.csv", "--label-weight", 2], "the label weight 2 is out of range"),
        (["fit", "x.csv", "--label-weight", "nan"], "the label weight nan is out of range"),
        (["fit", "x.csv", "--method", "kmeans"], "invalid choice: 'kmeans'"),
        (["fit", "x.csv", "--threads", "two"], "invalid int value: 'two'"),
        (["simulate", "--out", "s", "--workers", 2], "a HIT needs 5 different workers and there are 2"),
        (["simulate", "--items", 30], "the following arguments are required: --out"),
        (["frobnicate"], "invalid choice: 'frobnicate'"),
    ],
)
def test_what_the_user_can_mend_is_one_line_and_changes_nothing(run, tmp_path: Path, argv: list, words: str) -> None:
    done = run(*argv)
    assert done.code == 2
    assert done.out == ""
    assert words in done.err
    assert done.err.startswith("crowdclust")
    assert done.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_simulate_then_fit(run, tmp_path: Path) -> None:
    done = run("simulate", "--out", "s", "--items", 60, "--clusters", 3, "--items-per-hit", 12, "--workers", 8,
               "--random-workers", 1, "--coarse", 0.1, "--json")  # fmt: skip
    assert done.code == 0
    assert done.summary["responses"] == 5 * 30
    assert done.summary["settings"]["random_workers"] == 1
    assert {Path(name).name for name in done.summary["files"]} == {"responses.csv", "truth.csv", "workers_truth.csv"}
    assert json.loads((tmp_path / "s/summary.json").read_text()) == done.summary
    assert rows(tmp_path / "s/responses.csv")[0] == ["hit", "worker", "item", "group"]
    assert rows(tmp_path / "s/truth.csv")[0] == ["item", "category"]
    workers = rows(tmp_path / "s/workers_truth.csv")
    assert workers[0] == ["worker", "kind", "hits", "groups"]
    assert sorted(row[1] for row in workers[1:]) == ["random"] + ["sorts"] * 7
    assert all(row[3] == "" for row in workers[1:] if row[1] == "random")
    assert sum(int(row[2]) for row in workers[1:]) == 150

    fit = run("fit", "s/responses.csv", "--truth", "s/truth.csv", "--dimensions", 3, "--starts", 2, "--label-weight",
              0.2, "--out", "fitted", "--json")  # fmt: skip
    assert fit.code == 0
    assert fit.err == ""
    assert set(fit.summary) >= FIT_KEYS | TRUTH_KEYS
    assert fit.summary["truth_items"] == 60
    assert fit.summary["vi_nats"] < 0.5
    assert fit.summary["vi_bits"] == pytest.approx(fit.summary["vi_nats"] / 0.6931471805599453)
    assert fit.summary["settings"]["label_weight"] == 0.2
    assert json.loads((tmp_path / "fitted/summary.json").read_text()) == fit.summary
    clusters = rows(tmp_path / "fitted/clusters.csv")
    assert len(clusters) == 61
    at = clusters[0].index("cluster")
    sizes = [sum(row[at] == str(k + 1) for row in clusters[1:]) for k in range(fit.summary["clusters"])]
    assert sizes == fit.summary["cluster_sizes"]

    again = run("fit", "s/responses.csv", "--dimensions", 3, "--starts", 2, "--label-weight", 0.2, "--json")
    changing = {"seconds", "peak_memory_mb"}
    assert not TRUTH_KEYS & set(again.summary)
    same = {name for name in FIT_KEYS - changing if again.summary[name] == fit.summary[name]}
    assert same == FIT_KEYS - changing


def test_fit_in_words(run, responses: Path) -> None:
    truth = responses.with_name("truth.csv")
    names = [f"{'warm' if n % 2 else 'cold'}/{n:02d}.png" for n in range(10)]
    truth.write_text("task,label\n" + "".join(f"{name},{name[:4]}\n" for name in [*names, "elsewhere.png"]))
    done = run("fit", responses, "--truth", truth, "--dimensions", 2, "--starts", 1, "--label-weight", 0.5)
    assert done.code == 0
    assert done.err == ""
    lines = done.out.splitlines()
    assert "Clusters           2 (sizes 6, 6)" in lines
    assert "Variation of inf.  0.0000 nats (0.0000 bits)" in lines
    assert "Known categories   of 10 items, 1 left out" in lines
    assert "Every pair label counts 0.5 (label weight), because the labels of one HIT are not independent." in lines


def test_quiet_says_nothing_and_json_is_alone_on_stdout(run, responses: Path) -> None:
    text = responses.read_text().replace("group\n", "group,ms\n", 1).replace("\n", ",5\n").replace("ms,5", "ms")
    responses.write_text(text)
    options = ("--dimensions", 2, "--starts", 1)
    loud = run("fit", responses, *options, "--json")
    assert loud.err == f"crowdclust: {responses}: the column ms is unknown and ignored.\n"
    assert loud.summary["warnings"] == [f"{responses}: the column ms is unknown and ignored."]
    quiet = run("fit", responses, *options, "--quiet")
    assert (quiet.code, quiet.out, quiet.err) == (0, "", "")
    both = run("fit", responses, *options, "--quiet", "--json")
    assert both.err == ""
    assert both.summary["clusters"] == loud.summary["clusters"]


def test_a_truth_of_other_items_is_refused_before_the_fit(run, responses: Path, tmp_path: Path) -> None:
    (tmp_path / "truth.csv").write_text("item,category\nfoo,bar\n")
    done = run("fit", responses, "--truth", "truth.csv", "--out", "fitted")
    assert done.code == 2
    assert done.err == (
        "crowdclust: truth.csv: not one of its items is in the responses; "
        "check that both tables name the items alike.\n"
    )
    assert not (tmp_path / "fitted").exists()


def test_a_mistake_in_a_table_is_named_and_nothing_written(run, responses: Path, tmp_path: Path) -> None:
    with responses.open("a") as file:
        file.write("x0,w0,cold/00.png,2\n")
    line = len(responses.read_text().splitlines())
    done = run("fit", responses, "--out", "fitted")
    assert done.code == 2
    assert f"responses.csv, line {line}: the item cold/00.png is a second time in the response of w0" in done.err
    assert not (tmp_path / "fitted").exists()


def test_a_folder_that_cannot_be_written_is_refused_before_the_fit(run, responses: Path, monkeypatch) -> None:
    def readonly(**_: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    def never(*_: object) -> None:
        raise AssertionError("the fit was begun")

    monkeypatch.setattr(tempfile, "TemporaryFile", readonly)
    monkeypatch.setattr(fitting, "fit_table", never)
    done = run("fit", responses, "--out", "made/here")
    assert done.code == 2
    assert "made/here: nothing can be written into this folder (Read-only file system)" in done.err
    assert not responses.with_name("made").exists()


def test_out_that_is_a_file_is_refused(run, responses: Path) -> None:
    done = run("fit", responses, "--out", responses)
    assert done.code == 2
    assert f"{responses}: the folder cannot be made (there is a file of that name)" in done.err


@pytest.mark.parametrize("name", ["cocoa_wheel_incomplete", "chen2025_birds5_dragdrop_M5"])
def test_real_sortings(run, shared_data: Path, name: str) -> None:
    folder = shared_data / "groupings" / name
    done = run("fit", folder / "responses.csv", "--truth", folder / "truth.csv", "--starts", 1, "--json")
    assert done.code == 0
    assert set(done.summary) >= FIT_KEYS | TRUTH_KEYS
    assert done.summary["clusters"] >= 2
    assert 0 < done.summary["vi_nats"] < 3


@pytest.mark.parametrize("method", ["nmf", "nmf-masked", "spectral"])
def test_methods_to_compare_with_are_fits_too(run, responses: Path, tmp_path: Path, method: str) -> None:
    truth = "\n".join(f"{'warm' if n % 2 else 'cold'}/{n:02d}.png,{n % 2}" for n in range(12))
    (tmp_path / "truth.csv").write_text(f"item,category\n{truth}\n")
    argv = ["fit", responses, "--method", method, "--clusters", 2, "--truth", "truth.csv"]
    done = run(*argv, "--json", "--out", "fitted")
    assert done.code == 0
    assert set(done.summary) >= FIT_KEYS | TRUTH_KEYS
    assert (done.summary["bound"], done.summary["clusters"], done.summary["vi_nats"]) == (None, 2, 0)
    assert {path.name for path in (tmp_path / "fitted").iterdir()} >= {"clusters.csv", "confusion.csv", "summary.json"}
    text = run(*argv).out
    assert "Bound" not in text
    assert f"The method {method} was told the number of clusters, 2" in text


def test_the_methods_of_the_parser_are_those_of_the_service() -> None:
    parser = build_parser()
    names = names_of("clustering", "baseline")
    read = [parser.parse_args(["fit", "x.csv", "--method", method]).method for method in names]
    assert tuple(read) == names
    with pytest.raises(SystemExit):
        parser.parse_args(["fit", "x.csv", "--method", "kmeans"])
