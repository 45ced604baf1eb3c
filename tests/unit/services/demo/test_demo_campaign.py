"""The demo finds the four drawn categories, shows every kind of worker, and leaves nothing half-done."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.domain.errors import Cancelled, UserError
from crowdclust_app.services.annotate import annotation
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.campaign.counts import campaign_figures, submitted_times
from crowdclust_app.services.campaign.responses import read_table
from crowdclust_app.services.clusters.run_view import view_run
from crowdclust_app.services.demo import demo_campaign
from crowdclust_app.services.demo.demo_campaign import DemoReport, build_demo
from crowdclust_app.services.demo.demo_questions import CAREFUL, STRANGERS, YES_TO_ALL
from crowdclust_app.services.fits.run_store import load_run, run_list
from crowdclust_app.services.progress_report import ProgressReport
from crowdclust_app.services.verify.interview import Interview, question_sets
from crowdclust_app.services.verify.verdicts import IN, OUT, look_at_answers


@pytest.fixture(scope="module")
def reports() -> list[ProgressReport]:
    return []


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, reports: list[ProgressReport]) -> DemoReport:
    return build_demo(tmp_path_factory.mktemp("demo"), progress=reports.append)


@pytest.fixture(scope="module")
def campaign(made: DemoReport) -> Iterator[Campaign]:
    with Campaign.open(made.campaign) as campaign:
        yield campaign


def test_the_four_categories_come_out_exactly(made: DemoReport) -> None:
    assert made.summary["clusters"] == 4
    assert made.summary["cluster_sizes"] == [24, 24, 24, 24]
    assert made.summary["vi_nats"] == pytest.approx(0, abs=1e-12)
    assert made.summary["truth_items"] == demo_campaign.PICTURES == made.added
    assert made.summary["settings"]["label_weight"] == 0.2


def test_the_summary_has_the_keys_of_a_demo_and_of_a_fit(made: DemoReport) -> None:
    assert {"campaign", "added", "skipped", "warnings", "run", "bound", "verdicts"} <= made.summary.keys()
    assert made.summary["campaign"] == str(made.campaign)
    assert (made.summary["added"], made.summary["skipped"], made.summary["warnings"]) == (96, 0, [])


def test_the_run_is_stored_in_the_campaign(made: DemoReport, campaign: Campaign) -> None:
    assert [info.number for info in run_list(campaign)] == [made.run]
    run = load_run(campaign, made.run)
    assert run.settings.label_weight == demo_campaign.LABEL_WEIGHT
    assert run.fingerprint == read_table(campaign).fingerprint()
    truth = campaign.truth()
    pairs = Counter((truth[name], label) for name, label in zip(run.item_names, run.result.labels, strict=True))
    assert len(pairs) == 4


def test_each_workers_confusion_shows_the_two_groups_that_it_makes(made: DemoReport, campaign: Campaign) -> None:
    """By height: categories of one height go together; by colour: categories of one colour."""
    run = load_run(campaign, made.run)
    truth = campaign.truth()
    category_of = {label: truth[name] for name, label in zip(run.item_names, run.result.labels, strict=True)}
    words = [category_of[label].split() for label in range(1, 5)]
    for word, kind in enumerate(("height", "colour")):
        for number in range(1, 6):
            matrix = run.result.confusion[run.worker_names.index(f"By {kind} {number}")]
            together = np.array([[a[word] == b[word] for b in words] for a in words])
            assert matrix[together].min() > 0.8
            assert matrix[~together].max() < 0.2
    one_group = run.result.confusion[run.worker_names.index("All in one group")]
    assert one_group.min() > 0.9


def test_doubtful_workers_are_flagged_and_the_others_are_not(made: DemoReport, campaign: Campaign) -> None:
    seconds: dict[str, list[float]] = {}
    for time in submitted_times(campaign):
        seconds.setdefault(time.worker, []).append(time.active_seconds)
    rows = {row.name: row for row in view_run(load_run(campaign, made.run), read_table(campaign), seconds).workers}
    assert "random?" in rows["At random"].flags
    assert "one group?" in rows["All in one group"].flags
    sensible = [row for name, row in rows.items() if name.startswith("By ")]
    assert len(sensible) == 10
    assert all(row.flags == () for row in sensible)
    assert all(15 < row.seconds_per_hit < 60 for row in sensible)


def test_people_can_sort_in_it_too(campaign: Campaign) -> None:
    figures = campaign_figures(campaign)
    assert figures.assignments_submitted == 192
    assert figures.assignments_planned == 240
    person = campaign.add_worker("Somebody")
    assert annotation.progress_of(campaign, person).remaining == figures.hits
    assert annotation.next_assignment(campaign, person) is not None
    assert campaign.instructions == demo_campaign.INSTRUCTIONS


def test_pictures_are_found(campaign: Campaign, made: DemoReport) -> None:
    assert campaign.image_root == made.images
    assert all(campaign.item_path(item).is_file() for item in campaign.items())


def test_progress_never_goes_back(reports: list[ProgressReport], made: DemoReport) -> None:
    done = [report.done for report in reports]
    assert done == sorted(done)
    assert {report.total for report in reports} == {1000}
    assert done[-1] == 1000
    assert reports[-1].text == "The demo is ready"


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo_campaign, "PICTURES", 8)
    monkeypatch.setattr(demo_campaign, "ITEMS_PER_HIT", 4)
    monkeypatch.setattr(demo_campaign, "REDUNDANCY", 2)


@pytest.mark.usefixtures("small")
def test_an_earlier_demo_stays(tmp_path: Path) -> None:
    first, second = build_demo(tmp_path), build_demo(tmp_path, seed=1)
    assert [path.name for path in (first.campaign, second.campaign)] == ["demo.crowdclust", "demo-2.crowdclust"]
    assert first.images != second.images
    listed = {"demo.crowdclust", "demo-pictures", "demo-2.crowdclust", "demo-2-pictures"}
    assert {path.name for path in tmp_path.iterdir()} == listed


@pytest.mark.usefixtures("small")
def test_the_same_seed_gives_the_same_answers(tmp_path: Path) -> None:
    def answers(report: DemoReport) -> str:
        with Campaign.open(report.campaign) as campaign:
            return read_table(campaign).fingerprint()

    first, second = answers(build_demo(tmp_path / "a", seed=5)), answers(build_demo(tmp_path / "b", seed=5))
    assert first == second
    assert answers(build_demo(tmp_path / "c", seed=6)) != first


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("when", ["Drawing", "Reading", "By height", "start 1"])
def test_a_cancelled_demo_leaves_nothing(tmp_path: Path, when: str) -> None:
    cancel = CancelToken()

    def stop(report: ProgressReport) -> None:
        if report.text.startswith(when):
            cancel.cancel()

    with pytest.raises(Cancelled):
        build_demo(tmp_path / "out", progress=stop, cancel=cancel)
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.usefixtures("small")
def test_a_failing_demo_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(demo_campaign, "_sort", full)
    with pytest.raises(UserError, match="No space left on device"):
        build_demo(tmp_path / "out")
    assert list((tmp_path / "out").iterdir()) == []


def test_a_folder_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(UserError, match="file"):
        build_demo(tmp_path / "file")
    assert (tmp_path / "file").read_text() == "mine"


def test_some_have_answered_about_a_cluster_and_a_third_is_left(made: DemoReport, campaign: Campaign) -> None:
    (info,) = question_sets(campaign)
    asked = info.question_set
    assert (asked.run, asked.cluster, len(asked.items)) == (made.run, 1, 24 + STRANGERS)
    assert (info.labels, info.workers) == (2 * asked.labels_planned // 3, 5)
    outcome = look_at_answers(campaign, asked.number, ("mf",)).method("mf")
    assert outcome is not None
    labels = load_run(campaign, made.run).result.labels
    wrong = sum(outcome.verdict(at) == (OUT if labels[item] == 1 else IN) for at, item in enumerate(asked.items))
    assert wrong <= 3
    assert min(outcome.count(IN), outcome.count(OUT)) >= 6
    judges = {worker.name: worker for worker in outcome.workers}
    assert judges[YES_TO_ALL].specificity < min(judges[name].specificity for name in CAREFUL)
    visitor = campaign.add_worker("Visitor")
    assert Interview(campaign, asked).next_question(visitor) is not None
