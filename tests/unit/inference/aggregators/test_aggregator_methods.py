"""The shape of the aggregators, and the methods that are not about two classes."""

# mypy: disable-error-code="attr-defined, arg-type"
# what is fitted has names that not all aggregators share

from __future__ import annotations

import pickle
import subprocess
import sys

import numpy as np
import pytest
from label_tables import every_triangle, simulated

from crowdclust_app.domain.errors import UserError
from crowdclust_app.domain.methods import names_of
from crowdclust_app.inference.aggregators import (
    EM,
    BeliefPropagation,
    Continuous,
    DawidSkene,
    DawidSkeneMAP,
    FastSBIC,
    Gibbs,
    Majority,
    Ordinal,
    OverlapTriangularEstimation,
    SoftVote,
    TriangularEstimation,
    TwoCoinEM,
    method_named,
)
from crowdclust_app.inference.aggregators.scoring import score

COMMON = {"prior", "prevalence", "ties", "repeats", "classes", "max_iterations", "tolerance", "seed"}
OWN = {"soft-vote": {"pseudo_votes"}, "gibbs": {"n_starts", "burn_in", "samples"}, "sbic-fast": {"order"},
       "sbic-sorted": {"order"}, "sbic-sorted-shared": {"order"},
       "ebcc": {"subtypes", "concentration", "n_starts"}, "glad": {"held_out"},
       "community-bcc": {"communities", "precision", "n_starts"}}  # fmt: skip


@pytest.mark.parametrize("name", names_of("aggregator"))
def test_parameters_are_kept_as_given_and_checked_in_fit(name: str) -> None:
    method = method_named(name)
    prior = [2, 1]
    made = method(prior=prior, seed=7)
    assert made.prior is prior
    assert set(made.get_params()) == COMMON | OWN.get(name, set())
    assert made.set_params(seed=8) is made
    assert made.get_params()["seed"] == 8
    assert f"{method.__name__}(" in repr(made)
    with pytest.raises(ValueError, match="has no parameter nonsense"):
        made.set_params(nonsense=1)
    copy = pickle.loads(pickle.dumps(made))
    assert copy.get_params() == made.get_params()
    table, _ = simulated(10, 5, 3)
    for wrong in ({"max_iterations": 0}, {"tolerance": -1.0}):
        with pytest.raises(UserError, match="max_iterations is below 1 or the tolerance below 0"):
            method(**wrong).fit(table)


@pytest.mark.parametrize("name", [name for name in names_of("aggregator") if name != "continuous"])
def test_settings_out_of_range_are_refused_by_every_method(name: str) -> None:
    table, _ = simulated(10, 5, 3)
    for prior in ((0.0, 1.0), (1.0, -1.0), (1.0,), "2", (float("nan"), 1.0)):
        with pytest.raises(UserError, match=r"^the prior "):
            method_named(name)(prior=prior).fit(table)
    for prevalence in (0.0, 1.0, 1.5, [0.2, 0.2], "often"):
        with pytest.raises(UserError, match=r"^the prevalence "):
            method_named(name)(prevalence=prevalence).fit(table)
    if name != "bp":
        with pytest.raises(UserError, match="takes a Beta prior only"):
            method_named(name)(prior={0.5: 0.5, 0.9: 0.5}).fit(table)


def test_a_discrete_prior_has_to_be_a_distribution() -> None:
    table, _ = simulated(10, 5, 3)
    for prior in ({}, {0.5: 0.4}, {1.5: 1.0}, {0.5: -1.0, 0.7: 2.0}):
        with pytest.raises(UserError, match="the discrete prior is not a distribution"):
            BeliefPropagation(prior=prior).fit(table)
    fitted = BeliefPropagation(prior={0.5: 0.5, 0.9: 0.5}).fit(table)
    assert ((fitted.accuracy_ >= 0.5) & (fitted.accuracy_ <= 0.9)).all()
    assert ((fitted.accuracy_sd_ > 0) & (fitted.accuracy_sd_ <= 0.2)).all()


def test_tables_come_in_every_usual_shape() -> None:
    tasks, workers, labels = ["a", "a", "b"], ["u", "v", "u"], [1, 1, 0]
    records = np.array(list(zip(tasks, workers, labels, strict=True)),
                       dtype=[("task", "U1"), ("worker", "U1"), ("label", "i8")])  # fmt: skip
    for table in ({"task": tasks, "worker": workers, "label": labels}, records):
        fitted = Majority().fit(table)
        assert fitted.tasks_ == ("a", "b")
        assert fitted.workers_ == ("u", "v")
        assert fitted.classes_ == (0, 1)
    assert Majority().fit_predict(tasks, workers, labels).tolist() == [1, 0]
    assert Majority().fit_predict_proba(tasks, workers, labels).tolist() == [[0.0, 1.0], [1.0, 0.0]]
    fitted = Majority().fit(tasks, workers, labels)
    assert fitted.predict(["b", "a", "b"]).tolist() == [0, 1, 0]
    assert fitted.predict_proba(["b"]).tolist() == [[1.0, 0.0]]
    with pytest.raises(UserError, match="the task c was not in the fit"):
        fitted.predict(["c"])
    with pytest.raises(UserError, match="the table has no column label"):
        Majority().fit({"task": tasks, "worker": workers})
    with pytest.raises(UserError, match="differ in length"):
        Majority().fit(tasks, workers, labels[:2])
    with pytest.raises(UserError, match="not one-dimensional"):
        Majority().fit(tasks, workers, np.zeros((3, 1)))
    with pytest.raises(UserError, match="is not a list"):
        Majority().fit("abc", workers, labels)
    with pytest.raises(UserError, match="a task or worker is not a name"):
        Majority().fit([["a"], ["a"], ["b"]], workers, labels)


def test_names_are_sorted_numbers_by_value() -> None:
    fitted = Majority().fit(["10", "9", "2"], [3, 10, np.nan], ["10", "9", "9"])
    assert fitted.tasks_ == ("2", "9", "10")
    assert fitted.workers_ == (3, 10)
    assert fitted.classes_ == ("9", "10")
    spread = Majority().fit(np.array([5, 10**12, -3]), np.array([1, 1, 2]), np.array([True, False, True]))
    assert spread.tasks_ == (-3, 5, 10**12)
    assert spread.labels_.tolist() == [True, True, False]


def test_a_soft_vote_is_the_share_of_votes_with_one_more_of_nobody() -> None:
    labels = (["a", "a", "a", "b"], ["u", "v", "w", "u"], [1, 1, 0, 1])
    assert SoftVote(pseudo_votes=0).fit(*labels).probabilities_[:, 1].tolist() == pytest.approx([2 / 3, 1.0])
    assert SoftVote().fit(*labels).probabilities_[:, 1].tolist() == pytest.approx([2.5 / 4, 1.5 / 2])
    assert SoftVote(prevalence=0.2).fit(*labels).probabilities_[:, 1].tolist() == pytest.approx([2.2 / 4, 1.2 / 2])
    assert SoftVote(prevalence="auto").fit(*labels).prevalence_.tolist() == pytest.approx([0.25, 0.75])
    with pytest.raises(UserError, match="pseudo_votes is below 0"):
        SoftVote(pseudo_votes=-1).fit(*labels)


def test_reliability_is_the_posterior_of_a_coin() -> None:
    fitted = Majority(prior=(2.0, 1.0)).fit(["a", "a", "a", "b", "b", "b"], list("uvwuvw"), [1, 1, 1, 0, 0, 0])
    # everybody was right twice: Beta(4, 1); once on each class: Beta(3, 1)
    np.testing.assert_allclose(fitted.accuracy_, 0.8)
    np.testing.assert_allclose(fitted.accuracy_sd_, np.sqrt(4 / (25 * 6)))
    np.testing.assert_allclose(fitted.sensitivity_, 0.75)
    np.testing.assert_allclose(fitted.specificity_sd_, np.sqrt(3 / (16 * 5)))


def test_two_coins_see_what_one_cannot() -> None:
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, 400)
    sensitivity, specificity = np.array([0.95, 0.9, 0.9, 0.95, 0.7]), np.array([0.4, 0.45, 0.4, 0.4, 0.95])
    tasks, workers = np.repeat(np.arange(400), 5), np.tile(np.arange(5), 400)
    right = rng.random(2000) < np.where(truth[tasks] == 1, sensitivity[workers], specificity[workers])
    labels = np.where(right, truth[tasks], 1 - truth[tasks])
    known = dict(enumerate(truth.tolist()))
    majority = score(Majority().fit(tasks, workers, labels), known)
    for name in ("em2", "amf2", "mf2", "bp2", "dawid-skene", "dawid-skene-map"):
        fitted = method_named(name)().fit(tasks, workers, labels)
        assert np.abs(fitted.sensitivity_ - sensitivity).max() < 0.12
        assert np.abs(fitted.specificity_ - specificity).max() < 0.12
        assert score(fitted, known).error < majority.error - 0.1
    confusion = TwoCoinEM().fit(tasks, workers, labels).confusion_
    assert confusion.shape == (5, 2, 2)
    np.testing.assert_allclose(confusion.sum(axis=2), 1.0)


@pytest.mark.parametrize("name", ["em", "amf", "mf", "bp", "em2", "amf2", "mf2", "bp2", "gibbs", "dawid-skene"])
def test_an_estimated_prevalence_is_near_the_truth(name: str) -> None:
    rng = np.random.default_rng(3)
    truth = (rng.random(600) < 0.2).astype(int)
    tasks, workers = np.repeat(np.arange(600), 5), np.tile(np.arange(5), 600)
    labels = np.where(rng.random(3000) < 0.8, truth[tasks], 1 - truth[tasks])
    fitted = method_named(name)(prevalence="auto").fit(tasks, workers, labels)
    assert fitted.prevalence_[1] == pytest.approx(0.2, abs=0.05)
    assert fitted.prevalence_.sum() == pytest.approx(1.0)
    fixed = method_named(name)(prevalence=0.2).fit(tasks, workers, labels)
    assert fixed.prevalence_.tolist() == [0.8, 0.2]


def test_one_coin_methods_take_more_than_two_classes() -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 4, 200)
    skill = np.array([0.9, 0.9, 0.3, 0.3, 0.3, 0.3])
    tasks, workers = np.repeat(np.arange(200), 6), np.tile(np.arange(6), 200)
    wrong = (truth[tasks] + rng.integers(1, 4, 1200)) % 4
    labels = np.where(rng.random(1200) < skill[workers], truth[tasks], wrong)
    known = dict(enumerate(truth.tolist()))
    majority = score(Majority().fit(tasks, workers, labels), known).error
    for name in ("em", "amf", "mf", "sbic-fast", "sbic-sorted", "sbic-sorted-shared", "dawid-skene", "dawid-skene-map"):
        fitted = method_named(name)().fit(tasks, workers, labels)
        assert score(fitted, known).error < majority - 0.05
        assert np.isnan(fitted.sensitivity_).all()
        assert np.abs(fitted.accuracy_ - skill).max() < 0.12
    with pytest.raises(UserError, match="bp is for 2 classes and the labels have 4"):
        BeliefPropagation().fit(tasks, workers, labels)
    with pytest.raises(UserError, match=r"the prevalence 0.3 is of two classes and the labels have 4"):
        EM(prevalence=0.3).fit(tasks, workers, labels)
    assert EM(prevalence=[0.1, 0.2, 0.3, 0.4]).fit(tasks, workers, labels).prevalence_.tolist() == [0.1, 0.2, 0.3, 0.4]


def test_gibbs_repeats_itself_by_seed_and_agrees_with_exact_inference() -> None:
    from label_tables import brute_force

    table, _ = simulated(9, 5, 3, seed=3)
    fitted = Gibbs(samples=4000, seed=5).fit(table)
    np.testing.assert_allclose(fitted.probabilities_[:, 1], brute_force(table, (2.0, 1.0)), atol=0.02)
    np.testing.assert_array_equal(Gibbs(samples=4000, seed=5).fit(table).probabilities_, fitted.probabilities_)
    assert np.abs(Gibbs(samples=4000, seed=6).fit(table).probabilities_ - fitted.probabilities_).max() > 0
    with pytest.raises(UserError, match="n_starts, burn_in or samples is too small"):
        Gibbs(n_starts=0).fit(table)


TRIANGULAR = (TriangularEstimation, OverlapTriangularEstimation)


@pytest.mark.parametrize("method", TRIANGULAR)
def test_triangles_give_the_reliability_of_workers_in_closed_form(method: type) -> None:
    rng = np.random.default_rng(2)
    truth = rng.choice([-1, 1], 4000)
    reliability = np.array([0.9, 0.6, 0.4, 0.2, -0.5])
    tasks, workers = np.repeat(np.arange(4000), 5), np.tile(np.arange(5), 4000)
    right = rng.random(20000) < (1 + reliability[workers]) / 2
    labels = np.where(right, truth[tasks], -truth[tasks])
    fitted = method().fit(tasks, workers, labels)
    np.testing.assert_allclose(fitted.reliability_, reliability, atol=0.06)
    # a pair that overlaps with nobody else has no triangle, and no say
    apart = method().fit([1, 1, 2, 2], ["u", "v", "u", "v"], [0, 0, 1, 1])
    assert apart.reliability_.tolist() == [0.0, 0.0]
    assert apart.ties_.all()


@pytest.mark.parametrize("method", TRIANGULAR)
@pytest.mark.parametrize("shape", [(12, 5, 3), (60, 20, 4), (200, 60, 5), (30, 40, 2)])
def test_triangles_are_those_of_every_pair_tried(method: type, shape: tuple[int, int, int]) -> None:
    for seed in range(4):
        table, _ = simulated(*shape, seed=seed)
        fitted = method().fit(table)
        expected = every_triangle(table, overlapping=method is OverlapTriangularEstimation)
        np.testing.assert_allclose(fitted.reliability_, expected, atol=1e-12)
        weights = np.log((1 + expected) / (1 - expected))
        log_odds = np.bincount(table.task, (2 * table.label - 1) * weights[table.worker])
        np.testing.assert_allclose(fitted.probabilities_[:, 1], 1 / (1 + np.exp(-log_odds)), atol=1e-9)


def test_names_that_decide_are_said() -> None:
    # Ann, Ben and Cem, and Dan, Eve and Fay, always agree; Gus worked with the first three alone
    rows = [(t, w, t % 2) for t in range(6) for w in ("Ann", "Ben", "Cem")]
    rows += [(t, w, t % 2) for t in range(6, 12) for w in ("Dan", "Eve", "Fay")]
    rows += [(t, "Gus", int(t in (1, 3))) for t in range(6)]
    columns = [list(column) for column in zip(*rows, strict=True)]
    fitted = TriangularEstimation().fit(*columns)
    assert fitted.reliability_.round(3).tolist() == [0.999, 0.999, 0.999, 0.0, 0.0, 0.0, 0.667]
    assert fitted.notes_ == (
        "several pairs agree equally strongly and the first by name is taken, which decides about 7 workers; "
        "in te-overlap names decide nothing",
    )
    overlap = OverlapTriangularEstimation().fit(*columns)
    assert overlap.reliability_.round(3).tolist() == [0.999] * 6 + [0.667]
    assert overlap.notes_ == ()


def test_ordered_classes_use_their_order() -> None:
    rng = np.random.default_rng(4)
    truth = rng.integers(1, 6, 300)
    tasks, workers = np.repeat(np.arange(300), 5), np.tile(np.arange(5), 300)
    noise = np.rint(rng.normal(0, np.array([0.4, 0.4, 1.5, 1.5, 1.5])[workers])).astype(int)
    labels = np.clip(truth[tasks] + noise, 1, 5)
    fitted = Ordinal().fit(tasks, workers, labels)
    known = dict(enumerate(truth.tolist()))
    assert score(fitted, known).error < score(Majority().fit(tasks, workers, labels), known).error
    assert (np.diff(fitted.above_, axis=1) <= 0).all()
    assert fitted.boundary_sensitivity_.shape == (5, 4)
    np.testing.assert_allclose(fitted.probabilities_.sum(axis=1), 1.0)
    names = np.array(["", "none", "mild", "some", "much", "all"])[labels]
    order = ("none", "mild", "some", "much", "all")
    named = Ordinal(classes=order).fit(tasks, workers, names)
    np.testing.assert_allclose(named.probabilities_, fitted.probabilities_)
    with pytest.raises(UserError, match="ordinal needs ordered classes and these are names; declare the classes in"):
        Ordinal().fit(tasks, workers, names)
    two, _ = simulated(30, 6, 4)
    np.testing.assert_allclose(
        Ordinal(prevalence="even").fit(two).probabilities_, TwoCoinEM(prevalence="even").fit(two).probabilities_
    )


def test_measurements_are_weighted_by_the_precision_of_who_took_them() -> None:
    rng = np.random.default_rng(5)
    truth = rng.normal(1e6, 10.0, 1000)
    sd = np.array([0.5, 2.0, 3.0, 3.0])
    tasks, workers = np.repeat(np.arange(1000), 4), np.tile(np.arange(4), 1000)
    labels = truth[tasks] + rng.normal(0, sd[workers])
    fitted = Continuous().fit(tasks, workers, labels)
    assert fitted.converged_
    np.testing.assert_allclose(1 / np.sqrt(fitted.precision_[1:]), sd[1:], rtol=0.1)
    assert fitted.precision_.argmax() == 0
    means = np.bincount(tasks, labels) / 4
    rmse = score(fitted, dict(enumerate(truth.tolist()))).rmse
    assert rmse is not None
    assert rmse < 0.6 * np.sqrt(np.mean((means - truth) ** 2))
    assert (fitted.values_sd_ > 0).all()
    assert fitted.predict([3])[0] == pytest.approx(truth[3], abs=2.0)
    with pytest.raises(UserError, match="continuous gives values and no class probabilities"):
        fitted.predict_proba()
    with pytest.raises(UserError, match="continuous needs numbers and a label is tall"):
        Continuous().fit(["a", "b"], ["u", "u"], ["1.5", "tall"])


@pytest.mark.parametrize(("labels", "expected"), [([2.5], 2.5), ([4, 4, 4], 4.0)])
def test_measurements_without_spread_are_no_division_by_zero(labels: list[float], expected: float) -> None:
    fitted = Continuous().fit(["t"] * len(labels), list(range(len(labels))), labels)
    assert fitted.labels_.tolist() == [pytest.approx(expected)]
    assert np.isfinite(fitted.precision_).all()
    missing = Continuous().fit(["a", "b"], ["u", "u"], [1.5, None])
    assert missing.labels_.tolist() == [pytest.approx(1.5), None]
    assert missing.tasks_without_labels_ == ("b",)


def test_dawid_skene_starts_each_worker_with_one_label_shared_out_by_the_prior() -> None:
    table, _ = simulated(20, 8, 3, seed=2)
    fitted = DawidSkene(prior=(3.0, 1.0)).fit(table)
    # answers of a worker to each true class, from the beliefs before the last step, which stand still
    counts = np.zeros((table.n_workers, 2, 2))
    for task, worker, label in zip(table.task, table.worker, table.label, strict=True):
        counts[worker, :, label] += fitted.probabilities_[task]
    started = counts + np.array([[0.75, 0.25], [0.25, 0.75]])
    np.testing.assert_allclose(fitted.confusion_, started / started.sum(axis=2, keepdims=True), atol=1e-3)
    three = DawidSkene(classes=("x", "y", "z")).fit(["a"], ["u"], ["x"])
    np.testing.assert_allclose(three.confusion_[0, 2], [1 / 6, 1 / 6, 2 / 3], atol=0.2)
    assert DawidSkeneMAP().fit(table).confusion_.min() < 0.01 < fitted.confusion_.min()
    assert FastSBIC().fit(table).lower_bounds_ == ()


def test_data_frames_number_their_own_text() -> None:
    pandas = pytest.importorskip("pandas")
    names = ["10", "9", "9", "b,c", "10", None]
    workers, labels = ["u", "v", "w", "u", "v", "w"], ["yes", "no", "no", "yes", "no", "yes"]
    expected = Majority().fit(names, workers, labels)
    for kind in (None, object, "string", "category"):
        frame = pandas.DataFrame({"task": names, "worker": workers, "label": labels}, dtype=kind)
        fitted = Majority().fit(frame)
        assert (fitted.tasks_, fitted.workers_, fitted.classes_) == (("10", "9", "b,c"), ("u", "v", "w"), ("no", "yes"))
        assert fitted.n_dropped_ == 1
        assert fitted.probabilities_.tolist() == expected.probabilities_.tolist()
    digits = pandas.DataFrame({"task": ["10", "9", "010"], "worker": ["u"] * 3, "label": [1.0, None, 0.0]})
    assert Majority().fit(digits).tasks_ == ("9", "010", "10")
    assert Majority().fit(digits).classes_ == (0, 1)
    with pytest.raises(UserError, match="a task or worker is not a name"):
        Majority().fit({"task": pandas.Series([["a"], ["b"]]), "worker": ["u", "v"], "label": [0, 1]})


def test_too_many_values_for_classes_are_refused_before_memory_is() -> None:
    values = np.arange(20_000) + 0.5
    with pytest.raises(UserError, match="the labels have 20,000 different values, too many for classes; take continu"):
        Majority().fit(np.arange(20_000), np.zeros(20_000, dtype=int), values)
    with pytest.raises(UserError, match="dawid-skene needs a matrix a worker, too large with 4,000 classes"):
        DawidSkene().fit(np.arange(4_000), np.arange(4_000) % 10, np.arange(4_000))


def test_there_is_no_method_of_another_name() -> None:
    with pytest.raises(UserError, match="there is no method wavg; take one of majority, soft-vote"):
        method_named("wavg")


def test_importing_the_aggregators_loads_no_compiler() -> None:
    script = "import sys, crowdclust_app.inference.aggregators; print(sorted({'numba', 'scipy'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
