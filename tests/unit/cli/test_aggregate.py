"""`crowdclust aggregate`, as a script and a person call it."""

from __future__ import annotations

import csv
from pathlib import Path

import pandas
import pytest

from crowdclust_app.domain.methods import names_of
from crowdclust_app.inference.aggregators import BeliefPropagation


@pytest.fixture
def labels(tmp_path: Path) -> Path:
    path = tmp_path / "labels.csv"
    lines = [f"t{task},w{worker},{int((task + (worker == 3)) % 2)}" for task in range(6) for worker in range(4)]
    path.write_text("task,worker,label\n" + "\n".join(lines) + "\n")
    return path


@pytest.fixture
def truth(tmp_path: Path) -> Path:
    path = tmp_path / "truth.csv"
    path.write_text("task,label\n" + "".join(f"t{task},{task % 2}\n" for task in range(5)))
    return path


def test_all_methods_are_printed_side_by_side(run, labels: Path, truth: Path) -> None:
    done = run("aggregate", labels, "--method", "all", "--truth", truth, "--out", "out")
    assert done.code == 0
    assert done.err == ""
    lines = done.out.splitlines()
    assert "Tasks         6" in lines
    assert "Known labels  of 5 tasks" in lines
    head = next(line for line in lines if line.startswith("method"))
    assert head.split() == ["method", "error", "log", "loss", "Brier", "ties", "seconds", "iterations", "converged"]
    for name in names_of("aggregator"):
        if name == "continuous":
            continue
        assert any(line.split()[:2] == [name, "0.0000"] for line in lines)
    assert "sbic-fast: the result depends on the order in which the labels are taken." in lines
    assert lines[-1] == "Wrote out/summary.json"
    assert Path("out/labels_inferred.csv").exists()


def test_json_is_the_summary_alone(run, labels: Path, truth: Path) -> None:
    done = run("aggregate", labels, "--method", "em2", "--prior", "3,1.5", "--prevalence", "auto", "--ties", "prior",
               "--repeats", "last", "--classes", '0,1,"a, b"', "--seed", 5, "--truth", truth, "--json")  # fmt: skip
    assert done.code == 2
    assert done.err == (
        f"crowdclust: {labels}: em2 is for 2 classes and the labels have 3; take dawid-skene, em, amf, mf, majority or "
        "soft-vote.\n"
    )
    done = run("aggregate", labels, "--prior", "3,1.5", "--ties", "prior", "--repeats", "last", "--classes", "0,1",
               "--seed", 5, "--truth", truth, "--json")  # fmt: skip
    assert done.code == 0
    (method,) = done.summary["methods"]
    assert (method["method"], method["error"], method["truth_tasks"]) == ("dawid-skene", 0.0, 5)
    assert done.summary["settings"] == {
        "method": "dawid-skene", "prior": [3.0, 1.5], "prevalence": None, "ties": "prior", "repeats": "last",
        "classes": ["0", "1"], "seed": 5,
    }  # fmt: skip


def test_oddities_of_the_table_are_said(run, tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text("task,worker,label,note\na,u,x,1\na,u,y,2\nb,u,z,3\nc,v,,4\n")
    done = run("aggregate", path, "--method", "all")
    assert done.code == 0
    assert done.err == f"crowdclust: {path}: the column note is unknown and ignored.\n"
    lines = done.out.splitlines()
    assert "Missing labels        1" in lines
    assert "Tasks without labels  1 (c)" in lines
    assert "Repeated labels       1, 1 conflict; counted: all" in lines
    (skipped,) = [line for line in lines if "for 2 classes" in line]
    assert skipped.startswith("Skipped bp, bp-max, kos, kos-normalised, em2, ")
    assert run("aggregate", path, "--method", "all", "--quiet").out == ""


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--prior", "2"), "argument --prior: 2 is not two numbers such as 2,1"),
        (("--prior", "2,0"), "argument --prior: 2,0 is not two numbers above 0"),
        (("--prior", "discrete:0.5,x"), "discrete:0.5,x is not a list of accuracies such as discrete:0.5,0.9 or"),
        (("--prior", "discrete:0.5=0.2,0.9"), "is not a list of accuracies"),
        (("--prior", "discrete:0.5,1.5"), "discrete:0.5,1.5 has an accuracy twice, or one that is not between 0 and 1"),
        (("--prior", "discrete:0.5,0.5"), "has an accuracy twice"),
        (("--prior", "discrete:0.5=0.2,0.9=0.7"), "the shares in discrete:0.5=0.2,0.9=0.7 do not sum to 1"),
        (("--prior", "discrete:0.5,0.9"), "dawid-skene takes a Beta prior only; give two numbers such as 2,1, or"),
        (("--prior", "auto", "--method", "experts"), "experts takes a Beta prior only; give two numbers such as 2,1."),
        (("--prevalence", "1.5"), "argument --prevalence: 1.5 is neither auto nor a number between 0 and 1"),
        (("--prevalence", "some"), "argument --prevalence: some is neither auto nor a number between 0 and 1"),
        (("--method", "wavg"), "argument --method: invalid choice: 'wavg'"),
        (("--features", "f.csv"), "dawid-skene takes no features"),
        (("--method", "gp", "--features", "f.csv"), "f.csv: there is no such file; check the name."),
    ],
)
def test_what_is_wrong_is_said_in_one_line(run, labels: Path, options: tuple[str, str], said: str) -> None:
    done = run("aggregate", labels, *options)
    assert done.code == 2
    assert said in done.err
    assert done.err.count("\n") == 1


def test_a_prior_is_chosen_by_evidence_or_discrete(run, labels: Path, truth: Path) -> None:
    done = run("aggregate", labels, "--method", "all", "--prior", "auto", "--truth", truth)
    assert done.code == 0
    shown = [line.split("  ")[-1] for line in done.out.splitlines() if line.startswith("Prior by evidence")]
    assert [line.split(" for ")[1].split(";")[0] for line in shown] == [
        "one coin a worker", "a coin a class and worker"
    ]  # fmt: skip
    done = run("aggregate", labels, "--method", "bp2", "--prior", "auto", "--json")
    (found,) = done.summary["priors"]
    assert found["bound"] >= found["usual_bound"]
    assert (found["coins"], found["usual_prior"], done.summary["settings"]["prior"]) == (2, [2.0, 1.0], "auto")
    same = run("aggregate", labels, "--method", "bp2", "--prior", ",".join(map(repr, found["prior"])), "--json")
    assert same.summary["methods"][0]["log_loss"] == done.summary["methods"][0]["log_loss"]
    discrete = run("aggregate", labels, "--method", "bp", "--prior", "discrete:0.5=0.2,0.9=0.8", "--json", "--out", "d")
    assert discrete.summary["settings"]["prior"] == {"0.5": 0.2, "0.9": 0.8}
    assert discrete.summary["priors"] == []
    expected = BeliefPropagation(prior={0.5: 0.2, 0.9: 0.8}).fit(pandas.read_csv(labels))
    with Path("d/labels_inferred.csv").open(newline="") as file:
        got = [float(row["probability"]) for row in csv.DictReader(file)]
    assert got == pytest.approx(expected.probabilities_.max(axis=1).tolist())
    assert run("aggregate", labels, "--method", "bp", "--prior", "discrete:0.7,0.9", "--json").code == 0


def test_a_table_that_is_wrong_changes_nothing(run, tmp_path: Path) -> None:
    for text in ("", "task,worker,label\n", "task,worker\na,u\n", "task:worker:label\na:u:1\n"):
        path = tmp_path / "labels.csv"
        path.write_text(text)
        done = run("aggregate", path, "--out", "out")
        assert done.code == 2
        assert done.err.startswith(f"crowdclust: {path}, line 1: ")
        assert done.err.count("\n") == 1
        assert not Path("out").exists()
    done = run("aggregate", "labels.csv", "--method", "sbic-fast", "--prior", "1,1", "--classes", "0,1")
    assert done.code == 2


def test_a_table_of_pairs_is_aggregated_too(run, tmp_path: Path) -> None:
    pairs = tmp_path / "pairs.csv"
    rows = ["w1,a,b,1", "w2,b,a,1", "w1,a,c,-1", "w2,a,c,-1", "w1,b,c,-1", "w2,b,c,1", "w3,b,c,-1", "w3,a,d,1"]
    pairs.write_text("worker,item_a,item_b,label\n" + "\n".join(rows) + "\n")
    done = run("aggregate", pairs, "--method", "em", "--out", "out")
    assert done.code == 0
    assert "Pairs           3" in done.out.splitlines()
    assert "Pairs left out  1, judged by one worker only" in done.out.splitlines()
    lines = Path("out/pairs_inferred.csv").read_text().splitlines()
    assert lines[0] == "item_a,item_b,label,probability,labels,method"
    assert [line.split(",")[:3] for line in lines[1:]] == [["a", "b", "1"], ["a", "c", "-1"], ["b", "c", "-1"]]


@pytest.fixture
def features(tmp_path: Path) -> Path:
    path = tmp_path / "features.csv"
    rows = "".join(f"t{task},{task % 2 + task / 100},{task}\n" for task in range(8))
    path.write_text("task,shape,size\n" + rows)
    return path


def test_learners_take_features_and_predict_tasks_that_nobody_labelled(run, labels: Path, features: Path) -> None:
    done = run("aggregate", labels, "--method", "all", "--features", features, "--out", "out")
    assert done.code == 0
    lines = done.out.splitlines()
    for name in names_of("learner"):
        assert any(line.split()[:1] == [name] for line in lines)
    assert any(line.startswith("Predicted") and line.endswith("that nobody labelled") for line in lines)
    with Path("out/labels_inferred.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    predicted = [row for row in rows if row["task"] == "t7"]
    assert [row["method"] for row in predicted] == list(names_of("learner"))
    assert {row["labels"] for row in predicted} == {"0"}
    assert all(0 <= float(row["probability"]) <= 1 for row in predicted)
    with Path("out/reliability.csv").open(newline="") as file:
        learnt = [row for row in csv.DictReader(file) if row["method"] in names_of("learner")]
    assert learnt
    for column in ("sensitivity", "specificity", "sensitivity_sd", "specificity_sd"):
        assert all(0 < float(row[column]) < 1 for row in learnt)


def test_learners_without_features_say_what_they_are_then(run, labels: Path) -> None:
    for name in names_of("learner"):
        done = run("aggregate", labels, "--method", name)
        assert done.code == 0
        assert "Dawid and Skene's" in done.out


def test_a_prevalence_that_a_learner_does_not_use_is_said(run, labels: Path, features: Path) -> None:
    given = "--prevalence", "0.3"
    unused = "the prevalence that was set is not used"
    assert (
        f"{unused}: gp learns it from the features"
        in run("aggregate", labels, "--method", "gp", "--features", features, *given).err
    )
    assert f"{unused}: gp learns it from the labels" in run("aggregate", labels, "--method", "gp", *given).err
    assert unused not in run("aggregate", labels, "--method", "experts", *given).err


def test_features_that_do_not_belong_to_the_labels_are_refused(run, labels: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.csv"
    other.write_text("task,x\nphoto 1,2\n")
    done = run("aggregate", labels, "--method", "gp", "--features", other, "--out", "out")
    assert done.code == 2
    assert f"not one task with labels is in {other}" in done.err
    assert "the labels have t0, the features photo 1" in done.err
    assert not Path("out").exists()


def test_pairs_have_no_features(run, tmp_path: Path, features: Path) -> None:
    pairs = tmp_path / "pairs.csv"
    pairs.write_text("worker,item_a,item_b,label\nu,a,b,1\nv,a,b,1\nu,a,c,-1\nv,a,c,-1\n")
    done = run("aggregate", pairs, "--features", features)
    assert (done.code, "pairs have no features" in done.err) == (2, True)
    done = run("aggregate", pairs, "--method", "gp")
    assert (done.code, "gp is for single labels, not for pairs" in done.err) == (2, True)
