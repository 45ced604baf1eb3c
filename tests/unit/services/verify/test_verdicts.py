"""What answers amount to: verdicts of every method, photos sorted by them, workers as judges, cost and bounds."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pytest

from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.domain.errors import Cancelled
from crowdclust_app.domain.methods import verify_names
from crowdclust_app.domain.questions import Answer, AnswerKind, Policy, QuestionSet
from crowdclust_app.inference.aggregators import FastSBIC, OnlineSBIC
from crowdclust_app.sampling.expected_error import uncertainty_bound, uniform_bound
from crowdclust_app.services.progress_report import ProgressReport
from crowdclust_app.services.verify.interview import PRIOR
from crowdclust_app.services.verify.verdicts import IN, OUT, UNDECIDED, verify

NOW = datetime(2026, 1, 1, tzinfo=UTC)
ITEMS = tuple(range(100, 160))
NAMES = {0: "Ann", 1: "Ben", 2: "Cem", 3: "Dot"}


def asked(policy: Policy = Policy.UNIFORM, wanted: int = 4) -> QuestionSet:
    return QuestionSet(1, "s", ITEMS, wanted, policy, 0, None, None, "mf", NOW)


def crowd(accuracy: tuple[float, ...] = (0.95, 0.9, 0.9, 0.8), seed: int = 0) -> list[Answer]:
    """Everybody answers about everything; even items belong; in random order."""
    rng = np.random.default_rng(seed)
    given = []
    for number, code in enumerate(rng.permutation(len(ITEMS) * len(accuracy)), start=1):
        item, worker = ITEMS[code // len(accuracy)], int(code % len(accuracy))
        right = rng.random() < accuracy[worker]
        said = AnswerKind.YES if (item % 2 == 0) == right else AnswerKind.NO
        given.append(Answer(number, item, worker, said, NOW, 2.0))
    return given


def test_every_method_finds_what_belongs() -> None:
    outcome = verify(asked(), crowd(), NAMES)
    assert tuple(method.method for method in outcome.methods) == verify_names()
    belongs = np.array([item % 2 == 0 for item in ITEMS])
    for method in outcome.methods:
        verdicts = [method.verdict(position) for position in range(len(ITEMS))]
        assert verdicts.count(IN) == method.count(IN) == int(method.has(IN).sum())
        assert method.count(IN) + method.count(OUT) + method.count(UNDECIDED) == len(ITEMS)
        wrong = (method.has(IN) & ~belongs) | (method.has(OUT) & belongs)
        assert wrong.sum() <= 3, method.method
        assert method.count(UNDECIDED) < 25
        p = method.probability
        assert method.expected_error == pytest.approx(np.minimum(p, 1 - p).mean())
        assert [worker.name for worker in method.workers] == list(NAMES.values())
    assert (outcome.labels, outcome.workers, outcome.seconds) == (240, 4, 480.0)


def test_where_nearly_all_belong_nobody_is_taken_for_a_liar() -> None:
    rng = np.random.default_rng(5)
    belongs = {item: item % 20 != 0 for item in ITEMS}
    given = [
        Answer(
            number, item, worker, AnswerKind.YES if belongs[item] == (rng.random() < 0.85) else AnswerKind.NO, NOW, 1.0
        )
        for number, (item, worker) in enumerate(((item, worker) for item in ITEMS for worker in range(3)), start=1)
    ]
    outcome = verify(asked(), given, NAMES)
    for name in ("em2", "mf", "bp2", "dawid-skene"):
        found = outcome.method(name)
        assert found is not None
        wrong = sum(found.verdict(at) == (OUT if belongs[item] else IN) for at, item in enumerate(ITEMS))
        assert wrong <= 6, name
        assert found.count(UNDECIDED) <= 9, name
        assert min(worker.sensitivity for worker in found.workers) > 0.7
    # the first answers make nothing certain of what comes next
    few = verify(asked(), [Answer(at, ITEMS[at], 1, AnswerKind.YES, NOW, 1.0) for at in range(2)], NAMES).method("bp2")
    assert few is not None
    assert 0.6 < few.probability[0] < 0.85


def test_the_streamed_verdicts_are_those_that_choose_the_next_question() -> None:
    given = crowd()
    online = OnlineSBIC(prior=PRIOR)
    for answer in given:
        online.partial_fit([answer.item], [answer.worker], [answer.said is AnswerKind.YES])
    found = verify(asked(), given, NAMES, ("sbic-fast",)).method("sbic-fast")
    assert found is not None
    np.testing.assert_allclose(found.probability, [online.probability(item) for item in ITEMS], atol=1e-12)
    assert FastSBIC.name == "sbic-fast"


def test_lists_hold_what_they_say_in_their_order() -> None:
    outcome = verify(asked(), crowd(), NAMES)
    total = outcome.yes + outcome.no
    shares = [abs(outcome.yes[p] / total[p] - 0.5) for p in outcome.disputed]
    assert shares == sorted(shares)
    assert all(outcome.yes[p] and outcome.no[p] for p in outcome.disputed)
    assert set(outcome.agreed) == set(range(len(ITEMS))) - set(outcome.disputed)
    kinds = [outcome.yes[p] > 0 for p in outcome.agreed]
    assert kinds == sorted(kinds, reverse=True)
    found = outcome.method("bp")
    assert found is not None
    inside = found.probability[list(outcome.with_verdict("bp", IN))]
    assert (np.diff(inside) <= 0).all()
    doubt = np.abs(found.probability[list(outcome.with_verdict("bp", UNDECIDED))] - 0.5)
    assert (np.diff(doubt) >= 0).all()
    everything = [p for verdict in (IN, OUT, UNDECIDED) for p in outcome.with_verdict("bp", verdict)]
    assert sorted(everything) == list(range(len(ITEMS)))
    assert outcome.with_verdict("te", IN) == ()
    said = outcome.who_said(3)
    assert {name for name, _ in said} == set(NAMES.values())
    assert sum(what is AnswerKind.YES for _, what in said) == outcome.yes[3]


def test_skips_and_photos_without_answers_decide_nothing() -> None:
    given = [
        Answer(1, 100, 0, AnswerKind.YES, NOW, 1.0),
        Answer(2, 101, 0, AnswerKind.SKIP, NOW, 5.0),
        Answer(3, 100, 1, AnswerKind.YES, NOW, 1.0),
        Answer(4, 102, 1, AnswerKind.NO, NOW, 1.0),
    ]
    outcome = verify(asked(), given, NAMES)
    assert (outcome.labels, outcome.workers, outcome.skips[1], outcome.seconds) == (3, 2, 1, 8.0)
    for method in outcome.methods:
        assert np.isnan(method.probability[[1, *range(3, 60)]]).all()
        assert method.verdict(1) == UNDECIDED
        assert method.probability[0] > 0.5 > method.probability[2]
    undecided = outcome.with_verdict("mf", UNDECIDED)
    assert undecided[-57:] == tuple(range(3, 60))
    assert outcome.agreed == (0,)


def test_answers_of_one_kind_only_are_no_fault() -> None:
    given = [Answer(n, ITEMS[n], n % 3, AnswerKind.YES, NOW, 1.0) for n in range(30)]
    outcome = verify(asked(), given, NAMES)
    assert len(outcome.methods) == len(verify_names())
    assert all(np.nanmin(method.probability) >= 0.5 for method in outcome.methods if method.method != "em2")


def test_nothing_said_yet() -> None:
    outcome = verify(asked(), [], NAMES)
    assert outcome.methods == ()
    assert (outcome.bound, outcome.bound_now, outcome.labels) == (None, None, 0)
    assert outcome.disputed == outcome.agreed == ()


@pytest.mark.parametrize(
    ("policy", "bound"), [(Policy.UNIFORM, uniform_bound), (Policy.UNCERTAINTY, uncertainty_bound)]
)
def test_the_theorem_is_that_of_the_policy(policy: Policy, bound: object) -> None:
    outcome = verify(asked(policy, wanted=6), crowd(), NAMES, ("majority",))
    assert callable(bound)
    assert outcome.bound == pytest.approx(bound(6.0, 360 / 4, *PRIOR))
    assert outcome.bound_now == pytest.approx(bound(4.0, 60.0, *PRIOR))
    assert outcome.bound < outcome.bound_now


def test_it_tells_how_far_it_is_and_can_be_stopped() -> None:
    reports: list[ProgressReport] = []
    verify(asked(), crowd(), NAMES, ("majority", "em"), reports.append)
    assert [(report.done, report.total) for report in reports] == [(0, 2), (1, 2)]
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        verify(asked(), crowd(), NAMES, cancel=token)


def test_what_would_take_minutes_is_not_among_the_others() -> None:
    given = [Answer(n, ITEMS[0] if n % 2 else ITEMS[1], 0, AnswerKind.YES, NOW, 1.0) for n in range(2)]
    assert verify(asked(), given, NAMES, ("bp2", "mf")).method("bp2") is not None
    many = QuestionSet(1, "s", tuple(range(20_001)), 1, Policy.UNIFORM, 0, None, None, "mf", NOW)
    given = [Answer(n, n, 0, AnswerKind.YES, NOW, 1.0) for n in range(20_001)]
    outcome = verify(many, given, NAMES, ("bp2", "mf"))
    assert [method.method for method in outcome.methods] == ["mf"]
