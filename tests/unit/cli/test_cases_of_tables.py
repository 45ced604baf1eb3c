"""The cases of what happens to tables (`cases` beside the shared data), each with the outcome of its RIGHT.txt."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from crowdclust_app.domain.campaign import PlanSettings
from crowdclust_app.services.campaign.creating import create_without_images

Run = Callable[..., Any]


@pytest.fixture
def case(shared_data: Path, request: pytest.FixtureRequest) -> Path:
    folder = shared_data.parent / "cases" / request.param
    if not folder.is_dir():
        pytest.skip(f"{folder} is not there")
    return folder


def of(name: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("case", [name], indirect=True, ids=[name])


def majority(run: Run, *arguments: Any) -> Any:
    done = run("aggregate", *arguments, "--method", "majority", "--json")
    assert done.code == 0, done.err
    return done


def fitted(run: Run, *arguments: Any) -> Any:
    done = run("fit", *arguments, "--starts", "1", "--json")
    assert done.code == 0, done.err
    return done


@of("01_quoted_header")
def test_quoted_headers(run: Run, case: Path) -> None:
    assert majority(run, case / "labels.csv").summary["labels"] == 4
    assert fitted(run, case / "responses.csv").summary["pair_labels"] == 3


@of("02_na_is_a_class")
def test_what_is_missing_is_no_class(run: Run, case: Path) -> None:
    with_missing = fitted(run, case / "responses_na.csv")
    without = fitted(run, case / "responses_without_those_rows.csv")
    assert with_missing.summary["cluster_sizes"] == without.summary["cluster_sizes"] == [4, 4, 4]
    assert "39 of 96 rows have no group (NA): these items count as not sorted." in with_missing.err
    for name in ("na", "empty"):
        labels = majority(run, case / f"labels_{name}.csv", "--truth", case / "truth.csv")
        assert labels.summary["classes"] == ["no", "yes"]
        assert labels.summary["methods"][0]["error"] == 0.0
        assert labels.summary["dropped"] == 49
    mixed = majority(run, case / "labels_mixed.csv")
    assert len(mixed.summary["classes"]) == 2
    assert "5 of 12 rows have no label (" in mixed.err


@of("03_truth_spelled_otherwise")
def test_known_labels_that_are_spelled_otherwise(run: Run, case: Path) -> None:
    yes = majority(run, case / "labels_yes.csv", "--truth", case / "truth_Yes.csv")
    floats = majority(run, case / "labels.csv", "--truth", case / "truth_floats.csv")
    assert [done.summary["methods"][0]["error"] for done in (yes, floats)] == [0.0, 0.0]
    assert "read: Yes as yes, No as no" in yes.err


@of("06_name_identity")
def test_names_in_other_unicode_forms(run: Run, case: Path) -> None:
    done = run("aggregate", case / "labels.csv", "--method", "experts", "--features", case / "feat_nfd.csv", "--json")
    assert (done.code, done.summary["predicted"]) == (0, 0)


@of("07_outer_spaces")
def test_outer_white_space(run: Run, case: Path) -> None:
    labels = majority(run, case / "labels.csv")
    assert (labels.summary["tasks"], labels.summary["workers"]) == (3, 3)
    assert "cat and Cat and CAT differ only in letter case" in labels.err
    assert fitted(run, case / "responses.csv", "--truth", case / "truth.csv").summary["vi_nats"] == 0.0


@of("07_outer_spaces")
def test_outer_white_space_in_an_import(run: Run, case: Path, tmp_path: Path) -> None:
    create_without_images(tmp_path / "c.crowdclust", PlanSettings())
    told = run("import", "c.crowdclust", case / "responses.csv", "--json")
    assert told.code == 0
    with (case / "responses.csv").open(newline="") as file:
        workers = {row["worker"].strip() for row in csv.DictReader(file)}
    assert run("export", "c.crowdclust", "--out", "out").code == 0
    with (tmp_path / "out" / "responses.csv").open(newline="") as file:
        assert {row["worker"] for row in csv.DictReader(file)} == workers


@of("10_kardsort")
def test_kardsort_and_a_partial_sort(run: Run, case: Path, tmp_path: Path) -> None:
    assert fitted(run, case / "kardsort.csv").summary["pair_labels"] == 6
    create_without_images(tmp_path / "c.crowdclust", PlanSettings())
    for name in ("responses_partial.csv", "kardsort.csv"):
        direct = fitted(run, case / name).summary
        assert run("import", "c.crowdclust", case / name, "--json").summary["added"] == direct["responses"]


@of("11_line_number")
def test_the_line_of_the_row(run: Run, case: Path, tmp_path: Path) -> None:
    (tmp_path / "im").mkdir()
    for number in (1, 2, 3):
        Image.new("L", (8, 8), 40 * number).save(tmp_path / "im" / f"there{number}.png")
    plan = ("--items-per-hit", "3", "--redundancy", "1", "--workers-per-hit", "1")
    assert run("new", "c.crowdclust", "--images", "im", *plan).code == 0
    done = run("import", "c.crowdclust", case / "responses.csv")
    assert done.code == 2
    assert f"{case / 'responses.csv'}, line 5: the item absent.png is not in the campaign" in done.err
