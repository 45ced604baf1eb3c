"""Labels are bought where the policy says, from the same people, and never twice from one about a task."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.experiments.asking import Bought, Margin, SimulatedCrowd, ask_between_fits, ask_one_by_one
from benchmarks.experiments.results import Watch
from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.domain.errors import Cancelled
from crowdclust_app.evaluation.label_simulation import Floats, SimulatedLabels

SILENT = Watch()


def margins(labels: SimulatedLabels) -> Floats:
    return np.bincount(labels.task, weights=2.0 * labels.label - 1.0, minlength=labels.n_tasks)  # type: ignore[return-value]


def crowd(most: int = 300, seed: int = 4) -> SimulatedCrowd:
    return SimulatedCrowd(60, 5, most, (4.0, 3.0), seed)


def bought_by_both(most: int = 300) -> list[Bought]:
    return [
        ask_one_by_one(crowd(most), "uncertainty", Margin, 0, SILENT),
        ask_between_fits(crowd(most), margins, 20, 0, SILENT),
    ]


def test_uniform_sampling_keeps_the_tasks_level() -> None:
    bought = ask_one_by_one(crowd(), "uniform", Margin, 0, SILENT)
    for count in (60, 120, 300):
        # but for a last task of a round that whoever comes has had already
        assert np.abs(np.bincount(bought.labels.task[:count], minlength=60) - count // 60).max() <= 1
        assert (np.bincount(bought.labels.task[:count], minlength=60) == count // 60).sum() >= 54


def test_nobody_is_asked_twice_and_everybody_gives_their_labels() -> None:
    for bought in (ask_one_by_one(crowd(), "uniform", Margin, 0, SILENT), *bought_by_both()):
        labels = bought.labels
        assert 297 <= len(labels) <= 300
        assert labels.arrived
        assert (np.bincount(labels.worker) <= 5).all()
        assert len({*zip(labels.task.tolist(), labels.worker.tolist(), strict=True)}) == len(labels)
        assert (np.diff(bought.seconds) >= 0).all()


def test_uncertainty_sampling_asks_where_votes_are_near_to_even() -> None:
    for bought in bought_by_both(900):
        labels = bought.labels
        counts = np.bincount(labels.task, minlength=60)
        # settled tasks are left alone, so that nobody is far ahead and disputed ones have many labels
        assert np.abs(margins(labels)).max() <= 6
        assert counts.max() > 2 * counts.min()
    one_by_one = bought_by_both(900)[0].labels
    for number in range(1, len(one_by_one)):
        if number % 50 == 0:
            now = np.abs(margins(one_by_one.rows(slice(0, number))))
            worker = one_by_one.worker[number]
            had = one_by_one.task[:number][one_by_one.worker[:number] == worker]
            open_tasks = np.setdiff1d(np.arange(60), had)
            assert now[one_by_one.task[number]] == now[open_tasks].min()


def test_between_fits_the_most_uncertain_tasks_get_one_label_each() -> None:
    seen: list[SimulatedLabels] = []

    def believe(labels: SimulatedLabels) -> Floats:
        seen.append(labels)
        return margins(labels)

    labels = ask_between_fits(crowd(), believe, 24, 0, SILENT).labels
    assert [len(part) for part in seen] == [*range(24, 300, 24), 300]
    for part in seen[:-1]:
        new = labels.task[len(part) : len(part) + 24]
        assert len(set(new)) == len(new)
        uncertain = np.sort(np.abs(margins(part)))
        # but for a task that whoever comes has had already
        assert np.abs(margins(part))[new].sum() <= uncertain[: len(new)].sum() + 4


def test_all_methods_meet_the_same_people() -> None:
    people = crowd()
    assert (np.bincount(people.workers) == 5).all()
    stays = [np.ptp(np.flatnonzero(people.workers == worker)) for worker in range(60)]
    # nobody gives all labels at one sitting, and nobody stays for ever
    assert 20 < np.median(stays) <= max(stays) <= 2 * 60 + 5
    one = ask_one_by_one(crowd(), "uncertainty", Margin, 0, SILENT).labels
    other = ask_between_fits(crowd(), margins, 20, 9, SILENT).labels
    assert not np.array_equal(one.task, other.task)
    assert np.array_equal(one.worker, other.worker)
    right = [labels.label == people.truth[labels.task] for labels in (one, other)]
    assert np.array_equal(*right)
    assert not np.array_equal(people.accuracies, crowd(seed=5).accuracies)


def test_the_same_seed_buys_the_same_labels() -> None:
    for first, second in zip(bought_by_both(), bought_by_both(), strict=True):
        assert np.array_equal(first.labels.task, second.labels.task)
        assert np.array_equal(first.labels.label, second.labels.label)


def test_workers_who_have_had_every_open_task_are_not_asked() -> None:
    few = SimulatedCrowd(3, 5, 9, (4.0, 3.0), 0)
    labels = ask_one_by_one(few, "uniform", Margin, 0, SILENT).labels
    assert np.bincount(labels.worker).tolist() == [3, 3]
    with pytest.raises(ValueError, match="more labels than there are tasks"):
        ask_between_fits(few, margins, 20, 0, SILENT)


def test_buying_stops_when_it_is_asked_to() -> None:
    token = CancelToken()
    token.cancel()
    for buy in (
        lambda watch: ask_one_by_one(crowd(), "uniform", Margin, 0, watch),
        lambda watch: ask_between_fits(crowd(), margins, 20, 0, watch),
    ):
        with pytest.raises(Cancelled):
            buy(Watch(cancel=token))
