"""The kinds of table that people really have, and what every aggregator does with them."""

# mypy: disable-error-code="attr-defined"
# what is fitted has names that not all aggregators share

from __future__ import annotations

import numpy as np
import pytest
from label_tables import simulated

from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.domain.errors import Cancelled, NotConvergedWarning, UserError
from crowdclust_app.domain.methods import names_of
from crowdclust_app.inference.aggregators import (
    KOS,
    Aggregator,
    DawidSkene,
    FastSBIC,
    Gibbs,
    Majority,
    OnlineSBIC,
    SharedSortedSBIC,
    SoftVote,
    SortedSBIC,
    encode_labels,
    method_named,
)
from crowdclust_app.inference.aggregators.scoring import score

OF_CLASSES = [name for name in names_of("aggregator") if name != "continuous"]
# Methods whose answer is a posterior: one label moves it a little and no more.
CAUTIOUS = ["soft-vote", "amf", "mf", "bp", "amf2", "mf2", "bp2", "sbic-fast", "sbic-sorted", "sbic-sorted-shared",
            "gibbs"]  # fmt: skip
DRAWN = {"gibbs", "ebcc", "community-bcc"}
BY_ORDER = {"sbic-fast", "sbic-sorted", "sbic-sorted-shared"}


def make(name: str, **parameters: object) -> Aggregator:
    small = {"gibbs": {"burn_in": 30, "samples": 60}, "ebcc": {"n_starts": 3}}.get(name, {})
    return method_named(name)(**small, **parameters)  # type: ignore[arg-type]


def columns(rows: str) -> tuple[list[str], list[str], list[str | None]]:
    """`t1 ann 1; t1 bob 0` as three columns; `-` is a missing label."""
    cells = [row.split() for row in rows.split(";")]
    return [c[0] for c in cells], [c[1] for c in cells], [None if c[2] == "-" else c[2] for c in cells]


def assert_sound(fitted: Aggregator) -> None:
    assert np.isfinite(fitted.probabilities_).all()
    np.testing.assert_allclose(fitted.probabilities_.sum(axis=1), 1.0, atol=1e-9)
    assert fitted.probabilities_.shape == (len(fitted.tasks_), len(fitted.classes_))
    for name in ("accuracy_", "accuracy_sd_"):
        figures = getattr(fitted, name)
        assert ((figures >= 0) & (figures <= 1)).all()
    assert len(fitted.labels_) == len(fitted.codes_) == len(fitted.ties_) == len(fitted.label_counts_)


TIED = columns("a u 1; a v 0; b u 1; b v 1; b w 1; c u 0; c v 0; c w 0")


def test_ties_are_flagged_and_resolved_by_the_policy_that_was_named() -> None:
    open_tie = Majority().fit(*TIED)
    assert open_tie.ties_.tolist() == [True, False, False]
    assert open_tie.predict().tolist() == [None, "1", "0"]
    assert open_tie.predict_proba(["a"]).tolist() == [[0.5, 0.5]]
    drawn = {Majority(ties="random", seed=seed).fit(*TIED).labels_[0] for seed in range(20)}
    assert drawn == {"0", "1"}
    assert (
        Majority(ties="random", seed=3).fit(*TIED).labels_[0] == Majority(ties="random", seed=3).fit(*TIED).labels_[0]
    )
    for share, expected in ((0.4, "0"), (0.6, "1"), (0.5, None)):
        by_prior = Majority(ties="prior", prevalence=share).fit(*TIED)
        assert by_prior.labels_[0] == expected
        assert by_prior.ties_[0]
    with pytest.raises(UserError, match="the policy for ties 'first' is unknown"):
        Majority(ties="first").fit(*TIED)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", OF_CLASSES)
def test_equal_probabilities_are_undecided_and_not_the_first_class(name: str) -> None:
    # everything there is about task t is said once for and once against, by workers alike in everything else
    rows = "t u 1; t v 0; x u 1; x v 1; y u 0; y v 0"
    fitted = make(name, prevalence=0.5, order="arrival").fit(*columns(rows)) if name in BY_ORDER else (
        make(name, prevalence=0.5).fit(*columns(rows)))  # fmt: skip
    if name in DRAWN | BY_ORDER:
        return assert_sound(fitted)  # the draw or the order decides
    assert fitted.ties_[0]
    assert fitted.labels_[0] is None
    assert fitted.codes_[0] == -1
    np.testing.assert_allclose(fitted.probabilities_[0], 0.5)
    return None


@pytest.mark.parametrize("name", OF_CLASSES)
def test_a_missing_label_is_missing_and_its_task_is_listed(name: str) -> None:
    with_missing = columns("a u 1; a v 1; a w 0; b u 0; b v 0; b w -; c u 1; c w 1; d v -; d w -")
    without = columns("a u 1; a v 1; a w 0; b u 0; b v 0; c u 1; c w 1")
    fitted, plain = make(name, seed=1).fit(*with_missing), make(name, seed=1).fit(*without)
    assert_sound(fitted)
    assert fitted.classes_ == ("0", "1")
    assert fitted.n_dropped_ == 3
    assert fitted.tasks_ == ("a", "b", "c", "d")
    assert fitted.tasks_without_labels_ == ("d",)
    assert fitted.labels_[3] is None
    assert not fitted.ties_[3]
    assert fitted.label_counts_.tolist() == [3, 2, 2, 0]
    if name not in DRAWN | BY_ORDER:  # another table is another draw
        np.testing.assert_allclose(fitted.probabilities_[:3], plain.probabilities_, atol=1e-9)


@pytest.mark.parametrize("missing", [None, float("nan"), "", "  "])
def test_whatever_says_missing_is_missing(missing: object) -> None:
    fitted = Majority().fit(["a", "a", "b"], ["u", "v", "u"], [1, missing, 0])
    assert fitted.classes_ == (0, 1)
    assert fitted.n_dropped_ == 1
    masked = Majority().fit(["a", "a", "b"], ["u", "v", "u"], np.ma.masked_array([1, 7, 0], [False, True, False]))
    assert masked.classes_ == (0, 1)
    numbers = Majority().fit(["a", "a", "b"], ["u", "v", "u"], np.array([1.0, np.nan, 0.0]))
    assert numbers.classes_ == (0, 1)
    assert [type(value) for value in numbers.classes_] == [int, int]


class Column:
    """What a data frame gives for a column, a categorical one too."""

    def __init__(self, values: list[object]) -> None:
        self.values = values

    def to_numpy(self) -> np.ndarray:
        return np.array(self.values, dtype=object)


@pytest.mark.filterwarnings("ignore:bp-max did not converge")
@pytest.mark.parametrize("name", OF_CLASSES)
def test_integers_text_truth_values_and_categories_mean_the_same(name: str) -> None:
    table, _ = simulated(15, 6, 4)
    tasks, workers, numbers = table.task, table.worker, table.label
    expected = make(name).fit(tasks, workers, numbers)
    kinds = {
        "text": [str(n) for n in numbers],
        "truth": (numbers == 1),
        "floats": numbers.astype(float),
        "categories": Column([str(n) for n in numbers]),
        "truth as text": ["true" if n else "false" for n in numbers],
        "mixed": [str(n) if at % 2 else int(n) for at, n in enumerate(numbers)],
    }
    for labels in kinds.values():
        fitted = make(name).fit({"task": tasks, "worker": workers, "label": labels})
        np.testing.assert_array_equal(fitted.probabilities_, expected.probabilities_)
        np.testing.assert_array_equal(fitted.codes_, expected.codes_)
    assert make(name).fit(tasks, workers, kinds["truth"]).classes_ == (False, True)
    assert score(expected, dict.fromkeys(expected.tasks_, True)) == score(expected, dict.fromkeys(expected.tasks_, "1"))


@pytest.mark.parametrize("name", OF_CLASSES)
def test_one_label_alone_is_a_result(name: str) -> None:
    fitted = make(name, classes=(0, 1)).fit(["t"], ["w"], [1])
    assert_sound(fitted)
    assert fitted.labels_[0] in (1, None)
    if name in CAUTIOUS:
        assert 0.5 < fitted.probabilities_[0, 1] < 0.8
        assert 0.5 < fitted.accuracy_[0] < 0.8


@pytest.mark.parametrize("name", OF_CLASSES)
def test_one_task_and_a_worker_with_one_label_are_results(name: str) -> None:
    one_task = make(name).fit(["t"] * 3, ["u", "v", "w"], [1, 1, 0])
    assert_sound(one_task)
    assert one_task.labels_[0] in (1, None)
    table, _ = simulated(20, 6, 4)
    tasks, workers, labels = [*table.task, 0], [*table.worker, 99], [*table.label, 1]
    fitted = make(name).fit(tasks, workers, labels)
    assert_sound(fitted)
    assert fitted.worker_label_counts_[-1] == 1
    assert fitted.accuracy_sd_[-1] > fitted.accuracy_sd_[:-1].max()


@pytest.mark.parametrize("name", OF_CLASSES)
def test_one_class_is_refused_where_two_are_needed(name: str) -> None:
    labels = (["a", "b"], ["u", "u"], ["yes", "yes"])
    if name in {"majority", "soft-vote"}:
        assert make(name).fit(*labels).labels_.tolist() == ["yes", "yes"]
        return
    with pytest.raises(UserError, match=f"^{name} needs two classes and every label is yes; declare the other"):
        make(name).fit(*labels)
    declared = make(name, classes=("no", "yes")).fit(*labels)
    assert declared.classes_ == ("no", "yes")
    assert_sound(declared)


@pytest.mark.parametrize("name", OF_CLASSES)
def test_workers_who_never_overlap_give_a_result_with_low_confidence(name: str) -> None:
    fitted = make(name).fit(["a", "b"], ["u", "v"], [1, 0])
    assert_sound(fitted)
    if name == "ebcc":
        return  # its many parameters follow the draw where there is next to nothing to learn from
    assert fitted.labels_[0] in (1, None)
    assert fitted.labels_[1] in (0, None)
    if name in CAUTIOUS:
        assert fitted.probabilities_.max() < 0.8


REPEATED = columns("a u 1; a v 1; a u 0; b u 0; b v 0; b v 0; c u 1; c v 1")


@pytest.mark.parametrize("name", OF_CLASSES)
@pytest.mark.parametrize("policy", ["first", "last", "all"])
def test_repeats_count_by_policy_and_are_counted(name: str, policy: str) -> None:
    fitted = make(name, repeats=policy).fit(*REPEATED)
    assert_sound(fitted)
    assert (fitted.n_repeated_, fitted.n_conflicting_, fitted.repeats_) == (2, 1, policy)
    assert fitted.label_counts_.tolist() == {"first": [2, 2, 2], "last": [2, 2, 2], "all": [3, 3, 2]}[policy]


def test_the_policy_chooses_the_label() -> None:
    assert Majority(repeats="first").fit(*REPEATED).probabilities_[0].tolist() == [0.0, 1.0]
    assert Majority(repeats="last").fit(*REPEATED).probabilities_[0].tolist() == [0.5, 0.5]
    assert Majority(repeats="all").fit(*REPEATED).probabilities_[0, 1] == pytest.approx(2 / 3)
    with pytest.raises(UserError, match=r"^u labelled the task a more than once and differently \(1 such pair\)"):
        Majority(repeats="refuse").fit(*REPEATED)
    agreed = columns("a u 1; a u 1; b u 0")
    kept = Majority(repeats="refuse").fit(*agreed)
    assert kept.n_repeated_ == 1
    assert kept.label_counts_.tolist() == [1, 1]
    with pytest.raises(UserError, match="the policy for repeats 'some' is unknown"):
        Majority(repeats="some").fit(*agreed)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", OF_CLASSES)
def test_a_class_that_is_lost_or_never_used_is_kept(name: str) -> None:
    if method_named(name).most_classes == 2:
        fitted = make(name, classes=("no", "yes")).fit(["a", "b"], ["u", "u"], ["no", "no"])
        assert fitted.classes_ == ("no", "yes")
        return
    labels = "a u x; a v x; a w y; b u x; b v x; c u z; c v z; c w z; d u z; d v z"
    fitted = make(name, classes=("w", "x", "y", "z")).fit(*columns(labels))
    assert_sound(fitted)
    assert fitted.classes_ == ("w", "x", "y", "z")
    assert fitted.probabilities_.shape == (4, 4)
    assert fitted.labels_.tolist() == ["x", "x", "z", "z"]
    with pytest.raises(UserError, match="the label y is not among the classes x, z"):
        make(name, classes=("x", "z")).fit(*columns(labels))
    with pytest.raises(UserError, match="the declared class x is there twice"):
        make(name, classes=("x", "x")).fit(*columns(labels))


@pytest.mark.parametrize("name", names_of("aggregator"))
def test_every_method_can_be_cancelled_and_reports(name: str) -> None:
    table, _ = simulated(30, 8, 4)
    steps = []
    make(name).fit_encoded(table, progress=steps.append)
    assert steps
    assert all(step.iteration <= step.max_iterations and step.seconds >= 0 for step in steps)
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        make(name).fit_encoded(table, cancel=token)


@pytest.mark.parametrize("name", ["em", "amf", "mf", "bp", "bp-max", "em2", "mf2", "bp2", "kos", "dawid-skene"])
def test_cancelling_stops_within_one_iteration(name: str) -> None:
    table, _ = simulated(30, 8, 4)
    token, seen = CancelToken(), []

    def stop(step: object) -> None:
        seen.append(step)
        token.cancel()

    with pytest.raises(Cancelled):
        make(name, tolerance=0.0).fit_encoded(table, progress=stop, cancel=token)
    assert len(seen) == 1


@pytest.mark.parametrize("name", ["kos", "kos-normalised"])
def test_kos_on_irregular_degrees_and_on_scores_of_zero(name: str) -> None:
    # one worker labels everything, others once: without rescaling a thousand rounds overflow
    tasks = [*range(200), *range(200), *range(100)]
    workers = ["busy"] * 200 + [f"w{n}" for n in range(200)] + ["half"] * 100
    labels = [n % 2 for n in range(200)] + [(n % 2) ^ (n % 7 == 0) for n in range(200)] + [n % 2 for n in range(100)]
    fitted = make(name, max_iterations=1000, tolerance=0.0)
    with pytest.warns(NotConvergedWarning, match="did not converge in 1000 iterations"):
        fitted.fit(tasks, workers, labels)
    assert_sound(fitted)
    zero = make(name).fit(["a", "a"], ["u", "v"], [0, 1])
    assert zero.scores_.tolist() == [0.0]
    assert zero.labels_.tolist() == [None]
    assert zero.ties_.tolist() == [True]


def test_kos_is_ten_rounds_and_says_whether_they_were_enough() -> None:
    table, _ = simulated(60, 12, 5, seed=1)
    fitted = KOS().fit(table)
    assert fitted.n_iterations_ == 10
    assert fitted.notes_ == ()


@pytest.mark.parametrize("name", OF_CLASSES)
def test_scripts_commas_and_quotes_are_names_like_others(name: str) -> None:
    names = {0: "いいえ", 1: 'да, "конечно"'}
    table, _ = simulated(12, 6, 4)
    tasks = [f"задача,{t:02d}" for t in table.task]
    workers = [f'w"{j:02d}"' for j in table.worker]
    fitted = make(name, classes=tuple(names.values())).fit(tasks, workers, [names[int(n)] for n in table.label])
    plain = make(name, classes=(0, 1)).fit_encoded(table)
    np.testing.assert_allclose(fitted.probabilities_, plain.probabilities_, atol=1e-12)
    assert fitted.tasks_[0] == "задача,00"
    assert set(fitted.labels_) <= {*names.values(), None}


def test_truth_of_some_tasks_is_scored_over_those() -> None:
    fitted = SoftVote(pseudo_votes=0).fit(*columns("a u 1; a v 1; a w 0; b u 1; b v 0; c u 0; d u -"))
    scores = score(fitted, {"a": "1", "b": "0", "d": "1", "elsewhere": "1"})
    assert scores.tasks == 2
    assert scores.error == 0.25  # a right, b a tie
    assert scores.log_loss == pytest.approx(-(np.log(2 / 3) + np.log(1 / 2)) / 2)
    assert scores.brier == pytest.approx(((1 / 3) ** 2 + 0.25) / 2)
    assert score(fitted, {"elsewhere": "1"}).tasks == 0
    assert score(fitted, {"elsewhere": "1"}).error is None
    assert score(fitted, {"c": "never heard of"}).error == 1.0
    # three classes tied: choosing at random is right once in three, whatever the policy says
    three = columns("a u x; a v y; a w z; b u x")
    for policy in ("undecided", "random"):
        tied = Majority(ties=policy).fit(*three)
        assert score(tied, {"a": "z"}).error == pytest.approx(2 / 3)
    assert score(Majority().fit(*columns("a u x; a v y; b u z")), {"a": "z"}).error == 1.0


@pytest.mark.parametrize("name", ["em", "amf", "mf", "bp", "em2", "amf2", "mf2", "bp2", "gibbs", "te", "te-overlap",
                                  "bp-max", "dawid-skene-map", "sbic-fast", "sbic-sorted",
                                  "sbic-sorted-shared"])  # fmt: skip
def test_adversaries_are_named_when_the_prior_allows_it(name: str) -> None:
    table, truth = simulated(60, 10, 6, seed=2)
    against = encode_labels(table.task, table.worker, 1 - table.label)
    believed = make(name, prior=(1.0, 4.0)).fit_encoded(against)
    assert np.mean(believed.codes_ == truth) > 0.85
    assert any(note.endswith("10 workers seem to answer the opposite of the truth") for note in believed.notes_)
    trusted = make(name).fit_encoded(table)
    assert not any("opposite" in note for note in trusted.notes_)


@pytest.mark.parametrize("name", names_of("aggregator"))
def test_the_order_of_rows_changes_nothing_but_what_says_so(name: str) -> None:
    table, _ = simulated(25, 8, 4)
    tasks, workers, labels = (column.tolist() for column in (table.task, table.worker, table.label))
    expected = make(name).fit(tasks, workers, labels)
    order = np.random.default_rng(5).permutation(len(tasks))
    shuffled = make(name).fit([tasks[n] for n in order], [workers[n] for n in order], [labels[n] for n in order])
    assert shuffled.tasks_ == expected.tasks_
    if name in BY_ORDER:
        assert "the result depends on the order in which the labels are taken" in expected.notes_
    elif name == "continuous":
        np.testing.assert_array_equal(shuffled.values_, expected.values_)
    else:
        np.testing.assert_array_equal(shuffled.probabilities_, expected.probabilities_)
        np.testing.assert_array_equal(shuffled.accuracy_, expected.accuracy_)
        assert not any("order" in note for note in expected.notes_)


def test_the_order_of_streaming_is_drawn_by_the_seed_or_taken_as_it_stands() -> None:
    table, _ = simulated(25, 8, 4)
    drawn = [FastSBIC(seed=seed).fit_encoded(table).log_odds_ for seed in (0, 0, 1)]
    np.testing.assert_array_equal(drawn[0], drawn[1])
    assert np.abs(drawn[0] - drawn[2]).max() > 1e-3
    arrived = [FastSBIC(seed=seed, order="arrival").fit_encoded(table).log_odds_ for seed in (0, 1)]
    np.testing.assert_array_equal(*arrived)
    with pytest.raises(UserError, match="the order 'sorted' is unknown"):
        FastSBIC(order="sorted").fit_encoded(table)  # type: ignore[arg-type]


@pytest.mark.parametrize("method", [FastSBIC, SortedSBIC, SharedSortedSBIC])
def test_a_prior_that_says_nothing_is_refused(method: type[Aggregator]) -> None:
    table, _ = simulated(10, 5, 3)
    with pytest.raises(UserError, match="with the prior 1,1 and even classes no label says anything"):
        method(prior=(1.0, 1.0)).fit_encoded(table)
    with pytest.raises(UserError, match="no label says anything"):
        OnlineSBIC(prior=(3.0, 3.0)).partial_fit([0], [0], [1])
    assert_sound(method(prior=(1.0, 1.0), prevalence=0.6).fit_encoded(table))
    three = (["a", "b", "c"], ["u", "u", "v"], ["x", "y", "z"])
    with pytest.raises(UserError, match="with the prior 1,2 and even classes no label says anything"):
        method(prior=(1.0, 2.0)).fit(*three)
    assert method(prior=(1.0, 1.0)).fit(*three).labels_.tolist() == ["x", "y", "z"]


@pytest.mark.parametrize("name", names_of("aggregator"))
def test_no_labels_are_refused(name: str) -> None:
    for labels in ([], [None, float("nan")]):
        with pytest.raises(
            UserError, match=r"^there are no labels; give at least one row with task, worker and label\."
        ):
            make(name).fit(["a", "b"][: len(labels)], ["u", "v"][: len(labels)], labels)


def test_chains_that_disagree_are_named() -> None:
    # two camps of equal size that always contradict each other: either may be the one that is right
    tasks = [t for t in range(30) for _ in range(8)]
    workers = [j for _ in range(30) for j in range(8)]
    labels = [(t % 2) ^ (j >= 4) for t in range(30) for j in range(8)]
    fitted = Gibbs(n_starts=8, burn_in=50, samples=50, prior=(1.0, 1.0)).fit(tasks, workers, labels)
    assert fitted.chain_probabilities_.shape == (8, 30)
    assert fitted.chain_sd_.max() > 0.25
    assert any(note.startswith("the chains disagree about") for note in fitted.notes_)


@pytest.mark.parametrize("name", ["te", "te-overlap"])
def test_two_workers_make_no_triangle_and_that_is_said(name: str) -> None:
    fitted = make(name).fit(*columns("a u 1; a v 1; b u 0; b v 0; c u 1; c v 0"))
    assert fitted.labels_.tolist() == [None, None, None]
    assert fitted.notes_ == (
        "no three workers share tasks on which they agree or differ more than by chance, so nobody's answers count",
    )
    assert make(name).fit(*columns("a u 1; a v 1; a w 1; b u 0; b v 0; b w 0; c u 1")).notes_ == ()


def test_the_usual_warning_when_iterations_end_early() -> None:
    table, _ = simulated(25, 8, 4)
    with pytest.warns(NotConvergedWarning, match="dawid-skene did not converge in 2 iterations"):
        fitted = DawidSkene(max_iterations=2, tolerance=0.0).fit(table)
    assert not fitted.converged_
    assert fitted.notes_ == ("did not converge in 2 iterations",)
