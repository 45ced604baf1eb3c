"""Simulated labels: regular graphs, people as right as they should be, and parts of a set."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.label_subsets import some_labels_a_task, some_workers
from crowdclust_app.domain.errors import UserError
from crowdclust_app.evaluation.label_simulation import (
    SimulatedLabels,
    draw_accuracies,
    draw_answers,
    regular_assignment,
    simulate_regular,
)


@settings(max_examples=30, deadline=None)
@given(st.sampled_from([(60, 5, 5), (60, 15, 2), (60, 3, 9), (60, 15, 15)]), st.integers(0, 2**32 - 1))
def test_every_task_and_every_worker_has_its_degree_and_no_pair_occurs_twice(
    sizes: tuple[int, int, int], seed: int
) -> None:
    n_tasks, per_task, per_worker = sizes
    task, worker = regular_assignment(*sizes, np.random.default_rng(seed))
    assert np.bincount(task).tolist() == [per_task] * n_tasks
    assert (np.bincount(worker) == per_worker).all()
    assert len({*zip(task.tolist(), worker.tolist(), strict=True)}) == len(task) == n_tasks * per_task


def test_a_graph_that_exchanges_do_not_find_is_not_looked_for_for_ever() -> None:
    with pytest.raises(UserError, match="no graph without double edges was found"):
        regular_assignment(20, 20, 20, np.random.default_rng(0))


@pytest.mark.parametrize("sizes", [(10, 3, 4), (4, 2, 8), (9, 4, 12)])
def test_graphs_that_cannot_be_are_refused(sizes: tuple[int, int, int]) -> None:
    with pytest.raises(UserError, match="cannot be dealt"):
        regular_assignment(*sizes, np.random.default_rng(0))


def test_graphs_are_random_and_the_same_for_a_seed() -> None:
    first, again, other = (simulate_regular(90, 9, 9, (2.0, 1.0), seed) for seed in (1, 1, 2))
    for field in ("task", "worker", "label"):
        assert np.array_equal(getattr(first.labels, field), getattr(again.labels, field))
    assert not np.array_equal(first.labels.worker, other.labels.worker)
    # workers of the first task are not its neighbours in number
    assert np.ptp(first.labels.worker[first.labels.task == 0]) > 20


def test_accuracies_follow_their_prior() -> None:
    rng = np.random.default_rng(0)
    of_beta = draw_accuracies((4.0, 3.0), 20_000, rng)
    assert of_beta.mean() == pytest.approx(4 / 7, abs=0.005)
    assert of_beta.var() == pytest.approx(12 / (49 * 8), abs=0.002)
    values, counts = np.unique(draw_accuracies({0.1: 0.2, 0.5: 0.5, 0.9: 0.3}, 20_000, rng), return_counts=True)
    assert values.tolist() == [0.1, 0.5, 0.9]
    assert counts / 20_000 == pytest.approx([0.2, 0.5, 0.3], abs=0.015)


def test_workers_are_right_as_often_as_they_should_be() -> None:
    rng = np.random.default_rng(1)
    truth = np.array([0, 1])
    task, worker = rng.integers(0, 2, 30_000), rng.integers(0, 3, 30_000)
    accuracies = np.array([1.0, 0.0, 0.7])
    right = draw_answers(task, worker, truth, accuracies, rng) == truth[task]
    assert right[worker == 0].all()
    assert not right[worker == 1].any()
    for true in (0, 1):
        assert right[(worker == 2) & (truth[task] == true)].mean() == pytest.approx(0.7, abs=0.02)


def labels() -> SimulatedLabels:
    task = np.array([0, 1, 0, 1, 0, 2, 0])
    worker = np.array([0, 0, 1, 2, 2, 3, 4])
    return SimulatedLabels(4, 6, task, worker, np.array([1, 0, 1, 1, 0, 1, 0]))


def test_a_part_has_so_many_labels_a_task_and_every_label_can_be_in_it() -> None:
    kept = set()
    for seed in range(40):
        part = some_labels_a_task(labels(), 2, np.random.default_rng(seed))
        assert np.bincount(part.task, minlength=4).tolist() == [2, 2, 1, 0]
        assert (part.n_tasks, part.n_workers) == (4, 6)
        rows = [*zip(part.task.tolist(), part.worker.tolist(), part.label.tolist(), strict=True)]
        everything = [*zip(labels().task.tolist(), labels().worker.tolist(), labels().label.tolist(), strict=True)]
        assert [row for row in everything if row in rows] == rows
        kept |= set(rows)
    assert len(kept) == 7


def test_a_part_has_all_labels_of_so_many_workers() -> None:
    for seed in range(10):
        part = some_workers(labels(), 2, np.random.default_rng(seed))
        chosen = set(part.worker.tolist())
        assert len(chosen) == 2
        assert len(part) == sum(worker in chosen for worker in labels().worker)
    # the sixth worker has no labels, and more than there are is all
    assert len(some_workers(labels(), 9, np.random.default_rng(0))) == 7
