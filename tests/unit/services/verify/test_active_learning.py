"""Learning from images while photos are verified: predictions, the next question, gold items."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from crowdclust_app.domain.campaign import PlanSettings, Worker
from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.domain.errors import Cancelled, UserError
from crowdclust_app.domain.questions import AnswerKind, QuestionSet
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.campaign.creating import create_campaign
from crowdclust_app.services.verify import active_learning
from crowdclust_app.services.verify.active_learning import ActiveLearning, LearningSettings
from crowdclust_app.services.verify.interview import Interview, make_question_set
from crowdclust_app.services.verify.verdicts import IN, OUT, UNDECIDED

COUNT, ASKED = 40, 24


@pytest.fixture
def campaign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Forty photos, every other one red."""
    monkeypatch.setenv("CROWDCLUST_HOME", str(tmp_path / "home"))
    photos = tmp_path / "photos"
    photos.mkdir()
    rng = np.random.default_rng(0)
    for number in range(COUNT):
        pixels = rng.integers(0, 60, (16, 16, 3), dtype=np.uint8)
        pixels[..., 0] += 150 * (number % 2)
        Image.fromarray(pixels).save(photos / f"{number:02}.png")
    create_campaign(tmp_path / "red.crowdclust", photos, PlanSettings(4, 1, 1), "Sort")
    campaign = Campaign.open(tmp_path / "red.crowdclust")
    for name in ("Ann", "Ben", "Cem", "Dan"):
        campaign.add_worker(name)
    yield campaign
    campaign.close()


def is_red(item: int) -> bool:
    return item % 2 == 1


@pytest.fixture
def asked(campaign: Campaign) -> QuestionSet:
    """Three good workers have answered about the first of the photos; the last four are outside the set."""
    asked = make_question_set(campaign, "Is it red?", range(COUNT - 4), wanted=3)
    answer(campaign, asked, range(ASKED))
    active_learning.set_learning(campaign, asked.number, LearningSettings())
    return asked


def answer(campaign: Campaign, asked: QuestionSet, items, workers: int = 3, wrong: int = 11) -> None:
    interview = Interview(campaign, asked)
    for item in items:
        for worker in campaign.workers()[:workers]:
            good = (item + 5 * worker.number) % wrong != 0
            interview.answer(worker, item, AnswerKind.YES if is_red(item) == good else AnswerKind.NO, 1.0)


@pytest.mark.parametrize("method", ["gp", "experts"])
def test_every_photo_has_a_probability_and_predictions_are_marked(
    campaign: Campaign, asked: QuestionSet, method: str
) -> None:
    active_learning.set_learning(campaign, asked.number, LearningSettings(method=method))
    desk = ActiveLearning(campaign, asked.number)
    assert (desk.learnt, desk.stale()) == (None, True)
    texts = []
    learnt = desk.refresh(lambda report: texts.append(report.text))
    assert not desk.stale()
    assert desk.learnt is learnt
    assert {"looking at the photos", "learning from the answers"} <= set(texts)
    assert learnt.asked.tolist() == [True] * ASKED + [False] * (COUNT - 4 - ASKED)
    right = (learnt.probability > 0.5) == [is_red(item) for item in asked.items]
    assert right[:ASKED].all()
    assert right.mean() > 0.95  # 24 labelled photos and 20 features: one of those nobody was asked about may be wrong
    assert set(learnt.others) == set(range(COUNT - 4, COUNT))
    assert all((p > 0.5) == is_red(item) for item, p in learnt.others.items())
    assert [worker.name for worker in learnt.workers] == ["Ann", "Ben", "Cem"]
    for worker in learnt.workers:
        assert worker.labels == ASKED
        assert worker.interval[0] < worker.expertise < worker.interval[1]
        assert 0.5 < worker.sensitivity < 1
        assert 0 < worker.specificity_sd < 0.3
    assert (learnt.noise is None) == (method == "experts")
    assert (learnt.method, learnt.source, learnt.answers) == (method, "the photos", 3 * ASKED)
    assert sum(learnt.count(verdict) for verdict in (IN, OUT, UNDECIDED)) == len(asked.items)
    assert learnt.count(IN) == sum(learnt.verdict(place) == IN for place in range(len(asked.items)))


def test_new_answers_and_gold_items_make_it_stale_and_are_learnt_from(campaign: Campaign, asked: QuestionSet) -> None:
    desk = ActiveLearning(campaign, asked.number)
    first = desk.refresh()
    answer(campaign, asked, [30], workers=1)
    assert desk.stale()
    second = desk.refresh()
    assert second.answers == first.answers + 1
    assert second.asked[30]
    assert not first.asked[30]
    active_learning.mark_gold(campaign, asked.number, 2, False)
    assert desk.stale()
    third = desk.refresh()
    assert np.flatnonzero(third.gold).tolist() == [2]
    assert third.probability[2] < 0.05
    Interview(campaign, asked).undo(campaign.workers()[0])
    assert desk.stale()
    active_learning.set_learning(campaign, asked.number, LearningSettings(method="experts"))
    assert desk.stale()
    assert desk.refresh().answers == first.answers


def test_the_next_question_is_about_the_least_certain_photo_that_nobody_was_asked_about(
    campaign: Campaign, asked: QuestionSet
) -> None:
    desk = ActiveLearning(campaign, asked.number)
    ann, ben, cem, dan = campaign.workers()
    assert desk.next_question([ann.number]) is None  # nothing was learnt yet
    learnt = desk.refresh()
    found = desk.next_question([ann.number, ben.number])
    assert found is not None
    doubt = np.abs(learnt.probability - 0.5)[ASKED:]
    assert found.item == ASKED + int(doubt.argmin())
    assert found.worker in (ann.number, ben.number)
    assert 0 <= found.information_bits <= found.entropy_bits <= 1
    assert len(found.ahead) == 3
    assert found.item not in found.ahead
    assert desk.next_question([]) is None
    # whoever has answered or skipped it is not asked again; a newcomer may be
    Interview(campaign, asked).answer(cem, found.item, AnswerKind.SKIP, 1.0)
    again = desk.next_question([cem.number])
    assert again is not None
    assert again.item != found.item
    newcomer = desk.next_question([dan.number])
    assert newcomer is not None
    assert newcomer.worker == dan.number


def test_gold_items_are_not_asked_and_a_set_that_is_full_is_done(campaign: Campaign, asked: QuestionSet) -> None:
    desk = ActiveLearning(campaign, asked.number)
    desk.refresh()
    ann = campaign.workers()[0].number
    for item in range(ASKED, COUNT - 4):
        active_learning.mark_gold(campaign, asked.number, item, is_red(item))
    assert desk.next_question([ann]) is None  # the others were answered by Ann already
    dan = campaign.workers()[3].number
    found = desk.next_question([dan])
    assert found is not None
    assert found.item < ASKED
    for item in range(ASKED, COUNT - 4):
        assert active_learning.unmark_gold(campaign, asked.number, item)
    answer(campaign, asked, range(ASKED, COUNT - 4))
    assert desk.next_question([dan]) is None  # three answers a photo were wanted


def test_whoever_tells_more_is_asked(campaign: Campaign) -> None:
    asked = make_question_set(campaign, "Is it red?", range(COUNT), wanted=3)
    interview = Interview(campaign, asked)
    sure, guessing = campaign.workers()[:2]
    rng = np.random.default_rng(0)
    for item in range(30):
        interview.answer(sure, item, AnswerKind.YES if is_red(item) else AnswerKind.NO, 1.0)
        interview.answer(guessing, item, AnswerKind.YES if rng.random() < 0.5 else AnswerKind.NO, 1.0)
    for method in ("gp", "experts"):
        active_learning.set_learning(campaign, asked.number, LearningSettings(method=method))
        desk = ActiveLearning(campaign, asked.number)
        desk.refresh()
        found = desk.next_question([guessing.number, sure.number])
        assert found is not None
        assert found.worker == sure.number


def test_gold_alone_is_enough_to_begin_and_nothing_is_not(campaign: Campaign) -> None:
    asked = make_question_set(campaign, "Is it red?", range(COUNT))
    for method in ("gp", "experts"):
        active_learning.set_learning(campaign, asked.number, LearningSettings(method=method))
        desk = ActiveLearning(campaign, asked.number)
        with pytest.raises(UserError, match="nobody has answered yet"):
            desk.refresh()
        for item in range(16):
            active_learning.mark_gold(campaign, asked.number, item, is_red(item))
        learnt = desk.refresh()
        assert ((learnt.probability > 0.5) == [is_red(item) for item in range(COUNT)]).mean() > 0.9
        assert learnt.workers == ()
        assert desk.next_question([campaign.workers()[0].number]) is not None
        for item in range(16):
            active_learning.unmark_gold(campaign, asked.number, item)


def test_a_gold_item_is_a_decision_that_can_be_changed_and_taken_back(campaign: Campaign, asked: QuestionSet) -> None:
    from crowdclust_app.services.campaign.decisions import standing

    other = make_question_set(campaign, "Is it green?", [1, 2])
    active_learning.mark_gold(campaign, asked.number, 1, True)
    active_learning.mark_gold(campaign, asked.number, 1, True)
    active_learning.mark_gold(campaign, asked.number, 5, True)
    active_learning.mark_gold(campaign, asked.number, 5, False)
    active_learning.mark_gold(campaign, other.number, 1, False)
    assert active_learning.gold_of(campaign, asked.number) == {1: True, 5: False}
    assert active_learning.gold_of(campaign, other.number) == {1: False}
    assert len(standing(campaign, "gold")) == 3
    assert active_learning.unmark_gold(campaign, asked.number, 1)
    assert not active_learning.unmark_gold(campaign, asked.number, 1)
    assert active_learning.gold_of(campaign, asked.number) == {5: False}
    with pytest.raises(UserError, match="not in this question set"):
        active_learning.mark_gold(campaign, other.number, 7, True)


def test_settings_are_kept_with_the_set(campaign: Campaign, asked: QuestionSet, tmp_path: Path) -> None:
    other = make_question_set(campaign, "Is it green?", [1, 2])
    assert active_learning.learning_of(campaign, other.number) is None
    wanted = LearningSettings("experts", "table", path=str(tmp_path / "f.csv"))
    before = campaign.revision
    active_learning.set_learning(campaign, other.number, wanted)
    assert campaign.revision > before
    with Campaign.open(campaign.path) as again:
        assert active_learning.learning_of(again, other.number) == wanted
        assert active_learning.learning_of(again, asked.number) == LearningSettings()
    active_learning.set_learning(campaign, other.number, None)
    assert active_learning.learning_of(campaign, other.number) is None
    with pytest.raises(UserError, match="switched off"):
        ActiveLearning(campaign, other.number).refresh()


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"method": "majority"}, "no learner majority"),
        ({"source": "smell"}, "no features from smell"),
        ({"source": "run"}, "need the run's number"),
        ({"source": "photos", "run": 1}, "need the run's number"),
        ({"source": "model"}, "need the file"),
        ({"path": "x"}, "need the file"),
    ],
)
def test_settings_that_do_not_go_together_are_refused(values: dict, said: str) -> None:
    with pytest.raises(UserError, match=said):
        LearningSettings(**values)


def test_settings_of_a_newer_program_are_one_sentence(campaign: Campaign, asked: QuestionSet) -> None:
    from crowdclust_app.storage import questions

    with campaign.database.write() as connection:
        questions.set_learning(connection, asked.number, '{"method":"gp","depth":3}')
    with pytest.raises(UserError, match="another version of the program"):
        active_learning.learning_of(campaign, asked.number)


def test_features_from_a_table_and_what_is_wrong_with_it(
    campaign: Campaign, asked: QuestionSet, tmp_path: Path
) -> None:
    table = tmp_path / "f.csv"
    active_learning.set_learning(campaign, asked.number, LearningSettings(source="table", path=str(table)))
    desk = ActiveLearning(campaign, asked.number)
    with pytest.raises(UserError, match="no such file"):
        desk.refresh()
    rows = "".join(f"{item:02}.png,{item % 2},{'' if item == 3 else 1}\n" for item in range(COUNT) if item != 7)
    table.write_text("item,red,one\n" + rows)
    learnt = desk.refresh()
    assert ((learnt.probability > 0.5) == [is_red(item) for item in asked.items]).mean() > 0.9
    assert any("1 of 78 features are missing" in warning for warning in learnt.warnings)
    assert any("1 task has no features" in warning for warning in learnt.warnings)
    table.write_text("item,red\nelsewhere,1\n")
    with pytest.raises(UserError, match="not one task with labels"):
        ActiveLearning(campaign, asked.number).refresh()


def test_features_from_the_positions_of_a_run(campaign: Campaign, asked: QuestionSet) -> None:
    from crowdclust_app.domain.fit_settings import FitSettings
    from crowdclust_app.services.exchange.importing import import_table
    from crowdclust_app.services.fits.campaign_fits import fit_campaign

    source = campaign.path.parent / "responses.csv"
    lines = [f"h{h},w{w},{item:02}.png,{item % 2}" for h in range(4) for w in range(3)
             for item in range(h * 10, h * 10 + 10)]  # fmt: skip
    lines += [f"x{w},w{w},{item:02}.png,{item % 2}" for w in range(3) for item in range(0, COUNT, 3)]
    source.write_text("hit,worker,item,group\n" + "\n".join(lines) + "\n")
    import_table(campaign, source)
    settings = FitSettings(dimensions=2, n_starts=1, n_clusters="bound", label_weight=1.0, folds=0, max_iterations=20)
    run = fit_campaign(campaign, settings)
    active_learning.set_learning(campaign, asked.number, LearningSettings(source="run", run=run.number))
    learnt = ActiveLearning(campaign, asked.number).refresh()
    assert learnt.source == f"run {run.number}"
    assert ((learnt.probability > 0.5) == [is_red(item) for item in asked.items]).mean() > 0.9
    active_learning.set_learning(campaign, asked.number, LearningSettings(source="run", run=99))
    with pytest.raises(UserError, match="99"):
        ActiveLearning(campaign, asked.number).refresh()


def test_photos_that_cannot_be_read_are_named(campaign: Campaign, asked: QuestionSet) -> None:
    (campaign.image_root / "05.png").write_bytes(b"no picture any more")
    learnt = ActiveLearning(campaign, asked.number).refresh()
    assert [name for name, _ in learnt.left_out] == ["05.png"]
    assert np.isfinite(learnt.probability).all()


def test_cancelling_leaves_what_was_learnt(campaign: Campaign, asked: QuestionSet) -> None:
    desk = ActiveLearning(campaign, asked.number)
    learnt = desk.refresh()
    answer(campaign, asked, [30])
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        desk.refresh(cancel=token)
    assert desk.learnt is learnt
    assert desk.refresh().asked[30]


def test_a_question_for_nobody_in_particular_says_nothing_of_gold(campaign: Campaign, asked: QuestionSet) -> None:
    active_learning.mark_gold(campaign, asked.number, 30, False)
    desk = ActiveLearning(campaign, asked.number)
    desk.refresh()
    worker = Worker(1, "Ann")
    found = desk.next_question([worker.number])
    assert found is not None
    assert found.item != 30
    assert not any("gold" in name for name in found.__slots__)
