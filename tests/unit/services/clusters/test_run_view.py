"""What the screens show of a run, held against sums written out pair by pair."""

from __future__ import annotations

from itertools import combinations
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from crowdclust_app.domain.partition import canonical_groups
from crowdclust_app.domain.response_table import Response, ResponseTable
from crowdclust_app.services.clusters.block_order import block_order
from crowdclust_app.services.clusters.run_view import view_run
from crowdclust_app.services.workers.worker_rows import ALL_APART, FAST, ONE_GROUP, RANDOM, worker_rows

K = 3
N = 24


def fitted(table: ResponseTable, labels: np.ndarray, sure: float = 0.99) -> Any:
    """A run whose arrays have the shapes of a fit, with these clusters (0: not shown)."""
    n, j = len(labels), table.n_workers
    q = np.full((n, K), (1 - sure) / (K - 1))
    q[labels > 0, labels[labels > 0] - 1] = sure
    q[labels == 0] = 1 / K
    positions = np.random.default_rng(0).normal(size=(n, 2)) + labels[:, None] * 5.0
    result = SimpleNamespace(
        heldout_figures=None,
        probability=None,
        labels=np.where(labels > 0, labels, 0),
        shown=labels > 0,
        responsibilities=q,
        positions=positions,
        means=np.array([positions[labels == k + 1].mean(axis=0) for k in range(K)]),
        covariances=np.repeat(np.eye(2)[None], K, axis=0),
        fisher=positions,
        confusion=np.repeat(np.eye(K)[None], j, axis=0),
        answered=np.bincount(table.worker_of_response, minlength=j) > 0,
        summary={"responses": table.n_responses},
    )
    return SimpleNamespace(
        number=1, result=result, item_names=table.item_names[:n], worker_names=table.worker_names, fingerprint=""
    )


def responses(seed: int = 0, hits: int = 6, size: int = 12) -> tuple[list[Response], np.ndarray]:
    """Answers of five people with known habits to the same HITs, and the true clusters."""
    rng = np.random.default_rng(seed)
    truth = np.arange(N) % K + 1
    made = []
    for h in range(hits):
        items = rng.permutation(N)[:size]
        names = tuple(f"p{i}" for i in items)
        habits = {
            "exact": [str(truth[i]) for i in items],
            "coarse": [str(min(truth[i], 2)) for i in items],
            "lump": ["a"] * size,
            "split": [str(i) for i in range(size)],
            "dice": [str(g) for g in rng.integers(0, 3, size)],
        }
        made += [Response(f"hit{h}", worker, names, tuple(groups)) for worker, groups in habits.items()]
    return made, truth


def sample(**more: Any) -> tuple[Any, ResponseTable, np.ndarray]:
    answers, truth = responses(**more)
    table = ResponseTable.from_responses(answers, [f"p{i}" for i in range(N)], ["exact", "coarse", "idle"])
    return fitted(table, truth), table, truth


def agreement_by_hand(answers: list[Response], worker: str, truth: np.ndarray) -> float:
    said = [
        (groups[a] == groups[b]) == (truth[int(r.items[a][1:])] == truth[int(r.items[b][1:])])
        for r in answers
        if r.worker == worker
        for groups in [canonical_groups(r.groups)]
        for a, b in combinations(range(len(r.items)), 2)
    ]
    return float(np.mean(said))


def test_agreement_is_the_share_of_pair_labels_that_say_what_the_clusters_say() -> None:
    run, table, truth = sample()
    answers, _ = responses()
    rows = {row.name: row for row in view_run(run, table).workers}
    for worker in ("exact", "coarse", "lump", "split", "dice"):
        assert rows[worker].agreement == pytest.approx(agreement_by_hand(answers, worker, truth), abs=1e-12)
    assert rows["exact"].agreement == 1.0
    assert rows["idle"].agreement is None
    assert rows["idle"].matrix is None
    assert rows["idle"].hits == 0
    assert rows["coarse"].hits == 6


def test_habits_are_said_in_words() -> None:
    run, table, _ = sample()
    rows = {row.name: row for row in view_run(run, table).workers}
    assert {name: row.flags for name, row in rows.items()} == {
        "exact": (),
        "coarse": (),
        "idle": (),
        "lump": (ONE_GROUP,),
        "split": (ALL_APART,),
        "dice": (RANDOM,),
    }
    assert rows["exact"].likeness == pytest.approx(1.0)
    assert rows["dice"].likeness == pytest.approx(0.0, abs=0.1)


def test_nobody_is_judged_on_a_handful_of_pairs() -> None:
    run, table, _ = sample(hits=1, size=5)
    assert all(row.flags == () for row in view_run(run, table).workers)


def test_fast_is_relative_to_the_others_and_absolute() -> None:
    answers, truth = responses()
    table = ResponseTable.from_responses(answers, [f"p{i}" for i in range(N)])
    times = {"exact": [60.0, 62.0], "coarse": [70.0], "lump": [10.0, 11.0], "split": [58.0]}
    flags = {row.name: row.flags for row in worker_rows(table, truth, times)}
    assert FAST in flags["lump"]
    assert FAST not in flags["exact"] + flags["coarse"] + flags["split"] + flags["dice"]
    alone = {row.name: row for row in worker_rows(table, truth, {"exact": [2.0], "coarse": [12.0]})}
    assert FAST in alone["exact"].flags
    assert FAST not in alone["coarse"].flags
    assert alone["exact"].seconds_per_hit == 2.0


def test_clusters_list_the_most_confident_first_and_equals_by_their_distance_to_the_centre() -> None:
    run, table, truth = sample()
    q = run.result.responsibilities
    q[3] = [0.5, 0.3, 0.2]
    view = view_run(run, table)
    assert [row.number for row in view.clusters] == [1, 2, 3]
    assert [row.size for row in view.clusters] == [8, 8, 8]
    first = view.clusters[0]
    assert first.items[-1] == 3
    assert first.doubtful == 1
    assert first.mean_probability == pytest.approx((7 * 0.99 + 0.5) / 8)
    centre = run.result.means[0]
    distance = np.linalg.norm(run.result.positions[first.items[:-1]] - centre, axis=1)
    assert (np.diff(distance) >= 0).all()
    assert set(first.items) == set(np.flatnonzero(truth == 1))


def test_doubtful_items_come_least_sure_first() -> None:
    run, table, _ = sample()
    run.result.responsibilities[3] = [0.7, 0.3, 0.0]
    run.result.responsibilities[6] = [0.7, 0.15, 0.15]
    run.result.responsibilities[0] = [0.5, 0.5, 0.0]
    view = view_run(run, table)
    assert view.doubtful.tolist() == [0, 6, 3]
    assert view.entropy_bits[0] == pytest.approx(1.0)
    assert view.is_doubtful(3)
    assert not view.is_doubtful(1)


def test_items_never_shown_are_in_no_cluster() -> None:
    answers, truth = responses(hits=1)
    table = ResponseTable.from_responses(answers, [f"p{i}" for i in range(N)])
    labels = np.where(table.times_shown > 0, truth, 0)
    view = view_run(fitted(table, labels), table)
    assert sorted(view.not_shown) == sorted(np.flatnonzero(table.times_shown == 0))
    assert sum(row.size for row in view.clusters) == 12
    hidden = int(view.not_shown[0])
    facts = view.facts(hidden)
    assert (facts.cluster, facts.times_shown, facts.turns, facts.alternatives) == (0, 0, (), ())
    assert np.isnan(facts.probability)
    assert not view.is_doubtful(hidden)


def test_the_facts_of_an_item_name_who_grouped_it_otherwise() -> None:
    run, table, truth = sample()
    view = view_run(run, table)
    item = int(table.items[0])
    facts = view.facts(item)
    answers = [r for r in responses()[0] if f"p{item}" in r.items]
    assert facts.times_shown == len(answers) == len(facts.turns)
    assert facts.cluster == truth[item]
    by_turn = {(t.hit, t.worker): t for t in facts.turns}
    for answer in answers:
        turn = by_turn[answer.hit, answer.worker]
        mine = answer.groups[answer.items.index(f"p{item}")]
        together = {int(n[1:]) for n, g in zip(answer.items, answer.groups, strict=True) if g == mine} - {item}
        apart = {int(n[1:]) for n, g in zip(answer.items, answer.groups, strict=True) if g != mine}
        assert set(turn.together) == together
        assert set(turn.apart) == apart
        assert turn.from_other_clusters == sum(truth[b] != truth[item] for b in together)
        assert turn.left_out == sum(truth[b] == truth[item] for b in apart)
        assert turn.agreement == pytest.approx(1 - (turn.from_other_clusters + turn.left_out) / 11)
        if answer.worker == "exact":
            assert not turn.differs
    assert [t.agreement for t in facts.turns] == sorted(t.agreement for t in facts.turns)


def test_responses_after_the_run_are_counted_and_new_items_do_not_confuse() -> None:
    run, _, truth = sample()
    answers, _ = responses()
    more = [*answers, Response("late", "exact", ("new", "p0", "p3"), ("a", "a", "b"))]
    table = ResponseTable.from_responses(more, ["new", *(f"p{i}" for i in reversed(range(N)))])
    view = view_run(run, table)
    assert view.new_responses == 1
    assert view.item_names[0] == "p0"
    facts = view.facts(0)
    late = next(t for t in facts.turns if t.hit == "late")
    assert late.shown == 3
    assert late.together.tolist() == []
    assert late.apart.tolist() == [3]
    exact = next(row for row in view.workers if row.name == "exact")
    assert exact.agreement == pytest.approx(1 - 1 / (6 * 66 + 1))
    assert truth[0] == truth[3]


def test_block_order_brings_like_clusters_together() -> None:
    merged = np.full((5, 5), 0.05)
    for a, b in ((0, 3), (1, 4)):
        merged[a, b] = merged[b, a] = 0.9
    np.fill_diagonal(merged, 0.95)
    order = block_order(np.stack([merged, merged]))
    assert sorted(order) == [0, 1, 2, 3, 4]
    place = {int(k): position for position, k in enumerate(order)}
    assert abs(place[0] - place[3]) == 1
    assert abs(place[1] - place[4]) == 1
    assert place[0] < 2.5
    assert block_order(np.zeros((0, 4, 4))).tolist() == [0, 1, 2, 3]
    assert block_order(np.ones((3, 2, 2))).tolist() == [0, 1]


def test_a_campaign_without_responses_has_workers_without_figures() -> None:
    table = ResponseTable.from_responses([], ["a", "b"], ["ann"])
    (row,) = worker_rows(table, np.zeros(2, dtype=np.int64), {})
    assert (row.name, row.hits, row.agreement, row.likeness, row.flags) == ("ann", 0, None, None, ())
