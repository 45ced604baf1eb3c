"""The aggregators against brute force and against each other: what must hold to the last digits."""

# mypy: disable-error-code="attr-defined, arg-type"
# what is fitted has names that not all aggregators share

from __future__ import annotations

import elementary_symmetric as esp
import numpy as np
import pandas
import pytest
from label_tables import brute_force, direct_sbic, every_world, of_classes, random_tree, simulated, views_in_order
from scipy.special import expit, logit
from sklearn.base import clone

from crowdclust_app.domain.errors import InvalidInputError, NotFittedError
from crowdclust_app.inference.aggregators import (
    EM,
    KOS,
    BeliefPropagation,
    DawidSkene,
    DawidSkeneMAP,
    FastSBIC,
    LabelTable,
    Majority,
    MaxProduct,
    MeanField,
    OnlineSBIC,
    OnlineSortedSBIC,
    SharedSortedSBIC,
    SortedSBIC,
    TwoCoinBeliefPropagation,
    TwoCoinEM,
    TwoCoinMeanField,
    encode_labels,
    quadrature,
)
from crowdclust_app.inference.aggregators.bp_kernels import max_product_messages, one_coin_messages, two_coin_messages
from crowdclust_app.inference.aggregators.bp_large import one_coin_messages_of_many, two_coin_messages_of_many
from crowdclust_app.inference.aggregators.bp_points import gather, spread
from crowdclust_app.inference.aggregators.quadrature import BetaNodes


@pytest.mark.parametrize("repeats", [0, 4])
@pytest.mark.parametrize("prior", [(2.0, 1.0), (1.0, 1.0), (0.5, 0.5), (3.5, 1.5)])
@pytest.mark.parametrize("seed", range(3))
def test_belief_propagation_is_exact_on_trees(seed: int, prior: tuple[float, float], repeats: int) -> None:
    table = random_tree(7, 6, seed, repeats)
    for method, coins in ((BeliefPropagation, 1), (TwoCoinBeliefPropagation, 2)):
        fitted = method(prior=prior, prevalence=0.4, tolerance=1e-14).fit_encoded(table)
        expected = brute_force(table, prior, 0.4, coins)
        assert fitted.converged_
        np.testing.assert_allclose(fitted.probabilities_[:, 1], expected, atol=1e-12)


def test_belief_propagation_with_a_discrete_prior_is_exact_on_trees() -> None:
    table = random_tree(6, 6, 5, repeats=2)
    prior = {0.1: 0.2, 0.5: 0.3, 0.9: 0.5}
    fitted = BeliefPropagation(prior=prior, tolerance=1e-14).fit_encoded(table)
    worlds = every_world(table, (1.0, 1.0), 0.5, 1)[0]
    weights = np.ones(len(worlds))
    for worker in range(table.n_workers):
        mine = table.worker == worker
        right = (worlds[:, table.task[mine]] == table.label[mine]).sum(axis=1)
        wrong = mine.sum() - right
        weights *= sum(share * p**right * (1 - p) ** wrong for p, share in prior.items())
    np.testing.assert_allclose(fitted.probabilities_[:, 1], weights @ worlds / weights.sum(), atol=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_max_product_finds_the_most_probable_world_of_a_tree(seed: int) -> None:
    table = random_tree(8, 6, seed)
    prior = (2.3, 1.1)
    fitted = MaxProduct(prior=prior, prevalence=0.45).fit_encoded(table)
    worlds, logs = every_world(table, prior, 0.45, 1)
    assert fitted.codes_.tolist() == worlds[logs.argmax()].tolist()
    # the max-marginals too: the best world with each task true against the best with it false
    expected = [logs[worlds[:, i] == 1].max() - logs[worlds[:, i] == 0].max() for i in range(table.n_tasks)]
    np.testing.assert_allclose(fitted.log_odds_, expected, atol=1e-9)


def test_max_product_messages_equal_a_search_over_all_subsets() -> None:
    rng = np.random.default_rng(3)
    odds, log_psi = rng.normal(0, 2, 7), rng.normal(0, 3, 8)
    worlds, _ = every_world(random_tree(6, 1, 0), (1.0, 1.0), 0.5, 1)
    found, pointers = np.full(9, np.nan), np.array([0, 1, 8, 8, 9])
    # between workers whose weights come after and who are not asked for
    columns = (np.concatenate([[0.3], odds, [0.4]]), np.array([8, 0, 0, 8]), np.concatenate([log_psi, [0.1, 0.2]]))
    max_product_messages(1, 3, pointers, *columns, found)
    assert np.isnan(found[[0, 8]]).all()
    for left_out, message in enumerate(found[1:8]):
        weights, counts = worlds @ np.delete(odds, left_out), worlds.sum(axis=1)
        assert message == pytest.approx((weights + log_psi[counts + 1]).max() - (weights + log_psi[counts]).max())


@pytest.mark.parametrize("prior", [(2.0, 1.0), (0.3, 0.7), (20.0, 5.0)])
@pytest.mark.parametrize("size", [1, 2, 7, 60, 250])
def test_symmetric_polynomials_equal_the_quadrature(size: int, prior: tuple[float, float]) -> None:
    odds = np.random.default_rng(size).normal(1.0, 2.0, size)
    ones, zeros = np.ones(size, dtype=np.int64), np.zeros(size, dtype=np.int64)
    out = np.empty(size)
    one_coin_messages(odds, ones, zeros, *quadrature.BetaNodes(*prior).of_degree(size), out)
    np.testing.assert_allclose(out, esp.messages(odds, esp.beta_moments(*prior)), atol=1e-10)


def test_symmetric_polynomials_equal_the_discrete_messages() -> None:
    prior = {0.15: 0.25, 0.5: 0.25, 0.92: 0.5}
    table = encode_labels(list(range(30)), ["w"] * 30, [1] * 30, classes=(0, 1))
    odds = np.random.default_rng(1).normal(1.0, 2.0, 30)
    from crowdclust_app.inference.aggregators.belief_propagation import _discrete_messages

    out = _discrete_messages(table.edges, odds, *quadrature.discrete_nodes(prior))
    np.testing.assert_allclose(out, esp.messages(odds, esp.discrete_moments(prior)), atol=1e-10)


@pytest.mark.parametrize("scale", [0.2, 3.0])
def test_fewer_nodes_for_very_many_labels_change_nothing(scale: float, monkeypatch: pytest.MonkeyPatch) -> None:
    size = 4000
    odds = np.random.default_rng(2).normal(scale, scale, size)
    ones, zeros = np.ones(size, dtype=np.int64), np.zeros(size, dtype=np.int64)
    out, exact = np.empty(size), np.empty(size)
    assert quadrature.nodes_needed(size) < size // 2
    one_coin_messages(odds, ones, zeros, *quadrature.BetaNodes(2.0, 1.0).of_degree(size), out)
    monkeypatch.setattr(quadrature, "nodes_needed", lambda degree: degree // 2 + 1)
    one_coin_messages(odds, ones, zeros, *quadrature.BetaNodes(2.0, 1.0).of_degree(size), exact)
    np.testing.assert_allclose(out, exact, atol=1e-9)


@pytest.mark.parametrize(("size", "accurate"), [(130, 0.97), (300, 0.7), (500, 0.85)])
def test_the_important_part_of_the_square_is_all_of_it(size: int, accurate: float) -> None:
    rng = np.random.default_rng(size)
    odds = rng.normal(0.0, 3.0, size)
    yes = (rng.random(size) < np.where(odds > 0, accurate, 1 - accurate)).astype(np.int64)
    p, r, logs = quadrature.BetaNodes(2.0, 1.0).of_degree(size)
    assert len(p) > 42
    out = np.empty(size)
    by_answer = np.argsort(yes, kind="stable")
    odds, yes = odds[by_answer], yes[by_answer]
    two_coin_messages(odds, yes, 1 - yes, p, r, logs, np.full(4, -1), out)
    # the same sums over every node, in log space
    second, first = -np.logaddexp(0, -odds), -np.logaddexp(0, odds)
    ap, ar = np.log(p)[:, None], np.log(r)[:, None]
    up = np.where(yes == 1, ap, ar)[:, None, :]
    down = np.where(yes == 1, ar, ap)[None, :, :]
    factors = np.logaddexp(second + up, first + down)
    total = factors.sum(axis=2) + logs[:, None] + logs[None, :]
    for e in range(0, size, 37):
        others = total - factors[:, :, e]
        above = np.logaddexp.reduce((others + up[:, :, e]).ravel())
        below = np.logaddexp.reduce((others + down[:, :, e]).ravel())
        assert out[e] == pytest.approx(above - below, abs=1e-9)


@pytest.mark.parametrize("spread", [0.3, 1.0, 4.0])
@pytest.mark.parametrize("alpha", [2.0, 1.0])
def test_a_worker_with_very_many_labels_sends_the_same_messages(spread: float, alpha: float) -> None:
    """Nodes around the peak against those of the whole square; half of the tasks weakly, half of them well known."""
    rng = np.random.default_rng(3)
    size = 900
    truth = rng.random(size) < 0.5
    incoming = np.where(truth, 1.0, -1.0) * rng.gamma(2.0, spread, size) * (rng.random(size) < 0.8)
    said = np.where(rng.random(size) < 0.75, truth, ~truth).astype(np.int64)
    twice = 1 + (np.arange(size) % 10 == 0)
    ones, zeros = said * twice, (1 - said) * twice
    order = np.lexsort((ones + zeros, ones))
    incoming, ones, zeros = incoming[order], ones[order], zeros[order]
    nodes = BetaNodes(alpha, 1.0).of_degree(int((ones + zeros).sum()))
    exact, near = np.empty(size), np.empty(size)
    two_coin_messages(incoming, ones, zeros, *nodes, np.full(4, -1), exact)
    two_coin_messages_of_many(incoming, ones, zeros, alpha, 1.0, np.zeros(2), near)
    np.testing.assert_allclose(near, exact, rtol=1e-4, atol=1e-6)
    if spread == 4.0:
        np.testing.assert_allclose(near, exact, atol=1e-9)


def test_points_stand_for_the_labels_of_a_busy_worker() -> None:
    rng = np.random.default_rng(5)
    incoming = np.concatenate([rng.normal(0.0, 8.0, 3000), np.full(40, 600.0), np.full(3, -600.0), np.full(30, -4.0)])
    ones = (np.arange(len(incoming)) > 1500).astype(np.int64)
    first, places, weights, point_ones, point_zeros = gather(incoming, ones, 1 - ones)
    # certain is certain: a label in a cell of its own keeps its log-odds, others end where doubles do
    places = np.clip(places, -36, 36)
    assert len(places) < 0.3 * len(incoming)
    assert ((point_ones + point_zeros) == 1).all()
    for group in (0, 1):
        mine = ones == group
        assert weights[point_ones == group].sum() == pytest.approx(mine.sum())
        for shift in (-3.0, 0.0, 0.7, 5.0):
            whole = np.logaddexp(0.0, shift - np.clip(incoming[mine], -36, 36)).sum()
            few = (weights * np.logaddexp(0.0, shift - places))[point_ones == group].sum()
            assert few == pytest.approx(whole, rel=1e-11)
    out = np.empty(len(incoming))
    spread(incoming, first, np.tanh(0.4 * places), out)
    np.testing.assert_allclose(out, np.tanh(0.4 * np.clip(incoming, -36, 36)), atol=1e-10)
    few = np.array([0.5, -2.0, 0.5])
    first, places, weights, *_ = gather(few, np.array([0, 0, 1]), np.array([1, 1, 0]))
    assert (places.tolist(), weights.tolist(), first.tolist()) == (few.tolist(), [1.0] * 3, [-1, -2, -3])


@pytest.mark.parametrize(("accurate", "spread"), [(0.75, 0.3), (0.97, 4.0), (1.0, 6.0), (0.5, 0.1)])
@pytest.mark.parametrize("prior", [(2.0, 1.0), (0.5, 0.5)])
def test_fewer_nodes_and_the_last_rounds_box_give_the_messages_of_all_nodes(
    accurate: float, spread: float, prior: tuple[float, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(11)
    size = 220
    truth = rng.random(size) < 0.5
    incoming = np.where(truth, 1.0, -1.0) * rng.gamma(2.0, spread, size)
    ones = np.where(rng.random(size) < accurate, truth, ~truth).astype(np.int64)
    order = np.argsort(ones, kind="stable")
    columns = (incoming[order], ones[order], 1 - ones[order])
    few = BetaNodes(*prior).of_degree(size)
    monkeypatch.setattr(quadrature, "nodes_needed", lambda degree: degree // 2 + 1)
    every = BetaNodes(*prior).of_degree(size)
    assert len(few[0]) < 0.6 * len(every[0])
    exact, near = np.empty(size), np.empty(size)
    two_coin_messages(*columns, *every, np.full(4, -1), exact)
    box = np.full(4, -1)
    for _ in range(2):
        two_coin_messages(*columns, *few, box, near)
        np.testing.assert_allclose(near, exact, atol=1e-9)
    # from another round, in which the worker seemed to be another one
    two_coin_messages(-columns[0], columns[1], columns[2], *few, box, near)
    two_coin_messages(*columns, *few, box, near)
    np.testing.assert_allclose(near, exact, atol=1e-9)
    one_coin_messages(*columns, *every, exact)
    one_coin_messages_of_many(*columns, *few, near)
    np.testing.assert_allclose(near, exact, atol=1e-9)


def test_belief_propagation_with_haldanes_prior_is_kos() -> None:
    table, _ = simulated(30, 15, 5, seed=4)
    for rounds in (1, 2, 4, 7):
        kos = KOS(max_iterations=rounds, tolerance=0.0).fit_encoded(table)
        bp = BeliefPropagation(prior={0.0: 0.5, 1.0: 0.5}, max_iterations=rounds, tolerance=0.0).fit_encoded(table)
        scores = bp.log_odds_ / np.sqrt(np.mean(bp.log_odds_**2))
        np.testing.assert_allclose(scores, kos.scores_, atol=1e-10)


@pytest.mark.parametrize("accuracy", [0.6, 0.8, 1.0 - 1e-6])
def test_belief_propagation_with_a_deterministic_prior_is_majority(accuracy: float) -> None:
    table, _ = simulated(60, 12, 4, seed=1)
    bp = BeliefPropagation(prior={accuracy: 1.0}).fit_encoded(table)
    majority = Majority().fit_encoded(table)
    assert bp.n_iterations_ <= 2
    assert majority.ties_.any()
    assert bp.codes_.tolist() == majority.codes_.tolist()
    votes = table.votes[:, 1] - table.votes[:, 0]
    np.testing.assert_allclose(bp.log_odds_, votes * logit(accuracy), atol=1e-9)


@pytest.mark.parametrize("method", [MeanField, TwoCoinMeanField, EM, TwoCoinEM, DawidSkene, DawidSkeneMAP])
@pytest.mark.parametrize("prevalence", ["even", 0.3, "auto"])
def test_the_bound_never_falls(method: type, prevalence: float | str) -> None:
    for seed in range(3):
        table, _ = simulated(50, 10, 3, seed)
        fitted = method(prevalence=prevalence, max_iterations=200, tolerance=1e-9).fit_encoded(table)
        assert len(fitted.lower_bounds_) == fitted.n_iterations_ > 3
        assert np.diff(fitted.lower_bounds_).min() > -1e-9


@pytest.mark.parametrize(("method", "coins"), [(MeanField, 1), (TwoCoinMeanField, 2)])
def test_the_bound_of_mean_field_is_below_the_evidence_and_close(method: type, coins: int) -> None:
    table, _ = simulated(10, 6, 4, seed=2)
    _, logs = every_world(table, (2.0, 1.0), 0.5, coins)
    evidence = np.logaddexp.reduce(logs)
    bound = method().fit_encoded(table).lower_bounds_[-1]
    assert evidence - 5.0 < bound < evidence


CLASSES = (2, 3, 5)


def shares_of(classes: int) -> list[float]:
    return {2: [0.55, 0.45], 3: [0.5, 0.2, 0.3], 5: [0.2] * 5}[classes]


@pytest.mark.parametrize("classes", CLASSES)
@pytest.mark.parametrize("prior", [(2.0, 1.0), (1.0, 1.0), (0.7, 2.0)])
def test_fast_sbic_in_push_form_is_the_direct_form(prior: tuple[float, float], classes: int) -> None:
    table = of_classes(classes, tasks=25, workers=8, per_task=5, seed=7)
    shares = [0.4, 0.6] if classes == 2 else [0.1, *[0.9 / (classes - 1)] * (classes - 1)]
    fitted = FastSBIC(prior=prior, prevalence=shares, order="arrival").fit_encoded(table)
    expected = direct_sbic(table, range(table.n_labels), *prior, shares)
    np.testing.assert_allclose(np.log(fitted.probabilities_), expected, atol=1e-12)
    if classes == 2:
        np.testing.assert_allclose(fitted.log_odds_, expected[:, 1] - expected[:, 0], atol=1e-12)


@pytest.mark.parametrize("classes", CLASSES)
def test_sorted_sbic_is_algorithm_2_with_a_copy_for_each_task(classes: int) -> None:
    table = of_classes(classes, tasks=23, workers=8, per_task=5, seed=8)
    shares = shares_of(classes)
    fitted = SortedSBIC(prevalence=shares, order="arrival").fit_encoded(table)
    online = OnlineSortedSBIC(prevalence=shares, classes=range(classes))
    for rows in (slice(0, 40), slice(40, None)):
        online.partial_fit(table.task[rows], table.worker[rows], table.label[rows])
    for task in range(table.n_tasks):
        others = [t for t in range(table.n_labels) if table.task[t] != task]
        own = [t for t in range(table.n_labels) if table.task[t] == task]
        copy = direct_sbic(table, [*others, *own], 2.0, 1.0, shares)[task]
        np.testing.assert_allclose(np.log(fitted.probabilities_[task]), copy, atol=1e-12)
        np.testing.assert_allclose(np.log(online.predict_proba([task])[0]), copy, atol=1e-12)
    shared = SharedSortedSBIC(prevalence=shares, order="arrival").fit_encoded(table)
    assert np.abs(np.log(shared.probabilities_) - np.log(fitted.probabilities_)).max() > 0.1
    fast = FastSBIC(prevalence=shares, order="arrival").fit_encoded(table)
    expected = fast.accuracy_[np.array(online.workers_)]
    np.testing.assert_allclose(online.accuracy_, expected, atol=1e-12)


def test_all_repeats_of_a_task_are_weighed_without_each_other_in_algorithm_2() -> None:
    # u gave a task two labels: neither is in the other's estimate, which is of u's other tasks
    rows = (["a", "b", "a", "c"], list("uuuv"), [1, 1, 0, 0])
    fitted = SortedSBIC(order="arrival").fit(*rows)
    assert fitted.probabilities_[0].tolist() == pytest.approx([0.5, 0.5])
    assert fitted.ties_[0]
    online = OnlineSortedSBIC().partial_fit(*rows)
    np.testing.assert_allclose(online.predict_proba(fitted.tasks_), fitted.probabilities_, atol=1e-12)


@pytest.mark.parametrize("classes", CLASSES)
def test_sorted_sbic_with_shared_views_is_a_copy_for_each_task(classes: int) -> None:
    table = of_classes(classes, tasks=23, workers=8, per_task=5, seed=8)
    # more tasks than one call of the compiled code takes, so that both ways of halving are there
    many = of_classes(classes, tasks=150, workers=9, per_task=3, seed=9)
    shares = shares_of(classes)
    for rows, checked in ((table, range(23)), (many, range(0, 150, 29))):
        fitted = SharedSortedSBIC(prevalence=shares, order="arrival").fit_encoded(rows)
        orders = views_in_order(rows, 0, rows.n_tasks, list(range(rows.n_labels)), [])
        for task in checked:
            assert sorted(orders[task]) == list(range(rows.n_labels))
            copy = direct_sbic(rows, orders[task], 2.0, 1.0, shares)
            np.testing.assert_allclose(np.log(fitted.probabilities_[task]), copy[task], atol=1e-11)


def test_the_online_class_believes_what_fast_sbic_does() -> None:
    table, _ = simulated(25, 8, 5, seed=3)
    online = OnlineSBIC(prior=(3.0, 1.5), prevalence=0.4)
    with pytest.raises(NotFittedError, match="OnlineSBIC has seen no labels yet; give some to partial_fit first"):
        online.predict()
    frame = pandas.DataFrame({"task": table.task, "worker": table.worker, "label": table.label})
    assert online.partial_fit(frame[:50]) is online
    for task, worker, label in frame[50:].itertuples(index=False):
        online.partial_fit([task], [worker], [bool(label)])
    fitted = FastSBIC(prior=(3.0, 1.5), prevalence=0.4, order="arrival").fit_encoded(table)
    np.testing.assert_allclose([online.log_odds(task) for task in range(25)], fitted.log_odds_, atol=1e-12)
    assert online.probability(0) == pytest.approx(expit(fitted.log_odds_[0]))
    np.testing.assert_allclose([online.accuracy(j)[0] for j in range(8)], fitted.accuracy_, atol=1e-12)
    np.testing.assert_allclose([online.accuracy(j)[1] for j in range(8)], fitted.accuracy_sd_, atol=1e-12)
    assert online.log_odds("new") == pytest.approx(logit(0.4))
    assert (set(online.tasks_), set(online.workers_)) == (set(range(25)), set(range(8)))
    np.testing.assert_array_equal(online.predict(range(25)), fitted.labels_)
    np.testing.assert_allclose(online.predict_proba(fitted.tasks_), fitted.probabilities_, atol=1e-12)
    np.testing.assert_allclose(online.probabilities_, fitted.probabilities_[np.array(online.tasks_)], atol=1e-12)
    np.testing.assert_allclose(online.accuracy_, fitted.accuracy_[np.array(online.workers_)], atol=1e-12)
    with pytest.raises(InvalidInputError, match="the label 2 is not one of the classes 0 and 1"):
        online.partial_fit([0], [0], [2])
    again = clone(online).set_params(classes=("no", "yes"), prevalence=0.5)
    assert again.partial_fit([1, 2], ["a", "b"], ["yes", "no"]).predict([1, 2, 7]).tolist() == ["yes", "no", None]


def test_labels_of_more_classes_arrive_one_by_one_too() -> None:
    table = of_classes(4, tasks=25, workers=8, per_task=5, seed=3)
    fitted = FastSBIC(prior=(3.0, 1.5), order="arrival").fit_encoded(table)
    online = OnlineSBIC(prior=(3.0, 1.5), classes=("a", "b", "c", "d"))
    online.partial_fit(table.task, table.worker, ["abcd"[label] for label in table.label])
    np.testing.assert_allclose(online.predict_proba(fitted.tasks_), fitted.probabilities_, atol=1e-12)
    assert [*online.predict(range(25)), online.predict(["new"])[0]] == ["abcd"[code] for code in fitted.codes_] + [None]
    with pytest.raises(InvalidInputError, match="the label e is not one of the classes a, b, c and d"):
        online.partial_fit([0], [0], ["e"])
    for wrong, said in (({"classes": ("a",)}, "1 classes are declared"), ({"prior": (0.0, 1.0)}, "the prior 0,1 is"),
                        ({"prevalence": [0.5, 0.4]}, "the prevalence is not between"), ({"prior": (2, 2)}, "nothing"),
                        ({"classes": range(3), "prevalence": 0.3}, "is of two classes")):  # fmt: skip
        with pytest.raises(InvalidInputError, match=said.replace("nothing", "no label says anything")):
            OnlineSBIC(**wrong).partial_fit([1], [1], [1])


def test_repeats_are_streamed_as_the_direct_form_does() -> None:
    rng = np.random.default_rng(0)
    table: LabelTable = encode_labels(rng.integers(0, 6, 60), rng.integers(0, 3, 60), rng.integers(0, 2, 60))
    assert table.repeated > 20
    fitted = FastSBIC(order="arrival").fit_encoded(table)
    expected = direct_sbic(table, range(60), 2.0, 1.0, [0.5, 0.5])
    np.testing.assert_allclose(np.log(fitted.probabilities_), expected, atol=1e-11)
