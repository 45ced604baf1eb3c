"""Choosing questions: the paper's two policies, never the same worker twice on a task, the same after a restart."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdclust_app.inference.aggregators import OnlineSBIC
from crowdclust_app.sampling.asking import UNCERTAINTY, UNIFORM, Asker, draw, draws

POLICIES = (UNIFORM, UNCERTAINTY)


def asker(n_tasks: int, wanted: int, policy: str, seed: int = 0) -> Asker:
    return Asker(n_tasks, wanted, policy, seed, OnlineSBIC)


def replayed(old: Asker, log: list[tuple[int, int, bool | None]]) -> Asker:
    new = asker(old.n_tasks, old.wanted, old.policy, old.seed)
    for task, worker, said in log:
        if said is None:
            new.skip(task, worker)
        else:
            new.add(task, worker, said)
    return new


# what happens: who comes, and whether they say yes, no, skip, or take back their last
Steps = list[tuple[int, str]]
STEPS = st.lists(st.tuples(st.integers(0, 4), st.sampled_from(["yes", "no", "yes", "no", "skip", "undo"])), max_size=60)


@settings(deadline=None, max_examples=60)
@given(STEPS, st.sampled_from(POLICIES), st.integers(1, 9), st.integers(1, 4), st.integers(-(2**40), 2**40), st.data())
def test_never_twice_and_the_same_after_a_restart(
    steps: Steps, policy: str, n_tasks: int, wanted: int, seed: int, data: st.DataObject
) -> None:
    live = asker(n_tasks, wanted, policy, seed)
    log: list[tuple[int, int, bool | None]] = []
    restart_at = data.draw(st.integers(0, len(steps)))
    for number, (worker, what) in enumerate(steps):
        if number == restart_at:
            live = replayed(live, log)
        if what == "undo":
            mine = [entry for entry in log if entry[1] == worker]
            if mine:
                log.remove(mine[-1])
                live.take_back(mine[-1][0], worker)
            continue
        task = live.next_task(worker)
        had = {entry[0] for entry in log if entry[1] == worker}
        assert task == replayed(live, log).next_task(worker)
        if task is None:
            continue
        assert task not in had
        said = None if what == "skip" else what == "yes"
        log.append((task, worker, said))
        if said is None:
            live.skip(task, worker)
        else:
            live.add(task, worker, said)
    fresh = replayed(live, log)
    for worker in range(5):
        assert fresh.ahead(worker, n_tasks) == live.ahead(worker, n_tasks)
        assert fresh.open_for(worker) == live.open_for(worker)
    np.testing.assert_array_equal(fresh.counts, live.counts)
    assert live.labels == sum(said is not None for *_, said in log) <= live.budget


def smallest(live: Asker, worker: int, measure: list[float]) -> set[int]:
    """Tasks that equation 1 or 2 allows by definition."""
    open_tasks = [task for task in range(live.n_tasks) if not live.has_had(task, worker)]
    best = min(measure[task] for task in open_tasks)
    return {task for task in open_tasks if math.isclose(measure[task], best, rel_tol=0, abs_tol=1e-9)}


def test_uniform_asks_about_the_least_labelled_task() -> None:
    live = asker(7, 3, UNIFORM)
    rng = np.random.default_rng(0)
    for turn in range(21):
        worker = turn % 4
        task = live.next_task(worker)
        assert task is not None
        assert task in smallest(live, worker, live.counts.tolist())
        live.add(task, worker, bool(rng.random() < 0.5))
    assert live.counts.tolist() == [3] * 7
    assert [live.next_task(worker) for worker in range(9)] == [None] * 9


def test_uncertainty_asks_about_the_task_nearest_to_even() -> None:
    live = asker(12, 4, UNCERTAINTY)
    rng = np.random.default_rng(1)
    for turn in range(48):
        worker = turn % 30
        probability = [live.posterior.probability(task) for task in range(12)]  # type: ignore[attr-defined]
        task = live.next_task(worker)
        assert task in smallest(live, worker, [max(p, 1 - p) for p in probability])
        assert task is not None
        live.add(task, worker, bool(rng.random() < 0.7))
    assert live.labels == live.budget
    assert live.next_task(99) is None
    assert max(live.counts) > 4 > min(live.counts)


@pytest.mark.parametrize("policy", POLICIES)
def test_ties_fall_at_random_by_the_seed(policy: str) -> None:
    first = [asker(10, 1, policy, seed).next_task(0) for seed in range(400)]
    counts = Counter(first)
    assert set(counts) == set(range(10))
    assert min(counts.values()) > 15
    assert first == [asker(10, 1, policy, seed).next_task(0) for seed in range(400)]


def test_a_tie_is_broken_anew_at_every_label() -> None:
    live = asker(50, 3, UNIFORM, seed=5)
    rounds = []
    for worker in range(3):
        order = []
        for _ in range(50):
            task = live.next_task(worker)
            assert task is not None
            order.append(task)
            live.add(task, worker, True)
        rounds.append(order)
    assert sorted(rounds[0]) == sorted(rounds[1]) == list(range(50))
    assert rounds[0] != rounds[1] != rounds[2]


def test_many_workers_take_turns_within_bounded_memory() -> None:
    live = asker(5, 100, UNIFORM)
    for worker in range(100):
        assert live.next_task(worker) is not None
        live.skip(worker % 5, worker)
    assert len(live._barred) < 40
    # one whose keys were dropped is still not asked again
    assert 0 not in live.ahead(0, 5)
    assert len(live.ahead(0, 5)) == 4


def test_what_a_worker_has_had_is_refused() -> None:
    live = asker(3, 2, UNIFORM)
    live.add(1, 0, True)
    with pytest.raises(ValueError, match="already"):
        live.add(1, 0, False)
    with pytest.raises(ValueError, match="not had"):
        live.take_back(2, 0)
    with pytest.raises(ValueError, match="policy"):
        asker(3, 2, "best")


def test_draws_of_all_tasks_are_the_draws_of_each() -> None:
    counts = np.array([0, 3, 1, 2**40, 7])
    for seed in (0, -3, 2**63 - 1):
        assert draws(seed, counts).tolist() == [draw(seed, task, count) for task, count in enumerate(counts.tolist())]
    spread = draws(1, np.zeros(4000, dtype=np.int64))
    assert abs(spread.mean() - 0.5) < 0.02
    assert len(np.unique(spread)) > 3900
