"""Verification in an export: labels, what they amount to, reliabilities, and the column `verified`."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from campaign_making import MakeCampaign, do_next

from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.domain.errors import Cancelled
from crowdclust_app.domain.fit_settings import FitSettings
from crowdclust_app.domain.methods import verify_names
from crowdclust_app.domain.questions import AnswerKind, Policy, QuestionSet
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.exchange.export_preview import tables_to_write
from crowdclust_app.services.exchange.exporting import export_campaign
from crowdclust_app.services.fits.campaign_fits import fit_campaign
from crowdclust_app.services.fits.run_store import load_run, run_list
from crowdclust_app.services.verify.aggregating import AggregateSettings, aggregate_file
from crowdclust_app.services.verify.interview import Interview, choose_method, make_question_set
from crowdclust_app.services.verify.question_tables import question_tables
from crowdclust_app.services.verify.verdicts import look_at_answers, verified_items

Rows = list[dict[str, str]]


@pytest.fixture
def campaign(make_campaign: MakeCampaign) -> Campaign:
    campaign = make_campaign()
    for name in ("Ann", "Ben", "=Cem"):
        worker = campaign.add_worker(name)
        while do_next(campaign, worker) is not None:
            pass
    fit_campaign(campaign, FitSettings(dimensions=2, n_starts=1))
    return campaign


def ask(campaign: Campaign, asked: QuestionSet, most: int = 99) -> None:
    """Everybody answers: yes to items below 6, the last worker the other way round."""
    interview = Interview(campaign, asked)
    for worker in campaign.workers():
        for _ in range(most):
            question = interview.next_question(worker)
            if question is None:
                break
            yes = (question.item < 6) != (worker.number == 2)
            interview.answer(worker, question.item, AnswerKind.YES if yes else AnswerKind.NO, 1.0)


def read(folder: Path, name: str) -> Rows:
    with (folder / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_without_questions_nothing_is_written(campaign: Campaign, tmp_path: Path) -> None:
    make_question_set(campaign, "Really?", [1, 2])
    files = {path.name for path in export_campaign(campaign, tmp_path / "out")}
    assert not files & {"labels.csv", "labels_inferred.csv", "reliability.csv"}
    assert {row["verified"] for row in read(tmp_path / "out", "clusters.csv")} == {""}


def test_answers_go_out_and_can_be_aggregated_as_they_are(campaign: Campaign, tmp_path: Path) -> None:
    asked = make_question_set(campaign, "Is it, really?", range(12), policy=Policy.UNIFORM)
    ask(campaign, asked)
    out = tmp_path / "out"
    written = export_campaign(campaign, out)
    labels, inferred, reliability = (
        read(out, name) for name in ("labels.csv", "labels_inferred.csv", "reliability.csv")
    )
    assert len(labels) == 36
    assert {row["question"] for row in labels} == {"Is it, really?"}
    assert [int(row["order"]) for row in labels] == sorted(int(row["order"]) for row in labels)
    assert {row["worker"] for row in labels} == {"Ann", "Ben", "'=Cem"}
    assert len(inferred) == 12 * len(verify_names())
    assert len(reliability) == 3 * len(verify_names())
    paths = [item.path for item in campaign.items()]
    majority = {row["task"]: row["label"] for row in inferred if row["method"] == "majority"}
    assert majority == {path: "yes" if number < 6 else "no" for number, path in enumerate(paths)}
    accuracy = {row["worker"]: float(row["accuracy"]) for row in reliability if row["method"] == "mf"}
    assert accuracy["'=Cem"] < 0.3 < 0.7 < accuracy["Ann"]
    # the written table aggregates to the written result
    settings = AggregateSettings(method="dawid-skene", classes=("no", "yes"))
    report = aggregate_file(out / "labels.csv", settings)
    (fitted,) = report.fitted
    ours = {row["task"]: float(row["probability"]) for row in inferred if row["method"] == "dawid-skene"}
    best = dict(zip(fitted.tasks_, fitted.probabilities_.max(axis=1), strict=True))
    np.testing.assert_allclose([ours[str(task)] for task in best], list(best.values()), atol=1e-12)
    # and the preview knew the rows
    previewed = {table.name: table.rows for table in tables_to_write(campaign, 1)}
    assert set(previewed) == {path.name for path in written}
    for name in ("labels.csv", "labels_inferred.csv", "reliability.csv"):
        assert previewed[name] == len(read(out, name))


def test_several_sets_keep_their_tasks_apart_and_workers_may_be_numbers(campaign: Campaign, tmp_path: Path) -> None:
    for sentence in ("First?", "Second?"):
        ask(campaign, make_question_set(campaign, sentence, [3, 4, 8], policy=Policy.UNIFORM))
    export_campaign(campaign, tmp_path / "out", anonymous=True)
    labels = read(tmp_path / "out", "labels.csv")
    paths = [item.path for item in campaign.items()]
    assert {row["task"] for row in labels} == {f"{n}:{paths[item]}" for n in (1, 2) for item in (3, 4, 8)}
    assert {row["worker"] for row in labels} == {"1", "2", "3"}
    assert {row["worker"] for row in read(tmp_path / "out", "reliability.csv")} == {"1", "2", "3"}
    report = aggregate_file(tmp_path / "out" / "labels.csv", AggregateSettings(method="majority"))
    assert report.summary["repeated"] == 0


def test_verdicts_go_back_to_the_cluster_that_was_asked_about(campaign: Campaign, tmp_path: Path) -> None:
    run = load_run(campaign, 1)
    members = [number for number in range(12) if run.result.shown[number] and run.result.labels[number] == 1]
    stranger = next(iter(set(range(12)) - set(members)), None)
    items = members if stranger is None else [*members, stranger]
    asked = make_question_set(campaign, "Right?", items, wanted=3, policy=Policy.UNIFORM, run=1, cluster=1)
    ask(campaign, asked, most=len(items) - 1)
    choose_method(campaign, asked.number, "majority")
    outcome = look_at_answers(campaign, asked.number, ("majority",)).method("majority")
    assert outcome is not None
    export_campaign(campaign, tmp_path / "out")
    verified = {row["item"]: row["verified"] for row in read(tmp_path / "out", "clusters.csv")}
    paths = [item.path for item in campaign.items()]
    for place, item in enumerate(items):
        asked_at_all = not np.isnan(outcome.probability[place])
        expected = outcome.verdict(place) if item in members and asked_at_all else ""
        assert verified[paths[item]] == expected
    assert sum(value != "" for value in verified.values()) >= len(members) - 1
    # another run's clusters are other clusters
    fit_campaign(campaign, FitSettings(dimensions=2, n_starts=1, seed=1))
    export_campaign(campaign, tmp_path / "newer")
    assert {row["verified"] for row in read(tmp_path / "newer", "clusters.csv")} == {""}


def test_an_export_can_be_cancelled_while_answers_are_aggregated(campaign: Campaign) -> None:
    run = run_list(campaign)[0]
    ask(campaign, make_question_set(campaign, "Is it, really?", range(12), run=run.number, cluster=1))
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        list(question_tables(campaign, str, token))
    with pytest.raises(Cancelled):
        verified_items(campaign, load_run(campaign, run.number), token)
